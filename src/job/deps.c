/* deps.c - see deps.h. Pointers between the structures:
 *
 *     node 37 (a job) <-- on_start, on_end: lists of conditions --+
 *        | row: prev, next of the same user and name              |
 *     node 38 --> waiter --> conditions[] ------------------------+
 *
 * The node of a job that has ended stays until deps_next() has handled the conditions on
 * it.
 */
#include "job/deps.h"

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "job/deps_due.h"

#define SHOWN 3 /* conditions in a sentence */

enum condition_state { OPEN, DELAYED, MET, NEVER };

struct condition {
    struct waiter *waiter;
    struct dependency what;
    enum condition_state state;
    bool unknown;                  /* NEVER, because the job was unknown */
    struct condition **list;       /* list of the node that it is in, or NULL */
    struct condition *prev, *next; /* in that list */
    struct due due;                /* DELAYED */
};

struct waiter {
    struct node *node;
    size_t n, nopen, nmet, nnever;
    bool any;
    enum deps_verdict verdict;
    bool told; /* the verdict has been returned */
    struct waiter *prev, *next;
    struct condition conditions[];
};

struct row;

struct node {
    uint64_t id;
    UT_hash_handle hh;
    struct condition *on_start, *on_end;
    struct waiter *waiter; /* or NULL */
    struct row *row;       /* NULL after the end */
    struct node *prev, *next;
    bool news; /* in deps.news */
    struct node *news_prev, *news_next;
    bool ended, ok;
    double t_start;
};

/* Jobs of one user and name, by id. */
struct row {
    struct node *first;
    UT_hash_handle hh;
    size_t len;
    char key[];
};

struct deps {
    struct node *nodes;
    struct row *rows;
    struct node *news;       /* jobs that started or ended */
    struct waiter *verdicts; /* to return from deps_next() */
    struct due_heap delays;
    size_t nconditions;
};

struct deps *deps_create (void)
{
    return calloc (1, sizeof (struct deps));
}

static struct node *node_find (const struct deps *d, uint64_t id)
{
    struct node *node;
    HASH_FIND (hh, d->nodes, &id, sizeof (id), node);
    return node;
}

/* -- rows -- */

static struct row *row_get (struct deps *d, uint32_t uid, const char *name)
{
    size_t len = sizeof (uid) + strlen (name);
    struct row *found, *row = calloc (1, sizeof (*row) + len);

    if (!row)
        return NULL;
    memcpy (row->key, &uid, sizeof (uid));
    memcpy (row->key + sizeof (uid), name, len - sizeof (uid));
    row->len = len;
    HASH_FIND (hh, d->rows, row->key, len, found);
    if (!found) {
        HASH_ADD_KEYPTR (hh, d->rows, row->key, len, row);
        if (row->hh.tbl)
            return row;
    }
    free (row);
    return found;
}

/* Searches from the end, because ids usually come in order. (utlist: first->prev is the
 * last.) */
static void row_insert (struct row *row, struct node *node)
{
    struct node *after = row->first ? row->first->prev : NULL;

    while (after && after->id > node->id)
        after = after == row->first ? NULL : after->prev;
    if (after)
        DL_APPEND_ELEM (row->first, after, node);
    else
        DL_PREPEND (row->first, node);
    node->row = row;
}

static void row_drop_if_empty (struct deps *d, struct row *row)
{
    if (row->first)
        return;
    HASH_DEL (d->rows, row);
    free (row);
}

/* -- verdicts -- */

static void judge (struct deps *d, struct waiter *w)
{
    bool met = w->any ? w->nmet > 0 : w->nopen == 0 && w->nnever == 0;
    bool never = w->any ? w->nopen == 0 && w->nmet == 0 : w->nnever > 0;

    if (w->verdict != DEPS_WAITS || (!met && !never))
        return;
    w->verdict = met ? DEPS_MET : DEPS_NEVER;
    DL_APPEND (d->verdicts, w);
}

static void leave (struct deps *d, struct condition *c)
{
    if (c->list)
        DL_DELETE (*c->list, c);
    c->list = NULL;
    due_remove (&d->delays, &c->due);
}

