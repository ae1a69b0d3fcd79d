/* token.c - see token.h */
#include "net/token.h"

#include <jwt.h>
#include <stdatomic.h>
#include <string.h>

#include "common/sha256.h"
#include "net/keyfile.h"

struct token_key {
    atomic_uint references;
    jwt_alg_t algorithm;
    struct strbuf secret; /* empty: the key signs nothing */
    struct strbuf check;  /* signatures are checked with it */
};

/* -- key files -- */

static int read_files (struct token_key *key, const char *secret, const char *public,
                       struct error *err)
{
    int rc = 0;

    if (secret)
        rc = keyfile_read (&key->secret, secret, KEYFILE_SECRET, err);
    if (rc == 0 && public)
        rc = keyfile_read (&key->check, public, KEYFILE_PUBLIC, err);
    if (rc < 0 || public)
        return rc;
    if (key->secret.len < TOKEN_SECRET_MIN)
        return error_set (err, EINVAL,
                          "%s: has %zu bytes, a secret needs %d: make one with \"head -c "
                          "%d /dev/urandom\"",
                          secret, key->secret.len, TOKEN_SECRET_MIN, TOKEN_SECRET_MIN);
    if (strbuf_add (&key->check, key->secret.buf, key->secret.len) < 0)
        return error_set (err, ENOMEM, "out of memory");
    return 0;
}

/* Whether the key signs tokens that it then accepts; or, without a private key, whether
 * the public key is one. */
static int try_key (const struct token_key *key, const char *secret, const char *public,
                    struct error *err)
{
    struct token token;
    struct error own = { 0 };
    autofree char *text = NULL;

    if (!token_key_can_sign (key))
        return strstr (key->check.buf, "-----BEGIN PUBLIC KEY-----")
                   ? 0
                   : error_set (err, EINVAL, "%s: not a public key in PEM", public);
    if (!(text = token_make (key, "a", 1, INT64_MAX / 2, &own)))
        return error_set (err, EINVAL, "%s: %s", secret, own.text);
    if (token_read (key, text, 1, &token, &own) < 0)
        return error_set (err, EINVAL, "%s is not the public key of %s", public, secret);
    return 0;
}

struct token_key *token_key_read (const char *secret, const char *public,
                                  struct error *err)
{
    struct token_key *key = calloc (1, sizeof (*key));

    if (!key) {
        error_set (err, ENOMEM, "out of memory");
        return NULL;
    }
    key->references = 1;
    key->algorithm = public ? JWT_ALG_RS256 : JWT_ALG_HS256;
    strbuf_init (&key->secret, TOKEN_KEY_MAX + 1);
    strbuf_init (&key->check, TOKEN_KEY_MAX + 1);
    if (read_files (key, secret, public, err) == 0
        && try_key (key, secret, public, err) == 0)
        return key;
    token_key_release (key);
    return NULL;
}

struct token_key *token_key_keep (struct token_key *key)
{
    if (key)
        atomic_fetch_add (&key->references, 1);
    return key;
}

void token_key_release (struct token_key *key)
{
    if (!key || atomic_fetch_sub (&key->references, 1) > 1)
        return;
    keyfile_wipe (&key->secret);
    keyfile_wipe (&key->check);
    free (key);
}

bool token_key_can_sign (const struct token_key *key)
{
    return key->secret.len > 0;
}

/* -- tokens -- */

static void free_jwt (jwt_t **jwt)
{
    jwt_free (*jwt);
}

#define autojwt __attribute__ ((cleanup (free_jwt))) jwt_t

static const unsigned char *bytes (const struct strbuf *sb)
{
    return (const unsigned char *)sb->buf;
}

char *token_make (const struct token_key *key, const char *user, int64_t issued,
                  int64_t expires, struct error *err)
{
    autojwt *jwt = NULL;
    int rc = jwt_new (&jwt);

    if (rc == 0)
        rc = jwt_add_grant_int (jwt, "exp", expires);
    if (rc == 0)
        rc = jwt_add_grant_int (jwt, "iat", issued);
    if (rc == 0)
        rc = jwt_add_grant (jwt, "sun", user);
    if (rc == 0)
        rc =
            jwt_set_alg (jwt, key->algorithm, bytes (&key->secret), (int)key->secret.len);
    char *text = rc == 0 ? jwt_encode_str (jwt) : NULL;
    if (!text)
        error_set (err, rc ? rc : EINVAL, "the key cannot sign a token");
    return text;
}

static int get_number (jwt_t *jwt, const char *claim, int64_t *ret, struct error *err)
{
    errno = 0;
    *ret = jwt_get_grant_int (jwt, claim);
    return errno == 0 && *ret > 0
               ? 0
               : error_set (err, EACCES, "the token has no time in the claim %s", claim);
}

static int get_claims (jwt_t *jwt, struct token *ret, struct error *err)
{
    const char *user = jwt_get_grant (jwt, "sun");

    if (!user || !*user || strlen (user) >= sizeof (ret->user))
        return error_set (err, EACCES, "the token has no user in the claim sun");
    snprintf (ret->user, sizeof (ret->user), "%s", user);
    int rc = get_number (jwt, "iat", &ret->issued, err);
    return rc < 0 ? rc : get_number (jwt, "exp", &ret->expires, err);
}

int token_read (const struct token_key *key, const char *text, int64_t now,
                struct token *ret, struct error *err)
{
    autojwt *jwt = NULL;

    if (strlen (text) > TOKEN_MAX)
        return error_set (err, EACCES, "the token has more than %d bytes", TOKEN_MAX);
    int rc = jwt_decode (&jwt, text, bytes (&key->check), (int)key->check.len);
    if (rc == ENOMEM)
        return error_set (err, ENOMEM, "out of memory");
    if (rc || jwt_get_alg (jwt) != key->algorithm)
        return error_set (err, EACCES, "the token is not signed with this site's key");
    if ((rc = get_claims (jwt, ret, err)) < 0)
        return rc;
    if (ret->expires <= now)
        return error_set (
            err, EACCES, "the token has expired: make a new one with \"scontrol token\"");
    return 0;
}

int token_claims (const char *text, struct token *ret)
{
    autojwt *jwt = NULL;

    if (strlen (text) > TOKEN_MAX || jwt_decode (&jwt, text, NULL, 0))
        return -EACCES;
    return get_claims (jwt, ret, NULL);
}
