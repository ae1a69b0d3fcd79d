/* frame.h - frames of a job's spool: output and events of its ranks, in order
 *
 * The agent of rank 0 appends frames to one file (the spool). The broker streams the same
 * bytes from a pod, and fluxq-logs reads them. A frame is a head of 16 bytes, little
 * endian, and len bytes of data:
 *
 *     u8 type | u8 stream | u16 zero | u32 rank | u32 task | u32 len
 *
 *     struct frame f;
 *     ssize_t n = frame_parse (buf, avail, &f); // > 0: the frame's size, 0: more needed
 *
 * Offsets in a spool are byte offsets of frame heads. libc only (the agent links it).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/strbuf.h"

#define FRAME_HEAD 16
#define FRAME_DATA_MAX 65536 /* more is malformed */

enum frame_type {
    FRAME_OUTPUT = 1, /* data: bytes that the task wrote; stream 1 or 2 */
    FRAME_READY,      /* every rank has joined, tasks start; no data; once */
    FRAME_EXIT,       /* a task ended; data: u32 wait status, see waitpid(2) */
    FRAME_NOTE,       /* data: a line of the agent for the user ("time limit reached") */
    FRAME_LOST,    /* a rank's agent was lost; data: reason text with the node's name */
    FRAME_FINISH,  /* last frame of the job: struct frame_finish as text, see below */
    FRAME_USAGE,   /* usage of a step that has ended: stepuse.h; before FRAME_FINISH */
    FRAME_FILE,    /* the next bytes of a file, see below */
    FRAME_RESIZED, /* a resize has ended, see below */
    FRAME_CALL,    /* a command inside the job waits for the broker: inside.h */
    FRAME_TYPES = 32, /* readers skip unknown types below this one */
};

/* FRAME_FILE (--stage-out): stream is the index of the file in the list, rank is the rank
 * that sends it. In the first frame of a file, task has this bit and the permissions; in
 * the others task is 0. */
#define FRAME_FILE_FIRST (1u << 16)

/* Data of FRAME_FINISH: "status=N reason=WORD text=REST". N is a wait status (of the
 * worst task), WORD one of: exited signaled timeout cancelled lost startfail oom, and
 * REST one line for people, to the end of the data. */

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
/* Appends the frame if the strbuf has room for all of it; otherwise nothing. */
void frame_keep (const struct frame *f, struct strbuf *sb);
/* Size of the frame with this head; -EBADMSG: malformed. */
ssize_t frame_size (const uint8_t head[FRAME_HEAD]);
/* Size of the whole frame at buf; 0: fewer bytes than a frame; -EBADMSG: malformed. */
ssize_t frame_parse (const void *buf, size_t avail, struct frame *ret);
/* Like frame_parse(), for messages that have the head of a frame, all of one type. */
ssize_t frame_parse_type (const void *buf, size_t avail, uint8_t type, struct frame *ret);

struct frame_finish {
    int status;      /* wait status, 0 to 65535 */
    char reason[16]; /* lower-case letters */
    char text[256];  /* one line; the encoder replaces newlines, the decoder truncates */
};

/* Returns the number of bytes written to buf (a NUL follows them); -EINVAL: status or
 * reason is invalid; -ENOSPC: buf is too small, 320 bytes are always enough. */
int frame_finish_encode (const struct frame_finish *fin, char *buf, size_t size);
/* 0 or -EBADMSG. */
int frame_finish_decode (const char *data, size_t len, struct frame_finish *ret);

/* FRAME_RESIZED: rank is the job's number of nodes after the resize, task the generation
 * of the resize. stream 0: done; 1: new nodes did not join, the number is that from
 * before; data: the reason. */
