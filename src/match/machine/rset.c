/* rset.c - R version 1: encodes, decodes and checks it */
#include <math.h>

#include "common/gputype.h"
#include "common/hostlist.h"
#include "common/thousandths.h"
#include "jobspec/jobspec.h"
#include "match/machine/rset.h"

#define RANKS_MAX (1 << 20)
#define UNITS_MAX (1 << 20) /* cores, or gpus, of a rank */
#define WRITER "fluxq:1"

struct rset *rset_create (size_t nranks)
{
    struct rset *r = calloc (1, sizeof (*r));
    if (!r || !(r->ranks = calloc (MAX (nranks, 1), sizeof (*r->ranks)))) {
        free (r);
        return NULL;
    }
    for (; r->nranks < nranks; r->nranks++) {
        struct rset_rank *rank = &r->ranks[r->nranks];
        rank->cores = idset_create ();
        rank->gpus = idset_create ();
        if (!rank->cores || !rank->gpus) {
            r->nranks++;
            rset_destroy (r);
            return NULL;
        }
    }
    return r;
}

void rset_destroy (struct rset *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->nranks; i++) {
        free (r->ranks[i].node);
        idset_destroy (r->ranks[i].cores);
        idset_destroy (r->ranks[i].gpus);
        free (r->ranks[i].gpu_type);
        gres_release (&r->ranks[i].gres);
    }
    free (r->ranks);
    free (r);
}

uint32_t rset_slots (const struct rset *r)
{
    uint32_t n = 0;
    for (size_t i = 0; i < r->nranks; i++)
        n += r->ranks[i].slots;
    return n;
}

uint32_t rset_cores (const struct rset *r)
{
    uint32_t n = 0;

    for (size_t i = 0; i < r->nranks; i++)
        n += idset_count (r->ranks[i].cores);
    return n + (uint32_t)milli_whole (rset_cpu_milli (r));
}

int64_t rset_cpu_milli (const struct rset *r)
{
    int64_t milli = 0;

    for (size_t i = 0; i < r->nranks; i++)
        milli += gres_get (&r->ranks[i].gres, GRES_CPU_MILLI);
    return milli;
}

int64_t rset_rank_cpu_milli (const struct rset_rank *rank)
{
    return 1000 * (int64_t)idset_count (rank->cores)
           + gres_get (&rank->gres, GRES_CPU_MILLI);
}

/* -- encode -- */

static int compare_ranks (const void *a, const void *b)
{
    const struct rset_rank *x = *(const struct rset_rank *const *)a;
    const struct rset_rank *y = *(const struct rset_rank *const *)b;
    return (x->node_index > y->node_index) - (x->node_index < y->node_index);
}

/* Pointers to the ranks by ascending node index; NULL: no memory or an index twice. */
static const struct rset_rank **ranks_sort (const struct rset *r)
{
    const struct rset_rank **sorted = calloc (r->nranks, sizeof (*sorted));
    if (!sorted)
        return NULL;
    for (size_t i = 0; i < r->nranks; i++)
        sorted[i] = &r->ranks[i];
    qsort (sorted, r->nranks, sizeof (*sorted), compare_ranks);
    for (size_t i = 0; i < r->nranks; i++) {
        if (sorted[i]->node_index < 0
            || (i > 0 && sorted[i]->node_index == sorted[i - 1]->node_index)) {
            free (sorted);
            return NULL;
        }
    }
    return sorted;
}

static json_t *idset_to_json (const struct idset *ids)
{
    autofree char *text = idset_encode (ids);
    return text ? json_string (text) : NULL;
}

