/* The decoder of watch streams: events in parts of any size, and invalid data. */
#include "kube/watch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    int n, code;
    enum kube_event_type last;
    char names[256], version[64];
    int stop_at;
};

static int on_event (const struct kube_event *e, void *arg)
{
    struct seen *s = arg;
    json_t *meta = json_object_get (e->object, "metadata");
    const char *name = json_string_value (json_object_get (meta, "name"));

    s->n++;
    s->last = e->type;
    s->code = e->code;
    snprintf (s->version, sizeof (s->version), "%s", e->version);
    snprintf (s->names + strlen (s->names), sizeof (s->names) - strlen (s->names), "%s,",
              name ? name : "-");
    return s->stop_at && s->n >= s->stop_at ? -ESTALE : 0;
}

#define EVENT(type, name, version)                                                       \
    "{\"type\":\"" type "\",\"object\":{\"metadata\":{\"name\":\"" name                  \
    "\",\"resourceVersion\":\"" version "\"}}}\n"

static const char stream[] = EVENT ("ADDED", "a", "1")
    EVENT ("MODIFIED", "b", "2") "\n{\"type\":\"NEWER\",\"object\":{}}\n" EVENT (
        "DELETED", "c", "3") "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{"
                             "\"resourceVersion\":\"9\"}}}\n";

static void test_pieces (void **state)
{
    (void)state;
    for (size_t piece = 1; piece < sizeof (stream); piece++) {
        struct kube_decoder d;
        struct seen s = { 0 };
        struct error err = { 0 };

        kube_decoder_init (&d);
        for (size_t at = 0; at < sizeof (stream) - 1; at += piece) {
            size_t len =
                sizeof (stream) - 1 - at < piece ? sizeof (stream) - 1 - at : piece;

            assert_int_equal (
                kube_decoder_feed (&d, stream + at, len, on_event, &s, &err), 0);
        }
        assert_int_equal (s.n, 4); /* the unknown type is skipped */
        assert_string_equal (s.names, "a,b,c,-,");
        assert_int_equal (s.last, KUBE_BOOKMARK);
        assert_string_equal (s.version, "9");
        kube_decoder_release (&d);
    }
}

static void test_gone (void **state)
{
    static const char text[] =
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n";
    struct kube_decoder d;
    struct seen s = { .stop_at = 1 };
    struct error err = { 0 };

    (void)state;
    kube_decoder_init (&d);
    assert_int_equal (kube_decoder_feed (&d, text, strlen (text), on_event, &s, &err),
                      -ESTALE);
    assert_int_equal (s.last, KUBE_ERROR);
    assert_int_equal (s.code, 410);
    kube_decoder_release (&d);
}

static void test_hostile (void **state)
{
    static const char *const lines[] = {
        "nonsense\n",
        "{\n",
        "[]\n",
        "null\n",
        "{\"type\":\"ADDED\"}\n",
        "{\"type\":7,\"object\":{}}\n",
        "{\"type\":\"ADDED\",\"object\":[]}\n",
        "{\"type\":\"ADDED\",\"object\":{}}\n",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}\n",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":[],\"resourceVersion\":"
        "\"1\"}}}\n",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\","
        "\"resourceVersion\":1}}}\n",
        "{\"type\":\"ADDED\",\"type\":\"DELETED\",\"object\":{}}\n",
        EVENT ("ADDED", "a", "1") "{\"type\":\"ADDED\"} trailing\n",
        "\xff\xfe\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof (lines) / sizeof (lines[0]); i++) {
        struct kube_decoder d;
        struct seen s = { 0 };
        struct error err = { 0 };

        kube_decoder_init (&d);
        assert_int_equal (
            kube_decoder_feed (&d, lines[i], strlen (lines[i]), on_event, &s, &err),
            -EBADMSG);
        assert_true (err.text[0] != 0);
        kube_decoder_release (&d);
    }
}

static void test_endless_line (void **state)
{
    struct kube_decoder d;
    struct seen s = { 0 };
    struct error err = { 0 };
    static char piece[1 << 20];
    int rc = 0;

    (void)state;
    memset (piece, 'x', sizeof (piece));
    kube_decoder_init (&d);
    for (int i = 0; i < KUBE_LINE_MAX / (1 << 20) && rc == 0; i++)
        rc = kube_decoder_feed (&d, piece, sizeof (piece), on_event, &s, &err);
    assert_int_equal (rc, 0);
    assert_int_equal (kube_decoder_feed (&d, piece, 1, on_event, &s, &err), -EBADMSG);
    kube_decoder_release (&d);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_pieces),
        cmocka_unit_test (test_gone),
        cmocka_unit_test (test_hostile),
        cmocka_unit_test (test_endless_line),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
