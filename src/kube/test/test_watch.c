/* A collection that is kept up to date: lists, streams that end, and missed changes.
 * The fake server gives the answers of a script, one after the other, and records its
 * requests; a real server cannot be made to forget changes or to cut an answer. */
#include "kube/watch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"

#define OBJECT(name, uid, version)                                                       \
    "{\"metadata\":{\"namespace\":\"n\",\"name\":\"" name "\",\"uid\":\"" uid            \
    "\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define BOOKMARK(version)                                                                \
    EVENT ("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" version "\"}}")
#define GONE "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n"
#define LIST(items, version)                                                             \
    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version                 \
    "\"},\"items\":[" items "]}"

/* -- the fake server -- */

struct answer {
    int status;
    const char *body;
};

static int port;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct answer *script; /* ends with a status of 0: that stream stays open */
static char came[4096];             /* the requests' kinds, in order */

/* "list" or "from VERSION" */
static void note (const char *req)
{
    const char *from = strstr (req, "&resourceVersion=");
    char kind[64] = "list";

    if (strstr (req, "watch=1"))
        snprintf (kind, sizeof (kind), "from %.*s", (int)strcspn (from + 17, "& "),
                  from + 17);
    snprintf (came + strlen (came), sizeof (came) - strlen (came), "%s%s",
              came[0] ? ", " : "", kind);
}

static bool read_request (int fd, char *buf, size_t size)
{
    size_t have = 0;

    buf[0] = 0;
    while (have < size - 1 && !strstr (buf, "\r\n\r\n")) {
        ssize_t n = read (fd, buf + have, size - 1 - have);

        if (n <= 0)
            return false;
        have += (size_t)n;
        buf[have] = 0;
    }
    return true;
}

static void *serve_connection (void *arg)
{
    int fd = (int)(intptr_t)arg;
    struct answer a = { 0 };
    char req[4096];

    if (read_request (fd, req, sizeof (req))) {
        pthread_mutex_lock (&lock);
        a = *script;
        script += a.status != 0;
        note (req);
        pthread_mutex_unlock (&lock);
        dprintf (fd, "HTTP/1.1 %d X\r\nConnection: close\r\n\r\n%s",
                 a.status ? a.status : 200, a.body ? a.body : "");
        if (a.status == 0)
            read_request (fd, req, sizeof (req)); /* until the client goes */
    }
    close (fd);
    return NULL;
}

static void *serve (void *arg)
{
    pthread_t t;
    int fd;

    while ((fd = accept ((int)(intptr_t)arg, NULL, NULL)) >= 0)
        if (pthread_create (&t, NULL, serve_connection, (void *)(intptr_t)fd) == 0)
            pthread_detach (t);
    return NULL;
}

static int setup (void **state)
{
    struct sockaddr_in in = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
    socklen_t len = sizeof (in);
    int fd = socket (AF_INET, SOCK_STREAM, 0);
    pthread_t t;

    (void)state;
    if (bind (fd, (struct sockaddr *)&in, sizeof (in)) < 0 || listen (fd, 128) < 0
        || getsockname (fd, (struct sockaddr *)&in, &len) < 0)
        return -1;
    port = ntohs (in.sin_port);
    return pthread_create (&t, NULL, serve, (void *)(intptr_t)fd);
}

/* -- the listener -- */

static char told[1024];

static void tell (const char *what, const char *name)
{
    snprintf (told + strlen (told), sizeof (told) - strlen (told), "%s%s%s",
              told[0] ? " " : "", what, name);
}

static void on_changed (json_t *object, bool is_new, void *arg)
{
    json_t *meta = json_object_get (object, "metadata");

    (void)arg;
    tell (is_new ? "+" : "~", json_string_value (json_object_get (meta, "name")));
}

static void on_deleted (const char *ns, const char *name, json_t *object, void *arg)
{
    (void)arg;
    assert_string_equal (ns, "n");
    tell (object ? "-" : "?", name);
}

static void on_listed (void *arg)
{
    (void)arg;
    tell ("|", "");
}

