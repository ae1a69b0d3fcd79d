/* pattern.h - file name patterns of batch users: %j %A %a %x %u %N %t %%
 *
 * As in sbatch(1), "filename pattern".
 *
 *     struct pattern_vars v = { .job_id = 12, .job_name = "hello", .user = "ann",
 *                               .node = "node1", .task = 0 };
 *     pattern_expand ("%x-%j.out", &v, &sb, &err);     // "hello-12.out"
 *
 * A width as in %5j pads numbers with zeros (at most 10). An unknown letter is -EINVAL
 * with the letter and the known ones in the error. '/' in a value becomes '_'. NULL
 * values are empty.
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
    const char *node; /* short host name of the task's node */
    uint32_t task;    /* global task number */
};

int pattern_expand (const char *pattern, const struct pattern_vars *vars,
                    struct strbuf *sb, struct error *err);
/* 0 when all letters are known, else -EINVAL as above. */
int pattern_check (const char *pattern, struct error *err);
/* Whether the expansion differs by task (%t) or by node (%N). */
bool pattern_is_per_task (const char *pattern);
/* Whether it differs by job (%j), or by task of an array (%a). */
bool pattern_is_per_job (const char *pattern);
bool pattern_is_per_node (const char *pattern);

#endif
