/* credential.c - see credential.h */
#include "net/credential.h"

#include <munge.h>

#include "common/strbuf.h"

#define HEX_LEN ((size_t)SHA256_HEX_SIZE - 1)
#define CHANNEL_PREFIX "tls:"
#define CHANNEL_WORD_SIZE (sizeof (CHANNEL_PREFIX) + HEX_LEN)
#define PAYLOAD_MAX                                                                      \
    (HEX_LEN + AUTHORITY_SIZE + MACHINE_SIZE + CHANNEL_WORD_SIZE) /* including blanks */

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

/* The credential can be read by others, so it has a hash of the channel. */
static void digest_channel (const uint8_t *channel, char ret[SHA256_HEX_SIZE])
{
    struct sha256 sum;

    sha256_init (&sum);
    sha256_update (&sum, channel, TLS_CHANNEL_SIZE);
    digest (&sum, ret);
}

bool credential_is_of (const struct credential *credential, const uint8_t *channel)
{
    char hex[SHA256_HEX_SIZE] = "";

    if (!channel || !credential->channel[0])
        return !channel && !credential->channel[0];
    digest_channel (channel, hex);
    return secret_equal (credential->channel, hex, HEX_LEN);
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

/* The payload after the digest: the name of the broker, of the machine, of the channel. */
static void add_names (struct strbuf *payload, const char *authority,
                       const uint8_t *channel)
{
    char machine[MACHINE_SIZE] = "", hex[SHA256_HEX_SIZE];

    if (authority_is_loopback (authority))
        authority_machine (machine);
    strbuf_addf (payload, " %s%s%s", authority, *machine ? " " : "", machine);
    if (channel) {
        digest_channel (channel, hex);
        strbuf_addf (payload, " " CHANNEL_PREFIX "%s", hex);
    }
}

char *credential_make (const char *munge_socket, const char *authority,
                       const uint8_t *channel, const char *method, const char *target,
                       const void *body, size_t len, struct error *err)
{
    munge_ctx_t ctx = open_context (munge_socket, err);
    struct sha256 sum;
    char hex[SHA256_HEX_SIZE];
    autostrbuf struct strbuf payload = STRBUF_INIT (PAYLOAD_MAX + 1);
    char *cred = NULL;

    if (!ctx)
        return NULL;
    credential_begin (&sum, method, target);
    sha256_update (&sum, body, len);
    digest (&sum, hex);
    strbuf_adds (&payload, hex);
    add_names (&payload, authority, channel);
    munge_err_t rc = payload.err
                         ? EMUNGE_NO_MEMORY
                         : munge_encode (&cred, ctx, payload.buf, (int)payload.len);
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

/* The last words: of the machine, of the channel. */
static int take_last (const char **p, size_t *left, struct credential *ret)
{
    const size_t skip = strlen (CHANNEL_PREFIX);
    char word[CHANNEL_WORD_SIZE];

    if (take_word (p, left, word, sizeof (word)) < 0)
        return -EINVAL;
    if (!strncmp (word, CHANNEL_PREFIX, skip)) {
        if (*left > 0 || strlen (word) != skip + HEX_LEN)
            return -EINVAL;
        memcpy (ret->channel, word + skip, HEX_LEN + 1);
        return 0;
    }
    if (ret->machine[0] || strlen (word) >= sizeof (ret->machine))
        return -EINVAL;
    memcpy (ret->machine, word, strlen (word) + 1);
    return 0;
}

/* -EINVAL: not a payload. */
static int split (const char *payload, int payload_len, struct credential *ret)
{
    size_t left = payload_len < 0 ? 0 : (size_t)payload_len;

    ret->authority[0] = ret->machine[0] = ret->channel[0] = '\0';
    if (take_word (&payload, &left, ret->digest, sizeof (ret->digest)) < 0
        || strlen (ret->digest) != HEX_LEN
        || (left > 0
            && take_word (&payload, &left, ret->authority, sizeof (ret->authority)) < 0))
        return -EINVAL;
    int rc = 0;
    while (left > 0 && rc == 0)
        rc = take_last (&payload, &left, ret);
    return rc;
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
