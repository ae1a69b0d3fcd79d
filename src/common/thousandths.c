/* thousandths.c - see thousandths.h */
#include "common/thousandths.h"

#include <inttypes.h>

static const char digits[] = "0123456789";

/* Reads up to 15 digits, so the number cannot overflow; with more digits it is too large
 * anyway. */
static int64_t read_digits (const char *s, size_t n)
{
    int64_t value = 0;

    for (size_t i = 0; i < n && i < 15; i++)
        value = 10 * value + (s[i] - '0');
    return value;
}

/* "5" of "0.5" is 500; -1: a digit after the third place is not 0. */
static int64_t read_places (const char *s, size_t n)
{
    int64_t value = 0;

    for (size_t i = 0; i < MAX (n, 3); i++) {
        int digit = i < n ? s[i] - '0' : 0;
        if (i >= 3 && digit != 0)
            return -1;
        value = i < 3 ? 10 * value + digit : value;
    }
    return value;
}

int thousandths_parse (const char *text, int64_t max, int64_t *ret, const char *what,
                       struct error *err)
{
    size_t whole = strspn (text, digits);
    const char *rest = text + whole;
    size_t places = *rest == '.' ? strspn (rest + 1, digits) : 0;
    int64_t value = read_digits (text, whole), part = 0;

    if (whole > 0 && strcmp (rest, "m") == 0)
        part = value, value = 0;
    else if (*rest == '.' && places > 0 && rest[1 + places] == '\0')
        part = read_places (rest + 1, places);
    else if (whole == 0 || *rest)
        return error_set (err, EINVAL,
                          "%s: '%.32s' is not a number such as 2, 0.5 or 500m", what,
                          text);
    if (part < 0)
        return error_set (err, EINVAL,
                          "%s: %.32s is finer than a thousandth; 0.001 (1m) is the least",
                          what, text);
    if (whole > 15 || value > max / 1000 || 1000 * value + part > max)
        return error_set (err, ERANGE, "%s: %.32s is more than %" PRId64, what, text,
                          max / 1000);
    if (value == 0 && part == 0)
        return error_set (err, ERANGE, "%s: must be more than 0", what);
    *ret = 1000 * value + part;
    return 0;
}

void strbuf_add_thousandths (struct strbuf *sb, int64_t n)
{
    char places[8];
    size_t len;

    strbuf_addf (sb, "%" PRId64, n / 1000);
    if (n % 1000 == 0)
        return;
    snprintf (places, sizeof (places), "%03d", (int)(n % 1000));
    for (len = 3; places[len - 1] == '0'; len--)
        continue;
    strbuf_addf (sb, ".%.*s", (int)len, places);
}
