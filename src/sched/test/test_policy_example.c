/* The example policy of doc/developer.md: it compiles, decides as the page says, and
 * equals the text of the page. */
#include "sched/policy.h"

#include "sched/sched.h"

#define HOUR 3600.0

static int64_t rank_shortest (const struct sched_entry *job)
{
    return job->duration > 0 ? -(int64_t)job->duration : INT64_MIN; /* 0: no limit */
}

static enum queue_pass pass_short (const struct queue_plan *plan,
                                   const struct sched_entry *job)
{
    (void)plan;
    return job->duration > 0 && job->duration <= HOUR ? QUEUE_PASS : QUEUE_WAIT;
}

const struct queue_policy queue_policy_shortest = {
    .name = "shortest",
    .summary = "short jobs first, the first has a reservation, jobs of an hour may pass",
    .depth = 1,
    .rank = rank_shortest,
    .plan = queue_plan_reserved,
    .pass = pass_short,
};

/* -- the page's text ends here, and the test begins -- */
#include "common/test/unit.h"

#include <stdio.h>

#include "match/test/build.h"

#define NOW 1000.0

struct queue_test {
    struct machine *g;
    struct matcher *m;
    struct sched *s;
    struct match_request *core, *node;
};

static void add (struct queue_test *q, uint64_t id, int64_t priority, double duration,
                 const struct match_request *req)
{
    struct sched_entry e = {
        .id = id, .priority = priority, .duration = duration, .req = req
    };

    assert_int_equal (sched_enqueue (q->s, &e), 0);
}

/* id 0: no job starts */
static void expect_start (struct queue_test *q, uint64_t id)
{
    struct sched_decision d = { 0 };

    assert_int_equal (sched_next (q->s, NOW, 0, &d), id > 0);
    assert_int_equal (d.id, id);
    rset_destroy (d.r);
}

/* A node of four cores: the job of ten minutes starts before a job of higher priority;
 * behind the reservation only the job of half an hour passes. */
static void test_decides (void **state)
{
    struct queue_test q = { .g = machine_create ("cluster") };
    struct machine_node_spec spec = { .name = "n0", .cores = 4 };
    struct error err;
    size_t ahead;
    double start;

    (void)state;
    machine_node_add (q.g, &spec, NULL);
    q.m = matcher_create (q.g, match_policy_find ("lonode"));
    q.s = sched_create (q.m, &queue_policy_shortest, 0);
    q.core = build_request ("slot=1>core=1", 0, NULL, &err);
    q.node = build_request ("node=1!>slot=1>core=1", 0, NULL, &err);
    sched_queue_set (q.s, 0, true);
    add (&q, 1, 20, 8 * HOUR, q.core);
    add (&q, 2, 16, HOUR / 6, q.core);
    expect_start (&q, 2);
    expect_start (&q, 1);
    add (&q, 3, 30, 4 * HOUR, q.core);
    add (&q, 4, 30, HOUR / 3, q.node);
    add (&q, 5, 16, HOUR / 2, q.core);
    expect_start (&q, 5);
    expect_start (&q, 0);
    assert_int_equal (sched_position (q.s, 4, &ahead, &start), 0);
    assert_int_equal (ahead, 0);
    assert_true (start > NOW + 8 * HOUR - 1 && start < NOW + 8 * HOUR + 1);
    assert_int_equal (sched_position (q.s, 3, &ahead, &start), 0);
    assert_int_equal (ahead, 1);
    sched_destroy (q.s);
    match_request_destroy (q.core);
    match_request_destroy (q.node);
    matcher_destroy (q.m);
    machine_destroy (q.g);
}

static void read_file (const char *name, char *text, size_t size)
{
    const char *dir = getenv ("FLUXQ_SOURCE_DIR");
    char path[4096];

    snprintf (path, sizeof (path), "%s/%s", dir ? dir : ".", name);
    FILE *f = fopen (path, "r");
    assert_non_null (f);
    size_t n = fread (text, 1, size - 1, f);
    assert_true (n > 0 && n < size - 1);
    text[n] = '\0';
    fclose (f);
}

static void test_is_on_the_page (void **state)
{
    static char page[1 << 20], here[1 << 16];
    char *block;

    (void)state;
    read_file ("doc/developer.md", page, sizeof (page));
    read_file ("src/sched/test/test_policy_example.c", here, sizeof (here));
    block = strstr (page, "```c\n#include \"sched/policy.h\"");
    assert_non_null (block);
    block += strlen ("```c\n");
    *strstr (block, "```") = '\0';
    assert_non_null (strstr (here, block));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_decides),
        cmocka_unit_test (test_is_on_the_page),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
