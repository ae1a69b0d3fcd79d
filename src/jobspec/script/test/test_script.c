/* test_script.c - directives of batch scripts, in the three dialects
 */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "jobspec/jobspec.h"
#include "jobspec/script/dialect.h"
#include "jobspec/script/script.h"

#define SH "#!/bin/sh\n"

/* The settings of the script's directives, and the warnings, one a line. */
struct result {
    struct submit_options so;
    struct strbuf warnings;
    struct error err;
    int rc;
};

static void collect (const char *text, void *arg)
{
    struct strbuf *sb = arg;

    assert_null (strchr (text, '\n'));
    strbuf_addf (sb, "%s\n", text);
}

static void read_script (struct result *r, const char *text)
{
    /* a copy without a NUL at its end, so that a sanitizer detects every read beyond
     * it */
    size_t len = strlen (text);
    char *copy = malloc (len ? len : 1);

    memcpy (copy, text, len);
    memset (&r->err, 0, sizeof (r->err));
    submit_options_init (&r->so);
    strbuf_init (&r->warnings, 65536);
    r->rc = script_read_all (copy, len, "dir/job.sh", &r->so, collect, NULL, &r->warnings,
                             &r->err);
    free (copy);
}

static void good (struct result *r, const char *text)
{
    read_script (r, text);
    if (r->rc < 0)
        fail_msg ("%s\n%s", text, r->err.text);
}

static void done (struct result *r)
{
    submit_options_release (&r->so);
    strbuf_release (&r->warnings);
}

/* -- is the text a script? -- */

static void test_check (void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *place, *thing;
    } bad[] = {
        { "", 0, "job.sh: ", "empty" },
        { " \n\t\n", 4, "job.sh: ", "empty" },
        { "echo hello\n", 11, "job.sh:1: ", "#!" },
        { "#", 1, "job.sh:1: ", "#!" },
        { "#!/bin/sh\necho\n\0\n", 17, "job.sh:3: ", "NUL" },
        { "\x7f"
          "ELF\0",
          5, "job.sh:1: ", "NUL" },
        { "#!/bin/sh\r\necho\r\n", 17, "job.sh:1: ", "dos2unix" },
        { "#!/bin/sh\necho\necho\r\n", 21, "job.sh:3: ", "dos2unix" },
        { "#!/bin/sh\r", 10, "job.sh:1: ", "dos2unix" },
    };
    struct error err = { 0 };
    autofree char *big = malloc (JOBSPEC_SCRIPT_MAX + 1);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        assert_int_equal (script_check (bad[i].text, bad[i].len, "job.sh", &err),
                          -EINVAL);
        if (strncmp (err.text, bad[i].place, strlen (bad[i].place)) != 0
            || !strstr (err.text, bad[i].thing))
            fail_msg ("case %zu: %s", i, err.text);
    }
    memset (big, '\n', JOBSPEC_SCRIPT_MAX + 1);
    memcpy (big, "#!/bin/sh", 9);
    assert_int_equal (script_check (big, JOBSPEC_SCRIPT_MAX, "job.sh", &err), 0);
    assert_int_equal (script_check (big, JOBSPEC_SCRIPT_MAX + 1, "job.sh", &err), -EFBIG);
    assert_non_null (strstr (err.text, "4 MiB"));
    assert_int_equal (script_check ("#!/bin/sh\necho a\rb\n", 19, "job.sh", &err), 0);
}

static void test_no_directives (void **state)
{
    struct result r;

    (void)state;
    good (&r,
          SH "# a comment: --nodes=2\n##SBATCH -N2\n #SBATCH -N2\n#SBATCHX -N2\n#FLUXQS\n"
             "#SLURM is a batch system\n# flux: is another\necho\n");
    assert_int_equal (r.so.nodes.count.min, 0);
    assert_int_equal (r.warnings.len, 0);
    assert_string_equal (r.so.script_name, "job.sh");
    done (&r);
    good (&r, "#!/bin/sh"); /* no newline at all */
    done (&r);
    /* a key of a YAML file that the script writes is not a directive */
    good (&r, SH "cat >x.yaml <<EOF\nflux:\n  a: 1\nflux: yes\nEOF\n");
    assert_int_equal (r.warnings.len, 0);
    done (&r);
}

