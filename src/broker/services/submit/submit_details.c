/* submit_details.c - see submit_details.h
 */
#include "broker/services/submit/submit_details.h"

#include <math.h>

#include "broker/core/exec_job.h"
#include "common/gres.h"
#include "common/parse.h"

#define TEXT_MAX 65536
#define PROGRAM_MAX 1024 /* bytes shown of a command */

static void set_text (json_t *o, const char *key, const char *text)
{
    if (text && *text)
        json_object_set_new (o, key, json_string (text));
}

static void set_number (json_t *o, const char *key, int64_t n)
{
    char text[24];

    snprintf (text, sizeof (text), "%jd", (intmax_t)n);
    if (n > 0)
        set_text (o, key, text);
}

/* -- resources of a node -- */

struct per_node {
    bool exclusive;
    int64_t memory, tmp_disk; /* MiB */
    struct gres_list gres;
};

static bool is_type (const struct jobspec_resource *r, const char *type)
{
    return !strcmp (r->type, type);
}

static bool is_structure (const struct jobspec_resource *r)
{
    return is_type (r, "slot") || is_type (r, "core") || is_type (r, "node") || r->nwith;
}

/* Adds what is below a node; times: the product of the smallest counts down to r. */
static void add_below (const struct jobspec_resource *r, int64_t times,
                       struct per_node *ret)
{
    int64_t mib = 0;

    times *= r->count.min;
    if (is_type (r, "memory")) {
        if (jobspec_memory_mib (r->unit, times, &mib) == 0)
            ret->memory += mib;
    } else if (is_type (r, GRES_TMP_DISK)) {
        ret->tmp_disk += times;
    } else if (!is_structure (r) && gres_name_is_valid (r->type)) {
        gres_set (&ret->gres, r->type, gres_get (&ret->gres, r->type) + times);
    } else if (is_type (r, "gpu")) {
        gres_set (&ret->gres, "gpu", gres_get (&ret->gres, "gpu") + times);
    }
    for (size_t i = 0; i < r->nwith; i++)
        add_below (&r->with[i], times, ret);
}

static void find_nodes (const struct jobspec_resource *list, size_t n,
                        struct per_node *ret)
{
    for (size_t i = 0; i < n; i++) {
        const struct jobspec_resource *r = &list[i];
        ret->exclusive |=
            r->exclusive == JOBSPEC_TRUE && (is_type (r, "node") || is_type (r, "slot"));
        if (!is_type (r, "node"))
            find_nodes (r->with, r->nwith, ret);
        for (size_t j = 0; is_type (r, "node") && j < r->nwith; j++)
            add_below (&r->with[j], 1, ret);
    }
}

static void add_resources (json_t *o, const struct jobspec *js,
                           const struct jobspec_sizes *z)
{
    struct per_node node = { 0 };
    autostrbuf struct strbuf gres = STRBUF_INIT (TEXT_MAX);

    find_nodes (js->resources, js->nresources, &node);
    strbuf_add_gres (&gres, &node.gres);
    gres_release (&node.gres);
    set_text (o, "gres_per_node", gres.buf);
    set_text (o, "exclusive", node.exclusive ? "1" : NULL);
    set_number (o, "memory_per_node", MAX (node.memory, js->memory_per_node));
    set_number (o, "tmp_disk_per_node", node.tmp_disk);
    set_number (o, "gpus", z->min_gpus);
    if (z->cores_per_slot > 1)
        set_number (o, "cpus_per_task", z->cores_per_slot);
}

/* -- constraints (RFC 31), as far as they have the form that options give them -- */

enum constraint { FEATURES, REQUIRED, EXCLUDED, CONSTRAINTS };

static void add_hosts (const json_t *list, struct strbuf *sb)
{
    for (size_t i = 0; i < json_array_size (list); i++)
        strbuf_addf (sb, "%s%s", sb->len ? "," : "",
                     json_string_value (json_array_get (list, i)));
}

/* Appends an expression of properties: "fast&(a100|h100)"; false: it has other terms. */
static bool add_properties (const json_t *o, struct strbuf *sb, unsigned depth)
{
    const char *op = json_object_iter_key (json_object_iter ((json_t *)o));
    const json_t *list = op ? json_object_get (o, op) : NULL;
    bool known = op && depth < JOBSPEC_DEPTH_MAX;
    const char *between = known && !strcmp (op, "or") ? "|" : "&";
    bool negated = known && !strcmp (op, "not"),
         leaf = known && !strcmp (op, "properties");

    known = known && (negated || leaf || !strcmp (op, "and") || !strcmp (op, "or"));
    bool brackets =
        depth > 0 && json_array_size (list) > 1 && (depth > 1 || *between == '|');
    strbuf_adds (sb, negated ? "!" : "");
    strbuf_adds (sb, brackets ? "(" : "");
    for (size_t i = 0; known && i < json_array_size (list); i++) {
        strbuf_adds (sb, i ? between : "");
        const json_t *one = json_array_get (list, i);
        if (leaf && json_is_string (one))
            strbuf_adds (sb, json_string_value (one));
        else
            known = !leaf && add_properties (one, sb, depth + 1);
    }
    strbuf_adds (sb, brackets ? ")" : "");
    return known;
}

