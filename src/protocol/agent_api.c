/* agent_api.c - reads job keys, signs requests to an agent, checks signatures
 */
#include "protocol/agent_api.h"

#include <fcntl.h>

#include "common/macros.h"
#include "common/sha256.h"

#define NONCE_SIZE 16
#define NONCE_HEX (2 * NONCE_SIZE)
#define MAC_HEX (2 * SHA256_SIZE)
#define KEY_HEX (2 * AGENT_KEY_SIZE)
#define TARGET_MAX 1024
#define METHOD_MAX 16

/* The MAC of a request; -E2BIG: method or target are longer than the agent accepts. */
static int request_mac (const uint8_t key[AGENT_KEY_SIZE], const char *method,
                        const char *target, const char *nonce, uint8_t ret[SHA256_SIZE])
{
    char text[METHOD_MAX + TARGET_MAX + NONCE_HEX + 8];
    if (strlen (method) > METHOD_MAX || strlen (target) > TARGET_MAX)
        return -E2BIG;
    int n = snprintf (text, sizeof (text), "%s %s\n%s", method, target, nonce);
    hmac_sha256 (key, AGENT_KEY_SIZE, text, (size_t)n, ret);
    return 0;
}

int agent_auth_make (const uint8_t key[AGENT_KEY_SIZE], const char *method,
                     const char *target, char ret[AGENT_AUTH_MAX])
{
    uint8_t nonce[NONCE_SIZE];
    uint8_t mac[SHA256_SIZE];
    int rc = secret_random (nonce, sizeof (nonce));
    if (rc < 0)
        return rc;
    hex_encode (nonce, sizeof (nonce), ret);
    rc = request_mac (key, method, target, ret, mac);
    if (rc < 0)
        return rc;
    ret[NONCE_HEX] = ':';
    hex_encode (mac, sizeof (mac), ret + NONCE_HEX + 1);
    return 0;
}

bool agent_auth_check (const uint8_t key[AGENT_KEY_SIZE], const char *method,
                       const char *target, const char *value, char ret_nonce[33])
{
    uint8_t mac[SHA256_SIZE];
    uint8_t theirs[SHA256_SIZE];
    uint8_t nonce[NONCE_SIZE];
    if (strlen (value) != NONCE_HEX + 1 + MAC_HEX || value[NONCE_HEX] != ':')
        return false;
    memcpy (ret_nonce, value, NONCE_HEX);
    ret_nonce[NONCE_HEX] = '\0';
    if (hex_decode (ret_nonce, nonce, sizeof (nonce)) < 0
        || hex_decode (value + NONCE_HEX + 1, theirs, sizeof (theirs)) < 0)
        return false;
    if (request_mac (key, method, target, ret_nonce, mac) < 0)
        return false;
    /* A nonce has one spelling, so "AB" does not count as new after "ab". */
    hex_encode (nonce, sizeof (nonce), ret_nonce);
    return memcmp (ret_nonce, value, NONCE_HEX) == 0
           && secret_equal (mac, theirs, sizeof (mac));
}

int agent_key_parse (const char *text, size_t len, uint8_t ret[AGENT_KEY_SIZE])
{
    char digits[KEY_HEX + 1] = { 0 };
    if (len == KEY_HEX + 1 && text[KEY_HEX] == '\n')
        len--;
    if (len != KEY_HEX)
        return -EINVAL;
    memcpy (digits, text, KEY_HEX);
    int rc = hex_decode (digits, ret, AGENT_KEY_SIZE);
    secret_wipe (digits, sizeof (digits));
    return rc;
}

int agent_key_read (const char *path, uint8_t ret[AGENT_KEY_SIZE])
{
    char text[KEY_HEX + 2] = { 0 };
    size_t len = 0;
    autoclose int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    while (len < sizeof (text)) {
        ssize_t n = read (fd, text + len, sizeof (text) - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            secret_wipe (text, sizeof (text));
            return -errno;
        }
        if (n == 0)
            break;
        len += (size_t)n;
    }
    int rc = agent_key_parse (text, len, ret);
    secret_wipe (text, sizeof (text));
    return rc;
}
