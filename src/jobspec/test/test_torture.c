/* test_torture.c - each allocation fails in turn: nothing leaks (a run with sanitizers
 * detects this), nothing is left out silently, and the error names the cause.
 *
 * Linked with --wrap, so that the allocations of src/ go through this file; jansson's
 * allocations go through its own hook.
 */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/test/torture.h"
#include "jobspec/jobspec.h"
#include "jobspec/parse/request.h"
#include "jobspec/script/script.h"

/* From script and options to a jobspec. */
static json_t *submit (const char *script, struct error *err)
{
    char *const env[] = { "A=1", "B=2", NULL };
    char *const args[] = { "x", NULL };
    struct submit_program prog = { .script = script,
                                   .script_len = strlen (script),
                                   .args = args };
    static const char *const options[][2] = { { "export", "ALL,C='d,e',A" },
                                              { "mem", "5" },
                                              { "image", "busybox" } };
    struct submit_options so;
    json_t *root = NULL;
    int rc;

    submit_options_init (&so);
    rc = script_read_all (script, strlen (script), "job.sh", &so, NULL, NULL, NULL, err);
    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE (options); i++)
        rc = submit_options_set (&so, SUBMIT_FROM_COMMAND, options[i][0], options[i][1],
                                 NULL, err);
    if (rc == 0)
        root = submit_options_jobspec (&so, &prog, "/home/ann", env, err);
    submit_options_release (&so);
    return root;
}

/* True if there is an error, and it is about memory. */
static void check_error (const struct error *err, long n)
{
    if (err->code != ENOMEM && !strstr (err->text, "memory"))
        fail_msg ("allocation %ld: %d '%s'", n, err->code, err->text);
}

static void torture_submit (const char *script)
{
    struct error err = { 0 };
    json_t *want = submit (script, &err);

    assert_non_null (want);
    for (long n = 0;; n++) {
        json_t *root;

        memset (&err, 0, sizeof (err));
        torture_has_failed = false;
        torture_countdown = n;
        root = submit (script, &err);
        torture_countdown = -1;
        if (root)
            assert_true (json_equal (root, want));
        else
            check_error (&err, n);
        json_decref (root);
        if (!torture_has_failed)
            break;
    }
    json_decref (want);
}

static void test_submit (void **state)
{
    (void)state;
    torture_submit (
        "#!/bin/sh\n# flux: -N2 -n4 -g1 --output={{id}}.o --error=e -q b -t 1h\n"
        "# flux: --job-name='''\n# flux: two'''\n");
    torture_submit (
        "#!/bin/sh\n#SBATCH -N2-4 -J 'a b' -e x --exclusive -D /tmp\n: \xff\n");
    torture_submit ("#!/bin/sh\n#FLUXQ -n4 -G4 -J 'a b' -o x --hold\n");
    torture_submit ("#!/bin/sh\n#SBATCH -d afterok:1:2,after:3+4,singleton\n"
                    "#SBATCH -b uts1800000000 --deadline=uts1900000000\n"
                    "#SBATCH --kill-on-invalid-dep=no\n");
    torture_submit ("#!/bin/sh\n#SBATCH -d afterok:1?afterany:2\n");
    torture_submit ("#!/bin/sh\n# flux: --dependency=afterok:1 --dependency=after:2\n");
}

static void torture_parse (const char *script)
{
    struct error err = { 0 };
    json_t *root = submit (script, &err);
    json_t *env = json_object_get (
        json_object_get (json_object_get (root, "attributes"), "system"), "environment");
    size_t n_env = json_object_size (env);

    json_object_set_new (env, "UNSET", json_null ());
    for (long n = 0;; n++) {
        struct jobspec *js;

        memset (&err, 0, sizeof (err));
        torture_has_failed = false;
        torture_countdown = n;
        js = jobspec_from_json (root, &err);
        torture_countdown = -1;
        if (js)
            assert_int_equal (json_object_size (js->environment), n_env);
        else
            check_error (&err, n);
        jobspec_destroy (js);
        if (!torture_has_failed)
            break;
    }
    json_decref (root);
}

static void test_parse (void **state)
{
    static const char *const scripts[] = {
        "#!/bin/sh\n#SBATCH -N2-4 -J a -o b -e c -t 5 -p d -d afterok:1,after:2+3\n",
        "#!/bin/sh\n#SBATCH -d afterok:1?afterok:2\n",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (scripts); i++)
        torture_parse (scripts[i]);
}

/* libyaml's own allocations do not go through this file. */
static void test_request (void **state)
{
    static const char text[] =
        "version: 1\nresources: [{type: slot, label: 7, count: '1,3,9', with: [{type: "
        "core,"
        " count: 2+, unit: x, requires: {ranks: ['0']}}]}]\ntasks: []\nattributes: "
        "{system: {duration: 1m}}\n";

    (void)state;
    for (long n = 0;; n++) {
        struct error err = { 0 };
        struct jobspec_request *q = NULL;
        int rc;

        torture_has_failed = false;
        torture_countdown = n;
        rc = jobspec_resources_parse (text, strlen (text), "x", &q, &err);
        torture_countdown = -1;
        if (rc == 0)
            assert_int_equal (idset_count (q->resources[0].sizes), 3);
        else
            assert_int_equal (rc, -err.code);
        jobspec_request_destroy (q);
        if (!torture_has_failed)
            break;
        assert_true (rc < 0);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_submit),
        cmocka_unit_test (test_parse),
        cmocka_unit_test (test_request),
    };

    json_set_alloc_funcs (__wrap_malloc, free);
    return cmocka_run_group_tests (tests, NULL, NULL);
}
