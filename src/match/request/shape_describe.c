/* shape_describe.c - a request in words, for sentences that tell why it waits
 *
 *     4 nodes with 2 slots of 8 cores and 1 gpu each
 *     4 to 16 exclusive nodes with 64 GiB of memory each
 *     any mix of 1 slot of 8 cores and 1 gpu or 1 slot of 10 cores
 *
 * "each" ends the list of what every one of several has; if several lists end together,
 * "each" occurs once.
 */
#include <inttypes.h>

#include "common/gres.h"
#include "common/thousandths.h"
#include "match/request/shape.h"

#define SIZES_LISTED 4 /* "1, 4 or 9"; more sizes become a range */
#define VARIANTS_TOLD 3

static void add_list (struct strbuf *sb, const struct shape *s, uint16_t first);

/* -- counts -- */

/* Lists the allowed sizes, the greatest first; more than max of them: returns max + 1. */
static size_t list_sizes (const struct shape_vertex *v, int64_t *sizes, size_t max)
{
    size_t n = 0;

    for (int64_t limit = v->count.max; n <= max; n++) {
        int64_t size = shape_count_fit (v, limit);
        if (size == 0)
            break;
        if (n < max)
            sizes[n] = size;
        limit = size - 1;
    }
    return n;
}

static bool is_run (const struct shape_vertex *v)
{
    return !v->sizes && v->count.op == '+' && v->count.operand == 1;
}

static void add_range (struct strbuf *sb, const struct shape_vertex *v)
{
    if (v->sizes)
        strbuf_add_idset (sb, v->sizes);
    else if (v->count.max == JOBSPEC_COUNT_MAX)
        strbuf_addf (sb, "%jd or more", (intmax_t)v->count.min);
    else
        strbuf_addf (sb, "%jd to %jd", (intmax_t)v->count.min, (intmax_t)v->count.max);
}

/* Returns true if add_steps() has something to add after the noun. */
static bool add_count (struct strbuf *sb, const struct shape_vertex *v)
{
    int64_t sizes[SIZES_LISTED];
    size_t n = list_sizes (v, sizes, SIZES_LISTED);

    if (n > SIZES_LISTED || (n > 1 && is_run (v))) {
        add_range (sb, v);
        return !v->sizes && !is_run (v);
    }
    for (size_t i = n; i-- > 0;)
        strbuf_addf (sb, "%jd%s", (intmax_t)sizes[i],
                     i > 1    ? ", "
                     : i == 1 ? " or "
                              : "");
    return false;
}

static void add_steps (struct strbuf *sb, const struct shape_vertex *v)
{
    const char *by = v->count.op == '+'   ? "steps"
                     : v->count.op == '*' ? "factors"
                                          : "powers";

    strbuf_addf (sb, " (by %s of %jd)", by, (intmax_t)v->count.operand);
}

static bool is_one (const struct shape_vertex *v)
{
    return v->count.min == 1 && shape_count_fit (v, v->count.max) == 1;
}

/* -- nouns -- */

static bool ends_in (const char *word, const char *const endings[])
{
    size_t len = strlen (word);

    for (size_t i = 0; endings[i]; i++) {
        size_t n = strlen (endings[i]);
        if (len > n && strcmp (word + len - n, endings[i]) == 0)
            return true;
    }
    return false;
}

static void add_plural (struct strbuf *sb, const char *type)
{
    static const char *const hissing[] = { "s", "x", "z", "ch", "sh", NULL };
    static const char *const vowel_y[] = { "ay", "ey", "oy", "uy", NULL };
    static const char *const y[] = { "y", NULL };
    size_t len = strlen (type);

    if (ends_in (type, y) && !ends_in (type, vowel_y))
        strbuf_addf (sb, "%.*sies", (int)len - 1, type);
    else
        strbuf_addf (sb, "%s%s", type, ends_in (type, hissing) ? "es" : "s");
}

/* "0.5 cpu", "1.5 cpus" */
static void add_cpus (struct strbuf *sb, const struct shape_vertex *v)
{
    int64_t least = shape_count_least (v), most = shape_count_fit (v, v->count.max);

    strbuf_add_thousandths (sb, least);
    if (most > least) {
        strbuf_adds (sb, " to ");
        strbuf_add_thousandths (sb, most);
    }
    strbuf_adds (sb, most > 1000 ? " cpus" : " cpu");
}