/* -- sbatch -- */

static void test_sbatch (void **state)
{
    struct result r;

    (void)state;
    good (&r, SH "#SBATCH -N 2 -n4   # two nodes\n"
                 "\n"
                 "  # a comment between\n"
                 "#SBATCH --job-name=\"my job\" --output='out #%j'\n"
                 "#SBATCH -p debug -t 1-0\n"
                 "#SBATCH --cpus-per-t=3\n" /* an unambiguous prefix */
                 "#SBATCH --mem 2G --exclusive -H\n"
                 "#SBATCH -D /tmp -e err --gpus=4 --export=NONE\n"
                 "#SBATCH --signal=B:USR2@120 --nice --propagate=NOFILE\n"
                 "#SBATCH --get-user-env=10L\n"
                 "#SBATCH --nodes=3\n" /* the last one applies */
                 "echo\n");
    assert_int_equal (r.so.nodes.count.min, 3);
    assert_int_equal (r.so.ntasks.count.min, 4);
    assert_string_equal (r.so.js.name, "my job");
    assert_string_equal (r.so.output, "out #%j");
    assert_false (r.so.append);
    assert_null (r.so.input);
    assert_string_equal (r.so.error, "err");
    assert_string_equal (r.so.js.queue, "debug");
    assert_true (r.so.time_limit == 86400.);
    assert_int_equal (r.so.cpus_per_task, 3);
    assert_int_equal (r.so.mem_mib, 2048);
    assert_true (r.so.exclusive);
    assert_true (r.so.hold);
    assert_string_equal (r.so.chdir, "/tmp");
    assert_int_equal (r.so.gpus, 4);
    assert_string_equal (r.so.export, "NONE");
    assert_int_equal (r.so.process.warn.signum, 12);
    assert_true (r.so.process.warn.before == 120 && r.so.process.warn.batch);
    assert_int_equal (r.so.js.nice, 100);
    assert_true (r.so.process.rlimits.given > 0);
    assert_int_equal (r.so.process.user_env.timeout, 10);
    assert_false (r.so.whole_nodes);
    assert_int_equal (r.warnings.len, 0);
    done (&r);
    good (&r, SH
          "#SBATCH --tasks-per-node=4\n#SLURM -N2\n#SBATCH--mem=1\n#SBATCH\n#SBATCH -c2");
    assert_int_equal (r.so.ntasks_per_node, 4);
    assert_int_equal (r.so.nodes.count.min, 2);
    assert_int_equal (r.so.mem_mib, 1);
    assert_int_equal (r.so.cpus_per_task, 2);
    done (&r);
}

static void test_late_directives (void **state)
{
    struct result r;
    const char *text;

    (void)state;
    good (&r, SH "#SBATCH -N2\ncd /tmp\n# comment\n#SBATCH -n4\necho\n");
    assert_int_equal (r.so.ntasks.count.min, 0);
    assert_int_equal (strncmp (r.warnings.buf, "dir/job.sh:5: ", 14), 0);
    assert_non_null (strstr (r.warnings.buf, "#SBATCH -n4"));
    assert_non_null (strstr (r.warnings.buf, "line 3"));
    done (&r);
    /* also without an earlier directive */
    good (&r, SH "cd /tmp\n#FLUXQ -n4\n");
    assert_int_equal (r.so.ntasks.count.min, 0);
    assert_int_equal (strncmp (r.warnings.buf, "dir/job.sh:3: ", 14), 0);
    done (&r);
    /* a script that writes scripts gives no warning for each line */
    good (&r,
          SH "cat <<E\n#SBATCH -n1\n#SBATCH -n2\n#SBATCH -n3\n#SBATCH -n4\n#SBATCH -n5\n"
             "#SBATCH -n6\n#SBATCH -n7\nE\n");
    text = r.warnings.buf;
    for (int i = 0; i < 6; i++) {
        text = strchr (text, '\n');
        assert_non_null (text);
        text++;
    }
    assert_int_equal (*text, '\0');
    assert_non_null (strstr (r.warnings.buf, "2 more"));
    done (&r);
}

