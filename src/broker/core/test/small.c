/* small.c - see small.h */
#include "broker/core/inside.h"
#include "broker/core/jobs.h"
#include "broker/core/test/small.h"
#include "broker/core/test/fake_http.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/core/sizes.h"
#include "broker/core/users.h"
#include "common/clock.h"
#include "common/strbuf.h"
#include "common/test/torture.h"
#include "common/yaml.h"
#include "exec/exec.h"

#define TEXT_MAX (1 << 20)
#define TURNS_MAX 1000
#define STEP 0.001 /* seconds: time passes even for a timer that is due at once */

/* An operation of the journal that completes at the next small_turn(). */
struct commit {
    journal_done_f done;   /* a commit, or */
    journal_record_f read; /* ... a look at this job, or */
    uint64_t id;
    void *arg;
    uv_work_cb work; /* ... a worker's work */
    uv_after_work_cb after;
};

/* A signal that no agent has answered. */
struct signal_sent {
    void (*done) (int rc, void *arg);
    void *arg;
};

struct timer_time {
    struct broker_timer *timer;
    double when;
};

/* One at a time: the linker's names have no argument for it. */
static struct {
    double now;
    struct commit commits[64];
    size_t ncommits;
    struct signal_sent signals[64];
    size_t nsignals;
    struct timer_time timers[64];
    size_t ntimers;
    struct strbuf events; /* "ID NAME\n" */
    struct strbuf list;
    json_t *settings;
    json_t *jobs; /* by id: {"uid": 1000, "key": "...", "jobspec": "...", "events":
                     * [{"timestamp": 1.5, "name": "submit", "context": "{...}"}],
                     * "inactive": true} */
    struct small *small;
    long vanish; /* completions until all jobs vanish; < 0: they do not */
    bool vanished;
} state;
static json_t *kept; /* settings of the journal for the next small_create() */

/* This file's own allocations do not fail: end with small_resume(). */
long small_spare (void)
{
    long countdown = torture_countdown;

    torture_countdown = -1;
    return countdown;
}

void small_resume (long countdown)
{
    torture_countdown = countdown;
}

double small_now (void)
{
    return state.now;
}

/* -- the journal's records of jobs -- */

static json_t *record_of (uint64_t id)
{
    char key[32];

    snprintf (key, sizeof (key), "%ju", (uintmax_t)id);
    json_t *record = json_object_get (state.jobs, key);
    if (!record) {
        record = json_pack ("{s:[]}", "events");
        json_object_set_new (state.jobs, key, record);
    }
    return record;
}

static void keep_job (uint64_t id, uint32_t uid, const char *key, const char *jobspec)
{
    json_object_update_new (record_of (id),
                            json_pack ("{s:I s:s s:s*}", "uid", (json_int_t)uid,
                                       "jobspec", jobspec, "key", key));
}

static void keep_event (uint64_t id, double timestamp, const char *name,
                        const char *context)
{
    json_array_append_new (json_object_get (record_of (id), "events"),
                           json_pack ("{s:f s:s s:s*}", "timestamp", timestamp, "name",
                                      name, "context", context));
}

static const char *text_in (const json_t *o, const char *key)
{
    return json_string_value (json_object_get (o, key));
}

/* -- what the linker gives instead of the real thing -- */

double __wrap_clock_wall (void);
double __wrap_clock_mono (void);
int __wrap_journal_commit (struct journal *j, struct journal_txn *t, int flags,
                           journal_done_f done, void *arg);
void __real_journal_txn_event (struct journal_txn *t, uint64_t id, double timestamp,
                               const char *name, const char *context);
void __wrap_journal_txn_event (struct journal_txn *t, uint64_t id, double timestamp,
                               const char *name, const char *context);
void __real_journal_txn_setting (struct journal_txn *t, const char *name,
                                 const char *value);
void __wrap_journal_txn_setting (struct journal_txn *t, const char *name,
                                 const char *value);
void __real_journal_txn_job (struct journal_txn *t, uint64_t id, uint32_t uid,
                             const char *key, const char *jobspec, size_t len);
void __wrap_journal_txn_job (struct journal_txn *t, uint64_t id, uint32_t uid,
                             const char *key, const char *jobspec, size_t len);
void __real_journal_txn_job_of (struct journal_txn *t, uint64_t id, uint32_t uid,
                                uint64_t of);
void __wrap_journal_txn_job_of (struct journal_txn *t, uint64_t id, uint32_t uid,
                                uint64_t of);
