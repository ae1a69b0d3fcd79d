/* head.h - the position of the journal, kept outside of it
 *
 *     struct journal_head h;
 *     int fd = head_open ("journal.db-head", &h, &known, &err);
 *     h.seq = ...;
 *     head_write (fd, &h, false);                  // after each commit: no sync
 *
 * A small file of one line beside the data base, PATH-head. It is written after each
 * group commit and not synced: when the process dies, the file is exact; after a power
 * failure it may be older than the journal, and is never newer. So a journal that ends
 * before the head has lost something. The head also reserves ids, a block at a time and
 * synced: a reserved id is never given again, whichever journal lies beside it.
 */
#pragma once

#include "common/error.h"

#define HEAD_BLOCK 1000 /* ids reserved at a time */

struct journal_head {
    int64_t seq;       /* of the last event */
    uint64_t total;    /* sum over all rows with that event */
    uint64_t last_id;  /* greatest id of a job */
    uint64_t reserved; /* greatest id that may have been given */
};

/* Returns the file's descriptor; makes the file if there is none. *known: ret has its
 * content. */
int head_open (const char *path, struct journal_head *ret, bool *known, struct error *err);
/* 0 or negative errno. */
int head_write (int fd, const struct journal_head *h, bool sync);
