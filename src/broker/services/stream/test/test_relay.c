/* test_relay.c - clients of a job's agents: bytes both ways, and every end there is */
#include "broker/core/test/fake_agent.h"
#include "broker/core/test/fake_http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol/agent_api.h"
#include "protocol/session.h"

#define USER 1000
#define UPGRADE "\nConnection: Upgrade\nUpgrade: " AGENT_PROTOCOL
#define CONNECT "POST /v1/jobs/1/connect" UPGRADE
#define TOKEN "00112233445566778899aabbccddeeff"
#define CONNECT_SESSION "POST /v1/jobs/1/connect?session=" TOKEN UPGRADE
#define FLOOD ((size_t)8 * 1024 * 1024) /* bytes: more than all buffers on the way hold */
#define USER_MAX 128                    /* as in relay.c */
#define ALL_MAX 1024

/* -- the timer of relay.c, which waits for a client to close: the test says when -- */

#define LINGER_MS 2000

int __real_uv_timer_start (uv_timer_t *timer, uv_timer_cb fn, uint64_t ms,
                           uint64_t repeat);
int __wrap_uv_timer_start (uv_timer_t *timer, uv_timer_cb fn, uint64_t ms,
                           uint64_t repeat);

static struct {
    uv_timer_t *timer;
    uv_timer_cb fn;
} lingering;

int __wrap_uv_timer_start (uv_timer_t *timer, uv_timer_cb fn, uint64_t ms,
                           uint64_t repeat)
{
    if (ms != LINGER_MS)
        return __real_uv_timer_start (timer, fn, ms, repeat);
    lingering.timer = timer;
    lingering.fn = fn;
    return 0;
}

/* -- helpers -- */

static struct small *begin (void)
{
    struct small *s = small_create (1);

    small_submit (s, "duration: 60");
    small_turn (s);
    small_ready (s, 1);
    return s;
}

/* A client whose connection is through: agent n is at the other end. */
static struct client *open_as (struct small *s, const char *head, size_t n)
{
    struct client *c = client_call (s, USER, head, NULL);

    assert_non_null (agent_at (n));
    agent_accept (agent_at (n));
    client_switch (c, "");
    small_turn (s);
    assert_int_equal (c->status, 101);
    return c;
}

/* Turns, in which bytes move on. */
static void run (struct small *s)
{
    for (int i = 0; i < 20; i++)
        small_turn (s);
}

static void put (int fd, const char *text)
{
    assert_int_equal (write (fd, text, strlen (text)), strlen (text));
}

/* Returns the bytes that arrive at fd, and "$" for the end of the stream. The text is
 * valid until the next call. */
static const char *get (struct small *s, int fd)
{
    static char text[1024];
    size_t len = 0;
    ssize_t n;

    run (s);
    while ((n = recv (fd, text + len, sizeof (text) - len - 2, 0)) > 0)
        len += (size_t)n;
    snprintf (text + len, sizeof (text) - len, "%s", n == 0 ? "$" : "");
    return text;
}

static void hang_up (int *fd)
{
    close (*fd);
    *fd = -1;
}

/* The request is refused so, and no agent is asked. */
static void refused (struct small *s, uid_t uid, const char *head, int status,
                     const char *code)
{
    struct client *c = client_call (s, uid, head, NULL);

    assert_int_equal (c->status, status);
    assert_true (!strncmp (c->text, code, strlen (code))
                 && c->text[strlen (code)] == ':');
}

/* -- bytes -- */

static void test_both_ways (void **unused)
{
    struct small *s = begin ();
    struct client *c = client_call (s, USER, CONNECT, NULL);
    struct agent *a = agent_at (0);

    (void)unused;
    assert_int_equal (a->job, 1);
    assert_int_equal (c->status, 0);
    agent_accept (a);
    client_switch (c, "early ");
    put (c->fd, "late");
    assert_string_equal (get (s, a->fd), "early late");
    put (a->fd, "answer");
    assert_string_equal (get (s, c->fd), "answer");
    put (c->fd, "more");
    assert_string_equal (get (s, a->fd), "more");
    small_destroy (s);
}

static char byte_at (size_t position)
{
    return (char)(position % 251);
}

