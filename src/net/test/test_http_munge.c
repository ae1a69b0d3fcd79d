/* test_http_munge.c - TCP with a real munged; the identity of users on both transports */
#include "net/test/server.h"
#include "net/test/munge.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <munge.h>

#include "net/credential.h"
#include "net/http_client.h"

#define NOBODY 65534U

static struct test_server server;
static struct test_munge munge;

static int start (void **state)
{
    (void)state;
    test_munge_start (&munge);
    assert_int_equal (setenv ("FLUXQ_MUNGE_SOCKET", munge.socket, 1), 0);
    test_server_start (&server, munge.socket);
    return 0;
}

static int stop (void **state)
{
    (void)state;
    test_server_stop (&server);
    if (munge.pid > 0)
        test_munge_stop (&munge);
    return 0;
}

static int raw_connect (void)
{
    struct sockaddr_in addr = { .sin_family = AF_INET };
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    addr.sin_port = htons (http_server_port (server.http));
    addr.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    assert_int_equal (connect (fd, (struct sockaddr *)&addr, sizeof (addr)), 0);
    return fd;
}

/* Sends one request on a connection of its own with exactly this credential;
 * returns the status. */
static int raw_request (const char *method, const char *target, const char *body,
                        const char *cred, char *answer, size_t size)
{
    char text[2048];
    size_t got = 0;
    ssize_t n;
    int fd = raw_connect ();

    snprintf (text, sizeof (text),
              "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: "
              "%zu\r\n%s%s\r\n\r\n%s",
              method, target, strlen (body),
              cred ? "Authorization: " : "X-None: ", cred ? cred : "1", body);
    assert_int_equal (io_write_all (fd, text, strlen (text)), 0);
    while (got < size - 1 && (n = recv (fd, answer + got, size - 1 - got, 0)) > 0)
        got += (size_t)n;
    answer[got] = '\0';
    close (fd);
    assert_true (got > 12);
    return (int)strtol (answer + 9, NULL, 10);
}

static void make_for (char header[1024], const char *authority, const char *method,
                      const char *target, const char *body)
{
    struct error err = { 0 };
    char *cred = credential_make (NULL, authority, NULL, method, target, body,
                                  strlen (body), &err);

    if (!cred)
        fail_msg ("%s", err.text);
    snprintf (header, 1024, "MUNGE %s", cred);
    free (cred);
}

static void make (char header[1024], const char *method, const char *target,
                  const char *body)
{
    make_for (header, server.tcp + strlen ("http://"), method, target, body);
}

static char *tcp_request (struct http_client *c, const char *method, const char *target,
                          const char *body, int want)
{
    struct http_response r = { 0 };
    struct error err = { 0 };

    if (http_client_request (c, method, target, body, body ? strlen (body) : 0, NULL, &r,
                             &err)
        < 0)
        fail_msg ("%s", err.text);
    assert_int_equal (r.status, want);
    return r.body;
}

static void test_basic (void **state)
{
    struct error err = { 0 };
    struct http_client *c = http_client_open (server.tcp, &err);
    char want[128];

    (void)state;
    if (!c)
        fail_msg ("%s", err.text);
    for (int i = 0; i < 100; i++) { /* each with a credential of its own */
        snprintf (want, sizeof (want), "POST /echo uid=%u q=%d body={\"a\":1}",
                  (unsigned)geteuid (), i);
        char target[32];
        snprintf (target, sizeof (target), "/echo?q=%d", i);
        char *got = tcp_request (c, "POST", target, "{\"a\":1}", 200);
        assert_string_equal (got, want);
        free (got);
    }
    http_client_close (c);
}

