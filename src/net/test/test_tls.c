/* test_tls.c - certificates, the users that they name, and channels */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/io.h"
#include "net/test/certificate.h"
#include "net/tls_context.h"
#include "net/tls_policy.h"
#include "net/tls_user.h"

#define NOW 2000000000
#define DAY 86400

static char folder[] = "/tmp/test-tls-XXXXXX";

static int start (void **state)
{
    (void)state;
    return mkdtemp (folder) ? 0 : -1;
}

static int stop (void **state)
{
    (void)state;
    return io_remove_tree (folder, NULL);
}

/* -- users -- */

/* The user of a certificate with these common names (NULL: none) and alternative names. */
static int user_of (const char *cn, int len, const char *second, const char *alt,
                    char ret[TLS_USER_SIZE])
{
    struct test_certificate c = test_certificate_create (alt, NOW, NOW + DAY);

    if (cn)
        test_add_name (c.cert, cn, len);
    if (second)
        test_add_name (c.cert, second, -1);
    test_sign (&c);
    int rc = tls_user_of (c.cert, ret);
    test_certificate_free (&c);
    return rc;
}

static void test_users (void **state)
{
    char name[TLS_USER_SIZE];

    (void)state;
    assert_int_equal (user_of ("ann", -1, NULL, NULL, name), 0);
    assert_string_equal (name, "ann");
    assert_int_equal (user_of ("Ann Lee", -1, NULL, "URI:fluxq:user:ann", name), 0);
    assert_string_equal (name, "ann");
    assert_int_equal (
        user_of ("ann", -1, NULL, "URI:https://example.org,DNS:root,email:root@x", name),
        0);
    assert_string_equal (name, "ann");
}

static void test_users_refused (void **state)
{
    char name[TLS_USER_SIZE] = "x";
    char longest[65];

    (void)state;
    assert_int_equal (user_of (NULL, 0, NULL, NULL, name), -ENOENT);
    assert_string_equal (name, "");
    assert_int_equal (user_of (NULL, 0, NULL, "DNS:ann", name), -ENOENT);
    assert_int_equal (user_of ("ann", -1, "root", NULL, name), -EINVAL);
    assert_string_equal (name, "");
    assert_int_equal (user_of ("ann", -1, "ann", NULL, name), -EINVAL);
    assert_int_equal (
        user_of ("ann", -1, NULL, "URI:fluxq:user:ann,URI:fluxq:user:root", name),
        -EINVAL);
    assert_int_equal (user_of ("ann", -1, NULL, "URI:fluxq:user:", name), -EINVAL);
    assert_int_equal (user_of ("root\0ann", 8, NULL, NULL, name), -EINVAL);
    assert_string_equal (name, "");
    assert_int_equal (user_of ("ann lee", -1, NULL, NULL, name), -EINVAL);
    assert_int_equal (user_of ("ann\n", -1, NULL, NULL, name), -EINVAL);
    assert_int_equal (user_of ("\xc3\xa4nn", -1, NULL, NULL, name), -EINVAL);
    memset (longest, 'a', 64);
    assert_int_equal (user_of (longest, 64, NULL, NULL, name), 0);
}

static void test_user_length (void **state)
{
    char uri[400] = "URI:fluxq:user:", name[TLS_USER_SIZE];
    size_t at = strlen (uri);

    (void)state;
    memset (uri + at, 'a', TLS_USER_SIZE);
    assert_int_equal (user_of ("ann", -1, NULL, uri, name), -EINVAL);
    uri[at + TLS_USER_SIZE - 1] = '\0';
    assert_int_equal (user_of ("ann", -1, NULL, uri, name), 0);
    assert_int_equal (strlen (name), TLS_USER_SIZE - 1);
}

/* -- files -- */

static const char *path_of (const char *name)
{
    static char paths[4][128];
    static unsigned i;
    char *path = paths[i++ % 4];

    snprintf (path, sizeof (paths[0]), "%s/%s", folder, name);
    return path;
}

static void write_pem (const struct test_certificate *c, mode_t mode)
{
    FILE *cert = fopen (path_of ("crt"), "w"), *key = fopen (path_of ("key"), "w");

    assert_non_null (cert);
    assert_non_null (key);
    assert_int_equal (PEM_write_X509 (cert, c->cert), 1);
    assert_int_equal (PEM_write_PrivateKey (key, c->key, NULL, NULL, 0, NULL, NULL), 1);
    fclose (cert);
    fclose (key);
    assert_int_equal (chmod (path_of ("key"), mode), 0);
    assert_int_equal (chmod (path_of ("crt"), 0644), 0);
}

static SSL_CTX *load (uint8_t digest[SHA256_SIZE], struct error *err)
{
    const struct tls_files files = { path_of ("crt"), path_of ("key"), NULL };

    return tls_context_load (&files, digest, err);
}

static struct test_certificate make_files (time_t not_before, time_t not_after)
{
    struct test_certificate c =
        test_certificate_create ("DNS:localhost", not_before, not_after);

    test_add_name (c.cert, "localhost", -1);
    test_sign (&c);
    write_pem (&c, 0600);
    return c;
}

static bool needs_attention (time_t now, const char *text)
{
    struct error remark = { 0 };
    SSL_CTX *ctx = load (NULL, NULL);

    assert_non_null (ctx);
    bool needs = tls_context_remark (ctx, now, &remark);
    tls_context_release (ctx);
    if (needs)
        assert_non_null (strstr (remark.text, text));
    return needs;
}

