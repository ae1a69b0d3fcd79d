/* submission.c - see submission.h
 */
#include "broker/services/submit/submission.h"

#include <utlist.h>

#include "broker/core/jobs.h"

void submission_free (struct submission *s)
{
    broker_work_ends (s->b);
    entry_destroy (s->e);
    free (s->key);
    free (s->terms.queue);
    free (s->text);
    free (s->foreign.jobspec);
    free ((char *)s->foreign.name);
    free (s);
}

void submission_detach (struct submission *s)
{
    if (!s->gone && s->req)
        http_request_set_aux (s->req, NULL, NULL);
    if (s->keyed)
        DL_DELETE (*s->keyed, s);
    s->keyed = NULL;
}

void submission_refuse (struct submission *s, int status, const char *code,
                        const char *text)
{
    submission_detach (s);
    if (!s->req)
        s->foreign.done (0, status, text, s->foreign.arg);
    else if (!s->gone)
        http_reply_problem (s->req, status, code, "%s", text);
    submission_free (s);
}

void submission_retry_after (struct submission *s, const char *seconds)
{
    if (s->req && !s->gone)
        http_reply_header (s->req, "Retry-After", seconds);
}

void submission_refuse_for (struct submission *s, int status, const char *code)
{
    bool busy = s->err.code == ENOMEM;

    if (busy)
        submission_retry_after (s, "1");
    submission_refuse (s, busy ? 503 : status, busy ? "busy" : code, s->err.text);
}
