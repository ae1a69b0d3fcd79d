/* roles.h - who may do what: each route names the roles that it is for (api.h)
 *
 *     { "POST", "/v1/jobs/{}/limit", api_job_limit, ROLE_OWNER | ROLE_OPERATOR, "limit" },
 *
 *     if (!e || !api_require (b, req, path, e))     // the roles of the route, for this job
 *         return;
 *     if (!api_may (b, req, ROLE_OPERATOR, e))      // what the body asks for needs more
 *         http_reply_problem (req, 403, "not-operator", ...);
 *
 * A caller has a role for an object: the owner of a job, the operator of the job's queue.
 * Administrators have all roles but that of root. A command inside a job acts for the job's user only: the
 * user's rights as an operator or administrator do not count (services/inside).
 *
 * api_handle() refuses callers to whom no object could give a role of the route; about an
 * object the function of the route asks. A route without roles is for administrators.
 * `fluxqd --routes` prints the table; t/t1049-roles.t tries each row with each role.
 */
#pragma once

#include "broker/core/broker.h"
#include "common/strbuf.h"

enum api_role {
    ROLE_USER = 1 << 0,          /* each known caller */
    ROLE_OWNER = 1 << 1,         /* of the job, or the user whom the request is about */
    ROLE_OPERATOR = 1 << 2,      /* of the job's queue, or of the queue */
    ROLE_ADMINISTRATOR = 1 << 3, /* of the site; implied by those above */
    ROLE_ROOT = 1 << 4,          /* root and the broker's own user; no administrators */
};

struct api_path;

/* Whether the caller has one of the roles (bits of enum api_role) for the job; e NULL: for
 * no job, so only as user or administrator. */
bool api_may (const struct broker *b, struct http_request *req, unsigned roles,
              const struct entry *e);
/* The same for a queue (an index), which has no owner. */
bool api_may_queue (const struct broker *b, struct http_request *req, unsigned roles,
                    unsigned queue);
/* Whether the caller has one of the roles of the request's route for the job; otherwise
 * answers 403. */
bool api_require (struct broker *b, struct http_request *req, const struct api_path *path,
                  const struct entry *e);
/* Whether some object could give the caller one of the roles. */
bool api_may_some (const struct broker *b, struct http_request *req, unsigned roles);

/* Adds the words of the roles, "owner, operator, administrator". */
void api_roles_text (unsigned roles, struct strbuf *to);
/* Prints the routes of all services as a table in Markdown, sorted by path and method.
 * -ENOMEM. */
int api_print_routes (FILE *to);
