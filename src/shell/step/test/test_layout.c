/* test_layout.c - the placement of a step's tasks: the examples of srun(1) for each
 * distribution, random requests compared with common invariants, and texts of the
 * option and the host file */
#include "common/test/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/test/torture.h"
#include "protocol/test/taskmap_raw.h"
#include "shell/step/layout.h"

/* -- known layouts -- */

struct example {
    const char *what;
    struct layout_request req;
    uint32_t room[8];
    const char *raw; /* the tasks of each node */
};

static void check_example (const struct example *e)
{
    struct layout_request req = e->req;
    struct error err = { 0 };
    struct layout l;
    struct strbuf sb;

    req.room = e->room;
    if (layout_make (&req, &l, &err) < 0)
        fail_msg ("%s: %s", e->what, err.text);
    strbuf_init (&sb, 4096);
    assert_int_equal (strbuf_add_taskmap_raw (&sb, l.rank, l.ntasks), 0);
    if (strcmp (sb.buf, e->raw) != 0)
        fail_msg ("%s: %s, not %s", e->what, sb.buf, e->raw);
    strbuf_release (&sb);
    layout_release (&l);
}

static const uint32_t hosts_in_order[] = { 2, 0, 0, 1, 2 };

static const struct example examples[] = {
    /* from srun(1), counted from 0: three nodes with two CPUs each, four tasks */
    { "block",
      { .nranks = 3, .ntasks = 4, .kind = LAYOUT_BLOCK },
      { 2, 2, 2 },
      "0-1;2;3" },
    { "cyclic",
      { .nranks = 3, .ntasks = 4, .kind = LAYOUT_CYCLIC },
      { 2, 2, 2 },
      "0,3;1;2" },
    /* from Slurm's page on plane: 21 tasks on four nodes */
    { "plane=4",
      { .nranks = 4, .ntasks = 21, .kind = LAYOUT_PLANE, .plane = 4 },
      { 8, 8, 8, 8 },
      "0-3,16-17;4-7,18;8-11,19;12-15,20" },
    { "plane=2",
      { .nranks = 4, .ntasks = 21, .kind = LAYOUT_PLANE, .plane = 2 },
      { 8, 8, 8, 8 },
      "0-1,8-9,16-17;2-3,10-11,18;4-5,12-13,19;6-7,14-15,20" },
    { "plane on one node",
      { .nranks = 1, .ntasks = 21, .kind = LAYOUT_PLANE, .plane = 4, .overcommit = true },
      { 8 },
      "0-20" },
    { "plane larger than all",
      { .nranks = 2, .ntasks = 6, .kind = LAYOUT_PLANE, .plane = LAYOUT_PLANE_MAX },
      { 4, 4 },
      "0-2;3-5" },
    { "plane, unequal nodes",
      { .nranks = 3, .ntasks = 6, .kind = LAYOUT_PLANE, .plane = 2 },
      { 4, 1, 1 },
      "0-1,4-5;2;3" },
    /* the table of RFC 34: 4 nodes of 2 and 2 of 4 */
    { "RFC 34 block",
      { .nranks = 6, .ntasks = 16, .kind = LAYOUT_BLOCK },
      { 2, 2, 2, 2, 4, 4 },
      "0-1;2-3;4-5;6-7;8-11;12-15" },
    { "RFC 34 cyclic",
      { .nranks = 6, .ntasks = 16, .kind = LAYOUT_CYCLIC },
      { 2, 2, 2, 2, 4, 4 },
      "0,6;1,7;2,8;3,9;4,10,12,14;5,11,13,15" },
    { "RFC 34 cyclic:2",
      { .nranks = 6, .ntasks = 16, .kind = LAYOUT_PLANE, .plane = 2 },
      { 2, 2, 2, 2, 4, 4 },
      "0-1;2-3;4-5;6-7;8-9,12-13;10-11,14-15" },
    /* fewer tasks than room: the counts are balanced, and the first nodes get more */
    { "-N3 -n8",
      { .nranks = 3, .ntasks = 8, .kind = LAYOUT_BLOCK },
      { 4, 4, 4 },
      "0-2;3-5;6-7" },
    { "-N3 -n8 packed",
      { .nranks = 3, .ntasks = 8, .kind = LAYOUT_BLOCK, .pack = true },
      { 4, 4, 4 },
      "0-3;4-6;7" },
    { "packed, no room on a node",
      { .nranks = 3, .ntasks = 3, .kind = LAYOUT_BLOCK, .pack = true },
      { 0, 2, 2 },
      ";0-1;2" },
    { "packed, overcommitted",
      { .nranks = 2,
        .ntasks = 7,
        .kind = LAYOUT_BLOCK,
        .pack = true,
        .overcommit = true },
      { 1, 3 },
      "0-2;3-6" },
    { "unequal nodes",
      { .nranks = 3, .ntasks = 7, .kind = LAYOUT_BLOCK },
      { 1, 8, 4 },
      "0;1-3;4-6" },
    { "a node without room",
      { .nranks = 3, .ntasks = 3, .kind = LAYOUT_CYCLIC },
      { 2, 0, 1 },
      "0,2;;1" },
    /* overcommitted nodes are filled first, then all nodes get more in turn */
    { "overcommit, cyclic",
      { .nranks = 4, .ntasks = 17, .kind = LAYOUT_CYCLIC, .overcommit = true },
      { 4, 2, 4, 2 },
      "0,4,8,10,12,16;1,5,13;2,6,9,11,14;3,7,15" },
    { "overcommit, block",
      { .nranks = 2, .ntasks = 6, .kind = LAYOUT_BLOCK, .overcommit = true },
      { 1, 3 },
      "0-1;2-5" },
    { "overcommit of nothing",
      { .nranks = 2, .ntasks = 3, .kind = LAYOUT_BLOCK, .overcommit = true },
      { 0, 0 },
      "0-1;2" },
    { "--ntasks-per-node",
      { .nranks = 3, .ntasks = 5, .kind = LAYOUT_BLOCK, .per_rank = 2 },
      { 4, 1, 4 },
      "0-1;2;3-4" },
    { "--ntasks-per-node, packed",
      { .nranks = 3, .ntasks = 5, .kind = LAYOUT_BLOCK, .per_rank = 2, .pack = true },
      { 4, 4, 4 },
      "0-1;2-3;4" },
    { "--ntasks-per-node, overcommitted",
      { .nranks = 2,
        .ntasks = 4,
        .per_rank = 2,
        .kind = LAYOUT_CYCLIC,
        .overcommit = true },
      { 1, 1 },
      "0,2;1,3" },
    { "default: more tasks than nodes",
      { .nranks = 2, .ntasks = 4 },
      { 2, 2 },
      "0-1;2-3" },
    { "default: a task a node", { .nranks = 3, .ntasks = 3 }, { 4, 4, 4 }, "0;1;2" },
    { "default: no more tasks than nodes",
      { .nranks = 3, .ntasks = 3 },
      { 2, 0, 2 },
      "0,2;;1" },
    { "arbitrary",
      { .nranks = 3, .ntasks = 5, .kind = LAYOUT_ARBITRARY, .arbitrary = hosts_in_order },
      { 2, 2, 2 },
      "1-2;3;0,4" },
    { "arbitrary, overcommitted",
      { .nranks = 3,
        .ntasks = 5,
        .kind = LAYOUT_ARBITRARY,
        .arbitrary = hosts_in_order,
        .overcommit = true },
      { 0, 0, 0 },
      "1-2;3;0,4" },
    { "task map",
      { .nranks = 3,
        .ntasks = 6,
        .kind = LAYOUT_MAP,
        .taskmap = "{\"version\":1,\"map\":[[1,2,1,2],[0,1,2,1]]}" },
      { 2, 2, 2 },
      "4-5;0,2;1,3" },
    { "raw task map",
      { .nranks = 3, .ntasks = 4, .kind = LAYOUT_MAP, .taskmap = "3;;0-2" },
      { 3, 3, 3 },
      "3;;0-2" },
};

