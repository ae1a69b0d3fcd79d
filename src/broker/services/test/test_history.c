/* test_history.c - ended jobs go to the history, which lists them; over a real history in a
 * directory of the test. The journal's list of ended jobs is fake: `ended`. */
#include "broker/core/test/small.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "broker/core/test/fake_http.h"
#include "broker/services/history/history.h"
#include "common/io.h"

static struct {
    struct journal_ended jobs[10];
    size_t n;
} ended;

static char dir[64];

extern const struct broker_service service_history;

int __wrap_journal_ended (struct journal *j, uint64_t after, size_t max,
                          journal_old_f done, void *arg);

int __wrap_journal_ended (struct journal *j, uint64_t after, size_t max,
                          journal_old_f done, void *arg)
{
    (void)j;
    assert_int_equal (after, 0);
    assert_true (ended.n < max);
    done (0, ended.jobs, ended.n, arg);
    return 0;
}

static void begin (struct small *s)
{
    struct error err = { 0 };

    s->b->host.state_dir = dir;
    assert_int_equal (service_history.begin (s->b, &err), 0);
}

static struct small *create (void)
{
    struct small *s = small_create (2);

    ended.n = 0;
    snprintf (dir, sizeof (dir), "/tmp/fluxq-test-history.XXXXXX");
    assert_non_null (mkdtemp (dir));
    begin (s);
    return s;
}

static void destroy (struct small *s)
{
    small_destroy (s);
    assert_int_equal (io_remove_tree (dir, NULL), 0);
}

/* Turns until the client has its answer. The threads of the history take real time; a list
 * that waits for ended jobs looks again by a timer. */
static void wait_for_answer (struct small *s, const struct client *c)
{
    for (int i = 0; i < 10000 && c->status == 0; i++) {
        usleep (1000);
        small_turn (s);
        if (i % 10 == 9)
            small_advance (s, 0.01);
    }
    assert_int_not_equal (c->status, 0);
}

/* The answer to a GET of uid, which has these rows. */
static struct client *get (struct small *s, uid_t uid, const char *target)
{
    char head[200];

    snprintf (head, sizeof (head), "GET %s", target);
    struct client *c = client_call (s, uid, head, NULL);
    wait_for_answer (s, c);
    return c;
}

static void run_job (struct small *s, const char *system)
{
    struct entry *e = small_submit (s, system);
    uint64_t id = entry_id (e);

    small_turn (s);
    small_ready (s, id);
    small_finish (s, id, "");
    assert_string_equal (job_state_name (entry_job (entry_find (s->b, id))->state),
                         "INACTIVE");
}

/* Asks again until the history has n jobs. */
static void wait_for_jobs (struct small *s, size_t n)
{
    for (int i = 0; i < 10000; i++) {
        const char *text = get (s, 0, "/v1/history?format=tsv&fields=id")->text;
        size_t lines = 0;
        for (const char *p = text; p && (p = strchr (p, '\n')); p++)
            lines++;
        if (lines == n)
            return;
    }
    fail_msg ("the history does not get %zu jobs", n);
}

static void test_lists (void **unused)
{
    struct small *s = create ();

    (void)unused;
    run_job (s, "job: {name: one}, duration: 60, fluxq: {account: physics}");
    run_job (s, "job: {name: two}, duration: 60");
    wait_for_jobs (s, 2);
    assert_string_equal (
        get (s, 1000, "/v1/history?fields=id,name,state,account,nodes&format=tsv")->text,
        "1\tone\tCOMPLETED\tphysics\t1\n2\ttwo\tCOMPLETED\t\t1\n");
    assert_string_equal (get (s, 1000, "/v1/history?fields=id&limit=1")->text,
                         "{\"jobs\":[{\"id\":1}],\"next\":1}");
    assert_string_equal (get (s, 1000, "/v1/history?fields=id&after=1&user=me")->text,
                         "{\"jobs\":[{\"id\":2}],\"next\":null}");
    assert_string_equal (get (s, 1000, "/v1/history?account=physics&fields=name")->text,
                         "{\"jobs\":[{\"name\":\"one\"}],\"next\":null}");
    assert_int_equal (get (s, 1000, "/v1/history?fields=nosuch")->status, 400);
    destroy (s);
}

/* Other users see no private jobs, and no private parts. */
static void test_privacy (void **unused)
{
    struct small *s = create ();

    (void)unused;
    run_job (s, "job: {name: one}, duration: 60, cwd: /secret");
    wait_for_jobs (s, 1);
    s->config->private_parts = PRIVATE_ARGUMENTS;
    assert_string_equal (get (s, 1001, "/v1/history?fields=name,cwd&steps=1")->text,
                         "{\"jobs\":[{\"name\":\"one\",\"cwd\":\"\",\"steps\":[]}],"
                         "\"next\":null}");
    assert_non_null (strstr (get (s, 1000, "/v1/history?fields=cwd")->text, "/secret"));
    s->config->private_parts = PRIVATE_JOBS;
    assert_string_equal (get (s, 1001, "/v1/history?fields=name")->text,
                         "{\"jobs\":[],\"next\":null}");
    destroy (s);
}

/* A client that leaves, and a broker that ends, during a question. */
static void test_leaving (void **unused)
{
    struct small *s = create ();

    (void)unused;
    run_job (s, "duration: 60");
    wait_for_jobs (s, 1);
    client_leave (client_ask (s, 1000, "GET /v1/history", NULL));
    small_turn (s);
    client_ask (s, 1000, "GET /v1/history", NULL);
    destroy (s);
}

/* At the start the history gets the jobs of the journal that it lacks. */
static void test_catches_up (void **unused)
{
    struct small *s = create ();
    char path[96];

    (void)unused;
    run_job (s, "duration: 60");
    wait_for_jobs (s, 1);
    service_history.close (s->b);
    snprintf (path, sizeof (path), "%s/history.db", dir);
    assert_int_equal (unlink (path), 0);
    assert_int_equal (get (s, 1000, "/v1/history")->status, 503);
    ended.jobs[0] = (struct journal_ended){ 1, 1, SMALL_START * 2 };
    ended.n = 1;
    begin (s);
    small_advance (s, 0.1); /* the timer of the walk */
    wait_for_jobs (s, 1);
    destroy (s);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_lists),
        cmocka_unit_test (test_privacy),
        cmocka_unit_test (test_leaving),
        cmocka_unit_test (test_catches_up),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
