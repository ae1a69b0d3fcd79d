/* script.h - the directives of a batch script; a file uses one dialect
 *
 *     struct submit_options so; ...
 *     rc = script_read_all (text, len, "job.sh", &so, warn, NULL, arg, &err);
 *
 * Finds the dialect of the file (#SBATCH, RFC 36 flux:); two dialects in one file are an
 * error that names both lines, but #FLUXQ directives can stand beside those of another
 * dialect. Rules:
 *
 *     #SBATCH   as sbatch reads it: from column 0, up to the first line that is neither
 *     #FLUXQ    blank nor a comment; several options a line, quotes, trailing comments;
 *               the last one wins. A directive after the first command is ignored, and
 *               reported through warn() with its line (the first five one by one).
 *     flux:     as RFC 36 says: all with the sentinel of the first; up to the first line
 *               that is neither blank nor has its prefix; triple quotes, also over
 *               several lines. Here a directive that comes too late is an error, as the
 *               RFC requires.
 *
 * Errors begin with file and line: "job.sh:3: --foo: unknown option". An option of sbatch
 * or flux that fluxq does not support is refused by name; the error says what to use
 * instead, if there is a replacement. A file without directives is valid.
 */
#pragma once

#include "jobspec/options/submit_options.h"

typedef void (*script_warn_f) (const char *text, void *arg);

/* Check the script, and set the options of its directives in so (as SUBMIT_FROM_SCRIPT).
 * filename: for messages; its base name becomes so->script_name if that is NULL ("stdin"
 * for standard input). warn can be NULL; its text is one line without newline, valid
 * during the call. refuse NULL: the first refused directive is the error. Else refuse()
 * is called for all refused directives but the last, in the order of their lines, and the
 * last one is the error. */
int script_read_all (const char *text, size_t len, const char *filename,
                     struct submit_options *so, script_warn_f warn, script_warn_f refuse,
                     void *arg, struct error *err);
