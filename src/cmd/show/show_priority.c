/* show_priority.c - fluxq-show priority, fair-share: terms of priorities, usage of users
 *
 * See show.h.
 */
#include <math.h>

#include "cmd/client/shares.h"
#include "cmd/print/print.h"
#include "cmd/show/show.h"
#include "common/parse.h"

#include "common/json.h"

#define PENDING                                                                          \
    "/v1/jobs?state=pending&fields=id,job,user,queue,reason,priority,priority_urgency,"  \
    "priority_queue,priority_age,priority_size,priority_fair_share"

/* -- one job -- */

static double term_factor (const json_t *o, const char *name)
{
    const json_t *term;
    size_t i;

    json_array_foreach (json_object_get (o, "terms"), i, term)
        if (!strcmp (json_text (term, "name"), name))
            return answer_number (term, "factor");
    return 0;
}

static void explain_age (const json_t *o, struct strbuf *sb)
{
    strbuf_adds (sb, "waits ");
    strbuf_add_duration (sb, answer_number (o, "age"));
    strbuf_adds (sb, ", at most ");
    strbuf_add_duration (sb, answer_number (o, "age_max"));
    strbuf_adds (sb, " count");
}

static void explain_size (const json_t *o, struct strbuf *sb)
{
    strbuf_addf (sb, "%.0f of %.0f cores, %.0f of %.0f nodes", answer_number (o, "cores"),
                 answer_number (o, "cores_all"), answer_number (o, "nodes"),
                 answer_number (o, "nodes_all"));
}

static void explain_share (const json_t *o, struct strbuf *sb)
{
    double all = answer_number (o, "usage_all"), own = answer_number (o, "usage");

    strbuf_addf (sb, "%s used %.0f of %.0f core-seconds (%.1f%%), share 1 of %.0f",
                 json_text (o, "user"), own, all, all > 0 ? 100 * own / all : 0,
                 answer_number (o, "users"));
}

static void explain (const json_t *o, const char *name, struct strbuf *sb)
{
    if (!strcmp (name, "urgency"))
        strbuf_adds (sb, answer_flag (o, "held") ? "held: no priority at all"
                         : term_factor (o, "urgency") >= 31
                             ? "expedited: before all others"
                             : "");
    else if (!strcmp (name, "queue"))
        strbuf_addf (sb, "of queue %s", json_text (o, "queue"));
    else if (!strcmp (name, "age"))
        explain_age (o, sb);
    else if (!strcmp (name, "size"))
        explain_size (o, sb);
    else if (!strcmp (name, "fair-share"))
        explain_share (o, sb);
}

static void print_terms (const json_t *o)
{
    static const char *const headings[] = { "TERM", ">WEIGHT", ">FACTOR", ">POINTS",
                                            "FROM" };
    const json_t *term;
    autostrbuf struct strbuf text = STRBUF_INIT (4096);
    struct grid g;
    size_t i;

    grid_init (&g, headings, ARRAY_SIZE (headings));
    json_array_foreach (json_object_get (o, "terms"), i, term) {
        const char *name = json_text (term, "name");
        strbuf_reset (&text);
        explain (o, name, &text);
        grid_add (&g, "%s", name);
        grid_add (&g, "%.0f", answer_number (term, "weight"));
        double factor = answer_number (term, "factor");
        grid_add (&g, "%.*f", factor == floor (factor) ? 0 : 4, factor);
        grid_add (&g, "%.0f", answer_number (term, "points"));
        grid_add (&g, "%s", text.buf);
    }
    grid_add (&g, "sum");
    grid_add (&g, "%s", "");
    grid_add (&g, "%s", "");
    grid_add (&g, "%.0f", answer_number (o, "priority"));
    grid_add (&g, "%s", "");
    grid_print (&g, stdout);
    grid_release (&g);
}

static int show_one (struct cmd *c, const struct show *s, const char *id)
{
    char target[80];
    json_t *o;

    snprintf (target, sizeof (target), "/v1/jobs/%s/priority", id);
    if (cmd_get (c, target, &o) != CMD_OK)
        return c->status;
    if (s->json) {
        print_json (o);
    } else {
        print_field ("Job", "%.0f", answer_number (o, "id"));
        print_field ("User", "%s", json_text (o, "user"));
        print_field ("Priority", "%.0f", answer_number (o, "priority"));
        print_terms (o);
    }
    json_decref (o);
    return CMD_OK;
}