/* depth: 1 if other constraints have to be met, too. */
static void read_constraint (const json_t *o, unsigned depth,
                             struct strbuf texts[CONSTRAINTS])
{
    const json_t *not = json_array_get (json_object_get (o, "not"), 0);
    const json_t *hosts = json_object_get (o, "hostlist");
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);

    if (hosts)
        add_hosts (hosts, &texts[REQUIRED]);
    else if (json_object_get (not, "hostlist"))
        add_hosts (json_object_get (not, "hostlist"), &texts[EXCLUDED]);
    else if (add_properties (o, &sb, depth))
        strbuf_addf (&texts[FEATURES], "%s%s", texts[FEATURES].len ? "&" : "", sb.buf);
}

static void add_constraints (json_t *o, const struct jobspec *js)
{
    struct strbuf texts[] = { STRBUF_INIT (TEXT_MAX), STRBUF_INIT (TEXT_MAX),
                              STRBUF_INIT (TEXT_MAX) };
    static const char *const keys[] = { "features", "required_nodes", "excluded_nodes" };
    const json_t *all = json_object_get (js->constraints, "and");

    for (size_t i = 0; i < json_array_size (all); i++)
        read_constraint (json_array_get (all, i), 1, texts);
    if (js->constraints && !all)
        read_constraint (js->constraints, 0, texts);
    for (size_t i = 0; i < CONSTRAINTS; i++) {
        set_text (o, keys[i], texts[i].err ? NULL : texts[i].buf);
        strbuf_release (&texts[i]);
    }
}

/* The command, or the script's file if that is known, with the arguments. */
static void add_program (json_t *o, const struct jobspec *js)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (PROGRAM_MAX);
    bool batch = jobspec_is_batch (js);

    if (batch && !js->script_path)
        return;
    for (size_t i = 0; i < js->ncommand; i++)
        strbuf_addf (&sb, "%s%s", i ? " " : "",
                     i == 0 && batch ? js->script_path : js->command[i]);
    set_text (o, "program", sb.err ? js->script_path : sb.buf);
}

/* -- components of a heterogeneous job -- */

static json_t *component (const struct jobspec *js)
{
    json_t *o = json_object ();
    struct jobspec_sizes z;

    if (!o)
        return NULL;
    jobspec_get_component_sizes (js, &z);
    set_text (o, "name", js->name);
    set_number (o, "nodes", z.min_nodes);
    set_number (o, "ntasks", jobspec_task_total (js, z.min_slots));
    set_number (o, "ncores", z.min_cores);
    add_resources (o, js, &z);
    add_constraints (o, js);
    return o;
}

/* A list of all components as text: what a listing shows of each. */
static void add_components (json_t *o, const struct jobspec *js)
{
    autojson json_t *list = json_array ();

    for (size_t i = 0; i <= js->ncomponents; i++)
        json_array_append_new (list, component (jobspec_component (js, i)));
    autofree char *text = list ? json_dumps (list, JSON_COMPACT) : NULL;
    set_text (o, "components", text);
}

json_t *submit_details (const struct broker *b, const struct jobspec *js)
{
    json_t *o = json_object ();
    autostrbuf struct strbuf depend = STRBUF_INIT (TEXT_MAX);
    struct jobspec_sizes z;

    if (!o)
        return NULL;
    jobspec_get_sizes (js, &z);
    set_text (o, "cwd", js->cwd);
    set_text (o, "output", js->output);
    set_text (o, "error", js->error);
    set_text (o, "input", js->input);
    set_text (o, "reservation", js->reservation);
    set_text (o, "batch_script", jobspec_is_batch (js) ? "1" : NULL);
    add_program (o, js);
    set_text (o, "may_requeue", exec_job_may_run_again (b, js) ? "1" : NULL);
    set_text (o, "expedited_requeue", js->expedite ? "1" : NULL);
    set_number (o, "switches", js->switches.count);
    set_number (o, "switches_wait",
                isfinite (js->switches.wait) ? (int64_t)js->switches.wait : 0);
    set_number (o, "time_min", (int64_t)js->time_min);
    dependencies_add_text (&depend, &js->depend);
    set_text (o, "dependency", depend.err ? NULL : depend.buf);
    add_resources (o, js, &z);
    add_constraints (o, js);
    if (js->ncomponents > 0)
        add_components (o, js);
    return o;
}
