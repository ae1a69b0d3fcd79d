/* attributes.c - attributes.system of a jobspec; scalar attributes are read by
 * options/attribute_values.c
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "jobspec/attributes/base64.h"
#include "jobspec/attributes/podwish.h"
#include "jobspec/attributes/text.h"
#include "jobspec/jobspec_private.h"
#include "jobspec/options/attributes.h"
#include "protocol/pattern.h"

#define SYSTEM "jobspec: attributes.system"

/* An optional object below o: *ret or NULL. */
static int below (const json_t *o, const char *key, const char *where, json_t **ret,
                  struct error *err)
{
    *ret = NULL;
    if (!o)
        return 0;
    return json_get_object (o, key, ret, JSON_OPTIONAL_KEY, where, err);
}

static int parse_environment (struct jobspec *js, const json_t *system, struct error *err)
{
    static const char where[] = SYSTEM ".environment";
    json_t *env, *value;
    const char *name;
    int rc = below (system, "environment", SYSTEM, &env, err);

    if (rc < 0 || !env)
        return rc;
    js->environment = json_incref (env);
    json_object_foreach (env, name, value) {
        size_t len = strlen (name);

        if (!text_is_variable (name, len))
            return error_set (err, EINVAL, "%s: '%.64s' cannot be the name of a variable",
                              where, name);
        if (json_is_null (value) && js->environment == env) {
            json_decref (js->environment);
            js->environment = json_copy (env);
            if (json_object_size (js->environment) != json_object_size (env))
                return error_no_memory (err, "jobspec");
        }
        if (json_is_null (value)) {
            /* null unsets a variable, and none was set before */
            json_object_del (js->environment, name);
            continue;
        }
        if (!json_is_string (value))
            return error_set (err, EINVAL, "%s.%.64s: expected a string, got %s", where,
                              name, json_type_name (value));
        if (strlen (json_string_value (value)) != json_string_length (value))
            return error_set (err, EINVAL, "%s.%.64s: has a NUL byte", where, name);
        if (len + 2 + json_string_length (value) > JOBSPEC_STRING_MAX)
            return error_set (err, EINVAL, "%s.%.64s: is longer than %d bytes", where,
                              name, JOBSPEC_STRING_MAX);
    }
    return 0;
}

/* fluxq.environment-bytes: variables whose values are not UTF-8, in base64. */
static int parse_bytes (struct jobspec *js, const json_t *own, struct error *err)
{
    static const char where[] = SYSTEM ".fluxq.environment-bytes";
    json_t *bytes, *value, *env;
    const char *name;
    int rc = below (own, "environment-bytes", SYSTEM ".fluxq", &bytes, err);

    if (rc < 0 || !bytes)
        return rc;
    env = js->environment ? json_copy (js->environment) : json_object ();
    json_decref (js->environment);
    if (!(js->environment = env))
        return error_no_memory (err, "jobspec");
    json_object_foreach (bytes, name, value) {
        size_t len = json_string_length (value);
        autofree char *text = malloc (BASE64_DECODED (len) + 1);
        if (!text)
            return error_no_memory (err, "jobspec");
        ssize_t n = json_is_string (value)
                        ? base64_decode (json_string_value (value), len, text)
                        : -EINVAL;
        if (n < 0 || memchr (text, '\0', (size_t)n))
            return error_set (err, EINVAL, "%s.%.64s: not base64, or with a NUL byte",
                              where, name);
        if (!text_is_variable (name, strlen (name))
            || strlen (name) + 2 + (size_t)n > JOBSPEC_STRING_MAX)
            return error_set (err, EINVAL,
                              "%s: '%.64s' cannot be a variable, or is too long", where,
                              name);
        if (json_object_set_new_nocheck (env, name,
                                         json_stringn_nocheck (text, (size_t)n))
            < 0)
            return error_no_memory (err, "jobspec");
    }
    return 0;
}

/* shell.options.KIND.STREAM.path */
static int parse_pattern (const json_t *o, const char *kind, const char *stream,
                          char **ret, struct error *err)
{
    char where[128];
    json_t *file;

    snprintf (where, sizeof (where), SYSTEM ".shell.options.%s", kind);
    if (below (o, stream, where, &file, err) < 0)
        return -EINVAL;
    snprintf (where, sizeof (where), SYSTEM ".shell.options.%s.%s", kind, stream);
    if (!file)
        return 0;
    int rc = attribute_read_line (file, "path", where, 4095, ret, err);
    if (rc < 0 || !*ret)
        return rc;
    rc = pattern_check (*ret, err);
    if (rc < 0)
        error_prefix (err, "%s.path", where);
    return rc;
}

