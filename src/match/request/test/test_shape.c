/* test_shape.c - requests as shapes: the flat tree, taken vertices, variants of
 * xor_slots in their order, keys, counts, texts for people, refusals, and
 * Fluxion's own test data */
#include "common/test/unit.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "common/io.h"
#include "jobspec/parse/request.h"
#include "match/request/shape.h"

/* The resources as a YAML flow list; constraints as JSON, or NULL. */
static struct shape *compile (const char *resources, const char *constraints,
                              unsigned flags, struct error *err)
{
    autofree char *text = NULL;
    autorequest struct jobspec_request *q = NULL;

    if (asprintf (&text,
                  "version: 1\nresources: [%s]\ntasks: []\nattributes: {system: "
                  "{constraints: %s}}\n",
                  resources, constraints ? constraints : "{}")
        < 0)
        abort ();
    if (jobspec_resources_parse (text, strlen (text), "x", &q, err) < 0)
        fail_msg ("%s", err->text);
    return shape_compile (q->resources, q->nresources,
                          constraints ? q->constraints : NULL, flags, err);
}

static struct shape *compile_ok (const char *resources, unsigned flags)
{
    struct error err = { 0 };
    struct shape *s = compile (resources, NULL, flags, &err);

    if (!s)
        fail_msg ("%s: %s", resources, err.text);
    return s;
}

/* "node[2](memory[1]!,slot[1]!(core[2]!))": "!" taken, "|" or_slot */
static void print_tree (struct strbuf *sb, const struct shape *s, uint16_t first)
{
    for (uint16_t i = first; i != SHAPE_NONE; i = s->v[i].next) {
        const struct shape_vertex *v = &s->v[i];
        strbuf_addf (sb, "%s%s[%jd]%s%s", i != first ? "," : "", v->type,
                     (intmax_t)v->count.min, v->taken ? "!" : "",
                     v->kind == SHAPE_OR_SLOT ? "|" : "");
        if (v->first == SHAPE_NONE)
            continue;
        strbuf_adds (sb, "(");
        print_tree (sb, s, v->first);
        strbuf_adds (sb, ")");
    }
}

/* Parents, slots and the array's order are as documented in the header. */
static void check_links (const struct shape *s, uint16_t first, uint16_t parent,
                         size_t *seen)
{
    for (uint16_t i = first; i != SHAPE_NONE; i = s->v[i].next) {
        const struct shape_vertex *v = &s->v[i];
        uint16_t above = parent == SHAPE_NONE ? SHAPE_NONE : s->v[parent].slot;
        assert_int_equal (i, (*seen)++);
        assert_int_equal (v->parent, parent);
        assert_int_equal (v->slot, v->kind == SHAPE_RESOURCE ? above : i);
        check_links (s, v->first, i, seen);
    }
}

static void expect_tree (const struct shape *s, const char *want)
{
    struct strbuf sb;
    size_t seen = 0;

    strbuf_init (&sb, 65536);
    for (; s; s = s->other, seen = 0) {
        check_links (s, s->top, SHAPE_NONE, &seen);
        assert_int_equal (seen, s->nv);
        print_tree (&sb, s, s->top);
        if (s->other)
            strbuf_adds (&sb, " ");
    }
    assert_string_equal (sb.buf, want);
    strbuf_release (&sb);
}

#define CORE(n) "{type: core, count: " n "}"
#define SLOT(n, with) "{type: slot, label: t, count: " n ", with: [" with "]}"
#define OR(n, with) "{type: or_slot, label: t, count: " n ", with: [" with "]}"
#define XOR(n, with) "{type: xor_slot, label: t, count: " n ", with: [" with "]}"
#define IN(type, n, with) "{type: " type ", count: " n ", with: [" with "]}"

