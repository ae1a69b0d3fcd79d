/* broker.h - the state of fluxqd; one thread, the loop's, owns all of it
 *
 *   request --> api*.c --> submit.c / cancel.c --\
 *                                                  turn.c     : broker_emit()
 *   executor --> reports.c -----------------------/     |  job_apply(), journal
 *   plan.c (sched_next) -------------------------/      v
 *                          inner actions at once; outer ones (start, clean up,
 *                          answer) after the commit
 *
 * The commit rule: broker_emit() applies an event to the record at once and adds it to
 * the transaction of this turn of the loop. All effects that the outside can see (a
 * reply, a process started or removed) follow when that transaction is on disk.
 */
#pragma once

#include <uv.h>

#include "broker/config/config.h"
#include "broker/core/users.h"
#include "exec/exec.h"
#include "job/job.h"
#include "jobspec/jobspec.h"
#include "match/machine/match.h"
#include "net/http_server.h"
#include "sched/sched.h"
#include "store/journal.h"

struct broker;
struct entry; /* a job, see jobs.h */

/* handle answers the HTTP requests (api_handle()). Takes config over, also on failure. */
struct broker *broker_create (uv_loop_t *loop, struct config *config,
                              http_handler_f handle, struct error *err);
/* Whether the broker can run jobs of all users here: it is root, or has fluxq-launch. */
bool broker_serves_all (const struct broker *b);
/* Root, the broker's own user, and those of `operators:` at the top of fluxq.yaml. For
 * requests see api/roles.h. */
bool broker_is_administrator (const struct broker *b, uid_t uid);
/* Administrators, and those of `operators:` of the queue (an index). */
bool broker_operates (const struct broker *b, uid_t uid, unsigned queue);
/* Whether these two need a look-up of the user. */
bool broker_has_operator_groups (const struct broker *b);
/* Reads the configuration file again and appends the names of changed keys to applied. On
 * error nothing changes. */
int broker_reload (struct broker *b, json_t *applied, struct error *err);
void broker_stop (struct broker *b);
void broker_destroy (struct broker *b);

/* The first member of struct broker: listings read it for each job, so without a call. */
struct broker_head {
    struct config *config; /* a reload replaces it */
};

static inline struct config *broker_config (const struct broker *b)
{
    return ((const struct broker_head *)b)->config;
}

/* Its other parts; the broker owns all of them. */
uv_loop_t *broker_loop (const struct broker *b);
struct journal *broker_journal (const struct broker *b);
struct http_server *broker_http (const struct broker *b);
struct machine *broker_graph (const struct broker *b);
struct matcher *broker_matcher (const struct broker *b);
struct sched *broker_sched (const struct broker *b);
struct users *broker_users (const struct broker *b);
const struct topology *broker_topology (const struct broker *b); /* levels of places */
/* The executor: broker_ops (b)->FUNCTION (broker_exec (b), ...). */
const struct exec_ops *broker_ops (const struct broker *b);
struct exec *broker_exec (const struct broker *b);

const char *broker_socket_path (const struct broker *b);
const char *broker_state_dir (const struct broker *b);
const char *broker_jobs_dir (const struct broker *b);
uid_t broker_uid (const struct broker *b);         /* of the process */
double broker_started_at (const struct broker *b); /* unix time */

/* Until the executor has listed its nodes. */
bool broker_is_recovering (const struct broker *b);
bool broker_is_stopping (const struct broker *b);
/* broker_destroy() runs: callbacks only free. */
bool broker_is_dead (const struct broker *b);

/* Around an operation that ends with a call from the journal or a reply: broker_destroy()
 * waits for its end. */
void broker_work_begins (struct broker *b);
void broker_work_ends (struct broker *b);

/* For --check: lets the executor check its section; starts nothing. */
int exec_check_config (const struct config *c, struct error *err);
