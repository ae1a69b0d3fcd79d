/* test_reserve.c - nodes that are reserved for a time, and the jobs that may use them */
#include "broker/core/test/small.h"

#include <errno.h>
#include <string.h>

#include "broker/services/reserve/reserve.h"

extern const struct broker_service service_reserve;

#define INSIDE "duration: 60, fluxq: {reservation: r}"

/* Times are seconds from the start of the test; user: the user of the
 * reservation, 0: maintenance. */
static struct reservation *plan (const char *name, double start, double end,
                                 const char *node, uid_t user)
{
    struct error err = { 0 };
    long countdown = small_spare ();
    struct reservation *r =
        reservation_create (name, SMALL_START + start, SMALL_START + end, &err);

    if (node)
        hostlist_append (r->nodes, node);
    if (user)
        reservation_add_user (r, "user", user);
    r->maintenance = user == 0;
    r->by = strdup ("root");
    r->made = small_now ();
    small_resume (countdown);
    return r;
}

/* Makes a reservation like a request. Returns 0, or the error. */
static int enter (struct small *s, struct reservation *r)
{
    struct error err = { 0 };
    int rc = reserve_make (s->b, r, 0, false, &err);

    if (rc < 0) {
        reservation_destroy (r);
        return rc;
    }
    struct journal_txn *t = reserve_txn (s->b, r, false);
    if (t)
        journal_commit (s->b->journal, t, 0, NULL, NULL);
    small_turn (s);
    return 0;
}

/* Reservation r of node0 for user 1000. */
static void make (struct small *s, double start, double end)
{
    assert_int_equal (enter (s, plan ("r", start, end, "node0", 1000)), 0);
}

static uint64_t submit (struct small *s, const char *system)
{
    uint64_t id = entry_id (small_submit (s, system));

    small_turn (s);
    return id;
}

static const char *node_of (struct small *s, uint64_t id)
{
    const struct entry *e = entry_find (s->b, id);

    return e && e->r ? e->r->ranks[0].node : NULL;
}

static void set_node (struct small *s, const char *name, enum machine_node_state state)
{
    const struct machine_node_spec spec = { .name = name,
                                            .cores = 4,
                                            .memory_mib = 1024 };

    s->b->host.node (s->b, &spec, state, NULL);
    small_turn (s);
}

static void test_others_stay_outside (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    make (s, 0, 100);
    uint64_t id = submit (s, "duration: 60");
    small_advance (s, 99);
    assert_null (node_of (s, id));
    assert_string_equal (reserve_of_node (s->b, "node0")->name, "r");
    small_advance (s, 2);
    assert_string_equal (node_of (s, id), "node0");
    assert_null (reserve_find (s->b, "r"));
    assert_null (reserve_of_node (s->b, "node0"));
    assert_null (small_setting ("reservation/r"));
    small_destroy (s);
}

static void test_inside (void **unused)
{
    struct small *s = small_create (2);
    uint64_t id = submit (s, INSIDE);

    (void)unused;
    struct entry *e = entry_find (s->b, id);
    assert_string_equal (reserve_name_of (e), "r");
    assert_null (reserve_sched_of (s->b, e)); /* there is no reservation yet */
    assert_ptr_equal (reserve_matcher_of (s->b, e), s->b->matcher);
    make (s, 0, 100);
    assert_string_equal (node_of (s, id), "node0");
    assert_true (reserve_has_realm (e));
    assert_ptr_not_equal (reserve_matcher_of (s->b, e), s->b->matcher);
    small_ready (s, id);
    small_finish (s, id, "exited");
    assert_false (reserve_has_realm (e));
    small_destroy (s);
}

