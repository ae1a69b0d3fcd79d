/* taskmap.c - see taskmap.h */
#include "protocol/taskmap.h"

#include "common/idset.h"

#define NOWHERE UINT32_MAX

/* The map that is being decoded. */
struct map {
    uint32_t *ranks;
    uint32_t n, alloc;
    uint32_t nranks;
};

struct block {
    uint32_t first, nodes, ppn, repeat;
};

/* A position in a text; the first error ends the reading. */
struct reader {
    const char *text, *p;
    struct map map;
    struct error *err;
};

/* -- common to both forms -- */

static int too_many_tasks (struct error *err)
{
    return error_set (err, ERANGE, "taskmap: more than %u tasks", TASKMAP_TASKS_MAX);
}

/* Make room for n tasks in all; new tasks have no rank yet. n: at most
 * TASKMAP_TASKS_MAX. */
static int map_reserve (struct map *m, uint32_t n, struct error *err)
{
    uint32_t alloc = MAX (m->alloc, 64);
    uint32_t *p;

    while (alloc < n)
        alloc *= 2;
    if (alloc > m->alloc) {
        if (!(p = realloc (m->ranks, alloc * sizeof (*p))))
            return error_errno (err, ENOMEM, "taskmap");
        m->ranks = p;
        m->alloc = alloc;
    }
    for (; m->n < n; m->n++)
        m->ranks[m->n] = NOWHERE;
    return 0;
}

/* -- the blocks, in JSON -- */

static int expected (const struct reader *r, const char *what)
{
    return error_set (r->err, EINVAL, "taskmap: byte %zu: %s is expected",
                      (size_t)(r->p - r->text) + 1, what);
}

static void skip_blanks (struct reader *r)
{
    r->p += strspn (r->p, " \t\r\n");
}

/* Whether the next token is c; skips it then. */
static bool take (struct reader *r, char c)
{
    skip_blanks (r);
    if (*r->p != c)
        return false;
    r->p++;
    return true;
}

static int need (struct reader *r, char c)
{
    char what[] = { '\'', c, '\'', '\0' };

    return take (r, c) ? 0 : expected (r, what);
}

/* Read an integer from min to 2^32 - 2; the caller checks tighter limits. */
static int read_number (struct reader *r, uint32_t min, uint32_t *ret)
{
    uint64_t n = 0;

    skip_blanks (r);
    const char *start = r->p;
    for (; *r->p >= '0' && *r->p <= '9'; r->p++)
        n = n < UINT32_MAX ? n * 10 + (uint64_t)(*r->p - '0') : n;
    size_t len = (size_t)(r->p - start);
    bool more = *r->p && strchr (".eE", *r->p);
    if (len > 0 && (more || (*start == '0' && len > 1) || n < min || n >= UINT32_MAX))
        r->p = start; /* the error has the place where the number begins */
    if (r->p == start)
        return expected (r, min > 0 ? "an integer from 1 to 4294967294"
                                    : "an integer from 0 to 4294967294");
    *ret = (uint32_t)n;
    return 0;
}

/* [nodeid,nnodes,ppn,repeat] */
static int read_block (struct reader *r, struct block *b)
{
    int rc = need (r, '[');

    rc = rc < 0 ? rc : read_number (r, 0, &b->first);
    rc = rc < 0 ? rc : need (r, ',');
    rc = rc < 0 ? rc : read_number (r, 1, &b->nodes);
    rc = rc < 0 ? rc : need (r, ',');
    rc = rc < 0 ? rc : read_number (r, 1, &b->ppn);
    rc = rc < 0 ? rc : need (r, ',');
    rc = rc < 0 ? rc : read_number (r, 1, &b->repeat);
    return rc < 0 ? rc : need (r, ']');
}

