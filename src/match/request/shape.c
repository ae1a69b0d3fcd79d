/* shape.c - see shape.h. The jobspec's tree is read into a flat array of parts and
 * checked there; each part gets its number of variants (the choices of its xor_slots). A
 * variant's number is a number in a mixed radix, one digit per choice, and the variants
 * are written out one after another by it.
 */

#include "common/sha256.h"
#include "match/request/constraint.h"
#include "match/request/shape.h"

/* A vertex of the request as written. */
struct part {
    char *type, *label, *unit;
    struct jobspec_count count;
    struct idset *sizes;
    enum jobspec_tristate exclusive;
    struct constraint *required;
    enum shape_kind kind;
    bool xor ;
    uint16_t first, next;        /* children, siblings; SHAPE_NONE */
    uint32_t variants;           /* of all below it; at most SHAPE_VARIANTS_MAX + 1 */
    uint8_t digest[SHA256_SIZE]; /* of its request, without the vertices below it */
};

struct shape_store {
    struct part *parts; /* parents before children */
    size_t nparts, alloc;
    struct constraint *constraint; /* of the whole request, or NULL */
    uint8_t digest[SHA256_SIZE];   /* of the constraint */
};

struct place {
    const struct place *up; /* NULL: "resources" */
    size_t index;
};

struct compiler {
    struct shape_store *store;
    unsigned flags;
    struct error *err;
};

/* -- errors -- */

static void add_place (struct strbuf *sb, const struct place *at)
{
    if (at->up)
        add_place (sb, at->up);
    strbuf_addf (sb, "%s[%zu]", at->up ? ".with" : "resources", at->index);
}

static int refuse (struct compiler *cc, const struct place *at, int code,
                   const char *reason)
{
    autostrbuf struct strbuf place = STRBUF_INIT (4096);
    add_place (&place, at);
    /* The end of a long place is more helpful. */
    size_t skip = place.len > 200 ? place.len - 200 : 0;
    return error_set (cc->err, code, "%s%s: %s", skip > 0 ? "..." : "", place.buf + skip,
                      reason);
}

/* -- parts -- */

static void release_part (struct part *p)
{
    free (p->type);
    free (p->label);
    free (p->unit);
    idset_destroy (p->sizes);
    constraint_destroy (p->required);
}

static void store_destroy (struct shape_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->nparts; i++)
        release_part (&store->parts[i]);
    free (store->parts);
    constraint_destroy (store->constraint);
    free (store);
}

static int copy_text (struct compiler *cc, const char *text, char **ret)
{
    *ret = text ? strdup (text) : NULL;
    return text && !*ret ? error_no_memory (cc->err, "resources") : 0;
}

/* Checks a count again: shape_count_fit() is only safe for counts that the jobspec parser
 * accepts, and a request may have another source. */
static bool count_is_sound (const struct jobspec_resource *r)
{
    const struct jobspec_count *c = &r->count;
    int64_t least = c->op == '^' ? 2 : 1;
    int64_t operand = c->op == '+' ? 1 : 2;

    return c->op != '\0' && strchr ("+*^", c->op) && c->min >= least && c->max >= c->min
           && c->max <= JOBSPEC_COUNT_MAX && c->operand >= operand
           && (!r->sizes
               || (idset_count (r->sizes) > 0 && idset_first (r->sizes) == c->min
                   && idset_has (r->sizes, (uint32_t)c->max)));
}

/* Adds the canonical text to the digest. (By json_dumpb(): without memory, json_dumps()
 * may silently omit a part.) */
static int hash_json (struct sha256 *ctx, const json_t *o)
{
    const size_t flags = JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY;
    size_t size = json_dumpb (o, NULL, 0, flags);
    autofree char *text = size > 0 ? malloc (size) : NULL;

    if (!text || json_dumpb (o, text, size, flags) != size)
        return -ENOMEM;
    sha256_update (ctx, text, size);
    return 0;
}

/* Compiles an RFC 31 constraint. */
static int read_constraint (const json_t *o, struct sha256 *ctx, struct constraint **ret,
                            struct error *err)
{
    if (hash_json (ctx, o) < 0)
        return error_set (err, ENOMEM, "constraints: out of memory");
    *ret = constraint_compile (o, err);
    return *ret ? 0 : -EINVAL;
}

