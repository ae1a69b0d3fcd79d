/* broker.c - creates and destroys the parts of fluxqd
 */
#include "broker/core/inside.h"
#include "broker/core/job_dirs.h"
#include "broker/core/jobs.h"
#include "broker/core/recover.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"

#include <sys/stat.h>
#include <time.h>

#include "common/clock.h"
#include "common/io.h"
#include "exec/claim.h"
#include "launch/launcher.h"
#include "protocol/agent_api.h"
#include "protocol/run_dir.h"

#define SWEEP_SECONDS 60
#define LOCK_TRIES 50 /* to lock the journal */
#define LOCK_PAUSE_MS 20
#define FAREWELL_MS 50
#define FAREWELL_SECONDS 1.0
#define DRAIN_SECONDS 1.5
#define LATE_SECONDS                                                                     \
    60 /* after limit and grace the broker ends jobs that their agents have not ended */

/* The handles that live as long as the broker. */
struct handles {
    uv_prepare_t end_of_turn; /* plans, then commits */
    uv_async_t wake;          /* sent by the journal's threads */
    uv_timer_t sweep;
    uv_timer_t farewell; /* runs from broker_stop() to the end of the loop */
    uv_signal_t sigint, sigterm, sighup;
    double stop_by; /* mono */
};

#define HANDLES(b)                                                                       \
    {                                                                                    \
        (uv_handle_t *)&(b)->handles->end_of_turn, (uv_handle_t *)&(b)->handles->wake,   \
            (uv_handle_t *)&(b)->handles->sweep, (uv_handle_t *)&(b)->handles->farewell, \
            (uv_handle_t *)&(b)->handles->sigint, (uv_handle_t *)&(b)->handles->sigterm, \
            (uv_handle_t *)&(b)->handles->sighup                                         \
    }

static void end_of_turn (uv_prepare_t *h)
{
    struct broker *b = h->data;
    exec_claim_check (b->host.claim); /* before the flush: nothing is answered yet */
    services_call (end_of_turn, b);
    broker_flush (b);
}

static void journal_wake (void *arg)
{
    uv_async_send (arg);
}

static void journal_ready (uv_async_t *h)
{
    struct broker *b = h->data;
    journal_dispatch (b->journal);
}

/* Whether the job is so far past its time limit that its agent should have ended it.
 * Staging files out adds time. */
static bool is_late (const struct broker *b, const struct entry *e)
{
    double late = broker_config (b)->grace + LATE_SECONDS;

    if (e->js && e->js->stage_out.n > 0)
        late += AGENT_STAGE_SECONDS;
    return e->xjob && entry_job (e)->started && !entry_job (e)->finished
           && entry_job (e)->duration > 0
           && clock_wall () > entry_job (e)->t_start + entry_job (e)->duration + late;
}

/* Safety net: removes objects without a job, and ends jobs past their time. */
static void sweep_cb (uv_timer_t *h)
{
    struct broker *b = h->data;
    struct entry *e;
    size_t n = 0;
    autofree uint64_t *live = calloc (b->table.nrunning + 1, sizeof (*live));

    if (!live || b->recovering)
        return;
    entries_each (ENTRIES_ACTIVE, b, e) {
        live[n++] = entry_id (e);
        if (is_late (b, e))
            b->ops->terminate (b->exec, e->xjob, "timeout", broker_config (b)->grace);
    }
    qsort (live, n, sizeof (*live), compare_u64);
    b->ops->sweep (b->exec, live, n);
}

static void signal_cb (uv_signal_t *h, int signum)
{
    struct broker *b = h->data;
    struct error err = { 0 };
    autojson json_t *applied = json_array ();

    if (signum != SIGHUP) {
        log_info ("signal %d: the broker stops; running jobs go on", signum);
        broker_stop (b);
    } else if (broker_reload (b, applied, &err) < 0) {
        log_error ("reload: %s; the old configuration stays", err.text);
    } else {
        log_info ("configuration read again, %zu changes", json_array_size (applied));
    }
}

static void init_handles (struct broker *b)
{
    uv_prepare_init (b->loop, &b->handles->end_of_turn);
    uv_async_init (b->loop, &b->handles->wake, journal_ready);
    uv_timer_init (b->loop, &b->handles->sweep);
    uv_timer_init (b->loop, &b->handles->farewell);
    uv_signal_init (b->loop, &b->handles->sigint);
    uv_signal_init (b->loop, &b->handles->sigterm);
    uv_signal_init (b->loop, &b->handles->sighup);
    uv_handle_t *all[] = HANDLES (b);
    for (size_t i = 0; i < ARRAY_SIZE (all); i++)
        all[i]->data = b;
}

