/* scontrol_reserve.c - scontrol create and delete: reservations */
#include "cmd/print/print.h"
#include "cmd/slurm/words/pairs.h"
#include "cmd/slurm/control/scontrol.h"
#include "common/clock.h"
#include "common/parse.h"
#include "jobspec/attributes/datetime.h"

enum { NAME = 1, START, END, DURATION, NODES, COUNT, USERS, FLAGS, COMMENT, KEYS };

/* In Slurm's order: the first that matches counts. */
static const struct pair_key keys[] = {
    { "Accounts", 1, 0, "fluxq reserves for users (Users=)", false },
    { "AllowedPartitions", 2, 0, "a reservation is for all queues of its nodes", false },
    { "Comment", 3, COMMENT, NULL, false },
    { "Flags", 2, FLAGS, NULL, false },
    { "Groups", 1, 0, "fluxq reserves for users (Users=)", false },
    { "Users", 1, USERS, NULL, false },
    { "QOS", 1, 0, "fluxq reserves for users (Users=)", false },
    { "ReservationName", 1, NAME, NULL, true },
    { "BurstBuffer", 2, 0, "fluxq has no burst buffers", false },
    { "StartTime", 2, START, NULL, false },
    { "EndTime", 1, END, NULL, false },
    { "Duration", 1, DURATION, NULL, false },
    { "MaxStartDelay", 2, 0, "fluxq does not keep users from nodes by it", false },
    { "NodeCnt", 5, COUNT, NULL, false },
    { "NodeCount", 5, COUNT, NULL, false },
    { "CoreCnt", 5, 0, "fluxq reserves whole nodes", false },
    { "CoreCount", 5, 0, "fluxq reserves whole nodes", false },
    { "CPUCnt", 5, 0, "fluxq reserves whole nodes", false },
    { "CPUCount", 5, 0, "fluxq reserves whole nodes", false },
    { "Nodes", 5, NODES, NULL, false },
    { "Features", 2, 0, "name the nodes (Nodes=)", false },
    { "Licenses", 2, 0, "licenses cannot be reserved", false },
    { "PartitionName", 1, 0, "name the nodes (Nodes=)", false },
    { "TRES", 1, 0, "fluxq reserves whole nodes", false },
    { "TRESPerNode", 5, 0, "fluxq reserves whole nodes", false },
    { 0 },
};

struct wanted {
    const char *text[KEYS];
    bool maintenance, ignore_running;
};

static const char none[] = "No reservation created.";

/* "MAINT,IGNORE_JOBS" */
static int read_flags (struct scontrol *s, const char *list, struct wanted *r)
{
    while (*list) {
        size_t len = strcspn (list, ",");
        if (scontrol_is (list, len, "MAINT", 3))
            r->maintenance = true;
        else if (scontrol_is (list, len, "IGNORE_JOBS", 1))
            r->ignore_running = true;
        else if (!scontrol_is (list, len, "SPEC_NODES", 2)) {
            scontrol_error (s,
                            "Flags=%.*s is not supported: MAINT and IGNORE_JOBS are.  %s",
                            (int)len, list, none);
            return -1;
        }
        list += len + (list[len] == ',');
    }
    return 0;
}

static int read_words (struct scontrol *s, const struct words *w, struct wanted *r)
{
    struct pairs p = { w->word, w->n, 0 };
    struct error err = { 0 };
    struct pair pair;
    int rc;

    while ((rc = pairs_next (&p, keys, &pair, &err)) > 0) {
        if (pair.sign) {
            scontrol_error (s, "%s cannot be added to or subtracted from.  %s",
                            pair.key->name, none);
            return -1;
        }
        r->text[pair.key->id] = pair.value;
        if (pair.key->id == FLAGS && read_flags (s, pair.value, r) < 0)
            return -1;
    }
    if (rc == PAIR_REFUSED)
        scontrol_error (s, "%s.  %s", err.text, none);
    else if (rc == PAIR_MALFORMED)
        scontrol_error (
            s,
            "Misformatted parameter '%s', most options have a parameter after "
            "'='.  %s",
            err.text, none);
    else if (rc < 0)
        scontrol_error (s, "Unknown parameter %s.  %s", err.text, none);
    return rc;
}

