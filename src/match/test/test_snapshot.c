/* Snapshots: what is read back is what was there, also where groups are cut in another way;
 * what is damaged, cut short or made up is refused and leaves nothing. */
#include "match/test/machine_test.h"

#include <errno.h>

#include "common/sha256.h"
#include "match/planner_private.h"
#include "match/test/chance.h"

#define BYTES_MAX (64 << 20)

static void done (struct planner *p)
{
    struct graph *g = planner_graph (p);

    machine_verify (p);
    planner_destroy (p);
    graph_destroy (g);
}

static void book (struct planner *p, uint64_t job, bool reserved, const char *path,
                  uint32_t count, int64_t amount, int64_t start, int64_t end)
{
    assert_int_equal (machine_book (p, job, reserved, path, count, amount, start, end),
                      0);
}

static struct planner *busy_planner (void)
{
    struct planner *p = machine_planner (machine_of (2, 3), "low");
    autoselection struct selection *s = selection_create ();

    book (p, 3, false, "/cluster0/rack0/node0/core1", 2, 0, 0, 10);
    book (p, 1, false, "/cluster0/rack0/node0/memory0", 1, 5, 0, PLANNER_FOREVER);
    book (p, UINT64_MAX, true, "/cluster0/rack1", 1, 0, 1000000, INT64_MAX - 1);
    machine_pick (s, p->g, "/cluster0/rack0/node1", 1, 0);
    machine_pick (s, p->g, "/cluster0/rack0/node2/gpu0", 2, 0);
    machine_pick (s, p->g, "/cluster0/rack0/node2/memory0", 1, 16);
    s->start = 70;
    s->end = 80;
    assert_int_equal (planner_update (p, 77, s, true, NULL), 0);
    return p;
}

static void take (const struct planner *p, struct strbuf *sb)
{
    strbuf_init (sb, BYTES_MAX);
    assert_int_equal (planner_snapshot (p, sb), 0);
}

static void expect_same (const struct planner *a, const struct planner *b)
{
    struct planner_job x, y;
    uint64_t at = 0;

    assert_int_equal (planner_count (a), planner_count (b));
    for (; planner_next (a, at, &x); at = x.job) {
        autoselection struct selection *s = planner_selection (a, x.job);
        autoselection struct selection *t = planner_selection (b, x.job);
        assert_true (planner_find (b, x.job, &y));
        assert_int_equal (x.start, y.start);
        assert_int_equal (x.end, y.end);
        assert_int_equal (x.reserved, y.reserved);
        assert_int_equal (s->n, t->n);
        for (size_t i = 0; i < s->n; i++) {
            autostrbuf struct strbuf one, two;
            strbuf_init (&one, 4096);
            strbuf_init (&two, 4096);
            graph_path (a->g, s->picks[i].v, s->picks[i].unit, &one);
            graph_path (b->g, t->picks[i].v, t->picks[i].unit, &two);
            assert_string_equal (one.buf, two.buf);
            assert_int_equal (s->picks[i].count, t->picks[i].count);
            assert_int_equal (s->picks[i].amount, t->picks[i].amount);
            assert_int_equal (s->picks[i].claimed, t->picks[i].claimed);
            assert_int_equal (s->picks[i].exclusive, t->picks[i].exclusive);
        }
    }
}

static void test_there_and_back (void **state)
{
    (void)state;
    struct planner *p = busy_planner (), *q = machine_planner (machine_of (2, 3), "low");
    autostrbuf struct strbuf sb, again;
    struct error err = { 0 };

    take (p, &sb);
    if (planner_restore (q, sb.buf, sb.len, &err) < 0)
        fail_msg ("%s", err.text);
    expect_same (p, q);
    take (q, &again);
    assert_int_equal (again.len, sb.len);
    assert_memory_equal (again.buf, sb.buf, sb.len);
    assert_int_equal (planner_restore (q, sb.buf, sb.len, &err), -EINVAL); /* has jobs */
    expect_same (p, q);
    done (p);
    done (q);
}

static void test_nothing_booked (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (1, 1), "low");
    struct planner *q = machine_planner (graph_create (), "low");
    autostrbuf struct strbuf sb;

    take (p, &sb);
    assert_int_equal (planner_restore (q, sb.buf, sb.len, NULL), 0);
    assert_int_equal (planner_count (q), 0);
    done (p);
    done (q);
}

/* Behind what the caller has written already. */
static void test_appends (void **state)
{
    (void)state;
    struct planner *p = busy_planner (), *q = machine_planner (machine_of (2, 3), "low");
    autostrbuf struct strbuf sb;

    strbuf_init (&sb, BYTES_MAX);
    strbuf_adds (&sb, "before");
    assert_int_equal (planner_snapshot (p, &sb), 0);
    assert_int_equal (planner_restore (q, sb.buf + 6, sb.len - 6, NULL), 0);
    expect_same (p, q);
    strbuf_release (&sb);
    strbuf_init (&sb, 100);
    assert_int_equal (planner_snapshot (p, &sb), -E2BIG);
    done (p);
    done (q);
}

