/* service.h - a service of the broker: one concern, in one file
 *
 *     struct deadlines { struct due_heap heap; struct broker_timer timer; };   // its state
 *     struct slot { struct due due; };                                  // its slot on a job
 *     static struct service_place place;
 *     SERVICE_STATE_OF (struct deadlines)                               // state_of (b)
 *     SERVICE_SLOT_OF (struct slot)                                     // slot_of (e)
 *     ...
 *     const struct broker_service service_deadline = {
 *         .name = "deadline",
 *         .place = &place,
 *         .state_size = sizeof (struct deadlines),
 *         .slot_size = sizeof (struct slot),
 *         .timer = offsetof (struct deadlines, timer),
 *         .on_timer = pass,
 *         .moved = moved,
 *         .release = release,
 *     };
 *
 * contrib/find-sources finds the descriptor, so a new service is one new file. The core
 * calls services through this structure and knows none by name. A service owns its state,
 * its timers and its slot on each job; no other file sees them. A service that another
 * one needs has a header of its own beside it, with functions; such calls go one way.
 *
 * Every member but name may be left out. The core calls services in the order of `order`,
 * then of their names. State and slots are zero at first. All calls come from the loop's
 * thread. A hook may emit events (turn.h), and so cause further calls of hooks.
 */
#pragma once

#include "broker/config/keys.h"
#include "broker/core/broker.h"

/* For `order`: most services have none. */
enum { SERVICE_FIRST = -1, SERVICE_AFTER = 1 };

/* Where the core put a service's state, slots and settings, in bytes; the same in every
 * broker. */
struct service_place {
    size_t state, slot, settings;
};

/* The changes that an event made to a job. */
struct job_change {
    const char *name;        /* of the event */
    double now;              /* its time */
    enum job_state before;   /* the job's state before it */
    bool held;               /* the job had an allocation before, */
    int64_t held_cores;      /* ... of this many cores, */
    double held_since;       /* ... since this unix time */
    struct journal_txn *txn; /* the transaction with the event, to add settings to */
};

/* An action of a job (JOB_ACT_..., BROKER_ACT_RESULT) that a service performs: those of
 * BROKER_INNER at once, the others after their commit. */
struct service_act {
    unsigned action; /* 0 ends the list */
    void (*fn) (struct broker *b, struct entry *e);
};

/* A requeue that is about to be recorded. */
struct service_requeue {
    const char *nodes; /* hostlist of the nodes at fault, or NULL */
    bool avoids;       /* other nodes are to be tried */
    bool at_end;       /* the job goes behind all others */
};

/* A route of the HTTP API (api/api.h), and a column of its listings (api/columns.h). */
struct api_route;
struct column;

struct broker_service {
    const char *name;
    int order; /* SERVICE_FIRST, 0, SERVICE_AFTER; the reason beside it */
    struct service_place *place;
    size_t state_size, slot_size;
    size_t timer;                        /* offset of a timer in the state, */
    void (*on_timer) (struct broker *b); /* ... which calls this; NULL: none */
    const struct config_part *settings; /* its keys in fluxq.yaml */

    /* -- life of the broker -- */
    /* Before the journal is open; the timer can be set. */
    int (*init) (struct broker *b, struct error *err);
    /* The journal is open and the graph exists; no job is known. */
    int (*load) (struct broker *b, struct error *err);
    /* Sets the reports of the executor that the service takes. */
    void (*host) (struct broker *b, struct exec_host *host);
    /* The executor exists and the HTTP server listens; the loop is about to run. */
    int (*begin) (struct broker *b, struct error *err);
    /* broker_stop(), and again broker_destroy(): ends requests that are kept open. */
    void (*stop) (struct broker *b);
    /* broker_destroy(): the loop runs once more, to close handles. */
    void (*close) (struct broker *b);
    /* The last call: frees what the state holds. `init` may have failed or not run. */
    void (*release) (struct broker *b);
    /* Whether the configuration can be used, at start and reload. -EINVAL. */
    int (*check_config) (const struct config *c, struct error *err);
    /* Whether it can replace the current one. -EINVAL; -ENOMEM. */
    int (*check_reload) (struct broker *b, const struct config *c, struct error *err);
    /* The configuration has replaced `old`. */
    void (*reloaded) (struct broker *b, const struct config *old);
    /* After that: appends the keys whose files have other contents, though their values have
     * not changed. */
    void (*list_files) (struct broker *b, json_t *applied);

