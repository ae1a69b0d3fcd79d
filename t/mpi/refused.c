/* refused.c - an MPI program for t/t2040-pmi.t: functions that fluxq does not support fail, and do not hang
 *
 * After each failure the tasks still work together. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void must_fail (int rc, const char *what)
{
    if (rc != MPI_SUCCESS)
        return;
    fprintf (stderr, "refused: %s succeeded\n", what);
    MPI_Abort (MPI_COMM_WORLD, 3);
}

int main (int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "port";
    int rank, size, sum, one = 1, error = 0;
    MPI_Comm other;

    MPI_Init (&argc, &argv);
    MPI_Comm_rank (MPI_COMM_WORLD, &rank);
    MPI_Comm_size (MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler (MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler (MPI_COMM_SELF, MPI_ERRORS_RETURN);
    must_fail (MPI_Publish_name ("name", MPI_INFO_NULL, port), "MPI_Publish_name");
    must_fail (MPI_Lookup_name ("name", MPI_INFO_NULL, port), "MPI_Lookup_name");
    must_fail (MPI_Comm_spawn ("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0,
                               MPI_COMM_SELF, &other, &error),
               "MPI_Comm_spawn");
    MPI_Allreduce (&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum == size)
        printf ("refused: %d tasks go on\n", size);
    MPI_Finalize ();
    return 0;
}
