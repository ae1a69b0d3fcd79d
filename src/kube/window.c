/* window.c - see window.h */
#include "kube/window.h"

#include "common/macros.h"

void window_init (struct kube_window *w)
{
    *w = (struct kube_window){ .size = 2 * WINDOW_LEAST, .epoch = -1 };
}

unsigned window_size (const struct kube_window *w)
{
    return (unsigned)w->size;
}

static struct window_kind *kind_of (struct kube_window *w, const char *name)
{
    struct window_kind *k = w->kinds;
    size_t len = MIN (strlen (name), sizeof (k->name) - 1);

    for (unsigned i = 0; i < w->nkinds; i++, k++)
        if (strncmp (k->name, name, len) == 0 && k->name[len] == '\0')
            return k;
    if (w->nkinds == WINDOW_KINDS)
        return NULL;
    w->nkinds++;
    memcpy (k->name, name, len);
    return k;
}

static void next_epoch (struct kube_window *w, double now)
{
    for (unsigned i = 0; i < w->nkinds; i++) {
        w->kinds[i].before = w->kinds[i].quickest;
        w->kinds[i].quickest = 0;
    }
    w->epoch = now;
}

static double least (double a, double b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Called once for each `size` answers. */
static void adapt (struct kube_window *w)
{
    double waiting = w->size * (1 - w->share / w->n);

    if (waiting > WINDOW_HIGH)
        w->size -= MAX (1, (waiting - WINDOW_HIGH) / 2);
    else if (waiting < WINDOW_LOW && w->full)
        w->size += 1;
    w->size = MIN (MAX (w->size, WINDOW_LEAST), WINDOW_MOST);
    w->n = 0;
    w->share = 0;
    w->full = false;
}

void window_answer (struct kube_window *w, const char *kind, double took,
                    unsigned on_wire, double now)
{
    struct window_kind *k = kind_of (w, kind);

    if (!k || took <= 0)
        return;
    if (w->epoch < 0 || now >= w->epoch + WINDOW_EPOCH)
        next_epoch (w, now);
    k->quickest = least (k->quickest, took);
    w->share += least (k->quickest, k->before) / took;
    w->full |= on_wire >= window_size (w);
    if (++w->n >= window_size (w))
        adapt (w);
}

void window_trouble (struct kube_window *w)
{
    w->size = MAX (w->size / 2, WINDOW_LEAST);
}
