/* test_taskmap.c - task maps to text and back: the test vectors of RFC 34, invalid
 * texts, random maps, and failing allocations.
 *
 * Linked with --wrap, so that the allocations of src/ go through this file.
 */
#include "common/test/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/test/torture.h"
#include "protocol/test/taskmap_raw.h"

static const struct {
    const char *raw, *map;
} vectors[] = {
    { "0", "[[0,1,1,1]]" },
    { "0;1", "[[0,2,1,1]]" },
    { "0-1", "[[0,1,2,1]]" },
    { "0-1;2-3", "[[0,2,2,1]]" },
    { "0,2;1,3", "[[0,2,1,2]]" },
    { "1;0", "[[1,1,1,1],[0,1,1,1]]" },
    { "0-3;4-7;8-11;12-15", "[[0,4,4,1]]" },
    { "0,4,8,12;1,5,9,13;2,6,10,14;3,7,11,15", "[[0,4,1,4]]" },
    { "0-1,8-9;2-3,10-11;4-5,12-13;6-7,14-15", "[[0,4,2,2]]" },
    { "0-1;2-3;4-5;6-7;8-11;12-15", "[[0,4,2,1],[4,2,4,1]]" },
    { "0,6;1,7;2,8;3,9;4,10,12,14;5,11,13,15", "[[0,6,1,2],[4,2,1,2]]" },
    { "0-1;2-3;4-5;6-7;8-9,12-13;10-11,14-15", "[[0,6,2,1],[4,2,2,1]]" },
    { "14-15;12-13;10-11;8-9;4-7;0-3",
      "[[5,1,4,1],[4,1,4,1],[3,1,2,1],[2,1,2,1],[1,1,2,1],[0,1,2,1]]" },
    { "0-1;2-3;4-5;6-7;8-9;12-13;10-11;14-15",
      "[[0,5,2,1],[6,1,2,1],[5,1,2,1],[7,1,2,1]]" },
    { "12-15;8-11;4-7;0-3", "[[3,1,4,1],[2,1,4,1],[1,1,4,1],[0,1,4,1]]" },
    /* not from the RFC: nodes without tasks, and runs that are equal by chance */
    { ";0;;1", "[[1,1,1,1],[3,1,1,1]]" },
    { "0,3;1-2", "[[0,1,1,1],[1,1,2,1],[0,1,1,1]]" },
    { "0,2-3;1", "[[0,2,1,1],[0,1,2,1]]" },
};

static void check_texts (const uint32_t *ranks, uint32_t ntasks, const char *raw,
                         const char *map)
{
    struct strbuf sb;

    strbuf_init (&sb, 1 << 20);
    assert_int_equal (strbuf_add_taskmap (&sb, ranks, ntasks), 0);
    assert_string_equal (sb.buf, map);
    strbuf_reset (&sb);
    assert_int_equal (strbuf_add_taskmap_raw (&sb, ranks, ntasks), 0);
    assert_string_equal (sb.buf, raw);
    strbuf_release (&sb);
}

static void check_vector (const char *text, size_t i)
{
    struct error err = { 0 };
    uint32_t *ranks = NULL, ntasks = 0;

    if (taskmap_decode (text, 16, &ranks, &ntasks, &err) < 0)
        fail_msg ("%s: %s", text, err.text);
    check_texts (ranks, ntasks, vectors[i].raw, vectors[i].map);
    free (ranks);
}

static void test_vectors (void **state)
{
    char text[256];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (vectors); i++) {
        check_vector (vectors[i].raw, i);
        check_vector (vectors[i].map, i);
        snprintf (text, sizeof (text), "{\"version\":1,\"map\":%s}", vectors[i].map);
        check_vector (text, i);
        snprintf (text, sizeof (text), " { \"map\" :\t%s ,\n\"version\" : 1 } ",
                  vectors[i].map);
        check_vector (text, i);
    }
}

