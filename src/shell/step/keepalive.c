/* keepalive.c - rank 0: an allocation that a client holds, see protocol/keepalive.h
 *
 *     HOLD_WAIT ---> nobody keeps it --HOLD_KEEP--> kept --HOLD_END--> over
 *                        |    ^                      |
 *                        |    +----connection gone---+
 *                        +--HOLD_FIRST, or the grace of HOLD_KEEP, is over--> over
 *
 * When the hold is over, the waiting task gets WIRE_RUN_END and ends, and the job with
 * it.
 */
#include <string.h>

#include "common/macros.h"
#include "shell/step/steps_private.h"

static bool is (const struct hold_client *c, uint32_t rank, uint32_t number)
{
    return c->here && c->rank == rank && c->number == number;
}

static void put (struct steps *steps, const struct hold_client *to, uint8_t type,
                 const void *data, size_t len)
{
    if (to->here)
        steps->send (steps->ctx, to->rank,
                     &(struct frame){ .type = type,
                                      .rank = to->rank,
                                      .task = to->number,
                                      .len = (uint32_t)len,
                                      .data = data });
}

static void tell_waiter (struct steps *steps)
{
    const struct hold *h = &steps->hold;
    char data[4 + 256];
    if (!h->over)
        return;
    size_t len = MIN (strlen (h->why), sizeof (data) - 4);
    wire_put_u32 ((uint8_t *)data, (uint32_t)h->status);
    memcpy (data + 4, h->why, len);
    put (steps, &h->waiter, WIRE_RUN_END, data, 4 + len);
}

static void end (struct steps *steps, int status, const char *why)
{
    struct hold *h = &steps->hold;
    if (h->over)
        return;
    h->over = true;
    h->over_at = 0;
    h->status = status;
    h->why = why;
    tell_waiter (steps);
}

static void keep (struct steps *steps, const struct hold_client *c, uint32_t grace)
{
    struct hold *h = &steps->hold;
    h->keeper = *c;
    h->grace = MIN (grace, (uint32_t)HOLD_GRACE_MAX);
    h->over_at = 0;
}

void hold_message (struct steps *steps, uint32_t rank, const struct frame *msg)
{
    struct hold *h = &steps->hold;
    const struct hold_client c = { true, rank, msg->task };
    uint32_t value = msg->len == 4 ? wire_get_u32 (msg->data) : 0;
    if (msg->stream == HOLD_KEEP) {
        keep (steps, &c, value);
    } else if (msg->stream == HOLD_END && is (&h->keeper, rank, msg->task)) {
        end (steps, (int)(value & 0xffff), "");
    } else if (msg->stream == HOLD_WAIT) {
        h->waiter = c;
        if (!h->keeper.here && h->over_at == 0)
            h->over_at = loop_now () + HOLD_FIRST;
        tell_waiter (steps);
    }
    steps_set_timer (steps);
}

void hold_gone (struct steps *steps, uint32_t rank, uint32_t number)
{
    struct hold *h = &steps->hold;
    if (is (&h->waiter, rank, number))
        h->waiter.here = false;
    if (!is (&h->keeper, rank, number))
        return;
    h->keeper.here = false;
    if (h->grace == 0)
        end (steps, 1 << 8, "the program that held the allocation is gone");
    else if (!h->over)
        h->over_at = loop_now () + h->grace;
    steps_set_timer (steps);
}

void hold_time (struct steps *steps, double now)
{
    const struct hold *h = &steps->hold;
    if (h->over_at > 0 && now >= h->over_at)
        end (steps, 1 << 8,
             h->grace > 0 ? "the program that held the allocation is gone"
                          : "no program came to hold the allocation");
}

void hold_note (struct steps *steps, const char *text)
{
    put (steps, &steps->hold.keeper, WIRE_RUN_NOTE, text, strlen (text));
}
