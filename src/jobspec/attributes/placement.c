/* placement.c - see placement.h */
#include "jobspec/attributes/placement.h"

#include <ctype.h>
#include <math.h>

#include "common/parse.h"

#define WAIT_MAX 1e9 /* seconds */

static const char *const kinds[] = {
    [PLACEMENT_NONE] = "",
    [PLACEMENT_ANY] = "any",
    [PLACEMENT_PACK] = "pack",
    [PLACEMENT_SPREAD] = "spread",
};

static bool is_level (const char *text)
{
    size_t len = strlen (text);

    for (size_t i = 0; i < len; i++)
        if (!isalnum ((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
            return false;
    return len > 0 && len <= PLACEMENT_LEVEL_MAX && isalpha ((unsigned char)text[0]);
}

int placement_parse (const char *text, struct placement *ret, const char *where,
                     struct error *err)
{
    size_t len = strcspn (text, ":");

    *ret = (struct placement){ 0 };
    for (size_t i = PLACEMENT_ANY; i < ARRAY_SIZE (kinds); i++)
        if (strlen (kinds[i]) == len && !strncmp (text, kinds[i], len))
            ret->kind = (enum placement_kind)i;
    if (ret->kind == PLACEMENT_NONE || (ret->kind == PLACEMENT_ANY && text[len]))
        return error_set (
            err, EINVAL,
            "%s: '%.64s' is not one of pack, spread (either with :LEVEL, as in "
            "spread:zone) and any",
            where, text);
    if (!text[len])
        return 0;
    if (!is_level (text + len + 1))
        return error_set (err, EINVAL,
                          "%s: '%.64s' is not a level; say zone, rack, or what "
                          "fluxq-info --topology shows",
                          where, text + len + 1);
    snprintf (ret->level, sizeof (ret->level), "%s", text + len + 1);
    return 0;
}

/* The text that placement_parse() takes; "" for PLACEMENT_NONE. */
static void placement_text (const struct placement *p, char *buf, size_t size)
{
    snprintf (buf, size, "%s%s%s", kinds[p->kind], p->level[0] ? ":" : "", p->level);
}

int switches_parse (const char *text, struct switches *ret, const char *where,
                    struct error *err)
{
    const char *at = strchr (text, '@');
    char number[32];
    size_t len = at ? (size_t)(at - text) : strlen (text);
    double wait = -1;

    *ret = (struct switches){ .wait = -1 };
    if (len >= sizeof (number))
        return error_set (err, EINVAL, "%s: '%.64s' is not a number of switches", where,
                          text);
    memcpy (number, text, len);
    number[len] = '\0';
    int rc = parse_int (number, 1, SWITCHES_MAX, &ret->count, where, err);
    if (rc == 0 && at)
        rc = parse_timelimit (at + 1, &wait, where, err);
    if (rc == 0 && at)
        ret->wait = wait == 0 && isalpha ((unsigned char)at[1]) ? INFINITY : wait;
    return rc;
}

int nodes_per_parse (const char *text, struct nodes_per *ret, const char *where,
                     struct error *err)
{
    const char *colon = strchr (text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;

    *ret = (struct nodes_per){ 0 };
    if (!colon || len > PLACEMENT_LEVEL_MAX)
        return error_set (err, EINVAL,
                          "%s: '%.64s' is not LEVEL:NUMBER, as in rack:4 (four nodes in "
                          "each rack)",
                          where, text);
    memcpy (ret->level, text, len);
    if (!is_level (ret->level))
        return error_set (err, EINVAL, "%s: '%.64s' is not a level", where, ret->level);
    return parse_int (colon + 1, 1, INT32_MAX, &ret->count, where, err);
}

int placement_from_json (const json_t *own, struct placement *p, struct switches *s,
                         const char *where, struct error *err)
{
    const char *text;
    char place[128];

    *p = (struct placement){ 0 };
    *s = (struct switches){ .wait = -1 };
    int rc = json_get_string (own, "placement", &text, JSON_OPTIONAL_KEY, where, err);
    snprintf (place, sizeof (place), "%s.placement", where);
    if (rc == 1)
        rc = placement_parse (text, p, place, err);
    if (rc >= 0)
        rc = json_get_int (own, "switches", 1, SWITCHES_MAX, &s->count, JSON_OPTIONAL_KEY,
                           where, err);
    if (rc <= 0)
        return rc;
    const json_t *wait = json_object_get (own, "switches-wait");
    if (json_is_string (wait) && !strcmp (json_string_value (wait), "infinite")) {
        s->wait = INFINITY;
        return 0;
    }
    rc = json_get_double (own, "switches-wait", 0, WAIT_MAX, &s->wait, JSON_OPTIONAL_KEY,
                          where, err);
    return MIN (rc, 0);
}

int placement_to_json (json_t *own, const struct placement *p, const struct switches *s)
{
    char text[PLACEMENT_LEVEL_MAX + 16];
    int rc = 0;

    placement_text (p, text, sizeof (text));
    if (p->kind != PLACEMENT_NONE)
        rc |= json_object_set_new (own, "placement", json_string (text));
    if (s->count == 0)
        return rc;
    rc |= json_object_set_new (own, "switches", json_integer ((json_int_t)s->count));
    if (isinf (s->wait))
        rc |= json_object_set_new (own, "switches-wait", json_string ("infinite"));
    else if (s->wait >= 0)
        rc |= json_object_set_new (own, "switches-wait", json_real (s->wait));
    return rc;
}
