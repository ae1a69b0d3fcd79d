/* parts.c - the parts of the broker that services see
 */
#include "broker/core/inside.h"
#include "broker/core/turn.h"

PART (broker, uv_loop_t *, broker_loop, loop)
PART (broker, struct journal *, broker_journal, journal)
PART (broker, struct http_server *, broker_http, http)
PART (broker, struct machine *, broker_graph, graph)
PART (broker, struct matcher *, broker_matcher, matcher)
PART (broker, struct sched *, broker_sched, sched)
PART (broker, struct users *, broker_users, users)
PART (broker, const struct exec_ops *, broker_ops, ops)
PART (broker, struct exec *, broker_exec, exec)
PART (broker, const char *, broker_socket_path, socket_path)
PART (broker, const char *, broker_state_dir, host.state_dir)
PART (broker, const char *, broker_jobs_dir, jobs_dir)
PART (broker, uid_t, broker_uid, uid)
PART (broker, double, broker_started_at, started)
PART (broker, bool, broker_is_recovering, recovering)
PART (broker, bool, broker_is_stopping, stopping)
PART (broker, bool, broker_is_dead, dead)
PART (broker, bool, broker_is_plan_due, plan_due)

SET_PART (broker, bool, broker_set_plan_due, plan_due)

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
