/* Kubeconfigs: the settings that are read, and the settings that are refused by name. */
#include "kube/kubeconfig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/fluxq-test-kubeconfig.XXXXXX";

static const char *put (const char *name, const char *text)
{
    static char path[256];
    FILE *f;

    snprintf (path, sizeof (path), "%s/%s", dir, name);
    f = fopen (path, "w");
    assert_non_null (f);
    fputs (text, f);
    fclose (f);
    return path;
}

static int setup (void **state)
{
    (void)state;
    unsetenv ("KUBECONFIG");
    unsetenv ("KUBERNETES_SERVICE_HOST");
    return mkdtemp (dir) ? 0 : -1;
}

static int teardown (void **state)
{
    char path[256];

    (void)state;
    snprintf (path, sizeof (path), "%s/config", dir);
    unlink (path);
    snprintf (path, sizeof (path), "%s/token", dir);
    unlink (path);
    return rmdir (dir);
}

#define CLUSTERS                                                                         \
    "apiVersion: v1\nkind: Config\ncurrent-context: one\n"                               \
    "clusters:\n- name: c1\n  cluster: {server: 'https://h1:6443/', "                    \
    "certificate-authority: ca.crt}\n"                                                   \
    "- name: c2\n  cluster:\n    server: https://h2\n    insecure-skip-tls-verify: "     \
    "true\n"                                                                             \
    "    tls-server-name: api.example\n"                                                 \
    "contexts:\n- name: one\n  context: {cluster: c1, user: u1, namespace: here}\n"      \
    "- name: two\n  context: {cluster: c2, user: u2}\n"                                  \
    "- name: lost\n  context: {cluster: c3, user: u1}\n"

static void test_contexts (void **state)
{
    const char *path =
        put ("config", CLUSTERS "users:\n- name: u1\n  user: {client-certificate: c.crt, "
                                "client-key: /abs/c.key}\n"
                                "- name: u2\n  user: {token: abc}\n");
    struct error err = { 0 };
    struct kubeconfig *kc = kubeconfig_load (path, NULL, &err);
    char expected[256];

    (void)state;
    assert_non_null (kc);
    assert_string_equal (kc->server,
                         "https://h1:6443"); /* no final slash: paths begin with one */
    assert_string_equal (kc->namespace_, "here");
    snprintf (expected, sizeof (expected), "%s/ca.crt",
              dir); /* relative to the file's folder */
    assert_string_equal (kc->tls.ca_file, expected);
    assert_string_equal (kc->tls.key_file, "/abs/c.key");
    assert_null (kc->token);
    kubeconfig_destroy (kc);

    kc = kubeconfig_load (path, "two", &err);
    assert_non_null (kc);
    assert_string_equal (kc->token, "abc");
    assert_true (kc->tls.insecure);
    assert_string_equal (kc->tls.server_name, "api.example");
    assert_null (kc->namespace_);
    kubeconfig_destroy (kc);

    assert_null (kubeconfig_load (path, "lost", &err));
    assert_non_null (strstr (err.text, "'c3'"));
    assert_null (kubeconfig_load (path, "none", &err));
    assert_non_null (strstr (err.text, "'none'"));
}

static void test_data_and_token_file (void **state)
{
    struct error err = { 0 };
    struct kubeconfig *kc;

    (void)state;
    put ("token", "first\n");
    kc = kubeconfig_load (put ("config", CLUSTERS
                               "users:\n- name: u1\n  user:\n    client-key-data: "
                               "LS0tLS1CRUdJTiBYLS0tLS0K\n    tokenFile: token\n"),
                          NULL, &err);
    assert_non_null (kc);
    assert_string_equal (kc->tls.key_data, "-----BEGIN X-----\n");
    assert_string_equal (kc->token, "first");
    put ("token", "second");
    assert_int_equal (kubeconfig_refresh (kc, &err), 0);
    assert_string_equal (kc->token, "second"); /* tokens are renewed in place */
    put ("token", "");
    assert_true (kubeconfig_refresh (kc, &err) < 0);
    assert_string_equal (kc->token, "second"); /* an empty file keeps the old token */
    kubeconfig_destroy (kc);
}

static void test_refused (void **state)
{
    static const struct {
        const char *users, *word;
    } cases[] = {
        { "users:\n- name: u1\n  user: {exec: {command: aws}}\n", "credential plugins" },
        { "users:\n- name: u1\n  user: {auth-provider: {name: gcp}}\n", "auth-provider" },
        { "users:\n- name: u1\n  user: {username: a, password: b}\n",
          "user name and password" },
        { "users:\n- name: u1\n  user: {token: abc, as: root}\n", "impersonation" },
        { "users:\n- name: u1\n  user: {token: 5}\n", "expected a string" },
        { "users:\n- name: u1\n  user: {client-key-data: '!!'}\n", "base64" },
        { "users:\n- name: u1\n  user: {client-key-data: aGVsbG8=}\n", "PEM" },
        { "users:\n- name: u1\n  user: {tokenFile: nowhere}\n", "nowhere" },
        { "users:\n- name: u1\n", "no user" },
        { "users: []\n", "'u1'" },
        { "", "'u1'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof (cases) / sizeof (cases[0]); i++) {
        struct error err = { 0 };
        char text[4096];

        snprintf (text, sizeof (text), "%s%s", CLUSTERS, cases[i].users);
        assert_null (kubeconfig_load (put ("config", text), NULL, &err));
        assert_non_null (strstr (err.text, cases[i].word));
    }
}

static void test_no_kubeconfig (void **state)
{
    struct error err = { 0 };

    (void)state;
    assert_null (kubeconfig_load (put ("config", "[]"), NULL, &err));
    assert_non_null (strstr (err.text, "not a kubeconfig"));
    assert_null (kubeconfig_load (put ("config", "clusters: 7\n"), NULL, &err));
    assert_non_null (strstr (err.text, "current-context"));
    setenv ("KUBECONFIG", "/a:/b", 1);
    assert_null (kubeconfig_load (NULL, NULL, &err));
    assert_non_null (strstr (err.text, "several files"));
    unsetenv ("KUBECONFIG");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_contexts),
        cmocka_unit_test (test_data_and_token_file),
        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_no_kubeconfig),
    };

    return cmocka_run_group_tests (tests, setup, teardown);
}