static void test_examples (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (examples); i++)
        check_example (&examples[i]);
}

/* -- refusals -- */

static const uint32_t one_too_far[] = { 0, 3 }, both_on_two[] = { 2, 2 };

static const struct refusal {
    struct layout_request req;
    uint32_t room[4];
    int code;
    const char *what; /* text that the error must contain */
} refusals[] = {
    { { .nranks = 3, .ntasks = 8 },
      { 2, 2, 2 },
      ENOSPC,
      "8 tasks need room on 3 nodes, there is room for 6" },
    { { .nranks = 1, .ntasks = 1 }, { 0 }, ENOSPC, "1 task need" },
    { { .nranks = 3, .ntasks = 7, .per_rank = 2 },
      { 4, 4, 4 },
      ENOSPC,
      "room for 6 with at most 2 a node" },
    { { .nranks = 3, .ntasks = 7, .per_rank = 2, .overcommit = true },
      { 0 },
      ENOSPC,
      "room for 6 with at most 2 a node" },
    { { .nranks = 2, .ntasks = 3, .per_rank = 9 },
      { 1, 1 },
      ENOSPC,
      "there is room for 2; ask" },
    { { .nranks = 0, .ntasks = 1 }, { 0 }, EINVAL, "0 nodes" },
    { { .nranks = TASKMAP_RANKS_MAX + 1, .ntasks = 1 }, { 0 }, EINVAL, "nodes" },
    { { .nranks = 1, .ntasks = 0 }, { 1 }, EINVAL, "0 tasks" },
    { { .nranks = 1, .ntasks = TASKMAP_TASKS_MAX + 1 }, { 1 }, EINVAL, "tasks" },
    { { .nranks = 1, .ntasks = 1, .kind = LAYOUT_PLANE }, { 1 }, EINVAL, "plane" },
    { { .nranks = 3, .ntasks = 2, .kind = LAYOUT_ARBITRARY, .arbitrary = one_too_far },
      { 1, 1, 1 },
      EINVAL,
      "task 1: node 3" },
    { { .nranks = 3, .ntasks = 2, .kind = LAYOUT_ARBITRARY, .arbitrary = both_on_two },
      { 1, 1, 1 },
      ENOSPC,
      "task 1 needs room on node 2, which has room for 1" },
    { { .nranks = 3,
        .ntasks = 2,
        .kind = LAYOUT_ARBITRARY,
        .arbitrary = both_on_two,
        .per_rank = 1,
        .overcommit = true },
      { 1, 1, 1 },
      ENOSPC,
      "task 1 needs room on node 2" },
    { { .nranks = 2, .ntasks = 2, .kind = LAYOUT_MAP, .taskmap = "0" },
      { 1, 1 },
      EINVAL,
      "has 1 task, the step 2" },
    { { .nranks = 2, .ntasks = 2, .kind = LAYOUT_MAP, .taskmap = "0-1" },
      { 1, 1 },
      ENOSPC,
      "task 1 needs room on node 0" },
    { { .nranks = 2, .ntasks = 2, .kind = LAYOUT_MAP, .taskmap = "[[1,2,1,1]]" },
      { 1, 1 },
      ERANGE,
      "node 2" },
    { { .nranks = 2, .ntasks = 2, .kind = LAYOUT_MAP, .taskmap = "[[0,2,1,1]" },
      { 1, 1 },
      EINVAL,
      "byte 11" },
};

