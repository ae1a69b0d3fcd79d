/* sinfo_lines.c - see sinfo_lines.h */
#include "cmd/slurm/nodes/sinfo_lines.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/slurm/nodes/nodeview.h"

#define TEXT_MAX (1 << 20)

struct builder {
    struct sinfo_lines *lines;
    size_t size;
    const struct sinfo_grouping *g;
    size_t first; /* the first line that the current node has made */
};

/* -- what is alike -- */

static bool queues_alike (const json_t *a, const json_t *b, uint64_t by)
{
    static const struct {
        uint64_t bit;
        const char *key;
    } members[] = {
        { BY_PARTITION, "name" },    { BY_AVAIL, "started" },
        { BY_GROUPS, "groups" },     { BY_JOB_SIZE, "max_nodes" },
        { BY_MAX_TIME, "max_time" }, { BY_DEFAULT_TIME, "default_time" },
        { BY_PRIORITY, "priority" },
    };

    for (size_t i = 0; i < ARRAY_SIZE (members); i++)
        if (by & members[i].bit
            && !json_equal (json_object_get (a, members[i].key),
                            json_object_get (b, members[i].key)))
            return false;
    return true;
}

static bool texts_alike (void (*add) (struct strbuf *sb, const json_t *node),
                         const json_t *a, const json_t *b)
{
    autostrbuf struct strbuf x = STRBUF_INIT (TEXT_MAX), y = STRBUF_INIT (TEXT_MAX);

    add (&x, a);
    add (&y, b);
    return x.len == y.len && !memcmp (x.buf, y.buf, x.len);
}

static bool sizes_alike (const struct sinfo_line *line, const json_t *node, uint64_t by)
{
    return !(by & BY_CPUS && answer_number (node, "cores") != line->cpus_min)
           && !(by & BY_MEMORY && answer_number (node, "memory_mib") != line->memory_min)
           && !(by & BY_DISK && nodeview_tmp_disk (node) != line->disk_min);
}

static bool node_fits (const struct sinfo_line *line, const json_t *node, unsigned state,
                       const struct sinfo_grouping *g)
{
    const json_t *first = line->node;
    uint64_t by = g->by;

    if (by & BY_STATE && !nodeview_states_alike (state, line->state))
        return false;
    if (by & BY_STATE_COMPLETE && state != line->state)
        return false;
    if (by & BY_REASON
        && strcmp (json_text (node, "reason"), json_text (first, "reason")))
        return false;
    if (by & BY_RESERVATION
        && strcmp (nodeview_reservation (node), nodeview_reservation (first)) != 0)
        return false;
    if (by & BY_ALLOC_MEMORY
        && answer_number (node, "memory_used") != answer_number (first, "memory_used"))
        return false;
    if (g->exact && !sizes_alike (line, node, by))
        return false;
    if (by & BY_GRES && !texts_alike (nodeview_add_gres, node, first))
        return false;
    return !(by & BY_GRES_USED) || texts_alike (nodeview_add_gres_used, node, first);
}

static bool has_word (const char *list, const char *word)
{
    size_t n = strlen (word);

    for (const char *p = list; *p;) {
        size_t len = strcspn (p, ",");
        if (len == n && !memcmp (p, word, n))
            return true;
        p += len + (p[len] == ',');
    }
    return false;
}

/* -- lines -- */

static struct sinfo_line *add_line (struct builder *b, const json_t *queue, size_t index)
{
    struct sinfo_lines *lines = b->lines;

    if (lines->n == b->size) {
        size_t size = b->size * 2 + 16;
        struct sinfo_line *v = reallocarray (lines->v, size, sizeof (*v));
        if (!v)
            return NULL;
        lines->v = v;
        b->size = size;
    }
    struct sinfo_line *line = &lines->v[lines->n];
    *line = (struct sinfo_line){ .queue = queue,
                                 .queue_index = index,
                                 .names = hostlist_create (),
                                 .convert = b->g->convert };
    if (!line->names)
        return NULL;
    lines->n++;
    return line;
}

