/* distribution.c - see distribution.h */
#include "protocol/distribution.h"

#include <string.h>
#include <strings.h>

#include "common/macros.h"
#include "common/parse.h"

#define WORD_MAX 31

/* One word of the option; longer words are invalid. */
struct word {
    char text[WORD_MAX + 1];
};

static const struct {
    const char *name;
    enum layout_kind kind;
} kinds[] = {
    { "*", LAYOUT_DEFAULT },
    { "block", LAYOUT_BLOCK },
    { "cyclic", LAYOUT_CYCLIC },
    { "arbitrary", LAYOUT_ARBITRARY },
};

static const struct {
    const char *name;
    enum layout_order order;
} orders[] = {
    { "*", LAYOUT_ORDER_DEFAULT },
    { "block", LAYOUT_ORDER_BLOCK },
    { "cyclic", LAYOUT_ORDER_CYCLIC },
    { "fcyclic", LAYOUT_ORDER_FCYCLIC },
};

/* Returns the part up to a ':' or ',' or the end; *p is behind it. */
static struct word next_word (const char **p)
{
    struct word w = { "" };
    size_t len = strcspn (*p, ":,");

    memcpy (w.text, *p, MIN (len, WORD_MAX));
    *p += len;
    return w;
}

static int read_plane (const char *size, struct layout_option *opt, struct error *err)
{
    int64_t n;
    int rc = parse_int (size, 1, LAYOUT_PLANE_MAX, &n, "--distribution: plane", err);

    if (rc < 0)
        return rc;
    opt->kind = LAYOUT_PLANE;
    opt->plane = (uint32_t)n;
    return 0;
}

static int read_kind (struct word w, struct layout_option *opt, struct error *err)
{
    if (!strncasecmp (w.text, "plane=", 6))
        return read_plane (w.text + 6, opt, err);
    for (size_t i = 0; i < ARRAY_SIZE (kinds); i++)
        if (!strcasecmp (w.text, kinds[i].name)) {
            opt->kind = kinds[i].kind;
            return 0;
        }
    if (!strcasecmp (w.text, "plane"))
        return error_set (err, EINVAL, "--distribution: plane needs a size, as plane=4");
    return error_set (
        err, EINVAL,
        "--distribution: '%s' is not one of *, block, cyclic, plane=SIZE and "
        "arbitrary",
        w.text);
}

static int read_order (struct word w, enum layout_order *ret, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE (orders); i++)
        if (!strcasecmp (w.text, orders[i].name)) {
            *ret = orders[i].order;
            return 0;
        }
    return error_set (err, EINVAL,
                      "--distribution: '%s' after ':' is not one of *, block, cyclic and "
                      "fcyclic",
                      w.text);
}

/* Parses the parts after the first: the order in which tasks get the cores of a node. */
static int read_orders (const char **p, struct layout_option *opt, struct error *err)
{
    enum layout_order cores = LAYOUT_ORDER_DEFAULT;
    int rc;

    if (**p != ':')
        return 0;
    if (opt->kind == LAYOUT_PLANE)
        return error_set (err, EINVAL, "--distribution: nothing goes with plane=SIZE");
    (*p)++;
    if ((rc = read_order (next_word (p), &opt->order, err)) < 0 || **p != ':')
        return rc;
    (*p)++;
    if ((rc = read_order (next_word (p), &cores, err)) < 0)
        return rc;
    if (cores != LAYOUT_ORDER_DEFAULT && cores != opt->order)
        return error_set (err, EINVAL,
                          "--distribution: a third part is about threads of a core, but "
                          "tasks get whole cores; leave it out");
    return **p != ':' ? 0
                      : error_set (err, EINVAL, "--distribution: more than three parts");
}

static int read_flag (struct word w, struct layout_option *opt, struct error *err)
{
    if (!strcasecmp (w.text, "nopack"))
        return 0;
    if (strcasecmp (w.text, "pack") != 0)
        return error_set (err, EINVAL,
                          "--distribution: '%s' after ',' is neither Pack nor NoPack",
                          w.text);
    if (opt->kind != LAYOUT_BLOCK && opt->kind != LAYOUT_DEFAULT)
        return error_set (err, EINVAL, "--distribution: Pack goes with block only");
    opt->kind = LAYOUT_BLOCK;
    opt->pack = true;
    return 0;
}

int layout_option_parse (const char *text, struct layout_option *ret, struct error *err)
{
    struct layout_option opt = { .kind = LAYOUT_DEFAULT };
    const char *p = text;
    int rc = read_kind (next_word (&p), &opt, err);

    if (rc < 0 || (rc = read_orders (&p, &opt, err)) < 0)
        return rc;
    if (*p == ',') {
        p++;
        if ((rc = read_flag (next_word (&p), &opt, err)) < 0)
            return rc;
    }
    if (*p)
        return error_set (err, EINVAL, "--distribution: '%.80s' after the flag", p);
    *ret = opt;
    return 0;
}
