/* variables.c - see variables.h
 */
#include "jobspec/options/variables.h"

#include <ctype.h>
#include <string.h>

#include "jobspec/options/attributes.h"

#define NAME_MAX_LEN 40 /* of an option's name; others are not near one */
#define SHORT 6         /* a name shorter than this is near in one character only */

/* Variables that sbatch and salloc have beside those of options. */
static const char *const others[] = { "DEBUG", "CPU_BIND", "MEM_BIND" };

static bool is_other (const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_SIZE (others); i++)
        if (len >= strlen (others[i]) && !strncmp (name, others[i], strlen (others[i])))
            return true;
    return false;
}

static bool is_of (unsigned command, const char *name, size_t len)
{
    for (const struct slurm_option *o = slurm_option_table; o->name; o++)
        if ((o->commands & command) && o->variable && strlen (o->variable) == len
            && !strncmp (o->variable, name, len))
            return true;
    return is_other (name, len);
}

/* -- names that are near one -- */

/* Insertions, deletions and changes of a character that make b of a. */
static size_t distance (const char *a, const char *b)
{
    size_t row[NAME_MAX_LEN + 1], n = strlen (b);

    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t before = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = before + (a[i - 1] != b[j - 1]);
            before = row[j];
            row[j] = MIN (change, MIN (row[j], row[j - 1]) + 1);
        }
    }
    return row[n];
}

/* "NTASKS_PER_NODE" of len bytes as "ntasks-per-node"; false: no such name. */
static bool option_name (const char *variable, size_t len, char *ret)
{
    if (len == 0 || len > NAME_MAX_LEN)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (islower ((unsigned char)variable[i]))
            return false;
        ret[i] = variable[i] == '_' ? '-' : (char)tolower ((unsigned char)variable[i]);
    }
    ret[len] = '\0';
    return true;
}

/* The option whose name is near, or NULL; also if the name is an option's. */
static const struct attribute *near_option (const char *name)
{
    size_t len = strlen (name), most = len < SHORT ? 1 : 2, least = most + 1;
    const struct attribute *found = NULL;

    for (const struct attribute *a = attribute_table; a->name; a++) {
        size_t alen = strlen (a->name); /* the distance is at least that of the lengths */
        bool far = alen > NAME_MAX_LEN || alen > len + most || len > alen + most;
        size_t d = far ? most + 1 : distance (name, a->name);
        if (d == 0)
            return NULL;
        if (d < least) {
            least = d;
            found = a;
        }
    }
    return found;
}

static void check_own (const char *variable, size_t len,
                       void (*warn) (const char *text, void *arg), void *arg)
{
    static const size_t prefix = sizeof ("FLUXQ_") - 1;
    char name[NAME_MAX_LEN + 1], text[200];
    const struct attribute *a;

    if (!option_name (variable + prefix, len - prefix, name) || !(a = near_option (name)))
        return;
    snprintf (text, sizeof (text),
              "%.*s: not used: no option has this variable; the one of --%s is "
              "FLUXQ_",
              (int)len, variable, a->name);
    size_t at = strlen (text);
    for (const char *c = a->name; *c && at + 1 < sizeof (text); c++)
        text[at++] = *c == '-' ? '_' : (char)toupper ((unsigned char)*c);
    text[at] = '\0';
    warn (text, arg);
}

static bool is_job (char *const list[])
{
    for (; *list; list++)
        if (!strncmp (*list, "FLUXQ_JOB_ID=", 13))
            return true;
    return false;
}

void variables_check (unsigned command, char *const environ_list[],
                      void (*warn) (const char *text, void *arg), void *arg)
{
    const char *prefix = command == SLURM_SBATCH   ? "SBATCH_"
                         : command == SLURM_SALLOC ? "SALLOC_"
                         : command == 0            ? "FLUXQ_"
                                                   : NULL;
    size_t skip = prefix ? strlen (prefix) : 0;

    if (!prefix || (command == 0 && is_job (environ_list)))
        return;
    for (; *environ_list; environ_list++) {
        const char *entry = *environ_list;
        size_t len = strcspn (entry, "=");
        char text[200];
        if (strncmp (entry, prefix, skip) != 0 || !entry[len])
            continue;
        if (command == 0) {
            check_own (entry, len, warn, arg);
        } else if (!is_of (command, entry + skip, len - skip)) {
            snprintf (text, sizeof (text),
                      "%.*s: not used: no option of %s has this variable",
                      (int)MIN (len, 100), entry,
                      command == SLURM_SBATCH ? "sbatch" : "salloc");
            warn (text, arg);
        }
    }
}
