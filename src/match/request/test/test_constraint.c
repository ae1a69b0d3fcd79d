/* test_constraint.c - RFC 31 on vertices: each operator, empty lists, the limits, and
 * random constraints compared with an evaluator of the JSON itself */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "match/request/constraint.h"

enum { NODES = 40 };

struct world {
    struct graph *g;
    uint32_t node[NODES];
};

/* Nodes n0 .. n39 of rank 0 .. 39, every second with "even", every third with "third",
 * below them no ranks and no properties; n39 has no rank. */
static int setup (void **state)
{
    static struct world w;
    struct graph_spec cluster = { .type = "cluster", .uniq = -1, .rank = -1 };
    struct graph_spec core = { .type = "core", .count = 4, .uniq = -1, .rank = -1 };
    struct error err = { 0 };

    w.g = graph_create ();
    uint32_t root = graph_add (w.g, GRAPH_NONE, &cluster, &err);
    for (int i = 0; i < NODES; i++) {
        const char *properties[5] = { NULL };
        size_t n = 0;
        if (i % 2 == 0) {
            properties[n++] = "even";
            properties[n++] = "";
        }
        if (i % 3 == 0) {
            properties[n++] = "third";
            properties[n++] = "value";
        }
        struct graph_spec node = { .type = "node",
                                   .basename = "n",
                                   .id = i,
                                   .uniq = -1,
                                   .rank = i == NODES - 1 ? -1 : i,
                                   .properties = properties };
        w.node[i] = graph_add (w.g, root, &node, &err);
        assert_int_not_equal (w.node[i], GRAPH_NONE);
        assert_int_not_equal (graph_add (w.g, w.node[i], &core, &err), GRAPH_NONE);
    }
    *state = &w;
    return 0;
}

static int teardown (void **state)
{
    struct world *w = *state;

    graph_destroy (w->g);
    return 0;
}

static struct constraint *compile (const char *text, struct error *err)
{
    autojson json_t *o = json_parse (text, strlen (text), "test", err);

    if (!o)
        fail_msg ("%s", err->text);
    return constraint_compile (o, err);
}

/* The allowed nodes: "0-3,7". */
static char *allowed (const struct world *w, const struct constraint *c)
{
    struct idset *ids = idset_create ();

    for (uint32_t i = 0; i < NODES; i++) {
        if (constraint_allows_vertex (c, w->g, w->node[i], 0))
            idset_add (ids, i);
    }
    char *text = idset_encode (ids);
    idset_destroy (ids);
    return text;
}

static void test_operators (void **state)
{
    static const struct {
        const char *text, *nodes;
    } cases[] = {
        { "{}", "0-39" },
        { "{\"and\":[]}", "0-39" },
        { "{\"or\":[]}", "0-39" },
        { "{\"properties\":[]}", "0-39" },
        { "{\"not\":[]}", "" },
        { "{\"not\":[{}]}", "" },
        { "{\"properties\":[\"third\"]}", "0,3,6,9,12,15,18,21,24,27,30,33,36,39" },
        { "{\"properties\":[\"third\",\"even\"]}", "0,6,12,18,24,30,36" },
        { "{\"properties\":[\"third\",\"^even\"]}", "3,9,15,21,27,33,39" },
        { "{\"properties\":[\"value\"]}", "" },
        { "{\"properties\":[\"^none\"]}", "0-39" },
        { "{\"hostlist\":[\"n[3-5]\",\"n39,n3,m4\"]}", "3-5,39" },
        { "{\"hostlist\":[\"n03\",\"n\",\"n40\"]}", "" },
        { "{\"ranks\":[\"37-50\"]}", "37-38" },
        { "{\"ranks\":[\"0-0\"]}", "0" },
        { "{\"ranks\":[\"[5-7]\",\"1,3\",\"6-9\"]}", "1,3,5-9" },
        { "{\"ranks\":[4,\"2\"]}", "2,4" },
        { "{\"ranks\":[\"0-2147483647\",\"0\"]}", "0-38" },
        { "{\"not\":[{\"ranks\":[\"0-38\"]}]}", "39" },
        { "{\"or\":[{\"ranks\":[\"1\"]},{\"hostlist\":[\"n2\"]}]}", "1-2" },
        { "{\"and\":[{\"ranks\":[\"1-9\"]},{\"hostlist\":[\"n[8-12]\"]}]}", "8-9" },
        { "{\"ranks\":[\"1-9\"],\"hostlist\":[\"n[8-12]\"],\"properties\":[\"even\"]}",
          "8" },
    };

    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        struct constraint *c = compile (cases[i].text, &err);
        if (!c)
            fail_msg ("%s: %s", cases[i].text, err.text);
        autofree char *got = allowed (*state, c);
        if (strcmp (got, cases[i].nodes) != 0)
            fail_msg ("%s: %s", cases[i].text, got);
        constraint_destroy (c);
    }
    autofree char *all = allowed (*state, NULL);
    assert_string_equal (all, "0-39");
}

