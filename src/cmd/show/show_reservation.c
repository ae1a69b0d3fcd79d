/* show_reservation.c - fluxq-show reservation: prints reservations */
#include "cmd/print/print.h"
#include "cmd/show/show.h"
#include "common/json.h"

static void show_one (const json_t *o)
{
    const json_t *users = json_object_get (o, "users"), *user;
    autostrbuf struct strbuf sb = STRBUF_INIT (1 << 18);
    size_t i;

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
}

int show_reservations (struct cmd *c, const struct show *s)
{
    return show_named (c, s, "reservation", show_one);
}