static const char *const on_full_words[] = { [JOBSPEC_FULL_WAIT] = "wait",
                                             [JOBSPEC_FULL_DROP] = "drop",
                                             [JOBSPEC_FULL_END] = "end" };

int jobspec_on_full (const char *word)
{
    for (size_t i = 0; i < ARRAY_SIZE (on_full_words); i++)
        if (!strcmp (word, on_full_words[i]))
            return (int)i;
    return -1;
}

const char *jobspec_on_full_word (int on_full)
{
    return on_full_words[on_full];
}

/* The words of shell.options.output: mode and on-full. */
static int parse_output (struct jobspec *js, const json_t *output, struct error *err)
{
    static const char where[] = SYSTEM ".shell.options.output";
    const char *mode = "truncate", *word = on_full_words[JOBSPEC_FULL_WAIT];
    int rc = json_get_string (output, "mode", &mode, JSON_OPTIONAL_KEY, where, err);

    if (rc >= 0)
        rc = json_get_string (output, "on-full", &word, JSON_OPTIONAL_KEY, where, err);
    if (rc < 0)
        return rc;
    js->append = !strcmp (mode, "append");
    if (!js->append && strcmp (mode, "truncate"))
        return error_set (err, EINVAL, "%s.mode: '%.32s' is not append or truncate",
                          where, mode);
    if ((js->on_full = jobspec_on_full (word)) < 0)
        return error_set (err, EINVAL, "%s.on-full: '%.32s' is not wait, drop or end",
                          where, word);
    return 0;
}

/* shell.options.stage-in and stage-out */
static int parse_stages (struct jobspec *js, const json_t *options, struct error *err)
{
    static const char where[] = SYSTEM ".shell.options";
    struct {
        const char *key, *place;
        struct stage_list *list;
    } kinds[] = { { "stage-in", SYSTEM ".shell.options.stage-in", &js->stage_in },
                  { "stage-out", SYSTEM ".shell.options.stage-out", &js->stage_out } };
    json_t *array;
    int rc = 0;

    for (size_t i = 0; options && rc >= 0 && i < ARRAY_SIZE (kinds); i++) {
        rc =
            json_get_array (options, kinds[i].key, &array, JSON_OPTIONAL_KEY, where, err);
        if (rc > 0)
            rc = stage_list_from_json (kinds[i].list, array, kinds[i].place, err);
    }
    return MIN (rc, 0);
}

static int parse_streams (struct jobspec *js, const json_t *system, struct error *err)
{
    json_t *shell, *options, *output, *input;

    if (below (system, "shell", SYSTEM, &shell, err) < 0
        || below (shell, "options", SYSTEM ".shell", &options, err) < 0
        || below (options, "output", SYSTEM ".shell.options", &output, err) < 0
        || below (options, "input", SYSTEM ".shell.options", &input, err) < 0)
        return -EINVAL;
    int rc = parse_pattern (output, "output", "stdout", &js->output, err);
    if (rc == 0)
        rc = parse_pattern (output, "output", "stderr", &js->error, err);
    if (rc == 0)
        rc = parse_pattern (input, "input", "stdin", &js->input, err);
    if (rc == 0)
        rc = parse_stages (js, options, err);
    return rc < 0 || !output ? rc : parse_output (js, output, err);
}