/* Sends until the way is full; returns the number of bytes. */
static size_t flood (struct small *s, int from)
{
    static char piece[65536];
    size_t sum = 0;
    ssize_t n;

    for (int quiet = 0; quiet < 3 && sum < FLOOD; quiet++) {
        do {
            for (size_t i = 0; i < sizeof (piece); i++)
                piece[i] = byte_at (sum + i);
            n = send (from, piece, sizeof (piece), MSG_NOSIGNAL);
            sum += n > 0 ? (size_t)n : 0;
            quiet = n > 0 ? 0 : quiet;
        } while (n > 0 && sum < FLOOD);
        run (s);
    }
    return sum;
}

/* Takes all that comes: as many bytes as flood() sent, and each in its place. */
static size_t drain (struct small *s, int to)
{
    static char piece[65536];
    size_t sum = 0;
    ssize_t n;

    for (int quiet = 0; quiet < 3; quiet++) {
        run (s);
        while ((n = recv (to, piece, sizeof (piece), 0)) > 0) {
            for (size_t i = 0; i < (size_t)n; i++)
                assert_int_equal (piece[i], byte_at (sum + i));
            sum += (size_t)n;
            quiet = 0;
            run (s);
        }
    }
    return sum;
}

/* A side that takes nothing makes the other side wait; all sent bytes arrive later. */
static void test_slow_sides (void **unused)
{
    struct small *s = begin ();
    struct client *c = open_as (s, CONNECT, 0);
    struct agent *a = agent_at (0);

    (void)unused;
    size_t down = flood (s, a->fd), up = flood (s, c->fd);
    assert_true (down < FLOOD && up < FLOOD);
    assert_int_equal (drain (s, c->fd), down);
    assert_int_equal (drain (s, a->fd), up);
    put (c->fd, "more");
    assert_string_equal (get (s, a->fd), "more");
    small_destroy (s);
}

/* -- the client ends -- */

static void test_client_closes (void **unused)
{
    struct small *s = begin ();
    struct client *c = open_as (s, CONNECT, 0);
    struct agent *a = agent_at (0);

    (void)unused;
    put (c->fd, "last words");
    hang_up (&c->fd);
    assert_string_equal (get (s, a->fd), "last words$");
    assert_true (a->closed && c->ended);
    assert_null (agent_at (1)); /* it has no session */
    small_destroy (s);
}

/* ... by half, with an answer under way: that is an end, too. */
static void test_client_half_closes (void **unused)
{
    struct small *s = begin ();
    struct client *c = open_as (s, CONNECT, 0);
    struct agent *a = agent_at (0);

    (void)unused;
    put (c->fd, "question");
    assert_int_equal (shutdown (c->fd, SHUT_WR), 0);
    assert_string_equal (get (s, a->fd), "question$");
    assert_string_equal (get (s, c->fd), "$");
    assert_true (a->closed && c->ended);
    small_destroy (s);
}

/* ... while the agent takes nothing and the relay waits for it. */
static void test_client_of_full_agent (void **unused)
{
    struct small *s = begin ();
    struct client *c = open_as (s, CONNECT, 0);
    struct agent *a = agent_at (0);

    (void)unused;
    assert_true (flood (s, c->fd) < FLOOD);
    hang_up (&c->fd);
    run (s);
    assert_true (a->closed && c->ended);
    small_destroy (s);
}

static void assert_told_gone (struct small *s, struct agent *a)
{
    uint8_t token[SESSION_TOKEN], message[SESSION_MESSAGE_MAX], got[sizeof (message) + 1];

    assert_true (session_parse (TOKEN, token));
    size_t len = session_encode (SESSION_GONE, token, 0, 0, message);
    run (s);
    assert_int_equal (recv (a->fd, got, sizeof (got), 0), len);
    assert_memory_equal (got, message, len);
    assert_int_equal (recv (a->fd, got, sizeof (got), 0), 0);
    assert_true (a->closed);
}

static void test_session_ends (void **unused)
{
    struct small *s = begin ();
    struct client *c = open_as (s, CONNECT_SESSION, 0);

    (void)unused;
    put (c->fd, "last words");
    hang_up (&c->fd);
    assert_string_equal (get (s, agent_at (0)->fd), "last words$");
    assert_true (c->ended);
    assert_non_null (agent_at (1));
    agent_accept (agent_at (1));
    assert_told_gone (s, agent_at (1));
    assert_null (agent_at (2));
    small_destroy (s);
}

/* The client of a session goes; returns the stream on which the agent shall learn of it. */
static struct agent *end_session (struct small *s, size_t n)
{
    struct client *c = open_as (s, CONNECT_SESSION, n);

