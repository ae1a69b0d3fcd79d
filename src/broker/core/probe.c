/* probe.c - see probe.h
 */
#include "broker/core/probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#include "common/io.h"

/* that a start needs, including its spool's first piece */
#define ROOM_BYTES ((off_t)1 << 20)
#define ROOM_MEMORY ((size_t)16 << 20)
#define ROOM_FILES 16
#define PROBE_NAME "probe"

/* Checks for room for a job's first files, by writing, so that delayed errors show. */
static int probe_dir (const char *dir)
{
    char path[4200];
    struct statvfs fs;

    snprintf (path, sizeof (path), "%s/" PROBE_NAME, dir);
    unlink (path);
    autoclose int fd =
        open (path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    int rc = fallocate (fd, 0, 0, ROOM_BYTES) < 0 ? errno : 0;
    if (rc == EOPNOTSUPP || rc == ENOSYS)
        rc = 0; /* statvfs() below decides */
    if (rc == 0 && io_write_all (fd, path, sizeof (path)) < 0)
        rc = errno;
    if (rc == 0 && fsync (fd) < 0)
        rc = errno;
    unlink (path);
    if (rc == 0 && fstatvfs (fd, &fs) == 0
        && ((fs.f_blocks > 0 && fs.f_bavail * fs.f_frsize < (uint64_t)ROOM_BYTES)
            || (fs.f_files > 0 && fs.f_favail < PROBE_INODES)))
        rc = ENOSPC; /* root may use blocks that users may not, and agents are users */
    return rc;
}

static int probe_files (void)
{
    int fds[ROOM_FILES], rc = 0;
    size_t n = 0;

    while (n < ROOM_FILES && rc == 0) {
        if ((fds[n] = open ("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
            rc = errno;
        else
            n++;
    }
    while (n > 0)
        close (fds[--n]);
    return rc;
}

static void *idle_thread (void *arg)
{
    return arg;
}

/* Process limits count threads, too. */
static int probe_process (void)
{
    pthread_t thread;
    int rc = pthread_create (&thread, NULL, idle_thread, NULL);

    if (rc == 0)
        pthread_join (thread, NULL);
    return rc;
}

static int probe_memory (void)
{
    void *p = mmap (NULL, ROOM_MEMORY, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (p == MAP_FAILED)
        return errno;
    munmap (p, ROOM_MEMORY);
    return 0;
}

int probe_start (const char *state_dir, const char *jobs_dir)
{
    int rc = probe_files ();

    if (rc == 0)
        rc = probe_process ();
    if (rc == 0)
        rc = probe_memory ();
    if (rc == 0)
        rc = probe_dir (state_dir);
    if (rc == 0)
        rc = probe_dir (jobs_dir);
    return rc;
}