/* Makes one entry of R_lite for adjacent ranks with equal ids. */
static json_t *lite_entry (const struct rset_rank *const *sorted, size_t first,
                           size_t end)
{
    struct idset *ids = idset_create ();
    for (size_t i = first; ids && i < end; i++) {
        if (idset_add (ids, (uint32_t)sorted[i]->node_index) < 0) {
            idset_destroy (ids);
            ids = NULL;
        }
    }
    json_t *rank = ids ? idset_to_json (ids) : NULL;
    idset_destroy (ids);
    json_t *entry = json_pack ("{s:o, s:{s:o}}", "rank", rank, "children", "core",
                               idset_to_json (sorted[first]->cores));
    if (entry && idset_count (sorted[first]->gpus) > 0
        && json_object_set_new (json_object_get (entry, "children"), "gpu",
                                idset_to_json (sorted[first]->gpus))
               < 0) {
        json_decref (entry);
        return NULL;
    }
    return entry;
}

static json_t *lite_to_json (const struct rset_rank *const *sorted, size_t n)
{
    json_t *lite = json_array ();
    size_t end;
    for (size_t i = 0; lite && i < n; i = end) {
        for (end = i + 1; end < n && idset_equal (sorted[i]->cores, sorted[end]->cores)
                          && idset_equal (sorted[i]->gpus, sorted[end]->gpus);)
            end++;
        if (json_array_append_new (lite, lite_entry (sorted, i, end)) < 0) {
            json_decref (lite);
            return NULL;
        }
    }
    return lite;
}

enum field {
    FIELD_MEMORY,
    FIELD_SLOTS,
    FIELD_EXCLUSIVE,
    FIELD_COMPONENT,
    FIELD_GRES,
    FIELD_GPU_TYPE
};
static const char *const field_keys[] = { "memory",    "slots", "exclusive",
                                          "component", "gres",  "gpu_type" };

static const char *gpu_type_of (const struct rset_rank *rank)
{
    return rank->gpu_type ? rank->gpu_type : "";
}

static int64_t field_get (const struct rset_rank *rank, enum field f)
{
    return f == FIELD_MEMORY      ? rank->memory_mib
           : f == FIELD_SLOTS     ? rank->slots
           : f == FIELD_COMPONENT ? rank->component
                                  : rank->exclusive;
}

static bool field_equal (const struct rset_rank *a, const struct rset_rank *b,
                         enum field f)
{
    return f == FIELD_GRES       ? gres_equal (&a->gres, &b->gres)
           : f == FIELD_GPU_TYPE ? !strcmp (gpu_type_of (a), gpu_type_of (b))
                                 : field_get (a, f) == field_get (b, f);
}

static json_t *value_to_json (const struct rset_rank *rank, enum field f)
{
    return f == FIELD_GRES       ? gres_to_json (&rank->gres)
           : f == FIELD_GPU_TYPE ? json_string (gpu_type_of (rank))
                                 : json_integer (field_get (rank, f));
}

/* One value if all ranks agree, else an array in job order. */
static json_t *field_to_json (const struct rset *r, enum field f)
{
    bool same = true;
    for (size_t i = 1; i < r->nranks && same; i++)
        same = field_equal (&r->ranks[i], &r->ranks[0], f);
    if (same)
        return value_to_json (&r->ranks[0], f);
    json_t *list = json_array ();
    for (size_t i = 0; list && i < r->nranks; i++) {
        if (json_array_append_new (list, value_to_json (&r->ranks[i], f)) < 0) {
            json_decref (list);
            return NULL;
        }
    }
    return list;
}

/* Generic resources, components and types of GPUs are left out if no rank has any. */
static bool has_field (const struct rset *r, enum field f)
{
    bool any = f < FIELD_COMPONENT;

    for (size_t i = 0; i < r->nranks && !any; i++)
        any = f == FIELD_GRES        ? r->ranks[i].gres.n > 0
              : f == FIELD_COMPONENT ? r->ranks[i].component > 0
                                     : r->ranks[i].gpu_type != NULL;
    return any;
}

