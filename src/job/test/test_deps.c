/* test_deps.c - verdicts on dependencies from starts and ends of other jobs. Fails if
 * a job goes on too early or never, if a verdict is reported twice, or if a reason
 * names a wrong job. Random graphs are compared with a reference that reads the whole
 * history each time. */
#include "common/test/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "job/deps.h"
#include "job/deps_due.h"

/* -- the heap -- */

static void test_due (void **state)
{
    enum { N = 500 };
    static struct due items[N];
    struct due_heap h = { 0 };
    uint64_t seed = 7;

    (void)state;
    assert_null (due_first (&h));
    due_remove (&h, &items[0]); /* the item is in no heap */
    for (int round = 0; round < 20000; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        struct due *d = &items[(seed >> 33) % N];
        if ((seed >> 60) % 3 == 0)
            due_remove (&h, d);
        else
            assert_int_equal (due_set (&h, d, (double)((seed >> 40) % 1000)), 0);
        double least = 1e9;
        size_t n = 0;
        for (size_t i = 0; i < N; i++) {
            n += items[i].place > 0;
            if (items[i].place && items[i].at < least)
                least = items[i].at;
        }
        assert_int_equal (h.n, n);
        assert_true (n == 0 ? !due_first (&h) : due_first (&h)->at == least);
    }
    due_release (&h);
}

/* -- single cases -- */

static int no_past (uint64_t id, struct deps_past *ret, void *arg)
{
    (void)id;
    (void)ret;
    (void)arg;
    return -ENOENT;
}

/* Jobs of the past: 1 completed (started at 50), 2 failed (started at 60), 3 was
 * cancelled before it started. */
static int some_past (uint64_t id, struct deps_past *ret, void *arg)
{
    static const struct deps_past past[] = { { 50, true }, { 60, false }, { 0, false } };

    (void)arg;
    if (id < 1 || id > 3)
        return -ENOENT;
    *ret = past[id - 1];
    return 0;
}

static void wait_for (struct deps *d, uint64_t id, const char *text, deps_past_f past)
{
    struct dependencies list;
    struct error err = { 0 };

    if (dependencies_parse (&list, text, "list", &err) < 0)
        fail_msg ("%s", err.text);
    assert_int_equal (deps_wait (d, id, &list, past, NULL), 0);
    dependencies_release (&list);
}

/* "met 20, never 21": all available verdicts, unsorted. */
static void expect (struct deps *d, double now, const char *want)
{
    autostrbuf struct strbuf sb;
    enum deps_verdict v;
    uint64_t id;

    strbuf_init (&sb, 4096);
    while (deps_next (d, now, 1000, &id, &v) == 1)
        strbuf_addf (&sb, "%s%s %ju", sb.len ? ", " : "", v == DEPS_MET ? "met" : "never",
                     (uintmax_t)id);
    if (strcmp (sb.buf, want))
        fail_msg ("at %g: '%s', not '%s'", now, sb.buf, want);
}

static void expect_reason (struct deps *d, uint64_t id, const char *want)
{
    char text[512];

    deps_reason (d, id, text, sizeof (text));
    if (strcmp (text, want))
        fail_msg ("'%s', not '%s'", text, want);
}

/* Jobs 10, 11, 12, 13 with four names; job 20 waits. s10: 10 starts, o10: it completes,
 * f10: it ends otherwise. */
