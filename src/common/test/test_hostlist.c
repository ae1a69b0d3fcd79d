/* test_hostlist.c - tests of hostlist.h: texts to lists and back, ceilings, missing
 * memory */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/test/torture.h"

/* All names with commas between them, in any internal form. */
static char *join (const struct hostlist *hl)
{
    struct strbuf sb;

    strbuf_init (&sb, 1 << 20);
    for (size_t i = 0; i < hostlist_count (hl); i++)
        strbuf_addf (&sb, "%s%s", i > 0 ? "," : "", hostlist_nth (hl, i));
    return strbuf_detach (&sb);
}

/* The vectors of RFC 29, and further ones. */
static void test_decode (void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "", "" },
        { "foox,fooy,fooz", "foox,fooy,fooz" },
        { "[1-3,5-6]", "1,2,3,5,6" },
        { "foo[1-5]", "foo1,foo2,foo3,foo4,foo5" },
        { "foo[0-4]-eth2", "foo0-eth2,foo1-eth2,foo2-eth2,foo3-eth2,foo4-eth2" },
        { "foo1,foo1,foo1", "foo1,foo1,foo1" },
        { "[00-02]", "00,01,02" },
        { "[00-2]", "00,01,02" },
        { "foo[1,1,2,1]", "foo1,foo1,foo2,foo1" },
        { "[005,4,11-13]", "005,004,011,012,013" },
        { "n[9-11]", "n9,n10,n11" },
        { "n[098-101]", "n098,n099,n100,n101" },
        { "a[1-2],b,c[7]", "a1,a2,b,c7" },
        { "a,,b,", "a,b" },
        { "n[999999999999999998-999999999999999999]",
          "n999999999999999998,n999999999999999999" },
    };
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct hostlist *hl = hostlist_decode (cases[i].in, HOSTLIST_MAX, &err);
        assert_non_null (hl);
        autofree char *text = join (hl);
        assert_string_equal (text, cases[i].out);
        hostlist_destroy (hl);
    }
}

static void test_decode_refuses (void **state)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        { "n[1-1000000000]", ERANGE },
        { "n[0-1000000]", ERANGE },
        { "n[1-600000],m[1-600000]", ERANGE },
        { "n[0-999999999999999999]", ERANGE },
        { "n[0-18446744073709551615]", EINVAL },
        { "n[0-99999999999999999999999999999]", EINVAL },
        { "n[2-1]", EINVAL },
        { "n[1,,2]", EINVAL },
        { "n[]", EINVAL },
        { "n[1-]", EINVAL },
        { "n[-1]", EINVAL },
        { "n[1", EINVAL },
        { "n1]", EINVAL },
        { "n[[1]]", EINVAL },
        { "n[1]x[2]", EINVAL },
        { "n[a]", EINVAL },
        { "n 1", EINVAL },
        { "n1\n", EINVAL },
        { "n\x01", EINVAL },
        { "n\xc3\xa9", EINVAL },
    };
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        err.code = 0;
        assert_null (hostlist_decode (cases[i].text, HOSTLIST_MAX, &err));
        assert_int_equal (err.code, cases[i].code);
    }

    char longest[400] = "";
    memset (longest, 'x', 255);
    struct hostlist *hl = hostlist_decode (longest, HOSTLIST_MAX, &err);
    assert_int_equal (hostlist_count (hl), 1);
    hostlist_destroy (hl);
    longest[255] = 'x';
    assert_null (hostlist_decode (longest, HOSTLIST_MAX, &err));
    memcpy (longest + 252, "[9-10]", 7); /* the second name is too long */
    hl = hostlist_decode (longest, HOSTLIST_MAX, &err);
    assert_non_null (hl);
    hostlist_destroy (hl);
    memcpy (longest + 254, "[9-10]", 7);
    assert_null (hostlist_decode (longest, HOSTLIST_MAX, &err));
    /* A few bytes that would become hundreds of megabytes of names. */
    memcpy (longest + 240, "[1-999999]", 11);
    assert_null (hostlist_decode (longest, HOSTLIST_MAX, &err));
    assert_int_equal (err.code, ERANGE);
}

/* The text alone is enough for the refusal: the first allocation would fail here,
 * and there is none. */
static void check_refused (const char *text, size_t limit, const char *said)
{
    struct error err = { 0 };

    torture_next (0);
    assert_null (hostlist_decode (text, limit, &err));
    torture_stop ();
    assert_false (torture_failed ());
    assert_int_equal (err.code, ERANGE);
    assert_non_null (strstr (err.text, said));
}

static void test_count (void **state)
{
    char names[64 * 1024];
    struct error err = { 0 };

    (void)state;
    check_refused ("n[1-1000000,1-1000000,1-1000000]", 4, "more than 4 names");
    check_refused ("n[1-1000000,1-1000000]", SIZE_MAX, "more than 1000000 names");
    check_refused ("n[0-999999999999999999]", SIZE_MAX, "more than 1000000 names");
    check_refused ("n[1-3],n[1-3]", 5, "more than 5 names"); /* duplicates count */
    check_refused ("a,b", 1, "more than 1 name");
    check_refused ("n[7]", 0, "more than 0 names");
    for (size_t i = 0; i < sizeof (names) - 1; i++)
        names[i] = "n[0-99999],"[i % 11];
    memset (names + sizeof (names) / 11 * 11 - 11, '\0', 11);
    check_refused (names, 500000, "more than 500000 names");
    struct hostlist *hl = hostlist_decode ("n[1-3,2-4],a,,b[001-999]x", 1006, &err);
    assert_int_equal (hostlist_count (hl), 1006);
    hostlist_destroy (hl);
    hl = hostlist_decode ("n[1-3],n[1-3]", 6, &err);
    assert_int_equal (hostlist_count (hl), 6);
    hostlist_destroy (hl);
}

