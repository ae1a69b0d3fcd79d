/* hostnames.c - scontrol show hostnames, see hostnames.h */
#include "shell/run/hostnames.h"

#include <strings.h>

#include "common/hostlist.h"
#include "shell/io/stderr_line.h"

#define SHOW_LEAST 3      /* letters of "show" that are enough */
#define HOSTNAMES_LEAST 5 /* "hostn"; "hostl" is a hostlist */

static bool stands_for (const char *text, const char *name, size_t least)
{
    size_t len = strlen (text);

    return len >= least && len <= strlen (name) && !strncasecmp (text, name, len);
}

bool hostnames_asked (int argc, char **argv)
{
    return argc >= 3 && argc <= 4 && stands_for (argv[1], "show", SHOW_LEAST)
           && stands_for (argv[2], "hostnames", HOSTNAMES_LEAST);
}

static const char *list_of_job (void)
{
    const char *list = getenv ("SLURM_JOB_NODELIST");

    return list && *list ? list : getenv ("SLURM_NODELIST");
}

int hostnames_main (int argc, char **argv)
{
    const char *list = argc > 3 && *argv[3] ? argv[3] : list_of_job ();
    struct error err = { 0 };

    if (!list || !*list) {
        stderr_line (SCONTROL_CLIENT, "error: host list is empty");
        return 1;
    }
    autohostlist struct hostlist *hl = hostlist_decode (list, HOSTLIST_MAX, &err);
    if (!hl) {
        stderr_line (SCONTROL_CLIENT, "error: Invalid hostlist: %s: %s", list, err.text);
        return 1;
    }
    for (size_t i = 0; i < hostlist_count (hl); i++)
        puts (hostlist_nth (hl, i));
    if (fflush (stdout) == 0 && !ferror (stdout))
        return 0;
    stderr_line (SCONTROL_CLIENT, "error: standard output: %s", strerror (errno));
    return 1;
}
