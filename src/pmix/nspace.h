/* nspace.h - fluxq-pmix: tells the PMIx library about a step and its tasks
 *
 *     struct nspace ns = { .setup = &setup, .places = places, .base = "/tmp/..." };
 *     nspace_register (&ns, &err);
 *     nspace_environment (&ns, task, &env, &err);
 */
#pragma once

#include "common/error.h"
#include "pmix/taskplaces.h"
#include "protocol/pmix_helper.h"

struct nspace {
    const struct pmix_setup *setup;
    const struct taskplaces *places;
    const char *base; /* directory of this server; the tasks have directories in it */
};

/* Makes the directories of the step and of its tasks on this node, and registers the step
 * and these tasks. */
int nspace_register (const struct nspace *ns, struct error *err);
/* The variables that the task needs, NULL-terminated; the caller frees them with
 * PMIx_Argv_free() or like strings of malloc(). NULL with the reason. */
char **nspace_environment (const struct nspace *ns, uint32_t task, struct error *err);
