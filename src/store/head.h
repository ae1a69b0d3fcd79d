/* head.h - how far the journal has come, kept outside of it
 *
 *     struct journal_head h;
 *     int fd = head_open ("journal.db-head", &h, &known, &err);
 *     h.seq = ...;
 *     head_write (fd, &h, false);                  // after each commit: no sync
 *
 * A small file of one line beside the data base, PATH-head. It is written after each group
 * commit and not synced: a process that dies leaves it exact; after a power failure it may
 * be older than the journal, and is never newer. So a journal that ends before it has lost
 * something. It also reserves ids, a block at a time and synced: what was reserved is
 * never given again, whichever journal lies beside it.
 */
#ifndef FLUXQ_STORE_HEAD_H
#define FLUXQ_STORE_HEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

#define HEAD_BLOCK 1000 /* ids that are reserved at a time */

struct journal_head {
    int64_t seq;       /* of the last event */
    uint64_t total;    /* sum over all rows with that event */
    uint64_t last_id;  /* the greatest that a job has */
    uint64_t reserved; /* the greatest that may have been given */
};

/* The file's descriptor, made if it was not there; *known: it has what was written. */
int head_open (const char *path, struct journal_head *ret, bool *known, struct error *err);
/* 0 or negative errno. */
int head_write (int fd, const struct journal_head *h, bool sync);

#endif
