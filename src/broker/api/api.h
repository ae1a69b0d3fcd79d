/* api.h - fluxqd's HTTP API (doc/openapi.yaml): routes, and helpers of their functions
 *
 * Each service has a table that maps method and path pattern to a function. A pattern's
 * "{}" matches one segment, which the function gets in api_path.arg. Functions answer the
 * request, now or later, exactly once.
 */
#pragma once

#include "broker/api/namelist.h"
#include "broker/api/roles.h"
#include "broker/core/broker.h"

struct api_path {
    char arg[256]; /* the segment that "{}" matched, decoded; "" without one */
    const struct api_route *route;
};

typedef void (*api_f) (struct broker *b, struct http_request *req,
                       const struct api_path *path);

/* A row of a service's routes. */
struct api_route {
    const char *method; /* NULL ends the list */
    const char *pattern;
    api_f fn;
    unsigned roles;     /* for which it is, bits of enum api_role */
    const char *action; /* its word in the audit log; NULL: the route only reads */
};

/* The route of a request; method NULL: of any method. NULL: there is none. */
const struct api_route *api_find_route (const char *method, const char *path,
                                        struct api_path *ret);
/* Answers a request; arg: struct broker. */
void api_handle (struct http_request *req, void *arg);

/* -- helpers -- */
/* The job named in the path, or NULL after a 404. */
struct entry *api_entry (struct broker *b, struct http_request *req,
                         const struct api_path *path, uint64_t *ret_id);
/* Whether the path names a task ("12_3") of an array that is not in memory; the journal
 * may still have it. */
bool api_old_task (struct broker *b, struct http_request *req,
                   const struct api_path *path, uint64_t *ret_array, uint32_t *ret_task);
/* Commits the transaction of a change already made, then answers 200 {}. */
void api_commit_setting (struct broker *b, struct http_request *req,
                         struct journal_txn *t);
/* {"action":WORD,...}: returns the word if it is one of the two (other may be NULL), or
 * NULL after a 400. The word is the request's action in the audit log, so the two are
 * static. */
const char *api_action (struct http_request *req, json_t *body, const char *one,
                        const char *other);
/* The body as an object with only these keys, or NULL after a 400. New reference. */
json_t *api_body (struct http_request *req, const char *const keys[]);
void api_reply_json (struct http_request *req, int status,
                     json_t *value); /* takes value */
/* The text as JSON; null when it is empty. */
json_t *api_text_or_null (const struct strbuf *sb);
/* Parses the node names in a request; at most as many as there are nodes. */
struct hostlist *api_hosts (struct broker *b, const char *text, struct error *err);

/* -- job.c: jobs that may be in the journal alone -- */

struct api_look;
/* Answers the request; e: the job in the table, else made from rec, which has its jobspec and
 * events. */
typedef void (*api_answer_f) (struct api_look *l, struct entry *e,
                              const struct journal_record *rec);
/* A look-up of a job in the journal, for a request. */
struct api_look {
    struct broker *b;
    struct http_request *req;
    const struct api_route *route;
    uint64_t id;
    uint32_t task; /* of array `id`, whose record is read first; IDSET_END: none */
    bool gone;
    api_answer_f answer;
};
/* Calls answer with the record of the job named in the path, if the client may see the
 * job; otherwise the answer is 404, or 503 when the journal cannot be read. */
void api_look_up (struct broker *b, struct http_request *req, const struct api_path *path,
                  api_answer_f answer);

/* -- job_ids.c: lists of jobs, ranges of them, and tasks of arrays -- */

/* "12,20-29,7_[1-3]": the numbers as given, and in `all` the ids that they stand for. The
 * id of an array includes its tasks; a task that has not started includes the id of its
 * array. All lists are sorted and without overlaps, with one part for each array, so
 * repeated ids cost nothing. */
struct job_ids {
    struct id_list {
        struct id_numbers {
            uint64_t first, last;
        } * v;
        size_t n, alloc;
    } named, ranges, all; /* single jobs; ranges of jobs */
    struct id_part {
        uint64_t array;
        struct idset *tasks;
    } * parts; /* tasks of arrays */
    size_t nparts;
};
/* NULL: -EINVAL, -ERANGE (more than ARRAY_TASKS_MAX tasks of arrays), -ENOMEM. */
struct job_ids *job_ids_parse (struct broker *b, const char *text, struct error *err);
void job_ids_destroy (struct job_ids *ids);
bool job_ids_has (const struct job_ids *ids, uint64_t id);
/* Whether the id was given itself or in a range, not only as a task of an array. */
bool job_ids_has_given (const struct job_ids *ids, uint64_t id);

/* -- filters of jobs, shared by list, cancel and watch -- */
struct api_filter {
    struct namelist user, queue, name; /* text NULL: all */
    bool own;                          /* "me" */
    uint32_t phases;                   /* bits of enum job_phase; 0: all */
    struct job_ids *ids;               /* NULL: all */
    const struct broker *b;
    uid_t me; /* private jobs of others never match */
};
/* Texts may be NULL. After a failure there is nothing to release. */
int api_filter_init (struct api_filter *f, struct broker *b, struct http_request *req,
                     const char *user, const char *state, const char *queue,
                     const char *name, const char *ids, struct error *err);
void api_filter_release (struct api_filter *f);
/* The phase shown in the job's row; of an array that has ended, the phase of the tasks
 * that never started. */
enum job_phase api_row_phase (const struct job *job);
bool api_filter_match (const struct api_filter *f, const struct entry *e);
