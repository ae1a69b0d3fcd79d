/* test_audit_file.c - the writer of the audit log: lines are whole, bounded and JSON whatever
 * callers send, old files are kept, and a full disk leaves no part of a line */
#include "common/test/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/api/audit_note.h"
#include "broker/services/audit/audit_file.h"
#include "broker/services/audit/audit_line.h"
#include "common/io.h"
#include "common/json.h"

/* -- lines -- */

static const struct audit_record plain = {
    .time = 1769860800.25,
    .user = "alice",
    .uid = 1000,
    .by = "socket",
    .from = "pid 12",
    .method = "POST",
    .path = "/v1/cancel",
    .action = "cancel",
    .jobs = (const uint64_t[]){ 7, 9 },
    .njobs = 2,
    .nfailed = 1,
    .owner = "bob",
    .status = 200,
    .code = "not-owner",
};

static void test_exact_line (void **state)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (AUDIT_BUFFER);

    (void)state;
    audit_line_request (&sb, &plain);
    assert_string_equal (
        sb.buf,
        "{\"time\":\"2026-01-31T12:00:00.250000Z\",\"user\":\"alice\",\"uid\":1000,"
        "\"by\":\"socket\",\"from\":\"pid 12\",\"method\":\"POST\","
        "\"path\":\"/v1/cancel\",\"action\":\"cancel\",\"jobs\":[7,9],\"njobs\":2,"
        "\"failed\":1,\"owner\":\"bob\",\"status\":200,\"code\":\"not-owner\"}\n");
    const struct audit_record nobody = { .time = 0.000001, .uid = -1, .status = 401 };
    audit_line_request (&sb, &nobody);
    assert_string_equal (
        sb.buf, "{\"time\":\"1970-01-01T00:00:00.000001Z\",\"user\":null,\"uid\":null,"
                "\"by\":null,\"from\":null,\"method\":null,\"path\":null,\"action\":null,"
                "\"jobs\":[],\"njobs\":0,\"failed\":0,\"owner\":null,\"status\":401,"
                "\"code\":null}\n");
    audit_line_next (&sb, 1769860800, "/a b");
    assert_string_equal (
        sb.buf, "{\"time\":\"2026-01-31T12:00:00.000000Z\",\"next\":\"/a b\"}\n");
    audit_line_lost (&sb, 1769860800, 12345);
    assert_string_equal (sb.buf,
                         "{\"time\":\"2026-01-31T12:00:00.000000Z\",\"lost\":12345}\n");
}

/* The line as JSON; fails if it is too long, or not one line. */
static json_t *parse_line (const struct strbuf *sb)
{
    json_error_t why;

    assert_int_equal (sb->err, 0);
    assert_in_range (sb->len, 2, AUDIT_LINE_MAX);
    assert_ptr_equal (memchr (sb->buf, '\n', sb->len), sb->buf + sb->len - 1);
    json_t *o = json_loads (sb->buf, 0, &why);
    if (!o)
        fail_msg ("%s: %s", why.text, sb->buf);
    return o;
}

static const char *text_of (const json_t *o, const char *key)
{
    const char *text = json_string_value (json_object_get (o, key));

    return text ? text : "";
}

#define ELLIPSIS "\xe2\x80\xa6"

/* Whether cut is the beginning of the whole text with an ellipsis. */
static void expect_cut (const char *cut, const char *whole)
{
    size_t len = strlen (cut), mark = strlen (ELLIPSIS);

    assert_true (len > mark);
    assert_string_equal (cut + len - mark, ELLIPSIS);
    assert_memory_equal (cut, whole, len - mark);
}

/* Fills buf with a text of n bytes, made of the piece. */
static char *repeat (char *buf, size_t n, const char *piece)
{
    size_t len = strlen (piece);

    for (size_t i = 0; i < n; i++)
        buf[i] = piece[i % len];
    buf[n] = '\0';
    return buf;
}

