/* parcels.c - cuts messages into pieces and joins them again, see parcels.h */
#include "pmix/parcels.h"

#include "protocol/pmix_helper.h"

#define HEAD 10
#define PIECE_MAX (FRAME_DATA_MAX - HEAD - 8) /* the agents add a node's number */

struct part {
    struct part *next;
    uint32_t node;
    uint8_t kind;
    uint64_t id;
    struct strbuf data;
};

struct parcels {
    struct pmix_link *link;
    struct part *parts;
    uint32_t n;
};

static void put_u64 (uint8_t *p, uint64_t n)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(n >> (8 * i));
}

static uint64_t get_u64 (const uint8_t *p)
{
    uint64_t n = 0;

    for (int i = 7; i >= 0; i--)
        n = n << 8 | p[i];
    return n;
}

struct parcels *parcels_create (struct pmix_link *link)
{
    struct parcels *p = calloc (1, sizeof (*p));

    if (p)
        p->link = link;
    return p;
}

static void free_part (struct parcels *p, struct part *part)
{
    struct part **at = &p->parts;

    while (*at != part)
        at = &(*at)->next;
    *at = part->next;
    p->n--;
    strbuf_release (&part->data);
    free (part);
}

void parcels_destroy (struct parcels *p)
{
    while (p && p->parts)
        free_part (p, p->parts);
    free (p);
}

void parcels_send (struct parcels *p, uint32_t node, enum parcel_kind kind, uint64_t id,
                   const char *data, size_t len)
{
    char piece[HEAD + PIECE_MAX];

    do {
        size_t n = MIN (len, (size_t)PIECE_MAX);
        len -= n;
        piece[0] = (char)kind;
        piece[1] = len == 0;
        put_u64 ((uint8_t *)piece + 2, id);
        if (n > 0)
            memcpy (piece + HEAD, data, n);
        data += n;
        pmix_link_send (p->link, &(struct frame){ .type = PMIX_TO,
                                                  .rank = node,
                                                  .data = piece,
                                                  .len = (uint32_t)(HEAD + n) });
    } while (len > 0);
}

static struct part *find (struct parcels *p, uint32_t node, uint8_t kind, uint64_t id)
{
    struct part *part = p->parts;

    while (part && (part->node != node || part->kind != kind || part->id != id))
        part = part->next;
    if (part || p->n == PARCELS_MAX || !(part = calloc (1, sizeof (*part))))
        return part;
    *part = (struct part){ .next = p->parts, .node = node, .kind = kind, .id = id };
    strbuf_init (&part->data, PARCEL_MAX);
    p->parts = part;
    p->n++;
    return part;
}

int parcels_take (struct parcels *p, const struct frame *frame, struct parcel *ret,
                  struct error *err)
{
    const uint8_t *head = (const uint8_t *)frame->data;

    if (frame->len < HEAD || head[0] < PARCEL_ASK || head[0] > PARCEL_WHOLE)
        return error_set (err, EPROTO, "node %u sent an invalid message", frame->rank);
    struct part *part = find (p, frame->rank, head[0], get_u64 (head + 2));
    if (!part)
        return error_set (err, ENOMEM, "too many messages of node %u are incomplete",
                          frame->rank);
    int rc = strbuf_add (&part->data, frame->data + HEAD, frame->len - HEAD);
    if (rc < 0)
        return error_errno (err, -rc, "a message of node %u", frame->rank);
    if (!head[1])
        return 0;
    *ret = (struct parcel){
        .node = part->node, .kind = part->kind, .id = part->id, .len = part->data.len
    };
    ret->data = strbuf_detach (&part->data);
    free_part (p, part);
    return ret->data ? 1 : error_no_memory (err, NULL);
}
