/* reservations.c - listing, making and removing reservations
 *
 *   body --> name, times, nodes --> users (worker thread) --> plan --> journal --> 201
 */
#include "broker/api/api.h"
#include "broker/core/service.h"
#include "broker/services/reserve/reserve.h"
#include "common/clock.h"
#include "common/parse.h"
#include "common/printable.h"

#define A_MOMENT 60.0 /* seconds; a start of "now" is past when the request arrives */

/* -- GET /v1/reservations -- */

/* Removes all users but this one. */
static void keep_own (json_t *users, uid_t uid)
{
    for (size_t i = json_array_size (users); i-- > 0;)
        if (json_integer_value (json_object_get (json_array_get (users, i), "uid"))
            != (json_int_t)uid)
            json_array_remove (users, i);
}

static void api_reservations (struct broker *b, struct http_request *req,
                              const struct api_path *path)
{
    json_t *list = json_array (), *o = list;

    (void)path;
    for (const struct reservation *r = reserve_list (b); r && o; r = r->hh.next) {
        o = reservation_to_json (r);
        if (broker_config (b)->private_parts & PRIVATE_JOBS
            && !api_may (b, req, ROLE_ADMINISTRATOR, NULL))
            keep_own (json_object_get (o, "users"), http_request_uid (req));
        json_object_set_new (o, "state", json_string (r->active ? "active" : "planned"));
        json_object_set_new (o, "nnodes",
                             json_integer ((json_int_t)hostlist_count (r->nodes)));
        json_array_append_new (list, o);
    }
    if (!o) {
        json_decref (list);
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    api_reply_json (req, 200, json_pack ("{s:o}", "reservations", list));
}

/* -- POST /v1/reservations -- */

struct making {
    struct broker *b;
    struct http_request *req; /* NULL: the client left */
    uv_work_t work;
    struct reservation *r; /* until reserve_make() takes it over */
    char name[RESERVATION_NAME_MAX + 1];
    int64_t nodes; /* number to choose; 0: r->nodes */
    bool ignore_running;
    struct error err;
};

static void making_free (struct making *k)
{
    broker_work_ends (k->b);
    reservation_destroy (k->r);
    free (k);
}

static void client_left (void *aux)
{
    ((struct making *)aux)->req = NULL;
}

static void refuse (struct making *k, int status, const char *code)
{
    if (k->req) {
        http_request_set_aux (k->req, NULL, NULL);
        http_reply_problem (k->req, status, code, "%s", k->err.text);
    }
    making_free (k);
}

static void committed (int rc, const struct error *err, void *arg)
{
    struct making *k = arg;
    struct reservation *r = reserve_find (k->b, k->name);

    if (rc < 0) {
        log_warning ("reservation %s was refused: %s", k->name, err->text);
        if (r)
            reserve_remove (k->b, r);
        error_set (&k->err, EIO, "%s", err->text);
        refuse (k, 503, "journal");
        return;
    }
    if (k->req) {
        json_t *o = r ? reservation_to_json (r) : NULL;
        http_request_set_aux (k->req, NULL, NULL);
        api_reply_json (k->req, 201, o ? o : json_pack ("{s:s}", "name", k->name));
    }
    making_free (k);
}

/* The users are known. */
static void make (struct making *k)
{
    struct broker *b = k->b;
    int rc = reserve_make (b, k->r, (size_t)k->nodes, k->ignore_running, &k->err);

    if (rc < 0) {
        refuse (k,
                rc == -ENOMEM   ? 503
                : rc == -ENOENT ? 404
                                : 409,
                rc == -ENOMEM   ? "busy"
                : rc == -ENOENT ? "unknown-node"
                                : "wrong-state");
        return;
    }
    struct journal_txn *t = reserve_txn (b, k->r, false);
    k->r = NULL;
    if (t && journal_commit (broker_journal (b), t, JOURNAL_MAY_FAIL, committed, k) == 0)
        return;
    reserve_remove (b, reserve_find (b, k->name));
    error_set (&k->err, ENOMEM,
               "too many requests wait for the disk; try again in a "
               "second");
    refuse (k, 503, "busy");
}

/* On a worker thread: looks up the users' uids, and the caller's name. */
static void find_users (uv_work_t *w)
{
    struct making *k = w->data;

    for (size_t i = 0; i < k->r->nusers && !k->err.code; i++) {
        struct reserve_user *u = &k->r->users[i];
        int rc = users_uid_of (u->name, &u->uid);
        if (rc == -ENOENT)
            error_set (&k->err, ENOENT, "there is no user %s", u->name);
        else if (rc < 0)
            error_set (&k->err, EAGAIN, "user %s cannot be looked up now: %s", u->name,
                       strerror (-rc));
    }
}

static void users_found (uv_work_t *w, int status)
{
    struct making *k = w->data;

    if (status < 0 || broker_is_dead (k->b) || broker_is_stopping (k->b)) {
        error_set (&k->err, ESHUTDOWN, "the broker is about to stop");
        refuse (k, 503, "busy");
    } else if (!k->req) {
        making_free (k); /* the client would not learn of the reservation */
    } else if (k->err.code) {
        refuse (k, k->err.code == ENOENT ? 422 : 503,
                k->err.code == ENOENT ? "unknown-user" : "busy");
    } else {
        make (k);
    }
}

static void asker_known (int rc, const struct exec_user *user, void *arg)
{
    struct making *k = arg;
    char number[16];

    if (!k->req) {
        making_free (k);
        return;
    }
    snprintf (number, sizeof (number), "%u", (unsigned)http_request_uid (k->req));
    k->r->by = strdup (rc == 0 ? user->name : number);
    k->work.data = k;
    if (k->r->by
        && uv_queue_work (broker_loop (k->b), &k->work, find_users, users_found) == 0)
        return;
    error_set (&k->err, ENOMEM, "out of memory");
    refuse (k, 503, "busy");
}

/* -- the body -- */

static int read_times (const json_t *o, double *start, double *end, struct error *err)
{
    double now = clock_wall (), duration = 0;

    *start = now;
    if (json_get_double (o, "start", 0, JOBSPEC_TIME_MAX, start, JSON_OPTIONAL_KEY,
                         "request", err)
            < 0
        || json_get_double (o, "duration", 0, JOBSPEC_DURATION_MAX, &duration,
                            JSON_REQUIRED, "request", err)
               < 0)
        return -EINVAL;
    if (*start < now - A_MOMENT)
        return error_set (err, EINVAL, "start: that time is in the past");
    *start = MAX (*start, now);
    if (duration < 1)
        return error_set (err, EINVAL, "duration: it must last at least a second");
    if (duration > RESERVATION_SECONDS_MAX || *start > now + RESERVATION_SECONDS_MAX)
        return error_set (err, EINVAL, "%s: a reservation lasts at most 366 days",
                          duration > RESERVATION_SECONDS_MAX ? "duration" : "start");
    *end = *start + duration;
    return 0;
}

static int read_users (struct reservation *r, const json_t *o, struct error *err)
{
    json_t *list = NULL, *name;
    size_t i;

    if (json_get_array (o, "users", &list, JSON_OPTIONAL_KEY, "request", err) < 0
        || json_get_bool (o, "maintenance", &r->maintenance, JSON_OPTIONAL_KEY, "request",
                          err)
               < 0)
        return -EINVAL;
    if ((json_array_size (list) > 0) == r->maintenance)
        return error_set (err, EINVAL,
                          "either users or maintenance is required, not both");
    if (json_array_size (list) > RESERVATION_USERS_MAX)
        return error_set (err, EINVAL, "users: more than %d", RESERVATION_USERS_MAX);
    json_array_foreach (list, i, name) {
        if (!json_is_string (name) || !*json_string_value (name))
            return error_set (err, EINVAL, "users: expected names");
        if (reservation_add_user (r, json_string_value (name), 0) < 0)
            return error_set (err, ENOMEM, "out of memory");
    }
    return 0;
}

/* Reads a number ("2") or names. */
static int read_nodes (struct making *k, const json_t *o, struct error *err)
{
    const char *text = NULL;
    int rc = json_get_string (o, "nodes", &text, JSON_REQUIRED, "request", err);

    if (rc < 0)
        return rc;
    if (*text && strspn (text, "0123456789") == strlen (text))
        return parse_int (text, 1, 1 << 24, &k->nodes, "nodes", err);
    struct hostlist *given = api_hosts (k->b, text, err);
    if (!given)
        return error_prefix (err, "nodes");
    if (hostlist_count (given) == 0)
        rc = error_set (err, EINVAL, "nodes: a number, or names as node[1-3]");
    for (size_t i = 0; i < hostlist_count (given) && rc >= 0; i++) {
        const char *name = hostlist_nth (given, i);
        if (machine_node_find (broker_graph (k->b), name) < 0)
            rc = error_set (err, EINVAL, "no node is named %s; fluxq-info lists them",
                            name);
        else if (hostlist_find (k->r->nodes, name) < 0)
            rc = hostlist_append (k->r->nodes, name);
    }
    hostlist_destroy (given);
    return MIN (rc, 0);
}

static int read_body (struct making *k, const json_t *o, struct error *err)
{
    const char *name = k->name, *note = NULL;
    double start = 0, end = 0;

    if (json_get_string (o, "name", &name, JSON_OPTIONAL_KEY, "request", err) < 0
        || json_get_string (o, "note", &note, JSON_OPTIONAL_KEY, "request", err) < 0
        || json_get_bool (o, "ignore-running", &k->ignore_running, JSON_OPTIONAL_KEY,
                          "request", err)
               < 0
        || read_times (o, &start, &end, err) < 0)
        return -EINVAL;
    if (name == k->name)
        reserve_new_name (k->b, k->name, sizeof (k->name));
    else if (reservation_check_name (name, err) < 0)
        return -EINVAL;
    else
        snprintf (k->name, sizeof (k->name), "%s", name);
    if (note && strlen (note) > RESERVATION_NOTE_MAX)
        return error_set (err, EINVAL, "note: more than %d characters",
                          RESERVATION_NOTE_MAX);
    if (note && printable_check (note, "note", err) < 0)
        return -EINVAL;
    if (!(k->r = reservation_create (k->name, start, end, err))
        || (note && *note && !(k->r->note = strdup (note))))
        return -ENOMEM;
    k->r->made = clock_wall ();
    int rc = read_users (k->r, o, err);
    return rc < 0 ? rc : read_nodes (k, o, err);
}

static void api_reservation_make (struct broker *b, struct http_request *req,
                                  const struct api_path *path)
{
    static const char *const keys[] = { "name",  "start",          "duration",
                                        "nodes", "users",          "maintenance",
                                        "note",  "ignore-running", NULL };
    autojson json_t *body = api_body (req, keys);
    struct making *k = body ? calloc (1, sizeof (*k)) : NULL;

    (void)path;
    if (!body)
        return;
    if (!k || broker_is_recovering (b)) {
        free (k);
        http_reply_problem (req, 503, "busy", "the broker does not know its nodes yet");
        return;
    }
    k->b = b;
    broker_work_begins (b);
    k->req = req;
    http_request_set_aux (req, k, client_left);
    int rc = read_body (k, body, &k->err);
    if (rc == -ENOMEM || k->err.code == ENOMEM) {
        error_set (&k->err, ENOMEM, "out of memory");
        refuse (k, 503, "busy");
    } else if (rc < 0) {
        refuse (k, 400, "bad-request");
    } else {
        users_find (broker_users (b), http_request_uid (req), asker_known, k);
    }
}

/* -- POST /v1/reservations/{} -- */

static void api_reservation_set (struct broker *b, struct http_request *req,
                                 const struct api_path *path)
{
    static const char *const keys[] = { "action", NULL };
    autojson json_t *body = api_body (req, keys);
    struct reservation *r = reserve_find (b, path->arg);

    if (!body || !api_action (req, body, "remove", NULL))
        return;
    if (!r) {
        http_reply_problem (req, 404, "unknown-reservation",
                            "there is no reservation %.64s (fluxq-show reservation lists "
                            "them)",
                            path->arg);
        return;
    }
    struct journal_txn *t = reserve_txn (b, r, true);
    if (!t) {
        http_reply_problem (req, 503, "busy", "out of memory");
        return;
    }
    reserve_remove (b, r);
    api_commit_setting (b, req, t);
}

static const struct api_route routes[] = {
    { "GET", "/v1/reservations", api_reservations, ROLE_USER, NULL },
    { "POST", "/v1/reservations", api_reservation_make, ROLE_ADMINISTRATOR, "reserve" },
    { "POST", "/v1/reservations/{}", api_reservation_set, ROLE_ADMINISTRATOR,
      "reservation" },
    { 0 },
};

const struct broker_service service_reservations = {
    .name = "reservations",
    .routes = routes,
};
