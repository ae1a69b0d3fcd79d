/* test_placing.c - jobs are placed among racks as they request, and wait a while for
 * this */
#include "broker/core/test/small.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "broker/core/pause.h"
#include "broker/services/placing.h"

extern const struct broker_service service_placing;

/* node0 and node1 are in rack a, node2 and node3 in rack b. */
static void set_node (struct small *s, int i, enum machine_node_state state)
{
    const struct machine_place places[] = { { "rack", i < 2 ? "a" : "b" },
                                            { NULL, NULL } };
    char name[16];

    snprintf (name, sizeof (name), "node%d", i);
    const struct machine_node_spec spec = {
        .name = name, .cores = 4, .memory_mib = 1024, .places = places
    };
    s->b->host.node (s->b, &spec, state, NULL);
}

static void add_racks (struct small *s)
{
    long countdown = small_spare ();

    s->b->topology.level[0].name = strdup ("rack");
    s->b->topology.n = 1;
    for (int i = 0; i < 4; i++)
        set_node (s, i, MACHINE_NODE_UP);
    small_turn (s);
    small_resume (countdown);
}

static struct small *two_racks (void)
{
    struct small *s = small_create (4);

    add_racks (s);
    return s;
}

/* One node of each rack accepts jobs. */
static struct small *half (void)
{
    struct small *s = two_racks ();

    set_node (s, 1, MACHINE_NODE_DRAINED);
    set_node (s, 3, MACHINE_NODE_DRAINED);
    small_turn (s);
    return s;
}

static uint64_t submit (struct small *s, unsigned cores, const char *system)
{
    s->slots = cores;
    const struct entry *e = small_submit (s, system);
    uint64_t id = e ? entry_id (e) : 0;
    small_turn (s);
    return id;
}

static const char *places (uint64_t id)
{
    static char text[200];
    const char *context = small_context (id, "alloc");
    autojson json_t *o = context ? json_loads (context, 0, NULL) : NULL;
    const char *value = json_string_value (json_object_get (o, "places"));

    snprintf (text, sizeof (text), "%s", !context ? "waits" : value ? value : "none");
    return text;
}

static const char *asked (struct small *s, uint64_t id)
{
    static char text[400];
    autojson json_t *job = json_object ();

    service_placing.shows_job (s->b, entry_find (s->b, id), NULL, NULL, job);
    snprintf (text, sizeof (text), "%s", json_text (job, "placement"));
    return text;
}

static void test_pack (void **unused)
{
    struct small *s = two_racks ();

    (void)unused;
    uint64_t id = submit (s, 8, "duration: 60, fluxq: {placement: pack}");
    assert_string_equal (places (id), "1 rack: a");
    assert_string_equal (asked (s, id), "packed into few racks, if possible");
    id = submit (s, 8, "duration: 60, fluxq: {placement: \"pack:rack\"}");
    assert_string_equal (places (id), "1 rack: b");
    small_destroy (s);
}

static void test_spread (void **unused)
{
    struct small *s = two_racks ();

    (void)unused;
    uint64_t id = submit (s, 8, "duration: 60, fluxq: {placement: spread}");
    assert_string_equal (places (id), "2 racks: a, b");
    assert_string_equal (asked (s, id), "spread over all racks, if possible");
    small_destroy (s);
}

/* The queue's placement is for jobs without a placement. */
static void test_queue (void **unused)
{
    struct small *s = two_racks ();

    (void)unused;
    s->config->queues[0].placement =
        (struct placement){ .kind = PLACEMENT_SPREAD, .level = "rack" };
    assert_string_equal (places (submit (s, 4, "duration: 60")), "2 racks: a, b");
    uint64_t id = submit (s, 4, "duration: 60, fluxq: {placement: any}");
    assert_string_equal (places (id), "none");
    assert_string_equal (asked (s, id), "");
    id = submit (s, 4, "duration: 60, fluxq: {placement: pack}");
    assert_non_null (strstr (places (id), "1 rack: "));
    small_destroy (s);
}

/* The job waits for one rack, and then takes any places. */
static void test_wait_ends (void **unused)
{
    struct small *s = half ();

    (void)unused;
    uint64_t id = submit (s, 8, "duration: 60, fluxq: {switches: 1, switches-wait: 100}");
    assert_string_equal (places (id), "waits");
    assert_non_null (strstr (asked (s, id), "in at most 1 rack, waits 1:40 for that"));
    small_advance (s, 99);
    assert_string_equal (places (id), "waits");
    small_advance (s, 2);
    assert_string_equal (places (id), "2 racks: a, b");
    small_destroy (s);
}

