/* sha256.h - SHA-256 (FIPS 180-4), HMAC (RFC 2104), and helpers for secrets
 *
 *     uint8_t mac[SHA256_SIZE];
 *     hmac_sha256 (key, sizeof (key), data, len, mac);
 *     if (!secret_equal (mac, theirs, sizeof (mac))) ...
 *
 * libc only: the agent links it statically. Known-answer tests: FIPS 180-4, RFC 4231.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32
#define SHA256_HEX_SIZE 65 /* with NUL */

struct sha256 {
    uint32_t h[8];
    uint64_t len;
    uint8_t block[64];
};

void sha256_init (struct sha256 *ctx);
void sha256_update (struct sha256 *ctx, const void *data, size_t len);
void sha256_final (struct sha256 *ctx, uint8_t ret[SHA256_SIZE]);
void hmac_sha256 (const void *key, size_t keylen, const void *data, size_t len,
                  uint8_t ret[SHA256_SIZE]);
/* Constant time in len. */
bool secret_equal (const void *a, const void *b, size_t len);
/* Overwrite in a way that the compiler keeps. */
void secret_wipe (void *p, size_t len);
/* len bytes from the kernel (getrandom); 0 or negative errno. */
int secret_random (void *p, size_t len);
void hex_encode (const void *data, size_t len, char *ret); /* 2 len + 1 bytes */
/* Exactly len bytes or -EINVAL. */
int hex_decode (const char *hex, void *ret, size_t len);
