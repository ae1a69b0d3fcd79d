/* parts.c - the parts of the broker that services see
 */
#include "broker/core/inside.h"
#include "broker/core/turn.h"

/* PART (type, function, member): the function gives this member of the broker. */
#define PART(type, function, member)                                                     \
    type function (const struct broker *b)                                               \
    {                                                                                    \
        return b->member;                                                                \
    }

PART (uv_loop_t *, broker_loop, loop)
PART (struct journal *, broker_journal, journal)
PART (struct http_server *, broker_http, http)
PART (struct machine *, broker_graph, graph)
PART (struct matcher *, broker_matcher, matcher)
PART (struct sched *, broker_sched, sched)
PART (struct users *, broker_users, users)
PART (const struct exec_ops *, broker_ops, ops)
PART (struct exec *, broker_exec, exec)
PART (const char *, broker_socket_path, socket_path)
PART (const char *, broker_state_dir, host.state_dir)
PART (const char *, broker_jobs_dir, jobs_dir)
PART (uid_t, broker_uid, uid)
PART (double, broker_started_at, started)
PART (bool, broker_is_recovering, recovering)
PART (bool, broker_is_stopping, stopping)
PART (bool, broker_is_dead, dead)
PART (bool, broker_is_plan_due, plan_due)

const struct topology *broker_topology (const struct broker *b)
{
    return &b->topology;
}

void broker_work_begins (struct broker *b)
{
    b->under_way++;
}

void broker_work_ends (struct broker *b)
{
    b->under_way--;
}

void broker_set_plan_due (struct broker *b, bool is)
{
    b->plan_due = is;
}
