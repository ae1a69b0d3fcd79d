/* test_parse.c - tests of parse.h: numbers, sizes, times, ids and signals from text, and
 * back */
#include "common/test/unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/parse.h"

static void test_int (void **state)
{
    static const struct {
        const char *text;
        int rc;
        int64_t value;
    } cases[] = {
        { "5", 0, 5 },
        { "-3", 0, -3 },
        { "0", 0, 0 },
        { "007", 0, 7 },
        { "100", 0, 100 },
        { "101", -ERANGE, 0 },
        { "-11", -ERANGE, 0 },
        { "", -EINVAL, 0 },
        { "-", -EINVAL, 0 },
        { " 5", -EINVAL, 0 },
        { "5 ", -EINVAL, 0 },
        { "+5", -EINVAL, 0 },
        { "0x10", -EINVAL, 0 },
        { "5x", -EINVAL, 0 },
        { "1e3", -EINVAL, 0 },
        { "--5", -EINVAL, 0 },
        { "5.0", -EINVAL, 0 },
        { "18446744073709551617", -ERANGE, 0 },
        { "9223372036854775808", -ERANGE, 0 },
    };
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        int64_t n = 42;
        assert_int_equal (parse_int (cases[i].text, -10, 100, &n, "-x", &err),
                          cases[i].rc);
        assert_int_equal (n, cases[i].rc ? 42 : cases[i].value);
    }
    int64_t n;
    assert_int_equal (parse_int ("9223372036854775807", 0, INT64_MAX, &n, "x", &err), 0);
    assert_true (n == INT64_MAX);
    parse_int ("abc", 1, 1 << 20, &n, "--nodes", &err);
    assert_string_equal (err.text, "--nodes: 'abc' is not an integer from 1 to 1048576");
}

static void test_count_range (void **state)
{
    struct error err;
    int64_t lo, hi;

    (void)state;
    assert_int_equal (parse_count_range ("4", 1, 100, &lo, &hi, "-N", &err), 0);
    assert_true (lo == 4 && hi == 4);
    assert_int_equal (parse_count_range ("4-16", 1, 100, &lo, &hi, "-N", &err), 0);
    assert_true (lo == 4 && hi == 16);
    assert_int_equal (parse_count_range ("16-4", 1, 100, &lo, &hi, "-N", &err), -EINVAL);
    assert_int_equal (parse_count_range ("0-4", 1, 100, &lo, &hi, "-N", &err), -ERANGE);
    assert_int_equal (parse_count_range ("-4", 1, 100, &lo, &hi, "-N", &err), -ERANGE);
    assert_int_equal (parse_count_range ("4-101", 1, 100, &lo, &hi, "-N", &err), -ERANGE);
    assert_int_equal (parse_count_range ("4-", 1, 100, &lo, &hi, "-N", &err), -EINVAL);
    assert_int_equal (parse_count_range ("", 1, 100, &lo, &hi, "-N", &err), -EINVAL);
    assert_int_equal (parse_count_range ("1-2-3", 1, 100, &lo, &hi, "-N", &err), -EINVAL);
    assert_true (parse_count_range ("99999999999999999999999999999999999999-2", 1, 9, &lo,
                                    &hi, "-N", &err)
                 < 0);
    assert_true (lo == 4 && hi == 16);
}

static void check_memory (const char *text, int want_rc, int64_t want)
{
    struct error err;
    int64_t n = -1;

    assert_int_equal (parse_memory_mib (text, &n, "--mem", &err), want_rc);
    assert_true (want_rc < 0 || n == want);
}

