/* dependency.h - dependencies that a job waits for before it is queued: lists and RFC 26
 * objects
 *
 *     struct dependencies d = { 0 };
 *     dependencies_parse (&d, "afterok:37:38,singleton", "--dependency", &err);
 *     d.list[0].kind, d.list[0].id, ...                  // three of them, all needed
 *     json_t *o = dependencies_to_json (&d);             // attributes.system.dependencies
 *     dependencies_release (&d);
 *
 * The text is that of Slurm's sbatch --dependency: KIND[:ID[:ID...]], several separated
 * by ',' (all must be met) or by '?' (one is enough), not by both. The kinds:
 *
 *     after:ID[+M]   the job has started, and M minutes have passed since
 *     afterany:ID    the job has ended
 *     afterok:ID     the job has completed
 *     afternotok:ID  the job has ended otherwise
 *     aftercorr:ID   between two arrays: each task waits until the task of the same
 *                    number has completed; else the same as afterok
 *     singleton      every earlier job of this user and name has ended
 *
 * In a jobspec each dependency is an object {"scheme": KIND, "value": "ID"} (RFC 26);
 * "value" of singleton is "". `after` can have "delay", in seconds. A list separated by
 * '?' is a single object {"scheme": "any", "value": TEXT}, with TEXT as above: a reader
 * that does not know the scheme refuses it rather than taking it for "all". The scheme
 * "begin-time" (a unix time, as flux writes it) is no dependency here but the earliest
 * start.
 *
 * Ids are fluxq's job ids; 12_3 is task 3 of array 12. At most DEPENDENCIES_MAX a job.
 */
#pragma once

#include "common/json.h"

#define DEPENDENCIES_MAX 1000
#define DEPENDENCY_DELAY_MAX (3650 * 86400.) /* seconds, 10 years */

enum dependency_kind {
    DEPENDENCY_AFTER,
    DEPENDENCY_AFTERANY,
    DEPENDENCY_AFTEROK,
    DEPENDENCY_AFTERNOTOK,
    DEPENDENCY_AFTERCORR,
    DEPENDENCY_SINGLETON,
};

struct dependency {
    enum dependency_kind kind;
    uint64_t id;    /* of the job to wait for; 0: singleton */
    uint64_t array; /* the job is a task of this array; id is the array's id until the
                     * task's own id is known; 0: no task */
    uint32_t task;  /* ... number of the task */
    double delay;   /* seconds after the start; 0 except for DEPENDENCY_AFTER */
};

/* All zero: none. */
struct dependencies {
    struct dependency *list; /* owned */
    size_t n;
    bool any; /* one of them is enough; false: all are needed */
};

/* Parse the text into d, which must be empty and is empty again after an error. Errors
 * begin with where: -EINVAL, -ERANGE (more than DEPENDENCIES_MAX, numbers too large),
 * -ENOMEM. O(len). */
int dependencies_parse (struct dependencies *d, const char *text, const char *where,
                        struct error *err);
/* As dependencies_parse(), from the array in a jobspec. *ret_begin is the latest time of
 * scheme begin-time; it is unchanged when there is none. */
int dependencies_from_json (struct dependencies *d, const json_t *array,
                            const char *where, double *ret_begin, struct error *err);
/* The array for a jobspec, a new reference; NULL: no memory. d must not be empty. */
json_t *dependencies_to_json (const struct dependencies *d);
/* Append the dependencies of more to d; in both lists all are needed. -ERANGE, -ENOMEM: d
 * is unchanged. */
int dependencies_append (struct dependencies *d, const struct dependencies *more,
                         const char *where, struct error *err);
/* Append the text form: "afterok:37:38,singleton", "afterok:37?afterok:38". */
int dependencies_add_text (struct strbuf *sb, const struct dependencies *d);
/* Frees the list; d is empty afterwards. */
void dependencies_release (struct dependencies *d);