static void start_handles (struct broker *b)
{
    uv_prepare_start (&b->handles->end_of_turn, end_of_turn);
    uv_timer_start (&b->handles->sweep, sweep_cb, SWEEP_SECONDS * 1000,
                    SWEEP_SECONDS * 1000);
}

/* Before clients can reach the broker: who sees its socket may stop it. */
static void start_signals (struct broker *b)
{
    uv_signal_start (&b->handles->sigint, signal_cb, SIGINT);
    uv_signal_start (&b->handles->sigterm, signal_cb, SIGTERM);
    uv_signal_start (&b->handles->sighup, signal_cb, SIGHUP);
}

bool broker_is_administrator (const struct broker *b, uid_t uid)
{
    return uid == 0 || uid == b->uid
           || operators_have_user (b->operators, OPERATORS_SITE, uid, b->users);
}

bool broker_serves_all (const struct broker *b)
{
    return b->uid == 0 || launcher_is_on ();
}

bool broker_operates (const struct broker *b, uid_t uid, unsigned queue)
{
    return operators_have_user (b->operators, (int)queue, uid, b->users)
           || broker_is_administrator (b, uid);
}

bool broker_has_operator_groups (const struct broker *b)
{
    return operators_have_groups (b->operators);
}

static int load_queue_setting (const char *name, const char *value, void *arg)
{
    struct broker *b = arg;
    int i = strncmp (name, "queue/", 6)
                ? -ENOENT
                : config_queue_index (broker_config (b), name + 6);
    if (i >= 0) {
        broker_config (b)->queues[i].started = strcmp (value, "stopped") != 0;
        broker_config (b)->queues[i].operated = true;
    }
    return 0;
}

static int init_queues (struct broker *b, struct error *err)
{
    if (journal_load_settings (b->journal, load_queue_setting, b, err) < 0)
        return -EIO;
    for (size_t i = 0; i < broker_config (b)->nqueues; i++)
        if (sched_queue_set (b->sched, (unsigned)i, broker_config (b)->queues[i].started)
            < 0)
            return error_set (err, ENOMEM, "out of memory");
    return 0;
}

static int init_plan (struct broker *b, struct error *err)
{
    if (!(b->graph = machine_create (broker_config (b)->cluster_id))
        || !(b->matcher = matcher_create (b->graph, broker_config (b)->match_policy))
        || !(b->sched = sched_create (b->matcher, broker_config (b)->queue_policy,
                                      broker_config (b)->reservation_depth))
        || !(b->users = users_create (b->loop)))
        return error_set (err, ENOMEM, "out of memory");
    return 0;
}

static const struct exec_ops *find_executor (const struct config *c, struct error *err)
{
    const struct exec_ops *ops = exec_find (c->executor);
    autostrbuf struct strbuf names = STRBUF_INIT (400);

    if (ops)
        return ops;
    for (size_t i = 0; executors[i]; i++)
        strbuf_addf (&names, "%s%s", i ? ", " : "", executors[i]->name);
    error_set (err, EINVAL, "executor: '%s' is unknown; there is %s", c->executor,
               names.buf);
    return NULL;
}

int exec_check_config (const struct config *c, struct error *err)
{
    const struct exec_ops *ops = find_executor (c, err);
    int rc =
        ops ? ops->check_config (c->doc, config_executor_section (c, c->executor), err)
            : -EINVAL;

    services_arrange ();
    return rc < 0 ? rc : services_try (check_config, c, err);
}

static json_t *exec_section (const struct broker *b)
{
    return config_executor_section (broker_config (b), broker_config (b)->executor);
}

static int find_exec (struct broker *b, struct error *err)
{
    if (!(b->ops = find_executor (broker_config (b), err))
        || topology_read (broker_config (b)->doc, exec_section (b), b->ops->name,
                          b->ops->topology, &b->topology, err)
               < 0)
        return -EINVAL;
    return services_try (check_config, broker_config (b), err);
}

/* Sets what executors learn about the broker, and claims the executor's resources: from
 * here on no other broker may be active. */
