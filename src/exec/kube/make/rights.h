/* rights.h - asks the API server for the broker's rights in a namespace
 *
 *     call = rights_ask (kube, "fluxq", RIGHTS_PODS, done, arg);
 *     rights_cancel (call);                    // no callback after this
 *
 * done is called once, with "" or the missing right ("create pods"). If the server
 * cannot answer (it has no such API, or refuses the request), the right counts as
 * missing, with the server's message.
 * Source: kubernetes.io, "Authorization", checking API access (SelfSubjectAccessReview).
 */
#pragma once

#include "kube/client.h"

#define RIGHTS_TEXT_MAX 256

enum rights_set {
    RIGHTS_PODS,  /* to make the pods itself */
    RIGHTS_START, /* to make a Job at all */
};

struct rights_call;
typedef void rights_done_f (const char *missing, void *arg);

/* done is never called from within. NULL: no memory. */
struct rights_call *rights_ask (struct kube *kube, const char *namespace_,
                                enum rights_set set, rights_done_f *done, void *arg);
void rights_cancel (struct rights_call *c); /* NULL is fine */
