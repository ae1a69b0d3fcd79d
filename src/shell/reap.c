#include "shell/reap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/macros.h"

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

static void read_io (pid_t pid, struct use *use)
{
    char path[32], text[512];
    snprintf (path, sizeof (path), "/proc/%d/io", (int)pid);
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read (fd, text, sizeof (text) - 1);
    if (n <= 0)
        return;
    text[n] = '\0';
    reap_parse_io (text, use);
}

static uint64_t micros (const struct timeval *tv)
{
    return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

pid_t reap_next (struct reaped *ret)
{
    siginfo_t info = { 0 };
    struct rusage usage;

    *ret = (struct reaped){ 0 };
    if (waitid (P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return -ECHILD;
    if (info.si_pid == 0)
        return 0;
    ret->pid = info.si_pid;
    ret->session = MAX (getsid (ret->pid), 0);
    read_io (ret->pid, &ret->use);
    if (wait4 (ret->pid, &ret->status, WNOHANG, &usage) != ret->pid)
        return -ECHILD;
    use_set (&ret->use, USE_USER, micros (&usage.ru_utime));
    use_set (&ret->use, USE_SYSTEM, micros (&usage.ru_stime));
    use_set (&ret->use, USE_PEAK, (uint64_t)usage.ru_maxrss * 1024);
    return ret->pid;
}
