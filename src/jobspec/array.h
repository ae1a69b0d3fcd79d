/* array.h - the tasks of a job array: which there are, and how many may run at a time
 *
 *     struct array_spec a = { 0 };
 *     array_spec_parse (&a, "1-10000:2%50", "--array", &err);
 *     idset_count (a.tasks);                                // 5000
 *     a.limit;                                              // 50
 *     array_spec_release (&a);
 *
 * The text is that of Slurm's sbatch --array: numbers, ranges FIRST-LAST and ranges with a
 * step FIRST-LAST:STEP, several with ',' (each may come more than once, and counts then each
 * time for the limits), and behind all of
 * it %N, how many may run at the same time. The step of a last range may also stand behind
 * the %N.
 */
#ifndef FLUXQ_JOBSPEC_ARRAY_H
#define FLUXQ_JOBSPEC_ARRAY_H

#include "common/idset.h"

#define ARRAY_INDEX_MAX 4000000 /* as in Slurm */
#define ARRAY_TASKS_MAX 1000000
#define ARRAY_TEXT_MAX 65536

struct array_spec {
    struct idset *tasks; /* owned; at least one, none greater than ARRAY_INDEX_MAX */
    uint32_t limit;      /* at the same time; 0: no limit */
    char *text;          /* as it was given; owned */
};

/* a is empty before, and after a failure. Errors begin with where: -EINVAL, -ERANGE (an
 * index or a number of tasks too large), -ENOMEM. */
int array_spec_parse (struct array_spec *a, const char *text, const char *where,
                      struct error *err);
void array_spec_release (struct array_spec *a);
/* A job as it is named, "12", or "12_3": task 3 of the array 12. *ret_task is IDSET_END where
 * the name has none. -EINVAL, -ERANGE: neither is touched. */
int array_name_parse (const char *text, uint64_t *ret_id, uint32_t *ret_task,
                      const char *where, struct error *err);
/* The tasks alone, as in "1-3,7" or "[1-3,7]": what names some of an array. -ERANGE: more
 * than limit. Caller owns *ret. */
int array_tasks_parse (const char *text, uint32_t limit, struct idset **ret,
                       const char *where, struct error *err);
/* The distance of each to the next, when there are three or more and it is the same for all
 * and not 1; else 0. */
uint32_t array_step (const struct idset *tasks);
/* Append "1-9999:2" where that says it all, else "1-3,7"; the text ends with "..." where
 * it would be longer than max bytes (0: no bound). */
int array_add_tasks (struct strbuf *sb, const struct idset *tasks, size_t max);

#endif
