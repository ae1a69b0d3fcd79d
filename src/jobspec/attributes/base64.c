/* base64.c - see base64.h
 */
#include "jobspec/attributes/base64.h"

#include <errno.h>
#include <stdint.h>

static const char alphabet[64] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode (const void *data, size_t len, char *ret)
{
    const uint8_t *in = data;

    for (; len > 0; in += 3, ret += 4) {
        size_t n = len < 3 ? len : 3;
        uint32_t bits = (uint32_t)in[0] << 16;

        if (n > 1)
            bits |= (uint32_t)in[1] << 8;
        if (n > 2)
            bits |= in[2];
        ret[0] = alphabet[bits >> 18];
        ret[1] = alphabet[bits >> 12 & 63];
        ret[2] = n > 1 ? alphabet[bits >> 6 & 63] : '=';
        ret[3] = n > 2 ? alphabet[bits & 63] : '=';
        len -= n;
    }
    *ret = '\0';
}

static int digit (char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

ssize_t base64_decode (const char *text, size_t len, void *ret)
{
    uint8_t *out = ret;

    if (len % 4 != 0)
        return -EINVAL;
    for (size_t i = 0; i < len; i += 4) {
        size_t pad = 0;
        uint32_t bits = 0;

        if (i + 4 == len && text[i + 3] == '=')
            pad = text[i + 2] == '=' ? 2 : 1;
        for (size_t k = 0; k < 4; k++) {
            int d = k < 4 - pad ? digit (text[i + k]) : 0;

            if (d < 0)
                return -EINVAL;
            bits = bits << 6 | (uint32_t)d;
        }
        if (bits & ((1u << 8 * pad) - 1))
            return -EINVAL;
        for (size_t k = 0; k < 3 - pad; k++)
            *out++ = (uint8_t)(bits >> (16 - 8 * k));
    }
    return out - (uint8_t *)ret;
}
