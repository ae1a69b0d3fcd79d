/* from_environ.c - options of a submission from variables FLUXQ_*; see submit_options.h
 */
#include "jobspec/options/submit_options.h"

#include <ctype.h>
#include <string.h>

static bool is_option (const char *name)
{
    for (const struct option_desc *o = submit_options_table; o->name; o++) {
        if (!strcmp (o->name, name))
            return true;
    }
    return false;
}

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

/* Whether the variable describes the job in which the user submits. src/shell/step/env.c sets
 * the job's name and sizes in variables that would be options; a job submitted from
 * within the job must not inherit them. */
static bool describes_job (const char *option)
{
    static const char *const set_by_agent[] = { "cpus-per-task", "gpus", "job-name",
                                                "nodelist", "ntasks" };

    for (size_t i = 0; i < ARRAY_SIZE (set_by_agent); i++) {
        if (!strcmp (option, set_by_agent[i]))
            return true;
    }
    return false;
}

static bool inside_job (char *const list[])
{
    for (; *list; list++) {
        if (!strncmp (*list, "FLUXQ_JOB_ID=", 13))
            return true;
    }
    return false;
}

int submit_options_from_environ (struct submit_options *so, char *const environ_list[],
                                 struct error *err)
{
    const bool inside = inside_job (environ_list);

    for (; *environ_list; environ_list++) {
        char name[32], where[40];
        const char *value;
        size_t len;
        int rc;

        if (!option_of_variable (*environ_list, name, sizeof (name), &len)
            || !is_option (name) || (inside && describes_job (name)))
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
