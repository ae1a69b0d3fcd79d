/* pmixput.c - a plain client of PMIx for t/t2150-mpi.t
 *
 *   pmixput TASKS [pairs|die]
 *
 * Each task puts a number and gets that of the next task, after a fence of all tasks without
 * data, so that the data of each task come from its node on request. With pairs, task 0 and the
 * last task have three fences of their own first, and exchange the data in these. With die, the
 * last task exits instead of entering the fence. */
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_proc_t me;

static void check (pmix_status_t status, const char *what)
{
    if (status == PMIX_SUCCESS)
        return;
    fprintf (stderr, "task %u: %s: %s\n", me.rank, what, PMIx_Error_string (status));
    exit (1);
}

static pmix_proc_t proc (pmix_rank_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID (&p, me.nspace, rank);
    return p;
}

static uint32_t get (pmix_rank_t rank, const char *key)
{
    pmix_proc_t p = proc (rank);
    pmix_value_t *value;

    check (PMIx_Get (&p, key, NULL, 0, &value), key);
    return value->data.uint32;
}

static void fence_pair (pmix_rank_t other)
{
    pmix_proc_t pair[] = { proc (me.rank), proc (other) };
    pmix_info_t collect;
    bool yes = true;

    PMIX_INFO_LOAD (&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    check (PMIx_Fence (pair, 2, &collect, 1), "fence of two tasks");
}

int main (int argc, char **argv)
{
    pmix_value_t value = { .type = PMIX_UINT32 };
    const char *how = argc > 2 ? argv[2] : "";

    check (PMIx_Init (&me, NULL, 0), "PMIx_Init");
    pmix_proc_t all = proc (PMIX_RANK_WILDCARD);
    uint32_t n = get (PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), next = (me.rank + 1) % n;
    value.data.uint32 = 1000 + me.rank;
    check (PMIx_Put (PMIX_GLOBAL, "number", &value), "PMIx_Put");
    check (PMIx_Commit (), "PMIx_Commit");
    for (int i = 0; i < 3 && !strcmp (how, "pairs") && (me.rank == 0 || me.rank == n - 1); i++)
        fence_pair (n - 1 - me.rank);
    if (!strcmp (how, "die") && me.rank == n - 1)
        _Exit (0);
    check (PMIx_Fence (&all, 1, NULL, 0), "fence of all tasks");
    if (n != (uint32_t)atoi (argv[1]) || get (next, "number") != 1000 + next)
        return 2;
    if (me.rank == 0)
        printf ("pmixput: %u tasks\n", n);
    check (PMIx_Fence (&all, 1, NULL, 0), "second fence of all tasks");
    return PMIx_Finalize (NULL, 0) != PMIX_SUCCESS;
}
