/* checkpoint.c - see checkpoint.h */
#include "store/checkpoint.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "common/macros.h"

#define INDEX_PAGE 32768 /* bytes of a page of the log's index */
#define NBACKFILL 96     /* offset of the number of frames that are in the database */
#define MANY_FRAMES 1000 /* as SQLite's default */

/* The next checkpoint begins with the log's first frame. That is right at any time: the
 * frames are there until the log is reset, and then the number is 0, too. */
static void begin_again (sqlite3 *db)
{
    sqlite3_file *f = NULL;
    void volatile *index = NULL;

    if (sqlite3_file_control (db, "main", SQLITE_FCNTL_FILE_POINTER, &f) != SQLITE_OK
        || !f || !f->pMethods || f->pMethods->iVersion < 2
        || f->pMethods->xShmMap (f, 0, INDEX_PAGE, 0, &index) != SQLITE_OK || !index)
        return; /* no index yet: nothing was moved */
    __atomic_store_n ((volatile uint32_t *)((volatile char *)index + NBACKFILL), 0,
                      __ATOMIC_SEQ_CST);
}

void checkpoint_drop_cache (int fd)
{
    (void)!fdatasync (fd); /* pages that are not written yet stay */
    posix_fadvise (fd, 0, 0, POSIX_FADV_DONTNEED);
}

int checkpoint_run (sqlite3 *db, int fd, int mode)
{
    int rc = sqlite3_wal_checkpoint_v2 (db, NULL, mode, NULL, NULL);

    if (rc != SQLITE_OK && rc != SQLITE_BUSY && rc != SQLITE_LOCKED) {
        begin_again (db);
        checkpoint_drop_cache (fd);
    }
    return rc;
}

static int on_frames (void *arg, sqlite3 *db, const char *name, int frames)
{
    (void)name;
    if (frames >= MANY_FRAMES) /* after a failure: again later */
        checkpoint_run (db, (int)(intptr_t)arg, SQLITE_CHECKPOINT_PASSIVE);
    return SQLITE_OK;
}

void checkpoint_automatically (sqlite3 *db, int fd)
{
    sqlite3_wal_hook (db, on_frames, (void *)(intptr_t)fd);
}