static void test_refusals (void **state)
{
    struct layout l;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (refusals); i++) {
        struct layout_request req = refusals[i].req;
        struct error err = { 0 };
        req.room = refusals[i].room;
        int rc = layout_make (&req, &l, &err);
        if (rc != -refusals[i].code || !strstr (err.text, refusals[i].what))
            fail_msg ("%zu: %d '%s'", i, rc, err.text);
    }
}

/* -- random requests -- */

enum { MAX_RANKS = 9, MAX_TASKS = 60 };

static uint32_t seed = 90125;

static uint32_t chance (uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static bool below (uint32_t n, uint32_t most)
{
    return most == 0 || n < most;
}

/* A slow reference for counts: of the ranks with room for one more, the first with the
 * fewest tasks; with extra, when all room is used: the first with the fewest tasks
 * beyond their room. */
static uint32_t least_loaded (const struct layout_request *req, const uint32_t *count,
                              const uint32_t *extra)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t rank = 0; rank < req->nranks; rank++) {
        const uint32_t *load = extra ? extra : count;
        bool fits = below (count[rank], req->per_rank)
                    && (extra || count[rank] < req->room[rank]);
        if (fits && (best == UINT32_MAX || load[rank] < load[best]))
            best = rank;
    }
    return best;
}

/* Whether all tasks fit, and the number for each rank. */
static bool reference_counts (const struct layout_request *req, uint32_t *count)
{
    uint32_t extra[MAX_RANKS] = { 0 };

    memset (count, 0, MAX_RANKS * sizeof (*count));
    for (uint32_t task = 0; task < req->ntasks; task++) {
        uint32_t rank = least_loaded (req, count, NULL);
        if (rank == UINT32_MAX && req->overcommit) {
            rank = least_loaded (req, count, extra);
            if (rank != UINT32_MAX)
                extra[rank]++;
        }
        if (rank == UINT32_MAX)
            return false;
        count[rank]++;
    }
    return true;
}

