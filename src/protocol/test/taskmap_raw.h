/* taskmap_raw.h - a task map as raw text, which fluxq reads but does not write */
#pragma once

#include "protocol/taskmap.h"

static inline /* Sorted ids as an idset. */
void add_ids (struct strbuf *sb, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0, last; i < n && sb->err == 0; i = last + 1) {
        for (last = i; last + 1 < n && ids[last + 1] == ids[last] + 1;)
            last++;
        strbuf_addf (sb, "%s%u", i > 0 ? "," : "", ids[i]);
        if (last > i)
            strbuf_addf (sb, "-%u", ids[last]);
    }
}

/* 0, -ENOMEM or the strbuf's error. ntasks: >= 1. */
static inline int strbuf_add_taskmap_raw (struct strbuf *sb, const uint32_t *ranks,
                                          uint32_t ntasks)
{
    struct taskmap_index x;
    uint32_t top = 0;
    int rc;

    for (uint32_t task = 0; task < ntasks; task++)
        top = MAX (top, ranks[task]);
    if ((rc = taskmap_index (&x, ranks, ntasks, top + 1)) < 0)
        return rc;
    for (uint32_t rank = 0; rank <= top; rank++) {
        if (rank > 0)
            strbuf_addch (sb, ';');
        add_ids (sb, x.tasks + x.first[rank], x.first[rank + 1] - x.first[rank]);
    }
    taskmap_index_release (&x);
    return sb->err;
}
