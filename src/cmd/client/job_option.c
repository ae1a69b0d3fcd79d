/* job_option.c - see job_option.h */
#include "cmd/client/job_option.h"

#include "jobspec/options/components.h"
#include "jobspec/options/slurm_options.h"

int submit_set_option (struct cmd *c, struct submit_options *so,
                       const struct option_match *m)
{
    const struct slurm_option *o = slurm_option_of (m->desc);
    struct error err = { 0 };
    char written[64], where[96];

    cmd_option_as_written (c, m, written, sizeof (written));
    if (so->component > 0)
        snprintf (where, sizeof (where), "component %zu: %s", so->component, written);
    else
        snprintf (where, sizeof (where), "%s", written);
    int rc = o ? slurm_option_set (so, SUBMIT_FROM_COMMAND, o, m->value, where, &err)
               : submit_options_set (so, SUBMIT_FROM_COMMAND, m->desc->name, m->value,
                                     where, &err);
    return rc < 0 ? cmd_usage (c, "%s", err.text) : CMD_OK;
}

bool submit_next_component (struct cmd *c, const struct option_match *m,
                            struct submit_options **so)
{
    struct submit_options *first = (*so)->first ? (*so)->first : *so;
    struct error err = { 0 };

    if (strcmp (m->value, ":") != 0 || c->parser.dashes)
        return false;
    struct submit_options *next = submit_component_add (first, &err);
    if (!next)
        cmd_usage (c, "%s", err.text);
    else
        *so = next;
    c->parser.done = false;
    return true;
}