static int set_required (struct compiler *cc, const json_t *o, const struct place *at,
                         struct sha256 *ctx, struct part *p)
{
    struct error why = { 0 };

    if (read_constraint (o, ctx, &p->required, &why) == 0)
        return 0;
    error_prefix (&why, "requires");
    return refuse (cc, at, why.code ? why.code : EINVAL, why.text);
}

static void hash_text (struct sha256 *ctx, const char *text)
{
    int64_t len = text ? (int64_t)strlen (text) : -1;

    sha256_update (ctx, &len, sizeof (len));
    if (text)
        sha256_update (ctx, text, strlen (text));
}

/* Labels are left out: they do not affect the verdict. */
static int hash_part (struct compiler *cc, const struct part *p, struct sha256 *ctx)
{
    autofree char *sizes = p->sizes ? idset_encode (p->sizes) : NULL;
    const int64_t row[] = { p->count.min, p->count.max, p->count.op, p->count.operand,
                            p->exclusive == JOBSPEC_TRUE };

    if (p->sizes && !sizes)
        return error_no_memory (cc->err, "resources");
    sha256_init (ctx);
    sha256_update (ctx, row, sizeof (row));
    hash_text (ctx, p->type);
    hash_text (ctx, p->unit);
    hash_text (ctx, sizes);
    return 0;
}

static enum shape_kind kind_of (const char *type)
{
    if (strcmp (type, "or_slot") == 0)
        return SHAPE_OR_SLOT;
    if (strcmp (type, "slot") == 0 || strcmp (type, "xor_slot") == 0)
        return SHAPE_SLOT;
    return SHAPE_RESOURCE;
}

static int fill_part (struct compiler *cc, const struct jobspec_resource *r,
                      const struct place *at, struct part *p)
{
    struct sha256 ctx;

    if (!count_is_sound (r))
        return refuse (
            cc, at, EINVAL,
            "a count is at least 1, its max not below its min, and the operand "
            "of * and ^ at least 2");
    if (copy_text (cc, r->type, &p->type) < 0 || copy_text (cc, r->label, &p->label) < 0
        || copy_text (cc, r->unit, &p->unit) < 0)
        return -ENOMEM;
    p->count = r->count;
    p->exclusive = r->exclusive;
    if (r->sizes && !(p->sizes = idset_copy (r->sizes)))
        return error_no_memory (cc->err, "resources");
    p->kind = kind_of (r->type);
    p->xor = strcmp (r->type, "xor_slot") == 0;
    if (p->kind != SHAPE_RESOURCE && r->nwith == 0)
        return refuse (cc, at, ENOTSUP, "a slot with nothing in it cannot be placed");
    int rc = hash_part (cc, p, &ctx);
    if (rc == 0 && r->requires)
        rc = set_required (cc, r->requires, at, &ctx, p);
    sha256_final (&ctx, p->digest);
    return rc;
}

/* Returns the number of a new part, or -1: too many. */
static int add_part (struct compiler *cc)
{
    struct shape_store *store = cc->store;

    if (store->nparts == SHAPE_VERTICES_MAX)
        return error_set (cc->err, E2BIG, "resources: more than %d in all",
                          SHAPE_VERTICES_MAX);
    if (array_reserve (&store->parts, &store->alloc, store->nparts + 1,
                       sizeof (*store->parts))
        < 0)
        return error_no_memory (cc->err, "resources");
    store->parts[store->nparts] =
        (struct part){ .first = SHAPE_NONE, .next = SHAPE_NONE, .variants = 1 };
    return (int)store->nparts++;
}

/* Rejects two siblings of one type: a walk could not tell which of them a vertex of the
 * graph serves. Siblings that are apart are gathered one after the other. */
static int check_siblings (struct compiler *cc, const struct jobspec_resource *list,
                           size_t i, const struct place *at)
{
    char reason[256];

    if (kind_of (list[i].type) != SHAPE_RESOURCE
        || (!at->up && (cc->flags & SHAPE_APART)))
        return 0;
    for (size_t k = 0; k < i; k++) {
        if (strcmp (list[k].type, list[i].type) != 0)
            continue;
        snprintf (
            reason, sizeof (reason),
            "a second '%.63s' beside number [%zu]: put both into one, or each into a "
            "slot",
            list[i].type, k);
        return refuse (cc, at, ENOTSUP, reason);
    }
    return 0;
}

