/* test_submit_options.c - options to jobspec, from the command line, the script and the
 * environment; errors name the option. Shapes: test_submit_shape.c */
#include "jobspec/options/test/submit_line.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "jobspec/options/environment.h"

/* -- refusals -- */

static const struct {
    const char *options, *place, *thing;
} bad[] = {
    { "-N0", "--nodes", "0" },
    { "-N-1", "--nodes", "-1" },
    { "-N4-2", "--nodes", "4-2" },
    { "-N9223372036854775808", "--nodes", "9223372036854775808" },
    { "-Nx", "--nodes", "'x'" },
    { "-N4-", "--nodes", "at its end" },
    { "-N4-16:0", "--nodes", "'0'" },
    { "-N4-16:2:/", "--nodes", "'/' is not one of + * ^" },
    { "-N4-16:1:*", "--nodes", "2 or more" },
    { "-N1-16:2:^", "--nodes", "min must be 2 or more" },
    { "-N4-15:4", "--nodes", "the last size is 12; use 4-12:4" },
    { "-N4-7:2:*", "--nodes", "4 is the only size" },
    { "-N2-255:2:^", "--nodes", "use 2-16:2:^" },
    { "-N4,2", "--nodes", "rising numbers" },
    { "-N0,2", "--nodes", "0 in it" },
    { "-n64-8", "--ntasks", "max 8 is less than min 64" },
    { "-n8-63:8", "--ntasks", "use 8-56:8" },
    { "-n0", "--ntasks", "0" },
    { "-n2147483648", "--ntasks", "2147483648" },
    { "-n", "--ntasks", "needs a value" },
    { "--ntasks-per-node=0", "--ntasks-per-node", "0" },
    { "-c0", "--cpus-per-task", "0" },
    { "-c0m", "--cpus-per-task", "more than 0" },
    { "-c0.0005", "--cpus-per-task", "finer than a thousandth" },
    { "-c1.5k", "--cpus-per-task", "such as 2, 0.5 or 500m" },
    { "--gres=cpu_milli:2", "--gres", "'cpu_milli'" },
    { "--mem-per-cpu=0", "--mem-per-cpu", "0 is no size" },
    { "--mem=lots", "--mem", "lots" },
    { "--mem=100000000T", "--mem", "100000000T" },
    { "-G0", "--gpus", "0" },
    { "-Ga100:2,h100:1", "--gpus", "one type" },
    { "--gres=node:2", "--gres", "'node'" },
    { "--gres=lic:0", "--gres", "must be from 1" },
    { "--gpus-per-node=0", "--gpus-per-node", "0" },
    { "-t1:99", "--time", "1:99" },
    { "-tsoon", "--time", "soon" },
    { "-t1-30", "--time", "1-30" },
    { "-t-5", "--time", "-5" },
    { "-t99999-00", "--time", "10 years" },
    { "-d37", "--dependency", "afterok:37" },
    { "-dafterok:1,after:2?after:3", "--dependency", "mixes" },
    { "-bsoon", "--begin", "'soon'" },
    { "--deadline=1-30", "--deadline", "'1-30'" },
    { "--deadline=-5", "--deadline", "'-5'" },
    { "--kill-invalid-depend=maybe", "--kill-invalid-depend", "'maybe'" },
    { "-qa,b", "--queue", "one queue" },
    { "-q../x", "--queue", "'../x'" },
    { "-o%q", "--output", "%q" },
    { "-e%", "--error", "%" },
    { "--export=A,=x", "--export", "''" },
    { "--export=NONE,A", "--export", "NONE" },
    { "--export=A,NIL", "--export", "NIL must stand alone" },
    { "--export-file=/nonexistent/x", "--export-file", "/nonexistent/x" },
    { "--signal=B:NOSUCH", "--signal", "NOSUCH" },
    { "--signal=R:USR1", "--signal", "reservation" },
    { "--propagate=FILES", "--propagate", "FILES" },
    { "--nice=much", "--nice", "much" },
    { "--priority=top1", "--priority", "top1" },
    { "--priority=4294967294", "--priority", "4294967294" },
    { "--priority=-1", "--priority", "-1" },
    { "--nice=2147483646", "--nice", "2147483646" },
    { "--get-user-env=soon", "--get-user-env", "soon" },
    { "--export=A='x", "--export", "not closed" },
    { "--image=a'b", "--image", "a'b" },
    { "--hold=maybe", "--hold", "'maybe'" },
    { "--frobnicate=1", "--frobnicate", "unknown option" },
    /* counts that contradict each other: the error names both, and a correct request */
    { "-N4 -n2", "2 tasks", "4 nodes" },
    { "-N2 -n9 --ntasks-per-node=4", "9 tasks", "room for 8" },
    { "-N2-4 -n3", "3 tasks", "4 nodes" },
    { "-N2-4 -n16 --ntasks-per-node=4", "16 tasks", "room for 8" },
    { "-N4-16 -n64-128", "16 tasks on each of 4 nodes", "--ntasks-per-node" },
    { "-N3-4 -n8-64", "8 tasks on 3 nodes", "say -n 9-64" },
    { "-N2-4 -n8-64:8", "-n 8-64:8", "--ntasks-per-node" },
    { "-N3 -n8-64", "3 nodes", "say -n 9-63" },
    { "-N3 -n3-9:2", "-n 3-9:2", "multiples of 3" },
    { "-N4 -n8-64 --ntasks-per-node=8", "64 tasks", "room for 32" },
    { "-n8-64 --ntasks-per-node=7", "-n 8-64", "multiples of 7" },
    { "-n2-4 -G4", "-G 4", "--gpus-per-task" },
    { "-n2-4 --exclusive", "--exclusive", "-n 2-4" },
    { "-N2-4 -G4", "-G", "--gpus-per-task" },
    { "-n3 -G4", "4 GPUs", "3 tasks" },
    { "-N2 -n4 -G3", "3 GPUs", "2 nodes" },
    { "-N2 -n3 -G3", "3 GPUs", "3 tasks" },
    { "-G2 --gpus-per-task=1", "--gpus ", "--gpus-per-task" },
    { "-n4 --exclusive", "--exclusive", "-N" },
    { "-n4 --gres=lic", "--gres needs", "-N" },
    { "-n4 --gpus-per-node=1", "--gpus-per-node needs", "-N" },
    { "-G1 --gres=gpu", "--gpus ", "--gres=gpu" },
    { "-Ga:1 --gres=gpu:b", "--gpus ", "--gres=gpu" },
    { "--gres=gpu:a,gpu:b", "--gres", "one type" },
    { "-Ga100:x", "--gpus", "x" },
    { "--gpus-per-node=1 --gres=gpu", "--gpus-per-node ", "--gres=gpu" },
};