/* Decode the data of an RFC 37 file object into js->script. */
static int decode_script (struct jobspec *js, const json_t *file, struct error *err)
{
    static const char where[] = SYSTEM ".files.script";
    const char *encoding, *data;
    ssize_t n;

    if (json_get_string (file, "encoding", &encoding, JSON_REQUIRED, where, err) < 0)
        return -EINVAL;
    if (strcmp (encoding, "utf-8") && strcmp (encoding, "base64"))
        return error_set (err, EINVAL, "%s.encoding: '%.16s' is not one of utf-8, base64",
                          where, encoding);
    if (json_get_string (file, "data", &data, JSON_REQUIRED, where, err) < 0)
        return -EINVAL;
    size_t len = json_string_length (json_object_get (file, "data"));
    char *script = malloc (len + 1);
    if (!script)
        return error_no_memory (err, "jobspec");
    js->script = script;
    if (encoding[0] == 'u') {
        memcpy (script, data, len);
        n = (ssize_t)len;
    } else {
        n = base64_decode (data, len, script);
    }
    if (n < 0)
        return error_set (err, EINVAL, "%s.data: is not base64", where);
    js->script_len = (size_t)n;
    script[n] = '\0';
    return script_check (js->script, js->script_len, where, err);
}

static int parse_script (struct jobspec *js, const json_t *file, struct error *err)
{
    static const char where[] = SYSTEM ".files.script";
    static const char *const keys[] = { "mode",     "mtime", "ctime", "size",
                                        "encoding", "data",  NULL };
    int64_t mode, size;
    int rc = json_only_keys (file, keys, where, err);

    if (rc < 0)
        return rc;
    rc = json_get_int (file, "mode", 0, 0177777, &mode, JSON_REQUIRED, where, err);
    if (rc < 0)
        return rc;
    if (!S_ISREG (mode))
        return error_set (err, EINVAL, "%s.mode: is not that of a regular file", where);
    rc = decode_script (js, file, err);
    if (rc < 0)
        return rc;
    rc = json_get_int (file, "size", 0, JOBSPEC_SCRIPT_MAX, &size, JSON_OPTIONAL_KEY,
                       where, err);
    if (rc == 1 && (size_t)size != js->script_len)
        return error_set (err, EINVAL, "%s.size: is %jd, but data has %zu bytes", where,
                          (intmax_t)size, js->script_len);
    return MIN (rc, 0);
}

static int parse_files (struct jobspec *js, const json_t *system, struct error *err)
{
    static const char *const keys[] = { "script", NULL };
    static const char where[] = SYSTEM ".files";
    json_t *files, *script;
    int rc = below (system, "files", SYSTEM, &files, err);

    if (rc < 0 || !files)
        return rc;
    /* Other files are refused, because the job would run without them. */
    rc = json_only_keys (files, keys, where, err);
    if (rc < 0)
        return rc;
    rc = below (files, "script", where, &script, err);
    return rc < 0 || !script ? rc : parse_script (js, script, err);
}

static int parse_array (struct jobspec *js, const json_t *own, struct error *err)
{
    static const char where[] = SYSTEM ".fluxq";
    const char *text;
    int rc = json_get_string (own, "array", &text, JSON_OPTIONAL_KEY, where, err);

    return rc == 1 ? array_spec_parse (&js->array, text, SYSTEM ".fluxq.array", err) : rc;
}

/* true, false or "expedite" */
static int parse_requeue (struct jobspec *js, const json_t *own, const char *where,
                          struct error *err)
{
    const char *word = json_string_value (json_object_get (own, "requeue"));
    bool again = false;

    js->expedite = word && !strcmp (word, "expedite");
    int rc = js->expedite
                 ? 1
                 : json_get_bool (own, "requeue", &again, JSON_OPTIONAL_KEY, where, err);
    if (rc == 1)
        js->requeue = again || js->expedite ? JOBSPEC_TRUE : JOBSPEC_FALSE;
    return rc;
}

static int parse_fluxq (struct jobspec *js, const json_t *system, struct error *err)
{
    static const char where[] = SYSTEM ".fluxq";
    json_t *own;
    int rc = below (system, "fluxq", SYSTEM, &own, err);

    if (rc < 0 || !own)
        return rc;
    rc = attribute_read_line (own, "submit-dir", where, 4096, &js->submit_dir, err);
    if (rc >= 0)
        rc = attribute_read_line (own, "script-path", where, 4096, &js->script_path, err);
    if (rc >= 0)
        rc = parse_array (js, own, err);
    if (rc >= 0)
        rc = below (own, "pods", where, &js->pods, err);
    if (rc > 0)
        rc = podwish_check (js->pods, SYSTEM ".fluxq.pods", err);
    if (rc < 0)
        return rc;
    rc = placement_from_json (own, &js->placement, &js->switches, where, err);
    if (rc < 0)
        return rc;
    if ((rc = parse_requeue (js, own, where, err)) < 0)
        return rc;
    int64_t signum = SIGWINCH; /* ignored by default, so it kills no program */
    rc = json_get_int (own, "resize-signal", 1, 64, &signum, JSON_OPTIONAL_KEY, where,
                       err);
    if (rc < 0)
        return rc;
    if (rc == 1 && !js->malleable)
        return error_set (err, EINVAL,
                          "%s.resize-signal: the job is not malleable (--malleable)",
                          where);
    js->resize_signal = (int)signum;
    rc = json_get_int (own, "memory-per-node", 1, INT64_C (1) << 40, &js->memory_per_node,
                       JSON_OPTIONAL_KEY, where, err);
    return MIN (rc, 0);
}

