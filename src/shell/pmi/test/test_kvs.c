/* test_kvs.c - the table compared with a plain list, and two tables that
 * exchange their changes */
#include "common/test/unit.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "shell/pmi/kvs.h"

static int put (struct kvs *kvs, const char *key, const char *value)
{
    return kvs_put (kvs, key, strlen (key), value, strlen (value));
}

static const char *get (const struct kvs *kvs, const char *key)
{
    const struct kvs_pair *pair = kvs_get (kvs, key, strlen (key));

    return pair ? kvs_value (pair) : NULL;
}

static void many_keys_are_found_and_only_they (void **state)
{
    struct kvs *kvs = kvs_create (SIZE_MAX);
    enum { N = 100000 };

    (void)state;
    assert_null (get (kvs, "none"));
    assert_null (kvs_at (kvs, 0));
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < N; i++) {
            char key[32], value[32];
            snprintf (key, sizeof (key), "card-%d", i);
            snprintf (value, sizeof (value), "%d", i * (round + 1));
            assert_int_equal (put (kvs, key, value), 0);
        }
    for (int i = 0; i < N; i++) {
        char key[32], value[32];
        snprintf (key, sizeof (key), "card-%d", i);
        snprintf (value, sizeof (value), "%d", i * 2);
        assert_string_equal (get (kvs, key), value);
        assert_string_equal (kvs_at (kvs, (size_t)i)->key, key);
        snprintf (key, sizeof (key), "card_%d", i);
        assert_null (get (kvs, key));
    }
    assert_null (kvs_at (kvs, N));
    kvs_destroy (kvs);
}

static void what_is_no_key_or_value_is_refused (void **state)
{
    struct kvs *kvs = kvs_create (1 << 20);
    char text[KVS_VALUE_MAX + 1];

    (void)state;
    memset (text, 'x', sizeof (text));
    assert_int_equal (kvs_put (kvs, "", 0, "v", 1), -ENAMETOOLONG);
    assert_int_equal (kvs_put (kvs, text, KVS_KEY_MAX + 1, "v", 1), -ENAMETOOLONG);
    assert_int_equal (kvs_put (kvs, "k", 1, text, KVS_VALUE_MAX + 1), -EMSGSIZE);
    assert_int_equal (kvs_put (kvs, "a\0b", 3, "v", 1), -EINVAL);
    assert_int_equal (kvs_put (kvs, "k", 1, "a\0b", 3), -EINVAL);
    assert_null (kvs_at (kvs, 0));
    assert_int_equal (kvs_put (kvs, text, KVS_KEY_MAX, text, KVS_VALUE_MAX), 0);
    assert_int_equal (kvs_put (kvs, "k", 1, NULL, 0), 0);
    assert_string_equal (get (kvs, "k"), "");
    kvs_destroy (kvs);
}

static void the_bound_holds_to_the_byte_also_when_values_change (void **state)
{
    struct kvs *kvs = kvs_create (2 * KVS_PAIR_COST + 10);

    (void)state;
    assert_int_equal (put (kvs, "a", "1234"), 0);
    assert_int_equal (put (kvs, "b", "12345"), -ENOSPC);
    assert_null (get (kvs, "b"));
    assert_int_equal (put (kvs, "b", "1234"), 0);
    assert_int_equal (put (kvs, "a", "12345"), -ENOSPC);
    assert_string_equal (get (kvs, "a"), "1234");
    assert_int_equal (put (kvs, "a", "123"), 0);
    assert_int_equal (put (kvs, "b", "12345"), 0);
    assert_int_equal (put (kvs, "c", ""), -ENOSPC);
    kvs_destroy (kvs);
}

/* Two tables with random puts that exchange all changes are equal after each exchange. */
static void tables_that_tell_each_other_become_the_same (void **state)
{
    struct kvs *both[2] = { kvs_create (1 << 20), kvs_create (1 << 20) };
    uint32_t chance = 3;

    (void)state;
    for (int round = 0; round < 200; round++) {
        struct strbuf changes;
        strbuf_init (&changes, 1 << 20);
        for (int i = 0; i < 20; i++) {
            char key[16], value[16];
            chance = chance * 1664525 + 1013904223;
            snprintf (key, sizeof (key), "%u", (chance >> 20) % 300);
            snprintf (value, sizeof (value), "%u", chance >> 8);
            assert_int_equal (put (both[chance >> 31], key, value), 0);
        }
        for (int i = 0; i < 2; i++)
            assert_int_equal (kvs_pack (both[i], &changes), 0);
        for (int i = 0; i < 2; i++)
            assert_int_equal (kvs_merge (both[i], changes.buf, changes.len, NULL), 0);
        for (size_t i = 0; kvs_at (both[0], i) || kvs_at (both[1], i); i++) {
            const struct kvs_pair *pair = kvs_at (both[0], i);
            assert_non_null (pair);
            assert_string_equal (get (both[1], pair->key), kvs_value (pair));
        }
        strbuf_release (&changes);
    }
    for (int i = 0; i < 2; i++)
        kvs_destroy (both[i]);
}

static void changes_that_do_not_fit_stay_changes (void **state)
{
    struct kvs *kvs = kvs_create (1 << 20);
    struct strbuf small, large;

    (void)state;
    strbuf_init (&small, 15);
    strbuf_init (&large, 100);
    put (kvs, "a", "1");
    put (kvs, "b", "2");
    assert_int_equal (kvs_pack (kvs, &small), -E2BIG);
    assert_int_equal (kvs_pack (kvs, &large), 0);
    assert_int_equal (large.len, 20);
    strbuf_reset (&large);
    assert_int_equal (kvs_pack (kvs, &large), 0);
    assert_int_equal (large.len, 0);
    strbuf_release (&small);
    strbuf_release (&large);
    kvs_destroy (kvs);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (many_keys_are_found_and_only_they),
        cmocka_unit_test (what_is_no_key_or_value_is_refused),
        cmocka_unit_test (the_bound_holds_to_the_byte_also_when_values_change),
        cmocka_unit_test (tables_that_tell_each_other_become_the_same),
        cmocka_unit_test (changes_that_do_not_fit_stay_changes),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
