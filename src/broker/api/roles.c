/* roles.c - see roles.h
 */
#include "broker/api/roles.h"

#include <string.h>

#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"

static bool is_guest (struct http_request *req)
{
    return http_request_guest (req) != 0;
}

/* Whether the caller has one of the roles for every object. */
static bool is_above (const struct broker *b, struct http_request *req, unsigned roles)
{
    uid_t uid = http_request_uid (req);

    if (roles & ROLE_USER)
        return true;
    return !is_guest (req)
           && (roles & ROLE_ROOT ? uid == 0 || uid == broker_uid (b)
                                 : broker_is_administrator (b, uid));
}

bool api_may_queue (const struct broker *b, struct http_request *req, unsigned roles,
                    unsigned queue)
{
    return (roles & ROLE_OPERATOR && !is_guest (req)
            && broker_operates (b, http_request_uid (req), queue))
           || is_above (b, req, roles);
}

/* A job whose queue is gone has no operators but administrators. */
static bool has_queue (const struct broker *b, const struct entry *e)
{
    const char *name = entry_job (e)->queue;

    return name && !strcmp (broker_config (b)->queues[entry_queue (e)].name, name);
}

bool api_may (const struct broker *b, struct http_request *req, unsigned roles,
              const struct entry *e)
{
    if (e && roles & ROLE_OWNER && http_request_uid (req) == entry_job (e)->userid)
        return true;
    if (!e || !has_queue (b, e))
        return is_above (b, req, roles);
    return api_may_queue (b, req, roles, entry_queue (e));
}

bool api_may_some (const struct broker *b, struct http_request *req, unsigned roles)
{
    return roles & (ROLE_OWNER | ROLE_OPERATOR) || is_above (b, req, roles);
}

bool api_require (struct broker *b, struct http_request *req, const struct api_path *path,
                  const struct entry *e)
{
    if (api_may (b, req, path->route->roles, e))
        return true;
    http_reply_problem (req, 403, "not-owner", "job %ju belongs to %s",
                        (uintmax_t)entry_id (e), entry_job (e)->user);
    return false;
}

/* -- the table of routes -- */

static const struct {
    unsigned role;
    const char *word;
} words[] = {
    { ROLE_USER, "user" },         { ROLE_OWNER, "owner" },
    { ROLE_OPERATOR, "operator" }, { ROLE_ADMINISTRATOR, "administrator" },
    { ROLE_ROOT, "root" },
};

void api_roles_text (unsigned roles, struct strbuf *to)
{
    const char *comma = "";

    if (!(roles & (ROLE_USER | ROLE_ROOT)))
        roles |= ROLE_ADMINISTRATOR;
    for (size_t i = 0; i < ARRAY_SIZE (words); i++) {
        if (!(roles & words[i].role))
            continue;
        strbuf_addf (to, "%s%s", comma, words[i].word);
        comma = ", ";
    }
}

static int compare_routes (const void *a, const void *b)
{
    const struct api_route *x = *(const struct api_route *const *)a;
    const struct api_route *y = *(const struct api_route *const *)b;
    int by_path = strcmp (x->pattern, y->pattern);

    return by_path ? by_path : strcmp (x->method, y->method);
}

static void print_route (const struct api_route *r, FILE *to)
{
    autostrbuf struct strbuf roles = STRBUF_INIT (200);

    api_roles_text (r->roles, &roles);
    fprintf (to, "| %s | `%s` | %s | %s |\n", r->method, r->pattern, roles.buf,
             r->action ? r->action : "");
}

int api_print_routes (FILE *to)
{
    const struct api_route **list = NULL;
    size_t n = 0, alloc = 0;

    for (const struct broker_service **s = SERVICES_WITH (routes); *s; s++) {
        for (const struct api_route *r = (*s)->routes; r->method; r++) {
            if (array_reserve (&list, &alloc, n + 1, sizeof (*list)) < 0) {
                free (list);
                return -ENOMEM;
            }
            list[n++] = r;
        }
    }
    qsort (list, n, sizeof (*list), compare_routes);
    fprintf (to, "| method | path | roles | audit |\n|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++)
        print_route (list[i], to);
    free (list);
    return 0;
}