static void test_refusals (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };

        if (make (bad[i].options, &err))
            fail_msg ("accepted: %s", bad[i].options);
        if (!strstr (err.text, bad[i].place) || !strstr (err.text, bad[i].thing))
            fail_msg ("%s: '%s' does not name both '%s' and '%s'", bad[i].options, err.text,
                      bad[i].place, bad[i].thing);
    }
}

/* -- precedence -- */

static void test_precedence (void **state)
{
    static const enum submit_source orders[][3] = {
        { SUBMIT_FROM_SCRIPT, SUBMIT_FROM_ENVIRONMENT, SUBMIT_FROM_COMMAND },
        { SUBMIT_FROM_COMMAND, SUBMIT_FROM_ENVIRONMENT, SUBMIT_FROM_SCRIPT },
        { SUBMIT_FROM_ENVIRONMENT, SUBMIT_FROM_COMMAND, SUBMIT_FROM_SCRIPT },
    };
    static const char *const value[] = { "1", "2", "3" };
    struct submit_options so;
    struct error err = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (orders); i++) {
        submit_options_init (&so);
        for (size_t k = 0; k < 3; k++) {
            const char *v = value[orders[i][k]];

            assert_int_equal (
                submit_options_set (&so, orders[i][k], "nodes", v, NULL, &err), 0);
            assert_int_equal (
                submit_options_set (&so, orders[i][k], "job-name", v, NULL, &err), 0);
            assert_int_equal (
                submit_options_set (&so, orders[i][k], "time", v, NULL, &err), 0);
        }
        assert_int_equal (so.nodes.count.min, 3);
        assert_string_equal (so.js.name, "3");
        assert_true (so.time_limit == 180.);
        /* a value without precedence is also checked; a flag can be reset */
        assert_int_equal (submit_options_set (&so, SUBMIT_FROM_SCRIPT, "nodes", "x",
                                              "job.sh:3: -N", &err),
                          -EINVAL);
        assert_int_equal (strncmp (err.text, "job.sh:3: -N: 'x'", 17), 0);
        submit_options_release (&so);
    }
    submit_options_init (&so);
    submit_options_set (&so, SUBMIT_FROM_SCRIPT, "hold", NULL, NULL, &err);
    assert_true (so.hold);
    submit_options_set (&so, SUBMIT_FROM_ENVIRONMENT, "hold", "0", NULL, &err);
    assert_false (so.hold);
    /* -p is -q */
    submit_options_set (&so, SUBMIT_FROM_SCRIPT, "partition", "a", NULL, &err);
    submit_options_set (&so, SUBMIT_FROM_SCRIPT, "queue", "b", NULL, &err);
    assert_string_equal (so.js.queue, "b");
    submit_options_release (&so);
}

