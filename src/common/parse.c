/* parse.c - see parse.h */
#include "common/parse.h"

#include <signal.h>
#include <strings.h>
#include <time.h>

#define MAX_TIME_LIMIT (3650LL * 86400) /* parse_timelimit: 10 years */
#define MAX_FSD (36500.0 * 86400)       /* parse_fsd: 100 years */
#define MAX_MEMORY_MIB (INT64_C (1) << 40)
#define MAX_ID_RANGES 10000

/* A user's text in a message: quoted and truncated. */
#define QUOTED "'%.80s'"

__extension__ typedef unsigned __int128 wide;

static bool is_digit (char c)
{
    return c >= '0' && c <= '9';
}

/* Read decimal digits at *p (at least one), advance. -EINVAL, or -ERANGE above UINT64_MAX
 * (the digits are still skipped).
 */
static int read_digits (const char **p, uint64_t *ret)
{
    uint64_t n = 0;
    int rc = 0;

    if (!is_digit (**p))
        return -EINVAL;
    for (; is_digit (**p); (*p)++) {
        unsigned int digit = (unsigned int)(**p - '0');
        if (n > (UINT64_MAX - digit) / 10)
            rc = -ERANGE;
        else
            n = n * 10 + digit;
    }
    *ret = n;
    return rc;
}

/* Read "[-]digits" as a whole text. */
static int read_int (const char *text, int64_t *ret)
{
    bool negative = text[0] == '-';
    const char *p = text + negative;
    uint64_t n;
    int rc = read_digits (&p, &n);

    if (rc == -EINVAL || *p)
        return -EINVAL;
    if (rc < 0 || n > (uint64_t)INT64_MAX)
        return -ERANGE;
    *ret = negative ? -(int64_t)n : (int64_t)n;
    return 0;
}

int parse_int (const char *text, int64_t min, int64_t max, int64_t *ret, const char *what,
               struct error *err)
{
    int64_t n = 0;
    int rc = read_int (text, &n);

    if (rc == 0 && (n < min || n > max))
        rc = -ERANGE;
    if (rc < 0 && max == INT64_MAX)
        return error_set (err, -rc, "%s: " QUOTED " is not an integer of at least %jd",
                          what, text, (intmax_t)min);
    if (rc < 0)
        return error_set (err, -rc, "%s: " QUOTED " is not an integer from %jd to %jd",
                          what, text, (intmax_t)min, (intmax_t)max);
    *ret = n;
    return 0;
}

int parse_count_range (const char *text, int64_t min, int64_t max, int64_t *ret_min,
                       int64_t *ret_max, const char *what, struct error *err)
{
    const char *dash = text[0] ? strchr (text + 1, '-') : NULL;
    char first[32];
    int64_t lo, hi;
    int rc;

    if (!dash) {
        if ((rc = parse_int (text, min, max, &lo, what, err)) < 0)
            return rc;
        *ret_min = *ret_max = lo;
        return 0;
    }
    if ((size_t)(dash - text) >= sizeof (first))
        return error_set (err, ERANGE, "%s: " QUOTED " is too large", what, text);
    memcpy (first, text, (size_t)(dash - text));
    first[dash - text] = '\0';
    if ((rc = parse_int (first, min, max, &lo, what, err)) < 0
        || (rc = parse_int (dash + 1, min, max, &hi, what, err)) < 0)
        return rc;
    if (lo > hi)
        return error_set (err, EINVAL,
                          "%s: in " QUOTED " the minimum is above the maximum", what,
                          text);
    *ret_min = lo;
    *ret_max = hi;
    return 0;
}

/* A decimal number as digits / 10^scale, exact: no floating point, no locale. */
struct decimal {
    uint64_t digits;
    unsigned int scale;
};

/* Read "12", "1.5", "1." or ".5" at *p, advance. Digits of the fraction past what fits
 * are dropped. -EINVAL: no number; -ERANGE: too large.
 */
static int read_decimal (const char **p, struct decimal *ret)
{
    /* Below this value one more digit fits. */
    const uint64_t room = UINT64_C (100000000000000000);
    struct decimal d = { 0, 0 };
    int ndigits = 0;
    int rc = 0;

    for (; is_digit (**p); (*p)++, ndigits++) {
        if (d.digits >= room)
            rc = -ERANGE;
        else
            d.digits = d.digits * 10 + (uint64_t)(**p - '0');
    }
    if (**p == '.') {
        (*p)++;
        for (; is_digit (**p); (*p)++, ndigits++) {
            if (d.digits < room && d.scale < 15) {
                d.digits = d.digits * 10 + (uint64_t)(**p - '0');
                d.scale++;
            }
        }
    }
    if (ndigits == 0)
        return -EINVAL;
    *ret = d;
    return rc;
}

