/* Fails if a type of a GPU is not found by its words, or if other text is taken for one. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/gputype.h"
#include "common/macros.h"

static void expect_type (const char *text, const char *type)
{
    char ret[GPU_TYPE_MAX + 1];

    assert_int_equal (gpu_type_read (text, ret), 0);
    assert_string_equal (ret, type);
}

static void test_form (void **state)
{
    char text[GPU_TYPE_MAX + 2], ret[GPU_TYPE_MAX + 1];

    (void)state;
    expect_type ("a100", "a100");
    expect_type ("NVIDIA-A100-SXM4-80GB", "nvidia-a100-sxm4-80gb");
    expect_type ("Tesla_T4", "tesla-t4");
    expect_type (" AMD Instinct (MI300X) ", "amd-instinct-mi300x");
    assert_int_equal (gpu_type_read ("", ret), -EINVAL);
    assert_int_equal (gpu_type_read ("--_ ", ret), -EINVAL);
    memset (text, 'x', sizeof (text) - 1);
    text[GPU_TYPE_MAX] = '\0';
    assert_int_equal (gpu_type_read (text, ret), 0);
    text[GPU_TYPE_MAX] = 'x';
    text[GPU_TYPE_MAX + 1] = '\0';
    assert_int_equal (gpu_type_read (text, ret), -EINVAL);
}

static bool has (char **names, const char *name)
{
    for (; *names; names++)
        if (!strcmp (*names, name))
            return true;
    return false;
}

static void test_names (void **state)
{
    static const char *const wanted[] = { "gpu:nvidia-a100-sxm4-80gb",
                                          "gpu:nvidia",
                                          "gpu:a100",
                                          "gpu:a100-sxm4",
                                          "gpu:80gb",
                                          "gpu:sxm4-80gb" };
    char **names = gpu_type_names ("nvidia-a100-sxm4-80gb");
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (wanted); i++)
        assert_true (has (names, wanted[i]));
    assert_false (has (names, "gpu:a10"));
    assert_false (has (names, "gpu:nvidia-sxm4"));
    while (names[n])
        n++;
    assert_int_equal (n, 10);
    free (names);

    names = gpu_type_names ("a-b-c-d-e-f-g-h");
    for (n = 0; names[n];)
        n++;
    assert_int_equal (n, GPU_TYPE_NAMES_MAX + 1);
    assert_true (has (names, "gpu:a-b-c-d-e-f-g-h"));
    assert_false (has (names, "gpu:g"));
    free (names);

    names = gpu_type_names ("x");
    assert_string_equal (names[0], "gpu:x");
    assert_null (names[1]);
    free (names);
}

static void test_has_name (void **state)
{
    (void)state;
    assert_true (gpu_type_has_name ("nvidia-a100-sxm4-80gb", "a100"));
    assert_true (gpu_type_has_name ("nvidia-a100-sxm4-80gb", "nvidia-a100"));
    assert_true (gpu_type_has_name ("nvidia-a100-sxm4-80gb", "nvidia-a100-sxm4-80gb"));
    assert_false (gpu_type_has_name ("nvidia-a100-sxm4-80gb", "a10"));
    assert_false (gpu_type_has_name ("nvidia-a100-sxm4-80gb", "h100"));
    assert_false (gpu_type_has_name ("nvidia-a100-sxm4-80gb", ""));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_form),
        cmocka_unit_test (test_names),
        cmocka_unit_test (test_has_name),
    };
    return cmocka_run_group_tests_name ("gputype", tests, NULL, NULL);
}
