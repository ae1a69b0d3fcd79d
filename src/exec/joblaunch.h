/* joblaunch.h - the part of a launch file that is the same for every executor
 *
 *     struct launch l;
 *     if (joblaunch_fill (job, &l, &err) < 0) ...;
 *     l.listen = strdup (...); l.spool = ...              // the executor's part
 *     launch_write (&l, &sb);
 *     launch_release (&l);
 *
 * Filled: job_id, array_*, job_name, user, queue, cwd, batch, args, env, nodes,
 * nodes_requested, cores_per_task, max_nodes, resize_signal, mem_mib, time_limit, grace,
 * umask, nice, warn_*, rlimits, user_env, append, one_stream. The args of a batch job are
 * those after the script (the executor places the script); otherwise they are the command.
 * Tasks are distributed over the ranks in blocks, in proportion to their slots (RFC 14:
 * per_slot or total).
 */
#pragma once

#include "exec/exec.h"
#include "protocol/launch.h"

/* 0 or -ENOMEM; on error l is released. */
int joblaunch_fill (const struct exec_job *job, struct launch *l, struct error *err);
