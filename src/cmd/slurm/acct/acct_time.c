/* acct_time.c - the times of sacct's -S and -E; see acct.h
 *
 * A time is a row of words, each of which sets the date, the time of the day, or both.
 * Blanks, '-' and 'T' may stand between them.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cmd/slurm/acct/acct.h"
#include "common/parse.h"

#define UTS_MIN 1000000

struct when {
    int hour, minute, second; /* hour < 0: not given */
    int month, mday, year;    /* as in struct tm; < 0: not given */
};

static bool starts (const char *p, const char *word)
{
    return !strncasecmp (p, word, strlen (word));
}

/* One or two digits. */
static bool read_two (const char **pp, int min, int max, int *ret)
{
    const char *p = *pp;

    if (!isdigit ((unsigned char)*p))
        return false;
    *ret = *p++ - '0';
    if (isdigit ((unsigned char)*p))
        *ret = *ret * 10 + (*p++ - '0');
    if (*ret < min || *ret > max)
        return false;
    *pp = p;
    return true;
}

/* Exactly two digits, of minutes or seconds. */
static bool read_sixtieth (const char **pp, int *ret)
{
    return (*pp)[0] && isdigit ((unsigned char)(*pp)[1]) && read_two (pp, 0, 59, ret);
}

static void set_date (struct when *w, time_t t)
{
    struct tm tm;

    localtime_r (&t, &tm);
    w->month = tm.tm_mon;
    w->mday = tm.tm_mday;
    w->year = tm.tm_year;
}

static void set_hour (struct when *w, int hour)
{
    w->hour = hour;
    w->minute = w->second = 0;
}

/* -- words -- */

/* After "now": "-1day", "+30", "". */
static bool read_delta (const char **pp, double *ret)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {
        { "seconds", 1 },    { "second", 1 },    { "minutes", 60 }, { "minute", 60 },
        { "hours", 3600 },   { "hour", 3600 },   { "days", 86400 }, { "day", 86400 },
        { "weeks", 604800 }, { "week", 604800 },
    };
    const char *p = *pp;
    double sign, n = 0;

    while (isblank ((unsigned char)*p))
        p++;
    *ret = 0;
    *pp = p;
    if (*p == '\0')
        return true;
    sign = *p == '-' ? -1 : *p == '+' ? 1 : 0;
    do
        p++;
    while (isspace ((unsigned char)*p));
    if (sign == 0 || !isdigit ((unsigned char)*p))
        return false;
    for (; isdigit ((unsigned char)*p) && n < 1e12; p++)
        n = n * 10 + (*p - '0');
    while (isspace ((unsigned char)*p))
        p++;
    *pp = p;
    for (size_t i = 0; i < ARRAY_SIZE (units); i++) {
        if (starts (p, units[i].name)) {
            *ret = sign * n * units[i].seconds;
            *pp = p + strlen (units[i].name);
            return true;
        }
    }
    *ret = sign * n;
    return *p == '\0';
}

static bool read_now (const char **pp, time_t now, struct when *w)
{
    double delta;
    struct tm tm;

    *pp += 3;
    if (!read_delta (pp, &delta))
        return false;
    time_t t = now + (time_t)delta;
    localtime_r (&t, &tm);
    set_date (w, t);
    w->hour = tm.tm_hour;
    w->minute = tm.tm_min;
    w->second = tm.tm_sec;
    return true;
}

/* "today", "noon", ...; *ret_ok: whether what follows "now" is right. */
static bool read_name (const char **pp, time_t now, struct when *w, bool *ret_ok)
{
    static const struct {
        const char *name;
        int hour;
    } hours[] = { { "midnight", 0 },
                  { "noon", 12 },
                  { "elevenses", 11 },
                  { "fika", 15 },
                  { "teatime", 16 } };

    *ret_ok = true;
    if (starts (*pp, "today") || starts (*pp, "tomorrow")) {
        bool later = starts (*pp, "tomorrow");
        set_date (w, now + (later ? 86400 : 0));
        *pp += strlen (later ? "tomorrow" : "today");
        return true;
    }
    if (starts (*pp, "now")) {
        *ret_ok = read_now (pp, now, w);
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE (hours); i++) {
        if (starts (*pp, hours[i].name)) {
            set_hour (w, hours[i].hour);
            *pp += strlen (hours[i].name);
            return true;
        }
    }
    return false;
}

