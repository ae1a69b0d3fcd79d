/* policy.c - policies by name, and custom policies from settings
 *
 * See policy.h. A text without '=' is a name from the table. Else its words are settings:
 * they change the policy that "policy=" names, wherever that word is.
 */
#include "match/policies/policy.h"

#include "common/parse.h"

#define SCORE_MAX (INT64_C (1) << 31)
#define WORD_MAX 128

const struct match_policy *match_policy_find (const char *name)
{
    for (const struct match_policy *const *p = match_policies; *p; p++) {
        if (!strcmp ((*p)->name, name))
            return *p;
    }
    return NULL;
}

/* order=PROPERTY: a vertex with the property goes by its number, a node without it last;
 * other vertices without it (racks, cores) keep the usual order. */
static int64_t score_by_property (const struct match_policy *p, const struct graph *g,
                                  uint32_t v, uint32_t unit)
{
    const char *text = graph_property (g, v, unit, p->property);
    int64_t number;

    if (text && parse_int (text, 0, SCORE_MAX - 1, &number, p->property, NULL) == 0)
        return number;
    if (text || graph_vertex (g, v)->type == GRAPH_NODE)
        return p->high ? 0 : SCORE_MAX;
    return (int64_t)graph_vertex (g, v)->id + (int64_t)unit + 1;
}

/* -- settings -- */

static int set_flag (bool *flag, const char *key, const char *value, struct error *err)
{
    if (strcmp (value, "true") != 0 && strcmp (value, "false") != 0)
        return error_set (err, EINVAL, "policy: %s=%s: expected true or false", key,
                          value);
    *flag = value[0] == 't';
    return 0;
}

static int set_order (struct match_policy *p, const char *value, struct error *err)
{
    size_t len = strlen (value);

    if (len == 0 || len >= sizeof (p->property))
        return error_set (err, EINVAL, "policy: order=%s: expected 1 to %zu bytes", value,
                          sizeof (p->property) - 1);
    memcpy (p->property, value, len + 1);
    p->score = score_by_property;
    return 0;
}

static int set_word (struct match_policy *p, const char *key, const char *value,
                     struct error *err)
{
    if (!strcmp (key, "policy"))
        return 0;
    if (!strcmp (key, "node_centric"))
        return set_flag (&p->node_centric, key, value, err);
    if (!strcmp (key, "node_exclusive"))
        return set_flag (&p->node_exclusive, key, value, err);
    if (!strcmp (key, "stop_on_1_matches"))
        return set_flag (&p->first, key, value, err);
    if (!strcmp (key, "order"))
        return set_order (p, value, err);
    return error_set (err, EINVAL,
                      "policy: %s: unknown word (there are policy, node_centric, "
                      "node_exclusive, stop_on_1_matches, order)",
                      key);
}

/* Splits the word that begins at *text into key and value. 1, 0 at the end, -EINVAL. */
static int next_word (const char **text, char word[static WORD_MAX], const char **value,
                      struct error *err)
{
    const char *from = *text + strspn (*text, " \t");
    size_t len = strcspn (from, " \t");

    if (len == 0)
        return 0;
    if (len >= WORD_MAX)
        return error_set (err, EINVAL, "policy: %.16s...: longer than %d bytes", from,
                          WORD_MAX - 1);
    memcpy (word, from, len);
    word[len] = '\0';
    *text = from + len;
    char *equals = strchr (word, '=');
    if (!equals)
        return error_set (err, EINVAL, "policy: %s: expected KEY=VALUE", word);
    *equals = '\0';
    *value = equals + 1;
    return 1;
}

/* Returns the policy of the last "policy="; NULL: missing, or a wrong word. */
static const struct match_policy *find_base (const char *text, struct error *err)
{
    const struct match_policy *base = NULL;
    char word[WORD_MAX];
    const char *value;
    int rc;

    while ((rc = next_word (&text, word, &value, err)) > 0) {
        if (strcmp (word, "policy") != 0)
            continue;
        base = match_policy_find (value);
        if (!base)
            return error_null (
                error_set (err, EINVAL, "policy: policy=%s: no such policy", value));
    }
    if (rc == 0 && !base)
        error_set (err, EINVAL,
                   "policy: \"policy=\" is missing (policy=low, policy=high)");
    return rc < 0 ? NULL : base;
}

int match_policy_parse (const char *text, struct match_policy *ret, struct error *err)
{
    const struct match_policy *base;
    char word[WORD_MAX];
    const char *value;
    int rc;

    if (!strchr (text, '=')) {
        base = match_policy_find (text);
        if (!base)
            return error_set (err, EINVAL, "policy: %s: no such policy", text);
        *ret = *base;
        return 0;
    }
    base = find_base (text, err);
    if (!base)
        return -EINVAL;
    *ret = *base;
    while ((rc = next_word (&text, word, &value, err)) > 0) {
        rc = set_word (ret, word, value, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}
