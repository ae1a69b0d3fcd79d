/* credential.c - see credential.h */
#include "net/credential.h"

#include <errno.h>
#include <munge.h>
#include <string.h>

#include "common/sha256.h"

#define HEX_LEN ((size_t)SHA256_HEX_SIZE - 1)
#define PAYLOAD_MAX (HEX_LEN + AUTHORITY_SIZE) /* a blank and the name */

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

/* What a failed call means: -EACCES the credential is bad, -EIO munged is. */
static int explain (munge_ctx_t ctx, munge_err_t rc, struct error *err)
{
    const char *reason = munge_ctx_strerror (ctx);
    char text[256]; /* a copy: munge_ctx_get() frees what munge_ctx_strerror() gave */
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
    char *cred = NULL;

    if (!ctx)
        return NULL;
    credential_begin (&sum, method, target);
    sha256_update (&sum, body, len);
    digest (&sum, hex);
    snprintf (payload, sizeof (payload), "%s %s", hex, authority);
    munge_err_t rc = munge_encode (&cred, ctx, payload, (int)strlen (payload));
    if (rc != EMUNGE_SUCCESS) {
        explain (ctx, rc, err);
        free (cred);
        cred = NULL;
    }
    munge_ctx_destroy (ctx);
    return cred;
}

/* -EINVAL: this is no payload. */
static int split (const char *payload, int payload_len, struct credential *ret)
{
    size_t len = payload_len < 0 ? 0 : (size_t)payload_len;

    if (len < HEX_LEN || len >= PAYLOAD_MAX || len == HEX_LEN + 1
        || (len > HEX_LEN && payload[HEX_LEN] != ' '))
        return -EINVAL;
    for (size_t i = HEX_LEN + 1; i < len; i++) {
        if (payload[i] <= ' ' || payload[i] > '~') /* a refusal prints the name */
            return -EINVAL;
    }
    memcpy (ret->digest, payload, HEX_LEN);
    ret->digest[HEX_LEN] = '\0';
    ret->authority[0] = '\0';
    if (len > HEX_LEN)
        snprintf (ret->authority, AUTHORITY_SIZE, "%.*s", (int)(len - HEX_LEN - 1),
                  payload + HEX_LEN + 1);
    return 0;
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
    munge_err_t mrc =
        munge_decode (cred, ctx, &payload, &payload_len, &ret->uid, &ret->gid);
    if (mrc != EMUNGE_SUCCESS)
        rc = explain (ctx, mrc, err);
    munge_ctx_destroy (ctx);
    if (rc == 0 && split (payload, payload_len, ret) < 0)
        rc = error_set (err, EACCES, "MUNGE: the credential is not one for a broker");
    return rc;
}
