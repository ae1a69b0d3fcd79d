/* Each allocation fails in turn while a job goes through events, the queue and the
 * matcher. Fails on a crash, on a leak (ASan), if units stay booked after a failure, or
 * if a job is lost without an error to the caller. Linked with --wrap for malloc and
 * related functions, so that only allocations of src/ fail, not those of shared
 * libraries. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "common/test/torture.h"
#include "job/job.h"
#include "match/machine/machine_private.h"
#include "match/test/build.h"
#include "match/test/inspect.h"
#include "match/test/places.h"
#include "match/test/verify.h"
#include "sched/sched.h"

struct rig {
    struct machine *g;
    struct matcher *m;
    struct sched *s;
    struct match_request *big, *small;
};

static struct gres some[] = { { (char *)"a/b", 5 }, { (char *)"a_b", 3 } };
static const struct gres_list resources = { some, 2 };

static int add_node (struct machine *g, const char *name)
{
    static const char *const properties[] = { "fast", NULL };
    struct machine_node_spec spec = { .name = name,
                                      .places = IN_RACK ("r"),
                                      .cores = 4,
                                      .memory_mib = 100,
                                      .gres = &resources,
                                      .properties = properties };
    return machine_node_add (g, &spec, NULL);
}

/* Built without failures: only the following steps are tested. */
static void rig_build (struct rig *rig)
{
    static const char fast[] =
        "{\"or\":[{\"properties\":[\"fast\"]},{\"hostlist\":[\"x\"]}]}";
    rig->g = machine_create ("cluster");
    rig->m = matcher_create (rig->g, match_policy_find ("lonode"));
    rig->s = sched_create (rig->m, queue_policy_find ("easy"), 0);
    add_node (rig->g, "n0");
    add_node (rig->g, "n1");
    rig->big = build_request ("node=2>slot=1>(core=3,memory=5,a/b=2)", 0, fast, NULL);
    rig->small = build_request ("slot=1>core=2", 0, NULL, NULL);
    sched_queue_set (rig->s, 0, true);
}

static void rig_release (struct rig *rig)
{
    match_request_destroy (rig->big);
    match_request_destroy (rig->small);
    sched_destroy (rig->s);
    matcher_destroy (rig->m);
    machine_destroy (rig->g);
}

static uint32_t cores_used (const struct machine *g)
{
    uint32_t sum = 0;
    for (int i = machine_node_next (g, -1); i >= 0; i = machine_node_next (g, i)) {
        struct machine_node_info info;
        machine_node_info (g, i, &info);
        sum += info.cores_used;
    }
    return sum;
}

/* Lets the n-th allocation of step fail; returns false if the step needed fewer. */
static bool torture (bool (*step) (struct rig *rig), long n)
{
    struct rig rig;
    rig_build (&rig);
    torture_countdown = n;
    bool done = step (&rig);
    bool reached = torture_countdown < 0;
    torture_countdown = -1;
    assert_true (done || reached);
    rig_release (&rig);
    return reached;
}

static void torture_all (bool (*step) (struct rig *rig))
{
    long n = 0;
    while (torture (step, n))
        n++;
    assert_true (n > 3);
}

static bool step_graph (struct rig *rig)
{
    size_t before = machine_node_count (rig->g);
    bool ok = add_node (rig->g, "n2") >= 0;
    assert_int_equal (machine_node_count (rig->g), before + ok);
    assert_int_equal (machine_node_find (rig->g, "n2") >= 0, ok);
    struct machine_node_spec spec = { .name = "n0",
                                      .cores = 8,
                                      .places = IN_RACK ("other") };
    int rc = machine_node_update (rig->g, &spec, NULL);
    struct machine_node_info info;
    machine_node_info (rig->g, 0, &info);
    assert_int_equal (info.cores, rc < 0 ? 4 : 8);
    return ok && rc >= 0;
}

