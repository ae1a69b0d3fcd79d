/* test_routes.c - the table of routes: each route is reachable, refuses users without the
 * rights for it, and no request fits two of them
 */
#include "broker/core/test/fake_http.h"

#include <stdio.h>
#include <string.h>

#include "broker/api/api.h"

#define USER 1000
#define PATH_MAX_ 300

/* Calls fn with each route of each service. Returns the number of routes. */
static size_t each_route (void (*fn) (const struct api_route *r, void *arg), void *arg)
{
    size_t n = 0;

    for (const struct broker_service **s = SERVICES_WITH (routes); *s; s++) {
        for (const struct api_route *r = (*s)->routes; r->method; r++) {
            fn (r, arg);
            n++;
        }
    }
    return n;
}

/* A path of the pattern, with "7" for "{}". */
static const char *path_of (const char *pattern)
{
    static char path[PATH_MAX_];
    const char *gap = strstr (pattern, "{}");

    if (gap)
        snprintf (path, sizeof (path), "%.*s7%s", (int)(gap - pattern), pattern, gap + 2);
    else
        snprintf (path, sizeof (path), "%s", pattern);
    return path;
}

static void expect_reached (const struct api_route *r, void *unused)
{
    struct api_path p;
    const struct api_route *found = api_find_route (r->method, path_of (r->pattern), &p);

    (void)unused;
    if (found != r)
        fail_msg ("%s %s: %s takes its requests", r->method, r->pattern,
                  found ? found->pattern : "no route");
    assert_string_equal (p.arg, strstr (r->pattern, "{}") ? "7" : "");
}

static void test_each_is_reached (void **unused)
{
    (void)unused;
    services_arrange ();
    assert_true (each_route (expect_reached, NULL) > 20);
}

/* Whether a path can fit both patterns: "{}" is a whole segment, and fits any. */
static bool overlap (const char *a, const char *b)
{
    while (*a && *b) {
        size_t na = strcspn (a + 1, "/") + 1, nb = strcspn (b + 1, "/") + 1;
        bool any = !strncmp (a, "/{}", na) || !strncmp (b, "/{}", nb);

        if (!any && (na != nb || strncmp (a, b, na) != 0))
            return false;
        a += na;
        b += nb;
    }
    return !*a && !*b;
}

static void expect_no_overlap (const struct api_route *r, void *arg)
{
    const struct api_route *other = arg;

    if (r != other && !strcmp (r->method, other->method)
        && overlap (r->pattern, other->pattern))
        fail_msg ("%s: %s and %s fit the same path", r->method, r->pattern,
                  other->pattern);
}

static void compare_with_all (const struct api_route *r, void *unused)
{
    (void)unused;
    each_route (expect_no_overlap, (void *)(uintptr_t)r);
}

static void test_none_overlap (void **unused)
{
    (void)unused;
    assert_true (overlap ("/v1/jobs/{}", "/v1/jobs/count"));
    assert_true (overlap ("/v1/{}/7", "/v1/jobs/{}"));
    assert_false (overlap ("/v1/jobs/{}", "/v1/jobs"));
    assert_false (overlap ("/v1/jobs/{}/wait", "/v1/jobs/{}/output"));
    services_arrange ();
    each_route (compare_with_all, NULL);
}

/* -- requests -- */

static struct client *ask (struct small *s, const char *method, const char *path)
{
    char head[PATH_MAX_ + 20];

    snprintf (head, sizeof (head), "%s %s", method, path);
    return client_call (s, USER, head, "{}");
}

static bool begins_with (const char *text, const char *word)
{
    return strncmp (text, word, strlen (word)) == 0;
}

static void expect_rights (const struct api_route *r, void *arg)
{
    struct small *s = arg;

    if (r->roles != ROLE_ADMINISTRATOR)
        return;
    const struct client *c = ask (s, r->method, path_of (r->pattern));
    if (c->status != 403 || !begins_with (c->text, "not-operator: "))
        fail_msg ("%s %s: %d %s", r->method, r->pattern, c->status, c->text);
}

static void test_administrators_only (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    each_route (expect_rights, s);
    assert_false (broker_is_stopping (s->b));
    small_destroy (s);
}

/* A submit changes nothing that exists; every other change needs a role for the object. */
static void expect_decision (const struct api_route *r, void *unused)
{
    (void)unused;
    bool changes = strcmp (r->method, "GET") != 0 && strcmp (r->pattern, "/v1/jobs") != 0;

    if (r->roles == 0 || (r->roles & ROLE_USER && r->roles != ROLE_USER))
        fail_msg ("%s %s: the roles are not decided", r->method, r->pattern);
    if (r->roles & ROLE_USER && changes)
        fail_msg ("%s %s: each user may do this", r->method, r->pattern);
}

static void test_roles_are_decided (void **unused)
{
    (void)unused;
    services_arrange ();
    each_route (expect_decision, NULL);
}

/* The audit log has the requests of routes with an action: all that change something. */
static void expect_action (const struct api_route *r, void *unused)
{
    (void)unused;
    if (!r->action != !strcmp (r->method, "GET"))
        fail_msg ("%s %s: %s", r->method, r->pattern,
                  r->action ? "reads need no action" : "the audit log needs an action");
}

static void test_changes_have_actions (void **unused)
{
    (void)unused;
    services_arrange ();
    each_route (expect_action, NULL);
}

static void expect_405 (const struct api_route *r, void *arg)
{
    struct small *s = arg;
    static const char *const methods[] = { "GET", "POST", "PUT", "DELETE" };
    const char *path = path_of (r->pattern);
    size_t refused = 0;

    for (size_t i = 0; i < ARRAY_SIZE (methods); i++) {
        struct api_path p;

        if (api_find_route (methods[i], path, &p))
            continue;
        const struct client *c = ask (s, methods[i], path);
        if (c->status != 405 || !begins_with (c->text, "method-not-allowed: "))
            fail_msg ("%s %s: %d %s", methods[i], path, c->status, c->text);
        refused++;
    }
    assert_true (refused > 0);
}

static void test_wrong_method (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    each_route (expect_405, s);
    small_destroy (s);
}

static void test_wrong_path (void **unused)
{
    static const char *const paths[] = { "/",
                                         "/v1",
                                         "/v1/jobs/",
                                         "/v1/jobs//",
                                         "/v1/jobs/7/no",
                                         "/v1/status/7",
                                         "/v1/nodes/7/",
                                         "/v2/jobs" };
    struct small *s = small_create (1);

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (paths); i++) {
        const struct client *c = ask (s, "GET", paths[i]);
        if (c->status != 404 || !begins_with (c->text, "not-found: "))
            fail_msg ("%s: %d %s", paths[i], c->status, c->text);
    }
    small_destroy (s);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_each_is_reached),
        cmocka_unit_test (test_none_overlap),
        cmocka_unit_test (test_administrators_only),
        cmocka_unit_test (test_roles_are_decided),
        cmocka_unit_test (test_changes_have_actions),
        cmocka_unit_test (test_wrong_method),
        cmocka_unit_test (test_wrong_path),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
