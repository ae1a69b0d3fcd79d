/* NUMA zones: a job's part of a node is in one zone, and nodes report their zones late.
 *
 * Fails if a job is allocated that the node would reject because no zone has room, if a
 * job waits although a zone has room and everything is reported, if an estimate is not
 * the first possible time, if a job is in two zones, or if a restart does not find a
 * booking.
 */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/machine/machine_private.h"
#include "match/test/build.h"

/* -- by hand -- */

struct fixture {
    struct machine *g;
    struct matcher *m;
};

static void setup (struct fixture *f, size_t nnodes, const struct machine_zone *zones,
                   size_t n)
{
    f->g = machine_create ("cluster");
    f->m = matcher_create (f->g, match_policy_find ("lonode"));
    for (size_t i = 0; i < nnodes; i++) {
        char name[32];
        struct machine_node_spec spec = { .name = name, .zones = zones, .nzones = n };
        snprintf (name, sizeof (name), "n%zu", i);
        for (size_t k = 0; k < n; k++) {
            spec.cores += zones[k].cores;
            spec.gpus += zones[k].gpus;
            spec.memory_mib += zones[k].memory_mib;
        }
        assert_int_equal (machine_node_add (f->g, &spec, NULL), (int)i);
    }
}

static void teardown (struct fixture *f)
{
    matcher_destroy (f->m);
    machine_destroy (f->g);
}

/* Returns 0 and the place, or the error of match_allocate(). */
static int start (struct fixture *f, uint64_t job, const char *tree, char *ret_cores,
                  size_t size)
{
    struct match_request *req = build_request (tree, 0, NULL, NULL);
    struct rset *r = NULL;
    struct error why = { 0 };
    int rc = match_allocate (f->m, job, req, 100, 60, &r, &why);

    assert_non_null (req);
    if (rc == 0) {
        char *ids = idset_encode (r->ranks[0].cores);
        snprintf (ret_cores, size, "%s:%s", r->ranks[0].node, ids);
        free (ids);
    } else
        snprintf (ret_cores, size, "%.200s", why.text);
    rset_destroy (r);
    match_request_destroy (req);
    return rc;
}

static const struct machine_zone two_of_8[] = { { .id = 0, .cores = 8 },
                                                { .id = 1, .cores = 8 } };

static void report (struct fixture *f, int node, uint32_t left0, uint32_t left1,
                    bool exact, uint64_t seen)
{
    const struct machine_zone left[] = { { .id = 0, .cores = left0 },
                                         { .id = 1, .cores = left1 } };
    const struct machine_report r = { left, 2, exact, &seen, seen > 0 };

    assert_int_equal (machine_node_report (f->g, node, &r), 0);
}

/* Three jobs of 6 cores, and two nodes of two zones with 8 cores each, with 4 cores of
 * one zone in foreign use: by the sum each node could hold two. */
static void test_burst (void **state)
{
    struct fixture f;
    char at[256];

    (void)state;
    setup (&f, 2, two_of_8, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal (machine_node_set_foreign (f.g, i, 4, 0, 0, NULL), 0);
        report (&f, i, 4, 8, true, 0);
    }
    assert_int_equal (start (&f, 1, "node=1>slot=1>core=6", at, sizeof (at)), 0);
    assert_int_equal (start (&f, 2, "node=1>slot=1>core=6", at, sizeof (at)), 0);
    assert_int_equal (start (&f, 3, "node=1>slot=1>core=6", at, sizeof (at)), -EBUSY);
    /* the only zones with room for 6 are known, so the other jobs' zones are not in
     * doubt */
    assert_int_equal (start (&f, 4, "node=1>slot=1>core=4", at, sizeof (at)), 0);
    assert_int_equal (start (&f, 5, "node=1>slot=1>core=4", at, sizeof (at)), 0);
    assert_int_equal (start (&f, 6, "node=1>slot=1>core=2", at, sizeof (at)), 0);
    assert_int_equal (match_cancel (f.m, 1), 0);
    assert_int_equal (start (&f, 3, "node=1>slot=1>core=6", at, sizeof (at)), 0);
    teardown (&f);
}

