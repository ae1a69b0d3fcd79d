/* operators.c - see operators.h
 */
#include "broker/core/operators.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

#include "common/macros.h"

#define GROUP_MARK '@'

struct operators {
    struct list {
        uid_t *uids;
        gid_t *gids;
        size_t nuids, ngids, alloc_uids, alloc_gids;
    } * lists; /* of the site, then of each queue */
    size_t n;
    bool groups; /* some list has a group */
};

struct operators *operators_create (size_t nqueues)
{
    struct operators *o = calloc (1, sizeof (*o));

    if (o && !(o->lists = calloc (nqueues + 1, sizeof (*o->lists)))) {
        free (o);
        return NULL;
    }
    if (o)
        o->n = nqueues + 1;
    return o;
}

void operators_destroy (struct operators *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->n; i++) {
        free (o->lists[i].uids);
        free (o->lists[i].gids);
    }
    free (o->lists);
    free (o);
}

int operators_add (struct operators *o, int queue, uid_t uid)
{
    struct list *l = &o->lists[queue + 1];

    if (array_reserve (&l->uids, &l->alloc_uids, l->nuids + 1, sizeof (uid)) < 0)
        return -ENOMEM;
    l->uids[l->nuids++] = uid;
    return 0;
}

static int add_group (struct operators *o, int queue, gid_t gid)
{
    struct list *l = &o->lists[queue + 1];

    if (array_reserve (&l->gids, &l->alloc_gids, l->ngids + 1, sizeof (gid)) < 0)
        return -ENOMEM;
    l->gids[l->ngids++] = gid;
    o->groups = true;
    return 0;
}

/* what: the key, for messages. */
static int find_name (struct operators *o, int queue, const char *name, const char *what,
                      struct error *err)
{
    bool is_group = name[0] == GROUP_MARK;
    const struct group *gr = is_group ? getgrnam (name + 1) : NULL;
    const struct passwd *pw = is_group ? NULL : getpwnam (name);

    if (!gr && !pw)
        return error_set (err, ENOENT, "%s: there is no %s '%s'", what,
                          is_group ? "group" : "user", name + is_group);
    int rc = gr ? add_group (o, queue, gr->gr_gid) : operators_add (o, queue, pw->pw_uid);
    return rc < 0 ? error_no_memory (err, NULL) : 0;
}

static int find_names (struct operators *o, int queue, char *const *names,
                       const char *what, struct error *err)
{
    for (; names && *names; names++)
        if (find_name (o, queue, *names, what, err) < 0)
            return -err->code;
    return 0;
}

struct operators *operators_find (const struct config *c, struct error *err)
{
    struct operators *o = operators_create (c->nqueues);
    char what[100];

    if (!o) {
        error_no_memory (err, NULL);
        return NULL;
    }
    int rc = find_names (o, OPERATORS_SITE, c->operators, "operators", err);
    for (size_t i = 0; i < c->nqueues && rc == 0; i++) {
        snprintf (what, sizeof (what), "queue %s: operators", c->queues[i].name);
        rc = find_names (o, (int)i, c->queues[i].operators, what, err);
    }
    if (rc == 0)
        return o;
    operators_destroy (o);
    return NULL;
}

bool operators_have_user (const struct operators *o, int queue, uid_t uid,
                          struct users *users)
{
    const struct list *l = o && queue + 1 < (int)o->n ? &o->lists[queue + 1] : NULL;

    for (size_t i = 0; l && i < l->nuids; i++)
        if (l->uids[i] == uid)
            return true;
    return l && l->ngids > 0 && users_in_groups (users, uid, l->gids, l->ngids);
}

bool operators_have_groups (const struct operators *o)
{
    return o && o->groups;
}