/* Reads the times: 0 with both set, or -1 after a message. */
static int read_times (struct scontrol *s, const struct wanted *r, double *ret_start,
                       double *ret_duration)
{
    double now = clock_wall (), end;
    struct error err = { 0 };

    if (!r->text[START]) {
        scontrol_error (s, "A start time must be given.  %s", none);
        return -1;
    }
    if (!r->text[END] && !r->text[DURATION]) {
        scontrol_error (s, "An end time or duration must be given.  %s", none);
        return -1;
    }
    if (datetime_parse (r->text[START], now, ret_start, "StartTime", &err) < 0) {
        scontrol_error (s, "Invalid start time %s.  %s", err.text, none);
        return -1;
    }
    if (r->text[END] && datetime_parse (r->text[END], now, &end, "EndTime", &err) < 0) {
        scontrol_error (s, "Invalid end time %s.  %s", err.text, none);
        return -1;
    }
    if (r->text[END])
        *ret_duration = end - *ret_start;
    if (r->text[DURATION]
        && parse_timelimit (r->text[DURATION], ret_duration, "Duration", &err) < 0) {
        scontrol_error (s, "Invalid duration %s.  %s", err.text, none);
        return -1;
    }
    if (*ret_duration <= 0) {
        scontrol_error (s, "A reservation must end, after its start.  %s", none);
        return -1;
    }
    return 0;
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

static void create_reservation (struct scontrol *s, const struct words *w)
{
    struct wanted r = { 0 };
    double start, duration = 0;
    struct refusal why;
    autojson json_t *o = NULL;

    if (read_words (s, w, &r) < 0 || read_times (s, &r, &start, &duration) < 0)
        return;
    const char *nodes = r.text[NODES] ? r.text[NODES] : r.text[COUNT];
    const char *name = r.text[NAME] && *r.text[NAME] ? r.text[NAME] : NULL;
    if (!nodes) {
        scontrol_error (s, "Nodes or NodeCnt must be given.  %s", none);
        return;
    }
    if (!r.text[USERS] && !r.maintenance) {
        scontrol_error (s, "Users or Flags=MAINT must be given.  %s", none);
        return;
    }
    json_t *body =
        json_pack ("{s:f s:f s:s s:s* s:s*}", "start", start, "duration", duration,
                   "nodes", nodes, "name", name, "note", r.text[COMMENT]);
    if (body && r.text[USERS])
        json_object_set_new (body, "users", split (r.text[USERS]));
    if (body && r.maintenance)
        json_object_set_new (body, "maintenance", json_true ());
    if (body && r.ignore_running)
        json_object_set_new (body, "ignore-running", json_true ());
    if (!body)
        scontrol_error (s, "names and Comment must be UTF-8.  %s", none);
    else if (scontrol_call (s, "POST", "/v1/reservations", body, &o, &why) < 0)
        scontrol_say (s, "Error creating the reservation: %s", why.words);
    else
        printf ("Reservation created: %s\n", json_text (o, "name"));
}

/* -- which entity -- */

enum { IS_NODE = 1, IS_PARTITION, IS_RESERVATION };

/* Reservations first: they may have a partition. */
static const struct pair_key entities[] = {
    { "NodeName", 3, IS_NODE, NULL, false },
    { "PartitionName", 3, IS_PARTITION, NULL, false },
    { "ReservationName", 3, IS_RESERVATION, NULL, true },
    { 0 },
};

/* Whether the entity is one that fluxq has from elsewhere. */
static bool is_refused (struct scontrol *s, const char *verb, int id)
{
    if (id == IS_NODE)
        scontrol_error (s, "%s NodeName is not supported: nodes come from the cluster",
                        verb);
    else if (id == IS_PARTITION)
        scontrol_error (s, "%s PartitionName is not supported: queues are in fluxq.yaml",
                        verb);
    else
        return false;
    return true;
}

void scontrol_create (struct scontrol *s, const char *tag, const struct words *w)
{
    const struct pair_key *k = NULL;

    (void)tag;
    for (int i = 0; i < w->n && !k; i++)
        k = pairs_find (&(struct pairs){ w->word + i, 1, 0 }, entities);
    if (!k)
        scontrol_error (s, "Invalid creation entity: %s", w->word[0]);
    else if (!is_refused (s, "create", k->id))
        create_reservation (s, w);
}

void scontrol_delete (struct scontrol *s, const char *tag, const struct words *w)
{
    const struct pair_key *k = pairs_find (&(struct pairs){ w->word, 1, 0 }, entities);
    const char *equals = strchr (w->word[0], '=');
    const char *name = equals ? equals + 1 : w->n > 1 ? w->word[1] : NULL;
    struct refusal why;

    (void)tag;
    if (!name || w->n > (equals ? 1 : 2))
        scontrol_error (s, "Proper format is 'delete <ENTITY>=<ID>' or 'delete <ENTITY> "
                           "<ID>'");
    else if (!k)
        scontrol_say (s, "Invalid deletion entity: %s", w->word[0]);
    else if (!is_refused (s, "delete", k->id)
             && scontrol_post (s, "/v1/reservations", name, "",
                               json_pack ("{s:s}", "action", "remove"), &why)
                    < 0)
        scontrol_say (s, "delete_reservation %s: %s", w->word[0], why.words);
}