/* --gpus of the command line and --gpus-per-task of the script: no contradiction */
static void test_gpus_by_source (void **state)
{
    struct submit_options so;
    struct error err = { 0 };
    struct jobspec *js;
    json_t *root;

    (void)state;
    submit_options_init (&so);
    submit_options_set (&so, SUBMIT_FROM_SCRIPT, "gpus-per-task", "1", NULL, &err);
    submit_options_set (&so, SUBMIT_FROM_COMMAND, "gpus", "4", NULL, &err);
    submit_options_set (&so, SUBMIT_FROM_COMMAND, "ntasks", "2", NULL, &err);
    root = submit_options_jobspec (&so, &echo_program, "/", no_environment, &err);
    assert_non_null (root);
    js = parse (root);
    assert_int_equal (js->resources[0].with[1].count.min, 2);
    jobspec_destroy (js);
    json_decref (root);
    submit_options_release (&so);
}

static void test_from_environ (void **state)
{
    char *const list[] = { "HOME=/home/ann",
                           "FLUXQ_NODES=2",
                           "FLUXQ_NTASKS_PER_NODE=3",
                           "FLUXQ_TIME=1:30",
                           "FLUXQ_HOLD=yes",
                           "FLUXQ_EXCLUSIVE=0",
                           "FLUXQ_QUEUE=",
                           "FLUXQ_BROKER=x",
                           "FLUXQ_nodes=7",
                           "FLUXQ_NODES",
                           "FLUXQ_=1",
                           "FLUXQ_NO_SUCH_THING=1",
                           "XFLUXQ_NODES=9",
                           NULL };
    char *const broken[] = { "FLUXQ_NODES=many", NULL };
    char *const inside[] = { "FLUXQ_NTASKS=many",    "FLUXQ_JOB_ID=12",
                             "FLUXQ_JOB_NAME=outer", "FLUXQ_GPUS=0-1",
                             "FLUXQ_QUEUE=batch",    NULL };
    struct submit_options so;
    struct error err = { 0 };

    (void)state;
    submit_options_init (&so);
    assert_int_equal (submit_options_from_environ (&so, list, &err), 0);
    assert_int_equal (so.nodes.count.min, 2);
    assert_int_equal (so.ntasks_per_node, 3);
    assert_true (so.time_limit == 90.);
    assert_true (so.hold);
    assert_false (so.exclusive);
    assert_null (so.js.queue);
    assert_int_equal (submit_options_from_environ (&so, broken, &err), -EINVAL);
    assert_int_equal (strncmp (err.text, "FLUXQ_NODES: 'many'", 19), 0);
    submit_options_release (&so);
    /* variables of a job are not options for the jobs that it submits */
    assert_int_equal (submit_options_from_environ (&so, inside, &err), 0);
    assert_int_equal (so.ntasks.count.min, 0);
    assert_null (so.js.name);
    assert_string_equal (so.js.queue, "batch");
    submit_options_release (&so);
}

/* -- other parts of the jobspec -- */

/* Values add up within a source, and a source of higher precedence replaces them. */
static void test_stages (void **state)
{
    struct submit_options so;
    struct error err = { 0 };
    char text[16];

    (void)state;
    submit_options_init (&so);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_SCRIPT, "stage-in", "a", NULL, &err), 0);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_SCRIPT, "stage-in", "d/b", NULL, &err), 0);
    assert_int_equal (so.stage_in.n, 2);
    assert_string_equal (so.stage_in.v[1].to, "b");
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_COMMAND, "stage-in", "c:/x:y", NULL, &err),
        0);
    assert_int_equal (so.stage_in.n, 1);
    assert_string_equal (so.stage_in.v[0].from, "c");
    assert_string_equal (so.stage_in.v[0].to, "/x:y");
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_ENVIRONMENT, "stage-in", "e", NULL, &err),
        0);
    assert_int_equal (so.stage_in.n, 1);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_ENVIRONMENT, "stage-in", "e/", NULL, &err),
        -EINVAL);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_COMMAND, "stage-in", ":x", NULL, &err),
        -EINVAL);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_COMMAND, "stage-in", "d:/x:y", NULL, &err),
        -EINVAL);
    for (int i = 0; i < STAGE_MAX; i++) {
        snprintf (text, sizeof (text), "f%d", i);
        assert_int_equal (
            submit_options_set (&so, SUBMIT_FROM_COMMAND, "stage-out", text, NULL, &err),
            0);
    }
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_COMMAND, "stage-out", "g", NULL, &err),
        -EINVAL);
    assert_non_null (strstr (err.text, "--stage-out: more than 64"));
    submit_options_release (&so);
    json_t *root = make ("--stage-in=in:x --stage-out=r-%n", &err);
    struct jobspec *js = parse (root);
    assert_string_equal (js->stage_in.v[0].to, "x");
    assert_string_equal (js->stage_out.v[0].to, "r-%n");
    jobspec_destroy (js);
    json_decref (root);
}