static int add_block (struct map *m, const struct block *b, struct error *err)
{
    uint32_t left = TASKMAP_TASKS_MAX - m->n, task = m->n;
    int rc;

    if ((uint64_t)b->first + b->nodes > m->nranks)
        return error_set (err, ERANGE,
                          "taskmap: [%u,%u,%u,%u] has node %llu, nodes are 0 to %u",
                          b->first, b->nodes, b->ppn, b->repeat,
                          (unsigned long long)b->first + b->nodes - 1, m->nranks - 1);
    /* Divisions, because the product of the three can be more than 2^64. */
    if (b->ppn > left / b->nodes || b->repeat > left / (b->nodes * b->ppn))
        return too_many_tasks (err);
    if ((rc = map_reserve (m, m->n + b->nodes * b->ppn * b->repeat, err)) < 0)
        return rc;
    for (uint32_t i = 0; i < b->repeat; i++)
        for (uint32_t node = 0; node < b->nodes; node++)
            for (uint32_t k = 0; k < b->ppn; k++)
                m->ranks[task++] = b->first + node;
    return 0;
}

static int read_blocks (struct reader *r)
{
    struct block b;
    int rc = need (r, '[');

    if (rc < 0)
        return rc;
    do {
        if ((rc = read_block (r, &b)) < 0 || (rc = add_block (&r->map, &b, r->err)) < 0)
            return rc;
    } while (take (r, ','));
    return need (r, ']');
}

/* Whether the next token is this name in quotes; skips it then. */
static bool take_name (struct reader *r, const char *name)
{
    skip_blanks (r);
    if (strncmp (r->p, name, strlen (name)) != 0)
        return false;
    r->p += strlen (name);
    return true;
}

static int read_version (struct reader *r)
{
    uint32_t version;
    int rc = need (r, ':');

    if (rc < 0 || (rc = read_number (r, 0, &version)) < 0)
        return rc;
    if (version != 1)
        return error_set (r->err, EINVAL, "taskmap: version %u is not known, 1 is",
                          version);
    return 0;
}

/* Read {"version":1,"map":[...]}: both keys once, in either order, and no others. */
static int read_object (struct reader *r)
{
    bool version = false, map = false;
    int rc = need (r, '{');

    while (rc == 0 && !(version && map)) {
        if ((version || map) && (rc = need (r, ',')) < 0)
            break;
        if (!version && take_name (r, "\"version\"")) {
            version = true;
            rc = read_version (r);
        } else if (!map && take_name (r, "\"map\"")) {
            map = true;
            rc = need (r, ':');
            rc = rc < 0 ? rc : read_blocks (r);
        } else
            rc = expected (r, version ? "\"map\""
                              : map   ? "\"version\""
                                      : "\"version\" or \"map\"");
    }
    return rc < 0 ? rc : need (r, '}');
}

static int read_json (struct reader *r)
{
    int rc = *r->p == '{' ? read_object (r) : read_blocks (r);

    if (rc < 0)
        return rc;
    skip_blanks (r);
    return *r->p ? expected (r, "the end") : 0;
}

/* -- the raw form -- */

static int add_task (struct map *m, uint32_t task, uint32_t rank, struct error *err)
{
    int rc;

    if (task >= TASKMAP_TASKS_MAX)
        return too_many_tasks (err);
    if (task >= m->n && (rc = map_reserve (m, task + 1, err)) < 0)
        return rc;
    if (m->ranks[task] != NOWHERE)
        return error_set (err, EINVAL, "taskmap: task %u is on node %u and on node %u",
                          task, m->ranks[task], rank);
    m->ranks[task] = rank;
    return 0;
}

/* Read the tasks of one node; the length of its text limits the memory of the idset. */
static int read_raw_node (struct reader *r, size_t len, uint32_t rank)
{
    autofree char *text = strndup (r->p, len);
    int rc = 0;

    if (!text)
        return error_errno (r->err, ENOMEM, "taskmap");
    if (text[0] == '[')
        return expected (r, "a task");
    autoidset struct idset *s = idset_decode (text, TASKMAP_TASKS_MAX, r->err);
    if (!s)
        return error_prefix (r->err, "taskmap: node %u", rank);
    for (uint32_t id = idset_first (s); rc == 0 && id != IDSET_END;
         id = idset_next (s, id))
        rc = add_task (&r->map, id, rank, r->err);
    return rc;
}

