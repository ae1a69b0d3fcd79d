/* watch.h - requests that wait: for a job's result, for changes, for a commit
 */
#pragma once

#include "broker/core/broker.h"

void watch_event (struct broker *b, const struct entry *e, const char *name);
/* Replies 200 with value (taken over) after the commit. */
void watch_reply_after_commit (struct broker *b, struct http_request *req, json_t *value);
