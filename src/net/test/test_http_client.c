/* test_http_client.c - the client with a scripted server that breaks off, stays silent,
 * or lies; and the search for the broker */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <cmocka.h>

#include "common/io.h"
#include "net/http_client.h"

static char dir[64];
static char url[128];
static char path[96];

struct step {
    const char *answer; /* NULL: close the connection instead, after reading a request */
    bool hang_up;       /* close after the answer */
};

struct script {
    struct step steps[8]; /* one for each request */
    size_t nsteps;
    int fd;
    pthread_t thread;
    int connections;
};

/* Reads a request's head, and its body of "Content-Length: N". False: end of file. */
static bool read_request (int fd)
{
    char buf[4096];
    size_t got = 0;
    char *end = NULL;

    while (!end) {
        ssize_t n = recv (fd, buf + got, sizeof (buf) - 1 - got, 0);
        if (n <= 0)
            return false;
        got += (size_t)n;
        buf[got] = '\0';
        end = strstr (buf, "\r\n\r\n");
    }
    const char *length = strstr (buf, "Content-Length: ");
    size_t want = length ? strtoul (length + 16, NULL, 10) : 0;
    size_t have = got - (size_t)(end + 4 - buf);
    while (have < want) {
        ssize_t n = recv (fd, buf, sizeof (buf), 0);
        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    return true;
}

static void *play (void *arg)
{
    struct script *s = arg;
    int fd = -1;

    for (size_t i = 0; i < s->nsteps; i++) {
        const struct step *step = &s->steps[i];
        if (fd < 0) {
            fd = accept (s->fd, NULL, NULL);
            s->connections++;
        }
        if (!read_request (
                fd)) { /* the client has closed: it connects again for its next request */
            close (fd);
            fd = -1;
            i--;
            continue;
        }
        if (step->answer)
            (void)!send (fd, step->answer, strlen (step->answer), MSG_NOSIGNAL);
        if (!step->answer || step->hang_up) {
            close (fd);
            fd = -1;
        }
    }
    if (fd >= 0)
        close (fd);
    return NULL;
}

static int listen_at (const char *at)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy (addr.sun_path, at, strlen (at) + 1);
    assert_int_equal (bind (fd, (struct sockaddr *)&addr, sizeof (addr)), 0);
    assert_int_equal (listen (fd, 10), 0);
    return fd;
}

static struct http_client *begin (struct script *s)
{
    while (s->nsteps < 8 && (s->steps[s->nsteps].answer || s->steps[s->nsteps].hang_up))
        s->nsteps++;
    s->fd = listen_at (path);
    assert_int_equal (pthread_create (&s->thread, NULL, play, s), 0);
    struct http_client *c = http_client_open (url, NULL);
    assert_non_null (c);
    return c;
}

static void end (struct script *s, struct http_client *c)
{
    http_client_close (c);
    pthread_join (s->thread, NULL);
    close (s->fd);
    assert_int_equal (unlink (path), 0);
}

static int ask (struct http_client *c, const char *method, struct error *err)
{
    struct http_response r = { 0 };
    int rc = http_client_request (c, method, "/x", "{}", strcmp (method, "GET") ? 2 : 0,
                                  NULL, &r, err);
    if (rc == 0)
        rc = r.status;
    http_response_release (&r);
    return rc;
}

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* Fails if an idle console fails its next command, or if a submit is sent twice. */
static void test_reconnect (void **state)
{
    struct script s = { .steps = { { OK, true },
                                   { OK, true },
                                   { OK, false },
                                   { NULL, true },
                                   { OK, false },
                                   { NULL, true } } };
    struct error err = { 0 };

    (void)state;
    struct http_client *c = begin (&s);
    assert_int_equal (ask (c, "POST", &err), 200);
    poll (NULL, 0, 50);                            /* until the end of file has arrived */
    assert_int_equal (ask (c, "POST", &err), 200); /* before the request: retry */
    poll (NULL, 0, 50);
    assert_int_equal (ask (c, "GET", &err), 200);
    assert_int_equal (ask (c, "GET", &err),
                      200); /* closed instead of an answer: one retry */
    assert_int_equal (ask (c, "POST", &err), -ECONNRESET); /* may have been done */
    assert_non_null (strstr (err.text, "not known"));
    end (&s, c);
    assert_int_equal (s.connections, 4);
}

static void test_broken_answers (void **state)
{
    static const struct {
        const char *answer;
        int rc;
    } cases[] = {
        { "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", -ECONNRESET },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", -ECONNRESET },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n",
          -EPROTO },
        { "HTT", -ECONNRESET },
        { "hello\r\n", -EPROTO },
        { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
          200 },
        { "HTTP/1.1 200 OK\r\n\r\nto the end", 200 },
        { "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n\r\n", 200 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct script s = { .steps = { { cases[i].answer, true } } };
        struct error err = { 0 };
        struct http_client *c = begin (&s);
        assert_int_equal (ask (c, "GET", &err), cases[i].rc);
        assert_true (cases[i].rc > 0 || err.text[0]);
        end (&s, c);
    }
}

