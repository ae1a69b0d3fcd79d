/* tokens.c - POST /v1/token makes a JSON web token for a user, POST /v1/token/revoke ends
 * tokens before their time
 *
 * The broker keeps no list of tokens. A revocation is a time: tokens of a user, or of all
 * users, that were made up to that time are refused. It is a setting of the journal,
 * "tokens/UID" or "tokens/all". A token that is made in the second of a revocation gets
 * the next second as its time, so that it is not revoked with the others; and a revocation
 * of all tokens until now covers such tokens, too.
 */
#include <uthash.h>

#include "broker/api/api.h"
#include "broker/core/service.h"
#include "broker/core/users.h"
#include "common/clock.h"
#include "common/parse.h"
#include "common/sha256.h"
#include "net/token.h"

#define LIFESPAN_DEFAULT 1800        /* seconds, as in Slurm */
#define LIFESPAN_MAX (INT32_MAX - 1) /* Slurm's "infinite" */

/* -- settings and state -- */

struct settings {
    char *key, *public_key; /* files; NULL: none */
    int64_t most;           /* seconds */
};

struct revocation {
    UT_hash_handle hh;
    uint32_t uid;
    int64_t until; /* tokens made up to this unix time are refused */
};

struct tokens {
    struct token_key *key;  /* NULL: the broker takes no tokens */
    struct token_key *next; /* of the configuration that may replace the current one */
    struct revocation *of_users;
    int64_t of_all;
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "token-key", value_string, AT (key), 0, 0, NULL },
    { "token-public-key", value_string, AT (public_key), 0, 0, NULL },
    { "token-lifespan-max", value_int, AT (most), 1, LIFESPAN_MAX, NULL },
    { 0 },
};
static const struct settings defaults = { .most = LIFESPAN_MAX };
static struct service_place place;
SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct tokens)

/* -- the key -- */

/* 0 and a key, or NULL when none is configured. */
static int read_key (const struct config *c, struct token_key **ret, struct error *err)
{
    const struct settings *set = service_settings (c, &place);
    struct error own = { 0 };

    *ret = NULL;
    if (!set->key && !set->public_key)
        return 0;
    if (!(*ret = token_key_read (set->key, set->public_key, &own)))
        return error_set (err, EINVAL, "%s: %s",
                          set->key ? "token-key" : "token-public-key", own.text);
    return 0;
}

/* NULL: there is none. */
static struct revocation *of_user (const struct tokens *t, uint32_t uid)
{
    struct revocation *r;

    HASH_FIND (hh, t->of_users, &uid, sizeof (uid), r);
    return r;
}

static bool is_revoked (uid_t uid, int64_t issued, void *arg)
{
    const struct tokens *t = state_of (arg);
    const struct revocation *r = of_user (t, uid);

    return issued <= t->of_all || (r && issued <= r->until);
}

static void use_key (struct broker *b, struct token_key *key)
{
    struct tokens *t = state_of (b);
    struct http_tokens tokens = { key, users_uid_of, is_revoked };

    token_key_release (t->key);
    t->key = key;
    http_server_set_tokens (broker_http (b), key ? &tokens : NULL);
}

static int begin (struct broker *b, struct error *err)
{
    struct token_key *key;
    int rc = read_key (broker_config (b), &key, err);

    if (rc == 0)
        use_key (b, key);
    return rc;
}

static int check_reload (struct broker *b, const struct config *c, struct error *err)
{
    struct tokens *t = state_of (b);

    token_key_release (t->next);
    return read_key (c, &t->next, err);
}

static void reloaded (struct broker *b, const struct config *old)
{
    struct tokens *t = state_of (b);
    struct token_key *key = t->next;

    (void)old;
    t->next = NULL;
    use_key (b, key);
}

/* -- revocations -- */

/* The time of the last revocation that concerns tokens of the user; uid -1: of anybody. */
static int64_t last_revocation (const struct tokens *t, uid_t uid)
{
    int64_t last = t->of_all;
    struct revocation *r, *next;

    HASH_ITER (hh, t->of_users, r, next) {
        if (uid == (uid_t)-1 || r->uid == uid)
            last = MAX (last, r->until);
    }
    return last;
}

/* Keeps the later time. 0 or -ENOMEM. */
static int note_revocation (struct tokens *t, uint32_t uid, int64_t until)
{
    struct revocation *r = of_user (t, uid);

    if (!r) {
        if (!(r = calloc (1, sizeof (*r))))
            return -ENOMEM;
        r->uid = uid;
        HASH_ADD (hh, t->of_users, uid, sizeof (r->uid), r);
    }
    r->until = MAX (r->until, until);
    return 0;
}

