/* prompt.h - reads the lines of a session
 *
 * A terminal gets readline, with the tab key and a history in a file of its own. A pipe
 * or file is read line by line. Both end at "quit" or at the end of input.
 */
#pragma once

#include "tools/match/session.h"

void prompt_run (struct session *s);
