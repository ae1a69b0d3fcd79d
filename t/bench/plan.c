/* plan.c - the cost of a pass of the queue, and of a change of the queue
 *
 *     bench-plan [--policy NAME] [--nodes N] [--pending N] [--seconds S] [--changes]
 *
 * Drives src/sched and src/match directly, in virtual time, on a machine that stays full while
 * the number of pending jobs stays the same: a job ends, usually before its limit, as many jobs
 * are added at the end of the order as started, and a pass runs. A pass is the same as in the
 * broker: sched_next() with its bound of tries, until no other job starts; the longest of these
 * calls is the time for which the broker's loop stops. In the end a node comes and leaves again:
 * the longest call of the passes after that. Every cell takes at most --seconds (5), or one pass,
 * and a pass at most GIVE_UP; all times are processor times. --changes prints the cost of one
 * change instead, as the queue grows.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/macros.h"
#include "jobspec/jobspec.h"
#include "match/machine/match.h"
#include "measure.h"
#include "sched/sched_private.h"

#define TRIES 1 /* in each call, as in src/broker/services/plan.c */
#define EPOCH 1.7e9
#define LIMIT_MIN 600.0
#define LIMIT_MAX 86400.0
#define PASSES_MAX 2000
#define WARM_UP 200  /* passes that do not count */
#define CHANGES 51   /* of each kind */
#define MOVES 3      /* moves of a node */
#define GIVE_UP 10.0 /* maximum seconds of a pass */
#define NODE_CORES 32
#define PARTS 7 /* shapes smaller than a node */
#define SHAPES 20

struct job {
    size_t at; /* the place in its set */
    double limit, runtime, end;
    unsigned shape;
};

/* Ids of jobs, for random draws. */
struct set {
    uint64_t *ids;
    size_t n, alloc;
};

struct bench {
    struct matcher *m;
    struct sched *s;
    struct match_request *reqs[SHAPES];
    struct job *jobs; /* job i has id i + 1 */
    size_t njobs, alloc;
    struct set pending, running;
    uint64_t seed;
    double now, seconds;
};

struct pass {
    double us, longest;
    size_t started;
    uint64_t tries;
    bool given_up;
};

/* Processor time: everything measured only computes, and other processes do not count. */
static double now_us (void)
{
    return measure_us (CLOCK_THREAD_CPUTIME_ID);
}

static void die (const char *what, const char *why)
{
    fprintf (stderr, "bench-plan: %s: %s\n", what, why);
    exit (1);
}

static void *grown (void *p, size_t *alloc, size_t n, size_t size)
{
    if (n < *alloc)
        return p;
    *alloc = *alloc ? 2 * *alloc : 1024;
    if (!(p = realloc (p, *alloc * size)))
        die ("jobs", "no memory");
    return p;
}

/* 0 to 1 */
static double draw (struct bench *b)
{
    b->seed = b->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(b->seed >> 33) / (double)(1U << 31);
}

/* -- the machine and the requests -- */

static struct machine *make_machine (unsigned nodes)
{
    struct machine *g = machine_create ("cluster");
    struct error err = { 0 };

    for (unsigned i = 0; g && i < nodes; i++) {
        char name[32], rack[32];
        snprintf (name, sizeof (name), "node%u", i);
        snprintf (rack, sizeof (rack), "rack%u", i / 16);
        const struct machine_place places[] = { { "rack", rack }, { NULL, NULL } };
        struct machine_node_spec spec = { .name = name,
                                          .places = places,
                                          .cores = NODE_CORES,
                                          .gpus = 4,
                                          .memory_mib = 256 * 1024 };
        if (machine_node_add (g, &spec, &err) < 0)
            die ("machine", err.text);
    }
    return g;
}

#define SLOT(n, with)                                                                    \
    "{\"type\":\"slot\",\"count\":" n ",\"label\":\"task\",\"with\":[" with "]}"
#define CORES(n) "{\"type\":\"core\",\"count\":" #n "}"
#define GPUS(n) ",{\"type\":\"gpu\",\"count\":" #n "}"
#define GIB(n) ",{\"type\":\"memory\",\"count\":" #n ",\"unit\":\"GiB\"}"

