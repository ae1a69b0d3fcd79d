/* scontrol_jobs.c - scontrol hold, release, requeue and write batch_script */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "cmd/client/inside.h"
#include "cmd/print/print.h"
#include "cmd/slurm/control/scontrol.h"
#include "common/idset.h"
#include "jobspec/attributes/base64.h"

#define TASKS_MAX 100000 /* of an array, in a list */

/* -- lists of jobs -- */

typedef void (*job_fn) (struct scontrol *s, const char *id, void *arg);

/* "12" or "12_3" */
static bool is_id (const char *text)
{
    size_t digits = strspn (text, "0123456789");
    const char *rest = text + digits;

    if (digits == 0 || digits > 19)
        return false;
    if (*rest != '_')
        return !*rest;
    digits = strspn (++rest, "0123456789");
    return digits > 0 && digits < 10 && !rest[digits];
}

static void say_invalid (struct scontrol *s, const char *id)
{
    scontrol_say (s, "Invalid job id specified for job %s", id);
}

/* "12_[1-3]" stands for 12_1, 12_2 and 12_3; "12_[1-3%2]" from a listing too. */
static void each_task (struct scontrol *s, char *token, job_fn fn, void *arg)
{
    char *bracket = strchr (token, '['), *end = strpbrk (bracket, "]%");
    struct error err = { 0 };
    char id[64];

    if (!end || !strchr (end, ']') || bracket == token || bracket[-1] != '_') {
        say_invalid (s, token);
        return;
    }
    autofree char *list = strndup (bracket + 1, (size_t)(end - bracket - 1));
    struct idset *tasks = list ? idset_decode (list, TASKS_MAX, &err) : NULL;
    if (!tasks || idset_count (tasks) == 0)
        say_invalid (s, token);
    *bracket = '\0';
    for (uint32_t t = tasks ? idset_first (tasks) : IDSET_END; t != IDSET_END;
         t = idset_next (tasks, t)) {
        snprintf (id, sizeof (id), "%s%ju", token, (uintmax_t)t);
        if (is_id (id))
            fn (s, id, arg);
    }
    idset_destroy (tasks);
}

static void each_named (struct scontrol *s, const char *name, const char *state,
                        job_fn fn, void *arg)
{
    autostrbuf struct strbuf target = STRBUF_INIT (4096);
    autojson json_t *o = NULL;
    struct refusal why;
    const json_t *job;
    char id[32];
    size_t i;

    strbuf_adds (&target, "/v1/jobs?fields=id");
    target_add (&target, "state", state);
    target_add (&target, "name", name);
    if (scontrol_call (s, "GET", target.buf, NULL, &o, &why) < 0) {
        scontrol_say (s, "slurm_load_jobs error: %s", why.words);
        return;
    }
    json_array_foreach (json_object_get (o, "jobs"), i, job) {
        snprintf (id, sizeof (id), "%.0f", answer_number (job, "id"));
        fn (s, id, arg);
    }
}

/* The text after a key in front of it, "jobid=7"; NULL: another key or none. */
static const char *after_key (const char *text, const char *key)
{
    size_t len = strlen (key);

    return strncasecmp (text, key, len) == 0 && text[len] == '=' ? text + len + 1 : NULL;
}

/* Splits the list at commas and blanks outside brackets. */
static void each_id (struct scontrol *s, char *list, job_fn fn, void *arg)
{
    for (char *p = list, *token = list, *next; token; token = next) {
        int depth = 0;
        for (p = token; *p && (depth > 0 || (*p != ',' && *p != ' ')); p++)
            depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
        next = *p ? p + 1 : NULL;
        *p = '\0';
        if (strchr (token, '['))
            each_task (s, token, fn, arg);
        else if (is_id (token))
            fn (s, token, arg);
        else if (*token)
            say_invalid (s, token);
    }
}

void scontrol_each_job (struct scontrol *s, const char *list, const char *named,
                        job_fn fn, void *arg)
{
    const char *ids = after_key (list, "jobid"), *name = after_key (list, "jobname");

    ids = ids ? ids : after_key (list, "job");
    name = name ? name : after_key (list, "name");
    if (named && name) {
        each_named (s, name, named, fn, arg);
        return;
    }
    autofree char *copy = strdup (ids ? ids : list);
    if (!copy)
        scontrol_error (s, "out of memory");
    else if (copy[strspn (copy, "0123456789")] == '+')
        scontrol_say (s,
                      "%s: a component of a heterogeneous job cannot be changed alone: "
                      "name the job, %.*s",
                      copy, (int)strcspn (copy, "+"), copy);
    else if (strspn (copy, "0123456789_[],-% ") != strlen (copy) || !*copy)
        say_invalid (s, copy);
    else
        each_id (s, copy, fn, arg);
}

