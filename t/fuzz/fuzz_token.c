/* fuzz_token.c - any text as a JSON web token, and as the claims of a token with this site's
 * signature; only a whole token of the site names a user
 *
 * Parser: net/token.c
 * An input that begins with '{' is signed as it is: HEADER "\n" CLAIMS.
 */
#include "fuzz.h"

#include <jwt.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/io.h"
#include "net/token.h"

#define SECRET "0123456789abcdef0123456789abcdef"
#define NOW 1000000

static struct token_key *key;

static void start (void)
{
    char path[] = "/tmp/fluxq-fuzz-token.XXXXXX";
    struct error err = { 0 };
    int fd = mkstemp (path);

    assert (fd >= 0 && write (fd, SECRET, strlen (SECRET)) == (ssize_t)strlen (SECRET));
    key = token_key_read (path, NULL, &err);
    assert (key && token_key_can_sign (key));
    close (fd);
    unlink (path);
}

static void check_token (const char *text)
{
    struct token t = { .user = "" }, claims = { .user = "" };
    struct error err = { 0 };

    int rc = token_read (key, text, NOW, &t, &err);
    int rc_claims = token_claims (text, &claims);
    assert (rc_claims == 0 || rc_claims == -EACCES);
    if (rc < 0) {
        fuzz_check_refusal (&err, "the token ");
        assert (rc == -EACCES && !strstr (err.text, SECRET));
        return;
    }
    assert (t.user[0] && t.expires > NOW && t.issued > 0);
    assert (strlen (text) <= TOKEN_MAX);
}

/* The claims, signed by libjwt with the key of the site. */
static char *sign (const char *claims)
{
    jwt_t *jwt = NULL;
    char *text = NULL;

    if (jwt_new (&jwt) == 0 && jwt_add_grants_json (jwt, claims) == 0
        && jwt_set_alg (jwt, JWT_ALG_HS256, (const unsigned char *)SECRET,
                        (int)strlen (SECRET))
               == 0)
        text = jwt_encode_str (jwt);
    jwt_free (jwt);
    return text;
}

/* A token that the site makes names its user; any change of a byte makes it invalid. */
static void check_own (const char *user, uint8_t at)
{
    struct token t;
    struct error err = { 0 };
    char *text = token_make (key, user, NOW, NOW + 1, &err);

    if (!text) {
        fuzz_check_refusal (&err, "the key ");
        return;
    }
    if (*user && strlen (user) < TOKEN_USER_SIZE && strlen (text) <= TOKEN_MAX) {
        assert (token_read (key, text, NOW, &t, &err) == 0 && !strcmp (t.user, user));
        assert (token_read (key, text, NOW + 1, &t, &err) == -EACCES);
        char *c = text + at % (strlen (text) - 2); /* the last byte has unused bits */
        *c = *c == 'A' ? 'B' : 'A';
        assert (token_read (key, text, NOW, &t, &err) == -EACCES);
    }
    free (text);
}

/* The input as a file with a key. */
static void check_key (const uint8_t *data, size_t size)
{
    char path[64];
    struct error err = { 0 };

    snprintf (path, sizeof (path), "/dev/shm/fluxq-fuzz-token.%d", (int)getpid ());
    assert (io_write_file_atomic (path, data, size, 0600, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        struct token_key *own =
            token_key_read (i < 2 ? path : NULL, i ? path : NULL, &err);
        if (!own) {
            fuzz_check_refusal (&err, "");
            continue;
        }
        struct token_key *same = token_key_keep (own);
        assert (token_key_can_sign (own) == (i < 2));
        token_key_release (same);
        token_key_release (own);
    }
    unlink (path);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    autofree char *text = fuzz_text (data, size), *made = NULL;

    if (!key)
        start ();
    check_token (text);
    if (text[0] == '{' && (made = sign (text)))
        check_token (made);
    check_key (data, size);
    check_own (text, size > 0 ? data[size - 1] : 0);
    return 0;
}
