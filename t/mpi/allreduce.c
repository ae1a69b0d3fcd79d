/* allreduce.c - an MPI program for t/t2040-pmi.t
 *
 *   allreduce TASKS TASKS_ON_A_NODE
 *
 * All tasks add their vectors; each task checks the sums, the total number of tasks, and the number
 * of tasks that MPI knows on its node (from PMI_process_mapping). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 4096

static void check (int is, int should_be, const char *what)
{
    if (is == should_be)
        return;
    fprintf (stderr, "allreduce: %s is %d, not %d\n", what, is, should_be);
    MPI_Abort (MPI_COMM_WORLD, 3);
}

int main (int argc, char **argv)
{
    static int mine[N], sums[N];
    int rank, size, on_node, universe, *attr, has_attr;
    MPI_Comm node;

    MPI_Init (&argc, &argv);
    MPI_Comm_rank (MPI_COMM_WORLD, &rank);
    MPI_Comm_size (MPI_COMM_WORLD, &size);
    check (size, atoi (argv[1]), "number of tasks");
    MPI_Comm_split_type (MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size (node, &on_node);
    MPI_Comm_free (&node);
    check (on_node, atoi (argv[2]), "number of tasks on the node");
    MPI_Comm_get_attr (MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &attr, &has_attr);
    universe = has_attr ? *attr : -1;
    check (universe, size, "universe size");

    for (int i = 0; i < N; i++)
        mine[i] = rank * i;
    MPI_Allreduce (mine, sums, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        check (sums[i], size * (size - 1) / 2 * i, "sum");
    if (rank == 0)
        printf ("allreduce: %d tasks agree\n", size);
    MPI_Finalize ();
    return 0;
}
