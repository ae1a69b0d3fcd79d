/* history_scan.c - a scan's memory, and its side of the loop; see history_scan.h */
#include "store/history_scan.h"

#define CHUNK ((size_t)64 * 1024)
#define CONDITIONS_MAX ((size_t)256 * 1024)

struct scan_chunk {
    struct scan_chunk *next;
    size_t used, size;
    max_align_t data[];
};

void *scan_room (struct scan_arena *a, size_t size)
{
    size_t aligned =
        (size + sizeof (max_align_t) - 1) / sizeof (max_align_t) * sizeof (max_align_t);
    struct scan_chunk *c = a->chunks;

    if (!c || c->size - c->used < aligned) {
        size_t room = MAX (aligned, CHUNK);
        if (!(c = malloc (sizeof (*c) + room)))
            return NULL;
        *c = (struct scan_chunk){ a->chunks, 0, room };
        a->chunks = c;
    }
    void *p = (char *)c->data + c->used;
    c->used += aligned;
    return p;
}

static void free_arena (struct scan_arena *a)
{
    while (a->chunks) {
        struct scan_chunk *next = a->chunks->next;
        free (a->chunks);
        a->chunks = next;
    }
}

void scan_empty (struct history_scan *s)
{
    free_arena (&s->batch);
    s->n = s->bytes = s->nsteps = 0;
    s->last = false;
}

static void scan_free (struct history_scan *s)
{
    scan_empty (s);
    free_arena (&s->kept);
    strbuf_release (&s->cond);
    free (s->values);
    free (s->ids);
    free (s->steps);
    free (s);
}

static void *copy (struct history_scan *s, const void *data, size_t size)
{
    void *to = size > 0 ? scan_room (&s->kept, size) : NULL;

    if (size > 0 && !to)
        s->item.rc = -ENOMEM;
    return to ? memcpy (to, data, size) : NULL;
}

static void copy_words (struct history_scan *s, struct history_words *w)
{
    const char **v = copy (s, w->v, w->n * sizeof (*w->v));

    for (size_t i = 0; v && i < w->n; i++)
        v[i] = copy (s, v[i], strlen (v[i]) + 1);
    w->v = v;
}

struct history_scan *history_scan_create (struct history *h,
                                          const struct history_filter *f)
{
    struct history_scan *s = calloc (1, sizeof (*s));

    if (!s)
        return NULL;
    s->h = h;
    s->f = *f;
    strbuf_init (&s->cond, CONDITIONS_MAX);
    copy_words (s, &s->f.users);
    copy_words (s, &s->f.accounts);
    copy_words (s, &s->f.names);
    copy_words (s, &s->f.queues);
    s->f.ids = copy (s, f->ids, f->nids * sizeof (*f->ids));
    s->f.ranges = copy (s, f->ranges, f->nranges * sizeof (*f->ranges));
    struct history_tasks *tasks = copy (s, f->tasks, f->ntasks * sizeof (*f->tasks));
    for (size_t i = 0; tasks && i < f->ntasks; i++)
        tasks[i].tasks =
            copy (s, tasks[i].tasks, tasks[i].n * sizeof (tasks[i].tasks[0]));
    s->f.tasks = tasks;
    if (s->item.rc == 0)
        return s;
    scan_free (s);
    return NULL;
}

static void batch_complete (struct history_item *item)
{
    struct history_scan *s = CONTAINER_OF (item, struct history_scan, item);
    int rc = item->rc;

    s->busy = false;
    if (s->dead)
        scan_free (s);
    else
        s->rows (rc, s->jobs, rc == 0 ? s->n : 0, rc < 0 || s->last, s->arg);
}

int history_scan_next (struct history_scan *s, history_rows_f rows, void *arg)
{
    s->item.read = history_scan_read;
    s->item.complete = batch_complete;
    s->rows = rows;
    s->arg = arg;
    int rc = history_ask (s->h, &s->item);
    s->busy = rc == 0;
    return rc;
}

void history_scan_destroy (struct history_scan *s)
{
    if (s && s->busy)
        s->dead = true;
    else if (s)
        scan_free (s);
}
