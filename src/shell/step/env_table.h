/* env_table.h - the table of variables that fluxq sets for a task
 */
#pragma once

#include <limits.h>

#include "common/strbuf.h"
#include "shell/step/env.h"

#define ENV_RUN_NAME "fluxq-run"

struct env_variable {
    const char *name;
    /* See env_add_value(). NULL: the value is one of the following. */
    int (*value) (const struct env_context *ctx, struct strbuf *sb);
    const char *on_root; /* this text, on rank 0 */
    bool directory;      /* the directory of a virtual node for MPI, mpidir.h */
    size_t text;         /* offset of a text in struct launch */
    size_t of_array;     /* offset of a uint32_t in struct launch, for tasks of arrays */
};

/* The last has name NULL. */
extern const struct env_variable env_variables[];
/* Appends the value. 1: appended; 0: the variable does not apply to this job; negative
 * errno. */
int env_add_value (const struct env_variable *v, const struct env_context *ctx,
                   struct strbuf *sb);

/* Whether a name, or NAME=VALUE, is one that Flux sets. */
bool env_is_of_flux (const char *name);
/* Whether NAME=VALUE tells a task of an MPI program where its server is. */
bool env_is_of_pmi (const char *assignment);
/* Flux sets its own names, and Open MPI may use Flux. */
bool env_is_left_to_flux (const struct env_variable *v);
/* The path of this program as it was started. "": not known. */
void env_own_program (char ret[PATH_MAX]);
