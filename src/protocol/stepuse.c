/* stepuse.c - see stepuse.h */
#include "protocol/stepuse.h"

#define LINE_BYTES 1024

const char *const use_names[USE_FIGURES] = {
    [USE_USER] = "user",
    [USE_SYSTEM] = "system",
    [USE_PEAK] = "peak",
    [USE_READ] = "read",
    [USE_WRITTEN] = "written",
    [USE_DISK_READ] = "disk_read",
    [USE_DISK_WRITTEN] = "disk_written",
};

static bool knows (const struct use *use, unsigned figure)
{
    return use->known & (1U << figure);
}

static uint64_t plus (uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void use_set (struct use *use, enum use_figure figure, uint64_t value)
{
    use->v[figure] = value;
    use->known |= 1U << figure;
}

void use_add (struct use *to, const struct use *more)
{
    for (unsigned f = 0; f < USE_FIGURES; f++)
        if (knows (more, f))
            use_set (to, f, plus (to->v[f], more->v[f]));
}

void use_join (struct use *to, const struct use *more)
{
    uint64_t peak = MAX (to->v[USE_PEAK], more->v[USE_PEAK]);

    use_add (to, more);
    to->v[USE_PEAK] = peak;
}

void use_overrule (struct use *use, const struct use *better)
{
    for (unsigned f = 0; f < USE_FIGURES; f++)
        if (knows (better, f))
            use_set (use, f, better->v[f]);
}

size_t use_encode (const struct use *use, char buf[USE_TEXT_MAX])
{
    size_t len = 0;

    buf[0] = '\0';
    for (unsigned f = 0; f < USE_FIGURES; f++)
        if (knows (use, f))
            len += (size_t)snprintf (buf + len, USE_TEXT_MAX - len, "%s%s %ju",
                                     len ? " " : "", use_names[f], (uintmax_t)use->v[f]);
    return len;
}

/* The next word of the line at *p; advances *p past the word. NULL at the end. */
static char *next_word (char **p)
{
    char *word;

    do {
        word = strsep (p, " ");
    } while (word && !*word);
    return word;
}

/* Read the next word as a number up to max. */
static bool take (char **p, uint64_t max, uint64_t *ret)
{
    const char *word = next_word (p);
    uint64_t n = 0;

    if (!word)
        return false;
    for (; *word; word++) {
        if (*word < '0' || *word > '9' || n > (UINT64_MAX - 9) / 10)
            return false;
        n = n * 10 + (uint64_t)(*word - '0');
    }
    *ret = n;
    return n <= max;
}

static bool take_u32 (char **p, uint32_t *ret)
{
    uint64_t n;

    if (!take (p, UINT32_MAX, &n))
        return false;
    *ret = (uint32_t)n;
    return true;
}

static int find_figure (const char *name)
{
    for (int f = 0; f < USE_FIGURES; f++)
        if (!strcmp (use_names[f], name))
            return f;
    return -1;
}

static bool decode_words (char *line, struct use *ret)
{
    const char *name;
    uint64_t value;

    *ret = (struct use){ 0 };
    while ((name = next_word (&line))) {
        int f = find_figure (name);

        if (!take (&line, UINT64_MAX, &value))
            return false;
        if (f >= 0)
            use_set (ret, (enum use_figure)f, value);
    }
    return true;
}

int use_decode (const char *text, size_t len, struct use *ret)
{
    char line[USE_TEXT_MAX];

    if (len >= sizeof (line))
        return -EBADMSG;
    memcpy (line, text, len);
    line[len] = '\0';
    return decode_words (line, ret) ? 0 : -EBADMSG;
}

/* -- a step's -- */

static void spread_add (struct use_spread *s, uint32_t rank, uint64_t value)
{
    if (s->n == 0 || value < s->min) {
        s->min = value;
        s->min_rank = rank;
    }
    if (s->n == 0 || value > s->max) {
        s->max = value;
        s->max_rank = rank;
    }
    s->sum = plus (s->sum, value);
    s->n++;
}

/* Keep the figures of the rank, in the order of ranks. With more than STEPUSE_RANKS_MAX
 * ranks, or without memory, the figures of no rank are kept. */
static void keep_rank (struct stepuse *s, uint32_t rank, const struct use *use)
{
    struct use_rank *ranks = NULL;
    uint32_t at = s->nreported;

    if (at < STEPUSE_RANKS_MAX && (s->ranks || at == 0))
        ranks = reallocarray (s->ranks, at + 1, sizeof (*ranks));
    if (!ranks)
        free (s->ranks);
    for (; ranks && at > 0 && ranks[at - 1].rank > rank; at--)
        ranks[at] = ranks[at - 1];
    if (ranks)
        ranks[at] = (struct use_rank){ rank, *use };
    s->ranks = ranks;
    s->nreported++;
}

void stepuse_add (struct stepuse *s, uint32_t rank, const struct use *use)
{
    for (unsigned f = 0; f < USE_FIGURES; f++)
        if (knows (use, f))
            spread_add (&s->spread[f], rank, use->v[f]);
    keep_rank (s, rank, use);
}

void stepuse_encode (const struct stepuse *s, struct strbuf *sb)
{
    char text[USE_TEXT_MAX], name[sizeof (s->name)];

    snprintf (name, sizeof (name), "%s", s->name);
    for (char *p = name; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    strbuf_addf (sb, "step %s\nname %s\n", s->step, name);
    strbuf_addf (sb, "time %ju %ju\nsize %u %u\nstatus %u\nreported %u\n",
                 (uintmax_t)s->begin_ms, (uintmax_t)s->end_ms, s->ntasks, s->nnodes,
                 (unsigned)s->status & 0xffff, s->nreported);
    for (unsigned f = 0; f < USE_FIGURES; f++) {
        const struct use_spread *p = &s->spread[f];

        if (p->n > 0)
            strbuf_addf (sb, "spread %s %ju %u %ju %u %ju %u\n", use_names[f],
                         (uintmax_t)p->sum, p->n, (uintmax_t)p->min, p->min_rank,
                         (uintmax_t)p->max, p->max_rank);
    }
    for (uint32_t i = 0; s->ranks && i < s->nreported; i++) {
        use_encode (&s->ranks[i].use, text);
        strbuf_addf (sb, "rank %u %s\n", s->ranks[i].rank, text);
    }
}

struct reading {
    struct stepuse *s;
    uint32_t nranks; /* lines so far */
};

static bool read_step (struct reading *r, char *rest)
{
    const char *word = next_word (&rest);

    if (!word || strlen (word) >= sizeof (r->s->step))
        return false;
    for (const char *p = word; *p; p++)
        if (!(*p >= 'a' && *p <= 'z') && !(*p >= '0' && *p <= '9'))
            return false;
    snprintf (r->s->step, sizeof (r->s->step), "%s", word);
    return true;
}

static bool read_name (struct reading *r, char *rest)
{
    snprintf (r->s->name, sizeof (r->s->name), "%s", rest ? rest : "");
    for (char *p = r->s->name; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    return true;
}

static bool read_time (struct reading *r, char *rest)
{
    const uint64_t latest = UINT64_C (1) << 50;

    return take (&rest, latest, &r->s->begin_ms) && take (&rest, latest, &r->s->end_ms);
}

static bool read_size (struct reading *r, char *rest)
{
    return take_u32 (&rest, &r->s->ntasks) && take_u32 (&rest, &r->s->nnodes);
}

static bool read_status (struct reading *r, char *rest)
{
    uint64_t status;

    if (!take (&rest, 0xffff, &status))
        return false;
    r->s->status = (int)status;
    return true;
}

static bool read_reported (struct reading *r, char *rest)
{
    return take_u32 (&rest, &r->s->nreported);
}

static bool read_spread (struct reading *r, char *rest)
{
    const char *name = next_word (&rest);
    int f = name ? find_figure (name) : -1;
    struct use_spread p;

    if (!name || !take (&rest, UINT64_MAX, &p.sum) || !take_u32 (&rest, &p.n)
        || !take (&rest, UINT64_MAX, &p.min) || !take_u32 (&rest, &p.min_rank)
        || !take (&rest, UINT64_MAX, &p.max) || !take_u32 (&rest, &p.max_rank)
        || p.n == 0)
        return false;
    if (f >= 0)
        r->s->spread[f] = p;
    return true;
}

static bool read_rank (struct reading *r, char *rest)
{
    struct use_rank rank;

    if (r->nranks == STEPUSE_RANKS_MAX || !take_u32 (&rest, &rank.rank)
        || !decode_words (rest, &rank.use))
        return false;
    if (!r->s->ranks
        && !(r->s->ranks = calloc (STEPUSE_RANKS_MAX, sizeof (*r->s->ranks))))
        return false;
    r->s->ranks[r->nranks++] = rank;
    return true;
}

/* Lines with unknown names come from a newer writer, and are skipped. */
static bool read_line (struct reading *r, char *line)
{
    static const struct {
        const char *name;
        bool (*read) (struct reading *r, char *rest);
    } lines[] = {
        { "step", read_step },         { "name", read_name },
        { "time", read_time },         { "size", read_size },
        { "status", read_status },     { "spread", read_spread },
        { "reported", read_reported }, { "rank", read_rank },
    };
    const char *name = strsep (&line, " ");

    for (size_t i = 0; i < ARRAY_SIZE (lines); i++)
        if (!strcmp (lines[i].name, name))
            return lines[i].read (r, line);
    return true;
}

int stepuse_decode (const char *text, size_t len, struct stepuse *ret)
{
    struct reading r = { .s = ret };
    char line[LINE_BYTES];
    bool fine = true;

    *ret = (struct stepuse){ 0 };
    while (fine && len > 0) {
        const char *end = memchr (text, '\n', len);
        size_t n = end ? (size_t)(end - text) : len;

        fine = n < sizeof (line);
        if (!fine)
            break;
        memcpy (line, text, n);
        line[n] = '\0';
        fine = read_line (&r, line);
        n += end != NULL;
        text += n;
        len -= n;
    }
    if (fine && ret->step[0] && (r.nranks == 0 || r.nranks == ret->nreported))
        return 0;
    stepuse_release (ret);
    return -EBADMSG;
}

void stepuse_release (struct stepuse *s)
{
    free (s->ranks);
    s->ranks = NULL;
}
