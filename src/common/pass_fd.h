/* pass_fd.h - a descriptor over a unix socket, from one process to another */
#ifndef FLUXQ_COMMON_PASS_FD_H
#define FLUXQ_COMMON_PASS_FD_H

/* 0 or negative errno; fd stays open here, too. */
int pass_fd_send (int socket, int fd);
/* The descriptor, close-on-exec, or negative errno: -EPIPE when the other side has ended. */
int pass_fd_receive (int socket);

#endif