/* The job's state: 0, or -1. */
static int get_state (struct scontrol *s, const char *id, char *ret, size_t size)
{
    char target[80];
    autojson json_t *o = NULL;
    struct refusal why;

    snprintf (target, sizeof (target), "/v1/jobs/%s", id);
    if (scontrol_call (s, "GET", target, NULL, &o, &why) < 0)
        return -1;
    snprintf (ret, size, "%s", json_text (o, "state"));
    return 0;
}

/* -- hold, release -- */

struct hold {
    int urgency;
    bool of_user;    /* uhold: the job's user may release it */
    char first[640]; /* words of the first failure, "": none */
};

static void failed (struct scontrol *s, struct hold *h, const struct refusal *why,
                    const char *id)
{
    char state[40];
    const char *words = why->words;

    if (!strcmp (why->code, "wrong-state")
        && get_state (s, id, state, sizeof (state)) == 0
        && strcmp (state, "PENDING") != 0)
        words = "Job is no longer pending execution";
    if (words == why->words)
        scontrol_say (s, "%s for job %s", words, id);
    else
        scontrol_say (s, "%s for job %s (%s)", words, id, why->words);
    if (!*h->first)
        snprintf (h->first, sizeof (h->first), "%s", words);
}

/* An operator's hold is the operator's, so only owners can hold in their own name. */
static bool is_foreign (struct scontrol *s, const char *id)
{
    char target[80];
    autojson json_t *o = NULL;
    struct refusal why;

    snprintf (target, sizeof (target), "/v1/jobs/%s", id);
    return scontrol_call (s, "GET", target, NULL, &o, &why) == 0
           && answer_number (o, "userid") != geteuid ();
}

static void set_urgency (struct scontrol *s, const char *id, void *arg)
{
    struct hold *h = arg;
    struct refusal why;

    if (h->of_user && is_foreign (s, id)) {
        why = (struct refusal){ .words = "uhold is for a job's own user here, use hold" };
        failed (s, h, &why, id);
        return;
    }
    if (scontrol_post (s, "/v1/jobs", id, "/urgency",
                       json_pack ("{s:i}", "urgency", h->urgency), &why)
        == 0)
        return;
    failed (s, h, &why, id);
}

static void hold (struct scontrol *s, const struct words *w, int urgency, bool of_user)
{
    for (int i = 0; i < w->n; i++) {
        struct hold h = { .urgency = urgency, .of_user = of_user };
        scontrol_each_job (s, w->word[i], "pending", set_urgency, &h);
        if (*h.first)
            scontrol_say (s, "slurm_suspend error: %s", h.first);
    }
}

void scontrol_hold (struct scontrol *s, const char *tag, const struct words *w)
{
    hold (s, w, 0,
          strncasecmp (tag, "uhold", 5) == 0 || strncasecmp (tag, "holdu", 5) == 0);
}

void scontrol_release (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)tag;
    hold (s, w, 16, false);
}

/* -- requeue, suspend -- */

/* Slurm's sentence for a job that cannot be queued again in its state; else the broker's
 * reason. */
static const char *state_words (struct scontrol *s, const char *id,
                                const struct refusal *why)
{
    static const struct {
        const char *state, *words;
    } table[] = {
        { "PENDING", "Job is pending execution" },
        { "REQUEUED", "Job is pending execution" },
        { "CONFIGURING", "Requested operation is presently disabled" },
        { "RUNNING", "Requested operation is presently disabled" },
    };
    char state[40];

    if (strcmp (why->code, "wrong-state") != 0
        || get_state (s, id, state, sizeof (state)) < 0)
        return why->words;
    for (size_t i = 0; i < ARRAY_SIZE (table); i++)
        if (!strcmp (state, table[i].state))
            return table[i].words;
    return "Job/step already completing or completed";
}

static void requeue (struct scontrol *s, const char *id, void *arg)
{
    struct refusal why;

    if (scontrol_post (s, "/v1/jobs", id, "/requeue",
                       json_pack ("{s:b}", "hold", *(const bool *)arg), &why)
        == 0)
        return;
    const char *words = state_words (s, id, &why);
    if (words == why.words)
        scontrol_say (s, "%s for job %s", why.words, id);
    else
        scontrol_say (s, "%s for job %s (%s)", words, id, why.words);
}

