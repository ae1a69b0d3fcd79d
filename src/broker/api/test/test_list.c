/* test_list.c - GET /v1/jobs: filters, order, pages, and both formats */
#include "broker/core/test/fake_http.h"

#include <stdlib.h>
#include <string.h>

#define USER 1000
#define OTHER 1001
#define OPERATOR 0
#define IDS "GET /v1/jobs?format=tsv&fields=id"

/* Jobs 1 to 4 run, 5 and 6 wait. */
static struct small *six_jobs (void)
{
    struct small *s = small_create (1);

    for (int i = 0; i < 6; i++)
        small_submit (s, "duration: 0, job: {name: a}");
    small_turn (s);
    return s;
}

static const char *list (struct small *s, uid_t uid, const char *head)
{
    struct client *c = client_call (s, uid, head, NULL);

    assert_int_equal (c->status, 200);
    return c->text;
}

static void rename_job (struct small *s, uint64_t id, const char *name)
{
    struct job *job = entry_job (entry_find (s->b, id));

    free (job->name);
    job->name = strdup (name);
}

/* Running jobs come first, then waiting ones as they will be tried, then ended ones. */
static void test_order (void **unused)
{
    struct small *s = six_jobs ();

    (void)unused;
    assert_string_equal (list (s, USER, IDS), "1\n2\n3\n4\n5\n6\n");
    struct client *c =
        client_call (s, OPERATOR, "POST /v1/jobs/6/urgency", "{\"urgency\":20}");
    assert_int_equal (c->status, 200);
    assert_string_equal (list (s, USER, IDS), "1\n2\n3\n4\n6\n5\n");
    small_finish (s, 1, "ended");
    assert_string_equal (list (s, USER, IDS "&state=all"), "2\n3\n4\n6\n5\n1\n");
    assert_string_equal (list (s, USER, IDS), "2\n3\n4\n6\n5\n");
    small_destroy (s);
}

static void test_filters (void **unused)
{
    struct small *s = six_jobs ();

    (void)unused;
    rename_job (s, 2, "b");
    struct job *job = entry_job (entry_find (s->b, 3));
    free (job->user);
    job->user = strdup ("bob");
    small_finish (s, 4, "ended");
    assert_string_equal (list (s, USER, IDS "&name=b"), "2\n");
    assert_string_equal (list (s, USER, IDS "&name=a,b&state=running"), "1\n2\n3\n5\n");
    assert_string_equal (list (s, USER, IDS "&state=pending"), "6\n");
    assert_string_equal (list (s, USER, IDS "&queue=batch&state=pending"), "6\n");
    assert_string_equal (list (s, USER, IDS "&user=bob"), "3\n");
    assert_string_equal (list (s, USER, IDS "&ids=2-4,9"), "2\n3\n4\n");
    small_destroy (s);
}

/* Pages are in the order of ids; a whole list says that no page follows. */
static void test_pages (void **unused)
{
    struct small *s = six_jobs ();

    (void)unused;
    assert_string_equal (list (s, USER, "GET /v1/jobs?fields=id&limit=2"),
                         "{\"jobs\":[{\"id\":1},\n{\"id\":2}],\"next\":2,\"total\":6}");
    assert_string_equal (
        list (s, USER, "GET /v1/jobs?fields=id&limit=2&after=4"),
        "{\"jobs\":[{\"id\":5},\n{\"id\":6}],\"next\":null,\"total\":2}");
    assert_string_equal (list (s, USER, "GET /v1/jobs?fields=id&after=6"),
                         "{\"jobs\":[],\"next\":null,\"total\":0}");
    assert_string_equal (list (s, USER, IDS "&after=6"), "");
    small_destroy (s);
}

/* In TSV a tab, a line end and a backslash in a text are escaped; in JSON as JSON has it. */
static void test_escapes (void **unused)
{
    struct small *s = six_jobs ();

    (void)unused;
    rename_job (s, 1, "a\tb\\c\nd");
    rename_job (s, 2, "");
    assert_string_equal (
        list (s, USER, "GET /v1/jobs?format=tsv&fields=name,id,user&ids=1-2"),
        "a\\tb\\\\c\\nd\t1\tuser\n\t2\tuser\n");
    assert_string_equal (list (s, USER, "GET /v1/jobs?fields=name,id&ids=1&limit=1"),
                         "{\"jobs\":[{\"name\":\"a\\tb\\\\c\\nd\",\"id\":1}],"
                         "\"next\":null,\"total\":1}");
    small_destroy (s);
}

