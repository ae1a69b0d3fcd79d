/* words.c - see words.h */
#include "cmd/slurm/words/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>

#include "common/clock.h"
#include "common/parse.h"
#include "jobspec/attributes/licenses.h"

#define YEAR (365 * 86400)
#define TIME_FORMAT "SLURM_TIME_FORMAT"
#define TIME_FORMAT_MAX 31 /* bytes, as in Slurm */

/* -- times -- */

/* The days from now's day to that of tm, roughly beyond a year. */
static int days_from_now (const struct tm *tm)
{
    time_t now = (time_t)clock_wall ();
    struct tm today;

    localtime_r (&now, &today);
    return 1000 * (tm->tm_year - today.tm_year) + tm->tm_yday - today.tm_yday;
}

/* The shortest format that says when tm is: at most 12 characters. */
static const char *relative_format (const struct tm *tm)
{
    static const struct {
        int first, last; /* days from now */
        const char *format;
    } formats[] = {
        { -1, -1, "Ystday %H:%M" },    { 0, 0, "%H:%M:%S" },
        { 1, 1, "Tomorr %H:%M" },      { 2, 6, "%a %H:%M" },
        { -365, 365, "%-d %b %H:%M" },
    };
    int days = days_from_now (tm);

    for (size_t i = 0; i < ARRAY_SIZE (formats); i++)
        if (days >= formats[i].first && days <= formats[i].last)
            return formats[i].format;
    return "%-d %b %Y";
}

bool slurm_time_format_is_valid (void)
{
    const char *format = getenv (TIME_FORMAT);

    return !format || !*format || !strcmp (format, "standard")
           || !strcmp (format, "relative")
           || (strchr (format, '%') && strlen (format) <= TIME_FORMAT_MAX);
}

void slurm_add_time (struct strbuf *sb, double t)
{
    const char *format = getenv (TIME_FORMAT);
    char text[256];
    struct tm tm;
    time_t whole = (time_t)t;

    if (t <= 0) {
        strbuf_adds (sb, "N/A");
        return;
    }
    if (!format || !*format || !strcmp (format, "standard")
        || !slurm_time_format_is_valid () || !localtime_r (&whole, &tm)) {
        strbuf_add_time (sb, t);
        return;
    }
    if (!strcmp (format, "relative"))
        format = relative_format (&tm);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (strftime (text, sizeof (text), format, &tm) == 0)
        snprintf (text, sizeof (text), "%s", "###############################");
#pragma GCC diagnostic pop
    strbuf_adds (sb, text);
}

void slurm_add_seconds (struct strbuf *sb, double seconds)
{
    if (seconds < 0 || seconds > YEAR)
        strbuf_adds (sb, "INVALID");
    else if (seconds < 1) /* most jobs wait */
        strbuf_adds (sb, "0:00");
    else
        strbuf_add_duration (sb, seconds);
}

void slurm_add_date (struct strbuf *sb)
{
    time_t now = (time_t)clock_wall ();
    struct tm tm;
    char text[64];

    if (localtime_r (&now, &tm)
        && strftime (text, sizeof (text), "%a %b %d %H:%M:%S %Y\n", &tm) > 0)
        strbuf_adds (sb, text);
}

/* -- sizes -- */

/* units: that of n first; a blank stands for no letter. */
static void add_units (struct strbuf *sb, double n, const char *units, bool convert)
{
    while (convert && n >= 1024 && (uint64_t)n % 512 == 0 && units[1]) {
        n /= 1024;
        units++;
    }
    strbuf_addf (sb, (double)(uint64_t)n == n ? "%.0f" : "%.2f", n);
    if (*units != ' ')
        strbuf_addch (sb, *units);
}

void slurm_add_count (struct strbuf *sb, double n, bool convert)
{
    add_units (sb, n, " KMGTP", convert);
}