/* Units of a vertex are checked one by one; a unit without a rank is in no ranks. */
static void test_units (void **state)
{
    const struct world *w = *state;
    struct error err = { 0 };
    uint32_t cores = graph_vertex (w->g, w->node[5])->first;
    struct constraint *named = compile ("{\"hostlist\":[\"core2\"]}", &err);
    struct constraint *fast = compile ("{\"properties\":[\"fast\"]}", &err);
    struct constraint *ranked = compile ("{\"ranks\":[\"0-2147483647\"]}", &err);

    assert_int_equal (graph_set_property (w->g, cores, 1, "fast", "yes"), 0);
    for (uint32_t unit = 0; unit < 4; unit++) {
        assert_int_equal (constraint_allows_vertex (named, w->g, cores, unit), unit == 2);
        assert_int_equal (constraint_allows_vertex (fast, w->g, cores, unit), unit == 1);
        assert_false (constraint_allows_vertex (ranked, w->g, cores, unit));
    }
    constraint_destroy (named);
    constraint_destroy (fast);
    constraint_destroy (ranked);
}

static void test_refused (void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *why;
    } cases[] = {
        { "[]", EINVAL, "constraints: expected an object, got an array" },
        { "{\"xor\":[]}", EINVAL,
          "constraints: unknown operator 'xor' (and, or, not, properties, hostlist, "
          "ranks)" },
        { "{\"and\":[1]}", EINVAL,
          "constraints: and[0]: expected an object, got an "
          "integer" },
        { "{\"not\":[{},{}]}", EINVAL, "constraints: not: takes one value, got 2" },
        { "{\"properties\":[\"^\"]}", EINVAL,
          "constraints: '^' is not a property's "
          "name" },
        { "{\"properties\":[\"a\",1]}", EINVAL,
          "constraints: properties[1]: expected a string, got an integer" },
        { "{\"hostlist\":[1]}", EINVAL,
          "constraints: hostlist[0]: expected a string, got an integer" },
        { "{\"hostlist\":[\"\"]}", EINVAL, "constraints: hostlist: names no node" },
        { "{\"hostlist\":[\"n[0-65536]\"]}", ERANGE,
          "constraints: hostlist: hostlist 'n[0-65536]': more than 65536 names" },
        /* the limit applies to all lists together */
        { "{\"and\":[{\"hostlist\":[\"a[0-29999]\"]},"
          "{\"or\":[{\"hostlist\":[\"n[0-29999]\",\"n[0-5536]\"]}]}]}",
          ERANGE, "constraints: hostlist: hostlist 'n[0-5536]': more than 5536 names" },
        { "{\"ranks\":[]}", EINVAL, "constraints: ranks: names no node" },
        { "{\"ranks\":[\"\",\"\"]}", EINVAL, "constraints: ranks: names no node" },
        { "{\"ranks\":[\"1\",\"3,2\"]}", EINVAL,
          "constraints: ranks: idset '3,2': not sorted ids and ranges as 0-3,7" },
        { "{\"ranks\":[-1]}", EINVAL,
          "constraints: ranks: idset '-1': not sorted ids and ranges as 0-3,7" },
        { "{\"ranks\":[4294967296]}", ERANGE,
          "constraints: ranks: idset '4294967296': an id is above 2147483647" },
        { "{\"ranks\":[1.5]}", EINVAL,
          "constraints: ranks[0]: expected a string, got a number with a fraction" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        assert_null (compile (cases[i].text, &err));
        assert_string_equal (err.text, cases[i].why);
        assert_int_equal (err.code, cases[i].code);
    }
}

