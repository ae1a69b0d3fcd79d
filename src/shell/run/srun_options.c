/* srun_options.c - the options that srun has besides those of fluxq-run, inside a job */
#include <ctype.h>

#include "common/gputype.h"
#include "common/io.h"
#include "common/parse.h"
#include "protocol/launch.h"
#include "shell/run/run.h"

#define NODEFILE_MAX (1024 * 1024)

static int set_count (uint32_t *field, const char *value, const char *what,
                      struct error *err)
{
    int64_t n;
    int rc = parse_int (value, 0, LAUNCH_IDS_MAX, &n, what, err);

    if (rc == 0)
        *field = (uint32_t)n;
    return rc;
}

/* "2", "a100", "a100:2" */
static int set_gpus (struct step_spec *s, const char *text, struct error *err)
{
    const char *last = strrchr (text, ':');
    char with_count[2 * GPU_TYPE_MAX + 32];
    bool number;

    last = last ? last + 1 : text;
    number = *last && last[strspn (last, "0123456789")] == '\0';
    snprintf (with_count, sizeof (with_count), "%s%s", text, number ? "" : ":1");
    const char *count = run_gpu_count (s, with_count, err);
    int rc = count ? set_count (&s->gpus_per_node, count, "--gres=gpu", err) : -EINVAL;
    s->no_gpus = s->gpus_per_node == 0;
    return rc;
}

/* "gpu:2", "gres/gpu:a100:2", "none"; other resources are those of the job. */
static int set_gres (struct step_spec *s, const char *value, struct error *err)
{
    autofree char *copy = strdup (value);
    int rc = copy ? 0 : error_no_memory (err, NULL);
    bool seen = false;

    s->no_gpus = !strcasecmp (value, "none");
    for (char *rest = copy, *item; rc == 0 && (item = strsep (&rest, ","));) {
        if (!strncmp (item, "gres/", 5) || !strncmp (item, "gres:", 5))
            item += 5;
        if (strncmp (item, "gpu", 3) != 0 || (item[3] && item[3] != ':'))
            continue;
        if (seen)
            return error_set (err, EINVAL, "--gres=%.80s: a step has GPUs of one type",
                              value);
        seen = true;
        rc = set_gpus (s, item[3] ? item + 4 : "1", err);
    }
    return rc;
}

static int check_job (const char *value, struct error *err)
{
    const char *job = getenv ("FLUXQ_JOB_ID");

    return job && !strcmp (job, value)
               ? 0
               : error_set (err, EINVAL,
                            "--jobid=%s: a step inside a job is a step of that job, %s",
                            value, job ? job : "?");
}

/* The names in a file, with commas, blanks or ends of lines between them. */
static int read_nodefile (struct step_spec *s, const char *path, struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (NODEFILE_MAX);
    int rc = io_read_file (path, &sb, NODEFILE_MAX, err);
    size_t n = 0;

    if (rc < 0)
        return error_prefix (err, "--nodefile");
    for (size_t i = 0; i < sb.len; i++) {
        char c = isspace ((unsigned char)sb.buf[i]) ? ',' : sb.buf[i];
        if (c != ',' || (n > 0 && sb.buf[n - 1] != ','))
            sb.buf[n++] = c;
    }
    n -= n > 0 && sb.buf[n - 1] == ',';
    free (s->hosts);
    s->hosts = strndup (sb.buf ? sb.buf : "", n);
    if (!s->hosts)
        return error_no_memory (err, NULL);
    return n > 0 ? 0 : error_set (err, EINVAL, "--nodefile: %s: no node", path);
}

/* An option that says what holds for every step. */
static int check_value (const struct option_match *m, struct error *err)
{
    char name[64];
    int64_t n;

    snprintf (name, sizeof (name), "--%s", m->desc->name);
    if (m->desc->id == STEP_OPT_NUMBER)
        return parse_int (m->value, 0, INT32_MAX, &n, name, err);
    if (m->desc->id == STEP_OPT_SIZE)
        return parse_memory_mib (m->value, &n, name, err);
    return parse_is_word_of (m->value, m->desc->arg)
               ? 0
               : error_set (err, EINVAL,
                            "%s: '%.32s' is not supported; the values are %s", name,
                            m->value, m->desc->arg);
}

/* --send-libs[=yes|no] */
static int set_libs (struct run_options *o, const char *value, struct error *err)
{
    o->send_libs = !value || !strcasecmp (value, "yes");
    return !value || parse_is_word_of (value, "yes|no")
               ? 0
               : error_set (err, EINVAL, "--send-libs=%.32s: neither yes nor no", value);
}

static int set_bcast (struct run_options *o, const char *value, struct error *err)
{
    o->bcast = true;
    free (o->bcast_dest);
    o->bcast_dest = value ? strdup (value) : NULL;
    return value && !o->bcast_dest ? error_no_memory (err, NULL) : 0;
}

int srun_take_option (struct run_options *o, const struct option_match *m,
                      struct error *err)
{
    const char *value;
    int64_t n;
    int rc;

    switch (m->desc->id) {
    case STEP_OPT_TIME:
        return parse_timelimit (m->value, &o->time_limit, "--time", err);
    case STEP_OPT_RELATIVE:
        rc = parse_int (m->value, 0, STEP_TASKS_MAX, &n, "--relative", err);
        o->spec.relative = rc == 0 ? (uint32_t)n : 0;
        return rc;
    case STEP_OPT_JOBID:
        return check_job (m->value, err);
    case STEP_OPT_GRES:
        return set_gres (&o->spec, m->value, err);
    case STEP_OPT_GPUS_PER_NODE:
        value = run_gpu_count (&o->spec, m->value, err);
        return value ? set_count (&o->spec.gpus_per_node, value, "--gpus-per-node", err)
                     : -EINVAL;
    case STEP_OPT_HET_GROUP:
        o->het_group = m->value;
        return 0;
    case STEP_OPT_BCAST:
        return set_bcast (o, m->value, err);
    case STEP_OPT_SEND_LIBS:
        return set_libs (o, m->value, err);
    case STEP_OPT_NODEFILE:
        return read_nodefile (&o->spec, m->value, err);
    case STEP_OPT_EXCLUSIVE:
        o->spec.exact = !o->spec.overlap;
        return 0;
    case STEP_OPT_QUIT:
        o->quit = true;
        return 0;
    case STEP_OPT_WORDS:
    case STEP_OPT_NUMBER:
    case STEP_OPT_SIZE:
        return check_value (m, err);
    case STEP_OPT_REFUSED:
        return srun_refuse (m->desc, err);
    default: /* STEP_OPT_OF_JOB, STEP_OPT_NOTHING */
        return 0;
    }
}
