/* window.h - the number of requests in flight: as many as the server works on, without a
 * queue in the server
 *
 *     window_init (&w);
 *     if (on_wire < window_size (&w)) ...               // send another
 *     window_answer (&w, "POST pods", took, on_wire, now);   // of each that was answered
 *     window_trouble (&w);                              // it was put off, or not answered
 *
 * Requests that wait here keep their order: those of running or ended jobs before those
 * of jobs that start, and the pods of one job before those of the next. In the server
 * all wait alike, together with the requests of the kubelets that will run those pods.
 *
 * As TCP Vegas does it (Brakmo and Peterson, IEEE JSAC 13(8), 1995): the quickest answer
 * of a kind took the work alone, and the rest of another answer's time was waiting. With
 * n requests in flight, n * (1 - quickest / took) of them wait; the size keeps this
 * between WINDOW_LOW and WINDOW_HIGH. The quickest time is forgotten after two epochs,
 * since the server may have changed. Pure; times are in seconds, now of any clock that
 * goes forward.
 */
#pragma once

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
    double epoch; /* its start; < 0: none yet */
    /* since the last change of the size */
    unsigned n;
    double share; /* sum of quickest / took */
    bool full;    /* all of the window was in use */
};

void window_init (struct kube_window *w);
unsigned window_size (const struct kube_window *w);
/* on_wire: requests in flight at the time of the answer, this one included. kind: name of
 * a group of requests with similar cost, cut to what fits; kinds beyond WINDOW_KINDS are
 * ignored. */
void window_answer (struct kube_window *w, const char *kind, double took,
                    unsigned on_wire, double now);
/* Halves the size. */
void window_trouble (struct kube_window *w);
