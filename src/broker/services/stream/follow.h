/* follow.h - GET /v1/jobs/ID/output: text from the frames of a growing spool
 */
#ifndef FLUXQ_BROKER_SERVICES_STREAM_FOLLOW_H
#define FLUXQ_BROKER_SERVICES_STREAM_FOLLOW_H

#include "broker/core/broker.h"

/* Answers with the job's output; with ?follow=1 until the job is over. */
void follow_output (struct broker *b, struct entry *e, struct http_request *req);

#endif
