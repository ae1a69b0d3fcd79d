/* A job starts only when its licenses are free; nobody behind takes what a planned job
 * waits for. Fails if more licenses are in use than there are, if a job is starved, or if
 * a job that needs no license waits for one. */
#include "common/test/unit.h"

#include "match/test/build.h"
#include "match/test/chance.h"
#include "sched/sched_private.h"

#define NOW 1000.0
#define JOBS 200

struct fixture {
    struct machine *g;
    struct matcher *m;
    struct sched *s;
    struct match_request *core, *both;
    struct license_pool pool;
    struct license_need needs[4]; /* a: so many of license "a"; 0 of [0] */
    double ends[JOBS + 1];        /* of running jobs, 0: the job does not run */
    unsigned takes[JOBS + 1];
};

static int setup (void **state)
{
    struct fixture *f = calloc (1, sizeof (*f));
    struct error err;
    struct gres_list total = { 0 };

    f->g = machine_create ("cluster");
    f->m = matcher_create (f->g, match_policy_find ("lonode"));
    f->s = sched_create (f->m, queue_policy_find ("easy"), 0);
    for (int i = 0; i < 2; i++) {
        struct machine_node_spec spec = { .name = i ? "n1" : "n0", .cores = 4 };
        machine_node_add (f->g, &spec, NULL);
    }
    f->core = build_request ("slot=1>core=1", 0, NULL, &err);
    f->both = build_request ("node=2!>slot=1>core=1", 0, NULL, &err);
    sched_queue_set (f->s, 0, true);
    gres_set (&total, "a", 3);
    assert_int_equal (license_pool_set (&f->pool, &total), 0);
    gres_release (&total);
    for (int i = 0; i < 4; i++) {
        f->needs[i].pool = &f->pool;
        gres_set (&f->needs[i].list, "a", i);
    }
    *state = f;
    return 0;
}

static int teardown (void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 4; i++)
        gres_release (&f->needs[i].list);
    match_request_destroy (f->core);
    match_request_destroy (f->both);
    sched_destroy (f->s);
    license_pool_release (&f->pool);
    matcher_destroy (f->m);
    machine_destroy (f->g);
    free (f);
    return 0;
}

static void add (struct fixture *f, uint64_t id, double duration, unsigned licenses,
                 const struct match_request *req)
{
    struct sched_entry e = { .id = id,
                             .duration = duration,
                             .req = req,
                             .licenses = licenses ? &f->needs[licenses] : NULL };

    f->takes[id] = licenses;
    assert_int_equal (sched_enqueue (f->s, &e), 0);
}

/* Starts what may start; the ids are "3 1 2". */
static void start_all (struct fixture *f, double now, struct strbuf *ids)
{
    struct sched_decision d;
    int rc;

    while ((rc = sched_next (f->s, now, 10, &d)) == 1 || rc == -EAGAIN) {
        if (rc != 1)
            continue;
        strbuf_addf (ids, "%s%d", ids->len ? " " : "", (int)d.id);
        f->ends[d.id] = now + d.duration;
        license_pool_take (&f->pool, &f->needs[f->takes[d.id]].list);
        assert_true (license_pool_free (&f->pool, "a") >= 0);
        rset_destroy (d.r);
    }
    assert_int_equal (rc, 0);
}

static void expect_starts (struct fixture *f, double now, const char *want)
{
    autostrbuf struct strbuf ids = STRBUF_INIT (4096);

    start_all (f, now, &ids);
    assert_string_equal (ids.buf, want);
}

static void end (struct fixture *f, uint64_t id)
{
    f->ends[id] = 0;
    assert_int_equal (match_cancel (f->m, id), 0);
    license_pool_give (&f->pool, &f->needs[f->takes[id]].list);
}

static void expect_reason (struct fixture *f, uint64_t id, enum sched_reason_code code,
                           const char *part)
{
    struct sched_reason r;

    assert_int_equal (sched_reason (f->s, id, &r), 0);
    assert_int_equal (r.code, code);
    assert_non_null (strstr (r.text, part));
}

