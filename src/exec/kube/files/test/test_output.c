/* A job's output on disk: after a crash at any point the files have neither lost
 * nor repeated lines. */
#include "exec/kube/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/io.h"
#include "exec/joblaunch.h"
#include "exec/kube/files/staging.h"
#include "exec/mounts.h"

#define NOBODY 65534

static char dir[64];
static struct exec_job job;
static struct launch launch;
static char jobdir[128], spool[160];

/* A command job on two nodes with two tasks each. */
static int setup (void **state)
{
    static char spec[2048];
    struct error err = { 0 };
    struct rset *r = calloc (1, sizeof (*r));

    (void)state;
    snprintf (dir, sizeof (dir), "/tmp/fluxq-test-output.XXXXXX");
    if (!mkdtemp (dir))
        return -1;
    snprintf (jobdir, sizeof (jobdir), "%s/job", dir);
    snprintf (spool, sizeof (spool), "%s/spool-0", jobdir);
    mkdir (jobdir, 0700);
    snprintf (spec, sizeof (spec),
              "{\"version\":1,\"resources\":[{\"type\":\"node\",\"count\":2,\"with\":[{"
              "\"type\":\"slot\","
              "\"count\":2,\"label\":\"t\",\"with\":[{\"type\":\"core\",\"count\":1}]}]}]"
              ",\"tasks\":[{"
              "\"command\":[\"true\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}],"
              "\"attributes\":{"
              "\"system\":{\"duration\":0,\"cwd\":\"%s\",\"shell\":{\"options\":{"
              "\"output\":{\"stdout\":{"
              "\"type\":\"file\",\"path\":\"out-%%t\"},\"stderr\":{\"type\":\"file\","
              "\"path\":\"err-%%N\"}}}}}}}",
              dir);
    r->nranks = 2;
    r->ranks = calloc (2, sizeof (r->ranks[0]));
    for (int i = 0; i < 2; i++) {
        r->ranks[i].node = strdup (i ? "nb" : "na");
        r->ranks[i].cores = idset_create ();
        r->ranks[i].gpus = idset_create ();
        r->ranks[i].slots = 2;
    }
    job = (struct exec_job){
        .id = 5,
        .name = "x",
        .r = r,
        .dir = jobdir,
        .spool = spool,
        .user = { .uid = geteuid (), .gid = getegid (), .name = (char *)"me" }
    };
    job.js = jobspec_parse (spec, strlen (spec), &err);
    return job.js ? joblaunch_fill (&job, &launch, &err) : -1;
}

static int teardown (void **state)
{
    (void)state;
    launch_release (&launch);
    jobspec_destroy ((struct jobspec *)job.js);
    rset_destroy ((struct rset *)job.r);
    return io_remove_tree (dir, NULL);
}

static size_t frame (char *buf, uint8_t type, uint8_t stream, uint32_t task,
                     const char *text)
{
    struct frame f = { .type = type,
                       .stream = stream,
                       .rank = task / 2,
                       .task = task,
                       .len = (uint32_t)strlen (text) };

    frame_encode_head (&f, (uint8_t *)buf);
    memcpy (buf + FRAME_HEAD, text, f.len);
    return FRAME_HEAD + f.len;
}

static void write_out (struct output *o, uint8_t stream, uint32_t task, const char *text)
{
    char buf[256];
    struct error err = { 0 };

    assert_int_equal (
        output_write (o, buf, frame (buf, FRAME_OUTPUT, stream, task, text), &err), 0);
}

static void expect (const char *name, const char *text)
{
    char path[256];
    struct strbuf sb;

    strbuf_init (&sb, 65536);
    snprintf (path, sizeof (path), "%s/%s", dir, name);
    assert_int_equal (io_read_file (path, &sb, 65535, NULL), 0);
    assert_string_equal (sb.buf, text);
    strbuf_release (&sb);
}

static struct output *open_output (void)
{
    struct output *o = output_create (&job, &launch);
    struct error err = { 0 };

    assert_non_null (o);
    assert_int_equal (output_open (o, &err), 0);
    return o;
}

static void test_files (void **state)
{
    struct output *o = open_output ();

    (void)state;
    write_out (o, 1, 0, "zero\n");
    write_out (o, 1, 3, "three\n");
    write_out (o, 2, 1, "a\n");
    write_out (o, 2, 0, "b\n");
    write_out (o, 2, 2, "c\n");
    write_out (o, 1, 99, "no such task\n");
    expect ("out-0", "zero\n");
    expect ("out-1", ""); /* made at the start: a user sees that there is no output */
    expect ("out-3", "three\n");
    expect ("err-na", "a\nb\n");
    expect ("err-nb", "c\n");
    output_destroy (o);
}

