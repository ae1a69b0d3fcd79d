/* show_reservation.c - fluxq-show reservation: prints reservations */
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/show/show.h"

#include "common/json.h"

static void show_one (const json_t *o)
{
    const json_t *users = json_object_get (o, "users"), *user;
    struct strbuf sb;
    size_t i;

    strbuf_init (&sb, 1 << 18);
    json_array_foreach (users, i, user)
        strbuf_addf (&sb, "%s%s", i ? "," : "", json_text (user, "name"));
    print_field ("Reservation", "%s", json_text (o, "name"));
    print_field ("State", "%s", json_text (o, "state"));
    print_time ("Start", answer_number (o, "start"));
    print_time ("End", answer_number (o, "end"));
    print_field ("Nodes", "%s (%.0f)", json_text (o, "nodes"),
                 answer_number (o, "nnodes"));
    print_field ("Users", "%s",
                 answer_flag (o, "maintenance") ? "none: maintenance" : sb.buf);
    print_field ("Made by", "%s", json_text (o, "by"));
    print_field ("Note", "%s", json_text (o, "note"));
    strbuf_release (&sb);
}

static bool is_wanted (const struct show *s, const char *name)
{
    bool wanted = s->n == 0;

    for (size_t i = 0; i < s->n && !wanted; i++)
        wanted = !strcmp (s->names[i], name);
    return wanted;
}

/* Reports names that no reservation has. */
static int report_unknown (struct cmd *c, const struct show *s, const json_t *list)
{
    int status = CMD_OK;
    const json_t *o;
    size_t i;

    for (size_t k = 0; k < s->n; k++) {
        bool found = false;
        json_array_foreach (list, i, o)
            found |= !strcmp (json_text (o, "name"), s->names[k]);
        if (!found)
            status = cmd_fail (c, "there is no reservation %s", s->names[k]);
    }
    return status;
}

int show_reservations (struct cmd *c, const struct show *s)
{
    json_t *o, *r, *list;
    size_t i;

    if (cmd_get (c, "/v1/reservations", &o) != CMD_OK)
        return c->status;
    list = json_array ();
    json_array_foreach (json_object_get (o, "reservations"), i, r)
        if (is_wanted (s, json_text (r, "name")))
            json_array_append (list, r);
    int status = report_unknown (c, s, list);
    if (s->json) {
        json_object_set (o, "reservations", list);
        json_dumpf (o, stdout, JSON_INDENT (2));
        putchar ('\n');
    }
    json_array_foreach (s->json ? NULL : list, i, r) {
        if (i > 0)
            putchar ('\n');
        show_one (r);
    }
    json_decref (list);
    json_decref (o);
    return status;
}
