/* The readers of traces. Fails if a field becomes another amount, if a job that never
 * ran is counted, or if a broken line is accepted or reported with another number. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/trace.h"

/* -- one record -- */

static int read_with (const struct trace_format *f, const char *text,
                      struct trace_job *job, struct error *err)
{
    *job = (struct trace_job){ 0 };
    *err = (struct error){ 0 };
    return f->read (text, strlen (text), job, err);
}

static void test_swf (void **state)
{
    struct trace_job j;
    struct error err;

    (void)state;
    assert_int_equal (read_with (&trace_swf,
                                 "  7 100 5 60.5 4 -1 -1 8 120 2049 1 3 3 -1 0 -1 -1 -1",
                                 &j, &err),
                      TRACE_JOB);
    assert_true (j.submit == 100 && j.runtime == 60.5 && j.limit == 120);
    assert_int_equal (j.size.slots_min, 8);
    assert_int_equal (j.size.slots_max, 8);
    assert_int_equal (j.size.cores, 1);
    assert_int_equal (j.size.memory_mib, 3); /* 2,049 KB, rounded up */
    assert_int_equal (j.size.nodes_min, 0);
    /* Without a request, the used amount counts. */
    assert_int_equal (read_with (&trace_swf,
                                 "7 0 -1 60 4 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1", &j,
                                 &err),
                      TRACE_JOB);
    assert_int_equal (j.size.slots_max, 4);
    assert_int_equal (j.size.memory_mib, 0);
    assert_true (j.limit == 60);
}

static void test_swf_left_out (void **state)
{
    static const char *const lines[] = {
        "1 0 0 60 4 -1 -1 4 60 -1 2 1 1 1 1 1 -1 -1",  /* a part */
        "1 0 0 60 4 -1 -1 4 60 -1 3 1 1 1 1 1 -1 -1",  /* the last part */
        "1 0 0 60 4 -1 -1 4 60 -1 4 1 1 1 1 1 -1 -1",  /* the last, failed */
        "1 0 9 0 -1 -1 -1 4 60 -1 5 1 1 1 1 1 -1 -1",  /* cancelled before its start */
        "1 0 9 -1 -1 -1 -1 4 60 -1 5 1 1 1 1 1 -1 -1", /* also cancelled */
        "1 0 9 -1 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1",  /* no run time */
        "1 0 9 60 0 -1 -1 -1 60 -1 1 1 1 1 1 1 -1 -1", /* no processors */
    };
    struct trace_job j;
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (lines); i++)
        assert_int_equal (read_with (&trace_swf, lines[i], &j, &err), TRACE_LEFT_OUT);
    /* A job cancelled while it ran had its processors. */
    assert_int_equal (
        read_with (&trace_swf, "1 0 9 30 4 -1 -1 4 60 -1 5 1 1 1 1 1 -1 -1", &j, &err),
        TRACE_JOB);
}

/* Each text is refused, and the reason contains the word beside it. */
struct broken {
    const char *text, *word;
};

static void check_broken (const struct trace_format *f, const struct broken *b, size_t n)
{
    struct trace_job j;
    struct error err;

    for (size_t i = 0; i < n; i++) {
        assert_int_equal (read_with (f, b[i].text, &j, &err), -EINVAL);
        if (!strstr (err.text, b[i].word))
            fail_msg ("%s: %s", b[i].text, err.text);
    }
}

