/* array.h - the tasks of a job array: their numbers, and how many run at a time
 *
 *     struct array_spec a = { 0 };
 *     array_spec_parse (&a, "1-10000:2%50", "--array", &err);
 *     idset_count (a.tasks);                                // 5000
 *     a.limit;                                              // 50
 *     array_spec_release (&a);
 *
 * The text is that of Slurm's sbatch --array: numbers, ranges FIRST-LAST and ranges with
 * a step FIRST-LAST:STEP, separated by ','. A number given more than once counts each
 * time for the limits of the text. %N at the end limits the tasks that run at the same
 * time. The step of the last range can also follow the %N.
 */
#pragma once

#include "common/idset.h"

#define ARRAY_INDEX_MAX 4000000 /* as in Slurm */
#define ARRAY_TASKS_MAX 1000000
#define ARRAY_TEXT_MAX 65536

struct array_spec {
    struct idset *tasks; /* owned; at least one, none greater than ARRAY_INDEX_MAX */
    uint32_t limit;      /* tasks that run at the same time; 0: no limit */
    char *text;          /* as given; owned */
};

/* Parse the text into a, which must be empty and is empty again after an error. Errors
 * begin with where: -EINVAL, -ERANGE (an index or the number of tasks is too large),
 * -ENOMEM. */
int array_spec_parse (struct array_spec *a, const char *text, const char *where,
                      struct error *err);
void array_spec_release (struct array_spec *a);
/* Parse the name of a job: "12", or "12_3", task 3 of the array 12. *ret_task is
 * IDSET_END if the name has no task. -EINVAL, -ERANGE: neither output is changed. */
int array_name_parse (const char *text, uint64_t *ret_id, uint32_t *ret_task,
                      const char *where, struct error *err);
/* Parse only tasks, "1-3,7" or "[1-3,7]", to select some of an array. -ERANGE: more than
 * limit. The caller owns *ret. */
int array_tasks_parse (const char *text, uint32_t limit, struct idset **ret,
                       const char *where, struct error *err);
/* The step between the tasks, if there are three or more and all steps are equal and not
 * 1; else 0. */
uint32_t array_step (const struct idset *tasks);
/* Append "1-9999:2" if the tasks have such a step, else "1-3,7"; a text that would be
 * longer than max bytes (0: no limit) ends with "...". */
int array_add_tasks (struct strbuf *sb, const struct idset *tasks, size_t max);
