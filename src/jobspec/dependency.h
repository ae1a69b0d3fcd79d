/* dependency.h - what a job waits for before it may be queued: lists and RFC 26 objects
 *
 *     struct dependencies d = { 0 };
 *     dependencies_parse (&d, "afterok:37:38,singleton", "--dependency", &err);
 *     d.list[0].kind, d.list[0].id, ...                  // three of them, all needed
 *     json_t *o = dependencies_to_json (&d);             // attributes.system.dependencies
 *     dependencies_release (&d);
 *
 * The text is that of Slurm's sbatch --dependency: KIND[:ID[:ID...]], several with ','
 * (all must be met) or with '?' (one is enough), not both. The kinds:
 *
 *     after:ID[+M]   the job has started, and M minutes have passed since
 *     afterany:ID    it has ended
 *     afterok:ID     it has completed
 *     afternotok:ID  it has ended otherwise
 *     aftercorr:ID   of an array that waits for an array: each of its tasks waits for the
 *                    task of the same number to complete; else the same as afterok
 *     singleton      every earlier job of this user and name has ended
 *
 * In a jobspec each is an object {"scheme": KIND, "value": "ID"} (RFC 26); "value" of
 * singleton is "". `after` may have "delay", seconds. A list of which one is enough is a
 * single object {"scheme": "any", "value": TEXT}, TEXT as above with '?' between: a
 * reader that does not know the scheme refuses it, and does not take it for "all". The
 * scheme "begin-time" (a unix time, as flux writes it) is no dependency here but a time
 * not to start before.
 *
 * Ids are fluxq's numbers; 12_3 is task 3 of array 12. At most DEPENDENCIES_MAX a job.
 */
#ifndef FLUXQ_JOBSPEC_DEPENDENCY_H
#define FLUXQ_JOBSPEC_DEPENDENCY_H

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
    uint64_t id;    /* of the job waited for; 0: singleton */
    uint64_t array; /* it is a task of that array, whose number id is until the task's own
                     * is known; 0: none */
    uint32_t task;  /* ... which one */
    double delay;   /* seconds after its start; 0 but for DEPENDENCY_AFTER */
};

/* All zero: none. */
struct dependencies {
    struct dependency *list; /* owned */
    size_t n;
    bool any; /* one of them is enough; false: all are needed */
};

/* d is empty before, and after a failure. Errors begin with where: -EINVAL, -ERANGE (more
 * than DEPENDENCIES_MAX, numbers too large), -ENOMEM. O(len). */
int dependencies_parse (struct dependencies *d, const char *text, const char *where,
                        struct error *err);
/* From the array in a jobspec. *ret_begin is the latest time of scheme begin-time, and
 * not touched when there is none. */
int dependencies_from_json (struct dependencies *d, const json_t *array,
                            const char *where, double *ret_begin, struct error *err);
/* New reference; NULL: no memory. d has at least one. */
json_t *dependencies_to_json (const struct dependencies *d);
/* Put what more has behind what d has; both are lists of "all". -ERANGE, -ENOMEM: d is as
 * before. */
int dependencies_append (struct dependencies *d, const struct dependencies *more,
                         const char *where, struct error *err);
/* Append the text form: "afterok:37:38,singleton", "afterok:37?afterok:38". */
int dependencies_add_text (struct strbuf *sb, const struct dependencies *d);
/* Frees the list; d is empty then. */
void dependencies_release (struct dependencies *d);

#endif
