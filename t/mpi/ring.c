/* ring.c - an MPI program for t/t2040-pmi.t
 *
 *   ring TASKS [abort|vanish]
 *
 * A large message goes around all tasks, and each adds 1 to every number of it. With abort, the last
 * task calls MPI_Abort with 7 instead, when all are connected; with vanish it just exits. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 100000

int main (int argc, char **argv)
{
    static int ball[N];
    int rank, size;

    MPI_Init (&argc, &argv);
    MPI_Comm_rank (MPI_COMM_WORLD, &rank);
    MPI_Comm_size (MPI_COMM_WORLD, &size);
    if (size != atoi (argv[1]))
        MPI_Abort (MPI_COMM_WORLD, 3);
    if (argc > 2) {
        MPI_Barrier (MPI_COMM_WORLD);
        if (rank == size - 1 && strcmp (argv[2], "abort") == 0)
            MPI_Abort (MPI_COMM_WORLD, 7);
        if (rank == size - 1)
            _Exit (0);
        for (;;) /* a task that read its connections would notice, and abort, too */
            pause ();
    }
    int from = (rank + size - 1) % size, to = (rank + 1) % size;
    if (rank > 0)
        MPI_Recv (ball, N, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        ball[i]++;
    MPI_Send (ball, N, MPI_INT, to, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Recv (ball, N, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            if (ball[i] != size)
                MPI_Abort (MPI_COMM_WORLD, 4);
        printf ("ring: came round through %d tasks\n", size);
    }
    MPI_Finalize ();
    return 0;
}
