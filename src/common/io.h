/* io.h - whole reads and writes, files with a ceiling
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"
#include "common/strbuf.h"

/* Write all len bytes, through EINTR and short writes; 0 or negative errno. */
int io_write_all (int fd, const void *data, size_t len);
/* As io_write_all(), to a non-blocking descriptor, waiting at most *ms milliseconds in
 * all; *ms becomes the time that is left. -ETIMEDOUT: some bytes can have been
 * written. */
int io_write_within (int fd, const void *data, size_t len, int *ms);
/* Read up to len bytes until end of file; returns the number of bytes or negative
 * errno. */
ssize_t io_read_all (int fd, void *data, size_t len);
/* Append all bytes of fd to sb; -EFBIG for more than max bytes. */
int io_read_fd (int fd, struct strbuf *sb, size_t max);
/* Append the file's bytes; the error names the path. -EFBIG past max. */
int io_read_file (const char *path, struct strbuf *sb, size_t max, struct error *err);
/* From now on io_read_file() of this process is fn, as files of another host are meant. */
typedef int (*io_reader_fn) (const char *path, struct strbuf *sb, size_t max,
                             struct error *err);
void io_set_reader (io_reader_fn fn);
bool io_has_reader (void);
/* Write to a new temporary file beside path, fsync, rename over path. */
int io_write_file_atomic (const char *path, const void *data, size_t len, mode_t mode,
                          struct error *err);
/* mkdir -p, with mode for new directories. */
int io_mkdir_p (const char *path, mode_t mode, struct error *err);
/* rm -rf path: never follows links, never enters other devices; 0 if path does not
 * exist. */
int io_remove_tree (const char *path, struct error *err);
/* Whether the directory has no entries; false also if this is unknown. */
bool io_is_empty (int dir);
int io_set_nonblock (int fd);
