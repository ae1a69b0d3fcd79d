/* tls_verify.c - see tls_verify.h */
#include "net/tls_verify.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include "common/clock.h"
#include "net/keyfile.h"
#include "net/tls_policy.h"

#define PIN_PREFIX "sha256//"
#define PIN_SIZE 64
#define PLACE_SIZE 512
#define NAMES_MAX 200 /* bytes of the names in a message */

/* The fate of a handshake; the application's data of its SSL. */
struct verdict {
    X509 *cert;    /* the broker's, for messages: a failed handshake does not keep it */
    bool asked;    /* the broker wants a certificate of the user */
    bool accepted; /* ... and accepts it */
};

/* -- settings -- */

static int use_authorities (SSL_CTX *ctx, const struct client_settings *set,
                            struct error *err)
{
    if (!set->ca)
        return SSL_CTX_set_default_verify_paths (ctx) == 1
                   ? 0
                   : error_set (err, EIO, "the system's certificate authorities: %s",
                                tls_policy_reason ());
    return SSL_CTX_load_verify_file (ctx, set->ca) == 1
               ? 0
               : error_set (err, EINVAL,
                            "ca: %s in client.yaml: %s: expected certificates in PEM",
                            set->ca, tls_policy_reason ());
}

/* The user's own; the key's file must be the user's only. */
static int use_certificate (SSL_CTX *ctx, const struct client_settings *set,
                            struct error *err)
{
    struct strbuf text = STRBUF_INIT (KEYFILE_MAX + 1);
    EVP_PKEY *key = NULL;
    int rc = 0;

    if (!set->certificate)
        return 0;
    if (SSL_CTX_use_certificate_chain_file (ctx, set->certificate) != 1)
        return error_set (err, EINVAL,
                          "certificate: %s in client.yaml: %s: expected a certificate in "
                          "PEM",
                          set->certificate, tls_policy_reason ());
    if ((rc = keyfile_read (&text, set->key, KEYFILE_SECRET, err)) < 0)
        return rc;
    BIO *bio = BIO_new_mem_buf (text.buf, (int)text.len);
    if (bio)
        key = PEM_read_bio_PrivateKey (bio, NULL, NULL, (void *)(uintptr_t) "");
    if (!key || SSL_CTX_use_PrivateKey (ctx, key) != 1)
        rc = error_set (err, EINVAL,
                        "key: %s in client.yaml: %s: expected the private key of the "
                        "certificate in PEM, without passphrase",
                        set->key, tls_policy_reason ());
    EVP_PKEY_free (key);
    BIO_free (bio);
    keyfile_wipe (&text);
    return rc;
}

