/* run.c - fluxq-run: a step from request to exit status */
#include "shell/run/run.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/hostlist.h"
#include "common/idset.h"
#include "common/parse.h"
#include "protocol/taskmap.h"
#include "shell/io/stderr_line.h"
#include "shell/io/wait_status.h"
#include "shell/run/run_link.h"

#define TWICE 1.0    /* seconds within which a second ctrl-C kills the tasks */
#define TOGETHER 0.1 /* seconds during which failed tasks are collected into one line */

struct task_state {
    bool ended, told;
    int status;
};

struct run {
    struct run_options options; /* of the step that runs */
    struct run_options later;   /* of the step after it, if is_copy */
    bool is_copy;               /* the step copies the program (--bcast) */
    struct loop loop;
    struct run_link link;
    struct loop_io signals;
    struct loop_timer tell, limit;
    bool limited; /* the time limit was reached */
    pid_t agent_pid;
    struct strbuf started; /* pieces of the completed spec so far */
    struct step_spec step;
    struct hostlist *hosts; /* names of the step's nodes */
    const char **names;
    uint32_t *ranks; /* [nnodes] ranks of these nodes in the job */
    uint32_t nnodes;
    uint32_t *node_of;
    uint32_t ntasks, nended;
    struct task_state *tasks;
    struct run_input *input;
    struct run_output *output;
    double interrupted; /* time of the last ctrl-C; 0: none */
    bool failed;        /* an error here: the tasks' status counts no more */
    bool holds;         /* the job ends with this step */
    bool ending;        /* all is known; exit with code once the agent has all messages */
    int code;
};

/* -- to the agent -- */

static void put (struct run *r, uint8_t type, const void *data, size_t len)
{
    run_link_put (&r->link, type, data, len);
}

static void put_piece (void *ctx, const struct frame *msg)
{
    run_link_put_frame (&((struct run *)ctx)->link, msg);
}

static int send_request (struct run *r, struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (STEP_SPEC_MAX);
    int rc = step_spec_write (&r->options.spec, &sb);
    if (rc < 0)
        return error_set (err, -rc,
                          "command, environment and files are larger than %d bytes",
                          STEP_SPEC_MAX);
    wire_pieces (&(struct frame){ .type = WIRE_RUN }, sb.buf, sb.len, put_piece, r);
    return 0;
}

static void put_signal (struct run *r, int sig)
{
    uint8_t data[4];
    wire_put_u32 (data, (uint32_t)sig);
    put (r, WIRE_RUN_SIGNAL, data, sizeof (data));
}

/* An error in this program ends the step. */
static void fail (struct run *r, const struct error *err)
{
    if (r->failed)
        return;
    r->failed = true;
    stderr_line (run_name, "%s", err->text);
    put_signal (r, SIGKILL);
}

/* -- standard input -- */

static void put_input (void *ctx, const void *data, size_t len)
{
    put (ctx, WIRE_RUN_INPUT, data, len);
}

static void fail_input (void *ctx, const struct error *err)
{
    fail (ctx, err);
}

static int open_input (struct run *r, struct error *err)
{
    static const struct run_input_events events = { put_input, fail_input };
    r->input = run_input_create (&r->loop, &r->options, &events, r, err);
    return r->input ? 0 : -EIO;
}

/* -- how the tasks ended -- */

/* Reports tasks that ended alike: "tasks 1,3-5: ...", "task 2 on node7: ...". */
static void tell_end (struct run *r, struct idset *ids, int status)
{
    char text[64];
    autofree char *list = idset_encode (ids);
    uint32_t first = idset_first (ids);
    wait_status_text (status, text, sizeof (text));
    if (idset_count (ids) == 1)
        stderr_line (run_name, "task %u on %s: %s", first, r->names[r->node_of[first]],
                     text);
    else
        stderr_line (run_name, "tasks %s: %s", list ? list : "", text);
}