/* A job that requeues itself gets SIGTERM, with this process, perhaps before the broker's
 * answer is read. The caller in the job, which saves its state and then calls scontrol, must
 * not take that for a failure. */
static void each_requeue (struct scontrol *s, const struct words *w, bool held)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction before;
    bool is_inside =
        getenv ("SLURM_JOB_ID") && sigaction (SIGTERM, &ignore, &before) == 0;

    for (int i = 0; i < w->n; i++) {
        if (strchr (w->word[i], '=') && !after_key (w->word[i], "jobid")
            && !after_key (w->word[i], "job"))
            scontrol_error (s, "%s is not supported: a requeued job waits in its queue",
                            w->word[i]);
        else
            scontrol_each_job (s, w->word[i], NULL, requeue, &held);
    }
    if (is_inside)
        sigaction (SIGTERM, &before, NULL);
}

void scontrol_requeue (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)tag;
    each_requeue (s, w, false);
}

void scontrol_requeuehold (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)tag;
    each_requeue (s, w, true);
}

void scontrol_suspend (struct scontrol *s, const char *tag, const struct words *w)
{
    (void)w;
    scontrol_error (
        s,
        "%s is not supported: a job keeps its resources until it ends; stop "
        "its processes with scancel --full --signal=STOP, and continue them with "
        "--signal=CONT",
        tag);
}

/* -- write batch_script -- */

/* The script in a jobspec, for the caller to free; NULL: the job has none. *ret_len: its
 * bytes. */
static char *script_of (const json_t *jobspec, size_t *ret_len)
{
    const json_t *system =
        json_object_get (json_object_get (jobspec, "attributes"), "system");
    const json_t *script = json_object_get (json_object_get (system, "files"), "script");
    const char *data = json_string_value (json_object_get (script, "data"));
    size_t len = json_string_length (json_object_get (script, "data"));
    char *text = data ? malloc (len + 1) : NULL;

    if (!text)
        return NULL;
    if (strcmp (json_text (script, "encoding"), "base64") != 0) {
        memcpy (text, data, len + 1);
        *ret_len = len;
        return text;
    }
    ssize_t decoded = base64_decode (data, len, text);
    *ret_len = decoded > 0 ? (size_t)decoded : 0;
    return text;
}

static void write_file (struct scontrol *s, const char *id, const char *path,
                        const char *script, size_t len)
{
    bool to_stdout = strcmp (path, "-") == 0;

    if (inside_is_on () && !to_stdout) {
        scontrol_error (s,
                        "the broker cannot write files of a job: name - as the file, and "
                        "redirect standard output");
        return;
    }
    FILE *out = to_stdout ? stdout : fopen (path, "w");
    if (!out) {
        scontrol_say (s, "failed to open file `%s`: %s", path, strerror (errno));
        return;
    }
    bool done = fwrite (script, 1, len, out) == len;
    if (out == stdout)
        return;
    if ((fclose (out) != 0) || !done) {
        scontrol_say (s, "failed to write file `%s`: %s", path, strerror (errno));
        unlink (path);
    } else if (!s->quiet) {
        printf ("batch script for job %s written to %s\n", id, path);
    }
}

static void write_script (struct scontrol *s, const char *id, const char *file)
{
    char target[80], name[80];
    autojson json_t *o = NULL;
    struct refusal why;
    autofree char *script = NULL;
    size_t len;

    snprintf (target, sizeof (target), "/v1/jobs/%s/jobspec", id);
    snprintf (name, sizeof (name), "slurm-%s.sh", id);
    if (!is_id (id))
        scontrol_say (s, "job script retrieval failed: Invalid job id specified");
    else if (scontrol_call (s, "GET", target, NULL, &o, &why) < 0)
        scontrol_say (s, "job script retrieval failed: %s", why.words);
    else if (!(script = script_of (o, &len)))
        scontrol_say (s, "job script retrieval failed: job %s has no batch script", id);
    else
        write_file (s, id, file ? file : name, script, len);
}

void scontrol_write (struct scontrol *s, const char *tag, const struct words *w)
{
    const char *what = w->word[0];

    if (scontrol_is (what, strlen (what), "config", 1))
        scontrol_error (s, "write config is not supported: the configuration is "
                           "fluxq.yaml");
    else if (!scontrol_is (what, strlen (what), "batch_script", 5))
        scontrol_say (s, "invalid write argument:%s", what);
    else if (w->n < 2)
        scontrol_say (s, "too few arguments for keyword:%s", tag);
    else
        write_script (s, w->word[1], w->n > 2 ? w->word[2] : NULL);
}