/* Fails if an observer of one request can make another, or repeat the request. */
static void test_refused (void **state)
{
    char cred[1024], answer[4096];

    (void)state;
    make (cred, "POST", "/echo?q=1", "body");
    assert_int_equal (raw_request ("POST", "/echo?q=1", "body", cred, answer, 4096), 200);
    assert_int_equal (raw_request ("POST", "/echo?q=1", "body", cred, answer, 4096), 401);
    assert_non_null (strstr (answer, "eplayed"));
    make (cred, "POST", "/echo?q=1", "body");
    assert_int_equal (raw_request ("POST", "/echo?q=1", "bodY", cred, answer, 4096), 401);
    assert_non_null (strstr (answer, "another request"));
    assert_non_null (strstr (answer, "application/problem+json"));
    assert_non_null (strstr (answer, "WWW-Authenticate: MUNGE"));
    make (cred, "POST", "/echo?q=1", "body");
    assert_int_equal (raw_request ("POST", "/echo?q=2", "body", cred, answer, 4096), 401);
    make (cred, "POST", "/echo", "body");
    assert_int_equal (raw_request ("DELETE", "/echo", "body", cred, answer, 4096), 401);
    make (cred, "POST", "/echo", "a\nb"); /* the separator is in the body */
    assert_int_equal (raw_request ("POST", "/echo", "a\nb", cred, answer, 4096), 200);
    assert_int_equal (raw_request ("GET", "/echo", "", NULL, answer, 4096), 401);
    assert_int_equal (raw_request ("GET", "/echo", "", "Basic cm9vdDp4", answer, 4096),
                      401);
    assert_int_equal (raw_request ("GET", "/echo", "", "MUNGE", answer, 4096), 401);
    assert_int_equal (raw_request ("GET", "/echo", "", "MUNGE MUNGE:xxxx:", answer, 4096),
                      401);
    assert_int_equal (raw_request ("GET", "/echo", "", "MUNGE nonsense", answer, 4096),
                      401);
    make (cred, "GET", "/echo", "");
    cred[strlen (cred) / 2] ^= 1;
    assert_int_equal (raw_request ("GET", "/echo", "", cred, answer, 4096), 401);
    assert_int_equal (server.requests, 2); /* no other reached the handler */
    make (cred, "GET", "/answers", "");
    assert_int_equal (raw_request ("GET", "/answers", "", cred, answer, 4096), 200);
    assert_non_null (strstr (answer, "POST /echo 200 - by munge from 127.0.0.1:"));
    assert_non_null (
        strstr (answer, "DELETE /echo 401 unauthenticated by munge from 127.0.0.1:"));
    assert_non_null (
        strstr (answer, "GET /echo 401 unauthenticated by - from 127.0.0.1:"));
}

/* The status for a head alone: 100 if the server asks for the body. */
static int status_of_head (int fd, const char *cred, size_t body_len)
{
    char text[2048];
    size_t got = 0;
    ssize_t n;

    snprintf (text, sizeof (text),
              "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
              "Content-Length: %zu\r\n%s%s\r\n\r\n",
              body_len, cred ? "Authorization: " : "X-None: ", cred ? cred : "1");
    assert_int_equal (io_write_all (fd, text, strlen (text)), 0);
    for (text[0] = '\0'; !strstr (text, "\r\n\r\n"); text[got] = '\0') {
        n = recv (fd, text + got, sizeof (text) - 1 - got, 0);
        assert_true (n > 0);
        got += (size_t)n;
    }
    return (int)strtol (text + 9, NULL, 10);
}

/* Fails if an unknown client makes the server read a body, or does not pay for
 * another's. */
