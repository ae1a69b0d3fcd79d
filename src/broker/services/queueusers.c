/* queueusers.c - see queueusers.h
 */
#include "broker/services/queueusers.h"

#define NAMES_MAX 400 /* bytes of names in an error */

static bool has_name (char *const *list, const char *name)
{
    for (; list && *list && name; list++)
        if (!strcmp (*list, name))
            return true;
    return false;
}

static void add_names (struct strbuf *sb, const char *kind, char *const *list)
{
    for (; list && *list; list++)
        strbuf_addf (sb, "%s%s %s", sb->len ? ", " : "", kind, *list);
}

int queueusers_check (const struct config_queue *q, const struct exec_user *user,
                      struct error *err)
{
    autostrbuf struct strbuf who = STRBUF_INIT (NAMES_MAX);
    bool may = (!q->users && !q->groups) || has_name (q->users, user->name);

    for (size_t i = 0; !may && user->group_names && i < user->ngroups; i++)
        may = has_name (q->groups, user->group_names[i]);
    if (may)
        return 0;
    add_names (&who, "user", q->users);
    add_names (&who, "group", q->groups);
    const char *others = who.err == -ENOMEM ? "others" : "operators alone";
    return error_set (err, EPERM, "queue %s is not for %s, but for %s; choose another",
                      q->name, user->name, who.len ? who.buf : others);
}