static const struct {
    const char *list, *events, *want, *reason;
} cases[] = {
    { "after:10", "", "", "waits for job 10 to start" },
    { "after:10", "s10", "met 20", "" },
    { "after:10", "f10", "never 20", "job 10 ended before it started" },
    { "after:10", "s10 f10", "met 20", "" },
    { "afterany:10", "s10", "", "waits for job 10 to end" },
    { "afterany:10", "s10 f10", "met 20", "" },
    { "afterany:10", "f10", "met 20", "" },
    { "afterok:10", "s10", "", "waits for job 10 to succeed" },
    { "afterok:10", "s10 o10", "met 20", "" },
    { "afterok:10", "f10", "never 20", "job 10 did not succeed" },
    { "aftercorr:10", "s10 o10", "met 20", "" },
    { "aftercorr:10", "s10 f10", "never 20", "job 10 did not succeed" },
    { "afternotok:10", "s10", "", "waits for job 10 to fail" },
    { "afternotok:10", "s10 f10", "met 20", "" },
    { "afternotok:10", "s10 o10", "never 20", "job 10 succeeded" },
    /* all dependencies */
    { "afterok:10:11", "s10 o10", "", "waits for job 11 to succeed" },
    { "afterok:10:11", "o11", "", "waits for job 10 to succeed" },
    { "afterok:10:11", "o11 o10", "met 20", "" },
    { "afterok:10:11", "f11", "never 20", "job 11 did not succeed" },
    { "afterok:10,after:11,afterany:12", "", "",
      "waits for job 10 to succeed, job 11 to start and job 12 to end" },
    { "afterok:10:11:12:13", "", "",
      "waits for job 10 to succeed, job 11 to succeed, job 12 to succeed and 1 more" },
    { "afterok:10:10", "o10", "met 20", "" },
    { "afterok:10,afternotok:10", "o10", "never 20", "job 10 succeeded" },
    /* one dependency is enough */
    { "afterok:10:11?afterany:12", "", "",
      "waits for one of: job 10 to succeed, job 11 to succeed, job 12 to end" },
    { "afterok:10?afterok:11", "o11", "met 20", "" },
    { "afterok:10?afterok:11", "f11", "", "waits for job 10 to succeed" },
    { "afterok:10?afterok:11", "f11 o10", "met 20", "" },
    { "afterok:10?afterok:11", "f11 f10", "never 20",
      "none of these can be met any more: job 10 did not succeed, job 11 did not "
      "succeed" },
    { "afterok:10?afterok:11", "o11 o10", "met 20", "" },
    { "afterok:10?afternotok:10", "f10", "met 20", "" },
    /* past jobs count at once */
    { "afterok:1,after:2,afterany:3,afternotok:2:3", "", "met 20", "" },
    { "afterok:2", "", "never 20", "job 2 did not succeed" },
    { "afternotok:1", "", "never 20", "job 1 succeeded" },
    { "after:3", "", "never 20", "job 3 ended before it started" },
    { "afterok:2?after:3", "", "never 20",
      "none of these can be met any more: job 2 did not succeed, job 3 ended before it "
      "started" },
    { "afterok:2?afterok:1", "", "met 20", "" },
    { "afterany:99", "", "never 20", "job 99 is not known any more" },
    { "afterany:1,afterok:10", "", "", "waits for job 10 to succeed" },
    /* the job itself */
    { "afterany:20", "", "", "waits for job 20 to end" },
};

static void test_cases (void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct deps *d = deps_create ();
        autofree char *words = strdup (cases[i].events);
        char *rest = words, *word;
        double now = 100;

        for (uint64_t id = 10; id <= 13; id++)
            deps_add (d, id, 7, (char[]){ 'a', (char)('0' + id - 10), 0 });
        deps_add (d, 20, 7, "w");
        wait_for (d, 20, cases[i].list, some_past);
        while ((word = strsep (&rest, " "))) {
            uint64_t id = *word ? strtoul (word + 1, NULL, 10) : 0;
            if (*word == 's')
                deps_started (d, id, now++);
            else if (*word)
                deps_ended (d, id, *word == 'o');
        }
        expect (d, now, cases[i].want);
        expect (d, now, "");
        expect_reason (d, 20, cases[i].reason);
        assert_int_equal (deps_verdict (d, 20), !strncmp (cases[i].want, "met", 3)
                                                    ? DEPS_NONE
                                                : *cases[i].want ? DEPS_NEVER
                                                                 : DEPS_WAITS);
        deps_ended (d, 20, true);
        assert_int_equal (deps_verdict (d, 20), DEPS_NONE);
        assert_int_equal (deps_conditions (d), 0);
        deps_destroy (d);
    }
}

