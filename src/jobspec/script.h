/* script.h - the directives of a batch script, in one dialect a file
 *
 *     struct submit_options so; ...
 *     rc = script_read_all (text, len, "job.sh", &so, warn, NULL, arg, &err);
 *
 * Finds which dialect the file speaks (#SBATCH, RFC 36 flux:, #FLUXQ); two of them in one
 * file are an error that names both lines. Rules:
 *
 *     #SBATCH   as sbatch reads it: from column 0, up to the first line that is neither
 *     #FLUXQ    blank nor a comment; several options a line, quotes, trailing comments;
 *               the last one wins. A directive behind the first command is not used, and
 *               reported through warn() with its line (the first five one by one).
 *     flux:     as RFC 36 says: all with the sentinel of the first; up to the first line
 *               that is neither blank nor has its prefix; triple quotes, also over
 *               several lines. There a directive that comes too late is an error, as the
 *               RFC demands.
 *
 * Errors begin with file and line: "job.sh:3: --foo: unknown option". What sbatch or flux
 * know and fluxq does not do is refused by name, with what to do instead where there is
 * something. A file without directives is fine.
 */
#ifndef FLUXQ_JOBSPEC_SCRIPT_H
#define FLUXQ_JOBSPEC_SCRIPT_H

#include "jobspec/submit_options.h"

typedef void (*script_warn_f) (const char *text, void *arg);

/* Whether this is a script that can be run: not empty, at most JOBSPEC_SCRIPT_MAX bytes,
 * begins with "#!", no NUL bytes, no DOS line ends. -EINVAL or -EFBIG with the line,
 * after "NAME". */
int script_check (const char *text, size_t len, const char *name, struct error *err);

/* Check the script, and set in so (as SUBMIT_FROM_SCRIPT) what its directives say.
 * filename: for messages, and its base name for so->script_name if that is NULL ("stdin"
 * for standard input). warn may be NULL; its text is one line without newline, valid
 * during the call. refuse NULL: the first directive that is refused is the error. Else all that
 * are refused but the last are told by refuse, in the order of their lines, and the last one is
 * the error. */
int script_read_all (const char *text, size_t len, const char *filename,
                     struct submit_options *so, script_warn_f warn, script_warn_f refuse,
                     void *arg, struct error *err);

#endif
