/* suspects.c - drains nodes on which several jobs in a row failed to start
 *
 * Counted are different jobs whose start failed on the node for a reason that is not the
 * job's own (struct exec_start_failure); a good start of any job on the node resets the
 * count. An agent runs as the job's user, who can kill it, and the broker cannot tell who
 * did. So the jobs of one user alone do not drain a node, unless that user is the
 * broker's own, who can drain nodes anyway. After `drain-after-failures` jobs the node is
 * drained as if by an operator, once one of them has started well elsewhere: that shows
 * that the node was at fault. So jobs that start nowhere drain no node, and neither does
 * a fault of the whole cluster (no network). Counts are kept in memory only: a restart
 * counts again, drained nodes stay drained.
 */
#include "broker/core/no_memory.h"

#include <uthash.h>

#include "broker/api/privacy.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/services/nodes/nodes.h"
#include "broker/services/nodes/suspects.h"

#define REASON_MAX 400 /* as for operators */

struct suspect {
    UT_hash_handle hh;
    char *name;
    uint64_t *jobs; /* the last jobs whose start failed there, as many as are counted */
    uid_t user;     /* of the first job, */
    bool several;   /* ... and there are jobs of others, or of the broker's user */
    size_t njobs, alloc;
    bool confirmed; /* one of the jobs has started elsewhere since */
    char last[256]; /* reason of the last failure */
};

struct state {
    struct suspect *suspects; /* by name */
};

static struct service_place place;

/* -- settings -- */

struct settings {
    unsigned failures; /* jobs that must fail to start on a node; 0: never drained */
};

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "drain-after-failures", value_int, AT (failures), 0, 1000, NULL },
    { 0 },
};

static const struct settings defaults = { .failures = 3 };

SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct state)

static struct suspect *find (struct broker *b, const char *name)
{
    struct suspect *s;

    HASH_FIND_STR (state_of (b)->suspects, name, s);
    return s;
}

static void drop (struct broker *b, struct suspect *s)
{
    HASH_DELETE (hh, state_of (b)->suspects, s);
    free (s->name);
    free (s->jobs);
    free (s);
}

void suspects_forget (struct broker *b, const char *node)
{
    struct suspect *s = find (b, node);

    if (s)
        drop (b, s);
}

static void release (struct broker *b)
{
    struct suspect *s, *next;

    HASH_ITER (hh, state_of (b)->suspects, s, next)
        drop (b, s);
}

static struct suspect *find_or_add (struct broker *b, const char *name)
{
    struct suspect *s = find (b, name);

    if (s || !(s = calloc (1, sizeof (*s))))
        return s;
    if (!(s->name = strdup (name))) {
        free (s);
        return NULL;
    }
    HASH_ADD_KEYPTR (hh, state_of (b)->suspects, s->name, strlen (s->name), s);
    return s;
}

static bool has (const struct suspect *s, uint64_t id)
{
    for (size_t i = 0; i < s->njobs; i++)
        if (s->jobs[i] == id)
            return true;
    return false;
}

/* Keeps at most `most` ids, dropping the oldest. */
static int add (struct suspect *s, uint64_t id, size_t most)
{
    if (s->njobs >= most) {
        size_t gone = s->njobs - most + 1;
        memmove (s->jobs, s->jobs + gone, (s->njobs - gone) * sizeof (*s->jobs));
        s->njobs -= gone;
    }
    if (array_reserve (&s->jobs, &s->alloc, s->njobs + 1, sizeof (*s->jobs)) < 0)
        return -ENOMEM;
    s->jobs[s->njobs++] = id;
    return 0;
}

static bool is_up (const struct broker *b, const char *name)
{
    struct machine_node_info info;
    int index = machine_node_find (broker_graph (b), name);

    return index >= 0 && machine_node_info (broker_graph (b), index, &info) == 0
           && info.state == MACHINE_NODE_UP;
}

/* A node drained by an operator keeps the operator's reason. */
void suspects_drain (struct broker *b, const char *node, const char *why)
{
    struct journal_txn *t = NULL;
    struct error err = { 0 };
    char reason[REASON_MAX];

    if (!is_up (b, node))
        return;
    snprintf (reason, sizeof (reason), "%s", why);
    if (nodes_drain (b, node, reason, &t, &err) < 0) {
        journal_txn_destroy (t);
        log_error ("node %s: cannot be drained: %s", node, err.text);
        return;
    }
    if (journal_commit (broker_journal (b), t, 0, NULL, NULL) < 0)
        log_error (
            "node %s: its drain will be forgotten at the next start: out of memory",
            node);
    log_warning ("node %s is drained: %s (after the repair: fluxq-ctl resume %s)", node,
                 reason, node);
}

static void drain_if_due (struct broker *b, struct suspect *s)
{
    unsigned limit = settings_of (b)->failures;
    char reason[REASON_MAX];

    if (limit == 0 || s->njobs < limit || !s->confirmed || !s->several
        || !is_up (b, s->name))
        return;
    snprintf (reason, sizeof (reason), "%zu job%s failed to start here, last: %s",
              s->njobs, s->njobs == 1 ? "" : "s", s->last);
    suspects_drain (b, s->name, reason);
    drop (b, s);
}

static void failed_on (struct broker *b, const struct entry *e, const char *node,
                       const char *text)
{
    const struct job *job = entry_job (e);
    struct suspect *s = find_or_add (b, node);

    if (!s)
        return;
    if (!has (s, entry_id (e)) && add (s, entry_id (e), settings_of (b)->failures) < 0)
        return;
    if (s->njobs == 1 && !s->several)
        s->user = job->userid;
    s->several |= s->user != job->userid || job->userid == broker_uid (b);
    /* All users see why a node is drained. */
    bool open = privacy_sees (b, PRIVACY_ANYONE, e, PRIVATE_ARGUMENTS);
    snprintf (s->last, sizeof (s->last), "%.250s", open ? text : "see the broker's log");
    drain_if_due (b, s);
}

static void start_failed (struct broker *b, struct entry *e,
                          const struct exec_start_failure *why)
{
    struct hostlist *hl =
        why->suspects ? hostlist_decode (why->suspects, HOSTLIST_MAX, NULL) : NULL;
    const char *name;

    if (settings_of (b)->failures > 0)
        for (size_t i = 0; hl && (name = hostlist_nth (hl, i)); i++)
            failed_on (b, e, name, why->text);
    hostlist_destroy (hl);
}

static void started_without (struct broker *b, const struct entry *e)
{
    const struct job *job = entry_job (e);
    struct hostlist *hl =
        job->avoid ? hostlist_decode (job->avoid, HOSTLIST_MAX, NULL) : NULL;
    const char *name;

    for (size_t i = 0; hl && (name = hostlist_nth (hl, i)); i++) {
        struct suspect *s = find (b, name);

        if (!s || !has (s, entry_id (e)))
            continue;
        s->confirmed = true;
        drain_if_due (b, s);
    }
    hostlist_destroy (hl);
}

/* job->avoid is still set. */
static void ready (struct broker *b, struct entry *e)
{
    if (!state_of (b)->suspects)
        return;
    for (size_t i = 0; entry_alloc (e) && i < entry_alloc (e)->nranks; i++)
        suspects_forget (b, entry_alloc (e)->ranks[i].node);
    started_without (b, e);
}

const struct broker_service service_suspects = {
    .name = "suspects",
    .place = &place,
    .state_size = sizeof (struct state),
    .settings = &settings,
    .release = release,
    .start_failed = start_failed,
    .ready = ready,
};
