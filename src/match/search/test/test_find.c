/* test_find.c - expressions: their parse, and their matches */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "match/search/find.h"

struct world {
    struct graph *g;
    struct planner *p;
    uint32_t root, node[2], cores[2];
};

static uint32_t add (struct graph *g, uint32_t parent, const char *type, int id,
                     uint32_t count)
{
    struct graph_spec spec = { .type = type,
                               .id = id,
                               .uniq = -1,
                               .count = count,
                               .rank = count > 1 || parent == GRAPH_NONE ? -1 : id,
                               .leaf = count > 1 };
    uint32_t v = graph_add (g, parent, &spec, NULL);

    assert_int_not_equal (v, GRAPH_NONE);
    return v;
}

/* cluster0: node0 and node1, with core0 to core3 each. Job 7 has core1 and core2 of
 * node0, job 8 has a reservation of node1 from 100 to 200. */
static int setup (void **state)
{
    static struct world w;
    const struct planner_options opt = { .end = 1000000 };
    autoselection struct selection *now = selection_create ();
    autoselection struct selection *later = selection_create ();
    struct pick *pick;

    w.g = graph_create ();
    w.root = add (w.g, GRAPH_NONE, "cluster", 0, 1);
    for (int i = 0; i < 2; i++) {
        w.node[i] = add (w.g, w.root, "node", i, 1);
        w.cores[i] = add (w.g, w.node[i], "core", 0, 4);
    }
    w.p = planner_create (w.g, match_policy_find ("low"), &opt);
    pick = selection_add (now, w.g, w.cores[0], 1, 2, GRAPH_NONE);
    pick->exclusive = pick->claimed = true;
    assert_int_equal (selection_complete (now, w.g), 0);
    now->end = 50;
    assert_int_equal (planner_update (w.p, 7, now, false, NULL), 0);
    pick = selection_add (later, w.g, w.node[1], 0, 1, GRAPH_NONE);
    pick->exclusive = pick->claimed = true;
    assert_int_equal (selection_complete (later, w.g), 0);
    later->start = 100;
    later->end = 200;
    assert_int_equal (planner_update (w.p, 8, later, true, NULL), 0);
    *state = &w;
    return 0;
}

static int teardown (void **state)
{
    struct world *w = *state;

    planner_destroy (w->p);
    graph_destroy (w->g);
    return 0;
}

/* The picks as "cluster0 node0 core[1-2]"; "" if there are none. */
static void expect (const struct world *w, const char *text, const char *want)
{
    autoselection struct selection *s = NULL;
    autostrbuf struct strbuf sb;
    struct error err = { 0 };
    struct find *f = find_compile (text, &err);
    char name[64];

    if (!f)
        fail_msg ("%s: %s", text, err.text);
    assert_int_equal (find_run (f, w->p, &s), 0);
    strbuf_init (&sb, 4096);
    for (size_t i = 0; i < s->n; i++) {
        const struct pick *p = &s->picks[i];
        graph_name (w->g, p->v, p->unit, name, sizeof (name));
        strbuf_addf (&sb, "%s%s", i ? " " : "", name);
        if (p->count > 1)
            strbuf_addf (&sb, "+%u", p->count - 1);
        assert_true (p->exclusive && !p->claimed);
        assert_int_equal (p->parent == GRAPH_NONE, i == 0);
    }
    assert_string_equal (sb.buf, want);
    find_destroy (f);
}

#define ALL "cluster0 node0 core0+3 node1 core0+3"

static void terms (void **state)
{
    const struct world *w = *state;

    expect (w, "status=up", ALL);
    expect (w, "status=UP", ALL);
    expect (w, "status=down", "");
    expect (w, "sched-now=allocated", "cluster0 node0 core1+1");
    expect (w, "sched-now=free", "cluster0 node0 core0 core3 node1 core0+3");
    expect (w, "sched-future=reserved", "cluster0 node1 core0+3");
    expect (w, "sched-future=free", "cluster0 node0 core0+3");
    expect (w, "names=NODE[1-5],core2", "cluster0 node0 core2 node1 core2");
    expect (w, "names=nosuch", "");
    expect (w, "jobid-alloc=7", "cluster0 node0 core1+1");
    expect (w, "jobid-alloc=8", "");
    expect (w, "jobid-reserved=8", "cluster0 node1 core0+3");
    expect (w, "jobid-reserved=7", "");
    expect (w, "jobid-tag=7", "cluster0 node0 core1+1");
    expect (w, "jobid-span=7", "cluster0 node0");
    expect (w, "jobid-tag=9", "");
}

