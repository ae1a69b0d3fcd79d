/* ctl_reserve.c - fluxq-ctl reserve: makes a request from options */
#include "cmd/ctl_reserve.h"

#include "cmd/print/print.h"
#include "common/clock.h"
#include "common/parse.h"
#include "jobspec/attributes/datetime.h"

bool reserve_take (struct reserve_args *a, const struct option_match *m)
{
    int id = m->desc->id;

    if (id < RESERVE_FIRST || id >= RESERVE_END)
        return false;
    a->text[id - RESERVE_FIRST] = m->value ? m->value : "yes";
    a->given = m->desc->name;
    return true;
}

static const char *text_of (const struct reserve_args *a, int id)
{
    return a->text[id - RESERVE_FIRST];
}

/* Checks that the required options are given, and that options do not conflict. */
static int check (struct cmd *c, const struct reserve_args *a)
{
    static const struct {
        int id;
        const char *name;
    } needed[] = { { RESERVE_START, "--start" },
                   { RESERVE_DURATION, "--duration" },
                   { RESERVE_NODES, "--nodes" } };

    for (size_t i = 0; i < ARRAY_SIZE (needed); i++)
        if (!text_of (a, needed[i].id))
            return cmd_usage (c, "reserve needs %s", needed[i].name);
    if (!text_of (a, RESERVE_USERS) == !text_of (a, RESERVE_MAINTENANCE))
        return cmd_usage (c, "reserve needs either --users or --maintenance");
    return CMD_OK;
}

static json_t *split (const char *list)
{
    json_t *o = json_array ();

    while (*list) {
        size_t len = strcspn (list, ",");
        json_array_append_new (o, json_stringn (list, len));
        list += len + (list[len] == ',');
    }
    return o;
}

static json_t *request (const struct reserve_args *a, double start, double duration)
{
    json_t *o = json_pack ("{s:f s:f s:s s:s* s:s*}", "start", start, "duration",
                           duration, "nodes", text_of (a, RESERVE_NODES), "name",
                           text_of (a, RESERVE_NAME), "note", text_of (a, RESERVE_NOTE));

    if (text_of (a, RESERVE_USERS))
        json_object_set_new (o, "users", split (text_of (a, RESERVE_USERS)));
    if (text_of (a, RESERVE_MAINTENANCE))
        json_object_set_new (o, "maintenance", json_true ());
    if (text_of (a, RESERVE_IGNORE_RUNNING))
        json_object_set_new (o, "ignore-running", json_true ());
    return o;
}

int reserve_run (struct cmd *c, const struct reserve_args *a)
{
    struct error err = { 0 };
    double start, duration;
    json_t *body, *o;

    if (check (c, a) != CMD_OK)
        return c->status;
    if (datetime_parse (text_of (a, RESERVE_START), clock_wall (), &start, "--start",
                        &err)
            < 0
        || parse_timelimit (text_of (a, RESERVE_DURATION), &duration, "--duration", &err)
               < 0)
        return cmd_usage (c, "%s", err.text);
    if (duration <= 0)
        return cmd_usage (c, "--duration: a reservation must end: give a length");
    if (!(body = request (a, start, duration)))
        return cmd_fail (c, "names and note must be UTF-8");
    if (cmd_call (c, "POST", "/v1/reservations", body, &o) != CMD_OK)
        return c->status;
    print_text (json_text (o, "name"));
    json_decref (o);
    return CMD_OK;
}
