/* pass_fd.h - passes a descriptor over a unix socket to another process */
#pragma once

/* 0 or negative errno; fd stays open in the sender. */
int pass_fd_send (int socket, int fd);
/* The descriptor, close-on-exec, or negative errno; -EPIPE: the other side has ended. */
int pass_fd_receive (int socket);
