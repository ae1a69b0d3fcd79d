/* test_audit.c - which requests the audit log has, and what it says of them. Fails if a
 * change or a refusal is not recorded, if a read is, or if lost lines are not counted. */
#include "broker/core/test/fake_http.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "broker/api/audit_note.h"
#include "common/io.h"

#define USER 1000
#define OTHER 1001
#define OPERATOR 0

extern const struct broker_service service_audit;

struct world {
    struct small *s;
    char dir[64], path[96];
    size_t seen; /* bytes of the log */
};

static int setup (void **state)
{
    struct world *w = calloc (1, sizeof (*w));
    struct error err = { 0 };

    snprintf (w->dir, sizeof (w->dir), "/tmp/fluxq-audit-XXXXXX");
    assert_non_null (mkdtemp (w->dir));
    snprintf (w->path, sizeof (w->path), "%s/audit.log", w->dir);
    w->s = small_create (2);
    w->s->b->host.state_dir = "/state";
    small_set (w->s, "audit-log", json_string (w->path));
    assert_int_equal (service_audit.load (w->s->b, &err), 0);
    assert_int_equal (service_audit.begin (w->s->b, &err), 0);
    *state = w;
    return 0;
}

static int teardown (void **state)
{
    struct world *w = *state;

    small_destroy (w->s);
    assert_int_equal (io_remove_tree (w->dir, NULL), 0);
    free (w);
    return 0;
}

/* The lines of the log that were not read yet. The time is left out. */
static const char *new_lines (struct world *w)
{
    static struct strbuf text = STRBUF_INIT (20000);
    char raw[20000], *line, *rest = raw;
    int fd = open (w->path, O_RDONLY | O_CLOEXEC);

    assert_true (fd >= 0);
    ssize_t n = pread (fd, raw, sizeof (raw) - 1, (off_t)w->seen);
    assert_in_range (n, 0, sizeof (raw) - 2);
    close (fd);
    w->seen += (size_t)n;
    raw[n] = '\0';
    strbuf_reset (&text);
    while ((line = strsep (&rest, "\n")) && *line) {
        static const char time[] = "{\"time\":\"1970-01-12T13:46:40.000000Z\",";
        assert_memory_equal (line, time, sizeof (time) - 14); /* the minute may pass */
        strbuf_addf (&text, "%s\n", line + sizeof (time) - 1);
    }
    return text.buf;
}

/* Expects one line with this caller, request, jobs and result. */
static void expect_line (struct world *w, unsigned uid, const char *path,
                         const char *action, const char *jobs, const char *result)
{
    char want[2000];

    snprintf (want, sizeof (want),
              "\"user\":\"%s\",\"uid\":%u,\"by\":\"socket\",\"from\":\"pid 7\","
              "\"method\":\"POST\",\"path\":\"%s\",\"action\":\"%s\",%s,%s}\n",
              uid ? "user" : "root", uid, path, action, jobs, result);
    assert_string_equal (new_lines (w), want);
}

#define NO_JOBS "\"jobs\":[],\"njobs\":0,\"failed\":0,\"owner\":null"
#define JOB_1 "\"jobs\":[1],\"njobs\":1,\"failed\":0,\"owner\":\"user\""
#define DONE "\"status\":200,\"code\":null"

static void test_submit (void **state)
{
    struct world *w = *state;
    static const char jobspec[] =
        "{\"version\":1,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"task\","
        "\"with\":[{\"type\":\"core\",\"count\":1}]}],\"tasks\":[{\"command\":[\"true\"],"
        "\"slot\":\"task\",\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{"
        "\"duration\":60,\"cwd\":\"/\"}}}";
    const struct client *c =
        client_call (w->s, USER, "POST /v1/jobs\nIdempotency-Key: k", jobspec);

    assert_int_equal (c->status, 201);
    expect_line (w, USER, "/v1/jobs", "submit", JOB_1, "\"status\":201,\"code\":null");
    c = client_call (w->s, USER, "POST /v1/jobs", "{}");
    assert_int_equal (c->status, 422);
    expect_line (w, USER, "/v1/jobs", "submit", NO_JOBS,
                 "\"status\":422,\"code\":\"bad-jobspec\"");
    c = client_call (w->s, USER, "POST /v1/jobs?test-only=1", jobspec);
    assert_int_equal (c->status, 200);
    assert_string_equal (new_lines (w), "");
}