static void test_swf_broken (void **state)
{
    static const struct broken broken[] = {
        { "1 0 0 60", "4 fields" },
        { "1 0 0 60 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1 9", "more than 18" },
        { "1 0 0 60 4 -1 -1 x 60 -1 1 1 1 1 1 1 -1 -1",
          "field 8 (processors requested)" },
        { "1 0 0 60 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 0x9", "field 18" },
        { "1 0 0 1e999 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1", "field 4" },
        { "1 0 0 nan 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1", "field 4" },
        { "1 0 0 -5 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1", "field 4 (run time): -5" },
        { "1 0 0 31536001 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1", "field 4" },
        { "1 -1 0 60 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1", "field 2" },
        { "1 1e11 0 60 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1", "field 2" },
        { "1 0 0 60 4 -1 -1 4.5 60 -1 1 1 1 1 1 1 -1 -1", "whole" },
        { "1 0 0 60 4 -1 -1 4294967297 60 -1 1 1 1 1 1 1 -1 -1", "field 8" },
        { "1 0 0 60 4 -1 -1 4 60 -1 6 1 1 1 1 1 -1 -1", "field 11 (status)" },
        { "1 0 0 60 4 -1 -1 4 60 - 1 1 1 1 1 1 -1 -1", "field 10" },
    };

    (void)state;
    check_broken (&trace_swf, broken, ARRAY_SIZE (broken));
}

static void test_jsonl (void **state)
{
    struct trace_job j;
    struct error err;

    (void)state;
    assert_int_equal (
        read_with (&trace_jsonl,
                   "{\"submit\": 5, \"runtime\": 60, \"limit\": 0, \"nodes\": \"2-4\","
                   " \"slots\": 3, \"cores\": 8, \"gpus\": 1, \"memory\": \"1536Mi\","
                   " \"exclusive\": true, \"priority\": -7, \"begin\": 9.5,"
                   " \"user\": \"u\", \"name\": \"n\", \"id\": \"x1\"}",
                   &j, &err),
        TRACE_JOB);
    assert_true (j.submit == 5 && j.runtime == 60 && j.limit == 0 && j.begin == 9.5);
    assert_int_equal (j.priority, -7);
    assert_int_equal (j.size.nodes_min, 2);
    assert_int_equal (j.size.nodes_max, 4);
    assert_int_equal (j.size.slots_min, 3);
    assert_int_equal (j.size.slots_max, 3);
    assert_int_equal (j.size.cores, 8);
    assert_int_equal (j.size.gpus, 1);
    assert_int_equal (j.size.memory_mib, 1536);
    assert_int_equal (j.size.exclusive, 1);
    /* Optional members. */
    assert_int_equal (
        read_with (&trace_jsonl, "{\"submit\":0,\"runtime\":0.5}", &j, &err), TRACE_JOB);
    assert_int_equal (j.size.nodes_max, 0);
    assert_int_equal (j.size.slots_max, 1);
    assert_int_equal (j.size.cores, 1);
    assert_true (j.limit == 1);
    assert_int_equal (read_with (&trace_jsonl,
                                 "{\"submit\":0,\"runtime\":9,\"slots\":\"2-8\","
                                 "\"memory\":100}",
                                 &j, &err),
                      TRACE_JOB);
    assert_int_equal (j.size.slots_min, 2);
    assert_int_equal (j.size.slots_max, 8);
    assert_int_equal (j.size.memory_mib, 100);
    assert_true (j.limit == 9);
}

static void test_jsonl_broken (void **state)
{
#define JOB "{\"submit\":0,\"runtime\":1,"
    static const struct broken broken[] = {
        { "{\"submit\":0", "line 1" },
        { "[1]", "an array" },
        { "{\"runtime\":1}", "submit" },
        { "{\"submit\":0}", "runtime" },
        { "{\"submit\":-1,\"runtime\":1}", "submit" },
        { "{\"submit\":1e300,\"runtime\":1}", "submit" },
        { "{\"submit\":\"now\",\"runtime\":1}", "submit" },
        { JOB "\"limit\":-3}", "limit" },
        { JOB "\"limit\":31536001}", "limit" },
        { "{\"submit\":0,\"runtime\":31536001}", "runtime" },
        { JOB "\"nodes\":0}", "nodes" },
        { JOB "\"nodes\":\"8-4\"}", "nodes" },
        { JOB "\"nodes\":\"many\"}", "nodes" },
        { JOB "\"nodes\":2,\"slots\":\"1-2\"}", "slots" },
        { JOB "\"nodes\":3000000000}", "nodes" },
        { JOB "\"cores\":0}", "cores" },
        { JOB "\"cores\":65537}", "cores" },
        { JOB "\"gpus\":-1}", "gpus" },
        { JOB "\"memory\":\"9Qi\"}", "memory" },
        { JOB "\"memory\":\"9000Pi\"}", "memory" },
        { JOB "\"memory\":-1}", "memory" },
        { JOB "\"exclusive\":true}", "exclusive" },
        { JOB "\"exclusive\":1}", "exclusive" },
        { JOB "\"core\":1}", "core" },
        { JOB "\"submit\":1}", "duplicate" },
        { "{\"submit_time\":1}", "request" },
        { "{\"submit_time\":1,\"request\":{\"nodes_min\":4,\"nodes_max\":1}}",
          "request" },
        { "{\"events\":[]}", "submit" },
        { "{\"events\":{}}", "events" },
    };

    (void)state;
    check_broken (&trace_jsonl, broken, ARRAY_SIZE (broken));
}

