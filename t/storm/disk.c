/* disk.c - a library for LD_PRELOAD: faults of the disk under the journal of fluxqd
 *
 *     cc -shared -fPIC -o disk.so disk.c
 *     FLUXQ_STORM_DISK=control LD_PRELOAD=./disk.so fluxqd ...
 *
 * The file `control` has the struct control below. t/storm/faults.py maps the file too, and arms
 * one fault at a time: the fault strikes at the countdown-th call of its kind on a file whose name
 * begins with "journal", `times` times in a row.
 *
 * A power cut undoes the writes that no sync has covered, and kills the process. A cut keeps a
 * random part of these writes, as a disk may write pages in any order. The file system itself
 * (names, sizes of synced files) is taken to be intact. Files that are mapped (journal.db-shm) are
 * not undone: SQLite builds this file anew.
 *
 * The library acts in fluxqd only and removes itself from the environment of jobs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind {
    NONE,
    KILL_BEFORE,
    KILL_AFTER,
    KILL_HALF,
    FAIL_EIO,
    FAIL_ENOSPC,
    SHORT,
    POWER
};
enum call { CALL_WRITE = 1, CALL_SYNC = 2 };

struct control {
    uint32_t kind;          /* enum kind; 0: no fault is armed */
    uint32_t calls;         /* mask of enum call */
    int32_t countdown;      /* calls until the fault strikes */
    uint32_t times;         /* number of calls that it strikes */
    uint32_t struck;        /* calls struck since the file was made */
    uint32_t seed;          /* of the choice of writes that a power cut keeps */
    uint64_t writes, syncs; /* calls seen */
};