/* a * b, at most one more than allowed. */
static uint32_t times (uint32_t a, uint32_t b)
{
    return (uint32_t)MIN ((uint64_t)a * b, (uint64_t)SHAPE_VARIANTS_MAX + 1);
}

/* Number of variants of a list of siblings: the product over the required ones, times the
 * sum over the xor_slots, of which one is chosen. */
static uint32_t count_variants (const struct shape_store *store, uint16_t first)
{
    uint32_t all = 1, sum = 0;

    for (uint16_t i = first; i != SHAPE_NONE; i = store->parts[i].next) {
        const struct part *p = &store->parts[i];
        if (p->xor)
            sum = MIN (sum + p->variants, SHAPE_VARIANTS_MAX + 1);
        else
            all = times (all, p->variants);
    }
    return times (all, sum > 0 ? sum : 1);
}

static int read_list (struct compiler *cc, const struct jobspec_resource *list, size_t n,
                      const struct place *up, unsigned depth, uint16_t *ret_first);

static int read_part (struct compiler *cc, const struct jobspec_resource *r,
                      const struct place *at, unsigned depth, uint16_t *ret)
{
    int number = add_part (cc);

    if (number < 0)
        return number;
    *ret = (uint16_t)number;
    int rc = fill_part (cc, r, at, &cc->store->parts[number]);
    uint16_t first = SHAPE_NONE;
    if (rc == 0)
        rc = read_list (cc, r->with, r->nwith, at, depth + 1, &first);
    struct part *p = &cc->store->parts[number]; /* the array may have moved */
    p->first = first;
    p->variants = count_variants (cc->store, first);
    return rc;
}

static int read_list (struct compiler *cc, const struct jobspec_resource *list, size_t n,
                      const struct place *up, unsigned depth, uint16_t *ret_first)
{
    uint16_t last = SHAPE_NONE;

    if (n > SHAPE_SIBLINGS_MAX)
        return error_set (cc->err, E2BIG, "resources: more than %d side by side",
                          SHAPE_SIBLINGS_MAX);
    for (size_t i = 0; i < n; i++) {
        struct place at = { up, i };
        uint16_t number = SHAPE_NONE;

        if (depth > JOBSPEC_DEPTH_MAX)
            return error_set (cc->err, E2BIG, "resources: more than %d levels",
                              JOBSPEC_DEPTH_MAX);
        int rc = check_siblings (cc, list, i, &at);
        if (rc == 0)
            rc = read_part (cc, &list[i], &at, depth, &number);
        if (rc < 0)
            return rc;
        if (last == SHAPE_NONE)
            *ret_first = number;
        else
            cc->store->parts[last].next = number;
        last = number;
    }
    return 0;
}

/* -- one variant -- */

struct writer {
    const struct shape_store *store;
    unsigned flags;
    struct shape *s;
    struct sha256 ctx; /* for the key */
};

/* Where a vertex goes: its parent, its slot, and whether it is taken with these. */
struct context {
    uint16_t parent, slot, last; /* last: of the siblings so far */
    bool taken, or_slots;
};

static void write_list (struct writer *w, uint16_t first, uint32_t variant,
                        struct context in, uint16_t *ret_first);

static bool is_elastic (const struct shape_vertex *v)
{
    return v->count.max > v->count.min
           && shape_count_fit (v, v->count.max) > v->count.min;
}

static void fill_vertex (const struct writer *w, const struct part *p, uint16_t number,
                         const struct context *in, struct shape_vertex *v)
{
    bool slot = p->kind != SHAPE_RESOURCE;

    *v = (struct shape_vertex){
        .type = p->xor ? "slot" : p->type,
        .label = p->label,
        .unit = p->unit,
        .kind = slot && in->or_slots ? SHAPE_OR_SLOT : p->kind,
        .count = p->count,
        .sizes = p->sizes,
        .exclusive = p->exclusive,
        .required = p->required,
        .parent = in->parent,
        .slot = slot ? number : in->slot,
        .first = SHAPE_NONE,
        .next = SHAPE_NONE,
    };
    v->taken = in->taken || slot || v->exclusive == JOBSPEC_TRUE
               || (p->first == SHAPE_NONE && (w->flags & SHAPE_BOOK_LEAVES));
}

