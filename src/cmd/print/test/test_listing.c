/* test_listing.c - formats of fluxq-queue, and their output */
#include "common/test/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/print/listing.h"

/* The listing of tsv under a format, as one text. */
static char *shown (const char *format, const char *tsv, unsigned terminal, bool heading)
{
    struct format f;
    struct listing l;
    struct error err = { 0 };
    struct strbuf sb;
    char *body = strdup (tsv);

    assert_non_null (body);
    assert_int_equal (format_parse (&f, format, &err), 0);
    assert_int_equal (listing_parse (&l, &f, body, strlen (body), &err), 0);
    listing_fit (&l, terminal, heading);
    strbuf_init (&sb, 1 << 20);
    listing_print (&l, heading, &sb);
    listing_release (&l);
    free (body);
    char *text = strbuf_detach (&sb);
    assert_non_null (text);
    return text;
}

static void expect (const char *format, const char *tsv, unsigned terminal, bool heading,
                    const char *wanted)
{
    char *text = shown (format, tsv, terminal, heading);

    assert_string_equal (text, wanted);
    free (text);
}

static void fields_are (const char *format, const char *wanted)
{
    struct format f;
    struct strbuf sb;

    strbuf_init (&sb, 1024);
    assert_int_equal (format_parse (&f, format, NULL), 0);
    format_add_fields (&f, &sb);
    assert_string_equal (sb.buf, wanted);
    strbuf_release (&sb);
}

static void refused (const char *format, const char *part)
{
    struct format f;
    struct error err = { 0 };

    assert_int_equal (format_parse (&f, format, &err), -EINVAL);
    assert_non_null (strstr (err.text, part));
}

/* Each field is requested once, and columns made of two fields request both. */
static void test_fields (void **state)
{
    (void)state;
    fields_are ("%i %P %R", "job,queue,reason,nodelist");
    fields_are ("%M %L %i %i", "time,time_limit,job");
    fields_are ("id,time_left,result_text", "job,time_limit,time,result_text");
}

static void test_bad_formats (void **state)
{
    struct strbuf sb;

    (void)state;
    refused ("%Y", "%Y");
    refused ("%i %", "'%'");
    refused ("%.9", "'%.9'");
    refused ("%i%%", "percent");
    refused ("%1001i", "1000");
    refused ("%99999999999999999999i", "1000");
    refused ("", "no such column");
    refused ("id,,name", "no such column");
    refused ("id,nam", "'nam'");
    refused ("id name", "'id name'");
    strbuf_init (&sb, 4096);
    for (int i = 0; i < FORMAT_ITEMS_MAX; i++)
        strbuf_adds (&sb, "%i");
    fields_are (sb.buf, "job");
    strbuf_adds (&sb, "%i");
    refused (sb.buf, "more than 32");
    strbuf_release (&sb);
}

/* A script that cuts squeue's output by position finds the same positions. */
static void test_squeue_widths (void **state)
{
    (void)state;
    expect ("%.5i|%5j|%.3u|%t", "7\thello-world\troot\tR\n", 0, false,
            "    7|hello|roo|R\n");
    expect ("%.5i|%5j|%t", "7\thi\tR\n", 0, false, "    7|hi   |R\n");
    expect ("[%i]", "7\n", 0, true, "[JOBID]\n[    7]\n");
}

/* By default a column is as wide as its widest text, numbers are right-aligned, and
 * nothing follows the last column. */
static void test_natural_widths (void **state)
{
    (void)state;
    expect ("%i %j %D %R",
            "1\ta\t1\t\tnode1\n"
            "12345678\tlonger\t20\tPriority\t\n",
            0, true,
            "   JOBID NAME   NODES NODELIST(REASON)\n"
            "       1 a          1 node1\n"
            "12345678 longer    20 (Priority)\n");
}

static void test_durations (void **state)
{
    (void)state;
    expect ("time,time_limit,time_left", "0\t60\n3723\t\n90061\t90000\n", 0, false,
            "      0:00       1:00      1:00\n"
            "   1:02:03  UNLIMITED UNLIMITED\n"
            "1-01:01:01 1-01:00:00      0:00\n");
}

static void test_times (void **state)
{
    (void)state;
    setenv ("TZ", "UTC", 1);
    tzset ();
    expect ("%V", "1795177158.250\n\n", 0, false, "2026-11-20T12:19:18\nN/A\n");
    /* Shows the start time, or else the planned start. */
    expect ("%S", "1795177158\t\n\t1795177159\n\t\n", 0, false,
            "2026-11-20T12:19:18\n2026-11-20T12:19:19\nN/A\n");
}

/* Another user's job name must not reach the reader's terminal as control characters. */
static void test_control_characters (void **state)
{
    (void)state;
    expect ("%j|", "a\\tb\\nc\\\\d\n", 0, false, "a?b?c\\d|\n");
    expect ("%j|", "\033[2J\x7f\xc2\x9b.\n", 0, false, "?[2J??.|\n");
    expect ("%j|", "a\xe2\x80\xae" "b\xe2\x80\x8b" "\xc3\xa9|\\\\t\n", 0, false, "a?b?\xc3\xa9|\\t|\n");
}

