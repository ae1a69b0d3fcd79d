/* message.c - see message.h; the program is run by fluxq-shell admin-run
 */
#include "broker/services/mail/message.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/io.h"
#include "common/log.h"
#include "common/parse.h"
#include "common/strbuf.h"
#include "protocol/agent_api.h"

#define TEXT_MAX 16384

struct message {
    uint64_t job;
    uid_t uid;
    gid_t gid;
    enum mail_type type;
    struct strbuf text;
    char state[24]; /* of the job */
    int fd;         /* of the text, while the program runs; -1 */
    uv_process_t process;
    bool open;   /* the process handle; */
    bool failed; /* ... how it ended */
    void (*done) (struct message *m, bool failed, void *arg);
    void *arg;
    struct message *prev, *next;
};

struct message *message_create (const struct job *job, enum mail_type type)
{
    struct message *m = calloc (1, sizeof (*m));

    if (!m)
        return NULL;
    m->job = job->id;
    m->uid = job->userid;
    m->gid = job->groupid;
    m->type = type;
    m->fd = -1;
    snprintf (m->state, sizeof (m->state), "%s", job_phase_name (job_phase (job)));
    strbuf_init (&m->text, TEXT_MAX);
    return m;
}

void message_destroy (struct message *m)
{
    if (!m)
        return;
    if (m->fd >= 0)
        close (m->fd);
    strbuf_release (&m->text);
    free (m);
}

uint64_t message_job (const struct message *m)
{
    return m->job;
}

void message_list_add (struct message_list *l, struct message *m)
{
    DL_APPEND (l->first, m);
    l->n++;
}

struct message *message_list_take (struct message_list *l)
{
    struct message *m = l->first;

    if (!m)
        return NULL;
    DL_DELETE (l->first, m);
    l->n--;
    return m;
}

/* -- the text -- */

/* One line of printable ASCII: nothing in a header can end it or begin another one. */
static void add_plain (struct strbuf *sb, const char *text)
{
    for (const char *c = text; *c; c++)
        if (((unsigned char)*c & 0xc0) != 0x80) /* one '?' for each character */
            strbuf_addch (sb, *c >= 0x20 && *c < 0x7f ? *c : '?');
}

static void add_to (struct strbuf *sb, const char *to, const char *domain)
{
    strbuf_adds (sb, "To: ");
    for (const char *address = to; *address;) {
        size_t len = strcspn (address, ",");
        strbuf_add (sb, address, len);
        if (domain && !memchr (address, '@', len))
            strbuf_addf (sb, "@%s", domain);
        address += len;
        strbuf_adds (sb, *address ? ", " : "");
        address += *address == ',';
    }
    strbuf_addch (sb, '\n');
}

/* Slurm's words for each event. */
static const char *words_of (enum mail_type type)
{
    static const struct {
        enum mail_type type;
        const char *words;
    } table[] = {
        { MAIL_BEGIN, "Began" },
        { MAIL_END, "Ended" },
        { MAIL_FAIL, "Failed" },
        { MAIL_REQUEUE, "Requeued" },
        { MAIL_INVALID_DEPEND, "Invalid dependency" },
        { MAIL_TIME_LIMIT, "Reached time limit" },
        { MAIL_TIME_LIMIT_90, "Reached 90% of time limit" },
        { MAIL_TIME_LIMIT_80, "Reached 80% of time limit" },
        { MAIL_TIME_LIMIT_50, "Reached 50% of time limit" },
    };

    for (size_t i = 0; i < ARRAY_SIZE (table); i++)
        if (table[i].type == type)
            return table[i].words;
    return "";
}

/* "1-02:03:04" */
static void add_clock (struct strbuf *sb, double seconds)
{
    uintmax_t t = seconds > 0 && seconds < 1e12 ? (uintmax_t)seconds : 0;

    if (t >= 86400)
        strbuf_addf (sb, "%ju-", t / 86400);
    strbuf_addf (sb, "%02ju:%02ju:%02ju", t / 3600 % 24, t / 60 % 60, t % 60);
}

