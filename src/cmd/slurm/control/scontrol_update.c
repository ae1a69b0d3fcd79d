/* scontrol_update.c - scontrol update: jobs, nodes, partitions
 *
 * All words are read before the first request, so one that fluxq refuses changes nothing.
 */
#include "cmd/print/print.h"
#include "cmd/slurm/words/pairs.h"
#include "cmd/slurm/control/scontrol.h"
#include "common/hostlist.h"
#include "common/parse.h"

/* -- jobs -- */

enum { JOB = 1, NAME_OF_JOBS, LIMIT, PRIORITY, NODES, TEXT };

static const char fixed[] =
    "what a job was submitted with stays as it is; cancel the job "
    "and submit it again";

static const struct pair_key job_keys[] = {
    { "JobId", 3, JOB, NULL, false },
    { "TimeLimit", 5, LIMIT, NULL, false },
    { "Priority", 2, PRIORITY, NULL, false },
    { "NumNodes", 7, NODES, NULL, false },
    { "ReqNodes", 8, NODES, NULL, false },
    { "Account", 2, 0, fixed, false },
    { "AdminComment", 6, TEXT, NULL, false },
    { "ArrayTaskThrottle", 10, 0,
      "the limit of an array is set when it is submitted (%N)", false },
    { "BurstBuffer", 1, 0, "fluxq has no burst buffers", false },
    { "Clusters", 8, 0, "fluxq has one cluster", false },
    { "ClusterFeatures", 8, 0, "fluxq has one cluster", false },
    { "Comment", 3, TEXT, NULL, false },
    { "Conn-Type", 2, 0, fixed, false },
    { "Contiguous", 3, 0, fixed, false },
    { "CoreSpec", 4, 0, fixed, false },
    { "CPUsPerTask", 9, 0, fixed, false },
    { "Cpus_per_task", 9, 0, fixed, false },
    { "Deadline", 3, 0, fixed, false },
    { "DelayBoot", 5, 0, "fluxq does not boot nodes", false },
    { "Dependency", 1, 0, fixed, false },
    { "EligibleTime", 2, 0, fixed, false },
    { "EndTime", 2, 0, "set TimeLimit instead", false },
    { "ExcNodeList", 3, 0, fixed, false },
    { "Extra", 3, TEXT, NULL, false },
    { "Features", 1, 0, fixed, false },
    { "Gres", 2, 0, fixed, false },
    { "JobName", 4, NAME_OF_JOBS, NULL, false },
    { "Licenses", 1, 0, fixed, false },
    { "MailType", 5, 0, fixed, false },
    { "MailUser", 5, 0, fixed, false },
    { "MCSLabel", 4, TEXT, NULL, false },
    { "MinCPUsNode", 4, 0, fixed, false },
    { "MinMemoryCPU", 10, 0, fixed, false },
    { "MinMemoryNode", 10, 0, fixed, false },
    { "MinTmpDiskNode", 4, 0, fixed, false },
    { "Name", 2, 0, fixed, false },
    { "Nice", 2, 0, fixed, true },
    { "NodeList", 5, 0, fixed, false },
    { "NumCPUs", 6, 0, fixed, false },
    { "NumTasks", 8, 0, fixed, false },
    { "OverSubscribe", 2, 0, fixed, false },
    { "Partition", 2, 0, "a job keeps its queue; cancel the job and submit it again",
      false },
    { "QOS", 3, 0, fixed, false },
    { "Reboot", 3, 0, "fluxq does not reboot nodes", false },
    { "ReqNodeList", 8, 0, fixed, false },
    { "ReqThreads", 8, 0, fixed, false },
    { "Requeue", 4, 0, fixed, false },
    { "ReservationName", 3, 0, fixed, false },
    { "ResetAccrueTime", 3, 0, fixed, true },
    { "Shared", 2, 0, fixed, false },
    { "SiteFactor", 5, 0, "hold or release jobs instead", false },
    { "StartTime", 2, 0, fixed, false },
    { "StdErr", 6, 0, fixed, false },
    { "StdIn", 5, 0, fixed, false },
    { "StdOut", 6, 0, fixed, false },
    { "Switches", 5, 0, fixed, false },
    { "TimeMin", 5, 0, fixed, false },
    { "UserID", 3, 0, "the broker takes the user that calls it (use sudo -u)", false },
    { "WCKey", 1, TEXT, NULL, false },
    { "WorkDir", 4, 0, fixed, false },
    { 0 },
};

struct job_change {
    const char *jobs, *name; /* one of them, or NULL */
    json_t *limit;           /* the request, or NULL */
    json_t *priority;        /* the request, or NULL */
    int64_t nodes;           /* 0: unchanged */
    json_t *texts;           /* the request, or NULL */
};

