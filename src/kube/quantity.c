/* quantity.c - see quantity.h */
#include "kube/quantity.h"

#include <ctype.h>

#include "common/macros.h"

typedef unsigned __int128 u128;

#define MANTISSA_MAX ((u128)1 << 90)
#define EXPONENT_MAX 30

static const struct suffix {
    const char *text;
    int decimal, binary; /* powers of 10 and of 2 */
} suffixes[] = {
    { "", 0, 0 },    { "n", -9, 0 },  { "u", -6, 0 },  { "m", -3, 0 },
    { "k", 3, 0 },   { "M", 6, 0 },   { "G", 9, 0 },   { "T", 12, 0 },
    { "P", 15, 0 },  { "E", 18, 0 },  { "Ki", 0, 10 }, { "Mi", 0, 20 },
    { "Gi", 0, 30 }, { "Ti", 0, 40 }, { "Pi", 0, 50 }, { "Ei", 0, 60 },
};

/* Parses an exponent: "e3", "E-3". */
static int parse_exponent (const char *p, int *ret)
{
    bool negative = false;
    int n = 0;

    p++;
    if (*p == '+' || *p == '-')
        negative = *p++ == '-';
    if (!isdigit ((unsigned char)*p))
        return -EINVAL;
    for (; isdigit ((unsigned char)*p); p++) {
        n = n * 10 + (*p - '0');
        if (n > EXPONENT_MAX)
            return -EINVAL;
    }
    if (*p)
        return -EINVAL;
    *ret = negative ? -n : n;
    return 0;
}

static int parse_suffix (const char *p, int *decimal, int *binary)
{
    for (size_t i = 0; i < ARRAY_SIZE (suffixes); i++) {
        if (strcmp (p, suffixes[i].text) == 0) {
            *decimal = suffixes[i].decimal;
            *binary = suffixes[i].binary;
            return 0;
        }
    }
    *binary = 0;
    return *p == 'e' || *p == 'E' ? parse_exponent (p, decimal) : -EINVAL;
}

/* Parses digits and counts those behind the point; refuses more than 27 significant
 * ones. */
static int parse_digits (const char **pp, u128 *mantissa, int *fraction)
{
    const char *p = *pp;
    bool point = false, any = false;

    *mantissa = 0;
    *fraction = 0;
    for (; isdigit ((unsigned char)*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        any = true;
        if (*mantissa >= MANTISSA_MAX / 10)
            return -EINVAL;
        *mantissa = *mantissa * 10 + (u128)(*p - '0');
        *fraction += point;
    }
    *pp = p;
    return any ? 0 : -EINVAL;
}

/* Returns mantissa * 10^decimal * 2^binary, rounded up, at most INT64_MAX. */
static int64_t scale (u128 mantissa, int decimal, int binary)
{
    bool rest = false;

    for (; decimal < 0 && mantissa && binary > 0 && mantissa < MANTISSA_MAX; binary--)
        mantissa *= 2; /* before dividing, so that "0.5Gi" loses nothing */
    for (; decimal < 0 && mantissa; decimal++) {
        rest |= mantissa % 10 != 0;
        mantissa /= 10;
    }
    for (; decimal > 0 && mantissa && mantissa <= INT64_MAX; decimal--)
        mantissa *= 10;
    for (; binary > 0 && mantissa && mantissa <= INT64_MAX; binary--)
        mantissa *= 2;
    mantissa += rest;
    return mantissa > INT64_MAX ? INT64_MAX : (int64_t)mantissa;
}

static int parse (const char *text, int more, int64_t *ret)
{
    u128 mantissa;
    int fraction, decimal, binary;

    if (!text)
        return -EINVAL;
    if (*text == '+')
        text++;
    if (parse_digits (&text, &mantissa, &fraction) < 0
        || parse_suffix (text, &decimal, &binary) < 0)
        return -EINVAL;
    *ret = scale (mantissa, decimal - fraction + more, binary);
    return 0;
}

int quantity_milli (const char *text, int64_t *ret)
{
    return parse (text, 3, ret);
}

int quantity_value (const char *text, int64_t *ret)
{
    return parse (text, 0, ret);
}