/* Fails if bytes after an answer are taken for the next answer. */
static void test_no_smuggling (void **state)
{
    struct script s = {
        .steps = { { "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 500 "
                     "X\r\n\r\n",
                     false },
                   { OK, false } },
    };

    (void)state;
    struct http_client *c = begin (&s);
    assert_int_equal (ask (c, "GET", NULL), 200);
    assert_int_equal (ask (c, "GET", NULL), 200);
    end (&s, c);
    assert_int_equal (s.connections, 2);
}

static int on_piece (const char *data, size_t len, void *arg)
{
    (void)data;
    *(size_t *)arg += len;
    return 0;
}

/* Fails if a stream that breaks off looks complete. */
static void test_cut_stream (void **state)
{
    struct script s = {
        .steps = { { "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                     "chunked\r\n\r\n5\r\nhello\r\n",
                     true } },
    };
    struct http_response r = { 0 };
    struct error err = { 0 };
    size_t len = 0;

    (void)state;
    struct http_client *c = begin (&s);
    assert_int_equal (http_client_stream (c, "GET", "/x", on_piece, &len, &r, &err),
                      -ECONNRESET);
    assert_int_equal (len, 5);
    assert_non_null (strstr (err.text, "middle"));
    http_response_release (&r);
    end (&s, c);
}

struct read {
    unsigned begun;
    char text[64];
};

static void read_begin (void *arg)
{
    struct read *r = arg;

    r->begun++;
    r->text[0] = '\0';
}

static void read_piece (const char *data, size_t len, void *arg)
{
    struct read *r = arg;
    size_t have = strlen (r->text);

    snprintf (r->text + have, sizeof (r->text) - have, "%.*s", (int)len, data);
}

static int read_to (struct http_client *c, struct read *to, struct http_response *r,
                    struct error *err)
{
    const struct http_reader reader = { read_begin, read_piece, to };

    *to = (struct read){ .begun = 0 };
    return http_client_read (c, "/x", &reader, r, err);
}

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
#define REFUSED "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone"

/* Fails if a reader takes pieces of a broken answer for pieces of the next one, or the
 * body of an error for that of an answer. */
static void test_read (void **state)
{
    struct script s = { .steps = {
                            { OK, false },
                            { CHUNKED, true },
                            { CHUNKED "2\r\n, \r\n5\r\nworld\r\n0\r\n\r\n", false },
                            { REFUSED, false } } };
    struct http_response r = { 0 };
    struct error err = { 0 };
    struct read to;

    (void)state;
    struct http_client *c = begin (&s);
    assert_int_equal (ask (c, "GET", &err), 200);
    assert_int_equal (read_to (c, &to, &r, &err), 0);
    assert_int_equal (r.status, 200);
    assert_string_equal (to.text, "hello, world");
    assert_int_equal (to.begun, 2);
    http_response_release (&r);
    assert_int_equal (read_to (c, &to, &r, &err), 0);
    assert_int_equal (r.status, 404);
    assert_string_equal (r.body, "gone");
    assert_string_equal (to.text, "");
    http_response_release (&r);
    end (&s, c);
    assert_int_equal (s.connections, 2);
}

static int error_of (int status, const char *type, const char *body, struct error *err)
{
    struct http_response r = { .status = status,
                               .body = strdup (body),
                               .len = strlen (body) };

    snprintf (r.content_type, sizeof (r.content_type), "%s", type);
    int rc = http_response_error (&r, err);
    http_response_release (&r);
    return rc;
}

static void test_errors (void **state)
{
    static const char problem[] = "application/problem+json";
    struct error err = { 0 };

    (void)state;
    assert_int_equal (
        error_of (403, problem, "{\"detail\":\"job 7 is not yours\"}", &err), -EACCES);
    assert_string_equal (err.text, "job 7 is not yours");
    assert_int_equal (error_of (503, problem, "{\"title\":\"Busy\"}", &err), -EAGAIN);
    assert_string_equal (err.text, "Busy");
    assert_int_equal (error_of (422, problem, "{\"detail\":7}", &err), -EINVAL);
    assert_non_null (strstr (err.text, "422"));
    assert_int_equal (error_of (500, "text/html", "oops\nsecond line", &err), -EIO);
    assert_non_null (strstr (err.text, "500: oops"));
    assert_null (strstr (err.text, "second"));
    assert_int_equal (error_of (500, problem, "{broken", &err), -EIO);
    assert_int_equal (error_of (302, "", "", &err), -EPROTO);
}

static int open_error (const char *at, struct error *err)
{
    struct http_client *c = http_client_open (at, err);

    http_client_close (c);
    return c ? 0 : -err->code;
}