/* "90", "+10", "-10", "UNLIMITED", "TimeLimit+=10" */
static int read_limit (struct scontrol *s, const struct pair *pair, struct job_change *j)
{
    const char *text = pair->value;
    char sign = pair->sign;
    struct error err = { 0 };
    double seconds;

    if (!sign && (*text == '+' || *text == '-'))
        sign = *text++;
    if (parse_timelimit (text, &seconds, "TimeLimit", &err) < 0) {
        scontrol_error (s, "Invalid TimeLimit value");
        return -1;
    }
    if (sign && seconds <= 0) {
        scontrol_error (s, "Invalid TimeLimit value");
        return -1;
    }
    json_decref (j->limit);
    j->limit =
        json_pack ("{s:f}", sign ? "change" : "limit", sign == '-' ? -seconds : seconds);
    return 0;
}

/* 0 holds the job, and the largest number (INFINITE of Slurm) lets the broker compute the
 * priority again. */
static int read_priority (struct scontrol *s, const struct pair *pair,
                          struct job_change *j)
{
    struct error err = { 0 };
    int64_t n;

    if (parse_int (pair->value, 0, UINT32_MAX, &n, "Priority", &err) < 0) {
        scontrol_error (s, "Invalid Priority value: %s", pair->value);
        return -1;
    }
    json_decref (j->priority);
    j->priority = n == UINT32_MAX ? json_pack ("{s:i}", "urgency", 16)
                                  : json_pack ("{s:I}", "priority", (json_int_t)n);
    return 0;
}

static int read_nodes (struct scontrol *s, const struct pair *pair, struct job_change *j)
{
    struct error err = { 0 };

    if (parse_int (pair->value, 1, INT32_MAX, &j->nodes, "NumNodes", &err) < 0) {
        scontrol_error (s,
                        "NumNodes=%s is not supported: a running malleable job can be "
                        "given another number of nodes",
                        pair->value);
        return -1;
    }
    return 0;
}

/* The attribute that a key changes: AdminComment, admin_comment. */
static int read_text (struct scontrol *s, const struct pair *pair, struct job_change *j)
{
    static const char *const keys[][2] = { { "AdminComment", "admin_comment" },
                                           { "Comment", "comment" },
                                           { "Extra", "extra" },
                                           { "MCSLabel", "mcs_label" },
                                           { "WCKey", "wckey" } };
    size_t i = 0;

    while (strcmp (keys[i][0], pair->key->name) != 0)
        i++;
    if (!j->texts)
        j->texts = json_object ();
    if (json_object_set_new (j->texts, keys[i][1], json_string (pair->value)) == 0)
        return 0;
    scontrol_error (s, "%s is not a text in UTF-8", pair->key->name);
    return -1;
}

static int read_job_pair (struct scontrol *s, const struct pair *pair,
                          struct job_change *j)
{
    if (pair->sign && pair->key->id != LIMIT) {
        scontrol_error (s, "%s cannot be added to or subtracted from", pair->key->name);
        return -1;
    }
    switch (pair->key->id) {
    case JOB:
        j->jobs = pair->value;
        return 0;
    case NAME_OF_JOBS:
        j->name = pair->value;
        return 0;
    case LIMIT:
        return read_limit (s, pair, j);
    case PRIORITY:
        return read_priority (s, pair, j);
    case TEXT:
        return read_text (s, pair, j);
    default:
        return read_nodes (s, pair, j);
    }
}

/* Explains why a word is refused. */
static void say_wrong (struct scontrol *s, int rc, const struct error *err)
{
    if (rc == PAIR_REFUSED)
        scontrol_error (s, "%s", err->text);
    else if (rc == PAIR_UNKNOWN)
        scontrol_say (s, "Update of this parameter is not supported: %s", err->text);
    else
        scontrol_say (s, "Invalid input: %s", err->text);
    scontrol_say (s, "Request aborted");
}

static int send (struct scontrol *s, const char *id, const char *suffix, json_t *body)
{
    struct refusal why;
    int rc = scontrol_post (s, "/v1/jobs", id, suffix, body, &why);

    if (rc < 0)
        scontrol_say (s, "%s for job %s", why.words, id);
    return rc;
}

static void change_job (struct scontrol *s, const char *id, void *arg)
{
    const struct job_change *j = arg;
    int rc = 0;

    if (j->texts)
        rc = send (s, id, "/memo", json_incref (j->texts));
    if (rc == 0 && j->limit)
        rc = send (s, id, "/limit", json_incref (j->limit));
    if (rc == 0 && j->priority)
        rc = send (s, id, "/urgency", json_incref (j->priority));
    if (rc == 0 && j->nodes > 0)
        send (s, id, "/resize", json_pack ("{s:I}", "nodes", (json_int_t)j->nodes));
}

