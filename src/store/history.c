/* history.c - the loop's side of the history: queues and completions; see history.h */
#include <time.h>
#include <utlist.h>

#include "common/clock.h"
#include "store/history_private.h"

/* -- completions -- */

void history_post (struct history *h, struct history_item *item)
{
    pthread_mutex_lock (&h->lock);
    bool first = !h->done;
    DL_APPEND (h->done, item);
    pthread_mutex_unlock (&h->lock);
    if (first && h->wake)
        h->wake (h->wake_arg);
}

static void complete_all (struct history_item *list)
{
    while (list) {
        struct history_item *item = list;
        DL_DELETE (list, item);
        item->complete (item);
    }
}

void history_dispatch (struct history *h)
{
    pthread_mutex_lock (&h->lock);
    struct history_item *done = h->done;
    h->done = NULL;
    pthread_mutex_unlock (&h->lock);
    complete_all (done);
}

/* -- writing -- */

static const char *text_at (const struct history_job *job, const struct history_column *c)
{
    return *(const char *const *)((const char *)job + c->at);
}

static size_t size_of (const char *text)
{
    return text ? strlen (text) + 1 : 0;
}

static size_t texts_size (const struct history_job *job)
{
    size_t size = 0;

    for (const struct history_column *c = history_columns; c->name; c++)
        if (c->kind == HISTORY_TEXT)
            size += size_of (text_at (job, c));
    for (size_t i = 0; i < job->nsteps; i++)
        size += size_of (job->steps[i].step) + size_of (job->steps[i].name)
                + size_of (job->steps[i].usage);
    return size;
}

static const char *copy_text (const char *text, char **room)
{
    char *to = *room;

    if (!text)
        return NULL;
    size_t size = strlen (text) + 1;
    *room += size;
    return memcpy (to, text, size);
}

/* Layout of a put: the struct, the steps, the texts. */
static struct history_put *copy_job (const struct history_job *job)
{
    struct history_put *p =
        malloc (sizeof (*p) + job->nsteps * sizeof (job->steps[0]) + texts_size (job));

    if (!p)
        return NULL;
    *p = (struct history_put){ .job = *job };
    struct history_step *steps = (struct history_step *)(p + 1);
    char *room = (char *)(steps + job->nsteps);
    for (const struct history_column *c = history_columns; c->name; c++)
        if (c->kind == HISTORY_TEXT)
            *(const char **)((char *)&p->job + c->at) =
                copy_text (text_at (job, c), &room);
    for (size_t i = 0; i < job->nsteps; i++) {
        steps[i] = job->steps[i];
        steps[i].step = copy_text (job->steps[i].step, &room);
        steps[i].name = copy_text (job->steps[i].name, &room);
        steps[i].usage = copy_text (job->steps[i].usage, &room);
    }
    p->job.steps = steps;
    return p;
}

static void put_complete (struct history_item *item)
{
    struct history_put *p = CONTAINER_OF (item, struct history_put, item);

    if (p->done)
        p->done (item->rc, p->arg);
    free (p);
}

int history_put (struct history *h, const struct history_job *job, history_done_f done,
                 void *arg)
{
    struct history_put *p = copy_job (job);
    int rc = 0;

    if (!p)
        return -ENOMEM;
    p->item.complete = put_complete;
    p->done = done;
    p->arg = arg;
    pthread_mutex_lock (&h->lock);
    if (h->stop)
        rc = -ESHUTDOWN;
    else if (h->waiting >= HISTORY_WAITING_MAX)
        rc = -EAGAIN;
    if (rc == 0) {
        if (!h->queue)
            h->since = clock_mono ();
        DL_APPEND (h->queue, &p->item);
        h->waiting++;
        pthread_cond_signal (&h->work);
    }
    pthread_mutex_unlock (&h->lock);
    if (rc < 0)
        free (p);
    return rc;
}

size_t history_waiting (struct history *h)
{
    pthread_mutex_lock (&h->lock);
    size_t waiting = h->waiting;
    pthread_mutex_unlock (&h->lock);
    return waiting;
}

void history_keep (struct history *h, double before, int64_t jobs)
{
    pthread_mutex_lock (&h->lock);
    h->keep_due = true;
    h->keep_before = before;
    h->keep_jobs = jobs;
    pthread_cond_signal (&h->work);
    pthread_mutex_unlock (&h->lock);
}

