/* test_stage.c - tests of stage.h: files that are copied, and files that cannot be */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/io.h"
#include "common/macros.h"
#include "shell/io/stage.h"

static char dir[] = "/tmp/test_stage.XXXXXX";
static int cwd = -1;
static struct launch_node nodes[] = { { .name = (char *)"na", .ntasks = 1 },
                                      { .name = (char *)"nb", .ntasks = 1 } };
static struct launch launch;
static struct loop loop;

/* The reports of the events. */
static struct seen {
    size_t room;
    char text[512]; /* problems, then the text of done */
    struct error err;
    bool done;
    unsigned nframes;
    uint32_t first; /* task of the first frame */
    size_t sent;
} seen;
static struct stage *stage;

static size_t room (void *ctx)
{
    (void)ctx;
    return seen.room;
}

static void on_send (void *ctx, const struct frame *frame)
{
    (void)ctx;
    assert_int_equal (frame->type, FRAME_FILE);
    assert_true (frame->len <= seen.room);
    if (seen.nframes++ == 0)
        seen.first = frame->task;
    else
        assert_int_equal (frame->task, 0);
    seen.sent += frame->len;
    seen.room -= frame->len;
}

static void on_problem (void *ctx, const char *text)
{
    (void)ctx;
    snprintf (seen.text + strlen (seen.text), sizeof (seen.text) - strlen (seen.text),
              "%s\n", text);
}

static void on_done (void *ctx, const struct error *err)
{
    (void)ctx;
    assert_false (seen.done);
    seen.done = true;
    seen.err = *err;
    loop_stop (&loop, 0);
}

static const struct stage_events events = { room, on_send, on_problem, on_done };

static void put (const char *name, const char *text, mode_t mode)
{
    int fd = openat (cwd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true (fd >= 0);
    assert_int_equal (io_write_all (fd, text, strlen (text)), 0);
    assert_int_equal (fchmod (fd, mode), 0);
    close (fd);
}

static void holds (const char *name, const char *text, mode_t mode)
{
    char buf[64] = "";
    struct stat st;
    int fd = openat (cwd, name, O_RDONLY);

    assert_true (fd >= 0);
    assert_int_equal (io_read_all (fd, buf, sizeof (buf) - 1), strlen (text));
    assert_string_equal (buf, text);
    assert_int_equal (fstat (fd, &st), 0);
    assert_int_equal (st.st_mode & 0777, mode);
    close (fd);
}

static int set_up (void **state)
{
    (void)state;
    memcpy (dir + sizeof (dir) - 7, "XXXXXX", 6);
    if (!mkdtemp (dir))
        return -1;
    cwd = open (dir, O_PATH | O_DIRECTORY);
    launch = (struct launch){ .job_id = 12, .nodes = nodes, .nnodes = 2 };
    launch.cwd = dir;
    seen = (struct seen){ .room = SIZE_MAX };
    return cwd < 0 ? -1 : loop_init (&loop);
}

static int tear_down (void **state)
{
    (void)state;
    stage_destroy (stage);
    stage = NULL;
    free (launch.stage_in);
    free (launch.stage_out);
    loop_release (&loop);
    close (cwd);
    return io_remove_tree (dir, NULL);
}

static void add (bool out, uint32_t rank, bool send, const char *from, const char *to)
{
    struct launch_stage **list = out ? &launch.stage_out : &launch.stage_in;
    size_t *n = out ? &launch.nstage_out : &launch.nstage_in;

    *list = realloc (*list, (*n + 1) * sizeof (**list));
    (*list)[(*n)++] = (struct launch_stage){
        .rank = rank, .send = send, .from = (char *)from, .to = (char *)to
    };
}

static void create (uint32_t rank)
{
    stage = stage_create (&loop, &launch, rank, &events, NULL);
    assert_non_null (stage);
    stage_set_directory (stage, cwd, dir);
}

static void run (uint32_t rank, bool out)
{
    create (rank);
    (out ? stage_out : stage_in) (stage);
    assert_false (seen.done); /* not inside the call */
    loop_run (&loop);
    assert_true (seen.done);
}

static void files_are_copied_with_their_modes (void **state)
{
    (void)state;
    put ("a", "text", 0750);
    put ("old", "old", 0644);
    put ("b", "", 0600);
    add (false, LAUNCH_ALL_RANKS, false, "a", "old");
    add (false, 0, false, "b", "b-%n-%j");
    add (false, 1, false, "nosuch", "x"); /* of another rank */
    launch.stage_in[1].mode = 0640;
    assert_true (stage_has_in (&launch, 1));
    assert_false (stage_has_out (&launch, 1));
    run (0, false);
    assert_int_equal (seen.err.code, 0);
    holds ("old", "text", 0750);
    holds ("b-0-12", "", 0640);
}

static void the_first_error_ends_it_and_nothing_is_left (void **state)
{
    static const struct {
        const char *from, *to, *text;
    } bad[] = {
        { "nosuch", "x", "stage-in: nosuch: No such file" },
        { "sub", "x", "stage-in: sub is a directory" },
        { "fifo", "x", "stage-in: fifo is not a regular file" },
        { "a", "sub", "stage-in: sub is a directory" },
        { "a", "fifo", "stage-in: fifo is not a regular file" },
        { "a", "missing/x", "stage-in: missing/x: directory missing: No such file" },
        { "a", "a/x", "stage-in: a/x: directory a: Not a directory" },
    };

    (void)state;
    put ("a", "text", 0600);
    assert_int_equal (mkdirat (cwd, "sub", 0700), 0);
    assert_int_equal (mkfifoat (cwd, "fifo", 0600), 0);
    add (false, LAUNCH_ALL_RANKS, false, "", "");
    add (false, LAUNCH_ALL_RANKS, false, "a", "never");
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        seen = (struct seen){ 0 };
        loop.stopped = false;
        launch.stage_in[0].from = (char *)bad[i].from;
        launch.stage_in[0].to = (char *)bad[i].to;
        run (0, false);
        if (!strstr (seen.err.text, bad[i].text))
            fail_msg ("%s", seen.err.text);
        assert_int_equal (faccessat (cwd, "never", F_OK, 0), -1);
        stage_destroy (stage);
        stage = NULL;
    }
    assert_int_equal (faccessat (cwd, ".fluxq-12-0-in-0", F_OK, 0), -1);
}

