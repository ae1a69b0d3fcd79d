/* stderr_line.h - writes one line to standard error in one write, as several processes
 * may share it
 *
 *     stderr_line ("fluxq-run", "task %u: %s", task, why);     // "fluxq-run: task 3: ..."
 *
 * (musl's dprintf() writes in pieces.)
 */
#pragma once

#include "common/macros.h"

#define STDERR_LINE_MAX 2048 /* bytes of a line; longer lines are cut */

void stderr_line (const char *program, const char *fmt, ...) PRINTF_LIKE (2, 3);
