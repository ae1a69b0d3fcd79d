/* fuzz_credential.c - any bytes as the payload of a MUNGE credential
 *
 * Parser: net/credential.c net/authority.c
 * munged itself is not asked: these functions take the place of libmunge's, and the "credential"
 * is the payload.
 */
#include "fuzz.h"

#include <munge.h>

#include "net/credential.h"
#include "net/tls_channel.h"

static struct fuzz_input payload;

munge_err_t munge_decode (const char *cred, munge_ctx_t ctx, void **buf, int *len,
                          uid_t *uid, gid_t *gid)
{
    (void)cred, (void)ctx, (void)gid;
    *buf = payload.size > 0 ? fuzz_text (payload.data, payload.size) : NULL;
    *len = (int)payload.size;
    *uid = 1000;
    return EMUNGE_SUCCESS;
}

munge_err_t munge_encode (char **cred, munge_ctx_t ctx, const void *buf, int len)
{
    (void)ctx;
    *cred = fuzz_text (buf, (size_t)len);
    return EMUNGE_SUCCESS;
}

static bool is_printable (const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

/* A credential that was made for a request fits this request alone. */
static void check_own (const char *target)
{
    struct credential c;
    struct error err = { 0 };
    struct sha256 sum, other;
    const uint8_t channel[TLS_CHANNEL_SIZE] = { 1, 2, 3 };
    const uint8_t another[TLS_CHANNEL_SIZE] = { 1, 2, 4 };
    autofree char *made =
        credential_make (NULL, "host:7718", channel, "POST", target, "body", 4, &err);

    assert (made);
    payload = (struct fuzz_input){ (const uint8_t *)made, strlen (made) };
    assert (credential_decode (NULL, made, &c, &err) == 0);
    assert (!strcmp (c.authority, "host:7718") && !c.machine[0]);
    assert (credential_is_of (&c, channel) && !credential_is_of (&c, another)
            && !credential_is_of (&c, NULL));
    credential_begin (&sum, "POST", target);
    credential_begin (&other, "GET", target);
    sha256_update (&sum, "body", 4);
    sha256_update (&other, "body", 4);
    assert (credential_fits (&c, &sum) && !credential_fits (&c, &other));
}

static void check_authority (const char *text)
{
    char machine[MACHINE_SIZE], name[AUTHORITY_SIZE], again[AUTHORITY_SIZE];
    struct error err = { 0 };

    if (authority_is_loopback (text))
        authority_machine (machine);
    if (authority_parse (text, 7718, name, "x", &err) < 0)
        fuzz_check_refusal (&err, "x: ");
    else
        assert (authority_parse (name, 1, again, "x", &err) == 0
                && !strcmp (name, again));
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    autofree char *text = fuzz_text (data, size);
    struct credential c;
    struct error err = { 0 };
    struct sha256 sum;

    payload = (struct fuzz_input){ data, size };
    if (credential_decode (NULL, "", &c, &err) < 0)
        fuzz_check_refusal (&err, "MUNGE: ");
    else {
        assert (strlen (c.digest) == SHA256_HEX_SIZE - 1 && is_printable (c.digest));
        assert (is_printable (c.authority) && is_printable (c.machine));
        credential_begin (&sum, "GET", "/");
        assert (!credential_fits (&c, &sum));
    }
    check_authority (text);
    check_own (text);
    return 0;
}
