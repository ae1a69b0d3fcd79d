/* podprint.c - see podprint.h */
#include "exec/kube/topology/podprint.h"

#include <inttypes.h>

#include "common/macros.h"

/* -- XXH64 -- */

static const uint64_t prime[] = { 0,
                                  UINT64_C (0x9E3779B185EBCA87),
                                  UINT64_C (0xC2B2AE3D27D4EB4F),
                                  UINT64_C (0x165667B19E3779F9),
                                  UINT64_C (0x85EBCA77C2B2AE63),
                                  UINT64_C (0x27D4EB2F165667C5) };

static uint64_t turn (uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

/* Little endian. */
static uint64_t number (const unsigned char *p, unsigned bytes)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < bytes; i++)
        n |= (uint64_t)p[i] << 8 * i;
    return n;
}

static uint64_t step (uint64_t lane, uint64_t input)
{
    return turn (lane + input * prime[2], 31) * prime[1];
}

/* Processes the 32-byte stripes of the text; *at is then behind them. */
static uint64_t stripes (const unsigned char **at, size_t *len, uint64_t seed)
{
    uint64_t lane[4] = { seed + prime[1] + prime[2], seed + prime[2], seed,
                         seed - prime[1] };
    uint64_t h;

    for (; *len >= 32; *len -= 32)
        for (int i = 0; i < 4; i++, *at += 8)
            lane[i] = step (lane[i], number (*at, 8));
    h = turn (lane[0], 1) + turn (lane[1], 7) + turn (lane[2], 12) + turn (lane[3], 18);
    for (int i = 0; i < 4; i++)
        h = (h ^ step (0, lane[i])) * prime[1] + prime[4];
    return h;
}

uint64_t podprint_xxh64 (const void *data, size_t len, uint64_t seed)
{
    const unsigned char *p = data;
    uint64_t size = len;
    uint64_t h = (len >= 32 ? stripes (&p, &len, seed) : seed + prime[5]) + size;

    for (; len >= 8; len -= 8, p += 8)
        h = turn (h ^ step (0, number (p, 8)), 27) * prime[1] + prime[4];
    if (len >= 4) {
        h = turn (h ^ number (p, 4) * prime[1], 23) * prime[2] + prime[3];
        len -= 4;
        p += 4;
    }
    for (; len > 0; len--, p++)
        h = turn (h ^ *p * prime[5], 11) * prime[1];
    h = (h ^ h >> 33) * prime[2];
    h = (h ^ h >> 29) * prime[3];
    return h ^ h >> 32;
}

/* -- pods -- */

uint64_t podprint_of (const char *namespace_, const char *name)
{
    return podprint_xxh64 (name, strlen (name),
                           podprint_xxh64 (namespace_, strlen (namespace_), 0));
}

/* The hash is over their bytes in little endian, on any machine. */
static void to_bytes (uint64_t *hash)
{
    unsigned char bytes[8];

    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(*hash >> 8 * i);
    memcpy (hash, bytes, sizeof (bytes));
}

void podprint_sign (uint64_t *hash, size_t n, char ret[PODPRINT_SIZE])
{
    qsort (hash, n, sizeof (*hash), compare_u64);
    for (size_t i = 0; i < n; i++)
        to_bytes (&hash[i]);
    snprintf (ret, PODPRINT_SIZE, "pfp0v001%016" PRIx64,
              podprint_xxh64 (hash, n * sizeof (*hash), 0));
}