/* Close a condition: state is MET or NEVER. */
static void settle (struct deps *d, struct condition *c, enum condition_state state)
{
    struct waiter *w = c->waiter;

    leave (d, c);
    c->state = state;
    w->nopen--;
    *(state == MET ? &w->nmet : &w->nnever) += 1;
    judge (d, w);
}

static void waiter_drop (struct deps *d, struct waiter *w)
{
    for (size_t i = 0; i < w->n; i++)
        leave (d, &w->conditions[i]);
    if (w->verdict != DEPS_WAITS && !w->told)
        DL_DELETE (d->verdicts, w);
    d->nconditions -= w->n;
    w->node->waiter = NULL;
    free (w);
}

/* -- effect of a start and an end on conditions -- */

/* The job started at t_start: the condition is met now, or when its delay is over. */
static int after_start (struct deps *d, struct condition *c, double t_start)
{
    if (c->what.delay <= 0) {
        settle (d, c, MET);
        return 0;
    }
    leave (d, c);
    c->state = DELAYED;
    return due_set (&d->delays, &c->due, t_start + c->what.delay);
}

static int after_end (struct deps *d, struct condition *c, double t_start, bool ok)
{
    bool met = false;

    switch (c->what.kind) {
    case DEPENDENCY_AFTER:
        if (t_start > 0)
            return after_start (d, c, t_start);
        break;
    case DEPENDENCY_AFTEROK:
    case DEPENDENCY_AFTERCORR:
        met = ok;
        break;
    case DEPENDENCY_AFTERNOTOK:
        met = !ok;
        break;
    case DEPENDENCY_AFTERANY:
    case DEPENDENCY_SINGLETON:
        met = true;
        break;
    }
    settle (d, c, met ? MET : NEVER);
    return 0;
}

/* The singleton conditions of the first job in a row are met. */
static void row_first_goes (struct deps *d, struct row *row)
{
    struct waiter *w = row->first ? row->first->waiter : NULL;

    for (size_t i = 0; w && i < w->n; i++) {
        struct condition *c = &w->conditions[i];
        if (c->what.kind == DEPENDENCY_SINGLETON && c->state == OPEN)
            settle (d, c, MET);
    }
}

/* -- jobs come, start, end -- */

int deps_add (struct deps *d, uint64_t id, uint32_t uid, const char *name)
{
    if (node_find (d, id))
        return -EEXIST;
    struct node *node = calloc (1, sizeof (*node));
    struct row *row = node ? row_get (d, uid, name) : NULL;
    if (!row) {
        free (node);
        return -ENOMEM;
    }
    node->id = id;
    HASH_ADD (hh, d->nodes, id, sizeof (node->id), node);
    if (!node->hh.tbl) {
        free (node);
        row_drop_if_empty (d, row);
        return -ENOMEM;
    }
    row_insert (row, node);
    return 0;
}

static void node_free (struct deps *d, struct node *node)
{
    if (node->news)
        DL_DELETE2 (d->news, node, news_prev, news_next);
    HASH_DEL (d->nodes, node);
    free (node);
}

static void node_news (struct deps *d, struct node *node)
{
    if (!node->news)
        DL_APPEND2 (d->news, node, news_prev, news_next);
    node->news = true;
}

void deps_started (struct deps *d, uint64_t id, double t)
{
    struct node *node = node_find (d, id);

    if (!node || node->ended || node->t_start > 0)
        return;
    node->t_start = t;
    if (node->on_start)
        node_news (d, node);
}

void deps_ended (struct deps *d, uint64_t id, bool ok)
{
    struct node *node = node_find (d, id);

    if (!node || node->ended)
        return;
    node->ended = true;
    node->ok = ok;
    if (node->waiter)
        waiter_drop (d, node->waiter);
    DL_DELETE (node->row->first, node);
    row_first_goes (d, node->row);
    row_drop_if_empty (d, node->row);
    node->row = NULL;
    if (node->on_start || node->on_end)
        node_news (d, node);
    else
        node_free (d, node);
}

/* -- a job waits -- */

static void watch (struct condition *c, struct node *node)
{
    c->list = c->what.kind == DEPENDENCY_AFTER ? &node->on_start : &node->on_end;
    DL_APPEND (*c->list, c);
}