static uint64_t power_of_ten (unsigned int n)
{
    uint64_t p = 1;

    while (n-- > 0)
        p *= 10;
    return p;
}

/* d * mul / div, rounded up; -ERANGE above max. */
static int decimal_scale (struct decimal d, uint64_t mul, uint64_t div, int64_t max,
                          int64_t *ret)
{
    wide divisor = (wide)power_of_ten (d.scale) * div;
    wide n = ((wide)d.digits * mul + divisor - 1) / divisor;

    if (n > (wide)max)
        return -ERANGE;
    *ret = (int64_t)n;
    return 0;
}

/* The power of the letter by its position in "KMGTPE" (k equals K): 1 to 6, 0: no letter.
 */
static unsigned int magnitude (char c, const char *letters)
{
    const char *p = c ? strchr (letters, c) : NULL;

    return p ? (unsigned int)(p - letters) + 1 : 0;
}

int parse_memory_mib (const char *text, int64_t *ret_mib, const char *what,
                      struct error *err)
{
    const char *p = text;
    struct decimal d;
    unsigned int power;
    int rc = read_decimal (&p, &d);

    if (rc == -EINVAL)
        goto invalid;
    power = magnitude (*p, "KMGTP");
    if (power == 0)
        power = magnitude (*p, "kmgtp");
    if (power > 0) {
        p++;
        if (*p == 'i')
            p++;
        if (*p == 'B' || *p == 'b')
            p++;
    } else
        power = 2;
    if (*p)
        goto invalid;
    if (rc == 0) /* in units of KiB, to MiB */
        rc = decimal_scale (d, UINT64_C (1) << (10 * (power - 1)), 1024, MAX_MEMORY_MIB,
                            ret_mib);
    if (rc < 0)
        return error_set (err, -rc, "%s: " QUOTED " is more memory than 1048576T", what,
                          text);
    return 0;
invalid:
    return error_set (err, EINVAL,
                      "%s: " QUOTED
                      " is not a memory size (a number, then K, M, G, T or P; "
                      "MiB without)",
                      what, text);
}

int parse_bytes (const char *text, int64_t *ret, const char *what, struct error *err)
{
    const char *p = text;
    struct decimal d;
    uint64_t unit = 1;
    int rc = read_decimal (&p, &d);

    if (rc == -EINVAL)
        goto invalid;
    unsigned int power = *p == 'k' ? 1 : magnitude (*p, "KMGTPE");
    if (power > 0 && p[1] == 'i' && *p != 'k') {
        unit = UINT64_C (1) << (10 * power);
        p += 2;
    } else if (power > 0 && *p != 'K') {
        unit = power_of_ten (3 * power);
        p++;
    }
    if (*p)
        goto invalid;
    if (rc == 0)
        rc = decimal_scale (d, unit, 1, INT64_MAX, ret);
    if (rc < 0)
        return error_set (err, -rc, "%s: " QUOTED " is above 2^63 bytes", what, text);
    return 0;
invalid:
    return error_set (err, EINVAL,
                      "%s: " QUOTED
                      " is not a size (bytes, or with Ki, Mi, Gi, Ti, k, M, G, T)",
                      what, text);
}

static bool is_unlimited (const char *text)
{
    return !strcasecmp (text, "unlimited") || !strcasecmp (text, "infinite");
}

/* Read the fields of "[D-]a[:b[:c]]". Returns the number of a, b, c; -EINVAL, -ERANGE. */
static int split_timelimit (const char *text, bool *has_days, uint64_t *days,
                            uint64_t field[3])
{
    const char *p = text;
    int n = 0;

    *has_days = strchr (text, '-') != NULL;
    if (*has_days) {
        int rc = read_digits (&p, days);
        if (rc < 0)
            return rc;
        if (*p++ != '-')
            return -EINVAL;
    }
    for (;;) {
        int rc = read_digits (&p, &field[n++]);
        if (rc < 0)
            return rc;
        if (*p == '\0')
            return n;
        if (*p++ != ':' || n == 3)
            return -EINVAL;
    }
}

int parse_timelimit (const char *text, double *ret_seconds, const char *what,
                     struct error *err)
{
    uint64_t days = 0, field[3] = { 0 }, h = 0, m = 0, s = 0;
    bool has_days;

