/* pairs.c - see pairs.h */
#include "cmd/slurm/words/pairs.h"

#include <string.h>

static const struct pair_key *find (const struct pair_key *keys, const char *word,
                                    size_t len)
{
    for (const struct pair_key *k = keys; k->name; k++)
        if (len >= k->min && len <= strlen (k->name) && !strncasecmp (word, k->name, len))
            return k;
    return NULL;
}

/* The length of the key in front of '=', "+=" or "-=". */
static size_t key_length (const char *word, const char *equals)
{
    size_t len = equals ? (size_t)(equals - word) : strlen (word);

    return equals && len > 0 && (word[len - 1] == '+' || word[len - 1] == '-') ? len - 1
                                                                               : len;
}

int pairs_next (struct pairs *p, const struct pair_key *keys, struct pair *ret,
                struct error *err)
{
    if (p->next >= p->n)
        return 0;
    const char *word = p->word[p->next++], *equals = strchr (word, '=');
    size_t len = key_length (word, equals);
    const struct pair_key *key = find (keys, word, len);

    *ret = (struct pair){ .key = key, .value = "" };
    if (equals) {
        ret->value = equals + 1;
        ret->sign = equals > word + len ? word[len] : 0;
    } else if (!key || !key->bare) {
        if (p->next >= p->n) {
            error_set (err, EINVAL, "%s", word);
            return PAIR_MALFORMED;
        }
        ret->value = p->word[p->next++];
    }
    if (!key) {
        error_set (err, EINVAL, "%s", word);
        return PAIR_UNKNOWN;
    }
    if (key->refused) {
        error_set (err, ENOTSUP, "%s is not supported: %s", key->name, key->refused);
        return PAIR_REFUSED;
    }
    return 1;
}

const struct pair_key *pairs_find (const struct pairs *p, const struct pair_key *keys)
{
    for (int i = 0; i < p->n; i++) {
        const char *equals = strchr (p->word[i], '=');
        const struct pair_key *k =
            find (keys, p->word[i], key_length (p->word[i], equals));
        if (k)
            return k;
        i += !equals;
    }
    return NULL;
}