/* The invariants of every layout. */
static void check_whole (const struct layout_request *req, const struct layout *l)
{
    uint32_t *count = calloc (req->nranks, sizeof (*count));

    assert_int_equal (l->ntasks, req->ntasks);
    for (uint32_t task = 0; task < l->ntasks; task++) {
        assert_true (l->rank[task] < req->nranks);
        count[l->rank[task]]++;
    }
    for (uint32_t rank = 0; rank < req->nranks; rank++) {
        assert_int_equal (l->count[rank], count[rank]);
        if (!req->overcommit)
            assert_true (count[rank] <= req->room[rank]);
        if (req->per_rank > 0)
            assert_true (count[rank] <= req->per_rank);
    }
    free (count);
}

static void check_block (const struct layout *l)
{
    for (uint32_t task = 1; task < l->ntasks; task++)
        assert_true (l->rank[task] >= l->rank[task - 1]);
}

/* Two ranks differ by at most one task, unless the one with fewer is full. */
static void check_even (const struct layout_request *req, const struct layout *l)
{
    for (uint32_t a = 0; a < req->nranks; a++)
        for (uint32_t b = 0; b < req->nranks; b++) {
            uint32_t n = l->count[b];
            bool full = n == req->room[b] || !below (n, req->per_rank);
            assert_true (l->count[a] <= n + 1 || full);
        }
}

/* In turn: task i of a rank comes before task i + 1 of any rank. */
static void check_cyclic (const struct layout_request *req, const struct layout *l)
{
    uint32_t *seen = calloc (req->nranks, sizeof (*seen)), last = 0;

    for (uint32_t task = 0; task < l->ntasks && !req->overcommit; task++) {
        uint32_t local = seen[l->rank[task]]++;
        assert_true (local >= last);
        if (task > 0 && local == last)
            assert_true (l->rank[task] > l->rank[task - 1]);
        last = local;
    }
    free (seen);
}

/* Every block of a rank except its last is full. */
static void check_plane (const struct layout_request *req, const struct layout *l)
{
    struct taskmap_index x;

    assert_int_equal (taskmap_index (&x, l->rank, l->ntasks, req->nranks), 0);
    for (uint32_t rank = 0; rank < req->nranks; rank++) {
        const uint32_t *tasks = x.tasks + x.first[rank];
        for (uint32_t i = 1; i < l->count[rank]; i++)
            if (i % req->plane != 0)
                assert_int_equal (tasks[i], tasks[i - 1] + 1);
    }
    taskmap_index_release (&x);
}

