/* test_details.c - values packed into one text, and read again */
#include "common/test/unit.h"

#include <stdlib.h>
#include <string.h>

#include "job/details.h"

static void values_survive_packing (void **state)
{
    (void)state;
    autojson json_t *o =
        json_pack ("{s:s s:s s:s}", "cwd", "/home/ann", "empty", "", "gpus", "2");
    char *packed = NULL;

    assert_int_equal (details_pack (o, &packed), 0);
    assert_string_equal (details_get (packed, "cwd"), "/home/ann");
    assert_string_equal (details_get (packed, "empty"), "");
    assert_string_equal (details_get (packed, "gpus"), "2");
    assert_null (details_get (packed, "gpu"));
    assert_null (details_get (packed, "2")); /* a value is no key */
    autojson json_t *again = details_to_json (packed);
    assert_true (json_equal (o, again));
    free (packed);
}

static void other_values_are_left_out (void **state)
{
    (void)state;
    autojson json_t *o = json_pack ("{s:i s:b s:s}", "n", 7, "", 1, "", "x");
    char *packed = NULL;

    assert_int_equal (details_pack (o, &packed), 0);
    assert_null (packed);
    assert_null (details_get (packed, "n"));
    assert_null (details_to_json (packed));
    assert_int_equal (details_pack (NULL, &packed), 0);
    assert_null (packed);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (values_survive_packing),
        cmocka_unit_test (other_values_are_left_out),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
