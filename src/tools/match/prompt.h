/* prompt.h - reads the lines of a session
 *
 * A terminal gets readline, with the tab key and a history in a file of its own. A pipe
 * or file is read line by line. Both end at "quit" or at the end of input.
 */
#ifndef FLUXQ_TOOLS_MATCH_PROMPT_H
#define FLUXQ_TOOLS_MATCH_PROMPT_H

#include "tools/match/session.h"

void prompt_run (struct session *s);

#endif
