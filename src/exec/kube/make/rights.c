/* rights.c - see rights.h */
#include "exec/kube/make/rights.h"

#define PATH "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

static const struct {
    const char *verb, *group, *resource, *subresource;
    enum rights_set set;
} needed[] = {
    { "create", "", "pods", "", RIGHTS_PODS },
    { "deletecollection", "", "pods", "", RIGHTS_PODS },
    { "patch", "batch", "jobs", "status", RIGHTS_PODS },
    { "create", "batch", "jobs", "", RIGHTS_START },
};
#define NNEEDED ARRAY_SIZE (needed)

struct rights_call {
    struct rights_question {
        struct rights_call *c;
        struct kube_request *req;
        bool allowed;
        char refusal[128]; /* of the request itself */
    } questions[NNEEDED];
    unsigned left;
    rights_done_f *done;
    void *arg;
};

static json_t *review_of (const char *namespace_, size_t i)
{
    return json_pack ("{s:s s:s s:{s:{s:s s:s s:s s:s s:s}}}", "apiVersion",
                      "authorization.k8s.io/v1", "kind", "SelfSubjectAccessReview",
                      "spec", "resourceAttributes", "namespace", namespace_, "verb",
                      needed[i].verb, "group", needed[i].group, "resource",
                      needed[i].resource, "subresource", needed[i].subresource);
}

static void list_missing (const struct rights_call *c, char text[RIGHTS_TEXT_MAX])
{
    text[0] = 0;
    for (size_t i = 0; i < NNEEDED; i++) {
        const struct rights_question *q = &c->questions[i];
        size_t len = strlen (text);

        if (q->c && !q->allowed)
            snprintf (text + len, RIGHTS_TEXT_MAX - len, "%s%s %s%s%s%s%s",
                      len ? ", " : "", needed[i].verb, needed[i].resource,
                      needed[i].subresource[0] ? "/" : "", needed[i].subresource,
                      q->refusal[0] ? ": " : "", q->refusal);
    }
}

static void on_answer (const struct kube_result *res, void *arg)
{
    struct rights_question *q = arg;
    struct rights_call *c = q->c;
    char text[RIGHTS_TEXT_MAX];

    q->req = NULL;
    q->allowed =
        json_is_true (json_object_get (json_object_get (res->body, "status"), "allowed"));
    if (res->status < 200 || res->status > 299)
        snprintf (q->refusal, sizeof (q->refusal), "%.100s", res->err.text);
    if (--c->left > 0)
        return;
    list_missing (c, text);
    rights_done_f *done = c->done;
    void *done_arg = c->arg;
    free (c);
    done (text, done_arg);
}

struct rights_call *rights_ask (struct kube *kube, const char *namespace_,
                                enum rights_set set, rights_done_f *done, void *arg)
{
    struct rights_call *c = calloc (1, sizeof (*c));

    if (!c)
        return NULL;
    c->done = done;
    c->arg = arg;
    for (size_t i = 0; i < NNEEDED; i++) {
        struct rights_question *q = &c->questions[i];

        if (needed[i].set != set)
            continue;
        json_t *review = review_of (namespace_, i);
        q->c = c; /* NULL: not sent */
        q->req = review ? kube_send (kube, "POST", PATH, review, on_answer, q) : NULL;
        if (!q->req) {
            rights_cancel (c);
            return NULL;
        }
        c->left++;
    }
    return c;
}

void rights_cancel (struct rights_call *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < NNEEDED; i++)
        kube_cancel (c->questions[i].req);
    free (c);
}
