/* pattern.h - file name patterns of batch users: %A %a %J %j %N %n %s %t %u %x %%
 *
 * As in sbatch(1), "filename pattern".
 *
 *     struct pattern_vars v = { .job_id = 12, .job_name = "hello", .user = "ann",
 *                               .node = "node1", .task = 0 };
 *     pattern_expand ("%x-%j.out", &v, &sb, &err);     // "hello-12.out"
 *
 * A width as in %5j pads numbers with zeros (at most 10). An unknown letter is -EINVAL;
 * the error has the letter and the known letters. '/' in a value becomes '_'. NULL values
 * are empty. A name that contains a backslash has no patterns: the backslashes are
 * removed.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

struct pattern_vars {
    uint64_t job_id;
    uint64_t array_job;  /* the array of a task of an array; 0: none, then %A is job_id */
    uint32_t array_task; /* ... number of the task */
    const char *job_name;
    const char *user;
    /* name of the task's node; %N is the part before the first dot */
    const char *node;
    uint32_t node_index; /* ... and its index among the job's nodes, from 0 */
    uint32_t task;       /* global task number */
    bool in_step;        /* false: the batch script; then %J is %j, and %s "batch" */
    uint32_t step;       /* number of the step: %J is JOB.STEP */
};

int pattern_expand (const char *pattern, const struct pattern_vars *vars,
                    struct strbuf *sb, struct error *err);
/* 0 if all letters are known, else -EINVAL as above. */
int pattern_check (const char *pattern, struct error *err);
/* As pattern_check(), for a file of the job or of a node: the letters of a task (%J, %s,
 * %t) are -EINVAL too. */
int pattern_check_of_node (const char *pattern, struct error *err);
/* -EINVAL if the name has a part that only a shell expands: ~ in front, or $HOME. */
int pattern_check_home (const char *name, struct error *err);
/* Whether the expansion differs by task (%t) or by node (%N, %n). */
bool pattern_is_per_task (const char *pattern);
bool pattern_is_per_node (const char *pattern);
/* Whether the expansion differs by job (%j, %J) or by task of an array (%a). */
bool pattern_is_per_job (const char *pattern);