/* -- output of fluxqd -- */

#define RECORD_TIMES                                                                     \
    "\"submit_time\":100,\"start_time\":110,\"end_time\":140.5,\"time_limit\":60"

static void test_records (void **state)
{
    struct trace_job j;
    struct error err;

    (void)state;
    assert_int_equal (
        read_with (&trace_jsonl,
                   "{\"id\":3," RECORD_TIMES ",\"events\":12,\"begin_time\":null,"
                   "\"request\":{\"nodes_min\":2,\"nodes_max\":2,\"slots_min\":4,"
                   "\"slots_max\":4,\"cores\":12,\"gpus\":4,\"memory_per_node_mib\":0},"
                   "\"ranks\":[{\"slots\":2,\"memory_mib\":512,\"exclusive\":true}]}",
                   &j, &err),
        TRACE_JOB);
    assert_true (j.submit == 100 && j.runtime == 30.5 && j.limit == 60);
    assert_int_equal (j.size.nodes_min, 2);
    assert_int_equal (j.size.slots_max, 2);
    assert_int_equal (j.size.cores, 3);
    assert_int_equal (j.size.gpus, 1);
    assert_int_equal (j.size.memory_mib, 256);
    assert_int_equal (j.size.exclusive, 1);
    /* Slots on any nodes. */
    assert_int_equal (read_with (&trace_jsonl,
                                 "{" RECORD_TIMES
                                 ",\"request\":{\"nodes_min\":1,\"nodes_max\":8,"
                                 "\"slots_min\":2,\"slots_max\":8,\"cores\":2,\"gpus\":0,"
                                 "\"memory_per_node_mib\":0}}",
                                 &j, &err),
                      TRACE_JOB);
    assert_int_equal (j.size.nodes_max, 0);
    assert_int_equal (j.size.slots_min, 2);
    assert_int_equal (j.size.slots_max, 8);
    assert_int_equal (j.size.cores, 1);
    /* The job still waits. */
    assert_int_equal (
        read_with (
            &trace_jsonl,
            "{\"submit_time\":100,\"start_time\":null,\"request\":{\"nodes_min\":1,"
            "\"nodes_max\":1,\"slots_min\":1,\"slots_max\":1,\"cores\":1}}",
            &j, &err),
        TRACE_LEFT_OUT);
}

#define SUBMIT "{\"timestamp\":100,\"name\":\"submit\",\"context\":{}}"
#define ALLOC                                                                            \
    "{\"timestamp\":101,\"name\":\"alloc\",\"context\":{\"R\":{\"version\":1,"           \
    "\"execution\":{\"R_lite\":[{\"rank\":\"0-1\",\"children\":{\"core\":\"0-3\"}}],"    \
    "\"starttime\":101,\"expiration\":161,\"nodelist\":[\"n[1-2]\"]}}}}"
#define START "{\"timestamp\":102,\"name\":\"start\"}"
#define FINISH "{\"timestamp\":112,\"name\":\"finish\",\"context\":{\"status\":0}}"

