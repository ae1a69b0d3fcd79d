/* fuzz_broker_replay.c - any lines NAME CONTEXT as the events of a job in the journal: the job's
 * state machine, and what users see of the job
 *
 * Parser: job/transitions.c job/transitions_array.c job/transitions_resize.c job/job.c
 * Parser: job/array.c job/details.c job/event.c job/result.c broker/api/job_json.c
 *
 * After an empty line the input has the job's jobspec. A replay gives the same job each time; an
 * event that is refused changes nothing.
 */
#include "fuzz.h"

#include "broker/api/job_json.h"
#include "broker/core/test/small.h"
#include "common/log.h"

#define EVENTS_MAX 100 /* as the journal of small.h */

static struct small *broker;

struct record {
    struct journal_record rec;
    struct journal_record_event list[EVENTS_MAX];
    char *texts[EVENTS_MAX], *jobspec;
};

static void read_record (struct record *r, const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size }, events;
    autofree char *head = fuzz_part (&in, "\n\n");

    memset (r, 0, sizeof (*r));
    r->jobspec = fuzz_text (in.data, in.size);
    events = (struct fuzz_input){ (const uint8_t *)head, strlen (head) };
    while (events.size > 0 && r->rec.nevents < EVENTS_MAX) {
        char *line = fuzz_line (&events), *context = strchr (line, ' ');
        size_t n = r->rec.nevents++;
        if (context)
            *context++ = '\0';
        if (strlen (line) >= EVENT_NAME_MAX)
            line[EVENT_NAME_MAX - 1] = '\0';
        r->texts[n] = line;
        r->list[n] = (struct journal_record_event){ .timestamp = 1000 + (double)n,
                                                    .name = *line ? line : "x",
                                                    .context = context };
    }
    r->rec.id = 7;
    r->rec.uid = 1000;
    r->rec.events = r->list;
    r->rec.jobspec = r->jobspec;
    r->rec.jobspec_len = strlen (r->jobspec);
}

static void release (struct record *r)
{
    for (size_t i = 0; i < r->rec.nevents; i++)
        free (r->texts[i]);
    free (r->jobspec);
}

static void check_job (const struct job *job)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (1 << 20);
    char text[300];

    assert (job->state <= JOB_INACTIVE && job_phase (job) <= JOB_REQUEUED);
    assert (job->urgency >= 0 && job->urgency <= 31 && job->user && job->name);
    assert (job_phase_from_name (job_phase_name (job_phase (job)))
            == (int)job_phase (job));
    assert (!job->requeue || job->state != JOB_INACTIVE);
    job_exit_code (job);
    job_result_phase (job);
    job_hold_reason (job, 2000);
    job_age_since (job);
    job_result_text (job, text, sizeof (text));
    if (job->array)
        job_array_add_result (job->array, &sb);
}

static char *describe (struct record *r)
{
    struct entry *e = entry_replay (&r->rec);
    char *text = NULL;

    assert (e);
    check_job (entry_job (e));
    if (entry_job (e)->nevents > 0) { /* else the job was never submitted */
        json_t *o = job_json (broker->b, 0, e, &r->rec);
        text = o ? json_dumps (o, JSON_SORT_KEYS) : NULL;
        json_decref (o);
    }
    entry_destroy (e);
    return text;
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static struct record r;

    log_set_level (LOG_LEVEL_ERROR);
    if (!broker)
        broker = small_create (1);
    read_record (&r, data, size);
    char *one = describe (&r), *two = describe (&r);
    assert (!one == !two && (!one || !strcmp (one, two)));
    free (one);
    free (two);
    release (&r);
    return 0;
}