static void test_ranks (void **state)
{
    static const uint32_t cyclic[] = { 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 4, 5, 4, 5 };
    uint32_t *ranks, ntasks;

    (void)state;
    assert_int_equal (
        taskmap_decode ("[ [0,6,1,2] , [ 4 , 2,1,2 ]\n]", 6, &ranks, &ntasks, NULL), 0);
    assert_int_equal (ntasks, ARRAY_SIZE (cyclic));
    assert_memory_equal (ranks, cyclic, sizeof (cyclic));
    free (ranks);
}

/* The RFC's largest: 4096 nodes of 256 tasks each, block, cyclic and by two. */
static void test_large (void **state)
{
    static const char *const maps[] = { "[[0,4096,256,1]]", "[[0,4096,1,256]]",
                                        "[[0,4096,2,128]]" };
    uint32_t *ranks, ntasks;
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 100);
    for (size_t i = 0; i < ARRAY_SIZE (maps); i++) {
        assert_int_equal (taskmap_decode (maps[i], 4096, &ranks, &ntasks, NULL), 0);
        assert_int_equal (ntasks, 4096 * 256);
        strbuf_reset (&sb);
        assert_int_equal (strbuf_add_taskmap (&sb, ranks, ntasks), 0);
        assert_string_equal (sb.buf, maps[i]);
        free (ranks);
    }
    strbuf_release (&sb);
}