static void test_words (void **state)
{
    static const struct {
        const char *path, *body, *action;
    } cases[] = {
        { "/v1/jobs/1/urgency", "{\"urgency\":0}", "hold" },
        { "/v1/jobs/1/urgency", "{\"urgency\":16}", "release" },
        { "/v1/jobs/1/urgency", "{\"urgency\":20}", "urgency" },
        { "/v1/jobs/1/urgency", "{\"priority\":20}", "urgency" },
        { "/v1/jobs/1/limit", "{\"limit\":50}", "limit" },
        { "/v1/jobs/1/limit", "{\"limit\":70}", "extend" },
        { "/v1/jobs/1/memo", "{\"comment\":\"x\"}", "update" },
        { "/v1/nodes/node0", "{\"action\":\"drain\",\"reason\":\"x\"}", "drain" },
        { "/v1/nodes/node0", "{\"action\":\"resume\"}", "resume" },
        { "/v1/queues/batch", "{\"action\":\"stop\"}", "stop" },
        { "/v1/queues/batch", "{\"action\":\"start\"}", "start" },
    };
    struct world *w = *state;
    char head[100];

    w->s->slots = 100; /* the job waits */
    small_submit (w->s, "duration: 60");
    small_turn (w->s);
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        snprintf (head, sizeof (head), "POST %s", cases[i].path);
        const struct client *c = client_call (w->s, OPERATOR, head, cases[i].body);
        if (c->status != 200)
            fail_msg ("%s %s: %d %s", head, cases[i].body, c->status, c->text);
        expect_line (w, OPERATOR, cases[i].path, cases[i].action,
                     strstr (head, "jobs") ? JOB_1 : NO_JOBS, DONE);
    }
}

static void test_refusals (void **state)
{
    struct world *w = *state;
    const struct client *c;

    small_submit (w->s, "duration: 60");
    small_turn (w->s);
    c = client_call (w->s, OTHER, "POST /v1/jobs/1/limit", "{\"limit\":1}");
    assert_int_equal (c->status, 403);
    expect_line (w, OTHER, "/v1/jobs/1/limit", "limit", JOB_1,
                 "\"status\":403,\"code\":\"not-owner\"");
    c = client_call (w->s, OTHER, "POST /v1/nodes/node0", "{\"action\":\"drain\"}");
    assert_int_equal (c->status, 403);
    expect_line (w, OTHER, "/v1/nodes/node0", "node", NO_JOBS,
                 "\"status\":403,\"code\":\"not-operator\"");
    c = client_call (w->s, OTHER, "POST /v1/jobs/17/limit", "{\"limit\":1}");
    assert_int_equal (c->status, 404);
    expect_line (w, OTHER, "/v1/jobs/17/limit", "limit", NO_JOBS,
                 "\"status\":404,\"code\":\"unknown-job\"");
    c = client_call (w->s, OTHER, "GET /v1/jobs/1/output", NULL); /* a read */
    assert_int_equal (c->status, 403);
    assert_string_equal (
        new_lines (w),
        "\"user\":\"user\",\"uid\":1001,\"by\":\"socket\",\"from\":\"pid 7\","
        "\"method\":\"GET\",\"path\":\"/v1/jobs/1/output\",\"action\":null," NO_JOBS
        ",\"status\":403,\"code\":\"not-owner\"}\n");
}