/* All jobs with the name that have not ended. */
static void change_named (struct scontrol *s, struct job_change *j)
{
    autostrbuf struct strbuf list = STRBUF_INIT (4096);

    strbuf_addf (&list, "jobname=%s", j->name);
    scontrol_each_job (s, list.buf, "active", change_job, j);
}

static void update_job (struct scontrol *s, const struct words *w)
{
    struct job_change j = { 0 };
    struct pairs p = { w->word, w->n, 0 };
    struct error err = { 0 };
    struct pair pair;
    int rc;

    while ((rc = pairs_next (&p, job_keys, &pair, &err)) > 0)
        if (read_job_pair (s, &pair, &j) < 0)
            break;
    if (rc < 0)
        say_wrong (s, rc, &err);
    else if (rc == 0 && j.jobs && j.name)
        scontrol_error (s, "JobName is not supported: %s", fixed);
    else if (rc == 0 && !j.limit && !j.texts && !j.priority && j.nodes == 0)
        scontrol_say (s, "No changes specified");
    else if (rc == 0 && j.jobs)
        scontrol_each_job (s, j.jobs, NULL, change_job, &j);
    else if (rc == 0)
        change_named (s, &j);
    json_decref (j.limit);
    json_decref (j.priority);
    json_decref (j.texts);
}

/* -- nodes and partitions -- */

enum { NAME = 1, STATE, REASON };

static const struct pair_key node_keys[] = {
    { "NodeName", 3, NAME, NULL, false },
    { "State", 1, STATE, NULL, false },
    { "Reason", 1, REASON, NULL, false },
    { "ActiveFeatures", 3, 0, "properties of nodes come from the cluster", false },
    { "AvailableFeatures", 3, 0, "properties of nodes come from the cluster", false },
    { "Comment", 3, 0, "set a Reason with State=DRAIN", false },
    { "CpuBind", 7, 0, "binding is an option of the job", false },
    { "Extra", 2, 0, "fluxq keeps nothing else of a node", false },
    { "Gres", 1, 0, "resources of nodes come from the cluster", false },
    { "NodeAddr", 5, 0, "nodes come from the cluster", false },
    { "NodeHostName", 5, 0, "nodes come from the cluster", false },
    { "ResumeAfter", 7, 0, "resume the node yourself", false },
    { "Weight", 1, 0, "fluxq has no weights of nodes", false },
    { 0 },
};

static const struct pair_key partition_keys[] = {
    { "PartitionName", 3, NAME, NULL, false },
    { "State", 2, STATE, NULL, false },
    { 0 },
};

/* The words of an update of something that has a name, a state and a reason. */
struct named_change {
    const char *name, *state, *reason;
};

static int read_named (struct scontrol *s, const struct words *w,
                       const struct pair_key *keys, struct named_change *c)
{
    struct pairs p = { w->word, w->n, 0 };
    struct error err = { 0 };
    struct pair pair;
    int rc;

    while ((rc = pairs_next (&p, keys, &pair, &err)) > 0)
        *(pair.key->id == NAME    ? &c->name
          : pair.key->id == STATE ? &c->state
                                  : &c->reason) = pair.value;
    if (rc < 0)
        say_wrong (s, rc, &err);
    return rc;
}

/* The broker's action for a state of Slurm; NULL: a message was printed. */
static const char *node_action (struct scontrol *s, const struct named_change *c)
{
    static const struct {
        const char *state, *action;
    } table[] = { { "DRAIN", "drain" },
                  { "RESUME", "resume" },
                  { "IDLE", "resume" },
                  { "UNDRAIN", "resume" },
                  { "UNDRAINING", "resume" } };

    for (size_t i = 0; i < ARRAY_SIZE (table); i++)
        if (scontrol_is (c->state, strlen (c->state), table[i].state, 1))
            return table[i].action;
    scontrol_error (s,
                    "State=%s is not supported: DRAIN starts no more jobs on a node (end "
                    "those that run with scancel -w), RESUME uses it again",
                    c->state);
    return NULL;
}

/* All nodes, as a list of names in sb. */
static int all_nodes (struct scontrol *s, struct strbuf *sb)
{
    struct refusal why;
    autojson json_t *o = NULL;
    const json_t *node;
    size_t i;

    if (scontrol_call (s, "GET", "/v1/nodes", NULL, &o, &why) < 0) {
        scontrol_say (s, "slurm_update error: %s", why.words);
        return -1;
    }
    json_array_foreach (json_object_get (o, "nodes"), i, node)
        strbuf_addf (sb, "%s%s", sb->len ? "," : "", json_text (node, "name"));
    return 0;
}

