/* make_jobspec.c - makes the jobspec from the options; submit_options.h has the table
 * of shapes
 */

#include "common/gputype.h"
#include "common/printable.h"
#include "jobspec/attributes/base64.h"
#include "jobspec/attributes/requires.h"
#include "jobspec/attributes/text.h"
#include "jobspec/jobspec.h"
#include "jobspec/options/attributes.h"
#include "jobspec/options/components.h"
#include "jobspec/options/environment.h"
#include "jobspec/options/shape.h"
#include "jobspec/options/submit_options.h"

/* -- JSON. A value that could not be made is NULL, and so is every value that it goes
 * into: json_pack() and the _new functions pass that on, it is looked at once at the end.
 * -- */

static json_t *vertex (const char *type, int64_t count)
{
    return json_pack ("{s:s, s:I}", "type", type, "count", (json_int_t)count);
}

static json_t *size (const struct submit_size *z)
{
    const struct jobspec_count *c = &z->count;
    const char op[2] = { c->op, '\0' };

    if (z->list) {
        autofree char *text = idset_encode (z->list);
        return text ? json_string (text) : NULL;
    }
    if (c->min == c->max)
        return json_integer (c->min);
    return json_pack ("{s:I, s:I, s:s, s:I}", "min", (json_int_t)c->min, "max",
                      (json_int_t)c->max, "operator", op, "operand",
                      (json_int_t)c->operand);
}

static json_t *memory_vertex (int64_t mib)
{
    return json_pack ("{s:s, s:I, s:s}", "type", "memory", "count", (json_int_t)mib,
                      "unit", "MiB");
}

static json_t *gpu_vertex (const struct submit_shape *s, int64_t count)
{
    char type[GRES_NAME_MAX + 1];

    snprintf (type, sizeof (type), "%s%s", s->gpu_type ? GPU_TYPE_PREFIX : "gpu",
              s->gpu_type ? s->gpu_type : "");
    return vertex (type, count);
}

static json_t *slot_vertex (const struct submit_options *so, const struct submit_shape *s)
{
    json_t *cpus = so->cpu_milli ? vertex (GRES_CPU_MILLI, so->cpu_milli)
                                 : vertex ("core", s->cores);
    json_t *with = json_pack ("[o]", cpus);
    int rc = 0;

    if (s->gpus_slot)
        rc |= json_array_append_new (with, gpu_vertex (s, s->gpus_slot));
    if (s->mem_slot)
        rc |= json_array_append_new (with, memory_vertex (s->mem_slot));
    if (rc < 0) {
        json_decref (with);
        return NULL;
    }
    return json_pack ("{s:s, s:o, s:s, s:o}", "type", "slot", "count", size (&s->slots),
                      "label", "task", "with", with);
}

/* The node vertex, or the vertex of the places with their nodes. */
static json_t *in_places (const struct submit_options *so, const struct submit_shape *s,
                          json_t *node)
{
    if (!s->places.count.min)
        return node;
    if (node
        && json_object_set_new (node, "count", json_integer (so->nodes_per.count)) < 0) {
        json_decref (node);
        return NULL;
    }
    return json_pack ("{s:s, s:o, s:[o]}", "type", so->nodes_per.level, "count",
                      size (&s->places), "with", node);
}

static json_t *resources (const struct submit_options *so, const struct submit_shape *s)
{
    json_t *with = json_pack ("[o]", slot_vertex (so, s));
    json_t *node;
    int rc = with ? 0 : -1;

    if (!s->nodes.count.min)
        return with;
    if (s->gpus_node)
        rc |= json_array_append_new (with, gpu_vertex (s, s->gpus_node));
    for (size_t i = 0; i < so->gres.n; i++)
        if (!submit_gres_is_gpu (&so->gres.v[i]))
            rc |= json_array_append_new (
                with, vertex (so->gres.v[i].name, so->gres.v[i].count));
    if (so->tmp_mib)
        rc |= json_array_append_new (with, vertex (GRES_TMP_DISK, so->tmp_mib));
    if (s->mem_node)
        rc |= json_array_append_new (with, memory_vertex (s->mem_node));
    node = json_pack ("{s:s, s:o, s:o}", "type", "node", "count", size (&s->nodes),
                      "with", with);
    if (node && s->exclusive)
        rc |= json_object_set_new (node, "exclusive", json_true ());
    if (rc < 0) {
        json_decref (node);
        return NULL;
    }
    return json_pack ("[o]", in_places (so, s, node));
}