/* The name that the certificate must have. */
static bool expect_host (SSL *ssl, const char *host)
{
    X509_VERIFY_PARAM *param = SSL_get0_param (ssl);
    unsigned char address[sizeof (struct in6_addr)];

    if (inet_pton (AF_INET, host, address) == 1
        || inet_pton (AF_INET6, host, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc (param, host) == 1;
    X509_VERIFY_PARAM_set_hostflags (param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
                                                | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return X509_VERIFY_PARAM_set1_host (param, host, 0) == 1
           && SSL_set_tlsext_host_name (ssl, host) == 1;
}

/* -- reasons -- */

/* "login1.example, 10.0.0.5": the names that the certificate has. */
static void list_names (const X509 *cert, struct strbuf *list)
{
    GENERAL_NAMES *names = X509_get_ext_d2i (cert, NID_subject_alt_name, NULL, NULL);

    for (int i = 0; i < sk_GENERAL_NAME_num (names) && list->len < NAMES_MAX; i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value (names, i);
        char text[INET6_ADDRSTRLEN] = "";
        const char *sep = list->len > 0 ? ", " : "";
        if (name->type == GEN_DNS)
            strbuf_addf (list, "%s%.*s", sep,
                         (int)MIN (ASN1_STRING_length (name->d.dNSName), NAMES_MAX),
                         (const char *)ASN1_STRING_get0_data (name->d.dNSName));
        else if (name->type == GEN_IPADD
                 && (ASN1_STRING_length (name->d.iPAddress) == 4
                     || ASN1_STRING_length (name->d.iPAddress) == 16)
                 && inet_ntop (
                     ASN1_STRING_length (name->d.iPAddress) == 4 ? AF_INET : AF_INET6,
                     ASN1_STRING_get0_data (name->d.iPAddress), text, sizeof (text)))
            strbuf_addf (list, "%s%s", sep, text);
    }
    GENERAL_NAMES_free (names);
}

static int explain_name (const X509 *cert, const char *where, struct error *err)
{
    autostrbuf struct strbuf names = STRBUF_INIT (2 * NAMES_MAX + 64);

    if (cert)
        list_names (cert, &names);
    return error_set (err, EACCES,
                      "%s: the certificate there is for %s: use one of these names in "
                      "FLUXQ_BROKER, or this may be another broker",
                      where, names.len > 0 ? names.buf : "no host");
}

/* result: of X509_verify_cert(). */
static int explain_certificate (const X509 *cert, const char *where, long result,
                                struct error *err)
{
    switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return error_set (err, EACCES,
                          "%s: the broker's certificate has expired: an administrator "
                          "must renew it",
                          where);
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return error_set (
            err, EACCES,
            "%s: the broker's certificate is not valid yet: check the clock "
            "of this machine",
            where);
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return explain_name (cert, where, err);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        return error_set (err, EACCES,
                          "%s: no authority that this machine trusts has signed the "
                          "broker's certificate: name the site's authority with ca: FILE "
                          "in client.yaml",
                          where);
    default:
        return error_set (err, EACCES, "%s: the broker's certificate: %s", where,
                          X509_verify_cert_error_string (result));
    }
}

/* A handshake failed for another reason than the certificate. */
static int explain_failure (const char *where, struct error *err)
{
    int reason = ERR_GET_REASON (ERR_peek_last_error ());
    const char *text = tls_policy_reason ();

    if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_PACKET_LENGTH_TOO_LONG)
        return error_set (err, EPROTO,
                          "%s: the server there does not speak TLS (a broker with \"tls: "
                          "off\" does not): ask its administrator for the URL",
                          where);
    if (reason == SSL_R_UNSUPPORTED_PROTOCOL
        || reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION)
        return error_set (err, EPROTO, "%s: the server there has no TLS 1.2 or later",
                          where);
    if (reason == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return error_set (
            err, ECONNREFUSED, /* perhaps a broker that ends, or has no room */
            "%s: the server there ended the connection during the TLS "
            "handshake: is a broker with TLS at that port, and has it room?",
            where);
    return error_set (err, EPROTO, "%s: TLS handshake: %s", where, text);
}

/* -- pins -- */

static bool make_pin (const X509 *cert, char ret[PIN_SIZE])
{
    unsigned char *der = NULL, hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    int len = i2d_X509_PUBKEY (X509_get_X509_PUBKEY (cert), &der);
    bool ok =
        len > 0 && EVP_Digest (der, (size_t)len, hash, &n, EVP_sha256 (), NULL) == 1;

    OPENSSL_free (der);
    if (!ok)
        return false;
    memcpy (ret, PIN_PREFIX, sizeof (PIN_PREFIX));
    EVP_EncodeBlock ((unsigned char *)ret + strlen (PIN_PREFIX), hash, (int)n);
    return true;
}

static int check_pins (SSL *ssl, const char *where, const struct client_settings *set,
                       struct error *err)
{
    const X509 *cert = SSL_get0_peer_certificate (ssl);
    char own[PIN_SIZE] = "";
    const json_t *pin;
    size_t i;

    if (!set->pins)
        return 0;
    if (!cert || !make_pin (cert, own))
        return error_set (err, EACCES, "%s: the broker's public key cannot be read",
                          where);
    json_array_foreach (set->pins, i, pin) {
        if (!strcmp (json_string_value (pin), own))
            return 0;
    }
    return error_set (err, EACCES,
                      "%s: the broker's public key %s is not among the pins in "
                      "client.yaml: ask an administrator whether it is new",
                      where, own);
}

/* -- the handshake -- */

static int wait_for (int fd, int error, double until)
{
    struct pollfd p = { .fd = fd,
                        .events = error == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN };
    double left = until - clock_mono ();

    return left > 0 && poll (&p, 1, (int)(left * 1000) + 1) != 0 ? 0 : -ETIMEDOUT;
}

/* 0; -ETIMEDOUT, or -EPROTO with errors of OpenSSL. */
static int shake_hands (SSL *ssl, int fd, double until)
{
    int rc = 0;

    while (rc == 0) {
        ERR_clear_error ();
        int done = SSL_connect (ssl);
        int error = SSL_get_error (ssl, done);
        if (done == 1)
            return 0;
        rc = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE
                 ? wait_for (fd, error, until)
                 : -EPROTO;
    }
    return rc;
}

static int on_session (SSL *ssl, SSL_SESSION *session)
{
    struct verdict *verdict = SSL_get_app_data (ssl);

    (void)session;
    verdict->accepted = true;
    return 0;
}

static int on_asked (SSL *ssl, void *arg)
{
    struct verdict *verdict = SSL_get_app_data (ssl);

    (void)arg;
    verdict->asked = true;
    return 1;
}

static int on_verify (int ok, X509_STORE_CTX *store)
{
    const SSL *ssl =
        X509_STORE_CTX_get_ex_data (store, SSL_get_ex_data_X509_STORE_CTX_idx ());
    struct verdict *verdict = SSL_get_app_data (ssl);
    X509 *cert = X509_STORE_CTX_get0_cert (store);

    if (!ok && !verdict->cert && cert && X509_up_ref (cert) == 1)
        verdict->cert = cert;
    return ok;
}

/* In TLS 1.3 the client is done before the broker has seen its certificate. The broker's
 * next message, a ticket or an alert, says whether it is accepted. */
static int await_acceptance (SSL *ssl, int fd, double until)
{
    const struct verdict *verdict = SSL_get_app_data (ssl);
    char byte;
    int rc = 0;

    if (SSL_version (ssl) < TLS1_3_VERSION || !verdict->asked
        || !SSL_get_certificate (ssl))
        return 0;
    while (rc == 0 && !verdict->accepted) {
        ERR_clear_error ();
        int n = SSL_peek (ssl, &byte, 1);
        int error = SSL_get_error (ssl, n);
        if (n > 0 || verdict->accepted)
            break;
        rc = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE
                 ? wait_for (fd, error, until)
                 : -EPROTO;
    }
    return rc;
}

/* https://HOST:PORT, for messages. */
static void name_place (const char *host, const char *port, char ret[PLACE_SIZE])
{
    snprintf (ret, PLACE_SIZE, strchr (host, ':') ? "https://[%s]:%s" : "https://%s:%s",
              host, port);
}

static int connect_and_check (SSL *ssl, int fd, const char *host, const char *port,
                              const struct client_settings *set, struct error *err)
{
    double until = clock_mono () + TLS_HANDSHAKE_MS / 1000.0;
    const struct verdict *verdict = SSL_get_app_data (ssl);
    char where[PLACE_SIZE];

    name_place (host, port, where);
    int rc = shake_hands (ssl, fd, until);
    long result = SSL_get_verify_result (ssl);
    if (rc < 0 && result != X509_V_OK)
        return explain_certificate (verdict->cert, where, result, err);
    if (rc == 0 && (rc = check_pins (ssl, where, set, err)) < 0)
        return rc;
    if (rc == 0)
        rc = await_acceptance (ssl, fd, until);
    if (rc == -ETIMEDOUT)
        return error_set (err, ETIMEDOUT, "%s: no answer to the TLS handshake for %d s",
                          where, TLS_HANDSHAKE_MS / 1000);
    return rc < 0 ? explain_failure (where, err) : 0;
}

/* NULL: with a reason. */
static SSL_CTX *create_context (const struct client_settings *set, struct error *err)
{
    SSL_CTX *ctx = SSL_CTX_new (TLS_client_method ());

    if (!ctx || tls_policy_apply (ctx) < 0) {
        error_set (err, EIO, "OpenSSL: %s", tls_policy_reason ());
    } else if (use_authorities (ctx, set, err) == 0
               && use_certificate (ctx, set, err) == 0) {
        SSL_CTX_set_verify (ctx, SSL_VERIFY_PEER, on_verify);
        SSL_CTX_set_session_cache_mode (ctx, SSL_SESS_CACHE_CLIENT
                                                 | SSL_SESS_CACHE_NO_INTERNAL_STORE);
        SSL_CTX_sess_set_new_cb (ctx, on_session);
        SSL_CTX_set_cert_cb (ctx, on_asked, NULL);
        return ctx;
    }
    SSL_CTX_free (ctx);
    return NULL;
}

SSL *tls_verify_connect (int fd, const char *host, const char *port,
                         const struct client_settings *set, bool *ret_identified,
                         struct error *err)
{
    struct verdict verdict = { 0 };

    ERR_clear_error ();
    SSL_CTX *ctx = create_context (set, err);
    SSL *ssl = ctx ? SSL_new (ctx) : NULL;
    bool good = ssl && SSL_set_fd (ssl, fd) == 1 && SSL_set_app_data (ssl, &verdict) == 1
                && expect_host (ssl, host);
    if (ctx && !good)
        error_set (err, EIO, "OpenSSL: %s", tls_policy_reason ());
    good = good && connect_and_check (ssl, fd, host, port, set, err) == 0;
    *ret_identified = good && verdict.asked && SSL_get_certificate (ssl);
    X509_free (verdict.cert);
    if (ctx)
        SSL_CTX_sess_set_new_cb (ctx, NULL); /* the verdict ends here */
    SSL_CTX_free (ctx);
    if (good)
        return ssl;
    SSL_free (ssl);
    return NULL;
}
