/* A job's settings for its pods: from options, and in the jobspec. */
#include "jobspec/attributes/podwish.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_options (void **state)
{
    struct error err = { 0 };
    autojson json_t *w = NULL;

    (void)state;
    assert_int_equal (podwish_set (&w, "runtime-class", "gvisor", "x", &err), 0);
    assert_int_equal (podwish_set (&w, "runtime-class", "kata", "x", &err), 0);
    assert_int_equal (podwish_set (&w, "executor", "minicluster", "x", &err), 0);
    assert_int_equal (podwish_set (&w, "shm-size", "2G", "x", &err), 0);
    assert_int_equal (podwish_set (&w, "volume", "scratch:/scratch", "x", &err), 0);
    assert_int_equal (podwish_set (&w, "volume", "data:/in:put", "x", &err), 0);
    assert_int_equal (podwish_set (&w, "host-network", NULL, "x", &err), 0);
    autojson json_t *expected =
        json_pack ("{s:s s:s s:I s:[{s:s s:s} {s:s s:s}] s:b}", "executor", "minicluster",
                   "runtime-class", "kata", "shm-size", (json_int_t)2 << 30, "volumes",
                   "name", "scratch", "path", "/scratch", "name", "data", "path",
                   "/in:put", "host-network", 1);
    assert_true (json_equal (w, expected));
    assert_int_equal (podwish_check (w, "pods", &err), 0);
}

static void test_options_refused (void **state)
{
    static const struct {
        const char *option, *value, *word;
    } cases[] = {
        { "executor", "flux", "job (an Indexed Job" },
        { "executor", "", "minicluster" },
        { "runtime-class", "", "name of an object" },
        { "priority-class", "a b", "name of an object" },
        { "service-account", "A", "name of an object" },
        { "volume", "scratch", "NAME:PATH" },
        { "volume", "scratch:tmp", "NAME:PATH" },
        { "volume", ":/tmp", "NAME:PATH" },
        { "volume", "../x:/tmp", "NAME:PATH" },
        { "volume", "x:/a\nb", "NAME:PATH" },
        { "shm-size", "0", "1 MiB" },
        { "shm-size", "much", "--opt" },
        { "shm-size", "1099511627776", "1 PiB" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        autojson json_t *w = NULL;

        assert_true (podwish_set (&w, cases[i].option, cases[i].value, "--opt", &err)
                     < 0);
        assert_non_null (strstr (err.text, cases[i].word));
        assert_non_null (strstr (err.text, "--opt"));
    }
}

static void test_many_volumes (void **state)
{
    struct error err = { 0 };
    autojson json_t *w = NULL;

    (void)state;
    for (int i = 0; i < PODWISH_VOLUMES_MAX; i++)
        assert_int_equal (podwish_set (&w, "volume", "a:/b", "x", &err), 0);
    assert_true (podwish_set (&w, "volume", "a:/b", "x", &err) < 0);
}

/* A jobspec may come from any program. */
static void test_jobspec_refused (void **state)
{
    static const char *const cases[] = {
        "{\"image\":\"x\"}",
        "{\"executor\":\"kube\"}",
        "{\"executor\":true}",
        "{\"runtime-class\":1}",
        "{\"runtime-class\":\"a/b\"}",
        "{\"service-account\":\"\"}",
        "{\"shm-size\":\"2Gi\"}",
        "{\"shm-size\":1}",
        "{\"host-network\":false}",
        "{\"host-network\":1}",
        "{\"volumes\":{}}",
        "{\"volumes\":[1]}",
        "{\"volumes\":[{\"name\":\"a\"}]}",
        "{\"volumes\":[{\"name\":\"a\",\"path\":\"b\"}]}",
        "{\"volumes\":[{\"name\":\"a\",\"path\":\"/b\",\"hostPath\":\"/\"}]}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        autojson json_t *w = json_loads (cases[i], 0, NULL);

        assert_non_null (w);
        assert_int_equal (podwish_check (w, "pods", &err), -EINVAL);
        assert_non_null (strstr (err.text, "pods"));
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_options),
        cmocka_unit_test (test_options_refused),
        cmocka_unit_test (test_many_volumes),
        cmocka_unit_test (test_jobspec_refused),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
