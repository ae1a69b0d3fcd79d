/* submission.h - a submit under way, for submit*.c and foresee.c
 *
 * It ends with one answer, to the client or to the caller of submit_foreign(), and is
 * freed then.
 */
#pragma once

#include "broker/core/broker.h"
#include "broker/services/submit/submit.h"

struct submit_terms {
    uid_t uid;
    bool is_user; /* not a command inside a job, nor an adopted Job */
    int urgency;
    bool allow_infeasible;
    bool made_outside; /* the executor made the jobspec, no command of fluxq */
    /* of submit_check(): */
    char *queue;    /* by name: a reload may change its index; the caller frees it */
    bool completed; /* the queue's settings were added to the jobspec's JSON */
};

struct submission {
    struct broker *b;
    uv_work_t work; /* parses a large jobspec */
    struct error err;
    struct http_request *req; /* NULL: made outside fluxq */
    struct submit_foreign foreign;
    bool gone; /* the client left; a numbered job is kept anyway */
    struct entry *e;
    struct submit_terms terms;
    bool test_only; /* only check, and tell when the job would start */
    char *key;
    char *text;                /* jobspec */
    struct submission **keyed; /* the list that has it; or NULL */
    struct submission *prev, *next;
};

void submission_free (struct submission *s);
/* Before the reply: the request must not report that its client leaves after it. */
void submission_detach (struct submission *s);
/* The client may try again after so many seconds. */
void submission_retry_after (struct submission *s, const char *seconds);
/* Both answer with the reason, and free s. refuse_for: for the reason in s->err; a lack
 * of memory says nothing about the job. */
void submission_refuse (struct submission *s, int status, const char *code,
                        const char *text);
void submission_refuse_for (struct submission *s, int status, const char *code);

/* submit_write.c: the job is checked and its user known. Numbers the job, writes it to
 * the journal, puts it into the table, and answers. */
void submission_write (struct submission *s, const struct exec_user *user);

/* submit_check.c: whether a new job is admitted. Checks the job's jobspec, completes it by
 * its queue's settings, and makes the request. A negative errno, and the code for the
 * client: the job is refused. */
int submit_check (struct broker *b, struct entry *e, struct submit_terms *terms,
                  const char **code, struct error *err);

/* submit_fresh.c: the job is in the table with its jobspec; the next end of a pass drops the
 * jobspec, unless the job starts. */
void submit_fresh_keep (struct broker *b, struct entry *e);

/* -- ../foresee.c -- */

/* {"start", "now", "nodelist", ..., "pending"} for a job that was checked and is
 * not in the table; "reason" where no start can be predicted. NULL: no memory. */
json_t *broker_foresee (struct broker *b, struct entry *e);
