/* frame.c - see frame.h */
#include "protocol/frame.h"

#include "common/macros.h"

static void put_u32 (uint8_t *p, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(n >> (8 * i));
}

static uint32_t get_u32 (const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16
           | (uint32_t)p[3] << 24;
}

void frame_encode_head (const struct frame *f, uint8_t head[FRAME_HEAD])
{
    head[0] = f->type;
    head[1] = f->stream;
    head[2] = 0;
    head[3] = 0;
    put_u32 (head + 4, f->rank);
    put_u32 (head + 8, f->task);
    put_u32 (head + 12, f->len);
}

void frame_keep (const struct frame *f, struct strbuf *sb)
{
    uint8_t head[FRAME_HEAD];

    if (FRAME_HEAD + f->len > sb->max - sb->len)
        return;
    frame_encode_head (f, head);
    strbuf_add (sb, head, sizeof (head));
    strbuf_add (sb, f->data, f->len);
}

static bool head_is_valid (const uint8_t *head, const struct frame *f)
{
    if (f->type < FRAME_OUTPUT || f->type >= FRAME_TYPES || head[2] || head[3]
        || f->len > FRAME_DATA_MAX)
        return false;
    if (f->type == FRAME_OUTPUT)
        return f->stream == 1 || f->stream == 2;
    if (f->type == FRAME_EXIT)
        return f->len == 4;
    return true;
}

static void read_head (const uint8_t *head, struct frame *ret)
{
    ret->type = head[0];
    ret->stream = head[1];
    ret->rank = get_u32 (head + 4);
    ret->task = get_u32 (head + 8);
    ret->len = get_u32 (head + 12);
    ret->data = (const char *)head + FRAME_HEAD;
}

static int decode_head (const uint8_t *head, struct frame *ret)
{
    read_head (head, ret);
    return head_is_valid (head, ret) ? 0 : -EBADMSG;
}

ssize_t frame_size (const uint8_t head[FRAME_HEAD])
{
    struct frame f;
    int rc = decode_head (head, &f);

    return rc < 0 ? rc : (ssize_t)(FRAME_HEAD + f.len);
}

ssize_t frame_parse (const void *buf, size_t avail, struct frame *ret)
{
    struct frame f;
    int rc = avail < FRAME_HEAD ? 0 : decode_head (buf, &f);

    if (avail < FRAME_HEAD || rc < 0)
        return rc;
    if (avail - FRAME_HEAD < f.len)
        return 0;
    *ret = f;
    return (ssize_t)(FRAME_HEAD + f.len);
}

ssize_t frame_parse_type (const void *buf, size_t avail, uint8_t type, struct frame *ret)
{
    const uint8_t *head = buf;

    if (avail < FRAME_HEAD)
        return 0;
    read_head (head, ret);
    if (ret->type != type || head[2] || head[3] || ret->len > FRAME_DATA_MAX)
        return -EBADMSG;
    return avail - FRAME_HEAD < ret->len ? 0 : (ssize_t)(FRAME_HEAD + ret->len);
}

/* Whether s can be a reason of FRAME_FINISH; a reader also accepts unknown words. */
static bool is_word (const char *s, size_t len)
{
    if (len == 0 || len >= sizeof (((struct frame_finish *)NULL)->reason))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < 'a' || s[i] > 'z')
            return false;
    }
    return true;
}

int frame_finish_encode (const struct frame_finish *fin, char *buf, size_t size)
{
    size_t reason_len = strnlen (fin->reason, sizeof (fin->reason));

    if (fin->status < 0 || fin->status > 0xffff || !is_word (fin->reason, reason_len))
        return -EINVAL;
    int n = snprintf (buf, size, "status=%d reason=%s text=%.*s", fin->status,
                      fin->reason, (int)sizeof (fin->text) - 1, fin->text);
    if (n < 0 || (size_t)n >= size)
        return -ENOSPC;
    for (char *p = buf; *p; p++) {
        if (*p == '\n' || *p == '\r')
            *p = ' ';
    }
    return n;
}

/* Skip word at *p; false: another text is there. */
static bool skip (const char **p, const char *end, const char *word)
{
    size_t len = strlen (word);

    if ((size_t)(end - *p) < len || memcmp (*p, word, len))
        return false;
    *p += len;
    return true;
}

int frame_finish_decode (const char *data, size_t len, struct frame_finish *ret)
{
    struct frame_finish fin = { 0 };
    const char *p = data;
    const char *end = data + len;

    if (!skip (&p, end, "status="))
        return -EBADMSG;
    const char *start = p;
    for (; p < end && *p >= '0' && *p <= '9' && p - start < 6; p++)
        fin.status = fin.status * 10 + (*p - '0');
    if (p == start || fin.status > 0xffff || !skip (&p, end, " reason="))
        return -EBADMSG;
    start = p;
    while (p < end && *p != ' ')
        p++;
    if (!is_word (start, (size_t)(p - start)))
        return -EBADMSG;
    memcpy (fin.reason, start, (size_t)(p - start));
    if (!skip (&p, end, " text="))
        return -EBADMSG;
    size_t text_len = MIN ((size_t)(end - p), sizeof (fin.text) - 1);
    memcpy (fin.text, p, text_len);
    *ret = fin;
    return 0;
}