/* The same with both zones free: each of two jobs may be in either zone of its node, so
 * the third waits until the node has reported. */
static void test_burst_until_told (void **state)
{
    struct fixture f;
    char at[256];

    (void)state;
    setup (&f, 2, two_of_8, 2);
    report (&f, 0, 8, 8, true, 0);
    report (&f, 1, 8, 8, true, 0);
    assert_int_equal (start (&f, 1, "node=1>slot=1>core=6", at, sizeof (at)), 0);
    assert_string_equal (at, "n0:0-5");
    assert_int_equal (start (&f, 2, "node=1>slot=1>core=6", at, sizeof (at)), 0);
    assert_string_equal (at, "n1:0-5");
    assert_int_equal (start (&f, 3, "node=1>slot=1>core=6", at, sizeof (at)), -EBUSY);
    uint64_t generation = match_generation (f.m);
    report (&f, 1, 8, 2, true, 2); /* not the zone of the booking */
    assert_true (match_generation (f.m) != generation);
    assert_int_equal (start (&f, 3, "node=1>slot=1>core=6", at, sizeof (at)), 0);
    assert_string_equal (at, "n1:8-13");
    teardown (&f);
}

static void test_never (void **state)
{
    struct fixture f;
    char at[256];

    (void)state;
    setup (&f, 2, two_of_8, 2);
    assert_int_equal (start (&f, 1, "node=1>slot=1>core=9", at, sizeof (at)), -ENOENT);
    assert_int_equal (start (&f, 1, "node=1!>slot=1>core=1", at, sizeof (at)), -ENOENT);
    assert_int_equal (start (&f, 1, "node=1>slot=3>core=3", at, sizeof (at)), -ENOENT);
    assert_int_equal (start (&f, 1, "slot=4>core=4", at, sizeof (at)), 0);
    assert_int_equal (start (&f, 2, "slot=1>core=4", at, sizeof (at)), -EBUSY);
    teardown (&f);
}

/* Zones of a node with jobs are used when these jobs have ended; R is booked where it
 * says. */
static void test_zones_come_later (void **state)
{
    struct fixture f;
    char at[256];
    struct machine_node_spec spec = { .name = "n0", .cores = 16 };
    struct machine_node_info info;
    struct rset *r = rset_create (1);

    (void)state;
    setup (&f, 0, NULL, 0);
    assert_int_equal (machine_node_add (f.g, &spec, NULL), 0);
    assert_int_equal (start (&f, 1, "node=1>slot=1>core=10", at, sizeof (at)), 0);
    spec.zones = two_of_8;
    spec.nzones = 2;
    assert_int_equal (machine_node_update (f.g, &spec, NULL), 0);
    machine_node_info (f.g, 0, &info);
    assert_int_equal (info.cores_used, 10);
    assert_int_equal (start (&f, 2, "node=1>slot=1>core=6", at, sizeof (at)), 0);
    assert_int_equal (match_cancel (f.m, 1), 0);
    assert_int_equal (match_cancel (f.m, 2), 0);
    assert_int_equal (start (&f, 3, "node=1>slot=1>core=10", at, sizeof (at)), -ENOENT);
    r->ranks[0].node = strdup ("n0");
    idset_add_range (r->ranks[0].cores, 6, 10); /* as allocated without zones */
    assert_int_equal (match_update (f.m, 4, r, NULL), 0);
    machine_node_info (f.g, 0, &info);
    assert_int_equal (info.cores_used, 5);
    assert_int_equal (match_cancel (f.m, 4), 0);
    spec.nzones = 0;
    assert_int_equal (machine_node_update (f.g, &spec, NULL), 0);
    assert_int_equal (start (&f, 3, "node=1>slot=1>core=10", at, sizeof (at)), 0);
    rset_destroy (r);
    teardown (&f);
}

