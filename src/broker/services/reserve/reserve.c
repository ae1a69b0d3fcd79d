/* reserve.c - begin and end of reservations, and where their jobs are planned */
#include "broker/services/reserve/reserve.h"

#include <math.h>
#include <utlist.h>

#include "broker/core/jobs.h"
#include "broker/core/recover.h"
#include "broker/core/turn.h"
#include "broker/core/service.h"
#include "common/clock.h"
#include "common/parse.h"

#define SETTING "reservation/"
#define SETTING_LAST "reservations/last" /* number of the last generated name */
#define TICK 1e-5                        /* seconds */
#define SLEEP_MAX 60.0                   /* times use the wall clock, which may be set */

struct reserve {
    struct reservation *list;  /* by name */
    uint64_t windows;          /* number of windows made so far, for their ids */
    uint64_t last;             /* N of the last name resv-N */
    struct broker_timer timer; /* the next start or end of a reservation, at: */
    double due;
};

struct slot {
    char *name; /* of the reservation that the job must run in; or NULL */
    struct realm *realm;
};

static struct service_place place;
SERVICE_STATE_OF (struct reserve)
SERVICE_SLOT_OF (struct slot)

struct reservation *reserve_list (const struct broker *b)
{
    return state_of (b)->list;
}

struct reservation *reserve_find (const struct broker *b, const char *name)
{
    struct reservation *r;

    HASH_FIND_STR (reserve_list (b), name, r);
    return r;
}

const struct reservation *reserve_of_node (const struct broker *b, const char *node)
{
    const struct reservation *best = NULL;

    for (const struct reservation *r = reserve_list (b); r; r = r->hh.next) {
        if ((!best || r->start < best->start)
            && machine_node_find (realm_machine (r->realm), node) >= 0)
            best = r;
    }
    return best;
}

void reserve_new_name (struct broker *b, char *ret, size_t size)
{
    do {
        snprintf (ret, size, "resv-%ju", (uintmax_t)++state_of (b)->last);
    } while (reserve_find (b, ret));
}

/* -- the journal -- */

struct journal_txn *reserve_txn (const struct broker *b, const struct reservation *r,
                                 bool gone)
{
    struct journal_txn *t = journal_txn_create ();
    char name[sizeof (SETTING) + RESERVATION_NAME_MAX], last[32];
    autojson json_t *o = gone ? NULL : reservation_to_json (r);
    autofree char *text = o ? json_dumps (o, JSON_COMPACT) : NULL;

    if (!t || (!gone && !text)) {
        journal_txn_destroy (t);
        return NULL;
    }
    snprintf (name, sizeof (name), SETTING "%s", r->name);
    snprintf (last, sizeof (last), "%ju", (uintmax_t)state_of (b)->last);
    journal_txn_setting (t, name, text);
    journal_txn_setting (t, SETTING_LAST, last);
    return t;
}

static void forgotten (int rc, const struct error *err, void *arg)
{
    struct broker *b = arg;

    broker_work_ends (b);
    if (rc < 0) /* the next start finds it over */
        log_error ("journal: %s", err ? err->text : strerror (-rc));
}

static void forget (struct broker *b, const struct reservation *r)
{
    struct journal_txn *t = reserve_txn (b, r, true);

    if (!t)
        return; /* the next start does the same */
    broker_work_begins (b);
    if (journal_commit (broker_journal (b), t, 0, forgotten, b) < 0)
        broker_work_ends (b);
}

/* -- in and out of the plan -- */

static void set_timer (struct broker *b)
{
    struct broker_timer *timer = &state_of (b)->timer;
    double next = INFINITY;

    for (const struct reservation *r = reserve_list (b); r; r = r->hh.next)
        next = fmin (next, r->active ? r->end : r->start);
    state_of (b)->due = next;
    if (isinf (next)) {
        broker_timer_stop (timer);
        return;
    }
    broker_timer_set (timer, MIN (MAX (next - clock_wall (), 0.0), SLEEP_MAX) + 0.001);
}

/* Makes the reservation known to the broker. */
static int enter (struct broker *b, struct reservation *r)
{
    struct reserve *s = state_of (b);

    r->realm = realm_create (r->nodes, r->start, r->end, broker_config (b)->match_policy,
                             broker_config (b)->queue_policy,
                             broker_config (b)->reservation_depth);
    if (!r->realm)
        return -ENOMEM;
    r->window = MATCH_WINDOW_FIRST + s->windows++;
    for (size_t i = 0; i < broker_config (b)->nqueues; i++)
        realm_queue_set (r->realm, (unsigned)i, broker_config (b)->queues[i].started);
    HASH_ADD_KEYPTR (hh, s->list, r->name, strlen (r->name), r);
    return 0;
}

/* Of a reservation that was promised: the next broker reads it from the journal. */
static void kept (int rc)
{
    if (rc < 0)
        broker_no_memory ("a reservation");
}

