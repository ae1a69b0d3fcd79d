/* gpubind.c - see gpubind.h */
#include "protocol/gpubind.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "common/macros.h"
#include "common/parse.h"

#define WORD "--gpu-bind"
#define NAMES "none, closest, single:N, per_task:N, map_gpu:LIST and mask_gpu:LIST"
#define TRES "gres/gpu:"

static const struct {
    const char *name; /* ends in ':' if a value follows */
    enum gpubind_kind kind;
} kinds[] = {
    { "none", GPUBIND_NONE },      { "closest", GPUBIND_NONE },
    { "single:", GPUBIND_SINGLE }, { "per_task:", GPUBIND_PER_TASK },
    { "map_gpu:", GPUBIND_MAP },   { "map:", GPUBIND_MAP },
    { "mask_gpu:", GPUBIND_MASK }, { "mask:", GPUBIND_MASK },
};

/* -- lists -- */

/* An element of a list, which need not end with the element. */
struct element {
    const char *digits;
    size_t len;
    uint32_t repeat;
};

/* The number with that many digits, at most `most`. */
static uint32_t number (const char *digits, size_t len, uint32_t most)
{
    uint32_t n = 0;

    for (size_t i = 0; i < len; i++)
        n = MIN (n * 10 + (uint32_t)(digits[i] - '0'), most);
    return n;
}

/* Reads the element at *at, and moves *at behind it and its comma. False: not valid. */
static bool next (const char **at, enum gpubind_kind kind, struct element *ret)
{
    const char *p = *at;

    if (kind == GPUBIND_MASK && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        p += 2;
    ret->digits = p;
    while (kind == GPUBIND_MASK ? isxdigit ((unsigned char)*p)
                                : isdigit ((unsigned char)*p))
        p++;
    ret->len = (size_t)(p - ret->digits);
    ret->repeat = 1;
    if (*p == '*') {
        size_t len = strspn (p + 1, "0123456789");
        ret->repeat = number (p + 1, len, GPUBIND_TASKS_MAX + 1);
        p += 1 + len;
    }
    if (ret->len == 0 || ret->repeat == 0 || ret->repeat > GPUBIND_TASKS_MAX
        || (*p != ',' && *p != '\0') || (*p == ',' && p[1] == '\0'))
        return false;
    *at = p + (*p == ',');
    return true;
}

static bool is_in_range (const struct element *e, enum gpubind_kind kind)
{
    return kind == GPUBIND_MASK ? e->len <= GPUBIND_GPUS_MAX / 4
                                : number (e->digits, e->len, GPUBIND_GPUS_MAX)
                                      < GPUBIND_GPUS_MAX;
}

static int check_list (struct gpubind *b, struct error *err)
{
    const char *at = b->list;
    struct element e;

    b->n = 0;
    do {
        const char *text = at;
        if (!next (&at, b->kind, &e))
            return error_set (err, EINVAL,
                              WORD ": '%.80s': not a list of %s, each with *COUNT or "
                                   "without",
                              text,
                              b->kind == GPUBIND_MASK ? "hexadecimal masks" : "numbers");
        if (!is_in_range (&e, b->kind))
            return error_set (err, ERANGE, WORD ": '%.80s': GPUs are 0 to %d", text,
                              GPUBIND_GPUS_MAX - 1);
        if (e.repeat > GPUBIND_TASKS_MAX - b->n)
            return error_set (err, ERANGE, WORD ": a list for more than %d tasks",
                              GPUBIND_TASKS_MAX);
        b->n += e.repeat;
    } while (*at);
    return 0;
}

/* Adds the GPUs that the list has for the task. */
static int choose_of_list (const struct gpubind *b, const struct idset *gpus,
                           uint32_t local, struct idset *own)
{
    const char *at = b->list;
    struct element e;
    uint32_t left = local % b->n, count = idset_count (gpus);
    int rc = 0;

    while (next (&at, b->kind, &e) && left >= e.repeat)
        left -= e.repeat;
    if (b->kind == GPUBIND_MAP) {
        uint32_t i = number (e.digits, e.len, GPUBIND_GPUS_MAX);
        return i < count ? idset_add (own, idset_nth (gpus, i)) : 0;
    }
    for (uint32_t i = 0; i < MIN (count, (uint32_t)e.len * 4) && rc == 0; i++) {
        char c = (char)tolower ((unsigned char)e.digits[e.len - 1 - i / 4]);
        int digit = isdigit ((unsigned char)c) ? c - '0' : c - 'a' + 10;
        if (digit & 1 << i % 4)
            rc = idset_add (own, idset_nth (gpus, i));
    }
    return rc;
}

/* -- the option -- */

int gpubind_parse (const char *text, struct gpubind *ret, struct error *err)
{
    const char *type = text;
    int64_t n;

    *ret = (struct gpubind){ .verbose = !strncasecmp (text, "verbose,", 8) };
    if (ret->verbose)
        type += 8;
    for (size_t i = 0; i < ARRAY_SIZE (kinds); i++) {
        size_t len = strlen (kinds[i].name);
        bool has_value = kinds[i].name[len - 1] == ':';
        if (has_value ? strncasecmp (type, kinds[i].name, len) != 0
                      : strcasecmp (type, kinds[i].name) != 0)
            continue;
        ret->kind = kinds[i].kind;
        if (!has_value)
            return 0;
        if (ret->kind == GPUBIND_MAP || ret->kind == GPUBIND_MASK) {
            ret->list = type + len;
            return check_list (ret, err);
        }
        int rc = parse_int (type + len, 1, GPUBIND_TASKS_MAX, &n, WORD, err);
        ret->n = rc == 0 ? (uint32_t)n : 0;
        return rc;
    }
    return error_set (err, EINVAL, WORD ": '%.80s': the values are " NAMES, type);
}

const char *gpubind_of_tres (const char *text, struct error *err)
{
    if (!strncmp (text, TRES, strlen (TRES)) && !strchr (text, '+'))
        return text + strlen (TRES);
    error_set (err, EINVAL,
               "--tres-bind: '%.80s': only GPUs are bound to tasks: " TRES "TYPE", text);
    return NULL;
}

struct idset *gpubind_choose (const struct gpubind *bind, const struct idset *gpus,
                              uint32_t local, bool *ret_missed)
{
    struct idset *own = bind->kind == GPUBIND_NONE ? idset_copy (gpus) : idset_create ();
    uint32_t count = idset_count (gpus);
    bool missed = false;
    int rc = own ? 0 : -ENOMEM;

    if (rc == 0 && count > 0 && bind->kind == GPUBIND_SINGLE)
        rc = idset_add (own, idset_nth (gpus, local / bind->n % count));
    for (uint64_t i = 0, at; rc == 0 && bind->kind == GPUBIND_PER_TASK && i < bind->n; i++)
        if ((at = (uint64_t)local * bind->n + i) < count)
            rc = idset_add (own, idset_nth (gpus, (uint32_t)at));
    if (rc == 0 && bind->list)
        rc = choose_of_list (bind, gpus, local, own);
    if (rc == 0 && count > 0 && idset_count (own) == 0) {
        missed = true;
        rc = idset_add (own, idset_first (gpus));
    }
    if (ret_missed)
        *ret_missed = missed;
    if (rc < 0) {
        idset_destroy (own);
        return NULL;
    }
    return own;
}