static void test_refused (void **state)
{
    static const struct machine_zone twice[] = { { .id = 1, .cores = 1 },
                                                 { .id = 1, .cores = 1 } },
                                     negative[] = { { .id = 0, .memory_mib = -1 } },
                                     high[] = { { .id = 64, .cores = 1 } };
    struct machine_node_spec spec = {
        .name = "n", .cores = 4, .zones = twice, .nzones = 2
    };
    struct fixture f;

    (void)state;
    setup (&f, 0, NULL, 0);
    assert_int_equal (machine_node_add (f.g, &spec, NULL), -EINVAL);
    spec.zones = negative;
    spec.nzones = 1;
    assert_int_equal (machine_node_add (f.g, &spec, NULL), -EINVAL);
    spec.zones = high;
    assert_int_equal (machine_node_add (f.g, &spec, NULL), -EINVAL);
    teardown (&f);
}

/* -- random streams, with nodes that choose any zone -- */

#define NODES 4
#define ZONES 3
#define JOBS 12
#define WORLDS 600
#define ROUNDS 30

enum { C, G, M, KINDS };

struct request {
    int64_t nodes; /* 0: slots on any nodes */
    int64_t slots, size[2], memory;
};

struct part { /* of a job on a node */
    int64_t has[KINDS];
    int zone; /* -1: the node has no zones, or the job nothing here */
    bool here, told;
};

struct world {
    uint64_t random;
    bool prompt; /* reports come at once, and jobs are in their booked zones */
    struct machine *g;
    struct matcher *m;
    int nzones[NODES]; /* 0: the node has no zones */
    int64_t size[NODES][ZONES][KINDS];
    struct part part[JOBS][NODES];
    double end[JOBS]; /* 0: no job */
    int64_t told[NODES][ZONES][KINDS];
    double now;
};

static int64_t below (struct world *w, int64_t n)
{
    return (int64_t)(build_random (&w->random) % (uint64_t)n);
}

static int zones_of (const struct world *w, int i)
{
    return w->nzones[i] ? w->nzones[i] : 1;
}

/* The really free cores, from `at` on. */
static void left_in (const struct world *w, int i, int z, double at, int64_t left[KINDS])
{
    for (int d = 0; d < KINDS; d++) {
        left[d] = w->size[i][z][d];
        for (int j = 0; j < JOBS; j++)
            if (w->end[j] > at && w->part[j][i].here && w->part[j][i].zone == z)
                left[d] -= w->part[j][i].has[d];
    }
}

static void tell (struct world *w, int i, bool exact, bool see)
{
    struct machine_zone left[ZONES];
    struct machine_report r = { .left = left,
                                .nleft = (size_t)w->nzones[i],
                                .exact = exact };
    uint64_t seen[JOBS];

    for (int j = 0; j < JOBS; j++) {
        struct part *p = &w->part[j][i];
        p->told = p->told || (see && p->here);
        if (p->here && p->told && w->end[j] > 0)
            seen[r.nseen++] = (uint64_t)j + 1;
    }
    for (int z = 0; z < w->nzones[i]; z++) {
        if (see)
            left_in (w, i, z, w->now, w->told[i][z]);
        const int64_t *t = w->told[i][z];
        left[z] = (struct machine_zone){ z, (uint32_t)t[C], (uint32_t)t[G], t[M] };
    }
    r.seen = seen;
    if (w->nzones[i] > 0)
        assert_int_equal (machine_node_report (w->g, i, &r), 0);
}

