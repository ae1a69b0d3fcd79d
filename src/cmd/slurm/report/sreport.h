/* sreport.h - the parts of sreport: what users and accounts used, and the reports of it
 *
 *     usage_gather (c, &s, &u);                 // walks the jobs of the period
 *     report->rows (&s, &u, &rows);             // in the report's order
 *     for each row and resource: list_format_add_row (&s.format, &cell, &sb);
 *     usage_release (&u);
 *
 * Usage is counted in seconds of a resource that jobs of the period had, running ones too.
 * A job without an account counts for root, the account above all others.
 */
#pragma once

#include "cmd/slurm/acct/acct.h"

#define REPORT_ROOT "root"
#define REPORT_PART "PartOfCluster" /* the last field of SizesByAccount */
#define GROUPS_MAX 16               /* of jobs by size */
#define RESOURCES 4

enum resource { RESOURCE_CPU, RESOURCE_MEM, RESOURCE_NODE, RESOURCE_GPU };
extern const char *const resource_names[RESOURCES]; /* "cpu", "gres/gpu" */

enum time_unit { UNIT_SECONDS, UNIT_MINUTES, UNIT_HOURS, UNIT_PERCENT };

struct report;

struct sreport {
    const struct report *report;
    bool header;
    enum time_unit unit;
    bool and_percent;      /* "12(3.00%)" */
    const char *unit_name; /* "Minutes" */
    bool resource_given, resources[RESOURCES];
    double since, until, now;
    const char *accounts, *users; /* lists, or NULL: all */
    int64_t top;                  /* of TopUsage; 0: all */
    bool group, flat, count_jobs;
    double bounds[GROUPS_MAX]; /* of the groups of sizes */
    size_t nbounds;
    struct strbuf fields;
    struct list_format format;
    struct list_field table[64];
    char size_headings[GROUPS_MAX + 1][48];
    char cluster[64];
};

/* One user's, or one account's, part. */
struct usage {
    const char *account,
        *user; /* "": the account's sum; the texts are in struct usages */
    double seconds[RESOURCES];
    double sizes[GROUPS_MAX + 1]; /* seconds of CPUs, or jobs, by size of the job */
    double of_user;               /* seconds of CPUs of all the user's rows */
};

struct usages {
    struct usage *v; /* one for each user and account */
    size_t n;
    json_t *index;              /* "ACCOUNT\037USER" to the place in v */
    struct usage all;           /* the sum */
    double capacity[RESOURCES]; /* seconds of the nodes that there are */
};

/* CMD_OK, or the status after a message; release in any case. */
int usage_gather (struct cmd *c, const struct sreport *s, struct usages *ret);
void usage_release (struct usages *u);

/* -- reports (reports.c) -- */

struct report {
    const char *type; /* "cluster" */
    size_t type_min;  /* the shortest beginning */
    const char *name; /* "Utilization" */
    size_t min;
    const char *title;
    bool of_cluster; /* the period has no count of seconds behind it */
    const char *fields, *fields_of_resources;
    const struct list_field *table;
    /* Makes rows, *ret to be freed: their count; negative: no memory. */
    ssize_t (*rows) (const struct sreport *s, const struct usages *u, struct usage **ret);
};

/* The values that a field of a report reads. */
struct report_cell {
    const struct sreport *s;
    const struct usages *u;
    const struct usage *row;
    enum resource resource;
};

/* NULL: there is none. */
const struct report *report_find (const char *type, const char *name);
bool report_has_type (const char *type);
/* Makes s->table of the report's fields, with the columns of the sizes of jobs. */
void report_make_table (struct sreport *s);