void history_compact (struct history *h)
{
    pthread_mutex_lock (&h->lock);
    h->compact = true;
    pthread_cond_signal (&h->work);
    pthread_mutex_unlock (&h->lock);
}

uint64_t history_removed (struct history *h)
{
    pthread_mutex_lock (&h->lock);
    uint64_t removed = h->removed;
    pthread_mutex_unlock (&h->lock);
    return removed;
}

const char *history_trouble (struct history *h)
{
    struct tm tm;
    char when[32] = "";

    pthread_mutex_lock (&h->lock);
    bool troubled = h->troubled;
    time_t since = (time_t)h->trouble_since;
    struct error err = h->trouble;
    pthread_mutex_unlock (&h->lock);
    if (!troubled)
        return NULL;
    if (localtime_r (&since, &tm))
        strftime (when, sizeof (when), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf (h->trouble_shown, sizeof (h->trouble_shown), "since %s: %s", when,
              err.text);
    return h->trouble_shown;
}

int64_t history_bytes (const struct history *h)
{
    autofree char *log = NULL;
    struct stat st;
    int64_t bytes = stat (h->path, &st) == 0 ? st.st_size : 0;

    if (asprintf (&log, "%s-wal", h->path) < 0)
        log = NULL;
    return bytes + (log && stat (log, &st) == 0 ? st.st_size : 0);
}

int history_ask (struct history *h, struct history_item *item)
{
    pthread_mutex_lock (&h->lock);
    bool stop = h->stop;
    if (!stop) {
        DL_APPEND (h->reads, item);
        pthread_cond_signal (&h->read_work);
    }
    pthread_mutex_unlock (&h->lock);
    return stop ? -ESHUTDOWN : 0;
}

/* -- open and close -- */

static int init_sync (struct history *h)
{
    pthread_condattr_t attr;

    if (pthread_condattr_init (&attr) != 0)
        return -ENOMEM;
    pthread_condattr_setclock (&attr, CLOCK_MONOTONIC);
    int rc = pthread_mutex_init (&h->lock, NULL);
    if (rc == 0)
        rc = pthread_cond_init (&h->work, &attr);
    if (rc == 0)
        rc = pthread_cond_init (&h->read_work, &attr);
    pthread_condattr_destroy (&attr);
    return -rc;
}

static int start_threads (struct history *h, struct error *err)
{
    int rc = pthread_create (&h->writer, NULL, history_writer, h);

    h->writer_runs = rc == 0;
    if (rc == 0) {
        rc = pthread_create (&h->reader, NULL, history_reader, h);
        h->reader_runs = rc == 0;
    }
    return rc == 0 ? 0 : error_errno (err, rc, "history: cannot start a thread");
}

struct history *history_open (const char *path, void (*wake) (void *arg), void *arg,
                              struct error *err)
{
    struct history *h = calloc (1, sizeof (*h));

    if (!h || !(h->path = strdup (path)) || init_sync (h) < 0) {
        error_set (err, ENOMEM, "history: out of memory");
        if (h)
            free (h->path);
        free (h);
        return NULL;
    }
    h->wake = wake;
    h->wake_arg = arg;
    if (history_schema_open (h, err) < 0 || start_threads (h, err) < 0) {
        history_close (h);
        return NULL;
    }
    return h;
}

static void cancel_all (struct history_item *list)
{
    struct history_item *item;

    DL_FOREACH (list, item)
        item->rc = -ECANCELED;
    complete_all (list);
}

void history_close (struct history *h)
{
    if (!h)
        return;
    pthread_mutex_lock (&h->lock);
    h->stop = true;
    pthread_cond_signal (&h->work);
    pthread_cond_signal (&h->read_work);
    pthread_mutex_unlock (&h->lock);
    if (h->writer_runs)
        pthread_join (h->writer, NULL);
    if (h->reader_runs)
        pthread_join (h->reader, NULL);
    history_dispatch (h);
    cancel_all (h->queue);
    cancel_all (h->reads);
    history_schema_close (h);
    pthread_cond_destroy (&h->work);
    pthread_cond_destroy (&h->read_work);
    pthread_mutex_destroy (&h->lock);
    free (h->path);
    free (h);
}
