/* fluxrun.c - see fluxrun.h */
#include "exec/kube/make/fluxrun.h"

#include <inttypes.h>

/* Adds a word in single quotes, where only a quote is special: ' becomes '\''. */
static void add_word (struct strbuf *sb, const char *word)
{
    strbuf_adds (sb, " '");
    for (; *word; word++)
        if (*word == '\'')
            strbuf_adds (sb, "'\\''");
        else
            strbuf_addch (sb, *word);
    strbuf_addch (sb, '\'');
}

char *fluxrun_script (const struct launch *l, uint32_t gpus_per_task)
{
    uint32_t ntasks = launch_ntasks (l);
    struct strbuf sb = STRBUF_INIT (LAUNCH_MAX);

    strbuf_adds (&sb, "#!/bin/sh\nexec flux run");
    if (ntasks >= l->nnodes) /* otherwise Flux refuses the number of nodes */
        strbuf_addf (&sb, " -N%zu", l->nnodes);
    strbuf_addf (&sb, " -n%" PRIu32 " -c%" PRIu32, ntasks, l->cores_per_task);
    if (gpus_per_task > 0)
        strbuf_addf (&sb, " -g%" PRIu32, gpus_per_task);
    for (size_t i = 0; i < l->nargs; i++)
        add_word (&sb, l->args[i]);
    strbuf_addch (&sb, '\n');
    return strbuf_detach (&sb);
}