static void make (struct world *w)
{
    static const char *const policies[] = { "lonode", "hinode",  "low",     "high",
                                            "first",  "bestfit", "locality" };

    w->now = 1000;
    w->g = machine_create ("cluster");
    w->m = matcher_create (
        w->g, match_policy_find (policies[below (w, ARRAY_SIZE (policies))]));
    bool alike = below (w, 2) > 0, gpus = below (w, 2) > 0, memory = below (w, 2) > 0;
    for (int i = 0; i < NODES; i++) {
        char name[16];
        struct machine_zone zones[ZONES];
        struct machine_node_spec spec = { .name = name, .zones = zones };
        snprintf (name, sizeof (name), "n%d", i);
        w->nzones[i] = (int)below (w, ZONES + 1);
        spec.nzones = (size_t)w->nzones[i];
        for (int z = 0; z < zones_of (w, i); z++) {
            int64_t *s = w->size[i][z];
            s[C] = 1 + below (w, 8);
            s[G] = gpus ? below (w, 3) : 0;
            s[M] = memory ? 1 + below (w, 100) : 0;
            if (alike && z > 0)
                memcpy (s, w->size[i][0], sizeof (w->size[i][0]));
            zones[z] = (struct machine_zone){ z, (uint32_t)s[C], (uint32_t)s[G], s[M] };
            spec.cores += (uint32_t)s[C];
            spec.gpus += (uint32_t)s[G];
            spec.memory_mib += s[M];
        }
        assert_int_equal (machine_node_add (w->g, &spec, NULL), i);
        tell (w, i, true, true);
    }
}

static void unmake (struct world *w)
{
    matcher_destroy (w->m);
    machine_destroy (w->g);
}

static struct match_request *draw (struct world *w, struct request *q, char *tree,
                                   size_t size)
{
    *q = (struct request){ .nodes = below (w, 3),
                           .slots = 1 + below (w, 3),
                           .size = { 1 + below (w, 5), below (w, 4) == 0 },
                           .memory = below (w, 2) ? 1 + below (w, 60) : 0 };
    char slot[64], gpu[16] = "";
    if (q->size[G])
        snprintf (gpu, sizeof (gpu), ",gpu=1");
    snprintf (slot, sizeof (slot), "slot=%d>(core=%d%s)", (int)q->slots, (int)q->size[C],
              gpu);
    if (q->nodes)
        snprintf (tree, size, "node=%d>%s", (int)q->nodes, slot);
    else
        snprintf (tree, size, "%s", slot);
    struct match_request *req = build_request (tree, q->memory, NULL, NULL);
    assert_non_null (req);
    return req;
}

static int64_t slots_in (const struct request *q, const int64_t left[KINDS])
{
    int64_t n = left[C] / q->size[C];

    if (q->size[G])
        n = MIN (n, left[G] / q->size[G]);
    return q->memory > left[M] ? 0 : MAX (n, 0);
}

/* The slots for which zones really have room, from `at` on; by simple loops. */
static bool fits (const struct world *w, const struct request *q, double at)
{
    int64_t slots = 0, nodes = 0;

    for (int i = 0; i < NODES; i++) {
        int64_t most = 0, left[KINDS];
        for (int z = 0; z < zones_of (w, i); z++) {
            left_in (w, i, z, at, left);
            most = MAX (most, slots_in (q, left));
        }
        slots += most;
        nodes += most >= q->slots;
    }
    return q->nodes ? nodes >= q->nodes : slots >= q->slots;
}

static uint32_t last_of (const struct idset *ids)
{
    uint32_t last = 0;

    IDSET_FOREACH (ids, id)
    {
        last = id;
    }
    return last;
}

static void truth_of_rank (struct world *w, int job, const struct rset_rank *rank)
{
    struct part *p = &w->part[job][rank->node_index];
    int i = rank->node_index, zone = -1, n = 0;
    uint32_t first = 0;

    *p = (struct part){ .has = { idset_count (rank->cores), idset_count (rank->gpus),
                                 rank->memory_mib },
                        .here = true };
    for (int z = 0; z < zones_of (w, i); z++) {
        int64_t left[KINDS];
        bool room = true, books;
        w->part[job][i].here = false;
        left_in (w, i, z, w->now, left);
        w->part[job][i].here = true;
        for (int d = 0; d < KINDS; d++)
            room = room && left[d] >= p->has[d];
        books = idset_first (rank->cores) >= first
                && idset_first (rank->cores) < first + w->size[i][z][C];
        if (w->nzones[i] > 0 && books)
            assert_true (last_of (rank->cores) < first + w->size[i][z][C]);
        first += (uint32_t)w->size[i][z][C];
        if (room && (w->prompt ? books : below (w, ++n) == 0))
            zone = z;
    }
    assert_true (zone >= 0); /* otherwise the node rejects the job */
    p->zone = zone;
}