/* "HH:MM[:SS] [AM|PM]" */
static bool read_clock (const char **pp, struct when *w)
{
    const char *p = *pp;

    w->second = 0;
    if (!read_two (&p, 0, 23, &w->hour) || *p++ != ':' || !read_sixtieth (&p, &w->minute))
        return false;
    if (*p == ':' && (p++, !read_sixtieth (&p, &w->second)))
        return false;
    while (isspace ((unsigned char)*p))
        p++;
    bool pm = starts (p, "pm"), am = starts (p, "am");
    if (am && w->hour > 12)
        return false;
    if (pm && w->hour < 12)
        w->hour += 12;
    else if (am && w->hour == 12)
        w->hour = 0;
    *pp = p + (pm || am ? 2 : 0);
    return true;
}

/* "YYYY-MM-DD" */
static bool read_iso_date (const char **pp, struct when *w)
{
    const char *p = *pp;
    int year = 0, month;

    for (int i = 0; i < 4; i++, p++) {
        if (!isdigit ((unsigned char)*p))
            return false;
        year = year * 10 + (*p - '0');
    }
    if (*p++ != '-' || !read_two (&p, 1, 12, &month) || *p++ != '-'
        || !read_two (&p, 1, 31, &w->mday))
        return false;
    w->year = year - 1900;
    w->month = month - 1;
    *pp = p;
    return true;
}

/* "MMDD[YY]", "MM/DD[/YY]", "MM.DD[.YY]" */
static bool read_date (const char **pp, struct when *w)
{
    const char *p = *pp;
    int month, year;

    if (strlen (p) >= 7 && p[4] == '-')
        return read_iso_date (pp, w);
    if (!read_two (&p, 1, 12, &month))
        return false;
    p += *p == '.' || *p == '/';
    if (!read_two (&p, 1, 31, &w->mday))
        return false;
    p += *p == '.' || *p == '/';
    w->month = month - 1;
    if (isdigit ((unsigned char)*p)) {
        if (!isdigit ((unsigned char)p[1]) || !read_two (&p, 0, 99, &year))
            return false;
        w->year = year + 100;
    }
    *pp = p;
    return true;
}

static bool read_words (const char **pp, time_t now, struct when *w)
{
    bool ok;

    for (const char *p; *(p = *pp) && *p != '\n';) {
        if (isblank ((unsigned char)*p) || *p == '-'
            || (*p == 'T' && !starts (p, "today") && !starts (p, "tomorrow")
                && !starts (p, "teatime"))) {
            ++*pp;
            continue;
        }
        if (read_name (pp, now, w, &ok)) {
            if (!ok)
                return false;
            continue;
        }
        if (!isdigit ((unsigned char)*p))
            return false;
        bool clock = p[1] == ':' || (p[1] && p[2] == ':');
        if (!(clock ? read_clock (pp, w) : read_date (pp, w)))
            return false;
    }
    return true;
}

/* "uts1700000000": unix time */
static int parse_uts (const char *text, double *ret)
{
    int64_t n;

    if (parse_int (text + 3, UTS_MIN, INT64_C (1) << 40, &n, "", NULL) < 0)
        return -EINVAL;
    *ret = (double)n;
    return 0;
}

int acct_parse_time (const char *text, double now, double *ret, int *ret_at)
{
    struct when w = { -1, -1, 0, -1, -1, -1 }, today = w;
    const char *p = text;

    *ret_at = 0;
    if (starts (text, "uts"))
        return parse_uts (text, ret);
    bool ok = read_words (&p, (time_t)now, &w);
    *ret_at = (int)(p - text);
    if (!ok)
        return -EINVAL;
    set_date (&today, (time_t)now);
    *ret = 0;
    if (w.hour < 0 && w.month < 0)
        return 0;
    if (w.hour < 0)
        set_hour (&w, 0);
    if (w.month < 0)
        w = (struct when){
            w.hour, w.minute, w.second, today.month, today.mday, today.year
        };
    if (w.year < 0)
        w.year = today.year - (w.month > today.month);
    struct tm tm = { .tm_sec = w.second,
                     .tm_min = w.minute,
                     .tm_hour = w.hour,
                     .tm_mday = w.mday,
                     .tm_mon = w.month,
                     .tm_year = w.year,
                     .tm_isdst = -1 };
    *ret = (double)mktime (&tm);
    *ret = MAX (*ret, 0);
    return 0;
}