void __real_journal_txn_inactive (struct journal_txn *t, uint64_t id);
void __wrap_journal_txn_inactive (struct journal_txn *t, uint64_t id);
uint64_t __wrap_journal_find_key (struct journal *j, uint32_t uid, const char *key);
size_t __wrap_journal_waiting (struct journal *j);
int64_t __wrap_journal_bytes (const struct journal *j);
int __wrap_journal_load_settings (struct journal *j, journal_setting_f fn, void *arg,
                                  struct error *err);
const char *__wrap_journal_trouble (struct journal *j);
int __wrap_journal_read (struct journal *j, uint64_t id, int want, journal_record_f done,
                         void *arg);
void __wrap_broker_timer_init (struct broker *b, struct broker_timer *t,
                               void (*fn) (struct broker *b));
void __wrap_broker_timer_set (struct broker_timer *t, double seconds);
double __wrap_broker_timer_left (const struct broker_timer *t);
void __wrap_broker_timer_stop (struct broker_timer *t);
void __wrap_users_find (struct users *u, uid_t uid, users_f done, void *arg);
void __wrap_users_find_named (struct users *u, const char *name, users_f done, void *arg);
int __wrap_uv_queue_work (uv_loop_t *loop, uv_work_t *w, uv_work_cb work,
                          uv_after_work_cb after);

double __wrap_clock_wall (void)
{
    return state.now;
}

double __wrap_clock_mono (void)
{
    return state.now - SMALL_START + 1;
}

int __wrap_journal_commit (struct journal *j, struct journal_txn *t, int flags,
                           journal_done_f done, void *arg)
{
    (void)j;
    (void)flags;
    assert_true (state.ncommits < ARRAY_SIZE (state.commits));
    journal_txn_destroy (t);
    if (done)
        state.commits[state.ncommits++] = (struct commit){ .done = done, .arg = arg };
    return 0;
}

void __wrap_journal_txn_event (struct journal_txn *t, uint64_t id, double timestamp,
                               const char *name, const char *context)
{
    long countdown = small_spare ();

    strbuf_addf (&state.events, "%ju %s\n", (uintmax_t)id, name);
    keep_event (id, timestamp, name, context);
    small_resume (countdown);
    __real_journal_txn_event (t, id, timestamp, name, context);
}

void __wrap_journal_txn_setting (struct journal_txn *t, const char *name,
                                 const char *value)
{
    long countdown = small_spare ();

    if (value)
        json_object_set_new (state.settings, name, json_string (value));
    else
        json_object_del (state.settings, name);
    small_resume (countdown);
    __real_journal_txn_setting (t, name, value);
}

void __wrap_journal_txn_job (struct journal_txn *t, uint64_t id, uint32_t uid,
                             const char *key, const char *jobspec, size_t len)
{
    long countdown = small_spare ();

    keep_job (id, uid, key, jobspec);
    small_resume (countdown);
    __real_journal_txn_job (t, id, uid, key, jobspec, len);
}

void __wrap_journal_txn_job_of (struct journal_txn *t, uint64_t id, uint32_t uid,
                                uint64_t of)
{
    long countdown = small_spare ();

    keep_job (id, uid, NULL, text_in (record_of (of), "jobspec"));
    small_resume (countdown);
    __real_journal_txn_job_of (t, id, uid, of);
}

void __wrap_journal_txn_inactive (struct journal_txn *t, uint64_t id)
{
    long countdown = small_spare ();

    json_object_set_new (record_of (id), "inactive", json_true ());
    small_resume (countdown);
    __real_journal_txn_inactive (t, id);
}

uint64_t __wrap_journal_find_key (struct journal *j, uint32_t uid, const char *key)
{
    const char *id;
    json_t *o;

    (void)j;
    json_object_foreach (state.jobs, id, o) {
        const char *own = text_in (o, "key");
        if (own && !strcmp (own, key)
            && json_integer_value (json_object_get (o, "uid")) == uid)
            return strtoull (id, NULL, 10);
    }
    return 0;
}

size_t __wrap_journal_waiting (struct journal *j)
{
    (void)j;
    return 0;
}

int64_t __wrap_journal_bytes (const struct journal *j)
{
    (void)j;
    return 0;
}

int __wrap_journal_load_settings (struct journal *j, journal_setting_f fn, void *arg,
                                  struct error *err)
{
    const char *name;
    json_t *value;
    int rc = 0;