static int read_raw (struct reader *r)
{
    int rc;

    for (uint32_t rank = 0;; rank++) {
        size_t len = strcspn (r->p, ";");
        if (rank == r->map.nranks)
            return error_set (r->err, ERANGE, "taskmap: node %u, nodes are 0 to %u", rank,
                              r->map.nranks - 1);
        if ((rc = read_raw_node (r, len, rank)) < 0)
            return rc;
        r->p += len;
        if (!*r->p)
            break;
        r->p++;
    }
    for (uint32_t task = 0; task < r->map.n; task++)
        if (r->map.ranks[task] == NOWHERE)
            return error_set (r->err, EINVAL, "taskmap: task %u is on no node", task);
    return r->map.n > 0 ? 0 : error_set (r->err, EINVAL, "taskmap: no task");
}

int taskmap_decode (const char *text, uint32_t nranks, uint32_t **ret_ranks,
                    uint32_t *ret_ntasks, struct error *err)
{
    struct reader r = {
        .text = text, .p = text, .err = err, .map = { .nranks = nranks }
    };
    struct error own = { 0 };

    if (!err)
        r.err = &own; /* error_prefix() returns the code in it */
    if (nranks == 0 || nranks > TASKMAP_RANKS_MAX)
        return error_set (err, ERANGE, "taskmap: %u nodes: from 1 to %u are possible",
                          nranks, TASKMAP_RANKS_MAX);
    skip_blanks (&r);
    int rc = *r.p == '[' || *r.p == '{' ? read_json (&r) : read_raw (&r);
    if (rc < 0) {
        free (r.map.ranks);
        return rc;
    }
    *ret_ranks = r.map.ranks;
    *ret_ntasks = r.map.n;
    return 0;
}

/* -- to text -- */

/* The number of tasks from `task` on that are on one node. */
static uint32_t run_length (const uint32_t *ranks, uint32_t ntasks, uint32_t task)
{
    uint32_t n = 1;

    while (task + n < ntasks && ranks[task + n] == ranks[task])
        n++;
    return n;
}

/* Find the block that begins with a task, with repeat 1; returns the task after it. */
static uint32_t next_block (const uint32_t *ranks, uint32_t ntasks, uint32_t task,
                            struct block *ret)
{
    ret->first = ranks[task];
    ret->ppn = run_length (ranks, ntasks, task);
    ret->nodes = 0;
    ret->repeat = 1;
    do {
        ret->nodes++;
        task += ret->ppn;
    } while (task < ntasks && ranks[task] == ret->first + ret->nodes
             && run_length (ranks, ntasks, task) == ret->ppn);
    return task;
}

int strbuf_add_taskmap (struct strbuf *sb, const uint32_t *ranks, uint32_t ntasks)
{
    struct block block, next;
    uint32_t task = next_block (ranks, ntasks, 0, &block);

    for (strbuf_addch (sb, '['); sb->err == 0;) {
        bool more = task < ntasks;
        if (more)
            task = next_block (ranks, ntasks, task, &next);
        if (more && next.first == block.first && next.nodes == block.nodes
            && next.ppn == block.ppn) {
            block.repeat++;
            continue;
        }
        strbuf_addf (sb, "[%u,%u,%u,%u]", block.first, block.nodes, block.ppn,
                     block.repeat);
        if (!more)
            break;
        strbuf_addch (sb, ',');
        block = next;
    }
    return strbuf_addch (sb, ']');
}

int taskmap_index (struct taskmap_index *x, const uint32_t *ranks, uint32_t ntasks,
                   uint32_t nranks)
{
    x->nranks = nranks;
    x->first = calloc ((size_t)nranks + 1, sizeof (*x->first));
    x->tasks = calloc (ntasks, sizeof (*x->tasks));
    if (!x->first || !x->tasks) {
        taskmap_index_release (x);
        return -ENOMEM;
    }
    for (uint32_t task = 0; task < ntasks; task++)
        x->first[ranks[task] + 1]++;
    for (uint32_t rank = 0; rank < nranks; rank++)
        x->first[rank + 1] += x->first[rank];
    for (uint32_t task = 0; task < ntasks; task++)
        x->tasks[x->first[ranks[task]]++] = task;
    /* Each element has advanced to the beginning of the next rank. */
    memmove (x->first + 1, x->first, nranks * sizeof (*x->first));
    x->first[0] = 0;
    return 0;
}

void taskmap_index_release (struct taskmap_index *x)
{
    free (x->first);
    free (x->tasks);
    *x = (struct taskmap_index){ 0 };
}