static int init_host (struct broker *b, struct error *err)
{
    b->host.arg = b;
    b->host.loop = b->loop;
    services_call (host, b, &b->host);
    b->host.state_dir = broker_config (b)->state_dir;
    b->host.runtime_dir = broker_config (b)->runtime_dir;
    b->host.cluster_id = broker_config (b)->cluster_id;
    b->host.shell_path = broker_config (b)->shell_path;
    return b->ops->claim ? b->ops->claim (&b->host, broker_config (b)->doc,
                                          exec_section (b), &b->host.claim, err)
                         : 0;
}

static int init_exec (struct broker *b, struct error *err)
{
    exec_claim_begin (b->host.claim);
    return b->ops->create (&b->host, broker_config (b)->doc, exec_section (b), &b->exec,
                           err);
}

void broker_init_timers (struct broker *b)
{
    for (const struct broker_service **s = SERVICES_WITH (on_timer); *s; s++)
        broker_timer_init (b,
                           (void *)((char *)service_state (b, (*s)->place) + (*s)->timer),
                           (*s)->on_timer);
}

static char *join (const char *dir, const char *name)
{
    size_t size = strlen (dir) + strlen (name) + 2;
    char *path = malloc (size);
    if (path)
        snprintf (path, size, "%s/%s", dir, name);
    return path;
}

/* The directory may have existed: in /tmp, for instance, another user could have made
 * it. */
static int check_owner (const char *dir, struct error *err)
{
    struct stat st;

    if (stat (dir, &st) < 0)
        return error_errno (err, errno, "%s", dir);
    if (st.st_uid != geteuid () && st.st_uid != 0)
        return error_set (err, EPERM,
                          "%s belongs to uid %u, who can change its contents: name "
                          "another directory",
                          dir, (unsigned)st.st_uid);
    if (st.st_mode & S_IWOTH)
        return error_set (err, EPERM,
                          "%s is writable for everybody: name another directory, or use "
                          "chmod o-w",
                          dir);
    return 0;
}

/* Makes the directory if needed, and replaces its name by the real path: agents are found
 * again by their paths. */
static int settle_dir (char **dir, mode_t mode, struct error *err)
{
    char *real;

    if (io_mkdir_p (*dir, mode, err) < 0)
        return -err->code;
    if (!(real = realpath (*dir, NULL)))
        return error_errno (err, errno, "%s", *dir);
    free (*dir);
    *dir = real;
    return check_owner (real, err);
}

/* Job directories belong to users, so their parent can be passed through, but not
 * listed. */
static int init_dirs (struct broker *b, struct error *err)
{
    struct config *c = broker_config (b);
    bool root = broker_serves_all (b);

    if (settle_dir (&c->state_dir, root ? 0711 : 0700, err) < 0
        || settle_dir (&c->runtime_dir, root ? 0755 : 0700, err) < 0)
        return -err->code;
    b->jobs_dir = join (c->state_dir, "jobs");
    b->socket_path = join (c->runtime_dir, RUN_DIR_SOCKET);
    if (!b->jobs_dir || !b->socket_path)
        return error_set (err, ENOMEM, "out of memory");
    return io_mkdir_p (b->jobs_dir, root ? 0711 : 0700, err);
}

/* With a claim, an earlier broker that held it may still be here, frozen; it ends when it
 * wakes. */
static bool wait_for_journal (struct broker *b, int tries)
{
    const struct timespec pause = { 0, LOCK_PAUSE_MS * 1000000L };

    if (!b->host.claim)
        return tries < LOCK_TRIES && nanosleep (&pause, NULL) == 0;
    if (tries == LOCK_TRIES)
        log_warning ("waiting: another broker has the journal in %s, and no claim to it",
                     broker_config (b)->state_dir);
    uv_run (b->loop, UV_RUN_NOWAIT); /* keeps the claim alive */
    exec_claim_check (b->host.claim);
    return nanosleep (&pause, NULL) == 0;
}

/* A broker that was killed a moment ago may leave a child between fork and exec that
 * still holds the lock. Once the lock is free, all agents of the old broker can be
 * recognized by their command lines. */
static int init_journal (struct broker *b, struct error *err)
{
    autofree char *path = join (broker_config (b)->state_dir, "journal.db");
    int tries = 0;

    if (!path)
        return error_set (err, ENOMEM, "out of memory");
    do {
        *err = (struct error){ 0 };
        b->journal = journal_open (path, journal_wake, &b->handles->wake, err);
    } while (!b->journal && err->code == EBUSY && wait_for_journal (b, tries++));
    return b->journal ? 0 : -EIO;
}

