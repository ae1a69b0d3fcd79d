/* test_gpubind.c - the option --gpu-bind, and the GPUs of each task */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/test/torture.h"
#include "protocol/gpubind.h"

static void check (const char *text, const char *gpus, uint32_t local, const char *want,
                   bool want_missed)
{
    autoidset struct idset *set = idset_decode (gpus, SIZE_MAX, NULL);
    struct error err = { 0 };
    struct gpubind bind;
    bool missed;

    if (gpubind_parse (text, &bind, &err) != 0)
        fail_msg ("%s: %s", text, err.text);
    autoidset struct idset *own = gpubind_choose (&bind, set, local, &missed);
    assert_non_null (own);
    autofree char *got = idset_encode (own);
    if (strcmp (got, want) != 0)
        fail_msg ("%s: task %u of GPUs %s gets %s, not %s", text, local, gpus, got, want);
    if (missed != want_missed)
        fail_msg ("%s: task %u of GPUs %s: missed %d", text, local, gpus, missed);
}

static void test_choose (void **state)
{
    (void)state;
    check ("none", "1,3-4", 1, "1,3-4", false);
    check ("closest", "1,3-4", 1, "1,3-4", false);
    check ("single:1", "1,3-4", 1, "3", false);
    check ("single:2", "1,3-4", 3, "3", false);
    check ("single:2", "1,3-4", 6, "1", false); /* begins again */
    check ("per_task:2", "1,3-4,7", 1, "4,7", false);
    check ("per_task:2", "1,3-4", 1, "4", false);
    check ("per_task:2", "1,3-4", 2, "1", true);
    check ("map_gpu:2,0", "1,3-4", 0, "4", false);
    check ("map:2,0", "1,3-4", 1, "1", false);
    check ("map:2,0", "1,3-4", 2, "4", false); /* begins again */
    check ("map:0*2,1*3", "1,3-4", 4, "3", false);
    check ("map:0*2,1*3", "1,3-4", 5, "1", false);
    check ("map:3", "1,3-4", 0, "1", true);
    check ("mask_gpu:0x5,2", "1,3-4", 0, "1,4", false);
    check ("mask:0x5,2", "1,3-4", 1, "3", false);
    check ("mask:A", "0-3", 0, "1,3", false);
    check ("mask:10", "0-3", 0, "0", true);
    check ("MASK:0XF0*4,0", "0-7", 3, "4-7", false);
    check ("single:1", "", 3, "", false);
    check ("map:0", "", 3, "", false);
}

static void test_verbose (void **state)
{
    (void)state;
    struct gpubind bind;

    assert_int_equal (gpubind_parse ("Verbose,Single:3", &bind, NULL), 0);
    assert_true (bind.verbose);
    assert_int_equal (bind.kind, GPUBIND_SINGLE);
    assert_int_equal (bind.n, 3);
    assert_int_equal (gpubind_parse ("none", &bind, NULL), 0);
    assert_false (bind.verbose);
}

static void test_refused (void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",         "verbose",   "verbose,",    "x",          "closest:1", "single",
        "single:",  "single:0",  "single:-1",   "per_task:x", "map:",      "map:,",
        "map:1,",   "map:,1",    "map:a",       "map:0x1",    "map:1*",    "map:1*0",
        "map:1*-1", "map:1*2*3", "map:-1",      "map:1 ",     "mask:",     "mask:0x",
        "mask:g",   "mask:1*0",  "map:1024",    "map:1*1000001",
        "map:0*999999,0*2",      "map:99999999999999999999",
    };
    struct gpubind bind;

    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        struct error err = { 0 };
        if (gpubind_parse (texts[i], &bind, &err) >= 0)
            fail_msg ("'%s' is accepted", texts[i]);
        assert_non_null (strstr (err.text, "--gpu-bind"));
    }
    char mask[400] = "mask:";
    memset (mask + 5, 'f', 257);
    assert_int_equal (gpubind_parse (mask, &bind, NULL), -ERANGE);
    mask[5 + 256] = '\0';
    assert_int_equal (gpubind_parse (mask, &bind, NULL), 0);
}

static void test_tres (void **state)
{
    (void)state;
    struct error err = { 0 };

    assert_string_equal (gpubind_of_tres ("gres/gpu:verbose,map:1", &err),
                         "verbose,map:1");
    assert_null (gpubind_of_tres ("gres/nic:closest", &err));
    assert_non_null (strstr (err.text, "only GPUs are bound"));
    assert_null (gpubind_of_tres ("gres/gpu:none+gres/nic:closest", &err));
    assert_null (gpubind_of_tres ("gpu:none", &err));
}

static void test_no_memory (void **state)
{
    (void)state;
    static const char *const texts[] = { "none", "single:1", "per_task:2", "mask:3" };
    autoidset struct idset *gpus = idset_decode ("0-3", 64, NULL);
    struct gpubind bind;

    for (size_t i = 0; i < ARRAY_SIZE (texts); i++) {
        assert_int_equal (gpubind_parse (texts[i], &bind, NULL), 0);
        TORTURE (n) {
            struct idset *own = gpubind_choose (&bind, gpus, 0, NULL);
            torture_stop ();
            assert_int_equal (own == NULL, torture_failed ());
            idset_destroy (own);
        }
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_choose),  cmocka_unit_test (test_verbose),
        cmocka_unit_test (test_refused), cmocka_unit_test (test_tres),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
