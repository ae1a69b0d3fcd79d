/* test_lines.c - the lines of a text that arrives in pieces of any size */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "cmd/print/lines.h"
#include "common/macros.h"
#include "common/strbuf.h"

#define ROWS 20000 /* several blocks */

struct seen {
    struct strbuf all;
    const char *first; /* the first line, in the text's memory */
    int fail;          /* what the reader answers */
};

static int read_lines (char *text, char *end, void *arg)
{
    struct seen *s = arg;

    assert_true (text < end);
    assert_int_equal (end[-1], '\n');
    if (!s->first)
        s->first = text;
    strbuf_add (&s->all, text, (size_t)(end - text));
    return s->fail;
}

static void make_text (struct strbuf *sb)
{
    strbuf_init (sb, 1 << 24);
    for (int i = 0; i < ROWS; i++)
        strbuf_addf (sb, "%d\t%*s\n", i, i % 50, "x");
}

/* Fails if a line at the border of two pieces or blocks is lost, cut, or moves. */
static void test_pieces (void **unused)
{
    static const size_t sizes[] = { 1, 7, 4096, 65536, 300000, 1 << 24 };
    struct strbuf text;

    (void)unused;
    make_text (&text);
    for (size_t i = 0; i < ARRAY_SIZE (sizes); i++) {
        struct seen seen = { .all = STRBUF_INIT (1 << 24) };
        struct lines l = { .fn = read_lines, .arg = &seen };
        for (size_t at = 0; at < text.len; at += sizes[i])
            lines_add (&l, text.buf + at, MIN (sizes[i], text.len - at));
        assert_int_equal (lines_check (&l), 0);
        assert_string_equal (seen.all.buf, text.buf);
        assert_memory_equal (seen.first, "0\tx\n1\tx\n", 8);
        lines_release (&l);
        strbuf_release (&seen.all);
    }
    strbuf_release (&text);
}

/* Fails if an answer that was cut off looks complete, or an error of the reader is lost. */
static void test_errors (void **unused)
{
    struct seen seen = { .all = STRBUF_INIT (1 << 24) };
    struct lines l = { .fn = read_lines, .arg = &seen };

    (void)unused;
    assert_int_equal (lines_check (&l), 0);
    lines_add (&l, "a\nb", 3);
    assert_int_equal (lines_check (&l), -EPROTO);
    lines_add (&l, "c\n", 2);
    assert_int_equal (lines_check (&l), 0);
    assert_string_equal (seen.all.buf, "a\nbc\n");
    seen.fail = -ENOMEM;
    lines_add (&l, "d\n", 2);
    seen.fail = 0;
    lines_add (&l, "e\n", 2);
    assert_int_equal (lines_check (&l), -ENOMEM);
    lines_release (&l);
    assert_int_equal (lines_check (&l), 0);
    lines_add (&l, "f\n", 2);
    assert_string_equal (seen.all.buf, "a\nbc\nd\nf\n");
    lines_release (&l);
    strbuf_release (&seen.all);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_pieces),
        cmocka_unit_test (test_errors),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
