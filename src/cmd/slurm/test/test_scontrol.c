/* test_scontrol.c - words "Key=value", and records in Slurm's layout */
#include "common/test/unit.h"

#include <stdio.h>
#include <string.h>

#include "cmd/slurm/jobs/jobview.h"
#include "cmd/slurm/words/pairs.h"

/* -- pairs -- */

static const struct pair_key keys[] = {
    { "Nodes", 5, 1, NULL, false },
    { "NodeCnt", 5, 2, NULL, false },
    { "Nice", 2, 3, NULL, true },
    { "Weight", 1, 0, "there is none", false },
    { 0 },
};

static int read_one (const char *a, const char *b, struct pair *ret, struct error *err)
{
    struct pairs p = { (char *[]){ (char *)a, (char *)b }, b ? 2 : 1, 0 };

    *err = (struct error){ 0 };
    return pairs_next (&p, keys, ret, err);
}

static void test_pairs (void **unused)
{
    struct pair pair;
    struct error err;

    (void)unused;
    assert_int_equal (read_one ("nodes=a=b", NULL, &pair, &err), 1);
    assert_int_equal (pair.key->id, 1);
    assert_string_equal (pair.value, "a=b");
    assert_int_equal (read_one ("NODEC=3", NULL, &pair, &err), 1);
    assert_int_equal (pair.key->id, 2);
    assert_int_equal (read_one ("Nodes+=x", NULL, &pair, &err), 1);
    assert_int_equal (pair.sign, '+');
    assert_int_equal (read_one ("Nodes", "x", &pair, &err), 1);
    assert_string_equal (pair.value, "x");
    assert_int_equal (read_one ("nice", "x", &pair, &err), 1);
    assert_string_equal (pair.value, "");
    assert_int_equal (read_one ("nice=", NULL, &pair, &err), 1);
    assert_int_equal (read_one ("Node=x", NULL, &pair, &err), PAIR_UNKNOWN);
    assert_int_equal (read_one ("NodesX=x", NULL, &pair, &err), PAIR_UNKNOWN);
    assert_int_equal (read_one ("=x", NULL, &pair, &err), PAIR_UNKNOWN);
    assert_int_equal (read_one ("+=x", NULL, &pair, &err), PAIR_UNKNOWN);
    assert_int_equal (read_one ("Nodes", NULL, &pair, &err), PAIR_MALFORMED);
    assert_int_equal (read_one ("w=1", NULL, &pair, &err), PAIR_REFUSED);
    assert_string_equal (err.text, "Weight is not supported: there is none");
}

static void test_find (void **unused)
{
    struct pairs p = { (char *[]){ (char *)"x", (char *)"nice", (char *)"Nodes=1" }, 3,
                       0 };

    (void)unused;
    assert_int_equal (pairs_find (&p, keys)->id, 1); /* "nice" is the value of x */
    p.n = 2;
    assert_null (pairs_find (&p, keys));
}

/* -- records -- */

static const struct row rows[] = {
    { .key = "A", .from = "a" },
    { .key = "B", .from = "b", .kind = ROW_NUMBER, .ends = true },
    { .key = "C", .from = "c", .optional = true, .ends = true },
    { .key = "D", .from = "d", .kind = ROW_TIME, .detail = true, .ends = true },
    { .key = "E", .from = "e", .kind = ROW_DURATION },
    { .key = "F", .from = "f", .kind = ROW_FLAG },
    { 0 },
};

static void check_record (const char *json, int flags, const char *wanted)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);
    autojson json_t *o = json_loads (json, 0, NULL);

    assert_non_null (o);
    record_add (&sb, rows, o, flags);
    assert_string_equal (sb.buf, wanted);
}

static void test_record (void **unused)
{
    (void)unused;
    check_record ("{}", 0, "A=(null) B=0\n   E=00:00:00 F=0");
    check_record ("{\"a\":\"x\",\"b\":3,\"c\":\"y z\",\"e\":90061,\"f\":true}",
                  RECORD_ONE_LINE, "A=x B=3 C=y z E=1-01:01:01 F=1");
    check_record ("{}", RECORD_DETAILS, "A=(null) B=0\n   D=Unknown\n   E=00:00:00 F=0");
    /* no value can make a line of its own */
    check_record ("{\"a\":\"x\\n   B=1\\u001b[2J\"}", 0,
                  "A=x?   B=1?[2J B=0\n   E=00:00:00 F=0");
}

static void test_time (void **unused)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);

    (void)unused;
    setenv ("TZ", "UTC", 1);
    setenv ("SLURM_TIME_FORMAT", "%Y/%j", 1);
    record_add_time (&sb, 86400);
    strbuf_adds (&sb, " ");
    record_add_time (&sb, 0);
    unsetenv ("SLURM_TIME_FORMAT");
    strbuf_adds (&sb, " ");
    record_add_time (&sb, 86400.9);
    assert_string_equal (sb.buf, "1970/002 Unknown 1970-01-02T00:00:00");
}