/* Writes variant number `variant` of the part, as the next of its siblings. */
static void write_part (struct writer *w, const struct part *p, uint32_t variant,
                        struct context *in, uint16_t *ret_first)
{
    struct shape *s = w->s;
    uint16_t number = (uint16_t)s->nv++;
    struct shape_vertex *v = &s->v[number];

    fill_vertex (w, p, number, in, v);
    s->elastic |= is_elastic (v);
    const int64_t row[] = { v->kind, v->taken, v->parent };
    sha256_update (&w->ctx, row, sizeof (row));
    sha256_update (&w->ctx, p->digest, sizeof (p->digest));
    if (in->last == SHAPE_NONE)
        *ret_first = number;
    else
        s->v[in->last].next = number;
    in->last = number;
    struct context below = {
        .parent = number,
        .slot = v->slot,
        .last = SHAPE_NONE,
        .taken = in->taken || v->kind != SHAPE_RESOURCE || v->exclusive == JOBSPEC_TRUE,
    };
    write_list (w, p->first, variant, below, &v->first);
}

/* Counts over a list of siblings. */
struct tally {
    uint32_t required; /* product of the choices of those that are no xor_slots */
    uint32_t options;  /* sum of the choices of the xor_slots; 1 without them */
    uint32_t slots;    /* slots side by side in one variant */
};

static struct tally tally_list (const struct shape_store *store, uint16_t first)
{
    struct tally t = { .required = 1 };

    for (uint16_t i = first; i != SHAPE_NONE; i = store->parts[i].next) {
        const struct part *p = &store->parts[i];
        t.options += p->xor ? p->variants : 0;
        t.required *= p->xor ? 1 : p->variants;
        t.slots += !p->xor &&p->kind == SHAPE_SLOT;
    }
    t.slots += t.options > 0;
    t.options = MAX (t.options, 1);
    return t;
}

/* Writes option number `option`, behind its siblings. */
static void write_option (struct writer *w, uint16_t first, uint32_t option,
                          struct context *in, uint16_t *ret_first)
{
    for (uint16_t i = first; i != SHAPE_NONE; i = w->store->parts[i].next) {
        const struct part *p = &w->store->parts[i];
        if (!p->xor)
            continue;
        if (option < p->variants) {
            write_part (w, p, option, in, ret_first);
            return;
        }
        option -= p->variants;
    }
}

static void write_list (struct writer *w, uint16_t first, uint32_t variant,
                        struct context in, uint16_t *ret_first)
{
    struct tally t = tally_list (w->store, first);
    uint32_t rest = variant / t.options, weight = t.required;

    in.or_slots = (w->flags & SHAPE_OR_SLOTS) && t.slots > 1;
    for (uint16_t i = first; i != SHAPE_NONE; i = w->store->parts[i].next) {
        const struct part *p = &w->store->parts[i];
        if (p->xor)
            continue;
        weight /= p->variants;
        write_part (w, p, rest / weight % p->variants, &in, ret_first);
    }
    write_option (w, first, variant % t.options, &in, ret_first);
}

/* -- top level -- */

static struct shape *shape_create (struct compiler *cc)
{
    struct shape *s = calloc (1, sizeof (*s));

    if (s)
        s->v = calloc (cc->store->nparts, sizeof (*s->v));
    if (!s || !s->v) {
        free (s);
        return error_null (error_no_memory (cc->err, "resources"));
    }
    s->top = SHAPE_NONE;
    s->constraint = cc->store->constraint;
    s->apart = cc->flags & SHAPE_APART;
    return s;
}

static uint64_t finish_key (struct writer *w, uint64_t behind)
{
    uint8_t digest[SHA256_SIZE];
    uint64_t key;

    sha256_update (&w->ctx, w->store->digest, sizeof (w->store->digest));
    sha256_update (&w->ctx, &behind, sizeof (behind));
    sha256_final (&w->ctx, digest);
    memcpy (&key, digest, sizeof (key));
    return key;
}

/* Writes variant number `variant`, followed by those behind it. */
static struct shape *write_variant (struct compiler *cc, uint32_t variant,
                                    struct shape *behind)
{
    struct context top = { .parent = SHAPE_NONE, .slot = SHAPE_NONE, .last = SHAPE_NONE };
    struct shape *s = shape_create (cc);

