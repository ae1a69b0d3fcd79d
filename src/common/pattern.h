/* pattern.h - file name patterns of batch users: %A %a %J %j %N %n %s %t %u %x %%
 *
 * As in sbatch(1), "filename pattern".
 *
 *     struct pattern_vars v = { .job_id = 12, .job_name = "hello", .user = "ann",
 *                               .node = "node1", .task = 0 };
 *     pattern_expand ("%x-%j.out", &v, &sb, &err);     // "hello-12.out"
 *
 * A width as in %5j pads numbers with zeros (at most 10). An unknown letter is -EINVAL
 * with the letter and the known ones in the error. '/' in a value becomes '_'. NULL
 * values are empty. A name with a backslash in it has no patterns: the backslashes go, and
 * the rest is the name.
 */
#ifndef FLUXQ_COMMON_PATTERN_H
#define FLUXQ_COMMON_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/strbuf.h"

struct pattern_vars {
    uint64_t job_id;
    uint64_t array_job;  /* of a task of an array; 0: of none, then %A is job_id */
    uint32_t array_task; /* ... its number */
    const char *job_name;
    const char *user;
    /* name of the task's node; %N is what stands before its first dot */
    const char *node;
    uint32_t node_index; /* ... and which of the job's nodes it is, from 0 */
    uint32_t task;       /* global task number */
    bool in_step;        /* false: the batch script; %J is %j then, and %s "batch" */
    uint32_t step;       /* its number: %J is JOB.STEP */
};

int pattern_expand (const char *pattern, const struct pattern_vars *vars,
                    struct strbuf *sb, struct error *err);
/* 0 when all letters are known, else -EINVAL as above. */
int pattern_check (const char *pattern, struct error *err);
/* The same for a file of the job or of a node: what a task alone has (%J, %s, %t) is -EINVAL,
 * too. */
int pattern_check_of_node (const char *pattern, struct error *err);
/* Of a name as a person wrote it: -EINVAL for what only a shell expands, ~ in front and $HOME. */
int pattern_check_home (const char *name, struct error *err);
/* Whether the expansion differs by task (%t) or by node (%N, %n). */
bool pattern_is_per_task (const char *pattern);
bool pattern_is_per_node (const char *pattern);
/* Whether it differs by job (%j, %J), or by task of an array (%a). */
bool pattern_is_per_job (const char *pattern);

#endif
