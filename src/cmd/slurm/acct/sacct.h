/* sacct.h - the options of sacct, and the choice of jobs
 */
#pragma once

#include "cmd/slurm/acct/acct.h"

/* A range of -i, -I, -k, -K; max 0: exactly min. min 0: any. */
struct sacct_range {
    double min, max;
};

struct sacct {
    struct acct_view view;
    struct list_format format;
    struct strbuf fields, jobs; /* of all -o, -j */
    const char *accounts, *names, *partitions, *qos, *wckeys, *hosts, *groups, *states,
        *users;
    struct strbuf known; /* names of the users */
    bool all_users, no_steps, brief, long_list, no_heading, array, parsable, parsable2,
        json;
    const char *delimiter, *since, *until;
    bool since_given;
    /* --whole-hetjob: all components of a job that is named ("yes"), or that one, the
     * first ("no"); NULL: all, or the one that is named. */
    const char *whole_hetjob;
    struct sacct_range nodes, cpus, limit; /* limit: minutes */
    struct sacct_wanted {
        uint64_t id;
        struct idset *tasks; /* NULL: the job, all tasks */
        const char *step;    /* in jobs; NULL: all */
        int64_t component;   /* of a heterogeneous job; < 0: see whole_hetjob */
    } * wanted;
    size_t nwanted;
    struct strbuf ids; /* the same for the broker */
    struct hostlist *nodelist;
    struct strbuf phases; /* the states, by their long names */
    uint64_t needs;
};

extern const struct option_desc sacct_options[];

void sacct_init (struct sacct *s);
void sacct_release (struct sacct *s);
/* Reads the command line and checks it. CMD_OK, or c->status after a message; if c->ended is
 * set, there is nothing more to do. */
int sacct_read_options (struct cmd *c, struct sacct *s);

/* Asks the broker for the name of its cluster, for the view. */
int sacct_ask_cluster (struct cmd *c, struct sacct *s);

/* -- the choice (sacct_match.c) -- */

/* Reads s->jobs. -EINVAL: err has Slurm's words; -ENOMEM. */
int sacct_read_jobs (struct sacct *s, struct error *err);
/* Values that sacct_match() reads. */
uint64_t sacct_match_needs (const struct sacct *s);
/* Whether the job is chosen; window: compares times and states, too. */
bool sacct_match (const struct sacct *s, const struct acct_row *row, bool window);
/* Whether the job's row is shown, and not only steps of it. */
bool sacct_wants_job (const struct sacct *s, const struct acct_row *row);
bool sacct_wants_step (const struct sacct *s, const struct acct_row *row);
