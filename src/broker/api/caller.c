/* caller.c - see caller.h
 */
#include "broker/api/caller.h"

#include "broker/api/audit_note.h"

/* A request whose caller is being looked up. */
struct wait {
    struct broker *b;
    struct http_request *req;
    void (*go_on) (struct broker *b, struct http_request *req);
};

/* After a failed look-up the caller has the rights of the last one, or of no group. */
static void found (int rc, const struct exec_user *user, void *arg)
{
    struct wait *w = arg;

    broker_work_ends (w->b);
    if (rc == 0)
        audit_note_user (w->req, user->name);
    if (broker_is_dead (w->b))
        http_reply_problem (w->req, 503, "busy", "the broker is about to stop");
    else
        w->go_on (w->b, w->req);
    free (w);
}

/* Names may be old; groups decide about rights, and may not. Root and the broker's own user
 * need no group: they are served while the directory of users does not answer. */
static bool must_wait (const struct broker *b, uid_t uid, const char *name, bool noted)
{
    return (noted && !name)
           || (broker_has_operator_groups (b) && uid != 0 && uid != broker_uid (b)
               && !users_is_fresh (broker_users (b), uid));
}

bool caller_is_known (struct broker *b, struct http_request *req,
                      void (*go_on) (struct broker *b, struct http_request *req))
{
    uid_t uid = http_request_uid (req);
    bool noted = http_request_note (req) != NULL;
    const char *name = noted ? users_recall (broker_users (b), uid) : NULL;
    struct wait *w;

    if (!must_wait (b, uid, name, noted)) {
        if (noted)
            audit_note_user (req, name);
        return true;
    }
    if (!(w = malloc (sizeof (*w)))) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return false;
    }
    *w = (struct wait){ .b = b, .req = req, .go_on = go_on };
    broker_work_begins (b);
    users_find (broker_users (b), uid, found, w);
    return false;
}
