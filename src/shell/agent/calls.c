/* calls.c - pairs commands in the job with their servers, see calls.h */
#include "shell/agent/calls.h"

#include <stdlib.h>
#include <string.h>

#include "common/macros.h"

struct side {
    uint32_t rank, number;
};

struct call {
    struct side client, server;
    bool paired;
    struct call *next;
};

struct calls {
    steps_send_fn send;
    calls_wake_fn wake;
    void *ctx;
    struct call *first; /* in the order of their requests */
    uint32_t n, nwaiting;
};

static bool is (const struct side *side, uint32_t rank, uint32_t number)
{
    return side->rank == rank && side->number == number;
}

static void put (struct calls *calls, const struct side *to, uint8_t kind,
                 const void *data, uint32_t len)
{
    calls->send (calls->ctx, to->rank,
                 &(struct frame){ .type = WIRE_RUN_CALL,
                                  .stream = kind,
                                  .rank = to->rank,
                                  .task = to->number,
                                  .len = len,
                                  .data = data });
}

static void refuse (struct calls *calls, const struct side *client, const char *why)
{
    put (calls, client, INSIDE_NONE, why, (uint32_t)strlen (why));
}

static struct call *find (struct calls *calls, uint32_t rank, uint32_t number)
{
    struct call *c = calls->first;

    while (c && !is (&c->client, rank, number)
           && !(c->paired && is (&c->server, rank, number)))
        c = c->next;
    return c;
}

static void drop (struct calls *calls, struct call *c)
{
    struct call **at = &calls->first;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    calls->n--;
    calls->nwaiting -= !c->paired;
    free (c);
}

static void on_ask (struct calls *calls, const struct side *client)
{
    struct call *c;
    struct call **at = &calls->first;

    if (calls->n >= CALLS_MAX || calls->nwaiting >= INSIDE_WAITING_MAX) {
        refuse (calls, client,
                "too many commands of this job wait for the broker: try "
                "again in a second");
        return;
    }
    if (!(c = calloc (1, sizeof (*c)))) {
        refuse (calls, client, "the job's agent is out of memory");
        return;
    }
    c->client = *client;
    while (*at)
        at = &(*at)->next;
    *at = c;
    calls->n++;
    calls->nwaiting++;
    if (calls->wake (calls->ctx) == 0)
        return;
    refuse (calls, client,
            "the job's agent cannot write to its spool, so it cannot call "
            "the broker");
    drop (calls, c);
}

static void on_take (struct calls *calls, const struct side *server)
{
    struct call *c = calls->first;

    while (c && c->paired)
        c = c->next;
    if (!c) {
        put (calls, server, INSIDE_NONE, NULL, 0);
        return;
    }
    c->server = *server;
    c->paired = true;
    calls->nwaiting--;
    put (calls, &c->server, INSIDE_TAKEN, NULL, 0);
    put (calls, &c->client, INSIDE_TAKEN, NULL, 0);
}

static void on_gone (struct calls *calls, struct call *c, bool by_client)
{
    if (c->paired)
        put (calls, by_client ? &c->server : &c->client, INSIDE_GONE, NULL, 0);
    drop (calls, c);
}

void calls_message (struct calls *calls, uint32_t rank, const struct frame *msg)
{
    const struct side from = { rank, msg->task };
    struct call *c = find (calls, rank, msg->task);
    bool by_client = c && is (&c->client, rank, msg->task);

    if (msg->type == WIRE_RUN_GONE) {
        if (c)
            on_gone (calls, c, by_client);
    } else if (!c && msg->stream == INSIDE_ASK) {
        on_ask (calls, &from);
    } else if (!c && msg->stream == INSIDE_TAKE) {
        on_take (calls, &from);
    } else if (c && c->paired && msg->stream >= INSIDE_REQUEST
               && msg->stream <= INSIDE_USED) {
        put (calls, by_client ? &c->server : &c->client, msg->stream, msg->data,
             msg->len);
    }
}

struct calls *calls_create (steps_send_fn send, calls_wake_fn wake, void *ctx)
{
    struct calls *calls = calloc (1, sizeof (*calls));

    if (!calls)
        return NULL;
    calls->send = send;
    calls->wake = wake;
    calls->ctx = ctx;
    return calls;
}

void calls_destroy (struct calls *calls)
{
    if (!calls)
        return;
    while (calls->first)
        drop (calls, calls->first);
    free (calls);
}