static void test_crash (void **state)
{
    struct output *o = open_output ();
    uint8_t key[AGENT_KEY_SIZE];
    char buf[256];
    struct error err = { 0 };

    (void)state;
    memcpy (key, o->key, sizeof (key));
    assert_int_equal (output_write (o, buf, frame (buf, FRAME_READY, 0, 0, ""), &err), 0);
    write_out (o, 1, 0, "one\n");
    assert_int_equal (output_checkpoint (o, &err), 0);
    assert_int_equal (o->safe, o->offset);
    write_out (o, 1, 0, "two\n"); /* in spool and file, but not in a checkpoint */
    output_destroy (o);

    /* The crash came between the writes to the spool and the file, */
    int fd = open (spool, O_WRONLY | O_APPEND);
    size_t len = frame (buf, FRAME_OUTPUT, 1, 0, "three\n");
    assert_int_equal (write (fd, buf, len), len);
    /* or in the middle of a frame. */
    assert_int_equal (write (fd, buf, len - 2), len - 2);
    close (fd);

    o = open_output ();
    expect ("out-0", "one\ntwo\nthree\n");
    assert_memory_equal (o->key, key, sizeof (key));
    assert_true (o->was_ready);
    assert_false (o->finished);
    assert_int_equal (o->offset,
                      16 + 20 + 20 + 22); /* the partial frame is requested again */
    write_out (o, 1, 0, "four\n");
    output_destroy (o);
    for (int i = 0; i < 3; i++) {
        o = open_output ();
        expect ("out-0", "one\ntwo\nthree\nfour\n");
        output_destroy (o);
    }
}

static void put (const char *name, const char *text)
{
    char path[256];

    snprintf (path, sizeof (path), "%s/%s", dir, name);
    assert_int_equal (io_write_file_atomic (path, text, strlen (text), 0600, NULL), 0);
}

/* Output of the first run stays, and a crash repeats none of it. */
static void test_append (void **state)
{
    struct error err = { 0 };
    struct output *o;

    (void)state;
    put ("out-0", "before\n");
    launch.append = true;
    o = open_output ();
    write_out (o, 1, 0, "one\n");
    assert_int_equal (output_checkpoint (o, &err), 0);
    write_out (o, 1, 0, "two\n");
    output_destroy (o);
    o = open_output ();
    expect ("out-0", "before\none\ntwo\n");
    output_destroy (o);
    unlink (spool);
    snprintf (spool, sizeof (spool), "%s/spool-1", jobdir);
    job.attempt = 1;
    o = open_output ();
    write_out (o, 1, 0, "again\n");
    expect ("out-0", "before\none\ntwo\nagain\n");
    output_destroy (o);
    job.attempt = 0;
    launch.append = false;
}

static const struct inputfile *input_named (struct output *o, const char *name)
{
    const struct inputfiles *in = &o->inputs;

    for (size_t i = 0; i < in->n; i++) {
        if (!strcmp (in->v[i].name, name))
            return &in->v[i];
    }
    return NULL;
}

static void test_input (void **state)
{
    struct error err = { 0 };
    struct jobspec *js = (struct jobspec *)job.js;
    struct output *o;
    char buf[64], path[128];

    (void)state;
    put ("in", "text");
    js->input = strdup ("in");
    o = open_output ();
    assert_int_equal (o->inputs.n, 1);
    assert_memory_equal (input_named (o, "input")->data, "text", 4);
    /* While the job runs nothing is kept, and the result of the file is the same. */
    assert_int_equal (output_write (o, buf, frame (buf, FRAME_READY, 0, 0, ""), &err), 0);
    assert_int_equal (o->inputs.n, 0);
    output_destroy (o);
    snprintf (path, sizeof (path), "%s/in", dir);
    assert_int_equal (unlink (path), 0);
    o = open_output ();
    output_destroy (o);
}

