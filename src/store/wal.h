/* wal.h - checks SQLite's write-ahead log before SQLite reads it
 *
 *     struct wal_state w;
 *     if (wal_scan ("journal.db-wal", &w, &err) == 0 && w.later)
 *         ... SQLite would drop transactions that were on disk, and say nothing
 *
 * SQLite ends a log at the first frame with a wrong checksum. That is right for a log
 * that a crash cut short, and wrong for a flipped bit. A frame of the same generation
 * behind the end of another transaction tells the two apart: it was written only after
 * all frames before it had been synced. Format: sqlite.org/fileformat2.html, section 4.
 */
#pragma once

#include "common/error.h"

struct wal_state {
    uint32_t frames; /* whole frames in the file */
    uint32_t good;   /* ... with right checksums, from the start on */
    bool broken;     /* behind those there are frames of the same generation */
    bool later;      /* ... which are more than the last transaction */
};

/* Drops the kernel's copy of the file, writes the content once more, and syncs it. A writer
 * that died after a failed sync has left frames that the kernel calls clean, but that
 * never reached the disk. SQLite would read them as committed, and they would be gone
 * later. Returns 1; 0: there is no file, or an empty one. */
int wal_rewrite (const char *path, struct error *err);

/* Without a file, or with an empty one: 0 and *ret is empty. */
int wal_scan (const char *path, struct wal_state *ret, struct error *err);
/* Makes all checksums right, in a copy for inspection. */
int wal_mend (const char *path, struct error *err);