    /* -- a job -- */
    /* The jobspec exists, for a new job and for one read from the journal: copies or moves
     * what the service needs later. task: the job is a task of an array. */
    void (*take) (struct broker *b, struct entry *e, bool task);
    /* A task of an array becomes a job: copies what the service keeps of the array. */
    void (*splits) (struct entry *task, const struct entry *array);
    /* The job is in the table from now on; at start-up all jobs in the order of ids. */
    void (*comes) (struct broker *b, struct entry *e);
    /* The job's state has changed (before: the old one), or the job is new in the table
     * (JOB_NEW). The lists of waiting and active jobs are updated after this. */
    void (*moved) (struct broker *b, struct entry *e, enum job_state before);
    /* An event was applied. */
    void (*event) (struct broker *b, struct entry *e, const struct job_change *change);
    /* Whether `committed` has to be called for an event of the job. */
    bool (*listens) (const struct broker *b, const struct entry *e);
    /* The turn is on disk, with n events of the job. */
    void (*committed) (struct broker *b, struct entry *e,
                       const char (*names)[EVENT_NAME_MAX], unsigned n);
    const struct service_act *acts;
    /* The job is inactive, on disk. */
    void (*ended) (struct broker *b, struct entry *e);
    /* The job leaves the table; it is still in all lists. */
    void (*goes) (struct broker *b, struct entry *e);
    /* The entry is freed; it may never have been in the table. */
    void (*drop) (struct entry *e);

    /* -- starts -- */
    /* Whether the start of an allocated job waits; notes the reason.
     * broker_starts_due() asks again. */
    bool (*holds_start) (struct broker *b, struct entry *e);
    /* All ranks are ready; the event follows. */
    void (*ready) (struct broker *b, struct entry *e);
    void (*start_failed) (struct broker *b, struct entry *e,
                          const struct exec_start_failure *why);
    /* The attempt ends with a `finish` or `requeue` event, which follows. */
    void (*attempt_ends) (struct broker *b, struct entry *e);
    /* Adds to the context of a `requeue` event. */
    void (*requeues) (struct broker *b, struct entry *e,
                      const struct service_requeue *how, json_t *context);
    /* Nothing of the attempt is left. */
    void (*attempt_over) (struct broker *b, struct entry *e);
    /* The executor has picked up a job that ran before the broker started. */
    void (*picked_up) (struct broker *b, struct entry *e);
    /* The job's spool exists, or has grown for a reason outside the loop. */
    void (*output) (struct broker *b, struct entry *e);
    /* The executor has removed all objects of this job. */
    void (*cleaned) (struct broker *b, uint64_t id);

    /* -- recovery, in this order -- */
    /* All events of a job from the journal are applied; the jobspec may exist. */
    void (*replayed) (struct broker *b, struct entry *e);
    /* A job that was in the queue waits again. */
    void (*waits_again) (struct broker *b, struct entry *e);
    /* The nodes are known; running jobs are not booked yet. */
    void (*nodes_known) (struct broker *b);
    /* Books a running job; true: done. */
    bool (*books) (struct broker *b, struct entry *e);
    /* All running jobs are booked and handed to the executor. */
    void (*recovered) (struct broker *b);

    /* -- the queue -- */
    void (*enqueue) (struct broker *b, struct entry *e);
    /* The end of each turn of the loop, before its commit. */
    void (*end_of_turn) (struct broker *b);
    /* A pass over the queue begins; it has ended, with no job left to try. */
    void (*pass_begins) (struct broker *b);
    void (*pass_ends) (struct broker *b);
    /* The unix time at which the next pass is needed; 0: none. */
    double (*wakeup) (const struct broker *b);
    /* Adds to the context of an `alloc` event. 0 or -1. */
    int (*allocates) (const struct broker *b, const struct entry *e, json_t *context);
    /* Starts that wait may be possible now. */
    void (*starts_due) (struct broker *b);

    /* -- what users see -- */
    /* Why the job waits: a word (Resources, Dependency), and a sentence that is added to
     * text, unless text is NULL. NULL: for no reason of this service. In the order of
     * calls the first answer counts. */
    const char *(*reason) (struct broker *b, const struct entry *e, struct strbuf *text);
    const struct api_route *routes; /* method NULL ends the list */
    /* Whether a request may not be made; the service has answered it then. */
    bool (*refuses) (struct broker *b, struct http_request *req,
                     const struct api_route *route);
    const struct column *columns;   /* name NULL ends the list */
    /* Adds members to the answer of GET /v1/jobs/ID. The entry of a job that has left the
     * table is made from rec; js: its jobspec, NULL when it cannot be read. */
    void (*shows_job) (struct broker *b, struct entry *e, const struct jobspec *js,
                       const struct journal_record *rec, json_t *job);
    /* GET /v1/jobs/ID of a job that the journal does not have; task: of the array `id`, or
     * IDSET_END. true: the service answers, now or later, also that there is no job. */
    bool (*shows_gone) (struct broker *b, struct http_request *req, uint64_t id,
                        uint32_t task);
    /* Adds members to the answer of GET /v1/status. */
    void (*shows_status) (struct broker *b, uid_t viewer, json_t *status);
};

