/* pass.h - records with a descriptor on SOCK_SEQPACKET sockets (unix(7), cmsg(3)) */
#pragma once

#include "common/macros.h"

/* Send the record, with the descriptor unless fd is negative. 0 or negative errno; a
 * record is sent whole or not at all. */
int pass_send (int socket, const void *record, size_t size, int fd);
/* Receive one record. *ret_fd: its descriptor, close-on-exec, or -1; the caller closes it.
 * 1; 0: the other side has closed the socket; or negative errno, -EBADMSG: the record has
 * another size. */
int pass_receive (int socket, void *record, size_t size, int *ret_fd);