/* -- FLUXQ -- */

static void test_fluxq (void **state)
{
    struct result r;

    (void)state;
    good (&r,
          SH "#FLUXQ --nodes=2-4 -q batch # where\n#FLUXQ -p other\n"
             "#FLUXQ --image 'busybox:1' -J 'it\"s'\n#FLUXQ --gpus-per-task=1 --hold\n");
    assert_int_equal (r.so.nodes.count.min, 2);
    assert_int_equal (r.so.nodes.count.max, 4);
    assert_string_equal (r.so.js.queue, "other");
    assert_string_equal (r.so.js.image, "busybox:1");
    assert_string_equal (r.so.js.name, "it\"s");
    assert_int_equal (r.so.gpus_per_task, 1);
    assert_true (r.so.hold);
    done (&r);
}

/* In all dialects. */
static void test_streams (void **state)
{
    struct result r;

    (void)state;
    good (&r, SH "#SBATCH -i in-%a.txt --open-mode=append -o none\n#SBATCH -e\\%j\n");
    assert_string_equal (r.so.input, "in-%a.txt");
    assert_string_equal (r.so.output, "/dev/null");
    assert_string_equal (r.so.error, "%j"); /* the quotes are removed as in a shell */
    assert_true (r.so.append);
    done (&r);
    good (&r, SH "#FLUXQ --input=None --open-mode=append\n#FLUXQ --open-mode=truncate\n");
    assert_string_equal (r.so.input, "/dev/null");
    assert_false (r.so.append);
    done (&r);
    good (&r, SH "# flux: --input=in-{{id}}-50% -o output.mode=append\n"
                 "# flux: --output={{node.name}}-{{node.id}}-{{task.id}}\n");
    assert_string_equal (r.so.input, "in-%j-50%%");
    assert_string_equal (r.so.output, "%N-%n-%t");
    assert_true (r.so.append);
    done (&r);
}

/* -- flux -- */

static void test_flux (void **state)
{
    struct result r;

    (void)state;
    good (&r, SH "#FLUX: -N4 -n8 -c2             # Request four nodes\n"
                 "# Set job name:\n"
                 "#FLUX: --queue=batch --urgency=0\n"
                 "\n"
                 "#FLUX:\n"
                 "#FLUX: # -N9\n"
                 "#FLUX: --job-name='''It's a \"job\"''' -g 1 -x\n"
                 "#FLUX: -t 30 --output=out-{{id}}-100% --error={{name}}.err --cwd=/tmp\n"
                 "flux run -N4 app\n");
    assert_int_equal (r.so.nodes.count.min, 4);
    assert_int_equal (r.so.ntasks.count.min, 8);
    assert_int_equal (r.so.cpus_per_task, 2);
    assert_string_equal (r.so.js.queue, "batch");
    assert_true (r.so.hold);
    assert_string_equal (r.so.js.name, "It's a \"job\"");
    assert_int_equal (r.so.gpus_per_task, 1);
    assert_true (r.so.exclusive);
    assert_true (r.so.time_limit == 1800.);
    assert_string_equal (r.so.output, "out-%j-100%%");
    assert_string_equal (r.so.error, "%x.err");
    assert_string_equal (r.so.chdir, "/tmp");
    done (&r);
}

