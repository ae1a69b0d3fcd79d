/* audit_file.h - a file that lines are appended to, rotated by its size
 *
 *     struct audit_file *f = audit_file_open ("/var/log/fluxq/audit.log", 64 << 20, 10, &err);
 *     int rc = audit_file_write (f, "{}\n", 3, &err);   // PATH.1 is the youngest old file
 *
 * A line is written by one write(2), so a reader sees whole lines, also after the process
 * was killed; when only a part of a line fits on the disk, the part is taken away again.
 * Another program may rename or remove the file (logrotate): the next line goes to a new
 * one. Nothing is synced: lines survive the end of the process, not that of the machine.
 *
 * Thread: any one. The calls block for as long as the file system does.
 */
#pragma once

#include <stdint.h>

#include "common/error.h"

struct audit_file;

/* Creates the file (mode 0600) when there is none. most: bytes, 0: unlimited. keep: old
 * files, > 0. An incomplete last line is removed. NULL: the error says why and what to do. */
struct audit_file *audit_file_open (const char *path, uint64_t most, unsigned keep,
                                    struct error *err);
void audit_file_close (struct audit_file *f); /* NULL is allowed */
/* line: with its newline. 0, or negative errno: nothing of the line is in the file. */
int audit_file_write (struct audit_file *f, const char *line, size_t len,
                      struct error *err);
const char *audit_file_path (const struct audit_file *f);
/* Why the file grows beyond its size, or NULL. */
const char *audit_file_trouble (const struct audit_file *f);