/* Runs the script until its end was requested and reported. */
static void follow (const struct answer *answers, const char *want_told,
                    const char *want_came)
{
    static const struct kube_watch_events events = { on_changed, on_deleted, on_listed };
    struct kubeconfig *kc = calloc (1, sizeof (*kc));
    struct error err = { 0 };
    uv_loop_t loop;
    double began = clock_mono ();
    bool over = false;

    assert_int_equal (uv_loop_init (&loop), 0);
    struct httpc *http = httpc_create (&loop, &err);
    assert_non_null (http);
    assert_true (asprintf (&kc->server, "http://127.0.0.1:%d", port) > 0);
    struct kube *k = kube_create (http, &loop, kc, &err);
    assert_non_null (k);
    script = answers;
    told[0] = came[0] = 0;
    struct kube_watch *w =
        kube_watch_start (k, "/api/v1/pods", "labelSelector=a", &events, NULL, &err);
    assert_non_null (w);
    while (!over && clock_mono () < began + 30) {
        uv_run (&loop, UV_RUN_NOWAIT);
        usleep (500);
        pthread_mutex_lock (&lock);
        over = strcmp (came, want_came) == 0 && strcmp (told, want_told) == 0;
        pthread_mutex_unlock (&lock);
    }
    kube_watch_stop (w);
    kube_destroy (k);
    httpc_destroy (http);
    uv_run (&loop, UV_RUN_DEFAULT);
    assert_int_equal (uv_loop_close (&loop), 0);
    assert_string_equal (told, want_told);
    assert_string_equal (came, want_came);
}

/* -- tests -- */

#define A1 OBJECT ("a", "1", "1")
#define B2 OBJECT ("b", "2", "2")
#define C3 OBJECT ("c", "3", "3")

static void test_goes_on (void **state)
{
    static const struct answer answers[] = {
        { 200, LIST (A1 "," B2, "9") },
        { 200, EVENT ("MODIFIED", OBJECT ("a", "1", "10"))
                   EVENT ("DELETED", OBJECT ("b", "2", "11")) BOOKMARK ("12") },
        { 0, EVENT ("ADDED", OBJECT ("c", "3", "13")) },
    };

    (void)state;
    follow (answers, "+a +b | ~a -b +c", "list, from 9, from 12");
}

/* An unchanged object is not reported again; another object of the same name is. */
static void test_gone (void **state)
{
    static const struct answer answers[] = {
        { 200, LIST (A1 "," B2 "," C3 "," OBJECT ("d", "4", "4"), "9") },
        { 200, GONE },
        { 200, LIST (A1 "," OBJECT ("c", "3", "20") "," OBJECT ("d", "5", "21"), "30") },
        { 410, "{\"kind\":\"Status\",\"code\":410}" },
        { 200, LIST ("", "40") },
        { 0, NULL },
    };

    (void)state;
    follow (answers, "+a +b +c +d | ~c ?d +d ?b | ?a ?c ?d |",
            "list, from 9, list, from 30, list, from 40");
}

/* After a truncated list, a non-list or invalid data, no object counts as deleted. */
static void test_cut (void **state)
{
    static const struct answer answers[] = {
        { 200, LIST (A1 "," B2, "9") },
        { 200, GONE },
        { 200, "{\"metadata\":{\"resourceVersion\":\"20\"},\"items\":[" B2 },
        { 200, "{\"kind\":\"Status\"}" },
        { 200, "{\"items\":[nonsense" },
        { 200, "" },
        { 200, LIST (B2, "30") },
        { 0, NULL },
    };

    (void)state;
    follow (answers, "+a +b | ?a |",
            "list, from 9, list, list, list, list, list, from 30");
}

/* A stream that cannot be read, from the same place, again and again. */
static void test_unreadable (void **state)
{
    static const struct answer answers[] = {
        { 200, LIST ("", "9") }, { 200, "nonsense\n" },    { 200, "nonsense\n" },
        { 200, "nonsense\n" },   { 200, LIST (A1, "12") }, { 0, NULL },
    };

    (void)state;
    follow (answers, "| +a |", "list, from 9, from 9, from 9, list, from 12");
}

static void test_trouble (void **state)
{
    static const struct answer answers[] = {
        { 403, "{\"kind\":\"Status\",\"code\":403}" },
        { 429, "" },
        { 500, "" },
        { 503, "" },
        { 200, LIST (A1, "9") },
        { 500, "" },
        { 0, EVENT ("ADDED", B2) },
    };

    (void)state;
    follow (answers, "+a | +b", "list, list, list, list, list, from 9, from 9");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_goes_on), cmocka_unit_test (test_gone),
        cmocka_unit_test (test_cut),     cmocka_unit_test (test_unreadable),
        cmocka_unit_test (test_trouble),
    };

    return cmocka_run_group_tests (tests, setup, NULL);
}
