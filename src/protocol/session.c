/* session.c - makes the tokens of sessions, and encodes the messages of sessions */
#include "protocol/session.h"

#include <string.h>

#include "common/sha256.h"

bool session_make (char text[static SESSION_TEXT])
{
    uint8_t raw[SESSION_TOKEN];

    if (secret_random (raw, sizeof (raw)) < 0)
        return false;
    hex_encode (raw, sizeof (raw), text);
    return true;
}

bool session_parse (const char *text, uint8_t token[static SESSION_TOKEN])
{
    return strspn (text, "0123456789abcdef") == 2 * SESSION_TOKEN
           && hex_decode (text, token, SESSION_TOKEN) == 0;
}

size_t session_encode (enum session_kind kind, const uint8_t *token, uint64_t number,
                       unsigned bytes, uint8_t ret[static SESSION_MESSAGE_MAX])
{
    size_t len = FRAME_HEAD;

    if (token)
        memcpy (ret + len, token, SESSION_TOKEN);
    len += token ? SESSION_TOKEN : 0;
    for (unsigned i = 0; i < bytes; i++)
        ret[len++] = (uint8_t)(number >> (8 * i));
    frame_encode_head (&(struct frame){ .type = SESSION_TYPE,
                                        .stream = (uint8_t)kind,
                                        .len = (uint32_t)(len - FRAME_HEAD) },
                       ret);
    return len;
}