/* The second node of a rack becomes free in time. */
static void test_wait_helps (void **unused)
{
    struct small *s = half ();

    (void)unused;
    uint64_t id = submit (s, 8, "duration: 60, fluxq: {switches: 1, switches-wait: 100}");
    small_advance (s, 50);
    set_node (s, 3, MACHINE_NODE_UP);
    small_advance (s, 1);
    assert_string_equal (places (id), "1 rack: b");
    small_advance (s, 1000);
    small_destroy (s);
}

/* Without a time of its own the job waits for the configured time. */
static void test_wait_default (void **unused)
{
    struct small *s = half ();

    (void)unused;
    small_set (s, "switches-wait", json_integer (30));
    uint64_t id = submit (s, 8, "duration: 60, fluxq: {switches: 1}");
    small_advance (s, 29);
    assert_string_equal (places (id), "waits");
    small_advance (s, 2);
    assert_string_equal (places (id), "2 racks: a, b");
    small_destroy (s);
}

/* A rack has 8 cores: the job does not wait for 12, unless the user said so. */
static void test_never (void **unused)
{
    struct small *s = two_racks ();
    struct error err = { 0 };

    (void)unused;
    uint64_t id =
        submit (s, 12, "duration: 60, fluxq: {switches: 1, switches-wait: 100}");
    assert_string_equal (places (id), "2 racks: a, b");
    assert_int_equal (placing_check (s->b, entry_find (s->b, id), &err), 0);
    small_finish (s, id, "ended");
    id = submit (s, 12, "duration: 60, fluxq: {switches: 1, switches-wait: infinite}");
    assert_string_equal (places (id), "waits");
    assert_non_null (strstr (asked (s, id), "however long that takes"));
    assert_int_equal (placing_check (s->b, entry_find (s->b, id), &err), -ENOENT);
    small_advance (s, 1000000);
    assert_string_equal (places (id), "waits");
    small_destroy (s);
}

/* A job that vanishes while it waits leaves no timer behind. */
static void test_gone (void **unused)
{
    const char *system = "duration: 60, fluxq: {switches: 1, switches-wait: 100}";
    struct small *s = half ();

    (void)unused;
    uint64_t one = submit (s, 8, system), two = submit (s, 8, system);
    assert_int_equal (broker_exception (s->b, entry_find (s->b, one), "cancel", 0, ""),
                      0);
    broker_act (s->b, entry_find (s->b, two), JOB_ACT_DEQUEUE);
    entry_remove (s->b, entry_find (s->b, two));
    small_advance (s, 1000);
    assert_string_equal (places (one), "waits");
    assert_string_equal (places (two), "waits");
    small_destroy (s);
}

/* A request for a level, or for any level, that this machine does not have is refused. */
static void test_refused (void **unused)
{
    struct small *s = small_create (1);
    struct error err = { 0 };

    (void)unused;
    struct entry *e = small_submit (s, "duration: 60"), *fresh = entry_new ();
    fresh->js = e->js;
    e->js = NULL;
    fresh->js->switches.count = 1;
    assert_int_equal (placing_make (s->b, fresh, 0, &err), -EINVAL);
    assert_non_null (strstr (err.text, "switches: this broker knows of no racks"));
    entry_destroy (fresh);
    small_destroy (s);

    s = two_racks ();
    e = small_submit (s, "duration: 60");
    fresh = entry_new ();
    fresh->js = e->js;
    e->js = NULL;
    fresh->js->placement = (struct placement){ .kind = PLACEMENT_PACK, .level = "zone" };
    assert_int_equal (placing_make (s->b, fresh, 0, &err), -EINVAL);
    assert_non_null (strstr (err.text, "there is no level zone; there is rack"));
    entry_destroy (fresh);
    small_destroy (s);
}

/* Each job starts in the end, within its bound or outside. */
static void scenario (struct small *s)
{
    struct entry *e, *next;

    add_racks (s);
    submit (s, 6, "duration: 60, fluxq: {placement: spread}");
    submit (s, 8, "duration: 0, fluxq: {switches: 1, switches-wait: 20}");
    submit (s, 2, "duration: 0, fluxq: {placement: pack}");
    small_finish (s, 1, "ended");
    long countdown = small_spare ();
    small_advance (s, 30);
    HASH_ITER (hh, s->b->table.all, e, next)
        if (!pause_reason (s->b)) /* the broker itself may be short of memory */
            assert_int_not_equal (entry_job (e)->state, JOB_SCHED);
    small_resume (countdown);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (4, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (4, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_pack),       cmocka_unit_test (test_spread),
        cmocka_unit_test (test_queue),      cmocka_unit_test (test_wait_ends),
        cmocka_unit_test (test_wait_helps), cmocka_unit_test (test_wait_default),
        cmocka_unit_test (test_never),      cmocka_unit_test (test_gone),
        cmocka_unit_test (test_refused),    cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
