/* small.h - a broker for unit tests of services: no sockets, no journal file, no clock
 *
 *     struct small *s = small_create (2);                   // 2 nodes of 4 cores
 *     struct entry *e = small_submit (s, "deadline: 1000"); // one core; attributes.system
 *     small_turn (s);                                  // a pass, the commit, and after it
 *     small_advance (s, 30);                           // the time, and the services' timers
 *     assert_string_equal (small_events (s, e->id), "submit validate ...");
 *     small_destroy (s);
 *
 * The services are the real ones, all of them, over the real core, matcher and scheduler.
 * A program of SMALL_FLAGS (Makefile.am) reaches the journal, the clock, the look-up of
 * users and worker threads here instead: commits succeed at small_turn(), or fail when
 * told so; time is what small_advance() says; each user exists; a worker's work counts as
 * done. The executor records what it is told, and reports when the test says so. For
 * requests of the HTTP API see fake_http.h, for streams to agents fake_agent.h.
 */
#pragma once

#include "common/test/unit.h"

#include "broker/core/inside.h"
#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"

struct small {
    struct broker *b;
    struct config *config; /* may be changed */
    uv_loop_t loop;
    char *told;     /* what the executor was told: "start 1, terminate 1 timeout, ..." */
    unsigned slots; /* of a core each that small_submit() asks for; 0 counts as 1 */
    bool agents_away; /* the executor refuses signals and connections with -EBUSY */
    bool works;       /* a worker does its work, and is done at the next completion */
};

#define SMALL_START 1000000.0 /* unix time of small_create() */

/* Makes a broker that knows its nodes, node0 ..., of four cores each. */
struct small *small_create (int nodes);
void small_destroy (struct small *s);
/* Sets a key of the configuration; takes value. */
void small_set (struct small *s, const char *key, json_t *value);
/* A job of uid 1000 in queue "batch" with one core and these keys of attributes.system
 * ("duration: 60, name: x"), as if its submit were on disk. NULL: no memory. */
struct entry *small_submit (struct small *s, const char *system);
/* Ends a turn of the loop, and does its commit. Repeats until nothing is due. */
void small_turn (struct small *s);
/* Advances the time; due timers of services fire, each at its time. */
void small_advance (struct small *s, double seconds);
double small_now (void);
/* The names of the job's events, in one string; of all jobs if id is 0. */
const char *small_events (struct small *s, uint64_t id);
/* The context of the job's last event of this name, as JSON; NULL if there was none. */
const char *small_context (uint64_t id, const char *name);
/* The next small_create() finds this setting in the journal. */
void small_keep (const char *name, const char *value);
/* The last setting of this name that was written to the journal; NULL: none. */
const char *small_setting (const char *name);
/* Reports of the executor, and then a turn. */
void small_ready (struct small *s, uint64_t id);
void small_finish (struct small *s, uint64_t id, const char *reason);
/* The agents answer all signals that the executor was asked to send; rc as in exec.h. */
void small_signalled (struct small *s, int rc);
/* The agent answers the request for the steps that run; text NULL: it does not. */
void small_steps (struct small *s, int rc, const char *text);

/* Sets the directory of the jobs' directories; workers then really work there. */
void small_use_dir (struct small *s, const char *jobs_dir);

/* -- faults -- */

/* Between these two calls allocations of the test itself do not fail. */
long small_spare (void);
void small_resume (long countdown);

/* The steps of a test on the broker. small_submit() may return NULL, and jobs may
 * vanish, so the scenario finds jobs by id. */
typedef void (*small_scenario_f) (struct small *s);
/* Runs the scenario again and again, each time in a process of its own in which
 * the next allocation fails, until no allocation fails. The broker may stop
 * with "out of memory: the broker stops ..."; a crash, or a leak in a build
 * with ASan, fails the test. $SMALL_FAULT=N makes the N-th fault, from 0, in
 * the test's own process, for a debugger. */
void small_torture (int nodes, small_scenario_f run);
/* Runs the scenario again and again; each time all jobs vanish before the next
 * completion of the journal, until there is no further completion. */
void small_vanish (int nodes, small_scenario_f run);
