/* tokenreview.c - callers inside a Kubernetes cluster are users by the tokens of their
 * service accounts
 *
 *     request --> cached? --no--> executor's review (TokenReview) --> cached
 *                   |                                                   |
 *                   +--> account --> token-users: --> uid --> request goes on
 *
 * The cache knows tokens by their SHA-256 only. An answer is used for a short time: that
 * long a token works after its pod or service account has gone. Requests with a token
 * under review wait for the same answer.
 */
#include <uthash.h>
#include <utlist.h>

#include "broker/core/service.h"
#include "broker/core/users.h"
#include "common/clock.h"
#include "common/sha256.h"
#include "kube/tokenreview.h"

#define ENTRIES_MAX 1024
#define REVIEWS_MAX 64 /* at once */
#define ACCEPTED_SECONDS 30.0
#define REFUSED_SECONDS 5.0

/* -- settings and state -- */

struct settings {
    json_t *users;  /* {"science/robot": "ann"}, of the document; or NULL */
    char *audience; /* NULL: "fluxq" */
};

struct waiter {
    struct waiter *prev, *next;
    struct http_request *req;
};

struct answer {
    UT_hash_handle hh;
    uint8_t digest[SHA256_SIZE];
    struct broker *b;
    bool pending;
    bool stale;     /* asked for an earlier audience: not kept */
    int rc;         /* 0; -EACCES: refused */
    double expires; /* clock_mono() */
    char account[TOKENREVIEW_ACCOUNT_SIZE];
    struct error why;
    struct waiter *waiters; /* DL, while pending */
};

struct reviews {
    struct answer *entries; /* the oldest first */
    unsigned npending;
};

/* A caller with an account whose user is looked up. */
struct lookup {
    struct broker *b;
    struct http_request *req;
    char account[TOKENREVIEW_ACCOUNT_SIZE];
    char user[TOKENREVIEW_ACCOUNT_SIZE];
};

static int read_users (const struct config_key *key, void *field, json_t *value,
                       const struct config_place *p)
{
    const char *account;
    json_t *user;

    if (!json_is_object (value) || json_object_size (value) > (size_t)key->max)
        return CONFIG_FAIL (p,
                            "%s: expected a mapping of at most %d service accounts, such "
                            "as {science/robot: ann}",
                            key->name, (int)key->max);
    json_object_foreach (value, account, user) {
        if (!tokenreview_account_is_valid (account))
            return CONFIG_FAIL (p, "%s: '%.80s' is no service account: NAMESPACE/NAME",
                                key->name, account);
        if (!json_is_string (user) || !json_string_length (user)
            || json_string_length (user) >= sizeof (((struct lookup *)0)->user))
            return CONFIG_FAIL (p, "%s: %s: expected the name of a user", key->name,
                                account);
    }
    *(json_t **)field = value;
    return 0;
}

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "token-users", read_users, AT (users), 0, 10000, NULL },
    { "token-audience", value_string, AT (audience), 0, 0, NULL },
    { 0 },
};
static const struct settings defaults = { .users = NULL };
static struct service_place place;
SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct reviews)

static const char *audience_of (const struct broker *b)
{
    const char *audience = settings_of (b)->audience;

    return audience ? audience : "fluxq";
}

/* -- an account's user -- */

static void found_user (int rc, const struct exec_user *user, void *arg)
{
    struct lookup *l = arg;
    char by[TOKENREVIEW_ACCOUNT_SIZE + 32];
    struct error why = { 0 };

    broker_work_ends (l->b);
    snprintf (by, sizeof (by), "service account %s", l->account);
    if (rc == 0) {
        http_request_known (l->req, user->uid, by);
    } else {
        error_set (&why, rc == -ENOENT ? EACCES : -rc, "%s: its user %s %s", by, l->user,
                   rc == -ENOENT ? "does not exist here" : "cannot be looked up now");
        http_request_unknown (l->req, rc == -ENOENT ? -EACCES : -EAGAIN, why.text);
    }
    free (l);
}

static void find_user (struct broker *b, struct http_request *req, const char *account)
{
    const char *user =
        json_string_value (json_object_get (settings_of (b)->users, account));
    struct error why = { 0 };

    if (!user) {
        error_set (&why, EACCES,
                   "the service account %s is no user here (token-users: in fluxq.yaml)",
                   account);
        http_request_unknown (req, -EACCES, why.text);
        return;
    }
    struct lookup *l = calloc (1, sizeof (*l));
    if (!l) {
        http_request_unknown (req, -ENOMEM, "out of memory");
        return;
    }
    l->b = b;
    l->req = req;
    snprintf (l->account, sizeof (l->account), "%s", account);
    snprintf (l->user, sizeof (l->user), "%s", user);
    broker_work_begins (b);
    users_find_named (broker_users (b), l->user, found_user, l);
}

static void settle (const struct answer *t, struct http_request *req)
{
    if (t->rc == 0)
        find_user (t->b, req, t->account);
    else
        http_request_unknown (req, t->rc, t->why.text);
}

/* -- the cache -- */

static void forget (struct reviews *r, struct answer *t)
{
    HASH_DEL (r->entries, t);
    free (t);
}

