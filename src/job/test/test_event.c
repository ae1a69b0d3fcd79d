/* Events as lines (RFC 18). What would be wrong: a log that reads differently from what
 * was written. */
#include "common/test/unit.h"

#include <string.h>

#include "job/event.h"

#define NAME_OF_64 "0123456789012345678901234567890123456789012345678901234567890123"

static void test_round_trip (void **state)
{
    (void)state;
    static const double times[] = { 1552593348.073045, 1.5, 1760000000, 0.000001 };
    for (size_t i = 0; i < ARRAY_SIZE (times); i++) {
        struct event *e =
            event_create (times[i], "urgency", json_pack ("{s:i}", "urgency", 0));
        char *line = event_encode (e), *context = event_encode_context (e);
        struct event *again = event_decode (line, strlen (line), NULL);
        assert_non_null (again);
        assert_true (again->timestamp == e->timestamp);
        assert_string_equal (again->name, "urgency");
        assert_true (json_equal (again->context, e->context));
        assert_string_equal (context, "{\"urgency\":0}");
        event_destroy (again);
        event_destroy (e);
        free (line);
        free (context);
    }
}

static void test_text (void **state)
{
    (void)state;
    struct event *e = event_create (1552593348.073045, "free", json_object ());
    char *line = event_encode (e), *context = event_encode_context (e);
    assert_string_equal (line, "{\"timestamp\":1552593348.073045,\"name\":\"free\"}");
    assert_string_equal (context, "");
    assert_null (e->context);
    event_destroy (e);
    free (line);
    free (context);
}

static void test_refused (void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "[]",
        "{\"name\":\"x\"}",
        "{\"timestamp\":0,\"name\":\"x\"}",
        "{\"timestamp\":-1,\"name\":\"x\"}",
        "{\"timestamp\":1,\"name\":\"\"}",
        "{\"timestamp\":1,\"name\":\"x\",\"context\":[]}",
        "{\"timestamp\":1,\"name\":\"x\",\"extra\":1}",
        "{\"timestamp\":1,\"name\":\"x\"}{}",
        "{\"timestamp\":1,\"name\":\"" NAME_OF_64 "\"}",
    };
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };
        assert_null (event_decode (bad[i], strlen (bad[i]), &err));
        assert_true (err.text[0] != 0);
    }
    assert_null (event_create (1, "x", json_integer (3)));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_round_trip),
        cmocka_unit_test (test_text),
        cmocka_unit_test (test_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
