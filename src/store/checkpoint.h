/* checkpoint.h - moves SQLite's log into the database, also on a disk whose syncs fail
 *
 *     int rc = checkpoint_run (db, fd, SQLITE_CHECKPOINT_PASSIVE);
 *
 * After a failed sync the kernel calls pages clean that never reached the disk. SQLite
 * repeats the checkpoint from the frame that the last one reached. That one may have ended
 * early, because of a reader, and then it synced nothing: its pages are lost, and the
 * next successful sync lets SQLite remove them from the log, too. So after a failure the
 * next checkpoint here begins with the first frame, and the kernel's copy of the database
 * is dropped: ext4 writes a block of that copy again to a place that it then forgets.
 * Source: sqlite.org/walformat.html, section 2.1 (nBackfill).
 */
#pragma once

#include <sqlite3.h>

/* mode: SQLITE_CHECKPOINT_... fd: the database file, which stays open until all of its
 * connections are closed, because a close() ends SQLite's locks on the file. Returns
 * SQLite's result code. Only the one connection that writes makes checkpoints. */
int checkpoint_run (sqlite3 *db, int fd, int mode);

/* Makes SQLite's own checkpoints, of a COMMIT that leaves many frames, be checkpoint_run(). */
void checkpoint_automatically (sqlite3 *db, int fd);

/* Drops the kernel's copy of the file: what is read next is on the disk. */
void checkpoint_drop_cache (int fd);
