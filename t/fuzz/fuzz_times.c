/* fuzz_times.c - any line as a time, a duration, a number, a size, a list of ids, a signal
 * and a list of resources; an accepted value is in its range, and a written one reads back
 *
 * Parser: common/parse.c common/gres.c common/gputype.c common/thousandths.c
 * Parser: jobspec/attributes/datetime.c kube/quantity.c
 */
#include "fuzz.h"

#include <math.h>
#include <time.h>

#include "common/gputype.h"
#include "common/gres.h"
#include "common/parse.h"
#include "common/thousandths.h"
#include "jobspec/attributes/datetime.h"
#include "kube/quantity.h"

#define NOW 1769860800.0 /* 2026-01-31T12:00:00Z */

static void check_rc (int rc, const struct error *err)
{
    if (rc < 0)
        assert (err->code == -rc && !strncmp (err->text, "x: ", 3)
                && !strchr (err->text, '\n'));
}

static void try_times (const char *text)
{
    struct error err = { 0 };
    double t = -1, again;

    int rc = datetime_parse (text, NOW, &t, "x", &err);
    check_rc (rc, &err);
    assert (rc < 0 || (isfinite (t) && t >= 0));
    check_rc (rc = parse_fsd (text, &t, "x", &err), &err);
    assert (rc < 0 || (t >= 0 && t <= 100 * 366 * 86400.0));
    check_rc (rc = parse_timelimit (text, &t, "x", &err), &err);
    if (rc < 0)
        return;
    assert (t >= 0 && t <= 10 * 366 * 86400.0);
    autostrbuf struct strbuf sb = STRBUF_INIT (64);
    strbuf_add_duration (&sb, t);
    assert (sb.err == 0);
    /* the short form of less than an hour is M:SS, as in the option */
    assert (parse_timelimit (sb.buf, &again, "x", &err) == 0 && again == t);
}

static void try_numbers (const char *text)
{
    struct error err = { 0 };
    int64_t n = 0, m = 0;

    int rc = parse_int (text, -5, 1000, &n, "x", &err);
    check_rc (rc, &err);
    assert (rc < 0 || (n >= -5 && n <= 1000));
    check_rc (rc = parse_count_range (text, 1, 1 << 20, &n, &m, "x", &err), &err);
    assert (rc < 0 || (1 <= n && n <= m && m <= 1 << 20));
    check_rc (rc = thousandths_parse (text, INT32_MAX, &n, "x", &err), &err);
    if (rc == 0) {
        autostrbuf struct strbuf sb = STRBUF_INIT (64);
        strbuf_add_thousandths (&sb, n);
        assert (thousandths_parse (sb.buf, INT32_MAX, &m, "x", &err) == 0 && m == n);
    }
    check_rc (rc = parse_memory_mib (text, &n, "x", &err), &err);
    assert (rc < 0 || (n >= 0 && n <= INT64_C (1) << 40));
    check_rc (rc = parse_bytes (text, &n, "x", &err), &err);
    assert (rc < 0 || n >= 0);
    int sig;
    check_rc (rc = parse_signal (text, &sig, "x", &err), &err);
    assert (rc < 0 || (sig >= 1 && sig <= 64));
    if (rc == 0 && signal_name (sig)) {
        int same = 0;
        assert (parse_signal (signal_name (sig), &same, "x", &err) == 0 && same == sig);
    }
    parse_is_word_of (text, "one|two|three");
}

static void try_quantity (const char *text)
{
    int64_t milli = -7, value = -7;
    int a = quantity_milli (text, &milli), b = quantity_value (text, &value);

    assert (a == b && (a == 0 || a == -EINVAL));
    if (a < 0)
        assert (milli == -7 && value == -7);
    else /* both round up, and saturate */
        assert (milli >= 0 && value >= milli / 1000
                && (milli == INT64_MAX || value <= milli / 1000 + 1));
}

static int on_range (const struct id_range *r, void *arg)
{
    const char *const *text = arg;

    assert (r->first >= 1 && r->first <= r->last && r->last <= INT64_MAX);
    assert (!r->tasks
            || (r->tasks >= text[0]
                && r->tasks + r->tasks_len <= text[0] + strlen (text[0])));
    return 0;
}

static void try_lists (const char *text)
{
    struct gres_list l = { 0 }, again = { 0 };
    struct error err = { 0 };
    char type[GPU_TYPE_MAX + 1];

    int rc = parse_id_ranges (text, on_range, &text, "x", &err);
    check_rc (rc, &err);
    if (gpu_type_read (text, type) == 0) {
        char **names = gpu_type_names (type);
        assert (names && names[0] && gpu_type_has_name (type, type));
        free (names);
    }
    rc = gres_parse (text, &l, "x", &err);
    check_rc (rc, &err);
    assert (rc == 0 || l.n == 0);
    if (l.n > 0) {
        autostrbuf struct strbuf sb = STRBUF_INIT (1 << 20);
        json_t *o = gres_to_json (&l);
        strbuf_add_gres (&sb, &l);
        assert (gres_parse (sb.buf, &again, "x", &err) == 0 && gres_equal (&l, &again));
        gres_release (&again);
        if (gres_from_json (o, &again, "x", &err) == 0)
            assert (gres_equal (&l, &again));
        else /* GPUs have a place of their own in a jobspec */
            assert (strstr (text, "gpu"));
        assert (gres_add (&again, &l, 1) == 0 && gres_add (&again, &l, -1) == 0);
        json_decref (o);
        gres_release (&again);
    }
    gres_release (&l);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };

    setenv ("TZ", "UTC", 1);
    while (in.size > 0) {
        autofree char *line = fuzz_line (&in);
        try_times (line);
        try_numbers (line);
        try_quantity (line);
        try_lists (line);
    }
    return 0;
}
