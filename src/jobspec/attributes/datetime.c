/* datetime.c - see datetime.h
 *
 *   text --> now[+N] | uts N
 *        \-> [day] [time of day] --> struct point --> unix time
 */
#include "jobspec/attributes/datetime.h"

#include <ctype.h>
#include <strings.h>
#include <time.h>

#define COUNT_DIGITS 10

/* month from 1; year -1: none was written */
struct point {
    int year, month, day;
    int hour, minute, second;
};

/* -- pieces: each moves *p behind the text it read, or returns false -- */

static void skip_blanks (const char **p)
{
    while (isblank ((unsigned char)**p))
        (*p)++;
}

/* Read a number of min to max digits that no further digit follows. */
static bool number (const char **p, size_t min, size_t max, int *ret)
{
    size_t n = strspn (*p, "0123456789");
    int value = 0;

    if (n < min || n > max)
        return false;
    for (; n > 0; n--)
        value = value * 10 + (*(*p)++ - '0');
    *ret = value;
    return true;
}

/* Words of letters and their values. */
struct word {
    const char *text;
    int value;
};

static bool word (const char **p, const struct word *table, size_t n, int *ret)
{
    size_t len = 0;

    while (isalpha ((unsigned char)(*p)[len]))
        len++;
    for (size_t i = 0; i < n; i++) {
        if (strlen (table[i].text) == len && !strncasecmp (*p, table[i].text, len)) {
            *p += len;
            *ret = table[i].value;
            return true;
        }
    }
    return false;
}

/* "AM", "PM" or nothing. */
static bool half_of_day (const char **p, int *hour)
{
    static const struct word halves[] = { { "am", 0 }, { "pm", 12 } };
    const char *q = *p;
    int half;

    skip_blanks (&q);
    if (!word (&q, halves, ARRAY_SIZE (halves), &half))
        return *hour <= 23;
    if (*hour < 1 || *hour > 12)
        return false;
    *hour = *hour % 12 + half;
    *p = q;
    return true;
}

static bool time_of_day (const char **p, struct point *t)
{
    static const struct word words[] = {
        { "midnight", 0 }, { "elevenses", 11 }, { "noon", 12 },
        { "fika", 15 },    { "teatime", 16 },
    };

    t->minute = t->second = 0;
    if (word (p, words, ARRAY_SIZE (words), &t->hour))
        return true;
    if (!number (p, 1, 2, &t->hour) || *(*p)++ != ':' || !number (p, 2, 2, &t->minute))
        return false;
    if (**p == ':') {
        (*p)++;
        if (!number (p, 2, 2, &t->second))
            return false;
    }
    return t->minute <= 59 && t->second <= 59 && half_of_day (p, &t->hour);
}

/* "/21/26" or ".21": the part of a date after the month. */
static bool rest_of_date (const char **p, struct point *t)
{
    char mark = *(*p)++;

    if (!number (p, 1, 2, &t->day))
        return false;
    if (**p != mark)
        return true;
    (*p)++;
    if (number (p, 4, 4, &t->year))
        return true;
    if (!number (p, 2, 2, &t->year))
        return false;
    t->year += 2000;
    return true;
}

/* MMDD or MMDDYY */
static bool digits_of_date (const char **p, size_t n, struct point *t)
{
    int all;

    if (!number (p, n, n, &all))
        return false;
    if (n == 6) {
        t->year = 2000 + all % 100;
        all /= 100;
    }
    t->month = all / 100;
    t->day = all % 100;
    return true;
}

static bool date (const char **p, double now, struct point *t)
{
    static const struct word days[] = { { "today", 0 }, { "tomorrow", 1 } };
    size_t n = strspn (*p, "0123456789");
    int ahead;

    if (word (p, days, ARRAY_SIZE (days), &ahead)) {
        time_t whole = (time_t)now;
        struct tm tm;
        if (!localtime_r (&whole, &tm))
            return false;
        t->year = tm.tm_year + 1900;
        t->month = tm.tm_mon + 1;
        t->day = tm.tm_mday + ahead; /* mktime() normalizes the 32nd */
        return true;
    }
    if (n == 4 && (*p)[4] == '-')
        return number (p, 4, 4, &t->year) && *(*p)++ == '-' && number (p, 2, 2, &t->month)
               && *(*p)++ == '-' && number (p, 2, 2, &t->day);
    if (n >= 1 && n <= 2 && ((*p)[n] == '/' || (*p)[n] == '.'))
        return number (p, 1, 2, &t->month) && rest_of_date (p, t);
    return digits_of_date (p, n == 6 ? 6 : 4, t);
}

/* -- top level -- */