    (void)j;
    (void)err;
    json_object_foreach (state.settings, name, value)
        rc = rc ? rc : fn (name, json_string_value (value), arg);
    return rc;
}

const char *__wrap_journal_trouble (struct journal *j)
{
    (void)j;
    return NULL;
}

int __wrap_journal_read (struct journal *j, uint64_t id, int want, journal_record_f done,
                         void *arg)
{
    (void)j;
    (void)want;
    assert_true (state.ncommits < ARRAY_SIZE (state.commits));
    state.commits[state.ncommits++] =
        (struct commit){ .read = done, .id = id, .arg = arg };
    return 0;
}

static struct timer_time *find_timer (const struct broker_timer *t)
{
    for (size_t i = 0; i < state.ntimers; i++)
        if (state.timers[i].timer == t)
            return &state.timers[i];
    fail_msg ("a timer is used before broker_timer_init()");
    return NULL;
}

void __wrap_broker_timer_init (struct broker *b, struct broker_timer *t,
                               void (*fn) (struct broker *b))
{
    size_t i = 0;

    while (i < state.ntimers && state.timers[i].timer != t)
        i++; /* a test may call a service's init or load again */
    assert_true (i < ARRAY_SIZE (state.timers));
    *t = (struct broker_timer){ .b = b, .fn = fn };
    state.timers[i] = (struct timer_time){ t, 0 };
    state.ntimers = MAX (state.ntimers, i + 1);
}

void __wrap_broker_timer_set (struct broker_timer *t, double seconds)
{
    t->is_set = true;
    find_timer (t)->when = state.now + seconds + STEP;
}

double __wrap_broker_timer_left (const struct broker_timer *t)
{
    return t->is_set ? find_timer (t)->when - state.now : 0;
}

void __wrap_broker_timer_stop (struct broker_timer *t)
{
    t->is_set = false;
}

void __wrap_users_find (struct users *u, uid_t uid, users_f done, void *arg)
{
    gid_t group = uid;
    char name[] = "user", home[] = "/", shell[] = "/bin/sh";
    const struct exec_user user = { .uid = uid,
                                    .gid = uid,
                                    .name = name,
                                    .home = home,
                                    .shell = shell,
                                    .groups = &group,
                                    .ngroups = 1 };

    (void)u;
    done (0, &user, arg);
}

/* Each name but "nobody" is the user's. */
void __wrap_users_find_named (struct users *u, const char *name, users_f done, void *arg)
{
    if (strcmp (name, "nobody") != 0)
        __wrap_users_find (u, 1000, done, arg);
    else
        done (-ENOENT, NULL, arg);
}

int __wrap_uv_queue_work (uv_loop_t *loop, uv_work_t *w, uv_work_cb work,
                          uv_after_work_cb after)
{
    (void)loop;
    if (!state.small->works) {
        after (w, 0);
        return 0;
    }
    assert_true (state.ncommits < ARRAY_SIZE (state.commits));
    state.commits[state.ncommits++] =
        (struct commit){ .work = work, .after = after, .arg = w };
    return 0;
}

/* -- the executor -- */

struct exec {
    struct small *small;
};

static void tell (struct exec *x, const char *what, uint64_t id, const char *more)
{
    size_t before = x->small->told ? strlen (x->small->told) : 0;
    size_t size = before + strlen (what) + strlen (more) + 40;
    long countdown = small_spare ();
    char *text = realloc (x->small->told, size);

    small_resume (countdown);
    snprintf (text + before, size - before, "%s%s %ju%s%s", before ? ", " : "", what,
              (uintmax_t)id, *more ? " " : "", more);
    x->small->told = text;
}

static void exec_start (struct exec *x, struct exec_job *job)
{
    tell (x, "start", job->id, "");
}

static void exec_terminate (struct exec *x, struct exec_job *job, const char *reason,
                            double grace)
{
    (void)grace;
    tell (x, "terminate", job->id, reason);
}

static void exec_limit (struct exec *x, struct exec_job *job)
{
    tell (x, "limit", job->id, "");
}

static void exec_resize (struct exec *x, struct exec_job *job)
{
    char sizes[40];

    snprintf (sizes, sizeof (sizes), "from %u to %u", job->resize.from,
              job->resize.nodes);
    tell (x, "resize", job->id, sizes);
}

