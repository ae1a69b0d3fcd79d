/* attributes.h - the one table of a job's attributes
 *
 * A row has all that fluxq knows of an attribute. A new attribute that is only recorded
 * and shown needs a row, and a member of struct jobspec for its value:
 *
 *     { .name = "color", .arg = "NAME",
 *       .help = "the job's color, which is shown with the job",
 *       TEXT (js.color), .max = 63, .path = "fluxq.color", .event = "color",
 *       .label = "Color", .heading = "COLOR", .variable = "SLURM_JOB_COLOR" },
 *
 * From the row come --color, FLUXQ_COLOR, the directive #FLUXQ --color, their help and
 * completion (of an option of Slurm also #SBATCH --color, see slurm_options.h); the path
 * in the jobspec, written, read and named in errors; the key of the submit event, the column of listings, the member of GET
 * /v1/jobs/ID and the line of fluxq-show job; FLUXQ_COLOR and SLURM_JOB_COLOR in the job.
 *
 * The manual pages, doc/openapi.yaml and fluxq-environment(7) are checked against the
 * table by t0010 and t0170, the rows by test_attributes.c.
 *
 * A text that is only shown can change after the submit (`changes`), by the event `memo`.
 * Other attributes of the table do not change. Values that change later are kept in struct
 * job and changed by events: the queue, the time limit, the urgency, the priority, and the
 * nodes; `begin` and `deadline` of a job that is queued again. Rows
 * with a `set` function are special, because their value is no scalar (sizes, lists,
 * patterns, constraints, dependencies), is built into the resources, or comes from
 * several options (requeue). Values of the options alone (`array`, `chdir`, ...) are
 * members of struct submit_options; make_jobspec.c writes them.
 */
#pragma once

#include "common/option.h"
#include "jobspec/jobspec.h"

#define ATTRIBUTES_MAX 96 /* rows, as source_of in struct submit_options */

struct option_value;

enum attribute_type {
    ATTRIBUTE_OWN,    /* read by the row's set() */
    ATTRIBUTE_TEXT,   /* char *: one line of 1 to max bytes */
    ATTRIBUTE_NUMBER, /* int64_t: min to max */
    ATTRIBUTE_FLAG,   /* bool */
    ATTRIBUTE_SPAN,   /* double: seconds, min to max; in options as a time limit */
    ATTRIBUTE_TIME,   /* double: unix time, 0 to max; in options as datetime.h */
};

struct attribute {
    /* The option, as in struct option_desc. NULL ends the table. */
    const char *name;
    const char *arg, *help, *group;
    char letter;
    bool arg_optional;
    const char *same_as; /* sets the value of this option, or NULL */
    /* The value; 0, false or NULL if the attribute is not given. */
    enum attribute_type type;
    size_t at; /* offset in struct submit_options, which begins with a struct jobspec */
    double min, max;
    double without; /* the number if the option has no value */
    /* Text: checks the option's value instead of max and common/printable.h; or NULL. */
    int (*check) (const char *text, const char *where, struct error *err);
    /* Reads the option; not NULL for ATTRIBUTE_OWN */
    int (*set) (const struct option_value *v, struct error *err);
    const char *path; /* below attributes.system; or NULL */
    bool resource;    /* the value becomes part of the resources */
    bool in_job;      /* fluxq-shell sets FLUXQ_NAME to the value that the job got */
    /* The places that show the value. label, heading and variable: texts only. */
    const char *event;    /* key in the context of the submit event */
    const char *label;    /* line in fluxq-show job; then GET /v1/jobs/ID has it, too */
    const char *heading;  /* of the column in listings; needs event */
    char column_letter;   /* squeue's letter for the column, or 0 */
    bool is_private;      /* part of a job's arguments, see broker/privacy.h */
    const char *variable; /* Slurm's name of the variable in the job */
    bool changes;     /* POST /v1/jobs/ID/memo changes the value, which is only shown */
    bool by_operator; /* only operators may set the value */
};

extern const struct attribute attribute_table[];

/* name: long option, need not end at len. NULL: no such row. */
const struct attribute *attribute_find (const char *name, size_t len);

/* -EINVAL unless text is a printable line of 1 to max bytes. */
int attribute_check_line (const char *text, size_t max, const char *where,
                          struct error *err);

/* -- values of scalar rows in a jobspec (attribute_values.c) -- */

/* Read an optional line of text, a copy, from the member of o. */
int attribute_read_line (const json_t *o, const char *key, const char *where, size_t max,
                         char **ret, struct error *err);
/* The value of a text; NULL: not given, or no text. */
const char *attribute_text (const struct attribute *a, const struct jobspec *js);
/* Read the values from attributes.system. -EINVAL, -ERANGE, -ENOMEM. */
int attributes_from_json (struct jobspec *js, const json_t *system, struct error *err);
/* Add the given values to attributes.system. -1: out of memory. */
int attributes_to_json (json_t *system, const struct jobspec *js);
/* Add the given values to the context of the submit event. -1: out of memory. */
int attributes_to_event (json_t *context, const struct jobspec *js);
/* The keys of the event that listings show, as a new object; NULL: there are none.
 * -ENOMEM. */
int attributes_of_event (const json_t *context, json_t **ret);
/* Set the texts of *shown, such keys, to those of the event `memo`; *shown NULL: there are
 * none. -EINVAL: a value is no text; -ENOMEM. After an error *shown is unchanged. */
int attributes_of_memo (const json_t *context, json_t **shown);
/* Set the members that fluxq-show job prints, null if not given, but for those that are
 * columns. */
void attributes_show (json_t *o, const struct jobspec *js);
/* Set the job's variables in js->environment. -ENOMEM. */
int attributes_to_environment (struct jobspec *js);
void attributes_release (struct jobspec *js);
