/* frame.h - the spool of a job: what its ranks wrote and what became of them, in order
 *
 * The agent of rank 0 appends frames to one file (the spool). The same bytes are what the
 * broker streams from a pod, and what fluxq-logs reads. A frame is 16 bytes of head,
 * little endian, and len bytes of data:
 *
 *     u8 type | u8 stream | u16 zero | u32 rank | u32 task | u32 len
 *
 *     struct frame f;
 *     ssize_t n = frame_parse (buf, avail, &f); // > 0: the frame's size, 0: more needed
 *
 * Offsets in a spool are byte offsets of frame heads. libc only (the agent links it).
 */
#ifndef FLUXQ_COMMON_FRAME_H
#define FLUXQ_COMMON_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FRAME_HEAD 16
#define FRAME_DATA_MAX 65536 /* more is malformed */

enum frame_type {
    FRAME_OUTPUT = 1, /* data: bytes that the task wrote; stream 1 or 2 */
    FRAME_READY,      /* every rank has joined, tasks start; no data; once */
    FRAME_EXIT,       /* a task ended: data is u32 wait status, as waitpid(2) gives it */
    FRAME_NOTE,       /* data: a line of the agent for the user ("time limit reached") */
    FRAME_LOST,    /* a rank's agent was lost; data: reason text with the node's name */
    FRAME_FINISH,  /* last frame of the job: struct frame_finish as text, see below */
    FRAME_USAGE,   /* what a step has used, at its end: stepuse.h; before FRAME_FINISH */
    FRAME_FILE,    /* a file's next bytes, see below */
    FRAME_RESIZED, /* a change of its nodes is done, see below */
    FRAME_TYPES = 32, /* a reader passes over those below that it does not know */
};

/* FRAME_FILE (--stage-out): stream is its number in the list, rank whose it is. In the
 * file's first frame task is this and its permissions, else 0. */
#define FRAME_FILE_FIRST (1u << 16)

/* Data of FRAME_FINISH: "status=N reason=WORD text=REST" where N is a wait status (worst
 * task), WORD is one of: exited signaled timeout cancelled lost startfail oom, and REST
 * is one line for a person, to the end of the data. */

struct frame {
    uint8_t type;
    uint8_t stream;
    uint32_t rank;
    uint32_t task;
    uint32_t len;
    const char *data; /* in the caller's buffer */
};

/* Fill head from f (f->len <= FRAME_DATA_MAX). */
void frame_encode_head (const struct frame *f, uint8_t head[FRAME_HEAD]);
/* Size of the frame with this head; -EBADMSG: malformed. */
ssize_t frame_size (const uint8_t head[FRAME_HEAD]);
/* Size of the whole frame at buf; 0: fewer bytes than a frame; -EBADMSG: malformed. */
ssize_t frame_parse (const void *buf, size_t avail, struct frame *ret);

struct frame_finish {
    int status;      /* wait status, 0 to 65535 */
    char reason[16]; /* lower-case letters */
    char text[256];  /* one line; the encoder makes newlines blanks, the decoder cuts */
};

/* The number of bytes written to buf (a NUL follows them); -EINVAL: status or reason
 * cannot be written; -ENOSPC: 320 bytes are always enough. */
int frame_finish_encode (const struct frame_finish *fin, char *buf, size_t size);
/* 0 or -EBADMSG. */
int frame_finish_decode (const char *data, size_t len, struct frame_finish *ret);

/* FRAME_RESIZED: rank is the number of nodes that the job has now, task the generation of the
 * change, stream 0: done; 1: they did not come, and it has as many as before; data: why. */

#endif