static void a_job_waits_for_its_licenses_and_others_pass (void **state)
{
    struct fixture *f = *state;

    add (f, 1, 100, 2, f->core);
    add (f, 2, 100, 2, f->core);
    add (f, 3, 100, 0, f->core);
    expect_starts (f, NOW, "1 3");
    expect_reason (f, 2, SCHED_REASON_LICENSES, "needs 2 of license a: 1 of 3 free");
    end (f, 3);
    expect_starts (f, NOW + 1, "");
    end (f, 1);
    expect_starts (f, NOW + 2, "2");
}

static void small_needs_do_not_starve_a_large_one (void **state)
{
    struct fixture *f = *state;

    add (f, 1, 100, 1, f->core);
    expect_starts (f, NOW, "1");
    add (f, 2, 100, 3, f->core);
    add (f, 3, 100, 1, f->core);
    expect_starts (f, NOW, "");
    expect_reason (f, 3, SCHED_REASON_LICENSES, "kept for jobs ahead");
    end (f, 1);
    expect_starts (f, NOW + 1, "2");
}

static void licenses_of_a_reservation_are_kept_from_its_start_on (void **state)
{
    struct fixture *f = *state;

    add (f, 1, 100, 0, f->core);
    expect_starts (f, NOW, "1");
    add (f, 2, 100, 3, f->both); /* planned for NOW + 100 */
    add (f, 3, 101, 1, f->core);
    add (f, 4, 99, 1, f->core);
    expect_starts (f, NOW, "4");
    expect_reason (f, 2, SCHED_REASON_RESOURCES, "");
}

static void a_job_that_needs_more_than_there_are_blocks_nobody (void **state)
{
    struct fixture *f = *state;
    struct gres_list less = { 0 };

    add (f, 1, 100, 3, f->core);
    add (f, 2, 100, 1, f->core);
    gres_set (&less, "a", 2);
    license_pool_set (&f->pool, &less);
    gres_release (&less);
    expect_starts (f, NOW, "2");
    expect_reason (f, 1, SCHED_REASON_LICENSES, "of 2 free");
}

static void a_new_total_starts_jobs (void **state)
{
    struct fixture *f = *state;
    struct gres_list more = { 0 };

    add (f, 1, 100, 3, f->core);
    add (f, 2, 100, 2, f->core);
    expect_starts (f, NOW, "1");
    gres_set (&more, "a", 5);
    license_pool_set (&f->pool, &more);
    gres_release (&more);
    expect_starts (f, NOW + 1, "2");
}

/* Random jobs come and end by their limits. More licenses than there are must never be in
 * use, which start_all() checks, and all jobs must have run in the end. */
static void all_jobs_run (void **state)
{
    struct fixture *f = *state;
    autostrbuf struct strbuf ids = STRBUF_INIT (4096);
    unsigned added = 0;

    chance_begin ("licenses");
    for (double now = NOW; added < JOBS || sched_pending (f->s) > 0; now++) {
        assert_true (now < NOW + 100 * JOBS);
        for (uint64_t id = 1; id <= added; id++)
            if (f->ends[id] > 0 && f->ends[id] <= now)
                end (f, id);
        if (added < JOBS && chance_below (3) == 0) {
            added++;
            add (f, added, (double)(1 + chance_below (20)), (unsigned)chance_below (4),
                 chance_below (4) ? f->core : f->both);
        }
        start_all (f, now, &ids);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        CASE (a_job_waits_for_its_licenses_and_others_pass),
        CASE (small_needs_do_not_starve_a_large_one),
        CASE (licenses_of_a_reservation_are_kept_from_its_start_on),
        CASE (a_job_that_needs_more_than_there_are_blocks_nobody),
        CASE (a_new_total_starts_jobs),
        CASE (all_jobs_run),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
