/* killed: task 1 dies after MPI_Init, the others wait for it in a barrier */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

int main (int argc, char **argv)
{
    int rank;

    MPI_Init (&argc, &argv);
    MPI_Comm_rank (MPI_COMM_WORLD, &rank);
    if (rank == 1)
        raise (SIGKILL);
    MPI_Barrier (MPI_COMM_WORLD);
    printf ("killed: task %d came through the barrier\n", rank);
    MPI_Finalize ();
    return 0;
}
