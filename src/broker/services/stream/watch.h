/* watch.h - requests that wait: for a job's result, for changes, for a commit
 */
#ifndef FLUXQ_BROKER_SERVICES_STREAM_WATCH_H
#define FLUXQ_BROKER_SERVICES_STREAM_WATCH_H

#include "broker/core/broker.h"

void watch_event (struct broker *b, const struct entry *e, const char *name);
void watch_wait (struct broker *b, struct entry *e, struct http_request *req);
json_t *watch_result_json (const struct broker *b, struct http_request *req,
                           const struct entry *e);
/* Replies 200 with value (taken over) after the commit. */
void watch_reply_after_commit (struct broker *b, struct http_request *req,
                               json_t *value);

#endif
