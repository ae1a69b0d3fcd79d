/* Random streams of operations, compared with a slow, obvious reference: arrays of the
 * owner of each core, and loops that try everything. In every second stream CPUs are
 * divided. Fails if a unit is booked twice, if sums disagree, if a cancel does not
 * restore, if a choice differs from first fit, or if a verdict is wrong. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>

#include "match/machine/machine_private.h"
#include "match/machine/match_private.h"
#include "match/test/build.h"
#include "match/test/inspect.h"
#include "match/test/verify.h"

#define NODES 7
#define CORES 8
#define GPUS 3
#define JOBS 40
#define STREAMS 2500
#define HCA_NAME "rdma/hca"

/* -- the reference -- */

struct ref_node {
    bool there, up, leaving, property;
    int rack; /* 0: no rack */
    int64_t cores, gpus, memory, hcas, fcores, fgpus, fmemory, fhcas;
    int64_t fmilli;                         /* fcores is fmilli, rounded up */
    int core_owner[CORES], gpu_owner[GPUS]; /* job or 0 */
    int64_t memory_of[JOBS], hcas_of[JOBS], milli_of[JOBS]; /* fractions of CPUs */
    bool on[JOBS];
    int exclusive; /* job or 0 */
};

enum { RACK, NODE, SLOT, CORE, MILLI, GPU, MEM, HCA, DIMS };

struct ref_request {
    int64_t min[DIMS], max[DIMS]; /* 0: not requested */
    char op[DIMS];
    int64_t operand[DIMS];
    bool exclusive;
    int64_t node_gpus, node_memory, node_hcas, per_node;
    int constraint; /* 0 none, 1 property, 2 not property, 3 n0 and n2, 4 ranks 1-3 */
    int unit;
};

struct ref_pick {
    int node;
    int64_t slots;
};

struct ref_picks {
    struct ref_pick v[64];
    size_t n;
};

struct world {
    uint64_t random;
    struct machine *g;
    struct matcher *m;
    bool divided; /* requests may have fractional CPUs */
    struct ref_node node[NODES];
    const struct match_policy *policy;
    struct rset *r[JOBS];         /* R of running jobs */
    int racks[NODES + 1], nracks; /* in order of appearance */
};

static int64_t below (struct world *w, int64_t n)
{
    return (int64_t)(build_random (&w->random) % (uint64_t)n);
}

static int64_t at_least_0 (int64_t n)
{
    return n < 0 ? 0 : n;
}

static int64_t used_cores (const struct ref_node *n)
{
    int64_t used = 0;
    for (int i = 0; i < CORES; i++)
        used += n->core_owner[i] != 0;
    return used;
}

static int64_t used_gpus (const struct ref_node *n)
{
    int64_t used = 0;
    for (int i = 0; i < GPUS; i++)
        used += n->gpu_owner[i] != 0;
    return used;
}

static int64_t used_memory (const struct ref_node *n)
{
    int64_t used = 0;
    for (int j = 0; j < JOBS; j++)
        used += n->memory_of[j];
    return used;
}

static int64_t used_hcas (const struct ref_node *n)
{
    int64_t used = 0;
    for (int j = 0; j < JOBS; j++)
        used += n->hcas_of[j];
    return used;
}

static int64_t free_hcas (const struct ref_node *n, bool ever)
{
    return ever ? n->hcas : at_least_0 (n->hcas - used_hcas (n) - n->fhcas);
}

/* Thousandths of CPUs that no job has, as whole cores or as fractions. */
static int64_t unbooked_milli (const struct ref_node *n)
{
    int64_t left = 1000 * (n->cores - used_cores (n));
    for (int j = 0; j < JOBS; j++)
        left -= n->milli_of[j];
    return left;
}

static int64_t free_milli (const struct ref_node *n, bool ever)
{
    return ever ? 1000 * n->cores : at_least_0 (unbooked_milli (n) - n->fmilli);
}

