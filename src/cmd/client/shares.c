/* shares.c - see shares.h */
#include "cmd/client/shares.h"

#define PAGE 10000 /* users */

int cmd_get_shares (struct cmd *c, json_t **ret)
{
    json_t *all = NULL, *page, *next;

    do {
        char target[96];
        snprintf (target, sizeof (target), "/v1/fair-share?limit=%d", PAGE);
        if (all) {
            size_t len = strlen (target);
            snprintf (target + len, sizeof (target) - len, "&after=%.0f",
                      json_number_value (json_object_get (all, "next")));
        }
        if (cmd_get (c, target, &page) != CMD_OK) {
            json_decref (all);
            return c->status;
        }
        next = json_object_get (page, "next");
        if (!all) {
            all = json_incref (page);
        } else {
            json_array_extend (json_object_get (all, "users"),
                               json_object_get (page, "users"));
            json_object_set (all, "next", next);
        }
        json_decref (page);
    } while (json_is_integer (json_object_get (all, "next")));
    *ret = all;
    return CMD_OK;
}