/* Many values in an order in which single insertions would take minutes. */
static void test_many_ranks (void **state)
{
    enum { VALUES = 200000 };
    struct error err = { 0 };
    autojson json_t *o = json_object ();
    json_t *ranks = json_array ();

    json_object_set_new (o, "ranks", ranks);
    for (int i = VALUES; i > 0; i--)
        json_array_append_new (ranks, json_integer (2 * i));
    struct constraint *c = constraint_compile (o, &err);
    autofree char *got = allowed (*state, c);
    assert_string_equal (got, "2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38");
    constraint_destroy (c);
}

/* -- random constraints -- */

static uint32_t below (uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

static json_t *random_constraint (uint64_t *seed, int depth)
{
    static const char *const names[] = { "and", "or", "not" };
    static const char *const words[] = { "even",  "third",  "none",
                                         "^even", "^third", "^none" };
    uint32_t kind = below (seed, depth > 0 ? 6 : 3), n = 1 + below (seed, 3);
    json_t *list = json_array ();
    char text[64];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = below (seed, NODES), b = a + below (seed, 8);
        snprintf (text, sizeof (text), kind == 1 ? "n[%u-%u]" : "%u-%u", a, b);
        if (kind >= 3 && !(kind == 5 && i > 0))
            json_array_append_new (list, random_constraint (seed, depth - 1));
        else if (kind == 0)
            json_array_append_new (list, json_string (words[below (seed, 6)]));
        else if (kind < 3)
            json_array_append_new (list, json_string (text));
    }
    return json_pack ("{so}",
                      kind == 0   ? "properties"
                      : kind == 1 ? "hostlist"
                      : kind == 2 ? "ranks"
                                  : names[kind - 3],
                      list);
}

static bool in_range (const json_t *v, const char *format, int node)
{
    int a, b;

    assert_int_equal (sscanf (json_string_value (v), format, &a, &b), 2);
    return node >= a && node <= b;
}

/* The verdict of the JSON on node number n, operator by operator. */
static bool reference (const json_t *o, int n)
{
    const char *op = json_object_iter_key (json_object_iter ((json_t *)o));
    const json_t *list = json_object_get (o, op), *v;
    bool all = true, any = false;
    size_t i;

    json_array_foreach ((json_t *)list, i, v) {
        const char *word = json_string_value (v);
        bool yes;
        if (strcmp (op, "hostlist") == 0)
            yes = in_range (v, "n[%d-%d]", n);
        else if (strcmp (op, "ranks") == 0)
            yes = n < NODES - 1 && in_range (v, "%d-%d", n);
        else if (strcmp (op, "properties") == 0)
            yes = (word[0] == '^')
                  != ((strstr (word, "even") && n % 2 == 0)
                      || (strstr (word, "third") && n % 3 == 0));
        else
            yes = reference (v, n);
        all &= yes;
        any |= yes;
    }
    if (strcmp (op, "not") == 0)
        return !all;
    return strcmp (op, "and") == 0 || strcmp (op, "properties") == 0 ? all : any;
}

static void test_random (void **state)
{
    const struct world *w = *state;
    uint64_t seed = 20261120, start = seed;

    for (int round = 0; round < 3000; round++) {
        struct error err = { 0 };
        autojson json_t *o = random_constraint (&seed, 4);
        struct constraint *c = constraint_compile (o, &err);
        if (!c)
            fail_msg ("seed %ju: %s", (uintmax_t)start, err.text);
        for (int i = 0; i < NODES; i++) {
            if (constraint_allows_vertex (c, w->g, w->node[i], 0) == reference (o, i))
                continue;
            autofree char *text = json_dumps (o, 0);
            fail_msg ("seed %ju: node %d: %s", (uintmax_t)start, i, text);
        }
        constraint_destroy (c);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_operators), cmocka_unit_test (test_units),
        cmocka_unit_test (test_refused),   cmocka_unit_test (test_many_ranks),
        cmocka_unit_test (test_random),
    };

    return cmocka_run_group_tests (tests, setup, teardown);
}