static void test_delay (void **state)
{
    struct deps *d = deps_create ();

    (void)state;
    deps_add (d, 10, 7, "a");
    for (uint64_t id = 20; id <= 23; id++)
        deps_add (d, id, 7, "w");
    wait_for (d, 20, "after:10+5", no_past);
    wait_for (d, 21, "after:10+1?afterany:10", no_past);
    wait_for (d, 22, "after:2+10", some_past); /* started at 60 */
    expect_reason (d, 20, "waits for job 10 to start, and 5 min more");
    assert_true (deps_wakeup (d) == 660);
    expect (d, 100, "");
    deps_started (d, 10, 200);
    deps_started (d, 10, 300); /* the second start of a requeued job */
    expect (d, 200, "");
    expect_reason (d, 20, "waits for 5 min to pass since the start of job 10");
    expect_reason (d, 21,
                   "waits for one of: 1 min to pass since the start of job 10, job 10 to "
                   "end");
    assert_true (deps_wakeup (d) == 260);
    expect (d, 259.9, "");
    expect (d, 260, "met 21");
    assert_true (deps_wakeup (d) == 500);
    wait_for (d, 23, "after:10+2", no_past); /* started already */
    assert_true (deps_wakeup (d) == 320);
    expect (d, 320, "met 23");
    deps_ended (d, 10, false); /* the job had started */
    expect (d, 499, "");
    expect (d, 500, "met 20");
    assert_true (deps_wakeup (d) == 660);
    deps_ended (d, 22, false); /* cancelled while it waited */
    assert_true (deps_wakeup (d) == 0);
    expect (d, 1e9, "");
    assert_int_equal (deps_conditions (d), 0);
    deps_destroy (d);
}

static void test_singleton (void **state)
{
    struct deps *d = deps_create ();
    uint64_t ids[4];

    (void)state;
    deps_add (d, 10, 7, "sim");
    deps_add (d, 11, 8, "sim"); /* another user's */
    deps_add (d, 12, 7, "other");
    deps_add (d, 13, 7, "sim");
    deps_add (d, 14, 7, "sim");
    deps_add (d, 15, 7, "sim"); /* a later job, which delays no other */
    wait_for (d, 13, "singleton", no_past);
    wait_for (d, 14, "singleton,afterok:12", no_past);
    expect (d, 1, "");
    expect_reason (d, 13, "waits for job 10 to end (same user and name)");
    assert_int_equal (deps_blockers (d, 14, ids, 4), 2);
    assert_int_equal (ids[0], 10);
    assert_int_equal (ids[1], 12);
    assert_int_equal (deps_blockers (d, 14, ids, 1), 1);
    deps_ended (d, 11, true);
    expect (d, 1, "");
    deps_ended (d, 10, false); /* any end counts */
    expect (d, 1, "met 13");
    assert_int_equal (deps_blockers (d, 14, ids, 4), 2);
    assert_int_equal (ids[0], 13);
    deps_ended (d, 12, true);
    expect (d, 1, "");
    deps_ended (d, 13, true);
    expect (d, 1, "met 14");
    deps_add (d, 20, 7, "alone");
    wait_for (d, 20, "singleton", no_past);
    expect (d, 1, "met 20");
    deps_destroy (d);
}