/* Read the dependencies, which can have a begin time, too. */
static int parse_waiting (struct jobspec *js, const json_t *system, struct error *err)
{
    json_t *list, *own = json_object_get (system, "fluxq");
    bool kill = true;
    double begin = 0;
    int rc =
        json_get_array (system, "dependencies", &list, JSON_OPTIONAL_KEY, SYSTEM, err);

    if (rc == 1)
        rc = dependencies_from_json (&js->depend, list, SYSTEM ".dependencies", &begin,
                                     err);
    if (rc < 0)
        return rc;
    js->begin = MAX (js->begin, begin);
    rc = own ? json_get_bool (own, "kill-invalid-depend", &kill, JSON_OPTIONAL_KEY,
                              SYSTEM ".fluxq", err)
             : 0;
    js->keep_invalid_depend = !kill;
    return rc;
}

static int parse_plain (struct jobspec *js, const json_t *system, struct error *err)
{
    json_t *constraints;
    int rc = json_get_double (system, "duration", 0., JOBSPEC_DURATION_MAX, &js->duration,
                              JSON_OPTIONAL_KEY, SYSTEM, err);

    if (rc < 0)
        return rc;
    js->has_duration = rc == 1;
    if (below (system, "constraints", SYSTEM, &constraints, err) < 0)
        return -EINVAL;
    js->constraints = constraints;
    rc = attribute_read_line (system, "cwd", SYSTEM, 4095, &js->cwd, err);
    if (rc == 0 && js->queue && !text_is_name (js->queue))
        rc = error_set (err, EINVAL, SYSTEM ".queue: '%.64s' is not a name of a queue",
                        js->queue);
    if (rc == 0 && js->cwd && js->cwd[0] != '/')
        rc = error_set (err, EINVAL, SYSTEM ".cwd: '%.64s' does not begin with '/'",
                        js->cwd);
    return rc;
}

int jobspec_parse_attributes (struct jobspec *js, const json_t *attributes,
                              struct error *err)
{
    static const char *const keys[] = { "user", "system", NULL };
    json_t *user, *system;

    js->requeue = JOBSPEC_UNSET;
    job_process_init (&js->process);
    if (!attributes || json_is_null (attributes))
        return 0;
    if (!json_is_object (attributes))
        return error_set (err, EINVAL, "jobspec: attributes: expected an object, got %s",
                          json_type_name (attributes));
    int rc = json_only_keys (attributes, keys, "jobspec: attributes", err);
    if (rc == 0)
        rc = below (attributes, "user", "jobspec: attributes", &user, err);
    if (rc >= 0)
        rc = below (attributes, "system", "jobspec: attributes", &system, err);
    if (rc <= 0)
        return rc;
    rc = attributes_from_json (js, system, err);
    if (rc >= 0)
        rc = parse_plain (js, system, err);
    if (rc >= 0)
        rc = parse_environment (js, system, err);
    if (rc >= 0)
        rc = parse_streams (js, system, err);
    if (rc >= 0)
        rc = parse_files (js, system, err);
    if (rc >= 0)
        rc = parse_fluxq (js, system, err);
    if (rc >= 0)
        rc = parse_bytes (js, json_object_get (system, "fluxq"), err);
    if (rc >= 0)
        rc = parse_waiting (js, system, err);
    if (rc >= 0)
        rc = job_process_from_json (&js->process, system, err);
    if (rc >= 0 && attributes_to_environment (js) < 0)
        rc = error_no_memory (err, "jobspec");
    return MIN (rc, 0);
}
