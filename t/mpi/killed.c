/* killed: when all tasks are connected task 1 dies, and the others wait forever without
 * reading their connections, so that the launcher must end them */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

int main (int argc, char **argv)
{
    int rank;

    MPI_Init (&argc, &argv);
    MPI_Comm_rank (MPI_COMM_WORLD, &rank);
    MPI_Barrier (MPI_COMM_WORLD);
    if (rank == 1)
        raise (SIGKILL);
    for (;;)
        pause ();
}
