/* pass_fd.h - passes a descriptor over a unix socket to another process */
#ifndef FLUXQ_COMMON_PASS_FD_H
#define FLUXQ_COMMON_PASS_FD_H

/* 0 or negative errno; fd stays open in the sender. */
int pass_fd_send (int socket, int fd);
/* The descriptor, close-on-exec, or negative errno; -EPIPE: the other side has ended. */
int pass_fd_receive (int socket);

#endif
