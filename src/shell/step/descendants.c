/* descendants.c - walks /proc to signal and end all processes below this one */
#include "shell/step/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>

struct proc {
    pid_t pid;
    pid_t ppid;
    bool zombie;
    bool ours;
};

struct proc_table {
    struct proc *v;
    size_t n;
    size_t max;
};

static bool in_own_namespace;

void descendants_note_init (void)
{
    in_own_namespace = getpid () == 1;
}

bool descendants_own_namespace (void)
{
    return in_own_namespace;
}

/* "PID (COMM) STATE PPID ...": COMM may contain anything, even ") R 1", so search from
 * the end. */
static bool read_stat (int procfd, const char *name, struct proc *ret)
{
    char path[64];
    char text[512];
    snprintf (path, sizeof (path), "%.32s/stat", name);
    autoclose int fd = openat (procfd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read (fd, text, sizeof (text) - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *p = strrchr (text, ')');
    if (!p || strlen (p) < 5)
        return false;
    *ret = (struct proc){ .pid = (pid_t)strtol (name, NULL, 10),
                          .zombie = p[2] == 'Z' || p[2] == 'X',
                          .ppid = (pid_t)strtol (p + 4, NULL, 10) };
    return ret->pid > 0;
}

static void read_proc (struct proc_table *table)
{
    DIR *dir = opendir ("/proc");
    if (!dir)
        return;
    const struct dirent *entry;
    while ((entry = readdir (dir))) {
        if (!isdigit ((unsigned char)entry->d_name[0]))
            continue;
        if (table->n == table->max) {
            table->max = table->max * 2 + 256;
            table->v = realloc (table->v, table->max * sizeof (*table->v));
            if (!table->v)
                abort ();
        }
        if (read_stat (dirfd (dir), entry->d_name, &table->v[table->n]))
            table->n++;
    }
    closedir (dir);
}

static int by_pid (const void *a, const void *b)
{
    const struct proc *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Marks the descendants of root. */
static void mark (struct proc_table *table, pid_t root)
{
    if (table->n == 0)
        return; /* no /proc here */
    qsort (table->v, table->n, sizeof (*table->v), by_pid);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < table->n; i++) {
            struct proc *p = &table->v[i];
            if (p->ours || p->pid == root)
                continue;
            struct proc key = { .pid = p->ppid };
            const struct proc *parent =
                bsearch (&key, table->v, table->n, sizeof (key), by_pid);
            if (p->ppid == root || (parent && parent->ours))
                p->ours = changed = true;
        }
    }
}

int descendants_signal (int sig)
{
    struct proc_table table = { 0 };
    int n = 0;
    read_proc (&table);
    mark (&table, getpid ());
    for (size_t i = 0; i < table.n; i++) {
        if (table.v[i].ours && !table.v[i].zombie) {
            kill (table.v[i].pid, sig);
            n++;
        }
    }
    free (table.v);
    return n;
}

/* Reaps the dead children. Returns whether children are left. */
static bool reap (void (*reaped) (void *, const struct reaped *), void *arg)
{
    struct reaped dead;
    pid_t pid;
    while ((pid = reap_next (&dead)) > 0)
        if (reaped)
            reaped (arg, &dead);
    return pid == 0;
}

bool descendants_kill (void (*reaped) (void *arg, const struct reaped *dead), void *arg)
{
    if (!reap (reaped, arg))
        return true;
    if (in_own_namespace)
        kill (-1, SIGKILL);
    else
        descendants_signal (SIGKILL);
    return !reap (reaped, arg);
}
