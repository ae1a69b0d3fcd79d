/* test_sacct.c - times, formats, ids and values of sacct */
#include "common/test/unit.h"

#include <string.h>
#include <time.h>

#include "cmd/slurm/acct/sacct.h"

#define NOW 1795774882 /* 2026-11-27T10:21:22 UTC */

/* -- times -- */

static void times (void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        { "now", "2026-11-27T10:21:22" },
        { "now-1day", "2026-11-26T10:21:22" },
        { "now - 2 hours", "2026-11-27T08:21:22" },
        { "NOW+30", "2026-11-27T10:21:52" },
        { "now-3weeks", "2026-11-06T10:21:22" },
        { "today", "2026-11-27T00:00:00" },
        { "midnight", "2026-11-27T00:00:00" },
        { "tomorrow-noon", "2026-11-28T12:00:00" },
        { "teatime", "2026-11-27T16:00:00" },
        { "8:30", "2026-11-27T08:30:00" },
        { "23:59:58", "2026-11-27T23:59:58" },
        { "8:30pm", "2026-11-27T20:30:00" },
        { "12:15 am", "2026-11-27T00:15:00" },
        { "112026", "2026-11-20T00:00:00" },
        { "1120", "2026-11-20T00:00:00" },
        { "12/24", "2025-12-24T00:00:00" },
        { "11/20/24", "2024-11-20T00:00:00" },
        { "11.20.24-10:00", "2024-11-20T10:00:00" },
        { "2026-11-20", "2026-11-20T00:00:00" },
        { "2026-11-20T10:01:02", "2026-11-20T10:01:02" },
        { "2026-11-20T10:00", "2026-11-20T10:00:00" },
        { "1970-01-01-00:00:01", "1970-01-01T00:00:01" },
        { "uts1700000000", "2023-11-14T22:13:20" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        char text[64];
        double t = -1;
        int at;
        assert_int_equal (acct_parse_time (cases[i].text, NOW, &t, &at), 0);
        time_t whole = (time_t)t;
        struct tm tm;
        gmtime_r (&whole, &tm);
        strftime (text, sizeof (text), "%Y-%m-%dT%H:%M:%S", &tm);
        assert_string_equal (text, cases[i].wanted);
    }
}

static void wrong_times (void **state)
{
    static const char *const wrong[] = { "ISO",        "yesterday",  "now-",   "now-x",
                                         "now-1month", "25:00",      "10:60",  "13/01",
                                         "2026-13-01", "2026-11-32", "uts12",  "11/",
                                         "utsx",       "8:3",        "13:00am" };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (wrong); i++) {
        double t;
        int at = -1;
        assert_int_equal (acct_parse_time (wrong[i], NOW, &t, &at), -EINVAL);
        assert_true (at >= 0);
    }
}

/* -- formats -- */

static struct acct_view view = { .now = NOW };

static void fill (struct acct_row *row)
{
    acct_row_init (row, &view);
    row->values[ACCT_ID] = "12";
    row->values[ACCT_NAME] = "a-long-job-name";
    row->values[ACCT_STATE] = "CANCELLED";
    row->values[ACCT_ST] = "CA";
    row->values[ACCT_CANCELLED_BY] = "1000";
    row->values[ACCT_SUBMIT] = "1795774800.5";
    row->values[ACCT_ELIGIBLE] = "1795774800.5";
    row->values[ACCT_START] = "1795774810.9";
    row->values[ACCT_END] = "1795774871.1";
    row->values[ACCT_NCORES] = "4";
    row->values[ACCT_NTASKS] = "2";
    row->values[ACCT_NODES] = "2";
    row->values[ACCT_NODELIST] = "n[1-2]";
    row->values[ACCT_GPUS] = "2";
    row->values[ACCT_MEMORY] = "2048";
    row->values[ACCT_ASKED_NODES] = "2";
    row->values[ACCT_ASKED_MEMORY] = "100";
    row->values[ACCT_LIMIT] = "90";
    row->values[ACCT_STATUS] = "15";
    row->values[ACCT_USERID] = "123456789";
}

static void expect (const struct acct_row *row, const char *fields, const char *wanted)
{
    struct list_format f = { .n = 0 };
    struct strbuf sb = STRBUF_INIT (65536);
    struct error err = { 0 };

    assert_int_equal (list_format_parse (&f, acct_fields, fields, &err), 0);
    f.delimiter = strchr (fields, '%') ? NULL : "|";
    list_format_add_row (&f, row, &sb);
    assert_string_equal (sb.buf, wanted);
    strbuf_release (&sb);
}

