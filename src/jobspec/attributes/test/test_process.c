/* Fails if a signal has another time or target than the user wrote, if a value is lost
 * on the way through the jobspec, or if an external value has no bound. */
#include "common/test/unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "common/macros.h"
#include "jobspec/attributes/process.h"

static void test_warning (void **state)
{
    static const struct {
        const char *text;
        int signum;
        double before;
        bool batch;
    } good[] = { { "USR1", SIGUSR1, 60, false },
                 { "SIGUSR2@120", SIGUSR2, 120, false },
                 { "B:10@0", 10, 0, true },
                 { "B:TERM", SIGTERM, 60, true } };
    static const char *const bad[] = {
        "", "@60", "B:", "NOSUCH", "USR1@", "USR1@x", "USR1@-1", "R:USR1", "USR1@65536"
    };
    struct job_warning w;
    struct error err = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (good); i++) {
        assert_int_equal (job_warning_parse (good[i].text, &w, "--signal", &err), 0);
        assert_int_equal (w.signum, good[i].signum);
        assert_true (w.before == good[i].before && w.batch == good[i].batch);
    }
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        assert_true (job_warning_parse (bad[i], &w, "--signal", &err) < 0);
        assert_int_equal (strncmp (err.text, "--signal", 8), 0);
    }
    job_warning_parse ("R:USR1", &w, "--signal", &err);
    assert_non_null (strstr (err.text, "reservation"));
}

static void test_warning_of_flux (void **state)
{
    static const struct {
        const char *text;
        int signum;
        double before;
    } good[] = { { "USR2", SIGUSR2, 60 },
                 { "@2m", SIGUSR1, 120 },
                 { "TERM@1.5", SIGTERM, 1.5 } };
    struct job_warning w;
    struct error err = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (good); i++) {
        assert_int_equal (job_warning_parse_flux (good[i].text, &w, "--signal", &err), 0);
        assert_int_equal (w.signum, good[i].signum);
        assert_true (w.before == good[i].before && !w.batch);
    }
    assert_true (job_warning_parse_flux ("SIGFOO", &w, "--signal", &err) < 0);
    assert_true (job_warning_parse_flux ("USR1@0", &w, "--signal", &err) < 0);
    assert_true (job_warning_parse_flux ("USR1@1d", &w, "--signal", &err) < 0);
}

static void test_user_env (void **state)
{
    struct job_user_env e;
    struct error err = { 0 };

    (void)state;
    assert_int_equal (job_user_env_parse (NULL, &e, "--get-user-env", &err), 0);
    assert_true (e.timeout == 8 && e.login);
    assert_int_equal (job_user_env_parse ("10S", &e, "--get-user-env", &err), 0);
    assert_true (e.timeout == 10 && !e.login);
    assert_int_equal (job_user_env_parse ("L", &e, "--get-user-env", &err), 0);
    assert_true (e.timeout == 8 && e.login);
    static const char *const bad[] = { "x", "0", "121", "10X", "10LS", "-1" };
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        assert_true (job_user_env_parse (bad[i], &e, "--get-user-env", &err) < 0);
}

static void test_round_trip (void **state)
{
    struct job_process p, q;
    struct error err = { 0 };

    (void)state;
    job_process_init (&p);
    p.warn = (struct job_warning){ SIGUSR2, 90, true, true };
    rlimits_add (&p.rlimits, "core=unlimited", NULL);
    rlimits_add (&p.rlimits, "stack=8192", NULL);
    p.umask = 027;
    p.nice = 7;
    p.user_env = (struct job_user_env){ 20, false };
    json_t *options = json_object (), *own = json_object ();
    assert_int_equal (job_process_to_json (&p, options, own), 0);
    json_t *system =
        json_pack ("{s:{s:o} s:o}", "shell", "options", options, "fluxq", own);
    assert_int_equal (job_process_from_json (&q, system, &err), 0);
    assert_true (q.warn.signum == SIGUSR2 && q.warn.before == 90 && q.warn.batch);
    assert_int_equal (q.rlimits.given, p.rlimits.given);
    assert_true (q.rlimits.soft[rlimits_find ("core")] == RLIM_INFINITY);
    assert_true (q.rlimits.soft[rlimits_find ("stack")] == 8192);
    assert_int_equal (q.umask, 027);
    assert_int_equal (q.nice, 7);
    assert_true (q.user_env.timeout == 20 && !q.user_env.login);
    /* in the form that flux-core writes */
    assert_int_equal (json_integer_value (
                          json_object_get (json_object_get (options, "rlimit"), "core")),
                      -1);
    json_decref (system);
}

static void test_hostile (void **state)
{
    static const struct {
        const char *text, *named;
    } cases[] = {
        { "{'shell':{'options':{'signal':7}}}", "signal" },
        { "{'shell':{'options':{'signal':{'signum':65}}}}", "signum" },
        { "{'shell':{'options':{'signal':{'timeleft':-1}}}}", "timeleft" },
        { "{'shell':{'options':{'signal':{'batch':1}}}}", "batch" },
        { "{'shell':{'options':{'rlimit':{'files':1}}}}", "files" },
        { "{'shell':{'options':{'rlimit':{'nofile':-2}}}}", "nofile" },
        { "{'shell':{'options':{'rlimit':{'nofile':'x'}}}}", "nofile" },
        { "{'fluxq':{'umask':'1000'}}", "umask" },
        { "{'fluxq':{'umask':'08'}}", "umask" },
        { "{'fluxq':{'umask':''}}", "umask" },
        { "{'fluxq':{'umask':22}}", "umask" },
        { "{'fluxq':{'process-nice':20}}", "process-nice" },
        { "{'fluxq':{'user-env':{'timeout':121}}}", "timeout" },
    };
    struct job_process p;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct error err = { 0 };
        char text[128];
        snprintf (text, sizeof (text), "%s", cases[i].text);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        json_t *system = json_loads (text, 0, NULL);
        assert_non_null (system);
        if (job_process_from_json (&p, system, &err) >= 0
            || !strstr (err.text, cases[i].named))
            fail_msg ("%s: %s", cases[i].text, err.text);
        json_decref (system);
    }
    assert_int_equal (job_process_from_json (&p, NULL, NULL), 0);
    assert_int_equal (p.umask, -1);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_warning),  cmocka_unit_test (test_warning_of_flux),
        cmocka_unit_test (test_user_env), cmocka_unit_test (test_round_trip),
        cmocka_unit_test (test_hostile),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