/* All of them, in alphabetical order. */
extern const struct broker_service *const broker_services[];

/* In the order of calls; NULL ends the list. */
extern const struct broker_service *services[];
/* Gives each service its place; call before a broker is made. Repeated calls change
 * nothing. */
void services_arrange (void);
/* The keys of all services, for config_load(). Calls services_arrange(). */
const struct config_layout *services_settings (void);
size_t services_state_size (void);
size_t services_slot_size (void); /* of an entry with all slots */

/* The service's state, and its slot on the job. */
void *service_state (const struct broker *b, const struct service_place *place);
static inline void *service_slot (const struct entry *e,
                                  const struct service_place *place)
{
    return (char *)e + place->slot;
}

/* The service's settings in a configuration: the struct of .settings. */
static inline const void *service_settings (const struct config *c,
                                            const struct service_place *place)
{
    return c->settings + place->settings;
}

/* In a service's file: the functions that give its state, slot and current settings, from
 * the type of each. SERVICE_SETTINGS_OF also defines `settings`, from the service's `keys`
 * and `defaults`. */
#define SERVICE_STATE_OF(type)                                                           \
    static type *state_of (const struct broker *b)                                       \
    {                                                                                    \
        return service_state (b, &place);                                                \
    }
#define SERVICE_SLOT_OF(type)                                                            \
    static type *slot_of (const struct entry *e)                                         \
    {                                                                                    \
        return service_slot (e, &place);                                                 \
    }
#define SERVICE_SETTINGS_OF(type)                                                        \
    static const struct config_part settings = { keys, sizeof (type), &defaults };       \
    static const type *settings_of (const struct broker *b)                              \
    {                                                                                    \
        return service_settings (broker_config (b), &place);                             \
    }

/* The services that have the hook (an offset in the structure), in the order of calls;
 * NULL ends the list. */
const struct broker_service **services_with (size_t hook);
#define SERVICES_WITH(hook) services_with (offsetof (struct broker_service, hook))

/* Calls the hook of each service that has it: services_call (moved, b, e). */
#define services_call(hook, ...)                                                         \
    do {                                                                                 \
        for (const struct broker_service **s_ = SERVICES_WITH (hook); *s_; s_++)         \
            (*s_)->hook (__VA_ARGS__);                                                   \
    } while (0)

/* Calls the hooks, which return an int, until one fails: its value, or 0. */
#define services_try(hook, ...)                                                          \
    ({                                                                                   \
        int rc_ = 0;                                                                     \
        for (const struct broker_service **s_ = SERVICES_WITH (hook); *s_ && rc_ == 0;   \
             s_++)                                                                       \
            rc_ = (*s_)->hook (__VA_ARGS__);                                             \
        rc_;                                                                             \
    })

/* Calls the hooks, which return a bool, until one is true: whether one is. */
#define services_any(hook, ...)                                                          \
    ({                                                                                   \
        bool is_ = false;                                                                \
        for (const struct broker_service **s_ = SERVICES_WITH (hook); *s_ && !is_; s_++) \
            is_ = (*s_)->hook (__VA_ARGS__);                                             \
        is_;                                                                             \
    })

/* -- timers -- */

/* A timer of a service; a member of its state. The core ends it with the broker. A second
 * timer of a service needs broker_timer_init(). */
struct broker_timer {
    uv_timer_t uv;
    struct broker *b;
    void (*fn) (struct broker *b);
    bool is_set;
    struct broker_timer *next;
};

void broker_timer_init (struct broker *b, struct broker_timer *t,
                        void (*fn) (struct broker *b));
/* Calls fn once after this many seconds, >= 0; replaces an earlier time. */
void broker_timer_set (struct broker_timer *t, double seconds);
/* Seconds until it fires; 0: it is not set. */
double broker_timer_left (const struct broker_timer *t);
void broker_timer_stop (struct broker_timer *t);
