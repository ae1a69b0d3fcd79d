/* cpubind_os.c - the machine's part of cpubind.h: allowed CPUs, binding, and sockets */
#include <fcntl.h>
#include <sched.h>

#include "common/parse.h"
#include "shell/step/cpubind.h"

/* The kernel's mask for CPUBIND_CORES_MAX CPUs, more than any kernel has. */
struct mask {
    unsigned long bits[CPUBIND_CORES_MAX / (8 * sizeof (unsigned long))];
};

#define WORD_BITS (8 * sizeof (unsigned long))

struct idset *cpubind_allowed (struct error *err)
{
    struct mask m = { { 0 } };
    struct idset *s = idset_create ();
    int rc = s ? 0 : -ENOMEM;

    if (rc == 0 && sched_getaffinity (0, sizeof (m), (cpu_set_t *)(void *)&m) < 0)
        rc = -errno;
    for (uint32_t cpu = 0; rc == 0 && cpu < CPUBIND_CORES_MAX; cpu++)
        if (m.bits[cpu / WORD_BITS] >> cpu % WORD_BITS & 1)
            rc = idset_add (s, cpu);
    if (rc == 0)
        return s;
    error_errno (err, -rc, "the CPUs that may be used");
    idset_destroy (s);
    return NULL;
}

int cpubind_apply (const struct idset *cores, const struct idset *allowed)
{
    struct mask m = { { 0 } };
    int n = 0;

    IDSET_FOREACH (cores, core)
    {
        if (core >= CPUBIND_CORES_MAX)
            break;
        if (!idset_has (allowed, core))
            continue;
        m.bits[core / WORD_BITS] |= 1UL << core % WORD_BITS;
        n++;
    }
    if (n > 0 && sched_setaffinity (0, sizeof (m), (const cpu_set_t *)(void *)&m) < 0)
        return -errno;
    return n;
}

/* -- sockets -- */

/* Reads the package of a CPU; -ENOENT: not known. */
static int read_package (int dirfd, uint32_t cpu, int64_t *ret)
{
    char path[64], text[24];

    snprintf (path, sizeof (path), "cpu%u/topology/physical_package_id", cpu);
    autoclose int fd = openat (dirfd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -ENOENT;
    ssize_t n = read (fd, text, sizeof (text) - 1);
    if (n <= 0)
        return -ENOENT;
    text[n] = '\0';
    text[strcspn (text, "\n")] = '\0';
    /* -1 means "unknown" in the kernel. */
    return parse_int (text, 0, INT32_MAX, ret, "package", NULL) < 0 ? -ENOENT : 0;
}

/* Adds a core to the set of its package; packages[i] is the package of ret->list[i]. */
static int add_core (struct cpubind_sockets *ret, int64_t *packages, int64_t package,
                     uint32_t core)
{
    size_t i = 0;

    while (i < ret->n && packages[i] != package)
        i++;
    if (i == ret->n) {
        if (!(ret->list[i] = idset_create ()))
            return -ENOMEM;
        packages[ret->n++] = package;
    }
    return idset_add (ret->list[i], core);
}

int cpubind_read_sockets (const char *dir, const struct idset *cores,
                          struct cpubind_sockets *ret)
{
    size_t n = idset_count (cores);
    autofree int64_t *packages = calloc (n + 1, sizeof (*packages));
    int rc = 0;

    *ret = (struct cpubind_sockets){ .list = calloc (n + 1, sizeof (*ret->list)) };
    autoclose int dirfd = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!packages || !ret->list)
        rc = -ENOMEM;
    else if (dirfd < 0)
        rc = -ENOENT;
    for (uint32_t core = idset_first (cores); rc == 0 && core != IDSET_END;
         core = idset_next (cores, core)) {
        int64_t package;
        rc = read_package (dirfd, core, &package);
        rc = rc < 0 ? rc : add_core (ret, packages, package, core);
    }
    if (rc < 0)
        cpubind_sockets_release (ret);
    return rc == -ENOENT ? 0 : rc;
}

void cpubind_sockets_release (struct cpubind_sockets *s)
{
    for (size_t i = 0; i < s->n; i++)
        idset_destroy (s->list[i]);
    free (s->list);
    *s = (struct cpubind_sockets){ 0 };
}
