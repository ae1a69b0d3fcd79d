/* test_policy.c - policies by name and from words */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "match/policies/policy.h"

static void by_name (void **state)
{
    struct match_policy p;
    struct error err = { 0 };

    (void)state;
    for (const struct match_policy *const *all = match_policies; *all; all++) {
        assert_ptr_equal (match_policy_find ((*all)->name), *all);
        assert_int_equal (match_policy_parse ((*all)->name, &p, &err), 0);
        assert_string_equal (p.name, (*all)->name);
        assert_true (strlen ((*all)->summary) > 0);
    }
    assert_non_null (match_policy_find ("first"));
    assert_null (match_policy_find ("firs"));
    assert_null (match_policy_find (""));
}

static void from_words (void **state)
{
    struct match_policy p;
    struct error err = { 0 };

    (void)state;
    assert_int_equal (match_policy_parse ("policy=low", &p, &err), 0);
    assert_false (p.high || p.node_centric || p.node_exclusive || p.first);
    assert_int_equal (
        match_policy_parse ("node_centric=true\t policy=high  node_exclusive=true "
                            "stop_on_1_matches=true",
                            &p, &err),
        0);
    assert_true (p.high && p.node_centric && p.node_exclusive && p.first);
    assert_int_equal (match_policy_parse ("policy=lonodex node_exclusive=false "
                                          "node_centric=true node_centric=false",
                                          &p, &err),
                      0);
    assert_false (p.high || p.node_centric || p.node_exclusive || p.first);
}

/* The reason names the word. */
static void refused (const char *text, const char *word)
{
    struct match_policy p;
    struct error err = { 0 };

    assert_int_equal (match_policy_parse (text, &p, &err), -EINVAL);
    if (!strstr (err.text, word))
        fail_msg ("\"%s\": %s: does not name %s", text, err.text, word);
}

static void bad_words (void **state)
{
    char huge[1000];

    (void)state;
    refused ("nosuch", "nosuch");
    refused ("", "no such policy");
    refused ("policy=nosuch", "nosuch");
    refused ("node_centric=true", "policy=");
    refused ("policy=low node_centric=yes", "yes");
    refused ("policy=low node_centric", "node_centric");
    refused ("policy=low colour=red", "colour");
    refused ("policy=low order=", "order");
    refused ("policy=low "
             "order=a_name_that_is_longer_than_any_that_a_property_may_have_in_a_policy_",
             "order");
    memset (huge, 'x', sizeof (huge));
    memcpy (huge, "policy=low a=", 13);
    huge[sizeof (huge) - 1] = '\0';
    refused (huge, "longer");
}

static uint32_t add (struct graph *g, uint32_t parent, const char *type, int id,
                     const char *price)
{
    const char *properties[] = { "price", price, NULL };
    struct graph_spec spec = { .type = type,
                               .id = id,
                               .uniq = -1,
                               .rank = -1,
                               .properties = price ? properties : NULL };
    uint32_t v = graph_add (g, parent, &spec, NULL);

    assert_int_not_equal (v, GRAPH_NONE);
    return v;
}

static void order_by_property (void **state)
{
    struct match_policy low, high;
    struct graph *g = graph_create ();
    uint32_t root = add (g, GRAPH_NONE, "cluster", 0, NULL);
    uint32_t cheap = add (g, root, "node", 7, "2"), dear = add (g, root, "node", 1, "30");
    uint32_t unknown = add (g, root, "node", 2, NULL),
             odd = add (g, root, "node", 3, "x");
    uint32_t core = add (g, cheap, "core", 5, NULL);

    (void)state;
    assert_int_equal (match_policy_parse ("policy=low order=price", &low, NULL), 0);
    assert_int_equal (match_policy_parse ("policy=high order=price", &high, NULL), 0);
    assert_int_equal (match_policy_score (&low, g, cheap, 0), 2);
    assert_int_equal (match_policy_score (&low, g, dear, 0), 30);
    /* without a number: last */
    assert_true (match_policy_score (&low, g, unknown, 0) > 30);
    assert_true (match_policy_score (&low, g, odd, 0) > 30);
    assert_true (match_policy_score (&high, g, unknown, 0) < 2);
    assert_true (match_policy_score (&high, g, odd, 0) < 2);
    /* a vertex that is not a node is ordered by its id */
    assert_int_equal (match_policy_score (&low, g, core, 0), 6);
    graph_destroy (g);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (by_name),
        cmocka_unit_test (from_words),
        cmocka_unit_test (bad_words),
        cmocka_unit_test (order_by_property),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
