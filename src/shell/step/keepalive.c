/* keepalive.c - rank 0: an allocation that a client keeps, see protocol/keepalive.h
 *
 *     WAIT ---> nobody keeps it --KEEP--> kept --END--> over
 *                |    ^                    |
 *                |    +--connection gone---+
 *                +--KEEPALIVE_FIRST, or the grace of KEEP, has passed--> over
 *
 * In the state "over" the waiting task gets WIRE_RUN_END and ends, and the job with it.
 */

#include "common/macros.h"
#include "shell/step/steps_private.h"

static bool is (const struct keepalive_client *c, uint32_t rank, uint32_t number)
{
    return c->here && c->rank == rank && c->number == number;
}

static void put (struct steps *steps, const struct keepalive_client *to, uint8_t type,
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
    const struct keepalive *k = &steps->keepalive;
    char data[4 + 256];
    if (!k->over)
        return;
    size_t len = MIN (strlen (k->why), sizeof (data) - 4);
    wire_put_u32 ((uint8_t *)data, (uint32_t)k->status);
    memcpy (data + 4, k->why, len);
    put (steps, &k->waiter, WIRE_RUN_END, data, 4 + len);
}

static void end (struct steps *steps, int status, const char *why)
{
    struct keepalive *k = &steps->keepalive;
    if (k->over)
        return;
    k->over = true;
    k->over_at = 0;
    k->status = status;
    k->why = why;
    tell_waiter (steps);
}

static void keep (struct steps *steps, const struct keepalive_client *c, uint32_t grace)
{
    struct keepalive *k = &steps->keepalive;
    k->keeper = *c;
    k->grace = MIN (grace, (uint32_t)KEEPALIVE_GRACE_MAX);
    k->over_at = 0;
}

void keepalive_message (struct steps *steps, uint32_t rank, const struct frame *msg)
{
    struct keepalive *k = &steps->keepalive;
    const struct keepalive_client c = { true, rank, msg->task };
    uint32_t value = msg->len == 4 ? wire_get_u32 (msg->data) : 0;
    if (msg->stream == KEEPALIVE_KEEP) {
        keep (steps, &c, value);
    } else if (msg->stream == KEEPALIVE_END && is (&k->keeper, rank, msg->task)) {
        end (steps, (int)(value & 0xffff), "");
    } else if (msg->stream == KEEPALIVE_WAIT) {
        k->waiter = c;
        if (!k->keeper.here && k->over_at == 0)
            k->over_at = loop_now () + KEEPALIVE_FIRST;
        tell_waiter (steps);
    }
    steps_set_timer (steps);
}

void keepalive_gone (struct steps *steps, uint32_t rank, uint32_t number)
{
    struct keepalive *k = &steps->keepalive;
    if (is (&k->waiter, rank, number))
        k->waiter.here = false;
    if (!is (&k->keeper, rank, number))
        return;
    k->keeper.here = false;
    if (k->grace == 0)
        end (steps, 1 << 8, "the program that held the allocation is gone");
    else if (!k->over)
        k->over_at = loop_now () + k->grace;
    steps_set_timer (steps);
}

void keepalive_time (struct steps *steps, double now)
{
    const struct keepalive *k = &steps->keepalive;
    if (k->over_at > 0 && now >= k->over_at)
        end (steps, 1 << 8,
             k->grace > 0 ? "the program that held the allocation is gone"
                          : "no program came to hold the allocation");
}

void keepalive_note (struct steps *steps, const char *text)
{
    put (steps, &steps->keepalive.keeper, WIRE_RUN_NOTE, text, strlen (text));
}
