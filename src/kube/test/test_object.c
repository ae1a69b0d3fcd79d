/* Unused members are not parsed; all others stay unchanged, also similar ones. */
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/json.h"

static void strips_to (const char *text, const char *expected)
{
    char buf[1024];
    size_t len = kube_object_strip (text, strlen (text), buf);

    assert_in_range (len, 0, strlen (text));
    buf[len] = '\0';
    assert_string_equal (buf, expected);
}

static void test_strip (void **state)
{
    (void)state;
    strips_to ("", "");
    strips_to ("{\"a\":1}", "{\"a\":1}");
    strips_to ("{\"managedFields\":[]}", "{\"managedFields\":[]}");
    strips_to (
        "{\"metadata\":{\"name\":\"x\",\"managedFields\":[{\"f:a\":{\"k:[1]\":[2]}},"
        "[\"]\",\"\\\"]\"]],\"uid\":\"u\"},\"spec\":[1]}",
        "{\"metadata\":{\"name\":\"x\",\"managedFields\":[],\"uid\":\"u\"},"
        "\"spec\":[1]}");
    strips_to ("[{\"managedFields\":[1]},{\"managedFields\":[2,[3]]}]",
               "[{\"managedFields\":[]},{\"managedFields\":[]}]");
}

static void test_look_alikes (void **state)
{
    static const char *const as_they_are[] = {
        /* in a string */
        "{\"a\":\"\\\"managedFields\\\":[1]\"}",
        "{\"a\":\"{\\\"managedFields\\\":[1]\"}",
        "[\"managedFields\",[1]]",
        "{\"managedFields\":1}",
        "{\"managedFields\": [1]}",
        "{\"xmanagedFields\":[1]}",
        /* not JSON */
        "\"managedFields\":[1]",
        "{\"managedFields\":[1",
        "{\"managedFields\":[\"]",
        "{\"managedFields\":[\"\\",
        "{\"managedFields\":[",
    };

    (void)state;
    for (size_t i = 0; i < sizeof (as_they_are) / sizeof (as_they_are[0]); i++)
        strips_to (as_they_are[i], as_they_are[i]);
}

static void test_parse (void **state)
{
    static const char text[] =
        "{\"metadata\":{\"managedFields\":[{\"a\":1}],\"name\":\"n\"}}";
    struct error err = { 0 };
    autojson json_t *o = kube_object_parse (text, strlen (text), "answer", &err);
    json_t *meta = json_object_get (o, "metadata");

    (void)state;
    assert_int_equal (json_array_size (json_object_get (meta, "managedFields")), 0);
    assert_string_equal (json_string_value (json_object_get (meta, "name")), "n");
    assert_null (kube_object_parse (text, strlen (text) - 1, "answer", &err));
    assert_non_null (strstr (err.text, "answer"));
}

static void test_label (void **state)
{
    static const char text[] = "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}";
    json_t *o = kube_object_parse (text, sizeof (text) - 1, "o", NULL);

    (void)state;
    assert_string_equal (kube_label (o, "a"), "b");
    assert_string_equal (kube_label (o, "b"), "");
    assert_string_equal (kube_label (json_object_get (o, "metadata"), "a"), "");
    json_decref (o);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_label),
        cmocka_unit_test (test_strip),
        cmocka_unit_test (test_look_alikes),
        cmocka_unit_test (test_parse),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
