/* wal.h - SQLite's write-ahead log, read before SQLite does
 *
 *     struct wal_state w;
 *     if (wal_scan ("journal.db-wal", &w, &err) == 0 && w.later)
 *         ... SQLite would drop transactions that were on disk, and say nothing
 *
 * SQLite ends a log at the first frame with a wrong checksum. That is right for the end of
 * a log that a crash cut short, and wrong for a bit that flipped. A frame of the same
 * generation behind the end of another transaction tells the two apart: it was written
 * only after all in front of it had been synced. Format: sqlite.org/fileformat2.html,
 * section 4.
 */
#ifndef FLUXQ_STORE_WAL_H
#define FLUXQ_STORE_WAL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct wal_state {
    uint32_t frames; /* in the file, whole ones */
    uint32_t good;   /* ... as far as checksums are right */
    bool broken;     /* behind those there is something of the same generation */
    bool later;      /* ... and it is more than the last transaction */
};

/* No file, or an empty one: 0 and nothing in ret. */
int wal_scan (const char *path, struct wal_state *ret, struct error *err);
/* Make all checksums right, for a copy that is to be looked into. */
int wal_mend (const char *path, struct error *err);

#endif
