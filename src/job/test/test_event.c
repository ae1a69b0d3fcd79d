/* Events (RFC 18). Fails if a log reads back differently from what was written. */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "job/event.h"

#define NAME_OF_64 "0123456789012345678901234567890123456789012345678901234567890123"

static void test_timestamps (void **state)
{
    (void)state;
    static const double times[] = { 1552593348.073045, 1.5, 1760000000, 0.000001 };
    for (size_t i = 0; i < ARRAY_SIZE (times); i++) {
        struct event *e = event_create (times[i] + 1e-7, "urgency", NULL);
        assert_true (e->timestamp == times[i]);
        assert_string_equal (e->name, "urgency");
        event_destroy (e);
    }
}

static void test_context (void **state)
{
    (void)state;
    struct event *e = event_create (1, "urgency", json_pack ("{s:i}", "urgency", 0));
    char *context = event_encode_context (e);
    assert_string_equal (context, "{\"urgency\":0}");
    event_destroy (e);
    free (context);
    e = event_create (1, "free", json_object ());
    context = event_encode_context (e);
    assert_string_equal (context, "");
    assert_null (e->context);
    event_destroy (e);
    free (context);
}

static void test_refused (void **state)
{
    (void)state;
    assert_null (event_create (0, "x", NULL));
    assert_null (event_create (-1, "x", NULL));
    assert_null (event_create (1, "", NULL));
    assert_null (event_create (1, NAME_OF_64, NULL));
    assert_null (event_create (1, "x", json_array ()));
    assert_int_equal (errno, EINVAL); /* not ENOMEM, which stops the broker */
    assert_null (event_create (1, "x", json_integer (3)));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_timestamps),
        cmocka_unit_test (test_context),
        cmocka_unit_test (test_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