    hang_up (&c->fd);
    run (s);
    assert_true (c->ended);
    assert_non_null (agent_at (n + 1));
    return agent_at (n + 1);
}

/* The events that can come before the agent knows that the client of a session has
 * gone. */
static void test_session_end_untold (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    agent_refuse (end_session (s, 0), ESRCH, "the job does not run");
    assert_true (agent_at (1)->closed);
    struct agent *late = end_session (s, 2), *breaks = end_session (s, 4);
    hang_up (&breaks->fd);
    agent_accept (breaks);
    assert_true (breaks->closed && !late->closed);
    small_destroy (s); /* the broker stops before it could tell */
}

static void test_session_without_agent (void **unused)
{
    struct small *s = begin ();
    struct client *c = client_call (s, USER, CONNECT_SESSION, NULL);

    (void)unused;
    agent_accept (agent_at (0));
    client_switch (c, "");
    s->agents_away = true;
    hang_up (&c->fd);
    run (s);
    assert_true (agent_at (0)->closed && c->ended);
    assert_null (agent_at (1));
    small_destroy (s);
}

/* A session whose job has gone has nobody to tell. */
static void test_session_of_gone_job (void **unused)
{
    struct small *s = begin ();
    struct client *c = open_as (s, CONNECT_SESSION, 0);
    struct agent *told = end_session (s, 1);

    (void)unused;
    small_finish (s, 1, "exited");
    assert_true (told->closed);
    assert_string_equal (get (s, c->fd), "$");
    hang_up (&c->fd);
    run (s);
    assert_true (c->ended);
    assert_null (agent_at (3));
    small_destroy (s);
}

/* The client goes before it is one. */
static void test_client_leaves_early (void **unused)
{
    struct small *s = begin ();
    struct client *asks = client_call (s, USER, CONNECT, NULL);
    struct client *switches = client_call (s, USER, CONNECT_SESSION, NULL);
    struct client *refused_one = client_call (s, USER, CONNECT, NULL);

    (void)unused;
    client_leave (asks);
    agent_accept (agent_at (0));
    assert_true (agent_at (0)->closed);
    agent_accept (agent_at (1));
    client_leave (switches);
    assert_true (agent_at (1)->closed);
    client_leave (refused_one);
    agent_refuse (agent_at (2), EIO, "broken");
    assert_true (agent_at (2)->closed);
    assert_null (agent_at (3));
    small_destroy (s);
}

/* -- the agent ends -- */

/* The client gets what is under way, and then has time to close. */
static void test_agent_closes (void **unused)
{
    struct small *s = begin ();
    struct client *c = open_as (s, CONNECT, 0);
    struct agent *a = agent_at (0);

    (void)unused;
    size_t sent = flood (s, a->fd);
    hang_up (&a->fd);
    assert_int_equal (drain (s, c->fd), sent);
    assert_string_equal (get (s, c->fd), "$");
    assert_true (a->closed && !c->ended);
    put (c->fd, "which nobody reads");
    run (s);
    assert_false (c->ended);
    hang_up (&c->fd);
    run (s);
    assert_true (c->ended);
    small_destroy (s);
}

/* ... but not for ever. */
static void test_client_stays (void **unused)
{
    struct small *s = begin ();
    struct client *c = open_as (s, CONNECT, 0);

    (void)unused;
    lingering.fn = NULL;
    hang_up (&agent_at (0)->fd);
    assert_string_equal (get (s, c->fd), "$");
    assert_non_null (lingering.fn);
    assert_false (c->ended);
    lingering.fn (lingering.timer);
    run (s);
    assert_true (c->ended);
    small_destroy (s);
}

/* The agent says why it ends, and takes no more of what the client sends. */
static void test_agent_shuts_out (void **unused)
{
    struct small *s = begin ();
    struct client *c = open_as (s, CONNECT, 0);
    struct agent *a = agent_at (0);

    (void)unused;
    put (a->fd, "reason");
    hang_up (&a->fd);
    put (c->fd, "too late");
    assert_string_equal (get (s, c->fd), "reason$");
    small_destroy (s);
}

/* -- the job ends -- */

/* All that the agent has sent is the client's, also when the job has been cleaned up before
 * the client takes it. */
