/* ctl_tokens.h - fluxq-ctl revoke-tokens: ends tokens before their time */
#pragma once

#include "cmd/client/command.h"

/* Revokes the tokens of these users, of everybody (all), or without either the caller's
 * own, as far as they were made before a time (text; NULL: now). The exit status. */
int tokens_revoke (struct cmd *c, const char *const *users, size_t n, bool all,
                   const char *before);