/* Cores one by one, or several groups of them: the ids tell. */
static void test_other_groups (void **state)
{
    (void)state;
    static const uint32_t cuts[][3] = { { 12, 0, 0 }, { 5, 7, 0 }, { 1, 2, 9 } };

    for (size_t from = 0; from < 3; from++) {
        struct planner *p[2];
        autostrbuf struct strbuf sb;
        struct error err = { 0 };
        for (size_t i = 0; i < 2; i++) {
            const uint32_t *cut = cuts[(from + i) % 3];
            struct graph *g = graph_create ();
            uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
            uint32_t node = machine_add (g, root, "node", 0, 1, 1, 0);
            for (int64_t k = 0, id = 0; k < 3; id += cut[k++])
                if (cut[k])
                    machine_add (g, node, "core", id, cut[k], 1, 0);
            p[i] = machine_planner (g, "low");
        }
        autoselection struct selection *s = selection_create ();
        for (int id = 2; id < 9; id++) {
            char path[64];
            snprintf (path, sizeof (path), "/cluster0/node0/core%d", id);
            machine_pick (s, p[0]->g, path, 1, 0);
        }
        assert_int_equal (selection_complete (s, p[0]->g), 0);
        s->end = 10;
        assert_int_equal (planner_update (p[0], 1, s, false, &err), 0);
        take (p[0], &sb);
        if (planner_restore (p[1], sb.buf, sb.len, &err) < 0)
            fail_msg ("%s", err.text);
        for (int id = 0; id < 12; id++) {
            char path[64];
            uint32_t v, unit;
            snprintf (path, sizeof (path), "/cluster0/node0/core%d", id);
            assert_int_equal (graph_find_path (p[1]->g, path, &v, &unit), 0);
            assert_int_equal (planner_is_allocated (p[1], v, unit), id >= 2 && id < 9);
        }
        done (p[0]);
        done (p[1]);
    }
}

/* Several execution targets on one host: one path, told apart by their ranks, in whatever
 * order they are in the graph. */
static void test_nodes_of_one_name (void **state)
{
    (void)state;
    struct planner *p[2];
    uint32_t node[2][3];
    autostrbuf struct strbuf sb;
    struct error err = { 0 };

    for (int i = 0; i < 2; i++) {
        struct graph *g = graph_create ();
        uint32_t root = machine_add (g, GRAPH_NONE, "cluster", 0, 1, 1, 0);
        for (int n = 0; n < 3; n++) {
            int32_t rank = i ? 2 - n : n;
            struct graph_spec spec = {
                .type = "node", .name = "host", .id = rank, .uniq = -1, .rank = rank
            };
            node[i][rank] = graph_add (g, root, &spec, &err);
            assert_string_equal (err.text, "");
            machine_add (g, node[i][rank], "core", 0, 2, 1, 0);
            machine_add (g, node[i][rank], "core", 2, 2, 1, 0);
        }
        p[i] = machine_planner (g, "low");
    }
    autoselection struct selection *s = selection_create ();
    struct pick *pick = selection_add (
        s, p[0]->g, graph_vertex (p[0]->g, node[0][1])->first, 1, 1, GRAPH_NONE);
    pick->claimed = pick->exclusive = true;
    pick = selection_add (s, p[0]->g, node[0][2], 0, 1, GRAPH_NONE);
    pick->claimed = pick->exclusive = true;
    assert_int_equal (selection_complete (s, p[0]->g), 0);
    s->end = 5;
    assert_int_equal (planner_update (p[0], 1, s, false, &err), 0);
    take (p[0], &sb);
    if (planner_restore (p[1], sb.buf, sb.len, &err) < 0)
        fail_msg ("%s", err.text);
    for (int rank = 0; rank < 3; rank++) {
        uint32_t core = graph_vertex (p[1]->g, node[1][rank])->first;
        assert_int_equal (planner_is_allocated (p[1], node[1][rank], 0), rank == 2);
        assert_int_equal (planner_is_allocated (p[1], core, 1), rank > 0);
        assert_int_equal (planner_is_allocated (p[1], core, 0), rank == 2);
    }
    done (p[0]);
    done (p[1]);
}

