/* test_columns.c - the columns of listings: those of the record, of services, and the
 * attributes
 */
#include "broker/core/test/fake_http.h"

#include <string.h>

#include "broker/api/columns.h"

#define OPERATOR 0

/* A column that does not fit into the table would be missing. */
static void test_each_is_found_once (void **unused)
{
    size_t n;
    (void)unused;
    services_arrange ();
    const struct column *all = columns_all (&n);

    assert_in_range (n, 30, COLUMNS_MAX - 1);
    for (size_t i = 0; i < n; i++)
        if (column_find (all[i].name, strlen (all[i].name)) != &all[i])
            fail_msg ("column %s is there twice", all[i].name);
    for (const struct broker_service **s = SERVICES_WITH (columns); *s; s++)
        for (const struct column *c = (*s)->columns; c->name; c++) {
            const struct column *found = column_find (c->name, strlen (c->name));
            if (!found || found->render != c->render)
                fail_msg ("column %s of service %s is hidden", c->name, (*s)->name);
        }
    assert_null (column_find ("reaso", 5));
    assert_non_null (column_find ("reason_text", 6)); /* "reason" */
}

static size_t count (const char *text, char ch)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == ch;
    return n;
}

/* Job 1 has the node, jobs 2 and 3 wait for it. */
static struct small *three_jobs (void)
{
    struct small *s = small_create (1);

    s->slots = 4;
    for (int i = 0; i < 3; i++)
        small_submit (s, "duration: 60");
    small_turn (s);
    small_ready (s, 1);
    return s;
}

static void test_rows (void **unused)
{
    struct small *s = three_jobs ();
    size_t n;

    (void)unused;
    columns_all (&n);
    const struct client *c = client_call (s, OPERATOR, "GET /v1/jobs", NULL);
    assert_int_equal (c->status, 200);
    autojson json_t *o = json_loads (c->text, 0, NULL);
    const json_t *jobs = json_object_get (o, "jobs");
    assert_int_equal (json_array_size (jobs), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal (json_object_size (json_array_get (jobs, i)), n);
    const char *text = client_call (s, OPERATOR, "GET /v1/jobs?format=tsv", NULL)->text;
    assert_int_equal (count (text, '\n'), 3);
    assert_int_equal (count (text, '\t'), 3 * (n - 1));
    small_destroy (s);
}

/* The order of the columns is that of `fields`, whatever service has them. */
static void test_fields (void **unused)
{
    struct small *s = three_jobs ();

    (void)unused;
    assert_string_equal (
        client_call (
            s, OPERATOR,
            "GET /v1/jobs?format=tsv&fields=reason,id,jobs_ahead,blocking_jobs,st", NULL)
            ->text,
        "\t1\t\t\tR\n"
        "Resources\t2\t0\t1\tPD\n"
        "Resources\t3\t1\t\tPD\n");
    assert_int_equal (
        client_call (s, OPERATOR, "GET /v1/jobs?fields=id,no", NULL)->status, 400);
    assert_int_equal (
        client_call (s, OPERATOR, "GET /v1/jobs?fields=id,id", NULL)->status, 400);
    small_destroy (s);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_each_is_found_once),
        cmocka_unit_test (test_rows),
        cmocka_unit_test (test_fields),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
