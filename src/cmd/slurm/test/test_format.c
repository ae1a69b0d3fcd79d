/* test_format.c - Slurm's formats: letters, names, widths; words for values and states */
#include "common/test/unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/slurm/words/format.h"
#include "cmd/slurm/jobs/job_filter.h"
#include "cmd/slurm/words/words.h"

static void add_row (const void *row, struct strbuf *sb)
{
    strbuf_adds (sb, row);
}

static const struct slurm_field fields[] = {
    { 'n', "Name", "NAME", 1, add_row, 0 },
    { 'N', "NodeList", "NODELIST", 2, add_row, SLURM_FIELD_UNCUT },
    { 0, "Old", "OLD", 4, add_row, SLURM_FIELD_HIDDEN },
    { 0 },
};

static void note_wrong (void *arg, const char *text)
{
    strbuf_addf (arg, "[%s]", text);
}

/* The line of a row whose fields all have this text. */
static void expect (bool names, const char *format, const char *text, const char *wanted)
{
    struct slurm_format f;
    struct strbuf sb, wrong;

    strbuf_init (&sb, 4096);
    strbuf_init (&wrong, 4096);
    int rc = names ? slurm_format_parse_long (&f, fields, format, note_wrong, &wrong)
                   : slurm_format_parse (&f, fields, format, note_wrong, &wrong);
    assert_int_equal (rc, 0);
    slurm_format_add_row (&f, text, &sb);
    sb.buf[sb.len - 1] = '\0'; /* the newline */
    strbuf_adds (&wrong, sb.buf);
    assert_string_equal (wrong.buf, wanted);
    slurm_format_release (&f);
    strbuf_release (&sb);
    strbuf_release (&wrong);
}

static void letters_have_widths_and_text_between (void **state)
{
    (void)state;
    expect (false, "%n", "job", "job");
    expect (false, "<%n|%n>", "job", "<job|job>");
    expect (false, "%5n|", "job", "job  |");
    expect (false, "%.5n|", "job", "  job|");
    expect (false, "%2n|%.2n|", "job", "jo|jo|");
    expect (false, "no field", "job", "no field");
    expect (false, "%%n", "job", "job"); /* as in Slurm, the first % is lost */
}

static void unknown_letters_are_named_and_shown (void **state)
{
    (void)state;
    expect (false, "%n %.5_x%n", "job", "[_]job %.5_xjob");
    expect (false, "%7", "job", "[]%7");
    expect (false, "%", "job", "");
}

static void names_have_20_columns_widths_and_suffixes (void **state)
{
    (void)state;
    expect (true, "name", "job", "job                 ");
    expect (true, "NAME:5,name:.5", "job", "job    job");
    expect (true, "Name:\x1f,Name:\x1f,", "job", "job\x1fjob\x1f");
    expect (true, "Name:2x,Name:0y", "job", "joxjoby");
    expect (true, "Name:-3,Name:4", "job", "job job ");
    expect (true, "nope:3,Name:3", "job", "[nope]job");
    expect (true, "old:3", "job", "job");
}

static void some_fields_are_not_cut_on_the_left (void **state)
{
    (void)state;
    expect (false, "%.4N|%4N|", "node[1-2]", "node[1-2]|node|");
    expect (false, "%3n|%6n|%n", "(null)", "   |(null)|(null)");
}

static void no_character_is_cut_in_its_middle (void **state)
{
    (void)state;
    expect (false, "%3n|", "h\xc3\xa9llo", "h\xc3\xa9l|");
    expect (false, "%3n|%.3n|", "\xe6\x9d\x8e\xe6\x9d\x8e",
            "\xe6\x9d\x8e | \xe6\x9d\x8e|");
}

static void needs_are_those_of_the_fields (void **state)
{
    (void)state;
    struct slurm_format f;

    assert_int_equal (slurm_format_parse (&f, fields, "%n%n", note_wrong, NULL), 0);
    assert_int_equal (f.needs, 1);
    slurm_format_release (&f);
    assert_int_equal (slurm_format_parse (&f, fields, "%all", note_wrong, NULL), 0);
    assert_int_equal (f.needs, 3);
    slurm_format_release (&f);
}

static void time_is (const char *format, double t, const char *wanted)
{
    struct strbuf sb;

    if (format)
        setenv ("SLURM_TIME_FORMAT", format, 1);
    else
        unsetenv ("SLURM_TIME_FORMAT");
    strbuf_init (&sb, 4096);
    slurm_add_time (&sb, t);
    assert_string_equal (sb.buf, wanted);
    strbuf_release (&sb);
}

static void times_follow_the_variable (void **state)
{
    (void)state;
    setenv ("TZ", "UTC", 1);
    tzset ();
    time_is (NULL, 86400 * 365, "1971-01-01T00:00:00");
    time_is ("standard", 86400 * 365, "1971-01-01T00:00:00");
    time_is ("%s", 86400 * 365, "31536000");
    time_is ("relative", 86400 * 365, "1 Jan 1971");
    time_is ("nonsense", 86400 * 365, "1971-01-01T00:00:00");
    time_is (NULL, 0, "N/A");
}

