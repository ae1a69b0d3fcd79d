/* rlimits.c - reads, writes and sets the soft resource limits that a job takes along */
#include "common/rlimits.h"

#include <inttypes.h>
#include <strings.h>

#include "common/parse.h"

static const struct {
    const char *name;
    int resource;
} limits[] = {
    { "as", RLIMIT_AS },         { "core", RLIMIT_CORE },   { "cpu", RLIMIT_CPU },
    { "data", RLIMIT_DATA },     { "fsize", RLIMIT_FSIZE }, { "memlock", RLIMIT_MEMLOCK },
    { "nofile", RLIMIT_NOFILE }, { "nproc", RLIMIT_NPROC }, { "rss", RLIMIT_RSS },
    { "stack", RLIMIT_STACK },
};
_Static_assert(ARRAY_SIZE (limits) == RLIMITS_COUNT, "a value for each");

const char *rlimits_name (size_t i)
{
    return limits[i].name;
}

int rlimits_find (const char *name)
{
    for (size_t i = 0; i < RLIMITS_COUNT; i++)
        if (!strcasecmp (limits[i].name, name))
            return (int)i;
    return -1;
}

int rlimits_select (const char *list, struct rlimits *ret, const char *where,
                    struct error *err)
{
    char word[16];

    *ret = (struct rlimits){ 0 };
    if (!strcasecmp (list, "ALL"))
        ret->given = (UINT32_C (1) << RLIMITS_COUNT) - 1;
    if (!strcasecmp (list, "ALL") || !strcasecmp (list, "NONE"))
        return 0;
    for (;;) {
        size_t len = strcspn (list, ",");
        snprintf (word, sizeof (word), "%.*s", (int)MIN (len, sizeof (word)), list);
        int i = rlimits_find (word);
        if (i < 0)
            return error_set (
                err, EINVAL,
                "%s: '%.*s' is not one of AS, CORE, CPU, DATA, FSIZE, "
                "MEMLOCK, NOFILE, NPROC, RSS, STACK (or ALL or NONE, alone)",
                where, (int)MIN (len, (size_t)32), list);
        ret->given |= UINT32_C (1) << i;
        if (list[len] == '\0')
            return 0;
        list += len + 1;
    }
}

static bool is_given (const struct rlimits *set, size_t i)
{
    return set->given >> i & 1;
}

static const struct rlimits *stand_in; /* or NULL */

void rlimits_stand_in (const struct rlimits *all)
{
    stand_in = all;
}

static bool read_limit (size_t i, rlim_t *ret)
{
    struct rlimit r;

    if (stand_in) {
        *ret = stand_in->soft[i];
        return is_given (stand_in, i);
    }
    if (getrlimit (limits[i].resource, &r) < 0)
        return false;
    *ret = r.rlim_cur;
    return true;
}

void rlimits_read (struct rlimits *set)
{
    for (size_t i = 0; i < RLIMITS_COUNT; i++)
        if (is_given (set, i) && !read_limit (i, &set->soft[i]))
            set->given &= ~(UINT32_C (1) << i);
}

void rlimits_format (const struct rlimits *set, size_t i, char *buf, size_t size)
{
    if (set->soft[i] == RLIM_INFINITY)
        snprintf (buf, size, "%s=unlimited", limits[i].name);
    else
        snprintf (buf, size, "%s=%ju", limits[i].name, (uintmax_t)set->soft[i]);
}

int rlimits_add (struct rlimits *set, const char *text, struct error *err)
{
    const char *value = strchr (text, '=');
    char name[16];
    int64_t n;

    snprintf (name, sizeof (name), "%.*s", (int)strcspn (text, "="), text);
    int i = rlimits_find (name);
    if (i < 0 || !value)
        return error_set (err, EINVAL, "'%.32s' is not NAME=NUMBER of a limit", text);
    if (!strcmp (value + 1, "unlimited"))
        set->soft[i] = RLIM_INFINITY;
    else if (parse_int (value + 1, 0, INT64_MAX, &n, name, err) == 0)
        set->soft[i] = (rlim_t)n;
    else
        return -EINVAL;
    set->given |= UINT32_C (1) << i;
    return 0;
}

void rlimits_apply (const struct rlimits *set)
{
    struct rlimit r;

    for (size_t i = 0; i < RLIMITS_COUNT; i++) {
        if (!is_given (set, i) || getrlimit (limits[i].resource, &r) < 0)
            continue;
        r.rlim_cur = MIN (set->soft[i], r.rlim_max);
        setrlimit (limits[i].resource, &r);
    }
}

void rlimits_describe_cut (const struct rlimits *set, char *buf, size_t size)
{
    char wanted[RLIMITS_TEXT_MAX];
    struct rlimit r;
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < RLIMITS_COUNT && used < size; i++) {
        if (!is_given (set, i) || getrlimit (limits[i].resource, &r) < 0
            || set->soft[i] <= r.rlim_max)
            continue;
        rlimits_format (set, i, wanted, sizeof (wanted));
        int n = snprintf (buf + used, size - used, "%s%s (at most %ju)", used ? ", " : "",
                          wanted, (uintmax_t)r.rlim_max);
        used += n > 0 ? (size_t)n : 0;
    }
}