    if (is_unlimited (text)) {
        *ret_seconds = 0;
        return 0;
    }
    int n = split_timelimit (text, &has_days, &days, field);
    if (n == -EINVAL)
        goto invalid;
    if (n > 0 && (has_days || n == 3)) {
        h = field[0];
        m = field[1];
        s = field[2];
    } else if (n > 0) {
        m = field[0];
        s = field[1];
    }
    if (n > 0 && has_days && h > 23 && h <= 3650 * 24 && days <= 3650)
        return error_set (err, EINVAL,
                          "%s: " QUOTED ": %ju hours after days; say %ju-%ju", what, text,
                          (uintmax_t)h, (uintmax_t)(days + h / 24), (uintmax_t)(h % 24));
    if (s > 59 || ((has_days || n == 3) && m > 59) || (has_days && h > 23))
        goto invalid;
    if (n < 0 || days > 3650 || h > 3650 * 24 || m > 3650 * 1440)
        goto range;
    uint64_t total = days * 86400 + h * 3600 + m * 60 + s;
    if (total > MAX_TIME_LIMIT)
        goto range;
    *ret_seconds = (double)total;
    return 0;
range:
    return error_set (err, ERANGE,
                      "%s: " QUOTED " is longer than 10 years (UNLIMITED is for none)",
                      what, text);
invalid:
    return error_set (err, EINVAL,
                      "%s: " QUOTED
                      " is not a time limit (minutes, M:S, H:M:S, D-H, D-H:M, "
                      "D-H:M:S or UNLIMITED)",
                      what, text);
}

/* Read an optional "e[+-]digits" at *p; *ret is the power of ten, limited to +-400. */
static int read_exponent (const char **p, int *ret)
{
    const char *q = *p;
    uint64_t n = 0;

    *ret = 0;
    if (*q != 'e' && *q != 'E')
        return 0;
    q++;
    bool negative = *q == '-';
    if (*q == '-' || *q == '+')
        q++;
    int rc = read_digits (&q, &n);
    if (rc == -EINVAL)
        return rc;
    if (rc < 0 || n > 400)
        n = 400;
    *ret = negative ? -(int)n : (int)n;
    *p = q;
    return 0;
}

static double unit_seconds (const char *unit)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {
        { "", 1 }, { "ms", 1e-3 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 },
    };

    for (size_t i = 0; i < ARRAY_SIZE (units); i++) {
        if (!strcmp (unit, units[i].name))
            return units[i].seconds;
    }
    return -1;
}

int parse_fsd (const char *text, double *ret_seconds, const char *what, struct error *err)
{
    const char *p = text;
    struct decimal d;
    int exponent;

    if (!strcasecmp (text, "inf") || !strcasecmp (text, "infinity")) {
        *ret_seconds = 0;
        return 0;
    }
    int rc = read_decimal (&p, &d);
    if (rc == -EINVAL || read_exponent (&p, &exponent) < 0)
        goto invalid;
    double unit = unit_seconds (p);
    if (unit < 0)
        goto invalid;
    double seconds = (double)d.digits / (double)power_of_ten (d.scale);
    for (; exponent > 0; exponent--)
        seconds *= 10;
    for (; exponent < 0; exponent++)
        seconds /= 10;
    seconds = unit < 1 ? seconds / 1000 : seconds * unit;
    if (rc < 0 || seconds > MAX_FSD)
        return error_set (err, ERANGE,
                          "%s: " QUOTED " is longer than 100 years (inf is for none)",
                          what, text);
    *ret_seconds = seconds;
    return 0;
invalid:
    return error_set (err, EINVAL,
                      "%s: " QUOTED
                      " is not a duration (a number, then ms, s, m, h or d; "
                      "seconds without)",
                      what, text);
}

int strbuf_add_duration (struct strbuf *sb, double seconds)
{
    if (seconds > 1e15)
        return strbuf_adds (sb, "UNLIMITED");
    if (!(seconds > 0))
        seconds = 0;
    uint64_t t = (uint64_t)seconds;
    unsigned int s = (unsigned int)(t % 60);
    unsigned int m = (unsigned int)(t / 60 % 60);
    unsigned int h = (unsigned int)(t / 3600 % 24);
    uint64_t days = t / 86400;

    if (days > 0)
        return strbuf_addf (sb, "%ju-%02u:%02u:%02u", (uintmax_t)days, h, m, s);
    if (h > 0)
        return strbuf_addf (sb, "%u:%02u:%02u", h, m, s);
    return strbuf_addf (sb, "%u:%02u", m, s);
}