static void test_memory (void **unused)
{
    static const struct {
        double mib;
        const char *text;
    } table[] = { { 0, "0" },         { 1, "1M" },       { 1023, "1023M" },
                  { 1024, "1G" },     { 1536, "1536M" }, { 1024 * 1024, "1T" },
                  { 96420, "96420M" } };

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (table); i++) {
        autostrbuf struct strbuf sb = STRBUF_INIT (64);
        record_add_memory (&sb, table[i].mib);
        assert_string_equal (sb.buf, table[i].text);
    }
}

/* -- jobs -- */

static void test_job (void **unused)
{
    autojson json_t *job = json_loads (
        "{\"id\":7,\"state\":\"FAILED\",\"reason\":\"\",\"wait_status\":768,\"array_"
        "job\":5,"
        "\"array_task\":2,\"batch\":true,\"cwd\":\"/d\",\"output\":\"o-%A_%a.%j\","
        "\"start_time\":5,\"time_limit\":60,\"request\":{\"constraints\":{\"and\":["
        "{\"hostlist\":[\"a[1-2]\"]},{\"not\":[{\"hostlist\":[\"a3\"]}]}]}}}",
        0, NULL);
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);
    int code, signum;

    (void)unused;
    jobview_exit (job, &code, &signum);
    assert_true (code == 3 && signum == 0);
    json_object_set_new (job, "wait_status", json_integer (15));
    jobview_exit (job, &code, &signum);
    assert_true (code == 0 && signum == 15);
    assert_string_equal (jobview_reason (job), "NonZeroExitCode");
    jobview_add_file (&sb, job, "error");
    strbuf_adds (&sb, " ");
    jobview_add_tasks (&sb, job);
    assert_string_equal (sb.buf, "/d/o-5_2.7 2");
    assert_string_equal (jobview_hosts (job, false), "a[1-2]");
    assert_string_equal (jobview_hosts (job, true), "a3");
    assert_true (jobview_end (job) == 65);
    assert_false (jobview_is_spent (job));
}

/* Neighbours with equal resources share a line. */
static void test_details (void **unused)
{
    static const char rank[] = "{\"node\":\"a%d\",\"cores\":\"0-1\",\"gpus\":\"%s\","
                               "\"memory_mib\":64,\"gres\":{\"disk\":2}}";
    autojson json_t *job = json_pack ("{s:i s:i s:[]}", "ncores", 6, "nodes", 3, "ranks");
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);
    char text[256];

    (void)unused;
    for (int i = 1; i <= 3; i++) {
        snprintf (text, sizeof (text), rank, i, i < 3 ? "0,2" : "");
        json_array_append_new (json_object_get (job, "ranks"),
                               json_loads (text, 0, NULL));
    }
    jobview_add_details (&sb, job);
    assert_string_equal (sb.buf,
                         "  Nodes=a[1-2] CPU_IDs=0-1 Mem=64 GRES=gpu(IDX:0,2),disk:2\n   "
                         "  Nodes=a3 CPU_IDs=0-1 Mem=64 GRES=disk:2");
    strbuf_reset (&sb);
    jobview_add_job_gres (&sb, job);
    assert_string_equal (sb.buf, "disk:6,gpu:4");
    strbuf_reset (&sb);
    jobview_add_tres (&sb, job, true);
    assert_string_equal (sb.buf, "cpu=6,mem=192M,node=3,gres/gpu=4");
}

/* An array is shown while it has tasks that are no jobs. */
static void test_array (void **unused)
{
    autojson json_t *job =
        json_loads ("{\"array\":{\"limit\":2,\"waiting\":{\"count\":3,\"tasks\":\"3-5\"},"
                    "\"cancelled\":{\"count\":0,\"tasks\":\"\"}}}",
                    0, NULL);
    json_t *array = json_object_get (job, "array");
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);

    (void)unused;
    jobview_add_tasks (&sb, job);
    assert_string_equal (sb.buf, "3-5%2");
    json_object_set_new (array, "waiting", json_object ());
    assert_true (jobview_is_spent (job));
    json_object_set_new (array, "cancelled",
                         json_pack ("{s:i s:s}", "count", 1, "tasks", "5"));
    assert_false (jobview_is_spent (job));
    strbuf_reset (&sb);
    jobview_add_tasks (&sb, job);
    assert_string_equal (sb.buf, "5%2");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_pairs),  cmocka_unit_test (test_find),
        cmocka_unit_test (test_record), cmocka_unit_test (test_time),
        cmocka_unit_test (test_memory), cmocka_unit_test (test_job),
        cmocka_unit_test (test_array),  cmocka_unit_test (test_details),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
