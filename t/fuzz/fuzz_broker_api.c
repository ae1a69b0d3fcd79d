/* fuzz_broker_api.c - requests of hostile users to the broker's API, over the real services
 * (src/broker/core/test/small.h)
 *
 * Parser: broker/api/api.c broker/api/list.c broker/api/job.c broker/api/job_ids.c
 * Parser: broker/api/columns.c broker/api/namelist.c broker/services/cancel_targets.c
 * Parser: broker/services/submit/submit.c broker/services/submit/submit_check.c
 * Parser: broker/services/urgency.c broker/services/limit.c broker/services/memo.c
 * Parser: broker/services/requeue.c broker/services/queues.c broker/services/nodes/nodes.c
 * Parser: broker/services/nodes/node_list.c broker/services/reserve/reserve.c
 * Parser: broker/services/reserve/reservations.c broker/services/resize/resize.c
 * Parser: broker/services/stream/watch.c
 *
 * The input has requests, each ended by a line "----": a digit for the user (0: operator, 1:
 * owner of the jobs, 2: somebody else), METHOD TARGET, header lines, an empty line and the
 * body. Each request gets an answer. A user who is neither owner nor operator changes no job
 * of the owner.
 */
#define FUZZ_JSON_AFTER "\n\n"
#include "fuzz_json.h"

#include "broker/core/test/fake_http.h"
#include "common/log.h"

#define OWNER 1000
#define STRANGER 4242
#define REQUESTS_MAX 8

/* Job 1 runs; 2, 3 and the array 4 wait for their begin. */
static struct small *make_broker (void)
{
    struct small *s = small_create (2);

    small_submit (s, "duration: 600, name: one");
    small_turn (s);
    small_ready (s, 1);
    small_submit (s, "duration: 60, begin-time: 2000000");
    small_submit (s, "duration: 60, begin-time: 2000000, fluxq: {deadline: 3000000}");
    small_submit (s, "duration: 60, begin-time: 2000000, fluxq: {array: 1-2}");
    small_turn (s);
    return s;
}

static void check_answer (const struct client *c)
{
    if (c->status == 0) /* waits for an event: POST cancel?wait, GET wait, a history */
        return;
    assert (c->status == 101 || (c->status >= 200 && c->status < 600));
    assert (c->status != 500);
    if (c->status >= 400)
        assert (strstr (c->text, ": ") && !strchr (c->text, '\n'));
}

static void ask (struct small *s, const char *request, bool *changes)
{
    static const uid_t users[] = { 0, OWNER, STRANGER };
    struct fuzz_input in = { (const uint8_t *)request, strlen (request) };
    uint8_t who = fuzz_byte (&in) % 3;
    autofree char *head = fuzz_part (&in, "\n\n"), *body = fuzz_part (&in, "\n----\n");
    char *blank = strchr (head, ' ');

    if (!blank || blank == head || strcspn (head, "\n") < (size_t)(blank - head))
        return; /* libmicrohttpd hands on no such request */
    if (strstr (head, "/v1/journal") || strstr (head, "/v1/shutdown"))
        return; /* this broker has no journal and no server */
    if (users[who] != STRANGER)
        *changes = true;
    struct client *c = client_call (s, users[who], head, body);
    if (c->status == 0 && strstr (head, "/steps"))
        small_steps (s, 0, body); /* the answer of a hostile agent */
    small_signalled (s, 0);
    check_answer (c);
    if (c->status == 0)
        client_leave (c);
}

/* The owner's jobs are as they were. */
static void check_untouched (struct small *s)
{
    assert (entry_job (entry_find (s->b, 1))->state == JOB_RUN);
    for (uint64_t id = 2; id <= 4; id++) {
        const struct job *job = entry_job (entry_find (s->b, id));
        assert (job->state == JOB_SCHED || job->state == JOB_PRIORITY
                || job->state == JOB_DEPEND);
        assert (job->urgency == 16 && !job->has_exception && job->userid == OWNER);
    }
    assert (!s->told || !strstr (s->told, "terminate"));
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };
    bool changes = false;

    log_set_level (LOG_LEVEL_ERROR);
    struct small *s = make_broker ();
    for (int i = 0; i < REQUESTS_MAX && in.size > 0; i++) {
        autofree char *request = fuzz_part (&in, "\n----\n");
        ask (s, request, &changes);
    }
    if (!changes)
        check_untouched (s);
    small_advance (s, 30);
    small_destroy (s);
    return 0;
}