/* private: [jobs] hides jobs of others; private: [arguments] hides their reasons. */
static void test_private (void **unused)
{
    struct small *s = six_jobs ();
    const char *head = "GET /v1/jobs?format=tsv&fields=id,reason,reason_text&ids=5";

    (void)unused;
    assert_non_null (strstr (list (s, OTHER, head), "5\tResources\tneeds 1 core"));
    small_set (s, "private", json_pack ("[s]", "arguments"));
    assert_string_equal (list (s, OTHER, head), "5\tResources\t\n");
    assert_non_null (strstr (list (s, USER, head), "5\tResources\tneeds 1 core"));
    small_set (s, "private", json_pack ("[s]", "jobs"));
    assert_string_equal (list (s, OTHER, head), "");
    assert_string_equal (list (s, OTHER, IDS), "");
    assert_non_null (strstr (list (s, OPERATOR, IDS), "1\n2\n3\n4\n5\n6\n"));
    small_destroy (s);
}

static void test_refused (void **unused)
{
    static const char *const heads[] = {
        "GET /v1/jobs?fields=,",   "GET /v1/jobs?fields=nosuch",
        "GET /v1/jobs?format=xml", "GET /v1/jobs?limit=0",
        "GET /v1/jobs?limit=x",    "GET /v1/jobs?after=-1",
        "GET /v1/jobs?state=gone", "GET /v1/jobs?ids=1-",
    };
    struct small *s = six_jobs ();

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (heads); i++)
        if (client_call (s, USER, heads[i], NULL)->status != 400)
            fail_msg ("%s is not refused", heads[i]);
    small_destroy (s);
}

/* A long listing goes on while jobs end and leave the table. */
static void test_gone_meanwhile (void **unused)
{
    struct small *s = small_create (1);
    struct strbuf all = STRBUF_INIT (1 << 20);

    (void)unused;
    for (int i = 0; i < 5100; i++)
        assert_non_null (small_submit (s, "duration: 60"));
    struct client *c = client_call (
        s, USER,
        "GET "
        "/v1/jobs?format=tsv&fields=id,job,user,state,submit_time,eligible_time,reason",
        NULL);
    assert_int_equal (c->status, 200);
    assert_false (c->ended);
    entry_remove (s->b, entry_find (s->b, 5000));
    entry_remove (s->b, entry_find (s->b, 5100));
    for (bool ended = false; !ended;) {
        ended = c->ended;
        strbuf_adds (&all, c->text);
        client_take (c);
    }
    const char *line = all.buf;
    for (uint64_t id = 1; id < 5100; id++) {
        if (id == 5000)
            continue;
        assert_int_equal (strtoull (line, NULL, 10), id);
        line = strchr (line, '\n') + 1;
    }
    assert_string_equal (line, "");
    strbuf_release (&all);
    small_destroy (s);
}

/* Jobs that have gone leave no gap, and the others keep their order. */
static void test_gone (void **unused)
{
    struct small *s = six_jobs ();
    static const char *const left[] = {
        "1\n2\n4\n5\n6\n", "1\n2\n4\n6\n", "2\n4\n6\n", "2\n4\n", "4\n", "",
    };
    static const uint64_t ids[] = { 3, 5, 1, 6, 2, 4 };

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (ids); i++) {
        small_finish (s, ids[i], "ended");
        entry_remove (s->b, entry_find (s->b, ids[i]));
        assert_string_equal (list (s, USER, IDS "&state=all&after=0"), left[i]);
    }
    small_submit (s, "duration: 0");
    small_turn (s);
    assert_string_equal (list (s, USER, IDS), "7\n");
    small_destroy (s);
}

static void scenario (struct small *s)
{
    for (int i = 0; i < 5; i++)
        small_submit (s, "duration: 60");
    small_turn (s);
    assert_true (client_call (s, USER, "GET /v1/jobs", NULL)->ended);
    small_finish (s, 1, "ended");
    assert_true (
        client_call (s, OTHER, "GET /v1/jobs?format=tsv&state=all", NULL)->ended);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_order),          cmocka_unit_test (test_filters),
        cmocka_unit_test (test_pages),          cmocka_unit_test (test_escapes),
        cmocka_unit_test (test_private),        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_gone_meanwhile), cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),      cmocka_unit_test (test_gone),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