static void test_refuses (void **state)
{
    static const struct {
        const char *text, *what; /* what the error must name */
        int code;
    } cases[] = {
        { "", "no task", EINVAL },
        { ";;", "no task", EINVAL },
        { " ", "no task", EINVAL },
        { "[]", "byte 2", EINVAL },
        { "[[]]", "byte 3", EINVAL },
        { "[", "byte 2", EINVAL },
        { "[[0,1,1,1]", "byte 11", EINVAL },
        { "[[0,1,1,1]]x", "byte 12: the end", EINVAL },
        { "[[0,1,1,1],]", "byte 12", EINVAL },
        { "[[0,1,1]]", "byte 8: ','", EINVAL },
        { "[[0,1,1,1,1]]", "byte 10: ']'", EINVAL },
        { "[[0,0,1,1]]", "byte 5", EINVAL },
        { "[[0,1,0,1]]", "byte 7", EINVAL },
        { "[[0,1,1,0]]", "byte 9", EINVAL },
        { "[[-1,1,1,1]]", "byte 3", EINVAL },
        { "[[00,1,1,1]]", "byte 3", EINVAL },
        { "[[0,1.0,1,1]]", "byte 5", EINVAL },
        { "[[0,1e0,1,1]]", "byte 5", EINVAL },
        { "[[0,\"1\",1,1]]", "byte 5", EINVAL },
        { "[[0,1,99999999999999999999,1]]", "byte 7", EINVAL },
        { "[[0,1,4294967295,1]]", "byte 7", EINVAL },
        { "[0,1,1,1]", "byte 2: '['", EINVAL },
        { "[[0,1,1,1] [0,1,1,1]]", "byte 12", EINVAL },
        { "[[16,1,1,1]]", "node 16, nodes are 0 to 15", ERANGE },
        { "[[8,9,1,1]]", "node 16", ERANGE },
        { "[[4294967294,4294967294,1,1]]", "node 8589934587", ERANGE },
        { "[[0,1,4194305,1]]", "4194304 tasks", ERANGE },
        { "[[0,2,2097152,2]]", "4194304 tasks", ERANGE },
        { "[[0,16,4294967294,4294967294]]", "4194304 tasks", ERANGE },
        { "[[0,1,4194304,1],[0,1,1,1]]", "4194304 tasks", ERANGE },
        { "{}", "\"version\" or \"map\"", EINVAL },
        { "{\"version\":1}", "','", EINVAL },
        { "{\"version\":1,\"version\":1}", "\"map\"", EINVAL },
        { "{\"map\":[[0,1,1,1]],\"map\":[[0,1,1,1]]}", "\"version\"", EINVAL },
        { "{\"version\":2,\"map\":[[0,1,1,1]]}", "version 2", EINVAL },
        { "{\"version\":1,\"map\":[[0,1,1,1]],\"x\":1}", "'}'", EINVAL },
        { "{\"version\":1,\"map\":[[0,1,1,1]]", "'}'", EINVAL },
        { "{\"version\":1,\"map\":[[0,1,1,1]]}}", "the end", EINVAL },
        { "{\"version\":1,\"map\":\"0\"}", "'['", EINVAL },
        { "0;0", "task 0 is on node 0 and on node 1", EINVAL },
        { "0-2;1", "task 1 is on node 0 and on node 1", EINVAL },
        { "0;2", "task 1 is on no node", EINVAL },
        { "1", "task 0 is on no node", EINVAL },
        { "0;x", "node 1", EINVAL },
        { "0;1 ", "node 1", EINVAL },
        { "0;[1]", "a task", EINVAL },
        { "2,1,0", "node 0", EINVAL },
        { "0-4194304", "more than 4194304 ids", ERANGE },
        { "0-2147483647", "more than 4194304 ids", ERANGE },
        { "0-2147483648", "node 0", ERANGE },
        { ";;;;;;;;;;;;;;;;0", "node 16, nodes are 0 to 15", ERANGE },
        { "\xff", "node 0", EINVAL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        uint32_t *ranks = NULL, ntasks = 0;
        int rc = taskmap_decode (cases[i].text, 16, &ranks, &ntasks, &err);
        if (rc != -cases[i].code || !strstr (err.text, cases[i].what)
            || strncmp (err.text, "taskmap: ", 9) != 0)
            fail_msg ("'%s': %d '%s'", cases[i].text, rc, err.text);
        assert_null (ranks);
        assert_int_equal (taskmap_decode (cases[i].text, 16, &ranks, &ntasks, NULL), rc);
    }
    uint32_t *ranks, ntasks;
    assert_int_equal (taskmap_decode ("0", 0, &ranks, &ntasks, NULL), -ERANGE);
    assert_int_equal (taskmap_decode ("0", TASKMAP_RANKS_MAX + 1, &ranks, &ntasks, NULL),
                      -ERANGE);
}

static uint32_t seed = 4711;

static uint32_t chance (uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

/* Mostly runs and cycles, because purely random ranks would never make a block. */
static uint32_t random_map (uint32_t *ranks, uint32_t max, uint32_t nranks)
{
    uint32_t n = 1 + chance (max), task = 0;

    while (task < n) {
        uint32_t first = chance (nranks), nodes = 1 + chance (nranks - first);
        uint32_t ppn = 1 + chance (3), repeat = 1 + chance (3);
        for (uint32_t i = 0; i < nodes * ppn * repeat && task < n; i++)
            ranks[task++] = first + i / ppn % nodes;
    }
    return n;
}

static void check_decodes (const char *text, const uint32_t *ranks, uint32_t ntasks)
{
    struct error err = { 0 };
    uint32_t *again, n;

    if (taskmap_decode (text, 9, &again, &n, &err) < 0)
        fail_msg ("%s: %s", text, err.text);
    assert_int_equal (n, ntasks);
    assert_memory_equal (again, ranks, ntasks * sizeof (*ranks));
    free (again);
}

static void test_random (void **state)
{
    uint32_t ranks[60];
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 1 << 16);
    for (int round = 0; round < 5000; round++) {
        uint32_t n = random_map (ranks, ARRAY_SIZE (ranks), 1 + chance (9));
        strbuf_reset (&sb);
        assert_int_equal (strbuf_add_taskmap (&sb, ranks, n), 0);
        check_decodes (sb.buf, ranks, n);
        strbuf_reset (&sb);
        assert_int_equal (strbuf_add_taskmap_raw (&sb, ranks, n), 0);
        check_decodes (sb.buf, ranks, n);
    }
    strbuf_release (&sb);
}

/* A truncated text, or one with a changed character, is refused or gives another map,
 * never beyond the available room. */
static void test_damaged (void **state)
{
    static const char good[] = "{\"version\":1,\"map\":[[0,4,2,1],[4,2,4,1]]}";
    static const char signs[] = "019,;[]{}\":- x";
    char text[sizeof (good)];

    (void)state;
    for (size_t i = 0; i < sizeof (good) - 1; i++)
        for (size_t k = 0; k < sizeof (signs); k++) { /* including the end of the text */
            struct error err = { 0 };
            uint32_t *ranks, ntasks;
            memcpy (text, good, sizeof (good));
            text[i] = signs[k];
            if (taskmap_decode (text, 6, &ranks, &ntasks, &err) < 0) {
                assert_true (err.text[0]);
                continue;
            }
            assert_true (ntasks >= 1);
            for (uint32_t task = 0; task < ntasks; task++)
                assert_true (ranks[task] < 6);
            free (ranks);
        }
}

static void test_index (void **state)
{
    static const uint32_t ranks[] = { 2, 0, 2, 2, 0 };
    static const uint32_t first[] = { 0, 2, 2, 5, 5 }, tasks[] = { 1, 4, 0, 2, 3 };
    struct taskmap_index x;

    (void)state;
    assert_int_equal (taskmap_index (&x, ranks, 5, 4), 0);
    assert_int_equal (x.nranks, 4);
    assert_memory_equal (x.first, first, sizeof (first));
    assert_memory_equal (x.tasks, tasks, sizeof (tasks));
    taskmap_index_release (&x);
    assert_null (x.tasks);
}

static void test_ceiling (void **state)
{
    static const uint32_t ranks[] = { 0, 2, 1, 0, 2, 1 };
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 5);
    assert_int_equal (strbuf_add_taskmap (&sb, ranks, 6), -E2BIG);
    strbuf_release (&sb);
    assert_int_equal (strbuf_add_taskmap_raw (&sb, ranks, 6), -E2BIG);
    strbuf_release (&sb);
}