/* RFC 36's own examples in other languages */
static void test_flux_other_languages (void **state)
{
    struct result r;

    (void)state;
    good (&r, "#!/usr/bin/env python3\ndef main():\n    \"\"\"\n    flux: -N4\n"
              "    flux: --queue=batch\n    flux: --job-name=\"my python job\"\n\n"
              "    # Set some arbitrary user data:\n    \"\"\"\n    run()\n");
    assert_int_equal (r.so.nodes.count.min, 4);
    assert_string_equal (r.so.js.name, "my python job");
    done (&r);
    good (&r, "#!/usr/bin/lua\n--\n-- flux: -N1 --exclusive\n-- flux: --output=job.out\n"
              "local app = require 'app'\napp.run()\n");
    assert_int_equal (r.so.nodes.count.min, 1);
    assert_string_equal (r.so.output, "job.out");
    done (&r);
    good (&r, "#!/usr/bin/env python3\n\"\"\"\nflux: --nodes=4\n\nSet a value:\nflux: "
              "-n8\n\"\"\"\n");
    assert_int_equal (r.so.nodes.count.min, 4);
    assert_int_equal (r.so.ntasks.count.min, 8);
    done (&r);
}

static void test_flux_multi_line (void **state)
{
    struct result r;

    (void)state;
    read_script (&r,
                 SH "# flux: -N2\n# flux: --job-name='''\n# flux: one\n# flux:   two\n"
                    "# flux: ''' -n2\n");
    assert_int_equal (r.rc, -EINVAL);
    assert_non_null (strstr (r.err.text, "job.sh:6: ''' must stand at the end"));
    done (&r);
    read_script (&r, SH "# flux: --job-name='''\n# flux: one\n# flux: '''\n");
    assert_int_equal (r.rc, -EINVAL);
    /* the newline after "one" belongs to the text, and not to a name */
    assert_non_null (strstr (r.err.text, "job.sh:2: --job-name: must be a text"));
    done (&r);
    good (&r, SH "# flux: --job-name=\"\"\"\n# flux: one\"\"\"\n# flux: -n2\necho\n");
    assert_string_equal (r.so.js.name, "one");
    assert_int_equal (r.so.ntasks.count.min, 2);
    done (&r);
    /* the indentation of the first line is removed, further indentation stays */
    good (&r, SH "#  flux:  --job-name=\"\"\"\n#  flux:    two\"\"\"\n");
    assert_string_equal (r.so.js.name, "  two");
    done (&r);
}

static void test_flux_whole_nodes (void **state)
{
    char *const args[] = { NULL };
    struct submit_program prog = { .script = SH,
                                   .script_len = sizeof (SH) - 1,
                                   .args = args };
    static const struct {
        const char *script;
        const char *ntasks; /* on the command line */
        enum jobspec_tristate exclusive;
    } cases[] = {
        { SH "# flux: -N2\n", NULL, JOBSPEC_TRUE },
        { SH "# flux: -N2 -n2\n", NULL, JOBSPEC_UNSET },
        { SH "# flux: -N2\n", "4", JOBSPEC_UNSET },
        { SH "#SBATCH -N2\n", NULL, JOBSPEC_UNSET },
        { SH "#FLUXQ -N2\n", NULL, JOBSPEC_UNSET },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        struct jobspec *js;
        struct result r;
        json_t *root;

        good (&r, cases[i].script);
        if (cases[i].ntasks)
            submit_options_set (&r.so, SUBMIT_FROM_COMMAND, "ntasks", cases[i].ntasks,
                                NULL, &err);
        root = submit_options_jobspec (&r.so, &prog, "/", args, &err);
        js = jobspec_from_json (root, &err);
        if (!js)
            fail_msg ("%s", err.text);
        assert_string_equal (js->resources[0].type, "node");
        assert_int_equal (js->resources[0].exclusive, cases[i].exclusive);
        jobspec_destroy (js);
        json_decref (root);
        done (&r);
    }
}

