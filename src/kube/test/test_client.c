/* The client of the API server: its budget, the order of waiting requests, and a server
 * that asks for fewer requests. The fake server runs in threads of this program and
 * records the order of requests. */
#include "kube/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
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
#include "kube/budget.h"

/* -- the fake server -- */

static int port;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char came[4096];   /* the last parts of the paths, in order */
static int refusals_left; /* the number of requests to answer with 429 */
static int denials_left;  /* the number to answer with 403 */
static char accepts[512]; /* the last request's Accept header */

static bool read_request (int fd, char *buf, size_t size)
{
    size_t have = 0;
    char *end = NULL;

    while (have < size - 1 && !end) {
        ssize_t n = read (fd, buf + have, size - 1 - have);

        if (n <= 0)
            return false;
        have += (size_t)n;
        buf[have] = 0;
        end = strstr (buf, "\r\n\r\n");
    }
    return end != NULL;
}

static void note (const char *req)
{
    const char *name = strchr (req, '/'), *accept = strstr (req, "Accept:");

    snprintf (came + strlen (came), sizeof (came) - strlen (came), "%.*s ",
              (int)strcspn (name + 1, " "), name + 1);
    snprintf (accepts, sizeof (accepts), "%.*s", accept ? (int)strcspn (accept, "\r") : 0,
              accept ? accept : "");
}

