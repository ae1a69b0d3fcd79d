/* set.c - sets the values of options; see set.h
 */
#include "jobspec/options/set.h"

#include <signal.h>
#include <strings.h>

#include "common/clock.h"
#include "common/gputype.h"
#include "common/io.h"
#include "common/parse.h"
#include "common/thousandths.h"
#include "jobspec/attributes/datetime.h"
#include "jobspec/attributes/podwish.h"
#include "jobspec/attributes/text.h"
#include "protocol/pattern.h"

#define NODEFILE_MAX (1 << 20) /* bytes of the file of --nodefile */

static int *source_of (const struct option_value *v)
{
    const struct attribute *a = v->attribute;

    if (a->same_as)
        a = attribute_find (a->same_as, strlen (a->same_as));
    return &v->so->source_of[a - attribute_table];
}

bool option_wins (const struct option_value *v)
{
    int *owner = source_of (v);

    if (*owner > (int)v->source + 1)
        return false;
    *owner = (int)v->source + 1;
    return true;
}

bool option_adds (const struct option_value *v)
{
    return *source_of (v) == (int)v->source + 1;
}

static void *field_of (const struct option_value *v)
{
    return (char *)v->so + v->attribute->at;
}

/* -- scalars -- */

/* Replace a text by a copy, if the value wins. */
static int replace_string (const struct option_value *v, char **field, const char *text,
                           struct error *err)
{
    char *copy;

    if (!option_wins (v))
        return 0;
    if (!(copy = strdup (text)))
        return error_no_memory (err, v->where);
    free (*field);
    *field = copy;
    return 0;
}

static int set_string (const struct option_value *v, const char *text, struct error *err)
{
    return replace_string (v, field_of (v), text, err);
}

static int set_text (const struct option_value *v, struct error *err)
{
    const struct attribute *a = v->attribute;
    int rc = a->check ? a->check (v->text, v->where, err)
                      : attribute_check_line (v->text, (size_t)a->max, v->where, err);

    return rc < 0 ? rc : set_string (v, v->text, err);
}

static int set_number (const struct option_value *v, struct error *err)
{
    const struct attribute *a = v->attribute;
    int64_t n = (int64_t)a->without;
    int rc = v->text ? parse_int (v->text, (int64_t)a->min, (int64_t)a->max, &n, v->where,
                                  err)
                     : 0;

    if (rc == 0 && option_wins (v))
        *(int64_t *)field_of (v) = n;
    return rc;
}

/* Yes or no; no text counts as yes. */
static int read_flag (const struct option_value *v, bool *ret, struct error *err)
{
    static const char *const yes[] = { "1", "yes", "true", "on" };
    static const char *const no[] = { "0", "no", "false", "off" };
    int on = v->text ? -1 : 1;

    for (size_t i = 0; v->text && i < ARRAY_SIZE (yes); i++) {
        if (!strcasecmp (v->text, yes[i]))
            on = 1;
        else if (!strcasecmp (v->text, no[i]))
            on = 0;
    }
    if (on < 0)
        return error_set (err, EINVAL, "%s: '%.64s' is not yes or no", v->where, v->text);
    *ret = on;
    return 0;
}

static int set_flag (const struct option_value *v, struct error *err)
{
    bool on;
    int rc = read_flag (v, &on, err);

    if (rc == 0 && option_wins (v))
        *(bool *)field_of (v) = on;
    return rc;
}

/* A time in the form of a time limit, but not unlimited. */
static int set_span (const struct option_value *v, struct error *err)
{
    const struct attribute *a = v->attribute;
    double seconds;
    int rc = parse_timelimit (v->text, &seconds, v->where, err);

    if (rc == 0 && seconds <= 0)
        rc = error_set (err, EINVAL, "%s: it must end: say how long", v->where);
    if (rc == 0 && (seconds < a->min || seconds > a->max))
        rc = error_set (err, ERANGE, "%s: must be from %.0f to %.0f seconds", v->where,
                        a->min, a->max);
    if (rc == 0 && option_wins (v))
        *(double *)field_of (v) = seconds;
    return rc;
}

/* "now+1hour" counts from the time of reading. */
static int set_moment (const struct option_value *v, struct error *err)
{
    double t;
    int rc = datetime_parse (v->text, clock_wall (), &t, v->where, err);

    if (rc == 0 && option_wins (v))
        *(double *)field_of (v) = t;
    return rc;
}

