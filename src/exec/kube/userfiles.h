/* userfiles.h - /etc/passwd and /etc/group of a job's pods, in which its user has a name
 *
 *     userfiles_add_data (job, data);        // the ConfigMap's binaryData
 *     userfiles_add_items (job, items);      // what of it the volume has
 *     userfiles_add_places (job, places);    // where the container has it
 *
 * An image knows nobody but its own users, and a program that asks getpwuid(3) for the uid
 * that it runs as (whoami, ssh, Java, mpirun) gets nothing. So these two files stand in place
 * of the image's: root, nobody, and the user with its groups. The shell is /bin/sh, whatever
 * the account has: which others an image has is not known. A file for which the queue mounts
 * something (/etc, or the file) is left to that.
 *
 * All return 0 or -ENOMEM.
 */
#ifndef FLUXQ_EXEC_KUBE_USERFILES_H
#define FLUXQ_EXEC_KUBE_USERFILES_H

#include "common/strbuf.h"
#include "exec/exec.h"

int userfiles_add_data (const struct exec_job *job, json_t *data);
int userfiles_add_items (const struct exec_job *job, json_t *items);
int userfiles_add_places (const struct exec_job *job, json_t *places);

/* The texts. A name with a colon or a control character in it would be a line of its own:
 * its number stands there instead. */
int userfiles_passwd (const struct exec_user *user, struct strbuf *text);
int userfiles_group (const struct exec_user *user, struct strbuf *text);

#endif