/* Reports the failed tasks that were not reported, one line for each status. */
static void tell_ends (struct run *r)
{
    for (uint32_t i = 0; i < r->ntasks; i++) {
        struct task_state *first = &r->tasks[i];
        if (!first->ended || first->told || first->status == 0)
            continue;
        autoidset struct idset *ids = idset_create ();
        for (uint32_t j = i; ids && j < r->ntasks; j++) {
            struct task_state *t = &r->tasks[j];
            if (!t->ended || t->told || t->status != first->status)
                continue;
            idset_add (ids, j);
            t->told = true;
        }
        if (ids)
            tell_end (r, ids, first->status);
    }
}

static void on_tell (struct loop_timer *timer)
{
    tell_ends (CONTAINER_OF (timer, struct run, tell));
}

/* After ctrl-C: "interrupt: 2 of 4 tasks run (1,3)". */
static void tell_running (const struct run *r)
{
    autoidset struct idset *ids = idset_create ();
    for (uint32_t i = 0; ids && i < r->ntasks; i++)
        if (!r->tasks[i].ended)
            idset_add (ids, i);
    autofree char *list = ids ? idset_encode (ids) : NULL;
    stderr_line (run_name,
                 "interrupt: %u of %u tasks run (%s); once more within 1 second ends "
                 "them",
                 r->ntasks - r->nended, r->ntasks, list ? list : "");
}

static void on_interrupt (struct run *r)
{
    double now = loop_now ();
    if (r->ntasks == 0 || r->options.quit
        || (r->interrupted > 0 && now - r->interrupted <= TWICE)) {
        if (r->ntasks > 0)
            stderr_line (run_name, "interrupt: all tasks are killed");
        put_signal (r, SIGKILL);
        if (!run_link_is_up (&r->link)) { /* the agent cannot be told */
            stderr_line (run_name,
                         "the broker is away: the step ends when it is back, or soon");
            loop_stop (&r->loop, 128 + SIGINT);
        }
    } else {
        tell_running (r);
    }
    r->interrupted = now;
}

static void put_size (struct run *r)
{
    uint8_t data[8];
    uint32_t rows, cols;
    run_terminal_size (&rows, &cols);
    wire_put_u32 (data, rows);
    wire_put_u32 (data + 4, cols);
    put (r, WIRE_RUN_SIZE, data, sizeof (data));
}

/* Handles a signal that concerns the terminal of --pty; false: another signal. A signal
 * that ends this program also ends the session on the terminal: a shell there would
 * ignore SIGTERM, so we exit, and rank 0 ends the step. */
static bool on_terminal_signal (struct run *r, int sig)
{
    if (!r->options.spec.pty)
        return false;
    if (sig == SIGTERM || sig == SIGHUP)
        loop_stop (&r->loop, 128 + sig);
    if (sig != SIGWINCH && sig != SIGCONT)
        return sig == SIGTERM || sig == SIGHUP;
    if (sig == SIGCONT && r->tasks) /* the shell has changed the terminal meanwhile */
        run_terminal_take ();
    put_size (r);
    return true;
}

static void on_signal (struct loop_io *io, uint32_t events)
{
    struct run *r = CONTAINER_OF (io, struct run, signals);
    struct signalfd_siginfo info;
    (void)events;
    /* Signals of the agent are not passed on, as it signals the tasks itself. */
    while (read (io->fd, &info, sizeof (info)) == sizeof (info)) {
        if (info.ssi_signo == SIGINT)
            on_interrupt (r);
        else if (on_terminal_signal (r, (int)info.ssi_signo))
            continue;
        else if (info.ssi_signo != SIGWINCH && (pid_t)info.ssi_pid != r->agent_pid)
            put_signal (r, (int)info.ssi_signo);
    }
}

/* -- srun --time -- */

#define LIMIT_GRACE 30 /* seconds between SIGTERM and SIGKILL */

static void on_limit (struct loop_timer *timer)
{
    struct run *r = CONTAINER_OF (timer, struct run, limit);

    stderr_line (run_name, r->limited
                               ? "the tasks are killed"
                               : "the step's time limit is reached: the tasks end");
    put_signal (r, r->limited ? SIGKILL : SIGTERM);
    r->limited = true;
    loop_timer_set (&r->loop, timer, loop_now () + LIMIT_GRACE);
}

/* -- messages of the agent -- */