static void test_attributes (void **state)
{
    struct error err = { 0 };
    json_t *root = make (
        "-Jmy -oout/%j -eerr -t90 -qbatch -Dsub/dir --image=busybox:1 --mem=64", &err);
    struct jobspec *js = parse (root);

    (void)state;
    assert_string_equal (js->name, "my");
    assert_string_equal (js->output, "out/%j");
    assert_string_equal (js->error, "err");
    assert_true (js->has_duration);
    assert_true (js->duration == 5400.);
    assert_string_equal (js->queue, "batch");
    assert_string_equal (js->cwd, "/home/ann/sub/dir");
    assert_string_equal (js->image, "busybox:1");
    assert_int_equal (js->memory_per_node, 64);
    assert_int_equal (js->ncommand, 2);
    assert_string_equal (js->command[0], "/bin/echo");
    assert_string_equal (js->command[1], "hello");
    jobspec_destroy (js);
    json_decref (root);
    root = make ("-tUNLIMITED -D/abs --mem=64 -N1", &err);
    js = parse (root);
    assert_true (js->has_duration); /* 0 was given by the user */
    assert_true (js->duration == 0.);
    assert_string_equal (js->cwd, "/abs");
    assert_string_equal (js->name, "echo");
    assert_string_equal (js->output, "fluxq-%j.out");
    assert_null (js->error);
    assert_null (js->queue);
    assert_int_equal (js->memory_per_node, 0); /* the memory is a vertex now */
    jobspec_destroy (js);
    json_decref (root);
    root = make ("", &err);
    js = parse (root);
    assert_false (js->has_duration);
    jobspec_destroy (js);
    json_decref (root);
}

/* The broker reads the values that the user gave. */
static void test_waiting (void **state)
{
    struct error err = { 0 };
    json_t *root = make ("-dafterok:3:4,singleton -buts1795000000 "
                         "--deadline=uts1795009999 --kill-invalid-depend=no",
                         &err);
    struct jobspec *js = parse (root);

    (void)state;
    assert_int_equal (js->depend.n, 3);
    assert_int_equal (js->depend.list[1].kind, DEPENDENCY_AFTEROK);
    assert_int_equal (js->depend.list[1].id, 4);
    assert_int_equal (js->depend.list[2].kind, DEPENDENCY_SINGLETON);
    assert_false (js->depend.any);
    assert_true (js->keep_invalid_depend);
    assert_true (js->begin == 1795000000.);
    assert_true (js->deadline == 1795009999.);
    jobspec_destroy (js);
    json_decref (root);
    /* the last value applies, and nothing else is set */
    root = make ("-dafterok:3 -dafter:4?after:5 --kill-invalid-depend=no "
                 "--kill-invalid-depend=yes",
                 &err);
    js = parse (root);
    assert_int_equal (js->depend.n, 2);
    assert_true (js->depend.any);
    assert_false (js->keep_invalid_depend);
    assert_true (js->begin == 0 && js->deadline == 0);
    assert_null (json_object_get (
        json_object_get (json_object_get (root, "attributes"), "system"), "fluxq"));
    jobspec_destroy (js);
    json_decref (root);
}

