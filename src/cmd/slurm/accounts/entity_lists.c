/* entity_lists.c - the rows of sacctmgr's entities, from the broker; see sacctmgr.h */
#include "cmd/slurm/accounts/sacctmgr.h"

#include <string.h>

#include "cmd/client/shares.h"
#include "cmd/print/print.h"
#include "cmd/slurm/nodes/nodeview.h"
#include "cmd/slurm/words/record.h"
#include "cmd/slurm/words/words.h"
#include "common/clock.h"

#define ROOT "root"
#define QOS "normal"
#define TEXT_MAX 4096
#define FIRST_GRES_ID 1001 /* as in Slurm */

static void add_row (json_t *rows, json_t *row)
{
    if (row && json_array_append_new (rows, row) < 0)
        json_decref (row);
}

static int get_status (struct cmd *c, json_t **ret)
{
    return cmd_get (c, "/v1/status", ret);
}

/* -- users, accounts -- */

/* Users with jobs or usage. None has an association, so with associations there is no
 * row. */
int entity_get_users (struct cmd *c, const struct query *q, json_t *rows)
{
    autojson json_t *all = NULL;
    const json_t *user;
    size_t i;

    if (q->associations)
        return CMD_OK;
    if (cmd_get_shares (c, &all) != CMD_OK)
        return c->status;
    json_array_foreach (json_object_get (all, "users"), i, user) {
        bool admin = answer_number (user, "userid") == 0;
        if (*json_text (user, "user"))
            add_row (rows, json_pack ("{s:s s:s}", "user", json_text (user, "user"),
                                      "admin", admin ? "Administrator" : "None"));
    }
    return CMD_OK;
}

int entity_get_accounts (struct cmd *c, const struct query *q, json_t *rows)
{
    autojson json_t *status = NULL;
    json_t *row = json_pack ("{s:s s:s s:s}", "account", ROOT, "description",
                             "default root account", "organization", ROOT);

    if (q->associations && get_status (c, &status) == CMD_OK) {
        autojson json_t *more =
            json_pack ("{s:s s:s s:s}", "cluster", json_text (status, "cluster"), "share",
                       "1", "qos", QOS);
        json_object_update (row, more);
    }
    add_row (rows, row);
    return c->status;
}

int entity_get_associations (struct cmd *c, const struct query *q, json_t *rows)
{
    autojson json_t *status = NULL;

    (void)q;
    if (get_status (c, &status) == CMD_OK)
        add_row (rows, json_pack ("{s:s s:s s:s s:s s:s}", "cluster",
                                  json_text (status, "cluster"), "account", ROOT, "share",
                                  "1", "qos", QOS, "id", "1"));
    return c->status;
}

int entity_get_qos (struct cmd *c, const struct query *q, json_t *rows)
{
    (void)c;
    (void)q;
    add_row (rows, json_pack ("{s:s s:s s:s s:s s:s s:s}", "name", QOS, "id", "1",
                              "priority", "0", "grace", "00:00:00", "preempt_mode",
                              "cluster", "usage_factor", "1.000000"));
    return CMD_OK;
}

/* -- the cluster -- */

/* "https://HOST:PORT", or with http; a broker with a socket only is on this host. */
static void split_address (const json_t *status, struct strbuf *host, struct strbuf *port)
{
    const char *address =
        json_string_value (json_array_get (json_object_get (status, "listen"), 1));
    const char *name_of = address ? strstr (address, "://") : NULL;
    const char *colon = name_of ? strrchr (name_of + 3, ':') : NULL;
    char name[256] = "";

    if (colon) {
        strbuf_add (host, name_of + 3, (size_t)(colon - name_of - 3));
        strbuf_adds (port, colon + 1);
        return;
    }
    gethostname (name, sizeof (name) - 1);
    strbuf_adds (host, name);
}

int entity_get_clusters (struct cmd *c, const struct query *q, json_t *rows)
{
    autostrbuf struct strbuf host = STRBUF_INIT (TEXT_MAX);
    autostrbuf struct strbuf port = STRBUF_INIT (TEXT_MAX);
    autojson json_t *status = NULL;

    (void)q;
    if (get_status (c, &status) != CMD_OK)
        return c->status;
    split_address (status, &host, &port);
    add_row (rows,
             json_pack ("{s:s s:s s:s s:s s:s}", "cluster", json_text (status, "cluster"),
                        "host", host.buf, "port", port.buf, "share", "1", "qos", QOS));
    return CMD_OK;
}

static void add_tres (json_t *rows, const char *type, const char *name, int id)
{
    char text[16];

    snprintf (text, sizeof (text), "%d", id);
    add_row (rows, json_pack ("{s:s s:s s:s}", "type", type, "name", name, "id", text));
}

static bool is_listed (const json_t *rows, const char *name)
{
    const json_t *row;
    size_t i;

    json_array_foreach (rows, i, row)
        if (!strcmp (json_text (row, "name"), name))
            return true;
    return false;
}

