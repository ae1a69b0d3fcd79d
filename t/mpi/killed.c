/* killed: once all are connected task 1 dies, and the others wait for ever without a look at
 * their connections, so that it is the launcher's to end them */
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