static int jobs_on (const struct ref_node *n)
{
    int jobs = 0;
    for (int j = 0; j < JOBS; j++)
        jobs += n->on[j];
    return jobs;
}

static void ref_free (const struct ref_node *n, bool ever, int64_t *c, int64_t *g,
                      int64_t *m)
{
    *c = ever ? n->cores : at_least_0 (n->cores - used_cores (n) - n->fcores);
    *g = ever ? n->gpus : at_least_0 (n->gpus - used_gpus (n) - n->fgpus);
    *m = ever ? n->memory : at_least_0 (n->memory - used_memory (n) - n->fmemory);
}

static bool ref_allowed (const struct ref_request *q, const struct ref_node *n, int i)
{
    switch (q->constraint) {
    case 1:
        return n->property;
    case 2:
        return !n->property;
    case 3:
        return i == 0 || i == 2;
    case 4:
        return i >= 1 && i <= 3;
    default:
        return true;
    }
}

/* True if k slots of these sizes fit on node i. */
static bool ref_node_fits (const struct world *w, const struct ref_request *q, int i,
                           const int64_t size[DIMS], int64_t k, bool ever)
{
    const struct ref_node *n = &w->node[i];
    int64_t c, g, m;
    if (!n->there || n->leaving || !ref_allowed (q, n, i))
        return false;
    if (!ever && (!n->up || n->exclusive || (q->exclusive && jobs_on (n) > 0)))
        return false;
    ref_free (n, ever, &c, &g, &m);
    if (w->divided && k * (1000 * size[CORE] + size[MILLI]) > free_milli (n, ever))
        return false;
    return k * size[CORE] <= c && k * size[GPU] + q->node_gpus <= g
           && k * size[MEM] + q->node_memory <= m && q->per_node <= m
           && k * size[HCA] + q->node_hcas <= free_hcas (n, ever);
}

static bool ref_inner (const struct world *w, const struct ref_request *q, int rack,
                       const int64_t size[DIMS], bool ever, struct ref_picks *p)
{
    int64_t left = q->min[NODE] ? size[NODE] : size[SLOT];
    for (int i = 0; i < NODES && left > 0; i++) {
        if (rack && w->node[i].rack != rack)
            continue;
        if (q->min[NODE]) {
            if (!ref_node_fits (w, q, i, size, size[SLOT], ever))
                continue;
            p->v[p->n++] = (struct ref_pick){ i, size[SLOT] };
            left--;
            continue;
        }
        int64_t k = 0;
        while (k < left && ref_node_fits (w, q, i, size, k + 1, ever))
            k++;
        if (k > 0)
            p->v[p->n++] = (struct ref_pick){ i, k };
        left -= k;
    }
    return left == 0;
}

static bool ref_fits (const struct world *w, const struct ref_request *q,
                      const int64_t size[DIMS], bool ever, struct ref_picks *p)
{
    p->n = 0;
    if (!q->min[RACK])
        return ref_inner (w, q, 0, size, ever, p);
    int64_t left = size[RACK];
    for (int k = 0; k < w->nracks && left > 0; k++) {
        size_t mark = p->n;
        if (ref_inner (w, q, w->racks[k], size, ever, p))
            left--;
        else
            p->n = mark;
    }
    return left == 0;
}

/* Every allowed value from min to max, for each count in turn, outermost first. */
static int ref_place (const struct world *w, const struct ref_request *q,
                      int64_t size[DIMS], struct ref_picks *p)
{
    for (int d = 0; d < DIMS; d++)
        size[d] = q->min[d];
    if (!ref_fits (w, q, size, false, p))
        return ref_fits (w, q, size, true, p) ? -EBUSY : -ENOENT;
    for (int d = q->unit; d < DIMS; d++) {
        int64_t best = size[d];
        for (int64_t v = q->min[d]; v > 0 && v <= q->max[d] && v < 9000;) {
            size[d] = v;
            if (ref_fits (w, q, size, false, p))
                best = v;
            v = q->op[d] == '+' ? v + q->operand[d] : v * q->operand[d];
        }
        size[d] = best;
    }
    assert_true (ref_fits (w, q, size, false, p));
    return 0;
}

