/* multiprog.h - a program for each task, as in the file of srun's --multi-prog
 *
 *     struct multiprog *mp = multiprog_parse (text, len, "conf", ntasks, &err);
 *     char **argv = multiprog_argv (mp, task); // NULL-terminated
 *     free_strings (argv);
 *     multiprog_destroy (mp);
 *
 * A line is TASKS PROGRAM ARGUMENT...; TASKS is a list of numbers and ranges, "0,4-7", in
 * any order, or * for all tasks that no other line names; the line with * must be the
 * last. Empty lines and lines that start with '#' are ignored. In PROGRAM and arguments,
 * '...' keeps all characters, "..." keeps blanks, and a backslash keeps the next
 * character (at the end of a line, the next line continues it). %t is the number of the
 * task, %o its position in TASKS, from 0 on (for *: its number). Both are replaced
 * outside '...' only. libc only, no input or output.
 */
#pragma once

#include "common/error.h"

#define MULTIPROG_TEXT_MAX (1024 * 1024) /* bytes of the file */
#define MULTIPROG_ARGS_MAX 4096          /* words in one line after TASKS */

struct multiprog;

/* name: name of the file for errors ("conf:3: ..."). ntasks: from 1 to TASKMAP_TASKS_MAX.
 * Every task must have exactly one line. NULL and -EINVAL, -E2BIG (size of the file,
 * words in a line) or -ENOMEM in err. O(text + ntasks). */
struct multiprog *multiprog_parse (const char *text, size_t len, const char *name,
                                   uint32_t ntasks, struct error *err);
void multiprog_destroy (struct multiprog *mp);
/* The program and arguments of a task (< ntasks); free with free_strings(). NULL:
 * no memory. */
char **multiprog_argv (const struct multiprog *mp, uint32_t task);