static int book_window (struct broker *b, const struct reservation *r)
{
    return match_window_book (broker_matcher (b), r->window, r->name, r->nodes, r->start,
                              r->end);
}

static void begin (struct broker *b, struct reservation *r)
{
    r->active = true;
    realm_begin (r->realm, broker_graph (b));
    log_info ("reservation %s begins", r->name);
}

/* Queues the jobs that wait for a reservation of this name. */
static void pick_up (struct broker *b, const struct reservation *r)
{
    struct entry *e;

    entries_each (ENTRIES_WAITING, b, e) {
        const char *name = slot_of (e)->name;
        if (name && entry_job (e)->state == JOB_SCHED && !strcmp (name, r->name))
            broker_act (b, e, JOB_ACT_ENQUEUE);
    }
}

/* A job that got all the time left may exceed it by a rounding error. */
static void not_past (const struct reservation *r, struct rset *has)
{
    has->expiration = MIN (has->expiration, r->end - TICK);
}

/* For jobs inside: waiting ones are in no queue then, running ones are booked outside. */
static void let_out (struct broker *b, const struct reservation *r)
{
    struct entry *e;

    entries_each (ENTRIES_ALL, b, e) {
        if (slot_of (e)->realm != r->realm)
            continue;
        slot_of (e)->realm = NULL;
        if (entry_alloc (e)) {
            not_past (r, entry_alloc (e));
            broker_book (b, e);
        }
    }
}

void reserve_remove (struct broker *b, struct reservation *r)
{
    sched_unplan (broker_sched (b));
    match_cancel (broker_matcher (b), r->window);
    HASH_DEL (state_of (b)->list, r);
    let_out (b, r);
    reservation_destroy (r);
    set_timer (b);
    broker_plan_due (b);
}

/* -- making one -- */

int reserve_make (struct broker *b, struct reservation *r, size_t n, bool ignore_running,
                  struct error *err)
{
    double now = clock_wall ();

    if (reserve_find (b, r->name))
        return error_set (err, EEXIST, "a reservation %s already exists", r->name);
    if (HASH_COUNT (reserve_list (b)) >= RESERVATIONS_MAX)
        return error_set (err, EBUSY, "there are %d reservations already; remove some",
                          RESERVATIONS_MAX);
    sched_unplan (broker_sched (b)); /* jobs planned there are planned again */
    broker_plan_due (b);
    int rc = reserve_find_nodes (b, r, n, now, ignore_running, err);
    if (rc < 0)
        return rc;
    if (enter (b, r) < 0)
        return error_set (err, ENOMEM, "out of memory");
    if (book_window (b, r) < 0 || realm_open (r->realm, broker_graph (b)) < 0) {
        match_cancel (broker_matcher (b), r->window);
        HASH_DEL (state_of (b)->list, r);
        return error_set (err, ENOMEM, "out of memory");
    }
    if (r->start <= now)
        begin (b, r);
    pick_up (b, r);
    set_timer (b);
    return 0;
}

/* -- time -- */

/* A reservation begins or ends. */
static void on_timer (struct broker *b)
{
    struct reservation *r, *next;
    double now = clock_wall ();

    if (broker_is_recovering (b))
        return;
    HASH_ITER (hh, reserve_list (b), r, next) {
        if (r->end > now)
            continue;
        log_info ("reservation %s is over", r->name);
        forget (b, r);
        reserve_remove (b, r);
    }
    HASH_ITER (hh, reserve_list (b), r, next) {
        if (!r->active && r->start <= now)
            begin (b, r);
    }
    set_timer (b);
    broker_plan_due (b);
}

/* Before jobs are placed at a time at which a reservation has ended: its jobs that still
 * run are booked outside first. */
static void pass_begins (struct broker *b)
{
    if (reserve_list (b) && state_of (b)->due <= clock_wall ())
        on_timer (b);
}

/* -- the start of the broker -- */

static int load_setting (const char *name, const char *value, void *arg)
{
    struct broker *b = arg;
    struct error err = { 0 };
    int64_t last = 0;

    if (!strcmp (name, SETTING_LAST)
        && parse_int (value, 0, INT64_MAX / 2, &last, name, &err) == 0)
        state_of (b)->last = (uint64_t)last;
    if (strncmp (name, SETTING, strlen (SETTING)) != 0)
        return 0;
    struct reservation *r = reservation_from_json (name + strlen (SETTING), value, &err);
    if (r && enter (b, r) == 0)
        return 0;
    bool no_memory = r || err.code == ENOMEM;
    log_error ("reservation %s cannot be read: %s", name + strlen (SETTING),
               no_memory ? "out of memory" : err.text);
    reservation_destroy (r);
    return no_memory ? -ENOMEM : 0;
}

static int load (struct broker *b, struct error *err)
{
    return journal_load_settings (broker_journal (b), load_setting, b, err);
}