int option_set (const struct option_value *v, struct error *err)
{
    if (v->attribute->set)
        return v->attribute->set (v, err);
    switch (v->attribute->type) {
    case ATTRIBUTE_OWN:
        break;
    case ATTRIBUTE_TEXT:
        return set_text (v, err);
    case ATTRIBUTE_NUMBER:
        return set_number (v, err);
    case ATTRIBUTE_FLAG:
        return set_flag (v, err);
    case ATTRIBUTE_SPAN:
        return set_span (v, err);
    case ATTRIBUTE_TIME:
        return set_moment (v, err);
    }
    return error_set (err, EINVAL, "%s: this option sets nothing", v->where);
}

/* -- resources -- */

/* The type of GPUs that goes with the number. */
static char **gpu_type_of (const struct option_value *v)
{
    struct submit_options *so = v->so;

    return field_of (v) == &so->gpus            ? &so->gpu_type.in_all
           : field_of (v) == &so->gpus_per_task ? &so->gpu_type.per_task
                                                : &so->gpu_type.per_node;
}

int option_set_sizes (const struct option_value *v, struct error *err)
{
    struct submit_size z, *field = field_of (v);
    struct error why = { 0 };
    int rc = jobspec_count_parse (v->text, &z.count, &z.list, &why);

    if (rc == 0 && !z.list)
        rc = jobspec_count_reaches (&z.count, &why);
    if (rc < 0)
        return error_set (err, -rc, "%s: '%.64s': %s", v->where, v->text, why.text);
    if (option_wins (v)) {
        idset_destroy (field->list);
        *field = z;
    } else {
        idset_destroy (z.list);
    }
    return 0;
}

/* A whole number, in any notation ("2.0", "2000m"), is a number of cores. */
int option_set_cpus (const struct option_value *v, struct error *err)
{
    int64_t whole = 0, milli = 0;
    int rc = strpbrk (v->text, ".m")
                 ? thousandths_parse (v->text, JOBSPEC_COUNT_MAX, &milli, v->where, err)
                 : parse_int (v->text, 1, JOBSPEC_COUNT_MAX, &whole, v->where, err);

    if (rc < 0 || !option_wins (v))
        return rc;
    v->so->cpus_per_task = milli % 1000 == 0 ? whole + milli / 1000 : 0;
    v->so->cpu_milli = milli % 1000 == 0 ? 0 : milli;
    return 0;
}

/* "4", or "a100:4": the type is kept beside the number. */
int option_set_gpus (const struct option_value *v, struct error *err)
{
    const char *colon = strrchr (v->text, ':');
    const size_t len = colon ? (size_t)(colon - v->text) : 0;
    autofree char *text = strndup (v->text, len);
    char type[GPU_TYPE_MAX + 1], **field = gpu_type_of (v);
    int64_t n;

    if (!text)
        return error_no_memory (err, v->where);
    if (strchr (v->text, ','))
        return error_set (err, EINVAL,
                          "%s: '%.64s': a job has GPUs of one type; name one", v->where,
                          v->text);
    if (colon && (gpu_type_read (text, type) < 0 || !gres_name_is_valid (text)))
        return error_set (err, EINVAL, "%s: '%.64s' is not the type of a GPU", v->where,
                          text);
    int rc =
        parse_int (colon ? colon + 1 : v->text, 1, JOBSPEC_COUNT_MAX, &n, v->where, err);
    if (rc < 0 || !option_wins (v))
        return rc;
    *(int64_t *)field_of (v) = n;
    free (*field);
    *field = colon ? text : NULL;
    text = colon ? NULL : text;
    return 0;
}

int option_set_gres (const struct option_value *v, struct error *err)
{
    struct gres_list list;
    int rc = gres_parse (v->text, &list, v->where, err);

    if (rc < 0)
        return rc;
    if (option_wins (v)) {
        gres_release (&v->so->gres);
        v->so->gres = list;
        return 0;
    }
    gres_release (&list);
    return 0;
}

