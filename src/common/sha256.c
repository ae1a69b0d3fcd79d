/* sha256.c - see sha256.h; names of the functions as in FIPS 180-4 */
#include "common/sha256.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

static inline uint32_t rotr (uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t get_be32 (const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8
           | (uint32_t)p[3];
}

static void put_be32 (uint8_t *p, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(n >> (24 - 8 * i));
}

/* The working variables by their position before round t. Each round of the standard
 * moves all variables by one; here the positions move instead. */
#define V(i) v[((i)-t) & 7]

static inline void one_round (uint32_t v[8], unsigned t, uint32_t kw)
{
    uint32_t e = V (4), a = V (0);
    uint32_t sum1 = rotr (e, 6) ^ rotr (e, 11) ^ rotr (e, 25);
    uint32_t ch = V (6) ^ (e & (V (5) ^ V (6)));
    uint32_t t1 = V (7) + sum1 + ch + kw;
    uint32_t sum0 = rotr (a, 2) ^ rotr (a, 13) ^ rotr (a, 22);
    uint32_t maj = (a & V (1)) | (V (2) & (a | V (1)));
    V (3) += t1;
    V (7) = t1 + sum0 + maj;
}

/* FIPS 180-4, 6.2.2: one block of the message. The rounds are unrolled by eight, so that
 * the compiler knows all positions. */
static void compress (uint32_t h[8], const uint8_t block[64])
{
    uint32_t w[64], v[8];

    for (int t = 0; t < 16; t++)
        w[t] = get_be32 (block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t sigma0 = rotr (w[t - 15], 7) ^ rotr (w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t sigma1 = rotr (w[t - 2], 17) ^ rotr (w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + sigma0 + w[t - 7] + sigma1;
    }
    memcpy (v, h, sizeof (v));
    for (int t = 0; t < 64; t += 8) {
        one_round (v, 0, k[t] + w[t]);
        one_round (v, 1, k[t + 1] + w[t + 1]);
        one_round (v, 2, k[t + 2] + w[t + 2]);
        one_round (v, 3, k[t + 3] + w[t + 3]);
        one_round (v, 4, k[t + 4] + w[t + 4]);
        one_round (v, 5, k[t + 5] + w[t + 5]);
        one_round (v, 6, k[t + 6] + w[t + 6]);
        one_round (v, 7, k[t + 7] + w[t + 7]);
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

void sha256_init (struct sha256 *ctx)
{
    *ctx = (struct sha256){
        .h = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
               0x1f83d9ab, 0x5be0cd19 },
    };
}

void sha256_update (struct sha256 *ctx, const void *data, size_t len)
{
    const uint8_t *p = data;
    size_t have = ctx->len % 64;

    if (len == 0)
        return;
    ctx->len += len;
    if (have > 0) {
        size_t n = len < 64 - have ? len : 64 - have;
        memcpy (ctx->block + have, p, n);
        if (have + n < 64)
            return;
        compress (ctx->h, ctx->block);
        p += n;
        len -= n;
    }
    for (; len >= 64; p += 64, len -= 64)
        compress (ctx->h, p);
    memcpy (ctx->block, p, len);
}

void sha256_final (struct sha256 *ctx, uint8_t ret[SHA256_SIZE])
{
    static const uint8_t padding[64] = { 0x80 };
    uint64_t bits = ctx->len * 8;
    uint8_t length[8];

    put_be32 (length, (uint32_t)(bits >> 32));
    put_be32 (length + 4, (uint32_t)bits);
    sha256_update (ctx, padding, 1 + (119 - ctx->len % 64) % 64);
    sha256_update (ctx, length, sizeof (length));
    for (int i = 0; i < 8; i++)
        put_be32 (ret + 4 * i, ctx->h[i]);
    secret_wipe (ctx, sizeof (*ctx));
}

void hmac_sha256 (const void *key, size_t keylen, const void *data, size_t len,
                  uint8_t ret[SHA256_SIZE])
{
    uint8_t pad[64] = { 0 };
    struct sha256 ctx;

    if (keylen > sizeof (pad)) {
        sha256_init (&ctx);
        sha256_update (&ctx, key, keylen);
        sha256_final (&ctx, pad);
    } else if (keylen > 0)
        memcpy (pad, key, keylen);
    for (size_t i = 0; i < sizeof (pad); i++)
        pad[i] ^= 0x36;
    sha256_init (&ctx);
    sha256_update (&ctx, pad, sizeof (pad));
    sha256_update (&ctx, data, len);
    sha256_final (&ctx, ret);
    for (size_t i = 0; i < sizeof (pad); i++)
        pad[i] ^= 0x36 ^ 0x5c;
    sha256_init (&ctx);
    sha256_update (&ctx, pad, sizeof (pad));
    sha256_update (&ctx, ret, SHA256_SIZE);
    sha256_final (&ctx, ret);
    secret_wipe (pad, sizeof (pad));
}

bool secret_equal (const void *a, const void *b, size_t len)
{
    const volatile uint8_t *x = a, *y = b;
    uint8_t differ = 0;

    for (size_t i = 0; i < len; i++)
        differ |= x[i] ^ y[i];
    return differ == 0;
}

void secret_wipe (void *p, size_t len)
{
    if (len == 0)
        return;
    memset (p, 0, len);
    __asm__ __volatile__("" : : "r"(p) : "memory");
}

int secret_random (void *p, size_t len)
{
    uint8_t *bytes = p;

    while (len > 0) {
        ssize_t n = getrandom (bytes, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

void hex_encode (const void *data, size_t len, char *ret)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = data;

    for (size_t i = 0; i < len; i++) {
        ret[2 * i] = digits[p[i] >> 4];
        ret[2 * i + 1] = digits[p[i] & 15];
    }
    ret[2 * len] = '\0';
}

static int hex_value (char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int hex_decode (const char *hex, void *ret, size_t len)
{
    uint8_t *p = ret;

    if (strnlen (hex, 2 * len + 1) != 2 * len)
        return -EINVAL;
    for (size_t i = 0; i < len; i++) {
        int high = hex_value (hex[2 * i]);
        int low = hex_value (hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return -EINVAL;
        p[i] = (uint8_t)(high << 4 | low);
    }
    return 0;
}
