/* audit_note.h - what a request does, for the audit log (services/audit/)
 *
 *     audit_note_job (req, e);           // the request acts on this job
 *     audit_note_action (req, "drain");  // a more exact word than that of the route
 *
 * While there is an audit log, api_handle() gives each request of a route with an action a
 * note, and the functions of the routes add to it. Requests without a note are ignored, so
 * the functions need not know whether there is a log.
 */
#pragma once

#include "broker/core/broker.h"

#define AUDIT_JOBS_MAX 100    /* ids in a note; further jobs are only counted */
#define AUDIT_OWNERS_SIZE 256 /* bytes of the names of their owners */

struct audit_note {
    const char *action;
    char user[64]; /* the caller's name; "": the caller has none here, or not yet */
    bool reads;    /* the request turned out to change nothing */
    size_t njobs;
    size_t nfailed;   /* of these, jobs on which it did not act */
    const char *code; /* of the first of them, or NULL */
    uint64_t jobs[AUDIT_JOBS_MAX];
    char
        owners[AUDIT_OWNERS_SIZE]; /* "alice,bob"; ends with ",..." when there are more */
};

/* Gives the request a note. false: there was no memory and the reply was sent. */
bool audit_note_begin (struct http_request *req, const char *action);
/* The caller's name, which is copied; "": the caller has none here. */
void audit_note_user (struct http_request *req, const char *name);

/* word: static. */
void audit_note_action (struct http_request *req, const char *word);
/* The request only asks, such as a submit with test-only. */
void audit_note_reads (struct http_request *req);
/* A job on which the request acts, or does not. Repeating the last job changes nothing. */
void audit_note_job (struct http_request *req, const struct entry *e);
/* The same, of a job that is not in the table. */
void audit_note_id (struct http_request *req, uint64_t id);
/* The request is answered with success, but did not act on one of its jobs. code: static. */
void audit_note_failed (struct http_request *req, const char *code);