/* A command inside a job is a guest of the server. */
static void test_inside_job (void **state)
{
    struct world *w = *state;

    client_call (w->s, USER, "POST /v1/cancel\nBy: guest", "{\"ids\":\"7\"}");
    assert_non_null (strstr (new_lines (w), "\"by\":\"job\",\"from\":\"pid 7\""));
    client_call (w->s, USER, "POST /v1/cancel\nBy: munge", "{\"ids\":\"7\"}");
    assert_non_null (strstr (new_lines (w), "\"by\":\"munge\","));
}

static void test_reads (void **state)
{
    static const char *const heads[] = { "GET /v1/jobs",         "GET /v1/jobs/1",
                                         "GET /v1/status",       "GET /v1/jobs/17",
                                         "GET /v1/nowhere",      "POST /v1/nowhere",
                                         "POST /v1/status",      "GET /v1/cancel",
                                         "GET /v1/jobs/1/events" };
    struct world *w = *state;

    small_submit (w->s, "duration: 60");
    for (size_t i = 0; i < ARRAY_SIZE (heads); i++)
        client_call (w->s, USER, heads[i], NULL);
    assert_string_equal (new_lines (w), "");
}

/* The log has the first hundred jobs of a long cancel, their number and their owners. */
static void test_many_jobs (void **state)
{
    struct world *w = *state;
    autostrbuf struct strbuf want = STRBUF_INIT (2000);

    w->s->slots = 100;
    for (unsigned i = 1; i <= 120; i++) {
        struct entry *e = small_submit (w->s, "duration: 60");
        struct job *job = entry_job (e);
        if (i <= AUDIT_JOBS_MAX)
            strbuf_addf (&want, "%s%u", i > 1 ? "," : "\"jobs\":[", i);
        free (job->user);
        job->user = strdup (i % 3 ? "alice" : "bob");
        job->userid = i % 3 ? OTHER : USER;
    }
    strbuf_adds (&want, "],\"njobs\":120,\"failed\":0,\"owner\":\"alice,bob\"");
    assert_int_equal (
        client_call (w->s, OPERATOR, "POST /v1/cancel", "{\"ids\":\"1-120\"}")->status,
        200);
    expect_line (w, OPERATOR, "/v1/cancel", "cancel", want.buf, DONE);
    assert_int_equal (
        client_call (w->s, OTHER, "POST /v1/cancel", "{\"ids\":\"3,6,999\"}")->status,
        200);
    expect_line (w, OTHER, "/v1/cancel", "cancel",
                 "\"jobs\":[3,6,999],\"njobs\":3,\"failed\":3,\"owner\":\"bob\"",
                 "\"status\":200,\"code\":\"not-owner\"");
    client_call (w->s, OTHER, "POST /v1/cancel", "{\"ids\":\"3\",\"signal\":10}");
    expect_line (w, OTHER, "/v1/cancel", "signal",
                 "\"jobs\":[3],\"njobs\":1,\"failed\":1,\"owner\":\"bob\"",
                 "\"status\":200,\"code\":\"not-owner\"");
}

/* The list of owners is bounded, and says that it is not complete. */
static void test_many_owners (void **state)
{
    struct world *w = *state;

    w->s->slots = 100;
    for (unsigned i = 0; i < 60; i++) {
        char name[32];
        struct job *job = entry_job (small_submit (w->s, "duration: 60"));
        snprintf (name, sizeof (name), "user%02u", i);
        free (job->user);
        job->user = strdup (name);
    }
    client_call (w->s, OPERATOR, "POST /v1/cancel", "{\"state\":\"pending\"}");
    const char *text = new_lines (w),
               *owner = strstr (text, "\"owner\":\"user00,user01,");
    assert_non_null (owner);
    assert_non_null (strstr (text, ",...\",\"status\":200"));
    assert_true (strstr (text, ",...\"") - owner < AUDIT_OWNERS_SIZE + 10);
}

static void set_file_limit (rlim_t most)
{
    struct rlimit limit;

    assert_int_equal (getrlimit (RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = most;
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &limit), 0);
}

