/* usage.c - sums of what jobs had in a period, by account and user; see sreport.h */
#include "cmd/slurm/report/sreport.h"

#include <string.h>

#include "cmd/print/print.h"
#include "cmd/slurm/words/words.h"

#define KEY_MAX 4096

const char *const resource_names[RESOURCES] = { "cpu", "mem", "node", "gres/gpu" };

struct gathering {
    const struct sreport *s;
    struct usages *u;
    struct acct_row row;
    bool no_memory;
};

static void add_filters (void *arg, struct strbuf *target, enum acct_source source)
{
    const struct sreport *s = ((struct gathering *)arg)->s;

    (void)source;
    target_add (target, "user", s->users);
}

/* -- the map of users -- */

static struct usage *grow (struct usages *u)
{
    if ((u->n & (u->n - 1)) == 0) {
        struct usage *v = realloc (u->v, MAX (2 * u->n, 16) * sizeof (*v));
        if (!v)
            return NULL;
        u->v = v;
    }
    u->v[u->n] = (struct usage){ .account = "", .user = "" };
    return &u->v[u->n++];
}

/* The names are the parts of the key, which the index keeps. */
static struct usage *find (struct usages *u, const char *account, const char *user)
{
    autostrbuf struct strbuf key = STRBUF_INIT (KEY_MAX);

    strbuf_addf (&key, "%s\037%s", account, user);
    const json_t *at = json_object_get (u->index, key.buf);
    if (at)
        return &u->v[json_integer_value (at)];
    struct usage *usage = key.err ? NULL : grow (u);
    if (!usage
        || json_object_set_new (u->index, key.buf, json_integer ((json_int_t)u->n - 1))
               < 0)
        return NULL;
    return usage;
}

/* Points the usages to their names in the index. */
static int name_usages (struct usages *u)
{
    const char *key;
    json_t *at;

    json_object_foreach (u->index, key, at) {
        struct usage *usage = &u->v[json_integer_value (at)];
        const char *end = strchr (key, '\037');
        usage->user = end + 1;
        usage->account = strndup (key, (size_t)(end - key));
        if (!usage->account)
            return -ENOMEM;
    }
    return 0;
}

/* -- jobs -- */

static size_t group_of (const struct sreport *s, double cpus)
{
    size_t i = 0;

    while (i < s->nbounds && cpus >= s->bounds[i])
        i++;
    return i;
}

static void add (const struct sreport *s, struct usage *to, const struct acct_row *row)
{
    double seconds = acct_elapsed (row), cpus = acct_cpus (row, false);

    to->seconds[RESOURCE_CPU] += seconds * cpus;
    to->seconds[RESOURCE_MEM] += seconds * acct_memory (row, false);
    to->seconds[RESOURCE_NODE] += seconds * acct_nodes (row, false);
    to->seconds[RESOURCE_GPU] += seconds * acct_gpus (row, false);
    to->sizes[group_of (s, cpus)] += s->count_jobs ? 1 : seconds * cpus;
}

static void on_row (void *arg, const struct acct_rows *rows, size_t i)
{
    struct gathering *g = arg;
    struct acct_row *row = &g->row;

    acct_rows_fill (rows, i, row);
    if (!acct_has_run (row) || acct_start (row) >= g->s->until)
        return;
    const char *account =
        acct_has (row, ACCT_ACCOUNT) ? row->values[ACCT_ACCOUNT] : REPORT_ROOT;
    bool wanted = !g->s->accounts || slurm_list_has (g->s->accounts, account);
    add (g->s, &g->u->all, row);
    struct usage *usage = wanted ? find (g->u, account, row->values[ACCT_USER]) : NULL;
    if (usage)
        add (g->s, usage, row);
    g->no_memory |= wanted && !usage;
}

static int add_capacity (struct cmd *c, const struct sreport *s, struct usages *u)
{
    autojson json_t *answer = NULL;
    double seconds = s->until - s->since;
    const json_t *node;
    size_t i;

    if (cmd_get (c, "/v1/nodes", &answer) != CMD_OK)
        return c->status;
    json_array_foreach (json_object_get (answer, "nodes"), i, node) {
        u->capacity[RESOURCE_CPU] += seconds * answer_number (node, "cores");
        u->capacity[RESOURCE_MEM] += seconds * answer_number (node, "memory_mib");
        u->capacity[RESOURCE_NODE] += seconds;
        u->capacity[RESOURCE_GPU] += seconds * answer_number (node, "gpus");
    }
    return CMD_OK;
}

int usage_gather (struct cmd *c, const struct sreport *s, struct usages *ret)
{
    const struct acct_view view = {
        .now = s->now, .since = s->since, .until = s->until, .truncate = true
    };
    struct gathering g = { .s = s, .u = ret };
    const struct acct_walk walk = {
        .c = c,
        .view = &view,
        .needs = ACCT_BIT (ACCOUNT) | ACCT_BIT (USER) | ACCT_BIT (ST) | ACCT_BIT (START)
                 | ACCT_BIT (END) | ACCT_BIT (NTASKS) | ACCT_BIT (NCORES)
                 | ACCT_BIT (CPU_MILLI) | ACCT_BIT (NODES) | ACCT_BIT (GPUS)
                 | ACCT_BIT (MEMORY) | ACCT_BIT (NODE_MEMORY) | ACCT_BIT (NODE_GRES),
        .add_filters = add_filters,
        .row = on_row,
        .arg = &g,
    };

    *ret = (struct usages){ .index = json_object () };
    acct_row_init (&g.row, &view);
    if (add_capacity (c, s, ret) != CMD_OK || acct_walk (&walk) != CMD_OK)
        return c->status;
    if (g.no_memory || name_usages (ret) < 0)
        return cmd_fail (c, "out of memory");
    return CMD_OK;
}

void usage_release (struct usages *u)
{
    for (size_t i = 0; i < u->n; i++)
        if (*u->v[i].account)
            free ((char *)u->v[i].account);
    free (u->v);
    json_decref (u->index);
}