static void add_counts (struct sinfo_line *line, const json_t *node, unsigned state)
{
    double cpus = answer_number (node, "cores"),
           used = answer_number (node, "cores_used");
    double foreign = answer_number (node, "cores_foreign");
    bool closed = state & NODE_DRAIN || (state & NODE_BASE) == NODE_DOWN;

    line->nodes++;
    if (nodeview_is_used (state))
        line->alloc++;
    else if (closed)
        line->other++;
    else
        line->idle++;
    double rest = MAX (cpus - used, 0), idle = closed ? 0 : MAX (rest - foreign, 0);
    line->cpus[0] += MIN (used, cpus);
    line->cpus[1] += idle;
    line->cpus[2] += rest - idle;
}

static int add_node (struct sinfo_line *line, const json_t *node, size_t index,
                     unsigned state)
{
    double cpus = answer_number (node, "cores");
    double memory = answer_number (node, "memory_mib");
    double disk = nodeview_tmp_disk (node);

    if (!line->node) {
        line->node = node;
        line->state = state;
        line->cpus_min = line->cpus_max = cpus;
        line->memory_min = line->memory_max = memory;
        line->disk_min = line->disk_max = disk;
    } else if (line->last_node == index) {
        return 0;
    }
    line->last_node = index;
    line->cpus_min = MIN (line->cpus_min, cpus);
    line->cpus_max = MAX (line->cpus_max, cpus);
    line->memory_min = MIN (line->memory_min, memory);
    line->memory_max = MAX (line->memory_max, memory);
    line->disk_min = MIN (line->disk_min, disk);
    line->disk_max = MAX (line->disk_max, disk);
    add_counts (line, node, state);
    return hostlist_append (line->names, json_text (node, "name")) == -ENOMEM ? -ENOMEM
                                                                              : 0;
}

static bool fits (const struct builder *b, const struct sinfo_line *line,
                  const json_t *queue, size_t queue_index, const json_t *node,
                  unsigned state)
{
    if (!b->g->any_queue && line->queue_index != queue_index
        && !queues_alike (line->queue, queue, b->g->by))
        return false;
    if (!line->node)
        return true;
    return !b->g->each_node && node_fits (line, node, state, b->g);
}

/* A line by host can only be one that the same node has made, or an empty one. */
static bool is_candidate (const struct builder *b, size_t i)
{
    return !(b->g->by & BY_HOST) || i >= b->first || !b->lines->v[i].node;
}

static int insert (struct builder *b, const json_t *queue, size_t queue_index,
                   const json_t *node, size_t index, unsigned state)
{
    struct sinfo_line *line = NULL;
    size_t begin = b->g->each_node ? b->lines->n : 0;

    for (size_t i = begin; i < b->lines->n && !line; i++)
        if (is_candidate (b, i)
            && fits (b, &b->lines->v[i], queue, queue_index, node, state))
            line = &b->lines->v[i];
    if (!line && !(line = add_line (b, queue, queue_index)))
        return -ENOMEM;
    if (queue_index < line->queue_index) {
        line->queue = queue;
        line->queue_index = queue_index;
    }
    return add_node (line, node, index, state);
}

/* -- the whole -- */

static bool is_queue_wanted (const struct sinfo_grouping *g, const json_t *queue)
{
    return !g->queues || has_word (g->queues, json_text (queue, "name"));
}

static int insert_nodes (struct builder *b, const json_t *nodes, const json_t *queues)
{
    const struct sinfo_grouping *g = b->g;
    const json_t *node, *queue;
    size_t i, k;

    json_array_foreach (nodes, i, node) {
        unsigned state = nodeview_state (node);
        if (g->wanted && !g->wanted (g->arg, node, state))
            continue;
        b->first = b->lines->n;
        json_array_foreach (queues, k, queue) {
            if (is_queue_wanted (g, queue)
                && nodeview_has_queue (node, json_text (queue, "name"))
                && insert (b, queue, k, node, i, state) < 0)
                return -ENOMEM;
        }
    }
    return 0;
}