static void *serve_connection (void *arg)
{
    static const char fine[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    static const char slower[] = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\n"
                                 "Content-Length: 0\r\n\r\n";
    static const char denied[] = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
    int fd = (int)(intptr_t)arg;
    char req[4096];

    while (read_request (fd, req, sizeof (req))) {
        pthread_mutex_lock (&lock);
        bool refused = refusals_left > 0 && refusals_left-- > 0;
        bool no = !refused && denials_left > 0 && denials_left-- > 0;
        if (!refused && !no)
            note (req);
        pthread_mutex_unlock (&lock);
        const char *answer = refused ? slower : no ? denied : fine;
        if (write (fd, answer, strlen (answer)) < 0)
            break;
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

/* -- the client's side -- */

static uv_loop_t loop;
static struct httpc *http;
static unsigned answered, last_status;

static struct kube *begin (double rate, double burst)
{
    struct kubeconfig *kc = calloc (1, sizeof (*kc));
    struct error err = { 0 };

    assert_int_equal (uv_loop_init (&loop), 0);
    http = httpc_create (&loop, &err);
    assert_non_null (http);
    assert_true (asprintf (&kc->server, "http://127.0.0.1:%d", port) > 0);
    struct kube *k = kube_create (http, &loop, kc, &err);
    assert_non_null (k);
    kube_set_budget (k, rate, burst);
    came[0] = 0;
    answered = 0;
    return k;
}

static void end (struct kube *k)
{
    kube_destroy (k);
    httpc_destroy (http);
    uv_run (&loop, UV_RUN_DEFAULT);
    assert_int_equal (uv_loop_close (&loop), 0);
}

static void on_done (const struct kube_result *res, void *arg)
{
    (void)arg;
    answered++;
    last_status = (unsigned)res->status;
}

static struct kube_request *ask (struct kube *k, unsigned flags, const char *path)
{
    struct kube_request *r = kube_send_as (k, flags, "GET", path, NULL, on_done, NULL);

    assert_non_null (r);
    return r;
}

static void run_until (unsigned n)
{
    double began = clock_mono ();

    while (answered < n && clock_mono () < began + 30) {
        uv_run (&loop, UV_RUN_NOWAIT);
        usleep (500);
    }
    assert_int_equal (answered, n);
}

/* -- tests -- */

static void test_budget (void **state)
{
    struct kube_budget b;

    (void)state;
    budget_init (&b, 10, 3);
    assert_true (budget_wait (&b, 100) == 0);
    for (int i = 0; i < 3; i++)
        assert_true (budget_take (&b, 100));
    assert_false (budget_take (&b, 100));
    assert_true (budget_wait (&b, 100) > 0.099 && budget_wait (&b, 100) < 0.101);
    assert_false (budget_take (&b, 100.05)); /* a refusal delays nothing */
    assert_true (budget_take (&b, 100.1));
    assert_false (budget_take (&b, 99)); /* a clock that goes back adds nothing */
    for (int i = 0; i < 3; i++)
        assert_true (budget_take (&b, 1000)); /* an idle time gives one burst, not more */
    assert_false (budget_take (&b, 1000));
    /* For any pattern of requests, 10 s allow 100 and the burst. */
    unsigned n = 0;
    budget_init (&b, 10, 3);
    for (int i = 0; i <= 10000; i++)
        n += budget_take (&b, i * 0.001);
    assert_int_equal (n, 103);
}

/* 5 at once, the other 10 need half a second at 20 a second. */
static void test_rate (void **state)
{
    double began = clock_mono ();
    struct kube *k = begin (20, 5);

    (void)state;
    for (int i = 0; i < 15; i++)
        ask (k, 0, "/a");
    run_until (15);
    assert_true (clock_mono () - began >= 0.49);
    end (k);
}

/* A request and whether it was sent; the order of sent requests. */
struct slot {
    const char *name;
    unsigned flags;
    struct kube_request *r; /* NULL: answered */
    bool gone;
};
static char order[256];

static void note_gone (struct slot *s)
{
    if (!s->gone)
        snprintf (order + strlen (order), sizeof (order) - strlen (order), "%s ",
                  s->name);
    s->gone = true;
}

static void on_slot (const struct kube_result *res, void *arg)
{
    struct slot *s = arg;

    (void)res;
    note_gone (s);
    s->r = NULL;
    answered++;
}

/* Requests of starts wait behind other requests, however late these come; each kind keeps
 * its order. One request goes at a time, so that checks in each turn see the order. */
static void test_order (void **state)
{
    struct kube *k = begin (50, 1);
    struct slot slots[] = { { .name = "first", .flags = KUBE_LATER },
                            { .name = "start1", .flags = KUBE_LATER },
                            { .name = "start2", .flags = KUBE_LATER },
                            { .name = "remove1" },
                            { .name = "remove2" } };
    double began = clock_mono ();

    (void)state;
    order[0] = 0;
    for (size_t i = 0; i < 5; i++) {
        slots[i].r =
            kube_send_as (k, slots[i].flags, "GET", "/", NULL, on_slot, &slots[i]);
        assert_non_null (slots[i].r);
    }
    while (answered < 5 && clock_mono () < began + 30) {
        uv_run (&loop, UV_RUN_NOWAIT);
        for (size_t i = 0; i < 5; i++)
            if (slots[i].r && !kube_is_unsent (slots[i].r))
                note_gone (&slots[i]);
    }
    assert_string_equal (order, "first remove1 remove2 start1 start2 ");
    end (k);
}

static void test_unsent (void **state)
{
    struct kube *k = begin (1, 1);
    struct kube_request *first = ask (k, KUBE_LATER, "/sent"),
                        *second = ask (k, KUBE_LATER, "/unsent");

    (void)state;
    assert_false (kube_is_unsent (first));
    assert_true (kube_is_unsent (second));
    kube_cancel (second);
    run_until (1);
    assert_string_equal (came, "sent ");
    end (k);
}

/* All requests wait for the time that the server gives, also later requests; none is
 * lost. */
static void test_retry_after (void **state)
{
    struct kube *k = begin (1000, 1000);

    (void)state;
    refusals_left = 2;
    double began = clock_mono ();
    struct kube_request *a = ask (k, 0, "/a"), *b = ask (k, 0, "/b");
    while (!(kube_is_unsent (a) && kube_is_unsent (b)) && clock_mono () < began + 30)
        uv_run (&loop, UV_RUN_NOWAIT); /* until both were refused */
    struct kube_request *late = ask (k, 0, "/c");
    assert_true (kube_is_unsent (late));
    run_until (3);
    assert_true (clock_mono () - began >= 1.99);
    assert_int_equal (last_status, 200);
    assert_int_equal (strlen (came), strlen ("a b c "));
    end (k);
}

/* A server that has just started denies all requests until it has read its rules. */
static void test_denied (void **state)
{
    struct kube *k = begin (1000, 1000);
    const struct error gone = { EIO, "gone" };

    (void)state;
    denials_left = 1;
    ask (k, 0, "/known");
    run_until (1);
    assert_int_equal (last_status, 403);
    assert_true (isinf (kube_back_for (k)));
    kube_notice (k, &gone);
    assert_true (kube_back_for (k) == 0);
    kube_notice (k, NULL);
    assert_true (kube_back_for (k) < 10);
    denials_left = 2;
    ask (k, 0, "/new");
    run_until (2);
    assert_int_equal (last_status, 200);
    assert_int_equal (denials_left, 0);
    end (k);
}

static void test_accept (void **state)
{
    struct kube *k = begin (1000, 1000);

    (void)state;
    ask (k, 0, "/whole");
    run_until (1);
    assert_string_equal (accepts, "Accept: application/json");
    ask (k, KUBE_BRIEF, "/brief");
    run_until (2);
    assert_non_null (strstr (accepts, "as=PartialObjectMetadata;"));
    end (k);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_budget),      cmocka_unit_test (test_rate),
        cmocka_unit_test (test_order),       cmocka_unit_test (test_unsent),
        cmocka_unit_test (test_retry_after), cmocka_unit_test (test_denied),
        cmocka_unit_test (test_accept),
    };

    return cmocka_run_group_tests (tests, setup, NULL);
}