static int keep_places (struct run *r, struct error *err)
{
    const char *text = r->step.ranks ? r->step.ranks : "";
    autoidset struct idset *ranks = idset_decode (text, TASKMAP_RANKS_MAX, err);
    const char *list = getenv ("FLUXQ_NODELIST");
    autohostlist struct hostlist *job =
        hostlist_decode (list ? list : "", HOSTLIST_MAX, NULL);
    uint32_t n = ranks ? idset_count (ranks) : 0, i = 0;
    int rc = n > 0 ? 0 : -EINVAL;
    r->hosts = hostlist_create ();
    r->names = calloc (n + 1, sizeof (*r->names));
    r->ranks = calloc (n + 1, sizeof (*r->ranks));
    if (!r->hosts || !r->names || !r->ranks)
        rc = -ENOMEM;
    for (uint32_t id = rc == 0 ? idset_first (ranks) : IDSET_END; id != IDSET_END;
         id = idset_next (ranks, id)) {
        const char *name = job ? hostlist_nth (job, id) : NULL;
        hostlist_append (r->hosts, name ? name : "?");
        r->ranks[r->nnodes++] = id;
    }
    for (; i < n && rc == 0; i++)
        r->names[i] = hostlist_nth (r->hosts, i);
    if (rc < 0)
        return error_errno (err, -rc, "the agent's report on the step");
    return taskmap_decode (r->step.taskmap ? r->step.taskmap : "", n, &r->node_of,
                           &r->ntasks, err);
}

static uint64_t number_of (const char *variable)
{
    const char *text = getenv (variable);
    int64_t n;
    return text && parse_int (text, 0, INT64_MAX, &n, variable, NULL) == 0 ? (uint64_t)n
                                                                           : 0;
}

static int open_files (struct run *r, struct error *err)
{
    struct run_vars v = { .job_id = number_of ("FLUXQ_JOB_ID"),
                          .array_job = number_of ("FLUXQ_ARRAY_JOB_ID"),
                          .array_task = (uint32_t)number_of ("FLUXQ_ARRAY_TASK_ID"),
                          .job_name = getenv ("FLUXQ_JOB_NAME"),
                          .user = getenv ("FLUXQ_JOB_USER"),
                          .step = r->step.id,
                          .ntasks = r->ntasks,
                          .nnodes = r->nnodes,
                          .node_of = r->node_of,
                          .ranks = r->ranks,
                          .hosts = r->names };
    r->output = run_output_create (&r->options, &r->step, &v, err);
    if (!r->output)
        return -EIO;
    if (r->step.pty)
        run_terminal_take ();
    return run_input_start (r->input, &v, err);
}

static void on_started (struct run *r, const struct frame *msg)
{
    struct error err = { 0 };
    strbuf_add (&r->started, msg->data, msg->len);
    if (msg->stream == 0)
        return;
    int rc = step_spec_parse (r->started.buf, r->started.len, &r->step, &err);
    strbuf_release (&r->started);
    if (rc == 0)
        rc = keep_places (r, &err);
    if (rc == 0 && !(r->tasks = calloc (r->ntasks, sizeof (*r->tasks))))
        rc = error_no_memory (&err, NULL);
    if (rc == 0)
        rc = open_files (r, &err);
    if (rc < 0)
        fail (r, &err);
    if (rc == 0 && r->options.time_limit > 0)
        loop_timer_set (&r->loop, &r->limit, loop_now () + r->options.time_limit);
}

static void on_output (struct run *r, const struct frame *msg)
{
    struct error err = { 0 };
    uint8_t used[8];
    uint32_t task = msg->len >= 4 ? wire_get_u32 (msg->data) : UINT32_MAX;
    if (task >= r->ntasks || !r->output || (msg->stream != 1 && msg->stream != 2))
        return;
    if (!r->failed
        && run_output_write (r->output, task, msg->stream, msg->data + 4, msg->len - 4,
                             &err)
               < 0)
        fail (r, &err);
    wire_put_u32 (used, r->node_of[task]);
    wire_put_u32 (used + 4, msg->len - 4);
    put (r, WIRE_RUN_USED, used, sizeof (used));
}