/* Before the begin, jobs outside may use the node if they end in time. */
static void test_planned (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    make (s, 50, 200);
    assert_false (reserve_find (s->b, "r")->active);
    uint64_t inside = submit (s, INSIDE), late = submit (s, "duration: 60");
    uint64_t early = submit (s, "duration: 20");
    assert_null (node_of (s, inside));
    assert_null (node_of (s, late));
    assert_string_equal (node_of (s, early), "node0");
    assert_true (reserve_wakeup (s->b) > small_now ());
    small_ready (s, early);
    small_finish (s, early, "exited");
    small_advance (s, 51);
    assert_true (reserve_find (s->b, "r")->active);
    assert_string_equal (node_of (s, inside), "node0");
    assert_null (node_of (s, late));
    small_destroy (s);
}

static void test_not_admitted (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    assert_int_equal (enter (s, plan ("r", 0, 100, "node0", 1001)), 0);
    struct entry *e = entry_find (s->b, submit (s, INSIDE));
    assert_null (e->r);
    assert_null (reserve_sched_for (s->b, e));
    reserve_remove (s->b, reserve_find (s->b, "r"));
    assert_int_equal (enter (s, plan ("r", 0, 100, "node0", 0)), 0); /* maintenance */
    assert_null (reserve_sched_for (s->b, e));
    reserve_remove (s->b, reserve_find (s->b, "r"));
    make (s, 0, 100); /* another reservation of this name admits the job */
    assert_non_null (e->r);
    small_destroy (s);
}

static void test_refused (void **unused)
{
    struct small *s = small_create (2);
    struct error err = { 0 };

    (void)unused;
    make (s, 50, 100);
    assert_int_equal (enter (s, plan ("r", 200, 300, "node1", 1000)), -EEXIST);
    assert_int_equal (enter (s, plan ("x", 99, 200, "node0", 1000)), -EBUSY);
    assert_int_equal (enter (s, plan ("x", 0, 51, "node0", 1000)), -EBUSY);
    assert_int_equal (enter (s, plan ("x", 0, 51, "node9", 1000)), -ENOENT);
    assert_int_equal (enter (s, plan ("x", 100, 200, "node0", 1000)), 0);
    struct reservation *r = plan ("y", 0, 10, NULL, 1000);
    assert_int_equal (reserve_make (s->b, r, 3, false, &err), -EINVAL);
    assert_int_equal (reserve_make (s->b, r, 2, false, &err), 0); /* before the others */
    assert_int_equal (hostlist_count (r->nodes), 2);
    small_destroy (s);
}

/* A running job conflicts with the reservation unless the request allows this: then the
 * job keeps its node, and the jobs inside wait for it. */
static void test_running_job (void **unused)
{
    struct small *s = small_create (1);
    uint64_t outside = submit (s, "duration: 60");
    struct error err = { 0 };

    (void)unused;
    struct reservation *r = plan ("r", 0, 100, "node0", 1000);
    assert_int_equal (reserve_make (s->b, r, 0, false, &err), -EBUSY);
    assert_non_null (strstr (err.text, "--ignore-running"));
    assert_int_equal (reserve_make (s->b, r, 0, true, &err), 0);
    uint64_t inside = submit (s, INSIDE);
    assert_null (node_of (s, inside));
    small_ready (s, outside);
    small_finish (s, outside, "exited");
    assert_string_equal (node_of (s, inside), "node0");
    small_destroy (s);
}

/* The reservation ends before its jobs: running jobs go on, the others wait. */
static void test_ends (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    make (s, 0, 100);
    for (int i = 0; i < 5; i++)
        submit (s, INSIDE);
    assert_null (node_of (s, 5));
    reserve_remove (s->b, reserve_find (s->b, "r"));
    small_turn (s);
    assert_string_equal (node_of (s, 1), "node0");
    assert_false (reserve_has_realm (entry_find (s->b, 1)));
    assert_ptr_equal (reserve_matcher_of (s->b, entry_find (s->b, 1)), s->b->matcher);
    assert_null (node_of (s, submit (s, "duration: 60"))); /* the cores are in use */
    small_ready (s, 1);
    small_finish (s, 1, "exited");
    assert_string_equal (node_of (s, 6), "node0");
    assert_null (node_of (s, 5));
    assert_null (reserve_sched_of (s->b, entry_find (s->b, 5)));
    small_destroy (s);
}