static int exec_signal (struct exec *x, struct exec_job *job, int signum,
                        enum exec_whom whom, int64_t step,
                        void (*done) (int rc, void *arg), void *arg, struct error *err)
{
    static const char *const whoms[] = { "tasks", "batch", "full" };
    char text[64];

    if (x->small->agents_away)
        return error_set (err, EBUSY, "its agent is not found again yet");
    assert_true (state.nsignals < ARRAY_SIZE (state.signals));
    state.signals[state.nsignals++] = (struct signal_sent){ done, arg };
    if (step == EXEC_NO_STEP)
        snprintf (text, sizeof (text), "%d %s", signum, whoms[whom]);
    else
        snprintf (text, sizeof (text), "%d step %jd", signum, (intmax_t)step);
    tell (x, "signal", job->id, text);
    return 0;
}

static void answer_signals (int rc)
{
    size_t n = state.nsignals;

    state.nsignals = 0;
    for (size_t i = 0; i < n; i++)
        state.signals[i].done (rc, state.signals[i].arg);
}

void small_signalled (struct small *s, int rc)
{
    answer_signals (rc);
    small_turn (s);
}

static void exec_adopted (struct exec *x, const char *key, uint64_t id, bool again,
                          const char *text)
{
    char more[500];

    snprintf (more, sizeof (more), "%s%s%s%s", key, again ? " again" : "",
              *text ? ": " : "", text);
    tell (x, "adopted", id, more);
}

static void exec_foreign_state (struct exec *x, const struct exec_foreign_state *f)
{
    char more[500];

    snprintf (more, sizeof (more), "%s%s%s%s%s", f->state, *f->reason ? " " : "",
              f->reason, f->active ? " active" : "",
              f->cancelled ? " cancelled"
              : f->ended   ? " ended"
                           : "");
    tell (x, "state", f->id, more);
}

static void exec_cleanup (struct exec *x, struct exec_job *job)
{
    struct broker *b = x->small->b;
    uint64_t id = job->id;

    tell (x, "cleanup", id, "");
    b->host.released (b, id);
    b->host.cleaned (b, id);
}

static const struct exec_ops ops = {
    .name = "small",
    .start = exec_start,
    .terminate = exec_terminate,
    .signal = exec_signal,
    .limit = exec_limit,
    .resize = exec_resize,
    .adopted = exec_adopted,
    .foreign_state = exec_foreign_state,
    .cleanup = exec_cleanup,
};

/* -- the broker -- */

static void add_nodes (struct broker *b, int n)
{
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf (name, sizeof (name), "node%d", i);
        const struct machine_node_spec spec = { .name = name,
                                                .cores = 4,
                                                .memory_mib = 1024 };
        b->host.node (b, &spec, MACHINE_NODE_UP, NULL);
    }
    b->host.nodes_complete (b);
}

static void no_sweep (struct exec *x, const uint64_t *live, size_t n)
{
    (void)x;
    (void)live;
    (void)n;
}

static void call_init (struct broker *b)
{
    struct error err = { 0 };

    for (const struct broker_service **s = SERVICES_WITH (init); *s; s++)
        assert_int_equal ((*s)->init (b, &err), 0);
    services_call (host, b, &b->host);
    for (const struct broker_service **s = SERVICES_WITH (load); *s; s++)
        assert_int_equal ((*s)->load (b, &err), 0);
}

void small_keep (const char *name, const char *value)
{
    kept = kept ? kept : json_object ();
    json_object_set_new (kept, name, json_string (value));
}

struct small *small_create (int nodes)
{
    static struct exec_ops with_sweep;
    struct small *s = calloc (1, sizeof (*s));
    struct broker *b;