static const char *const parts[PARTS] = {
    SLOT ("1", CORES (1)),           SLOT ("1", CORES (1) GIB (8)),
    SLOT ("1", CORES (4) GIB (4)),   SLOT ("1", CORES (8) GPUS (1)),
    SLOT ("16", CORES (1)),          SLOT ("4", CORES (8) GIB (16)),
    SLOT ("2", CORES (16) GPUS (2)),
};

static struct match_request *parse (const char *resources)
{
    char text[1024];
    struct error err = { 0 };

    snprintf (text, sizeof (text),
              "{\"version\":1,\"resources\":[%s],\"tasks\":[{\"command\":[\"true\"],"
              "\"slot\":\"task\",\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":"
              "{\"duration\":3600}}}",
              resources);
    struct jobspec *js = jobspec_parse (text, strlen (text), &err);
    struct match_request *req = js ? match_request_create (js, &err) : NULL;
    if (!req)
        die ("request", err.text);
    jobspec_destroy (js);
    return req;
}

/* Parts of nodes, and whole nodes from 1 to an eighth of the machine, 1,024 at most, in a
 * geometric series. Every second job shares its nodes with jobs of up to four cores. */
static void make_requests (struct bench *b, unsigned nodes)
{
    double most = MAX (2.0, MIN (1024.0, nodes / 8.0));

    for (unsigned i = 0; i < PARTS; i++)
        b->reqs[i] = parse (parts[i]);
    for (unsigned i = 0; i < SHAPES - PARTS; i++) {
        char text[512];
        unsigned n = (unsigned)lround (pow (most, i / (SHAPES - PARTS - 1.0)));
        const char *inner = i % 2 ? SLOT ("1", CORES (28)) : SLOT ("1", CORES (1));
        snprintf (text, sizeof (text), "{\"type\":\"node\",\"count\":%u%s,\"with\":[%s]}",
                  n, i % 2 ? "" : ",\"exclusive\":true", inner);
        b->reqs[PARTS + i] = parse (text);
    }
}

/* -- jobs -- */

static void set_add (struct bench *b, struct set *set, uint64_t id)
{
    set->ids = grown (set->ids, &set->alloc, set->n, sizeof (*set->ids));
    b->jobs[id - 1].at = set->n;
    set->ids[set->n++] = id;
}

static void set_remove (struct bench *b, struct set *set, uint64_t id)
{
    uint64_t last = set->ids[--set->n];

    set->ids[b->jobs[id - 1].at] = last;
    b->jobs[last - 1].at = b->jobs[id - 1].at;
}

static uint64_t draw_from (struct bench *b, const struct set *set)
{
    return set->ids[(size_t)(draw (b) * (double)set->n)];
}

/* Makes a new job at the end of the order and returns its id. The logarithm of its limit
 * in seconds is uniformly distributed, and so is the share of the limit that it needs. */
static uint64_t new_job (struct bench *b)
{
    b->jobs = grown (b->jobs, &b->alloc, b->njobs, sizeof (*b->jobs));
    struct job *j = &b->jobs[b->njobs++];
    j->shape = (unsigned)(draw (b) * SHAPES);
    j->limit = floor (LIMIT_MIN * pow (LIMIT_MAX / LIMIT_MIN, draw (b)));
    j->runtime = j->limit * (0.02 + 0.97 * draw (b));
    return b->njobs;
}

static void enqueue (struct bench *b, uint64_t id)
{
    const struct job *j = &b->jobs[id - 1];
    struct sched_entry e = {
        .id = id, .priority = 16, .duration = j->limit, .req = b->reqs[j->shape]
    };

    int rc = sched_enqueue (b->s, &e);
    if (rc < 0)
        die ("sched_enqueue", strerror (-rc));
}

/* Adds new jobs until so many wait; returns the microseconds of the queue's work. */
static double fill_up (struct bench *b, size_t pending)
{
    double us = 0;

    while (b->pending.n < pending) {
        uint64_t id = new_job (b);
        double began = now_us ();
        enqueue (b, id);
        us += now_us () - began;
        set_add (b, &b->pending, id);
    }
    return us;
}

