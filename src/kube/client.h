/* client.h - requests to the Kubernetes API server
 *
 *     k = kube_create (httpc, loop, kubeconfig, &err);  // takes the kubeconfig over
 *     r = kube_send (k, "POST", "/api/v1/namespaces/x/pods", body, done, arg);
 *     kube_cancel (r);                                  // no callback after this
 *
 * As many requests are on the wire as the server works on (window.h), and no more are sent
 * than the budget (budget.h) allows; the others wait in order (at most KUBE_WAITING: then -EBUSY in the
 * answer), those with KUBE_LATER behind all others. After a 429, or a 503 with Retry-After,
 * nothing is sent for as long as the server asks, and the log says so once. Connection
 * trouble and 429, 502, 503, 504 are tried again for as long as it takes, 401 and 500 a few
 * times, and 403 in the 10 s after the server was away, as one that has just begun denies
 * all until it has read its rules: exponential back-off with jitter, or as Retry-After
 * says. So an answer may come to a request that was carried out
 * before: names must make that harmless (409). One line is logged when the server goes
 * away and one when it is back.
 */
#ifndef FLUXQ_KUBE_CLIENT_H
#define FLUXQ_KUBE_CLIENT_H

#include "kube/http.h"
#include "kube/kubeconfig.h"

#include <stdbool.h>
#include <jansson.h>

#define KUBE_WAITING 65536
#define KUBE_RATE 1000.0 /* requests a second, unless kube_set_budget() says else */
#define KUBE_BURST 1000.0

struct kube;
struct kube_request;

struct kube_result {
    int status;   /* HTTP, 0: it could not even be sent */
    json_t *body; /* borrowed; NULL when there is none or it is not JSON */
    /* 2xx that is not JSON: the answer as it came, len bytes; borrowed */
    const char *text;
    size_t len;
    const char *reason; /* of a Status answer ("AlreadyExists", "NotFound"...), else "" */
    struct error err;   /* when status is not 2xx: the server's words */
};
typedef void kube_done_f (const struct kube_result *res, void *arg);

struct kube *kube_create (struct httpc *h, uv_loop_t *loop, struct kubeconfig *kc,
                          struct error *err);
/* Cancels all requests; handles close on the loop's next turns. */
void kube_destroy (struct kube *k);

/* path: with query. body: its reference is taken over, or NULL. done is called once,
 * never from within this call. NULL: no memory. */
struct kube_request *kube_send (struct kube *k, const char *method, const char *path,
                                json_t *body, kube_done_f *done, void *arg);
/* The same with flags. */
#define KUBE_LATER 1u /* behind all others: of a job that is still to start, or is over */
#define KUBE_BRIEF 2u /* of the object in the answer only kind and metadata are wanted */
#define KUBE_BRIEF_LIST 4u /* the same of a list */
struct kube_request *kube_send_as (struct kube *k, unsigned flags, const char *method,
                                   const char *path, json_t *body, kube_done_f *done,
                                   void *arg);
void kube_cancel (struct kube_request *r);
/* The server has not seen it, or has refused it: cancelled now, it leaves nothing there. */
bool kube_is_unsent (const struct kube_request *r);
/* Requests a second, and how many at once after a quiet time; both >= 1. Streams are not
 * counted. */
void kube_set_budget (struct kube *k, double rate, double burst);

/* A long answer, handed on piece by piece (watches): not counted, not repeated. idle:
 * seconds without a byte after which it ends. */
struct httpc_request *
kube_stream (struct kube *k, const char *path, double idle,
             int (*on_data) (const char *data, size_t len, void *arg),
             void (*on_done) (const struct httpc_response *resp, void *arg), void *arg,
             struct error *err);

uv_loop_t *kube_loop (const struct kube *k);
const char *kube_server (const struct kube *k);
const struct httpc_tls *kube_tls (const struct kube *k);
/* "Authorization: ...", NULL-terminated; valid while k lives, its content follows the
 * token file. */
const char *const *kube_auth_headers (const struct kube *k);

/* For watches: the server does not answer, for this reason; NULL: it does. Logs the
 * change. */
void kube_notice (struct kube *k, const struct error *err);

/* The server did not answer when it was asked last. */
bool kube_away (const struct kube *k);
/* Seconds since it answered again; INFINITY: it was never away. */
double kube_back_for (const struct kube *k);
/* ... so few that it may not have read its rules yet, and denies what it will allow. */
bool kube_is_fresh (const struct kube *k);

/* What an answer says for a person and a program: the Status object's message and reason
 * if it is one. */
void kube_explain (int status, const char *text, const json_t *body,
                   const char **ret_reason, struct error *err);
/* Seconds to wait before the try after n failed ones: 0.1 doubling to 10, less up to a
 * half by chance. */
double kube_backoff (unsigned n);

#endif