static void test_input_for_each (void **state)
{
    struct jobspec *js = (struct jobspec *)job.js;
    struct output *o;

    (void)state;
    put ("in-na", "");
    put ("in-nb", "b");
    js->input = strdup ("in-%N");
    o = open_output ();
    assert_int_equal (o->inputs.n, 2);
    assert_int_equal (input_named (o, "input-0")->len, 0);
    assert_int_equal (input_named (o, "input-1")->len, 1);
    output_destroy (o);
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf (name, sizeof (name), "t%d", i);
        put (name, name);
    }
    free (js->input);
    js->input = strdup ("t%t");
    o = open_output ();
    assert_int_equal (o->inputs.n, 4);
    assert_memory_equal (input_named (o, "input-3")->data, "t3", 2);
    output_destroy (o);
}

static void test_input_refused (void **state)
{
    static char big[CONFIGMAP_MAX + 2], opened[32];
    static const struct {
        const char *input, *text;
    } bad[] = {
        { "none-there", "none-there: No such file" },
        { ".", "not a regular file" },
        { "/dev/zero", "not a regular file" },
        { "/proc/self/status", "not a regular file" },
        { opened,
          "Too many levels of symbolic links" }, /* the broker's path, not the user's */
        { "big", "big: the pods do not see this file, and at most 104" },
    };
    struct jobspec *js = (struct jobspec *)job.js;

    (void)state;
    memset (big, 'x', sizeof (big) - 1);
    put ("big", big);
    autoclose int fd = open ("/etc/passwd", O_RDONLY | O_CLOEXEC);
    assert_true (fd >= 0);
    snprintf (opened, sizeof (opened), "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct output *o;
        struct error err = { 0 };

        free (js->input);
        js->input = strdup (bad[i].input);
        o = output_create (&job, &launch);
        assert_true (output_open (o, &err) < 0);
        assert_non_null (strstr (err.text, bad[i].text));
        output_destroy (o);
    }
    free (js->input);
    js->input = strdup ("/dev/null"); /* no input is sent */
    output_destroy (open_output ());
}

/* A FRAME_FILE of a rank; mode 0: not its first frame. */
static void send_file (struct output *o, unsigned entry, uint32_t rank, uint32_t mode,
                       const char *text, int want)
{
    struct frame f = { .type = FRAME_FILE,
                       .stream = (uint8_t)entry,
                       .rank = rank,
                       .task = mode ? FRAME_FILE_FIRST | mode : 0,
                       .len = (uint32_t)strlen (text) };
    char buf[256];
    struct error err = { 0 };

    frame_encode_head (&f, (uint8_t *)buf);
    memcpy (buf + FRAME_HEAD, text, f.len);
    assert_int_equal (output_write (o, buf, FRAME_HEAD + f.len, &err), want);
}

static void stage_something (void)
{
    struct jobspec *js = (struct jobspec *)job.js;
    struct error err = { 0 };

    assert_int_equal (stage_list_add (&js->stage_out, "r", "back-%n", "", &err), 0);
    assert_int_equal (stage_list_add (&js->stage_out, "s", "back", "", &err), 0);
    assert_int_equal (stage_list_add (&js->stage_in, "in-%N", "in", "", &err), 0);
    assert_int_equal (stage_list_add (&js->stage_in, "all", "all", "", &err), 0);
    assert_int_equal (staging_fill (&job, &launch, &err), 0);
}

static void exists_not (const char *name)
{
    char path[256];

    snprintf (path, sizeof (path), "%s/%s", dir, name);
    assert_int_equal (access (path, F_OK), -1);
}

static void test_staged_in (void **state)
{
    struct output *o;
    struct error err = { 0 };
    char path[256];

    (void)state;
    put ("in-na", "a");
    put ("in-nb", "bb");
    put ("all", "");
    snprintf (path, sizeof (path), "%s/in-nb", dir);
    assert_int_equal (chmod (path, 0751), 0);
    stage_something ();
    assert_string_equal (staging_directory (&job, &launch), dir);
    o = open_output ();
    assert_int_equal (o->inputs.n, 3);
    assert_memory_equal (input_named (o, "stage-0-1")->data, "bb", 2);
    assert_int_equal (input_named (o, "stage-1")->len, 0);
    staging_set_modes (&launch, &o->inputs);
    assert_int_equal (launch.nstage_in, 3);
    assert_int_equal (launch.stage_in[1].rank, 1);
    assert_int_equal (launch.stage_in[1].mode, 0751);
    assert_string_equal (launch.stage_in[1].from, "/fluxq/job/stage-0-1");
    assert_int_equal (launch.stage_in[2].rank, LAUNCH_ALL_RANKS);
    output_destroy (o);
    assert_int_equal (unlink (path), 0);
    snprintf (path, sizeof (path), "%s/job/delivered-0", dir);
    o = output_create (&job, &launch);
    assert_true (output_open (o, &err) < 0);
    assert_string_equal (err.text, "stage-in: in-nb: No such file or directory");
    output_destroy (o);
}

