/* Delayed additions, changes and removals of nodes. Fails if a node is lost, appears
 * after its removal, has properties of another node or older values, or if the order
 * changes; and, on a machine whose nodes never stop changing, if indexes never become
 * ready or passes never run. */
#include "broker/core/test/small.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "broker/core/inside.h"
#include "broker/core/service.h"
#include "broker/services/nodes/moves.h"
#include "broker/services/nodes/nodes.h"
#include "common/clock.h"
#include "match/machine/match.h"
#include "match/test/places.h"

static char said[1024];

/* The generic resources in a copy: " hca:2; " */
static void add_gres (const struct gres_list *gres)
{
    size_t len = strlen (said);

    for (size_t i = 0; gres && i < gres->n; i++)
        len += (size_t)snprintf (said + len, sizeof (said) - len, " %s:%d",
                                 gres->v[i].name, (int)gres->v[i].count);
    snprintf (said + len, sizeof (said) - len, "; ");
}

static void say_node (void *arg, const struct machine_node_spec *spec,
                      enum machine_node_state state, const char *reason)
{
    size_t len = strlen (said);

    assert_ptr_equal (arg, said);
    for (size_t i = 0; i < spec->nzones; i++)
        assert_int_equal (spec->zones[i].cores, spec->cores / spec->nzones);
    snprintf (said + len, sizeof (said) - len, "%s %s %u %u %d %s %d %s", spec->name,
              spec->places && spec->places->level ? spec->places->name : "-", spec->cores,
              spec->gpus, (int)spec->memory_mib,
              spec->properties ? spec->properties[0] : "-", (int)state,
              reason ? reason : "-");
    add_gres (spec->gres);
}

static void say_foreign (void *arg, const char *name, uint32_t cores, uint32_t gpus,
                         int64_t memory_mib, const struct gres_list *gres)
{
    size_t len = strlen (said);

    (void)arg;
    snprintf (said + len, sizeof (said) - len, "%s foreign %u %u %d", name, cores, gpus,
              (int)memory_mib);
    add_gres (gres);
}

static void say_zones (void *arg, const char *name, const struct machine_report *report)
{
    size_t len = strlen (said);

    (void)arg;
    snprintf (said + len, sizeof (said) - len, "%s zones %zu:%u seen %zu:%d; ", name,
              report->nleft, report->left[report->nleft - 1].cores, report->nseen,
              (int)report->seen[0]);
}

static void say_gone (void *arg, const char *name)
{
    size_t len = strlen (said);

    (void)arg;
    snprintf (said + len, sizeof (said) - len, "%s gone; ", name);
}

static const struct moves_verbs say = { say_node, say_foreign, say_zones, say_gone };

static void expect (struct moves *m, const char *wanted)
{
    said[0] = '\0';
    while (moves_next (m, &say, said))
        ;
    assert_string_equal (said, wanted);
    assert_false (moves_any (m));
}

static void node (struct moves *m, const char *name, uint32_t cores)
{
    char text[64], property[16] = "fast";
    const char *const properties[] = { property, NULL };
    snprintf (text, sizeof (text), "%s", name);
    struct machine_node_spec spec = { .name = text,
                                      .places = IN_RACK ("r1"),
                                      .cores = cores,
                                      .gpus = 2,
                                      .memory_mib = 512,
                                      .properties = properties };

    assert_int_equal (moves_node (m, &spec, MACHINE_NODE_UP, NULL), 0);
    memset (text, 'x', 4); /* the copy has its own memory */
    memset (property, 'x', 4);
    assert_true (moves_any (m));
}

static void test_order (void **state)
{
    (void)state;
    struct moves *m = moves_create ();
    struct machine_node_spec bare = { .name = "n3", .cores = 1 };

    assert_non_null (m);
    assert_false (moves_any (m));
    expect (m, "");
    node (m, "n2", 4);
    node (m, "n1", 8);
    assert_int_equal (moves_gone (m, "n0"), 0);
    assert_int_equal (moves_node (m, &bare, MACHINE_NODE_DOWN, "not ready"), 0);
    char wanted[256];
    snprintf (wanted, sizeof (wanted),
              "n2 r1 4 2 512 fast %d -; n1 r1 8 2 512 fast %d -; n0 gone; "
              "n3 - 1 0 0 - %d not ready; ",
              MACHINE_NODE_UP, MACHINE_NODE_UP, MACHINE_NODE_DOWN);
    expect (m, wanted);
    node (m, "n4", 1); /* never passed on: freed */
    assert_int_equal (moves_gone (m, "n5"), 0);
    moves_destroy (m);
}

