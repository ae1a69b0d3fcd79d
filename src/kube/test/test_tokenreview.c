/* test_tokenreview.c - answers of the API server, also hostile ones */
#include "kube/tokenreview.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/json.h"

static int reads (const char *text, char account[TOKENREVIEW_ACCOUNT_SIZE])
{
    autojson json_t *o = json_loads (text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    struct error err = { 0 };

    assert_non_null (o);
    int rc = tokenreview_read (o, "fluxq", account, &err);
    assert_true (rc == 0 || err.text[0]);
    return rc;
}

#define ANSWER(status) "{\"kind\":\"TokenReview\",\"status\":" status "}"
#define OF(user)                                                                         \
    ANSWER ("{\"authenticated\":true,\"audiences\":[\"fluxq\"],\"user\":{\"username\":"  \
            "\"" user "\"}}")

static void test_accepted (void **state)
{
    char account[TOKENREVIEW_ACCOUNT_SIZE];

    (void)state;
    assert_int_equal (reads (OF ("system:serviceaccount:science:my.robot-1"), account),
                      0);
    assert_string_equal (account, "science/my.robot-1");
}

static void test_refused (void **state)
{
    static const char *const texts[] = {
        ANSWER ("{}"),
        ANSWER ("{\"authenticated\":false,\"error\":\"no\"}"),
        /* no audience, another one, a text in place of the list, true as a text */
        ANSWER ("{\"authenticated\":true,\"user\":{\"username\":"
                "\"system:serviceaccount:a:b\"}}"),
        ANSWER ("{\"authenticated\":true,\"audiences\":[\"api\"],\"user\":{\"username\":"
                "\"system:serviceaccount:a:b\"}}"),
        ANSWER ("{\"authenticated\":true,\"audiences\":\"fluxq\",\"user\":{\"username\":"
                "\"system:serviceaccount:a:b\"}}"),
        ANSWER ("{\"authenticated\":\"true\",\"audiences\":[\"fluxq\"],\"user\":"
                "{\"username\":\"system:serviceaccount:a:b\"}}"),
        ANSWER ("{\"authenticated\":true,\"audiences\":[\"fluxq\"]}"),
        OF ("alice"),
        OF ("system:node:n1"),
        OF ("system:serviceaccount:"),
        OF ("system:serviceaccount:a"),
        OF ("system:serviceaccount:a:"),
        OF ("system:serviceaccount::b"),
        OF ("system:serviceaccount:a:b:c"),
        OF ("system:serviceaccount:a/b:c"),
        OF ("system:serviceaccount:a:b/c"),
        OF ("system:serviceaccount:a:b\\n"),
        OF ("system:serviceaccount:a:b\\u0000c"),
    };
    char account[TOKENREVIEW_ACCOUNT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof (texts) / sizeof (texts[0]); i++)
        assert_int_equal (reads (texts[i], account), -EACCES);
    assert_int_equal (reads ("{\"kind\":\"Status\",\"status\":\"Failure\"}", account),
                      -EBADMSG);
    assert_int_equal (reads ("[]", account), -EBADMSG);
    assert_int_equal (reads ("{\"kind\":\"TokenReview\"}", account), -EBADMSG);
}

static void test_long_names (void **state)
{
    char account[TOKENREVIEW_ACCOUNT_SIZE], text[1024], space[65], name[255];

    (void)state;
    memset (space, 'a', sizeof (space));
    memset (name, 'b', sizeof (name));
    for (int more = 0; more < 2; more++) {
        snprintf (text, sizeof (text), OF ("system:serviceaccount:%.*s:%.*s"), 63, space,
                  253 + more, name);
        assert_int_equal (reads (text, account), more ? -EACCES : 0);
        assert_int_equal (strlen (account), TOKENREVIEW_ACCOUNT_SIZE - 1);
        snprintf (text, sizeof (text), OF ("system:serviceaccount:%.*s:%.*s"), 63 + more,
                  space, 253, name);
        assert_int_equal (reads (text, account), more ? -EACCES : 0);
    }
}

static void test_question (void **state)
{
    autojson json_t *o = tokenreview_make ("abc", "fluxq");
    const json_t *spec = json_object_get (o, "spec");

    (void)state;
    assert_string_equal (json_string_value (json_object_get (spec, "token")), "abc");
    assert_int_equal (json_array_size (json_object_get (spec, "audiences")), 1);
    assert_null (tokenreview_make ("\xff", "fluxq"));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_accepted),
        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_long_names),
        cmocka_unit_test (test_question),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
