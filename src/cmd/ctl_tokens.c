/* ctl_tokens.c - see ctl_tokens.h */
#include "cmd/ctl_tokens.h"

#include "common/clock.h"
#include "jobspec/attributes/datetime.h"

static int revoke_one (struct cmd *c, const char *user, bool all, double before)
{
    json_t *o = NULL, *body = json_pack ("{s:s*}", "user", user);

    if (all)
        json_object_set_new (body, "all", json_true ());
    if (before > 0)
        json_object_set_new (body, "before", json_integer ((json_int_t)before));
    int status = cmd_call (c, "POST", "/v1/token/revoke", body, &o);
    json_decref (o);
    return status;
}

int tokens_revoke (struct cmd *c, const char *const *users, size_t n, bool all,
                   const char *before)
{
    struct error err = { 0 };
    double time = 0;
    int status = CMD_OK;

    if (all && n > 0)
        return cmd_usage (c, "revoke-tokens: either --all or names of users");
    if (before && datetime_parse (before, clock_wall (), &time, "--before", &err) < 0)
        return cmd_usage (c, "%s", err.text);
    if (n == 0)
        return revoke_one (c, NULL, all, time);
    for (size_t i = 0; i < n && status != CMD_INTERRUPTED; i++) {
        int rc = revoke_one (c, users[i], false, time);
        status = rc ? rc : status;
    }
    return status;
}
