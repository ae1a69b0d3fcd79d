/* fuzz_launch.c - any bytes as a launch file; an accepted one is written and reads back with
 * the same text, and its tasks, components and file names are within bounds
 *
 * Parser: protocol/launch.c protocol/launch_component.c protocol/record.c protocol/pattern.c
 */
#include "fuzz_records.h"

#include "protocol/launch.h"

static void check_names (const struct launch *l, uint32_t rank)
{
    struct pattern_vars vars = launch_pattern_vars (l, rank, launch_first_task (l, rank));
    const char *const names[] = { l->output, l->error, l->cwd };
    autostrbuf struct strbuf sb = STRBUF_INIT (1 << 16);
    struct error err = { 0 };

    for (size_t i = 0; i < ARRAY_SIZE (names); i++) {
        if (!names[i])
            continue;
        int rc = pattern_expand (names[i], &vars, &sb, &err);
        assert (rc == 0 || rc == -EINVAL || rc == -E2BIG || rc == -ENAMETOOLONG);
        if (rc == -EINVAL)
            assert (pattern_check (names[i], &err) == -EINVAL);
        pattern_check_of_node (names[i], &err);
        pattern_check_home (names[i], &err);
        pattern_is_per_task (names[i]);
        pattern_is_per_node (names[i]);
        pattern_is_per_job (names[i]);
        strbuf_reset (&sb);
    }
}

static void check_node (const struct launch *l, uint32_t rank)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (LAUNCH_MAX);
    struct launch_node node;
    struct error err = { 0 };

    assert (launch_write_node (&l->nodes[rank], &sb) == 0);
    assert (launch_read_node (sb.buf, sb.len, &node, &err) == 0);
    assert (!strcmp (node.name, l->nodes[rank].name));
    assert (node.ntasks == l->nodes[rank].ntasks);
    launch_node_release (&node);
}

static void check (const struct launch *l)
{
    uint32_t sum = 0;

    assert (l->job_id > 0 && l->nnodes > 0 && l->cwd[0] == '/' && l->env && l->args);
    for (uint32_t rank = 0; rank < MIN (l->nnodes, 64); rank++) {
        assert (l->batch || launch_first_task (l, rank) == sum);
        sum += l->batch ? 0 : launch_rank_tasks (l, rank);
        check_node (l, rank);
        check_names (l, rank);
    }
    assert (launch_ntasks (l) <= UINT32_C (1) << 31);
    for (uint32_t c = 0; c <= l->ncomponents; c++) {
        struct launch_component part = launch_get_component (l, c);
        assert (launch_component_first (l, c) + part.nnodes <= l->nnodes);
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    autostrbuf struct strbuf one = STRBUF_INIT (LAUNCH_MAX), two = one;
    struct launch l, again;
    struct error err = { 0 };

    if (launch_parse ((const char *)data, size, &l, &err) < 0) {
        fuzz_check_refusal (&err, "launch file");
        return 0;
    }
    check (&l);
    assert (launch_write (&l, &one) == 0);
    assert (launch_parse (one.buf, one.len, &again, &err) == 0);
    assert (launch_write (&again, &two) == 0);
    assert (one.len == two.len && !memcmp (one.buf, two.buf, one.len));
    launch_release (&again);
    launch_release (&l);
    return 0;
}