/* -- comparison -- */

static void check_node (const struct world *w, int i)
{
    const struct ref_node *n = &w->node[i];
    struct machine_node_info info;
    int64_t c, g, m;
    char name[16];
    snprintf (name, sizeof (name), "n%d", i);
    if (!n->there) {
        assert_int_equal (machine_node_find (w->g, name), -ENOENT);
        return;
    }
    assert_int_equal (machine_node_find (w->g, name), i);
    assert_int_equal (machine_node_info (w->g, i, &info), 0);
    ref_free (n, false, &c, &g, &m);
    bool takes = n->up && !n->leaving && !n->exclusive;
    assert_int_equal (info.cores_used, used_cores (n));
    assert_int_equal (info.gpus_used, used_gpus (n));
    assert_int_equal (info.memory_used, used_memory (n));
    assert_int_equal (info.njobs, jobs_on (n));
    assert_int_equal (info.exclusive, n->exclusive != 0);
    if (w->divided) {
        int64_t milli = free_milli (n, false);
        assert_int_equal (info.cpu_milli_free, takes ? milli : 0);
        assert_int_equal (info.cores_free, takes ? MIN (c, milli / 1000) : 0);
        assert_int_equal (info.cpu_milli_foreign, n->fmilli);
    } else {
        assert_int_equal (info.cores_free, takes ? c : 0);
        assert_int_equal (info.cpu_milli_free, 1000 * info.cores_free);
    }
    assert_int_equal (info.gpus_free, takes ? g : 0);
    assert_int_equal (info.memory_free, takes ? m : 0);
    struct machine_gres_info gres;
    assert_int_equal (machine_node_gres (w->g, i, HCA_NAME, &gres), 0);
    assert_int_equal (gres.count, n->hcas);
    assert_int_equal (gres.used, used_hcas (n));
    assert_int_equal (gres.free, takes ? free_hcas (n, false) : 0);
}

static void check_world (const struct world *w)
{
    bool nothing = true;
    size_t jobs = 0;
    for (int i = 0; i < NODES; i++) {
        struct machine_node_info info;
        check_node (w, i);
        if (machine_node_info (w->g, i, &info) == 0)
            nothing = nothing && info.cpu_milli_free == 0 && info.gpus_free == 0;
    }
    if (nothing || !w->divided) /* otherwise the rest may be too small for a core */
        assert_int_equal (match_nothing_free (w->m), nothing);
    for (uint64_t j = 1; j < JOBS; j++) {
        assert_int_equal (match_has (w->m, j), w->r[j] != NULL);
        jobs += w->r[j] != NULL;
    }
    assert_int_equal (planner_count (w->m->p), jobs);
    struct error err = { 0 };
    if (planner_verify (w->g->planner, &err) < 0)
        fail_msg ("%s", err.text);
}

/* Books r's units in the reference; they must be free there. */
static void ref_book (struct world *w, int job, const struct rset *r)
{
    for (size_t k = 0; k < r->nranks; k++) {
        struct ref_node *n = &w->node[r->ranks[k].node_index];
        assert_false (n->on[job]);
        n->on[job] = true;
        n->memory_of[job] = r->ranks[k].memory_mib;
        n->hcas_of[job] = gres_get (&r->ranks[k].gres, HCA_NAME);
        n->milli_of[job] = gres_get (&r->ranks[k].gres, GRES_CPU_MILLI);
        if (r->ranks[k].exclusive)
            n->exclusive = job;
        IDSET_FOREACH (r->ranks[k].cores, id)
        {
            assert_true (id < CORES && n->core_owner[id] == 0);
            n->core_owner[id] = job;
        }
        IDSET_FOREACH (r->ranks[k].gpus, id)
        {
            assert_true (id < GPUS && n->gpu_owner[id] == 0);
            n->gpu_owner[id] = job;
        }
    }
}