/* From text to a map and back; returns 0, or an error, which must be about memory. */
static int life (const char *text, struct strbuf *sb)
{
    struct error err = { 0 };
    uint32_t *ranks, ntasks;
    int rc = taskmap_decode (text, 1000, &ranks, &ntasks, &err);

    if (rc < 0) {
        assert_int_equal (err.code, ENOMEM);
        return rc;
    }
    rc = strbuf_add_taskmap (sb, ranks, ntasks);
    if (rc == 0 && strbuf_addch (sb, ' ') == 0)
        rc = strbuf_add_taskmap_raw (sb, ranks, ntasks);
    free (ranks);
    return rc < 0 ? rc : sb->err;
}

static void test_no_memory (void **state)
{
    static const struct {
        const char *text, *both;
    } cases[] = {
        { "[[0,100,1,3]]", NULL },
        { "1,3;0,2,4", "[[1,1,1,1],[0,2,1,2]] 1,3;0,2,4" },
    };
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 1 << 20);
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
        TORTURE (n)
        {
            strbuf_release (&sb);
            int rc = life (cases[i].text, &sb);
            torture_stop ();
            assert_int_equal (rc, torture_failed () ? -ENOMEM : 0);
            if (torture_failed ())
                continue;
            if (cases[i].both)
                assert_string_equal (sb.buf, cases[i].both);
            assert_true (n > 3);
        }
    strbuf_release (&sb);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_vectors),   cmocka_unit_test (test_ranks),
        cmocka_unit_test (test_large),     cmocka_unit_test (test_refuses),
        cmocka_unit_test (test_random),    cmocka_unit_test (test_damaged),
        cmocka_unit_test (test_index),     cmocka_unit_test (test_ceiling),
        cmocka_unit_test (test_no_memory),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
