/* parts.c - the parts of the broker that services see
 */
#include "broker/core/inside.h"
#include "broker/core/turn.h"

uv_loop_t *broker_loop (const struct broker *b)
{
    return b->loop;
}

struct journal *broker_journal (const struct broker *b)
{
    return b->journal;
}

struct http_server *broker_http (const struct broker *b)
{
    return b->http;
}

struct machine *broker_graph (const struct broker *b)
{
    return b->graph;
}

struct matcher *broker_matcher (const struct broker *b)
{
    return b->matcher;
}

struct sched *broker_sched (const struct broker *b)
{
    return b->sched;
}

struct users *broker_users (const struct broker *b)
{
    return b->users;
}

const struct topology *broker_topology (const struct broker *b)
{
    return &b->topology;
}

const struct exec_ops *broker_ops (const struct broker *b)
{
    return b->ops;
}

struct exec *broker_exec (const struct broker *b)
{
    return b->exec;
}

const char *broker_socket_path (const struct broker *b)
{
    return b->socket_path;
}

const char *broker_state_dir (const struct broker *b)
{
    return b->host.state_dir;
}

const char *broker_jobs_dir (const struct broker *b)
{
    return b->jobs_dir;
}

uid_t broker_uid (const struct broker *b)
{
    return b->uid;
}

double broker_started_at (const struct broker *b)
{
    return b->started;
}

bool broker_is_recovering (const struct broker *b)
{
    return b->recovering;
}

bool broker_is_stopping (const struct broker *b)
{
    return b->stopping;
}

bool broker_is_dead (const struct broker *b)
{
    return b->dead;
}

void broker_work_begins (struct broker *b)
{
    b->under_way++;
}

void broker_work_ends (struct broker *b)
{
    b->under_way--;
}

bool broker_is_plan_due (const struct broker *b)
{
    return b->plan_due;
}

void broker_set_plan_due (struct broker *b, bool is)
{
    b->plan_due = is;
}