/* Files that the pods can see are not sent, in either direction. */
static void test_staging_with_mounts (void **state)
{
    struct jobspec *js = (struct jobspec *)job.js;
    struct error err = { 0 };

    (void)state;
    job.mounts = json_pack ("[{s:s s:b s:{s:{}}}]", "path", "/data", "read-only", 1,
                            "volume", "emptyDir");
    stage_list_add (&js->stage_in, "/data/x", "x", "", &err);
    stage_list_add (&js->stage_in, "y", "/data/y", "", &err);
    stage_list_add (&js->stage_out, "z", "/data/z", "", &err);
    assert_int_equal (staging_fill (&job, &launch, &err), 0);
    assert_string_equal (launch.stage_in[0].from, "/data/x");
    assert_string_equal (launch.stage_in[1].from, "/fluxq/job/stage-1");
    assert_true (launch.stage_out[0].send); /* the pods cannot write it */
    assert_int_equal (launch.stage_out[0].rank, 0);
    free (launch.cwd);
    launch.cwd = strdup ("/");
    assert_null (staging_directory (&job, &launch));
    assert_int_equal (staging_fill (&job, &launch, &err), -EINVAL);
    assert_non_null (strstr (err.text, "/data/x: the job's directory is /"));
    json_decref (job.mounts);
    job.mounts = NULL;
}

static void test_staged_out (void **state)
{
    struct output *o;
    struct error err = { 0 };
    struct stat st;
    char path[256];

    (void)state;
    put ("in-na", "");
    put ("in-nb", "");
    put ("all", "");
    put ("back", "before");
    stage_something ();
    o = open_output ();
    expect ("back", "before"); /* until the new file is complete */
    exists_not ("back-0");
    send_file (o, 0, 0, 0640, "one ", 0);
    send_file (o, 0, 1, 0600, "", 0);
    assert_int_equal (output_checkpoint (o, &err), 0);
    send_file (o, 0, 0, 0, "two", 0);
    send_file (o, 1, 1, 0600, "not of this rank", 0);
    send_file (o, 1, 0, 0, "without a beginning", 0);
    send_file (o, 9, 0, 0600, "no such entry", 0);
    send_file (o, 0, 2, 0600, "no such rank", 0);
    send_file (o, 1, 0, 0600, "late", 0);
    expect ("back-0", "one two");
    snprintf (path, sizeof (path), "%s/back-0", dir);
    assert_int_equal (stat (path, &st), 0);
    assert_int_equal (st.st_mode & 0777, 0640);
    output_destroy (o); /* the broker dies here: the checkpoint has less */
    put ("back-0", "one two and what was lost with it");
    put ("back", "anything");
    o = open_output ();
    expect ("back-0", "one two");
    expect ("back-1", "");
    expect ("back", "late");
    send_file (o, 0, 0, 0, " three", 0);
    expect ("back-0", "one two three");
    assert_string_equal (o->stage_problem, "");
    output_destroy (o);
}

/* An error is recorded once, does not stop the other files, and is known
 * after a restart, too. */
static void test_staged_problem (void **state)
{
    struct output *o;
    struct error err = { 0 };
    char path[256];

    (void)state;
    put ("in-na", "");
    put ("in-nb", "");
    put ("all", "");
    stage_something ();
    o = open_output ();
    snprintf (path, sizeof (path), "%s/back", dir);
    assert_int_equal (mkdir (path, 0700), 0);
    send_file (o, 1, 0, 0600, "x", 0);
    assert_non_null (strstr (output_note (o), "stage-out: "));
    send_file (o, 1, 0, 0, "y", 0);
    assert_null (output_note (o));
    send_file (o, 0, 0, 0600, "z", 0);
    expect ("back-0", "z");
    assert_int_equal (output_checkpoint (o, &err), 0);
    output_destroy (o);
    o = open_output ();
    assert_non_null (strstr (o->stage_problem, "back is a directory"));
    output_destroy (o);
    /* A file whose copy began and whose target is now out of reach is another error. */
    snprintf (path, sizeof (path), "%s/back-0", dir);
    assert_int_equal (unlink (path), 0);
    assert_int_equal (mkdir (path, 0700), 0);
    o = open_output ();
    assert_non_null (strstr (output_note (o), "back-0 is a directory"));
    send_file (o, 0, 0, 0, "zz", 0);
    output_destroy (o);
    /* The next try starts without these errors, and checks the targets of the files
     * again. */
    snprintf (path, sizeof (path), "%s/job/delivered-0", dir);
    assert_int_equal (unlink (path), 0);
    o = output_create (&job, &launch);
    assert_int_equal (output_open (o, &err), -EISDIR);
    assert_non_null (strstr (err.text, "stage-out: "));
    output_destroy (o);
}

