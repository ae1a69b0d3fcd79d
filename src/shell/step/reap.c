/* reap.c - reaps dead children and their resource usage */
#include "shell/step/reap.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

void reap_parse_io (const char *text, struct use *use)
{
    static const struct {
        const char *name;
        enum use_figure figure;
    } lines[] = { { "rchar: ", USE_READ }, { "wchar: ", USE_WRITTEN } };

    for (const char *line = text; line; line = strchr (line, '\n')) {
        line += *line == '\n';
        for (size_t i = 0; i < ARRAY_SIZE (lines); i++) {
            size_t n = strlen (lines[i].name);
            if (!strncmp (line, lines[i].name, n) && line[n] >= '0' && line[n] <= '9')
                use_set (use, lines[i].figure, strtoull (line + n, NULL, 10));
        }
    }
}

/* /proc/self/io, -1: does not exist */
static int own_io = -1;

/* A process that has changed its user is not dumpable, and root owns the file then. */
void reap_init (void)
{
    if (own_io >= 0)
        return;
    prctl (PR_SET_DUMPABLE, 1);
    own_io = open ("/proc/self/io", O_RDONLY | O_CLOEXEC);
    prctl (PR_SET_DUMPABLE, 0);
}

/* Reads the bytes that this process and its reaped children have read and written.
 * Returns the size of the text, which adds to the bytes read from then on. */
static uint64_t read_own_io (struct use *use)
{
    char text[512];
    ssize_t n = own_io < 0 ? -1 : pread (own_io, text, sizeof (text) - 1, 0);
    *use = (struct use){ 0 };
    if (n <= 0)
        return 0;
    text[n] = '\0';
    reap_parse_io (text, use);
    return (uint64_t)n;
}

/* The bytes by which our figures grew when the child was reaped. */
static void set_io (struct use *use, const struct use *before, const struct use *after,
                    uint64_t looked)
{
    static const enum use_figure figures[] = { USE_READ, USE_WRITTEN };
    for (size_t i = 0; i < ARRAY_SIZE (figures); i++) {
        enum use_figure f = figures[i];
        uint64_t old = before->v[f] + (f == USE_READ ? looked : 0);
        if (before->known & after->known & 1u << f && after->v[f] >= old)
            use_set (use, f, after->v[f] - old);
    }
}

static uint64_t micros (const struct timeval *tv)
{
    return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

pid_t reap_next (struct reaped *ret)
{
    siginfo_t info = { 0 };
    struct rusage usage;
    struct use before, after;

    *ret = (struct reaped){ 0 };
    if (waitid (P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return -ECHILD;
    if (info.si_pid == 0)
        return 0;
    ret->pid = info.si_pid;
    ret->session = MAX (getsid (ret->pid), 0);
    uint64_t looked = read_own_io (&before);
    if (wait4 (ret->pid, &ret->status, WNOHANG, &usage) != ret->pid)
        return -ECHILD;
    read_own_io (&after);
    set_io (&ret->use, &before, &after, looked);
    use_set (&ret->use, USE_USER, micros (&usage.ru_utime));
    use_set (&ret->use, USE_SYSTEM, micros (&usage.ru_stime));
    use_set (&ret->use, USE_PEAK, (uint64_t)usage.ru_maxrss * 1024);
    return ret->pid;
}
