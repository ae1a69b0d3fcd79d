/* jobstatus.c - see jobstatus.h */
#include "exec/kube/make/jobstatus.h"

#include <sys/wait.h>

#include "common/macros.h"
#include "kube/object.h"

/* The reason of a condition is one word in CamelCase. */
static const struct {
    const char *reason, *word;
} words[] = {
    { "exited", "NonZeroExit" },
    { "signaled", "Signaled" },
    { "timeout", "DeadlineExceeded" },
    { "cancelled", "Cancelled" },
    { "lost", "NodeLost" },
    { "oom", "OutOfMemory" },
    { "startfail", "StartFailed" },
};

static const char *word_of (const struct jobstatus_end *end)
{
    if (end->start_failed)
        return "StartFailed";
    for (size_t i = 0; i < ARRAY_SIZE (words); i++)
        if (strcmp (words[i].reason, end->reason) == 0)
            return words[i].word;
    return "Failed";
}

static void reason_of (const struct jobstatus_end *end, char *text, size_t size)
{
    if (end->text[0])
        snprintf (text, size, "%s", end->text);
    else if (WIFSIGNALED (end->status))
        snprintf (text, size, "ended by signal %d", WTERMSIG (end->status));
    else
        snprintf (text, size, "exit status %d", WEXITSTATUS (end->status));
}

/* Not before the Job was made, since the API server has another clock. Such times, all in
 * UTC, compare as texts. */
static void completion_time (double now, const char *made_at, char when[KUBE_TIME_MAX])
{
    kube_time_write (now, false, when);
    if (strcmp (when, made_at) < 0)
        snprintf (when, KUBE_TIME_MAX, "%s", made_at);
}

static json_t *condition (const char *type, const char *when, const char *reason,
                          const char *message)
{
    return json_pack ("{s:s s:s s:s s:s s:s s:s}", "type", type, "status", "True",
                      "lastProbeTime", when, "lastTransitionTime", when, "reason", reason,
                      "message", message);
}

/* "0", "0,1", "0-2": as the Job controller writes them. */
static void completed_indexes (uint32_t n, char text[32])
{
    if (n == 1)
        snprintf (text, 32, "0");
    else
        snprintf (text, 32, "0%c%u", n == 2 ? ',' : '-', (unsigned)n - 1);
}

static json_t *complete (const char *made_at, const char *when, uint32_t ranks)
{
    static const char why[] = "CompletionsReached",
                      text[] = "Reached expected number of succeeded pods";
    char indexes[32];

    completed_indexes (ranks, indexes);
    return json_pack ("{s:s s:i s:i s:i s:i s:i s:s s:s s:[o o]}", "startTime", made_at,
                      "active", 0, "ready", 0, "terminating", 0, "succeeded", (int)ranks,
                      "failed", 0, "completedIndexes", indexes, "completionTime", when,
                      "conditions", condition ("SuccessCriteriaMet", when, why, text),
                      condition ("Complete", when, why, text));
}

json_t *jobstatus_running (const char *made_at, uint32_t ranks)
{
    return json_pack ("{s:s s:i s:i s:i}", "startTime", made_at, "active", (int)ranks,
                      "ready", (int)ranks, "terminating", 0);
}

json_t *jobstatus_ended (const char *made_at, double now, const struct jobstatus_end *end)
{
    char when[KUBE_TIME_MAX], text[512];
    const char *why = word_of (end);

    completion_time (now, made_at, when);
    if (!end->start_failed && end->status == 0 && strcmp (end->reason, "exited") == 0)
        return complete (made_at, when, end->ranks);
    reason_of (end, text, sizeof (text));
    return json_pack ("{s:s s:i s:i s:i s:i s:[o o]}", "startTime", made_at, "active", 0,
                      "ready", 0, "terminating", 0, "failed", (int)end->made,
                      "conditions", condition ("FailureTarget", when, why, text),
                      condition ("Failed", when, why, text));
}
