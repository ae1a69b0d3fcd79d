/* credential.c - see credential.h */
#include "net/credential.h"

#include <munge.h>

#define HEX_LEN ((size_t)SHA256_HEX_SIZE - 1)
#define PAYLOAD_MAX (HEX_LEN + AUTHORITY_SIZE + MACHINE_SIZE) /* including blanks */

void credential_begin (struct sha256 *ret_sum, const char *method, const char *target)
{
    sha256_init (ret_sum);
    sha256_update (ret_sum, method, strlen (method));
    sha256_update (ret_sum, "\n", 1);
    sha256_update (ret_sum, target, strlen (target));
    sha256_update (ret_sum, "\n", 1);
}

static void digest (const struct sha256 *sum, char ret[SHA256_HEX_SIZE])
{
    struct sha256 end = *sum;
    uint8_t hash[SHA256_SIZE];

    sha256_final (&end, hash);
    hex_encode (hash, sizeof (hash), ret);
}

bool credential_fits (const struct credential *credential, const struct sha256 *sum)
{
    char hex[SHA256_HEX_SIZE];

    digest (sum, hex);
    return secret_equal (credential->digest, hex, HEX_LEN);
}

static munge_ctx_t open_context (const char *munge_socket, struct error *err)
{
    munge_ctx_t ctx = munge_ctx_create ();

    if (!munge_socket)
        munge_socket = getenv ("FLUXQ_MUNGE_SOCKET");
    if (ctx && munge_socket && *munge_socket
        && munge_ctx_set (ctx, MUNGE_OPT_SOCKET, munge_socket) != EMUNGE_SUCCESS) {
        munge_ctx_destroy (ctx);
        ctx = NULL;
    }
    if (!ctx)
        error_set (err, ENOMEM, "MUNGE: out of memory");
    return ctx;
}

/* The meaning of a failed call: -EACCES a bad credential, -EIO a problem of munged. */
static int explain (munge_ctx_t ctx, munge_err_t rc, struct error *err)
{
    const char *reason = munge_ctx_strerror (ctx);
    char text[256]; /* a copy: munge_ctx_get() frees the result of munge_ctx_strerror() */
    char *path = NULL;

    snprintf (text, sizeof (text), "%s", reason ? reason : munge_strerror (rc));
    if (rc >= EMUNGE_BAD_CRED)
        return error_set (err, EACCES, "MUNGE: %s", text);
    if (rc == EMUNGE_SOCKET || rc == EMUNGE_TIMEOUT) {
        munge_ctx_get (ctx, MUNGE_OPT_SOCKET, &path);
        return error_set (
            err, EIO,
            "MUNGE: no answer from munged at %s (%s): is the munge service running?",
            path ? path : "its socket", text);
    }
    return error_set (err, EIO, "MUNGE: %s", text);
}

char *credential_make (const char *munge_socket, const char *authority,
                       const char *method, const char *target, const void *body,
                       size_t len, struct error *err)
{
    munge_ctx_t ctx = open_context (munge_socket, err);
    struct sha256 sum;
    char hex[SHA256_HEX_SIZE];
    char payload[PAYLOAD_MAX + 1];
    char machine[MACHINE_SIZE] = "";
    char *cred = NULL;

    if (!ctx)
        return NULL;
    credential_begin (&sum, method, target);
    sha256_update (&sum, body, len);
    digest (&sum, hex);
    if (authority_is_loopback (authority))
        authority_machine (machine);
    snprintf (payload, sizeof (payload), "%s %s%s%s", hex, authority, *machine ? " " : "",
              machine);
    munge_err_t rc = munge_encode (&cred, ctx, payload, (int)strlen (payload));
    if (rc != EMUNGE_SUCCESS) {
        explain (ctx, rc, err);
        free (cred);
        cred = NULL;
    }
    munge_ctx_destroy (ctx);
    return cred;
}

/* Takes the next word of the payload, if it is printable (a refusal may print it). Else
 * -EINVAL. */
static int take_word (const char **p, size_t *left, char *ret, size_t size)
{
    size_t len = 0;

    while (len < *left && (*p)[len] > ' ' && (*p)[len] <= '~')
        len++;
    if (len == 0 || len >= size || (len < *left && (*p)[len] != ' ')
        || len + 1 == *left) /* a trailing blank */
        return -EINVAL;
    memcpy (ret, *p, len);
    ret[len] = '\0';
    len += len < *left;
    *p += len;
    *left -= len;
    return 0;
}

/* -EINVAL: not a payload. */
static int split (const char *payload, int payload_len, struct credential *ret)
{
    size_t left = payload_len < 0 ? 0 : (size_t)payload_len;

    ret->authority[0] = ret->machine[0] = '\0';
    if (take_word (&payload, &left, ret->digest, sizeof (ret->digest)) < 0
        || strlen (ret->digest) != HEX_LEN
        || (left > 0
            && take_word (&payload, &left, ret->authority, sizeof (ret->authority)) < 0)
        || (left > 0
            && take_word (&payload, &left, ret->machine, sizeof (ret->machine)) < 0))
        return -EINVAL;
    return left == 0 ? 0 : -EINVAL;
}

int credential_decode (const char *munge_socket, const char *cred, struct credential *ret,
                       struct error *err)
{
    munge_ctx_t ctx = open_context (munge_socket, err);
    autofree void *payload = NULL;
    int payload_len = 0;
    int rc = 0;

    if (!ctx)
        return -ENOMEM;
    munge_err_t mrc = munge_decode (cred, ctx, &payload, &payload_len, &ret->uid, NULL);
    if (mrc != EMUNGE_SUCCESS)
        rc = explain (ctx, mrc, err);
    munge_ctx_destroy (ctx);
    if (rc == 0 && split (payload, payload_len, ret) < 0)
        rc = error_set (err, EACCES, "MUNGE: the credential is not one for a broker");
    return rc;
}