/* For one node the last values count, at the place where the node was first named. */
static void test_last_word (void **state)
{
    (void)state;
    struct moves *m = moves_create ();
    char wanted[256];

    node (m, "n1", 4);
    assert_int_equal (moves_foreign (m, "n1", 3, 0, 0, NULL), 0);
    assert_int_equal (moves_foreign (m, "n2", 1, 0, 9, NULL), 0);
    node (m, "n1", 6);
    assert_int_equal (moves_foreign (m, "n1", 2, 1, 7, NULL), 0);
    snprintf (wanted, sizeof (wanted),
              "n1 r1 6 2 512 fast %d -; n1 foreign 2 1 7; n2 foreign 1 0 9; ",
              MACHINE_NODE_UP);
    expect (m, wanted);
    node (m, "n1", 6);
    assert_int_equal (moves_foreign (m, "n1", 2, 1, 7, NULL), 0);
    assert_int_equal (moves_gone (m, "n1"), 0);
    expect (m, "n1 gone; ");
    assert_int_equal (moves_gone (m, "n1"), 0);
    node (m, "n1", 5); /* another machine of the same name */
    snprintf (wanted, sizeof (wanted), "n1 gone; n1 r1 5 2 512 fast %d -; ",
              MACHINE_NODE_UP);
    expect (m, wanted);
    moves_destroy (m);
}

/* Generic resources are copied: the node's own amounts and the used amounts. */
static void test_gres (void **state)
{
    struct moves *m = moves_create ();
    struct gres_list gres = { 0 };
    struct machine_node_spec spec = { .name = "n1", .cores = 1, .gres = &gres };
    char wanted[256];

    (void)state;
    gres_set (&gres, "hca", 2);
    assert_int_equal (moves_node (m, &spec, MACHINE_NODE_UP, NULL), 0);
    assert_int_equal (moves_foreign (m, "n1", 1, 0, 0, &gres), 0);
    gres_set (&gres, "hca", 1);
    assert_int_equal (moves_foreign (m, "n2", 0, 0, 0, &gres), 0);
    assert_int_equal (moves_foreign (m, "n1", 0, 0, 0, &gres), 0);
    gres_release (&gres);
    snprintf (wanted, sizeof (wanted),
              "n1 - 1 0 0 - %d - hca:2; n1 foreign 0 0 0 hca:1; n2 foreign 0 0 0 hca:1; ",
              MACHINE_NODE_UP);
    expect (m, wanted);
    moves_destroy (m);
}

static void zones (struct moves *m, uint32_t left, uint64_t job)
{
    struct machine_zone both[] = { { .id = 0, .cores = 4 }, { .id = 1, .cores = left } };
    struct machine_node_spec spec = {
        .name = "n1", .cores = 8, .zones = both, .nzones = 2
    };
    struct machine_report r = { .left = both, .nleft = 2, .seen = &job, .nseen = 1 };

    both[1].cores = 4;
    assert_int_equal (moves_node (m, &spec, MACHINE_NODE_UP, NULL), 0);
    both[1].cores = left;
    assert_int_equal (moves_zones (m, "n1", &r), 0);
    memset (both, 0x55, sizeof (both)); /* the copy has its own memory */
    job = 0;
}

static void test_zones (void **state)
{
    (void)state;
    struct moves *m = moves_create ();
    char wanted[256];

    zones (m, 3, 7);
    zones (m, 2, 8);
    snprintf (wanted, sizeof (wanted), "n1 - 8 0 0 - %d -; n1 zones 2:2 seen 1:8; ",
              MACHINE_NODE_UP);
    expect (m, wanted);
    zones (m, 2, 8);
    assert_int_equal (moves_gone (m, "n1"), 0);
    expect (m, "n1 gone; ");
    zones (m, 2, 8); /* never passed on: freed */
    moves_destroy (m);
}

/* -- a machine whose nodes never stop changing -- */

