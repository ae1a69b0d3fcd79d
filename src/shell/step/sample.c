/* sample.c - see sample.h */
#include "shell/step/sample.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/macros.h"
#include "shell/step/reap.h"
#include "shell/step/task_private.h"

#define TEXT_MAX 4096

struct sample {
    pid_t pid, session;
    uint64_t user, system; /* microseconds */
};

struct samples {
    struct sample *v;
    size_t n, max;
};

/* False: the process has gone, or its file cannot be read. */
static bool read_file (pid_t pid, const char *name, char text[TEXT_MAX])
{
    char path[64];
    snprintf (path, sizeof (path), "/proc/%ld/%s", (long)pid, name);
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read (fd, text, TEXT_MAX - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return true;
}

static uint64_t micros (uint64_t ticks)
{
    long hz = sysconf (_SC_CLK_TCK);
    return ticks * 1000000 / (uint64_t)MAX (hz, 1);
}

/* The fields of /proc/PID/stat behind the program's name, which may contain anything. The
 * times include those of the reaped children. */
static bool read_stat (pid_t pid, struct sample *ret)
{
    char text[TEXT_MAX];
    long session;
    unsigned long long t[4];
    const char *p = read_file (pid, "stat", text) ? strrchr (text, ')') : NULL;
    if (!p
        || sscanf (p + 1,
                   " %*c %*d %*d %ld %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
                   &session, &t[0], &t[1], &t[2], &t[3])
               != 5)
        return false;
    *ret = (struct sample){ .pid = pid,
                            .session = (pid_t)session,
                            .user = micros (t[0] + t[2]),
                            .system = micros (t[1] + t[3]) };
    return true;
}

struct samples *samples_read (void)
{
    DIR *dir = opendir ("/proc");
    struct samples *s = dir ? calloc (1, sizeof (*s)) : NULL;
    const struct dirent *entry;
    while (s && (entry = readdir (dir))) {
        if (!isdigit ((unsigned char)entry->d_name[0]))
            continue;
        if (s->n == s->max) {
            size_t max = s->max * 2 + 256;
            struct sample *v = realloc (s->v, max * sizeof (*v));
            if (!v)
                break;
            s->v = v;
            s->max = max;
        }
        if (read_stat ((pid_t)strtol (entry->d_name, NULL, 10), &s->v[s->n]))
            s->n++;
    }
    if (dir)
        closedir (dir);
    return s;
}

void samples_destroy (struct samples *s)
{
    if (s)
        free (s->v);
    free (s);
}

static struct use use_of (const struct sample *p)
{
    struct use use = { 0 };
    char text[TEXT_MAX];
    use_set (&use, USE_USER, p->user);
    use_set (&use, USE_SYSTEM, p->system);
    const char *peak =
        read_file (p->pid, "status", text) ? strstr (text, "\nVmHWM:") : NULL;
    if (peak)
        use_set (&use, USE_PEAK, strtoull (peak + strlen ("\nVmHWM:"), NULL, 10) * 1024);
    if (read_file (p->pid, "io", text))
        reap_parse_io (text, &use);
    return use;
}

struct use samples_use (const struct samples *s, const struct taskset *set)
{
    struct use sum = taskset_use (set);
    for (uint32_t i = 0; i < set->n; i++) {
        for (size_t k = 0; set->v[i].pid > 0 && k < s->n; k++) {
            if (s->v[k].session != set->v[i].pid)
                continue;
            struct use use = use_of (&s->v[k]);
            use_add (&sum, &use);
        }
    }
    return sum;
}