static struct pass pass (struct bench *b)
{
    struct pass p = { 0 };
    struct sched_decision d = { 0 };
    uint64_t tries = b->s->tries;
    int rc;

    do {
        double began = now_us ();
        rc = sched_next (b->s, b->now, TRIES, &d);
        double us = now_us () - began;
        p.us += us;
        p.longest = fmax (p.longest, us);
        p.given_up = p.us > GIVE_UP * 1e6;
        if (rc == 1) {
            struct job *j = &b->jobs[d.id - 1];
            set_remove (b, &b->pending, d.id);
            set_add (b, &b->running, d.id);
            j->end = b->now + j->runtime;
            rset_destroy (d.r);
            p.started++;
        } else if (rc < 0 && rc != -EAGAIN) {
            die ("sched_next", strerror (-rc));
        }
    } while (rc != 0 && !p.given_up);
    p.tries = b->s->tries - tries;
    return p;
}

static double end_job (struct bench *b, uint64_t id)
{
    double began = now_us ();

    if (match_cancel (b->m, id) < 0)
        die ("match_cancel", "failed");
    double us = now_us () - began;
    set_remove (b, &b->running, id);
    return us;
}

static uint64_t next_to_end (const struct bench *b)
{
    uint64_t next = b->running.ids[0];

    for (size_t i = 1; i < b->running.n; i++)
        if (b->jobs[b->running.ids[i] - 1].end < b->jobs[next - 1].end)
            next = b->running.ids[i];
    return next;
}

/* -- a queue -- */

/* All jobs wait, none runs. */
static struct bench *bench_create (struct machine *g, unsigned nodes, size_t pending,
                                   const struct queue_policy *policy, double seconds)
{
    struct bench *b = calloc (1, sizeof (*b));

    if (!b)
        die ("bench", "no memory");
    *b = (struct bench){ .seed = 42, .now = EPOCH, .seconds = seconds };
    b->m = matcher_create (g, match_policy_find ("lonode"));
    b->s = b->m ? sched_create (b->m, policy, 0) : NULL;
    if (!b->s || sched_queue_set (b->s, 0, true) < 0)
        die ("queue", "no memory");
    make_requests (b, nodes);
    fill_up (b, pending);
    return b;
}

static void bench_destroy (struct bench *b)
{
    sched_destroy (b->s);
    matcher_destroy (b->m);
    for (size_t i = 0; i < SHAPES; i++)
        match_request_destroy (b->reqs[i]);
    free (b->jobs);
    free (b->pending.ids);
    free (b->running.ids);
    free (b);
}

/* Runs passes until the machine is full while so many jobs wait: all passes together. */
static struct pass make_full (struct bench *b, size_t pending)
{
    struct pass all = { 0 }, p;

    do {
        p = pass (b);
        all.us += p.us;
        all.longest = fmax (all.longest, p.longest);
        all.started += p.started;
        all.given_up = p.given_up;
        fill_up (b, pending);
    } while (p.started > 0 && !p.given_up);
    return all;
}

/* One job ends and others replace the jobs that start: the cost of the pass with the
 * end and the new jobs. */
static struct pass turn (struct bench *b, size_t pending)
{
    uint64_t id = next_to_end (b);

    b->now = fmax (b->now, b->jobs[id - 1].end);
    double us = end_job (b, id);
    struct pass p = pass (b);
    p.us += us + fill_up (b, pending);
    return p;
}

/* -- the table -- */

struct figures {
    double *us;
    size_t n, started;
    uint64_t tries;
    double sum, longest;
    bool given_up;
};

static struct figures measure (struct bench *b, size_t pending, double *us)
{
    struct figures f = { .us = us };
    double began = now_us ();

    for (size_t i = 0; i < WARM_UP && !f.given_up; i++) {
        f.given_up = turn (b, pending).given_up;
        if (now_us () - began > b->seconds * 0.5e6)
            break;
    }
    began = now_us ();
    while (f.n < PASSES_MAX && !f.given_up) {
        struct pass p = turn (b, pending);
        f.us[f.n++] = p.us;
        f.sum += p.us;
        f.started += p.started;
        f.tries += p.tries;
        f.longest = fmax (f.longest, p.longest);
        f.given_up = p.given_up;
        if (now_us () - began > b->seconds * 1e6)
            break;
    }
    return f;
}