    if (!s)
        return NULL;
    struct writer w = { .store = cc->store, .flags = cc->flags, .s = s };
    sha256_init (&w.ctx);
    write_list (&w, 0, variant, top, &s->top);
    s->key = finish_key (&w, behind ? behind->key : 0);
    s->other = behind;
    /* The variant may have fewer vertices than parts; if memory cannot be given back, it
     * is kept. */
    struct shape_vertex *v = realloc (s->v, s->nv * sizeof (*v));
    if (v)
        s->v = v;
    return s;
}

/* Writes from the last to the first, so that each key covers the variants behind it. */
static struct shape *write_variants (struct compiler *cc)
{
    uint32_t n = count_variants (cc->store, 0);
    struct shape *head = NULL;

    if (n > SHAPE_VARIANTS_MAX || n * cc->store->nparts > SHAPE_TOTAL_MAX)
        return error_null (error_set (
            cc->err, E2BIG,
            "resources: the xor_slots leave too much open: at most %d variants with "
            "%d vertices in all are tried",
            SHAPE_VARIANTS_MAX, SHAPE_TOTAL_MAX));
    while (n-- > 0) {
        struct shape *s = write_variant (cc, n, head);
        if (!s) {
            shape_destroy (head);
            return NULL;
        }
        head = s;
    }
    return head;
}

static int read_all (struct compiler *cc, const struct jobspec_resource *resources,
                     size_t n, const json_t *constraints)
{
    uint16_t first = SHAPE_NONE;
    struct sha256 ctx;

    if (n == 0)
        return error_set (cc->err, EINVAL, "resources: nothing is asked for");
    int rc = read_list (cc, resources, n, NULL, 1, &first);
    if (rc < 0)
        return rc;
    sha256_init (&ctx);
    if (constraints)
        rc = read_constraint (constraints, &ctx, &cc->store->constraint, cc->err);
    sha256_final (&ctx, cc->store->digest);
    return rc;
}

struct shape *shape_compile (const struct jobspec_resource *resources, size_t n,
                             const json_t *constraints, unsigned flags, struct error *err)
{
    struct compiler cc = { .flags = flags, .err = err };
    struct shape *s = NULL;

    cc.store = calloc (1, sizeof (*cc.store));
    if (!cc.store)
        return error_null (error_no_memory (cc.err, "resources"));
    if (read_all (&cc, resources, n, constraints) == 0)
        s = write_variants (&cc);
    if (!s) {
        store_destroy (cc.store);
        return NULL;
    }
    s->store = cc.store;
    return s;
}

void shape_destroy (struct shape *s)
{
    if (!s)
        return;
    store_destroy (s->store);
    while (s) {
        struct shape *other = s->other;
        free (s->v);
        free (s);
        s = other;
    }
}

static bool same_structure (const struct shape *a, const struct shape *b)
{
    if (a->nv != b->nv || a->top != b->top)
        return false;
    for (size_t i = 0; i < a->nv; i++) {
        const struct shape_vertex *x = &a->v[i], *y = &b->v[i];
        if (x->kind != y->kind || x->taken != y->taken || x->first != y->first
            || x->next != y->next)
            return false;
    }
    return true;
}

bool shape_equal (const struct shape *a, const struct shape *b)
{
    const struct shape_store *x = a->store, *y = b->store;

    if (x->nparts != y->nparts || memcmp (x->digest, y->digest, SHA256_SIZE) != 0)
        return false;
    for (size_t i = 0; i < x->nparts; i++)
        if (memcmp (x->parts[i].digest, y->parts[i].digest, SHA256_SIZE) != 0)
            return false;
    for (; a && b; a = a->other, b = b->other)
        if (!same_structure (a, b))
            return false;
    return !a && !b;
}

/* -- counts -- */

/* Returns the largest member <= limit. Fewer members are in (id, limit] as id grows, so
 * the least id with none is the answer. */
static int64_t largest_size (const struct idset *sizes, int64_t limit)
{
    uint32_t lo = idset_first (sizes), hi = (uint32_t)limit;

    if (idset_has (sizes, hi))
        return hi;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (idset_next (sizes, mid) <= (uint32_t)limit)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int64_t shape_count_fit (const struct shape_vertex *v, int64_t limit)
{
    if (limit < v->count.min)
        return 0;
    return v->sizes ? largest_size (v->sizes, MIN (limit, v->count.max))
                    : jobspec_count_fit (&v->count, limit);
}

int64_t shape_count_least (const struct shape_vertex *v)
{
    return v->count.min;
}