static void test_characters_are_columns (void **state)
{
    (void)state;
    expect ("%j|%t", "gr\xc3\xbc\xc3\x9f\tR\nabcdef\tR\n", 0, false,
            "gr\xc3\xbc\xc3\x9f  |R\nabcdef|R\n");
    expect ("%3j|", "gr\xc3\xbc\xc3\x9f\n", 0, false, "gr\xc3\xbc|\n");
    /* wide characters, combining characters, and bytes that are not UTF-8 */
    expect ("%j|%t", "\xe6\x9d\x8e\xe5\xa8\x9c\tR\nabcdef\tR\n", 0, false,
            "\xe6\x9d\x8e\xe5\xa8\x9c  |R\nabcdef|R\n");
    expect ("%j|%t", "u\xcc\x88x\tR\nabc\tR\n", 0, false, "u\xcc\x88x |R\nabc|R\n");
    expect ("%j|%t", "\xfcx\tR\nabc\tR\n", 0, false, "\xfcx |R\nabc|R\n");
    /* A cut never splits a character. */
    expect ("%3j|", "\xe6\x9d\x8e\xe5\xa8\x9c\n", 0, false, "\xe6\x9d\x8e |\n");
    expect ("%.3j|", "\xe6\x9d\x8e\xe5\xa8\x9c\n", 0, false, " \xe6\x9d\x8e|\n");
    expect ("%2j|", "au\xcc\x88z\n", 0, false, "au\xcc\x88|\n");
}

/* The last column shrinks first, with the mark '+'. */
static void test_fit_last (void **state)
{
    (void)state;
    expect ("%i %R", "1\t\tnode[1-100],login[1-20]\n", 24, false,
            "1 node[1-100],login[1-2+\n");
    expect ("%i %R", "1\t\tnode[1-100],login[1-20]\n", 26, false,
            "1 node[1-100],login[1-20]\n");
    expect ("%i %R", "1\t\tnode[1-100],login[1-20]\n", 0, false,
            "1 node[1-100],login[1-20]\n");
}

/* A sentence in the last column continues below, word by word; a word that is too long
 * is cut. */
static void test_wrap (void **state)
{
    (void)state;
    expect ("id,reason_text", "1\tneeds 4 nodes, 3 are up; node3 is drained\n2\t-\n", 20,
            false, "1 needs 4 nodes, 3\n  are up; node3 is\n  drained\n2 -\n");
    expect ("id,reason_text", "1\tneeds abcdefghijklmnopqrstuvwxyz\n", 18, false,
            "1 needs\n  abcdefghijklmnop\n  qrstuvwxyz\n");
    expect ("id,reason_text", "1\tneeds 4 nodes, 3 are up\n", 0, false,
            "1 needs 4 nodes, 3 are up\n");
    expect ("reason_text,id", "needs 4 nodes, 3 are up\t1\n", 18, false,
            "needs 4 nodes, + 1\n");
    expect ("id,result_text", "1\t\xe6\x9d\x8e\xe5\xa8\x9c\xe6\x9d\x8e\xe5\xa8\x9c"
                              "\xe6\x9d\x8e\xe5\xa8\x9c\xe6\x9d\x8e\xe5\xa8\x9c"
                              "\xe6\x9d\x8e\n", 18, false,
            "1 \xe6\x9d\x8e\xe5\xa8\x9c\xe6\x9d\x8e\xe5\xa8\x9c\xe6\x9d\x8e\xe5\xa8\x9c"
            "\xe6\x9d\x8e\xe5\xa8\x9c\n  \xe6\x9d\x8e\n");
}

/* Then the widest of the shrinkable columns shrinks, never below a readable width. */
static void test_fit_others (void **state)
{
    const char *row =
        "1\tbatch\tthe-name-of-a-job-that-is-long\tuser\t\tnode[1-100],login[1-20]\n";

    (void)state;
    expect ("%i %P %j %u %R", row, 50, false,
            "1 batch the-name-of-a-job-t+ user node[1-100],log+\n");
    expect ("%i %P %j %u %R", row, 10, false, "1 batch the-nam+ user node[1-100],log+\n");
}

/* A requested width does not shrink either. */
static void test_fit_leaves_explicit_widths (void **state)
{
    (void)state;
    expect ("%10j|%10N", "abcdefghijkl\tnode[1-1000]\n", 5, false,
            "abcdefghij|node[1-100\n");
}

static void test_empty (void **state)
{
    (void)state;
    expect ("%i %j", "", 80, true, "JOBID NAME\n");
    expect ("%i %j", "", 80, false, "");
}

/* An answer of another form is an error, and prints no garbage. */
static void test_bad_answers (void **state)
{
    static const char *const bad[] = { "1\n", "1\t2\t3\n", "1\t2", "1\t2\n3", "\n" };
    struct format f;

    (void)state;
    assert_int_equal (format_parse (&f, "%i %j", NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct listing l;
        struct error err = { 0 };
        char *body = strdup (bad[i]);
        assert_int_equal (listing_parse (&l, &f, body, strlen (body), &err), -EPROTO);
        assert_null (l.cells);
        free (body);
    }
}

/* Each column of the table can be shown alone, with a field of each kind. */
static void test_every_column (void **state)
{
    (void)state;
    for (const struct column *c = columns_all (); c->name; c++) {
        char *text = shown (c->name, c->fields[1] ? "5\t6\n\t\n" : "5\n\n", 20, true);
        assert_non_null (strstr (text, c->heading));
        free (text);
        for (const struct column *d = columns_all (); d->name; d++) {
            assert_true (d == c || strcmp (d->name, c->name) != 0);
            assert_true (d == c || !c->letter || d->letter != c->letter);
        }
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_fields),
        cmocka_unit_test (test_bad_formats),
        cmocka_unit_test (test_squeue_widths),
        cmocka_unit_test (test_natural_widths),
        cmocka_unit_test (test_durations),
        cmocka_unit_test (test_times),
        cmocka_unit_test (test_control_characters),
        cmocka_unit_test (test_characters_are_columns),
        cmocka_unit_test (test_fit_last),
        cmocka_unit_test (test_wrap),
        cmocka_unit_test (test_fit_others),
        cmocka_unit_test (test_fit_leaves_explicit_widths),
        cmocka_unit_test (test_empty),
        cmocka_unit_test (test_bad_answers),
        cmocka_unit_test (test_every_column),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
