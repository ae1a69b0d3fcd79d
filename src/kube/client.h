/* client.h - requests to the Kubernetes API server
 *
 *     k = kube_create (httpc, loop, kubeconfig, &err);  // takes the kubeconfig over
 *     r = kube_send (k, "POST", "/api/v1/namespaces/x/pods", body, done, arg);
 *     kube_cancel (r);                                  // no callback after this
 *
 * The window (window.h) bounds the number of requests in flight, and the budget
 * (budget.h) bounds their rate. Other requests wait in order (at most KUBE_WAITING: then
 * -EBUSY in the answer), requests with KUBE_LATER behind all others. After a 429, or a
 * 503 with Retry-After, the client sends nothing for as long as the server asks, and
 * logs it once.
 *
 * The client retries with exponential back-off and jitter, or as Retry-After says:
 * connection trouble, 429, 502, 503 and 504 without limit; 401 and 500 a few times; 403
 * during the 10 s after the server was away, since a server that has just started denies
 * all requests until it has read its rules. So the request that is answered may have
 * been carried out before: its object's name must make that harmless (409). The client
 * logs one line when the server goes away and one when it is back.
 */
#pragma once

#include "kube/http.h"
#include "kube/kubeconfig.h"

#include <stdbool.h>
#include <jansson.h>

#define KUBE_WAITING 65536
#define KUBE_RATE 1000.0 /* requests a second, unless kube_set_budget() changes it */
#define KUBE_BURST 1000.0

struct kube;
struct kube_request;

struct kube_result {
    int status;   /* HTTP, 0: it could not be sent */
    json_t *body; /* borrowed; NULL: there is none, or it is not JSON */
    /* 2xx that is not JSON: the raw answer, len bytes; borrowed */
    const char *text;
    size_t len;
    const char *reason; /* of a Status answer ("AlreadyExists", "NotFound"...), else "" */
    struct error err;   /* if status is not 2xx: the server's message */
};
typedef void kube_done_f (const struct kube_result *res, void *arg);

struct kube *kube_create (struct httpc *h, uv_loop_t *loop, struct kubeconfig *kc,
                          struct error *err);
/* Cancels all requests; handles close on the loop's next turns. */
void kube_destroy (struct kube *k);

/* path: with query. body: takes the reference; or NULL. done is called once, never from
 * within this call. NULL: no memory. */
struct kube_request *kube_send (struct kube *k, const char *method, const char *path,
                                json_t *body, kube_done_f *done, void *arg);
/* kube_send() with flags. */
#define KUBE_LATER 1u /* behind all others: for jobs that have yet to start, or are
                       * over */
#define KUBE_BRIEF 2u /* keep only kind and metadata of the object in the answer */
#define KUBE_BRIEF_LIST 4u /* the same for a list */
struct kube_request *kube_send_as (struct kube *k, unsigned flags, const char *method,
                                   const char *path, json_t *body, kube_done_f *done,
                                   void *arg);
void kube_cancel (struct kube_request *r);
/* The server has not seen the request, or has refused it: cancelling it now leaves
 * nothing on the server. */
bool kube_is_unsent (const struct kube_request *r);
/* Requests a second, and the burst after a quiet time; both >= 1. Streams do not
 * count. */
void kube_set_budget (struct kube *k, double rate, double burst);

/* A long answer, passed on piece by piece (watches): does not count, and is not repeated.
 * idle: the stream ends after so many seconds without a byte. */
struct httpc_request *
kube_stream (struct kube *k, const char *path, double idle,
             int (*on_data) (const char *data, size_t len, void *arg),
             void (*on_done) (const struct httpc_response *resp, void *arg), void *arg,
             struct error *err);

uv_loop_t *kube_loop (const struct kube *k);
const char *kube_server (const struct kube *k);
const struct httpc_tls *kube_tls (const struct kube *k);
/* "Authorization: ...", NULL-terminated; valid while k lives, the content follows the
 * token file. */
const char *const *kube_auth_headers (const struct kube *k);

/* For watches: the server does not answer, for this reason; NULL: it answers. Logs the
 * change. */
void kube_notice (struct kube *k, const struct error *err);

/* Whether the server did not answer the last request. */
bool kube_away (const struct kube *k);
/* Seconds since the server answers again; INFINITY: it was never away. */
double kube_back_for (const struct kube *k);
/* Whether that is so short that the server may not have read its rules yet and may deny
 * what it will allow. */
bool kube_is_fresh (const struct kube *k);

/* The message and the reason of an answer: those of the Status object if it is one. */
void kube_explain (int status, const char *text, const json_t *body,
                   const char **ret_reason, struct error *err);
/* Seconds to wait after n failed tries: 0.1 doubling to 10, less a random part of up to a
 * half. */
double kube_backoff (unsigned n);