/* A failed step can be repeated, and nothing is counted wrongly. */
static bool step_machine (struct rig *rig)
{
    static struct gres other[] = { { (char *)"a:b", 4 }, { (char *)"a_b", 1 } };
    static const struct gres_list others = { other, 2 };
    struct machine_node_spec spec = { .name = "n0",
                                      .cores = 2,
                                      .gpus = 70,
                                      .memory_mib = 9,
                                      .gres = &others,
                                      .places = IN_RACK ("far") };
    struct machine_gres_info gres;
    struct error why = { 0 };
    struct rset *r;
    bool ok = match_allocate (rig->m, 1, rig->small, 1, 1, &r, &why) == 0;
    if (ok)
        rset_destroy (r);
    int rc[] = {
        machine_node_set_foreign (rig->g, 0, 1, 0, 10, NULL),
        machine_node_set_state (rig->g, 1, MACHINE_NODE_DOWN, "x"),
        machine_node_update (rig->g, &spec, NULL),
        machine_node_set_foreign (rig->g, 0, 0, 66, 3, &resources),
        machine_node_remove (rig->g, 0),
        machine_node_add (rig->g, &spec, NULL),
        match_has (rig->m, 1) ? match_cancel (rig->m, 1) : 0,
        machine_node_remove (rig->g, 1),
    };
    for (size_t i = 0; i < ARRAY_SIZE (rc); i++) {
        assert_true (rc[i] >= 0 || rc[i] == -ENOMEM || rc[i] == -EEXIST);
        ok = ok && rc[i] >= 0;
    }
    long n = torture_countdown;
    torture_countdown = -1;
    assert_true (machine_node_update (rig->g, &spec, &why) >= 0
                 || machine_node_add (rig->g, &spec, &why) >= 0);
    assert_int_equal (machine_node_set_foreign (rig->g, 0, 1, 1, 1, &others), 0);
    struct machine_node_info info;
    assert_int_equal (machine_node_info (rig->g, 0, &info), 0);
    assert_int_equal (info.cores_free + info.gpus_free + info.memory_free, 1 + 69 + 8);
    assert_int_equal (machine_node_gres (rig->g, 0, "a/b", &gres), 0);
    assert_true (gres.count == 0 && gres.used == 0 && gres.free == 0);
    assert_int_equal (machine_node_gres (rig->g, 0, "a:b", &gres), 0);
    assert_true (gres.count == 4 && gres.foreign == 4 && gres.free == 0);
    match_nothing_free (rig->m);
    if (planner_verify (rig->g->planner, &why) < 0)
        fail_msg ("%s", why.text);
    torture_countdown = n;
    return ok;
}

static bool step_match (struct rig *rig)
{
    struct rset *r;
    struct error why;
    int rc = match_allocate (rig->m, 1, rig->big, 1, 1, &r, &why);
    assert_int_equal (cores_used (rig->g), rc < 0 ? 0 : 6);
    assert_int_equal (match_has (rig->m, 1), rc == 0);
    if (rc < 0) {
        assert_int_equal (rc, -ENOMEM);
        return false;
    }
    rc = match_allocate (rig->m, 2, rig->big, 1, 1, &(struct rset *){ NULL }, &why);
    assert_true (rc == -EBUSY || rc == -ENOMEM);
    assert_int_equal (match_cancel (rig->m, 1), 0);
    assert_int_equal (cores_used (rig->g), 0);
    int updated = match_update (rig->m, 1, r, &why);
    assert_int_equal (cores_used (rig->g), updated < 0 ? 0 : 6);
    rset_destroy (r);
    return rc == -EBUSY && updated == 0;
}

static bool step_rset (struct rig *rig)
{
    struct rset *r;
    if (match_allocate (rig->m, 1, rig->big, 1, 1, &r, NULL) < 0)
        return false;
    char *text = rset_encode (r);
    struct rset *again = text ? rset_decode (text, strlen (text), NULL) : NULL;
    if (again)
        assert_true (rset_equal (r, again));
    bool ok = again != NULL;
    rset_destroy (again);
    rset_destroy (r);
    free (text);
    return ok;
}

