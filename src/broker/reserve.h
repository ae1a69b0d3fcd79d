/* reserve.h - advance reservations and maintenance windows
 *
 *     struct reservation *r = reservation_create (name, start, end, &err);
 *     hostlist_append (r->nodes, "node1"); ...
 *     reserve_make (b, r, 0, false, &err);     // from now on the plan is made around it
 *     reserve_remove (b, r);                   // all may have the nodes again
 *
 * For all other jobs a reservation is a window of its nodes in the broker's own matcher; what
 * runs inside is planned and booked in its realm (sched/realm.h). An entry's realm is where its
 * job is queued or booked; NULL: in the broker's own sched and matcher, or, when it waits and
 * names a reservation, in none.
 *
 * In the journal each is a setting "reservation/NAME" = JSON, until it is over.
 */
#ifndef FLUXQ_BROKER_RESERVE_H
#define FLUXQ_BROKER_RESERVE_H

#include "broker/broker.h"
#include "common/hostlist.h"
#include "sched/realm.h"

#define RESERVATIONS_MAX 1000
#define RESERVATION_USERS_MAX 1000
#define RESERVATION_NAME_MAX 63
#define RESERVATION_NOTE_MAX 400
#define RESERVATION_SECONDS_MAX (366 * 86400.0) /* it lasts, and is ahead, at most */

struct reservation {
    UT_hash_handle hh;
    char *name;
    double start, end; /* unix times */
    double made;
    bool maintenance; /* nobody's jobs run there; no users */
    bool active;      /* its time has come */
    struct hostlist *nodes;
    struct reserve_user {
        char *name;
        uid_t uid;
    } * users;
    size_t nusers;
    char *by;            /* the name of who made it */
    char *note;          /* or NULL */
    uint64_t window;     /* id in the matcher */
    struct realm *realm; /* while it is known to the broker */
};

/* -- reservation.c: the record -- */

/* Letters, digits and - _ . */
int reservation_check_name (const char *name, struct error *err);
struct reservation *reservation_create (const char *name, double start, double end,
                                        struct error *err);
void reservation_destroy (struct reservation *r);
int reservation_add_user (struct reservation *r, const char *name, uid_t uid);
bool reservation_admits (const struct reservation *r, uid_t uid);
/* All of it as kept in the journal, and shown; NULL: no memory. */
json_t *reservation_to_json (const struct reservation *r);
struct reservation *reservation_from_json (const char *name, const char *text,
                                           struct error *err);

/* -- reserve.c: the plan -- */

struct reservation *reserve_find (const struct broker *b, const char *name);
/* That has the node now, or, when none has, the next that will. */
const struct reservation *reserve_of_node (const struct broker *b, const char *node);
/* A name that no reservation has had: "resv-7". */
void reserve_new_name (struct broker *b, char *ret, size_t size);
/* Taken over when it is made. n > 0: so many nodes are chosen; else they are r->nodes. Past
 * jobs that run there only with ignore_running. What has to go to the journal is the
 * caller's: reserve_txn(). -EEXIST, -ENOENT, -EBUSY, -EINVAL, -ENOMEM. */
int reserve_make (struct broker *b, struct reservation *r, size_t n, bool ignore_running,
                  struct error *err);
/* It is over for all, and freed. Jobs that run inside go on, those that wait wait on. */
void reserve_remove (struct broker *b, struct reservation *r);
/* The transaction that keeps it, or (gone) forgets it; NULL: no memory. */
struct journal_txn *reserve_txn (const struct broker *b, const struct reservation *r,
                                 bool gone);

#endif