static void formats (void **state)
{
    struct acct_row row;

    (void)state;
    fill (&row);
    expect (&row, "JOBID%6,jobname%8,state%-12,UID%3,elapsed%2,start%10",
            "    12 a-long-+ CANCELLED b+ 123456789 00:01:01 2026-11-27 \n");
    expect (&row, "jobid%-4,state%0,jobname%-20,", "12    a-long-job-name      \n");
    expect (&row, " jobidr, nodel", "12|n[1-2]\n");
}

static void wrong_formats (void **state)
{
    struct list_format f = { .has_all = true };
    struct error err = { 0 };

    (void)state;
    assert_int_equal (list_format_parse (&f, acct_fields, "jobid,nosuch%5,state", &err),
                      -EINVAL);
    assert_string_equal (err.text, "nosuch");
    f.n = 0;
    assert_int_equal (list_format_parse (&f, acct_fields, "all", &err), 0);
    assert_true (f.n > 100);
    f = (struct list_format){ .n = 0 };
    assert_int_equal (list_format_parse (&f, acct_fields, "a", &err), 0);
    assert_int_equal (f.n, 1); /* not "ALL" */
    f.n = 0;
    assert_int_equal (list_format_parse (&f, acct_fields, "reserved,reserv,re", &err), 0);
    assert_string_equal (f.items[0].field->name, "Reserved");
    assert_string_equal (f.items[1].field->name, "Reservation");
    assert_string_equal (f.items[2].field->name, "Reason");
}

/* -- values -- */

static void values (void **state)
{
    struct acct_row row;

    (void)state;
    fill (&row);
    expect (&row, "state,exitcode,elapsed,cputimeraw,planned,timelimit,timelimitraw",
            "CANCELLED by 1000|0:0|00:01:01|244|00:00:10|00:02:00|2\n");
    expect (&row, "alloctres,reqmem,nnodes,alloccpus",
            "cpu=4,gres/gpu=2,mem=2G,node=2|100M|2|4\n");
    row.values[ACCT_ST] = "F";
    row.values[ACCT_STATUS] = "768";
    expect (&row, "exitcode", "3:0\n");
    row.values[ACCT_START] = row.values[ACCT_NODELIST] = "";
    expect (&row, "start,elapsed,nodelist,alloctres,alloccpus,planned",
            "None|00:00:00|None assigned||0|00:01:11\n");
    row.values[ACCT_END] = "";
    row.values[ACCT_ST] = "PD";
    row.values[ACCT_ARRAY_JOB] = "12";
    row.values[ACCT_ARRAY_TASKS] = "0-3%2";
    expect (&row, "jobid,jobidraw,start,end,nnodes", "12_[0-3%2]|12|Unknown|Unknown|2\n");
    row.values[ACCT_ARRAY_TASKS] = "";
    row.values[ACCT_ARRAY_TASK] = "3";
    row.values[ACCT_ID] = "15";
    expect (&row, "jobid,jobidraw", "12_3|15\n");
}

/* Programs wait for a job as long as it is PENDING or RUNNING. */
static void passing_states (void **state)
{
    const char *cells[] = { "12", "CONFIGURING", "CF",        "13", "COMPLETING",
                            "CG", "14",          "COMPLETED", "CD" };
    static const char *const wanted[] = { "12|RUNNING\n", "13|RUNNING\n",
                                          "14|COMPLETED\n" };
    const json_t *steps[3] = { NULL };
    const struct acct_rows rows = { .source = ACCT_JOBS,
                                    .n = 3,
                                    .ncolumns = 3,
                                    .columns = { ACCT_ID, ACCT_STATE, ACCT_ST },
                                    .cells = cells,
                                    .steps = steps };
    struct acct_row row = { .view = &view };

    (void)state;
    for (size_t i = 0; i < rows.n; i++) {
        acct_rows_fill (&rows, i, &row);
        expect (&row, "jobid,state", wanted[i]);
        assert_true (acct_is_state (&row, i < 2 ? "R" : "CD"));
    }
}