#define NODES 400
#define WORK 400 /* work of one step; all of it is more than ten steps */

static void come (void *arg, const struct machine_node_spec *spec,
                  enum machine_node_state state, const char *reason)
{
    int index = machine_node_add (arg, spec, NULL);

    assert_true (index >= 0);
    assert_int_equal (machine_node_set_state (arg, index, state, reason), 0);
}

static void go (void *arg, const char *name)
{
    int index = machine_node_find (arg, name);

    if (index >= 0)
        assert_int_equal (machine_node_remove (arg, index), 0);
}

static const struct moves_verbs verbs = { .node = come, .node_gone = go };

static void add (struct moves *m, const char *prefix, unsigned i)
{
    char name[16];
    struct machine_node_spec spec = { .name = name, .cores = 4, .memory_mib = 1024 };

    snprintf (name, sizeof (name), "%s%u", prefix, i);
    assert_int_equal (moves_node (m, &spec, MACHINE_NODE_UP, NULL), 0);
}

static void test_all_the_time (void **state)
{
    (void)state;
    struct moves *m = moves_create ();
    struct machine *g = machine_create ("cluster");
    struct matcher *matcher = matcher_create (g, match_policy_find ("lonode"));
    unsigned pieces = 0, more = 0;

    for (unsigned i = 0; i < NODES; i++)
        add (m, "n", i);
    for (int round = 0; round < 20; round++) {
        while (moves_next (m, &verbs, g))
            ;
        assert_false (match_is_preparing (matcher));
        for (unsigned n = 1; match_prepare (matcher, WORK) == -EAGAIN; n++) {
            assert_true (match_is_preparing (matcher));
            add (m, "more", more++); /* between any two steps */
            assert_true (n < 1000);
            pieces++;
        }
        assert_true (match_is_prepared (matcher)); /* for a pass */
        assert_false (match_is_preparing (matcher));
    }
    assert_true (pieces > 20 * 10);
    while (moves_next (m, &verbs, g))
        ;
    assert_int_equal (machine_node_count (g), NODES + more);
    moves_destroy (m);
    matcher_destroy (matcher);
    machine_destroy (g);
}

/* -- in the broker -- */

static bool always (double begin)
{
    (void)begin;
    return true;
}

static void tell (struct broker *b, const char *name, enum machine_node_state state)
{
    struct machine_node_spec spec = { .name = name, .cores = 4, .memory_mib = 1024 };

    b->host.node (b, &spec, state, "told");
}

static bool is_there (const struct broker *b, const char *name)
{
    return machine_node_find (broker_graph (b), name) >= 0;
}

static void expect_state (const struct broker *b, const char *name,
                          enum machine_node_state state)
{
    struct machine_node_info info;

    assert_int_equal (machine_node_info (broker_graph (b),
                                         machine_node_find (broker_graph (b), name),
                                         &info),
                      0);
    assert_int_equal (info.state, state);
}

extern const struct broker_service service_nodes;

/* 100 nodes; the matcher begins to prepare them. */
static struct broker *begin (void)
{
    struct broker *b = calloc (1, sizeof (*b));

    assert_non_null (b);
    services_arrange ();
    b->states = calloc (1, services_state_size ());
    assert_non_null (b->states);
    b->host.arg = b;
    service_nodes.host (b, &b->host);
    assert_int_equal (service_nodes.init (b, NULL), 0);
    b->graph = machine_create ("cluster");
    b->matcher = matcher_create (broker_graph (b), match_policy_find ("lonode"));
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf (name, sizeof (name), "n%d", i);
        tell (b, name, MACHINE_NODE_UP);
        assert_true (is_there (b, name)); /* nothing is prepared yet: at once */
    }
    assert_int_equal (match_prepare (broker_matcher (b), 50), -EAGAIN);
    return b;
}

static void end (struct broker *b)
{
    service_nodes.release (b);
    matcher_destroy (broker_matcher (b));
    machine_destroy (broker_graph (b));
    free (b->states);
    free (b);
}

