/* tls_context.c - see tls_context.h */
#include "net/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "net/keyfile.h"
#include "net/tls_policy.h"

#define SOON (14 * 86400) /* seconds */

struct loading {
    SSL_CTX *ctx;
    const struct tls_files *files;
    struct sha256 sum; /* of the files so far */
};

/* -- PEM files -- */

/* A BIO over the text of a file, which the caller wipes after BIO_free(). */
static BIO *open_pem (struct loading *l, const char *path, enum keyfile_kind kind,
                      struct strbuf *text, struct error *err)
{
    if (keyfile_read (text, path, kind, err) < 0)
        return NULL;
    sha256_update (&l->sum, &text->len, sizeof (text->len));
    sha256_update (&l->sum, text->buf, text->len);
    BIO *bio = BIO_new_mem_buf (text->buf, (int)text->len);
    return bio ? bio : error_null (error_no_memory (err, path));
}

/* Ends the reading of certificates: 0 if the file ended after at least one. */
static int end_of_pem (const char *path, unsigned n, struct error *err)
{
    bool ended = ERR_GET_REASON (ERR_peek_last_error ()) == PEM_R_NO_START_LINE;
    const char *reason = tls_policy_reason ();

    if (ended && n > 0)
        return 0;
    return error_set (err, EINVAL, "%s: certificate %u: %s: expected certificates in PEM",
                      path, n + 1, ended ? "there is none" : reason);
}

/* fn takes each certificate by reference: 0, or it refuses. */
static int read_certificates (struct loading *l, const char *path,
                              int (*fn) (SSL_CTX *ctx, X509 *cert, unsigned i),
                              struct error *err)
{
    struct strbuf text = STRBUF_INIT (KEYFILE_MAX + 1);
    BIO *bio = open_pem (l, path, KEYFILE_PUBLIC, &text, err);
    X509 *cert;
    unsigned n = 0;
    int rc = bio ? 0 : -EINVAL;

    while (rc == 0 && (cert = PEM_read_bio_X509 (bio, NULL, NULL, NULL))) {
        if (fn (l->ctx, cert, n++) < 0)
            rc = error_set (err, EINVAL, "%s: certificate %u: %s", path, n,
                            tls_policy_reason ());
        X509_free (cert);
    }
    if (rc == 0)
        rc = end_of_pem (path, n, err);
    BIO_free (bio);
    keyfile_wipe (&text);
    return rc;
}

/* -- the server's certificate -- */

static int add_own (SSL_CTX *ctx, X509 *cert, unsigned i)
{
    return (i == 0 ? SSL_CTX_use_certificate (ctx, cert)
                   : SSL_CTX_add1_chain_cert (ctx, cert))
                   == 1
               ? 0
               : -1;
}

/* A key with a passphrase is refused; OpenSSL would ask for it at the terminal. */
static int no_passphrase (char *buf, int size, int rwflag, void *arg)
{
    (void)buf;
    (void)size;
    (void)rwflag;
    *(bool *)arg = true;
    return -1;
}

static int use_key (struct loading *l, struct error *err)
{
    const struct tls_files *files = l->files;
    struct strbuf text = STRBUF_INIT (KEYFILE_MAX + 1);
    bool asked = false;
    BIO *bio = open_pem (l, files->key, KEYFILE_SHARED, &text, err);
    EVP_PKEY *key =
        bio ? PEM_read_bio_PrivateKey (bio, NULL, no_passphrase, &asked) : NULL;
    int rc = bio ? 0 : -EINVAL;

    if (rc == 0 && asked)
        rc = error_set (err, EINVAL,
                        "%s: has a passphrase, which nobody can type: remove it with "
                        "\"openssl pkey\"",
                        files->key);
    else if (rc == 0 && !key)
        rc = error_set (err, EINVAL, "%s: no private key in PEM: %s", files->key,
                        tls_policy_reason ());
    else if (rc == 0 && SSL_CTX_use_PrivateKey (l->ctx, key) != 1)
        rc = error_set (err, EINVAL, "%s is not the key of the certificate in %s (%s)",
                        files->key, files->certificate, tls_policy_reason ());
    ERR_clear_error ();
    EVP_PKEY_free (key);
    BIO_free (bio);
    keyfile_wipe (&text);
    return rc;
}

/* -- certificates of clients -- */

static int add_authority (SSL_CTX *ctx, X509 *cert, unsigned i)
{
    (void)i;
    return X509_STORE_add_cert (SSL_CTX_get_cert_store (ctx), cert) == 1
                   && SSL_CTX_add_client_CA (ctx, cert) == 1
               ? 0
               : -1;
}

static int use_client_ca (struct loading *l, struct error *err)
{
    static const unsigned char name[] = "fluxq";

    if (!l->files->client_ca)
        return 0;
    SSL_CTX_set_verify (l->ctx, SSL_VERIFY_PEER, NULL); /* a client may have none */
    SSL_CTX_set_session_id_context (l->ctx, name, sizeof (name) - 1);
    return read_certificates (l, l->files->client_ca, add_authority, err);
}

SSL_CTX *tls_context_load (const struct tls_files *files, uint8_t ret_digest[SHA256_SIZE],
                           struct error *err)
{
    struct loading l = { .ctx = SSL_CTX_new (TLS_server_method ()), .files = files };

    ERR_clear_error ();
    sha256_init (&l.sum);
    if (l.ctx) /* tickets are enough: a cache would grow with the clients */
        SSL_CTX_set_session_cache_mode (l.ctx, SSL_SESS_CACHE_OFF);
    if (!l.ctx || tls_policy_apply (l.ctx) < 0) {
        error_set (err, EIO, "OpenSSL: %s", tls_policy_reason ());
    } else if (read_certificates (&l, files->certificate, add_own, err) == 0
               && use_key (&l, err) == 0 && use_client_ca (&l, err) == 0) {
        if (ret_digest)
            sha256_final (&l.sum, ret_digest);
        return l.ctx;
    }
    SSL_CTX_free (l.ctx);
    return NULL;
}

void tls_context_release (SSL_CTX *ctx)
{
    SSL_CTX_free (ctx);
}

/* -- its time -- */

bool tls_context_remark (SSL_CTX *ctx, int64_t now, struct error *remark)
{
    X509 *cert = SSL_CTX_get0_certificate (ctx);
    time_t at = (time_t)now, soon = at + SOON;

    if (!cert)
        return false;
    if (X509_cmp_time (X509_get0_notBefore (cert), &at) > 0)
        error_set (remark, EINVAL, "the certificate is not valid yet");
    else if (X509_cmp_time (X509_get0_notAfter (cert), &at) < 0)
        error_set (remark, EINVAL, "the certificate has expired");
    else if (X509_cmp_time (X509_get0_notAfter (cert), &soon) < 0)
        error_set (remark, EINVAL, "the certificate expires within 14 days");
    else
        return false;
    return true;
}
