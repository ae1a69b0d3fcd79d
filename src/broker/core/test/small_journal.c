/* small_journal.c - the journal of small.h: records of jobs, and completions
 *
 * A commit, a look at a job and a worker's work complete at the next small_turn().
 */
#include "broker/core/test/small_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"

/* An operation that completes at the next small_turn(). */
struct commit {
    journal_done_f done;   /* a commit, or */
    journal_record_f read; /* ... a look at this job, or */
    uint64_t id;
    void *arg;
    uv_work_cb work; /* ... a worker's work */
    uv_after_work_cb after;
};

/* One at a time: the linker's names have no argument for it. */
static struct {
    struct commit commits[64];
    size_t ncommits;
    struct strbuf events; /* "ID NAME\n" */
    struct strbuf list;
    json_t *settings;
    json_t *jobs; /* by id: {"uid": 1000, "key": "...", "jobspec": "...", "events":
                   * [{"timestamp": 1.5, "name": "submit", "context": "{...}"}],
                   * "inactive": true} */
} state;
static json_t *kept; /* settings of the journal for the next small_create() */

void small_journal_begin (void)
{
    memset (&state, 0, sizeof (state));
    state.settings = kept ? kept : json_object ();
    kept = NULL;
    state.jobs = json_object ();
    strbuf_init (&state.events, SMALL_TEXT_MAX);
    strbuf_init (&state.list, SMALL_TEXT_MAX);
}

void small_journal_end (void)
{
    json_decref (state.settings);
    json_decref (state.jobs);
    strbuf_release (&state.events);
    strbuf_release (&state.list);
}

void small_keep (const char *name, const char *value)
{
    kept = kept ? kept : json_object ();
    json_object_set_new (kept, name, json_string (value));
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

void small_keep_job (uint64_t id, uint32_t uid, const char *key, const char *jobspec)
{
    json_object_update_new (record_of (id),
                            json_pack ("{s:I s:s s:s*}", "uid", (json_int_t)uid,
                                       "jobspec", jobspec, "key", key));
}

void small_forget_job (uint64_t id)
{
    long countdown = small_spare ();
    char key[32], *line = state.events.buf;

    snprintf (key, sizeof (key), "%ju", (uintmax_t)id);
    json_object_del (state.jobs, key);
    while (line && *line && strtoull (line, NULL, 10) != id)
        line = strchr (line, '\n') + 1;
    if (line) { /* nothing of other jobs follows */
        state.events.len = (size_t)(line - state.events.buf);
        *line = '\0';
    }
    small_resume (countdown);
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
int __wrap_journal_load (struct journal *j, size_t recent, journal_job_f on_job,
                         journal_event_f on_event, void *arg, struct error *err);
uint64_t __wrap_journal_last_id (struct journal *j);
int __wrap_journal_load_settings (struct journal *j, journal_setting_f fn, void *arg,
                                  struct error *err);
const char *__wrap_journal_trouble (struct journal *j);
int __wrap_journal_read (struct journal *j, uint64_t id, int want, journal_record_f done,
                         void *arg);
int __wrap_uv_queue_work (uv_loop_t *loop, uv_work_t *w, uv_work_cb work,
                          uv_after_work_cb after);

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

    small_keep_job (id, uid, key, jobspec);
    small_resume (countdown);
    __real_journal_txn_job (t, id, uid, key, jobspec, len);
}

void __wrap_journal_txn_job_of (struct journal_txn *t, uint64_t id, uint32_t uid,
                                uint64_t of)
{
    long countdown = small_spare ();

    small_keep_job (id, uid, NULL, text_in (record_of (of), "jobspec"));
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

static int load_events (uint64_t id, journal_event_f on_event, void *arg)
{
    json_t *event;
    size_t i;
    int rc = 0;

    json_array_foreach (json_object_get (record_of (id), "events"), i, event) {
        double timestamp = json_real_value (json_object_get (event, "timestamp"));
        rc = rc ? rc
                : on_event (id, timestamp, text_in (event, "name"),
                            text_in (event, "context"), arg);
    }
    return rc;
}

/* All jobs, as if `recent` were infinite. */
int __wrap_journal_load (struct journal *j, size_t recent, journal_job_f on_job,
                         journal_event_f on_event, void *arg, struct error *err)
{
    uint64_t last = __wrap_journal_last_id (j);
    int rc = 0;

    (void)recent;
    (void)err;
    for (uint64_t id = 1; id <= last && rc == 0; id++) {
        json_t *record = record_of (id);
        bool inactive = json_object_get (record, "inactive");
        const char *text = inactive ? NULL : text_in (record, "jobspec");
        const struct journal_job_row row = {
            .id = id,
            .uid = (uint32_t)json_integer_value (json_object_get (record, "uid")),
            .inactive = inactive,
            .key = text_in (record, "key"),
            .jobspec = text,
            .jobspec_len = text ? strlen (text) : 0,
        };
        if ((rc = on_job (&row, arg)) == 0)
            rc = load_events (id, on_event, arg);
    }
    return rc;
}

uint64_t __wrap_journal_last_id (struct journal *j)
{
    uint64_t last = 0;
    const char *id;
    json_t *o;

    (void)j;
    json_object_foreach (state.jobs, id, o)
        last = MAX (last, strtoull (id, NULL, 10));
    return last;
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

int __wrap_uv_queue_work (uv_loop_t *loop, uv_work_t *w, uv_work_cb work,
                          uv_after_work_cb after)
{
    (void)loop;
    if (!small_current->works) {
        after (w, 0);
        return 0;
    }
    assert_true (state.ncommits < ARRAY_SIZE (state.commits));
    state.commits[state.ncommits++] =
        (struct commit){ .work = work, .after = after, .arg = w };
    return 0;
}

/* -- completions -- */

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

bool small_completes (void)
{
    return state.ncommits > 0;
}

void small_complete (void)
{
    struct commit list[ARRAY_SIZE (state.commits)];
    size_t n = state.ncommits;

    memcpy (list, state.commits, sizeof (list));
    state.ncommits = 0;
    for (size_t i = 0; i < n; i++) {
        small_vanish_if_due ();
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

/* -- what a test looks at -- */

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
