/* reserve.h - advance reservations and maintenance windows
 *
 *     struct reservation *r = reservation_create (name, start, end, &err);
 *     hostlist_append (r->nodes, "node1"); ...
 *     reserve_make (b, r, 0, false, &err);     // from now on the plan is made around it
 *     reserve_remove (b, r);                   // all may have the nodes again
 *
 * For jobs outside, a reservation is a window of its nodes in the broker's own matcher.
 * Jobs inside are planned and booked in the reservation's realm (sched/realm.h). A
 * job's realm is the one that has the job queued or booked; none: the broker's own sched
 * and matcher have it, or nothing has it because the job waits for its reservation.
 *
 * The journal has each reservation as a setting "reservation/NAME" = JSON until it is
 * over.
 */
#pragma once

#include "broker/core/no_memory.h"

#include <uthash.h>

#include "broker/core/broker.h"
#include "sched/realm.h"

#define RESERVATIONS_MAX 1000
#define RESERVATION_USERS_MAX 1000
#define RESERVATION_NAME_MAX 63
#define RESERVATION_NOTE_MAX 400
/* maximum length, and maximum time ahead */
#define RESERVATION_SECONDS_MAX (366 * 86400.0)

struct reservation {
    UT_hash_handle hh;
    char *name;
    double start, end; /* unix times */
    double made;
    bool maintenance; /* no users, no jobs run there */
    bool active;      /* has begun */
    struct hostlist *nodes;
    struct reserve_user {
        char *name;
        uid_t uid;
    } * users;
    size_t nusers;
    char *by;            /* name of the user who made it */
    char *note;          /* or NULL */
    uint64_t window;     /* id in the matcher */
    struct realm *realm; /* while the broker knows the reservation */
};

/* -- reservation.c: the record -- */

/* Letters, digits and - _ . */
int reservation_check_name (const char *name, struct error *err);
struct reservation *reservation_create (const char *name, double start, double end,
                                        struct error *err);
void reservation_destroy (struct reservation *r);
int reservation_add_user (struct reservation *r, const char *name, uid_t uid);
bool reservation_admits (const struct reservation *r, uid_t uid);
/* The whole record, as kept in the journal and shown; NULL: no memory. */
json_t *reservation_to_json (const struct reservation *r);
struct reservation *reservation_from_json (const char *name, const char *text,
                                           struct error *err);

/* -- reserve.c: the plan -- */

/* The first of all; the others follow by hh.next. */
struct reservation *reserve_list (const struct broker *b);
struct reservation *reserve_find (const struct broker *b, const char *name);
/* The reservation that has the node now, else the next that will; NULL: none. */
const struct reservation *reserve_of_node (const struct broker *b, const char *node);
/* Makes a name that no reservation has had: "resv-7". */
void reserve_new_name (struct broker *b, char *ret, size_t size);
/* Adds a reservation; takes r over on success. n > 0: chooses n nodes, else r->nodes are
 * given. Running jobs on the nodes are allowed only with ignore_running. The caller
 * writes it to the journal: reserve_txn(). -EEXIST, -ENOENT, -EBUSY, -EINVAL, -ENOMEM. */
int reserve_make (struct broker *b, struct reservation *r, size_t n, bool ignore_running,
                  struct error *err);
/* Ends and frees the reservation. Its running jobs go on, its waiting jobs keep
 * waiting. */
void reserve_remove (struct broker *b, struct reservation *r);
/* The transaction that stores the reservation or (gone) deletes it; NULL: no memory. */
struct journal_txn *reserve_txn (const struct broker *b, const struct reservation *r,
                                 bool gone);

/* -- reserve_nodes.c -- */

/* Chooses n nodes for the new reservation; n 0: checks those of r->nodes. Returns as
 * reserve_make(). now: unix time. */
int reserve_find_nodes (struct broker *b, struct reservation *r, size_t n, double now,
                        bool ignore_running, struct error *err);

/* -- reserve.c: its jobs -- */

/* The name of the reservation that the job must run in; NULL: none. */
const char *reserve_name_of (const struct entry *e);
/* A realm has the job queued or booked. */
bool reserve_has_realm (const struct entry *e);
/* The realm has the job no more. */
void reserve_leave (struct entry *e);
/* The scheduler that has the job queued; NULL: none, as its reservation does not exist or
 * does not admit the job. */
struct sched *reserve_sched_of (struct broker *b, const struct entry *e);
/* The scheduler to queue the job in now; NULL as above. */
struct sched *reserve_sched_for (struct broker *b, struct entry *e);
/* The matcher that has the job booked, or would book it. */
struct matcher *reserve_matcher_of (struct broker *b, const struct entry *e);
/* Takes id (of the job, or of a task of it) out of the queue. */
void reserve_dequeue (struct broker *b, const struct entry *e, uint64_t id);
/* The node came or went. */
void reserve_node_moved (struct broker *b, const char *node);

/* -- realms.c: all schedulers and matchers -- */

/* sched_next() and sched_wakeup() over all schedulers. */
int reserve_sched_next (struct broker *b, double now, unsigned tries,
                        struct sched_decision *ret);
double reserve_wakeup (const struct broker *b);
void reserve_queue_set (struct broker *b, unsigned queue, bool started);
/* Cancels the booking of the id, in any matcher. */
void reserve_unbook (struct broker *b, uint64_t id);
/* The node's state or size is different. */
void reserve_node_changed (struct broker *b, const char *node);
/* The job's resources are free now. */
void reserve_freed (struct broker *b, const struct entry *e);
/* The policies and queues of a new configuration. */
void reserve_reloaded (struct broker *b, const struct config *old);