/* ", Queued time 00:00:02" or ", Run time 00:01:00" */
/* Not about an array as a whole. */
static void add_time (struct strbuf *sb, const struct job *job, enum mail_type type)
{
    double end = job->t_finish > 0 ? job->t_finish : clock_wall ();
    bool queued = type == MAIL_BEGIN;

    if (job->t_start <= 0 || job->array || type == MAIL_INVALID_DEPEND)
        return;
    strbuf_adds (sb, queued ? ", Queued time " : ", Run time ");
    add_clock (sb, queued ? job->t_start - job->t_submit : end - job->t_start);
}

/* ", FAILED, ExitCode 3" */
static void add_result (struct strbuf *sb, const struct job *job, enum mail_type type)
{
    if (type == MAIL_END || type == MAIL_FAIL)
        strbuf_addf (sb, ", %s, ExitCode %d", job_phase_name (job_result_phase (job)),
                     job->array                ? job->array->exit_code
                     : WIFEXITED (job->status) ? WEXITSTATUS (job->status)
                                               : 0);
}

static void add_subject (struct message *m, const struct job *job, bool summary)
{
    struct strbuf *sb = &m->text;
    uintmax_t id = (uintmax_t)job->id, array = (uintmax_t)job->array_job;

    strbuf_adds (sb, "Subject: Slurm ");
    if (job->array || (summary && array))
        strbuf_addf (sb, "Array Summary Job_id=%ju_* (%ju)", array ? array : id, id);
    else if (array)
        strbuf_addf (sb, "Array Task Job_id=%ju_%u (%ju)", array, job->array_task, id);
    else
        strbuf_addf (sb, "Job_id=%ju", id);
    strbuf_adds (sb, " Name=");
    add_plain (sb, job->name);
    strbuf_addf (sb, " %s", words_of (m->type));
    add_time (sb, job, m->type);
    add_result (sb, job, m->type);
    strbuf_addch (sb, '\n');
}