/* --requeue and --no-requeue are one option with two names. */
static void test_requeue (void **state)
{
    static const struct {
        const char *words;
        enum jobspec_tristate wanted;
    } cases[] = {
        { "", JOBSPEC_UNSET },
        { "--requeue", JOBSPEC_TRUE },
        { "--no-requeue", JOBSPEC_FALSE },
        { "--requeue --no-requeue", JOBSPEC_FALSE },
        { "--no-requeue --requeue", JOBSPEC_TRUE },
    };
    struct submit_options so;
    struct error err = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        json_t *root = make (cases[i].words, &err);
        struct jobspec *js = parse (root);
        assert_int_equal (js->requeue, cases[i].wanted);
        jobspec_destroy (js);
        json_decref (root);
    }
    /* the option of higher precedence applies, with either name and in either order */
    submit_options_init (&so);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_COMMAND, "requeue", NULL, NULL, &err), 0);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_SCRIPT, "no-requeue", NULL, "x", &err), 0);
    assert_true (so.js.requeue == JOBSPEC_TRUE);
    submit_options_release (&so);
    submit_options_init (&so);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_SCRIPT, "requeue", NULL, "x", &err), 0);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_ENVIRONMENT, "no-requeue", "0", "x", &err),
        0);
    assert_true (so.js.requeue == JOBSPEC_TRUE);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_ENVIRONMENT, "requeue", "off", "x", &err),
        0);
    assert_true (so.js.requeue == JOBSPEC_FALSE);
    submit_options_release (&so);
}

static void test_reservation (void **state)
{
    struct error err = { 0 };
    json_t *root = make ("--reservation=course.1", &err);
    struct jobspec *js = parse (root);

    (void)state;
    assert_string_equal (js->reservation, "course.1");
    jobspec_destroy (js);
    json_decref (root);
    assert_null (make ("--reservation=", &err));
    assert_non_null (strstr (err.text, "--reservation"));
}

/* Another dependency of the same source is added; one of higher precedence replaces
 * all. */
static void test_add_dependency (void **state)
{
    struct submit_options so;
    struct error err = { 0 };

    (void)state;
    submit_options_init (&so);
    assert_int_equal (
        submit_options_add_dependency (&so, SUBMIT_FROM_SCRIPT, "after:1", "x", &err), 0);
    assert_int_equal (
        submit_options_add_dependency (&so, SUBMIT_FROM_SCRIPT, "after:2", "x", &err), 0);
    assert_int_equal (so.depend.n, 2);
    assert_int_equal (
        submit_options_add_dependency (&so, SUBMIT_FROM_SCRIPT, "after:x", "x", &err),
        -EINVAL);
    assert_int_equal (so.depend.n, 2);
    assert_int_equal (submit_options_set (&so, SUBMIT_FROM_COMMAND, "dependency",
                                          "afterok:9", NULL, &err),
                      0);
    assert_int_equal (
        submit_options_add_dependency (&so, SUBMIT_FROM_SCRIPT, "after:3", "x", &err), 0);
    assert_int_equal (so.depend.n, 1);
    assert_int_equal (so.depend.list[0].id, 9);
    submit_options_release (&so);
    assert_int_equal (so.depend.n, 0);
}

/* A script is kept byte by byte, for any content. */
static void check_script (const char *script, size_t len, const char *encoding)
{
    char *const args[] = { "first", "second arg", NULL };
    struct submit_program prog = { .script = script, .script_len = len, .args = args };
    struct submit_options so;
    struct error err = { 0 };
    struct jobspec *js;
    json_t *root, *file;
    char *text;

    submit_options_init (&so);
    so.script_name = strdup ("/tmp/some/job.sh");
    root = submit_options_jobspec (&so, &prog, "/", no_environment, &err);
    assert_non_null (root);
    file = json_object_get (json_object_get (root, "attributes"), "system");
    file = json_object_get (json_object_get (file, "files"), "script");
    assert_string_equal (json_string_value (json_object_get (file, "encoding")),
                         encoding);
    text = json_dumps (root, JSON_COMPACT);
    json_decref (root);
    js = jobspec_parse (text, strlen (text), &err);
    if (!js)
        fail_msg ("%s", err.text);
    assert_int_equal (js->script_len, len);
    assert_memory_equal (js->script, script, len);
    assert_string_equal (js->name, "job.sh");
    assert_int_equal (js->ncommand, 3);
    assert_string_equal (js->command[0], "{{tmpdir}}/script");
    assert_string_equal (js->command[2], "second arg");
    jobspec_destroy (js);
    free (text);
    submit_options_release (&so);
}

static void test_script (void **state)
{
    static const char plain[] = "#!/bin/sh\necho \"h\xc3\xa9llo\" \\\n\t'there'\n";
    static const char bytes[] = "#!/bin/sh\n: \x80\xff\xfe\n";
    autofree char *big = malloc (JOBSPEC_SCRIPT_MAX);

    (void)state;
    check_script (plain, sizeof (plain) - 1, "utf-8");
    check_script (bytes, sizeof (bytes) - 1, "base64");
    /* the largest script, of the bytes that grow most in JSON: the parser must
     * still accept the result */
    memset (big, '\x01', JOBSPEC_SCRIPT_MAX);
    memcpy (big, "#!/bin/sh\n", 10);
    check_script (big, JOBSPEC_SCRIPT_MAX, "base64");
    memset (big + 10, '"', JOBSPEC_SCRIPT_MAX - 10);
    check_script (big, JOBSPEC_SCRIPT_MAX, "base64");
    memset (big + 10, 'x', JOBSPEC_SCRIPT_MAX - 10);
    check_script (big, JOBSPEC_SCRIPT_MAX, "utf-8");
}