static void test_memory (void **state)
{
    (void)state;
    check_memory ("100", 0, 100);
    check_memory ("0", 0, 0);
    check_memory ("1K", 0, 1); /* rounded up, because less would not be enough */
    check_memory ("1024K", 0, 1);
    check_memory ("1025K", 0, 2);
    check_memory ("2G", 0, 2048);
    check_memory ("2GiB", 0, 2048);
    check_memory ("2gb", 0, 2048);
    check_memory ("1.5G", 0, 1536);
    check_memory ("0.1M", 0, 1);
    check_memory ("1T", 0, 1 << 20);
    check_memory ("1P", 0, 1 << 30);
    check_memory ("1024P", 0, INT64_C (1) << 40);
    check_memory ("1025P", -ERANGE, 0);
    check_memory ("99999999999999999999", -ERANGE, 0);
    check_memory ("99999999999999999P", -ERANGE, 0);
    check_memory ("0.000000000000000000000000001P", 0, 0);
    check_memory ("", -EINVAL, 0);
    check_memory ("G", -EINVAL, 0);
    check_memory (".", -EINVAL, 0);
    check_memory ("-1", -EINVAL, 0);
    check_memory ("1X", -EINVAL, 0);
    check_memory ("1GG", -EINVAL, 0);
    check_memory ("1 G", -EINVAL, 0);
}

static void check_bytes (const char *text, int want_rc, int64_t want)
{
    struct error err;
    int64_t n = -1;

    assert_int_equal (parse_bytes (text, &n, "limit", &err), want_rc);
    assert_true (want_rc < 0 || n == want);
}

static void test_bytes (void **state)
{
    (void)state;
    check_bytes ("64Mi", 0, 64 << 20);
    check_bytes ("1k", 0, 1000);
    check_bytes ("1Ki", 0, 1024);
    check_bytes ("2G", 0, 2000000000);
    check_bytes ("1.5Gi", 0, 3 << 29);
    check_bytes ("7", 0, 7);
    check_bytes ("7Ei", 0, INT64_C (7) << 60);
    check_bytes ("8Ei", -ERANGE, 0);
    check_bytes ("K", -EINVAL, 0);
    check_bytes ("1K", -EINVAL, 0); /* Kubernetes has k and Ki */
    check_bytes ("1ki", -EINVAL, 0);
    check_bytes ("1MiB", -EINVAL, 0);
    check_bytes ("-1", -EINVAL, 0);
}

static void check_timelimit (const char *text, int want_rc, double want)
{
    struct error err;
    double t = -1;

    assert_int_equal (parse_timelimit (text, &t, "--time", &err), want_rc);
    assert_true (want_rc < 0 || t == want);
}

/* The error names a correct form if the hours exceed a day. */
static void test_hours_behind_days (void **state)
{
    struct error err = { 0 };
    double t;
    (void)state;
    assert_int_equal (parse_timelimit ("1-30", &t, "--time", &err), -EINVAL);
    assert_string_equal (err.text, "--time: '1-30': 30 hours after days; say 2-6");
    assert_int_equal (parse_timelimit ("0-24:30", &t, "--time", &err), -EINVAL);
    assert_string_equal (err.text, "--time: '0-24:30': 24 hours after days; say 1-0");
}

static void test_timelimit (void **state)
{
    (void)state;
    check_timelimit ("90", 0, 90 * 60);
    check_timelimit ("1:30", 0, 90);
    check_timelimit ("100:00", 0, 6000);
    check_timelimit ("2:00:01", 0, 7201);
    check_timelimit ("30:00:00", 0, 108000);
    check_timelimit ("1-2", 0, 86400 + 7200);
    check_timelimit ("1-2:3", 0, 86400 + 7200 + 180);
    check_timelimit ("1-2:3:4", 0, 86400 + 7200 + 184);
    check_timelimit ("UNLIMITED", 0, 0);
    check_timelimit ("infinite", 0, 0);
    check_timelimit ("3650-0", 0, 315360000);
    check_timelimit ("3650-0:0:1", -ERANGE, 0);
    check_timelimit ("99999999999999999999999", -ERANGE, 0);
    check_timelimit ("18446744073709551615-0", -ERANGE, 0);
    check_timelimit ("1:60", -EINVAL, 0);
    check_timelimit ("1:60:00", -EINVAL, 0);
    check_timelimit ("1-24", -EINVAL, 0);
    check_timelimit ("1:2:3:4", -EINVAL, 0);
    check_timelimit ("", -EINVAL, 0);
    check_timelimit ("-5", -EINVAL, 0);
    check_timelimit ("1-", -EINVAL, 0);
    check_timelimit ("1:", -EINVAL, 0);
    check_timelimit (":1", -EINVAL, 0);
    check_timelimit ("1-1-1", -EINVAL, 0);
    check_timelimit ("5m", -EINVAL, 0);
}