static void test_event_logs (void **state)
{
    struct trace_job j;
    struct error err;

    (void)state;
    assert_int_equal (
        read_with (&trace_jsonl,
                   "{\"events\":[" SUBMIT "," ALLOC "," START "," FINISH "]}", &j, &err),
        TRACE_JOB);
    assert_true (j.submit == 100 && j.runtime == 10 && j.limit == 60);
    assert_int_equal (j.size.nodes_min, 2);
    assert_int_equal (j.size.slots_max, 1);
    assert_int_equal (j.size.cores, 4);
    assert_int_equal (
        read_with (&trace_jsonl, "{\"events\":[" SUBMIT "," ALLOC "]}", &j, &err),
        TRACE_LEFT_OUT);
}

/* -- files -- */

static char path[] = "/tmp/fluxq-test-trace.XXXXXX";

static void write_file (const char *text, size_t len)
{
    FILE *f = fopen (path, "we");
    assert_non_null (f);
    assert_int_equal (fwrite (text, 1, len, f), len);
    assert_int_equal (fclose (f), 0);
}

/* Opens the text as this kind of trace. */
static struct trace *open_text (const char *kind, const char *text, size_t len, bool skip,
                                struct error *err)
{
    const struct trace_options opt = { .skip = skip };
    char name[sizeof (path) + 16];

    write_file (text, len);
    snprintf (name, sizeof (name), "%s:%s", kind, path);
    *err = (struct error){ 0 };
    return trace_open (name, &opt, err);
}

#define MORE " 0 60 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n"

static void test_order (void **state)
{
    static const char text[] = "; Version: 2.2\n\n1 20" MORE "2 10" MORE "  ; note\r\n"
                               "3 20" MORE "4 10" MORE;
    static const uint64_t lines[] = { 4, 7, 3, 6 };
    struct error err;
    struct trace_job j;
    struct trace *t = open_text ("swf", text, strlen (text), false, &err);

    (void)state;
    assert_non_null (t);
    for (size_t i = 0; i < ARRAY_SIZE (lines); i++) {
        assert_int_equal (trace_next (t, &j), 1);
        assert_int_equal (j.line, lines[i]);
    }
    assert_int_equal (trace_next (t, &j), 0);
    trace_close (t);
}

static void test_stop_and_skip (void **state)
{
    static const char text[] = "1 20" MORE "what\n2 10" MORE "3\0 20" MORE;
    struct error err;
    struct trace_job j;
    struct trace *t = open_text ("swf", text, sizeof (text) - 1, false, &err);

    (void)state;
    assert_null (t);
    assert_non_null (strstr (err.text, path));
    assert_non_null (strstr (err.text, ":2: field 1"));
    t = open_text ("swf", text, sizeof (text) - 1, true, &err);
    assert_non_null (t);
    assert_int_equal (trace_counts (t).skipped, 2);
    assert_int_equal (trace_next (t, &j), 1);
    assert_int_equal (j.line, 3);
    assert_int_equal (trace_next (t, &j), 1);
    assert_int_equal (trace_next (t, &j), 0);
    trace_close (t);
}

/* An unterminated record does not affect other records. */
static void test_indented (void **state)
{
    static const char text[] = "{\n  \"submit\": 1,\n  \"runtime\": 2\n}\n"
                               "{\"submit\":2,\"runtime\":3}\n"
                               "{\n  \"submit\": 3,\n"
                               "{\n  \"submit\": 4,\n  \"runtime\": 2\n}\n"
                               "{\n";
    static const uint64_t lines[] = { 1, 5, 8 };
    struct error err;
    struct trace_job j;
    struct trace *t = open_text ("jsonl", text, strlen (text), false, &err);

    (void)state;
    assert_null (t);
    assert_non_null (strstr (err.text, ":6: the object that begins here has no end"));
    t = open_text ("jsonl", text, strlen (text), true, &err);
    assert_non_null (t);
    assert_int_equal (trace_counts (t).skipped, 2);
    for (size_t i = 0; i < ARRAY_SIZE (lines); i++) {
        assert_int_equal (trace_next (t, &j), 1);
        assert_int_equal (j.line, lines[i]);
    }
    assert_int_equal (trace_next (t, &j), 0);
    trace_close (t);
}