static void test_flux_times (void **state)
{
    static const struct {
        const char *script;
        double seconds;
    } cases[] = {
        { SH "# flux: -t 30\n", 1800 },    { SH "# flux: -t1.5h\n", 5400 },
        { SH "# flux: -t 90s\n", 90 },     { SH "# flux: --time-limit=2d\n", 172800 },
        { SH "# flux: -t 0.5\n", 30 },     { SH "# flux: -t 0\n", 0 },
        { SH "# flux: -t 250ms\n", 0.25 }, { SH "# flux: -t inf\n", 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct result r;

        good (&r, cases[i].script);
        if (r.so.time_limit < cases[i].seconds - 1e-9
            || r.so.time_limit > cases[i].seconds + 1e-9)
            fail_msg ("%s: %g s", cases[i].script, r.so.time_limit);
        done (&r);
    }
}

/* The dependencies of a job, in each dialect's own form. */
static void test_waiting (void **state)
{
    struct result r;
    double now;

    (void)state;
    good (&r, SH "#SBATCH -d afterok:3:4,singleton --begin=2026-11-21T08:00\n"
                 "#SBATCH --deadline=uts1800000000 --kill-on-invalid-dep=no\n"
                 "#SBATCH --requeue --no-requeue\n");
    assert_true (r.so.js.requeue == JOBSPEC_FALSE);
    assert_int_equal (r.so.depend.n, 3);
    assert_int_equal (r.so.depend.list[0].kind, DEPENDENCY_AFTEROK);
    assert_int_equal (r.so.depend.list[2].kind, DEPENDENCY_SINGLETON);
    assert_true (r.so.js.begin > 0);
    assert_true (r.so.js.deadline == 1800000000.);
    assert_true (r.so.js.keep_invalid_depend);
    done (&r);
    good (&r, SH "#FLUXQ --dependency=after:1+5?afternotok:2\n");
    assert_int_equal (r.so.depend.n, 2);
    assert_true (r.so.depend.any);
    assert_true (r.so.depend.list[0].delay == 300.);
    done (&r);
    /* flux has one option for each dependency, and begin-time is one of them */
    now = clock_wall ();
    good (&r, SH "# flux: --dependency=afterok:3 --dependency=afterany:4\n"
                 "# flux: --dependency=after:5\n"
                 "# flux: --begin-time=+1h\n");
    assert_int_equal (r.so.depend.n, 3);
    assert_int_equal (r.so.depend.list[2].id, 5);
    assert_false (r.so.depend.any);
    assert_true (r.so.js.begin >= now + 3600 && r.so.js.begin < now + 3700);
    done (&r);
    good (&r, SH "# flux: --dependency=begin-time:1800000000.25\n");
    assert_int_equal (r.so.depend.n, 0);
    assert_true (r.so.js.begin == 1800000000.);
    done (&r);
}

/* -- errors: file and line first, then the option as it was written, then the error -- */

static const struct {
    const char *script, *begin, *thing;
} bad[] = {
    { SH "#SBATCH --foo\n", "dir/job.sh:2: --foo: unknown option", "" },
    { SH "\n#SBATCH -N2 --ntask-per-node=4\n",
      "dir/job.sh:3: --ntask-per-node: unknown option", "--ntasks-per-node" },
    { "\xEF\xBB\xBF" SH "#SBATCH -N1\n", "dir/job.sh:1: ", "byte order mark" },
    { SH "#SBATCH -Z\n", "dir/job.sh:2: ", "-Z" },
    { SH "#SBATCH -N x\n", "dir/job.sh:2: -N: 'x'", "" },
    { SH "#SBATCH -c2 --nodes=x\n", "dir/job.sh:2: --nodes: 'x'", "" },
    { SH "#SBATCH --parti=a,b\n", "dir/job.sh:2: --partition: ", "one queue" },
    { SH "#SBATCH --nod=2\n", "dir/job.sh:2: --nod: ambiguous", "--nodelist" },
    { SH "#SBATCH --nt=2\n", "dir/job.sh:2: --nt: ambiguous", "--ntasks-per-node" },
    { SH "#SBATCH -N\n", "dir/job.sh:2: -N: ", "value" },
    { SH "#SBATCH -N2 extra\n", "dir/job.sh:2: 'extra' is not an option", "" },
    { SH "#SBATCH -J 'a\n", "dir/job.sh:2: ", "not closed" },
    { SH "#SBATCH --power=ALL\n", "dir/job.sh:2: --power: ", "does not support" },
    { SH "#SBATCH --mail-type=NEVER\n", "dir/job.sh:2: --mail-type: ", "not an event" },
    { SH "#SBATCH --mail-user=a,\n", "dir/job.sh:2: --mail-user: ", "not a user" },
    { SH "#SBATCH -N2\n#SBATCH -L a|b\n", "dir/job.sh:3: -L: ", "cannot be asked for" },
    { SH "#SBATCH -N2\n#SBATCH -S 1\n", "dir/job.sh:3: -S: ", "remove it" },
    { SH "#SBATCH --dependency=afterok\n", "dir/job.sh:2: --dependency: ", "afterok:ID" },
    { SH "#SBATCH -b 25:00\n", "dir/job.sh:2: -b: '25:00'", "is not a time" },
    { SH "#SBATCH -t 1-30\n", "dir/job.sh:2: -t: '1-30'", "" },
    { SH "# flux: --dependency=afterok:ƒ2oLkTLb\n",
      "dir/job.sh:2: --dependency: ", "number of a job" },
    { SH "# flux: --dependency=string:foo?type=out\n",
      "dir/job.sh:2: --dependency: ", "SCHEME:ID" },
    { SH "# flux: --dependency=begin-time:soon\n",
      "dir/job.sh:2: --dependency: ", "soon" },
    { SH "# flux: --begin-time=+1x\n", "dir/job.sh:2: --begin-time: ", "1x" },
    { SH "# flux: --begin-time='in an hour'\n",
      "dir/job.sh:2: --begin-time: ", "in an hour" },
    { SH "#SBATCH -a 10-1\n", "dir/job.sh:2: -a: ", "before it begins" },
    { SH "#SBATCH --gres=core:2\n",
      "dir/job.sh:2: --gres: ", "cannot be a generic resource" },
    { SH "#SBATCH --exclusive=user\n",
      "dir/job.sh:2: --exclusive=user: ", "does not support" },
    { SH "#SBATCH --image=x\n", "dir/job.sh:2: --image: unknown option", "" },
    { SH "#SBATCH --queue=x\n", "dir/job.sh:2: --queue: unknown option", "" },
    { SH "#SBATCH -o x-%A_%q.out\n", "dir/job.sh:2: -o: ", "%A" },
    { SH "#FLUXQ --wait\n",
      "dir/job.sh:2: --wait: ", "on the command line of fluxq-submit" },
    { SH "#FLUXQ --ntasks=4 --ntasks_per_node=1\n",
      "dir/job.sh:2: --ntasks_per_node: unknown", "--ntasks-per-node" },
    { SH "# flux: -N2 -B bank\n", "dir/job.sh:2: -B: ", "flux option" },
    { SH "# flux: --setattr=user.a='''{\"k\": 1}'''\n",
      "dir/job.sh:2: --setattr: ", "does not support" },
    { SH "# flux: -N2\n# flux: --setattr=user.c='''\n# flux: a\n# flux: '''\n",
      "dir/job.sh:3: --setattr: ", "does not support" },
    { SH "# flux: --urgency=31\n", "dir/job.sh:2: --urgency: ", "0 (hold)" },
    { SH "# flux: --output=x-{{size}}\n", "dir/job.sh:2: --output: '{{size}}'", "" },
    { SH "# flux: --output=none\n", "dir/job.sh:2: --output: ", "none" },
    { SH "# flux: --output=a\\\\b\n", "dir/job.sh:2: --output: ", "not supported" },
    { SH "# flux: -o cpu-affinity=off\n", "dir/job.sh:2: -o: ", "output.mode" },
    { SH "# flux: -o output.mode=x\n", "dir/job.sh:2: -o: ", "'x'" },
    { SH "#SBATCH --open-mode=new\n", "dir/job.sh:2: --open-mode: ", "'new'" },
    { SH "#SBATCH -i in-%q\n", "dir/job.sh:2: -i: ", "%q" },
    { SH "# flux: -t soon\n", "dir/job.sh:2: -t: ", "soon" },
    { SH "# flux: --job-name='''a\n# flux: -N2\n", "dir/job.sh:2: ", "not closed" },
    { SH "# flux: --job-name='''\n# flux: a\necho\n", "dir/job.sh:2: ", "not closed" },
    { SH "# flux: --job-name='''\n", "dir/job.sh:2: ", "not closed" },
    { SH "# flux: -N2\n# flux: two nodes\n", "dir/job.sh:3: 'two' is not an option", "" },
    /* RFC 36: one sentinel, and none after the end */
    { SH "# flux: -N2\n#flux: -n2\n", "dir/job.sh:3: ", "'# flux:'" },
    { SH "# flux: -N2\n# FLUX: -n2\n", "dir/job.sh:3: ", "'# FLUX:'" },
    { SH "#FLUX: -N1\nhostname; date\n#FLUX: --job-name=test\n",
      "dir/job.sh:4: ", "line 3" },
    { SH "#FLUX: -N1\nhostname; date\n//flux: -n4\n", "dir/job.sh:4: ", "line 3" },
    /* two dialects in one file: the error names both lines */
    { SH "# flux: -N2\n\n#SBATCH -N2\n", "dir/job.sh:4: ", "line 2" },
    { SH "#SBATCH -N2\n#FLUXQ -N2\n# flux: -N2\n", "dir/job.sh:4: ", "line 2" },
    /* options of another dialect */
    { SH "#SBATCH --malleable\n", "dir/job.sh:2: --malleable",
      "write #FLUXQ --malleable" },
    { SH "#SBATCH --stage-in=a:b\n", "dir/job.sh:2: --stage-in",
      "write #FLUXQ --stage-in=a:b" },
    { SH "# flux: --reservation=a\n", "dir/job.sh:2: --reservation",
      "write #FLUXQ --reservation=a" },
    { SH "#SBATCH --stage-in a:b\n", "dir/job.sh:2: --stage-in",
      "write #FLUXQ --stage-in=a:b" },
    { SH "#SBATCH --nodes\n", "dir/job.sh:2: --nodes: ", "needs a value" },
    { SH "#FLUXQ --mincpus=2\n",
      "dir/job.sh:2: --mincpus: ", "cores with --cpus-per-task" },
    { SH "#FLUXQ -L a:x\n", "dir/job.sh:2: -L: ", "" },
    { SH "#FLUXQ --wrap=a\n",
      "dir/job.sh:2: --wrap: ", "write the command into the script" },
    { SH "# flux: --mail-type=ALL\n",
      "dir/job.sh:2: --mail-type: ", "write #FLUXQ --mail-type=ALL" },
};

/* #FLUXQ may be beside another dialect, and takes precedence at any place. */
static void test_beside (void **state)
{
    static const char *const scripts[] = {
        SH "#SBATCH -N 3 -t 5\n#FLUXQ --image=busybox -t 7\n#SBATCH -J name\n",
        SH "#FLUXQ --image=busybox -t 7\n#SBATCH -N 3 -t 5\n#SBATCH -J name\n",
        SH "# flux: -N 3 -t 5m\n#FLUXQ --image=busybox -t 7\n# flux: --job-name=name\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (scripts); i++) {
        struct result r;

        good (&r, scripts[i]);
        assert_int_equal (r.so.nodes.count.min, 3);
        assert_int_equal ((int)r.so.time_limit, 7 * 60);
        assert_string_equal (r.so.js.name, "name");
        assert_string_equal (r.so.js.image, "busybox");
        done (&r);
    }
}

static void add_line (const char *text, void *arg)
{
    strbuf_addf (arg, "%s\n", text);
}

/* All errors of a script are reported at once, not directive by directive. */
static void test_all_refusals (void **state)
{
    static const char script[] =
        SH "#SBATCH -N 2 --prefer=1 --power=x\n#SBATCH --nosuch a -Z b "
           "--uid=3\n# flux: -N1\n"
           "#FLUXQ --nodes=x\n";
    struct submit_options so;
    struct error err = { 0 };
    struct strbuf sb;

    (void)state;
    strbuf_init (&sb, 4096);
    submit_options_init (&so);
    assert_int_equal (
        script_read_all (script, strlen (script), "a", &so, NULL, add_line, &sb, &err),
        -EINVAL);
    assert_true (strncmp (sb.buf, "a:4: a directive for flux", 25) == 0);
    assert_non_null (strstr (sb.buf, "for sbatch (#SBATCH -N 2 --prefer=1 --power=x)"));
    assert_non_null (strstr (sb.buf, "\na:2: --prefer"));
    assert_non_null (strstr (sb.buf, "\na:2: --power"));
    assert_non_null (strstr (sb.buf, "\na:3: --nosuch"));
    assert_non_null (strstr (sb.buf, "\na:3: -Z"));
    assert_non_null (strstr (sb.buf, "\na:3: --uid"));
    assert_null (strstr (sb.buf, "is not an option"));
    assert_true (strncmp (err.text, "a:5: --nodes", 12) == 0);
    submit_options_release (&so);
    strbuf_release (&sb);
}

static void test_errors (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct result r;

        read_script (&r, bad[i].script);
        if (r.rc == 0)
            fail_msg ("accepted: %s", bad[i].script);
        if (strncmp (r.err.text, bad[i].begin, strlen (bad[i].begin)) != 0
            || !strstr (r.err.text, bad[i].thing))
            fail_msg ("%s'%s' does not begin with '%s' or lacks '%s'", bad[i].script,
                      r.err.text, bad[i].begin, bad[i].thing);
        done (&r);
    }
}

