/* hostname.c - see hostname.h */
#include "match/readers/hostname.h"

int hostname_split (const char *name, char base[HOSTNAME_BASE_SIZE], int64_t *ret_id,
                    struct error *err)
{
    size_t len = strlen (name), digits = 0;
    int64_t id = 0;

    if (len == 0 || len >= HOSTNAME_BASE_SIZE)
        return error_set (err, EINVAL, "'%.80s' is not a host's name of 1 to %d bytes",
                          name, HOSTNAME_BASE_SIZE - 1);
    while (digits < len && name[len - digits - 1] >= '0' && name[len - digits - 1] <= '9')
        digits++;
    for (size_t i = len - digits; i < len; i++) {
        if (__builtin_mul_overflow (id, 10, &id)
            || __builtin_add_overflow (id, name[i] - '0', &id))
            return error_set (err, EINVAL,
                              "'%.80s': the number at its end is not below 2^63", name);
    }
    size_t keep = digits < len ? len - digits : len;
    memcpy (base, name, keep);
    base[keep] = '\0';
    *ret_id = digits > 0 && id <= INT32_MAX ? id : -1;
    return 0;
}