static void test_urls (void **state)
{
    static const char *const bad[] = {
        "fluxqd",          "ftp://host",         "unix://relative",
        "http://",         "http://:80",         "http://host:",
        "http://host:x",   "http://host:123456", "http://host:80/path",
        "http://[::1",     "https:/h",          "unix://\n",
        "http://host:80x",
    };
    struct error err = { 0 };
    int fd = listen_at (path);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        if (open_error (bad[i], &err) != -EINVAL)
            fail_msg ("accepted: %s: %s", bad[i], err.text);
    }
    assert_int_equal (open_error (url, &err), 0);
    assert_int_equal (open_error (path, &err), 0);
    assert_int_equal (setenv ("FLUXQ_BROKER", url, 1), 0);
    assert_int_equal (open_error (NULL, &err), 0);
    assert_int_equal (unsetenv ("FLUXQ_BROKER"), 0);
    close (fd);
    assert_int_equal (open_error (url, &err), -ECONNREFUSED);
    assert_non_null (strstr (err.text, path));
    assert_int_equal (unlink (path), 0);
    assert_int_equal (open_error (url, &err), -ENOENT);
    assert_int_equal (open_error ("http://127.0.0.1:1", &err), -ECONNREFUSED);
    assert_int_equal (open_error ("http://[::1]:1/", &err) == -EINVAL, 0);
}

/* Fails if a directory that everybody can write is searched, or if the error does not
 * list the searched places. */
static void test_default_sockets (void **state)
{
    char folder[96], at[128];
    struct error err = { 0 };

    (void)state;
    snprintf (folder, sizeof (folder), "%s/fluxq", dir);
    snprintf (at, sizeof (at), "%s/fluxqd.sock", folder);
    assert_int_equal (setenv ("XDG_RUNTIME_DIR", dir, 1), 0);
    assert_true (open_error (NULL, &err) < 0);
    assert_non_null (strstr (err.text, at));
    assert_non_null (strstr (err.text, "/run/fluxq/fluxqd.sock"));
    assert_non_null (strstr (err.text, "fluxqd --local"));
    assert_int_equal (mkdir (folder, 0700), 0);
    int fd = listen_at (at);
    struct http_client *c = http_client_open (NULL, &err);
    assert_non_null (c);
    assert_string_equal (http_client_url (c) + strlen ("unix://"), at);
    http_client_close (c);
    close (fd);
}

#define SWITCH "HTTP/1.1 101 Switching Protocols\r\nUpgrade: fluxq\r\n\r\n"

/* Fails if bytes right behind the head are lost with the client's buffer. */
static void test_upgrade_keeps_all (void **state)
{
    struct script s = { .steps = { { OK, true }, { SWITCH "and more", true } } };
    struct error err = { 0 };
    char buf[16] = "";
    int fd = -1;

    (void)state;
    struct http_client *c = begin (&s);
    assert_int_equal (ask (c, "GET", &err), 200);
    poll (NULL, 0, 50); /* until the end of file has arrived: it connects again */
    assert_int_equal (http_client_upgrade (c, "/x", &fd, &err), 0);
    assert_int_equal (recv (fd, buf, sizeof (buf), MSG_WAITALL), 8);
    assert_memory_equal (buf, "and more", 8);
    close (fd);
    end (&s, c);
}

static void test_upgrade_errors (void **state)
{
    static const struct {
        const char *answer;
        int rc;
    } cases[] = {
        { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", -EPROTO },
        { "HTTP/1.1 409 Conflict\r\nContent-Length: 5\r\n\r\nended", -EINVAL },
        { "HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n", -EAGAIN },
        { "HTTP/1.1 101 Switching Protocols\r\nUpgr", -ECONNRESET },
        { "fluxq\r\n", -EPROTO },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct script s = { .steps = { { cases[i].answer, true } } };
        struct error err = { 0 };
        int fd = -1;
        struct http_client *c = begin (&s);
        assert_int_equal (http_client_upgrade (c, "/x", &fd, &err), cases[i].rc);
        assert_true (err.text[0]);
        assert_int_equal (fd, -1);
        end (&s, c);
    }
}

static int setup (void **state)
{
    (void)state;
    unsetenv ("FLUXQ_BROKER");
    snprintf (dir, sizeof (dir), "/tmp/fluxq-test-client.XXXXXX");
    if (!mkdtemp (dir))
        return -1;
    snprintf (path, sizeof (path), "%s/sock", dir);
    snprintf (url, sizeof (url), "unix://%s", path);
    return 0;
}

static int teardown (void **state)
{
    (void)state;
    return io_remove_tree (dir, NULL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_reconnect),
        cmocka_unit_test (test_broken_answers),
        cmocka_unit_test (test_no_smuggling),
        cmocka_unit_test (test_cut_stream),
        cmocka_unit_test (test_read),
        cmocka_unit_test (test_errors),
        cmocka_unit_test (test_urls),
        cmocka_unit_test (test_default_sockets),
        cmocka_unit_test (test_upgrade_keeps_all),
        cmocka_unit_test (test_upgrade_errors),
    };

    return cmocka_run_group_tests_name ("http_client", tests, setup, teardown);
}