static void test_hostile_texts (void **state)
{
    static const char *const pieces[] = {
        "a", "\"", "\\", "\x01", "\x7f", "\xc3\xa4", "\xf0\x9f\x98\x80"
    };
    static char text[40001];
    uint64_t jobs[AUDIT_JOBS_MAX];
    autostrbuf struct strbuf sb = STRBUF_INIT (AUDIT_BUFFER);

    (void)state;
    for (size_t i = 0; i < AUDIT_JOBS_MAX; i++)
        jobs[i] = INT64_MAX - i;
    for (size_t i = 0; i < ARRAY_SIZE (pieces); i++) {
        for (size_t n = strlen (pieces[i]); n < sizeof (text); n = n * 2 + 4) {
            n -= n % strlen (pieces[i]);
            repeat (text, n, pieces[i]);
            const struct audit_record r = { .time = 1e9,
                                            .user = text,
                                            .uid = UINT32_MAX,
                                            .by = text,
                                            .from = text,
                                            .method = text,
                                            .path = text,
                                            .action = text,
                                            .jobs = jobs,
                                            .njobs = SIZE_MAX / 2,
                                            .nfailed = SIZE_MAX / 2,
                                            .owner = text,
                                            .status = UINT32_MAX,
                                            .code = text };
            audit_line_request (&sb, &r);
            autojson json_t *o = parse_line (&sb);
            if (n <= 16)
                assert_string_equal (text_of (o, "path"), text);
            if (n > 600)
                expect_cut (text_of (o, "path"), text);
            assert_int_equal (json_array_size (json_object_get (o, "jobs")),
                              AUDIT_JOBS_MAX);
        }
    }
}

/* Bytes that are no UTF-8, and what looks like the end of the line. */
static void test_odd_bytes (void **state)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (AUDIT_BUFFER);
    struct audit_record r = plain;

    (void)state;
    r.path = "/v1/\xff\xfe\"}\n{\"user\":\"root\"\r\t";
    r.user = "\xed\xa0\x80";
    audit_line_request (&sb, &r);
    autojson json_t *o = parse_line (&sb);
    assert_string_equal (text_of (o, "path"),
                         "/v1/\xef\xbf\xbd\xef\xbf\xbd\"}\n{\"user\":\"root\"\r\t");
    assert_string_equal (text_of (o, "method"), "POST");
    assert_memory_equal (text_of (o, "user"), "\xef\xbf\xbd", 3);
}

/* -- the file -- */

struct world {
    char dir[64], path[96], old[128];
};

static int setup (void **state)
{
    struct world *w = calloc (1, sizeof (*w));

    snprintf (w->dir, sizeof (w->dir), "/tmp/fluxq-audit-XXXXXX");
    assert_non_null (mkdtemp (w->dir));
    snprintf (w->path, sizeof (w->path), "%s/audit.log", w->dir);
    *state = w;
    return 0;
}

static int teardown (void **state)
{
    struct world *w = *state;

    assert_int_equal (io_remove_tree (w->dir, NULL), 0);
    free (w);
    return 0;
}

/* PATH.n; 0: PATH. */
static const char *old_file (struct world *w, unsigned n)
{
    if (n)
        snprintf (w->old, sizeof (w->old), "%s.%u", w->path, n);
    else
        snprintf (w->old, sizeof (w->old), "%s", w->path);
    return w->old;
}

static void expect_file (const char *path, const char *want)
{
    struct strbuf sb = STRBUF_INIT (1 << 20);
    char buf[4096];
    int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        fail_msg ("%s: %s", path, strerror (errno));
    while ((n = read (fd, buf, sizeof (buf))) > 0)
        strbuf_add (&sb, buf, (size_t)n);
    close (fd);
    assert_string_equal (sb.buf, want);
    strbuf_release (&sb);
}

static void fill_file (const char *path, const char *text)
{
    int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true (fd >= 0);
    assert_int_equal (io_write_all (fd, text, strlen (text)), 0);
    close (fd);
}

