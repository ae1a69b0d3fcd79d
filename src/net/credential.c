/* credential.c - see credential.h */
#include "net/credential.h"

#include <errno.h>
#include <munge.h>
#include <string.h>

#include "common/sha256.h"

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

char *credential_make (const char *munge_socket, const char *method, const char *target,
                       const void *body, size_t len, struct error *err)
{
    munge_ctx_t ctx = open_context (munge_socket, err);
    char hex[SHA256_HEX_SIZE];
    char *cred = NULL;

    if (!ctx)
        return NULL;
    digest (method, target, body, len, hex);
    munge_err_t rc = munge_encode (&cred, ctx, hex, (int)strlen (hex));
    if (rc != EMUNGE_SUCCESS) {
        explain (ctx, rc, err);
        free (cred);
        cred = NULL;
    }
    munge_ctx_destroy (ctx);
    return cred;
}

int credential_check (const char *munge_socket, const char *cred, const char *method,
                      const char *target, const void *body, size_t len, uid_t *ret_uid,
                      gid_t *ret_gid, struct error *err)
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
    if (payload_len != SHA256_HEX_SIZE - 1
        || !secret_equal (payload, hex, SHA256_HEX_SIZE - 1))
        return error_set (err, EACCES,
                          "MUNGE: the credential was made for another request");
    *ret_uid = uid;
    *ret_gid = gid;
    return 0;
}