static int init_http (struct broker *b, http_handler_f handle, struct error *err)
{
    start_signals (b);
    if (!(b->http = http_server_create (b->loop, handle, b, err)))
        return -EIO;
    http_server_set_names (b->http, broker_config (b)->listen_names);
    if (broker_config (b)->munge_socket)
        http_server_set_munge_socket (b->http, broker_config (b)->munge_socket);
    if (http_server_listen_unix (b->http, b->socket_path,
                                 broker_serves_all (b) ? 0666 : 0600, err)
        < 0)
        return -EIO;
    if (broker_config (b)->listen_host
        && http_server_listen_tcp (b->http, broker_config (b)->listen_host,
                                   broker_config (b)->listen_port, err)
               < 0)
        return -EIO;
    return 0;
}

struct broker *broker_create (uv_loop_t *loop, struct config *config,
                              http_handler_f handle, struct error *err)
{
    services_arrange ();
    struct broker *b = calloc (1, sizeof (*b));

    if (!b || !(b->states = calloc (1, services_state_size () + 1))
        || !(b->handles = calloc (1, sizeof (*b->handles)))) {
        if (b)
            free (b->states);
        free (b);
        error_set (err, ENOMEM, "out of memory");
        config_destroy (config);
        return NULL;
    }
    b->loop = loop;
    b->head.config = config;
    b->uid = geteuid ();
    b->started = clock_wall ();
    b->recovering = true;
    init_handles (b);
    broker_init_timers (b);
    if (!(b->operators = operators_find (config, err)) || find_exec (b, err) < 0
        || init_dirs (b, err) < 0 || init_plan (b, err) < 0
        || services_try (init, b, err) < 0 || init_host (b, err) < 0
        || init_journal (b, err) < 0 || init_queues (b, err) < 0
        || services_try (load, b, err) < 0 || broker_recover (b, err) < 0
        || init_exec (b, err) < 0 || init_http (b, handle, err) < 0
        || services_try (begin, b, err) < 0) {
        broker_destroy (b);
        return NULL;
    }
    start_handles (b);
    job_dirs_remove_leftovers (b);
    return b;
}

/* -- the end -- */

/* Waits for outstanding answers, as far as the disk allows. */
static void farewell_cb (uv_timer_t *h)
{
    struct broker *b = h->data;
    if (b->under_way == 0 || clock_mono () >= b->handles->stop_by)
        uv_stop (h->loop);
}

void broker_stop (struct broker *b)
{
    if (b->stopping)
        return;
    b->stopping = true;
    b->handles->stop_by = clock_mono () + FAREWELL_SECONDS;
    services_call (stop, b);
    uv_timer_start (&b->handles->farewell, farewell_cb, FAREWELL_MS, FAREWELL_MS);
}

/* Lets the journal's operations complete before it is closed; see broker.dead. */
static void drain (struct broker *b)
{
    const struct timespec pause = { 0, 1000000L };
    double until = clock_mono () + DRAIN_SECONDS;

    while (b->journal && b->under_way > 0 && clock_mono () < until) {
        uv_run (b->loop, UV_RUN_NOWAIT);
        nanosleep (&pause, NULL);
    }
}

void broker_destroy (struct broker *b)
{
    struct entry *e, *next;

    if (!b)
        return;
    b->stopping = b->dead = true;
    services_call (close, b);
    if (b->journal)
        broker_flush (b);
    services_call (stop, b);
    http_server_destroy (b->http);
    if (b->exec)
        b->ops->destroy (b->exec);
    drain (b);
    journal_close (b->journal);
    b->journal = NULL;
    uv_handle_t *all[] = HANDLES (b);
    for (size_t i = 0; i < ARRAY_SIZE (all); i++)
        uv_close (all[i], NULL);
    for (struct broker_timer *t = b->timers; t; t = t->next)
        uv_close ((uv_handle_t *)&t->uv, NULL);
    exec_claim_rest (b->host.claim);
    uv_run (b->loop, UV_RUN_DEFAULT); /* closing callbacks and running workers */
    exec_claim_release (b->host.claim);
    HASH_ITER (hh, b->table.all, e, next)
        entry_remove (b, e);
    free (b->table.order);
    services_call (release, b);
    sched_destroy (b->sched);
    matcher_destroy (b->matcher);
    machine_destroy (b->graph);
    topology_release (&b->topology);
    users_destroy (b->users);
    config_destroy (broker_config (b));
    config_destroy (b->first);
    operators_destroy (b->operators);
    free (b->states);
    free (b->handles);
    free (b->jobs_dir);
    free (b->socket_path);
    free (b);
}