static int begin_condition (struct deps *d, struct condition *c, deps_past_f past,
                            void *arg)
{
    struct node *self = c->waiter->node, *node = node_find (d, c->what.id);
    struct deps_past p = { 0 };

    if (c->what.kind == DEPENDENCY_SINGLETON) {
        if (self->row->first == self)
            settle (d, c, MET);
        return 0;
    }
    if (node && node->ended)
        return after_end (d, c, node->t_start, node->ok);
    if (node && c->what.kind == DEPENDENCY_AFTER && node->t_start > 0)
        return after_start (d, c, node->t_start);
    if (node) {
        watch (c, node);
        return 0;
    }
    c->unknown = past (c->what.id, &p, arg) < 0;
    if (!c->unknown)
        return after_end (d, c, p.t_start, p.ok);
    settle (d, c, NEVER);
    return 0;
}

int deps_wait (struct deps *d, uint64_t id, const struct dependencies *list,
               deps_past_f past, void *arg)
{
    struct node *node = node_find (d, id);
    struct waiter *w;
    int rc = 0;

    if (!node || node->ended)
        return -ENOENT;
    if (node->waiter)
        return -EEXIST;
    if (!(w = calloc (1, sizeof (*w) + list->n * sizeof (w->conditions[0]))))
        return -ENOMEM;
    w->node = node;
    w->any = list->any;
    w->n = w->nopen = list->n;
    w->verdict = DEPS_WAITS;
    node->waiter = w;
    d->nconditions += w->n;
    for (size_t i = 0; i < w->n && rc == 0; i++) {
        w->conditions[i].waiter = w;
        w->conditions[i].what = list->list[i];
        rc = begin_condition (d, &w->conditions[i], past, arg);
    }
    if (rc < 0)
        waiter_drop (d, w);
    else
        judge (d, w);
    return rc;
}

/* -- processing reports -- */

/* Handle one condition; false: there was none. */
static bool step (struct deps *d, double now)
{
    struct due *due = due_first (&d->delays);
    struct node *node = d->news;

    if (due && due->at <= now) {
        settle (d, CONTAINER_OF (due, struct condition, due), MET);
        return true;
    }
    if (!node)
        return false;
    struct condition *c = node->on_start ? node->on_start : node->on_end;
    if (c && (node->ended || (node->on_start && node->t_start > 0))) {
        int rc = node->ended ? after_end (d, c, node->t_start, node->ok)
                             : after_start (d, c, node->t_start);
        if (rc < 0) /* no memory for the delay: met at once, better than never */
            settle (d, c, MET);
        return true;
    }
    DL_DELETE2 (d->news, node, news_prev, news_next);
    node->news = false;
    if (node->ended)
        node_free (d, node);
    return true;
}

int deps_next (struct deps *d, double now, unsigned max_steps, uint64_t *ret_id,
               enum deps_verdict *ret_verdict)
{
    for (unsigned n = 0; !d->verdicts; n++) {
        if (n == max_steps)
            return -EAGAIN;
        if (!step (d, now))
            return 0;
    }
    struct waiter *w = d->verdicts;
    *ret_id = w->node->id;
    *ret_verdict = w->verdict;
    DL_DELETE (d->verdicts, w);
    w->told = true;
    if (w->verdict == DEPS_MET)
        waiter_drop (d, w);
    return 1;
}

bool deps_busy (const struct deps *d)
{
    return d->verdicts || d->news;
}

double deps_wakeup (const struct deps *d)
{
    const struct due *due = due_first (&d->delays);
    return due ? due->at : 0;
}

size_t deps_conditions (const struct deps *d)
{
    return d->nconditions;
}

void deps_destroy (struct deps *d)
{
    struct node *node, *next;
    struct row *row, *next_row;

    if (!d)
        return;
    HASH_ITER (hh, d->nodes, node, next) {
        HASH_DEL (d->nodes, node);
        free (node->waiter);
        free (node);
    }
    HASH_ITER (hh, d->rows, row, next_row) {
        HASH_DEL (d->rows, row);
        free (row);
    }
    due_release (&d->delays);
    free (d);
}

/* -- answers -- */

static const struct waiter *waiter_of (const struct deps *d, uint64_t id)
{
    const struct node *node = node_find (d, id);
    return node ? node->waiter : NULL;
}

