/* submit.h - POST /v1/jobs: check, number, write, then answer
 */
#pragma once

#include "broker/core/broker.h"

/* A job that no client submits. It is checked, numbered and written like a job of the
 * uid. done is called once, now or later, with the job's id, or with 0, the status that a
 * client would get, and the reason. */
struct submit_foreign {
    uid_t uid;
    int urgency;
    char *jobspec;          /* text, taken over */
    const char *name, *key; /* see exec_foreign; copied */
    void (*done) (uint64_t id, int status, const char *text, void *arg);
    void *arg;
};
void submit_foreign (struct broker *b, struct submit_foreign *f);