static void sizes (void **state)
{
    static const struct {
        double n;
        int unit, wanted_unit;
        const char *wanted;
    } cases[] = {
        { 0, 0, 0, "0" },        { 1023, 0, 0, "1023" },     { 3289088, 0, 0, "3212K" },
        { 3145728, 0, 0, "3M" }, { 2560, 2, 0, "2.50G" },    { 100, 2, 1, "102400K" },
        { 100, 2, 3, "0.10G" },  { 3289088, 0, 2, "3.14M" },
    };
    struct acct_row row;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct acct_view v = { .unit = cases[i].wanted_unit };
        struct strbuf sb = STRBUF_INIT (256);
        acct_row_init (&row, &v);
        acct_add_size (&row, cases[i].n, cases[i].unit, &sb);
        assert_string_equal (sb.buf, cases[i].wanted);
        strbuf_release (&sb);
    }
}

static void cpu_times (void **state)
{
    static const struct {
        double seconds;
        const char *wanted;
    } cases[] = { { 0, "00:00:00" },  { 0.017, "00:00.017" },  { 61.5, "01:01.500" },
                  { 62, "00:01:02" }, { 3600.25, "01:00:00" }, { 90061, "1-01:01:01" } };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct strbuf sb = STRBUF_INIT (256);
        acct_add_cpu_time (cases[i].seconds, &sb);
        assert_string_equal (sb.buf, cases[i].wanted);
        strbuf_release (&sb);
    }
}

/* -- jobs of -j -- */

static int read_jobs (struct sacct *s, const char *text)
{
    struct error err = { 0 };

    sacct_init (s);
    strbuf_adds (&s->jobs, text);
    return sacct_read_jobs (s, &err);
}

static void jobs (void **state)
{
    static const char *const wrong[] = { "x", "0", "12+x", "12_x", "12_", "-1" };
    struct acct_row row;
    struct sacct s;

    (void)state;
    assert_int_equal (read_jobs (&s, "7,12_[1-3,5],15.batch,,"), 0);
    assert_string_equal (s.ids.buf, "7,12_[1-3,5],15");
    assert_int_equal (s.nwanted, 3);
    acct_row_init (&row, &view);
    row.values[ACCT_ID] = "20";
    row.values[ACCT_ARRAY_JOB] = "12";
    row.values[ACCT_ARRAY_TASK] = "5";
    row.step_id = "0";
    assert_true (sacct_wants_job (&s, &row) && sacct_wants_step (&s, &row));
    row.values[ACCT_ARRAY_TASK] = "4";
    assert_false (sacct_wants_job (&s, &row));
    row.values[ACCT_ID] = "15";
    row.values[ACCT_ARRAY_JOB] = row.values[ACCT_ARRAY_TASK] = "";
    assert_false (sacct_wants_job (&s, &row) || sacct_wants_step (&s, &row));
    row.step_id = "batch";
    assert_true (sacct_wants_step (&s, &row));
    s.no_steps = true;
    assert_true (sacct_wants_job (&s, &row));
    sacct_release (&s);
    assert_int_equal (read_jobs (&s, "12+1,13"), 0);
    assert_string_equal (s.ids.buf, "12,13");
    row.values[ACCT_ID] = "12";
    row.component[0] = '1'; /* the rest is 0 */
    assert_true (sacct_wants_job (&s, &row));
    row.component[0] = '0';
    assert_false (sacct_wants_job (&s, &row));
    s.whole_hetjob = "yes";
    assert_true (sacct_wants_job (&s, &row));
    row.values[ACCT_ID] = "13";
    s.whole_hetjob = "no";
    assert_true (sacct_wants_job (&s, &row));
    row.component[0] = '1';
    assert_false (sacct_wants_job (&s, &row));
    sacct_release (&s);
    for (size_t i = 0; i < ARRAY_SIZE (wrong); i++) {
        assert_int_equal (read_jobs (&s, wrong[i]), -EINVAL);
        sacct_release (&s);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (times),          cmocka_unit_test (wrong_times),
        cmocka_unit_test (formats),        cmocka_unit_test (wrong_formats),
        cmocka_unit_test (values),         cmocka_unit_test (sizes),
        cmocka_unit_test (cpu_times),      cmocka_unit_test (jobs),
        cmocka_unit_test (passing_states),
    };

    setenv ("TZ", "UTC", 1);
    tzset ();
    return cmocka_run_group_tests (tests, NULL, NULL);
}