/* Frees answers that are too old, and then the oldest ones until there is room. */
static void make_room (struct reviews *r)
{
    double now = clock_mono ();
    struct answer *t, *next;

    HASH_ITER (hh, r->entries, t, next) {
        if (!t->pending && (now >= t->expires || HASH_COUNT (r->entries) >= ENTRIES_MAX))
            forget (r, t);
    }
}

static int wait_for (struct answer *t, struct http_request *req)
{
    struct waiter *w = calloc (1, sizeof (*w));

    if (!w)
        return -ENOMEM;
    w->req = req;
    DL_APPEND (t->waiters, w);
    return 0;
}

static void settle_all (struct answer *t)
{
    struct waiter *w, *next;

    DL_FOREACH_SAFE (t->waiters, w, next)
    {
        DL_DELETE (t->waiters, w);
        settle (t, w->req);
        free (w);
    }
}

static void reviewed (int rc, const char *account, const struct error *why, void *arg)
{
    struct answer *t = arg;
    struct reviews *r = state_of (t->b);

    t->pending = false;
    r->npending--;
    t->rc = rc;
    t->why = *why;
    snprintf (t->account, sizeof (t->account), "%s", account);
    t->expires = clock_mono () + (rc == 0 ? ACCEPTED_SECONDS : REFUSED_SECONDS);
    settle_all (t);
    if (t->stale || (rc != 0 && rc != -EACCES)) /* the next request asks again */
        forget (r, t);
}

/* Begins the review of a token that the cache does not know. */
static void begin_review (struct broker *b, struct http_request *req, const char *token,
                          const uint8_t digest[SHA256_SIZE])
{
    struct reviews *r = state_of (b);
    struct error why = { 0 };

    if (r->npending >= REVIEWS_MAX) {
        http_request_unknown (req, -EAGAIN,
                              "too many tokens are under review: try again");
        return;
    }
    make_room (r);
    struct answer *t = calloc (1, sizeof (*t));
    if (!t) {
        http_request_unknown (req, -ENOMEM, "out of memory");
        return;
    }
    t->b = b;
    memcpy (t->digest, digest, SHA256_SIZE);
    int rc = wait_for (t, req);
    if (rc == 0)
        rc = broker_ops (b)->review (broker_exec (b), token, audience_of (b), reviewed, t,
                                     &why);
    if (rc < 0) {
        http_request_unknown (req, rc, why.code ? why.text : "out of memory");
        free (t->waiters);
        free (t);
        return;
    }
    t->pending = true;
    r->npending++;
    HASH_ADD (hh, r->entries, digest, SHA256_SIZE, t);
}

static void review (struct http_request *req, const char *token, void *arg)
{
    struct broker *b = arg;
    struct reviews *r = state_of (b);
    struct answer *t;
    uint8_t digest[SHA256_SIZE];
    struct sha256 sum;

    sha256_init (&sum);
    sha256_update (&sum, token, strlen (token));
    sha256_final (&sum, digest);
    HASH_FIND (hh, r->entries, digest, SHA256_SIZE, t);
    if (t && t->pending && wait_for (t, req) < 0) {
        http_request_unknown (req, -ENOMEM, "out of memory");
    } else if (t && !t->pending && clock_mono () < t->expires) {
        settle (t, req);
    } else if (!t || !t->pending) {
        if (t)
            forget (r, t);
        begin_review (b, req, token, digest);
    }
}

/* -- life -- */

static int check_executor (const struct broker *b, const struct config *c,
                           struct error *err)
{
    const struct settings *set = service_settings (c, &place);

    if (set->users && !broker_ops (b)->review)
        return error_set (err, EINVAL,
                          "token-users: the executor %s has no service accounts",
                          broker_ops (b)->name);
    return 0;
}

static int begin (struct broker *b, struct error *err)
{
    int rc = check_executor (b, broker_config (b), err);

    if (rc == 0)
        http_server_set_review (broker_http (b), settings_of (b)->users ? review : NULL);
    return rc;
}

static int check_reload (struct broker *b, const struct config *c, struct error *err)
{
    return check_executor (b, c, err);
}

/* Answers for an earlier audience go. */
static void reloaded (struct broker *b, const struct config *old)
{
    struct reviews *r = state_of (b);
    struct answer *t, *next;

    (void)old;
    HASH_ITER (hh, r->entries, t, next) {
        t->stale = true;
        if (!t->pending)
            forget (r, t);
    }
    http_server_set_review (broker_http (b), settings_of (b)->users ? review : NULL);
}

/* The executor has gone, and the server: requests that still wait are only freed. */
static void release (struct broker *b)
{
    struct reviews *r = state_of (b);
    struct answer *t, *next;

    HASH_ITER (hh, r->entries, t, next) {
        if (t->pending)
            t->rc = -ECANCELED;
        settle_all (t);
        forget (r, t);
    }
}

const struct broker_service service_tokenreview = {
    .name = "tokenreview",
    .place = &place,
    .state_size = sizeof (struct reviews),
    .settings = &settings,
    .begin = begin,
    .check_reload = check_reload,
    .reloaded = reloaded,
    .release = release,
};