static void test_broker_waits (void **state)
{
    (void)state;
    struct broker *b = begin ();

    b->plan_due = false;
    tell (b, "more", MACHINE_NODE_UP);
    assert_false (is_there (b, "more"));
    assert_true (b->plan_due); /* otherwise no pass would ever apply the change */
    b->host.node_gone (b, "n1");
    tell (b, "n2", MACHINE_NODE_DOWN);
    tell (b, "n3", MACHINE_NODE_UP);
    expect_state (b, "n1", MACHINE_NODE_DOWN); /* at once: no new jobs */
    expect_state (b, "n2", MACHINE_NODE_DOWN);
    expect_state (b, "n3", MACHINE_NODE_UP);
    assert_true (match_is_preparing (broker_matcher (b))); /* continues where it was */
    while (match_prepare (broker_matcher (b), 50) == -EAGAIN)
        ;
    tell (b, "later", MACHINE_NODE_UP); /* behind the waiting changes */
    assert_false (is_there (b, "later"));
    assert_true (nodes_move (b, always, 0)); /* a pass comes first */
    assert_false (is_there (b, "more"));
    nodes_may_move (b, true, clock_mono ());
    assert_true (nodes_move (b, always, 0));
    assert_true (is_there (b, "more") && is_there (b, "later"));
    assert_false (is_there (b, "n1"));
    tell (b, "at-once", MACHINE_NODE_UP); /* no change waits any more */
    assert_true (is_there (b, "at-once"));
    end (b);
}

/* A pass that never ends delays changes for at most a second. */
static void test_broker_waits_a_second (void **state)
{
    (void)state;
    struct broker *b = begin ();

    tell (b, "more", MACHINE_NODE_UP);
    while (match_prepare (broker_matcher (b), 50) == -EAGAIN)
        ;
    nodes_may_move (b, false, clock_mono () - 1000);
    assert_true (nodes_move (b, always, 0));
    assert_false (is_there (b, "more"));
    nodes_may_move (b, false, clock_mono () + 1000);
    assert_true (nodes_move (b, always, 0));
    assert_true (is_there (b, "more"));
    end (b);
}

/* -- in the broker, with all services -- */

/* The matcher has begun to prepare the nodes again. */
static void begin_to_prepare (struct small *s)
{
    tell (s->b, "more", MACHINE_NODE_UP);
    match_prepare (s->b->matcher, 50);
}

/* Changes while the matcher prepares are applied by the next passes. */
static void test_passes_move (void **state)
{
    (void)state;
    struct small *s = small_create (100);

    begin_to_prepare (s);
    assert_true (match_is_preparing (s->b->matcher));
    uint64_t id =
        entry_id (small_submit (s, "duration: 60, constraints: {hostlist: [later]}"));
    tell (s->b, "later", MACHINE_NODE_UP);
    s->b->host.node_gone (s->b, "node6");
    assert_false (is_there (s->b, "later"));
    assert_true (is_there (s->b, "node6"));
    small_turn (s);
    assert_false (is_there (s->b, "node6"));
    assert_int_equal (entry_job (entry_find (s->b, id))->state, JOB_RUN);
    small_destroy (s);
}

/* Without memory for a waiting change, the change applies at once: no change is lost. */
static void scenario (struct small *s)
{
    for (int i = 0; i < 3; i++)
        small_submit (s, "duration: 60");
    begin_to_prepare (s);
    tell (s->b, "later", MACHINE_NODE_UP);
    s->b->host.node_foreign (s->b, "node5", 1, 0, 0, NULL);
    s->b->host.node_gone (s->b, "node6");
    tell (s->b, "node7", MACHINE_NODE_DOWN);
    expect_state (s->b, "node7", MACHINE_NODE_DOWN);
    small_turn (s);
    assert_true (is_there (s->b, "more") && is_there (s->b, "later"));
    assert_false (is_there (s->b, "node6"));
    expect_state (s->b, "node7", MACHINE_NODE_DOWN);
}

static void test_jobs_vanish (void **state)
{
    (void)state;
    small_vanish (100, scenario);
}

static void test_no_memory (void **state)
{
    (void)state;
    small_torture (100, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_order),
        cmocka_unit_test (test_last_word),
        cmocka_unit_test (test_gres),
        cmocka_unit_test (test_zones),
        cmocka_unit_test (test_all_the_time),
        cmocka_unit_test (test_broker_waits),
        cmocka_unit_test (test_broker_waits_a_second),
        cmocka_unit_test (test_passes_move),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