static void test_body_waits (void **state)
{
    static const char *const bad[] = { NULL, "MUNGE nonsense" };
    char cred[1024], answer[4096];
    char *body = calloc (1, 1000001);

    (void)state;
    assert_non_null (body);
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        int fd = raw_connect ();
        assert_int_equal (status_of_head (fd, bad[i], 1000000), 401);
        close (fd);
    }
    make_for (cred, "other:1", "POST", "/echo", "");
    int fd = raw_connect ();
    assert_int_equal (status_of_head (fd, cred, 1000000), 401);
    close (fd);
    assert_int_equal (server.requests, 0);
    memset (body, 'b', 1000000);
    make (cred, "POST", "/echo", body);
    fd = raw_connect ();
    assert_int_equal (status_of_head (fd, cred, 1000000), 100);
    assert_int_equal (io_write_all (fd, body, 1000000), 0);
    assert_true (recv (fd, answer, sizeof (answer), 0) > 12);
    assert_memory_equal (answer, "HTTP/1.1 200", 12);
    close (fd);
    make (cred, "POST", "/echo", body);
    fd = raw_connect ();
    assert_int_equal (status_of_head (fd, cred, 1000000), 100);
    body[999999] = 'c'; /* the last byte of the signed body */
    assert_int_equal (io_write_all (fd, body, 1000000), 0);
    assert_true (recv (fd, answer, sizeof (answer), 0) > 12);
    assert_memory_equal (answer, "HTTP/1.1 401", 12);
    assert_int_equal (server.requests, 1);
    close (fd);
    free (body);
}

/* Fails if over TCP one user can use all connections. */
static void test_connections (void **state)
{
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    char cred[1024];
    int fds[4];

    (void)state;
    limits.connections = 3;
    http_server_set_limits (server.http, &limits);
    for (size_t i = 0; i < ARRAY_SIZE (fds); i++) {
        fds[i] = raw_connect ();
        make (cred, "POST", "/echo", "");
        assert_int_equal (status_of_head (fds[i], cred, 1), i < 3 ? 100 : 429);
    }
    for (size_t i = 0; i < ARRAY_SIZE (fds); i++)
        close (fds[i]);
    double end = clock_mono () + DEADLINE;
    int status = 0;
    while (status != 100 && clock_mono () < end) { /* the server must see their ends */
        int fd = raw_connect ();
        make (cred, "POST", "/echo", "");
        status = status_of_head (fd, cred, 1);
        close (fd);
    }
    assert_int_equal (status, 100);
}

/* The status for a credential that names this broker. */
static int ask_naming (const char *authority, char answer[4096])
{
    char cred[1024];

    make_for (cred, authority, "POST", "/echo", "body");
    return raw_request ("POST", "/echo", "body", cred, answer, 4096);
}

/* Fails if a broker that receives a credential can use it at another broker with
 * the same MUNGE key. */
static void test_wrong_broker (void **state)
{
    static const char *const others[] = { "127.0.0.1:%u", "127.0.0.2:%u", "[::1]:%u",
                                          "0.0.0.0:%u",   "other:%u",     "127.0.0.1" };
    unsigned port = http_server_port (server.http);
    char name[300], answer[4096], machine[200];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (others); i++) {
        snprintf (name, sizeof (name), others[i], i == 0 ? port ^ 1 : port);
        assert_int_equal (ask_naming (name, answer), 401);
        assert_non_null (strstr (answer, "\"wrong-broker\""));
        assert_non_null (strstr (answer, name)); /* the setting and its place */
        assert_non_null (strstr (answer, "listen-names"));
    }
    assert_int_equal (gethostname (machine, sizeof (machine)), 0);
    snprintf (name, sizeof (name), "%s:%u", machine, port); /* the port of another */
    assert_int_equal (ask_naming (name, answer), 401);
    assert_int_equal (server.requests, 0);
    snprintf (name, sizeof (name), "localhost:%u", port);
    assert_int_equal (ask_naming (name, answer), 200);
}

/* The status for a credential for "POST /echo" of a machine ("": none), made
 * with munged itself. */
