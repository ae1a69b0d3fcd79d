/* test_components.c - scripts and options of heterogeneous jobs */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "jobspec/jobspec.h"
#include "jobspec/options/components.h"
#include "jobspec/options/slurm_options.h"
#include "jobspec/script/script.h"

#define SH "#!/bin/sh\n"
#define TWO SH "#SBATCH -N1\n#SBATCH hetjob\n"

static char *const no_words[] = { NULL };

static void set (struct submit_options *so, enum submit_source source, const char *name,
                 const char *value)
{
    struct error err = { 0 };

    if (submit_options_set (so, source, name, value, NULL, &err) < 0)
        fail_msg ("%s", err.text);
}

/* The job of the script and the options that are set; NULL with the error. */
static struct jobspec *make (struct submit_options *so, const char *script,
                             struct error *err)
{
    const struct submit_program prog = { .script = script,
                                         .script_len = strlen (script),
                                         .args = no_words };

    if (script_read_all (script, strlen (script), "job.sh", so, NULL, NULL, NULL, err)
        < 0)
        return NULL;
    autojson json_t *root = submit_options_jobspec (so, &prog, "/", no_words, err);
    return root ? jobspec_from_json (root, err) : NULL;
}

static struct jobspec *good (struct submit_options *so, const char *script)
{
    struct error err = { 0 };
    struct jobspec *js = make (so, script, &err);

    if (!js)
        fail_msg ("%s%s", script, err.text);
    return js;
}

static void assert_sizes (const struct jobspec *js, size_t i, int64_t nodes,
                          int64_t slots, int64_t gpus)
{
    struct jobspec_sizes z;

    jobspec_get_component_sizes (jobspec_component (js, i), &z);
    assert_int_equal (z.min_nodes, nodes);
    assert_int_equal (z.min_slots, slots);
    assert_int_equal (z.min_gpus, gpus);
}

/* Counts are those of a component alone; name, --mem and --exclude hold for later ones. */
static void test_shapes (void **state)
{
    struct submit_options so;
    const struct jobspec *c;

    (void)state;
    submit_options_init (&so);
    struct jobspec *js =
        good (&so, SH "#SBATCH -J lead -N1 --ntasks-per-node=2 --mem=1G -x node7\n"
                      "#SBATCH -t 10 -C fast\n#SBATCH hetjob\n"
                      "#SBATCH -N2 --gpus-per-node=1 -t 10 -o other\n  # comment\n"
                      "#SBATCH PackJob\n#SBATCH --job-name=tail -n3 --mem-per-cpu=10\n");
    assert_int_equal (js->ncomponents, 2);
    assert_sizes (js, 0, 1, 2, 0);
    assert_sizes (js, 1, 2, 2, 2);
    assert_sizes (js, 2, 1, 3, 0);
    assert_string_equal (js->name, "lead");
    assert_null (js->output ? strstr (js->output, "other") : NULL);
    c = jobspec_component (js, 1);
    assert_string_equal (c->name, "lead");
    assert_int_equal (c->resources[0].with[2].count.min, 1024);
    assert_non_null (json_object_get (c->constraints, "not"));
    assert_string_equal (
        json_string_value (json_object_get (c->environment, "SLURM_GPUS_PER_NODE")), "1");
    assert_null (json_object_get (c->environment, "SLURM_NTASKS_PER_NODE"));
    c = jobspec_component (js, 2);
    assert_string_equal (c->name, "tail");
    assert_int_equal (c->memory_per_node, 0);
    jobspec_destroy (js);
    submit_options_release (&so);
    /* a task alone with memory has a node vertex */
    js = good (&so, SH "#SBATCH -n1 --mem=10\n#SBATCH hetjob\n#SBATCH -n1\n");
    assert_string_equal (js->resources[0].type, "node");
    c = jobspec_component (js, 1);
    assert_string_equal (c->resources[0].type, "node");
    jobspec_destroy (js);
    submit_options_release (&so);
}

/* The last component of the command line holds for those that only the script has. */
static void test_command_line (void **state)
{
    struct submit_options so;
    struct error err = { 0 };

    (void)state;
    submit_options_init (&so);
    set (&so, SUBMIT_FROM_COMMAND, "nodes", "3");
    set (&so, SUBMIT_FROM_ENVIRONMENT, "time", "7");
    struct submit_options *second = submit_component_add (&so, &err);
    set (second, SUBMIT_FROM_COMMAND, "nodes", "4");
    set (second, SUBMIT_FROM_ENVIRONMENT, "time", "7");
    struct jobspec *js = good (&so, SH "#SBATCH -N1 -t 9\n#SBATCH hetjob\n"
                                       "#SBATCH -N1 -c2 -t 9\n#SBATCH hetjob\n"
                                       "#SBATCH -N5 -n8 -t 9\n");
    assert_int_equal (js->ncomponents, 2);
    assert_sizes (js, 0, 3, 3, 0);
    assert_sizes (js, 1, 4, 4, 0);
    assert_sizes (js, 2, 4, 8, 0);
    assert_int_equal ((int)js->duration, 7 * 60);
    jobspec_destroy (js);
    submit_options_release (&so);
}

/* Variables of the environment hold for all components. */
static void test_environment (void **state)
{
    char *const list[] = { "SBATCH_CONSTRAINT=fast", "SBATCH_TIMELIMIT=7", NULL };
    struct submit_options so;
    struct error err = { 0 };

    (void)state;
    submit_options_init (&so);
    set (submit_component_add (&so, &err), SUBMIT_FROM_COMMAND, "nodes", "2");
    assert_int_equal (slurm_options_from_environ (&so, SLURM_SBATCH, list, &err), 0);
    struct jobspec *js = good (&so, SH "#SBATCH -N1\n#SBATCH hetjob\n#SBATCH hetjob\n");
    assert_int_equal (js->ncomponents, 2);
    for (size_t i = 0; i <= js->ncomponents; i++)
        assert_non_null (jobspec_component (js, i)->constraints);
    assert_sizes (js, 1, 2, 2, 0);
    jobspec_destroy (js);
    submit_options_release (&so);
}

