/* The decoder of lists: items in parts of any size, and invalid data. */
#include "kube/watch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    int n, stop_at;
    char names[256];
};

static int on_item (json_t *item, void *arg)
{
    struct seen *s = arg;
    json_t *meta = json_object_get (item, "metadata");

    s->n++;
    snprintf (s->names + strlen (s->names), sizeof (s->names) - strlen (s->names), "%s,",
              json_string_value (json_object_get (meta, "name")));
    return s->stop_at && s->n >= s->stop_at ? -ECANCELED : 0;
}

/* Feeds the text in parts of this size; returns the result of feed(), or else of
 * end(). */
static int read_in (const char *text, size_t piece, struct seen *s, char version[64],
                    struct error *err)
{
    struct kube_list l;
    size_t len = strlen (text);
    int rc = 0;

    kube_list_init (&l);
    for (size_t at = 0; at < len && rc == 0; at += piece)
        rc = kube_list_feed (&l, text + at, len - at < piece ? len - at : piece, on_item,
                             s, err);
    if (rc == 0)
        rc = kube_list_end (&l, version, 64, err);
    kube_list_release (&l);
    return rc;
}

static void assert_read (const char *text, const char *names, const char *version)
{
    for (size_t piece = 1; piece <= strlen (text); piece++) {
        struct seen s = { 0 };
        struct error err = { 0 };
        char got[64] = "";

        assert_int_equal (read_in (text, piece, &s, got, &err), 0);
        assert_string_equal (s.names, names);
        assert_string_equal (got, version);
    }
}

#define ITEM(name) "{\"metadata\":{\"name\":\"" name "\"}}"
#define META "\"metadata\":{\"resourceVersion\":\"7\"}"

static void test_lists (void **state)
{
    (void)state;
    assert_read ("{\"kind\":\"PodList\",\"apiVersion\":\"v1\"," META ",\"items\":[]}\n",
                 "", "7");
    assert_read ("{\"kind\":\"PodList\"," META ",\"items\":null}", "", "7");
    assert_read ("{\"kind\":\"PodList\"," META
                 ",\"items\":[" ITEM ("a") "," ITEM ("b") "]}",
                 "a,b,", "7");
    /* an object of a custom resource: members in alphabetical order */
    assert_read ("{\"apiVersion\":\"v1\",\"items\":[" ITEM ("a") "],\"kind\":\"L\"," META
                                                                 "}",
                 "a,", "7");
    assert_read ("{\n  \"items\" : [\n    " ITEM ("a") " ,\r\n\t" ITEM (
                     "b") "\n  ],\n  " META "\n}\n",
                 "a,b,", "7");
}

/* Brackets, quotes and the word itself in places where they have no meaning. */
static void test_strings (void **state)
{
    (void)state;
    assert_read (
        "{\"x\":\"\\\"items\\\":[\",\"y\":[[],{\"items\":[1]}]," META ",\"items\":["
        "{\"metadata\":{\"name\":\"a\",\"n\":\"]}\\\\\"},\"s\":[{\"t\":\"{[\\\"\"}]},"
        "{\"items\":[{\"items\":[]}],\"metadata\":{\"name\":\"b\"}}]}",
        "a,b,", "7");
}

static void test_stop (void **state)
{
    struct seen s = { .stop_at = 2 };
    struct error err = { 0 };
    char version[64];

    (void)state;
    assert_int_equal (
        read_in ("{\"items\":[" ITEM ("a") "," ITEM ("b") "," ITEM ("c") "]}", 100, &s,
                 version, &err),
        -ECANCELED);
    assert_string_equal (s.names, "a,b,");
}

static void test_hostile (void **state)
{
    static const char *const texts[] = {
        "",
        "nonsense",
        "[]",
        "{}",
        "}",
        "]]]]",
        "{" META "}",
        "{" META ",\"items\":[",
        "{" META ",\"items\":[]",
        "{" META ",\"items\":[]}}",
        "{" META ",\"items\":[]} {" META ",\"items\":[]}",
        "{" META ",\"items\":[" ITEM ("a") "",
        "{" META ",\"items\":{}}",
        "{" META ",\"items\":7}",
        "{" META ",\"items\":[],\"items\":[]}",
        "{" META ",\"items\":[7]}",
        "{" META ",\"items\":[\"a\"]}",
        "{" META ",\"items\":[[]]}",
        "{" META ",\"items\":[{]}",
        "{" META ",\"items\":[{}]}",
        "{" META ",\"items\":[{\"metadata\":{\"name\":7}}]}",
        "{" META ",\"items\":[{\"metadata\":{\"name\":\"a\xff\"}}]}",
        "{\"metadata\":{\"resourceVersion\":7},\"items\":[]}",
        "{\"metadata\":{\"resourceVersion\":"
        "\"0123456789012345678901234567890123456789012345"
        "678901234567890123456789\"},\"items\":[]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof (texts) / sizeof (texts[0]); i++)
        for (size_t piece = 1; piece <= strlen (texts[i]) + 1; piece++) {
            struct seen s = { 0 };
            struct error err = { 0 };
            char version[64];

            assert_int_equal (read_in (texts[i], piece, &s, version, &err), -EBADMSG);
            assert_true (err.text[0] != 0);
        }
}

/* A NUL byte does not end the text. */
static void test_nul (void **state)
{
    static const char text[] = "{" META ",\"items\":[\0" ITEM ("a") "]}";
    struct kube_list l;
    struct seen s = { 0 };
    struct error err = { 0 };

    (void)state;
    kube_list_init (&l);
    assert_int_equal (kube_list_feed (&l, text, sizeof (text) - 1, on_item, &s, &err),
                      -EBADMSG);
    assert_int_equal (s.n, 0);
    kube_list_release (&l);
}

static void test_endless (void **state)
{
    static const char *const starts[] = { "{\"x\":\"", "{\"items\":[{\"x\":\"" };
    static char piece[1 << 16];

    (void)state;
    memset (piece, 'x', sizeof (piece));
    for (int i = 0; i < 2; i++) {
        struct kube_list l;
        struct seen s = { 0 };
        struct error err = { 0 };
        size_t sent = 0;
        int rc;

        kube_list_init (&l);
        rc = kube_list_feed (&l, starts[i], strlen (starts[i]), on_item, &s, &err);
        assert_int_equal (rc, 0);
        while (rc == 0) {
            rc = kube_list_feed (&l, piece, sizeof (piece), on_item, &s, &err);
            sent += sizeof (piece);
            assert_true (sent <= KUBE_LINE_MAX + sizeof (piece));
        }
        assert_int_equal (rc, -EBADMSG);
        kube_list_release (&l);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_lists), cmocka_unit_test (test_strings),
        cmocka_unit_test (test_stop),  cmocka_unit_test (test_hostile),
        cmocka_unit_test (test_nul),   cmocka_unit_test (test_endless),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