static struct audit_file *open_log (const struct world *w, uint64_t most, unsigned keep)
{
    struct error err = { 0 };
    struct audit_file *f = audit_file_open (w->path, most, keep, &err);

    if (!f)
        fail_msg ("%s", err.text);
    return f;
}

static int put (struct audit_file *f, const char *line)
{
    struct error err = { 0 };

    return audit_file_write (f, line, strlen (line), &err);
}

static void test_rotation (void **state)
{
    struct world *w = *state;
    struct audit_file *f = open_log (w, 12, 3);
    char line[32];
    struct stat st;

    for (int i = 0; i < 9; i++) { /* two lines of six bytes fit */
        snprintf (line, sizeof (line), "line%d\n", i);
        assert_int_equal (put (f, line), 0);
    }
    expect_file (old_file (w, 0), "line8\n");
    expect_file (old_file (w, 1), "line6\nline7\n");
    expect_file (old_file (w, 2), "line4\nline5\n");
    expect_file (old_file (w, 3), "line2\nline3\n");
    assert_int_equal (stat (old_file (w, 4), &st), -1);
    assert_int_equal (stat (w->path, &st), 0);
    assert_int_equal (st.st_mode & 07777, 0600);
    audit_file_close (f);
    f = open_log (w, 12, 1); /* the size goes on after a restart */
    assert_int_equal (put (f, "line9\n"), 0);
    assert_int_equal (put (f, "a line longer than the file may be\n"), 0);
    assert_int_equal (put (f, "end\n"), 0);
    expect_file (old_file (w, 0), "end\n");
    expect_file (old_file (w, 1), "a line longer than the file may be\n");
    audit_file_close (f);
}

static void test_never_rotated (void **state)
{
    struct world *w = *state;
    struct audit_file *f = open_log (w, 0, 1);
    struct stat st;

    for (int i = 0; i < 1000; i++)
        assert_int_equal (put (f, "line\n"), 0);
    assert_int_equal (stat (w->path, &st), 0);
    assert_int_equal (st.st_size, 5000);
    audit_file_close (f);
}

/* A directory in the way of the old file. */
static void test_cannot_be_rotated (void **state)
{
    struct world *w = *state;
    struct audit_file *f = open_log (w, 8, 2);
    char inside[160];

    assert_int_equal (mkdir (old_file (w, 1), 0700), 0);
    assert_int_equal (mkdir (old_file (w, 2), 0700), 0);
    snprintf (inside, sizeof (inside), "%s/x", w->old);
    fill_file (inside, "");
    assert_null (audit_file_trouble (f));
    for (int i = 0; i < 3; i++)
        assert_int_equal (put (f, "line\n"), 0);
    expect_file (w->path, "line\nline\nline\n");
    assert_non_null (strstr (audit_file_trouble (f), old_file (w, 1)));
    audit_file_close (f);
}

/* As logrotate does it: the file is renamed, removed or truncated. */
static void test_moved_by_others (void **state)
{
    struct world *w = *state;
    struct audit_file *f = open_log (w, 0, 1);

    assert_int_equal (put (f, "one\n"), 0);
    assert_int_equal (rename (w->path, old_file (w, 5)), 0);
    assert_int_equal (put (f, "two\n"), 0);
    expect_file (w->path, "two\n");
    expect_file (old_file (w, 5), "one\n");
    assert_int_equal (unlink (w->path), 0);
    assert_int_equal (put (f, "three\n"), 0);
    expect_file (w->path, "three\n");
    assert_int_equal (rename (w->path, old_file (w, 5)), 0);
    fill_file (w->path, "new\n");
    assert_int_equal (put (f, "four\n"), 0);
    expect_file (w->path, "new\nfour\n");
    assert_int_equal (truncate (w->path, 0), 0);
    assert_int_equal (put (f, "five\n"), 0);
    expect_file (w->path, "five\n");
    assert_int_equal (unlink (w->path), 0);
    assert_int_equal (symlink ("five", w->path), 0);
    assert_int_equal (put (f, "six\n"), -ELOOP);
    assert_int_equal (unlink (w->path), 0);
    assert_int_equal (put (f, "seven\n"), 0);
    expect_file (w->path, "seven\n");
    audit_file_close (f);
}