static int ask_from (const char *name, const char *machine, char answer[4096])
{
    struct sha256 sum;
    uint8_t hash[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE], payload[512], header[1024], *cred = NULL;
    munge_ctx_t ctx = munge_ctx_create ();

    assert_non_null (ctx);
    assert_int_equal (munge_ctx_set (ctx, MUNGE_OPT_SOCKET, munge.socket), EMUNGE_SUCCESS);
    credential_begin (&sum, "POST", "/echo");
    sha256_update (&sum, "body", 4);
    sha256_final (&sum, hash);
    hex_encode (hash, sizeof (hash), hex);
    snprintf (payload, sizeof (payload), "%s %s%s", hex, name, machine);
    assert_int_equal (munge_encode (&cred, ctx, payload, (int)strlen (payload)),
                      EMUNGE_SUCCESS);
    snprintf (header, sizeof (header), "MUNGE %s", cred);
    free (cred);
    munge_ctx_destroy (ctx);
    return raw_request ("POST", "/echo", "body", header, answer, 4096);
}

/* Fails if brokers of two machines that listen at 127.0.0.1 can use each
 * other's credentials. */
static void test_other_machine (void **state)
{
    static char *const names[] = { (char *)"127.0.0.1", (char *)"localhost", NULL };
    unsigned port = http_server_port (server.http);
    char answer[4096], machine[MACHINE_SIZE + 1] = " ", local[64];

    (void)state;
    authority_machine (machine + 1);
    assert_true (strlen (machine) > 30);
    for (int i = 0; i < 2; i++) {
        snprintf (local, sizeof (local), "%s:%u", names[i], port);
        assert_int_equal (ask_from (local, machine, answer), 200);
        assert_int_equal (ask_from (local, "", answer), 401);
        assert_non_null (strstr (answer, "\"wrong-broker\""));
        assert_non_null (strstr (answer, "for a tunnel"));
        assert_int_equal (ask_from (local, " 0b7eb3a6-0000-4000-8000-000000000000", answer), 401);
        assert_int_equal (ask_from (local, " a b", answer), 401);
        assert_int_equal (ask_from (local, " ", answer), 401);
    }
    assert_int_equal (server.requests, 2);
    http_server_set_names (server.http, names); /* as the administrator sets it */
    assert_int_equal (ask_from (local, " 0b7eb3a6-0000-4000-8000-000000000000", answer), 200);
}

/* Fails if a name with a control byte is repeated, or if the digest is not
 * checked for a good name. */
/* Something between the client and the broker has ended the client's TLS. */
static void test_channel_without_tls (void **state)
{
    static const uint8_t channel[TLS_CHANNEL_SIZE + 1] = { 1, 2, 3 };
    struct credential credential;
    struct error err = { 0 };
    char header[1024], answer[4096];
    char *cred = credential_make (NULL, server.tcp + strlen ("http://"), channel, "GET",
                                  "/echo", "", 0, &err);

    (void)state;
    assert_non_null (cred);
    snprintf (header, sizeof (header), "MUNGE %s", cred);
    assert_int_equal (raw_request ("GET", "/echo", "", header, answer, 4096), 401);
    assert_non_null (strstr (answer, "\"wrong-channel\""));
    free (cred);
    cred = credential_make (NULL, "[::1]:7", channel, "GET", "/echo", "", 0, &err);
    assert_non_null (cred);
    assert_int_equal (credential_decode (NULL, cred, &credential, &err), 0);
    assert_string_equal (credential.authority, "[::1]:7");
    assert_true (credential.machine[0]);
    assert_true (credential_is_of (&credential, channel));
    assert_false (credential_is_of (&credential, channel + 1));
    assert_false (credential_is_of (&credential, NULL));
    free (cred);
}

static void test_odd_payloads (void **state)
{
    static const char *const names[] = { "", "a b", "a\033[2J", "a\nb" };
    char name[300], cred[1024], answer[4096];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (names); i++) {
        assert_int_equal (ask_naming (names[i], answer), 401);
        assert_null (strstr (answer, "033"));
    }
    memset (name, 'x', sizeof (name));
    name[sizeof (name) - 1] = '\0';
    assert_int_equal (ask_naming (name, answer), 401);
    make (cred, "POST", "/echo", "body");
    assert_int_equal (raw_request ("POST", "/echo", "bodY", cred, answer, 4096), 401);
    assert_int_equal (server.requests, 0);
}

