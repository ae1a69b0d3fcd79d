/* tls_user.c - see tls_user.h */
#include "net/tls_user.h"

#include <openssl/x509v3.h>

#define URI_PREFIX "fluxq:user:"

/* A second name is refused. */
static int take (const char *text, int len, char ret[TLS_USER_SIZE])
{
    if (ret[0] || len <= 0 || len >= TLS_USER_SIZE)
        return -EINVAL;
    for (int i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~')
            return -EINVAL;
    }
    memcpy (ret, text, (size_t)len);
    ret[len] = '\0';
    return 0;
}

static int take_uris (const X509 *cert, char ret[TLS_USER_SIZE])
{
    GENERAL_NAMES *names = X509_get_ext_d2i (cert, NID_subject_alt_name, NULL, NULL);
    const int skip = (int)strlen (URI_PREFIX);
    int rc = 0;

    for (int i = 0; rc == 0 && i < sk_GENERAL_NAME_num (names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value (names, i);
        if (name->type != GEN_URI)
            continue;
        const char *text =
            (const char *)ASN1_STRING_get0_data (name->d.uniformResourceIdentifier);
        int len = ASN1_STRING_length (name->d.uniformResourceIdentifier);
        if (len >= skip && !memcmp (text, URI_PREFIX, (size_t)skip))
            rc = take (text + skip, len - skip, ret);
    }
    GENERAL_NAMES_free (names);
    return rc;
}

static int take_common_names (const X509 *cert, char ret[TLS_USER_SIZE])
{
    const X509_NAME *subject = X509_get_subject_name (cert);
    int rc = 0;

    for (int i = -1;
         rc == 0 && (i = X509_NAME_get_index_by_NID (subject, NID_commonName, i)) >= 0;) {
        unsigned char *text = NULL;
        const X509_NAME_ENTRY *entry = X509_NAME_get_entry (subject, i);
        int len = ASN1_STRING_to_UTF8 (&text, X509_NAME_ENTRY_get_data (entry));
        rc = take ((const char *)text, len, ret);
        OPENSSL_free (text);
    }
    return rc;
}

int tls_user_of (const X509 *cert, char ret[TLS_USER_SIZE])
{
    ret[0] = '\0';
    int rc = take_uris (cert, ret);
    if (rc == 0 && !ret[0])
        rc = take_common_names (cert, ret);
    if (rc < 0)
        ret[0] = '\0';
    return rc < 0 ? rc : ret[0] ? 0 : -ENOENT;
}