/* A file that the agent writes is left to the agent, also by a broker with newer
 * settings. */
static void test_by_agent (void **state)
{
    struct jobspec *js = (struct jobspec *)job.js;
    struct error err = { 0 };
    struct output *o;
    char path[256];

    (void)state;
    put ("in", "x");
    js->input = strdup ("in");
    job.mounts = json_pack ("[{s:s s:{s:{}}}]", "path", dir, "volume", "emptyDir");
    assert_int_equal (mounts_check (job.mounts, &err), 0);
    free (js->error);
    js->error = strdup ("/nowhere/else");
    o = output_create (&job, &launch);
    assert_true (output_open (o, &err) < 0); /* the broker writes this file */
    output_destroy (o);
    free (js->error);
    js->error = NULL;
    o = open_output ();
    assert_int_equal (o->by_agent, OUTPUT_BY_AGENT | ERROR_BY_AGENT);
    assert_int_equal (o->inputs.n, 0);
    write_out (o, 1, 0, "zero\n");
    output_destroy (o);
    snprintf (path, sizeof (path), "%s/out-0", dir);
    assert_int_equal (access (path, F_OK), -1);
    json_decref (job.mounts);
    job.mounts = NULL;
    o = open_output ();
    assert_int_equal (o->by_agent, OUTPUT_BY_AGENT | ERROR_BY_AGENT);
    assert_int_equal (access (path, F_OK), -1);
    output_destroy (o);
}

static void test_finish (void **state)
{
    struct output *o = open_output ();
    struct frame_finish fin = { .status = 3 << 8, .reason = "exited", .text = "task 0" };
    char text[512], buf[600];
    struct error err = { 0 };

    (void)state;
    text[frame_finish_encode (&fin, text, sizeof (text))] = 0;
    assert_int_equal (output_write (o, buf, frame (buf, FRAME_FINISH, 0, 0, text), &err),
                      0);
    output_destroy (o);
    o = open_output ();
    assert_true (o->finished); /* a restarted broker knows the end without a request */
    assert_int_equal (o->finish.status, 3 << 8);
    output_destroy (o);
}

static void test_refused (void **state)
{
    struct output *o;
    struct error err = { 0 };
    char path[256];

    (void)state;
    snprintf (path, sizeof (path), "%s/out-2", dir);
    mkdir (path, 0700);
    o = output_create (&job, &launch);
    assert_true (output_open (o, &err) < 0);
    assert_non_null (strstr (err.text, "out-2"));
    output_destroy (o);
}

