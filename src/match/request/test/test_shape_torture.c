/* test_shape_torture.c - each allocation of compiling a shape fails in turn: the error
 * reports missing memory, nothing leaks (ASan), and a shape that is still returned is
 * complete.
 *
 * Linked with --wrap for malloc and related functions; jansson's allocations go through
 * its own hook.
 */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/test/torture.h"
#include "jobspec/parse/request.h"
#include "match/request/shape.h"

static const char text[] =
    "version: 1\n"
    "resources:\n"
    "- {type: xor_slot, label: a, count: '1,3,9', with: [{type: core, count: 1, unit: "
    "x,\n"
    "   requires: {properties: [a, b, c, d, e], hostlist: ['n[0-9]'],\n"
    "              ranks: ['1', '5', '7-8']}}]}\n"
    "- {type: xor_slot, label: b, count: 1, with: [{type: gpu, count: 2}]}\n"
    "- {type: ssd, count: 7}\n"
    "tasks: []\n"
    "attributes: {system: {constraints: {and: [{ranks: ['0-4']},\n"
    "                                          {not: [{hostlist: [a, b]}]}]}}}\n";

static void test_compile (void **state)
{
    autorequest struct jobspec_request *q = NULL;
    struct error err = { 0 };
    uint64_t key = 0;
    long n = 0;

    (void)state;
    assert_int_equal (jobspec_resources_parse (text, sizeof (text) - 1, "x", &q, &err),
                      0);
    do {
        err = (struct error){ 0 };
        torture_has_failed = false;
        torture_countdown = n++;
        struct shape *s =
            shape_compile (q->resources, q->nresources, q->constraints, 0, &err);
        torture_countdown = -1;
        if (!s) {
            assert_int_equal (err.code, ENOMEM);
            continue;
        }
        assert_true (key == 0 || key == s->key);
        key = s->key;
        assert_non_null (s->other);
        shape_destroy (s);
    } while (torture_has_failed);
    assert_true (n > 50);
}

static void test_describe (void **state)
{
    autorequest struct jobspec_request *q = NULL;
    struct error err = { 0 };
    struct strbuf sb;

    (void)state;
    assert_int_equal (jobspec_resources_parse (text, sizeof (text) - 1, "x", &q, &err),
                      0);
    struct shape *s = shape_compile (q->resources, q->nresources, NULL, 0, &err);
    assert_non_null (s);
    strbuf_init (&sb, 4096);
    torture_countdown = 0;
    int rc = shape_describe (s, &sb);
    torture_countdown = -1;
    assert_int_equal (rc, -ENOMEM);
    strbuf_release (&sb);
    shape_destroy (s);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_compile),
        cmocka_unit_test (test_describe),
    };

    json_set_alloc_funcs (__wrap_malloc, free);
    return cmocka_run_group_tests (tests, NULL, NULL);
}
