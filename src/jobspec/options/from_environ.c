/* from_environ.c - options of a submission from variables FLUXQ_*; see submit_options.h
 */
#include "jobspec/options/submit_options.h"

#include <ctype.h>
#include <string.h>

#include "jobspec/options/attributes.h"

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

int submit_options_from_environ (struct submit_options *so, char *const environ_list[],
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
            || !(a = attribute_find (name, strlen (name)))
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
