/* test_sinfo.c - the lines of sinfo, the states of nodes and their filter */
#include "common/test/unit.h"

#include <string.h>

#include "cmd/slurm/nodes/nodeview.h"
#include "cmd/slurm/nodes/sinfo.h"

static json_t *parse (const char *text)
{
    struct error err = { 0 };
    json_t *o = json_parse (text, strlen (text), "test", &err);

    assert_non_null (o);
    return o;
}

static json_t *queues (void)
{
    return parse ("[{\"name\": \"batch\", \"default\": true, \"started\": true, "
                  "\"max_time\": 0, \"groups\": null},"
                  " {\"name\": \"debug\", \"default\": false, \"started\": true, "
                  "\"max_time\": 60, \"groups\": null},"
                  " {\"name\": \"empty\", \"default\": false, \"started\": false, "
                  "\"max_time\": 0, \"groups\": null}]");
}

/* n10 and n2 are idle in both queues, n3 is busy and has more cores, n4 is down. */
static json_t *nodes (void)
{
    return parse (
        "[{\"name\": \"n10\", \"state\": \"up\", \"cores\": 4, \"cores_free\": 4,"
        "\"memory_mib\": 100, \"queues\": [\"batch\", \"debug\"]},"
        "{\"name\": \"n2\", \"state\": \"up\", \"cores\": 4, \"cores_free\": 3,"
        "\"cores_foreign\": 1, \"memory_mib\": 100, \"gpus\": 2,"
        "\"queues\": [\"batch\", \"debug\"]},"
        "{\"name\": \"n3\", \"state\": \"up\", \"cores\": 8, \"cores_free\": 0,"
        "\"cores_used\": 8, \"memory_mib\": 100, \"queues\": [\"batch\"]},"
        "{\"name\": \"n4\", \"state\": \"down\", \"reason\": \"not ready\","
        "\"cores\": 4, \"memory_mib\": 200, \"queues\": [\"batch\"]}]");
}

/* The lines as "PARTITION NODES, ..." in the order of spec. */
static void expect (const struct sinfo_grouping *g, const char *spec, const char *wanted)
{
    autojson json_t *n = nodes (), *q = queues ();
    struct strbuf sb;
    struct sinfo_lines lines;
    char wrong;

    strbuf_init (&sb, 4096);
    assert_int_equal (sinfo_lines_build (&lines, n, q, g), 0);
    assert_int_equal (sinfo_lines_sort (&lines, spec, &wrong), 0);
    for (size_t i = 0; i < lines.n; i++) {
        char *names = hostlist_encode (lines.v[i].names);
        strbuf_addf (&sb, "%s%s %s", i ? "; " : "", json_text (lines.v[i].queue, "name"),
                     names);
        free (names);
    }
    assert_string_equal (sb.buf, wanted);
    strbuf_release (&sb);
    sinfo_lines_release (&lines);
}

static void nodes_are_grouped_by_the_fields (void **unused)
{
    (void)unused;
    expect (&(struct sinfo_grouping){ .by = BY_PARTITION }, SINFO_SORT,
            "batch n[2-4,10]; debug n[2,10]; empty ");
    expect (&(struct sinfo_grouping){ .by = BY_PARTITION | BY_STATE }, SINFO_SORT,
            "batch n4; batch n3; batch n[2,10]; debug n[2,10]; empty ");
    expect (&(struct sinfo_grouping){ .by = BY_PARTITION | BY_GRES }, "#P,N",
            "batch n2; batch n[3-4,10]; debug n2; debug n10; empty ");
}

static void a_node_is_in_a_line_once (void **unused)
{
    (void)unused;
    expect (&(struct sinfo_grouping){ .by = 0 }, SINFO_SORT, "batch n[2-4,10]");
    expect (&(struct sinfo_grouping){ .by = BY_MAX_TIME }, SINFO_SORT,
            "batch n[2-4,10]; debug n[2,10]");
    expect (&(struct sinfo_grouping){ .by = BY_HOST }, "N",
            "batch n2; batch n3; batch n4; batch n10");
    expect (&(struct sinfo_grouping){ .by = BY_REASON | BY_MAX_TIME, .any_queue = true },
            SINFO_SORT, "batch n4; batch n[2-3,10]");
}

static void each_node_has_a_line_in_each_queue (void **unused)
{
    (void)unused;
    expect (&(struct sinfo_grouping){ .by = BY_PARTITION, .each_node = true },
            SINFO_SORT_NODES,
            "batch n2; debug n2; batch n3; batch n4; batch n10; debug n10");
    expect (&(struct sinfo_grouping){ .each_node = true, .queues = "x,debug" }, "-N",
            "debug n10; debug n2");
}

static void sizes_split_only_exact_lines (void **unused)
{
    uint64_t by = BY_PARTITION | BY_CPUS | BY_MEMORY;

    (void)unused;
    expect (&(struct sinfo_grouping){ .by = by }, "#P",
            "batch n[2-4,10]; debug n[2,10]; empty ");
    expect (&(struct sinfo_grouping){ .by = by, .exact = true }, "#P,m,c",
            "batch n[2,10]; batch n3; batch n4; debug n[2,10]; empty ");
}

