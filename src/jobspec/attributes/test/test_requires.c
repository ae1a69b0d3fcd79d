/* test_requires.c - requests of users for particular nodes */
#include "common/test/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jobspec/attributes/requires.h"

static void test_texts (void **state)
{
    static const struct {
        const char *text, *json;
    } cases[] = {
        { "fast", "{\"properties\":[\"fast\"]}" },
        { " fast ", "{\"properties\":[\"fast\"]}" },
        { "zone=z1", "{\"properties\":[\"zone=z1\"]}" },
        { "^fast", "{\"properties\":[\"^fast\"]}" },
        { "host:node[1-3,7]", "{\"hostlist\":[\"node[1-3,7]\"]}" },
        { "hosts:a,b", "{\"hostlist\":[\"a,b\"]}" },
        { "rank:0-3", "{\"ranks\":[\"0-3\"]}" },
        { "property:a", "{\"properties\":[\"a\"]}" },
        { "a&b", "{\"and\":[{\"properties\":[\"a\"]},{\"properties\":[\"b\"]}]}" },
        { "a && b", "{\"and\":[{\"properties\":[\"a\"]},{\"properties\":[\"b\"]}]}" },
        { "a and b", "{\"and\":[{\"properties\":[\"a\"]},{\"properties\":[\"b\"]}]}" },
        { "a b", "{\"and\":[{\"properties\":[\"a\"]},{\"properties\":[\"b\"]}]}" },
        { "a|b|c",
          "{\"or\":[{\"properties\":[\"a\"]},{\"properties\":[\"b\"]},{\"properties\":"
          "[\"c\"]}]}" },
        { "a|b&c", "{\"or\":[{\"properties\":[\"a\"]},{\"and\":[{\"properties\":[\"b\"]},"
                   "{\"properties\":[\"c\"]}]}]}" },
        { "(a or b) and c",
          "{\"and\":[{\"or\":[{\"properties\":[\"a\"]},{\"properties\":[\"b\"]}]},"
          "{\"properties\":[\"c\"]}]}" },
        { "not a", "{\"not\":[{\"properties\":[\"a\"]}]}" },
        { "-a", "{\"not\":[{\"properties\":[\"a\"]}]}" },
        { "--a", "{\"not\":[{\"not\":[{\"properties\":[\"a\"]}]}]}" },
        { "not (a|b)",
          "{\"not\":[{\"or\":[{\"properties\":[\"a\"]},{\"properties\":[\"b\"]}]}]}" },
        { "not a|b",
          "{\"or\":[{\"not\":[{\"properties\":[\"a\"]}]},{\"properties\":[\"b\"]}]}" },
        { "orange and nothing android",
          "{\"and\":[{\"properties\":[\"orange\"]},{\"properties\":[\"nothing\"]},"
          "{\"properties\":[\"android\"]}]}" },
        { "'two words'", "{\"properties\":[\"two words\"]}" },
        { "a-b", "{\"properties\":[\"a-b\"]}" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        autojson json_t *o = requires_parse (cases[i].text, "-C", &err);
        if (!o)
            fail_msg ("%s: %s", cases[i].text, err.text);
        autofree char *json = json_dumps (o, JSON_COMPACT);
        assert_string_equal (json, cases[i].json);
    }
}

static void test_refused (void **state)
{
    static const char *const cases[][2] = {
        { "", "ends too early" },
        { " ", "ends too early" },
        { "a&", "ends too early" },
        { "a|", "ends too early" },
        { "not", "ends too early" },
        { "&a", "a name is missing" },
        { "a||", "ends too early" },
        { "()", "a name is missing" },
        { "(a", "a ')' is missing" },
        { "a)", "one ')' too many" },
        { "'a", "a quote has no end" },
        { "gpu*2", "counts" },
        { "[a|b]", "counts" },
        { "a,b", "a property's name" },
        { "!a", "a property's name" },
        { "^", "a property's name" },
        { "size:big", "host, rank or property" },
        { "host:", "names of nodes" },
        { "host:n[3-1]", "n[3-1]" },
        { "rank:x", "numbers" },
        { "rank:", "numbers" },
        { "((((((((((((((((((a))))))))))))))))))", "too many parentheses" },
        { "------------------a", "too many parentheses" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        json_t *o = requires_parse (cases[i][0], "-C", &err);
        if (o || !strstr (err.text, cases[i][1]) || strncmp (err.text, "-C: ", 4) != 0)
            fail_msg ("'%s': %s", cases[i][0], o ? "accepted" : err.text);
    }
    char long_text[REQUIRES_MAX + 2];
    struct error err = { 0 };
    memset (long_text, 'a', sizeof (long_text) - 1);
    long_text[sizeof (long_text) - 1] = '\0';
    assert_null (requires_parse (long_text, "-C", &err));
    assert_int_equal (err.code, E2BIG);
}

static void test_hosts (void **state)
{
    struct error err = { 0 };
    uint32_t n = 0;
    autojson json_t *o = requires_hosts ("node[1-3],x", "-w", &n, &err);

    (void)state;
    assert_non_null (o);
    assert_int_equal (n, 4);
    assert_null (requires_hosts ("", "-w", &n, &err));
    assert_null (requires_hosts ("node[1", "-w", &n, &err));
    assert_int_equal (strncmp (err.text, "-w: ", 4), 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_texts),
        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_hosts),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
