#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/macros.h"
#include "match/summary.h"

struct summary {
    struct summary_key *tree; /* tree[1] is the root, tree[base + i] leaf i */
    size_t base;              /* power of two */
};

const struct summary_key summary_nothing = { -1, -1, 0, 0 };

static bool key_fits (const struct summary_key *have, const struct summary_key *need)
{
    return have->cores >= need->cores && have->idle_cores >= need->idle_cores
           && have->gpus >= need->gpus && have->memory >= need->memory;
}

/* Recompute inner point i; false when it stays as it is. */
static bool point_update (struct summary *s, size_t i)
{
    const struct summary_key *a = &s->tree[2 * i], *b = &s->tree[2 * i + 1];
    struct summary_key max = {
        .cores = MAX (a->cores, b->cores),
        .idle_cores = MAX (a->idle_cores, b->idle_cores),
        .gpus = MAX (a->gpus, b->gpus),
        .memory = MAX (a->memory, b->memory),
    };
    if (memcmp (&max, &s->tree[i], sizeof (max)) == 0)
        return false;
    s->tree[i] = max;
    return true;
}

struct summary *summary_create (void)
{
    struct summary *s = calloc (1, sizeof (*s));
    if (s && summary_reserve (s, 64) < 0) {
        free (s);
        return NULL;
    }
    return s;
}

void summary_destroy (struct summary *s)
{
    if (s) {
        free (s->tree);
        free (s);
    }
}

int summary_reserve (struct summary *s, size_t size)
{
    if (size <= s->base)
        return 0;
    size_t base = s->base ? s->base : 1;
    while (base < size)
        base *= 2;
    struct summary_key *tree = calloc (2 * base, sizeof (*tree));
    if (!tree)
        return -ENOMEM;
    for (size_t i = 0; i < 2 * base; i++)
        tree[i] = summary_nothing;
    if (s->base)
        memcpy (&tree[base], &s->tree[s->base], s->base * sizeof (*tree));
    free (s->tree);
    s->tree = tree;
    s->base = base;
    for (size_t i = base - 1; i > 0; i--)
        point_update (s, i);
    return 0;
}

void summary_set (struct summary *s, size_t leaf, const struct summary_key *key)
{
    size_t i = s->base + leaf;
    s->tree[i] = *key;
    while ((i /= 2) > 0 && point_update (s, i))
        ;
}

const struct summary_key *summary_get (const struct summary *s, size_t leaf)
{
    return &s->tree[s->base + leaf];
}

const struct summary_key *summary_root (const struct summary *s)
{
    return &s->tree[1];
}

int summary_next (const struct summary *s, size_t from, const struct summary_key *need)
{
    if (from >= s->base)
        return -1;
    size_t i = s->base + from;
    for (;;) {
        if (key_fits (&s->tree[i], need)) {
            if (i >= s->base)
                return (int)(i - s->base);
            i *= 2;
            continue;
        }
        /* No leaf below i fits: on to the subtree right of it. */
        while (i & 1)
            i /= 2;
        if (i == 0)
            return -1;
        i++;
    }
}
