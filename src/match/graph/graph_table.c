/* graph_table.c - numbers by hash: the tables behind all look-ups of a graph
 *
 * A slot is the hash and the number, 8 bytes; the caller compares what the number stands
 * for. Removal moves later slots of the run back, so there are no tombstones.
 */
#include <errno.h>
#include <string.h>

#include "match/graph/graph_private.h"

#define TABLE_MIN 16

void table_release (struct table *t)
{
    free (t->slots);
    *t = (struct table){ 0 };
}

static void slot_put (struct table_slot *slots, size_t size, struct table_slot s)
{
    size_t i = s.hash & (size - 1);
    while (slots[i].value != GRAPH_NONE)
        i = (i + 1) & (size - 1);
    slots[i] = s;
}

int table_reserve (struct table *t, size_t more)
{
    size_t need = t->used + more, size = t->size ? t->size : TABLE_MIN;
    while (size - size / 4 <= need)
        size *= 2;
    if (size == t->size)
        return 0;
    struct table_slot *slots = malloc (size * sizeof (*slots));
    if (!slots)
        return -ENOMEM;
    memset (slots, 0xff, size * sizeof (*slots));
    for (size_t i = 0; i < t->size; i++) {
        if (t->slots[i].value != GRAPH_NONE)
            slot_put (slots, size, t->slots[i]);
    }
    free (t->slots);
    t->slots = slots;
    t->size = size;
    return 0;
}

void table_add (struct table *t, uint32_t hash, uint32_t value)
{
    slot_put (t->slots, t->size, (struct table_slot){ hash, value });
    t->used++;
}

uint32_t table_next (const struct table *t, uint32_t hash, size_t *at)
{
    if (t->used == 0)
        return GRAPH_NONE;
    size_t mask = t->size - 1, i = *at == SIZE_MAX ? hash & mask : (*at + 1) & mask;
    while (t->slots[i].value != GRAPH_NONE && t->slots[i].hash != hash)
        i = (i + 1) & mask;
    *at = i;
    return t->slots[i].value;
}

/* Vacates slot i: later slots that were displaced by it move up. */
static void slot_vacate (struct table *t, size_t i)
{
    size_t mask = t->size - 1;
    for (size_t j = (i + 1) & mask; t->slots[j].value != GRAPH_NONE; j = (j + 1) & mask) {
        size_t home = t->slots[j].hash & mask;
        if (((j - home) & mask) < ((j - i) & mask))
            continue;
        t->slots[i] = t->slots[j];
        i = j;
    }
    t->slots[i].value = GRAPH_NONE;
    t->used--;
}

bool table_replace (struct table *t, uint32_t hash, uint32_t value, uint32_t other)
{
    size_t at = SIZE_MAX;
    uint32_t found;
    while ((found = table_next (t, hash, &at)) != GRAPH_NONE && found != value)
        ;
    if (found == GRAPH_NONE)
        return false;
    if (other == GRAPH_NONE)
        slot_vacate (t, at);
    else
        t->slots[at].value = other;
    return true;
}

/* -- rosters -- */

void roster_release (struct roster *r)
{
    table_release (&r->heads);
    free (r->links);
    *r = (struct roster){ 0 };
}

int roster_reserve (struct roster *r, uint32_t handles, bool shared)
{
    if (table_reserve (&r->heads, 1) < 0)
        return -ENOMEM;
    if (handles <= r->nlinks || (!shared && !r->links))
        return 0;
    struct roster_link *links = realloc (r->links, handles * sizeof (*links));
    if (!links)
        return -ENOMEM;
    for (uint32_t i = r->nlinks; i < handles; i++)
        links[i] = (struct roster_link){ i, i };
    r->links = links;
    r->nlinks = handles;
    return 0;
}

void roster_add (struct roster *r, uint32_t hash, uint32_t head, uint32_t v)
{
    if (head == GRAPH_NONE) {
        table_add (&r->heads, hash, v);
        return;
    }
    uint32_t last = r->links[head].prev;
    r->links[v] = (struct roster_link){ .next = head, .prev = last };
    r->links[last].next = v;
    r->links[head].prev = v;
}

void roster_remove (struct roster *r, uint32_t hash, uint32_t v)
{
    struct roster_link alone = { v, v };
    struct roster_link l = v < r->nlinks ? r->links[v] : alone;
    if (l.next == v) {
        table_replace (&r->heads, hash, v, GRAPH_NONE);
        return;
    }
    table_replace (&r->heads, hash, v, l.next); /* if it was the first */
    r->links[l.prev].next = l.next;
    r->links[l.next].prev = l.prev;
    r->links[v] = alone;
}

/* -- hashes -- */

static uint32_t finish (uint64_t h)
{
    h ^= h >> 32;
    h *= UINT64_C (0xd6e8feb86659fd93);
    h ^= h >> 32;
    h *= UINT64_C (0xd6e8feb86659fd93);
    return (uint32_t)(h >> 32);
}

/* Words of 8 bytes, multiplied and folded. */
uint32_t graph_hash (uint64_t seed, const void *data, size_t len)
{
    const char *s = data;
    uint64_t h = seed ^ (len * UINT64_C (0x9e3779b97f4a7c15));
    while (len > 0) {
        uint64_t word = 0;
        size_t n = MIN (len, sizeof (word));
        memcpy (&word, s, n);
        h = (h ^ word) * UINT64_C (0xff51afd7ed558ccd);
        h ^= h >> 29;
        s += n;
        len -= n;
    }
    return finish (h);
}

uint32_t graph_hash_numbers (uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t numbers[2] = { a, b };
    return graph_hash (seed, numbers, sizeof (numbers));
}
