/* inside.h - Slurm's commands inside a job: their names, and how they reach the broker
 *
 * In a job's pods the agent's program stands for each of Slurm's commands, under its name
 * in the folder INSIDE_DIR beside the program, so that the image needs nothing. Commands
 * that need the broker are run there, as the job's user:
 *
 *     client            agent of rank 0        broker               server
 *     (in the pod)                                                  (fluxq, on its host)
 *     ASK        -----> FRAME_CALL ----------> starts a server ---->
 *                                         <-------------------      TAKE
 *     <----- TAKEN                             ------------------>  TAKEN, or NONE
 *     REQUEST, DATA  ---------------------------------------------> runs the command
 *     <------------------------------------------------  OPEN, OUTPUT, ERROR, END
 *
 * The messages are frames (frame.h) of type INSIDE_TYPE, with the kind as their stream.
 * The broker copies bytes and reads none of them. Files that the command names, and its
 * standard input, are those of the pod: the server asks for them with OPEN, and the client
 * reads them. The server can do no more than a request of the job's user over its one
 * connection to the broker can (http_server_admit() of net/http_server.h).
 *
 *     struct inside_link link = { .fd = fd };
 *     inside_send (&link, INSIDE_ASK, NULL, 0);
 *     while ((rc = inside_receive (&link, &msg)) == 0) ...
 *
 * Flow: a sender of DATA, OUTPUT or ERROR has at most INSIDE_WINDOW bytes under way that
 * the other side has not taken (USED). libc only (the agent links it).
 */
#pragma once

#include <stdbool.h>

#include "common/rlimits.h"
#include "protocol/frame.h"

#define INSIDE_DIR "slurm"
#define INSIDE_SERVER "fluxq-inside" /* name under which fluxq is the server */
/* Descriptors of the server: its connection to the broker, and the messages. */
#define INSIDE_BROKER_FD 3
#define INSIDE_FD 4
/* Exit status of a server that no client waited for. */
#define INSIDE_EXIT_NONE 3

#define INSIDE_TYPE 108 /* WIRE_RUN_CALL of the agents */
#define INSIDE_WINDOW ((size_t)256 << 10)
#define INSIDE_PIECE ((size_t)32 << 10)
#define INSIDE_REQUEST_MAX ((size_t)4 << 20)
#define INSIDE_WORDS_MAX 65536 /* arguments and variables of a request, each */
#define INSIDE_PATH_MAX 4096
#define INSIDE_WAITING_MAX 64 /* clients of one job that wait for a server */
#define INSIDE_WAIT 60        /* seconds that a client waits for a server */

enum inside_kind {
    INSIDE_ASK,  /* client: wants a server */
    INSIDE_TAKE, /* server: wants a client */
    /* agent of rank 0 */
    INSIDE_TAKEN, /* to both: the two belong together */
    INSIDE_NONE,  /* to the server: no client waits; to the client: text, why not */
    INSIDE_GONE,  /* the other side has gone */
    /* client */
    INSIDE_REQUEST, /* a piece of a request (inside_request_write()); empty: the end */
    INSIDE_DATA,    /* bytes of the file; empty: its end */
    INSIDE_FAILED,  /* the file cannot be read: text */
    /* server */
    INSIDE_OPEN,   /* name of a file; empty: standard input */
    INSIDE_OUTPUT, /* bytes for standard output */
    INSIDE_ERROR,  /* bytes for standard error */
    INSIDE_END,    /* u8 exit status */
    /* both */
    INSIDE_USED, /* u32 bytes taken of DATA, OUTPUT or ERROR */
};

/* All commands that the agent's program stands for; NULL ends the list. */
extern const char *const inside_clients[];
/* Whether the broker runs the command for its jobs. */
bool inside_is_served (const char *name);

/* -- one end of the messages; blocking -- */

struct inside_link {
    int fd;
    bool gone;        /* INSIDE_GONE has come */
    size_t unread;    /* bytes that the other side has not taken */
    size_t len, used; /* of buf: received, and given to the caller */
    /* room for all that the other side may have under way */
    char buf[INSIDE_WINDOW + 2 * (FRAME_HEAD + FRAME_DATA_MAX)];
};

/* 0 or negative errno; -EPIPE: the other side has gone. */
int inside_send (struct inside_link *l, enum inside_kind kind, const void *data,
                 size_t len);
/* The next message but INSIDE_USED, valid until the next call. 0; -EPIPE: the connection
 * has ended; -EBADMSG: it is no message; -EAGAIN: not within the socket's time limit. */
int inside_receive (struct inside_link *l, struct frame *ret);
/* The two parts of inside_receive(): receives bytes, at least one if `wait` (0 or negative
 * errno, as above); takes the next whole message (false: there is none yet). */
int inside_pump (struct inside_link *l, bool wait);
bool inside_message (struct inside_link *l, struct frame *ret);
/* Whether a piece may be sent now. */
static inline bool inside_has_room (const struct inside_link *l)
{
    return l->unread + INSIDE_PIECE <= INSIDE_WINDOW;
}
/* Sends bytes of OUTPUT or ERROR in pieces, and waits while the window is full; other
 * messages that come meanwhile stay. -EPIPE also after INSIDE_GONE. */
int inside_flow (struct inside_link *l, enum inside_kind kind, const char *data,
                 size_t len);
/* Tells the other side that its bytes have been taken. */
int inside_took (struct inside_link *l, size_t len);

/* -- the request -- */

struct inside_request {
    char *command; /* "squeue" */
    char *cwd, *host;
    char **args, **env; /* args: with the command's name; NULL-terminated */
    size_t nargs, nenv;
    uint32_t umask, nice;
    struct rlimits rlimits;
};

/* -E2BIG: larger than INSIDE_REQUEST_MAX. */
int inside_request_write (const struct inside_request *r, struct strbuf *sb);
/* 0; -EINVAL, -ENOMEM. The caller releases *ret in any case. */
int inside_request_read (const char *data, size_t len, struct inside_request *ret,
                         struct error *err);
void inside_request_release (struct inside_request *r);