static json_t *scheduling_to_json (const struct rset *r, bool in_order)
{
    json_t *ours = json_object ();
    bool ok = ours != NULL;
    for (enum field f = 0; ok && f < ARRAY_SIZE (field_keys); f++)
        ok = !has_field (r, f)
             || json_object_set_new (ours, field_keys[f], field_to_json (r, f)) == 0;
    if (ok && !in_order) {
        autofree char *order = rset_nodelist (r);
        ok = order && json_object_set_new (ours, "nodelist", json_string (order)) == 0;
    }
    if (!ok) {
        json_decref (ours);
        return NULL;
    }
    return json_pack ("{s:s, s:o}", "writer", WRITER, "fluxq", ours);
}

static char *nodelist_of (const struct rset_rank *const *ranks, size_t n)
{
    struct hostlist *hl = hostlist_create ();
    char *text = NULL;
    size_t i = 0;
    while (hl && i < n && hostlist_append (hl, ranks[i]->node) == 0)
        i++;
    if (hl && i == n)
        text = hostlist_encode (hl);
    hostlist_destroy (hl);
    return text;
}

static int set_time (json_t *o, const char *key, double t)
{
    return t > 0 ? json_object_set_new (o, key, json_real (t)) : 0;
}

json_t *rset_to_json (const struct rset *r)
{
    autofree const struct rset_rank **sorted = r->nranks > 0 ? ranks_sort (r) : NULL;
    if (!sorted)
        return NULL;
    bool in_order = true;
    for (size_t i = 0; i < r->nranks && in_order; i++)
        in_order = sorted[i] == &r->ranks[i];
    autofree char *nodelist = nodelist_of (sorted, r->nranks);
    json_t *scheduling = scheduling_to_json (r, in_order);
    json_t *execution = json_pack (
        "{s:o, s:[s]}", "R_lite", lite_to_json (sorted, r->nranks), "nodelist", nodelist);
    if (!execution || !scheduling
        || (rset_slots (r) > 0
            && json_object_set_new (execution, "nslots", json_integer (rset_slots (r)))
                   < 0)
        || set_time (execution, "starttime", r->starttime) < 0
        || set_time (execution, "expiration", r->expiration) < 0) {
        json_decref (execution);
        json_decref (scheduling);
        return NULL;
    }
    return json_pack ("{s:i, s:o, s:o}", "version", 1, "execution", execution,
                      "scheduling", scheduling);
}

char *rset_encode (const struct rset *r)
{
    autojson json_t *o = rset_to_json (r);
    return o ? json_dumps (o, JSON_COMPACT | JSON_REAL_PRECISION (16)) : NULL;
}

char *rset_nodelist (const struct rset *r)
{
    autofree const struct rset_rank **ranks =
        calloc (MAX (r->nranks, 1), sizeof (*ranks));
    if (!ranks)
        return NULL;
    for (size_t i = 0; i < r->nranks; i++)
        ranks[i] = &r->ranks[i];
    return nodelist_of (ranks, r->nranks);
}

/* -- decode -- */

static struct idset *idset_from_json (const json_t *o, const char *key,
                                      enum json_need need, size_t limit,
                                      const char *where, struct error *err)
{
    const char *text = "";
    if (json_get_string (o, key, &text, need, where, err) < 0)
        return NULL;
    struct idset *ids = *text ? idset_decode (text, limit, err) : idset_create ();
    if (!ids && !*text)
        error_no_memory (err, NULL);
    if (!ids)
        error_prefix (err, "%s.%s", where, key);
    return ids;
}

/* Adds the ranks of an entry in their order; names follow later. */
static int lite_decode_ids (struct rset *r, size_t *alloc, const struct idset *ids,
                            const struct idset *cores, const struct idset *gpus,
                            struct error *err)
{
    IDSET_FOREACH (ids, id)
    {
        if (r->nranks == RANKS_MAX)
            return error_set (err, EINVAL, "R: more than %d ranks", RANKS_MAX);
        if (array_reserve (&r->ranks, alloc, r->nranks + 1, sizeof (*r->ranks)) < 0)
            return error_set (err, ENOMEM, "R: out of memory");
        struct rset_rank *rank = &r->ranks[r->nranks++];
        *rank = (struct rset_rank){ .node_index = (int)id, .slots = 1 };
        rank->cores = idset_copy (cores);
        rank->gpus = idset_copy (gpus);
        if (!rank->cores || !rank->gpus)
            return error_set (err, ENOMEM, "R: out of memory");
    }
    return 0;
}