static void test_bad_program (void **state)
{
    char *const latin[] = { "echo", "caf\xe9", NULL };
    char *const nothing[] = { NULL };
    struct submit_program prog = { .args = latin };
    struct submit_options so;
    struct error err = { 0 };

    (void)state;
    submit_options_init (&so);
    assert_null (submit_options_jobspec (&so, &prog, "/", no_environment, &err));
    assert_non_null (strstr (err.text, "argument 2"));
    prog.args = nothing;
    assert_null (submit_options_jobspec (&so, &prog, "/", no_environment, &err));
    assert_non_null (strstr (err.text, "no command"));
    assert_null (
        submit_options_jobspec (&so, &echo_program, "/caf\xe9", no_environment, &err));
    assert_non_null (strstr (err.text, "--chdir"));
    submit_options_release (&so);
}

/* -- environment -- */

static char *exported (const char *spec, char *const list[])
{
    struct submit_options so;
    struct error err = { 0 };
    json_t *root, *env;
    char *text;

    submit_options_init (&so);
    if (spec
        && submit_options_set (&so, SUBMIT_FROM_COMMAND, "export", spec, NULL, &err) < 0)
        fail_msg ("%s", err.text);
    root = submit_options_jobspec (&so, &echo_program, "/", list, &err);
    if (!root)
        fail_msg ("%s", err.text);
    jobspec_destroy (parse (root));
    env = json_object_get (
        json_object_get (json_object_get (root, "attributes"), "system"), "environment");
    text = json_dumps (env, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref (root);
    submit_options_release (&so);
    return text;
}

static void test_export (void **state)
{
    autofree char *huge = malloc (JOBSPEC_STRING_MAX + 3);
    char *const list[] = {
        "A=1",      "B=two=2",  "E=",       "FLUXQ_NODES=3", "FLUXQ_BROKER=unix:/x",
        "BAD=\xff", "=C:=oops", "NOEQUALS", "ESC\x1b=1",     "BASH_FUNC_ml%%=() { :; }",
        huge,       NULL
    };
    static const char all[] =
        "{\"A\":\"1\",\"B\":\"two=2\",\"BASH_FUNC_ml%%\":\"() { :; }\",\"E\":\"\"}";
    static const struct {
        const char *spec, *want;
    } cases[] = {
        { NULL, all },
        { "ALL", all },
        { "all", all },
        { "NONE", "{}" },
        { "none", "{}" },
        { "NIL", "{}" },
        { "A", "{\"A\":\"1\"}" },
        { "A,MISSING", "{\"A\":\"1\"}" },
        { "A=5,N=x=y", "{\"A\":\"5\",\"N\":\"x=y\"}" },
        { "A=5,A=6", "{\"A\":\"6\"}" },
        { "L='a,b',M=\"c,d\"e", "{\"L\":\"a,b\",\"M\":\"c,de\"}" },
        { "A, B,", "{\"A\":\"1\",\"B\":\"two=2\"}" },
        { "E=,ALL,B=3",
          "{\"A\":\"1\",\"B\":\"3\",\"BASH_FUNC_ml%%\":\"() { :; }\",\"E\":\"\"}" },
        { "BAD,A", "{\"A\":\"1\"}" },
        { "FLUXQ_BROKER", "{\"FLUXQ_BROKER\":\"unix:/x\"}" }, /* requested by name */
    };

    (void)state;
    memset (huge, 'x', JOBSPEC_STRING_MAX + 2);
    memcpy (huge, "HUGE=", 5);
    huge[JOBSPEC_STRING_MAX + 2] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        char *text = exported (cases[i].spec, list);

        if (strcmp (text, cases[i].want))
            fail_msg ("--export=%s: %s, not %s", cases[i].spec, text, cases[i].want);
        free (text);
    }
    /* Linux accepts a variable of 128 KiB with its NUL, not one byte more */
    huge[JOBSPEC_STRING_MAX - 1] = '\0';
    char *text = exported ("HUGE", list);
    assert_int_equal (strlen (text),
                      JOBSPEC_STRING_MAX - 1 - 5 + strlen ("{\"HUGE\":\"\"}"));
    free (text);
    huge[JOBSPEC_STRING_MAX - 1] = 'x';
    huge[JOBSPEC_STRING_MAX] = '\0';
    text = exported ("HUGE", list);
    assert_string_equal (text, "{}");
    free (text);
}

