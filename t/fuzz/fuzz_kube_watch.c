/* fuzz_kube_watch.c - any bytes as a list of objects, and as the stream of a watch
 *
 * Parser: kube/list_decode.c kube/watch_decode.c kube/object.c
 * The first byte sets the division of the rest: the result must equal that of the undivided
 * text. Fields that nobody reads are left out without a change of what the text means.
 */
#include "fuzz_json.h"

#include "common/json.h"
#include "kube/object.h"
#include "kube/watch.h"

struct seen {
    int rc;
    unsigned n, sum;
    char version[64];
};

static void add (struct seen *s, const char *text)
{
    for (; text && *text; text++)
        s->sum = s->sum * 31 + (unsigned char)*text;
    s->n++;
}

static int on_item (json_t *item, void *arg)
{
    const json_t *meta = json_object_get (item, "metadata");

    assert (json_is_object (item) && json_is_string (json_object_get (meta, "name")));
    add (arg, json_text (meta, "name"));
    return ((struct seen *)arg)->n > 100 ? -ECANCELED : 0;
}

static int on_event (const struct kube_event *e, void *arg)
{
    assert (e->type <= KUBE_ERROR && json_is_object (e->object));
    assert (strlen (e->version) <= 128);
    add (arg, e->version);
    return 0;
}

static struct seen read_list (const char *data, size_t size, size_t step)
{
    struct seen s = { 0 };
    struct error err = { 0 };
    struct kube_list l;

    kube_list_init (&l);
    for (size_t at = 0; at < size && s.rc == 0; at += step)
        s.rc = kube_list_feed (&l, data + at, MIN (step, size - at), on_item, &s, &err);
    if (s.rc == 0)
        s.rc = kube_list_end (&l, s.version, sizeof (s.version), &err);
    if (s.rc == -EBADMSG)
        fuzz_check_refusal (&err, "");
    kube_list_release (&l);
    return s;
}

static struct seen read_watch (const char *data, size_t size, size_t step)
{
    struct seen s = { 0 };
    struct error err = { 0 };
    struct kube_decoder d;

    kube_decoder_init (&d);
    for (size_t at = 0; at < size && s.rc == 0; at += step)
        s.rc =
            kube_decoder_feed (&d, data + at, MIN (step, size - at), on_event, &s, &err);
    if (s.rc < 0)
        fuzz_check_refusal (&err, "");
    kube_decoder_release (&d);
    return s;
}

static void check_same (const struct seen *a, const struct seen *b)
{
    assert (a->rc == b->rc && a->n == b->n && a->sum == b->sum);
    assert (!strcmp (a->version, b->version));
}

static void check_time (const char *text)
{
    char written[KUBE_TIME_MAX];
    double t = kube_time_read (text);

    kube_time_write (t, false, written);
    assert (t < 0 || t > 2e11 || kube_time_read (written) == t);
    kube_time_write (t + 0.25, true, written);
}

/* Text that is JSON stays JSON without managedFields, and has the same values otherwise. */
static void check_strip (const char *data, size_t size)
{
    char *stripped = malloc (size + 1);
    struct error err = { 0 };

    assert (stripped);
    size_t len = kube_object_strip (data, size, stripped);
    assert (len <= size);
    autojson json_t *whole = json_parse (data, size, "x", &err);
    autojson json_t *less = json_parse (stripped, len, "x", &err);
    autojson json_t *parsed = kube_object_parse (data, size, "x", &err);
    assert (!whole || (less && parsed));
    assert (!less == !parsed);
    if (whole && !memmem (data, size, "managedFields", 13))
        assert (json_equal (whole, less));
    kube_condition (json_object_get (parsed, "status"), "Ready");
    check_time (kube_label (parsed, "app"));
    free (stripped);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const char *text = (const char *)data + 1;
    size_t step = 1 + data[0];
    struct seen whole = read_list (text, size - 1, size),
                parts = read_list (text, size - 1, step);
    check_same (&whole, &parts);
    whole = read_watch (text, size - 1, size);
    parts = read_watch (text, size - 1, step);
    check_same (&whole, &parts);
    check_strip (text, size - 1);
    return 0;
}
