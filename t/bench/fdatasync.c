/* fdatasync.c - the cost of one synchronous write on a file system
 *
 *     fdatasync DIRECTORY [COUNT]
 *     count=200 p50=1.42 p95=2.80 p99=6.11 max=9.02
 *
 * Appends 4 KiB to a new file and calls fdatasync, COUNT times (200); times are in milliseconds.
 * Then the file is removed. This is the minimum cost of a durable transaction.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNT_MAX 100000
#define BLOCK 4096

static double now_ms (void)
{
    struct timespec t;

    clock_gettime (CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value (const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int measure (int fd, double *times, long count)
{
    static char block[BLOCK];

    memset (block, 'x', sizeof (block));
    for (long i = 0; i < count; i++) {
        double began = now_ms ();
        if (write (fd, block, sizeof (block)) != sizeof (block) || fdatasync (fd) < 0)
            return -1;
        times[i] = now_ms () - began;
    }
    return 0;
}

int main (int argc, char **argv)
{
    long count = argc > 2 ? strtol (argv[2], NULL, 10) : 200;
    static double times[COUNT_MAX];

    if (argc < 2 || argc > 3 || count < 1 || count > COUNT_MAX) {
        fputs ("usage: fdatasync DIRECTORY [COUNT]\n", stderr);
        return 2;
    }
    int fd = openat (AT_FDCWD, argv[1], O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 || measure (fd, times, count) < 0) {
        fprintf (stderr, "fdatasync: %s: %s\n", argv[1], strerror (errno));
        return 1;
    }
    close (fd);
    qsort (times, (size_t)count, sizeof (*times), by_value);
    printf ("count=%ld p50=%.2f p95=%.2f p99=%.2f max=%.2f\n", count, times[(count - 1) / 2],
            times[(count - 1) * 95 / 100], times[(count - 1) * 99 / 100], times[count - 1]);
    return 0;
}
