/* userfiles.h - /etc/passwd and /etc/group of a job's pods, with an entry of the user
 *
 *     userfiles_add_data (job, data);        // the ConfigMap's binaryData
 *     userfiles_add_items (job, items);      // the items of the volume
 *     userfiles_add_places (job, places);    // the mounts of the container
 *
 * An image knows only its own users, so a program that asks getpwuid(3) for its own uid
 * (whoami, ssh, Java, mpirun) gets nothing. These two files replace those of the image:
 * root, nobody, and the user with its groups. The shell is /bin/sh, whatever the account
 * has, since the shells of an image are not known. If the queue mounts something over a
 * file (/etc, or the file), that file is left out.
 *
 * All return 0 or -ENOMEM.
 */
#pragma once

#include "common/strbuf.h"
#include "exec/exec.h"

int userfiles_add_data (const struct exec_job *job, json_t *data);
int userfiles_add_items (const struct exec_job *job, json_t *items);
int userfiles_add_places (const struct exec_job *job, json_t *places);

/* Append the texts. A name with a colon or a control character would break the format:
 * its number replaces it. */
int userfiles_passwd (const struct exec_user *user, struct strbuf *text);
int userfiles_group (const struct exec_user *user, struct strbuf *text);