/* Fails if names cannot be set, or if their port does not count. */
static void test_names (void **state)
{
    static char *const names[] = { (char *)"Login1.Example", (char *)"proxy:80", NULL };
    char name[300], answer[4096];

    (void)state;
    http_server_set_names (server.http, names); /* the loop sleeps */
    snprintf (name, sizeof (name), "login1.example:%u",
              (unsigned)http_server_port (server.http));
    assert_int_equal (ask_naming (name, answer), 200);
    assert_int_equal (ask_naming ("proxy:80", answer), 200);
    assert_int_equal (ask_naming ("login1.example:80", answer), 401);
    assert_int_equal (ask_naming ("proxy:81", answer), 401);
}

static void assert_name (const char *text, const char *want)
{
    char got[AUTHORITY_SIZE];
    struct error err = { 0 };
    int rc = authority_parse (text, 7718, got, "names", &err);

    assert_int_equal (rc, want ? 0 : -EINVAL);
    if (want)
        assert_string_equal (got, want);
    else
        assert_non_null (strstr (err.text, "names: "));
}

/* Fails if two forms of one name are two names, or if two names are one. */
static void test_authority (void **state)
{
    char long_name[300];

    (void)state;
    assert_name ("Login1.EXAMPLE", "login1.example:7718");
    assert_name ("login1:80", "login1:80");
    assert_name ("10.0.0.5:65535", "10.0.0.5:65535");
    assert_name ("[::1]", "[::1]:7718");
    assert_name ("[0:0:0:0:0:0:0:1]:80", "[::1]:80");
    assert_name ("[FE80::A]:80", "[fe80::a]:80");
    static const char *const bad[] = { "",      ":80",   "a:",    "a:0",    "a:65536", "a:b",
                                       "::1",   "[::1",  "[]:80", "[::1]x", "a b",     "a/b",
                                       "a@b:1", "a\n:1", "a:1 ",  "a:1:2",  "\303\244" };
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        assert_name (bad[i], NULL);
    memset (long_name, 'x', sizeof (long_name));
    long_name[253] = '\0';
    char got[AUTHORITY_SIZE];
    assert_int_equal (authority_parse (long_name, 65535, got, "names", NULL), 0);
    assert_int_equal (strlen (got), 259);
    long_name[253] = 'x';
    long_name[254] = '\0';
    assert_name (long_name, NULL);
}

/* The answer of /echo to a child that runs as another user. */
static void ask_as (uid_t uid, const char *url, char *answer, size_t size)
{
    int fds[2];

    assert_int_equal (pipe (fds), 0);
    pid_t pid = fork ();
    assert_true (pid >= 0);
    if (pid == 0) {
        struct http_response r = { 0 };
        struct error err = { 0 };
        if (setgid (uid) < 0 || setuid (uid) < 0)
            _exit (2);
        struct http_client *c = http_client_open (url, &err);
        if (!c || http_client_request (c, "GET", "/echo", NULL, 0, NULL, &r, &err) < 0)
            _exit (io_write_all (fds[1], err.text, strlen (err.text)) < 0 ? 3 : 1);
        _exit (io_write_all (fds[1], r.body, r.len) < 0 ? 3 : 0);
    }
    close (fds[1]);
    ssize_t n = io_read_all (fds[0], answer, size - 1);
    assert_true (n >= 0);
    answer[n] = '\0';
    close (fds[0]);
    assert_int_equal (waitpid (pid, NULL, 0), pid);
}

