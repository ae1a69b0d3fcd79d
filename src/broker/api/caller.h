/* caller.h - the look-up of a request's caller, before the request is served
 *
 *     if (caller_is_known (b, req, go_on))
 *         go_on (b, req);
 *
 * The audit log needs the caller's name; rights of members of groups (core/operators.h)
 * need the caller's groups. Requests that need neither do not wait.
 *
 * Thread: the loop's; the look-up is on a worker thread.
 */
#pragma once

#include "broker/core/broker.h"

/* true: go on with the request. false: the caller is being looked up, and go_on will be
 * called with the request; or there was no memory and the reply was sent. */
bool caller_is_known (struct broker *b, struct http_request *req,
                      void (*go_on) (struct broker *b, struct http_request *req));
