/* values.h - values in the bodies of requests, as Slurm's data_parser reads them
 *
 * A number is 7, "7" or {"set": true, "infinite": false, "number": 7}; a list is ["a", "b"]
 * or "a,b".
 */
#pragma once

#include "common/json.h"
#include "common/strbuf.h"

enum rest_number { REST_NO_NUMBER, REST_UNSET, REST_NUMBER, REST_INFINITE };

/* The kind of the value, and *ret if it is a number. */
enum rest_number rest_number (const json_t *value, double *ret);
/* Appends the items of a list, joined by commas. false: not a list of texts. */
bool rest_add_list (struct strbuf *sb, const json_t *value);
/* Appends a unix time as 2026-11-27T12:00:00, in local time. */
void rest_add_time (struct strbuf *sb, double t);