/* Values that JSON cannot hold arrive byte for byte. */
static void test_export_bytes (void **state)
{
    char *const list[] = { "LATIN=M\xfcller", "A=1", "CUT=\xe2\x82", NULL };
    struct submit_options so;
    struct error err = { 0 };
    json_t *root, *own;

    (void)state;
    submit_options_init (&so);
    assert_int_equal (
        submit_options_set (&so, SUBMIT_FROM_COMMAND, "export", "ALL,B=\xff", NULL, &err),
        0);
    root = submit_options_jobspec (&so, &echo_program, "/", list, &err);
    assert_non_null (root);
    own = json_object_get (
        json_object_get (json_object_get (root, "attributes"), "system"), "fluxq");
    own = json_object_get (own, "environment-bytes");
    assert_int_equal (json_object_size (own), 3);
    assert_string_equal (json_text (own, "LATIN"), "TfxsbGVy");
    struct jobspec *js = parse (root);
    assert_string_equal (json_text (js->environment, "LATIN"), "M\xfcller");
    assert_string_equal (json_text (js->environment, "CUT"), "\xe2\x82");
    assert_string_equal (json_text (js->environment, "B"), "\xff");
    assert_string_equal (json_text (js->environment, "A"), "1");
    jobspec_destroy (js);
    json_object_set_new (own, "LATIN", json_string ("?"));
    assert_null (jobspec_from_json (root, &err));
    assert_non_null (strstr (err.text, "environment-bytes.LATIN: not base64"));
    json_decref (root);
    submit_options_release (&so);
}

/* A name of any length arrives, as every program may have it. */
static void test_export_long_name (void **state)
{
    char variable[1000], want[1100];
    char *const list[] = { variable, NULL };

    (void)state;
    for (int len = 250; len < 990; len += 10) {
        snprintf (variable, sizeof (variable), "%0*d=v", len, 0);
        snprintf (want, sizeof (want), "{\"%0*d\":\"v\"}", len, 0);
        autofree char *text = exported ("ALL", list);
        assert_string_equal (text, want);
    }
}

/* Like sbatch: without the submitted environment a job gets that of a login shell, but
 * not with NIL. */
static void test_export_and_login (void **state)
{
    static const struct {
        const char *spec;
        bool login;
    } cases[] = { { NULL, false },  { "ALL", false }, { "A=1,ALL", false },
                  { "NIL", false }, { "NONE", true }, { "A,B=2", true } };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
        assert_int_equal (environment_wants_login (cases[i].spec), cases[i].login);
}

static void test_export_file (void **state)
{
    static const char good[] = "A=1\0B=two\nlines\0C=", *wrong[] = { "A=1\0=x", "A" };
    char path[] = "/tmp/fluxq-export-XXXXXX";
    int fd = mkstemp (path);
    json_t *env = json_pack ("{s:s s:s}", "A", "old", "D", "kept");
    struct error err = { 0 };

    (void)state;
    assert_true (fd >= 0 && write (fd, good, sizeof (good) - 1) == sizeof (good) - 1);
    assert_int_equal (environment_add_file (env, path, &err), 0);
    assert_string_equal (json_string_value (json_object_get (env, "A")), "1");
    assert_string_equal (json_string_value (json_object_get (env, "B")), "two\nlines");
    assert_string_equal (json_string_value (json_object_get (env, "C")), "");
    assert_string_equal (json_string_value (json_object_get (env, "D")), "kept");
    for (size_t i = 0; i < ARRAY_SIZE (wrong); i++) {
        size_t len = i == 0 ? 6 : strlen (wrong[i]);
        assert_true (ftruncate (fd, 0) == 0
                     && pwrite (fd, wrong[i], len, 0) == (ssize_t)len);
        assert_int_equal (environment_add_file (env, path, &err), -EINVAL);
        assert_non_null (strstr (err.text, i == 0 ? "entry 2" : "entry 1"));
    }
    close (fd);
    unlink (path);
    json_decref (env);
}

/* -- the table serves the help and the parser: it must not contradict itself -- */