static void test_job_ends (void **unused)
{
    struct small *s = begin ();
    struct client *c = open_as (s, CONNECT, 0), *quiet = open_as (s, CONNECT, 1);

    (void)unused;
    size_t sent = flood (s, agent_at (0)->fd);
    small_finish (s, 1, "exited");
    assert_string_equal (get (s, quiet->fd), "$");
    assert_int_equal (drain (s, c->fd), sent);
    assert_string_equal (get (s, c->fd), "$");
    assert_true (agent_at (0)->closed && agent_at (1)->closed);
    small_destroy (s);
}

static void test_job_ends_early (void **unused)
{
    struct small *s = begin ();
    struct client *asks = client_call (s, USER, CONNECT, NULL);
    struct client *switches = client_call (s, USER, CONNECT, NULL);

    (void)unused;
    agent_accept (agent_at (1));
    put (agent_at (1)->fd, "last words");
    small_finish (s, 1, "exited");
    assert_int_equal (asks->status, 409);
    assert_string_equal (asks->text, "job-ended: job 1: it has ended");
    assert_true (agent_at (0)->closed);
    client_switch (switches, "early");
    assert_string_equal (get (s, switches->fd), "last words$");
    assert_true (agent_at (1)->closed);
    small_destroy (s);
}

/* The broker stops with a client in each state; small_destroy() looks for what is left. */
static void test_broker_stops (void **unused)
{
    struct small *s = begin ();
    struct client *asks = client_call (s, USER, CONNECT, NULL);
    struct client *switches = client_call (s, USER, CONNECT, NULL);

    (void)unused;
    agent_accept (agent_at (1));
    assert_int_equal (switches->status, 0);
    open_as (s, CONNECT, 2);
    open_as (s, CONNECT, 3);
    hang_up (&agent_at (3)->fd);
    end_session (s, 4);
    assert_int_equal (asks->status, 0);
    small_destroy (s);
}

/* -- refusals -- */

static void test_agent_refuses (void **unused)
{
    static const struct {
        int code, status;
        const char *text;
    } cases[] = {
        { ESRCH, 409, "job-ended: job 1: why" },
        { EAGAIN, 429, "too-many-connections: job 1: why" },
        { EIO, 502, "agent-unreachable: job 1: why" },
        { ETIMEDOUT, 504, "agent-unreachable: job 1: why" },
        { ENOMEM, 503, "busy: job 1: why" },
    };
    struct small *s = begin ();

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct client *c = client_call (s, USER, CONNECT, NULL);
        agent_refuse (agent_at (i), cases[i].code, "why");
        assert_int_equal (c->status, cases[i].status);
        assert_string_equal (c->text, cases[i].text);
        assert_string_equal (c->header, cases[i].status == 429 || cases[i].status == 503
                                            ? "Retry-After: 1"
                                            : "");
        assert_true (agent_at (i)->closed);
    }
    small_destroy (s);
}

static void test_refused (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    refused (s, USER, "POST /v1/jobs/1/connect", 426, "upgrade-required");
    refused (s, USER, "POST /v1/jobs/1/connect\nUpgrade: websocket", 426,
             "upgrade-required");
    refused (s, USER, "POST /v1/jobs/7/connect" UPGRADE, 404, "unknown-job");
    refused (s, USER, "POST /v1/jobs/x/connect" UPGRADE, 400, "bad-request");
    refused (s, USER + 1, CONNECT, 403, "not-owner");
    small_submit (s, "duration: 60");
    refused (s, USER, "POST /v1/jobs/2/connect" UPGRADE, 409, "job-pending");
    struct entry *array = small_submit (s, "duration: 60, fluxq: {array: \"1-2\"}");
    small_turn (s);
    char head[100];
    snprintf (head, sizeof (head), "POST /v1/jobs/%ju/connect" UPGRADE,
              (uintmax_t)entry_id (array));
    refused (s, USER, head, 409, "wrong-state");
    s->agents_away = true;
    refused (s, USER, CONNECT, 503, "busy");
    small_finish (s, 1, "exited");
    refused (s, USER, CONNECT, 409, "job-ended");
    assert_null (agent_at (0));
    small_destroy (s);
}

/* An operator may connect to the job of another user: root is one. */
static void test_operator (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    struct client *c = client_call (s, 0, CONNECT, NULL);
    agent_accept (agent_at (0));
    client_switch (c, "");
    put (c->fd, "x");
    assert_string_equal (get (s, agent_at (0)->fd), "x");
    small_destroy (s);
}

