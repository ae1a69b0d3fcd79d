/* small.c - see small.h; the parts are in small_*.c */
#include "broker/core/test/small_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/core/test/fake_agent.h"
#include "broker/core/test/fake_http.h"
#include "broker/core/users.h"

#define TURNS_MAX 1000

struct small *small_current;

/* -- users: what the linker gives instead of the look-up -- */

void __wrap_users_find (struct users *u, uid_t uid, users_f done, void *arg);
const char *__wrap_users_recall (struct users *u, uid_t uid);
void __wrap_users_find_named (struct users *u, const char *name, users_f done, void *arg);

void __wrap_users_find (struct users *u, uid_t uid, users_f done, void *arg)
{
    gid_t group = uid;
    char name[] = "user", home[] = "/", shell[] = "/bin/sh";
    const struct exec_user user = { .uid = uid,
                                    .gid = uid,
                                    .name = name,
                                    .home = home,
                                    .shell = shell,
                                    .groups = &group,
                                    .ngroups = 1 };

    (void)u;
    done (0, &user, arg);
}

/* Each name but "nobody" is the user's. */
void __wrap_users_find_named (struct users *u, const char *name, users_f done, void *arg)
{
    if (strcmp (name, "nobody") != 0)
        __wrap_users_find (u, 1000, done, arg);
    else
        done (-ENOENT, NULL, arg);
}

const char *__wrap_users_recall (struct users *u, uid_t uid)
{
    (void)u;
    return uid == 0 ? "root" : "user";
}

/* -- the broker -- */

static void add_nodes (struct broker *b, int n)
{
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf (name, sizeof (name), "node%d", i);
        const struct machine_node_spec spec = { .name = name,
                                                .cores = 4,
                                                .memory_mib = 1024 };
        b->host.node (b, &spec, MACHINE_NODE_UP, NULL);
    }
    b->host.nodes_complete (b);
}

static void call_init (struct broker *b)
{
    struct error err = { 0 };

    broker_init_timers (b);
    for (const struct broker_service **s = SERVICES_WITH (init); *s; s++)
        assert_int_equal ((*s)->init (b, &err), 0);
    services_call (host, b, &b->host);
    for (const struct broker_service **s = SERVICES_WITH (load); *s; s++)
        assert_int_equal ((*s)->load (b, &err), 0);
}

struct small *small_create (int nodes)
{
    struct small *s = calloc (1, sizeof (*s));
    struct broker *b;

    assert_non_null (s);
    small_current = s;
    small_clock_begin ();
    small_journal_begin ();
    services_arrange ();
    uv_loop_init (&s->loop);
    s->b = b = calloc (1, sizeof (*b));
    assert_non_null (b);
    b->states = calloc (1, services_state_size () + 1);
    b->loop = &s->loop;
    b->head.config = s->config = config_default (services_settings ());
    b->ops = &small_exec_ops;
    b->exec = calloc (1, sizeof (*b->exec));
    b->exec->small = s;
    b->host.arg = b;
    b->jobs_dir = strdup ("/");
    b->socket_path = strdup ("/");
    free (broker_config (b)->state_dir);
    broker_config (b)->state_dir = strdup ("/");
    b->uid = 999;
    b->table.next_id = 1;
    b->started = small_now ();
    b->recovering = true;
    b->graph = machine_create ("small");
    b->matcher = matcher_create (b->graph, broker_config (b)->match_policy);
    b->sched = sched_create (b->matcher, broker_config (b)->queue_policy,
                             broker_config (b)->reservation_depth);
    for (size_t i = 0; i < broker_config (b)->nqueues; i++)
        sched_queue_set (b->sched, (unsigned)i, true);
    call_init (b);
    add_nodes (b, nodes);
    small_turn (s);
    return s;
}

void small_turn (struct small *s)
{
    struct broker *b = s->b;

    for (int i = 0; i < TURNS_MAX; i++) {
        services_call (end_of_turn, b);
        broker_flush (b);
        uv_run (&s->loop, UV_RUN_NOWAIT);
        if (!small_completes () && !b->turns.current && (!b->plan_due || b->stopping))
            return;
        small_complete ();
    }
    fail_msg ("the broker does not become idle");
}

void small_ready (struct small *s, uint64_t id)
{
    s->b->host.ready (s->b, id);
    small_turn (s);
}

void small_finish (struct small *s, uint64_t id, const char *reason)
{
    s->b->host.finished (s->b, id, 0, reason, "");
    small_turn (s);
}

void small_use_dir (struct small *s, const char *jobs_dir)
{
    long countdown = small_spare ();

    free (s->b->jobs_dir);
    s->b->jobs_dir = strdup (jobs_dir);
    small_resume (countdown);
    s->b->uid = getuid ();
    s->works = true;
}

static void closed (uv_handle_t *h, void *arg)
{
    (void)arg;
    if (!uv_is_closing (h))
        uv_close (h, NULL);
}

void small_set (struct small *s, const char *key, json_t *value)
{
    struct error err = { 0 };
    struct config_place p = { .owner = value, .key = key, .err = &err };

    assert_int_equal (config_set (s->config, key, value, &p), 0);
    json_decref (value);
}

void small_destroy (struct small *s)
{
    struct broker *b = s->b;
    struct entry *e, *next;

    b->stopping = b->dead = true;
    services_call (close, b);
    broker_flush (b);
    services_call (stop, b);
    small_answer_signals (-ECANCELED);
    fake_http_stop ();
    for (int i = 0; i < TURNS_MAX && (small_completes () || b->under_way > 0); i++) {
        services_call (end_of_turn, b);
        broker_flush (b);
        small_complete ();
    }
    uv_walk (&s->loop, closed, NULL);
    uv_run (&s->loop, UV_RUN_DEFAULT);
    HASH_ITER (hh, b->table.all, e, next)
        entry_remove (b, e);
    free (b->table.order);
    fake_http_end ();
    fake_agent_end ();
    services_call (release, b);
    sched_destroy (b->sched);
    matcher_destroy (b->matcher);
    machine_destroy (b->graph);
    topology_release (&b->topology);
    config_destroy (broker_config (b));
    free (b->jobs_dir);
    free (b->socket_path);
    free (b->states);
    free (b->exec);
    free (b);
    assert_int_equal (uv_loop_close (&s->loop), 0);
    small_journal_end ();
    free (s->told);
    free (s);
}