static void joined (void **state)
{
    const struct world *w = *state;

    expect (w, "sched-now=allocated names=core1", "cluster0 node0 core1");
    expect (w, "sched-now=allocated and names=core1", "cluster0 node0 core1");
    expect (w, "(names=core1 or names=core2) and (sched-now=allocated)",
            "cluster0 node0 core1+1");
    /* "and" binds tighter than "or" */
    expect (w, "names=core3 or names=core1 and sched-now=allocated",
            "cluster0 node0 core1 core3 node1 core3");
    expect (w, "((sched-now=allocated))", "cluster0 node0 core1+1");
    expect (w, "status=up status=down", "");
    expect (w, "names=cluster0", "cluster0");
}

static void down_goes_down (void **state)
{
    struct world *w = *state;

    assert_int_equal (graph_set_flag (w->g, w->node[1], 0, GRAPH_DOWN, true), 0);
    assert_int_equal (graph_set_flag (w->g, w->cores[0], 3, GRAPH_DRAINED, true), 0);
    planner_changed (w->p, GRAPH_NONE);
    expect (w, "status=down", "cluster0 node0 core3 node1 core0+3");
    expect (w, "status=up", "cluster0 node0 core0+2");
    assert_int_equal (graph_set_flag (w->g, w->node[1], 0, GRAPH_DOWN, false), 0);
    assert_int_equal (graph_set_flag (w->g, w->cores[0], 3, GRAPH_DRAINED, false), 0);
    planner_changed (w->p, GRAPH_NONE);
}

static void properties (void **state)
{
    struct world *w = *state;

    assert_int_equal (graph_set_property (w->g, w->node[0], 0, "Fast", "yes"), 0);
    assert_int_equal (graph_set_property (w->g, w->cores[1], 2, "fast", "no"), 0);
    expect (w, "property=FAST", "cluster0 node0 node1 core2");
    expect (w, "property=yes", "");
}

static void counts (void **state)
{
    struct world *w = *state;
    struct find *f = find_compile ("agfilter=t jobid-alloc=7", NULL);
    uint64_t job;

    assert_true (find_wants_counts (f, &job));
    assert_int_equal (job, 7);
    find_destroy (f);
    f = find_compile ("status=up", NULL);
    assert_false (find_wants_counts (f, &job));
    assert_int_equal (job, 0);
    find_destroy (f);
    /* no count below a leaf */
    expect (w, "agfilter=TRUE", "cluster0 node0 node1");
    expect (w, "agfilter=false", "");
}

static void refused (void **state)
{
    static const char *const bad[][2] = {
        { "", "end" },
        { "status", "status" },
        { "status=", "status=" },
        { "status=sideways", "sideways" },
        { "colour=red", "colour" },
        { "not status=up", "not" },
        { "(status=up", "closed" },
        { "status=up)", ")" },
        { "()", ")" },
        { "status=up and", "end" },
        { "status=up or or status=up", "or" },
        { "jobid-alloc=x", "jobid-alloc" },
        { "jobid-alloc=-1", "jobid-alloc" },
        { "names=a[1-", "a[1-" },
    };
    struct strbuf deep;
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        err = (struct error){ 0 };
        assert_null (find_compile (bad[i][0], &err));
        if (!strstr (err.text, bad[i][1]))
            fail_msg ("\"%s\": \"%s\" does not have \"%s\"", bad[i][0], err.text,
                      bad[i][1]);
    }
    strbuf_init (&deep, 1 << 20);
    for (int i = 0; i < 100000; i++)
        strbuf_addch (&deep, '(');
    assert_null (find_compile (deep.buf, &err));
    strbuf_reset (&deep);
    for (int i = 0; i < 100000; i++)
        strbuf_adds (&deep, "status=up ");
    assert_null (find_compile (deep.buf, &err));
    strbuf_release (&deep);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (terms),          cmocka_unit_test (joined),
        cmocka_unit_test (down_goes_down), cmocka_unit_test (properties),
        cmocka_unit_test (counts),         cmocka_unit_test (refused),
    };
    return cmocka_run_group_tests (tests, setup, teardown);
}
