/* credential.c - see credential.h */
#include "net/credential.h"

#include <errno.h>
#include <munge.h>
#include <string.h>

#include "common/sha256.h"

#define HEX_LEN ((size_t)SHA256_HEX_SIZE - 1)
#define PAYLOAD_MAX (HEX_LEN + AUTHORITY_SIZE) /* a blank and the name */

static void digest (const char *method, const char *target, const void *body, size_t len,
                    char ret[SHA256_HEX_SIZE])
{
    struct sha256 ctx;
    uint8_t hash[SHA256_SIZE];

    sha256_init (&ctx);
    sha256_update (&ctx, method, strlen (method));
    sha256_update (&ctx, "\n", 1);
    sha256_update (&ctx, target, strlen (target));
    sha256_update (&ctx, "\n", 1);
    sha256_update (&ctx, body, len);
    sha256_final (&ctx, hash);
    hex_encode (hash, sizeof (hash), ret);
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
    char hex[SHA256_HEX_SIZE];
    char payload[PAYLOAD_MAX + 1];
    char *cred = NULL;

    if (!ctx)
        return NULL;
    digest (method, target, body, len, hex);
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

/* The name behind the digest, "" for none; -EINVAL: this is no payload. */
static int split (const char *payload, int payload_len, char ret[AUTHORITY_SIZE])
{
    size_t len = payload_len < 0 ? 0 : (size_t)payload_len;

    ret[0] = '\0';
    if (len == HEX_LEN)
        return 0;
    if (len <= HEX_LEN || len >= PAYLOAD_MAX || payload[HEX_LEN] != ' ')
        return -EINVAL;
    for (size_t i = HEX_LEN + 1; i < len; i++) {
        if (payload[i] <= ' ' || payload[i] > '~') /* a refusal prints the name */
            return -EINVAL;
    }
    snprintf (ret, AUTHORITY_SIZE, "%.*s", (int)(len - HEX_LEN - 1), payload + HEX_LEN + 1);
    return 0;
}

int credential_check (const char *munge_socket, const char *cred, const char *method,
                      const char *target, const void *body, size_t len,
                      char ret_authority[AUTHORITY_SIZE], uid_t *ret_uid, gid_t *ret_gid,
                      struct error *err)
{
    munge_ctx_t ctx = open_context (munge_socket, err);
    char hex[SHA256_HEX_SIZE];
    autofree void *payload = NULL;
    int payload_len = 0;
    uid_t uid = (uid_t)-1;
    gid_t gid = (gid_t)-1;
    int rc = 0;

    if (!ctx)
        return -ENOMEM;
    munge_err_t mrc = munge_decode (cred, ctx, &payload, &payload_len, &uid, &gid);
    if (mrc != EMUNGE_SUCCESS)
        rc = explain (ctx, mrc, err);
    munge_ctx_destroy (ctx);
    if (rc < 0)
        return rc;
    digest (method, target, body, len, hex);
    if (split (payload, payload_len, ret_authority) < 0
        || !secret_equal (payload, hex, HEX_LEN))
        return error_set (err, EACCES,
                          "MUNGE: the credential was made for another request");
    *ret_uid = uid;
    *ret_gid = gid;
    return 0;
}