int option_set_memory (const struct option_value *v, struct error *err)
{
    int64_t mib;
    int rc = parse_memory_mib (v->text, &mib, v->where, err);

    if (rc < 0)
        return rc;
    if (mib == 0 && field_of (v) != &v->so->mem_mib && field_of (v) != &v->so->tmp_mib)
        return error_set (err, EINVAL, "%s: 0 is no size", v->where);
    if (mib > JOBSPEC_COUNT_MAX)
        return error_set (err, ERANGE, "%s: '%s' is more than %d MiB", v->where, v->text,
                          JOBSPEC_COUNT_MAX);
    if (!option_wins (v))
        return 0;
    *(int64_t *)field_of (v) = mib;
    if (field_of (v) == &v->so->mem_mib)
        v->so->mem_all = mib == 0;
    return 0;
}

/* Reads the names of the file into --nodelist. */
int option_set_nodefile (const struct option_value *v, struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (NODEFILE_MAX + 1);
    const struct attribute *nodelist = attribute_find ("nodelist", strlen ("nodelist"));
    int rc = io_read_file (v->text, &sb, NODEFILE_MAX, err);
    size_t n = 0;

    if (rc < 0)
        return error_prefix (err, "%s", v->where);
    for (size_t i = 0; i < sb.len; i++) {
        bool between = strchr (", \t\r\n", sb.buf[i]) != NULL;
        if (!between)
            sb.buf[n++] = sb.buf[i];
        else if (n > 0 && sb.buf[n - 1] != ',')
            sb.buf[n++] = ',';
    }
    if (n > 0 && sb.buf[n - 1] == ',')
        n--;
    if (n == 0)
        return error_set (err, EINVAL, "%s: %s has no names of nodes", v->where, v->text);
    sb.buf[n] = '\0';
    rc = nodelist->check (sb.buf, v->where, err);
    return rc < 0
               ? rc
               : replace_string (v, (char **)((char *)v->so + nodelist->at), sb.buf, err);
}

/* --nodes-per and --nodes-per-rack are one option. */
int option_set_nodes_per (const struct option_value *v, struct error *err)
{
    struct nodes_per n = { .level = "rack" };
    int rc = v->attribute->same_as
                 ? parse_int (v->text, 1, INT32_MAX, &n.count, v->where, err)
                 : nodes_per_parse (v->text, &n, v->where, err);

    if (rc == 0 && option_wins (v))
        v->so->nodes_per = n;
    return rc;
}

/* -- files -- */

int option_set_pattern (const struct option_value *v, struct error *err)
{
    const char *text = strcasecmp (v->text, "none") ? v->text : "/dev/null";

    if (!text_is_line (text, 4095))
        return error_set (err, EINVAL, "%s: '%.64s' cannot be the name of a file",
                          v->where, text);
    int rc = pattern_check_home (text, err);
    if (rc == 0)
        rc = pattern_check (text, err);
    if (rc < 0) {
        error_prefix (err, "%s", v->where);
        return rc;
    }
    return set_string (v, text, err);
}

/* Values of one source add up; a source of higher precedence replaces them. */
int option_set_stage (const struct option_value *v, struct error *err)
{
    struct stage_list list = { 0 }, *field = field_of (v);
    bool adds = option_adds (v);
    int rc = stage_list_add_text (&list, v->text, v->where, err);

    if (rc == 0 && ((rc = pattern_check_home (list.v[0].from, err)) < 0
                    || (rc = pattern_check_home (list.v[0].to, err)) < 0))
        error_prefix (err, "%s", v->where);
    if (rc == 0 && option_wins (v)) {
        if (!adds)
            stage_list_release (field);
        rc = stage_list_add (field, list.v[0].from, list.v[0].to, v->where, err);
    }
    stage_list_release (&list);
    return rc;
}

int option_set_open_mode (const struct option_value *v, struct error *err)
{
    bool append = !strcasecmp (v->text, "append") || !strcasecmp (v->text, "a");

    if (!append && strcasecmp (v->text, "truncate") && strcasecmp (v->text, "t"))
        return error_set (err, EINVAL, "%s: '%.64s' is not append or truncate", v->where,
                          v->text);
    if (option_wins (v))
        v->so->append = append;
    return 0;
}

int option_set_on_full (const struct option_value *v, struct error *err)
{
    int on_full = jobspec_on_full (v->text);

    if (on_full < 0)
        return error_set (err, EINVAL, "%s: '%.64s' is not wait, drop or end", v->where,
                          v->text);
    if (option_wins (v)) {
        v->so->on_full = on_full;
        v->so->has_on_full = true;
    }
    return 0;
}