/* The map of any layout reads back as that layout. */
static void check_map (const struct layout_request *req, const struct layout *l)
{
    struct layout_request again = *req;
    struct layout same;
    struct strbuf sb;

    strbuf_init (&sb, 1 << 16);
    assert_int_equal (strbuf_add_taskmap (&sb, l->rank, l->ntasks), 0);
    again.kind = LAYOUT_MAP;
    again.taskmap = sb.buf;
    assert_int_equal (layout_make (&again, &same, NULL), 0);
    assert_memory_equal (same.rank, l->rank, l->ntasks * sizeof (*l->rank));
    assert_memory_equal (same.count, l->count, req->nranks * sizeof (*l->count));
    layout_release (&same);
    again.kind = LAYOUT_ARBITRARY;
    again.arbitrary = l->rank;
    assert_int_equal (layout_make (&again, &same, NULL), 0);
    assert_memory_equal (same.rank, l->rank, l->ntasks * sizeof (*l->rank));
    layout_release (&same);
    strbuf_release (&sb);
}

static void check_layout (const struct layout_request *req, const struct layout *l)
{
    check_whole (req, l);
    check_map (req, l);
    if (req->kind == LAYOUT_BLOCK)
        check_block (l);
    if (req->kind == LAYOUT_CYCLIC)
        check_cyclic (req, l);
    if (req->kind == LAYOUT_PLANE)
        check_plane (req, l);
    if (!req->pack && !req->overcommit)
        check_even (req, l);
}

static void test_random (void **state)
{
    uint32_t room[MAX_RANKS], count[MAX_RANKS];
    unsigned made = 0, refused = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct layout_request req = { .nranks = 1 + chance (MAX_RANKS),
                                      .room = room,
                                      .ntasks = 1 + chance (MAX_TASKS),
                                      .per_rank = chance (3) ? 0 : 1 + chance (12),
                                      .kind = LAYOUT_BLOCK + chance (3),
                                      .plane = 1 + chance (5),
                                      .overcommit = chance (4) == 0 };
        struct layout l;
        req.pack = req.kind == LAYOUT_BLOCK && chance (2);
        for (uint32_t rank = 0; rank < req.nranks; rank++)
            room[rank] = chance (4) ? chance (16) : 0;
        bool fits = reference_counts (&req, count);
        int rc = layout_make (&req, &l, NULL);
        assert_int_equal (rc, fits ? 0 : -ENOSPC);
        refused += rc < 0;
        if (rc < 0)
            continue;
        made++;
        check_layout (&req, &l);
        if (!req.pack)
            for (uint32_t rank = 0; rank < req.nranks; rank++)
                assert_int_equal (l.count[rank], count[rank]);
        layout_release (&l);
    }
    assert_true (made > 1000 && refused > 1000);
}

/* The largest layout, with ranks that have little room. */
static void test_large (void **state)
{
    enum { RANKS = 1 << 16 };
    static uint32_t room[RANKS];
    struct layout_request req = {
        .nranks = RANKS, .room = room, .ntasks = TASKMAP_TASKS_MAX, .plane = 3
    };
    struct layout l;

    (void)state;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        room[rank] = 1;
    room[7] = UINT32_MAX;
    for (enum layout_kind kind = LAYOUT_BLOCK; kind <= LAYOUT_PLANE; kind++) {
        req.kind = kind;
        assert_int_equal (layout_make (&req, &l, NULL), 0);
        assert_int_equal (l.count[7], TASKMAP_TASKS_MAX - RANKS + 1);
        assert_int_equal (l.count[8], 1);
        layout_release (&l);
    }
}

/* -- the option -- */