static void size_is (double mib, bool convert, const char *wanted)
{
    struct strbuf sb;

    strbuf_init (&sb, 4096);
    slurm_add_mib (&sb, mib, convert);
    assert_string_equal (sb.buf, wanted);
    strbuf_release (&sb);
}

static void sizes_have_the_largest_exact_unit (void **state)
{
    (void)state;
    size_is (0, true, "0");
    size_is (100, true, "100M");
    size_is (4096, true, "4G");
    size_is (4096, false, "4096M");
    size_is (2560, true, "2.50G");
    size_is (1500, true, "1500M");
}

static void count_is (double n, bool convert, const char *wanted)
{
    struct strbuf sb;

    strbuf_init (&sb, 64);
    slurm_add_count (&sb, n, convert);
    assert_string_equal (sb.buf, wanted);
    strbuf_release (&sb);
}

static void counts_have_a_unit_from_1024_on (void **state)
{
    (void)state;
    count_is (0, true, "0");
    count_is (1000, true, "1000");
    count_is (1024, true, "1K");
    count_is (1536, true, "1.50K");
    count_is (1025, true, "1025");
    count_is (1024, false, "1024");
}

static void states_have_two_names (void **state)
{
    (void)state;
    const char *name = NULL;

    assert_true (slurm_state_find ("pd", &name));
    assert_string_equal (name, "PENDING");
    assert_true (slurm_state_find ("Out_Of_Memory", &name));
    assert_string_equal (name, "OUT_OF_MEMORY");
    assert_false (slurm_state_find ("PENDIN", &name));
}

static void reasons_have_slurms_names (void **state)
{
    (void)state;
    assert_string_equal (slurm_reason ("Priority"), "Priority");
    assert_string_equal (slurm_reason ("QueueStopped"), "PartitionDown");
    assert_string_equal (slurm_reason (""), "None");
    assert_string_equal (slurm_end_reason ("CD", 0), "None");
    assert_string_equal (slurm_end_reason ("F", 3 << 8), "NonZeroExitCode");
    assert_string_equal (slurm_end_reason ("F", 9), "RaisedSignal");
    assert_string_equal (slurm_end_reason ("TO", 15), "TimeLimit");
}

/* The tasks that are shown of an array with the waiting tasks "1-5". */
static void tasks_are (const char *jobs, const char *wanted)
{
    struct job_filter f;
    struct job_row row;

    job_filter_init (&f);
    job_row_init (&row);
    row.values[JOB_ID] = row.values[JOB_ARRAY_JOB] = "12";
    row.values[JOB_ARRAY_TASKS] = "1-5%2";
    row.values[JOB_ST] = "PD";
    assert_int_equal (job_filter_set_jobs (&f, jobs, NULL), 0);
    bool shown = job_filter_match (&f, &row);
    assert_int_equal (shown, wanted != NULL);
    if (wanted && *wanted)
        assert_string_equal (row.tasks, wanted);
    else if (wanted)
        assert_null (row.tasks);
    job_filter_release (&f);
}

static void jobs_select_tasks_of_arrays (void **state)
{
    (void)state;
    tasks_are ("12", "");
    tasks_are ("11,12_3", "3");
    tasks_are ("12_1,12_2,12_5,12_9", "1-2,5");
    tasks_are ("12_9", NULL);
    tasks_are ("13", NULL);
    tasks_are ("", NULL);
}

static void wrong_jobs_are_refused (void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "x", "12x", "0", "-1", "12_", "12_[1-2]", "7,x"
    };
    struct error err = { 0 };

    for (size_t i = 0; i < ARRAY_SIZE (wrong); i++) {
        struct job_filter f;
        job_filter_init (&f);
        assert_int_equal (job_filter_set_jobs (&f, wrong[i], &err), -EINVAL);
        job_filter_release (&f);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (letters_have_widths_and_text_between),
        cmocka_unit_test (unknown_letters_are_named_and_shown),
        cmocka_unit_test (names_have_20_columns_widths_and_suffixes),
        cmocka_unit_test (some_fields_are_not_cut_on_the_left),
        cmocka_unit_test (no_character_is_cut_in_its_middle),
        cmocka_unit_test (needs_are_those_of_the_fields),
        cmocka_unit_test (times_follow_the_variable),
        cmocka_unit_test (sizes_have_the_largest_exact_unit),
        cmocka_unit_test (counts_have_a_unit_from_1024_on),
        cmocka_unit_test (states_have_two_names),
        cmocka_unit_test (reasons_have_slurms_names),
        cmocka_unit_test (jobs_select_tasks_of_arrays),
        cmocka_unit_test (wrong_jobs_are_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