static void nodes_known (struct broker *b)
{
    struct reservation *r, *next;
    double now = clock_wall ();

    HASH_ITER (hh, reserve_list (b), r, next) {
        if (r->end <= now) {
            log_info ("reservation %s is over", r->name);
            forget (b, r);
            reserve_remove (b, r);
            continue;
        }
        kept (realm_open (r->realm, broker_graph (b)));
        if (r->start <= now)
            begin (b, r);
    }
}

/* The reservation in which the job started, unless it was an earlier one of the same
 * name. */
static const struct reservation *was_in (const struct broker *b, const struct entry *e)
{
    const char *name = slot_of (e)->name;
    const struct reservation *r = name ? reserve_find (b, name) : NULL;

    return r && r->active && entry_alloc (e) && entry_alloc (e)->starttime >= r->made
               ? r
               : NULL;
}

static bool books (struct broker *b, struct entry *e)
{
    const struct reservation *r = was_in (b, e);
    struct error err = { 0 };

    if (!r)
        return false;
    not_past (r, entry_alloc (e));
    if (match_update (realm_matcher (r->realm), entry_id (e), entry_alloc (e), &err)
        < 0) {
        log_warning ("job %ju: reservation %s: %s", (uintmax_t)entry_id (e), r->name,
                     err.text);
        return false;
    }
    slot_of (e)->realm = r->realm;
    return true;
}

static void recovered (struct broker *b)
{
    struct reservation *r, *next;

    HASH_ITER (hh, reserve_list (b), r, next) {
        kept (book_window (b, r));
        /* nodes that still exist */
        for (size_t i = 0; i < hostlist_count (r->nodes); i++)
            kept (realm_mirror (r->realm, broker_graph (b), hostlist_nth (r->nodes, i)));
    }
    set_timer (b);
}

static void release (struct broker *b)
{
    struct reservation *r, *next;

    HASH_ITER (hh, reserve_list (b), r, next) {
        HASH_DEL (state_of (b)->list, r);
        reservation_destroy (r);
    }
}

/* -- where jobs are -- */

struct sched *reserve_sched_of (struct broker *b, const struct entry *e)
{
    const struct slot *s = slot_of (e);

    if (s->realm)
        return realm_sched (s->realm);
    return s->name && entry_job (e)->state < JOB_RUN ? NULL : broker_sched (b);
}

struct matcher *reserve_matcher_of (struct broker *b, const struct entry *e)
{
    const struct slot *s = slot_of (e);

    return s->realm ? realm_matcher (s->realm) : broker_matcher (b);
}

const char *reserve_name_of (const struct entry *e)
{
    return slot_of (e)->name;
}

bool reserve_has_realm (const struct entry *e)
{
    return slot_of (e)->realm;
}

void reserve_leave (struct entry *e)
{
    slot_of (e)->realm = NULL;
}

static void splits (struct entry *to, const struct entry *from)
{
    const struct slot *s = slot_of (from);

    *slot_of (to) = (struct slot){ s->name ? strdup (s->name) : NULL, s->realm };
    if (s->name && !slot_of (to)->name)
        broker_no_memory ("a reservation");
}

void reserve_dequeue (struct broker *b, const struct entry *e, uint64_t id)
{
    struct sched *s = reserve_sched_of (b, e);

    if (s)
        sched_dequeue (s, id);
}

struct sched *reserve_sched_for (struct broker *b, struct entry *e)
{
    struct slot *s = slot_of (e);
    const struct reservation *r = s->name ? reserve_find (b, s->name) : NULL;

    if (!s->name)
        return broker_sched (b);
    s->realm = r && !r->maintenance && reservation_admits (r, entry_job (e)->userid)
                   ? r->realm
                   : NULL;
    return s->realm ? realm_sched (s->realm) : NULL;
}

/* -- changes -- */

void reserve_node_moved (struct broker *b, const char *node)
{
    for (struct reservation *r = reserve_list (b); r && !broker_is_recovering (b);
         r = r->hh.next) {
        if (hostlist_find (r->nodes, node) < 0)
            continue;
        match_cancel (broker_matcher (b), r->window); /* so that a removed node can go */
        kept (book_window (b, r));
    }
    reserve_node_changed (b, node);
}

static void take (struct broker *b, struct entry *e, bool task)
{
    (void)b;
    (void)task;
    slot_of (e)->name = entry_jobspec (e)->reservation;
    entry_jobspec (e)->reservation = NULL;
}

static void drop (struct entry *e)
{
    free (slot_of (e)->name);
}

const struct broker_service service_reserve = {
    .name = "reserve",
    .place = &place,
    .state_size = sizeof (struct reserve),
    .slot_size = sizeof (struct slot),
    .timer = offsetof (struct reserve, timer),
    .on_timer = on_timer,
    .load = load,
    .release = release,
    .reloaded = reserve_reloaded,
    .take = take,
    .splits = splits,
    .drop = drop,
    .nodes_known = nodes_known,
    .books = books,
    .recovered = recovered,
    .pass_begins = pass_begins,
};