static void test_spool_is_no_link (void **state)
{
    struct output *o;
    struct error err = { 0 };
    char path[256];

    (void)state;
    snprintf (path, sizeof (path), "%s/elsewhere", dir);
    close (open (path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal (symlink (path, spool), 0);
    o = output_create (&job, &launch);
    assert_true (output_open (o, &err) < 0); /* the job's directory is the user's */
    output_destroy (o);
}

/* A broker without root keeps the spool of another user's job as its own file,
 * and touches no file of that user: neither the named file nor a file that
 * would be created. */
static int as_nobody (void)
{
    struct error err = { 0 };
    char buf[512], path[128];

    if (geteuid () == 0 && (setgid (NOBODY) < 0 || setuid (NOBODY) < 0))
        return 1;
    job.user.uid = NOBODY - 1;
    struct output *o = output_create (&job, &launch);
    if (output_open (o, &err) != -EINVAL || !strstr (err.text, "output file: out-%t:")
        || !strstr (err.text, "-o /dev/null"))
        return 2;
    output_destroy (o);
    struct jobspec *js = (struct jobspec *)job.js;
    for (int i = 0; i < 2; i++) {
        char **file = i ? &js->error : &js->output;
        free (*file);
        *file = strdup ("/dev/null");
    }
    o = output_create (&job, &launch);
    if (output_open (o, &err) < 0)
        return 3;
    size_t n = frame (buf, FRAME_OUTPUT, 1, 0, "text");
    if (output_write (o, buf, n, &err) < 0 || output_checkpoint (o, &err) < 0
        || o->safe != n)
        return 4;
    output_destroy (o);
    snprintf (path, sizeof (path), "%s/out-0", dir);
    return access (path, F_OK) == 0 ? 5 : 0;
}

static void test_unprivileged (void **state)
{
    int status;

    (void)state;
    if (geteuid () == 0)
        assert_int_equal (chown (dir, NOBODY, NOBODY) | chown (jobdir, NOBODY, NOBODY),
                          0);
    pid_t pid = fork ();
    if (pid == 0)
        _exit (as_nobody ());
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_int_equal (status, 0);
}

static const char *note;

static const char *o_note (struct output *o)
{
    return note = output_note (o);
}

/* A reader that opens a FIFO and stops reading: the lost output is reported, and
 * other files continue. */
static void test_fifo_that_nobody_empties (void **state)
{
    static char text[200];
    char path[128];
    struct output *o;

    (void)state;
    snprintf (path, sizeof (path), "%s/out-0", dir);
    assert_int_equal (mkfifo (path, 0600), 0);
    int reader = open (path, O_RDONLY | O_NONBLOCK);
    assert_true (reader >= 0);
    o = open_output ();
    memset (text, 'x', sizeof (text) - 1);
    for (int i = 0; i < 1000 && !o_note (o); i++)
        write_out (o, 1, 0, text);
    assert_non_null (strstr (note, "out-0: its reader does not keep up"));
    write_out (o, 1, 0, "given up\n");
    write_out (o, 1, 1, "goes on\n");
    expect ("out-1", "goes on\n");
    output_destroy (o);
    close (reader);
}

/* Files that the user puts in place of the broker's files there. */
static void test_no_other_file_is_opened (void **state)
{
    static const char *const names[] = { "key", "delivered-0", "spool-0" };
    char path[192], away[200];
    struct error err;

    (void)state;
    put ("other", "");
    output_destroy (open_output ());
    for (int i = 0; i < 6; i++) {
        snprintf (path, sizeof (path), "%s/%s", jobdir, names[i / 2]);
        snprintf (away, sizeof (away), "%s.away", path);
        assert_int_equal (rename (path, away), 0);
        assert_int_equal (i % 2 ? symlink ("../other", path) : mkfifo (path, 0666), 0);
        struct output *o = output_create (&job, &launch);
        assert_non_null (o);
        err = (struct error){ 0 };
        assert_int_equal (output_open (o, &err), -EPERM);
        assert_non_null (strstr (err.text, names[i / 2]));
        output_destroy (o);
        assert_int_equal (rename (away, path), 0);
    }
    expect ("other", "");
    output_destroy (open_output ());
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_files, setup, teardown),
        cmocka_unit_test_setup_teardown (test_crash, setup, teardown),
        cmocka_unit_test_setup_teardown (test_append, setup, teardown),
        cmocka_unit_test_setup_teardown (test_input, setup, teardown),
        cmocka_unit_test_setup_teardown (test_input_for_each, setup, teardown),
        cmocka_unit_test_setup_teardown (test_input_refused, setup, teardown),
        cmocka_unit_test_setup_teardown (test_staged_in, setup, teardown),
        cmocka_unit_test_setup_teardown (test_staging_with_mounts, setup, teardown),
        cmocka_unit_test_setup_teardown (test_staged_out, setup, teardown),
        cmocka_unit_test_setup_teardown (test_staged_problem, setup, teardown),
        cmocka_unit_test_setup_teardown (test_by_agent, setup, teardown),
        cmocka_unit_test_setup_teardown (test_finish, setup, teardown),
        cmocka_unit_test_setup_teardown (test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown (test_spool_is_no_link, setup, teardown),
        cmocka_unit_test_setup_teardown (test_fifo_that_nobody_empties, setup, teardown),
        cmocka_unit_test_setup_teardown (test_no_other_file_is_opened, setup, teardown),
        cmocka_unit_test_setup_teardown (test_unprivileged, setup, teardown),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
