/* mpidir.c - makes and removes the directory of a virtual node, see mpidir.h */
#include "shell/io/mpidir.h"

#include <sys/stat.h>

#include "common/io.h"
#include "shell/io/agent_file.h"
#include "shell/io/sock.h"

#define NAME "mpi-"

bool mpidir_is_needed (const struct launch *launch)
{
    return launch->listen && sock_is_unix (launch->listen);
}

char *mpidir_path (const struct launch *launch, uint32_t rank)
{
    char name[32];

    snprintf (name, sizeof (name), NAME "%u", rank);
    return agent_file (launch, name);
}

bool mpidir_is_own (const struct launch *launch, const char *path)
{
    autofree char *prefix = agent_file (launch, NAME);

    return prefix && !strncmp (path, prefix, strlen (prefix));
}

int mpidir_make (const struct launch *launch, uint32_t rank, struct error *err)
{
    autofree char *path = mpidir_path (launch, rank);

    if (!mpidir_is_needed (launch))
        return 0;
    if (!path)
        return error_no_memory (err, NULL);
    if (mkdir (path, 0700) == 0 || errno == EEXIST)
        return 0;
    return error_errno (err, errno, "cannot make %s for MPI", path);
}

void mpidir_remove (const struct launch *launch, uint32_t rank)
{
    autofree char *path = mpidir_path (launch, rank);
    struct error err = { 0 };

    /* A file that cannot be removed now goes with the directory of the job. */
    if (path && mpidir_is_needed (launch) && access (path, F_OK) == 0)
        (void)io_remove_tree (path, &err);
}
