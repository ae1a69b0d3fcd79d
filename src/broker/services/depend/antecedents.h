/* antecedents.h - the jobs that a job waits for: in memory, or ended and in the journal
 *
 *     antecedents_find (b, &js->depend, NULL, &uid, done, arg);  // reads the journal
 *     done (0, found, 0, arg):                                   // all exist
 *         antecedents_resolve_tasks (b, found, &js->depend, &err);
 *     antecedents_past (b, found, id, &past);                    // how one ended
 *     antecedents_free (found);
 *
 * `found` has those that are not in memory; NULL: all are.
 */
#pragma once

#include "broker/core/broker.h"
#include "job/deps.h"

struct antecedents;
/* rc 0: found has the antecedents that are not in memory, and the callee frees it;
 * unknown: the id of one that does not exist, or 0. -EAGAIN, ...: try later. */
typedef void (*antecedents_found_f) (int rc, struct antecedents *found, uint64_t unknown,
                                     void *arg);
/* Takes found (of an earlier search, or NULL). Calls done, now or later. viewer: jobs
 * that this user may not see count as unknown; NULL: all jobs are visible. */
void antecedents_find (struct broker *b, const struct dependencies *list,
                       struct antecedents *found, const uid_t *viewer,
                       antecedents_found_f done, void *arg);
void antecedents_free (struct antecedents *a);
/* Whether each job of the list is in memory or found. */
bool antecedents_know_all (struct broker *b, const struct antecedents *found,
                           const struct dependencies *list);
/* The state of the array's tasks, from memory or found; NULL: not known, or not an
 * array. */
const struct job_array *antecedents_array (const struct broker *b,
                                           const struct antecedents *found, uint64_t id);
/* Replaces tasks of arrays in the list by their own job ids, from memory or found.
 * -ENOENT: a task does not exist (the dependency can never be satisfied). */
int antecedents_resolve_tasks (const struct broker *b, const struct antecedents *found,
                               struct dependencies *list, struct error *err);
/* How the ended job or task ended. -ENOENT: it is not known. */
int antecedents_past (struct broker *b, const struct antecedents *found, uint64_t id,
                      struct deps_past *ret);