void slurm_add_mib (struct strbuf *sb, double mib, bool convert)
{
    if (mib < 1)
        strbuf_adds (sb, "0");
    else
        add_units (sb, mib, "MGTP", convert);
}

/* -- states -- */

static const struct {
    const char *name, *letters;
} states[] = {
    { "PENDING", "PD" },     { "RUNNING", "R" },        { "SUSPENDED", "S" },
    { "COMPLETED", "CD" },   { "CANCELLED", "CA" },     { "FAILED", "F" },
    { "TIMEOUT", "TO" },     { "NODE_FAIL", "NF" },     { "PREEMPTED", "PR" },
    { "BOOT_FAIL", "BF" },   { "DEADLINE", "DL" },      { "OUT_OF_MEMORY", "OOM" },
    { "COMPLETING", "CG" },  { "CONFIGURING", "CF" },   { "EXPEDITING", "EX" },
    { "RESIZING", "RS" },    { "RESV_DEL_HOLD", "RD" }, { "REQUEUED", "RQ" },
    { "REQUEUE_FED", "RF" }, { "REQUEUE_HOLD", "RH" },  { "REVOKED", "RV" },
    { "SIGNALING", "SI" },   { "SPECIAL_EXIT", "SE" },  { "STAGE_OUT", "SO" },
    { "STOPPED", "ST" },
};

bool slurm_state_find (const char *word, const char **ret)
{
    for (size_t i = 0; i < ARRAY_SIZE (states); i++) {
        if (!strcasecmp (word, states[i].name) || !strcasecmp (word, states[i].letters)) {
            *ret = states[i].name;
            return true;
        }
    }
    return false;
}

void slurm_state_add_names (struct strbuf *sb, const char *between)
{
    for (size_t i = 0; i < ARRAY_SIZE (states); i++) {
        strbuf_adds (sb, i ? between : "");
        for (const char *p = states[i].name; *p; p++)
            strbuf_addch (sb, (char)tolower ((unsigned char)*p));
    }
}

/* -- reasons -- */

/* The broker's reasons that have another name in Slurm. */
static const struct {
    const char *reason, *slurm;
} reasons[] = {
    { "", "None" },
    { "QueueStopped", "PartitionDown" }, /* accepts jobs and starts none */
    { "BrokerPaused", "SchedDefer" },    /* no job is started for now */
};

const char *slurm_reason (const char *reason)
{
    for (size_t i = 0; i < ARRAY_SIZE (reasons); i++)
        if (!strcmp (reason, reasons[i].reason))
            return reasons[i].slurm;
    return reason;
}

const char *slurm_end_reason (const char *st, int status)
{
    static const struct {
        const char *st, *reason;
    } ends[] = {
        { "F", "NonZeroExitCode" }, { "TO", "TimeLimit" }, { "OOM", "OutOfMemory" },
        { "DL", "DeadLine" },       { "NF", "NodeDown" },
    };

    if (!strcmp (st, "F") && status >= 0) {
        if (WIFSIGNALED (status))
            return "RaisedSignal";
        if (WEXITSTATUS (status) == 0) /* it never ran, or could not end its work */
            return "JobLaunchFailure";
    }
    for (size_t i = 0; i < ARRAY_SIZE (ends); i++)
        if (!strcmp (st, ends[i].st))
            return ends[i].reason;
    return "None";
}

void slurm_add_licenses (struct strbuf *sb, const char *licenses)
{
    struct gres_list list = { 0 };

    if (*licenses)
        licenses_parse (licenses, &list, "licenses", NULL);
    for (size_t i = 0; i < list.n; i++)
        strbuf_addf (sb, ",license/%s=%jd", list.v[i].name, (intmax_t)list.v[i].count);
    gres_release (&list);
}

bool slurm_list_has (const char *list, const char *word)
{
    size_t len = strlen (word);

    for (; *list; list += strcspn (list, ","), list += *list == ',')
        if (len > 0 && strcspn (list, ",") == len && !strncasecmp (list, word, len))
            return true;
    return false;
}