static void check_earliest (struct world *w, const struct request *q,
                            struct match_request *req)
{
    double ends[JOBS + 1], best = -1, at = 0;
    int n = 0;

    ends[n++] = w->now;
    for (int j = 0; j < JOBS; j++)
        if (w->end[j] > 0)
            ends[n++] = w->end[j];
    for (int k = 0; k < n; k++)
        if (fits (w, q, ends[k]) && (best < 0 || ends[k] < best))
            best = ends[k];
    int rc = match_earliest (w->m, req, w->now, 10, &at, NULL, NULL);
    if (best < 0)
        assert_int_equal (rc, -ENOENT);
    else {
        assert_int_equal (rc, 0);
        assert_true (at == best);
    }
}

static void submit (struct world *w)
{
    struct request q;
    char tree[96];
    struct match_request *req = draw (w, &q, tree, sizeof (tree));
    struct rset *r = NULL;
    int j = 0;

    while (j < JOBS && w->end[j] > 0)
        j++;
    if (w->prompt)
        check_earliest (w, &q, req);
    if (j < JOBS) {
        double length = (double)(1 + below (w, 20));
        int rc = match_allocate (w->m, (uint64_t)j + 1, req, w->now, length, &r, NULL);
        if (w->prompt)
            assert_int_equal (rc == 0, fits (w, &q, w->now));
        else if (rc == 0)
            assert_true (fits (w, &q, w->now));
        memset (w->part[j], 0, sizeof (w->part[j]));
        for (size_t k = 0; rc == 0 && k < r->nranks; k++)
            truth_of_rank (w, j, &r->ranks[k]);
        w->end[j] = rc == 0 ? w->now + length : 0;
        for (int i = 0; rc == 0 && w->prompt && i < NODES; i++)
            tell (w, i, true, true);
    }
    rset_destroy (r);
    match_request_destroy (req);
}

static void finish (struct world *w, int j)
{
    w->end[j] = 0;
    for (int i = 0; i < NODES; i++) {
        if (!w->part[j][i].here)
            continue;
        w->part[j][i].here = false;
        if (!w->prompt && w->part[j][i].told)
            tell (w, i, false, false);
    }
    assert_int_equal (match_cancel (w->m, (uint64_t)j + 1), 0);
    for (int i = 0; w->prompt && i < NODES; i++)
        tell (w, i, true, true);
}

static void run (bool prompt)
{
    uint64_t seed = build_seed (prompt ? "test_prompt" : "test_late");

    for (int n = 0; n < WORLDS; n++) {
        struct world w = { .random = seed + (uint64_t)n, .prompt = prompt };
        make (&w);
        for (int k = 0; k < ROUNDS; k++) {
            w.now += 1;
            for (int j = 0; j < JOBS; j++)
                if (w.end[j] > 0 && w.end[j] <= w.now)
                    finish (&w, j);
            submit (&w);
            if (!prompt && below (&w, 3) == 0)
                tell (&w, (int)below (&w, NODES), true, true);
        }
        unmake (&w);
    }
}

static void test_prompt (void **state)
{
    (void)state;
    run (true);
}

static void test_late (void **state)
{
    (void)state;
    run (false);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_burst),   cmocka_unit_test (test_burst_until_told),
        cmocka_unit_test (test_never),   cmocka_unit_test (test_zones_come_later),
        cmocka_unit_test (test_refused), cmocka_unit_test (test_prompt),
        cmocka_unit_test (test_late),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