enum deps_verdict deps_verdict (const struct deps *d, uint64_t id)
{
    const struct waiter *w = waiter_of (d, id);
    return w ? w->verdict : DEPS_NONE;
}

/* The job that an open condition waits for now. */
static uint64_t blocker (const struct condition *c)
{
    return c->what.kind == DEPENDENCY_SINGLETON ? c->waiter->node->row->first->id
                                                : c->what.id;
}

size_t deps_blockers (const struct deps *d, uint64_t id, uint64_t *ids, size_t max)
{
    const struct waiter *w = waiter_of (d, id);
    size_t n = 0;

    for (size_t i = 0; w && w->verdict == DEPS_WAITS && i < w->n && n < max; i++) {
        const struct condition *c = &w->conditions[i];
        if (c->state == OPEN)
            ids[n++] = blocker (c);
    }
    return n;
}

static void add_job (struct strbuf *sb, const struct condition *c, uint64_t id)
{
    if (c->what.array)
        strbuf_addf (sb, "job %ju_%u", (uintmax_t)c->what.array, c->what.task);
    else
        strbuf_addf (sb, "job %ju", (uintmax_t)id);
}

static void add_open (struct strbuf *sb, const struct condition *c)
{
    static const char *const what[] = {
        [DEPENDENCY_AFTER] = "start",
        [DEPENDENCY_AFTERANY] = "end",
        [DEPENDENCY_AFTEROK] = "succeed",
        [DEPENDENCY_AFTERNOTOK] = "fail",
        [DEPENDENCY_AFTERCORR] = "succeed",
        [DEPENDENCY_SINGLETON] = "end (same user and name)",
    };
    double minutes = c->what.delay / 60;

    if (c->state == DELAYED)
        strbuf_addf (sb, "%.4g min to pass since the start of ", minutes);
    add_job (sb, c, blocker (c));
    if (c->state != DELAYED && c->what.delay > 0)
        strbuf_addf (sb, " to start, and %.4g min more", minutes);
    else if (c->state != DELAYED)
        strbuf_addf (sb, " to %s", what[c->what.kind]);
}

static void add_never (struct strbuf *sb, const struct condition *c)
{
    static const char *const what[] = {
        [DEPENDENCY_AFTER] = "ended before it started",
        [DEPENDENCY_AFTERANY] = "did not end", /* cannot be */
        [DEPENDENCY_AFTEROK] = "did not succeed",
        [DEPENDENCY_AFTERNOTOK] = "succeeded",
        [DEPENDENCY_AFTERCORR] = "did not succeed",
        [DEPENDENCY_SINGLETON] = "did not end",
    };
    add_job (sb, c, c->what.id);
    strbuf_addf (sb, " %s", c->unknown ? "is not known any more" : what[c->what.kind]);
}

/* Append the conditions that explain the verdict, the first few in words. */
static void add_conditions (struct strbuf *sb, const struct waiter *w, bool never)
{
    size_t all = never ? w->nnever : w->nopen, n = 0;

    for (size_t i = 0; i < w->n && n < SHOWN; i++) {
        const struct condition *c = &w->conditions[i];
        bool open = c->state == OPEN || c->state == DELAYED;
        if (never ? c->state != NEVER : !open)
            continue;
        bool last = n > 0 && n + 1 == all && !w->any;
        strbuf_adds (sb, n == 0 ? "" : last ? " and " : ", ");
        if (never)
            add_never (sb, c);
        else
            add_open (sb, c);
        n++;
    }
    if (all > n)
        strbuf_addf (sb, " and %zu more", all - n);
}

void deps_reason (const struct deps *d, uint64_t id, char *buf, size_t size)
{
    const struct waiter *w = waiter_of (d, id);
    autostrbuf struct strbuf sb = STRBUF_INIT (1024);

    if (w && w->verdict == DEPS_WAITS) {
        strbuf_adds (&sb, w->any && w->nopen > 1 ? "waits for one of: " : "waits for ");
        add_conditions (&sb, w, false);
    } else if (w && w->verdict == DEPS_NEVER) {
        strbuf_adds (&sb,
                     w->any && w->n > 1 ? "none of these can be met any more: " : "");
        add_conditions (&sb, w, true);
    }
    snprintf (buf, size, "%s", sb.buf);
}