static void test_option (void **state)
{
    static const struct {
        const char *text;
        struct layout_option want;
    } cases[] = {
        { "*", { .kind = LAYOUT_DEFAULT } },
        { "block", { .kind = LAYOUT_BLOCK } },
        { "Cyclic", { .kind = LAYOUT_CYCLIC } },
        { "plane=4", { .kind = LAYOUT_PLANE, .plane = 4 } },
        { "PLANE=4194304", { .kind = LAYOUT_PLANE, .plane = 4194304 } },
        { "arbitrary", { .kind = LAYOUT_ARBITRARY } },
        { "block:cyclic", { .kind = LAYOUT_BLOCK, .order = LAYOUT_ORDER_CYCLIC } },
        { "cyclic:block", { .kind = LAYOUT_CYCLIC, .order = LAYOUT_ORDER_BLOCK } },
        { "*:fcyclic", { .order = LAYOUT_ORDER_FCYCLIC } },
        { "block:*", { .kind = LAYOUT_BLOCK } },
        { "block:*:*", { .kind = LAYOUT_BLOCK } },
        { "block:block:*", { .kind = LAYOUT_BLOCK, .order = LAYOUT_ORDER_BLOCK } },
        { "block:cyclic:cyclic", { .kind = LAYOUT_BLOCK, .order = LAYOUT_ORDER_CYCLIC } },
        { "block,Pack", { .kind = LAYOUT_BLOCK, .pack = true } },
        { "*,pack", { .kind = LAYOUT_BLOCK, .pack = true } },
        { "cyclic:block,NoPack", { .kind = LAYOUT_CYCLIC, .order = LAYOUT_ORDER_BLOCK } },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct layout_option opt;
        struct error err = { 0 };
        if (layout_option_parse (cases[i].text, &opt, &err) < 0)
            fail_msg ("%s: %s", cases[i].text, err.text);
        assert_int_equal (opt.kind, cases[i].want.kind);
        assert_int_equal (opt.plane, cases[i].want.plane);
        assert_int_equal (opt.order, cases[i].want.order);
        assert_int_equal (opt.pack, cases[i].want.pack);
    }
}

static void test_option_refuses (void **state)
{
    static const struct {
        const char *text, *what;
        int code;
    } cases[] = {
        { "", "''", EINVAL },
        { "blok", "'blok'", EINVAL },
        { "blockx", "'blockx'", EINVAL },
        { " block", "' block'", EINVAL },
        { "plane", "size", EINVAL },
        { "plane=", "plane", EINVAL },
        { "plane=0", "plane", ERANGE },
        { "plane=-1", "plane", ERANGE },
        { "plane=4194305", "plane", ERANGE },
        { "plane=4x", "plane", EINVAL },
        { "plane=4:block", "nothing goes with plane", EINVAL },
        { "block:", "''", EINVAL },
        { "block:plane=4", "'plane=4' after ':'", EINVAL },
        { "block:block:cyclic", "third part", EINVAL },
        { "block:cyclic:", "''", EINVAL },
        { "block:cyclic:cyclic:cyclic", "three parts", EINVAL },
        { "block,", "''", EINVAL },
        { "block,packs", "'packs'", EINVAL },
        { "cyclic,pack", "Pack goes with block", EINVAL },
        { "block,pack,nopack", "',nopack'", EINVAL },
        { "block,pack:block", "':block'", EINVAL },
        { "block\n", "block?", EINVAL },
        { "cycliccycliccycliccycliccycliccycliccyclic", "cyclic", EINVAL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct layout_option opt = { .plane = 77 };
        struct error err = { 0 };
        int rc = layout_option_parse (cases[i].text, &opt, &err);
        if (rc != -cases[i].code || !strstr (err.text, cases[i].what)
            || strncmp (err.text, "--distribution: ", 16) != 0)
            fail_msg ("'%s': %d '%s'", cases[i].text, rc, err.text);
        assert_int_equal (opt.plane, 77);
    }
}

/* -- the host file -- */

static struct hostlist *make_nodes (void)
{
    struct hostlist *hl = hostlist_decode ("n[10,2,1],m", HOSTLIST_MAX, NULL);

    assert_non_null (hl);
    return hl;
}

static void test_hosts (void **state)
{
    static const struct {
        const char *text;
        uint32_t ntasks, want[6];
    } cases[] = {
        { "n1\nm\nn1\n", 3, { 2, 3, 2 } },
        { "n1,m,n1", 3, { 2, 3, 2 } },
        { "# hosts\n\n \t n2 , n10\r\n,", 2, { 1, 0 } },
        { "n[1-2],m # and\nn10", 4, { 2, 1, 3, 0 } },
        { "m\nnobody\n", 1, { 3 } },
        { "m,\nm", 2, { 3, 3 } },
    };
    struct hostlist *nodes = make_nodes ();

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        uint32_t *ranks;
        if (layout_read_hosts (cases[i].text, nodes, cases[i].ntasks, &ranks, &err) < 0)
            fail_msg ("%zu: %s", i, err.text);
        assert_memory_equal (ranks, cases[i].want, cases[i].ntasks * sizeof (*ranks));
        free (ranks);
    }
    hostlist_destroy (nodes);
}