/* The resources that fluxq counts: CPUs, memory, nodes, and the generic resources of the nodes. */
int entity_get_tres (struct cmd *c, const struct query *q, json_t *rows)
{
    autojson json_t *answer = NULL;
    const json_t *node;
    const char *name;
    json_t *gres;
    int id = FIRST_GRES_ID;
    size_t i;

    (void)q;
    if (cmd_get (c, "/v1/nodes", &answer) != CMD_OK)
        return c->status;
    add_tres (rows, "cpu", "", 1);
    add_tres (rows, "mem", "", 2);
    add_tres (rows, "node", "", 4);
    json_array_foreach (json_object_get (answer, "nodes"), i, node) {
        if (answer_number (node, "gpus") > 0 && !is_listed (rows, "gpu"))
            add_tres (rows, "gres", "gpu", id++);
        json_object_foreach (json_object_get (node, "gres"), name, gres)
            if (!is_listed (rows, name))
                add_tres (rows, "gres", name, id++);
    }
    return CMD_OK;
}

/* -- events, reservations -- */

/* Nodes that are drained or down now; the broker does not keep since when. */
int entity_get_events (struct cmd *c, const struct query *q, json_t *rows)
{
    autojson json_t *answer = NULL, *status = NULL;
    const json_t *node;
    size_t i;

    (void)q;
    if (get_status (c, &status) != CMD_OK || cmd_get (c, "/v1/nodes", &answer) != CMD_OK)
        return c->status;
    json_array_foreach (json_object_get (answer, "nodes"), i, node) {
        autostrbuf struct strbuf state = STRBUF_INIT (TEXT_MAX);
        if (!strcmp (json_text (node, "state"), "up"))
            continue;
        nodeview_add_state (&state, nodeview_state (node), STATE_LONG);
        add_row (rows, json_pack ("{s:s s:s s:s s:s s:s s:s s:s}", "cluster",
                                  json_text (status, "cluster"), "node",
                                  json_text (node, "name"), "start", "Unknown", "end",
                                  "Unknown", "state", state.buf, "reason",
                                  json_text (node, "reason"), "event", "Node"));
    }
    return CMD_OK;
}

int entity_get_reservations (struct cmd *c, const struct query *q, json_t *rows)
{
    autojson json_t *answer = NULL, *status = NULL;
    const json_t *o;
    size_t i;

    (void)q;
    if (get_status (c, &status) != CMD_OK
        || cmd_get (c, "/v1/reservations", &answer) != CMD_OK)
        return c->status;
    json_array_foreach (json_object_get (answer, "reservations"), i, o) {
        autostrbuf struct strbuf start = STRBUF_INIT (TEXT_MAX);
        autostrbuf struct strbuf end = STRBUF_INIT (TEXT_MAX);
        char tres[64];
        record_add_time (&start, answer_number (o, "start"));
        record_add_time (&end, answer_number (o, "end"));
        snprintf (tres, sizeof (tres), "node=%.0f", answer_number (o, "nnodes"));
        add_row (rows,
                 json_pack ("{s:s s:s s:s s:s s:s}", "cluster",
                            json_text (status, "cluster"), "name", json_text (o, "name"),
                            "tres", tres, "start", start.buf, "end", end.buf));
    }
    return CMD_OK;
}

/* An entity that fluxq never has any of. */
int entity_get_none (struct cmd *c, const struct query *q, json_t *rows)
{
    (void)q;
    (void)rows;
    return c->status;
}

/* -- answers without columns -- */

int entity_print_configuration (struct cmd *c)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (65536);
    autostrbuf struct strbuf host = STRBUF_INIT (TEXT_MAX);
    autostrbuf struct strbuf port = STRBUF_INIT (TEXT_MAX);
    autojson json_t *status = NULL;

    if (get_status (c, &status) != CMD_OK)
        return c->status;
    split_address (status, &host, &port);
    strbuf_adds (&sb, "Configuration data as of ");
    slurm_add_time (&sb, clock_wall ());
    strbuf_adds (&sb, "\nAccountingStorageHost  = ");
    record_add_text (&sb, host.buf);
    strbuf_adds (&sb, "\nAccountingStoragePort  = ");
    record_add_text (&sb, port.len ? port.buf : "N/A");
    strbuf_adds (&sb, "\nAccountingStorageType  = accounting_storage/fluxq"
                      "\nClusterName            = ");
    record_add_text (&sb, json_text (status, "cluster"));
    strbuf_adds (&sb, "\nSLURM_VERSION          = " CMD_SLURM_VERSION
                      "\nStateSaveLocation      = ");
    record_add_text (&sb, json_text (status, "state_dir"));
    strbuf_addch (&sb, '\n');
    fwrite (sb.buf, 1, sb.len, stdout);
    return CMD_OK;
}

/* A job enters the history in the transaction that ends it, so none is lost. */
int entity_print_runaway (struct cmd *c)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);
    autojson json_t *status = NULL;

    if (get_status (c, &status) != CMD_OK)
        return c->status;
    strbuf_adds (&sb, "Runaway Jobs: No runaway jobs found on cluster ");
    record_add_text (&sb, json_text (status, "cluster"));
    puts (sb.buf);
    return CMD_OK;
}
