/* submit_options.c - see submit_options.h. The table of options is in attributes.c, set.c
 * reads their values, make_jobspec.c makes the jobspec.
 */
#include "jobspec/options/submit_options.h"

#include <sys/resource.h>

#include <ctype.h>

#include "jobspec/attributes/text.h"
#include "jobspec/options/components.h"
#include "jobspec/options/set.h"

void submit_options_set_host (struct submit_options *so)
{
    if (gethostname (so->submit_host, sizeof (so->submit_host)) < 0)
        so->submit_host[0] = '\0';
    so->submit_host[sizeof (so->submit_host) - 1] = '\0';
    so->submit_nice = getpriority (PRIO_PROCESS, 0);
}

static const struct attribute *find (const char *name)
{
    return attribute_find (name, strlen (name));
}

const struct option_desc *submit_options_table (void)
{
    static struct option_desc table[ATTRIBUTES_MAX]; /* the last row ends it */
    size_t n = 0;

    if (table[0].name)
        return table;
    for (const struct attribute *a = attribute_table; a->name; a++) {
        const struct attribute *of = a->same_as ? find (a->same_as) : a;
        int id = SUBMIT_OPTION_FIRST + (int)(of - attribute_table);
        table[n++] = (struct option_desc){ a->name, a->letter,       a->arg,  a->help,
                                           id,      a->arg_optional, a->group };
    }
    return table;
}

void submit_options_init (struct submit_options *so)
{
    memset (so, 0, sizeof (*so));
    so->time_limit = -1;
    so->js.requeue = JOBSPEC_UNSET;
    job_process_init (&so->process);
}

void submit_options_release (struct submit_options *so)
{
    for (const struct attribute *a = attribute_table; a->name; a++)
        if (a->type == ATTRIBUTE_TEXT && !a->same_as)
            free (*(char **)((char *)so + a->at));
    free (so->gpu_type.in_all);
    free (so->gpu_type.per_task);
    free (so->gpu_type.per_node);
    json_decref (so->for_steps);
    free (so->command.clusters.text);
    free (so->command.kill_command.text);
    free (so->output);
    free (so->error);
    free (so->input);
    stage_list_release (&so->stage_in);
    stage_list_release (&so->stage_out);
    json_decref (so->pods);
    free (so->script_name);
    free (so->script_path);
    gres_release (&so->gres);
    idset_destroy (so->nodes.list);
    idset_destroy (so->ntasks.list);
    dependencies_release (&so->depend);
    submit_written_release (so);
    submit_components_release (so);
    submit_options_init (so);
}

int submit_options_set (struct submit_options *so, enum submit_source source,
                        const char *name, const char *value, const char *where,
                        struct error *err)
{
    const struct attribute *a = find (name);
    char buf[64];

    if (!where) {
        snprintf (buf, sizeof (buf), "--%s", name);
        where = buf;
    }
    if (!a)
        return error_set (err, EINVAL, "%s: unknown option", where);
    if (a->arg && !a->arg_optional && !value)
        return error_set (err, EINVAL, "%s: needs a value (%s)", where, a->arg);
    if (value && strcmp (name, "export") != 0 /* its error names the variable */
        && !text_is_utf8 (value, strlen (value), NULL))
        return text_not_utf8 (where, err);
    if (a->same_as && !a->set)
        a = find (a->same_as);
    struct option_value v = { so, source, a, value, where };
    bool again = option_adds (&v);
    int rc = option_set (&v, err);
    if (rc == 0 && so->explain)
        submit_written_explain (so, &v, again);
    if (rc == 0 && option_adds (&v))
        submit_written_note (so, a, where);
    return rc < 0 ? rc : submit_components_note (so, source, a, name, value, where, err);
}

/* Whether a value of this option, which is read already, wins. */
static bool wins (struct submit_options *so, enum submit_source source, const char *name)
{
    return option_wins (&(struct option_value){ so, source, find (name), NULL, NULL });
}

void submit_options_set_time_limit (struct submit_options *so, enum submit_source source,
                                    double seconds)
{
    if (wins (so, source, "time"))
        so->time_limit = seconds;
}

void submit_options_set_warning (struct submit_options *so, enum submit_source source,
                                 const struct job_warning *warn)
{
    if (wins (so, source, "signal"))
        so->process.warn = *warn;
}

void submit_options_set_begin (struct submit_options *so, enum submit_source source,
                               double t)
{
    if (wins (so, source, "begin"))
        so->js.begin = t;
}

int submit_options_add_dependency (struct submit_options *so, enum submit_source source,
                                   const char *text, const char *where, struct error *err)
{
    const struct option_value v = { so, source, find ("dependency"), text, where };
    struct dependencies d;

    if (!option_adds (&v))
        return option_set_dependency (&v, err);
    int rc = dependencies_parse (&d, text, where, err);
    if (rc == 0)
        rc = dependencies_append (&so->depend, &d, where, err);
    dependencies_release (&d);
    return rc;
}

int submit_source_of (const struct submit_options *so, const char *name)
{
    return so->source_of[find (name) - attribute_table];
}

/* -- from the environment -- */

/* Convert "FLUXQ_NTASKS_PER_NODE=4" to "ntasks-per-node" and the position of the '='.
 * False: the name is no option. */
static bool option_of_variable (const char *entry, char *name, size_t size,
                                size_t *ret_len)
{
    const char *s = entry + 6;
    size_t n = 0;

    if (strncmp (entry, "FLUXQ_", 6) != 0)
        return false;
    for (; *s && *s != '='; s++) {
        if (n + 1 >= size || islower ((unsigned char)*s))
            return false;
        name[n++] = *s == '_' ? '-' : (char)tolower ((unsigned char)*s);
    }
    name[n] = '\0';
    *ret_len = (size_t)(s - entry);
    return *s == '=';
}

static bool inside_job (char *const list[])
{
    for (; *list; list++) {
        if (!strncmp (*list, "FLUXQ_JOB_ID=", 13))
            return true;
    }
    return false;
}

static int read_environ (struct submit_options *so, char *const environ_list[],
                         struct error *err)
{
    const bool inside = inside_job (environ_list);

    for (; *environ_list; environ_list++) {
        const struct attribute *a;
        char name[32], where[40];
        const char *value;
        size_t len;
        int rc;

        if (!option_of_variable (*environ_list, name, sizeof (name), &len)
            || !(a = find (name))
            /* The variable describes the job in which the user submits. */
            || (inside && (a->in_job || a->variable)))
            continue;
        value = *environ_list + len + 1;
        if (!*value)
            continue;
        snprintf (where, sizeof (where), "%.*s", (int)len, *environ_list);
        rc = submit_options_set (so, SUBMIT_FROM_ENVIRONMENT, name, value, where, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int submit_options_from_environ (struct submit_options *so, char *const environ_list[],
                                 struct error *err)
{
    int rc = read_environ (so, environ_list, err);

    for (size_t i = 0; i < so->nfurther && rc == 0; i++)
        rc = read_environ (so->further[i], environ_list, err);
    return rc;
}