static void test_trees (void **state)
{
    static const struct {
        const char *resources;
        unsigned flags;
        const char *tree;
    } cases[] = {
        { CORE ("3"), 0, "core[3]" },
        { CORE ("3"), SHAPE_BOOK_LEAVES, "core[3]!" },
        { SLOT ("2", CORE ("3")), 0, "slot[2]!(core[3]!)" },
        { IN ("node", "2",
              SLOT ("1", IN ("socket", "2", CORE ("4"))) ", {type: memory, count: 8}"),
          0, "node[2](slot[1]!(socket[2]!(core[4]!)),memory[8])" },
        { IN ("node", "2", SLOT ("1", CORE ("4")) ", {type: memory, count: 8}"),
          SHAPE_BOOK_LEAVES, "node[2](slot[1]!(core[4]!),memory[8]!)" },
        { "{type: node, count: 1, exclusive: true, with: [" CORE ("4") "]}", 0,
          "node[1]!(core[4]!)" },
        { SLOT ("1", "{type: node, count: 1, exclusive: false}"), 0,
          "slot[1]!(node[1]!)" },
        { SLOT ("1", IN ("node", "1", SLOT ("2", CORE ("4")))), 0,
          "slot[1]!(node[1]!(slot[2]!(core[4]!)))" },
        { SLOT ("1", CORE ("4")) ", " SLOT ("2", CORE ("8")), 0,
          "slot[1]!(core[4]!),slot[2]!(core[8]!)" },
        { SLOT ("1", CORE ("4")) ", " SLOT ("2", CORE ("8")), SHAPE_OR_SLOTS,
          "slot[1]!|(core[4]!),slot[2]!|(core[8]!)" },
        { SLOT ("1", CORE ("4")) ", " IN ("rack", "1", SLOT ("2", CORE ("8"))),
          SHAPE_OR_SLOTS, "slot[1]!(core[4]!),rack[1](slot[2]!(core[8]!))" },
        { OR ("1", CORE ("4")) ", " OR ("2", CORE ("8")), 0,
          "or_slot[1]!|(core[4]!),or_slot[2]!|(core[8]!)" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct shape *s = compile_ok (cases[i].resources, cases[i].flags);
        assert_null (s->other);
        expect_tree (s, cases[i].tree);
        shape_destroy (s);
    }
}

static void test_variants (void **state)
{
    static const struct {
        const char *resources;
        unsigned flags;
        const char *trees;
    } cases[] = {
        { XOR ("1", CORE ("1")), 0, "slot[1]!(core[1]!)" },
        { XOR ("1", CORE ("1")) ", {type: ssd, count: 5}, " XOR ("2", CORE ("2")), 0,
          "ssd[5],slot[1]!(core[1]!) ssd[5],slot[2]!(core[2]!)" },
        /* a choice in a choice: each inner choice by itself */
        { XOR ("1", IN ("socket", "1",
                        XOR ("2", CORE ("1")) ", " XOR (
                            "3", CORE ("2")))) ", " XOR ("4", CORE ("3")),
          0,
          "slot[1]!(socket[1]!(slot[2]!(core[1]!))) "
          "slot[1]!(socket[1]!(slot[3]!(core[2]!))) slot[4]!(core[3]!)" },
        /* two places: the first varies slowest */
        { IN ("rack", "1", XOR ("1", CORE ("1")) ", " XOR ("2", CORE ("1"))) ", " IN (
              "node", "1", XOR ("3", CORE ("1")) ", " XOR ("4", CORE ("1"))),
          0,
          "rack[1](slot[1]!(core[1]!)),node[1](slot[3]!(core[1]!)) "
          "rack[1](slot[1]!(core[1]!)),node[1](slot[4]!(core[1]!)) "
          "rack[1](slot[2]!(core[1]!)),node[1](slot[3]!(core[1]!)) "
          "rack[1](slot[2]!(core[1]!)),node[1](slot[4]!(core[1]!))" },
        /* beside a vertex with a choice of its own: the siblings' own slots vary
         * fastest */
        { IN ("node", "1", XOR ("1", CORE ("1")) ", " XOR ("2", CORE ("1"))) ", " XOR (
              "3", CORE ("1")) ", " XOR ("4", CORE ("1")),
          0,
          "node[1](slot[1]!(core[1]!)),slot[3]!(core[1]!) "
          "node[1](slot[1]!(core[1]!)),slot[4]!(core[1]!) "
          "node[1](slot[2]!(core[1]!)),slot[3]!(core[1]!) "
          "node[1](slot[2]!(core[1]!)),slot[4]!(core[1]!)" },
        { SLOT ("9", CORE ("1")) ", " XOR ("1", CORE ("1")) ", " XOR ("2", CORE ("1")),
          SHAPE_OR_SLOTS,
          "slot[9]!|(core[1]!),slot[1]!|(core[1]!) "
          "slot[9]!|(core[1]!),slot[2]!|(core[1]!)" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct shape *s = compile_ok (cases[i].resources, cases[i].flags);
        expect_tree (s, cases[i].trees);
        shape_destroy (s);
    }
}

/* `levels` places with two choices each: 2^levels variants. */
static struct shape *compile_choices (int levels, struct error *err)
{
    struct strbuf sb;

    strbuf_init (&sb, 65536);
    for (int i = 0; i < levels; i++)
        strbuf_addf (&sb,
                     "%s{type: t%d, count: 1, with: [" XOR ("1", CORE ("1")) ", " XOR (
                         "2", CORE ("1")) "]}",
                     i > 0 ? ", " : "", i);
    struct shape *s = compile (sb.buf, NULL, 0, err);
    strbuf_release (&sb);
    return s;
}

static void test_variant_limits (void **state)
{
    struct error err = { 0 };
    struct shape *s = compile_choices (10, &err);
    size_t n = 0;

    (void)state;
    assert_non_null (s);
    for (const struct shape *each = s; each; each = each->other, n++) {
        /* variant n chooses by the bits of n, with the highest bit for the first place */
        for (uint16_t i = each->top, bit = 9; i != SHAPE_NONE; i = each->v[i].next, bit--)
            assert_int_equal (each->v[each->v[i].first].count.min, 1 + (n >> bit & 1));
        if (each->other)
            assert_true (each->key != each->other->key);
    }
    assert_int_equal (n, SHAPE_VARIANTS_MAX);
    shape_destroy (s);
    assert_null (compile_choices (11, &err));
    assert_int_equal (err.code, E2BIG);
    assert_null (compile_choices (60, &err));
    assert_int_equal (err.code, E2BIG);
}

static uint64_t key_of (const char *resources, const char *constraints, unsigned flags)
{
    struct error err = { 0 };
    struct shape *s = compile (resources, constraints, flags, &err);

    if (!s)
        fail_msg ("%s: %s", resources, err.text);
    uint64_t key = s->key;
    shape_destroy (s);
    return key;
}

static void test_keys (void **state)
{
    static const struct {
        const char *resources, *constraints;
        unsigned flags;
    } all[] = {
        /* all requests differ */
        { SLOT ("1", CORE ("1")), NULL, 0 },
        { SLOT ("2", CORE ("1")), NULL, 0 },
        { SLOT ("1", CORE ("2")), NULL, 0 },
        { SLOT ("1", CORE ("'1-2'")), NULL, 0 },
        { SLOT ("1", CORE ("'1,3'")), NULL, 0 },
        { SLOT ("1", CORE ("'1,3,5'")), NULL, 0 },
        { SLOT ("1", CORE ("'1,4,5'")), NULL, 0 },
        { SLOT ("1", "{type: gpu, count: 1}"), NULL, 0 },
        { SLOT ("1", "{type: core, count: 1, unit: x}"), NULL, 0 },
        { SLOT ("1", "{type: core, count: 1, exclusive: true}"), NULL, 0 },
        { SLOT ("1", "{type: core, count: 1, requires: {ranks: ['0']}}"), NULL, 0 },
        { SLOT ("1", "{type: core, count: 1, requires: {ranks: ['1']}}"), NULL, 0 },
        { SLOT ("1", CORE ("1")), "{ranks: ['0']}", 0 },
        { SLOT ("1", CORE ("1")), "{ranks: ['1']}", 0 },
        { XOR ("1", CORE ("1")) ", " XOR ("2", CORE ("1")), NULL, 0 },
        { XOR ("1", CORE ("1")) ", " XOR ("3", CORE ("1")), NULL, 0 },
        { SLOT ("1", CORE ("1")) ", " CORE ("1"), NULL, 0 },
        { SLOT ("1", CORE ("1")) ", " CORE ("1"), NULL, SHAPE_BOOK_LEAVES },
        { SLOT ("1", CORE ("1")) ", " SLOT ("1", CORE ("1")), NULL, 0 },
        { SLOT ("1", CORE ("1")) ", " SLOT ("1", CORE ("1")), NULL, SHAPE_OR_SLOTS },
        { SLOT ("1", IN ("node", "1", CORE ("1")) ", {type: gpu, count: 1}"), NULL, 0 },
        { SLOT ("1", IN ("node", "1", CORE ("1") ", {type: gpu, count: 1}")), NULL, 0 },
    };
    uint64_t keys[ARRAY_SIZE (all)];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (all); i++) {
        keys[i] = key_of (all[i].resources, all[i].constraints, all[i].flags);
        assert_int_equal (keys[i],
                          key_of (all[i].resources, all[i].constraints, all[i].flags));
        for (size_t k = 0; k < i; k++) {
            if (keys[i] == keys[k])
                fail_msg ("%s is %s", all[i].resources, all[k].resources);
        }
    }
    /* the same request in other words */
    assert_int_equal (keys[0], key_of ("{type: slot, with: [{count: '1', type: core}], "
                                       "label: other, count: 1}",
                                       NULL, 0));
    assert_int_equal (keys[14],
                      key_of (XOR ("1", CORE ("1")) ", " XOR ("2", CORE ("1")), NULL, 0));
    assert_int_equal (key_of (CORE ("1"), "{and: [{ranks: ['0']}], not: [{}]}", 0),
                      key_of (CORE ("1"), "{not: [{}], and: [{ranks: ['0']}]}", 0));
}

static void test_counts (void **state)
{
    static const struct {
        const char *count;
        bool elastic;
        int64_t fit[12]; /* for limits 0, 1, 2, ... */
    } cases[] = {
        { "3", false, { 0, 0, 0, 3, 3, 3, 3, 3, 3, 3, 3, 3 } },
        { "2-8", true, { 0, 0, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8 } },
        { "2+", true, { 0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 } },
        { "'2-8:3'", true, { 0, 0, 2, 2, 2, 5, 5, 5, 8, 8, 8, 8 } },
        { "'2-4:3'", false, { 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } },
        { "'1-9:2:*'", true, { 0, 1, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8 } },
        { "'2-20:2:^'", true, { 0, 0, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4 } },
        { "'1,4,9'", true, { 0, 1, 1, 1, 4, 4, 4, 4, 4, 9, 9, 9 } },
        { "'3-4,6,8-10'", true, { 0, 0, 0, 3, 4, 4, 6, 6, 8, 9, 10, 10 } },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        char text[64];
        snprintf (text, sizeof (text), "{type: core, count: %s}", cases[i].count);
        struct shape *s = compile_ok (text, 0);
        assert_int_equal (s->elastic, cases[i].elastic);
        for (int64_t limit = 0; limit < 12; limit++)
            assert_int_equal (shape_count_fit (&s->v[0], limit), cases[i].fit[limit]);
        assert_true (shape_count_fit (&s->v[0], INT64_MAX) >= cases[i].fit[11]);
        assert_int_equal (shape_count_fit (&s->v[0], -1), 0);
        int64_t least = shape_count_least (&s->v[0]);
        assert_int_equal (shape_count_fit (&s->v[0], least), least);
        assert_int_equal (shape_count_fit (&s->v[0], least - 1), 0);
        shape_destroy (s);
    }
    struct shape *s = compile_ok (CORE ("'1-1000000000,2147483647'"), 0);
    assert_int_equal (shape_count_fit (&s->v[0], 2147483646), 1000000000);
    assert_int_equal (shape_count_fit (&s->v[0], INT64_MAX), 2147483647);
    shape_destroy (s);
}

static void test_words (void **state)
{
    static const struct {
        const char *resources, *words;
        unsigned flags;
    } cases[] = {
        { IN ("node", "4", SLOT ("2", CORE ("8") ", {type: gpu, count: 1}")),
          "4 nodes with 2 slots of 8 cores and 1 gpu each", 0 },
        { IN ("node", "4-16", SLOT ("1", CORE ("8"))),
          "4 to 16 nodes with 1 slot of 8 cores each", 0 },
        { SLOT ("1", CORE ("1")), "1 slot of 1 core", 0 },
        { "{type: slot, label: t, count: 1, exclusive: true, with: [{type: gpu, count: "
          "2, "
          "exclusive: true}]}",
          "1 slot of 2 exclusive gpus", 0 },
        { CORE ("2+"), "2 or more cores", 0 },
        { CORE ("'2-3'"), "2 to 3 cores", 0 },
        { CORE ("'1-8:2:*'"), "1, 2, 4 or 8 cores", 0 },
        { CORE ("'1-16:2:*'"), "1 to 16 cores (by factors of 2)", 0 },
        { CORE ("'2-20:4'"), "2 to 20 cores (by steps of 4)", 0 },
        { CORE ("'1,4,9'"), "1, 4 or 9 cores", 0 },
        { CORE ("'1-5,7,9'"), "1-5,7,9 cores", 0 },
        { IN ("node", "2",
              SLOT ("3", CORE ("8")) ", {type: memory, count: 64, unit: GiB}"),
          "2 nodes with 3 slots of 8 cores each, and 64 GiB of memory each", 0 },
        { "{type: node, count: 2, exclusive: true}, {type: memory, count: 1}, {type: "
          "switch, count: 2}, {type: facility, count: 3}, {type: bay, count: 4}",
          "2 exclusive nodes, 1 unit of memory, 2 switches, 3 facilities and 4 bays", 0 },
        { SLOT ("1", CORE ("8")) ", " SLOT ("2", CORE ("9")),
          "1 slot of 8 cores, and 2 slots of 9 cores each", 0 },
        { SLOT ("1", CORE ("8")) ", " SLOT ("1", CORE ("9")),
          "any mix of 1 slot of 8 cores, or 1 slot of 9 cores", SHAPE_OR_SLOTS },
        { "{type: ssd, count: 2}, " OR ("1", CORE ("8")), "2 ssds and 1 slot of 8 cores",
          0 },
        { XOR ("1", CORE ("1")) ", " XOR ("1", CORE ("2")) ", " XOR (
              "1", CORE ("3")) ", " XOR ("1", CORE ("4")),
          "1 slot of 1 core; or 1 slot of 2 cores; or 1 slot of 3 cores; or 1 other "
          "shape",
          0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct shape *s = compile_ok (cases[i].resources, cases[i].flags);
        struct strbuf sb;
        strbuf_init (&sb, 4096);
        assert_int_equal (shape_describe (s, &sb), 0);
        assert_string_equal (sb.buf, cases[i].words);
        strbuf_release (&sb);
        strbuf_init (&sb, 8);
        assert_int_equal (shape_describe (s, &sb), -E2BIG);
        strbuf_release (&sb);
        shape_destroy (s);
    }
}

static void test_refused (void **state)
{
    static const struct {
        const char *resources, *constraints;
        int code;
        const char *why;
    } cases[] = {
        { IN ("node", "1", CORE ("1") ", {type: gpu, count: 1}, " CORE ("2")), NULL,
          ENOTSUP,
          "resources[0].with[2]: a second 'core' beside number [0]: put both into one, "
          "or "
          "each into a slot" },
        { CORE ("1") ", " IN ("node", "1", "{type: slot, label: x, count: 1}"), NULL,
          ENOTSUP, "resources[1].with[0]: a slot with nothing in it cannot be placed" },
        { "{type: node, count: 1, requires: {host: []}}", NULL, EINVAL,
          "resources[0]: requires: constraints: unknown operator 'host' (and, or, not, "
          "properties, hostlist, ranks)" },
        { CORE ("1"), "{ranks: []}", EINVAL, "constraints: ranks: names no node" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        assert_null (compile (cases[i].resources, cases[i].constraints, 0, &err));
        assert_string_equal (err.text, cases[i].why);
        assert_int_equal (err.code, cases[i].code);
    }
}

/* Shapes that no parser would return. */
static void test_unsound (void **state)
{
    static const struct jobspec_count counts[] = {
        { 0, 1, '+', 1 }, { 2, 1, '+', 1 },  { 1, 1, '+', 0 },
        { 1, 1, '-', 1 }, { 1, 1, '\0', 1 }, { 1, 8, '*', 1 },
        { 1, 8, '^', 2 }, { 2, 8, '^', 1 },  { 1, INT64_MAX, '+', 1 },
    };
    char type[] = "core";

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (counts); i++) {
        struct jobspec_resource r = { .type = type, .count = counts[i] };
        struct error err = { 0 };
        assert_null (shape_compile (&r, 1, NULL, 0, &err));
        assert_int_equal (err.code, EINVAL);
    }
    struct error err = { 0 };
    assert_null (shape_compile (NULL, 0, NULL, 0, &err));
    assert_int_equal (err.code, EINVAL);
    /* a tree deeper than a jobspec may be */
    struct jobspec_resource deep[JOBSPEC_DEPTH_MAX + 1];
    for (size_t i = 0; i < ARRAY_SIZE (deep); i++)
        deep[i] = (struct jobspec_resource){ .type = type,
                                             .count = { 1, 1, '+', 1 },
                                             .with = &deep[i + 1],
                                             .nwith = i < JOBSPEC_DEPTH_MAX };
    assert_null (shape_compile (deep, 1, NULL, 0, &err));
    assert_int_equal (err.code, E2BIG);
    struct shape *s = shape_compile (deep + 1, 1, NULL, 0, &err);
    assert_non_null (s);
    assert_int_equal (s->nv, JOBSPEC_DEPTH_MAX);
    shape_destroy (s);
    /* a set without the count's ends */
    struct idset *sizes = idset_decode ("2,4", SIZE_MAX, NULL);
    struct jobspec_resource r = { .type = type,
                                  .count = { 1, 4, '+', 1 },
                                  .sizes = sizes };
    assert_null (shape_compile (&r, 1, NULL, 0, &err));
    r.count.min = 2;
    s = shape_compile (&r, 1, NULL, 0, &err);
    idset_destroy (sizes);
    assert_int_equal (shape_count_fit (&s->v[0], 3), 2); /* the shape has a copy */
    shape_destroy (s);
}

static int compile_file (const char *path)
{
    autorequest struct jobspec_request *q = NULL;
    struct error err = { 0 };
    struct strbuf sb;

    strbuf_init (&sb, 1 << 20);
    if (io_read_file (path, &sb, 1 << 20, &err) < 0)
        fail_msg ("%s", err.text);
    int rc = jobspec_resources_parse (sb.buf, sb.len, path, &q, &err);
    strbuf_release (&sb);
    if (rc < 0)
        return rc;
    struct shape *s =
        shape_compile (q->resources, q->nresources, q->constraints, SHAPE_OR_SLOTS, &err);
    if (!s)
        return -err.code;
    size_t seen = 0;
    check_links (s, s->top, SHAPE_NONE, &seen);
    shape_destroy (s);
    return 0;
}

/* Every file of the folder gives rc; returns the number of files. */
static size_t check_folder (const char *name, int rc)
{
    const char *shared = getenv ("FLUXQ_SHARED_DIR");
    const struct dirent *e;
    char folder[512], path[1024];
    size_t n = 0;

    snprintf (folder, sizeof (folder), "%s/conformance/fluxion/data/resource/jobspecs/%s",
              shared ? shared : "", name);
    DIR *dir = opendir (folder);
    if (!dir)
        skip ();
    while ((e = readdir (dir))) {
        if (e->d_name[0] == '.')
            continue;
        snprintf (path, sizeof (path), "%s/%s", folder, e->d_name);
        int got = compile_file (path);
        if (got != rc)
            fail_msg ("%s: %d", path, got);
        n++;
    }
    closedir (dir);
    return n;
}

static void test_shared (void **state)
{
    (void)state;
    assert_true (check_folder ("validation/valid", 0) >= 18);
    assert_true (check_folder ("flexible", 0) >= 14);
    assert_true (check_folder ("advanced", 0) >= 7);
    assert_true (check_folder ("nodex", 0) >= 20);
    assert_true (check_folder ("min_max2", 0) >= 9);
    assert_true (check_folder ("mt-storage/L3", 0) >= 4);
    assert_true (check_folder ("sibling", -ENOTSUP) >= 3);
    assert_true (check_folder ("validation/invalid", -EINVAL) >= 49);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_trees),          cmocka_unit_test (test_variants),
        cmocka_unit_test (test_variant_limits), cmocka_unit_test (test_keys),
        cmocka_unit_test (test_counts),         cmocka_unit_test (test_words),
        cmocka_unit_test (test_refused),        cmocka_unit_test (test_unsound),
        cmocka_unit_test (test_shared),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