static void ref_unbook (struct world *w, int job)
{
    for (int i = 0; i < NODES; i++) {
        struct ref_node *n = &w->node[i];
        for (int c = 0; c < CORES; c++)
            n->core_owner[c] = n->core_owner[c] == job ? 0 : n->core_owner[c];
        for (int c = 0; c < GPUS; c++)
            n->gpu_owner[c] = n->gpu_owner[c] == job ? 0 : n->gpu_owner[c];
        n->memory_of[job] = n->hcas_of[job] = n->milli_of[job] = 0;
        n->exclusive = n->exclusive == job ? 0 : n->exclusive;
        n->on[job] = false;
        if (n->leaving && jobs_on (n) == 0)
            n->there = n->leaving = false;
    }
}

static const struct rset_rank *rank_on (const struct rset *r, int node)
{
    for (size_t k = 0; k < r->nranks; k++)
        if (r->ranks[k].node_index == node)
            return &r->ranks[k];
    fail_msg ("node %d is not in the answer", node);
    return NULL;
}

/* The answer must equal first fit in the reference, with the lowest free ids; the ranks
 * are in the order of the graph. */
static void check_answer (const struct world *w, const struct ref_request *q,
                          const int64_t size[DIMS], const struct ref_picks *p,
                          const struct rset *r)
{
    assert_int_equal (r->nranks, p->n);
    for (size_t k = 0; k < p->n; k++) {
        const struct rset_rank *rank = rank_on (r, p->v[k].node);
        const struct ref_node *n = &w->node[p->v[k].node];
        int64_t slots = p->v[k].slots, c, g, m, h = free_hcas (n, false);
        ref_free (n, false, &c, &g, &m);
        assert_int_equal (rank->slots, slots);
        assert_int_equal (rank->exclusive, q->exclusive);
        if (!q->exclusive) {
            c = slots * size[CORE];
            g = slots * size[GPU] + q->node_gpus;
            m = MAX (slots * size[MEM] + q->node_memory, q->per_node);
            h = slots * size[HCA] + q->node_hcas;
        }
        assert_int_equal (idset_count (rank->cores), c);
        assert_int_equal (idset_count (rank->gpus), g);
        assert_int_equal (rank->memory_mib, m);
        assert_int_equal (gres_get (&rank->gres, HCA_NAME), h);
        assert_int_equal (gres_get (&rank->gres, GRES_CPU_MILLI),
                          q->exclusive ? 0 : slots * size[MILLI]);
        for (int id = 0; id < CORES && c > 0; id++) {
            if (n->core_owner[id] == 0) {
                assert_true (idset_has (rank->cores, (uint32_t)id));
                c--;
            }
        }
    }
}

/* -- random operations -- */

static void random_count (struct world *w, struct ref_request *q, int d, int64_t top,
                          char *text, size_t size, const char *type)
{
    q->min[d] = q->max[d] = 1 + below (w, top);
    q->op[d] = '+';
    q->operand[d] = 1;
    if (below (w, 4) == 0) {
        q->max[d] += below (w, 8);
        q->op[d] = below (w, 2) ? '+' : '*';
        q->operand[d] = q->op[d] == '+' ? 1 + below (w, 3) : 2;
    }
    snprintf (text, size, "%s=%lld-%lld%c%lld", type, (long long)q->min[d],
              (long long)q->max[d], q->op[d], (long long)q->operand[d]);
}

