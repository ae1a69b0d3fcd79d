/* cluster.c - see cluster.h */
#include "tools/sim/cluster.h"

#include <ctype.h>

#include "common/parse.h"

#define MIB (INT64_C (1) << 20)
#define WORD_MAX 32

struct group {
    int64_t nodes, cores, gpus, memory_mib, rack; /* rack: nodes per rack, 0: none */
    bool has_gpus, has_memory, has_rack;
};

struct parser {
    const char *spec, *at;
    struct error *err;
};

static int refuse (const struct parser *p, const char *at, const char *expected)
{
    return error_set (p->err, EINVAL,
                      "character %zu: expected %s; an example is 4096x32c/4g/256Gi/r16",
                      (size_t)(at - p->spec) + 1, expected);
}

/* Reads digits, then their end. */
static int read_number (struct parser *p, int64_t max, const char *what, char end,
                        int64_t *ret)
{
    char expected[80];
    const char *from = p->at;
    int64_t n = 0;

    while (isdigit ((unsigned char)*p->at) && n <= max)
        n = n * 10 + (*p->at++ - '0');
    if (n >= 1 && n <= max && (!end || *p->at == end)) {
        p->at += end != 0;
        *ret = n;
        return 0;
    }
    bool range = n > max || (p->at > from && n == 0);
    if (p->at > from && !range)
        snprintf (expected, sizeof (expected), "'%c' after the number of %s", end, what);
    else
        snprintf (expected, sizeof (expected), "a number of %s from 1 to %lld", what,
                  (long long)max);
    return refuse (p, range ? from : p->at, expected);
}

static int read_memory (struct parser *p, const char *word, struct group *g)
{
    int64_t bytes;

    if (parse_bytes (word, &bytes, "memory", NULL) < 0 || bytes < MIB)
        return refuse (p, p->at,
                       "a number of GPUs (4g), memory of at least 1Mi (256Gi), or "
                       "a number of nodes in a rack (r16)");
    g->memory_mib = bytes / MIB;
    return 0;
}

/* Reads the part after a slash. */
static int read_part (struct parser *p, struct group *g)
{
    char word[WORD_MAX];
    const char *from = p->at;
    size_t len = strcspn (from, "/+");
    bool *seen, is_rack = *from == 'r';
    bool is_gpus = len > 1 && from[len - 1] == 'g';
    int rc;

    snprintf (word, sizeof (word), "%.*s", (int)MIN (len, sizeof (word) - 1), from);
    if (is_rack) {
        p->at++;
        rc = read_number (p, CLUSTER_NODES_MAX, "nodes in a rack", 0, &g->rack);
        seen = &g->has_rack;
    } else if (is_gpus) {
        rc = read_number (p, CLUSTER_GPUS_MAX, "GPUs", 'g', &g->gpus);
        seen = &g->has_gpus;
    } else {
        rc = read_memory (p, word, g);
        p->at += len;
        seen = &g->has_memory;
    }
    if (rc < 0)
        return rc;
    if (p->at != from + len)
        return refuse (p, p->at, "'/', '+' or the end");
    if (*seen)
        return refuse (p, from, "each part of a group only once");
    *seen = true;
    return 0;
}

static int read_group (struct parser *p, struct group *g)
{
    int rc = read_number (p, CLUSTER_NODES_MAX, "nodes", 'x', &g->nodes);

    if (rc == 0)
        rc = read_number (p, CLUSTER_CORES_MAX, "cores", 'c', &g->cores);
    while (rc == 0 && *p->at == '/') {
        p->at++;
        rc = read_part (p, g);
    }
    return rc;
}

static int read_spec (struct parser *p, struct group *groups, size_t *n)
{
    int64_t nodes = 0;

    for (*n = 0;;) {
        const char *from = p->at;
        if (*n == CLUSTER_GROUPS_MAX)
            return refuse (p, from, "at most 64 groups");
        int rc = read_group (p, &groups[*n]);
        if (rc < 0)
            return rc;
        nodes += groups[(*n)++].nodes;
        if (nodes > CLUSTER_NODES_MAX)
            return refuse (p, from, "at most 1000000 nodes in all");
        if (!*p->at)
            return 0;
        if (*p->at != '+')
            return refuse (p, p->at, "'/', '+' or the end");
        p->at++;
    }
}

static int add_group (struct cluster *c, const struct group *g, uint64_t *racks,
                      struct error *err)
{
    for (int64_t i = 0; i < g->nodes; i++) {
        char name[32], rack[32];
        *racks += g->rack && i % g->rack == 0;
        snprintf (name, sizeof (name), "node%llu", (unsigned long long)++c->nodes);
        snprintf (rack, sizeof (rack), "rack%llu", (unsigned long long)*racks);
        const struct machine_place places[] = { { "rack", rack }, { NULL, NULL } };
        const struct machine_node_spec spec = { .name = name,
                                                .places = g->rack ? places : NULL,
                                                .cores = (uint32_t)g->cores,
                                                .gpus = (uint32_t)g->gpus,
                                                .memory_mib = g->memory_mib };
        int rc = machine_node_add (c->machine, &spec, err);
        if (rc < 0)
            return rc;
        c->cores += (uint64_t)g->cores;
        c->gpus += (uint64_t)g->gpus;
        c->memory_mib += g->memory_mib;
    }
    return 0;
}

int cluster_build (const char *spec, struct cluster *ret, struct error *err)
{
    struct group groups[CLUSTER_GROUPS_MAX] = { 0 };
    struct parser p = { .spec = spec, .at = spec, .err = err };
    uint64_t racks = 0;
    size_t n;
    int rc = read_spec (&p, groups, &n);

    *ret = (struct cluster){ 0 };
    if (rc < 0)
        return rc;
    if (!(ret->machine = machine_create ("cluster")))
        return error_set (err, ENOMEM, "out of memory");
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_group (ret, &groups[i], &racks, err);
    if (rc < 0)
        cluster_release (ret);
    return rc;
}

void cluster_release (struct cluster *c)
{
    machine_destroy (c->machine);
    *c = (struct cluster){ 0 };
}