static int lite_decode (struct rset *r, const json_t *lite, struct error *err)
{
    size_t alloc = 0, i;
    json_t *entry;
    json_array_foreach (lite, i, entry) {
        char where[64];
        snprintf (where, sizeof (where), "R.execution.R_lite[%zu]", i);
        json_t *children;
        int rc =
            json_get_object (entry, "children", &children, JSON_REQUIRED, where, err);
        if (rc < 0)
            return rc;
        struct idset *ids =
            idset_from_json (entry, "rank", JSON_REQUIRED, RANKS_MAX, where, err);
        struct idset *cores = ids ? idset_from_json (children, "core", JSON_OPTIONAL_KEY,
                                                     UNITS_MAX, where, err)
                                  : NULL;
        struct idset *gpus = cores ? idset_from_json (children, "gpu", JSON_OPTIONAL_KEY,
                                                      UNITS_MAX, where, err)
                                   : NULL;
        rc = gpus ? lite_decode_ids (r, &alloc, ids, cores, gpus, err) : -EINVAL;
        idset_destroy (ids);
        idset_destroy (cores);
        idset_destroy (gpus);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compare_index (const void *a, const void *b)
{
    const struct rset_rank *x = a, *y = b;
    return (x->node_index > y->node_index) - (x->node_index < y->node_index);
}

static struct hostlist *hosts_decode (const json_t *list, size_t limit, struct error *err)
{
    struct hostlist *all = hostlist_create ();
    size_t i;
    json_t *v;
    json_array_foreach (list, i, v) {
        size_t left = all ? limit - hostlist_count (all) : 0;
        struct hostlist *hl = json_is_string (v)
                                  ? hostlist_decode (json_string_value (v), left, err)
                                  : NULL;
        if (!json_is_string (v))
            error_set (err, EINVAL,
                       "R.execution.nodelist[%zu]: expected a string, got %s", i,
                       json_type_name (v));
        size_t j = 0;
        while (all && hl && j < hostlist_count (hl)
               && hostlist_append (all, hostlist_nth (hl, j)) == 0)
            j++;
        bool ok = all && hl && j == hostlist_count (hl);
        if (!ok && (!all || hl))
            error_no_memory (err, "R");
        hostlist_destroy (hl);
        if (!ok) {
            hostlist_destroy (all);
            return NULL;
        }
    }
    if (!all)
        error_no_memory (err, "R");
    return all;
}

/* Sets the names of the ranks, which are sorted by index. */
static int names_decode (struct rset *r, const json_t *list, struct error *err)
{
    if (r->nranks > 1)
        qsort (r->ranks, r->nranks, sizeof (*r->ranks), compare_index);
    struct hostlist *hosts = hosts_decode (list, r->nranks, err);
    if (!hosts)
        return -EINVAL;
    int rc = 0;
    if (hostlist_count (hosts) != r->nranks)
        rc = error_set (err, EINVAL, "R.execution: %zu ranks but %zu names", r->nranks,
                        hostlist_count (hosts));
    for (size_t i = 0; rc == 0 && i < r->nranks; i++) {
        if (i > 0 && r->ranks[i].node_index == r->ranks[i - 1].node_index)
            rc = error_set (err, EINVAL, "R.execution.R_lite: rank %d twice",
                            r->ranks[i].node_index);
        else if (!(r->ranks[i].node = strdup (hostlist_nth (hosts, i))))
            rc = error_set (err, ENOMEM, "R: out of memory");
    }
    hostlist_destroy (hosts);
    return rc;
}

static int compare_name (const void *a, const void *b)
{
    const struct rset_rank *x = a, *y = b;
    return strcmp (x->node, y->node);
}

static int names_unique (struct rset *r, struct error *err)
{
    for (size_t i = 1; i < r->nranks; i++) {
        if (strcmp (r->ranks[i].node, r->ranks[i - 1].node) == 0)
            return error_set (err, EINVAL, "R: node %s twice", r->ranks[i].node);
    }
    return 0;
}

/* Puts the ranks, sorted by name, into the order of `names`. */
static int ranks_permute (struct rset *r, const struct hostlist *names, struct error *err)
{
    struct rset_rank *ordered = calloc (r->nranks, sizeof (*ordered));
    autofree bool *taken = calloc (r->nranks, sizeof (*taken));
    if (!ordered || !taken) {
        free (ordered);
        return error_set (err, ENOMEM, "R: out of memory");
    }
    for (size_t i = 0; i < r->nranks; i++) {
        struct rset_rank key = { .node = (char *)hostlist_nth (names, i) };
        struct rset_rank *at =
            bsearch (&key, r->ranks, r->nranks, sizeof (key), compare_name);
        if (!at || taken[at - r->ranks]) {
            free (ordered);
            return error_set (err, EINVAL,
                              "R.scheduling.fluxq.nodelist: %s is not one of its "
                              "nodes, or is there twice",
                              key.node);
        }
        taken[at - r->ranks] = true;
        ordered[i] = *at;
    }
    free (r->ranks);
    r->ranks = ordered;
    return 0;
}

/* Puts the ranks into job order: that of `text`, or without it that of their indexes. */
static int order_decode (struct rset *r, const char *text, struct error *err)
{
    qsort (r->ranks, r->nranks, sizeof (*r->ranks), compare_name);
    int rc = names_unique (r, err);
    if (rc == 0 && !text)
        qsort (r->ranks, r->nranks, sizeof (*r->ranks), compare_index);
    if (rc < 0 || !text)
        return rc;
    struct hostlist *names = hostlist_decode (text, r->nranks, err);
    if (!names)
        return -EINVAL;
    rc = hostlist_count (names) == r->nranks
             ? ranks_permute (r, names, err)
             : error_set (err, EINVAL,
                          "R.scheduling.fluxq.nodelist: %zu names for %zu ranks",
                          hostlist_count (names), r->nranks);
    hostlist_destroy (names);
    return rc;
}

/* "": not known */
static int gpu_type_set (struct rset_rank *rank, const json_t *v, struct error *err)
{
    const char *text = json_string_value (v);
    char type[GPU_TYPE_MAX + 1];

    if (text && !*text)
        return 0;
    if (!text || gpu_type_read (text, type) < 0)
        return error_set (err, EINVAL, "R.scheduling.fluxq.gpu_type: not a type of GPUs");
    free (rank->gpu_type);
    rank->gpu_type = strdup (type);
    return rank->gpu_type ? 0 : error_no_memory (err, NULL);
}

static int field_set (struct rset_rank *rank, enum field f, const json_t *v,
                      struct error *err)
{
    if (f == FIELD_GPU_TYPE)
        return gpu_type_set (rank, v, err);
    if (f == FIELD_GRES)
        return gres_from_json (v, &rank->gres, "R.scheduling.fluxq.gres", err);
    int64_t n = json_is_integer (v) ? json_integer_value (v) : -1;
    int64_t max = f == FIELD_MEMORY      ? INT64_C (1) << 50
                  : f == FIELD_SLOTS     ? INT32_MAX
                  : f == FIELD_COMPONENT ? JOBSPEC_COMPONENTS_MAX - 1
                                         : 1;
    if (n < 0 || n > max)
        return error_set (err, EINVAL,
                          "R.scheduling.fluxq.%s: not an integer from 0 to %lld",
                          field_keys[f], (long long)max);
    if (f == FIELD_MEMORY)
        rank->memory_mib = n;
    else if (f == FIELD_SLOTS)
        rank->slots = (uint32_t)n;
    else if (f == FIELD_COMPONENT)
        rank->component = (uint16_t)n;
    else
        rank->exclusive = n == 1;
    return 0;
}

/* The ranks of a component follow each other, those of component 0 first. */
static int components_check (const struct rset *r, struct error *err)
{
    for (size_t i = 0; i < r->nranks; i++) {
        uint16_t before = i > 0 ? r->ranks[i - 1].component : 0;

        if (r->ranks[i].component < before || r->ranks[i].component > before + (i > 0))
            return error_set (
                err, EINVAL,
                "R.scheduling.fluxq.component: %u at rank %zu is out of order",
                r->ranks[i].component, i);
    }
    return 0;
}

static int scheduling_decode (struct rset *r, const json_t *ours, struct error *err)
{
    const char *order = NULL;
    int rc = ours ? json_get_string (ours, "nodelist", &order, JSON_OPTIONAL_KEY,
                                     "R.scheduling.fluxq", err)
                  : 0;
    if (rc < 0 || (rc = order_decode (r, order, err)) < 0)
        return rc;
    for (enum field f = 0; f < ARRAY_SIZE (field_keys); f++) {
        const json_t *v = ours ? json_object_get (ours, field_keys[f]) : NULL;
        if (json_is_array (v) && json_array_size (v) != r->nranks)
            return error_set (err, EINVAL,
                              "R.scheduling.fluxq.%s: %zu values for %zu ranks",
                              field_keys[f], json_array_size (v), r->nranks);
        for (size_t i = 0; v && i < r->nranks; i++) {
            const json_t *one = json_is_array (v) ? json_array_get (v, i) : v;
            if ((rc = field_set (&r->ranks[i], f, one, err)) < 0)
                return rc;
        }
    }
    return components_check (r, err);
}

static int root_decode (struct rset *r, const json_t *root, struct error *err)
{
    int64_t version;
    json_t *execution, *lite, *nodelist, *scheduling = NULL;
    int rc;
    if ((rc = json_get_int (root, "version", 1, 1, &version, JSON_REQUIRED, "R", err)) < 0
        || (rc = json_get_object (root, "execution", &execution, JSON_REQUIRED, "R", err))
               < 0
        || (rc = json_get_object (root, "scheduling", &scheduling, JSON_OPTIONAL_KEY, "R",
                                  err))
               < 0
        || (rc = json_get_array (execution, "R_lite", &lite, JSON_REQUIRED, "R.execution",
                                 err))
               < 0
        || (rc = json_get_array (execution, "nodelist", &nodelist, JSON_REQUIRED,
                                 "R.execution", err))
               < 0
        || (rc = json_get_double (execution, "starttime", 0, 1e12, &r->starttime,
                                  JSON_OPTIONAL_KEY, "R.execution", err))
               < 0
        || (rc = json_get_double (execution, "expiration", 0, 1e12, &r->expiration,
                                  JSON_OPTIONAL_KEY, "R.execution", err))
               < 0)
        return rc;
    if ((rc = lite_decode (r, lite, err)) < 0
        || (rc = names_decode (r, nodelist, err)) < 0)
        return rc;
    if (r->nranks == 0)
        return error_set (err, EINVAL, "R.execution.R_lite: there are no ranks in it");
    json_t *ours = scheduling ? json_object_get (scheduling, "fluxq") : NULL;
    return scheduling_decode (r, json_is_object (ours) ? ours : NULL, err);
}

struct rset *rset_from_json (const json_t *root, struct error *err)
{
    struct rset *r = rset_create (0);
    if (!r)
        return error_null (error_no_memory (err, "R"));
    if (root_decode (r, root, err) < 0) {
        rset_destroy (r);
        return NULL;
    }
    return r;
}

struct rset *rset_decode (const char *text, size_t len, struct error *err)
{
    autojson json_t *root = json_parse (text, len, "R", err);
    return root ? rset_from_json (root, err) : NULL;
}
