/* reservation.c - the record of a reservation, to JSON and back */
#include <errno.h>
#include <string.h>

#include "broker/services/reserve/reserve.h"

int reservation_check_name (const char *name, struct error *err)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-_.";
    size_t len = strlen (name);

    if (len > 0 && len <= RESERVATION_NAME_MAX && strspn (name, allowed) == len)
        return 0;
    return error_set (
        err, EINVAL,
        "'%.64s' cannot be the name of a reservation: 1 to %d letters, digits, "
        "'-', '_' and '.'",
        name, RESERVATION_NAME_MAX);
}

struct reservation *reservation_create (const char *name, double start, double end,
                                        struct error *err)
{
    struct reservation *r = calloc (1, sizeof (*r));

    if (!r || !(r->name = strdup (name)) || !(r->nodes = hostlist_create ())) {
        reservation_destroy (r);
        error_set (err, ENOMEM, "out of memory");
        return NULL;
    }
    r->start = start;
    r->end = end;
    return r;
}

void reservation_destroy (struct reservation *r)
{
    if (!r)
        return;
    realm_destroy (r->realm);
    hostlist_destroy (r->nodes);
    for (size_t i = 0; i < r->nusers; i++)
        free (r->users[i].name);
    free (r->users);
    free (r->name);
    free (r->by);
    free (r->note);
    free (r);
}

int reservation_add_user (struct reservation *r, const char *name, uid_t uid)
{
    struct reserve_user *users = realloc (r->users, (r->nusers + 1) * sizeof (*users));
    char *copy = strdup (name);

    if (users)
        r->users = users;
    if (!users || !copy) {
        free (copy);
        return -ENOMEM;
    }
    r->users[r->nusers++] = (struct reserve_user){ copy, uid };
    return 0;
}

bool reservation_admits (const struct reservation *r, uid_t uid)
{
    bool found = false;

    for (size_t i = 0; i < r->nusers && !found; i++)
        found = r->users[i].uid == uid;
    return found;
}

/* -- JSON -- */

json_t *reservation_to_json (const struct reservation *r)
{
    autofree char *nodes = hostlist_encode (r->nodes);
    json_t *users = json_array ();

    for (size_t i = 0; i < r->nusers; i++)
        json_array_append_new (users, json_pack ("{s:s s:I}", "name", r->users[i].name,
                                                 "uid", (json_int_t)r->users[i].uid));
    if (!nodes || json_array_size (users) != r->nusers) {
        json_decref (users);
        return NULL;
    }
    return json_pack ("{s:s s:f s:f s:f s:b s:s s:o s:s? s:s?}", "name", r->name, "start",
                      r->start, "end", r->end, "made", r->made, "maintenance",
                      (int)r->maintenance, "nodes", nodes, "users", users, "by", r->by,
                      "note", r->note);
}

static int read_users (struct reservation *r, const json_t *list, const char *where,
                       struct error *err)
{
    const char *name = NULL;
    int64_t uid = 0;
    json_t *user;
    size_t i;

    json_array_foreach (list, i, user) {
        if (json_get_string (user, "name", &name, JSON_REQUIRED, where, err) < 0
            || json_get_int (user, "uid", 0, UINT32_MAX, &uid, JSON_REQUIRED, where, err)
                   < 0)
            return -EINVAL;
        if (reservation_add_user (r, name, (uid_t)uid) < 0)
            return error_set (err, ENOMEM, "out of memory");
    }
    return 0;
}

static int copy_text (char **ret, const json_t *o, const char *key)
{
    const char *text = json_string_value (json_object_get (o, key));

    return text && !(*ret = strdup (text)) ? -ENOMEM : 0;
}

static int read_json (struct reservation *r, const json_t *o, const char *where,
                      struct error *err)
{
    const char *nodes = NULL;
    json_t *users = NULL;

    if (json_get_double (o, "start", 0, JOBSPEC_TIME_MAX, &r->start, JSON_REQUIRED, where,
                         err)
            < 0
        || json_get_double (o, "end", 0, JOBSPEC_TIME_MAX, &r->end, JSON_REQUIRED, where,
                            err)
               < 0
        || json_get_double (o, "made", 0, JOBSPEC_TIME_MAX, &r->made, JSON_REQUIRED,
                            where, err)
               < 0
        || json_get_bool (o, "maintenance", &r->maintenance, JSON_REQUIRED, where, err)
               < 0
        || json_get_string (o, "nodes", &nodes, JSON_REQUIRED, where, err) < 0
        || json_get_array (o, "users", &users, JSON_REQUIRED, where, err) < 0)
        return -EINVAL;
    hostlist_destroy (r->nodes);
    if (!(r->nodes = hostlist_decode (nodes, HOSTLIST_MAX, err)))
        return -EINVAL;
    if (copy_text (&r->by, o, "by") < 0 || copy_text (&r->note, o, "note") < 0)
        return error_set (err, ENOMEM, "out of memory");
    return read_users (r, users, where, err);
}

struct reservation *reservation_from_json (const char *name, const char *text,
                                           struct error *err)
{
    struct reservation *r = reservation_create (name, 0, 0, err);
    autojson json_t *o = r ? json_parse (text, strlen (text), name, err) : NULL;

    if (o && read_json (r, o, name, err) == 0)
        return r;
    reservation_destroy (r);
    return NULL;
}
