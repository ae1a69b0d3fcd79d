/* test_reservation.c - the record of a reservation, to JSON and back */
#include "broker/core/test/small.h"

#include <errno.h>
#include <string.h>

#include "broker/services/reserve/reserve.h"

#define RECORD                                                                           \
    "{\"start\":1000100.0,\"end\":1000200.0,\"made\":1000000.0,\"maintenance\":false,"   \
    "\"nodes\":\"node[0-1]\",\"users\":[{\"name\":\"ann\",\"uid\":1000},"                \
    "{\"name\":\"bob\",\"uid\":1001}],\"by\":\"root\",\"note\":\"course\"}"

static void test_name (void **unused)
{
    char name[RESERVATION_NAME_MAX + 2];
    struct error err = { 0 };

    (void)unused;
    memset (name, 'x', sizeof (name));
    name[RESERVATION_NAME_MAX] = '\0';
    assert_int_equal (reservation_check_name (name, &err), 0);
    assert_int_equal (reservation_check_name ("Course-2_b.1", &err), 0);
    name[RESERVATION_NAME_MAX] = 'x';
    name[RESERVATION_NAME_MAX + 1] = '\0';
    assert_int_equal (reservation_check_name (name, &err), -EINVAL);
    assert_int_equal (reservation_check_name ("", &err), -EINVAL);
    assert_int_equal (reservation_check_name ("a/b", &err), -EINVAL);
    assert_int_equal (reservation_check_name ("a b", &err), -EINVAL);
}

static void test_users (void **unused)
{
    struct error err = { 0 };
    struct reservation *r = reservation_create ("r", 1, 2, &err);

    (void)unused;
    assert_false (reservation_admits (r, 1000));
    assert_int_equal (reservation_add_user (r, "ann", 1000), 0);
    assert_int_equal (reservation_add_user (r, "bob", 1001), 0);
    assert_true (reservation_admits (r, 1000) && reservation_admits (r, 1001));
    assert_false (reservation_admits (r, 0));
    reservation_destroy (r);
    reservation_destroy (NULL);
}

static void test_record (void **unused)
{
    struct error err = { 0 };
    struct reservation *r = reservation_from_json ("r", RECORD, &err);

    (void)unused;
    assert_non_null (r);
    assert_string_equal (r->name, "r");
    assert_true (r->start == SMALL_START + 100 && r->end == SMALL_START + 200);
    assert_int_equal (hostlist_count (r->nodes), 2);
    assert_true (reservation_admits (r, 1001));
    json_t *o = reservation_to_json (r), *wanted = json_loads (RECORD, 0, NULL);
    json_object_set_new (wanted, "name", json_string ("r"));
    assert_true (json_equal (o, wanted));
    json_decref (o);
    json_decref (wanted);
    reservation_destroy (r);
}

static void expect_wrong (json_t *record)
{
    struct error err = { 0 };
    char *text = json_dumps (record, 0);

    assert_null (reservation_from_json ("r", text, &err));
    assert_int_equal (err.code, EINVAL);
    free (text);
    json_decref (record);
}

/* Each key except the note is required, and must have the right type. */
static void test_wrong_records (void **unused)
{
    static const char *const keys[] = { "start",       "end",   "made",
                                        "maintenance", "nodes", "users" };
    struct error err = { 0 };
    json_t *o;

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (keys); i++) {
        o = json_loads (RECORD, 0, NULL);
        json_object_del (o, keys[i]);
        expect_wrong (o);
        o = json_loads (RECORD, 0, NULL);
        json_object_set_new (o, keys[i], json_object ());
        expect_wrong (o);
    }
    o = json_loads (RECORD, 0, NULL);
    json_object_set_new (o, "nodes", json_string ("node["));
    expect_wrong (o);
    o = json_loads (RECORD, 0, NULL);
    json_object_set_new (o, "users", json_pack ("[{s:s}]", "name", "ann"));
    expect_wrong (o);
    assert_null (reservation_from_json ("r", "no JSON", &err));
}

/* The record is complete, or there is none. */
static void scenario (struct small *s)
{
    struct error err = { 0 };
    struct reservation *r = reservation_from_json ("r", RECORD, &err);

    (void)s;
    if (!r) {
        assert_int_equal (err.code, ENOMEM);
        return;
    }
    assert_true (r->nusers == 2 && r->by && r->note);
    json_t *o = reservation_to_json (r);
    if (o)
        assert_int_equal (json_array_size (json_object_get (o, "users")), 2);
    json_decref (o);
    reservation_destroy (r);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (0, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_name),      cmocka_unit_test (test_users),
        cmocka_unit_test (test_record),    cmocka_unit_test (test_wrong_records),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
