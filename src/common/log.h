/* log.h - log messages of the daemon for its administrator
 *
 *     log_open ("fluxqd", LOG_LEVEL_INFO, true);
 *     log_info ("job %ju: started on %s", id, hosts);
 *
 * Each message is one line on stderr: time (optional), program, level, text; characters
 * that are not printable are escaped. A message has at most 2 KiB. Thread-safe (one
 * write(2) a line). Never log secrets.
 */
#pragma once

#include "common/macros.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_open (const char *program, enum log_level level, bool with_time);
void log_set_level (enum log_level level);
/* "error", "warning", "info" or "debug"; -EINVAL for other names. */
int log_level_from_name (const char *name);
void log_at (enum log_level level, const char *fmt, ...) PRINTF_LIKE (2, 3);
#define log_error(...) log_at (LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_at (LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_at (LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_at (LOG_LEVEL_DEBUG, __VA_ARGS__)