static void test_refusals (void **state)
{
    struct deps *d = deps_create ();
    struct dependencies list = { 0 };
    struct dependency one = { .kind = DEPENDENCY_AFTERANY, .id = 10 };

    (void)state;
    deps_add (d, 10, 7, "a");
    deps_add (d, 20, 7, "w");
    assert_int_equal (deps_add (d, 10, 7, "b"), -EEXIST);
    list.list = &one;
    list.n = 1;
    assert_int_equal (deps_wait (d, 21, &list, no_past, NULL), -ENOENT);
    assert_int_equal (deps_wait (d, 20, &list, no_past, NULL), 0);
    assert_int_equal (deps_wait (d, 20, &list, no_past, NULL), -EEXIST);
    deps_started (d, 99, 1); /* unknown jobs */
    deps_ended (d, 99, true);
    expect (d, 1, "");
    deps_destroy (d);
}

/* A bounded call must be repeated for the remaining verdicts. */
static void test_steps (void **state)
{
    enum { N = 1000 };
    struct deps *d = deps_create ();
    enum deps_verdict v;
    uint64_t id;
    size_t told = 0, again = 0;
    int rc;

    (void)state;
    deps_add (d, 1, 7, "a");
    deps_add (d, 2, 7, "b");
    for (uint64_t i = 10; i < 10 + N; i++) {
        deps_add (d, i, 7, "w");
        wait_for (d, i, i % 2 ? "afterok:1" : "afterok:1:2", no_past);
    }
    deps_ended (d, 1, true);
    while ((rc = deps_next (d, 1, 1, &id, &v)) != 0) {
        told += rc == 1;
        again += rc == -EAGAIN;
    }
    assert_int_equal (told, N / 2);
    assert_true (again >= N / 2); /* steps without a verdict count, too */
    deps_ended (d, 2, false);
    while ((rc = deps_next (d, 1, 10, &id, &v)) != 0) {
        told += rc == 1;
        assert_true (rc == -EAGAIN || v == DEPS_NEVER);
    }
    assert_int_equal (told, N);
    deps_destroy (d);
}

/* -- random graphs compared with the history -- */

#define JOBS 60
#define NAMES 4

struct history {
    bool known, ended, ok;
    double t_start;
    int name;
    struct dependencies list; /* n: it waits */
    enum deps_verdict verdict;
};

struct world {
    struct history jobs[JOBS + 1];
    double now;
    uint64_t seed;
};

static unsigned chance (struct world *w, unsigned n)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(w->seed >> 33) % n;
}

/* 1: met, 0: open, -1: never */
static int look (const struct world *w, uint64_t self, const struct dependency *c)
{
    const struct history *h = &w->jobs[c->id];

    switch (c->kind) {
    case DEPENDENCY_AFTER:
        if (h->t_start > 0)
            return w->now >= h->t_start + c->delay;
        return h->ended ? -1 : 0;
    case DEPENDENCY_AFTERANY:
        return h->ended;
    case DEPENDENCY_AFTERNOTOK:
        return !h->ended ? 0 : h->ok ? -1 : 1;
    case DEPENDENCY_SINGLETON:
        for (uint64_t id = 1; id < self; id++)
            if (w->jobs[id].known && !w->jobs[id].ended
                && w->jobs[id].name == w->jobs[self].name)
                return 0;
        return 1;
    default:
        return !h->ended ? 0 : h->ok ? 1 : -1;
    }
}

static enum deps_verdict reference (const struct world *w, uint64_t id)
{
    const struct history *h = &w->jobs[id];
    size_t met = 0, never = 0;

    for (size_t i = 0; i < h->list.n; i++) {
        int rc = look (w, id, &h->list.list[i]);
        met += rc > 0;
        never += rc < 0;
    }
    if (h->list.any)
        return met ? DEPS_MET : never == h->list.n ? DEPS_NEVER : DEPS_WAITS;
    return never ? DEPS_NEVER : met == h->list.n ? DEPS_MET : DEPS_WAITS;
}

static int world_past (uint64_t id, struct deps_past *ret, void *arg)
{
    const struct world *w = arg;

    assert_true (w->jobs[id].ended); /* the look-up is not called for known jobs */
    *ret = (struct deps_past){ w->jobs[id].t_start, w->jobs[id].ok };
    return 0;
}