/* A node comes, drained, so that no job starts there, and leaves: the longest call of
 * the passes after that, in microseconds. */
static double nodes_move (struct bench *b, struct machine *g)
{
    struct machine_node_spec spec = {
        .name = "more", .cores = NODE_CORES, .gpus = 4, .memory_mib = 256 * 1024
    };
    struct error err = { 0 };
    double longest = 0;

    for (unsigned i = 0; i < MOVES; i++) {
        int index = machine_node_add (g, &spec, &err);
        if (index < 0
            || machine_node_set_state (g, index, MACHINE_NODE_DRAINED, "new") < 0)
            die ("machine_node_add", err.text);
        longest = fmax (longest, pass (b).longest);
        if (machine_node_remove (g, index) < 0 || machine_node_find (g, spec.name) >= 0)
            die ("machine_node_remove", "the node still exists");
        longest = fmax (longest, pass (b).longest);
    }
    return longest;
}

static void table_row (struct machine *g, unsigned nodes, size_t pending,
                       const struct queue_policy *policy, double seconds)
{
    static double us[PASSES_MAX];
    struct bench *b = bench_create (g, nodes, pending, policy, seconds);

    printf ("%6u %8zu %-12s", nodes, pending, policy->name);
    fflush (stdout);
    struct pass first = make_full (b, pending);
    struct figures f = { .given_up = first.given_up };
    if (!f.given_up)
        f = measure (b, pending, us);
    if (f.given_up)
        printf (" given up: one pass takes more than %.0f s\n", GIVE_UP);
    else
        printf (" %7zu %8.0f %8.2f %6zu %8.0f %8.0f %8.2f %8.2f %8.2f %8.2f\n",
                b->running.n, (double)first.started * 1e6 / first.us, first.longest / 1e3,
                f.n, (double)f.started * 1e6 / f.sum, (double)f.tries * 1e6 / f.sum,
                measure_quantile (us, f.n, 0.5) / 1e3,
                measure_quantile (us, f.n, 0.99) / 1e3, f.longest / 1e3,
                nodes_move (b, g) / 1e3);
    fflush (stdout);
    bench_destroy (b);
}

/* -- the cost of a change -- */

enum change { ENDS, COMES, GOES, NCHANGES };

static const char *const changes[NCHANGES] = {
    [ENDS] = "a job ends early",
    [COMES] = "one is submitted",
    [GOES] = "one is cancelled",
};

/* As many jobs wait again, and no further job can start. */
static void restore (struct bench *b, size_t pending)
{
    while (b->pending.n > pending) {
        uint64_t last = b->pending.ids[b->pending.n - 1];
        sched_dequeue (b->s, last);
        set_remove (b, &b->pending, last);
        pass (b);
    }
    while (b->pending.n < pending) {
        fill_up (b, pending);
        pass (b);
    }
}

/* One change and the pass after it, in microseconds. */
static double change (struct bench *b, enum change what)
{
    uint64_t id = what == ENDS    ? draw_from (b, &b->running)
                  : what == COMES ? new_job (b)
                                  : draw_from (b, &b->pending);
    if (what == ENDS)
        return end_job (b, id) + pass (b).us;
    double began = now_us ();
    if (what == COMES)
        enqueue (b, id);
    else
        sched_dequeue (b->s, id);
    double us = now_us () - began;
    if (what == COMES)
        set_add (b, &b->pending, id);
    else
        set_remove (b, &b->pending, id);
    return us + pass (b).us;
}

static void change_cell (struct bench *b, enum change what, size_t pending)
{
    double us[CHANGES], began = now_us ();
    size_t n = 0;

    while (n < CHANGES && (n == 0 || now_us () - began < b->seconds * 1e6)) {
        us[n++] = change (b, what);
        restore (b, pending);
    }
    printf (" %12.1f %12.1f", measure_quantile (us, n, 0.5), measure_quantile (us, n, 1));
    fflush (stdout);
}

