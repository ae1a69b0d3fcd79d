/* certificate.h - certificates that sign themselves, for tests of src/net */
#pragma once

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct test_certificate {
    EVP_PKEY *key;
    X509 *cert;
};

static inline void test_add_name (X509 *cert, const char *name, int len)
{
    assert_int_equal (X509_NAME_add_entry_by_NID (
                          X509_get_subject_name (cert), NID_commonName, MBSTRING_UTF8,
                          (const unsigned char *)name, len, -1, 0),
                      1);
}

/* alt: subject alternative names ("URI:fluxq:user:ann"), or NULL; not_before and not_after:
 * unix times. The subject has no name yet: test_add_name(), then test_sign(). */
static inline struct test_certificate
test_certificate_create (const char *alt, time_t not_before, time_t not_after)
{
    struct test_certificate c = { EVP_EC_gen ("P-256"), X509_new () };

    assert_non_null (c.key);
    assert_non_null (c.cert);
    X509_set_version (c.cert, X509_VERSION_3);
    ASN1_INTEGER_set (X509_get_serialNumber (c.cert), 1);
    ASN1_TIME_set (X509_getm_notBefore (c.cert), not_before);
    ASN1_TIME_set (X509_getm_notAfter (c.cert), not_after);
    X509_set_pubkey (c.cert, c.key);
    if (alt) {
        X509_EXTENSION *ext = X509V3_EXT_conf_nid (NULL, NULL, NID_subject_alt_name, alt);
        assert_non_null (ext);
        assert_int_equal (X509_add_ext (c.cert, ext, -1), 1);
        X509_EXTENSION_free (ext);
    }
    return c;
}

static inline void test_sign (struct test_certificate *c)
{
    X509_set_issuer_name (c->cert, X509_get_subject_name (c->cert));
    assert_int_not_equal (X509_sign (c->cert, c->key, EVP_sha256 ()), 0);
}

static inline void test_certificate_free (struct test_certificate *c)
{
    X509_free (c->cert);
    EVP_PKEY_free (c->key);
}