static void check_fsd (const char *text, int want_rc, double want)
{
    struct error err;
    double t = -1;

    assert_int_equal (parse_fsd (text, &t, "duration", &err), want_rc);
    assert_true (want_rc < 0 || fabs (t - want) <= want * 1e-12);
}

/* The vectors of RFC 23, and further ones. */
static void test_fsd (void **state)
{
    (void)state;
    check_fsd ("2ms", 0, 0.002);
    check_fsd ("0.1s", 0, 0.1);
    check_fsd ("30", 0, 30);
    check_fsd ("1.2h", 0, 4320);
    check_fsd ("5m", 0, 300);
    check_fsd ("0s", 0, 0);
    check_fsd ("5d", 0, 432000);
    check_fsd ("inf", 0, 0);
    check_fsd ("INF", 0, 0);
    check_fsd ("infinity", 0, 0);
    check_fsd ("1e3", 0, 1000);
    check_fsd ("2.5e-1m", 0, 15);
    check_fsd (".5h", 0, 1800);
    check_fsd ("1e999999999999999999999", -ERANGE, 0);
    check_fsd ("1e-400", 0, 0);
    check_fsd ("36501d", -ERANGE, 0);
    check_fsd ("", -EINVAL, 0);
    check_fsd ("s", -EINVAL, 0);
    check_fsd ("-1", -EINVAL, 0);
    check_fsd ("1S", -EINVAL, 0);
    check_fsd ("1 s", -EINVAL, 0);
    check_fsd ("infs", -EINVAL, 0);
    check_fsd ("nan", -EINVAL, 0);
    check_fsd ("1e", -EINVAL, 0);
    check_fsd ("0x10", -EINVAL, 0);
}

static void check_duration (double seconds, const char *want)
{
    struct strbuf sb;

    strbuf_init (&sb, 100);
    strbuf_add_duration (&sb, seconds);
    assert_string_equal (sb.buf, want);
    strbuf_release (&sb);
}

static void test_print_duration (void **state)
{
    (void)state;
    check_duration (0, "0:00");
    check_duration (7.9, "0:07");
    check_duration (184, "3:04");
    check_duration (7384, "2:03:04");
    check_duration (36061, "10:01:01");
    check_duration (93784, "1-02:03:04");
    check_duration (-5, "0:00");
    check_duration (NAN, "0:00");
    check_duration (INFINITY, "UNLIMITED");
}

static void check_time (double t, const char *want)
{
    struct strbuf sb;

    strbuf_init (&sb, 100);
    strbuf_add_time (&sb, t);
    assert_string_equal (sb.buf, want);
    strbuf_release (&sb);
}

static void test_print_time (void **state)
{
    (void)state;
    setenv ("TZ", "UTC", 1);
    tzset ();
    check_time (1795177158.7, "2026-11-20T12:19:18");
    check_time (-0.5, "1969-12-31T23:59:59");
    check_time (NAN, "Unknown");
    check_time (INFINITY, "Unknown");
    check_time (1e300, "Unknown");
}

struct seen {
    int n;
    uint64_t first[3], last[3];
    char tasks[3][32];
};

static int record (const struct id_range *range, void *arg)
{
    struct seen *seen = arg;

    if (seen->n == 3)
        return 7;
    seen->first[seen->n] = range->first;
    seen->last[seen->n] = range->last;
    snprintf (seen->tasks[seen->n++], sizeof (seen->tasks[0]), "%.*s",
              (int)range->tasks_len, range->tasks ? range->tasks : "-");
    return 0;
}