static void test_table (void **state)
{
    (void)state;
    for (const struct option_desc *o = submit_options_table (); o->name; o++) {
        assert_true (o->id >= SUBMIT_OPTION_FIRST);
        assert_true (strlen (o->help) > 0);
        for (const struct option_desc *p = o + 1; p->name; p++) {
            assert_string_not_equal (o->name, p->name);
            if (o->letter)
                assert_int_not_equal (o->letter, p->letter);
        }
    }
}

/* Fails if a row was added to the table, but its value has no effect. */
static void test_every_row_sets (void **state)
{
    (void)state;
    for (const struct option_desc *o = submit_options_table (); o->name; o++) {
        struct submit_options so;
        struct error err = { 0 };
        submit_options_init (&so);
        int rc = submit_options_set (&so, SUBMIT_FROM_COMMAND, o->name,
                                     o->arg ? "1" : NULL, NULL, &err);
        if (rc < 0 && strstr (err.text, "sets nothing"))
            fail_msg ("%s", err.text);
        submit_options_release (&so);
    }
}

static void test_placement (void **state)
{
    static const struct {
        const char *line;
        enum placement_kind kind;
        const char *level;
        int64_t switches;
        double wait;
    } right[] = { { "-N2", PLACEMENT_NONE, "", 0, -1 },
                  { "-N2 --placement=pack", PLACEMENT_PACK, "", 0, -1 },
                  { "-N2 --placement=spread:top-zone", PLACEMENT_SPREAD, "top-zone", 0,
                    -1 },
                  { "-N2 --placement=any --switches=3", PLACEMENT_ANY, "", 3, -1 },
                  { "-N2 --switches=1@1:30", PLACEMENT_NONE, "", 1, 90 },
                  { "-N2 --switches=1@1:30:00", PLACEMENT_NONE, "", 1, 5400 },
                  { "-N2 --switches=2@0", PLACEMENT_NONE, "", 2, 0 },
                  { "-N2 --switches=2@UNLIMITED", PLACEMENT_NONE, "", 2, INFINITY } };
    static const struct {
        const char *line, *text;
    } wrong[] = {
        { "--placement=near", "--placement: 'near' is not one of pack, spread" },
        { "--placement=pack:", "--placement: '' is not a level" },
        { "--placement=pack:a/b", "'a/b' is not a level" },
        { "--placement=any:rack", "not one of pack" },
        { "--switches=0", "--switches" },
        { "--switches=x@1", "--switches" },
        { "--switches=1@soon", "--switches" },
        { "--nodes-per=rack", "is not LEVEL:NUMBER" },
        { "--nodes-per=:2", "'' is not a level" },
        { "--nodes-per=rack:0", "--nodes-per" },
        { "-N3 --nodes-per-rack=2", "-N 3 does not divide into 2 nodes a rack" },
        { "-n3 --nodes-per-rack=2", "needs the number of nodes" },
        { "-N2-4 -n8 --nodes-per-rack=2", "does not go with -n 8 spread over" },
        { "-N2 --nodes-per-rack=2 --switches=1", "cannot be combined with --switches" }
    };
    struct error err = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (right); i++) {
        json_t *root = make (right[i].line, &err);
        if (!root)
            fail_msg ("%s: %s", right[i].line, err.text);
        autojobspec struct jobspec *js = parse (root);
        json_decref (root);
        assert_int_equal (js->placement.kind, right[i].kind);
        assert_string_equal (js->placement.level, right[i].level);
        assert_int_equal (js->switches.count, right[i].switches);
        assert_true (right[i].switches == 0 || js->switches.wait == right[i].wait);
    }
    for (size_t i = 0; i < ARRAY_SIZE (wrong); i++) {
        assert_null (make (wrong[i].line, &err));
        if (!strstr (err.text, wrong[i].text))
            fail_msg ("%s: %s", wrong[i].line, err.text);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_export_file),    cmocka_unit_test (test_export_and_login),
        cmocka_unit_test (test_refusals),       cmocka_unit_test (test_precedence),
        cmocka_unit_test (test_gpus_by_source), cmocka_unit_test (test_from_environ),
        cmocka_unit_test (test_attributes),     cmocka_unit_test (test_stages),
        cmocka_unit_test (test_reservation),    cmocka_unit_test (test_script),
        cmocka_unit_test (test_bad_program),    cmocka_unit_test (test_waiting),
        cmocka_unit_test (test_add_dependency), cmocka_unit_test (test_export),
        cmocka_unit_test (test_export_bytes),   cmocka_unit_test (test_export_long_name),
        cmocka_unit_test (test_every_row_sets), cmocka_unit_test (test_table),
        cmocka_unit_test (test_requeue),        cmocka_unit_test (test_placement),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