static void add_line (struct strbuf *sb, const char *label, const char *text)
{
    if (!text || !*text)
        return;
    strbuf_addf (sb, "%-11s", label);
    for (const char *c = text; *c; c++)
        strbuf_addch (sb, (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
    strbuf_addch (sb, '\n');
}

static void add_body (struct strbuf *sb, const struct job *job)
{
    autostrbuf struct strbuf limit = STRBUF_INIT (64);
    char id[32], text[512] = "";

    snprintf (id, sizeof (id), "%ju", (uintmax_t)job->id);
    strbuf_add_duration (&limit, job->duration);
    job_result_text (job, text, sizeof (text));
    add_line (sb, "Job:", id);
    add_line (sb, "Name:", job->name);
    add_line (sb, "User:", job->user);
    add_line (sb, "Queue:", job->queue);
    add_line (sb, "State:", job_phase_name (job_phase (job)));
    add_line (sb, "Result:", text);
    add_line (sb, "Time limit:", job->duration > 0 ? limit.buf : "none");
    add_line (sb, "Nodes:", job->nodelist);
}

int message_write (struct message *m, const struct job *job, bool summary, const char *to,
                   const char *domain)
{
    struct strbuf *sb = &m->text;

    add_to (sb, to, domain);
    add_subject (m, job, summary);
    strbuf_addf (sb,
                 "Auto-Submitted: auto-generated\nMIME-Version: 1.0\n"
                 "Content-Type: text/plain; charset=utf-8\n"
                 "X-Fluxq-Job: %ju\nX-Fluxq-Event: %s\n\n",
                 (uintmax_t)job->id, mail_type_name (m->type));
    add_body (sb, job);
    return sb->err;
}

/* -- the program -- */

static void finished (uint32_t zero, int status, bool known, void *arg)
{
    struct message *m = arg;

    (void)zero;
    m->done (m, known && status != 0, m->arg);
}

static void process_closed (uv_handle_t *h)
{
    struct message *m = h->data;

    m->open = false;
    if (m->done)
        m->done (m, m->failed, m->arg);
    else
        message_destroy (m);
}

static void process_exited (uv_process_t *p, int64_t code, int sig)
{
    struct message *m = p->data;

    m->failed = code != 0 || sig != 0;
    uv_close ((uv_handle_t *)p, process_closed);
}

/* Without an executor that starts it. done() tells of a failure, too, as the handle must
 * be closed first. */
static int spawn (struct message *m, struct broker *b, char *const argv[])
{
    char *env[] = { (char *)"PATH=/usr/local/bin:/usr/bin:/bin", NULL };
    uv_stdio_container_t io[3] = { { .flags = UV_IGNORE },
                                   { .flags = UV_INHERIT_FD, .data.fd = 2 },
                                   { .flags = UV_INHERIT_FD, .data.fd = 2 } };
    uv_process_options_t opt = { .file = argv[0],
                                 .args = (char **)(uintptr_t)argv,
                                 .env = env,
                                 .exit_cb = process_exited,
                                 .flags = UV_PROCESS_DETACHED,
                                 .stdio = io,
                                 .stdio_count = 3 };
    int rc = uv_spawn (broker_loop (b), &m->process, &opt);

    m->process.data = m;
    m->open = true;
    if (rc < 0) {
        log_error ("%s: %s", argv[0], uv_strerror (rc));
        m->failed = true;
        uv_close ((uv_handle_t *)&m->process, process_closed);
    }
    return 0;
}

void message_abandon (struct message *m)
{
    m->done = NULL;
    if (!m->open)
        message_destroy (m);
    else if (!uv_is_closing ((uv_handle_t *)&m->process))
        uv_close ((uv_handle_t *)&m->process, process_closed);
}

static int keep_text (struct message *m, struct error *err)
{
    m->fd = memfd_create ("fluxq-mail", MFD_CLOEXEC);
    if (m->fd < 0 || io_write_all (m->fd, m->text.buf, m->text.len) < 0)
        return error_errno (err, errno, "mail");
    return 0;
}

int message_send (struct message *m, struct broker *b, const struct message_how *how,
                  void (*done) (struct message *m, bool failed, void *arg), void *arg,
                  struct error *err)
{
    char input[64], timeout[32], user[48], id[48], state[48], type[48];
    bool root = broker_uid (b) == 0;
    const char *argv[] = {
        broker_config (b)->shell_path,
        ADMINRUN_COMMAND,
        "--program",
        how->program,
        "--timeout",
        timeout,
        "--input",
        input,
        "--argument",
        "-i",
        "--argument",
        "-t",
        "--set",
        id,
        "--set",
        state,
        "--set",
        type,
        root ? "--user" : NULL,
        user,
        NULL,
    };

    m->done = done;
    m->arg = arg;
    if (keep_text (m, err) < 0)
        return -err->code;
    snprintf (input, sizeof (input), "/proc/%d/fd/%d", (int)getpid (), m->fd);
    snprintf (timeout, sizeof (timeout), "%.0f", how->timeout);
    snprintf (user, sizeof (user), "%u:%u", (unsigned)m->uid, (unsigned)m->gid);
    snprintf (id, sizeof (id), "SLURM_JOB_ID=%ju", (uintmax_t)m->job);
    snprintf (state, sizeof (state), "SLURM_JOB_STATE=%s", m->state);
    snprintf (type, sizeof (type), "SLURM_JOB_MAIL_TYPE=%s", words_of (m->type));
    return broker_ops (b)->spawn ? broker_ops (b)->spawn (
               broker_exec (b), (char *const *)argv, finished, m, err)
                                 : spawn (m, b, (char *const *)argv);
}
