/* tls_policy.c - see tls_policy.h */
#include "net/tls_policy.h"

#include <openssl/err.h>

#define LABEL "EXPORTER-Channel-Binding"

int tls_policy_apply (SSL_CTX *ctx)
{
    SSL_CTX_set_options (ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode (ctx, SSL_MODE_ENABLE_PARTIAL_WRITE
                               | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                               | SSL_MODE_RELEASE_BUFFERS);
    /* All suites of TLS 1.3 encrypt and authenticate at once. */
    return SSL_CTX_set_min_proto_version (ctx, TLS1_2_VERSION) == 1
                   && SSL_CTX_set_cipher_list (ctx, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1
               ? 0
               : -EINVAL;
}

int tls_policy_channel (SSL *ssl, uint8_t ret[TLS_CHANNEL_SIZE])
{
    if (SSL_version (ssl) < TLS1_3_VERSION && SSL_get_extms_support (ssl) != 1)
        return -EPROTO;
    /* the context is empty, which in TLS 1.2 is not the same as none */
    return SSL_export_keying_material (ssl, ret, TLS_CHANNEL_SIZE, LABEL,
                                       sizeof (LABEL) - 1, NULL, 0, 1)
                   == 1
               ? 0
               : -EPROTO;
}

const char *tls_policy_reason (void)
{
    unsigned long error = ERR_peek_error ();
    const char *reason = ERR_SYSTEM_ERROR (error) ? strerror (ERR_GET_REASON (error))
                                                  : ERR_reason_error_string (error);

    ERR_clear_error ();
    return reason ? reason : "unknown reason";
}