/* -- all that wait -- */

static void print_pending (const json_t *jobs)
{
    static const char *const headings[] = { ">JOBID",    "USER",     "QUEUE",
                                            ">PRIORITY", ">URGENCY", ">QUEUE",
                                            ">AGE",      ">SIZE",    ">FAIR-SHARE" };
    static const char *const numbers[] = { "priority",       "priority_urgency",
                                           "priority_queue", "priority_age",
                                           "priority_size",  "priority_fair_share" };
    const json_t *job;
    struct grid g;
    size_t i;

    grid_init (&g, headings, ARRAY_SIZE (headings));
    json_array_foreach (jobs, i, job) {
        grid_add (&g, "%s", json_text (job, "job"));
        grid_add (&g, "%s", json_text (job, "user"));
        grid_add (&g, "%s", json_text (job, "queue"));
        for (size_t k = 0; k < ARRAY_SIZE (numbers); k++)
            grid_add (&g, "%.0f", answer_number (job, numbers[k]));
    }
    grid_print (&g, stdout);
    grid_release (&g);
}

static int show_pending (struct cmd *c, const struct show *s)
{
    json_t *o;

    if (cmd_get (c, PENDING, &o) != CMD_OK)
        return c->status;
    if (s->json)
        print_json (o);
    else
        print_pending (json_object_get (o, "jobs"));
    if (json_is_integer (json_object_get (o, "next")))
        cmd_warn (c, "%.0f jobs wait; these are the first %zu of them by id",
                  answer_number (o, "total"),
                  json_array_size (json_object_get (o, "jobs")));
    json_decref (o);
    return CMD_OK;
}

int show_priority (struct cmd *c, const struct show *s)
{
    int status = CMD_OK;

    if (s->n == 0)
        return show_pending (c, s);
    for (size_t i = 0; i < s->n; i++) {
        if (cmd_check_id (c, s->names[i]) != CMD_OK)
            return c->status;
    }
    for (size_t i = 0; i < s->n && status != CMD_INTERRUPTED; i++) {
        if (i > 0 && !s->json)
            putchar ('\n');
        int rc = show_one (c, s, s->names[i]);
        status = rc ? rc : status;
    }
    return status;
}

/* -- users -- */

/* Picks the named users, or all. Sets the status if names are missing. */
static json_t *pick_users (struct cmd *c, const struct show *s, json_t *users,
                           int *status)
{
    json_t *list = json_array (), *user;
    size_t i;

    for (size_t k = 0; k < s->n; k++) {
        size_t before = json_array_size (list);
        json_array_foreach (users, i, user)
            if (!strcmp (json_text (user, "user"), s->names[k]))
                json_array_append (list, user);
        if (json_array_size (list) == before)
            *status =
                cmd_fail (c, "user %s has neither jobs nor usage here", s->names[k]);
    }
    if (s->n == 0)
        json_array_extend (list, users);
    return list;
}

static void print_users (const json_t *users)
{
    static const char *const headings[] = { "USER",          ">SHARE%", ">USED%",
                                            ">CORE-SECONDS", ">CORES",  ">FACTOR" };
    const json_t *user;
    struct grid g;
    size_t i;

    grid_init (&g, headings, ARRAY_SIZE (headings));
    json_array_foreach (users, i, user) {
        const char *name = json_text (user, "user");
        if (*name)
            grid_add (&g, "%s", name);
        else
            grid_add (&g, "%.0f", answer_number (user, "userid"));
        grid_add (&g, "%.1f", 100 * answer_number (user, "share"));
        grid_add (&g, "%.1f", 100 * answer_number (user, "usage_part"));
        grid_add (&g, "%.0f", answer_number (user, "usage"));
        grid_add (&g, "%.0f", answer_number (user, "cores"));
        grid_add (&g, "%.4f", answer_number (user, "factor"));
    }
    grid_print (&g, stdout);
    grid_release (&g);
}

int show_fair_share (struct cmd *c, const struct show *s)
{
    json_t *o = NULL;
    int status = CMD_OK;

    if (cmd_get_shares (c, &o) != CMD_OK)
        return c->status;
    autojson json_t *list = pick_users (c, s, json_object_get (o, "users"), &status);
    if (s->json) {
        json_object_set (o, "users", list);
        print_json (o);
    } else {
        print_users (list);
    }
    json_decref (o);
    return status;
}
