/* step_spec.c - writes and parses the text of a request for a step */
#include "shell/step/step_spec.h"

#include "protocol/launch.h"
#include "protocol/record.h"

static const struct record_field fields[] = {
#define FIELD(name, type, min, max)                                                      \
    RECORD_FIELD (struct step_spec, name, RECORD_##type, min, max)
    FIELD (cwd, STRING, 0, 0),
    FIELD (name, STRING, 0, 0),
    FIELD (hosts, STRING, 0, 0),
    FIELD (exclude, STRING, 0, 0),
    FIELD (hostfile, STRING, 0, 0),
    FIELD (component, U32, 0, STEP_PARTS_MAX),
    FIELD (any_component, BOOLEAN, 0, 1),
    FIELD (relative, U32, 0, STEP_TASKS_MAX),
    FIELD (nnodes, U32, 0, STEP_TASKS_MAX),
    FIELD (ntasks, U32, 0, STEP_TASKS_MAX),
    FIELD (per_node, U32, 0, STEP_TASKS_MAX),
    FIELD (cores_per_task, U32, 0, STEP_TASKS_MAX),
    FIELD (gpus, U32, 0, STEP_TASKS_MAX),
    FIELD (gpus_per_node, U32, 0, LAUNCH_IDS_MAX),
    FIELD (gpu_type, STRING, 0, 0),
    FIELD (no_gpus, BOOLEAN, 0, 1),
    FIELD (gpus_per_task, U32, 0, LAUNCH_IDS_MAX),
    FIELD (exact, BOOLEAN, 0, 1),
    FIELD (overlap, BOOLEAN, 0, 1),
    FIELD (overcommit, BOOLEAN, 0, 1),
    FIELD (immediate, BOOLEAN, 0, 1),
    FIELD (kill_on_bad_exit, BOOLEAN, 0, 1),
    FIELD (node_program, BOOLEAN, 0, 1),
    FIELD (remote_shell, BOOLEAN, 0, 1),
    FIELD (wait, SECONDS, 0, INT64_C (1000000000000)),
    FIELD (distribution, STRING, 0, 0),
    FIELD (taskmap_asked, STRING, 0, 0),
    FIELD (cpu_bind, STRING, 0, 0),
    FIELD (gpu_bind, STRING, 0, 0),
    FIELD (mpi, STRING, 0, 0),
    FIELD (multi_prog, STRING, 0, 0),
    FIELD (input, U32, STEP_INPUT_NONE, STEP_INPUT_EACH),
    FIELD (input_task, U32, 0, STEP_TASKS_MAX),
    FIELD (client_address, STRING, 0, 0),
    FIELD (umask, U32, 0, 0777),
    FIELD (pty, BOOLEAN, 0, 1),
    FIELD (pty_rows, U32, 0, UINT16_MAX),
    FIELD (pty_cols, U32, 0, UINT16_MAX),
    FIELD (id, U32, 0, UINT32_MAX),
    FIELD (ranks, STRING, 0, 0),
    FIELD (taskmap, STRING, 0, 0),
    FIELD (cores, STRING, 0, 0),
    FIELD (gpu_ids, STRING, 0, 0),
#undef FIELD
};

/* A request without parts. */
static int parse_one (const char *text, size_t len, bool is_part, struct step_spec *ret,
                      struct error *err);

static int read_part (struct step_spec *spec, const struct record *r, struct error *err)
{
    uint32_t before = spec->nparts ? spec->parts[spec->nparts - 1].component : 0;
    struct step_spec *parts = record_room (spec->parts, spec->nparts, sizeof (*parts));

    if (!parts)
        return error_no_memory (err, "step");
    spec->parts = parts;
    int rc = parse_one (r->data, r->len, true, &parts[spec->nparts], err);
    if (rc < 0)
        return rc;
    if (parts[spec->nparts++].component <= before || spec->nparts > STEP_PARTS_MAX)
        return error_set (err, EINVAL, "step: part: not in the order of components");
    return 0;
}

static int read_record (struct step_spec *spec, const struct record *r, bool is_part,
                        uint64_t *seen, struct error *err)
{
    if (!is_part && !strcmp (r->name, "part"))
        return read_part (spec, r, err);
    if (!strcmp (r->name, "arg"))
        return record_append (&spec->args, &spec->nargs, r, err);
    if (!strcmp (r->name, "env"))
        return record_append_env (&spec->env, &spec->nenv, r, err);
    return record_read (fields, ARRAY_SIZE (fields), spec, seen, r, err);
}

static int check (const struct step_spec *spec, struct error *err)
{
    if (!spec->cwd || spec->cwd[0] != '/')
        return error_set (err, EINVAL, "step: cwd: not an absolute path");
    if (spec->nargs == 0 && !spec->multi_prog)
        return error_set (err, EINVAL, "step: arg: missing");
    if (spec->nparts > 0 && spec->component >= spec->parts[0].component)
        return error_set (err, EINVAL, "step: part: not in the order of components");
    return 0;
}

static int parse_one (const char *text, size_t len, bool is_part, struct step_spec *ret,
                      struct error *err)
{
    struct record_text rest = { "step", text, len, STEP_SPEC_MAX };
    struct record r;
    uint64_t seen = 0;
    int rc = 0;

    *ret = (struct step_spec){ .umask = 022 };
    if (!(ret->args = calloc (1, sizeof (*ret->args)))
        || !(ret->env = calloc (1, sizeof (*ret->env))))
        rc = error_no_memory (err, "step");
    while (rc == 0 && (rc = record_take (&rest, &r, err)) > 0)
        rc = read_record (ret, &r, is_part, &seen, err);
    if (rc == 0)
        rc = check (ret, err);
    if (rc < 0)
        step_spec_release (ret);
    return rc;
}

int step_spec_parse (const char *text, size_t len, struct step_spec *ret,
                     struct error *err)
{
    return parse_one (text, len, false, ret, err);
}

static int write_parts (const struct step_spec *spec, struct strbuf *sb)
{
    autostrbuf struct strbuf text = STRBUF_INIT (STEP_SPEC_MAX);
    int rc = 0;

    for (size_t i = 0; i < spec->nparts && rc == 0; i++) {
        strbuf_reset (&text);
        rc = step_spec_write (&spec->parts[i], &text);
        record_add_one (sb, "part", text.buf, text.len);
    }
    return rc;
}

int step_spec_write (const struct step_spec *spec, struct strbuf *sb)
{
    size_t start = sb->len;
    int rc = record_write (fields, ARRAY_SIZE (fields), spec, sb);

    record_add_strings (sb, "arg", spec->args, spec->nargs);
    record_add_strings (sb, "env", spec->env, spec->nenv);
    if (rc == 0)
        rc = write_parts (spec, sb);
    if (rc == 0)
        rc = sb->err;
    return rc == 0 && sb->len - start > STEP_SPEC_MAX ? -E2BIG : rc;
}

void step_spec_release (struct step_spec *spec)
{
    record_release (fields, ARRAY_SIZE (fields), spec);
    record_free_strings (spec->args, spec->nargs);
    record_free_strings (spec->env, spec->nenv);
    for (size_t i = 0; i < spec->nparts; i++)
        step_spec_release (&spec->parts[i]);
    free (spec->parts);
    *spec = (struct step_spec){ 0 };
}

const struct step_spec *step_spec_of (const struct step_spec *spec, uint32_t component)
{
    for (size_t i = 0; i < spec->nparts; i++)
        if (spec->parts[i].component == component)
            return &spec->parts[i];
    return spec;
}

char *const *step_spec_env (const struct step_spec *spec, uint32_t component,
                            size_t *ret_n)
{
    const struct step_spec *part = step_spec_of (spec, component);

    if (part->nenv > 0)
        spec = part;
    *ret_n = spec->nenv;
    return spec->env;
}

bool step_spec_uses (const struct step_spec *spec, uint32_t component)
{
    return step_spec_of (spec, component)->component == component;
}

bool step_spec_has_mpidir (const struct step_spec *spec)
{
    return spec->remote_shell || (spec->mpi && !strcmp (spec->mpi, "pmix"));
}

void step_spec_forget_places (struct step_spec *spec)
{
    char **const texts[] = { &spec->ranks, &spec->taskmap, &spec->cores, &spec->gpu_ids };

    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        free (*texts[i]);
        *texts[i] = NULL;
    }
    spec->id = 0;
}

char *step_spec_part (const char *text, uint32_t node)
{
    for (; text && node > 0; node--) {
        if ((text = strchr (text, ';')))
            text++;
    }
    return text ? strndup (text, strcspn (text, ";")) : NULL;
}
