/* submit_jobspec.c - from options to the jobspec; the table of shapes is in
 * submit_options.h
 */
#include <errno.h>
#include <string.h>

#include "jobspec/base64.h"
#include "jobspec/environment.h"
#include "jobspec/jobspec.h"
#include "jobspec/submit_options.h"
#include "jobspec/text.h"

/* -- counts: what is asked for, worked out before any of it is written -- */

struct shape {
    int64_t nodes_min, nodes_max; /* 0: no node vertex */
    int64_t slots;                /* on a node, or in all */
    int64_t total;                /* tasks in all; 0: one a slot */
    int64_t ntasks;               /* tasks; 0: depends on the nodes granted */
    int64_t gpus_slot;
    int64_t gpus_node;
    bool exclusive;
};

static int64_t divide_up (int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static int check_tasks (const struct submit_options *so, int64_t nodes, struct error *err)
{
    if (so->ntasks < nodes)
        return error_set (
            err, EINVAL,
            "%jd tasks (-n) cannot occupy %jd nodes (-N); ask for at most %jd nodes "
            "or at least %jd tasks",
            (intmax_t)so->ntasks, (intmax_t)nodes, (intmax_t)so->ntasks, (intmax_t)nodes);
    if (so->ntasks_per_node && so->ntasks > nodes * so->ntasks_per_node)
        return error_set (err, EINVAL,
                          "%jd tasks (-n) do not fit: %jd nodes (-N) with %jd tasks each "
                          "(--ntasks-per-node) have room for %jd",
                          (intmax_t)so->ntasks, (intmax_t)nodes,
                          (intmax_t)so->ntasks_per_node,
                          (intmax_t)(nodes * so->ntasks_per_node));
    return 0;
}

/* node vertices and slots for a fixed number of nodes, which may have to be found
 * first */
static int shape_nodes (const struct submit_options *so, struct shape *s,
                        struct error *err)
{
    int64_t nodes = s->nodes_min;
    int rc;

    if (!so->ntasks) {
        s->slots = so->ntasks_per_node ? so->ntasks_per_node : 1;
        s->ntasks = nodes * s->slots;
        return 0;
    }
    rc = check_tasks (so, nodes, err);
    if (rc < 0)
        return rc;
    s->ntasks = so->ntasks;
    s->slots = divide_up (so->ntasks, nodes);
    if (s->slots * nodes != so->ntasks)
        s->total = so->ntasks;
    return 0;
}

static int shape_elastic (const struct submit_options *so, struct shape *s,
                          struct error *err)
{
    if (so->ntasks)
        return error_set (err, EINVAL,
                          "-n does not go with a range of nodes (-N %jd-%jd); say "
                          "--ntasks-per-node",
                          (intmax_t)so->nodes_min, (intmax_t)so->nodes_max);
    s->slots = so->ntasks_per_node ? so->ntasks_per_node : 1;
    return 0;
}

static int shape_counts (const struct submit_options *so, struct shape *s,
                         struct error *err)
{
    s->nodes_min = so->nodes_min;
    s->nodes_max = so->nodes_max;
    if (s->nodes_min != s->nodes_max)
        return shape_elastic (so, s, err);
    if (!s->nodes_min && so->ntasks_per_node)
        s->nodes_min = so->ntasks ? divide_up (so->ntasks, so->ntasks_per_node) : 1;
    else if (!s->nodes_min && s->exclusive && so->ntasks <= 1)
        s->nodes_min = 1;
    s->nodes_max = s->nodes_min;
    if (s->nodes_min)
        return shape_nodes (so, s, err);
    if (s->exclusive)
        return error_set (
            err, EINVAL,
            "--exclusive needs the number of nodes: give -N or --ntasks-per-node "
            "besides -n %jd",
            (intmax_t)so->ntasks);
    s->ntasks = so->ntasks ? so->ntasks : 1;
    s->slots = s->ntasks;
    return 0;
}

static int source_of (const struct submit_options *so, const char *name)
{
    for (const struct option_desc *o = submit_options_table; o->name; o++) {
        if (!strcmp (o->name, name))
            return so->source_of[o->id - SUBMIT_OPTION_FIRST];
    }
    return 0;
}

static int shape_gpus (const struct submit_options *so, struct shape *s,
                       struct error *err)
{
    int total_from = source_of (so, "gpus"), task_from = source_of (so, "gpus-per-task");

    if (so->gpus && so->gpus_per_task && total_from == task_from)
        return error_set (err, EINVAL, "--gpus and --gpus-per-task exclude each other");
    if (so->gpus_per_task && task_from > total_from) {
        s->gpus_slot = so->gpus_per_task;
        return 0;
    }
    if (!so->gpus)
        return 0;
    if (!s->ntasks)
        return error_set (err, EINVAL,
                          "-G %jd does not go with a range of nodes (-N %jd-%jd); say "
                          "--gpus-per-task",
                          (intmax_t)so->gpus, (intmax_t)s->nodes_min,
                          (intmax_t)s->nodes_max);
    if (so->gpus % s->ntasks == 0 && !s->total) {
        s->gpus_slot = so->gpus / s->ntasks;
    } else if (s->nodes_min && so->gpus % s->nodes_min == 0) {
        s->gpus_node = so->gpus / s->nodes_min;
    } else if (s->nodes_min) {
        return error_set (
            err, EINVAL,
            "%jd GPUs (-G) divide neither among %jd tasks nor among %jd nodes; ask "
            "for a multiple, or say --gpus-per-task",
            (intmax_t)so->gpus, (intmax_t)s->ntasks, (intmax_t)s->nodes_min);
    } else {
        return error_set (
            err, EINVAL,
            "%jd GPUs (-G) do not divide among %jd tasks; ask for a multiple, or "
            "give the number of nodes (-N) to have them shared there",
            (intmax_t)so->gpus, (intmax_t)s->ntasks);
    }
    return 0;
}

static int make_shape (const struct submit_options *so, struct shape *s,
                       struct error *err)
{
    int rc;

    memset (s, 0, sizeof (*s));
    s->exclusive = so->exclusive;
    /* flux: nodes without a number of slots are whole nodes */
    if (so->whole_nodes && so->nodes_min && !so->ntasks && !so->ntasks_per_node
        && source_of (so, "nodes") == SUBMIT_FROM_SCRIPT + 1)
        s->exclusive = true;
    rc = shape_counts (so, s, err);
    return rc < 0 ? rc : shape_gpus (so, s, err);
}

/* -- JSON. A value that could not be made is NULL, and so is every value that it goes
 * into: json_pack() and the _new functions pass that on, it is looked at once at the end.
 * -- */

static json_t *vertex (const char *type, int64_t count)
{
    return json_pack ("{s:s, s:I}", "type", type, "count", (json_int_t)count);
}

static json_t *slot_vertex (const struct submit_options *so, const struct shape *s)
{
    json_t *with =
        json_pack ("[o]", vertex ("core", so->cpus_per_task ? so->cpus_per_task : 1));

    if (s->gpus_slot && json_array_append_new (with, vertex ("gpu", s->gpus_slot)) < 0) {
        json_decref (with);
        return NULL;
    }
    return json_pack ("{s:s, s:I, s:s, s:o}", "type", "slot", "count",
                      (json_int_t)s->slots, "label", "task", "with", with);
}

static json_t *memory_vertex (int64_t mib)
{
    return json_pack ("{s:s, s:I, s:s}", "type", "memory", "count", (json_int_t)mib,
                      "unit", "MiB");
}

static json_t *node_count (const struct shape *s)
{
    if (s->nodes_min == s->nodes_max)
        return json_integer (s->nodes_min);
    return json_pack ("{s:I, s:I, s:s, s:i}", "min", (json_int_t)s->nodes_min, "max",
                      (json_int_t)s->nodes_max, "operator", "+", "operand", 1);
}

static json_t *resources (const struct submit_options *so, const struct shape *s)
{
    json_t *with = json_pack ("[o]", slot_vertex (so, s));
    json_t *node;
    int rc = with ? 0 : -1;

    if (!s->nodes_min)
        return with;
    if (s->gpus_node)
        rc |= json_array_append_new (with, vertex ("gpu", s->gpus_node));
    if (so->mem_mib)
        rc |= json_array_append_new (with, memory_vertex (so->mem_mib));
    node = json_pack ("{s:s, s:o, s:o}", "type", "node", "count", node_count (s), "with",
                      with);
    if (node && s->exclusive)
        rc |= json_object_set_new (node, "exclusive", json_true ());
    if (rc < 0) {
        json_decref (node);
        return NULL;
    }
    return json_pack ("[o]", node);
}

/* tasks[0].command; -EINVAL for an argument that JSON cannot carry. */
static int command (const struct submit_program *prog, json_t **ret, struct error *err)
{
    json_t *list = json_array ();
    int rc = 0;

    if (prog->script)
        rc = json_array_append_new (list, json_string (JOBSPEC_SCRIPT_COMMAND));
    for (size_t i = 0; rc == 0 && prog->args && prog->args[i]; i++) {
        const char *arg = prog->args[i];
        size_t len = strlen (arg);

        if (!text_is_utf8 (arg, len, NULL) || len >= JOBSPEC_STRING_MAX) {
            json_decref (list);
            return error_set (err, EINVAL, "argument %zu ('%.32s') is %s", i + 1,
                              len >= JOBSPEC_STRING_MAX ? "..." : arg,
                              len >= JOBSPEC_STRING_MAX ? "longer than 128 KiB"
                                                        : "not UTF-8");
        }
        rc = json_array_append_new (list, json_stringn_nocheck (arg, len));
    }
    if (rc == 0 && json_array_size (list) == 0)
        rc = error_set (err, EINVAL, "there is no command to run");
    else if (rc < 0)
        rc = error_set (err, ENOMEM, "out of memory");
    if (rc < 0)
        json_decref (list);
    else
        *ret = list;
    return rc;
}

static int tasks (const struct submit_program *prog, const struct shape *s, json_t **ret,
                  struct error *err)
{
    json_t *argv = NULL;
    int rc = command (prog, &argv, err);

    if (rc < 0)
        return rc;
    *ret = json_pack ("[{s:o, s:s, s:{s:I}}]", "command", argv, "slot", "task", "count",
                      s->total ? "total" : "per_slot",
                      (json_int_t)(s->total ? s->total : 1));
    return *ret ? 0 : error_set (err, ENOMEM, "out of memory");
}

/* RFC 37. As text where that is the shorter form: control characters grow to six
 * bytes. */
static json_t *script_file (const struct submit_program *prog)
{
    const size_t encoded = BASE64_ENCODED (prog->script_len);
    json_t *data = NULL;
    bool text;
    size_t size;

    text = text_is_utf8 (prog->script, prog->script_len, &size) && size <= encoded;
    if (text) {
        data = json_stringn_nocheck (prog->script, prog->script_len);
    } else {
        autofree char *buf = malloc (encoded + 1);

        if (buf) {
            base64_encode (prog->script, prog->script_len, buf);
            data = json_stringn_nocheck (buf, encoded);
        }
    }
    return json_pack ("{s:i, s:I, s:s, s:o}", "mode", 0100700, "size",
                      (json_int_t)prog->script_len, "encoding", text ? "utf-8" : "base64",
                      "data", data);
}

/* The script's file name, or the command's; a name that is no line of text becomes
 * "job". */
static void default_name (const struct submit_options *so,
                          const struct submit_program *prog, char *name, size_t size)
{
    const char *path = prog->script ? "stdin" : prog->args[0];
    const char *slash;

    if (prog->script && so->script_name)
        path = so->script_name;
    slash = strrchr (path, '/');
    snprintf (name, size, "%s", slash ? slash + 1 : path);
    if (!text_is_line (name, size))
        snprintf (name, size, "job");
}

static int directory (const struct submit_options *so, const char *cwd, json_t **ret,
                      struct error *err)
{
    bool relative = so->chdir && so->chdir[0] != '/';
    const char *base = so->chdir && !relative ? so->chdir : cwd;
    autostrbuf struct strbuf path;

    strbuf_init (&path, 8192);
    strbuf_adds (&path, base);
    if (relative)
        strbuf_addf (&path, "%s%s", path.len && path.buf[path.len - 1] == '/' ? "" : "/",
                     so->chdir);
    if (path.err == -ENOMEM)
        return error_set (err, ENOMEM, "out of memory");
    if (path.err || !text_is_line (path.buf, 4095))
        return error_set (
            err, EINVAL,
            "the name of the working directory is too long, or has control "
            "characters or bytes that are not UTF-8 (choose another with --chdir)");
    *ret = json_string (path.buf);
    return *ret ? 0 : error_set (err, ENOMEM, "out of memory");
}

static json_t *stream (const char *pattern)
{
    return json_pack ("{s:s, s:s}", "type", "file", "path", pattern);
}

static json_t *output_options (const struct submit_options *so)
{
    const char *by_default =
        so->array ? SUBMIT_DEFAULT_ARRAY_OUTPUT : SUBMIT_DEFAULT_OUTPUT;
    json_t *o =
        json_pack ("{s:o}", "stdout", stream (so->output ? so->output : by_default));

    if (so->error && json_object_set_new (o, "stderr", stream (so->error)) < 0) {
        json_decref (o);
        return NULL;
    }
    return json_pack ("{s:{s:o}}", "options", "output", o);
}

/* attributes.system.fluxq: what the RFCs have no place for. */
static int own_attributes (json_t *system, const struct submit_options *so,
                           const struct shape *s, const char *cwd)
{
    json_t *own = json_object ();
    int rc = 0;

    if (so->array)
        rc |= json_object_set_new (own, "array", json_string (so->array));
    if (so->image)
        rc |= json_object_set_new (own, "image", json_string (so->image));
    if (so->mem_mib && !s->nodes_min)
        rc |= json_object_set_new (own, "memory-per-node", json_integer (so->mem_mib));
    if (so->deadline > 0)
        rc |= json_object_set_new (own, "deadline", json_real (so->deadline));
    if (so->time_min > 0)
        rc |= json_object_set_new (own, "time-min", json_real (so->time_min));
    if (so->max_wait > 0)
        rc |= json_object_set_new (own, "max-wait", json_real (so->max_wait));
    if (so->keep_invalid_depend)
        rc |= json_object_set_new (own, "kill-invalid-depend", json_false ());
    if (so->has_requeue)
        rc |= json_object_set_new (own, "requeue", json_boolean (so->requeue));
    if (so->chdir && text_is_line (cwd, 4095))
        rc |= json_object_set_new (own, "submit-dir", json_string (cwd));
    if (own && json_object_size (own) == 0)
        json_decref (own);
    else
        rc |= json_object_set_new (system, "fluxq", own);
    return rc;
}

static int optional_attributes (json_t *system, const struct submit_options *so,
                                const struct submit_program *prog, const struct shape *s,
                                const char *cwd)
{
    int rc = own_attributes (system, so, s, cwd);

    if (so->time_limit >= 0)
        rc |= json_object_set_new (system, "duration", json_real (so->time_limit));
    if (so->depend.n)
        rc |= json_object_set_new (system, "dependencies",
                                   dependencies_to_json (&so->depend));
    if (so->begin > 0)
        rc |= json_object_set_new (system, "begin-time", json_real (so->begin));
    if (so->queue)
        rc |= json_object_set_new (system, "queue", json_string (so->queue));
    if (prog->script)
        rc |= json_object_set_new (system, "files",
                                   json_pack ("{s:o}", "script", script_file (prog)));
    return rc;
}

static int system_attributes (const struct submit_options *so,
                              const struct submit_program *prog, const struct shape *s,
                              const char *cwd, char *const environ_list[], json_t **ret,
                              struct error *err)
{
    json_t *dir = NULL, *env = NULL, *system;
    char name[256];
    int rc = directory (so, cwd, &dir, err);

    if (rc == 0)
        rc = environment_select (so->export, environ_list, &env, err);
    if (rc < 0) {
        json_decref (dir);
        return rc;
    }
    default_name (so, prog, name, sizeof (name));
    system = json_pack ("{s:o, s:o, s:{s:s}, s:o}", "cwd", dir, "environment", env, "job",
                        "name", so->job_name ? so->job_name : name, "shell",
                        output_options (so));
    if (!system || optional_attributes (system, so, prog, s, cwd) < 0) {
        json_decref (system);
        return error_set (err, ENOMEM, "out of memory");
    }
    *ret = system;
    return 0;
}

json_t *submit_options_jobspec (const struct submit_options *so,
                                const struct submit_program *prog, const char *cwd,
                                char *const environ_list[], struct error *err)
{
    json_t *task_list = NULL, *system = NULL, *root;
    struct shape s;

    if (make_shape (so, &s, err) < 0 || tasks (prog, &s, &task_list, err) < 0)
        return NULL;
    if (system_attributes (so, prog, &s, cwd, environ_list, &system, err) < 0) {
        json_decref (task_list);
        return NULL;
    }
    root = json_pack ("{s:i, s:o, s:o, s:{s:o}}", "version", 1, "resources",
                      resources (so, &s), "tasks", task_list, "attributes", "system",
                      system);
    if (!root)
        error_set (err, ENOMEM, "out of memory");
    return root;
}