/* The reservation ends while its job, which is to end as well, still runs: a job that
 * waits for this end gets other cores. */
static void test_ends_with_its_job (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    make (s, 0, 100);
    struct entry *inside = entry_find (s->b, submit (s, INSIDE));
    struct entry *other = entry_find (s->b, submit (s, "duration: 60"));
    small_ready (s, entry_id (inside));
    small_advance (s, 101);
    assert_non_null (other->r);
    assert_int_not_equal (idset_first (inside->r->ranks[0].cores),
                          idset_first (other->r->ranks[0].cores));
    small_destroy (s);
}

static void test_names (void **unused)
{
    struct small *s = small_create (1);
    char name[RESERVATION_NAME_MAX + 1];

    (void)unused;
    reserve_new_name (s->b, name, sizeof (name));
    assert_string_equal (name, "resv-1");
    assert_int_equal (enter (s, plan ("resv-2", 0, 100, "node0", 1000)), 0);
    reserve_new_name (s->b, name, sizeof (name));
    assert_string_equal (name, "resv-3");
    assert_ptr_equal (reserve_list (s->b), reserve_find (s->b, "resv-2"));
    small_destroy (s);
}

/* Nodes of a reservation change, leave and come back. */
static void test_nodes_change (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    make (s, 0, 1000);
    set_node (s, "node0", MACHINE_NODE_DOWN);
    uint64_t inside = submit (s, INSIDE), outside = submit (s, "duration: 60");
    assert_null (node_of (s, inside));
    s->b->host.node_gone (s->b, "node0");
    small_turn (s);
    assert_int_equal (machine_node_count (s->b->graph), 0);
    set_node (s, "node0", MACHINE_NODE_UP);
    small_advance (s, 1);
    assert_string_equal (node_of (s, inside), "node0");
    assert_null (node_of (s, outside)); /* the node is reserved as before */
    small_destroy (s);
}

/* Queues stop and policies change in a reservation, too. */
static void test_settings (void **unused)
{
    struct small *s = small_create (1);
    struct config *old = config_default (services_settings ());

    (void)unused;
    make (s, 0, 1000);
    reserve_queue_set (s->b, 0, false);
    uint64_t id = submit (s, INSIDE);
    assert_null (node_of (s, id));
    s->config->queues[0].started = true;
    s->config->match_policy = match_policy_find ("hinode");
    old->match_policy = match_policy_find ("lonode");
    service_reserve.reloaded (s->b, old);
    broker_plan_due (s->b);
    small_turn (s);
    assert_string_equal (node_of (s, id), "node0");
    config_destroy (old);
    small_destroy (s);
}

/* A task of an array has the reservation of the array. */
static void test_array (void **unused)
{
    struct small *s = small_create (2);

    (void)unused;
    make (s, 0, 1000);
    submit (s, "duration: 60, fluxq: {reservation: r, array: 1-5}");
    assert_string_equal (node_of (s, 2), "node0");
    assert_string_equal (node_of (s, 5), "node0");
    assert_string_equal (reserve_name_of (entry_find (s->b, 5)), "r");
    assert_null (entry_find (s->b, 6)); /* the fifth waits, beside a free node1 */
    small_ready (s, 2);
    small_finish (s, 2, "exited");
    assert_string_equal (node_of (s, 6), "node0");
    small_destroy (s);
}

/* After a restart the reservations come from the journal, with the jobs that run
 * inside. */
