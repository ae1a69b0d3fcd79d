/* carry.c - see carry.h */
#include "broker/services/stream/carry.h"

#define ROUNDS 16 /* buffers of one direction at a time */

enum carried carry (void *arg, struct carry_way *w, carry_take_fn *take,
                    carry_give_fn *give)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (w->len > 0) {
            ssize_t n = give (arg, w->buf + w->off, w->len);
            if (n < 0)
                return n == -EAGAIN ? CARRY_WANT_GIVE : CARRY_BROKEN;
            w->off += (size_t)n;
            w->len -= (size_t)n;
        }
        if (w->ended)
            return CARRY_ENDED;
        ssize_t n = take (arg, w->buf, CARRY_BUFFER);
        if (n == -EAGAIN)
            return CARRY_WANT_TAKE;
        w->ended = n <= 0;
        w->off = 0;
        w->len = n > 0 ? (size_t)n : 0;
    }
    return CARRY_WANT_GIVE;
}
