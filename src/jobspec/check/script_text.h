/* script_text.h - whether a text can be run as a batch script
 */
#ifndef FLUXQ_JOBSPEC_CHECK_SCRIPT_TEXT_H
#define FLUXQ_JOBSPEC_CHECK_SCRIPT_TEXT_H

#include <stddef.h>

#include "common/error.h"

/* Whether the script can be run: not empty, at most JOBSPEC_SCRIPT_MAX bytes, begins with
 * "#!", no NUL bytes, no DOS line ends. -EINVAL or -EFBIG: the error begins with name and
 * line. */
int script_check (const char *text, size_t len, const char *name, struct error *err);

#endif
