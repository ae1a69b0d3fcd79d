/* prompt.h - where a session's lines come from
 *
 * A person gets readline, with a history of its own file and the tab key; a pipe or file
 * is read line by line. Both end at "quit" or at the end of input.
 */
#ifndef FLUXQ_TOOLS_MATCH_PROMPT_H
#define FLUXQ_TOOLS_MATCH_PROMPT_H

#include "tools/match/session.h"

void prompt_run (struct session *s);

#endif