static void counts_are_by_use (void **unused)
{
    autojson json_t *n = nodes (), *q = queues ();
    struct sinfo_lines lines;

    (void)unused;
    assert_int_equal (
        sinfo_lines_build (&lines, n, q, &(struct sinfo_grouping){ .by = 0 }), 0);
    const struct sinfo_line *line = &lines.v[0];
    assert_int_equal (line->alloc, 1);
    assert_int_equal (line->idle, 2);
    assert_int_equal (line->other, 1);
    assert_true (line->cpus[0] == 8 && line->cpus[1] == 7 && line->cpus[2] == 5);
    assert_true (line->cpus_min == 4 && line->cpus_max == 8);
    assert_true (line->memory_min == 100 && line->memory_max == 200);
    sinfo_lines_release (&lines);
}

static void unknown_letters_are_wrong (void **unused)
{
    struct sinfo_lines lines = { .n = 0 };
    char wrong;

    (void)unused;
    assert_int_equal (sinfo_lines_sort (&lines, "#P,-q", &wrong), -EINVAL);
    assert_int_equal (wrong, 'q');
}

static void expect_state (const char *text, const char *compact, const char *full,
                          const char *complete)
{
    autojson json_t *node = parse (text);
    const char *const wanted[] = { compact, full, complete };
    struct strbuf sb;

    strbuf_init (&sb, 256);
    for (int form = STATE_COMPACT; form <= STATE_COMPLETE; form++) {
        strbuf_reset (&sb);
        nodeview_add_state (&sb, nodeview_state (node), (enum state_form)form);
        assert_string_equal (sb.buf, wanted[form]);
    }
    strbuf_release (&sb);
}

static void states_have_three_forms (void **unused)
{
    (void)unused;
    expect_state ("{\"state\": \"up\", \"cores_free\": 1}", "IDLE", "IDLE", "IDLE");
    expect_state ("{\"state\": \"up\", \"cores_free\": 1, \"njobs\": 1}", "MIX", "MIXED",
                  "MIXED");
    expect_state (
        "{\"state\": \"up\", \"cores_free\": 1, \"njobs\": 1, \"exclusive\": true}",
        "ALLOC", "ALLOCATED", "ALLOCATED");
    expect_state ("{\"state\": \"drained\", \"cores_free\": 1}", "DRAIN", "DRAINED",
                  "IDLE+DRAIN");
    expect_state ("{\"state\": \"drained\", \"njobs\": 1}", "DRNG", "DRAINING",
                  "ALLOCATED+DRAIN");
    expect_state ("{\"state\": \"down\"}", "DOWN*", "DOWN*", "DOWN+NOT_RESPONDING");
    expect_state ("{\"state\": \"up\", \"cores_free\": 1, \"reservation_active\": true}",
                  "RESV", "RESERVED", "IDLE+RESERVED");
    expect_state (
        "{\"state\": \"up\", \"reservation_active\": true, \"maintenance\": true}",
        "MAINT", "MAINT", "IDLE+MAINTENANCE+RESERVED");
    expect_state ("{\"state\": \"down\", \"reservation_active\": true,"
                  "\"maintenance\": true}",
                  "DOWN$", "DOWN$", "DOWN+MAINTENANCE+RESERVED+NOT_RESPONDING");
}

static bool is_in (const char *text, unsigned state)
{
    struct sinfo_states states;

    assert_int_equal (sinfo_states_parse (&states, text, NULL), 0);
    return sinfo_states_match (&states, state, nodeview_is_used (state));
}

static void states_filter_nodes (void **unused)
{
    struct sinfo_states states;
    struct error err = { 0 };

    (void)unused;
    assert_true (is_in ("id", NODE_IDLE) && is_in ("all", NODE_DOWN));
    assert_true (is_in ("down,MIX", NODE_MIXED) && !is_in ("down,MIX", NODE_IDLE));
    assert_true (is_in ("drain", NODE_MIXED | NODE_DRAIN));
    assert_true (is_in ("drng", NODE_MIXED | NODE_DRAIN));
    assert_false (is_in ("drained", NODE_MIXED | NODE_DRAIN));
    assert_true (is_in ("drained", NODE_IDLE | NODE_DRAIN));
    assert_true (is_in ("idle&drain", NODE_IDLE | NODE_DRAIN));
    assert_false (is_in ("idle+drain", NODE_IDLE));
    assert_true (is_in ("~drain", NODE_IDLE) && !is_in ("!idle", NODE_IDLE));
    assert_true (is_in ("alloc", NODE_MIXED) && is_in ("no_r", NODE_NOT_RESPONDING));
    assert_false (is_in ("power_up", NODE_IDLE) || is_in ("unk", NODE_IDLE));
    assert_int_equal (sinfo_states_parse (&states, "idle,~bogus", &err), -EINVAL);
    assert_string_equal (err.text, "bogus");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (nodes_are_grouped_by_the_fields),
        cmocka_unit_test (a_node_is_in_a_line_once),
        cmocka_unit_test (each_node_has_a_line_in_each_queue),
        cmocka_unit_test (sizes_split_only_exact_lines),
        cmocka_unit_test (counts_are_by_use),
        cmocka_unit_test (unknown_letters_are_wrong),
        cmocka_unit_test (states_have_three_forms),
        cmocka_unit_test (states_filter_nodes),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
