/* history_fields.h - the fields of the history's answers (GET /v1/history)
 *
 *     const struct history_field *list[HISTORY_FIELDS_MAX];
 *     n = history_fields_parse ("job,user,state", list, &err);
 *     history_fields_add_tsv (&show, job, list, n, &sb);
 */
#pragma once

#include "broker/core/broker.h"
#include "common/strbuf.h"
#include "store/history.h"

#define HISTORY_FIELDS_MAX 64

struct history_field;

/* text: names, separated by commas; NULL: all fields. The number of fields; -EINVAL. */
int history_fields_parse (const char *text,
                          const struct history_field *list[HISTORY_FIELDS_MAX],
                          struct error *err);

/* The caller. */
struct history_viewer {
    struct broker *b;
    uid_t uid;
};

/* Whether the viewer sees the job at all, and whether the job has a row: an array has one
 * for its tasks that never started; the others have rows of their own. */
bool history_is_seen (const struct history_viewer *v, const struct history_job *job);
bool history_has_row (const struct history_job *job);
/* Adds {"id":1,...}, with the steps if `steps`; parts that the viewer may not see are
 * empty or null. */
void history_fields_add_json (const struct history_viewer *v,
                              const struct history_job *job,
                              const struct history_field *const list[], size_t n,
                              bool steps, struct strbuf *sb);
void history_fields_add_tsv (const struct history_viewer *v,
                             const struct history_job *job,
                             const struct history_field *const list[], size_t n,
                             struct strbuf *sb);
