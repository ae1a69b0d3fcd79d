/* The example service of doc/developer.md: that it compiles, does what the page says, and is
 * the one on the page. */
#include "broker/api/api.h"
#include "broker/config/keys.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "common/clock.h"

struct settings { /* its keys in fluxq.yaml */
    double delay; /* seconds */
};
struct delays { /* its state */
    struct broker_timer timer;
    size_t held; /* starts that wait */
};
struct slot { /* its part of each job */
    bool held;
};
static struct service_place place;

static const struct config_key keys[] = {
    { "start-delay", value_duration, CONFIG_FIELD (struct settings, delay), 0, 0, NULL },
    { 0 },
};
static const struct settings defaults = { .delay = 10 };
static const struct config_part settings = { keys, sizeof (struct settings), &defaults };

static void hold (struct broker *b, struct entry *e, bool held)
{
    struct delays *d = service_state (b, &place);
    struct slot *slot = service_slot (e, &place);

    if (slot->held == held)
        return;
    slot->held = held;
    held ? d->held++ : d->held--;
    entry_set_note (e, held ? "waits for start-delay" : NULL);
}

static bool holds_start (struct broker *b, struct entry *e)
{
    const struct settings *set = service_settings (broker_config (b), &place);
    struct delays *d = service_state (b, &place);
    double wait = entry_job (e)->t_submit + set->delay - clock_wall ();

    hold (b, e, wait > 0);
    if (wait <= 0)
        return false;
    if (!d->timer.is_set || broker_timer_left (&d->timer) > wait)
        broker_timer_set (&d->timer, wait);
    return true;
}

static int init (struct broker *b, struct error *err)
{
    struct delays *d = service_state (b, &place);

    (void)err;
    broker_timer_init (b, &d->timer, broker_starts_due);
    return 0;
}

static void moved (struct broker *b, struct entry *e, enum job_state before)
{
    if (before == JOB_RUN) /* it was cancelled while it waited */
        hold (b, e, false);
}

static void api_delays (struct broker *b, struct http_request *req,
                        const struct api_path *path)
{
    const struct delays *d = service_state (b, &place);

    (void)path;
    api_reply_json (req, 200, json_pack ("{s:I}", "held", (json_int_t)d->held));
}

static const struct api_route routes[] = {
    { "GET", "/v1/delays", api_delays, ROLE_USER, NULL },
    { 0 },
};

const struct broker_service service_delay = {
    .name = "delay",
    .place = &place,
    .state_size = sizeof (struct delays),
    .slot_size = sizeof (struct slot),
    .settings = &settings,
    .init = init,
    .moved = moved,
    .holds_start = holds_start,
    .routes = routes,
};

/* -- up to here it is the page, then the test -- */
#include <stdio.h>
#include <string.h>

#include "broker/core/test/fake_http.h"
#include "broker/core/test/small.h"

/* A job of start-delay 5 s that has its node, and does not start yet. */
static struct small *with_delay (void)
{
    struct small *s = small_create (1);

    small_set (s, "start-delay", json_integer (5));
    small_submit (s, "duration: 60");
    small_turn (s);
    return s;
}

static void test_key_timer_slot_and_route (void **unused)
{
    struct small *s = with_delay ();

    (void)unused;
    assert_int_equal (entry_job (entry_find (s->b, 1))->state, JOB_RUN);
    assert_string_equal (entry_note (entry_find (s->b, 1)), "waits for start-delay");
    assert_string_equal (client_call (s, 1000, "GET /v1/delays", NULL)->text,
                         "{\"held\":1}");
    small_advance (s, 4);
    assert_null (s->told);
    small_advance (s, 2);
    assert_string_equal (s->told, "start 1");
    assert_null (entry_note (entry_find (s->b, 1)));
    assert_string_equal (client_call (s, 1000, "GET /v1/delays", NULL)->text,
                         "{\"held\":0}");
    small_destroy (s);
}

static void test_cancelled (void **unused)
{
    struct small *s = with_delay ();

    (void)unused;
    assert_int_equal (broker_exception (s->b, entry_find (s->b, 1), "cancel", 0, ""), 0);
    small_turn (s);
    assert_string_equal (client_call (s, 1000, "GET /v1/delays", NULL)->text,
                         "{\"held\":0}");
    small_advance (s, 10);
    assert_null (s->told);
    small_destroy (s);
}

static void test_default (void **unused)
{
    struct small *s = small_create (1);
    const struct settings *set = service_settings (s->config, &place);

    (void)unused;
    assert_true (set->delay == 10);
    small_destroy (s);
}

static void scenario (struct small *s)
{
    small_submit (s, "duration: 60");
    small_turn (s);
    small_advance (s, 11);
    small_ready (s, 1);
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

static void read_file (const char *name, char *ret, size_t size)
{
    char path[4096];

    snprintf (path, sizeof (path), "%s/%s", getenv ("FLUXQ_SOURCE_DIR"), name);
    FILE *f = fopen (path, "r");
    assert_non_null (f);
    ret[fread (ret, 1, size - 1, f)] = 0;
    fclose (f);
}

static void test_is_on_the_page (void **unused)
{
    static char page[1 << 20], here[1 << 16];
    char *block, *end;

    (void)unused;
    read_file ("doc/developer.md", page, sizeof (page));
    read_file ("src/broker/core/test/test_service_example.c", here, sizeof (here));
    block = strstr (page, "#include \"broker/api/api.h\"");
    assert_non_null (block);
    end = strstr (block, "```");
    assert_non_null (end);
    *end = 0;
    assert_non_null (strstr (here, block));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_key_timer_slot_and_route),
        cmocka_unit_test (test_cancelled),
        cmocka_unit_test (test_default),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
        cmocka_unit_test (test_is_on_the_page),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