/* Fails if a user can act as another. Needs root for a second user. */
static void test_other_user (void **state)
{
    char answer[256];

    (void)state;
    if (geteuid () != 0) {
        print_message ("not root: only one user can be tested\n");
        return;
    }
    ask_as (NOBODY, server.url, answer, sizeof (answer));
    assert_string_equal (answer, "GET /echo uid=65534 q=- body=");
    ask_as (NOBODY, server.tcp, answer, sizeof (answer));
    assert_string_equal (answer, "GET /echo uid=65534 q=- body=");
}

static int on_piece (const char *data, size_t len, void *arg)
{
    (void)data;
    *(size_t *)arg += len;
    return 0;
}

static void test_streams (void **state)
{
    struct http_client *c = http_client_open (server.tcp, NULL);
    struct http_response r = { 0 };
    size_t len = 0;

    (void)state;
    assert_int_equal (
        http_client_stream (c, "GET", "/drain?n=10", on_piece, &len, &r, NULL), 0);
    assert_int_equal (len, 10 * 300000 + 1);
    http_response_release (&r);
    http_client_close (c);
}

/* Fails if without munged a command hangs or gives a useless message, or if the unix
 * socket stops, too. Runs last: afterwards there is no munged. */
static void test_no_munged (void **state)
{
    struct http_client *c = http_client_open (server.tcp, NULL);
    struct http_response r = { 0 };
    struct error err = { 0 };
    char cred[1024], answer[4096];

    (void)state;
    make (cred, "GET", "/echo", "");
    test_munge_stop (&munge);
    munge.pid = 0;
    assert_int_equal (http_client_request (c, "GET", "/echo", NULL, 0, NULL, &r, &err),
                      -EIO);
    assert_non_null (strstr (err.text, "munge"));
    assert_non_null (strstr (err.text, munge.socket));
    assert_int_equal (raw_request ("GET", "/echo", "", cred, answer, 4096), 503);
    assert_non_null (strstr (answer, "no-munge"));
    http_client_close (c);
    c = http_client_open (server.url, NULL);
    free (tcp_request (c, "GET", "/echo", NULL, 200));
    http_client_close (c);
}

/* Fails if over TCP the upgrade is not authenticated, or not possible. */
static void test_upgrade_tcp (void **state)
{
    struct error err = { 0 };
    struct http_client *c = http_client_open (server.tcp, &err);
    char answer[256], buf[4] = "";
    int fd = -1;

    (void)state;
    assert_non_null (c);
    assert_int_equal (http_client_upgrade (c, "/upgrade", &fd, &err), 0);
    assert_int_equal (io_write_all (fd, "over", 4), 0);
    assert_int_equal (recv (fd, buf, 4, MSG_WAITALL), 4);
    assert_memory_equal (buf, "over", 4);
    close (fd);
    http_client_close (c);
    assert_int_equal (raw_request ("POST", "/upgrade", "", NULL, answer, sizeof (answer)),
                      401);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_basic, start, stop),
        cmocka_unit_test_setup_teardown (test_refused, start, stop),
        cmocka_unit_test_setup_teardown (test_body_waits, start, stop),
        cmocka_unit_test_setup_teardown (test_connections, start, stop),
        cmocka_unit_test_setup_teardown (test_wrong_broker, start, stop),
        cmocka_unit_test_setup_teardown (test_other_machine, start, stop),
        cmocka_unit_test_setup_teardown (test_channel_without_tls, start, stop),
        cmocka_unit_test_setup_teardown (test_odd_payloads, start, stop),
        cmocka_unit_test_setup_teardown (test_names, start, stop),
        cmocka_unit_test (test_authority),
        cmocka_unit_test_setup_teardown (test_other_user, start, stop),
        cmocka_unit_test_setup_teardown (test_streams, start, stop),
        cmocka_unit_test_setup_teardown (test_upgrade_tcp, start, stop),
        cmocka_unit_test_setup_teardown (test_no_munged, start, stop),
    };

    return cmocka_run_group_tests_name ("http_munge", tests, NULL, NULL);
}