/* "64 GiB of memory", "1 gpu", "2 exclusive nodes" */
static void add_amount (struct strbuf *sb, const struct shape_vertex *v)
{
    const char *type = v->kind == SHAPE_RESOURCE ? v->type : "slot";
    if (strcmp (type, GRES_CPU_MILLI) == 0) {
        add_cpus (sb, v);
        return;
    }
    bool one = is_one (v);
    bool steps = add_count (sb, v);

    /* a slot is exclusive anyway */
    strbuf_adds (sb, v->exclusive == JOBSPEC_TRUE && v->kind == SHAPE_RESOURCE
                         ? " exclusive "
                         : " ");
    if (v->unit)
        strbuf_addf (sb, "%s of %s", v->unit, type);
    else if (strcmp (type, GRES_TMP_DISK) == 0)
        strbuf_adds (sb, "MiB of temporary disk");
    else if (strcmp (type, "memory") == 0)
        strbuf_addf (sb, "%s of memory", one ? "unit" : "units");
    else if (one || strpbrk (type, "/:")) /* "3 rdma/hca" */
        strbuf_adds (sb, type);
    else
        add_plural (sb, type);
    if (steps)
        add_steps (sb, v);
}

/* -- vertices -- */

static void add_each (struct strbuf *sb)
{
    static const char each[] = " each";
    size_t n = sizeof (each) - 1;

    if (sb->len < n || memcmp (sb->buf + sb->len - n, each, n) != 0)
        strbuf_adds (sb, each);
}

static void add_vertex (struct strbuf *sb, const struct shape *s, uint16_t number)
{
    const struct shape_vertex *v = &s->v[number];

    add_amount (sb, v);
    if (v->first == SHAPE_NONE)
        return;
    strbuf_adds (sb, v->kind == SHAPE_RESOURCE ? " with " : " of ");
    add_list (sb, s, v->first);
    if (!is_one (v))
        add_each (sb);
}

/* A comma separates an element with parts of its own from the next one. */
static void add_joint (struct strbuf *sb, const struct shape_vertex *before, bool last,
                       const char *word)
{
    if (!before)
        return;
    if (!last)
        strbuf_adds (sb, ", ");
    else
        strbuf_addf (sb, "%s %s ", before->first == SHAPE_NONE ? "" : ",", word);
}

/* Returns the next of the siblings that are alternative or_slots, or of the others. */
static uint16_t next_of (const struct shape *s, uint16_t i, bool or_slots)
{
    while (i != SHAPE_NONE
           && (s->v[i].follows || (s->v[i].kind == SHAPE_OR_SLOT) != or_slots))
        i = s->v[i].next;
    return i;
}

/* Joins them by the word; with `open`, as if one more followed. */
static const struct shape_vertex *add_group (struct strbuf *sb, const struct shape *s,
                                             uint16_t first, bool or_slots, bool open)
{
    const struct shape_vertex *before = NULL;

    for (uint16_t i = next_of (s, first, or_slots); i != SHAPE_NONE;) {
        uint16_t next = next_of (s, s->v[i].next, or_slots);
        add_joint (sb, before, next == SHAPE_NONE && !open, or_slots ? "or" : "and");
        add_vertex (sb, s, i);
        before = &s->v[i];
        i = next;
    }
    return before;
}

static void add_list (struct strbuf *sb, const struct shape *s, uint16_t first)
{
    uint16_t mixed = next_of (s, first, true);
    const struct shape_vertex *before =
        add_group (sb, s, first, false, mixed != SHAPE_NONE);

    if (mixed == SHAPE_NONE)
        return;
    add_joint (sb, before, true, "and");
    if (next_of (s, s->v[mixed].next, true) != SHAPE_NONE)
        strbuf_adds (sb, "any mix of ");
    add_group (sb, s, first, true, false);
}

int shape_describe (const struct shape *s, struct strbuf *sb)
{
    const struct shape_groups *groups = &s->groups;
    size_t told = 0, more = 0;

    for (; s; s = s->other) {
        if (told == VARIANTS_TOLD) {
            more++;
            continue;
        }
        strbuf_adds (sb, told++ > 0 ? "; or " : "");
        add_list (sb, s, s->top);
    }
    if (more > 0)
        strbuf_addf (sb, "; or %zu other shape%s", more, more > 1 ? "s" : "");
    if (groups->most > 0)
        strbuf_addf (sb, " in at most %" PRId64 " %s%s", groups->most, groups->level,
                     groups->most > 1 ? "s" : "");
    if (groups->segment > 0)
        strbuf_addf (sb, " in segments of %" PRId64 ", each in %s %s", groups->segment,
                     groups->apart ? "another" : "one", groups->level);
    return sb->err;
}