    assert_non_null (s);
    memset (&state, 0, sizeof (state));
    state.now = SMALL_START;
    state.small = s;
    state.vanish = -1;
    state.settings = kept ? kept : json_object ();
    kept = NULL;
    state.jobs = json_object ();
    strbuf_init (&state.events, TEXT_MAX);
    strbuf_init (&state.list, TEXT_MAX);
    services_arrange ();
    uv_loop_init (&s->loop);
    with_sweep = ops;
    with_sweep.sweep = no_sweep;
    s->b = b = calloc (1, sizeof (*b));
    assert_non_null (b);
    b->states = calloc (1, services_state_size () + 1);
    b->loop = &s->loop;
    b->head.config = s->config = config_default (services_settings ());
    b->ops = &with_sweep;
    b->exec = calloc (1, sizeof (*b->exec));
    b->exec->small = s;
    b->host.arg = b;
    b->jobs_dir = strdup ("/");
    b->socket_path = strdup ("/");
    free (broker_config (b)->state_dir);
    broker_config (b)->state_dir = strdup ("/");
    b->uid = 999;
    b->table.next_id = 1;
    b->started = state.now;
    b->recovering = true;
    b->graph = machine_create ("small");
    b->matcher = matcher_create (b->graph, broker_config (b)->match_policy);
    b->sched = sched_create (b->matcher, broker_config (b)->queue_policy,
                             broker_config (b)->reservation_depth);
    for (size_t i = 0; i < broker_config (b)->nqueues; i++)
        sched_queue_set (b->sched, (unsigned)i, true);
    call_init (b);
    add_nodes (b, nodes);
    small_turn (s);
    return s;
}

static void answer_read (const struct commit *c)
{
    json_t *record = record_of (c->id), *events = json_object_get (record, "events"), *o;
    struct journal_record rec = { .id = c->id, .jobspec = text_in (record, "jobspec") };
    struct journal_record_event list[100];
    size_t i;

    assert_true (json_array_size (events) <= ARRAY_SIZE (list));
    json_array_foreach (events, i, o) {
        list[i] = (struct journal_record_event){
            .timestamp = json_real_value (json_object_get (o, "timestamp")),
            .name = text_in (o, "name"),
            .context = text_in (o, "context"),
        };
    }
    rec.uid = (uint32_t)json_integer_value (json_object_get (record, "uid"));
    rec.jobspec_len = rec.jobspec ? strlen (rec.jobspec) : 0;
    rec.inactive = json_object_get (record, "inactive");
    rec.events = list;
    rec.nevents = json_array_size (events);
    c->read (rec.jobspec ? 0 : -ENOENT, rec.jobspec ? &rec : NULL, c->arg);
}

static void vanish_if_due (void)
{
    struct broker *b = state.small->b;
    struct entry *e, *next;

    if (state.vanish < 0 || state.vanish-- > 0)
        return;
    state.vanished = true;
    HASH_ITER (hh, b->table.all, e, next) {
        broker_act (b, e, JOB_ACT_DEQUEUE);
        entry_remove (b, e);
    }
}

static void run_commits (void)
{
    struct commit list[ARRAY_SIZE (state.commits)];
    size_t n = state.ncommits;

    memcpy (list, state.commits, sizeof (list));
    state.ncommits = 0;
    for (size_t i = 0; i < n; i++) {
        vanish_if_due ();
        if (list[i].work) {
            list[i].work (list[i].arg);
            list[i].after (list[i].arg, 0);
        } else if (list[i].done) {
            list[i].done (0, NULL, list[i].arg);
        } else {
            answer_read (&list[i]);
        }
    }
}

void small_turn (struct small *s)
{
    struct broker *b = s->b;

    for (int i = 0; i < TURNS_MAX; i++) {
        services_call (end_of_turn, b);
        broker_flush (b);
        uv_run (&s->loop, UV_RUN_NOWAIT);
        if (state.ncommits == 0 && !b->turns.current && (!b->plan_due || b->stopping))
            return;
        run_commits ();
    }
    fail_msg ("the broker does not come to rest");
}

/* The timer that is due first, until then; NULL: none. */
static struct timer_time *next_timer (double until)
{
    struct timer_time *first = NULL;

    for (size_t i = 0; i < state.ntimers; i++) {
        struct timer_time *t = &state.timers[i];
        if (t->timer->is_set && t->when <= until && (!first || t->when < first->when))
            first = t;
    }
    return first;
}

void small_advance (struct small *s, double seconds)
{
    double until = state.now + seconds;
    struct timer_time *t;
    int fired = 0;

    while ((t = next_timer (until))) {
        assert_true (fired++ < 100000);
        state.now = t->when > state.now ? t->when : state.now;
        t->timer->is_set = false;
        t->timer->fn (s->b);
        small_turn (s);
    }
    state.now = until;
    small_turn (s);
}

/* -- jobs -- */

static struct jobspec *make_spec (const char *system, uint64_t id)
{
    autostrbuf struct strbuf text;
    struct error err = { 0 };

