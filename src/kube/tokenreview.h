/* tokenreview.h - asks the API server which service account a token belongs to
 *
 *     json_t *body = tokenreview_make (token, "fluxq");  // POST TOKENREVIEW_PATH
 *     rc = tokenreview_read (answer, "fluxq", account, &err);  // "science/robot"
 *
 * The token must be for the audience: a token for the API server itself is refused, and a
 * token for the audience is of no use at the API server. Source: kubernetes.io,
 * TokenReview (authentication.k8s.io/v1).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "common/error.h"

#define TOKENREVIEW_PATH "/apis/authentication.k8s.io/v1/tokenreviews"
/* NAMESPACE/NAME and NUL: a DNS label and a DNS subdomain */
#define TOKENREVIEW_ACCOUNT_SIZE (63 + 1 + 253 + 1)

/* New reference; NULL: no memory, or the token is not UTF-8. */
json_t *tokenreview_make (const char *token, const char *audience);
/* 0 and the account as NAMESPACE/NAME. -EACCES with a reason: the server does not accept
 * the token, or it is not for the audience, or it is not of a service account. -EBADMSG
 * with a reason: the answer is no TokenReview. */
int tokenreview_read (const json_t *answer, const char *audience,
                      char ret[TOKENREVIEW_ACCOUNT_SIZE], struct error *err);
/* Whether the text is NAMESPACE/NAME of a possible service account. */
bool tokenreview_account_is_valid (const char *text);