/* -- the process -- */

/* Sets a member that one function reads. */
#define SET_PARSED(name, type, parse, member)                                            \
    int option_set_##name (const struct option_value *v, struct error *err)              \
    {                                                                                    \
        type parsed;                                                                     \
        int rc = parse (v->text, &parsed, v->where, err);                                \
        if (rc == 0 && option_wins (v))                                                  \
            v->so->member = parsed;                                                      \
        return rc;                                                                       \
    }
SET_PARSED (switches, struct switches, switches_parse, js.switches)
SET_PARSED (placement, struct placement, placement_parse, js.placement)
SET_PARSED (time, double, parse_timelimit, time_limit)
SET_PARSED (user_env, struct job_user_env, job_user_env_parse, process.user_env)
SET_PARSED (signal, struct job_warning, job_warning_parse, process.warn)

int option_set_propagate (const struct option_value *v, struct error *err)
{
    struct rlimits set;
    int rc = rlimits_select (v->text ? v->text : "ALL", &set, v->where, err);

    if (rc == 0 && option_wins (v))
        v->so->process.rlimits = set;
    return rc;
}

int option_set_resize_signal (const struct option_value *v, struct error *err)
{
    int signum, rc = parse_signal (v->text, &signum, v->where, err);

    if (rc == 0 && (signum == SIGKILL || signum == SIGSTOP))
        rc = error_set (err, EINVAL,
                        "%s: SIG%s ends or stops the job and cannot inform it", v->where,
                        signal_name (signum));
    if (rc == 0 && option_wins (v))
        v->so->js.resize_signal = signum;
    return rc;
}

/* Volumes of one source add up, as in option_set_stage(). */
int option_set_pod (const struct option_value *v, struct error *err)
{
    const char *name = v->attribute->name;
    autojson json_t *alone = NULL;
    bool adds = option_adds (v);
    int rc = podwish_set (&alone, name, v->text, v->where, err);

    if (rc < 0 || !option_wins (v))
        return rc;
    if (!strcmp (name, "volume") && !adds && v->so->pods)
        json_object_del (v->so->pods, "volumes");
    return podwish_set (&v->so->pods, name, v->text, v->where, err);
}

/* -- when it starts, and whether it starts again -- */

int option_set_dependency (const struct option_value *v, struct error *err)
{
    struct dependencies d;
    int rc = dependencies_parse (&d, v->text, v->where, err);

    if (rc == 0 && option_wins (v)) {
        dependencies_release (&v->so->depend);
        v->so->depend = d;
        d = (struct dependencies){ 0 };
    }
    dependencies_release (&d);
    return rc;
}

int option_set_kill (const struct option_value *v, struct error *err)
{
    bool kill;
    int rc = read_flag (v, &kill, err);

    if (rc == 0 && option_wins (v))
        v->so->js.keep_invalid_depend = !kill;
    return rc;
}

int option_set_priority (const struct option_value *v, struct error *err)
{
    int64_t n = JOBSPEC_PRIORITY_TOP;
    int rc = strcasecmp (v->text, "TOP") == 0
                 ? 0
                 : parse_int (v->text, 0, JOBSPEC_PRIORITY_TOP, &n, v->where, err);

    if (rc == 0 && option_wins (v)) {
        v->so->js.priority = n;
        v->so->priority_0 = n == 0;
    }
    return rc;
}

/* --requeue and --no-requeue are one option: the last of them counts. */
int option_set_requeue (const struct option_value *v, struct error *err)
{
    bool is_no = v->attribute->same_as != NULL;
    bool expedite = !is_no && v->text && !strcasecmp (v->text, "expedite"), on = true;
    int rc = expedite ? 0 : read_flag (v, &on, err);

    if (rc < 0)
        return is_no ? rc
                     : error_set (err, EINVAL, "%s: '%.64s' is not yes, no or expedite",
                                  v->where, v->text);
    if (option_wins (v)) {
        v->so->js.requeue = on != is_no ? JOBSPEC_TRUE : JOBSPEC_FALSE;
        v->so->js.expedite = expedite;
    }
    return 0;
}