static int compare_made (const void *x, const void *y)
{
    const struct sinfo_line *a = x, *b = y;

    if (a->queue_index != b->queue_index)
        return a->queue_index < b->queue_index ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Sorts the names in each line, and the lines by queue and then by their first nodes. */
static int arrange (struct sinfo_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++) {
        struct sinfo_line *line = &lines->v[i];
        struct hostlist *sorted = nodeview_sort (line->names);
        if (!sorted)
            return -ENOMEM;
        hostlist_destroy (line->names);
        line->names = sorted;
        line->order = i;
    }
    if (lines->n)
        qsort (lines->v, lines->n, sizeof (*lines->v), compare_made);
    return 0;
}

int sinfo_lines_build (struct sinfo_lines *ret, const json_t *nodes, const json_t *queues,
                       const struct sinfo_grouping *g)
{
    struct builder b = { .lines = ret, .g = g };
    const json_t *queue;
    size_t k;

    *ret = (struct sinfo_lines){ .n = 0 };
    if (!g->each_node && g->by & BY_PARTITION) {
        json_array_foreach (queues, k, queue) {
            if (is_queue_wanted (g, queue) && !add_line (&b, queue, k))
                return -ENOMEM;
        }
    }
    if (insert_nodes (&b, nodes, queues) < 0)
        return -ENOMEM;
    return arrange (ret);
}

void sinfo_lines_release (struct sinfo_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        hostlist_destroy (lines->v[i].names);
    free (lines->v);
    *lines = (struct sinfo_lines){ .n = 0 };
}

/* -- the order -- */

static double avail_of (const struct sinfo_line *line)
{
    return answer_flag (line->queue, "started");
}

/* 0 in the answer: no limit. */
static double limit_of (const struct sinfo_line *line, const char *key)
{
    double n = answer_number (line->queue, key);

    return n > 0 ? n : 1e300;
}

static double number_of (const struct sinfo_line *line, char letter, bool as_configured)
{
    switch (letter) {
    case 'a':
        return avail_of (line);
    case 'A':
    case 'F':
        return (double)line->alloc;
    case 'c':
    case 'Y':
    case 'z':
        return line->cpus_min;
    case 'd':
        return line->disk_min;
    case 'D':
        return (double)line->nodes;
    case 'l':
        return limit_of (line, "max_time");
    case 'm':
        return line->memory_min;
    case 'P':
    case 'R':
        return as_configured ? (double)line->queue_index : 0;
    case 's':
        return limit_of (line, "max_nodes");
    case 'S':
        return answer_number (line->queue, "priority");
    case 't':
    case 'T':
        return line->state;
    default:
        return 0;
    }
}

static int compare_texts (const struct sinfo_line *a, const struct sinfo_line *b,
                          char letter, bool as_configured)
{
    const char *x = hostlist_nth (a->names, 0), *y = hostlist_nth (b->names, 0);

    switch (letter) {
    case 'n':
    case 'N':
    case 'o':
        return strverscmp (x ? x : "", y ? y : "");
    case 'E':
        return strcmp (json_text (a->node, "reason"), json_text (b->node, "reason"));
    case 'P':
    case 'R':
        return as_configured
                   ? 0
                   : strcmp (json_text (a->queue, "name"), json_text (b->queue, "name"));
    default:
        return 0;
    }
}

static int compare_lines (const void *p, const void *q, void *arg)
{
    const struct sinfo_line *a = p, *b = q;
    const char *spec = arg;

    for (const char *s = spec; *s; s++) {
        char before = s > spec ? s[-1] : '\0';
        double x = number_of (a, *s, before == '#'), y = number_of (b, *s, before == '#');
        int diff = x < y ? -1 : x > y;
        if (diff == 0)
            diff = compare_texts (a, b, *s, before == '#');
        if (diff)
            return before == '-' ? -diff : diff;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

int sinfo_lines_sort (struct sinfo_lines *lines, const char *spec, char *wrong)
{
    size_t good = strspn (spec, ",#+-aAbcdDeEfFghHilmMnNoOpPrRsStTuUVwXYZz");

    *wrong = spec[good];
    if (*wrong)
        return -EINVAL;
    for (size_t i = 0; i < lines->n; i++)
        lines->v[i].order = i;
    if (lines->n)
        qsort_r (lines->v, lines->n, sizeof (*lines->v), compare_lines, (void *)spec);
    return 0;
}