static struct match_request *random_request (struct world *w, struct ref_request *q)
{
    static const char *const constraints[] = {
        NULL,
        "{\"properties\":[\"fast\"]}",
        "{\"properties\":[\"^fast\"]}",
        "{\"and\":[{\"hostlist\":[\"n[0,2]\"]},{}]}",
        "{\"or\":[{\"ranks\":[\"1-2\"]},{\"not\":[{\"not\":[{\"ranks\":[\"3\"]}]}]}]}",
    };
    char c[DIMS][64] = { "" }, tree[640];
    *q = (struct ref_request){ .unit = SLOT };
    bool rack = below (w, 6) == 0, node = below (w, 2) == 0;
    random_count (w, q, SLOT, node ? 3 : 10, c[SLOT], sizeof (c[0]), "slot");
    int of = CORE;
    if (w->divided && below (w, 3) == 0) { /* of up to 4 CPUs, in steps of up to 3/1000 */
        of = MILLI;
        random_count (w, q, MILLI, 4000, c[MILLI], sizeof (c[0]), GRES_CPU_MILLI);
    } else
        random_count (w, q, CORE, 4, c[CORE], sizeof (c[0]), "core");
    if (below (w, 4) == 0)
        random_count (w, q, GPU, 2, c[GPU], sizeof (c[0]), "gpu");
    if (below (w, 3) == 0)
        random_count (w, q, MEM, 20, c[MEM], sizeof (c[0]), "memory");
    if (below (w, 5) == 0)
        random_count (w, q, HCA, 3, c[HCA], sizeof (c[0]), HCA_NAME);
    if (node)
        random_count (w, q, NODE, 4, c[NODE], sizeof (c[0]), "node");
    if (rack)
        random_count (w, q, RACK, 2, c[RACK], sizeof (c[0]), "rack");
    q->unit = rack ? RACK : node ? NODE : SLOT;
    q->exclusive = node && below (w, 3) == 0;
    char beside[64] = "";
    if (node && below (w, 4) == 0) {
        q->node_memory = 1 + below (w, 20);
        snprintf (beside, sizeof (beside), ",memory=%lld", (long long)q->node_memory);
    } else if (node && below (w, 6) == 0) {
        q->node_gpus = 1;
        snprintf (beside, sizeof (beside), ",gpu=1");
    } else if (node && below (w, 4) == 0) {
        q->node_hcas = 1 + below (w, 3);
        snprintf (beside, sizeof (beside), "," HCA_NAME "=%lld", (long long)q->node_hcas);
    }
    if (below (w, 5) == 0)
        q->per_node = 1 + below (w, 30);
    if (below (w, 4) == 0)
        q->constraint = 1 + (int)below (w, 4);
    snprintf (tree, sizeof (tree), "%s%s%s%s%s%s%s>(%s%s%s%s%s%s%s)%s%s", c[RACK],
              rack ? ">" : "", c[NODE], q->exclusive ? "!" : "", node ? ">(" : "",
              c[SLOT], "", c[of], q->min[GPU] ? "," : "", c[GPU], q->min[MEM] ? "," : "",
              c[MEM], q->min[HCA] ? "," : "", c[HCA], beside, node ? ")" : "");
    struct error err = { 0 };
    struct match_request *req =
        w->divided ? build_divided (tree, q->per_node, constraints[q->constraint], &err)
                   : build_request (tree, q->per_node, constraints[q->constraint], &err);
    if (!req)
        fail_msg ("%s: %s", tree, err.text);
    return req;
}

/* Foreign use does not depend on the jobs' use: they have none; and the node did
 * not shrink below it. */
static bool is_plain (const struct ref_node *n)
{
    bool plain = !n->fcores && !n->fmilli && !n->fgpus && !n->fmemory && !n->fhcas;

    for (int i = 0; i < CORES; i++)
        plain = plain && (n->core_owner[i] == 0 || i < n->cores);
    for (int i = 0; i < GPUS; i++)
        plain = plain && (n->gpu_owner[i] == 0 || i < n->gpus);
    return plain;
}

/* All jobs begin at 10 and end at 15: a request fits then if it fits in an empty world,
 * and nothing changes in between. expected: the verdict for now. */
