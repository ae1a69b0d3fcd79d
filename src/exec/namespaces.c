/* namespaces.c - see namespaces.h */
#include "exec/namespaces.h"

#include "common/sha256.h"

#define LABEL "abcdefghijklmnopqrstuvwxyz0123456789-"
#define TEMPLATE_MAX 30 /* leaves room for a digest */
#define DIGITS 16

static bool is_plain (const char *text, size_t len)
{
    return len > 0 && len < NAMESPACE_SIZE && strspn (text, LABEL) >= len
           && text[0] != '-' && text[len - 1] != '-';
}

bool namespace_is_template (const char *text)
{
    return strchr (text, '%') != NULL;
}

bool namespace_is_users (const char *text)
{
    return strstr (text, "%u") || strstr (text, "%U");
}

static int check_directive (const char *at, struct error *err)
{
    if (at[1] == 'a')
        return error_set (err, EINVAL,
                          "%%a: fluxq has no accounts (use %%u, %%U or %%q)");
    if (!at[1] || !strchr ("uUq", at[1]))
        return error_set (err, EINVAL,
                          "'%.2s' is not one of %%u (user), %%U (uid) and %%q (queue)",
                          at);
    return 0;
}

/* The text before a directive must end in '-', so that two values do not run into each
 * other. */
static int check_template (const char *text, struct error *err)
{
    const char *p = text;

    if (strlen (text) > TEMPLATE_MAX)
        return error_set (err, EINVAL, "a template may have %d characters at most",
                          TEMPLATE_MAX);
    if (strncmp (text, "kube-", strlen ("kube-")) == 0)
        return error_set (err, EINVAL, "namespaces 'kube-...' are the system's");
    for (; *p; p++) {
        if (*p == '%') {
            if (p == text || p[-1] != '-')
                return error_set (err, EINVAL,
                                  "a text that ends in '-' must precede '%.2s', such as "
                                  "'jobs-%%u'",
                                  p);
            if (check_directive (p, err) < 0)
                return -EINVAL;
            p++;
        } else if (!strchr (LABEL, *p))
            return error_set (err, EINVAL,
                              "expected small letters, digits, '-' and "
                              "%%u, %%U or %%q");
    }
    return text[0] == '-' || p[-1] == '-'
               ? error_set (err, EINVAL, "it may neither begin nor end with '-'")
               : 0;
}

int namespace_check (const char *text, struct error *err)
{
    if (namespace_is_template (text))
        return check_template (text, err);
    if (is_plain (text, strlen (text)))
        return 0;
    return error_set (err, EINVAL,
                      "'%.64s' is not the name of a namespace (at most 63 small letters, "
                      "digits and '-'), nor a template such as 'jobs-%%u'",
                      text);
}

/* -- the name for a job -- */

struct values {
    const char *user, *queue;
    char uid[24];
};

static const char *value_of (const struct values *v, char directive)
{
    return directive == 'u' ? v->user : directive == 'U' ? v->uid : v->queue;
}

static bool ends_in_digest (const char *name, size_t len)
{
    return len > DIGITS && name[len - DIGITS - 1] == '-'
           && strspn (name + len - DIGITS, "0123456789abcdef") == DIGITS;
}

/* A name, as far as there is room; its values go into the digest. */
struct name {
    char text[512];
    size_t len;
    bool plain; /* the name without a digest is unique */
    struct sha256 digest;
};

static void add (struct name *n, char c)
{
    if (n->len + 1 >= sizeof (n->text)) {
        n->plain = false;
        return;
    }
    n->text[n->len++] = c;
    n->text[n->len] = '\0';
}

static void add_value (struct name *n, const char *value, bool alone)
{
    n->plain &= is_plain (value, strlen (value)) && (alone || !strchr (value, '-'));
    sha256_update (&n->digest, value, strlen (value) + 1);
    for (; *value; value++) {
        char c = *value >= 'A' && *value <= 'Z' ? (char)(*value - 'A' + 'a') : *value;

        add (n, strchr (LABEL, c) ? c : '-');
    }
}

static void finish (struct name *n, char ret[NAMESPACE_SIZE])
{
    uint8_t hash[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    size_t keep = NAMESPACE_SIZE - 1 - DIGITS - 1;

    if (n->plain && n->len < NAMESPACE_SIZE && !ends_in_digest (n->text, n->len)) {
        memcpy (ret, n->text, n->len + 1);
        return;
    }
    sha256_final (&n->digest, hash);
    hex_encode (hash, sizeof (hash), hex);
    snprintf (ret, NAMESPACE_SIZE, "%.*s-%.*s", (int)keep, n->text, DIGITS, hex);
}

int namespace_expand (const char *text, const char *queue, const char *user, uid_t uid,
                      char ret[NAMESPACE_SIZE], struct error *err)
{
    struct values v = { .user = user ? user : "", .queue = queue ? queue : "" };
    const char *first = strchr (text, '%');
    bool alone = first && !strchr (first + 1, '%');
    struct name n = { .plain = true };

    snprintf (v.uid, sizeof (v.uid), "%ju", (uintmax_t)uid);
    sha256_init (&n.digest);
    for (const char *p = text; *p; p++) {
        if (*p != '%') {
            add (&n, *p);
            continue;
        }
        const char *value = value_of (&v, *++p);
        if (!*value)
            return error_set (err, EINVAL,
                              "namespace '%s': %%%c has no value for this job", text, *p);
        add_value (&n, value, alone);
    }
    finish (&n, ret);
    return 0;
}

bool namespace_fits (const char *text, const char *name)
{
    size_t own = strcspn (text, "%");

    if (!text[own])
        return strcmp (text, name) == 0;
    return strncmp (text, name, own) == 0 && is_plain (name, strlen (name))
           && strlen (name) > own;
}