static void test_restart (void **unused)
{
    struct small *s = small_create (2);
    char name[RESERVATION_NAME_MAX + 1];
    struct error err = { 0 };

    (void)unused;
    reserve_new_name (s->b, name, sizeof (name));
    make (s, 0, 100);
    assert_int_equal (enter (s, plan ("old", 0, 20, "node1", 1000)), 0);
    struct entry *e = entry_find (s->b, submit (s, INSIDE));
    uint64_t outside = submit (s, "duration: 60, constraints: {hostlist: [node1]}");
    reserve_remove (s->b, reserve_find (s->b, "r")); /* without the journal */
    reserve_remove (s->b, reserve_find (s->b, "old"));
    small_turn (s);
    assert_string_equal (node_of (s, outside), "node1");
    assert_false (service_reserve.books (s->b, e)); /* no such reservation */
    small_advance (s, 30);
    assert_int_equal (service_reserve.load (s->b, &err), 0);
    assert_non_null (reserve_find (s->b, "old"));
    service_reserve.nodes_known (s->b);
    assert_null (reserve_find (s->b, "old")); /* its time is over */
    assert_true (reserve_find (s->b, "r")->active);
    reserve_unbook (s->b, entry_id (e));
    assert_true (service_reserve.books (s->b, e));
    assert_false (service_reserve.books (s->b, entry_find (s->b, outside)));
    service_reserve.recovered (s->b);
    small_turn (s);
    assert_null (small_setting ("reservation/old"));
    assert_true (reserve_has_realm (e));
    uint64_t other = submit (s, "duration: 60, constraints: {hostlist: [node0]}");
    assert_null (node_of (s, other));
    reserve_new_name (s->b, name, sizeof (name));
    assert_string_equal (name, "resv-2");
    small_advance (s, 100);
    assert_string_equal (node_of (s, other), "node0");
    small_destroy (s);
}

/* A wrong setting of the journal is skipped, and the other settings are read. */
static void test_wrong_setting (void **unused)
{
    struct small *s = small_create (1);
    struct journal_txn *t = journal_txn_create ();
    struct error err = { 0 };

    (void)unused;
    journal_txn_setting (t, "reservation/a", "{}");
    journal_commit (s->b->journal, t, 0, NULL, NULL);
    make (s, 0, 100);
    reserve_remove (s->b, reserve_find (s->b, "r"));
    assert_int_equal (service_reserve.load (s->b, &err), 0);
    assert_null (reserve_find (s->b, "a"));
    assert_non_null (reserve_find (s->b, "r"));
    small_destroy (s);
}

/* After any failure no job outside runs on a reserved node. */
static void check_outside (struct small *s)
{
    struct entry *e, *next;

    HASH_ITER (hh, s->b->table.all, e, next)
        if (e->r && reserve_find (s->b, "r") && !reserve_name_of (e))
            assert_string_not_equal (e->r->ranks[0].node, "node0");
}

static void scenario (struct small *s)
{
    struct error err = { 0 };

    small_submit (s, INSIDE);
    enter (s, plan ("r", 0, 100, "node0", 1000));
    enter (s, plan ("x", 50, 200, "node1", 1001));
    for (int i = 0; i < 2; i++) {
        small_submit (s, "duration: 60");
        small_submit (s, INSIDE);
    }
    small_submit (s, "duration: 60, fluxq: {reservation: r, array: 1-2}");
    small_turn (s);
    check_outside (s);
    set_node (s, "node0", MACHINE_NODE_DOWN);
    s->b->host.node_gone (s->b, "node0");
    small_ready (s, 1);
    small_finish (s, 1, "exited");
    set_node (s, "node0", MACHINE_NODE_UP);
    small_turn (s);
    check_outside (s);
    small_advance (s, 60);
    check_outside (s);
    while (reserve_list (s->b)) /* without the journal */
        reserve_remove (s->b, reserve_list (s->b));
    if (service_reserve.load (s->b, &err) == 0) {
        service_reserve.nodes_known (s->b);
        service_reserve.recovered (s->b);
    }
    small_advance (s, 200);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (2, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (2, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_others_stay_outside),
        cmocka_unit_test (test_inside),
        cmocka_unit_test (test_planned),
        cmocka_unit_test (test_not_admitted),
        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_running_job),
        cmocka_unit_test (test_ends),
        cmocka_unit_test (test_ends_with_its_job),
        cmocka_unit_test (test_names),
        cmocka_unit_test (test_nodes_change),
        cmocka_unit_test (test_settings),
        cmocka_unit_test (test_array),
        cmocka_unit_test (test_restart),
        cmocka_unit_test (test_wrong_setting),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
