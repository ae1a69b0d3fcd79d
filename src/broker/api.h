/* api.h - the routes of fluxqd's HTTP API (doc/openapi.yaml)
 *
 * One table (api.c) of method, path pattern and function. A pattern's "{}" matches one
 * segment, which the function gets in api_path.arg. Functions answer the request, now or
 * later, exactly once.
 */
#ifndef FLUXQ_BROKER_API_H
#define FLUXQ_BROKER_API_H

#include "broker/broker.h"
#include "broker/namelist.h"

struct api_path {
    char arg[256]; /* the segment that "{}" matched, decoded; "" when there is none */
};

typedef void (*api_f) (struct broker *b, struct http_request *req,
                       const struct api_path *path);

/* submit.c */
void api_submit (struct broker *b, struct http_request *req, const struct api_path *path);
/* api_list.c */
void api_list (struct broker *b, struct http_request *req, const struct api_path *path);
/* api_job.c */
void api_job (struct broker *b, struct http_request *req, const struct api_path *path);
void api_job_events (struct broker *b, struct http_request *req,
                     const struct api_path *path);
void api_job_jobspec (struct broker *b, struct http_request *req,
                      const struct api_path *path);
void api_job_wait (struct broker *b, struct http_request *req,
                   const struct api_path *path);
void api_job_output (struct broker *b, struct http_request *req,
                     const struct api_path *path);
/* relay.c */
void api_job_connect (struct broker *b, struct http_request *req,
                      const struct api_path *path);
/* priority.c */
void api_job_priority (struct broker *b, struct http_request *req,
                       const struct api_path *path);
void api_fair_share (struct broker *b, struct http_request *req,
                     const struct api_path *path);
/* cancel.c, urgency.c */
void api_job_urgency (struct broker *b, struct http_request *req,
                      const struct api_path *path);
void api_cancel (struct broker *b, struct http_request *req, const struct api_path *path);
/* limit.c */
void api_job_limit (struct broker *b, struct http_request *req,
                    const struct api_path *path);
/* resize.c */
void api_job_resize (struct broker *b, struct http_request *req,
                     const struct api_path *path);
/* watch.c */
void api_watch (struct broker *b, struct http_request *req, const struct api_path *path);
/* api_admin.c */
void api_nodes (struct broker *b, struct http_request *req, const struct api_path *path);
void api_node_set (struct broker *b, struct http_request *req,
                   const struct api_path *path);
void api_queues (struct broker *b, struct http_request *req, const struct api_path *path);
void api_queue_set (struct broker *b, struct http_request *req,
                    const struct api_path *path);
void api_status (struct broker *b, struct http_request *req, const struct api_path *path);
void api_shutdown (struct broker *b, struct http_request *req,
                   const struct api_path *path);
void api_journal (struct broker *b, struct http_request *req,
                  const struct api_path *path);
void api_reload (struct broker *b, struct http_request *req, const struct api_path *path);

/* api_reserve.c */
void api_reservations (struct broker *b, struct http_request *req,
                       const struct api_path *path);
void api_reservation_make (struct broker *b, struct http_request *req,
                           const struct api_path *path);
void api_reservation_set (struct broker *b, struct http_request *req,
                          const struct api_path *path);

/* -- helpers -- */
/* The job that the path names, or NULL after a 404. */
struct entry *api_entry (struct broker *b, struct http_request *req,
                         const struct api_path *path, uint64_t *ret_id);
/* "12_3" of an array that is in memory no more; it may be in the journal. */
bool api_old_task (struct broker *b, struct http_request *req,
                   const struct api_path *path, uint64_t *ret_array, uint32_t *ret_task);
bool api_may (struct broker *b, struct http_request *req,
              const struct entry *e); /* owner, operator */
/* As api_may(), answers 403 if not. */
bool api_require (struct broker *b, struct http_request *req, const struct entry *e);
/* Commits what was done already, and answers: 200 {}. */
void api_commit_setting (struct broker *b, struct http_request *req,
                         struct journal_txn *t);
/* {"action":WORD,...}: the word, one of the two (other: or NULL), or NULL after a 400. */
const char *api_action (struct http_request *req, json_t *body, const char *one,
                        const char *other);
/* The body as an object with only these keys, or NULL after a 400. New reference. */
json_t *api_body (struct http_request *req, const char *const keys[]);
void api_reply_json (struct http_request *req, int status,
                     json_t *value); /* takes value */
/* Names of nodes that a request has: no more than there are nodes. */
struct hostlist *api_hosts (struct broker *b, const char *text, struct error *err);

/* -- job_ids.c: lists of jobs, ranges of them, and tasks of arrays -- */

/* "12,20-29,7_[1-3]": as it was given, and which numbers that are. An array stands for its
 * tasks, too; of a task that has not started, the array is meant as well. All are sorted and
 * without overlaps, each array is one part: what is there twice costs no more. */
struct job_ids {
    struct id_numbers {
        uint64_t first, last;
    } * named, *ranges; /* jobs, each for itself; and ranges of them */
    size_t nnamed, nranges;
    struct id_part {
        uint64_t array;
        struct idset *tasks;
    } * parts; /* tasks of arrays */
    size_t nparts;
    struct id_numbers *all;
    size_t nall, all_alloc;
};
/* NULL: -EINVAL, -ERANGE (more than ARRAY_TASKS_MAX tasks of arrays), -ENOMEM. */
struct job_ids *job_ids_parse (struct broker *b, const char *text, struct error *err);
void job_ids_destroy (struct job_ids *ids);
bool job_ids_has (const struct job_ids *ids, uint64_t id);
/* By its own number or in a range, not only as a task of an array. */
bool job_ids_has_given (const struct job_ids *ids, uint64_t id);

/* -- filters of jobs, shared by list, cancel and watch -- */
struct api_filter {
    struct namelist user, queue, name; /* without text: all */
    bool own;                       /* "me" */
    uint32_t phases;     /* bits of enum job_phase; 0: all */
    struct job_ids *ids; /* NULL: all */
    const struct broker *b;
    uid_t me; /* others' jobs that are private match nothing */
};
/* Texts may be NULL. Nothing is to be released after a failure. */
int api_filter_init (struct api_filter *f, struct broker *b, struct http_request *req,
                     const char *user, const char *state, const char *queue,
                     const char *name, const char *ids, struct error *err);
void api_filter_release (struct api_filter *f);
/* As its row says: that of an array that has ended is of the tasks that never started. */
enum job_phase api_row_phase (const struct job *job);
bool api_filter_match (const struct api_filter *f, const struct entry *e);

/* -- columns.c: what a listing can show of a job -- */
enum column_kind {
    COLUMN_NUMBER, /* in JSON: a number, or null */
    COLUMN_TEXT,   /* a string */
    COLUMN_IDS,    /* "3,7": an array of numbers */
};
struct column {
    const char *name;
    enum column_kind kind;
    void (*render) (struct broker *b, struct entry *e,
                    struct strbuf *sb); /* TSV form, unescaped */
    unsigned private_part; /* of enum private_part; 0: none */
};
extern const struct column columns[];
extern const size_t ncolumns;
const struct column *column_find (const char *name, size_t len);
/* {"id":1,...} of these columns, as the viewer may see them. */
void columns_add_json (struct broker *b, uid_t viewer, struct entry *e,
                       const struct column *const list[], size_t n, struct strbuf *sb);
void columns_add_tsv (struct broker *b, uid_t viewer, struct entry *e,
                      const struct column *const list[], size_t n, struct strbuf *sb);

#endif