static void what_is_its_own_destination_is_left_alone (void **state)
{
    struct stat before, after;

    (void)state;
    put ("a", "text", 0600);
    assert_int_equal (symlinkat ("a", cwd, "link"), 0);
    assert_int_equal (fstatat (cwd, "a", &before, 0), 0);
    add (true, LAUNCH_ALL_RANKS, false, "a", "a");
    add (true, LAUNCH_ALL_RANKS, false, "a", "link");
    run (1, true);
    assert_string_equal (seen.text, "");
    assert_int_equal (fstatat (cwd, "link", &after, AT_SYMLINK_NOFOLLOW), 0);
    assert_true (S_ISLNK (after.st_mode));
    assert_int_equal (fstatat (cwd, "a", &after, 0), 0);
    assert_int_equal (after.st_ino, before.st_ino);
    /* A link to another file is replaced, and its target is not written. */
    put ("b", "b", 0600);
    launch.stage_out[0] =
        (struct launch_stage){ .from = (char *)"b", .to = (char *)"link" };
    launch.nstage_out = 1;
    stage_destroy (stage);
    seen = (struct seen){ 0 };
    loop.stopped = false;
    run (0, true);
    holds ("a", "text", 0600);
    holds ("link", "b", 0600);
}

static void at_the_end_each_problem_is_told_and_the_rest_is_brought (void **state)
{
    (void)state;
    put ("b", "b", 0600);
    add (true, 0, false, "nosuch", "x");
    add (true, 0, true, "gone-%N", "x");
    add (true, 0, false, "b", "c");
    run (0, true);
    assert_int_equal (seen.err.code, 0);
    assert_string_equal (seen.text,
                         "stage-out: nosuch: No such file or directory (na)\n"
                         "stage-out: gone-na: No such file or directory (na)\n");
    holds ("c", "b", 0600);
}

static void give (struct loop_timer *timer)
{
    (void)timer;
    assert_int_equal (seen.room, 0);
    seen.room = 70000;
    stage_resume (stage);
}

static void on_round (void *arg)
{
    static struct loop_timer timer = { .fire = give };

    (void)arg;
    if (seen.room == 0 && !timer.armed && !seen.done)
        loop_timer_set (&loop, &timer, loop_now ());
}

static void a_file_is_sent_as_far_as_there_is_room (void **state)
{
    static char text[300001];

    (void)state;
    memset (text, 'x', sizeof (text) - 1);
    put ("big", text, 0640);
    put ("empty", "", 0600);
    add (true, 0, true, "big", "there");
    seen.room = 1000;
    loop.round = on_round;
    run (0, true);
    assert_int_equal (seen.sent, 300000);
    assert_int_equal (seen.first, FRAME_FILE_FIRST | 0640);
    stage_destroy (stage);
    seen = (struct seen){ .room = 1000 };
    loop.stopped = false;
    launch.stage_out[0].from = (char *)"empty";
    run (0, true);
    assert_int_equal (seen.nframes, 1);
    assert_int_equal (seen.first, FRAME_FILE_FIRST | 0600);
}

static void what_cannot_be_written_shows_before (void **state)
{
    struct error err = { 0 };

    (void)state;
    add (true, 1, false, "x", "missing/x");
    add (true, 0, true, "x", "missing/x"); /* not by the agent */
    add (true, 0, false, "x", "fresh");
    create (0);
    assert_int_equal (stage_check (stage, &err), 0);
    stage_destroy (stage);
    create (1);
    assert_int_equal (stage_check (stage, &err), -ENOENT);
    assert_non_null (strstr (err.text, "stage-out: "));
    assert_int_equal (faccessat (cwd, "fresh", F_OK, 0), -1);
}

static void a_copy_that_is_given_up_leaves_nothing (void **state)
{
    struct stat st;

    (void)state;
    put ("a", "", 0600);
    int fd = openat (cwd, "a", O_WRONLY);
    assert_int_equal (ftruncate (fd, 8 << 20), 0);
    close (fd);
    add (false, 0, false, "a", "b");
    create (0);
    stage_in (stage);
    loop.timers->fire (loop.timers); /* one turn for eight files */
    assert_int_equal (fstatat (cwd, ".fluxq-12-0-in-0", &st, 0), 0);
    stage_destroy (stage);
    stage = NULL;
    assert_int_equal (fstatat (cwd, ".fluxq-12-0-in-0", &st, 0), -1);
    assert_int_equal (fstatat (cwd, "b", &st, 0), -1);
    assert_false (seen.done);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, set_up, tear_down)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (files_are_copied_with_their_modes),
        TEST (the_first_error_ends_it_and_nothing_is_left),
        TEST (what_is_its_own_destination_is_left_alone),
        TEST (at_the_end_each_problem_is_told_and_the_rest_is_brought),
        TEST (a_file_is_sent_as_far_as_there_is_room),
        TEST (what_cannot_be_written_shows_before),
        TEST (a_copy_that_is_given_up_leaves_nothing),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
