/* cgroup.c - reads the files of the job's control group */
#include "shell/step/cgroup.h"

#include <fcntl.h>

#include "shell/io/wire.h"
#include "shell/step/descendants.h"

#define TEXT_BYTES 16384
#define NO_LIMIT (UINT64_C (1) << 62) /* in version 1 near 2^63 for "no limit" */

/* Returns the text of the file; NULL: no such file. buf has TEXT_BYTES. */
static const char *slurp (const char *root, const char *name, char *buf)
{
    char path[512];
    snprintf (path, sizeof (path), "%s/%s", root, name);
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read (fd, buf, TEXT_BYTES - 1);
    if (n < 0)
        return NULL;
    buf[n] = '\0';
    return buf;
}

/* Parses the number at text; false for "max". */
static bool number (const char *text, uint64_t *ret)
{
    if (!text || *text < '0' || *text > '9')
        return false;
    *ret = strtoull (text, NULL, 10);
    return true;
}

/* Finds the number in the line "NAME NUMBER". */
static bool field (const char *text, const char *name, uint64_t *ret)
{
    size_t n = strlen (name);
    for (const char *line = text; line; line = strchr (line, '\n')) {
        line += *line == '\n';
        if (!strncmp (line, name, n) && line[n] == ' ')
            return number (line + n + 1, ret);
    }
    return false;
}

/* Adds up all numbers that follow the word. */
static uint64_t sum (const char *text, const char *word)
{
    uint64_t all = 0, n;
    for (const char *p = text; p && (p = strstr (p, word));) {
        p += strlen (word);
        if (number (p, &n))
            all += n;
    }
    return all;
}

static void file_number (const char *root, const char *name, uint64_t *ret)
{
    char buf[TEXT_BYTES];
    if (!number (slurp (root, name, buf), ret) || *ret >= NO_LIMIT)
        *ret = 0;
}

int cgroup_memory (const char *root, struct cgroup_memory *ret)
{
    char buf[TEXT_BYTES];
    const char *text = slurp (root, "memory.events", buf);
    bool v2 = text != NULL;

    *ret = (struct cgroup_memory){ 0 };
    if (!text && !(text = slurp (root, "memory/memory.oom_control", buf)))
        return -ENOENT;
    field (text, "oom_kill", &ret->kills);
    file_number (root, v2 ? "memory.max" : "memory/memory.limit_in_bytes", &ret->limit);
    file_number (root, v2 ? "memory.peak" : "memory/memory.max_usage_in_bytes",
                 &ret->peak);
    return 0;
}

static void take_field (const char *text, const char *name, uint64_t factor,
                        struct use *use, enum use_figure figure)
{
    uint64_t n;
    if (field (text, name, &n))
        use_set (use, figure, n * factor);
}

static void take_number (const char *text, struct use *use, enum use_figure figure)
{
    uint64_t n;
    if (number (text, &n))
        use_set (use, figure, n);
}

/* If the file exists without the word, the figure is 0. */
static void take_sum (const char *text, const char *word, struct use *use,
                      enum use_figure figure)
{
    if (text)
        use_set (use, figure, sum (text, word));
}

static void use_v2 (const char *root, struct use *use)
{
    char buf[TEXT_BYTES];
    const char *text = slurp (root, "cpu.stat", buf);
    take_field (text, "user_usec", 1, use, USE_USER);
    take_field (text, "system_usec", 1, use, USE_SYSTEM);
    take_number (slurp (root, "memory.peak", buf), use, USE_PEAK);
    text = slurp (root, "io.stat", buf);
    take_sum (text, "rbytes=", use, USE_DISK_READ);
    take_sum (text, "wbytes=", use, USE_DISK_WRITTEN);
}

static void use_v1 (const char *root, struct use *use)
{
    char buf[TEXT_BYTES];
    uint64_t tick = 1000000 / (uint64_t)MAX (sysconf (_SC_CLK_TCK), 1);
    const char *text = slurp (root, "cpuacct/cpuacct.stat", buf);
    take_field (text, "user", tick, use, USE_USER);
    take_field (text, "system", tick, use, USE_SYSTEM);
    text = slurp (root, "memory/memory.max_usage_in_bytes", buf);
    take_number (text, use, USE_PEAK);
    text = slurp (root, "blkio/blkio.throttle.io_service_bytes", buf);
    take_sum (text, " Read ", use, USE_DISK_READ);
    take_sum (text, " Write ", use, USE_DISK_WRITTEN);
}

struct use cgroup_use (const char *root)
{
    struct use use = { 0 };
    char buf[TEXT_BYTES];
    if (slurp (root, "cgroup.controllers", buf))
        use_v2 (root, &use);
    else
        use_v1 (root, &use);
    return use;
}

bool cgroup_is_own (void)
{
    return descendants_own_namespace ();
}

struct cgroup_memory cgroup_memory_now (void)
{
    struct cgroup_memory m;
    cgroup_memory (CGROUP_ROOT, &m);
    if (!cgroup_is_own ())
        m.limit = m.peak = 0;
    return m;
}

uint64_t cgroup_oom_kills (void)
{
    return cgroup_memory_now ().kills;
}

/* "512 MiB", "1.5 GiB" */
static void memory_text (uint64_t bytes, char *buf, size_t size)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB" };
    double n = (double)bytes;
    size_t i = 0;
    for (; n >= 1024 && i + 1 < ARRAY_SIZE (units); i++)
        n /= 1024;
    bool whole = n - (double)(uint64_t)n < 0.05 || n >= 100;
    snprintf (buf, size, "%.*f %s", whole ? 0 : 1, n, units[i]);
}

void cgroup_oom_text (const struct cgroup_memory *m, uint64_t asked, char *buf,
                      size_t size)
{
    char limit[32], peak[32];
    memory_text (asked ? asked << 20 : m->limit, limit, sizeof (limit));
    memory_text (m->peak, peak, sizeof (peak));
    if (m->peak == 0)
        snprintf (buf, size, "out of memory, the kernel killed a process");
    else if (asked == 0 && m->limit == 0)
        snprintf (buf, size,
                  "out of memory: %s were in use when the kernel killed a process", peak);
    else
        snprintf (buf, size,
                  "out of memory: %s %s, %s were in use when the kernel killed a process",
                  asked ? "it asked for" : "its limit is", limit, peak);
}

void cgroup_memory_put (uint8_t data[CGROUP_MEMORY_SIZE], const struct cgroup_memory *m)
{
    wire_put_u64 (data, m->limit);
    wire_put_u64 (data + 8, m->peak);
    wire_put_u64 (data + 16, m->kills);
}

struct cgroup_memory cgroup_memory_get (const void *data)
{
    const uint8_t *p = data;
    return (struct cgroup_memory){ wire_get_u64 (p), wire_get_u64 (p + 8),
                                   wire_get_u64 (p + 16) };
}
