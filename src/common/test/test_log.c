/* test_log.c - tests of log.h: the form of a line, levels, and concurrent threads */
#include "common/test/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "common/io.h"
#include "common/log.h"

static int saved_stderr = -1;
static int capture = -1;

/* From here on standard error goes to an unnamed file. */
static void begin_capture (void)
{
    capture = open ("/tmp", O_TMPFILE | O_RDWR | O_APPEND, 0600);
    assert_true (capture >= 0);
    saved_stderr = dup (STDERR_FILENO);
    dup2 (capture, STDERR_FILENO);
}

static char *end_capture (void)
{
    struct strbuf sb;

    dup2 (saved_stderr, STDERR_FILENO);
    close (saved_stderr);
    lseek (capture, 0, SEEK_SET);
    strbuf_init (&sb, 1 << 22);
    io_read_fd (capture, &sb, 1 << 22);
    close (capture);
    return strbuf_detach (&sb);
}

static void test_lines (void **state)
{
    (void)state;
    begin_capture ();
    log_open ("testd", LOG_LEVEL_INFO, false);
    errno = ENOENT;
    log_info ("job %d\nforged: line\033[2J\t\x7f", 7);
    int after = errno;
    log_debug ("not shown");
    log_set_level (LOG_LEVEL_DEBUG);
    log_debug ("shown");
    log_set_level (LOG_LEVEL_ERROR);
    log_warning ("not shown");
    log_error ("bad");
    autofree char *text = end_capture ();
    assert_string_equal (text, "testd: info: job 7\\nforged: line\\x1b[2J\\t\\x7f\n"
                               "testd: debug: shown\n"
                               "testd: error: bad\n");
    assert_int_equal (after, ENOENT);
}

/* Characters that a terminal would hide or reorder are shown as escapes; other
 * text is unchanged. */
static void test_hidden (void **state)
{
    (void)state;
    begin_capture ();
    log_open ("testd", LOG_LEVEL_INFO, false);
    log_info ("%s", "a\xe2\x80\xae" "b\xe2\x80\x8b" "c\xef\xbb\xbf" "d\xc2\x9b" "e\xd8\x9c"
                    "f\xf3\xa0\x81\x81" "g M\xc3\xbcller \xe2\x82\xac \xe2\x80");
    autofree char *text = end_capture ();
    assert_string_equal (text, "testd: info: a\\u{202e}b\\u{200b}c\\u{feff}d\\u{9b}e\\u{61c}"
                               "f\\u{e0041}g M\xc3\xbcller \xe2\x82\xac \xe2\\x80\n");
}

static void test_time_and_length (void **state)
{
    static char message[100000];
    int year;

    (void)state;
    memset (message, '\001', sizeof (message) - 1);
    begin_capture ();
    log_open ("a-program-name-that-is-much-longer-than-anybody-needs", LOG_LEVEL_INFO,
              true);
    log_info ("%s", message);
    log_info ("second");
    autofree char *text = end_capture ();
    assert_int_equal (sscanf (text, "%d-", &year), 1);
    assert_true (year >= 2024);
    assert_int_equal (text[10], 'T');
    char *newline = strchr (text, '\n');
    assert_true (newline - text < 4 * 2048 + 128);
    assert_non_null (strstr (newline, ": info: second\n"));
}

static void *talk (void *arg)
{
    for (int i = 0; i < 500; i++)
        log_info ("%s", (const char *)arg);
    return NULL;
}

/* Lines of several threads do not mix. */
static void test_threads (void **state)
{
    static char as[200], bs[200];
    pthread_t threads[2];

    (void)state;
    memset (as, 'a', sizeof (as) - 1);
    memset (bs, 'b', sizeof (bs) - 1);
    begin_capture ();
    log_open ("t", LOG_LEVEL_INFO, false);
    pthread_create (&threads[0], NULL, talk, as);
    pthread_create (&threads[1], NULL, talk, bs);
    pthread_join (threads[0], NULL);
    pthread_join (threads[1], NULL);
    autofree char *text = end_capture ();
    int lines = 0;
    for (char *line = text, *end; (end = strchr (line, '\n')); line = end + 1, lines++) {
        assert_int_equal (end - line, 9 + 199);
        assert_int_equal (strspn (line + 9, line[9] == 'a' ? "a" : "b"), 199);
    }
    assert_int_equal (lines, 1000);
}

static void test_level_names (void **state)
{
    (void)state;
    assert_int_equal (log_level_from_name ("error"), LOG_LEVEL_ERROR);
    assert_int_equal (log_level_from_name ("warning"), LOG_LEVEL_WARNING);
    assert_int_equal (log_level_from_name ("info"), LOG_LEVEL_INFO);
    assert_int_equal (log_level_from_name ("debug"), LOG_LEVEL_DEBUG);
    assert_int_equal (log_level_from_name ("Debug"), -EINVAL);
    assert_int_equal (log_level_from_name (""), -EINVAL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_lines),
        cmocka_unit_test (test_hidden),
        cmocka_unit_test (test_time_and_length),
        cmocka_unit_test (test_threads),
        cmocka_unit_test (test_level_names),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