/* So many for a user, so many in all; who goes makes room. */
static void test_too_many (void **unused)
{
    struct small *s = begin ();

    (void)unused;
    for (size_t i = 0; i < USER_MAX; i++)
        client_ask (s, USER, CONNECT, NULL);
    refused (s, USER, CONNECT, 429, "too-many-connections");
    agent_refuse (agent_at (0), EIO, "broken");
    client_ask (s, USER, CONNECT, NULL);
    assert_non_null (agent_at (USER_MAX));
    refused (s, USER, CONNECT, 429, "too-many-connections");
    assert_null (agent_at (USER_MAX + 1));
    small_destroy (s);
}

static void test_too_many_in_all (void **unused)
{
    static uid_t operators[ALL_MAX / USER_MAX + 1];
    struct small *s = begin ();
    size_t n = ARRAY_SIZE (operators);

    (void)unused;
    assert_non_null (s->b->operators = operators_create (1));
    for (size_t i = 0; i < n; i++) {
        operators[i] = (uid_t)(2000 + i);
        assert_int_equal (operators_add (s->b->operators, OPERATORS_SITE, operators[i]),
                          0);
    }
    for (size_t i = 0; i < ALL_MAX; i++)
        client_ask (s, operators[i / USER_MAX], CONNECT, NULL);
    assert_non_null (agent_at (ALL_MAX - 1));
    refused (s, operators[n - 1], CONNECT, 429, "too-many-connections");
    operators_destroy (s->b->operators);
    s->b->operators = NULL;
    small_destroy (s);
}

/* -- faults -- */

/* Each client is answered; a connection that is through carries all bytes. */
static void scenario (struct small *s)
{
    small_submit (s, "duration: 60");
    small_turn (s);
    small_ready (s, 1);
    struct client *c = client_call (s, USER, CONNECT_SESSION, NULL);
    struct client *second = client_call (s, USER, CONNECT, NULL);
    struct agent *a = agent_at (0), *b = agent_at (1);
    if (!b) { /* one of them has no agent: it was refused */
        assert_true (c->status == 503 || second->status == 503 || c->status == 404
                     || c->status == 409);
    }
    if (!a || c->status)
        return;
    agent_accept (a);
    client_switch (c, "");
    if (c->ended) {
        assert_true (a->closed);
        return;
    }
    put (c->fd, "question");
    assert_string_equal (get (s, a->fd), "question");
    put (a->fd, "answer");
    assert_string_equal (get (s, c->fd), "answer");
    hang_up (&c->fd);
    assert_string_equal (get (s, a->fd), "$");
    assert_true (c->ended);
    struct agent *told = agent_at (2);
    if (told && b && entry_find (s->b, 1)) {
        agent_accept (told);
        assert_told_gone (s, told);
    }
    small_finish (s, 1, "exited");
    assert_true (second->status == 409 || second->status == 503 || second->status == 404
                 || !entry_find (s->b, 1));
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_both_ways),
        cmocka_unit_test (test_slow_sides),
        cmocka_unit_test (test_client_closes),
        cmocka_unit_test (test_client_half_closes),
        cmocka_unit_test (test_client_of_full_agent),
        cmocka_unit_test (test_session_ends),
        cmocka_unit_test (test_session_end_untold),
        cmocka_unit_test (test_session_without_agent),
        cmocka_unit_test (test_session_of_gone_job),
        cmocka_unit_test (test_client_leaves_early),
        cmocka_unit_test (test_agent_closes),
        cmocka_unit_test (test_client_stays),
        cmocka_unit_test (test_agent_shuts_out),
        cmocka_unit_test (test_job_ends),
        cmocka_unit_test (test_job_ends_early),
        cmocka_unit_test (test_broker_stops),
        cmocka_unit_test (test_agent_refuses),
        cmocka_unit_test (test_refused),
        cmocka_unit_test (test_operator),
        cmocka_unit_test (test_too_many),
        cmocka_unit_test (test_too_many_in_all),
        cmocka_unit_test (test_jobs_vanish),
        cmocka_unit_test (test_no_memory),
    };
    struct rlimit lim;

    if (getrlimit (RLIMIT_NOFILE, &lim) == 0) { /* for all connections at once */
        lim.rlim_cur = lim.rlim_max;
        setrlimit (RLIMIT_NOFILE, &lim);
    }
    return cmocka_run_group_tests (tests, NULL, NULL);
}