static void change_rows (struct machine *g, unsigned nodes, size_t pending,
                         const struct queue_policy *policy, double seconds)
{
    struct bench *b = bench_create (g, nodes, pending, policy, seconds);

    printf ("%6u %-11s %8zu", nodes, policy->name, pending);
    if (make_full (b, pending).given_up)
        printf (" given up: one pass takes more than %.0f s", GIVE_UP);
    else
        for (unsigned what = 0; what < NCHANGES; what++)
            change_cell (b, what, pending);
    putchar ('\n');
    fflush (stdout);
    bench_destroy (b);
}

/* -- all -- */

struct choice {
    const char *policy; /* NULL: every policy */
    unsigned nodes;     /* 0: every size */
    size_t pending;     /* 0: every length */
    double seconds;
    bool changes;
};

static void each_policy (const struct choice *c, struct machine *g, unsigned nodes,
                         size_t pending)
{
    for (size_t i = 0; queue_policies[i]; i++) {
        if (c->policy && strcmp (c->policy, queue_policies[i]->name) != 0)
            continue;
        if (c->changes)
            change_rows (g, nodes, pending, queue_policies[i], c->seconds);
        else
            table_row (g, nodes, pending, queue_policies[i], c->seconds);
    }
}

static void on_machine (const struct choice *c, unsigned nodes)
{
    static const size_t pendings[] = { 100, 1000, 10000, 100000 };
    struct machine *g = make_machine (nodes);

    if (!g)
        die ("machine", "no memory");
    for (size_t i = 0; i < ARRAY_SIZE (pendings); i++)
        if (c->pending == 0 && (pendings[i] != 1000 || c->changes))
            each_policy (c, g, nodes, pendings[i]);
    if (c->pending > 0)
        each_policy (c, g, nodes, c->pending);
    machine_destroy (g);
}

static double number (const char *name, const char *text, double most)
{
    char *end;
    double n = strtod (text, &end);

    if (end == text || *end || !(n > 0) || n > most)
        die (name, "expected a number that is larger than 0, and not too large");
    return n;
}

static struct choice arguments (int argc, char *argv[])
{
    struct choice c = { .seconds = 5 };

    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (!strcmp (argv[i], "--policy") && more && queue_policy_find (argv[i + 1]))
            c.policy = argv[++i];
        else if (!strcmp (argv[i], "--nodes") && more)
            c.nodes = (unsigned)ceil (number ("--nodes", argv[++i], 1e6));
        else if (!strcmp (argv[i], "--pending") && more)
            c.pending = (size_t)ceil (number ("--pending", argv[++i], 1e7));
        else if (!strcmp (argv[i], "--seconds") && more)
            c.seconds = number ("--seconds", argv[++i], 1e5);
        else if (!strcmp (argv[i], "--changes"))
            c.changes = true;
        else
            die (argv[i], "unknown argument, or no such policy; see the head of plan.c");
    }
    return c;
}

int main (int argc, char *argv[])
{
    static const unsigned nodes[] = { 100, 4096, 100000 };
    struct choice c = arguments (argc, argv);

    if (c.changes) {
        printf ("%27s", "us:");
        for (size_t i = 0; i < NCHANGES; i++)
            printf (" %25s", changes[i]);
        printf ("\n%6s %-11s %8s", "nodes", "policy", "pending");
        for (size_t i = 0; i < NCHANGES; i++)
            printf (" %12s %12s", "median", "max");
        putchar ('\n');
    } else {
        printf ("%45s %20s\n", "filling:", "full:");
        printf ("%6s %8s %-12s %7s %8s %8s %6s %8s %8s %8s %8s %8s %8s\n", "nodes",
                "pending", "policy", "running", "starts/s", "call ms", "passes",
                "starts/s", "tries/s", "p50 ms", "p99 ms", "call ms", "node ms");
    }
    if (c.nodes == 0 && c.changes)
        c.nodes = 4096;
    if (c.nodes > 0)
        on_machine (&c, c.nodes);
    for (size_t i = 0; c.nodes == 0 && i < ARRAY_SIZE (nodes); i++)
        on_machine (&c, nodes[i]);
    return 0;
}
