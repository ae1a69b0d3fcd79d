/* carry.h - carries bytes from one side to another, as far as both are ready
 *
 *     struct carry_way up = { .buf = malloc (CARRY_BUFFER) };
 *     switch (carry (arg, &up, take_client, give_agent)) ...
 *
 * A direction has one buffer, and nothing is read from one side until the other has taken
 * everything read before: a slow reader makes the writer wait and does not make the broker
 * grow.
 */
#pragma once

#include "common/macros.h"

#define CARRY_BUFFER ((size_t)32 * 1024)

struct carry_way { /* one direction */
    char *buf;     /* [CARRY_BUFFER] */
    size_t off, len;
    bool ended; /* nothing more follows, or the other side takes nothing */
};

enum carried {
    CARRY_WANT_TAKE, /* continue when there is more to take, */
    CARRY_WANT_GIVE, /* ... or when the other side takes more */
    CARRY_ENDED,     /* all has been given, and nothing more follows */
    CARRY_BROKEN,    /* the other side takes nothing more */
};

/* Bytes; 0: the end; -EAGAIN: later; another negative errno. */
typedef ssize_t carry_take_fn (void *arg, char *buf, size_t len);
/* Bytes; -EAGAIN: later; another negative errno: never again. */
typedef ssize_t carry_give_fn (void *arg, const char *buf, size_t len);

/* Carries data until one side has none or the other takes none. After some buffers it
 * continues when the taking side is ready, so that others have their turn, and as data that
 * a TLS library has read does not wake a poll. */
enum carried carry (void *arg, struct carry_way *w, carry_take_fn *take,
                    carry_give_fn *give);