static void expect_refused (const char *path, const char *reason)
{
    struct error err = { 0 };

    assert_null (audit_file_open (path, 0, 1, &err));
    if (!strstr (err.text, path) || !strstr (err.text, reason))
        fail_msg ("%s: %s", path, err.text);
}

static void test_bad_paths (void **state)
{
    struct world *w = *state;
    char path[160];

    snprintf (path, sizeof (path), "%s/none/audit.log", w->dir);
    expect_refused (path, "No such file or directory");
    expect_refused (w->dir, "Is a directory");
    snprintf (path, sizeof (path), "%s/link", w->dir);
    assert_int_equal (symlink ("target", path), 0);
    expect_refused (path, "symbolic links");
    snprintf (path, sizeof (path), "%s/fifo", w->dir);
    assert_int_equal (mkfifo (path, 0600), 0);
    expect_refused (path, "not a regular file");
}

/* A process that was killed within a write may leave this. */
static void test_part_of_a_line (void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        { "", "new\n" },
        { "whole\n", "whole\nnew\n" },
        { "{\"time\":\"x\"}\n{\"time\":\"20", "{\"time\":\"x\"}\nnew\n" },
        { "{\"time\":\"20", "new\n" },
        { "{", "new\n" },
        { "whole\n{\"t", "whole\nnew\n" },
        { "whole\nof somebody else", "whole\nof somebody else\nnew\n" },
        { "words", "words\nnew\n" },
    };
    struct world *w = *state;
    static char text[10001];

    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        fill_file (w->path, cases[i].before);
        struct audit_file *f = open_log (w, 0, 1);
        assert_int_equal (put (f, "new\n"), 0);
        audit_file_close (f);
        expect_file (w->path, cases[i].after);
    }
    fill_file (w->path, repeat (text, 9000, "x"));
    struct audit_file *f = open_log (w, 0, 1);
    assert_int_equal (put (f, "new\n"), 0);
    audit_file_close (f);
    snprintf (text + 9000, sizeof (text) - 9000, "\nnew\n");
    expect_file (w->path, text);
}

static void set_file_limit (rlim_t most)
{
    struct rlimit limit;

    assert_int_equal (getrlimit (RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = most;
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &limit), 0);
}

/* As on a full disk, a write of a line takes only a part of it. */
static void test_no_room (void **state)
{
    struct world *w = *state;
    struct audit_file *f = open_log (w, 0, 1);

    signal (SIGXFSZ, SIG_IGN);
    assert_int_equal (put (f, "first line\n"), 0);
    set_file_limit (16);
    assert_int_equal (put (f, "second line\n"), -EFBIG);
    assert_int_equal (put (f, "third line\n"), -EFBIG);
    assert_int_equal (put (f, "tiny\n"), 0);
    assert_int_equal (put (f, "x\n"), -EFBIG);
    set_file_limit (RLIM_INFINITY);
    assert_int_equal (put (f, "last line\n"), 0);
    audit_file_close (f);
    expect_file (w->path, "first line\ntiny\nlast line\n");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_exact_line),
        cmocka_unit_test (test_hostile_texts),
        cmocka_unit_test (test_odd_bytes),
        cmocka_unit_test_setup_teardown (test_rotation, setup, teardown),
        cmocka_unit_test_setup_teardown (test_never_rotated, setup, teardown),
        cmocka_unit_test_setup_teardown (test_cannot_be_rotated, setup, teardown),
        cmocka_unit_test_setup_teardown (test_moved_by_others, setup, teardown),
        cmocka_unit_test_setup_teardown (test_bad_paths, setup, teardown),
        cmocka_unit_test_setup_teardown (test_part_of_a_line, setup, teardown),
        cmocka_unit_test_setup_teardown (test_no_room, setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