/* The audit log in GET /v1/status; NULL: not shown. */
static const char *status_of (struct world *w, uid_t uid)
{
    const struct client *c = client_call (w->s, uid, "GET /v1/status", NULL);

    assert_int_equal (c->status, 200);
    return strstr (c->text, "\"audit_log\":");
}

/* No room: requests are served, the log says how many it lacks, and the status why. */
static void test_lost_lines (void **state)
{
    struct world *w = *state;
    static const char request[] = "POST /v1/queues/batch",
                      body[] = "{\"action\":\"stop\"}";

    signal (SIGXFSZ, SIG_IGN);
    client_call (w->s, OPERATOR, request, body);
    expect_line (w, OPERATOR, "/v1/queues/batch", "stop", NO_JOBS, DONE);
    assert_non_null (strstr (status_of (w, OPERATOR), "\"lost\":0,\"trouble\":null"));
    assert_null (status_of (w, USER));
    set_file_limit (w->seen + 10);
    for (int i = 0; i < 3; i++)
        assert_int_equal (client_call (w->s, OPERATOR, request, body)->status, 200);
    assert_string_equal (new_lines (w), "");
    assert_non_null (strstr (status_of (w, OPERATOR), "\"lost\":3,\"trouble\":\"/tmp"));
    set_file_limit (RLIM_INFINITY);
    client_call (w->s, OPERATOR, request, "{\"action\":\"start\"}");
    const char *text = new_lines (w);
    assert_memory_equal (text, "\"lost\":3}\n\"user\":\"root\"", 23);
    assert_non_null (strstr (text, "\"start\""));
    assert_non_null (strstr (status_of (w, OPERATOR), "\"lost\":3,\"trouble\":null"));

    set_file_limit (w->seen + 10);
    client_call (w->s, OPERATOR, request, body);
    small_advance (w->s, 10); /* still no room */
    assert_string_equal (new_lines (w), "");
    set_file_limit (RLIM_INFINITY);
    small_advance (w->s, 10);
    assert_string_equal (new_lines (w), "\"lost\":1}\n");
}

static char torture_path[96];

static void scenario (struct small *s)
{
    struct error err = { 0 };

    long countdown = small_spare ();
    small_set (s, "audit-log", json_string (torture_path));
    small_resume (countdown);
    if (service_audit.load (s->b, &err) < 0 || service_audit.begin (s->b, &err) < 0)
        return;
    s->slots = 100;
    small_submit (s, "duration: 60");
    small_turn (s);
    client_call (s, OPERATOR, "POST /v1/cancel", "{\"ids\":\"1\"}");
    client_call (s, OTHER, "POST /v1/jobs/1/limit", "{\"limit\":1}");
}

static void test_no_memory (void **state)
{
    struct world *w = *state;

    snprintf (torture_path, sizeof (torture_path), "%s", w->path);
    small_torture (1, scenario);
}

static int setup_dir (void **state)
{
    setup (state);
    small_destroy (((struct world *)*state)->s);
    return 0;
}

static int teardown_dir (void **state)
{
    struct world *w = *state;

    assert_int_equal (io_remove_tree (w->dir, NULL), 0);
    free (w);
    return 0;
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_submit, setup, teardown),
        cmocka_unit_test_setup_teardown (test_words, setup, teardown),
        cmocka_unit_test_setup_teardown (test_refusals, setup, teardown),
        cmocka_unit_test_setup_teardown (test_inside_job, setup, teardown),
        cmocka_unit_test_setup_teardown (test_reads, setup, teardown),
        cmocka_unit_test_setup_teardown (test_many_jobs, setup, teardown),
        cmocka_unit_test_setup_teardown (test_many_owners, setup, teardown),
        cmocka_unit_test_setup_teardown (test_lost_lines, setup, teardown),
        cmocka_unit_test_setup_teardown (test_no_memory, setup_dir, teardown_dir),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
