/* sinfo_states.c - the states of sinfo -t */
#include "cmd/slurm/nodes/sinfo.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The first name that begins with the word decides. Names that are not listed are other
 * names of the state before. */
static const struct {
    const char *name;
    struct sinfo_state state;
    bool listed;
} names[] = {
    { "UNKNOWN", { 0 }, true },
    { "DOWN", { .bits = NODE_DOWN }, true },
    { "IDLE", { .bits = NODE_IDLE }, true },
    { "ALLOCATED", { .bits = NODE_ALLOCATED }, true },
    { "MIXED", { .bits = NODE_MIXED }, true },
    { "FUTURE", { 0 }, true },
    { "FUTR", { 0 }, false },
    { "BLOCKED", { 0 }, true },
    { "INVAL", { 0 }, true },
    { "INVALID_REG", { 0 }, false },
    { "PLANNED", { 0 }, true },
    { "PLND", { 0 }, false },
    { "DRAIN", { .bits = NODE_DRAIN }, true },
    { "DRAINED", { .bits = NODE_DRAIN, .drained = true }, true },
    { "RESV", { .bits = NODE_RESERVED }, false },
    { "RESERVED", { .bits = NODE_RESERVED }, true },
    { "DRAINING", { .bits = NODE_DRAIN, .draining = true }, true },
    { "DRNG", { .bits = NODE_DRAIN, .draining = true }, false },
    { "DYNAMIC_FUTURE", { 0 }, true },
    { "DYNAMIC_NORM", { 0 }, true },
    { "COMPLETING", { 0 }, true },
    { "NO_RESPOND", { .bits = NODE_NOT_RESPONDING }, true },
    { "POWER_UP", { 0 }, true },
    { "POWERING_DOWN", { 0 }, true },
    { "POWERED_DOWN", { 0 }, true },
    { "POWER_DOWN", { 0 }, true },
    { "POWERING_UP", { 0 }, true },
    { "FAIL", { 0 }, true },
    { "MAINT", { .bits = NODE_MAINT }, true },
    { "REBOOT", { 0 }, true },
    { "BOOT", { 0 }, false },
    { "REBOOT^", { 0 }, true },
    { "BOOT^", { 0 }, false },
    { "CLOUD", { 0 }, true },
    { "EXTERNAL", { 0 }, true },
};

static int parse_one (struct sinfo_state *ret, const char *word, size_t len)
{
    bool not_in = len > 0 && (*word == '~' || *word == '!');

    word += not_in;
    len -= not_in;
    for (size_t i = 0; i < ARRAY_SIZE (names); i++) {
        if (strncasecmp (names[i].name, word, len) != 0 || len == 0)
            continue;
        *ret = names[i].state;
        ret->not_in = not_in;
        return 0;
    }
    return -EINVAL;
}

int sinfo_states_parse (struct sinfo_states *ret, const char *text, struct error *err)
{
    static const char between[] = ",&+";

    *ret = (struct sinfo_states){ .all = strpbrk (text, "&+") != NULL };
    if (!strcasecmp (text, "all"))
        return 0;
    for (const char *p = text + strspn (text, between); *p; p += strspn (p, between)) {
        size_t len = strcspn (p, between);
        if (ret->n == SINFO_STATES_MAX || parse_one (&ret->v[ret->n], p, len) < 0) {
            size_t sign = *p == '~' || *p == '!';
            return error_set (err, EINVAL, "%.*s", (int)MIN (len - sign, 100), p + sign);
        }
        ret->n++;
        p += len;
    }
    return ret->n ? 0 : error_set (err, EINVAL, "%s", "");
}

static bool match (const struct sinfo_state *s, unsigned state, bool used)
{
    if (s->drained || s->draining)
        return state & NODE_DRAIN && nodeview_is_used (state) == s->draining;
    if (s->bits == NODE_ALLOCATED)
        return used;
    if (s->bits & NODE_BASE)
        return (state & NODE_BASE) == s->bits;
    return state & s->bits;
}

bool sinfo_states_match (const struct sinfo_states *states, unsigned state, bool used)
{
    for (size_t i = 0; i < states->n; i++) {
        bool is = match (&states->v[i], state, used) != states->v[i].not_in;
        if (is != states->all)
            return is;
    }
    return states->all || states->n == 0;
}

void sinfo_states_add_names (struct strbuf *sb, const char *between)
{
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE (names); i++) {
        if (!names[i].listed)
            continue;
        strbuf_adds (sb, n++ ? between : "");
        for (const char *p = names[i].name; *p; p++)
            strbuf_addch (sb, (char)tolower ((unsigned char)*p));
    }
}