/* tasks[0].command; -EINVAL for an argument that JSON cannot hold. */
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
        rc = error_no_memory (err, NULL);
    if (rc < 0)
        json_decref (list);
    else
        *ret = list;
    return rc;
}

static int tasks (const struct submit_program *prog, const struct submit_shape *s,
                  json_t **ret, struct error *err)
{
    json_t *argv = NULL;
    int rc = command (prog, &argv, err);

    if (rc < 0)
        return rc;
    *ret = json_pack (
        "[{s:o, s:s, s:{s:I}}]", "command", argv, "slot", "task", "count",
        s->total ? "total" : "per_slot",
        (json_int_t)(s->total ? s->total * MAX (s->per_slot, 1) : MAX (s->per_slot, 1)));
    return *ret ? 0 : error_no_memory (err, NULL);
}

/* A file of RFC 37, as text if that is shorter than base64: control characters grow to
 * six bytes. */
static json_t *script_file (const struct submit_program *prog)
{
    const size_t encoded = BASE64_ENCODED (prog->script_len);
    json_t *data = NULL;
    size_t size;
    bool text = text_is_utf8 (prog->script, prog->script_len, &size) && size <= encoded;

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

/* The file name of the script or the command; a name that is no line of text becomes
 * "job". */
static void default_name (const struct submit_options *so,
                          const struct submit_program *prog, char *name, size_t size)
{
    const char *path = prog->script ? "stdin" : prog->args[0];

    if (prog->script && so->script_name)
        path = so->script_name;
    const char *slash = strrchr (path, '/');
    snprintf (name, size, "%s", slash ? slash + 1 : path);
    if (!text_is_line (name, size) || printable_check (name, "name", NULL) < 0)
        snprintf (name, size, "job");
}

static int directory (const struct submit_options *so, const char *cwd, json_t **ret,
                      struct error *err)
{
    bool relative = so->chdir && so->chdir[0] != '/';
    const char *base = so->chdir && !relative ? so->chdir : cwd;
    autostrbuf struct strbuf path = STRBUF_INIT (8192);

    strbuf_adds (&path, base);
    if (relative)
        strbuf_addf (&path, "%s%s", path.len && path.buf[path.len - 1] == '/' ? "" : "/",
                     so->chdir);
    if (path.err == -ENOMEM)
        return error_no_memory (err, NULL);
    if (path.err || !text_is_line (path.buf, 4095))
        return error_set (
            err, EINVAL,
            "the name of the working directory is too long, or has control "
            "characters or bytes that are not UTF-8 (choose another with --chdir)");
    *ret = json_string (path.buf);
    return *ret ? 0 : error_no_memory (err, NULL);
}

static json_t *stream (const char *pattern)
{
    return json_pack ("{s:s, s:s}", "type", "file", "path", pattern);
}

/* attributes.system.shell: output, input and staged files. */
static json_t *shell_options (const struct submit_options *so)
{
    const char *by_default = so->slurm_defaults
                                 ? (so->array ? "slurm-%A_%a.out" : "slurm-%j.out")
                             : so->array ? SUBMIT_DEFAULT_ARRAY_OUTPUT
                                         : SUBMIT_DEFAULT_OUTPUT;
    const char *output = so->output ? so->output : by_default;
    /* Two streams with one name are one: a script's output is in order, as in Slurm. */
    const char *error = so->error ? so->error : so->slurm_defaults ? output : NULL;
    json_t *out = json_pack ("{s:o}", "stdout", stream (output));
    json_t *options = json_pack ("{s:o}", "output", out);
    int rc = 0;

    if (error)
        rc |= json_object_set_new (out, "stderr", stream (error));
    if (so->append)
        rc |= json_object_set_new (out, "mode", json_string ("append"));
    if (so->has_on_full)
        rc |= json_object_set_new (
            out, "on-full", json_string (jobspec_on_full_word (so->on_full)));
    if (so->input)
        rc |= json_object_set_new (options, "input",
                                   json_pack ("{s:o}", "stdin", stream (so->input)));
    if (so->stage_in.n)
        rc |=
            json_object_set_new (options, "stage-in", stage_list_to_json (&so->stage_in));
    if (so->stage_out.n)
        rc |= json_object_set_new (options, "stage-out",
                                   stage_list_to_json (&so->stage_out));
    if (rc < 0) {
        json_decref (options);
        return NULL;
    }
    return json_pack ("{s:o}", "options", options);
}

/* The limits of this process, and the environment of a login shell if --export asks for
 * it. */
static int process_attributes (json_t *system, json_t *own,
                               const struct submit_options *so)
{
    json_t *options = json_object_get (json_object_get (system, "shell"), "options");
    struct job_process p = so->process;

    rlimits_read (&p.rlimits);
    if (!p.user_env.timeout && environment_wants_login (so->export))
        p.user_env = (struct job_user_env){ JOB_USER_ENV_TIMEOUT, true };
    return job_process_to_json (&p, options, own);
}

static int pod_attributes (json_t *own, const struct submit_options *so)
{
    json_t *pods = so->pods ? json_copy (so->pods) : json_object ();
    int rc = 0;

    if (so->host_network)
        rc |= json_object_set_new (pods, "host-network", json_true ());
    if (json_object_size (pods) > 0)
        return rc | json_object_set_new (own, "pods", pods);
    json_decref (pods);
    return pods ? rc : -ENOMEM;
}

/* The file of the script, with its directory. */
static int script_path (json_t *own, const struct submit_options *so, const char *cwd)
{
    const char *path = so->script_path;
    autostrbuf struct strbuf sb = STRBUF_INIT (8192);

    if (!path)
        return 0;
    if (*path != '/')
        strbuf_addf (&sb, "%s/", cwd);
    strbuf_adds (&sb, path + (strncmp (path, "./", 2) == 0 ? 2 : 0));
    if (sb.err || !text_is_line (sb.buf, 4095))
        return 0;
    return json_object_set_new (own, "script-path", json_string (sb.buf));
}

/* attributes.system.fluxq: keys that are not in the RFCs. */
static int own_attributes (json_t *system, const struct submit_options *so,
                           const struct submit_shape *s, const char *cwd)
{
    json_t *own = json_object (), *bytes;
    int rc = process_attributes (system, own, so);

    rc |= environment_take_bytes (json_object_get (system, "environment"), &bytes);
    if (bytes)
        rc |= json_object_set_new (own, "environment-bytes", bytes);

    rc |= placement_to_json (own, &so->js.placement, &so->js.switches);
    if (so->array)
        rc |= json_object_set_new (own, "array", json_string (so->array));
    rc |= pod_attributes (own, so);
    if (s->mem_node && !s->nodes.count.min)
        rc |= json_object_set_new (own, "memory-per-node", json_integer (s->mem_node));
    if (so->js.resize_signal)
        rc |= json_object_set_new (own, "resize-signal",
                                   json_integer (so->js.resize_signal));
    if (so->js.keep_invalid_depend
        || (so->slurm_defaults && !submit_source_of (so, "kill-invalid-depend")))
        rc |= json_object_set_new (own, "kill-invalid-depend", json_false ());
    if (so->js.requeue != JOBSPEC_UNSET)
        rc |= json_object_set_new (own, "requeue",
                                   so->js.expedite
                                       ? json_string ("expedite")
                                       : json_boolean (so->js.requeue == JOBSPEC_TRUE));
    if (so->chdir && text_is_line (cwd, 4095))
        rc |= json_object_set_new (own, "submit-dir", json_string (cwd));
    rc |= script_path (own, so, cwd);
    if (own && json_object_size (own) == 0)
        json_decref (own);
    else
        rc |= json_object_set_new (system, "fluxq", own);
    return rc;
}

/* attributes.system.constraints: all constraints together. */
static int constraints (json_t *system, const struct submit_options *so)
{
    json_t *list = json_array (), *all;
    int rc = 0;

    if (so->nodelist)
        rc |= json_array_append_new (list, requires_hosts (so->nodelist, "", NULL, NULL));
    if (so->exclude)
        rc |= json_array_append_new (
            list,
            json_pack ("{s:[o]}", "not", requires_hosts (so->exclude, "", NULL, NULL)));
    if (so->constraint)
        rc |= json_array_append_new (list, requires_parse (so->constraint, "", NULL));
    all = json_array_size (list) > 1 ? json_pack ("{s:O}", "and", list)
                                     : json_incref (json_array_get (list, 0));
    if (json_array_size (list) > 0)
        rc |= json_object_set_new (system, "constraints", all);
    json_decref (list);
    return rc;
}

static int optional_attributes (json_t *system, const struct submit_options *so,
                                const struct submit_program *prog,
                                const struct submit_shape *s, const char *cwd)
{
    int rc = own_attributes (system, so, s, cwd);

    if (so->time_limit >= 0)
        rc |= json_object_set_new (system, "duration", json_real (so->time_limit));
    if (so->depend.n)
        rc |= json_object_set_new (system, "dependencies",
                                   dependencies_to_json (&so->depend));
    rc |= attributes_to_json (system, &so->js);
    rc |= constraints (system, so);
    if (prog->script)
        rc |= json_object_set_new (system, "files",
                                   json_pack ("{s:o}", "script", script_file (prog)));
    return rc;
}

/* Variables of Slurm that have a number of the request. */
static const struct {
    const char *name;
    size_t at; /* offset of an int64_t in struct submit_options */
} numbers[] = {
    { "SLURM_NTASKS_PER_NODE", offsetof (struct submit_options, ntasks_per_node) },
    { "SLURM_NTASKS_PER_SOCKET", offsetof (struct submit_options, ntasks_per_socket) },
    { "SLURM_GPUS", offsetof (struct submit_options, gpus) },
    { "SLURM_GPUS_PER_NODE", offsetof (struct submit_options, gpus_per_node) },
    { "SLURM_GPUS_PER_TASK", offsetof (struct submit_options, gpus_per_task) },
    { "SLURM_NTASKS_PER_GPU", offsetof (struct submit_options, ntasks_per_gpu) },
    { "SLURM_CPUS_PER_GPU", offsetof (struct submit_options, cpus_per_gpu) },
    { "SLURM_MEM_PER_CPU", offsetof (struct submit_options, mem_per_cpu) },
    { "SLURM_MEM_PER_GPU", offsetof (struct submit_options, mem_per_gpu) },
    { "SLURM_JOB_SEGMENT_SIZE", offsetof (struct submit_options, js.segment) },
};

/* Sets Slurm's variables of this request. As in sbatch, those of the job in which the
 * user submits are removed. */
static int slurm_variables (json_t *env, const struct submit_options *so)
{
    char text[24];
    const char *key;
    json_t *with_source;
    int rc = 0;

    for (const struct attribute *a = attribute_table; a->name; a++)
        if (a->variable)
            json_object_del (env, a->variable);
    for (size_t i = 0; i < ARRAY_SIZE (numbers); i++) {
        int64_t n = *(const int64_t *)((const char *)so + numbers[i].at);
        json_object_del (env, numbers[i].name);
        snprintf (text, sizeof (text), "%jd", (intmax_t)n);
        if (n > 0)
            rc |= json_object_set_new (env, numbers[i].name, json_string (text));
    }
    json_object_foreach (so->for_steps, key, with_source)
        rc |= json_object_set (env, key, json_array_get (with_source, 1));
    if (so->submit_host[0])
        rc |=
            json_object_set_new (env, "SLURM_SUBMIT_HOST", json_string (so->submit_host));
    snprintf (text, sizeof (text), "%d", so->submit_nice);
    if (so->submit_host[0])
        rc |= json_object_set_new (env, "SLURM_PRIO_PROCESS", json_string (text));
    return rc;
}

static int system_attributes (const struct submit_options *so,
                              const struct submit_program *prog,
                              const struct submit_shape *s, const char *cwd,
                              char *const environ_list[], json_t **ret, struct error *err)
{
    json_t *dir = NULL, *env = NULL, *system;
    char name[256];
    int rc = directory (so, cwd, &dir, err);

    if (rc == 0)
        rc = environment_select (so->export, environ_list, &env, err);
    if (rc == 0 && so->export_file
        && (rc = environment_add_file (env, so->export_file, err)) < 0)
        json_decref (env);
    if (rc < 0) {
        json_decref (dir);
        return rc;
    }
    if (slurm_variables (env, so) < 0) {
        json_decref (dir);
        json_decref (env);
        return error_no_memory (err, NULL);
    }
    default_name (so, prog, name, sizeof (name));
    system = json_pack ("{s:o, s:o, s:{s:s}, s:o}", "cwd", dir, "environment", env, "job",
                        "name", name, "shell",
                        shell_options (so));
    if (!system || optional_attributes (system, so, prog, s, cwd) < 0) {
        json_decref (system);
        return error_no_memory (err, NULL);
    }
    *ret = system;
    return 0;
}

/* -- components of a heterogeneous job -- */

/* The variables of the component's request that differ from the first one's; null: the
 * component has no such variable. */
static json_t *component_variables (const struct submit_options *first,
                                    const struct submit_options *so)
{
    autojson json_t *of_first = json_object ();
    json_t *own = json_object (), *value;
    const char *key;
    int rc = slurm_variables (of_first, first) | slurm_variables (own, so);

    json_object_foreach (of_first, key, value)
        if (!json_object_get (own, key) && strcmp (key, "SLURM_SUBMIT_HOST") != 0
            && strcmp (key, "SLURM_PRIO_PROCESS") != 0)
            rc |= json_object_set_new (own, key, json_null ());
        else if (json_equal (value, json_object_get (own, key)))
            rc |= json_object_del (own, key);
    if (rc == 0)
        return own;
    json_decref (own);
    return NULL;
}

/* The jobspec of a further component: tasks of the first one's command, and `attributes`
 * with that which is its own. */
static json_t *component (const struct submit_options *first,
                          const struct submit_options *so,
                          const struct submit_program *prog, struct error *err)
{
    char *const script[] = { "component", NULL };
    const struct submit_program command = { .args = prog->script ? script : prog->args };
    json_t *task_list = NULL, *system;
    struct submit_shape s;
    char name[256];
    int rc = 0;

    if (submit_shape_make (so, &s, err) < 0)
        return error_prefix (err, "component %zu", so->component), NULL;
    default_name (first, prog, name, sizeof (name));
    system = json_pack ("{s:o, s:{s:s}}", "environment", component_variables (first, so),
                        "job", "name", so->js.name ? so->js.name : name);
    if (s.mem_node && !s.nodes.count.min)
        rc |= json_object_set_new (
            system, "fluxq",
            json_pack ("{s:I}", "memory-per-node", (json_int_t)s.mem_node));
    rc |= constraints (system, so);
    if (rc < 0 || tasks (&command, &s, &task_list, err) < 0) {
        json_decref (system);
        submit_shape_release (&s);
        return error_null (error_no_memory (err, NULL));
    }
    json_t *root = json_pack ("{s:i, s:o, s:o, s:{s:o}}", "version", 1, "resources",
                              resources (so, &s), "tasks", task_list, "attributes",
                              "system", system);
    submit_shape_release (&s);
    return root ? root : error_null (error_no_memory (err, NULL));
}

/* Adds the further components to the jobspec. */
static int add_components (json_t *system, const struct submit_options *so,
                           const struct submit_program *prog, struct error *err)
{
    json_t *own = json_object_get (system, "fluxq"), *list;

    if (so->nfurther == 0)
        return 0;
    if (!own && (own = json_object ()))
        json_object_set_new (system, "fluxq", own);
    list = json_array ();
    if (json_object_set_new (own, "components", list) < 0)
        return error_no_memory (err, NULL);
    for (size_t i = 0; i < so->nfurther; i++) {
        json_t *root = component (so, so->further[i], prog, err);
        if (!root)
            return -err->code;
        if (json_array_append_new (list, root) < 0)
            return error_no_memory (err, NULL);
    }
    return 0;
}

json_t *submit_options_jobspec (const struct submit_options *so,
                                const struct submit_program *prog, const char *cwd,
                                char *const environ_list[], struct error *err)
{
    json_t *task_list = NULL, *system = NULL, *root;
    struct submit_shape s;

    if (so->process.warn.batch && !prog->script)
        return error_null (error_set (
            err, EINVAL, "--signal=B: there is no batch script, only a command"));
    if (submit_components_complete (so, err) < 0 || submit_shape_make (so, &s, err) < 0)
        return NULL;
    if (tasks (prog, &s, &task_list, err) < 0
        || system_attributes (so, prog, &s, cwd, environ_list, &system, err) < 0
        || add_components (system, so, prog, err) < 0) {
        json_decref (task_list);
        json_decref (system);
        submit_shape_release (&s);
        return NULL;
    }
    root = json_pack ("{s:i, s:o, s:o, s:{s:o}}", "version", 1, "resources",
                      resources (so, &s), "tasks", task_list, "attributes", "system",
                      system);
    submit_shape_release (&s);
    if (!root)
        error_no_memory (err, NULL);
    return root;
}
