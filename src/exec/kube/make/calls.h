/* calls.h - requests for a job's objects, and what all makers of objects need
 *
 *     struct object_source src = calls_source (k);
 *     call_send (k, CALL_MAKE_SERVICE, 0, "POST", path, object_service (&src, k->parts[0].uid));
 *
 * Each request is one struct kcall in k->calls until its answer, which goes to
 * hooks->answered().
 */
#pragma once

#include "exec/kube/core/kjob.h"
#include "exec/kube/core/state.h"
#include "exec/kube/make/objects.h"

/* Bits of the objects that a job has beside its Job. */
#define REST_KINDS                                                                       \
    ((1u << CALL_MAKE_CONFIGMAP) | (1u << CALL_MAKE_SECRET) | (1u << CALL_MAKE_SERVICE))

/* Takes the body. rank: see struct kcall. false: no memory. */
bool call_send (struct kjob *k, enum call_kind kind, uint32_t rank, const char *method,
                const char *path, json_t *body);
void calls_cancel (struct kjob *k);
/* Drops the requests of the start that the API server has not seen. */
void calls_drop_unsent (struct kjob *k);
/* Deletes one object of the job; sets k->delete_refused without memory. */
void call_delete (struct kjob *k, uint32_t kind, const char *name);
/* Whether the API server may accept the refused request later. */
bool call_may_pass (const struct kube_result *res);
struct object_source calls_source (const struct kjob *k);
/* The object made for the job; until the maker of its pods is known: the Job, which
 * exists for each maker. */
const struct object_owner *calls_owner (const struct kjob *k);
/* The path of the collection of the job's pods. */
void calls_pods_path (const struct kjob *k, char *path, size_t size);
/* Asks why the Job controller made no pods within limit (a text), then calls
 * job_start_failed(). */
void calls_diagnose (struct kjob *k, const char *limit);
void calls_diagnosed (struct kjob *k, const struct kcall *c,
                      const struct kube_result *res);