static void do_reserve (struct world *w, const struct match_request *req,
                        const struct ref_request *q, int expected)
{
    const uint64_t id = JOBS + 1;
    struct error why = { 0 };
    struct ref_picks p;
    double start = 0;

    for (int i = 0; i < NODES; i++)
        if (!is_plain (&w->node[i]))
            return;
    struct world *later = malloc (sizeof (*w));
    assert_non_null (later);
    *later = *w;
    for (int j = 1; j < JOBS; j++)
        ref_unbook (later, j);
    if (expected == -EBUSY && ref_fits (later, q, q->min, false, &p))
        expected = 1;
    free (later);
    int rc = match_reserve (w->m, id, req, 10, 5, &start, &why);
    assert_int_equal (rc, expected == 0 ? -EAGAIN : expected == 1 ? 0 : expected);
    if (rc < 0)
        return;
    assert_true (start == 15);
    if (planner_verify (w->g->planner, &why) < 0)
        fail_msg ("%s", why.text);
    assert_int_equal (match_cancel (w->m, id), 0);
}

static void do_allocate (struct world *w)
{
    int job = 1 + (int)below (w, JOBS - 1);
    struct ref_request q;
    struct match_request *req = random_request (w, &q);
    struct rset *r = NULL;
    struct error why = { 0 };
    int64_t size[DIMS];
    struct ref_picks p;
    int expected = ref_place (w, &q, size, &p);
    bool exact = w->policy == match_policy_find ("lonode");
    int rc = match_without_allocating (w->m, req, 10, 5, &r, &why);
    if (w->policy->node_exclusive)
        expected = rc; /* the reference also shares nodes */
    assert_int_equal (rc, expected);
    if (rc == 0 && exact)
        check_answer (w, &q, size, &p, r);
    rset_destroy (r);
    r = NULL;
    check_world (w);
    if (!w->policy->node_exclusive)
        do_reserve (w, req, &q, expected);
    uint64_t generation = match_generation (w->m);
    rc = match_allocate (w->m, (uint64_t)job, req, 10, 5, &r, &why);
    if (w->r[job]) {
        assert_int_equal (rc, -EEXIST);
    } else {
        assert_int_equal (rc, expected);
        assert_int_equal (generation, match_generation (w->m));
        int ever = match_satisfiability (w->m, req, &why);
        assert_int_equal (ever, expected == -ENOENT ? -ENOENT : 0);
        if (rc < 0)
            assert_true (*why.text || ever == 0);
    }
    if (rc == 0) {
        if (exact)
            check_answer (w, &q, size, &p, r);
        ref_book (w, job, r);
        w->r[job] = r;
    }
    match_request_destroy (req);
}

static void do_cancel (struct world *w)
{
    int job = 1 + (int)below (w, JOBS - 1);
    uint64_t generation = match_generation (w->m);
    assert_int_equal (match_cancel (w->m, (uint64_t)job), w->r[job] ? 0 : -ENOENT);
    if (!w->r[job])
        return;
    assert_true (match_generation (w->m) > generation);
    ref_unbook (w, job);
    rset_destroy (w->r[job]);
    w->r[job] = NULL;
}

static bool is_gone (const struct ref_node *n, const struct rset_rank *rank)
{
    bool gone = !n->there || rank->memory_mib > n->memory
                || gres_get (&rank->gres, HCA_NAME) > n->hcas
                || gres_get (&rank->gres, GRES_CPU_MILLI) > 1000 * n->cores;
    IDSET_FOREACH (rank->cores, id)
    {
        gone = gone || id >= n->cores;
    }
    IDSET_FOREACH (rank->gpus, id)
    {
        gone = gone || id >= n->gpus;
    }
    return gone;
}

static bool is_taken (const struct ref_node *n, const struct rset_rank *rank,
                      bool divided)
{
    int64_t milli = gres_get (&rank->gres, GRES_CPU_MILLI)
                    + 1000 * (int64_t)idset_count (rank->cores);
    bool taken =
        n->exclusive || (rank->exclusive && jobs_on (n) > 0)
        || (rank->memory_mib > 0 && rank->memory_mib > n->memory - used_memory (n))
        || (gres_get (&rank->gres, HCA_NAME) > 0
            && gres_get (&rank->gres, HCA_NAME) > n->hcas - used_hcas (n))
        || (divided && milli > 0 && milli > unbooked_milli (n));
    IDSET_FOREACH (rank->cores, id)
    {
        taken = taken || n->core_owner[id];
    }
    IDSET_FOREACH (rank->gpus, id)
    {
        taken = taken || n->gpu_owner[id];
    }
    return taken;
}