struct undo { /* one write that no sync has covered */
    struct undo *older;
    dev_t dev;
    ino_t ino;
    char path[512]; /* no descriptor: closing one would drop SQLite's locks on the file */
    off_t at, size; /* size: of the file before the write */
    size_t len;
    char old[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct control *control;
static struct undo *undos;

static ssize_t (*real_pwrite) (int, const void *, size_t, off_t);
static int (*real_fsync) (int);
static int (*real_fdatasync) (int);
static int (*real_ftruncate) (int, off_t);

static void *next (const char *name)
{
    void *symbol = dlsym (RTLD_NEXT, name);

    if (!symbol)
        abort ();
    return symbol;
}

static void map_control (const char *path)
{
    int fd = open (path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        abort ();
    control = mmap (NULL, sizeof (*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (control == MAP_FAILED)
        abort ();
    close (fd);
}

__attribute__ ((constructor)) static void disk_init (void)
{
    const char *path = getenv ("FLUXQ_STORM_DISK");

    real_pwrite = next ("pwrite64");
    real_fsync = next ("fsync");
    real_fdatasync = next ("fdatasync");
    real_ftruncate = next ("ftruncate64");
    if (path && strcmp (program_invocation_short_name, "fluxqd") == 0)
        map_control (path);
    unsetenv ("LD_PRELOAD");
    unsetenv ("FLUXQ_STORM_DISK");
}

static void path_of (int fd, char *path, size_t size)
{
    char link[64];

    snprintf (link, sizeof (link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink (link, path, size - 1);
    path[n < 0 ? 0 : n] = '\0';
}

static bool is_journal (int fd)
{
    char path[512];

    if (!control)
        return false;
    path_of (fd, path, sizeof (path));
    const char *base = strrchr (path, '/');
    return base && strncmp (base + 1, "journal", 7) == 0;
}

/* -- power -- */

/* Records the bytes that a write or a truncation at `at` replaces. */
static void undo_record (int fd, off_t at, size_t len)
{
    struct stat st;
    struct undo *u = malloc (sizeof (*u) + len);

    if (!u || fstat (fd, &st) < 0)
        abort ();
    *u = (struct undo){
        .older = undos, .dev = st.st_dev, .ino = st.st_ino, .at = at, .size = st.st_size
    };
    ssize_t n = pread (fd, u->old, len, at);
    u->len = n < 0 ? 0 : (size_t)n;
    path_of (fd, u->path, sizeof (u->path));
    undos = u;
}

static void undo_forget (int fd)
{
    struct stat st;

    if (fstat (fd, &st) < 0)
        return;
    for (struct undo **at = &undos, *u; (u = *at);) {
        if (u->dev != st.st_dev || u->ino != st.st_ino) {
            at = &u->older;
            continue;
        }
        *at = u->older;
        free (u);
    }
}

static void undo_one (const struct undo *u, bool also_size)
{
    int fd = open (u->path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return; /* the file has been removed */
    (void)!real_pwrite (fd, u->old, u->len, u->at);
    if (also_size)
        (void)!real_ftruncate (fd, u->size);
}

static void cut_power (void)
{
    unsigned seed = control->seed;
    bool keep_some = seed % 3 == 0; /* otherwise all unsynced writes are lost */

    for (const struct undo *u = undos; u; u = u->older) {
        if (!keep_some || rand_r (&seed) % 2)
            undo_one (u, !keep_some);
    }
    raise (SIGKILL);
}

/* -- faults; the lock is held -- */

/* The fault that strikes this call, or NONE. */
static enum kind strike (enum call call)
{
    if (call == CALL_WRITE)
        control->writes++;
    else
        control->syncs++;
    if (control->kind == NONE || !(control->calls & call) || --control->countdown > 0)
        return NONE;
    enum kind kind = (enum kind)control->kind;
    control->struck++;
    if (control->times <= 1)
        control->kind = NONE;
    else
        control->times--;
    return kind;
}

static int refuse (int error)
{
    errno = error;
    return -1;
}

static ssize_t write_struck (enum kind kind, int fd, const void *data, size_t n, off_t at)
{
    if (kind == KILL_BEFORE)
        raise (SIGKILL);
    if (kind == FAIL_EIO || kind == FAIL_ENOSPC)
        return refuse (kind == FAIL_EIO ? EIO : ENOSPC);
    undo_record (fd, at, n);
    if (kind == POWER)
        cut_power ();
    if (kind == KILL_HALF || kind == SHORT)
        n = n > 1 ? n / 2 : n;
    ssize_t done = real_pwrite (fd, data, n, at);
    if (kind == KILL_HALF || kind == KILL_AFTER)
        raise (SIGKILL);
    return done;
}

static int sync_struck (enum kind kind, int fd, int (*sync) (int))
{
    if (kind == KILL_BEFORE || kind == KILL_HALF)
        raise (SIGKILL);
    if (kind == POWER)
        cut_power ();
    if (kind == FAIL_EIO || kind == FAIL_ENOSPC)
        return refuse (kind == FAIL_EIO ? EIO : ENOSPC);
    int rc = sync (fd);
    if (rc == 0)
        undo_forget (fd);
    if (kind == KILL_AFTER)
        raise (SIGKILL);
    return rc;
}

/* -- the calls; pwrite64 and ftruncate64 are the names that SQLite and the broker use -- */

ssize_t pwrite64 (int fd, const void *data, size_t n, off_t at)
{
    if (!is_journal (fd))
        return real_pwrite (fd, data, n, at);
    pthread_mutex_lock (&lock);
    ssize_t done = write_struck (strike (CALL_WRITE), fd, data, n, at);
    int error = errno;
    pthread_mutex_unlock (&lock);
    errno = error;
    return done;
}

ssize_t pwrite (int fd, const void *data, size_t n, off_t at)
{
    return pwrite64 (fd, data, n, at);
}

static int synchronize (int fd, int (*sync) (int))
{
    if (!is_journal (fd))
        return sync (fd);
    pthread_mutex_lock (&lock);
    int rc = sync_struck (strike (CALL_SYNC), fd, sync);
    int error = errno;
    pthread_mutex_unlock (&lock);
    errno = error;
    return rc;
}

int fsync (int fd)
{
    return synchronize (fd, real_fsync);
}

int fdatasync (int fd)
{
    return synchronize (fd, real_fdatasync);
}

int ftruncate64 (int fd, off_t size)
{
    struct stat st;

    if (!is_journal (fd) || fstat (fd, &st) < 0)
        return real_ftruncate (fd, size);
    pthread_mutex_lock (&lock);
    undo_record (fd, size, st.st_size > size ? (size_t)(st.st_size - size) : 0);
    int rc = real_ftruncate (fd, size);
    int error = errno;
    pthread_mutex_unlock (&lock);
    errno = error;
    return rc;
}

int ftruncate (int fd, off_t size)
{
    return ftruncate64 (fd, size);
}
