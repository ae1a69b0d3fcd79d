/* lines.c - see lines.h */
#include "cmd/print/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/macros.h"

#define TEXT_MAX ((size_t)1 << 30)
#define BLOCK ((size_t)128 * 1024)

struct lines_block {
    struct lines_block *next;
    size_t size;      /* of text */
    size_t len, done; /* bytes in text, and those of them in complete lines */
    char text[];
};

/* A block with room for len more bytes of the line that is not complete. */
static struct lines_block *block_for (struct lines *l, size_t len)
{
    struct lines_block *old = l->blocks;
    size_t rest = old ? old->len - old->done : 0;

    if (old && len <= old->size - old->len)
        return old;
    size_t size = MAX (BLOCK, rest + len);
    struct lines_block *b = malloc (sizeof (*b) + size);
    if (!b)
        return NULL;
    *b = (struct lines_block){ .next = old, .size = size, .len = rest };
    if (rest > 0)
        memcpy (b->text, old->text + old->done, rest);
    return l->blocks = b;
}

void lines_add (struct lines *l, const char *data, size_t len)
{
    if (l->err || len == 0)
        return;
    if (len > TEXT_MAX - l->total) {
        l->err = -EFBIG;
        return;
    }
    struct lines_block *b = block_for (l, len);
    if (!b) {
        l->err = -ENOMEM;
        return;
    }
    char *text = b->text + b->done, *to = b->text + b->len;
    memcpy (to, data, len);
    l->total += len;
    b->len += len;
    const char *newline = memrchr (to, '\n', len);
    if (!newline)
        return;
    b->done = (size_t)(newline + 1 - b->text);
    l->err = l->fn (text, b->text + b->done, l->arg);
}

int lines_check (const struct lines *l)
{
    if (l->err)
        return l->err;
    return l->blocks && l->blocks->done < l->blocks->len ? -EPROTO : 0;
}

void lines_release (struct lines *l)
{
    struct lines_block *next;

    for (struct lines_block *b = l->blocks; b; b = next) {
        next = b->next;
        free (b);
    }
    l->blocks = NULL;
    l->total = 0;
    l->err = 0;
}
