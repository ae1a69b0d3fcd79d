/* message.h - a mail about a job: what it says, and the program that sends it
 *
 *     struct message *m = message_create (job, MAIL_END);
 *     message_write (m, job, false, "ann", NULL);
 *     rc = message_send (m, b, &how, done, arg, &err);  // done: it has been sent, or not
 *     message_destroy (m);
 *
 * The text has headers (To, Subject, ...) and is what `sendmail -t` reads. All that a user
 * can choose (name of the job, address) is in the text, in one line each; the program's
 * arguments and environment have nothing of it. The text is in memory (memfd) until the
 * program has read it. Thread: the loop's.
 */
#pragma once

#include "broker/core/broker.h"
#include "jobspec/attributes/mail.h"

struct message;

struct message_how {
    const char *program; /* absolute path */
    double timeout;      /* seconds */
};

/* NULL: no memory. */
struct message *message_create (const struct job *job, enum mail_type type);
/* Writes the text, to the addresses `to` (mail.h); domain (or NULL): of those without
 * '@'. summary: about the array of the task, not about the task. -ENOMEM. */
int message_write (struct message *m, const struct job *job, bool summary, const char *to,
                   const char *domain);
uint64_t message_job (const struct message *m);
/* Starts the program; calls done once, on the loop, but not after broker_destroy(). Then
 * `failed` tells whether the program failed. 0 or a negative errno. */
int message_send (struct message *m, struct broker *b, const struct message_how *how,
                  void (*done) (struct message *m, bool failed, void *arg), void *arg,
                  struct error *err);
void message_destroy (struct message *m);
/* Destroys a message whose program may run; done is not called any more. The loop must
 * run once more. */
void message_abandon (struct message *m);

/* The messages that wait, in their order. */
struct message_list {
    struct message *first;
    size_t n;
};
void message_list_add (struct message_list *l, struct message *m);
struct message *message_list_take (struct message_list *l); /* NULL: empty */
