/* test_cpubind.c - the option --cpu-bind, the cores of each task, and their
 * use on the machine */
#include "common/test/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "common/test/torture.h"
#include "shell/step/cpubind.h"

static struct idset *set_of (const char *text)
{
    struct idset *s = idset_decode (text, SIZE_MAX, NULL);

    assert_non_null (s);
    return s;
}

static void check_set (const struct idset *s, const char *want, const char *what)
{
    autofree char *text = idset_encode (s);

    if (strcmp (text, want) != 0)
        fail_msg ("%s: %s, not %s", what, text, want);
}

/* -- the option -- */

static void test_parse (void **state)
{
    static const struct {
        const char *text;
        enum cpubind_kind kind;
        bool verbose;
        size_t n;
        uint32_t total;
    } cases[] = {
        { "none", CPUBIND_NONE, false, 0, 0 },
        { "no", CPUBIND_NONE, false, 0, 0 },
        { "Cores", CPUBIND_CORES, false, 0, 0 },
        { "core", CPUBIND_CORES, false, 0, 0 },
        { "sockets", CPUBIND_SOCKETS, false, 0, 0 },
        { "rank", CPUBIND_RANK, false, 0, 0 },
        { "verbose", CPUBIND_AUTO, true, 0, 0 },
        { "quiet", CPUBIND_AUTO, false, 0, 0 },
        { "v", CPUBIND_AUTO, true, 0, 0 },
        { "q,none", CPUBIND_NONE, false, 0, 0 },
        { "verbose,cores", CPUBIND_CORES, true, 0, 0 },
        { "VERBOSE,map_cpu:0,1", CPUBIND_LIST, true, 2, 2 },
        { "map_cpu:0x1f,8191", CPUBIND_LIST, false, 2, 2 },
        { "map_cpu:0*4,3*4", CPUBIND_LIST, false, 2, 8 },
        { "mask_cpu:0x3,f0*4194303", CPUBIND_LIST, false, 2, 4194304 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct cpubind b;
        struct error err = { 0 };
        if (cpubind_parse (cases[i].text, &b, &err) < 0)
            fail_msg ("%s: %s", cases[i].text, err.text);
        assert_int_equal (b.kind, cases[i].kind);
        assert_int_equal (b.verbose, cases[i].verbose);
        assert_int_equal (b.n, cases[i].n);
        assert_int_equal (b.total, cases[i].total);
        cpubind_release (&b);
    }
}

static void test_elements (void **state)
{
    static const struct {
        const char *text, *want[3];
    } cases[] = {
        { "map_cpu:7,0X1F,08", { "7", "31", "8" } },
        { "mask_cpu:0x5,F0,00000000000000000000000000000000001", { "0,2", "4-7", "0" } },
        { "mask_cpu:8000000000000000000000000000000f,1,2", { "0-3,127", "0", "1" } },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct cpubind b;
        assert_int_equal (cpubind_parse (cases[i].text, &b, NULL), 0);
        for (size_t k = 0; k < 3; k++)
            check_set (b.list[k].cores, cases[i].want[k], cases[i].text);
        cpubind_release (&b);
    }
}

static void test_refuses (void **state)
{
    static const struct {
        const char *text, *what;
        int code;
    } cases[] = {
        { "", "'' is not one of", EINVAL },
        { "verbose,", "'' is not one of", EINVAL },
        { "quiet,verbose", "'verbose' is not one of", EINVAL },
        { "none,cores", "'none,cores'", EINVAL },
        { "ranks", "'ranks'", EINVAL },
        { "help", "map_cpu:LIST", EINVAL },
        { "threads", "whole cores; there are none, cores", EINVAL },
        { "v,ldoms", "'ldoms': NUMA", EINVAL },
        { "map_ldom:0", "NUMA", EINVAL },
        { "mask_ldom:1", "NUMA", EINVAL },
        { "rank_ldom", "NUMA", EINVAL },
        { "boards", "boards are not known", EINVAL },
        { "map_cpu", "'map_cpu'", EINVAL },
        { "map_cpu:", "'' is not a core", EINVAL },
        { "map_cpu:0,", "'' is not a core", EINVAL },
        { "map_cpu:0x", "'0x' is not a core", EINVAL },
        { "map_cpu:0,a", "'a' is not a core", EINVAL },
        { "map_cpu:-1", "'-1' is not a core", EINVAL },
        { "map_cpu:0-3", "'0-3' is not a core", EINVAL },
        { "map_cpu:8192", "'8192': cores are 0 to 8191", ERANGE },
        { "map_cpu:99999999999999999999999", "cores are 0 to 8191", ERANGE },
        { "map_cpu:0*0", "count", ERANGE },
        { "map_cpu:0*", "count", EINVAL },
        { "map_cpu:0*2*2", "count", EINVAL },
        { "map_cpu:0*4194305", "count", ERANGE },
        { "map_cpu:0*4194304,1", "4194304 tasks", ERANGE },
        { "mask_cpu:", "'' has no core", EINVAL },
        { "mask_cpu:0", "'0' has no core", EINVAL },
        { "mask_cpu:0x0,1", "'0x0' has no core", EINVAL },
        { "mask_cpu:xyz", "'xyz' is not a mask", EINVAL },
        { "mask_cpu:1 ", "'1 ' is not a mask", EINVAL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct cpubind b = { .n = 77 };
        struct error err = { 0 };
        int rc = cpubind_parse (cases[i].text, &b, &err);
        if (rc != -cases[i].code || !strstr (err.text, cases[i].what)
            || strncmp (err.text, "--cpu-bind: ", 12) != 0)
            fail_msg ("'%s': %d '%s'", cases[i].text, rc, err.text);
        assert_int_equal (b.n, 77);
    }
}

static void test_bounds (void **state)
{
    static char text[16384] = "mask_cpu:";
    struct cpubind b;
    size_t at = strlen (text);

    (void)state;
    memset (text + at, 'f', CPUBIND_CORES_MAX / 4);
    assert_int_equal (cpubind_parse (text, &b, NULL), 0);
    check_set (b.list[0].cores, "0-8191", "the largest mask");
    cpubind_release (&b);
    text[at + CPUBIND_CORES_MAX / 4] = '1';
    assert_int_equal (cpubind_parse (text, &b, NULL), -ERANGE);
    for (size_t i = 0; i < CPUBIND_LIST_MAX; i++)
        memcpy (text + at + 2 * i, i > 0 ? ",1" : "11", 3);
    assert_int_equal (cpubind_parse (text, &b, NULL), 0);
    assert_int_equal (b.n, CPUBIND_LIST_MAX);
    cpubind_release (&b);
    memcpy (text + at + 2 * CPUBIND_LIST_MAX, ",1", 3);
    assert_int_equal (cpubind_parse (text, &b, NULL), -ERANGE);
}

/* -- the cores of each task -- */

struct example {
    const char *option, *cores, *sockets[3];
    uint32_t ntasks, cores_per_task;
    enum layout_order order;
    const char *want[8]; /* NULL: not bound */
};

#define BLOCK LAYOUT_ORDER_BLOCK
#define CYCLIC LAYOUT_ORDER_CYCLIC
#define FCYCLIC LAYOUT_ORDER_FCYCLIC

static const struct example examples[] = {
    { "none", "0-3", { 0 }, 2, 1, 0, { NULL, NULL } },
    { "cores", "", { 0 }, 2, 1, 0, { NULL, NULL } },
    /* as many tasks as cores: bound by default, like srun's auto binding */
    { "verbose", "0-3", { 0 }, 2, 2, 0, { "0-1", "2-3" } },
    { "verbose", "0-3", { 0 }, 3, 1, 0, { NULL, NULL, NULL } },
    { "verbose", "0-3", { 0 }, 5, 1, 0, { NULL, NULL, NULL, NULL, NULL } },
    { "cores", "0-3", { 0 }, 3, 1, BLOCK, { "0", "1", "2" } },
    { "cores", "4,6,9-12", { 0 }, 3, 2, BLOCK, { "4,6", "9-10", "11-12" } },
    { "cores", "0-3", { 0 }, 1, 1, 0, { "0" } },
    { "cores", "0-3", { 0 }, 2, 0, 0, { "0", "1" } },
    /* one socket, or none known: cyclic has no effect */
    { "cores", "0-5", { 0 }, 2, 2, CYCLIC, { "0-1", "2-3" } },
    { "cores", "0-5", { "0-7" }, 2, 2, FCYCLIC, { "0-1", "2-3" } },
    /* too few cores: all tasks share all cores */
    { "cores", "0-3", { 0 }, 3, 2, BLOCK, { "0-3", "0-3", "0-3" } },
    /* two sockets of four */
    { "cores", "0-7", { "0-3", "4-7" }, 4, 2, BLOCK, { "0-1", "2-3", "4-5", "6-7" } },
    { "cores", "0-7", { "0-3", "4-7" }, 4, 2, CYCLIC, { "0-1", "4-5", "2-3", "6-7" } },
    { "cores", "0-7", { "0-3", "4-7" }, 4, 2, 0, { "0-1", "4-5", "2-3", "6-7" } },
    { "cores", "0-7", { "0-3", "4-7" }, 4, 2, FCYCLIC, { "0,4", "1,5", "2,6", "3,7" } },
    { "cores", "0-7", { "0-3", "4-7" }, 2, 3, BLOCK, { "0-2", "3-5" } },
    { "cores", "0-7", { "0-3", "4-7" }, 2, 3, CYCLIC, { "0-2", "4-6" } },
    { "cores", "0-7", { "0-3", "4-7" }, 2, 3, FCYCLIC, { "0-1,4", "2,5-6" } },
    /* sockets whose cores alternate */
    { "cores",
      "0-7",
      { "0,2,4,6", "1,3,5,7" },
      4,
      2,
      BLOCK,
      { "0,2", "4,6", "1,3", "5,7" } },
    { "cores", "0-7", { "0,2,4,6", "1,3,5,7" }, 3, 1, CYCLIC, { "0", "1", "2" } },
    /* a task that fits on no socket, and a task that skips a socket without enough
     * room */
    { "cores", "0-7", { "0-3", "4-7" }, 1, 6, CYCLIC, { "0-5" } },
    { "cores", "0-6", { "0-1", "2-6" }, 3, 2, CYCLIC, { "0-1", "2-3", "4-5" } },
    { "cores", "0-5", { "0-2", "3-5" }, 3, 2, CYCLIC, { "0-1", "3-4", "2,5" } },
    /* a core without a known socket is assigned, too */
    { "cores", "0-3", { "0-1" }, 4, 1, BLOCK, { "0", "1", "2", "3" } },
    { "sockets", "1-2,4-6", { "0-3", "4-7" }, 2, 1, CYCLIC, { "1-2", "4-6" } },
    { "sockets", "1-2,4-6", { "0-3", "4-7" }, 2, 1, BLOCK, { "1-2", "1-2" } },
    { "sockets", "0-7", { "0-3", "4-7" }, 1, 5, CYCLIC, { "0-7" } },
    { "rank", "3,5,7", { 0 }, 4, 2, 0, { "3", "5", "7", "3" } },
    { "map_cpu:2,0x0", "0-3", { 0 }, 3, 2, 0, { "2", "0", "2" } },
    { "map_cpu:0*2,3", "0-3", { 0 }, 5, 1, 0, { "0", "0", "3", "0", "0" } },
    { "mask_cpu:3,c", "0-3", { 0 }, 3, 1, 0, { "0-1", "2-3", "0-1" } },
};

/* The node of an example; free_node() frees its sets. */
static struct cpubind_node make_node (const struct example *e, struct idset **sockets)
{
    struct cpubind_node node = { .cores = set_of (e->cores),
                                 .sockets = sockets,
                                 .ntasks = e->ntasks,
                                 .cores_per_task = e->cores_per_task,
                                 .order = e->order };

    while (e->sockets[node.nsockets]) {
        sockets[node.nsockets] = set_of (e->sockets[node.nsockets]);
        node.nsockets++;
    }
    return node;
}

static void free_node (struct cpubind_node *node)
{
    for (size_t i = 0; i < node->nsockets; i++)
        idset_destroy (node->sockets[i]);
    idset_destroy ((struct idset *)node->cores);
}

static void check_example (const struct example *e)
{
    struct idset *sockets[3], *set;
    struct cpubind_node node = make_node (e, sockets);
    struct error err = { 0 };
    struct cpubind b;
    char what[80];

    assert_int_equal (cpubind_parse (e->option, &b, NULL), 0);
    for (uint32_t i = 0; i < e->ntasks; i++) {
        snprintf (what, sizeof (what), "%s of %s, order %d, task %u", e->option, e->cores,
                  (int)e->order, i);
        if (cpubind_cores (&b, &node, i, &set, &err) < 0)
            fail_msg ("%s: %s", what, err.text);
        if (!set && e->want[i])
            fail_msg ("%s is not bound", what);
        if (set)
            check_set (set, e->want[i] ? e->want[i] : "none", what);
        idset_destroy (set);
    }
    cpubind_release (&b);
    free_node (&node);
}

static void test_examples (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (examples); i++)
        check_example (&examples[i]);
}

static void test_cores_refused (void **state)
{
    static const struct {
        const char *option, *what;
        uint32_t local;
    } cases[] = {
        { "map_cpu:4,7", "core 7 is not one of the job's on this node, 4-6", 1 },
        { "mask_cpu:70,f0", "core 7", 1 },
        { "mask_cpu:0x10,11", "core 0", 1 },
        { "sockets", "sockets of this node are not known", 0 },
    };
    struct idset *cores = set_of ("4-6");
    struct cpubind_node node = { .cores = cores, .ntasks = 2, .cores_per_task = 1 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        struct idset *set;
        struct cpubind b;
        assert_int_equal (cpubind_parse (cases[i].option, &b, NULL), 0);
        assert_int_equal (cpubind_cores (&b, &node, cases[i].local, &set, &err), -EINVAL);
        assert_null (set);
        if (!strstr (err.text, cases[i].what))
            fail_msg ("%s: %s", cases[i].option, err.text);
        cpubind_release (&b);
    }
    idset_destroy (cores);
}

/* -- random nodes -- */

static uint32_t seed = 31337;

static uint32_t chance (uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

/* Each task has its number of the job's cores, and no core has two tasks. */
static void check_dealt (const struct cpubind_node *node)
{
    static const struct cpubind bind = { .kind = CPUBIND_CORES };
    struct idset *all = idset_create (), *set;

    for (uint32_t i = 0; i < node->ntasks; i++) {
        assert_int_equal (cpubind_cores (&bind, node, i, &set, NULL), 0);
        assert_int_equal (idset_count (set), node->cores_per_task);
        IDSET_FOREACH (set, core)
        {
            assert_true (idset_has (node->cores, core));
            assert_false (idset_has (all, core));
        }
        assert_int_equal (idset_add_all (all, set), 0);
        idset_destroy (set);
    }
    idset_destroy (all);
}

static void test_random (void **state)
{
    unsigned rounds = 0;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct idset *sockets[3] = { idset_create (), idset_create (), idset_create () };
        struct cpubind_node node = { .sockets = sockets, .nsockets = chance (4) };
        struct idset *cores = idset_create ();
        for (uint32_t core = 0; core < 24; core++) {
            assert_int_equal (idset_add (sockets[chance (3)], core), 0);
            if (chance (2))
                assert_int_equal (idset_add (cores, core), 0);
        }
        node.cores = cores;
        node.cores_per_task = 1 + chance (5);
        node.ntasks = idset_count (cores) / node.cores_per_task;
        node.order = chance (4);
        check_dealt (&node);
        rounds += node.ntasks > 1;
        for (int i = 0; i < 3; i++)
            idset_destroy (sockets[i]);
        idset_destroy (cores);
    }
    assert_true (rounds > 1000);
}

/* -- the machine -- */

static void test_apply (void **state)
{
    struct idset *allowed = cpubind_allowed (NULL), *one = idset_create (), *now;
    struct idset *other = set_of ("8191");
    uint32_t first = idset_first (allowed);

    (void)state;
    assert_int_not_equal (first, IDSET_END);
    assert_int_equal (cpubind_apply (other, allowed), 0); /* does not exist */
    now = cpubind_allowed (NULL);
    assert_true (idset_equal (now, allowed));
    idset_destroy (now);
    /* For a partly available set, the available part. */
    assert_int_equal (idset_add (one, first), 0);
    assert_int_equal (idset_add (one, 8190), 0);
    assert_int_equal (cpubind_apply (one, allowed), 1);
    now = cpubind_allowed (NULL);
    assert_int_equal (idset_count (now), 1);
    assert_int_equal (idset_first (now), first);
    idset_destroy (now);
    assert_int_equal (cpubind_apply (allowed, allowed), idset_count (allowed));
    now = cpubind_allowed (NULL);
    assert_true (idset_equal (now, allowed));
    idset_destroy (now);
    /* A set beyond the kernel's permission: its error is reported. */
    assert_int_equal (cpubind_apply (other, other), -EINVAL);
    idset_destroy (other);
    idset_destroy (one);
    idset_destroy (allowed);
}

static void put_file (int dir, const char *path, const char *text)
{
    char name[64];

    for (const char *p = strchr (path, '/'); p; p = strchr (p + 1, '/')) {
        snprintf (name, sizeof (name), "%.*s", (int)(p - path), path);
        assert_true (mkdirat (dir, name, 0700) == 0 || errno == EEXIST);
    }
    autoclose int fd = openat (dir, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal (write (fd, text, strlen (text)), (ssize_t)strlen (text));
}

static const char *const packages[] = { "1\n", "0\n", "1\n", "0\n" };

/* Like the kernel's directory, for four cores on two sockets. */
static void make_sysfs (char *dir)
{
    char path[64];

    assert_non_null (mkdtemp (dir));
    autoclose int fd = open (dir, O_RDONLY | O_DIRECTORY);
    for (size_t i = 0; i < ARRAY_SIZE (packages); i++) {
        snprintf (path, sizeof (path), "cpu%zu/topology/physical_package_id", i);
        put_file (fd, path, packages[i]);
    }
}

static void remove_sysfs (const char *dir)
{
    static const char *const parts[] = { "cpu%zu/topology/physical_package_id",
                                         "cpu%zu/topology", "cpu%zu" };
    autoclose int fd = open (dir, O_RDONLY | O_DIRECTORY);
    char path[64];

    for (size_t i = 0; i < ARRAY_SIZE (packages); i++)
        for (size_t k = 0; k < ARRAY_SIZE (parts); k++) {
            snprintf (path, sizeof (path), parts[k], i);
            assert_int_equal (unlinkat (fd, path, k > 0 ? AT_REMOVEDIR : 0), 0);
        }
    assert_int_equal (rmdir (dir), 0);
}

static void check_unknown (const char *dir, const struct idset *cores)
{
    struct cpubind_sockets s;

    assert_int_equal (cpubind_read_sockets (dir, cores, &s), 0);
    assert_int_equal (s.n, 0);
    cpubind_sockets_release (&s);
}

static void test_sockets (void **state)
{
    char dir[] = "/tmp/test_cpubind.XXXXXX";
    struct idset *cores = set_of ("0-3"), *more = set_of ("0-4");
    struct cpubind_sockets s;

    (void)state;
    make_sysfs (dir);
    assert_int_equal (cpubind_read_sockets (dir, cores, &s), 0);
    assert_int_equal (s.n, 2);
    check_set (s.list[0], "0,2", "the first");
    check_set (s.list[1], "1,3", "the second");
    cpubind_sockets_release (&s);
    TORTURE (n)
    {
        int rc = cpubind_read_sockets (dir, cores, &s);
        torture_stop ();
        assert_int_equal (rc, torture_failed () ? -ENOMEM : 0);
        cpubind_sockets_release (&s);
    }
    check_unknown (dir, more);
    check_unknown ("/nowhere", cores);
    static const char *const bad[] = { "", "-1\n", "x\n", "99999999999\n" };
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        autoclose int fd = open (dir, O_RDONLY | O_DIRECTORY);
        put_file (fd, "cpu3/topology/physical_package_id", bad[i]);
        check_unknown (dir, cores);
    }
    remove_sysfs (dir);
    idset_destroy (cores);
    idset_destroy (more);
}

/* -- failing allocations -- */

static void test_no_memory (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (examples); i++) {
        struct idset *sockets[3], *set = NULL;
        struct cpubind_node node = make_node (&examples[i], sockets);
        struct cpubind b;
        TORTURE (n)
        {
            struct error err = { 0 };
            int rc = cpubind_parse (examples[i].option, &b, &err);
            if (rc == 0) {
                rc = cpubind_cores (&b, &node, node.ntasks - 1, &set, &err);
                cpubind_release (&b);
            }
            torture_stop ();
            assert_int_equal (rc, torture_failed () ? -ENOMEM : 0);
            assert_int_equal (err.code, -rc);
            if (rc == 0)
                idset_destroy (set);
        }
        free_node (&node);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_parse),    cmocka_unit_test (test_elements),
        cmocka_unit_test (test_refuses),  cmocka_unit_test (test_bounds),
        cmocka_unit_test (test_examples), cmocka_unit_test (test_cores_refused),
        cmocka_unit_test (test_random),   cmocka_unit_test (test_apply),
        cmocka_unit_test (test_sockets),  cmocka_unit_test (test_no_memory),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