/* True if the resources of r exist and are free. */
static int ref_update (const struct world *w, const struct rset *r)
{
    int rc = 0;
    for (size_t k = 0; k < r->nranks; k++) {
        const struct ref_node *n = &w->node[r->ranks[k].node_index];
        if (is_gone (n, &r->ranks[k]))
            return -ENOENT;
        if (is_taken (n, &r->ranks[k], w->divided))
            rc = -EBUSY;
    }
    return rc;
}

/* A job's R, written and read again, cancelled and booked again, as after a restart.
 * Sometimes another job takes the place in between. */
static void do_restart (struct world *w)
{
    int job = 1 + (int)below (w, JOBS - 1);
    struct error why = { 0 };
    if (!w->r[job])
        return;
    char *text = rset_encode (w->r[job]);
    assert_non_null (text);
    struct rset *again = rset_decode (text, strlen (text), &why);
    if (!again)
        fail_msg ("%s: %s", text, why.text);
    assert_true (rset_equal (w->r[job], again));
    free (text);
    assert_int_equal (match_update (w->m, (uint64_t)job, again, &why), -EEXIST);
    assert_int_equal (match_cancel (w->m, (uint64_t)job), 0);
    ref_unbook (w, job);
    rset_destroy (w->r[job]);
    w->r[job] = NULL;
    check_world (w);
    if (below (w, 3) == 0)
        do_allocate (w);
    if (!w->r[job]) {
        int expected = ref_update (w, again);
        assert_int_equal (match_update (w->m, (uint64_t)job, again, &why), expected);
        if (expected == 0) {
            ref_book (w, job, again);
            w->r[job] = again;
            return;
        }
    }
    rset_destroy (again);
}

/* No group, or up to 4, and fractions of CPUs, in a list that is valid until the next
 * call. */
static const struct gres_list *some_hcas (int64_t count, int64_t milli)
{
    static char name[] = HCA_NAME, cpus[] = GRES_CPU_MILLI;
    static struct gres both[2];
    static struct gres_list list = { both, 0 };

    list.n = 0;
    if (milli)
        both[list.n++] = (struct gres){ cpus, milli };
    if (count)
        both[list.n++] = (struct gres){ name, count };
    return list.n ? &list : NULL;
}

static void random_spec (struct world *w, struct ref_node *n,
                         struct machine_node_spec *spec)
{
    static const char *const fast[] = { "big", "fast", NULL };
    static const struct machine_place racks[][2] = { { { NULL, NULL } },
                                                     { { "rack", "r1" } },
                                                     { { "rack", "r2" } },
                                                     { { "rack", "r3" } } };
    n->cores = below (w, CORES + 1);
    n->gpus = below (w, GPUS + 1);
    n->memory = below (w, 65);
    n->hcas = below (w, 5);
    n->rack = (int)below (w, 4);
    n->property = below (w, 2) == 0;
    spec->cores = (uint32_t)n->cores;
    spec->gpus = (uint32_t)n->gpus;
    spec->memory_mib = n->memory;
    spec->gres = some_hcas (n->hcas, 0);
    spec->places = racks[n->rack];
    spec->properties = n->property ? fast : NULL;
    for (int k = 0; k < w->nracks; k++) {
        if (w->racks[k] == n->rack)
            return;
    }
    if (n->rack)
        w->racks[w->nracks++] = n->rack;
}

