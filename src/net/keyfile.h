/* keyfile.h - reads the files of keys and certificates that an administrator names
 *
 *     struct strbuf text = STRBUF_INIT (KEYFILE_MAX + 1);
 *     rc = keyfile_read (&text, "/etc/fluxq/tls.key", KEYFILE_SHARED, &err);
 *     ...
 *     keyfile_wipe (&text);
 *
 * The path may be a symbolic link, as the files of a Kubernetes Secret are; the file that
 * it leads to counts. The calls block, but never on a FIFO or a device.
 */
#pragma once

#include <sys/types.h>

#include "common/error.h"
#include "common/strbuf.h"

#define KEYFILE_MAX ((size_t)1024 * 1024) /* bytes; a file of many certificates */

enum keyfile_kind {
    KEYFILE_PUBLIC, /* others may read it, and not write it */
    KEYFILE_SECRET, /* others may not read it, either */
    /* the same, but the group of a file of root's may read it: so a broker that is not root
     * reads a key in a Secret, or one that several services share */
    KEYFILE_SHARED,
};

/* Appends the file's contents to sb, whose limit is the file's. The file must be a regular
 * one that belongs to root or to this process's user. 0; -EPERM and the like with a reason
 * that names the file. */
int keyfile_read (struct strbuf *sb, const char *path, enum keyfile_kind kind,
                  struct error *err);
/* Wipes the contents and frees them. */
void keyfile_wipe (struct strbuf *sb);