static void test_what_is_not_there (void **state)
{
    (void)state;
    struct planner *p = busy_planner ();
    struct planner *few = machine_planner (machine_of (2, 2), "low");
    struct planner *none = machine_planner (graph_create (), "low");
    autostrbuf struct strbuf sb;
    struct error err = { 0 };

    take (p, &sb);
    assert_int_equal (planner_restore (few, sb.buf, sb.len, &err), -ENOENT);
    assert_string_equal (err.text, "/cluster0/rack0/node2 is not there");
    assert_int_equal (planner_count (few), 0);
    assert_int_equal (planner_restore (none, sb.buf, sb.len, &err), -ENOENT);
    graph_resize (few->g, machine_find (few->g, "/cluster0/rack0/node0/core0"), 2, 1,
                  &err);
    done (few);
    few = machine_planner (machine_of (2, 3), "low");
    graph_resize (few->g, machine_find (few->g, "/cluster0/rack0/node0/core0"), 2, 1,
                  &err);
    assert_int_equal (planner_restore (few, sb.buf, sb.len, &err), -ENOENT);
    assert_string_equal (err.text, "/cluster0/rack0/node0/core2 is not there");
    graph_resize (few->g, machine_find (few->g, "/cluster0/rack0/node0/core0"), 4, 1,
                  &err);
    graph_resize (few->g, machine_find (few->g, "/cluster0/rack0/node0/memory0"), 1, 4,
                  &err);
    assert_int_equal (planner_restore (few, sb.buf, sb.len, &err), -ENOENT);
    assert_int_equal (planner_count (few), 0);
    done (p);
    done (few);
    done (none);
}

/* -- damage -- */

static void seal (char *bytes, size_t len)
{
    struct sha256 sha;

    sha256_init (&sha);
    sha256_update (&sha, bytes, len - SHA256_SIZE);
    sha256_final (&sha, (uint8_t *)bytes + len - SHA256_SIZE);
}

static void test_damage (void **state)
{
    (void)state;
    struct planner *p = busy_planner (), *q = machine_planner (machine_of (2, 3), "low");
    autostrbuf struct strbuf sb;
    struct error err = { 0 };

    take (p, &sb);
    for (size_t len = 0; len < sb.len; len++)
        assert_int_equal (planner_restore (q, sb.buf, len, &err), -EINVAL);
    for (size_t i = 0; i < sb.len; i++) {
        sb.buf[i] ^= 16;
        assert_int_equal (planner_restore (q, sb.buf, sb.len, &err), -EINVAL);
        sb.buf[i] ^= 16;
    }
    assert_int_equal (planner_count (q), 0);
    assert_int_equal (planner_restore (q, sb.buf, sb.len, &err), 0);
    done (p);
    done (q);
}

/* Damage with a sum that is right: whatever is read is sound, or it is refused. */
static void test_made_up (void **state)
{
    (void)state;
    struct planner *p = busy_planner (), *q = machine_planner (machine_of (2, 3), "low");
    autostrbuf struct strbuf sb;
    size_t read = 0, body;

    take (p, &sb);
    autofree char *bytes = malloc (sb.len + 16);
    body = sb.len - SHA256_SIZE;
    for (int i = 0; i < 20000; i++) {
        size_t len = body;
        struct error err = { 0 };
        memcpy (bytes, sb.buf, sb.len);
        for (uint64_t n = 1 + chance_below (3); n > 0; n--)
            bytes[8 + chance_below (body - 8)] =
                (char)(chance_below (2) ? chance_below (8) : chance_below (256));
        if (chance_below (10) == 0)
            len = 8 + chance_below (body - 7);
        else if (chance_below (10) == 0)
            bytes[len++] = (char)chance_below (256);
        seal (bytes, len + SHA256_SIZE);
        int rc = planner_restore (q, bytes, len + SHA256_SIZE, &err);
        assert_true (rc == 0 || rc == -EINVAL || rc == -ENOENT);
        assert_true (rc == 0 || (err.text[0] && planner_count (q) == 0));
        machine_verify (q);
        read += rc == 0;
        struct planner_job j;
        while (planner_next (q, 0, &j))
            planner_cancel (q, j.job);
        planner_cancel (q, 0);
    }
    assert_true (read > 0); /* ids and times may be others */
    done (p);
    done (q);
}

/* Many units booked in many ways: how much room does it take? */
static void test_size (void **state)
{
    (void)state;
    struct planner *p = machine_planner (machine_of (20, 20), "low");
    uint64_t job = 1, claims = 0;
    autostrbuf struct strbuf sb;
    struct planner_job j;

    for (int n = 0; n < 400; n++) {
        char path[100];
        for (int k = 0; k < 4; k++, job++) {
            snprintf (path, sizeof (path), "/cluster0/rack%d/node%d/core%d", n / 20, n,
                      k);
            book (p, job, k % 2, path, 1, 0, 1000000 + k, 2000000 + n);
        }
    }
    for (uint64_t at = 0; planner_next (p, at, &j); at = j.job)
        claims += j.nclaims;
    take (p, &sb);
    assert_int_equal (claims, 1600);
    assert_true (sb.len < 40 * claims);
    done (p);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_there_and_back),
        cmocka_unit_test (test_nothing_booked),
        cmocka_unit_test (test_appends),
        cmocka_unit_test (test_other_groups),
        cmocka_unit_test (test_nodes_of_one_name),
        cmocka_unit_test (test_what_is_not_there),
        cmocka_unit_test (test_damage),
        cmocka_unit_test (test_made_up),
        cmocka_unit_test (test_size),
    };
    chance_begin ("test_snapshot");
    return cmocka_run_group_tests (tests, NULL, NULL);
}