static bool step_request (struct rig *rig)
{
    (void)rig;
    struct error err = { 0 };
    struct jobspec_resource core = { .type = (char *)"core",
                                     .exclusive = JOBSPEC_UNSET,
                                     .count = { 1, 1, '+', 1 } };
    struct jobspec_resource slot = { .type = (char *)"slot",
                                     .count = { 1, 1, '+', 1 },
                                     .with = &core,
                                     .nwith = 1,
                                     .exclusive = JOBSPEC_UNSET };
    long n = torture_countdown; /* parsing is not tested here */
    torture_countdown = -1;
    json_t *c = json_loads (
        "{\"not\":[{\"hostlist\":[\"n[1-3]\"]}],\"ranks\":[\"1\",\"3\"]}", 0, NULL);
    torture_countdown = n;
    struct jobspec js = { .resources = &slot, .nresources = 1, .constraints = c };
    struct match_request *req = match_request_create (&js, &err);
    assert_true (req || err.text[0]);
    bool ok = req != NULL;
    match_request_destroy (req);
    json_decref (c);
    return ok;
}

static bool step_sched (struct rig *rig)
{
    const struct sched_entry entries[] = {
        { .id = 1, .priority = 5, .req = rig->big },
        { .id = 2, .priority = 4, .req = rig->small },
        { .id = 3, .priority = 3, .req = rig->small, .begin = 5 },
        { .id = 4, .priority = 2, .req = rig->big, .held = true },
    };
    size_t queued = 0;
    bool ok = true;
    for (size_t i = 0; i < ARRAY_SIZE (entries); i++) {
        int rc = sched_enqueue (rig->s, &entries[i]);
        assert_true (rc == 0 || rc == -ENOMEM);
        queued += rc == 0;
        ok = ok && rc == 0;
    }
    assert_int_equal (sched_pending (rig->s), queued);
    for (int k = 0; k < 10; k++) {
        struct sched_decision d;
        int rc = sched_next (rig->s, 10, 0, &d);
        assert_true (rc == 0 || rc == 1 || rc == -ENOMEM);
        ok = ok && rc >= 0;
        if (rc != 1)
            continue;
        queued--;
        assert_true (match_has (rig->m, d.id));
        rset_destroy (d.r);
        assert_int_equal (match_cancel (rig->m, d.id), 0);
    }
    assert_int_equal (sched_pending (rig->s), queued);
    assert_int_equal (cores_used (rig->g), 0);
    struct sched_reason reason;
    if (queued > 0)
        sched_reason (rig->s, 4, &reason);
    return ok;
}

static bool step_job (struct rig *rig)
{
    (void)rig;
    static const char *const events[][2] = {
        { "submit", "{\"userid\":1,\"urgency\":16}" },
        { "validate", NULL },
        { "depend", NULL },
        { "priority", "{\"priority\":1}" },
        { "alloc", "{\"R\":{},\"nodelist\":\"n1\"}" },
        { "requeue", "{\"reason\":\"x\"}" },
        { "exception", "{\"type\":\"cancel\",\"severity\":0,\"note\":\"x\"}" },
    };
    struct job *job = job_create (1);
    bool ok = job != NULL;
    for (size_t i = 0; ok && i < ARRAY_SIZE (events); i++) {
        const char *text = events[i][1];
        struct event *e =
            event_create (1, events[i][0], text ? json_loads (text, 0, NULL) : NULL);
        unsigned actions;
        enum job_state state = job->state;
        int rc = e ? job_apply (job, e, &actions, NULL) : -ENOMEM;
        if (rc < 0) {
            assert_int_equal (rc, -ENOMEM);
            assert_int_equal (job->state, state);
            assert_int_equal (job->nevents, i);
            ok = false;
        }
        event_destroy (e);
    }
    job_destroy (job);
    return ok;
}

static void test_all (void **state)
{
    (void)state;
    torture_all (step_graph);
    torture_all (step_machine);
    torture_all (step_match);
    torture_all (step_rset);
    torture_all (step_request);
    torture_all (step_sched);
    torture_all (step_job);
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_all) };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
