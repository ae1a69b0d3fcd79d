/* keepalive.c - encodes the messages that keep an allocation */
#include "protocol/keepalive.h"

void keepalive_encode (enum keepalive_kind kind, uint32_t value,
                       uint8_t ret[KEEPALIVE_SIZE])
{
    const struct frame f = { .type = KEEPALIVE_TYPE, .stream = (uint8_t)kind, .len = 4 };

    frame_encode_head (&f, ret);
    for (int i = 0; i < 4; i++)
        ret[FRAME_HEAD + i] = (uint8_t)(value >> (8 * i));
}
