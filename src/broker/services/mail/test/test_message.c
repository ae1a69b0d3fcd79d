/* test_message.c - what a mail says, and how the program that sends it is called. Fails
 * if a user's text can make a header, or gets among the program's arguments. */
#include "broker/core/test/small.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/services/mail/message.h"
#include "common/io.h"

/* A stand-in for fluxq-shell: writes its arguments and the file of --input. */
static const char script[] = "#!/bin/sh\n"
                             "cd \"${0%/*}\" || exit 1\n"
                             "for a; do echo \"$a\"; done >arguments\n"
                             "while [ \"$1\" != --input ]; do shift; done\n"
                             "cat \"$2\" >text\n"
                             "[ ! -e fail ]\n";

struct world {
    struct small *s;
    char dir[64], path[96];
    struct job *job;
    int ended, failures;
};

static void in_dir (const struct world *w, const char *name, char *ret, size_t size)
{
    snprintf (ret, size, "%s/%s", w->dir, name);
}

static int setup (void **state)
{
    struct world *w = calloc (1, sizeof (*w));

    w->s = small_create (1);
    snprintf (w->dir, sizeof (w->dir), "/tmp/fluxq-mail-XXXXXX");
    assert_non_null (mkdtemp (w->dir));
    in_dir (w, "shell", w->path, sizeof (w->path));
    int fd = open (w->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    assert_int_equal (io_write_all (fd, script, sizeof (script) - 1), 0);
    close (fd);
    free (w->s->config->shell_path);
    w->s->config->shell_path = strdup (w->path);
    w->job = entry_job (small_submit (w->s, "duration: 60"));
    free (w->job->name);
    w->job->name = strdup ("x\r\nBcc: eve@evil.org\r\n\xc3\xa4");
    *state = w;
    return 0;
}

static int teardown (void **state)
{
    static const char *const names[] = { "shell", "arguments", "text", "fail" };
    struct world *w = *state;
    char path[96];

    for (size_t i = 0; i < ARRAY_SIZE (names); i++) {
        in_dir (w, names[i], path, sizeof (path));
        unlink (path);
    }
    rmdir (w->dir);
    small_destroy (w->s);
    free (w);
    return 0;
}

static void done (struct message *m, bool failed, void *arg)
{
    struct world *w = arg;

    w->ended++;
    w->failures += failed;
    message_destroy (m);
}

/* Sends a mail about the job, and waits for the end of the program. */
static void send_one (struct world *w)
{
    const struct message_how how = { "/usr/sbin/sendmail", 60 };
    struct message *m = message_create (w->job, MAIL_END);
    struct error err = { 0 };
    int before = w->ended;

    assert_int_equal (message_write (m, w->job, false, "ann,bob@b.org", "example.org"),
                      0);
    assert_int_equal (message_send (m, w->s->b, &how, done, w, &err), 0);
    while (w->ended == before)
        uv_run (&w->s->loop, UV_RUN_ONCE);
}

static void read_text (const struct world *w, const char *name, struct strbuf *sb)
{
    char path[96];
    struct error err = { 0 };

    in_dir (w, name, path, sizeof (path));
    assert_int_equal (io_read_file (path, sb, 65536, &err), 0);
}

static void a_name_cannot_make_a_header (void **state)
{
    struct world *w = *state;
    autostrbuf struct strbuf text = STRBUF_INIT (65536);

    send_one (w);
    assert_int_equal (w->failures, 0);
    read_text (w, "text", &text);
    assert_true (!strncmp (text.buf,
                           "To: ann@example.org, bob@b.org\nSubject: Slurm Job_id=", 52));
    assert_non_null (strstr (text.buf, "Name=x??Bcc: eve@evil.org??? Ended"));
    assert_null (strstr (text.buf, "\nBcc"));
    assert_null (strchr (text.buf, '\r'));
}

static void the_arguments_have_no_text_of_the_user (void **state)
{
    struct world *w = *state;
    autostrbuf struct strbuf args = STRBUF_INIT (65536);

    send_one (w);
    read_text (w, "arguments", &args);
    assert_non_null (strstr (args.buf, "--program\n/usr/sbin/sendmail\n--timeout\n60\n"));
    assert_non_null (strstr (args.buf, "--argument\n-i\n--argument\n-t\n"));
    assert_null (strstr (args.buf, "eve"));
    assert_null (strstr (args.buf, "ann"));
}

static void a_failure_is_told (void **state)
{
    struct world *w = *state;
    char path[96];

    in_dir (w, "fail", path, sizeof (path));
    close (open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    send_one (w);
    assert_int_equal (w->failures, 1);
    free (w->s->config->shell_path);
    w->s->config->shell_path = strdup ("/nonexistent/fluxq-shell");
    send_one (w);
    assert_int_equal (w->failures, 2);
}

static void lists_of_events_and_addresses (void **state)
{
    static const char *const bad_types[] = { "", "x", "END,", "BEGIN;END", "STAGE_OUT" };
    static const char *const bad_users[] = { "",   "a\nb", "a b", "-f", "a@b@c",
                                             "a,", "a;b",  "<a>", "a\"" };
    struct error err = { 0 };
    unsigned types;

    (void)state;
    assert_int_equal (mail_types_parse ("all,Time_Limit_80", &types, "x", &err), 0);
    assert_int_equal (types, MAIL_BEGIN | MAIL_END | MAIL_FAIL | MAIL_REQUEUE
                                 | MAIL_INVALID_DEPEND | MAIL_TIME_LIMIT_80);
    assert_int_equal (mail_types_parse ("END,NONE", &types, "x", &err), 0);
    assert_int_equal (types, 0);
    for (size_t i = 0; i < ARRAY_SIZE (bad_types); i++)
        assert_int_equal (mail_types_parse (bad_types[i], &types, "x", &err), -EINVAL);
    assert_int_equal (mail_user_check ("ann,bob+jobs@b-c.org", "x", &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE (bad_users); i++)
        assert_int_equal (mail_user_check (bad_users[i], "x", &err), -EINVAL);
}

#define CASE(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        CASE (a_name_cannot_make_a_header),
        CASE (the_arguments_have_no_text_of_the_user),
        CASE (a_failure_is_told),
        cmocka_unit_test (lists_of_events_and_addresses),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