static void test_long_line (void **state)
{
    static const char end[] = "\n1 20" MORE;
    size_t len = TRACE_LINE_MAX + 100;
    char *text = malloc (len + sizeof (end));
    struct error err;
    struct trace *t;

    (void)state;
    assert_non_null (text);
    memset (text, '1', len);
    memcpy (text + len, end, sizeof (end));
    t = open_text ("swf", text, len + strlen (end), false, &err);
    assert_null (t);
    assert_non_null (strstr (err.text, ":1: longer than"));
    t = open_text ("swf", text, len + strlen (end), true, &err);
    assert_non_null (t);
    assert_int_equal (trace_counts (t).skipped, 1);
    trace_close (t);
    free (text);
}

static void test_no_jobs (void **state)
{
    struct error err;

    (void)state;
    assert_null (open_text ("swf", "; nothing\n", 10, false, &err));
    assert_non_null (strstr (err.text, "no job"));
    assert_null (open_text ("jsonl", "", 0, true, &err));
    assert_non_null (strstr (err.text, "no job"));
    assert_null (trace_open ("swf:/nowhere/x", &(struct trace_options){ 0 }, &err));
    assert_non_null (strstr (err.text, "/nowhere/x"));
    assert_null (trace_open ("/tmp/x.txt", &(struct trace_options){ 0 }, &err));
    assert_non_null (strstr (err.text, "swf:/tmp/x.txt"));
    assert_null (trace_open ("builtin:no", &(struct trace_options){ 0 }, &err));
    assert_non_null (strstr (err.text, "builtin:no"));
}

/* -- built-in traces -- */

static uint64_t checksum (const char *name, uint64_t seed, uint64_t *jobs)
{
    const struct trace_options opt = { .seed = seed };
    struct error err;
    struct trace *t = trace_open (name, &opt, &err);
    struct trace_job j = { 0 };
    uint64_t sum = 0;
    double last = 0;

    assert_non_null (t);
    for (*jobs = 0; *jobs < 5000 && trace_next (t, &j) == 1; ++*jobs) {
        assert_true (j.submit >= last && j.runtime >= 0 && j.limit >= j.runtime);
        assert_true (j.size.cores >= 1 && j.size.slots_min >= 1);
        last = j.submit;
        sum = sum * 31 + (uint64_t)(j.submit * 1000) + (uint64_t)(j.runtime * 1000)
              + j.size.slots_max + 7 * j.size.nodes_max;
    }
    trace_close (t);
    return sum;
}

static void test_builtins (void **state)
{
    (void)state;
    for (const struct trace_builtin *b = trace_builtins; b->name; b++) {
        char name[64];
        uint64_t n;
        snprintf (name, sizeof (name), "builtin:%s", b->name);
        assert_string_equal (trace_cluster (name), b->cluster);
        uint64_t one = checksum (name, 1, &n);
        assert_int_equal (n, MIN (b->jobs, 5000));
        assert_int_equal (checksum (name, 1, &n), one);
        assert_int_not_equal (checksum (name, 2, &n), one);
    }
}

static int make_file (void **state)
{
    int fd = mkstemp (path);
    (void)state;
    return fd < 0 ? -1 : close (fd);
}

static int remove_file (void **state)
{
    (void)state;
    return unlink (path);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_swf),           cmocka_unit_test (test_swf_left_out),
        cmocka_unit_test (test_swf_broken),    cmocka_unit_test (test_jsonl),
        cmocka_unit_test (test_jsonl_broken),  cmocka_unit_test (test_records),
        cmocka_unit_test (test_event_logs),    cmocka_unit_test (test_order),
        cmocka_unit_test (test_stop_and_skip), cmocka_unit_test (test_indented),
        cmocka_unit_test (test_long_line),     cmocka_unit_test (test_no_jobs),
        cmocka_unit_test (test_builtins),
    };
    return cmocka_run_group_tests (tests, make_file, remove_file);
}
