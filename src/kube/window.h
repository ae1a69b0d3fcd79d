/* window.h - how many requests may be on the wire at once: as many as the server works on, not
 * as many as it lets wait
 *
 *     window_init (&w);
 *     if (on_wire < window_size (&w)) ...               // send another
 *     window_answer (&w, "POST pods", took, on_wire, now);   // of each that was answered
 *     window_trouble (&w);                              // it was put off, or not answered
 *
 * What waits here keeps its order: what runs or ends goes before what is still to start, and
 * the pods of one job before those of the next. In the server all wait alike, together with
 * the kubelets that are to run those pods.
 *
 * As TCP Vegas does it (Brakmo and Peterson, IEEE JSAC 13(8), 1995): the quickest answer to
 * such a request took the work alone, and what another takes longer it has waited. Of a size of
 * n the part n * (1 - quickest / took) waits; between WINDOW_LOW and WINDOW_HIGH that is right.
 * The quickest is forgotten after two epochs: the server may have become another. Pure; times
 * are in seconds, now of any clock that goes forward.
 */
#ifndef FLUXQ_KUBE_WINDOW_H
#define FLUXQ_KUBE_WINDOW_H

#include <stdbool.h>

#define WINDOW_LEAST 4
#define WINDOW_MOST 64
#define WINDOW_LOW 3.0 /* requests that wait in the server */
#define WINDOW_HIGH 6.0
#define WINDOW_EPOCH 30.0
#define WINDOW_KINDS 24

struct window_kind {
    char name[48];
    double quickest, before; /* in this epoch, and in the last; 0: none */
};

struct kube_window {
    double size;
    struct window_kind kinds[WINDOW_KINDS];
    unsigned nkinds;
    double epoch; /* when it began; < 0: not yet */
    /* since the size was looked at */
    unsigned n;
    double share; /* sum of quickest / took */
    bool full;    /* all of it was in use */
};

void window_init (struct kube_window *w);
unsigned window_size (const struct kube_window *w);
/* on_wire: requests, this one too, when it was answered. kind: of requests that take alike,
 * cut to what fits; those beyond WINDOW_KINDS are left out. */
void window_answer (struct kube_window *w, const char *kind, double took,
                    unsigned on_wire, double now);
/* Half as many. */
void window_trouble (struct kube_window *w);

#endif
