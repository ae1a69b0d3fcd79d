/* The window, with models of servers: a number of workers with a queue before them. */
#include "kube/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/macros.h"

#define SERVERS_MOST 64

/* Simulates a server with `workers` workers and a fixed time for each request: requests
 * are served in order, and the window limits the requests on the wire. Returns the
 * requests per second of the second half. */
static double serve (struct kube_window *w, unsigned workers, double work, unsigned count)
{
    double free_at[SERVERS_MOST] = { 0 }, done[WINDOW_MOST] = { 0 };
    double sent[WINDOW_MOST] = { 0 }, now = 0, half = 0;
    bool used[WINDOW_MOST] = { 0 };
    unsigned on_wire = 0;

    assert_true (workers <= SERVERS_MOST);
    for (unsigned n = 0; n < count; n++) {
        unsigned next = 0;

        for (unsigned i = 0; i < WINDOW_MOST && on_wire < window_size (w); i++) {
            unsigned least = 0;

            if (used[i])
                continue;
            for (unsigned s = 0; s < workers; s++)
                least = free_at[s] < free_at[least] ? s : least;
            used[i] = true;
            on_wire++;
            sent[i] = now;
            done[i] = free_at[least] = MAX (free_at[least], now) + work;
        }
        while (!used[next])
            next++;
        for (unsigned i = next + 1; i < WINDOW_MOST; i++)
            if (used[i] && done[i] < done[next])
                next = i;
        now = done[next];
        used[next] = false;
        window_answer (w, "POST pods", now - sent[next], on_wire--, now);
        if (n == count / 2)
            half = now;
    }
    return (count / 2) / (now - half);
}

static void test_slow_server (void **state)
{
    struct kube_window w;
    double rate;

    (void)state;
    window_init (&w);
    rate = serve (&w, 2, 0.01, 5000);
    assert_true (rate > 195); /* of 200: the server is never idle */
    assert_in_range (window_size (&w), WINDOW_LEAST, 14);
}

static void test_wide_server (void **state)
{
    struct kube_window w;
    double rate;

    (void)state;
    window_init (&w);
    rate = serve (&w, 32, 0.02, 20000);
    assert_true (rate > 1500); /* of 1600 */
    assert_in_range (window_size (&w), 32, 48);
    window_init (&w);
    rate = serve (&w, 64, 0.05, 20000); /* a slow server without limit */
    assert_in_range (window_size (&w), 56, WINDOW_MOST);
    assert_true (rate > 1000);
}

/* The server has become slower, as others use it, too: the window finds the new
 * optimum. */
static void test_becomes_slower (void **state)
{
    struct kube_window w;
    unsigned before;

    (void)state;
    window_init (&w);
    serve (&w, 32, 0.002, 40000);
    before = window_size (&w);
    serve (&w, 32, 0.02, 200000);
    assert_true (window_size (&w) + 4 > before);
}

static void test_not_in_use (void **state)
{
    struct kube_window w;
    unsigned before;

    (void)state;
    window_init (&w);
    before = window_size (&w);
    for (unsigned i = 0; i < 1000; i++)
        window_answer (&w, "POST pods", 0.01, 2, i);
    assert_int_equal (window_size (&w), before);
}

static void test_trouble (void **state)
{
    struct kube_window w;

    (void)state;
    window_init (&w);
    serve (&w, 64, 0.05, 20000);
    window_trouble (&w);
    assert_int_equal (window_size (&w), WINDOW_MOST / 2);
    for (unsigned i = 0; i < 20; i++)
        window_trouble (&w);
    assert_int_equal (window_size (&w), WINDOW_LEAST);
}

/* A Secret is made faster than a pod: each is measured by itself. More kinds than
 * slots do no harm. */
static void test_kinds (void **state)
{
    struct kube_window w;
    char name[64];

    (void)state;
    window_init (&w);
    for (unsigned i = 0; i < 2000; i++) {
        window_answer (&w, "POST secrets", 0.001, WINDOW_MOST, i * 0.001);
        window_answer (&w, "POST pods", 0.01, WINDOW_MOST, i * 0.001);
    }
    assert_int_equal (window_size (&w), WINDOW_MOST);
    for (unsigned i = 0; i < 100; i++) {
        snprintf (name, sizeof (name), "PATCH of something with a name that is long %u",
                  i);
        window_answer (&w, name, 0.01 * (i + 1), WINDOW_MOST, 3);
    }
    assert_int_equal (window_size (&w), WINDOW_MOST);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_slow_server),    cmocka_unit_test (test_wide_server),
        cmocka_unit_test (test_becomes_slower), cmocka_unit_test (test_not_in_use),
        cmocka_unit_test (test_trouble),        cmocka_unit_test (test_kinds),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