static void test_id_ranges (void **state)
{
    static const char *const bad[] = {
        "",        ",",       "1,",       ",1",      "1,,2",   "4-2",   "a",
        "1-",      "-1",      "1-2-3",    "1 2",     "1x",     "12_",   "12_[",
        "12_[]",   "12_[1",   "12_x",     "12-13_1", "_3",     "12_1,", "12_[1]2",
        "12_[1%]", "12_[%2]", "12_[1%x]", "12_[1%2", "12_1%2",
    };
    struct seen seen = { 0 };
    struct error err;

    (void)state;
    assert_int_equal (parse_id_ranges ("3,7-9", record, &seen, "ID", &err), 0);
    assert_int_equal (seen.n, 2);
    assert_true (seen.first[0] == 3 && seen.last[0] == 3);
    assert_true (seen.first[1] == 7 && seen.last[1] == 9);
    assert_int_equal (parse_id_ranges ("1,2,3", record, &seen, "ID", &err), 7);

    seen = (struct seen){ 0 };
    assert_int_equal (
        parse_id_ranges ("12_3,13_[1-4,7%50],14_5-9", record, &seen, "ID", &err), 0);
    assert_int_equal (seen.n, 3);
    assert_true (seen.first[1] == 13 && seen.last[1] == 13);
    assert_string_equal (seen.tasks[0], "3");
    assert_string_equal (seen.tasks[1], "1-4,7");
    assert_string_equal (seen.tasks[2], "5-9");

    seen.n = 0;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        assert_int_equal (parse_id_ranges (bad[i], record, &seen, "ID", &err), -EINVAL);
    assert_int_equal (parse_id_ranges ("0", record, &seen, "ID", &err), -ERANGE);
    assert_int_equal (parse_id_ranges ("9223372036854775808", record, &seen, "ID", &err),
                      -ERANGE);
    assert_int_equal (
        parse_id_ranges ("1-99999999999999999999", record, &seen, "ID", &err), -ERANGE);
    /* An error at the end must be found before half of the jobs are cancelled. */
    assert_int_equal (parse_id_ranges ("1,2,x", record, &seen, "ID", &err), -EINVAL);
    assert_int_equal (seen.n, 0);
}

static void test_id_ranges_are_bounded (void **state)
{
    struct strbuf sb;
    struct seen seen = { 0 };
    struct error err;

    (void)state;
    strbuf_init (&sb, 1 << 20);
    for (int i = 1; i <= 10001; i++)
        strbuf_addf (&sb, "%s%d", i > 1 ? "," : "", i);
    assert_int_equal (parse_id_ranges (sb.buf, record, &seen, "ID", &err), -ERANGE);
    assert_int_equal (seen.n, 0);
    strbuf_release (&sb);
}

static void test_signals (void **state)
{
    struct error err;
    int sig = 0;

    (void)state;
    assert_int_equal (parse_signal ("TERM", &sig, "--signal", &err), 0);
    assert_int_equal (sig, 15);
    assert_int_equal (parse_signal ("SIGKILL", &sig, "--signal", &err), 0);
    assert_int_equal (sig, 9);
    assert_int_equal (parse_signal ("sigusr1", &sig, "--signal", &err), 0);
    assert_int_equal (sig, 10);
    assert_int_equal (parse_signal ("64", &sig, "--signal", &err), 0);
    assert_int_equal (sig, 64);
    assert_int_equal (parse_signal ("0", &sig, "--signal", &err), -ERANGE);
    assert_int_equal (parse_signal ("65", &sig, "--signal", &err), -ERANGE);
    assert_int_equal (parse_signal ("-9", &sig, "--signal", &err), -ERANGE);
    assert_int_equal (parse_signal ("SIG", &sig, "--signal", &err), -EINVAL);
    assert_int_equal (parse_signal ("SIG9", &sig, "--signal", &err), -EINVAL);
    assert_int_equal (parse_signal ("", &sig, "--signal", &err), -EINVAL);
    assert_string_equal (signal_name (15), "TERM");
    assert_null (signal_name (0));
    assert_null (signal_name (50));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_int),
        cmocka_unit_test (test_count_range),
        cmocka_unit_test (test_memory),
        cmocka_unit_test (test_bytes),
        cmocka_unit_test (test_timelimit),
        cmocka_unit_test (test_hours_behind_days),
        cmocka_unit_test (test_fsd),
        cmocka_unit_test (test_print_duration),
        cmocka_unit_test (test_print_time),
        cmocka_unit_test (test_id_ranges),
        cmocka_unit_test (test_id_ranges_are_bounded),
        cmocka_unit_test (test_signals),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