static void new_job (struct world *w, struct deps *d, uint64_t id)
{
    static const char *const names[NAMES] = { "a", "b", "c", "d" };
    struct history *h = &w->jobs[id];
    size_t n = id > 1 && chance (w, 4) ? 1 + chance (w, 4) : 0;

    *h = (struct history){ .known = true, .name = (int)chance (w, NAMES) };
    assert_int_equal (deps_add (d, id, 7, names[h->name]), 0);
    if (n == 0)
        return;
    h->list.list = calloc (n, sizeof (*h->list.list));
    h->list.n = n;
    h->list.any = chance (w, 2);
    h->verdict = DEPS_WAITS;
    for (size_t i = 0; i < n; i++) {
        struct dependency *c = &h->list.list[i];
        c->kind = (enum dependency_kind)chance (w, 6);
        c->id = c->kind == DEPENDENCY_SINGLETON ? 0 : 1 + chance (w, (unsigned)id - 1);
        c->delay = c->kind == DEPENDENCY_AFTER && chance (w, 2) ? chance (w, 20) : 0;
    }
    assert_int_equal (deps_wait (d, id, &h->list, world_past, w), 0);
}

static void check (struct world *w, struct deps *d)
{
    enum deps_verdict v, want[JOBS + 1];
    uint64_t id;

    for (uint64_t i = 1; i <= JOBS; i++) {
        const struct history *h = &w->jobs[i];
        want[i] = h->list.n && !h->ended && h->verdict == DEPS_WAITS ? reference (w, i)
                                                                     : DEPS_WAITS;
    }
    for (int rc; (rc = deps_next (d, w->now, 1 + chance (w, 5), &id, &v)) != 0;) {
        if (rc < 0)
            continue;
        assert_int_equal (v, want[id]);
        want[id] = DEPS_WAITS; /* and no second verdict */
        w->jobs[id].verdict = v;
    }
    for (uint64_t i = 1; i <= JOBS; i++)
        if (want[i] != DEPS_WAITS)
            fail_msg ("job %ju: verdict %d was not reported", (uintmax_t)i, (int)want[i]);
}

static void end_job (struct world *w, struct deps *d, uint64_t id)
{
    struct history *h = &w->jobs[id];

    h->ended = true;
    h->ok = h->t_start > 0 && chance (w, 2);
    deps_ended (d, id, h->ok);
}

static void one_world (uint64_t seed)
{
    struct world w = { .now = 1000, .seed = seed };
    struct deps *d = deps_create ();
    uint64_t last = 0;

    for (int round = 0; round < 400; round++) {
        unsigned what = chance (&w, 4);
        uint64_t id = last ? 1 + chance (&w, (unsigned)last) : 1;
        struct history *h = &w.jobs[id];
        w.now += chance (&w, 3);
        if (what == 0 && last < JOBS) {
            new_job (&w, d, ++last);
        } else if (what == 1 && h->known && !h->ended && h->t_start <= 0) {
            h->t_start = w.now;
            deps_started (d, id, w.now);
        } else if (what == 2 && h->known && !h->ended) {
            end_job (&w, d, id);
        }
        if (chance (&w, 3))
            check (&w, d);
    }
    check (&w, d);
    for (uint64_t id = 1; id <= JOBS; id++) {
        if (w.jobs[id].known && !w.jobs[id].ended)
            end_job (&w, d, id);
        check (&w, d);
        free (w.jobs[id].list.list);
        w.jobs[id].list = (struct dependencies){ 0 };
    }
    assert_int_equal (deps_conditions (d), 0);
    assert_true (deps_wakeup (d) == 0);
    deps_destroy (d);
}

static void test_random (void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        one_world (seed);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_due),      cmocka_unit_test (test_cases),
        cmocka_unit_test (test_delay),    cmocka_unit_test (test_singleton),
        cmocka_unit_test (test_refusals), cmocka_unit_test (test_steps),
        cmocka_unit_test (test_random),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