int strbuf_add_time (struct strbuf *sb, double t)
{
    struct tm tm;
    char text[64];

    if (!(t > -1e11 && t < 1e11)) /* within the years 0 to 5138; not NaN */
        return strbuf_adds (sb, "Unknown");
    time_t whole = (time_t)t;
    if ((double)whole > t)
        whole--;
    if (!localtime_r (&whole, &tm)
        || strftime (text, sizeof (text), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        return strbuf_adds (sb, "Unknown");
    return strbuf_adds (sb, text);
}

/* Read the part after "12_": "3", "1-3" or "[1-3,7]"; also "[1-3,7%2]" from a listing,
 * where the limit of running tasks is ignored. */
static int read_tasks (const char **p, struct id_range *r)
{
    bool brackets = **p == '[';

    *p += brackets;
    r->tasks = *p;
    r->tasks_len = brackets ? strcspn (*p, "]%") : strspn (*p, "0123456789-");
    *p += r->tasks_len;
    if (brackets && **p == '%') {
        size_t digits = strspn (*p + 1, "0123456789");
        if (digits == 0)
            return -EINVAL;
        *p += 1 + digits;
    }
    if (r->tasks_len == 0 || (brackets && **p != ']'))
        return -EINVAL;
    *p += brackets;
    return 0;
}

/* Read one "id", "first-last" or "id_tasks" at *p, advance past it and its comma. */
static int read_id_range (const char **p, struct id_range *r)
{
    *r = (struct id_range){ 0 };
    int rc = read_digits (p, &r->first);

    if (rc == -EINVAL)
        return rc;
    r->last = r->first;
    if (**p == '-') {
        (*p)++;
        int rc2 = read_digits (p, &r->last);
        if (rc2 == -EINVAL)
            return rc2;
        rc = rc ? rc : rc2;
    } else if (**p == '_') {
        (*p)++;
        if (read_tasks (p, r) < 0)
            return -EINVAL;
    }
    if (**p == ',') {
        (*p)++;
        if (**p == '\0')
            return -EINVAL;
    } else if (**p)
        return -EINVAL;
    if (rc == 0 && (r->first < 1 || r->last > (uint64_t)INT64_MAX))
        return -ERANGE;
    if (rc == 0 && r->first > r->last)
        return -EINVAL;
    return rc;
}

int parse_id_ranges (const char *text, int (*fn) (const struct id_range *r, void *arg),
                     void *arg, const char *what, struct error *err)
{
    struct id_range r;
    int n = 0;
    const char *p = text;

    /* The whole list is checked before anything is done about its first part. */
    do {
        int rc = read_id_range (&p, &r);
        if (rc < 0)
            return error_set (err, -rc, "%s: " QUOTED " is not a list of ids as 3,7-9",
                              what, text);
        if (++n > MAX_ID_RANGES)
            return error_set (err, ERANGE, "%s: more than %d ids and ranges", what,
                              MAX_ID_RANGES);
    } while (*p);

    for (p = text; *p;) {
        read_id_range (&p, &r);
        int rc = fn (&r, arg);
        if (rc)
            return rc;
    }
    return 0;
}

static const struct {
    const char *name;
    int number;
} signals[] = {
    { "HUP", SIGHUP },       { "INT", SIGINT },   { "QUIT", SIGQUIT },
    { "ILL", SIGILL },       { "TRAP", SIGTRAP }, { "ABRT", SIGABRT },
    { "BUS", SIGBUS },       { "FPE", SIGFPE },   { "KILL", SIGKILL },
    { "USR1", SIGUSR1 },     { "SEGV", SIGSEGV }, { "USR2", SIGUSR2 },
    { "PIPE", SIGPIPE },     { "ALRM", SIGALRM }, { "TERM", SIGTERM },
    { "CHLD", SIGCHLD },     { "CONT", SIGCONT }, { "STOP", SIGSTOP },
    { "TSTP", SIGTSTP },     { "TTIN", SIGTTIN }, { "TTOU", SIGTTOU },
    { "URG", SIGURG },       { "XCPU", SIGXCPU }, { "XFSZ", SIGXFSZ },
    { "VTALRM", SIGVTALRM }, { "PROF", SIGPROF }, { "WINCH", SIGWINCH },
    { "IO", SIGIO },         { "PWR", SIGPWR },   { "SYS", SIGSYS },
};

int parse_signal (const char *text, int *ret, const char *what, struct error *err)
{
    const char *name = strncasecmp (text, "SIG", 3) ? text : text + 3;
    int64_t n;

    for (size_t i = 0; i < ARRAY_SIZE (signals); i++) {
        if (!strcasecmp (name, signals[i].name)) {
            *ret = signals[i].number;
            return 0;
        }
    }
    int rc = read_int (text, &n);
    if (rc == 0 && (n < 1 || n > 64))
        rc = -ERANGE;
    if (rc < 0)
        return error_set (err, -rc,
                          "%s: " QUOTED " is not a signal (as TERM, SIGTERM or 15)", what,
                          text);
    *ret = (int)n;
    return 0;
}

const char *signal_name (int sig)
{
    for (size_t i = 0; i < ARRAY_SIZE (signals); i++) {
        if (signals[i].number == sig)
            return signals[i].name;
    }
    return NULL;
}

bool parse_is_word_of (const char *value, const char *words)
{
    size_t len = strlen (value);

    for (const char *w = words; len > 0 && w; w = strchr (w, '|')) {
        w += *w == '|';
        if (strcspn (w, "|") == len && !strncmp (w, value, len))
            return true;
    }
    return false;
}
