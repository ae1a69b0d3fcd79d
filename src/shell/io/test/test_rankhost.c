/* test_rankhost.c - tests of rankhost.h: from rank to host name and back */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/macros.h"
#include "shell/io/rankhost.h"

static struct launch_node nodes[12];

static struct launch job (const char *rendezvous)
{
    for (size_t i = 0; i < ARRAY_SIZE (nodes); i++)
        nodes[i].name = (char *)(i == 1 ? "n1" : "n");
    return (struct launch){ .nodes = nodes,
                            .nnodes = ARRAY_SIZE (nodes),
                            .rendezvous = (char *)rendezvous };
}

static void expect (const struct launch *l, uint32_t rank, const char *name)
{
    char *host = rank_host (l, rank);
    assert_non_null (host);
    assert_string_equal (host, name);
    free (host);
}

static void pods_are_called_as_their_agents_call_them (void **state)
{
    struct launch l = job ("tcp:j-7-%r.j-7.ns.svc.cluster.local.:7717");
    (void)state;
    expect (&l, 0, "j-7-0.j-7.ns.svc.cluster.local");
    expect (&l, 11, "j-7-11.j-7.ns.svc.cluster.local");
}

static void a_host_is_found_by_its_whole_or_its_short_name_only (void **state)
{
    struct launch l = job ("tcp:j-7-%r.j-7.ns.svc:7717");
    (void)state;
    assert_int_equal (rank_of_host (&l, "j-7-1"), 1);
    assert_int_equal (rank_of_host (&l, "j-7-11"), 11);
    assert_int_equal (rank_of_host (&l, "j-7-11.j-7.ns.svc"), 11);
    assert_int_equal (rank_of_host (&l, "j-7-11.j-7"), -1);
    assert_int_equal (rank_of_host (&l, "j-7-12"), -1);
    assert_int_equal (rank_of_host (&l, "j-7-"), -1);
    assert_int_equal (rank_of_host (&l, ""), -1);
}

static void without_hosts_of_their_own_ranks_are_called_as_their_nodes (void **state)
{
    struct launch local = job ("unix:/run/j-%r"), star = job ("tcp:rank0:7717");
    (void)state;
    expect (&local, 1, "n1");
    expect (&star, 1, "n1");
    assert_int_equal (rank_of_host (&local, "n1"), 1);
    assert_int_equal (rank_of_host (&star, "rank0"), -1);
}

static void an_only_rank_is_called_as_its_host (void **state)
{
    struct launch l = job ("tcp:127.0.0.1:7717");
    char own[256];
    (void)state;
    l.nnodes = 1;
    assert_int_equal (gethostname (own, sizeof (own)), 0);
    expect (&l, 0, own);
    assert_int_equal (rank_of_host (&l, own), 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (pods_are_called_as_their_agents_call_them),
        cmocka_unit_test (a_host_is_found_by_its_whole_or_its_short_name_only),
        cmocka_unit_test (without_hosts_of_their_own_ranks_are_called_as_their_nodes),
        cmocka_unit_test (an_only_rank_is_called_as_its_host),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