static void check_encode (const char *names, const char *want)
{
    struct hostlist *hl = hostlist_decode (names, HOSTLIST_MAX, NULL);
    autofree char *text = hostlist_encode (hl);

    assert_string_equal (text, want);
    struct hostlist *again = hostlist_decode (text, HOSTLIST_MAX, NULL);
    autofree char *before = join (hl);
    autofree char *after = join (again);
    assert_string_equal (before, after);
    hostlist_destroy (again);
    hostlist_destroy (hl);
}

static void test_encode (void **state)
{
    (void)state;
    check_encode ("", "");
    check_encode ("n1", "n1");
    check_encode ("n1,n2,n3,n7,login0", "n[1-3,7],login0");
    check_encode ("n9,n10,n11", "n[9-11]");
    check_encode ("n08,n09,n10", "n[08-10]");
    check_encode ("n1,n01", "n1,n01"); /* two hosts, not one width */
    check_encode ("n01,n1", "n01,n1");
    check_encode ("n099,n100,n1000", "n[099-100,1000]");
    check_encode ("n3,n1,n2,n2", "n[3,1-2,2]"); /* order and duplicates are kept */
    check_encode ("n1,n1,n1", "n[1,1,1]");
    check_encode ("a,b", "a,b");
    check_encode ("a,a", "a,a");
    check_encode ("a,a1,a2", "a,a[1-2]");
    check_encode ("00,01", "[00-01]");
    check_encode ("r1n1,r1n2,r2n1,r2n2", "r1n[1-2],r2n[1-2]");
    check_encode ("ip-10-0-0-1.site,ip-10-0-0-2.site,x", "ip-10-0-0-[1-2].site,x");
    check_encode ("n1-eth0,n2-eth0,n2-eth1", "n[1-2]-eth0,n2-eth1");
    check_encode ("n999999999999999999,n1000000000000000000",
                  "n999999999999999999,n1000000000000000000");
    check_encode ("n99999999999999999998,n99999999999999999999",
                  "n99999999999999999998,n99999999999999999999");
}

/* Random names next to each other read back unchanged. */
static void test_encode_is_reversible (void **state)
{
    static const char *const prefixes[] = { "n", "n0", "r1-", "", "x9y" };
    static const char *const suffixes[] = { "", "", ".s", "-0", "7" };
    uint32_t seed = 99;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct hostlist *hl = hostlist_create ();
        for (int i = 0; i < 12; i++) {
            char name[64];
            seed = seed * 1664525 + 1013904223;
            snprintf (name, sizeof (name), "%s%0*u%s", prefixes[(seed >> 28) % 5],
                      (int)((seed >> 24) % 4), (seed >> 16) % 12,
                      suffixes[(seed >> 20) % 5]);
            assert_int_equal (hostlist_append (hl, name), 0);
        }
        autofree char *text = hostlist_encode (hl);
        struct hostlist *again = hostlist_decode (text, HOSTLIST_MAX, NULL);
        assert_non_null (again);
        autofree char *before = join (hl);
        autofree char *after = join (again);
        assert_string_equal (before, after);
        hostlist_destroy (again);
        hostlist_destroy (hl);
    }
}

static void test_list (void **state)
{
    struct hostlist *hl = hostlist_decode ("n[1-3],n2", HOSTLIST_MAX, NULL);

    (void)state;
    assert_int_equal (hostlist_count (hl), 4);
    assert_int_equal (hostlist_find (hl, "n2"), 1);
    assert_int_equal (hostlist_find (hl, "n"), -1);
    assert_null (hostlist_nth (hl, 4));
    assert_int_equal (hostlist_append (hl, "login"), 0);
    assert_string_equal (hostlist_nth (hl, 4), "login");
    assert_int_equal (hostlist_append (hl, ""), -EINVAL);
    assert_int_equal (hostlist_append (hl, "a,b"), -EINVAL);
    assert_int_equal (hostlist_append (hl, "a[1]"), -EINVAL);
    assert_int_equal (hostlist_count (hl), 5);
    hostlist_destroy (hl);
    hostlist_destroy (NULL);
}

static void test_a_full_list (void **state)
{
    struct hostlist *hl = hostlist_decode ("node[000000-999999]", HOSTLIST_MAX, NULL);

    (void)state;
    assert_int_equal (hostlist_count (hl), 1000000);
    autofree char *text = hostlist_encode (hl);
    assert_string_equal (text, "node[000000-999999]");
    assert_int_equal (hostlist_append (hl, "one-more"), -ERANGE);
    assert_string_equal (hostlist_nth (hl, 999999), "node999999");
    hostlist_destroy (hl);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_decode), cmocka_unit_test (test_decode_refuses),
        cmocka_unit_test (test_encode), cmocka_unit_test (test_encode_is_reversible),
        cmocka_unit_test (test_count),  cmocka_unit_test (test_list),   cmocka_unit_test (test_a_full_list),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