static void test_hosts_refuses (void **state)
{
    static const struct {
        const char *text, *what;
    } cases[] = {
        { "", "0 names for 3 tasks" },
        { "m\n", "1 name for 3 tasks" },
        { "# m\n", "0 names for 3 tasks" },
        { "m\nm\nx\n", "line 3: 'x' is not a node of this job" },
        { "m\nn3,m", "line 2: 'n3'" },
        { "m\n\nm m", "line 3" },
        { "m\nn[1", "line 2" },
        { "m\nm\n\xff", "line 3" },
    };
    struct hostlist *nodes = make_nodes ();

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        uint32_t *ranks = NULL;
        int rc = layout_read_hosts (cases[i].text, nodes, 3, &ranks, &err);
        if (rc != -EINVAL || !strstr (err.text, cases[i].what)
            || strncmp (err.text, "host file: ", 11) != 0)
            fail_msg ("'%s': %d '%s'", cases[i].text, rc, err.text);
        assert_int_equal (layout_read_hosts (cases[i].text, nodes, 3, &ranks, NULL), rc);
        assert_null (ranks);
    }
    hostlist_destroy (nodes);
}

/* -- failing allocations -- */

static void test_no_memory (void **state)
{
    struct example e;
    struct error err;
    struct layout l;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (examples); i++) {
        TORTURE (n)
        {
            e = examples[i];
            e.req.room = e.room;
            err = (struct error){ 0 };
            int rc = layout_make (&e.req, &l, &err);
            torture_stop ();
            assert_int_equal (rc, torture_failed () ? -ENOMEM : 0);
            assert_int_equal (err.code, -rc);
            if (rc == 0)
                layout_release (&l);
        }
    }
}

static void test_no_memory_for_hosts (void **state)
{
    struct hostlist *nodes = make_nodes ();
    uint32_t *ranks;

    (void)state;
    TORTURE (n)
    {
        struct error err = { 0 };
        int rc = layout_read_hosts ("m\nn[1-2]", nodes, 3, &ranks, &err);
        torture_stop ();
        assert_int_equal (rc, torture_failed () ? -ENOMEM : 0);
        assert_int_equal (err.code, -rc);
        if (rc == 0)
            free (ranks);
    }
    hostlist_destroy (nodes);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_examples),  cmocka_unit_test (test_refusals),
        cmocka_unit_test (test_random),    cmocka_unit_test (test_large),
        cmocka_unit_test (test_option),    cmocka_unit_test (test_option_refuses),
        cmocka_unit_test (test_hosts),     cmocka_unit_test (test_hosts_refuses),
        cmocka_unit_test (test_no_memory), cmocka_unit_test (test_no_memory_for_hosts),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