static void on_exited (struct run *r, const struct frame *msg)
{
    struct error err = { 0 };
    uint32_t task = msg->len == 8 ? wire_get_u32 (msg->data) : UINT32_MAX;
    if (task >= r->ntasks || !r->tasks || r->tasks[task].ended)
        return;
    struct task_state *t = &r->tasks[task];
    t->ended = true;
    t->status = (int)wire_get_u32 (msg->data + 4);
    if (msg->stream == 1)
        stderr_line (run_name,
                     "task %u on %s: out of memory, the kernel killed a process", task,
                     r->names[r->node_of[task]]);
    r->nended++;
    run_input_ended (r->input, task);
    if (r->output && !r->failed && run_output_end (r->output, task, &err) < 0)
        fail (r, &err);
    if (t->status != 0 && !r->tell.armed)
        loop_timer_set (&r->loop, &r->tell, loop_now () + TOGETHER);
}

static void put_last (struct run *r, const uint8_t end[KEEPALIVE_SIZE])
{
    struct frame msg;
    if (wire_parse (end, KEEPALIVE_SIZE, &msg) > 0)
        run_link_put_frame (&r->link, &msg);
}

static void end_job (struct run *r, int code)
{
    uint8_t end[KEEPALIVE_SIZE];
    keepalive_encode (KEEPALIVE_END, (uint32_t)(code & 0xff) << 8, end);
    put_last (r, end);
}

/* The step is over. */
static void forget_step (struct run *r)
{
    run_input_destroy (r->input);
    run_output_destroy (r->output);
    hostlist_destroy (r->hosts);
    step_spec_release (&r->step);
    run_options_release (&r->options);
    strbuf_release (&r->started);
    free (r->names);
    free (r->ranks);
    free (r->node_of);
    free (r->tasks);
    loop_timer_clear (&r->loop, &r->tell);
    r->input = NULL;
    r->output = NULL;
    r->hosts = NULL;
    r->names = NULL;
    r->ranks = r->node_of = NULL;
    r->tasks = NULL;
    r->nnodes = r->ntasks = r->nended = 0;
}

/* The program is on the nodes: starts the step that runs it. False: an error was printed. */
static bool start_later (struct run *r)
{
    struct error err = { 0 };
    int rc = run_bcast_copied (&r->later, r->step.id, &err);

    forget_step (r);
    strbuf_init (&r->started, STEP_SPEC_MAX);
    r->options = r->later;
    r->later = (struct run_options){ 0 };
    r->is_copy = false;
    if (rc == 0)
        rc = open_input (r, &err);
    if (rc == 0)
        rc = send_request (r, &err);
    if (rc < 0)
        stderr_line (run_name, "%s", err.text);
    return rc == 0;
}

static void on_end (struct run *r, const struct frame *msg)
{
    int status = msg->len >= 4 ? (int)wire_get_u32 (msg->data) : 1 << 8;
    int code = WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
    run_terminal_give_back ();
    if (r->tasks && !r->failed)
        tell_ends (r);
    if (msg->len > 4)
        stderr_line (run_name, "%.*s", (int)MIN (msg->len - 4, 500u), msg->data + 4);
    if (r->failed || (code == 0 && msg->len > 4))
        code = 1;
    if (r->is_copy && code == 0) {
        if (start_later (r))
            return;
        code = 1;
    } else if (r->is_copy) {
        stderr_line (run_name, "--bcast: the program is not on all nodes: the step does "
                               "not start");
    }
    r->ending = true;
    r->code = code;
    if (!r->holds) {
        loop_stop (&r->loop, code);
        return;
    }
    end_job (r, code);
    run_link_finish (&r->link);
}

static void on_done (void *ctx)
{
    struct run *r = ctx;
    loop_stop (&r->loop, r->code);
}

/* Prints a line of its own, even on a raw terminal. */
static void tell_note (struct run *r, const struct frame *msg)
{
    bool was_raw = run_terminal_give_back ();
    if (!r->options.quiet)
        stderr_line (run_name, "%.*s", (int)msg->len, msg->data);
    if (was_raw)
        run_terminal_take ();
}

