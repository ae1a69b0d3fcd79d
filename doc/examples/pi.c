/* pi.c - an MPI program: all tasks add up their part of an integral that is pi
 *
 *     mpicc -o pi pi.c
 *
 * and then fluxq-submit mpi.sh, which runs it as `pi INTERVALS`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main (int argc, char **argv)
{
    long n = argc > 1 ? strtol (argv[1], NULL, 10) : 1000000;
    char host[MPI_MAX_PROCESSOR_NAME];
    double part = 0, pi;
    int rank, size, len;

    MPI_Init (&argc, &argv);
    MPI_Comm_rank (MPI_COMM_WORLD, &rank);
    MPI_Comm_size (MPI_COMM_WORLD, &size);
    MPI_Get_processor_name (host, &len);
    for (long i = rank; i < n; i += size) {
        double x = ((double)i + 0.5) / (double)n;
        part += 4 / (1 + x * x) / (double)n;
    }
    MPI_Reduce (&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf ("pi is about %.6f, say %d tasks\n", pi, size);
    MPI_Finalize ();
    return 0;
}
