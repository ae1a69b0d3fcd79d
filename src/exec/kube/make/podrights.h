/* podrights.h - whether the broker may make pods in a namespace
 *
 * Asks the API server for the rights in a namespace once, and again while one is
 * missing, 10 s later at the earliest (rights.h). Jobs of the namespace are poked after
 * the answer.
 */
#pragma once

#include "exec/kube/core/state.h"

enum pods_wanted { WANT_AUTO, WANT_CONTROLLER, WANT_BROKER };

/* The setting kube.pods. */
enum pods_wanted pods_wanted (const struct kube_config *cfg);

/* At the start: asks for the rights in kube.namespace. */
void podrights_begin (struct exec *x);
/* true: s->rights has the answer. false: a request is under way. */
bool podrights_look (struct kspace *s);
/* Whether the broker has all rights for making pods there, as far as is known. */
bool podrights_are_there (const struct kspace *s);
/* A request that the broker seemed to have the right for was refused: asks again. */
void podrights_doubt (struct kspace *s);
void podrights_cancel (struct exec *x);
