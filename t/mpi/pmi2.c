/* pmi2.c - a client of PMI-2, over Slurm's libpmi2, for t/t2040-pmi.t
 *
 *   pmi2 TASKS MAPPING [abort]
 *
 * Each task puts a value, all enter a fence, each gets all values; twice. Then the test queries the
 * job and the node, and checks that unsupported functions fail and do not hang. Exit status 1 and a
 * line on standard error after any wrong result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/pmi2.h>

static int rank, size;

static void check (int ok, const char *what)
{
    if (ok)
        return;
    fprintf (stderr, "pmi2: task %d: %s\n", rank, what);
    exit (1);
}

/* A long value, with all characters that the protocol must quote. */
static void value_of (int task, int round, char *ret, size_t max)
{
    snprintf (ret, max, "card-%d;;round=%d; of task %d;%0900d;", task, round, task, task);
}

static void exchange (const char *jobid, int round)
{
    char key[64], value[PMI2_MAX_VALLEN], should_be[PMI2_MAX_VALLEN];
    int len;

    snprintf (key, sizeof (key), "card-%d", rank);
    value_of (rank, round, value, sizeof (value));
    check (PMI2_KVS_Put (key, value) == 0, "put");
    check (PMI2_KVS_Fence () == 0, "fence");
    for (int i = 0; i < size; i++) {
        snprintf (key, sizeof (key), "card-%d", i);
        value_of (i, round, should_be, sizeof (should_be));
        check (PMI2_KVS_Get (jobid, PMI2_ID_NULL, key, value, sizeof (value), &len) == 0,
               "get");
        check (strcmp (value, should_be) == 0, "a value is not what was put");
    }
    check (PMI2_KVS_Fence () == 0, "fence");
}

/* The first task of the node puts it, the others wait for it. */
static void tell_node (void)
{
    int ranks[256], n, found;
    char value[PMI2_MAX_ATTRVALUE];

    check (PMI2_Info_GetNodeAttrIntArray ("localRanks", ranks, 256, &n, &found) == 0
               && found,
           "localRanks");
    if (ranks[0] == rank)
        check (PMI2_Info_PutNodeAttr ("segment", "/dev/shm/x;y") == 0,
               "put of a node attribute");
    check (PMI2_Info_GetNodeAttr ("segment", value, sizeof (value), &found, 1) == 0
               && found,
           "node attribute");
    check (strcmp (value, "/dev/shm/x;y") == 0, "value of a node attribute");
    check (PMI2_Info_GetNodeAttr ("none", value, sizeof (value), &found, 0) == 0
               && !found,
           "a node attribute that nobody put");
}

static void ask_job (const char *mapping)
{
    char value[PMI2_MAX_ATTRVALUE];
    int found;

    check (PMI2_Info_GetJobAttr ("PMI_process_mapping", value, sizeof (value), &found)
                   == 0
               && found && strcmp (value, mapping) == 0,
           "PMI_process_mapping");
    check (PMI2_Info_GetJobAttr ("universeSize", value, sizeof (value), &found) == 0
               && found && atoi (value) == size,
           "universeSize");
    check (PMI2_Info_GetJobAttr ("noSuchThing", value, sizeof (value), &found) == 0
               && !found,
           "a job attribute that is not there");
}

static void what_is_not_served (void)
{
    PMI2_Connect_comm_t conn;
    char port[64];

    check (PMI2_Nameserv_publish ("name", NULL, "port") != 0, "a name was published");
    check (PMI2_Nameserv_lookup ("name", NULL, port, sizeof (port)) != 0,
           "a name was found");
    check (PMI2_Job_Connect ("13.0", &conn) != 0, "another job was joined");
}

int main (int argc, char **argv)
{
    int spawned, appnum, len;
    char jobid[64], value[PMI2_MAX_VALLEN];

    check (argc >= 3, "usage: pmi2 TASKS MAPPING [abort]");
    check (PMI2_Init (&spawned, &size, &rank, &appnum) == 0, "init");
    check (size == atoi (argv[1]) && rank >= 0 && rank < size && !spawned,
           "size, rank, spawned");
    check (PMI2_Job_GetId (jobid, sizeof (jobid)) == 0 && strcmp (jobid, "12.0") == 0,
           "job id");
    if (argc > 3 && rank == size - 1)
        PMI2_Abort (1, "enough; really");
    exchange (jobid, 1);
    exchange (jobid, 2);
    check (PMI2_KVS_Get (jobid, PMI2_ID_NULL, "none", value, sizeof (value), &len) != 0,
           "a key that nobody put");
    tell_node ();
    ask_job (argv[2]);
    what_is_not_served ();
    check (PMI2_KVS_Fence () == 0, "last fence");
    check (PMI2_Finalize () == 0, "finalize");
    if (rank == 0)
        printf ("pmi2: %d tasks agree\n", size);
    return 0;
}