static int load_revocation (const char *name, const char *value, void *arg)
{
    struct tokens *t = arg;
    int64_t uid = 0, until;

    if (strncmp (name, "tokens/", 7) != 0)
        return 0;
    bool all = !strcmp (name + 7, "all");
    if ((!all && parse_int (name + 7, 0, UINT32_MAX, &uid, name, NULL) < 0)
        || parse_int (value, 0, INT64_MAX, &until, name, NULL) < 0) {
        log_error ("journal: setting %s is not a revocation of tokens: %s", name, value);
        return -EBADMSG;
    }
    if (all)
        t->of_all = until;
    return all ? 0 : note_revocation (t, (uint32_t)uid, until);
}

static int load (struct broker *b, struct error *err)
{
    return journal_load_settings (broker_journal (b), load_revocation, state_of (b), err);
}

static void release (struct broker *b)
{
    struct tokens *t = state_of (b);
    struct revocation *r, *next;

    HASH_ITER (hh, t->of_users, r, next) {
        HASH_DEL (t->of_users, r);
        free (r);
    }
    token_key_release (t->key);
    token_key_release (t->next);
}

/* -- a request: the user is looked up, the token is made on a worker thread -- */

struct wish {
    uv_work_t work;
    struct broker *b;
    struct http_request *req; /* owned until its reply */
    struct token_key *key;
    bool revokes;
    bool others;      /* the caller may ask for other users */
    int64_t lifespan; /* seconds */
    int64_t before;   /* of a revocation; 0: all tokens that exist */
    int64_t issued;
    char *user;
    char *token;
    struct error err;
};

static void drop (struct wish *w)
{
    if (w->token)
        secret_wipe (w->token, strlen (w->token));
    token_key_release (w->key);
    free (w->token);
    free (w->user);
    free (w);
}

static void on_worker (uv_work_t *work)
{
    struct wish *w = work->data;

    w->token = token_make (w->key, w->user, w->issued, w->issued + w->lifespan, &w->err);
}

static void after_worker (uv_work_t *work, int status)
{
    struct wish *w = work->data;

    broker_work_ends (w->b);
    if (status < 0 || !w->token)
        http_reply_problem (w->req, 503, "busy", "no token was made: %s",
                            status < 0 ? "the broker stops" : w->err.text);
    else
        api_reply_json (w->req, 200,
                        json_pack ("{s:s s:s s:I}", "user", w->user, "token", w->token,
                                   "expires", (json_int_t)(w->issued + w->lifespan)));
    drop (w);
}

static void make (struct wish *w, uid_t uid)
{
    const struct tokens *t = state_of (w->b);

    w->issued = MAX ((int64_t)clock_wall (), last_revocation (t, uid) + 1);
    w->work.data = w;
    if (uv_queue_work (broker_loop (w->b), &w->work, on_worker, after_worker) == 0) {
        broker_work_begins (w->b);
        return;
    }
    http_reply_problem (w->req, 503, "busy", "out of memory");
    drop (w);
}

/* uid -1: of all users; before 0: all tokens that exist. Takes effect at once, and is
 * answered when it is on disk. */