static void on_message (void *ctx, const struct frame *msg)
{
    struct run *r = ctx;
    if (r->ending)
        return;
    switch (msg->type) {
    case WIRE_RUN_STARTED:
        on_started (r, msg);
        break;
    case WIRE_RUN_OUTPUT:
        on_output (r, msg);
        break;
    case WIRE_RUN_EXIT:
        on_exited (r, msg);
        break;
    case WIRE_RUN_NOTE:
        tell_note (r, msg);
        break;
    case WIRE_RUN_TAKEN:
        run_input_taken (r->input, msg);
        break;
    case WIRE_RUN_END:
        on_end (r, msg);
        break;
    default:
        break;
    }
}

static void lose_agent (void *ctx, const char *why)
{
    struct run *r = ctx;
    run_terminal_give_back ();
    if (r->ending) {
        loop_stop (&r->loop, r->code);
        return;
    }
    if (r->tasks)
        tell_ends (r);
    if (why)
        stderr_line (run_name, "the job's agent is gone: %s", why);
    loop_stop (&r->loop, 1);
}

/* -- start -- */

static int connect_agent (struct run *r, struct error *err)
{
    r->link = (struct run_link){ .loop = &r->loop,
                                 .message = on_message,
                                 .lost = lose_agent,
                                 .done = on_done,
                                 .ctx = r };
    int rc = run_link_open (&r->link, &r->agent_pid, err);
    if (rc < 0)
        return rc;
    r->holds = getenv (STEP_CLIENT_HOLD) != NULL;
    unsetenv (STEP_CLIENT_HOLD);
    return 0;
}

static int watch_signals (struct run *r, struct error *err)
{
    static const int signals[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                   SIGUSR2, SIGALRM, SIGCONT, SIGWINCH };
    sigset_t set;
    sigemptyset (&set);
    for (size_t i = 0; i < ARRAY_SIZE (signals); i++)
        sigaddset (&set, signals[i]);
    sigprocmask (SIG_BLOCK, &set, NULL);
    signal (SIGPIPE, SIG_IGN);
    r->signals = (struct loop_io){ .fd = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                                   .ready = on_signal };
    if (r->signals.fd < 0)
        return error_errno (err, errno, "signalfd");
    loop_watch (&r->loop, &r->signals, EPOLLIN);
    return 0;
}

static void destroy (struct run *r)
{
    forget_step (r);
    run_options_release (&r->later);
    run_link_close (&r->link);
    loop_release (&r->loop);
}

/* With --bcast the first step copies the program. */
static int choose_step (struct run *r, struct run_options *o, struct error *err)
{
    if (!o->bcast) {
        r->options = *o;
        return 0;
    }
    r->later = *o;
    r->is_copy = true;
    return run_bcast_copy (o, &r->options, err);
}

int run_step (struct run_options *o)
{
    static struct run r;
    struct error err = { 0 };
    int rc = choose_step (&r, o, &err);
    strbuf_init (&r.started, STEP_SPEC_MAX);
    r.tell.fire = on_tell;
    r.limit.fire = on_limit;
    if (loop_init (&r.loop) < 0 && rc == 0)
        rc = error_no_memory (&err, NULL);
    if (rc < 0 || (rc = open_input (&r, &err)) < 0 || (rc = connect_agent (&r, &err)) < 0
        || (rc = watch_signals (&r, &err)) < 0 || (rc = send_request (&r, &err)) < 0)
        stderr_line (run_name, "%s", err.text);
    int status = rc < 0 ? 1 : loop_run (&r.loop);
    run_terminal_give_back ();
    destroy (&r);
    return status;
}

const char *run_name = RUN_PROGRAM;

int run_main (int argc, char **argv)
{
    struct run_options o;
    struct error err = { 0 };
    if (argc == 2 && !strcmp (argv[1], KEEPALIVE_OPTION))
        return run_keepalive ();
    if (argc == 2 && !strcmp (argv[1], KEEPALIVE_STAY_OPTION))
        for (;;)
            pause ();
    int rc = run_options_parse (&o, argc, argv, &err);
    if (rc == 0)
        return run_step (&o);
    if (rc < 0)
        stderr_line (run_name, "%s", err.text);
    run_options_release (&o);
    return rc < 0 ? 2 : 0;
}
