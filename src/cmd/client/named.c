/* named.c - see named.h */
#include "cmd/client/named.h"

#include <pwd.h>

/* Whether the broker has a job of the user or queue, ended ones included. */
static bool has_jobs (struct cmd *c, const char *parameter, const char *name)
{
    autostrbuf struct strbuf target = STRBUF_INIT (4096);
    json_t *answer;

    strbuf_adds (&target, "/v1/jobs?state=all&limit=1");
    target_add (&target, parameter, name);
    if (cmd_get (c, target.buf, &answer) != CMD_OK)
        return true; /* the reason was printed */
    bool some = json_array_size (json_object_get (answer, "jobs")) > 0;
    json_decref (answer);
    return some;
}

bool named_user_exists (struct cmd *c, const char *name)
{
    return getpwnam (name) || !strcmp (name, "me") || has_jobs (c, "user", name);
}

int named_users_check (struct cmd *c, const char *names)
{
    autofree char *copy = names ? strdup (names) : NULL;
    char *next = copy, *name;

    while (c->status == CMD_OK && (name = strsep (&next, ",")) != NULL) {
        bool number = *name && name[strspn (name, "0123456789")] == '\0';
        if (*name && !number && !named_user_exists (c, name))
            cmd_fail (c, "there is no user '%s'", name);
    }
    return c->status;
}

static bool has_queue (const json_t *answer, const char *name)
{
    const json_t *queues = json_object_get (answer, "queues");

    for (size_t i = 0; i < json_array_size (queues); i++) {
        if (!strcmp (json_text (json_array_get (queues, i), "name"), name))
            return true;
    }
    return false;
}

int named_queues_check (struct cmd *c, const char *names)
{
    autofree char *copy = names ? strdup (names) : NULL;
    char *next = copy, *name;
    json_t *answer;

    if (!names)
        return CMD_OK;
    if (cmd_get (c, "/v1/queues", &answer) != CMD_OK)
        return c->status;
    while (c->status == CMD_OK && (name = strsep (&next, ",")) != NULL) {
        if (*name && !has_queue (answer, name) && !has_jobs (c, "queue", name))
            cmd_fail (c, "there is no queue '%s'", name);
    }
    json_decref (answer);
    return c->status;
}