/* #FLUXQ lines belong to the component in whose lines they stand. */
static void test_fluxq (void **state)
{
    struct submit_options so;

    (void)state;
    submit_options_init (&so);
    struct jobspec *js = good (&so, SH "#FLUXQ --image=busybox\n#SBATCH -N1\n"
                                       "#SBATCH hetjob\n#FLUXQ --nodes=3\n"
                                       "#FLUXQ hetjob\n#FLUXQ -N 2\n");
    assert_int_equal (js->ncomponents, 2);
    assert_sizes (js, 1, 3, 3, 0);
    assert_sizes (js, 2, 2, 2, 0);
    assert_string_equal (js->image, "busybox");
    jobspec_destroy (js);
    submit_options_release (&so);
}

static void test_errors (void **state)
{
    static const struct {
        const char *script, *begin, *thing;
    } bad[] = {
        { TWO "#SBATCH --foo\n", "job.sh:4: component 1: --foo: ", "unknown option" },
        { TWO "#SBATCH -N x\n", "job.sh:4: component 1: -N: ", "'x'" },
        { TWO "#SBATCH -J 'a\n", "job.sh:4: component 1: ", "not closed" },
        { TWO "#SBATCH a\n", "job.sh:4: component 1: 'a' is not an option", "" },
        { SH "#SBATCH -x ,\n#SBATCH hetjob\n", "job.sh:2: component 0: -x: ", "" },
        { TWO "#SBATCH -t 3\n", "job.sh:4: component 1: -t: ", "have one --time" },
        { TWO "#SBATCH -p a\n", "job.sh:4: component 1: -p: ", "have one --queue" },
        { TWO "#SBATCH --hold\n", "job.sh:4: component 1: --hold: ", "have one --hold" },
        { TWO "#SBATCH -L a:1\n", "job.sh:4: component 1: -L: ", "have one --licenses" },
        { TWO "#SBATCH -N 2-4\n", "job.sh:4: component 1: -N: ", "fixed number" },
        { SH "#SBATCH -n 1,2\n#SBATCH hetjob\n",
          "job.sh:2: component 0: -n: ", "fixed number" },
        { SH "#SBATCH -a 0-3\n#SBATCH hetjob\n",
          "job.sh:2: component 0: -a: ", "an array has no components" },
        { SH "#SBATCH --switches=1\n#SBATCH hetjob\n",
          "job.sh:2: component 0: --switches: ", "does not go with" },
        { SH "#FLUXQ --placement=pack\n#SBATCH hetjob\n",
          "job.sh:2: component 0: --placement: ", "does not go with" },
        { TWO "#SBATCH -n 4 --mem=1G\n", "job.sh:4: component 1: --mem: ", "--nodes" },
        { TWO "#SBATCH -N1 -G 2 --gpus-per-node=1\n", "component 1: ", "--gpus" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct submit_options so;
        struct error err = { 0 };

        submit_options_init (&so);
        if (make (&so, bad[i].script, &err))
            fail_msg ("accepted: %s", bad[i].script);
        if (strncmp (err.text, bad[i].begin, strlen (bad[i].begin)) != 0
            || !strstr (err.text, bad[i].thing))
            fail_msg ("%s'%s' does not begin with '%s' or lacks '%s'", bad[i].script,
                      err.text, bad[i].begin, bad[i].thing);
        submit_options_release (&so);
    }
}

static void test_too_many (void **state)
{
    struct strbuf sb = STRBUF_INIT (65536);
    struct submit_options so;
    struct error err = { 0 };

    (void)state;
    submit_options_init (&so);
    strbuf_adds (&sb, SH);
    for (int i = 0; i < JOBSPEC_COMPONENTS_MAX; i++)
        strbuf_adds (&sb, "#SBATCH hetjob\n");
    assert_null (make (&so, sb.buf, &err));
    assert_string_equal (err.text,
                         "job.sh:65: a heterogeneous job has at most 64 components");
    submit_options_release (&so);
    strbuf_release (&sb);
}

/* The lines that sbatch --verbose shows of the options. */
static void add_line (const char *text, void *arg)
{
    strbuf_addf (arg, "%s\n", text);
}

static void test_explain (void **state)
{
    struct strbuf sb = STRBUF_INIT (65536);
    struct submit_options so;

    (void)state;
    submit_options_init (&so);
    set (&so, SUBMIT_FROM_COMMAND, "nodes", "3");
    so.explain = add_line;
    so.explain_arg = &sb;
    jobspec_destroy (good (&so, SH "#SBATCH -n6\n#SBATCH hetjob\n#SBATCH -N2 -o x\n"));
    assert_string_equal (sb.buf,
                         "job.sh:2: component 0: -n 6: done\n"
                         "job.sh:4: component 1: -N 2: not used: --nodes has precedence\n"
                         "job.sh:4: component 1: -o x: not used: that of the first "
                         "component counts\n");
    submit_options_release (&so);
    strbuf_release (&sb);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_shapes),      cmocka_unit_test (test_command_line),
        cmocka_unit_test (test_environment), cmocka_unit_test (test_fluxq),
        cmocka_unit_test (test_errors),      cmocka_unit_test (test_too_many),
        cmocka_unit_test (test_explain),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