/* Each descriptor's example must be a directive of that dialect and of no other. */
static void test_dialects (void **state)
{
    size_t n = 0;

    (void)state;
    for (const struct dialect *const *d = dialects; *d; d++, n++) {
        const char *line = (*d)->example;
        char script[128];
        struct result r;

        for (const struct dialect *const *other = dialects; *other; other++)
            assert_int_equal ((*other)->match (line, strlen (line)) != NULL,
                              *other == *d);
        snprintf (script, sizeof (script), SH "%s\n", line);
        good (&r, script);
        assert_int_equal (r.so.nodes.count.min, 2);
        done (&r);
    }
    assert_int_equal (n, 3);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_check),
        cmocka_unit_test (test_no_directives),
        cmocka_unit_test (test_sbatch),
        cmocka_unit_test (test_late_directives),
        cmocka_unit_test (test_fluxq),
        cmocka_unit_test (test_streams),
        cmocka_unit_test (test_flux),
        cmocka_unit_test (test_flux_other_languages),
        cmocka_unit_test (test_flux_multi_line),
        cmocka_unit_test (test_flux_whole_nodes),
        cmocka_unit_test (test_flux_times),
        cmocka_unit_test (test_waiting),
        cmocka_unit_test (test_errors),
        cmocka_unit_test (test_beside),
        cmocka_unit_test (test_all_refusals),
        cmocka_unit_test (test_dialects),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