static void revoke_of (struct broker *b, struct http_request *req, uid_t uid,
                       int64_t before)
{
    struct tokens *t = state_of (b);
    struct journal_txn *txn = journal_txn_create ();
    int64_t until =
        before ? before : MAX ((int64_t)clock_wall (), last_revocation (t, uid) + 1);
    char name[32] = "tokens/all", value[24];

    if (!txn || (uid != (uid_t)-1 && note_revocation (t, uid, until) < 0)) {
        journal_txn_destroy (txn);
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    if (uid == (uid_t)-1)
        t->of_all = MAX (t->of_all, until);
    else
        snprintf (name, sizeof (name), "tokens/%u", (unsigned)uid);
    until = MAX (until, uid == (uid_t)-1 ? t->of_all : of_user (t, uid)->until);
    snprintf (value, sizeof (value), "%jd", (intmax_t)until);
    journal_txn_setting (txn, name, value);
    log_info ("tokens of %s are revoked that were made until %s",
              uid == (uid_t)-1 ? "all users" : name + 7, value);
    api_commit_setting (b, req, txn);
}

static void found_user (int rc, const struct exec_user *user, void *arg)
{
    struct wish *w = arg;
    uid_t caller = http_request_uid (w->req);

    broker_work_ends (w->b);
    if (rc == -ENOENT) {
        http_reply_problem (w->req, 404, "unknown-user", "there is no user %s",
                            w->user ? w->user : "with the caller's uid");
    } else if (rc < 0) {
        http_reply_problem (w->req, 503, "busy", "look-up of the user: %s",
                            strerror (-rc));
    } else if (user->uid != caller && !w->others) {
        http_reply_problem (w->req, 403, "not-operator",
                            w->revokes ? "only administrators may revoke others' tokens"
                                       : "only root and the broker's user may make "
                                         "tokens of others");
    } else if (w->revokes) {
        revoke_of (w->b, w->req, user->uid, w->before);
    } else {
        free (w->user);
        if ((w->user = strdup (user->name))) {
            make (w, user->uid);
            return;
        }
        http_reply_problem (w->req, 503, "busy", "out of memory");
    }
    drop (w);
}

/* Takes w over; user NULL: the caller. */
static void find_user (struct wish *w, const char *user)
{
    struct users *users = broker_users (w->b);

    broker_work_begins (w->b);
    if (user && !(w->user = strdup (user)))
        found_user (-ENOMEM, NULL, w);
    else if (user)
        users_find_named (users, user, found_user, w);
    else
        users_find (users, http_request_uid (w->req), found_user, w);
}

static struct wish *new_wish (struct broker *b, struct http_request *req)
{
    struct wish *w = calloc (1, sizeof (*w));

    if (w) {
        w->b = b;
        w->req = req;
    } else {
        http_reply_problem (req, 503, "busy", "out of memory");
    }
    return w;
}

/* -- POST /v1/token -- */

/* The lifespan of the request, in seconds; 0: refused. */
static int64_t lifespan_of (struct broker *b, struct http_request *req, json_t *body)
{
    int64_t most = settings_of (b)->most, seconds = MIN (most, LIFESPAN_DEFAULT);
    const json_t *o = json_object_get (body, "lifespan");

    if (json_is_string (o) && !strcmp (json_string_value (o), "infinite"))
        seconds = LIFESPAN_MAX;
    else if (json_is_integer (o))
        seconds = json_integer_value (o);
    else if (o)
        seconds = 0;
    if (seconds >= 1 && seconds <= most)
        return seconds;
    http_reply_problem (req, 400, "bad-request",
                        "lifespan: a number of seconds from 1 to %jd%s", (intmax_t)most,
                        most == LIFESPAN_MAX ? ", or \"infinite\"" : "");
    return 0;
}

static void api_token (struct broker *b, struct http_request *req,
                       const struct api_path *path)
{
    static const char *const allowed[] = { "user", "lifespan", NULL };
    struct token_key *key = state_of (b)->key;
    autojson json_t *body = api_body (req, allowed);
    const char *user = body ? json_string_value (json_object_get (body, "user")) : NULL;
    int64_t lifespan;
    struct wish *w;

    if (!body)
        return;
    if (!key || !token_key_can_sign (key))
        http_reply_problem (
            req, 409, "no-tokens",
            key ? "this broker has no key to make tokens with, only to "
                  "read them (token-key: in fluxq.yaml)"
                : "this broker makes no tokens (token-key: in fluxq.yaml)");
    else if (http_request_has_token (req))
        http_reply_problem (req, 403, "by-token",
                            "a token makes no further tokens: they would outlive it");
    else if (json_object_get (body, "user") && !user)
        http_reply_problem (req, 400, "bad-request", "user: not a text");
    else if ((lifespan = lifespan_of (b, req, body)) && (w = new_wish (b, req))) {
        w->key = token_key_keep (key);
        w->lifespan = lifespan;
        w->others = api_may (b, req, path->route->roles, NULL);
        find_user (w, user);
    }
}

/* -- POST /v1/token/revoke -- */

static bool get_before (struct http_request *req, json_t *body, int64_t *ret)
{
    const json_t *o = json_object_get (body, "before");

    *ret = json_integer_value (o);
    if (!o || (json_is_integer (o) && *ret >= 1 && *ret <= (int64_t)clock_wall ()))
        return true;
    http_reply_problem (req, 400, "bad-request", "before: a unix time that has passed");
    return false;
}

static void api_revoke (struct broker *b, struct http_request *req,
                        const struct api_path *path)
{
    static const char *const allowed[] = { "user", "all", "before", NULL };
    autojson json_t *body = api_body (req, allowed);
    const json_t *user = body ? json_object_get (body, "user") : NULL;
    bool all = json_is_true (json_object_get (body, "all"));
    struct wish *w;
    int64_t before;

    if (!body || !get_before (req, body, &before))
        return;
    if ((user && !json_is_string (user)) || (all && user))
        http_reply_problem (req, 400, "bad-request",
                            "user: not a text, or given together with all");
    else if (all && !api_may (b, req, path->route->roles, NULL))
        http_reply_problem (req, 403, "not-operator",
                            "only administrators may revoke others' tokens");
    else if (all)
        revoke_of (b, req, (uid_t)-1, before);
    else if ((w = new_wish (b, req))) {
        w->revokes = true;
        w->before = before;
        w->others = api_may (b, req, path->route->roles, NULL);
        find_user (w, json_string_value (user));
    }
}

static const struct api_route routes[] = {
    { "POST", "/v1/token", api_token, ROLE_OWNER | ROLE_ROOT, "token" },
    { "POST", "/v1/token/revoke", api_revoke, ROLE_OWNER, "revoke" },
    { 0 },
};

const struct broker_service service_tokens = {
    .name = "tokens",
    .place = &place,
    .state_size = sizeof (struct tokens),
    .settings = &settings,
    .load = load,
    .begin = begin,
    .check_reload = check_reload,
    .reloaded = reloaded,
    .release = release,
    .routes = routes,
};