    strbuf_init (&text, TEXT_MAX);
    strbuf_addf (&text,
                 "version: 1\n"
                 "resources: [{type: slot, count: %u, label: task, with: [{type: core, "
                 "count: 1}]}]\n"
                 "tasks: [{command: [\"true\"], slot: task, count: {per_slot: 1}}]\n"
                 "attributes: {system: {%s}}\n",
                 state.small->slots ? state.small->slots : 1, system);
    struct yaml_doc *doc = yaml_load (text.buf, text.len, "job", &err);
    autofree char *json = doc ? json_dumps (yaml_root (doc), JSON_COMPACT) : NULL;
    struct jobspec *js = json ? jobspec_parse (json, strlen (json), &err) : NULL;
    if (js)
        keep_job (id, 1000, NULL, json);
    yaml_destroy (doc);
    if (!js && err.code && err.code != ENOMEM)
        fail_msg ("%s", err.text);
    return js;
}

static json_t *submit_context (const struct jobspec *js)
{
    json_t *o = json_pack ("{s:i s:i s:i s:i s:i s:s s:s s:s s:f}", "userid", 1000,
                           "urgency", 16, "flags", 0, "version", 1, "groupid", 1000,
                           "user", "user", "name", js->name ? js->name : "job", "queue",
                           "batch", "duration", js->duration);

    if (o && js->deadline > 0)
        json_object_set_new (o, "deadline", json_real (js->deadline));
    if (o && js->begin > 0)
        json_object_set_new (o, "begin", json_real (js->begin));
    if (o && js->array.text)
        json_object_set_new (o, "array", json_string (js->array.text));
    return o && sizes_to_submit (o, js) == 0 ? o : NULL;
}

struct entry *small_submit (struct small *s, const char *system)
{
    struct broker *b = s->b;
    long countdown = small_spare ();
    struct jobspec *js = make_spec (system, b->table.next_id);
    small_resume (countdown);
    struct entry *e = entry_create (b->table.next_id);

    if (!e) {
        jobspec_destroy (js);
        return NULL;
    }
    e->js = js;
    services_call (replayed, b, e);
    if (!e->req) {
        entry_destroy (e);
        return NULL;
    }
    countdown = small_spare ();
    json_t *context = submit_context (js);
    small_resume (countdown);
    b->table.next_id += js->array.tasks ? job_array_ids (&js->array) : 1;
    entry_take_sizes (e);
    services_call (take, b, e, false);
    e->submitting = true;
    int rc = broker_emit (b, e, "submit", context);
    e->submitting = false;
    if (rc < 0) {
        assert_int_equal (rc, -ENOMEM);
        entry_destroy (e);
        return NULL;
    }
    entry_insert (b, e);
    entry_count (b, e);
    services_call (comes, b, e);
    if (entry_job (e)->state == JOB_DEPEND)
        broker_act (b, e, JOB_ACT_DEPEND);
    else
        broker_enqueue (b, e);
    return e;
}

const char *small_events (struct small *s, uint64_t id)
{
    const char *line = state.events.buf;
    long countdown = small_spare ();

    (void)s;
    strbuf_reset (&state.list);
    while (line && *line) {
        char name[64];
        uintmax_t of;

        if (sscanf (line, "%ju %63s", &of, name) == 2 && (!id || of == id))
            strbuf_addf (&state.list, "%s%s", state.list.len ? " " : "", name);
        line = strchr (line, '\n') + 1;
    }
    small_resume (countdown);
    return state.list.buf ? state.list.buf : "";
}

const char *small_context (uint64_t id, const char *name)
{
    const char *context = NULL;
    json_t *event;
    size_t i;

    json_array_foreach (json_object_get (record_of (id), "events"), i, event) {
        if (!strcmp (text_in (event, "name"), name))
            context = text_in (event, "context") ? text_in (event, "context") : "";
    }
    return context;
}

const char *small_setting (const char *name)
{
    return json_string_value (json_object_get (state.settings, name));
}

void small_ready (struct small *s, uint64_t id)
{
    s->b->host.ready (s->b, id);
    small_turn (s);
}

void small_finish (struct small *s, uint64_t id, const char *reason)
{
    s->b->host.finished (s->b, id, 0, reason, "");
    small_turn (s);
}

void small_use_dir (struct small *s, const char *jobs_dir)
{
    long countdown = small_spare ();

    free (s->b->jobs_dir);
    s->b->jobs_dir = strdup (jobs_dir);
    small_resume (countdown);
    s->b->uid = getuid ();
    s->works = true;
}