/* The unix time of a point with year, month and day; false: no such day. */
static bool to_time (const struct point *t, double *ret)
{
    struct tm tm = { .tm_year = t->year - 1900,
                     .tm_mon = t->month - 1,
                     .tm_mday = t->day,
                     .tm_hour = t->hour,
                     .tm_min = t->minute,
                     .tm_sec = t->second,
                     .tm_isdst = -1 };

    if (t->month < 1 || t->month > 12 || t->day < 1)
        return false;
    *ret = (double)mktime (&tm);
    return *ret > 0 && *ret <= DATETIME_MAX;
}

static bool day_exists (const struct point *t)
{
    static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (t->year % 4 == 0 && t->year % 100 != 0) || t->year % 400 == 0;

    if (t->month < 1 || t->month > 12 || t->day < 1 || t->day > days[t->month - 1])
        return false;
    return t->month != 2 || t->day < 29 || leap;
}

/* A time without a day: today, or tomorrow if the time is past. */
static bool next_time (struct point *t, double now, double *ret)
{
    const char *day = "today";

    if (!date (&day, now, t) || !to_time (t, ret))
        return false;
    if (*ret > now)
        return true;
    t->day++;
    return to_time (t, ret);
}

/* A day without a year: this year, or the next year that has it (29 February). */
static bool next_day (struct point *t, double now, double *ret)
{
    const char *day = "today";
    struct point today = { .hour = 0 };

    if (!date (&day, now, &today))
        return false;
    for (t->year = today.year; t->year <= today.year + 8; t->year++) {
        if (day_exists (t) && to_time (t, ret) && *ret > now)
            return true;
    }
    return false;
}

/* 'T', blanks, or the '-' after 11/21/26. */
static bool separator (const char **p, bool slashed)
{
    const char *begin = *p;

    if (**p == 'T' || (**p == '-' && slashed))
        (*p)++;
    else
        skip_blanks (p);
    return *p > begin;
}

static bool day_and_time (const char *p, double now, struct point *t)
{
    const char *begin = p;

    *t = (struct point){ .year = -1 };
    if (!date (&p, now, t))
        return false;
    bool slashed = begin + strcspn (begin, "/.") < p;
    return *p == '\0' || (separator (&p, slashed) && time_of_day (&p, t) && *p == '\0');
}

static bool point_in_time (const char *text, double now, double *ret)
{
    bool named = isalpha ((unsigned char)*text); /* today and tomorrow always exist */
    const char *p = text;
    struct point t = { 0 };

    if (time_of_day (&p, &t) && *p == '\0')
        return next_time (&t, now, ret);
    if (!day_and_time (text, now, &t))
        return false;
    if (t.year < 0)
        return next_day (&t, now, ret);
    return (named || day_exists (&t)) && to_time (&t, ret);
}

/* Read the part after "now". */
static bool from_now (const char *p, double now, double *ret)
{
    static const struct word units[] = {
        { "", 1 },         { "s", 1 },       { "sec", 1 },       { "second", 1 },
        { "seconds", 1 },  { "m", 60 },      { "min", 60 },      { "minute", 60 },
        { "minutes", 60 }, { "h", 3600 },    { "hr", 3600 },     { "hour", 3600 },
        { "hours", 3600 }, { "d", 86400 },   { "day", 86400 },   { "days", 86400 },
        { "w", 604800 },   { "wk", 604800 }, { "week", 604800 }, { "weeks", 604800 },
    };
    double count = 0;
    int unit;

    *ret = now;
    skip_blanks (&p);
    if (*p == '\0')
        return true;
    if (*p++ != '+')
        return false;
    skip_blanks (&p);
    size_t n = strspn (p, "0123456789");
    if (n == 0 || n > COUNT_DIGITS)
        return false;
    for (; n > 0; n--)
        count = count * 10 + (*p++ - '0');
    skip_blanks (&p);
    if (!word (&p, units, ARRAY_SIZE (units), &unit) || *p)
        return false;
    *ret = now + count * unit;
    return *ret <= DATETIME_MAX;
}

static bool unix_time (const char *p, double *ret)
{
    size_t n = strspn (p, "0123456789");

    if (n == 0 || n > COUNT_DIGITS || p[n])
        return false;
    for (*ret = 0; *p; p++)
        *ret = *ret * 10 + (*p - '0');
    return *ret > 0 && *ret <= DATETIME_MAX;
}

int datetime_parse (const char *text, double now, double *ret, const char *what,
                    struct error *err)
{
    double t = 0;
    bool ok;

    if (!strncasecmp (text, "now", 3))
        ok = from_now (text + 3, now, &t);
    else if (!strncasecmp (text, "uts", 3))
        ok = unix_time (text + 3, &t);
    else
        ok = *text && point_in_time (text, now, &t);
    if (!ok)
        return error_set (err, EINVAL,
                          "%s: '%.64s' is not a time (HH:MM, YYYY-MM-DD[THH:MM[:SS]], "
                          "MM/DD/YY, today, tomorrow, midnight, noon, teatime, "
                          "now+COUNT[minutes|hours|days|weeks])",
                          what, text);
    *ret = t;
    return 0;
}
