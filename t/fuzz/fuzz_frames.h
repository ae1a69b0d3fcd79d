/* fuzz_frames.h - a mutator for sequences of frames (protocol/frame.h)
 *
 * A target that includes this file gets LLVMFuzzerCustomMutator. Most mutations change the head
 * or the data of one frame and keep its length right, or repeat, drop or exchange frames; all
 * other ones are libFuzzer's own. FUZZ_FRAMES_AT: the offset of the first frame (0).
 */
#pragma once

#include "fuzz.h"

#include "protocol/frame.h"

#ifndef FUZZ_FRAMES_AT
#define FUZZ_FRAMES_AT 0
#endif
#define FUZZ_FRAMES_MAX 64

size_t LLVMFuzzerMutate (uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max_size,
                                unsigned seed);

/* Splits without the checks of frame_parse(): types and streams may be any. */
static inline size_t fuzz_frames_split (const uint8_t *data, size_t size,
                                        struct frame f[FUZZ_FRAMES_MAX])
{
    size_t n = 0;

    while (n < FUZZ_FRAMES_MAX && size >= FRAME_HEAD) {
        const uint8_t *p = data;
        uint32_t word[3];
        for (int i = 0; i < 3; i++)
            word[i] = (uint32_t)p[4 * i + 4] | (uint32_t)p[4 * i + 5] << 8
                      | (uint32_t)p[4 * i + 6] << 16 | (uint32_t)p[4 * i + 7] << 24;
        word[2] = MIN (word[2], (uint32_t)(size - FRAME_HEAD));
        f[n++] = (struct frame){ .type = p[0],
                                 .stream = p[1],
                                 .rank = word[0],
                                 .task = word[1],
                                 .len = MIN (word[2], FRAME_DATA_MAX),
                                 .data = (const char *)p + FRAME_HEAD };
        data += FRAME_HEAD + word[2];
        size -= FRAME_HEAD + word[2];
    }
    return n;
}

static inline size_t fuzz_frames_join (const struct frame *f, size_t n, uint8_t *to,
                                       size_t max)
{
    size_t len = 0;

    for (size_t i = 0; i < n && len + FRAME_HEAD + f[i].len <= max; i++) {
        frame_encode_head (&f[i], to + len);
        memcpy (to + len + FRAME_HEAD, f[i].data, f[i].len);
        len += FRAME_HEAD + f[i].len;
    }
    return len;
}

static inline uint32_t fuzz_frames_number (unsigned seed)
{
    static const uint32_t numbers[] = { 0, 1, 2, 3, 7, 65535, UINT32_MAX, INT32_MAX };

    return numbers[seed % ARRAY_SIZE (numbers)];
}

static inline size_t fuzz_frames_change (struct frame *f, size_t n, char *data,
                                         size_t room, unsigned seed)
{
    size_t i = seed / 16 % n, j = seed / 4096 % n;
    struct frame one = f[i];

    switch (seed % 16) {
    case 0:
        memmove (f + i, f + i + 1, (n - i - 1) * sizeof (*f));
        return n - 1;
    case 1:
        f[i] = f[j];
        f[j] = one;
        return n;
    case 2:
    case 3:
        if (n == FUZZ_FRAMES_MAX)
            return n;
        f[n] = one;
        return n + 1;
    case 4:
    case 5:
        f[i].type = (uint8_t)(seed / 4096 % 128);
        return n;
    case 6:
        f[i].stream = (uint8_t)(seed / 4096 % 16);
        return n;
    case 7:
        f[i].rank = fuzz_frames_number (seed / 4096);
        return n;
    case 8:
        f[i].task = fuzz_frames_number (seed / 4096);
        return n;
    default:
        one.len = MIN (one.len, (uint32_t)room);
        memcpy (data, one.data, one.len);
        f[i].len = (uint32_t)LLVMFuzzerMutate ((uint8_t *)data, one.len, room);
        f[i].data = data;
        return n;
    }
}

size_t LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t max_size,
                                unsigned seed)
{
    struct frame f[FUZZ_FRAMES_MAX];
    char changed[512];
    size_t at = MIN (size, (size_t)FUZZ_FRAMES_AT), len = 0,
           n = fuzz_frames_split (data + at, size - at, f);

    if (n == 0 || seed % 8 == 7)
        return LLVMFuzzerMutate (data, size, max_size);
    uint8_t *to = malloc (max_size);
    assert (to);
    n = fuzz_frames_change (f, n, changed, sizeof (changed), seed / 8);
    len = fuzz_frames_join (f, n, to, max_size - at);
    if (len > 0)
        memcpy (data + at, to, len);
    free (to);
    return len > 0 ? at + len : LLVMFuzzerMutate (data, size, max_size);
}