static void closed (uv_handle_t *h, void *arg)
{
    (void)arg;
    if (!uv_is_closing (h))
        uv_close (h, NULL);
}

void small_set (struct small *s, const char *key, json_t *value)
{
    struct error err = { 0 };
    struct config_place p = { .owner = value, .key = key, .err = &err };

    assert_int_equal (config_set (s->config, key, value, &p), 0);
    json_decref (value);
}

void small_destroy (struct small *s)
{
    struct broker *b = s->b;
    struct entry *e, *next;

    b->stopping = b->dead = true;
    services_call (close, b);
    broker_flush (b);
    services_call (stop, b);
    answer_signals (-ECANCELED);
    fake_http_stop ();
    for (int i = 0; i < TURNS_MAX && (state.ncommits > 0 || b->under_way > 0); i++) {
        services_call (end_of_turn, b);
        broker_flush (b);
        run_commits ();
    }
    uv_walk (&s->loop, closed, NULL);
    uv_run (&s->loop, UV_RUN_DEFAULT);
    HASH_ITER (hh, b->table.all, e, next)
        entry_remove (b, e);
    fake_http_end ();
    services_call (release, b);
    sched_destroy (b->sched);
    matcher_destroy (b->matcher);
    machine_destroy (b->graph);
    topology_release (&b->topology);
    config_destroy (broker_config (b));
    free (b->jobs_dir);
    free (b->socket_path);
    free (b->states);
    free (b->exec);
    free (b);
    assert_int_equal (uv_loop_close (&s->loop), 0);
    json_decref (state.settings);
    json_decref (state.jobs);
    strbuf_release (&state.events);
    strbuf_release (&state.list);
    free (s->told);
    free (s);
}

/* -- faults -- */

enum fault { ALLOCATION, VANISH };

/* In the child: whether the fault was reached. */
static bool suffer (int nodes, small_scenario_f run, enum fault fault, long n)
{
    struct small *s = small_create (nodes);

    if (fault == VANISH)
        state.vanish = n;
    else
        torture_countdown = n;
    run (s);
    torture_stop ();
    bool reached = fault == VANISH ? state.vanished : torture_failed ();
    small_destroy (s);
    return reached;
}

#define REACHED 0
#define NOT_REACHED 42

/* Whether the process stopped because it had no memory for something that it may not
 * lose. */
static bool stopped_for_memory (int status, FILE *said)
{
    char line[512];

    rewind (said);
    while (WIFSIGNALED (status) && WTERMSIG (status) == SIGABRT
           && fgets (line, sizeof (line), said))
        if (strstr (line, "out of memory: the broker stops"))
            return true;
    return false;
}

static void show (FILE *said)
{
    char line[512];

    rewind (said);
    while (fgets (line, sizeof (line), said))
        fputs (line, stderr);
}

/* Whether there may be a further fault. */
static bool try (int nodes, small_scenario_f run, enum fault fault, long n)
{
    const char *here = getenv ("SMALL_FAULT");
    FILE *said = here ? NULL : tmpfile ();
    int status;

    if (here)
        return n < strtol (here, NULL, 10) || suffer (nodes, run, fault, n);
    assert_non_null (said);
    fflush (NULL);
    pid_t pid = fork ();
    assert_true (pid >= 0);
    if (pid == 0) {
        setenv ("CMOCKA_TEST_ABORT", "1", 1);
        dup2 (fileno (said), STDERR_FILENO);
        exit (suffer (nodes, run, fault, n) ? REACHED : NOT_REACHED);
    }
    assert_int_equal (waitpid (pid, &status, 0), pid);
    bool stopped = stopped_for_memory (status, said);
    bool good =
        stopped
        || (WIFEXITED (status)
            && (WEXITSTATUS (status) == REACHED || WEXITSTATUS (status) == NOT_REACHED));
    if (!good)
        show (said);
    fclose (said);
    if (stopped)
        return true;
    if (!good)
        fail_msg ("%s %ld: the process ended with status 0x%x",
                  fault == VANISH ? "completion" : "allocation", n, (unsigned)status);
    return WEXITSTATUS (status) == REACHED;
}

void small_torture (int nodes, small_scenario_f run)
{
    long n = 0;

    while (try (nodes, run, ALLOCATION, n))
        n++;
    assert_true (n > 0);
}

void small_vanish (int nodes, small_scenario_f run)
{
    long n = 0;

    while (try (nodes, run, VANISH, n))
        n++;
    assert_true (n > 0);
}
