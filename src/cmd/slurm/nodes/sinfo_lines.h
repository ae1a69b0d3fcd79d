/* sinfo_lines.h - the lines of sinfo: nodes grouped by the fields that a format shows
 *
 *     struct sinfo_lines lines;
 *     const struct sinfo_grouping g = { .by = format.needs };
 *     if (sinfo_lines_build (&lines, nodes, queues, &g) < 0) ...     // out of memory
 *     for (size_t i = 0; i < lines.n; i++)
 *         slurm_format_add_row (&format, &lines.v[i], &sb);
 *     sinfo_lines_release (&lines);
 *
 * As in Slurm, nodes share a line when the fields of the format that tell nodes apart are
 * alike; sizes (CPUs, memory) are such fields only if `exact`, otherwise the line has the
 * least and the greatest. A queue without nodes has a line if the format shows its name. A
 * node is in a line once. Time: nodes times queues times lines.
 */
#pragma once

#include "common/hostlist.h"
#include "common/json.h"

/* The fields by which nodes and queues are told apart; the `needs` of sinfo's fields. */
enum sinfo_by {
    BY_PARTITION = 1 << 0,
    BY_AVAIL = 1 << 1,
    BY_GROUPS = 1 << 2,
    BY_JOB_SIZE = 1 << 3,
    BY_DEFAULT_TIME = 1 << 4,
    BY_MAX_TIME = 1 << 5,
    BY_PRIORITY = 1 << 6,
    BY_HOST = 1 << 7,
    BY_GRES = 1 << 8,
    BY_GRES_USED = 1 << 9,
    BY_REASON = 1 << 10,
    BY_RESERVATION = 1 << 11,
    BY_STATE = 1 << 12,
    BY_STATE_COMPLETE = 1 << 13,
    BY_ALLOC_MEMORY = 1 << 14,
    BY_CPUS = 1 << 15,   /* if exact */
    BY_MEMORY = 1 << 16, /* if exact */
    BY_DISK = 1 << 17,   /* if exact */
};

struct sinfo_line {
    const json_t *queue; /* of GET /v1/queues; the first of several */
    size_t queue_index;
    const json_t *node; /* of GET /v1/nodes, the first of several; NULL: there is none */
    unsigned state;     /* the first node's: nodeview.h; 0: no node */
    struct hostlist *names;           /* in natural order */
    size_t nodes, alloc, idle, other; /* counts; nodes is their sum */
    double cpus[3];                   /* allocated, idle, other */
    double cpus_min, cpus_max;
    double memory_min, memory_max; /* MiB */
    double disk_min, disk_max;     /* MiB */
    bool convert;                  /* counts may have a unit: 1K */
    /* of the builder and the sort */
    size_t last_node, order;
};

struct sinfo_grouping {
    uint64_t by; /* enum sinfo_by */
    bool exact;
    bool each_node;     /* a line for each node in each queue */
    bool any_queue;     /* queues are not told apart */
    bool convert;       /* of all lines */
    const char *queues; /* only these: "a,b"; NULL: all */
    /* Whether the node is shown; NULL: all are. */
    bool (*wanted) (const void *arg, const json_t *node, unsigned state);
    const void *arg;
};

struct sinfo_lines {
    struct sinfo_line *v;
    size_t n;
};

/* nodes and queues: arrays that outlive the lines. 0 or -ENOMEM; release in any case. */
int sinfo_lines_build (struct sinfo_lines *ret, const json_t *nodes, const json_t *queues,
                       const struct sinfo_grouping *g);
void sinfo_lines_release (struct sinfo_lines *lines);

#define SINFO_SORT "#P,-t"   /* the default of -S */
#define SINFO_SORT_NODES "N" /* and that of -N */
/* Sorts by letters of -o, each with '-' (descending), '+' or '#' (queues as configured)
 * before it, and commas between; lines that are alike keep their order. 0, -ENOMEM, or
 * -EINVAL and the unknown letter in *wrong. */
int sinfo_lines_sort (struct sinfo_lines *lines, const char *spec, char *wrong);
