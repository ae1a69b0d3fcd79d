/* review.c - see review.h
 *
 * The client repeats a request while the server is away; a caller who waits for an answer
 * needs one soon. A review therefore ends at its time limit, or when the server is found
 * to be away.
 */
#include "exec/kube/review.h"

#include <utlist.h>

#include "common/clock.h"
#include "kube/client.h"
#include "kube/tokenreview.h"

#define REVIEW_SECONDS 10.0

struct review {
    struct review *prev, *next;
    struct exec *x;
    struct kube_request *req;
    char *audience;
    double due; /* clock_mono() */
    exec_review_f *done;
    void *arg;
};

static void drop (struct review *r)
{
    DL_DELETE (r->x->reviews, r);
    kube_cancel (r->req);
    free (r->audience);
    free (r);
}

static void on_answer (const struct kube_result *res, void *arg)
{
    struct review *r = arg;
    char account[TOKENREVIEW_ACCOUNT_SIZE] = "";
    struct error why = { 0 };
    int rc;

    r->req = NULL;
    if (res->status < 200 || res->status > 299)
        rc = error_set (&why, EAGAIN, "kube: review of the token: %s", res->err.text);
    else if ((rc = tokenreview_read (res->body, r->audience, account, &why)) == -EBADMSG)
        rc = -EAGAIN;
    r->done (rc, account, &why, r->arg);
    drop (r);
}

static int say_away (struct error *err)
{
    return error_set (err, EAGAIN,
                      "the API server of Kubernetes, which knows the token's service "
                      "account, does not answer: try again later");
}

int review_token (struct exec *x, const char *token, const char *audience,
                  exec_review_f *done, void *arg, struct error *err)
{
    if (kube_away (x->kube))
        return say_away (err);
    struct review *r = calloc (1, sizeof (*r));
    json_t *body = tokenreview_make (token, audience);
    if (!r || !body || !(r->audience = strdup (audience))) {
        json_decref (body);
        free (r);
        return error_set (err, ENOMEM, "out of memory");
    }
    r->x = x;
    r->due = clock_mono () + REVIEW_SECONDS;
    r->done = done;
    r->arg = arg;
    DL_APPEND (x->reviews, r);
    r->req = kube_send (x->kube, "POST", TOKENREVIEW_PATH, body, on_answer, r);
    if (r->req)
        return 0;
    drop (r);
    return error_set (err, ENOMEM, "out of memory");
}

void review_tick (struct exec *x, double now)
{
    bool away = kube_away (x->kube);
    struct review *r, *next;

    DL_FOREACH_SAFE (x->reviews, r, next)
    {
        struct error why = { 0 };
        if (!away && now < r->due)
            continue;
        r->done (say_away (&why), "", &why, r->arg);
        drop (r);
    }
}

void review_cancel (struct exec *x)
{
    struct review *r, *next;

    DL_FOREACH_SAFE (x->reviews, r, next)
    drop (r);
}
