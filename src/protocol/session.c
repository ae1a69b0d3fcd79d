/* session.c - makes the tokens of sessions, and encodes the messages of sessions */
#include "protocol/session.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

bool session_make (char text[static SESSION_TEXT])
{
    uint8_t raw[SESSION_TOKEN];

    if (getrandom (raw, sizeof (raw), 0) != (ssize_t)sizeof (raw))
        return false;
    for (size_t i = 0; i < sizeof (raw); i++)
        snprintf (text + 2 * i, 3, "%02x", raw[i]);
    return true;
}

static int digit (char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr (digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

bool session_parse (const char *text, uint8_t token[static SESSION_TOKEN])
{
    if (strlen (text) != 2 * SESSION_TOKEN)
        return false;
    for (size_t i = 0; i < SESSION_TOKEN; i++) {
        int high = digit (text[2 * i]), low = digit (text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        token[i] = (uint8_t)(high << 4 | low);
    }
    return true;
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
