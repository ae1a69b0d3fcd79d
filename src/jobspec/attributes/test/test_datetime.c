/* test_datetime.c - times as users write them, in a zone with summer time. Fails if a
 * job would start a day late or early, or if an impossible time is read as another. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/parse.h"
#include "common/strbuf.h"
#include "jobspec/attributes/datetime.h"

/* Friday 2026-11-20 12:30:45 in Central Europe, UTC+1 */
#define NOW 1795174245.

static const struct {
    const char *text, *local;
} good[] = {
    { "now", "2026-11-20T12:30:45" },
    { "NOW", "2026-11-20T12:30:45" },
    { "now+90", "2026-11-20T12:32:15" },
    { "now+1hour", "2026-11-20T13:30:45" },
    { "now + 2 hours", "2026-11-20T14:30:45" },
    { "now+5min", "2026-11-20T12:35:45" },
    { "now+3days", "2026-11-23T12:30:45" },
    { "now+1w", "2026-11-27T12:30:45" },
    { "now+0", "2026-11-20T12:30:45" },
    { "uts1795174246", "2026-11-20T12:30:46" },
    /* a time of day means its next occurrence */
    { "16:00", "2026-11-20T16:00:00" },
    { "8:15", "2026-11-21T08:15:00" },
    { "12:30:45", "2026-11-21T12:30:45" },
    { "12:30:46", "2026-11-20T12:30:46" },
    { "12:30", "2026-11-21T12:30:00" },
    { "0:00", "2026-11-21T00:00:00" },
    { "4:00pm", "2026-11-20T16:00:00" },
    { "11:59:59 PM", "2026-11-20T23:59:59" },
    { "12:00am", "2026-11-21T00:00:00" },
    { "12:45 pm", "2026-11-20T12:45:00" },
    { "midnight", "2026-11-21T00:00:00" },
    { "noon", "2026-11-21T12:00:00" },
    { "Teatime", "2026-11-20T16:00:00" },
    { "fika", "2026-11-20T15:00:00" },
    { "elevenses", "2026-11-21T11:00:00" },
    /* days */
    { "today", "2026-11-20T00:00:00" },
    { "tomorrow", "2026-11-21T00:00:00" },
    { "tomorrow 8:30", "2026-11-21T08:30:00" },
    { "tomorrow noon", "2026-11-21T12:00:00" },
    { "2026-11-21", "2026-11-21T00:00:00" },
    { "2026-11-21T08:00", "2026-11-21T08:00:00" },
    { "2026-11-21T08:00:01", "2026-11-21T08:00:01" },
    { "2026-11-21 8:00", "2026-11-21T08:00:00" },
    { "2020-01-02T03:04:05", "2020-01-02T03:04:05" },
    { "11/21/26", "2026-11-21T00:00:00" },
    { "11/21/2026", "2026-11-21T00:00:00" },
    { "11/21", "2026-11-21T00:00:00" },
    { "11/20", "2027-11-20T00:00:00" }, /* this year's midnight is past */
    { "11/20 16:00", "2026-11-20T16:00:00" },
    { "1/2-10:00", "2027-01-02T10:00:00" },
    { "11.21.26", "2026-11-21T00:00:00" },
    { "112126", "2026-11-21T00:00:00" },
    { "1121", "2026-11-21T00:00:00" },
    { "1121 10:00", "2026-11-21T10:00:00" },
    { "2/29", "2028-02-29T00:00:00" },
    { "2028-02-29", "2028-02-29T00:00:00" },
    { "2027-07-01T12:00", "2027-07-01T12:00:00" }, /* summer time */
};

static void test_good (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (good); i++) {
        struct error err = { 0 };
        autostrbuf struct strbuf text;
        double t;

        if (datetime_parse (good[i].text, NOW, &t, "--begin", &err) < 0)
            fail_msg ("%s", err.text);
        strbuf_init (&text, 64);
        strbuf_add_time (&text, t);
        if (strcmp (text.buf, good[i].local))
            fail_msg ("'%s' is %s, not %s", good[i].text, text.buf, good[i].local);
    }
}

static const char *const bad[] = {
    "",
    " ",
    "soon",
    "5",
    "16",
    "1600x",
    "1-30",
    "-5",
    "99999-00",
    "24:00",
    "12:60",
    "12:00:60",
    "1:2",
    "13:00 pm",
    "0:30am",
    "12:00 xm",
    "16:00 tomorrow",
    "now-5",
    "now+",
    "now+x",
    "now+-1",
    "now+1fortnight",
    "now+1hour more",
    "now+99999999999",
    "now+9999999999weeks",
    "nowhere",
    "uts",
    "uts-1",
    "uts0",
    "uts99999999999",
    "2026-02-30",
    "2026-13-01",
    "2026-00-10",
    "2026-11-21T",
    "2026-11-21T25:00",
    "2026-11-21 ",
    "2026-11-21Z",
    "2026-11-21T08:00Z",
    "2026-11-21T08:00+01:00",
    "2026-1-2",
    "2026-11-21-08:00",
    "2027-02-29",
    "13/01",
    "2/30",
    "2/30/28",
    "11/21/026",
    "11/21.26",
    "9999-01-01",
    "1960-01-01",
    "tomorrow 99:00",
    "tomorrows",
    "2026-11-21\n",
};

static void test_bad (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        struct error err = { 0 };
        double t = 7;

        if (datetime_parse (bad[i], NOW, &t, "--begin", &err) != -EINVAL)
            fail_msg ("'%s' is %.0f", bad[i], t);
        assert_true (t == 7);
        assert_int_equal (strncmp (err.text, "--begin: '", 10), 0);
        assert_non_null (strstr (err.text, "is not a time (HH:MM"));
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_good),
        cmocka_unit_test (test_bad),
    };

    setenv ("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset ();
    return cmocka_run_group_tests (tests, NULL, NULL);
}