static void test_times (void **state)
{
    struct test_certificate c = make_files (NOW, NOW + 100 * DAY);

    (void)state;
    test_certificate_free (&c);
    assert_true (needs_attention (NOW - 1, "not valid yet"));
    assert_false (needs_attention (NOW + 1, ""));
    assert_false (needs_attention (NOW + 85 * DAY, ""));
    assert_true (needs_attention (NOW + 87 * DAY, "expires within"));
    assert_true (needs_attention (NOW + 101 * DAY, "has expired"));
}

static void test_digest_shows_changes (void **state)
{
    uint8_t first[SHA256_SIZE], again[SHA256_SIZE], other[SHA256_SIZE];
    struct test_certificate c = make_files (NOW, NOW + DAY);
    SSL_CTX *a = load (first, NULL), *b = load (again, NULL);

    (void)state;
    test_certificate_free (&c);
    c = make_files (NOW, NOW + DAY);
    test_certificate_free (&c);
    SSL_CTX *d = load (other, NULL);
    assert_non_null (a);
    assert_non_null (b);
    assert_non_null (d);
    assert_memory_equal (first, again, SHA256_SIZE);
    assert_memory_not_equal (first, other, SHA256_SIZE);
    tls_context_release (a);
    tls_context_release (b);
    tls_context_release (d);
}

static void test_unsafe_files (void **state)
{
    struct test_certificate c = make_files (NOW, NOW + DAY);
    struct error err = { 0 };

    (void)state;
    test_certificate_free (&c);
    assert_int_equal (chmod (path_of ("key"), 0644), 0);
    assert_null (load (NULL, &err));
    assert_non_null (strstr (err.text, "key: mode 0644 lets others read it"));
    assert_int_equal (chmod (path_of ("key"), 0660), 0);
    assert_null (load (NULL, &err));
    assert_int_equal (chmod (path_of ("key"), 0640), 0);
    SSL_CTX *ctx = load (NULL, &err);
    assert_int_equal (ctx != NULL, geteuid () == 0); /* the group of root's file */
    tls_context_release (ctx);
    assert_int_equal (chmod (path_of ("key"), 0600), 0);
    assert_int_equal (chmod (path_of ("crt"), 0664), 0);
    assert_null (load (NULL, &err));
    assert_non_null (strstr (err.text, "crt: mode 0664 lets others write it"));
}

/* -- channels -- */

static SSL *create_side (SSL_CTX *ctx, int fd, bool is_server)
{
    SSL *ssl = SSL_new (ctx);

    assert_non_null (ssl);
    assert_int_equal (SSL_set_fd (ssl, fd), 1);
    if (is_server)
        SSL_set_accept_state (ssl);
    else
        SSL_set_connect_state (ssl);
    return ssl;
}

/* Shakes hands between two contexts, and gives the channel of each side. */
static void name_channels (SSL_CTX *server, SSL_CTX *client, int ret[2],
                           uint8_t names[2][TLS_CHANNEL_SIZE])
{
    SSL *sides[2];
    int pair[2], done[2] = { 0 };

    assert_int_equal (
        socketpair (AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    sides[0] = create_side (server, pair[0], true);
    sides[1] = create_side (client, pair[1], false);
    for (int i = 0; i < 20 && (done[0] != 1 || done[1] != 1); i++)
        done[i % 2] = SSL_do_handshake (sides[i % 2]);
    assert_int_equal (done[0], 1);
    assert_int_equal (done[1], 1);
    for (int i = 0; i < 2; i++) {
        ret[i] = tls_policy_channel (sides[i], names[i]);
        SSL_free (sides[i]);
        close (pair[i]);
    }
}

static void test_channels (void **state)
{
    struct test_certificate c = make_files (NOW, NOW + DAY);
    SSL_CTX *server = load (NULL, NULL), *client = SSL_CTX_new (TLS_client_method ());
    uint8_t first[2][TLS_CHANNEL_SIZE], second[2][TLS_CHANNEL_SIZE];
    int rc[2];

    (void)state;
    test_certificate_free (&c);
    assert_non_null (server);
    assert_int_equal (tls_policy_apply (client), 0);
    for (int i = 0; i < 2; i++) {
        name_channels (server, client, rc, first);
        assert_int_equal (rc[0] | rc[1], 0);
        assert_memory_equal (first[0], first[1], TLS_CHANNEL_SIZE);
        name_channels (server, client, rc, second);
        assert_memory_not_equal (first[0], second[0], TLS_CHANNEL_SIZE);
        SSL_CTX_set_max_proto_version (client, TLS1_2_VERSION);
    }
    /* two connections of TLS 1.2 could have one name then (RFC 7627) */
    SSL_CTX_set_options (client, SSL_OP_NO_EXTENDED_MASTER_SECRET);
    name_channels (server, client, rc, first);
    assert_int_equal (rc[0], -EPROTO);
    assert_int_equal (rc[1], -EPROTO);
    SSL_CTX_free (client);
    tls_context_release (server);
}

int main (void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_users),
        cmocka_unit_test (test_users_refused),
        cmocka_unit_test (test_user_length),
        cmocka_unit_test (test_times),
        cmocka_unit_test (test_digest_shows_changes),
        cmocka_unit_test (test_unsafe_files),
        cmocka_unit_test (test_channels),
    };

    return cmocka_run_group_tests (tests, start, stop);
}