/* Indexes are given lowest first, so node i is added only when all before it exist. */
static void do_add_or_update (struct world *w)
{
    int i = (int)below (w, NODES);
    struct ref_node *n = &w->node[i];
    char name[16];
    struct machine_node_spec spec = { .name = name };
    for (int k = 0; k < i; k++) {
        if (!w->node[k].there)
            return;
    }
    snprintf (name, sizeof (name), "n%d", i);
    if (n->there && !n->leaving) {
        spec.cores = 1;
        assert_int_equal (machine_node_add (w->g, &spec, NULL), -EEXIST);
        random_spec (w, n, &spec);
        assert_int_equal (machine_node_update (w->g, &spec, NULL), i);
        return;
    }
    struct ref_node old = *n;
    if (!n->there)
        *n = (struct ref_node){ 0 };
    else {
        n->fcores = old.fcores;
        n->fmilli = old.fmilli;
    }
    random_spec (w, n, &spec);
    n->there = n->up = true;
    n->leaving = false;
    assert_int_equal (machine_node_add (w->g, &spec, NULL), i);
}

static void do_node (struct world *w)
{
    int i = (int)below (w, NODES);
    struct ref_node *n = &w->node[i];
    int what = (int)below (w, 5);
    if (what == 0) {
        assert_int_equal (machine_node_remove (w->g, i), n->there ? 0 : -ENOENT);
        n->leaving = n->there;
        if (jobs_on (n) == 0)
            n->there = n->leaving = false;
    } else if (what < 3) {
        bool up = below (w, 3) > 0;
        enum machine_node_state state = up             ? MACHINE_NODE_UP
                                        : below (w, 2) ? MACHINE_NODE_DOWN
                                                       : MACHINE_NODE_DRAINED;
        assert_int_equal (machine_node_set_state (w->g, i, state, "x"),
                          n->there ? 0 : -ENOENT);
        n->up = up;
    } else {
        n->fcores = below (w, 4);
        n->fmilli = 0;
        if (w->divided) {
            n->fmilli = below (w, 3001);
            n->fcores = (n->fmilli + 999) / 1000;
        }
        n->fgpus = below (w, 2);
        n->fmemory = below (w, 20);
        n->fhcas = below (w, 3);
        assert_int_equal (machine_node_set_foreign (w->g, i, (uint32_t)n->fcores,
                                                    (uint32_t)n->fgpus, n->fmemory,
                                                    some_hcas (n->fhcas, n->fmilli)),
                          n->there ? 0 : -ENOENT);
    }
}

static void stream (uint64_t seed, const struct match_policy *policy)
{
    struct world w = { .random = seed, .policy = policy, .divided = seed % 2 };
    w.g = machine_create ("cluster");
    w.m = matcher_create (w.g, policy);
    if (w.divided)
        machine_divide_cpus (w.g);
    for (int k = 0; k < NODES; k++)
        do_add_or_update (&w);
    for (int k = 0; k < 40; k++) {
        int what = (int)below (&w, 20);
        if (what < 10)
            do_allocate (&w);
        else if (what < 14)
            do_cancel (&w);
        else if (what < 16)
            do_restart (&w);
        else if (what < 18)
            do_add_or_update (&w);
        else
            do_node (&w);
        check_world (&w);
    }
    for (int j = 1; j < JOBS; j++) {
        if (w.r[j]) {
            assert_int_equal (match_cancel (w.m, (uint64_t)j), 0);
            ref_unbook (&w, j);
            rset_destroy (w.r[j]);
            w.r[j] = NULL;
        }
    }
    check_world (&w);
    matcher_destroy (w.m);
    machine_destroy (w.g);
}

static void test_streams (void **state)
{
    (void)state;
    uint64_t seed = build_seed ("match");
    for (uint64_t k = 0; k < STREAMS; k++)
        stream (seed + k, match_policy_find ("lonode"));
}

/* The same verdicts for any chosen nodes, and nothing is booked twice. */
static void test_policies (void **state)
{
    (void)state;
    uint64_t seed = build_seed ("policies");
    for (size_t i = 0; match_policies[i]; i++)
        for (uint64_t k = 0; k < STREAMS / 10; k++)
            stream (seed + k, match_policies[i]);
}

int main (void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test (test_streams),
                                        cmocka_unit_test (test_policies) };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