static void update_nodes (struct scontrol *s, const char *list, const char *action,
                          const char *reason)
{
    struct error err = { 0 };
    struct refusal why;
    struct hostlist *names = hostlist_decode (list, HOSTLIST_MAX, &err);
    bool drain = strcmp (action, "drain") == 0;

    if (!names)
        scontrol_say (s, "slurm_update error: Invalid node name specified (%s)",
                      err.text);
    for (size_t i = 0; names && i < hostlist_count (names); i++)
        if (scontrol_post (s, "/v1/nodes", hostlist_nth (names, i), "",
                           json_pack ("{s:s s:s*}", "action", action, "reason",
                                      drain ? reason : NULL),
                           &why)
            < 0)
            scontrol_say (s, "slurm_update error: %s", why.words);
    hostlist_destroy (names);
}

static void update_node (struct scontrol *s, const struct words *w)
{
    struct named_change c = { 0 };
    autostrbuf struct strbuf all = STRBUF_INIT (32 << 20);
    const char *action;

    if (read_named (s, w, node_keys, &c) < 0)
        return;
    if (!c.state) {
        scontrol_error (s, "fluxq changes the State of a node, and its Reason with "
                           "State=DRAIN");
        return;
    }
    if (!(action = node_action (s, &c)))
        return;
    if (!strcmp (action, "drain") && (!c.reason || !*c.reason)) {
        scontrol_say (s, "You must specify a reason when DOWNING or DRAINING a node. "
                         "Request denied");
        return;
    }
    if (strcasecmp (c.name, "ALL") == 0 && all_nodes (s, &all) < 0)
        return;
    update_nodes (s, all.len ? all.buf : c.name, action, c.reason);
}

static void update_partition (struct scontrol *s, const struct words *w)
{
    struct named_change c = { 0 };
    struct refusal why;

    if (read_named (s, w, partition_keys, &c) < 0)
        return;
    bool up = c.state && strcasecmp (c.state, "UP") == 0;
    if (!up && (!c.state || strcasecmp (c.state, "DOWN") != 0)) {
        scontrol_error (s,
                        "fluxq changes the State of a partition to UP or DOWN; the rest "
                        "is in fluxq.yaml");
        return;
    }
    if (scontrol_post (s, "/v1/queues", c.name, "",
                       json_pack ("{s:s}", "action", up ? "start" : "stop"), &why)
        < 0)
        scontrol_say (s, "slurm_update error: %s", why.words);
}

/* -- which entity -- */

/* In Slurm's order of precedence: an update of a job may have a partition. */
static const struct {
    struct pair_key key[3]; /* names NULL end it */
    void (*update) (struct scontrol *s, const struct words *w);
    const char *refused;
} entities[] = {
    { { { "JobId", 3, 0, NULL, false }, { "JobName", 4, 0, NULL, false } },
      update_job,
      NULL },
    { { { "StepId", 4, 0, NULL, false } }, NULL, "a step has no limits of its own" },
    { { { "ReservationName", 3, 0, NULL, false } },
      NULL,
      "a reservation cannot be changed; delete it and create it again" },
    { { { "NodeName", 3, 0, NULL, false } }, update_node, NULL },
    { { { "PartitionName", 3, 0, NULL, false } }, update_partition, NULL },
    { { { "SlurmctldDebug", 2, 0, NULL, false } },
      NULL,
      "the broker's log has one level" },
    { { { "SuspendExcNodes", 11, 0, NULL, false },
        { "SuspendExcParts", 11, 0, NULL, false } },
      NULL,
      "fluxq does not suspend nodes" },
};

void scontrol_update (struct scontrol *s, const char *tag, const struct words *w)
{
    const struct pairs p = { w->word, w->n, 0 };

    (void)tag;
    for (size_t i = 0; i < ARRAY_SIZE (entities); i++) {
        const struct pair_key *k = pairs_find (&p, entities[i].key);
        if (k && entities[i].refused)
            scontrol_error (s, "update %s is not supported: %s", k->name,
                            entities[i].refused);
        else if (k)
            entities[i].update (s, w);
        if (k)
            return;
    }
    scontrol_say (s, "No valid entity in update command");
    scontrol_say (s, "Input line must include \"NodeName\", \"PartitionName\", "
                     "\"Reservation\", \"JobId\", or \"SlurmctldDebug\"");
}
