/* private.h - one job as local processes: local_job.c (its record), run.c (its course),
 * job_reports.c (reports to the broker), cleanup.c (its end), recover.c (after a restart of
 * the broker), resize.c (changes its nodes), files.c (files for its agents), spool.c
 * (reads its spool) */
#pragma once

#include "common/strbuf.h"
#include "exec/agentresize.h"
#include "exec/local/local.h"

struct local_job {
    struct exec *x;
    struct exec_job *job;
    struct local_job *prev, *next;
    char *launch, *key_path, *script; /* absolute paths */
    char *socket;                     /* an absolute path; "-RANK" follows */
    uint8_t key[AGENT_KEY_SIZE];
    /* the job's directory, opened by a worker; also a way to the socket that is never too
     * long */
    int dir_fd;
    struct agentlink *link;
    uv_timer_t timer; /* opens the link; later kills */
    uv_work_t work;
    bool busy;     /* work is under way */
    bool no_agent; /* ... and no agent ran when it began */
    bool looking;  /* ... and is local_look(): the key is not known yet */
    bool started;  /* agents were spawned or adopted */
    bool starting; /* the timer is that of start_overdue() */
    bool ready_told, end_told, cleaning, closing;
    bool forgotten; /* the executor has ended: free the job when the work comes back */
    bool ending;    /* terminate() was called, with this reason: */
    char end_reason[16];
    double end_grace;
    bool mute;    /* the key is gone: the agents can get signals only */
    bool killed;  /* we have killed the agents, since they did not end */
    /* orphans of the agents do not come to us, because we did not start the agents */
    bool orphans;
    bool remains_ended; /* ... are gone, with the job's cgroup */
    /* an agent ended without clearing away: its orphans must end before the job does */
    bool unclean;
    bool waits;   /* the job waits for that */
    struct local_admin *admin; /* running; or NULL */
    bool entered;              /* a prolog may have run, so the epilog must run */
    bool epilogue;             /* ... and has run */
    size_t nagents;
    struct agentresize resize;
    /* rank 0 reports success; the agents of lost ranks have yet to end */
    bool resize_done;
    uint32_t resize_spawned; /* the change whose new agents were started, */
    uint32_t resize_told;    /* the change last reported to the broker */
    /* found by local_look() */
    bool has_spool, has_launch, has_key;
    /* from the spool, read by the worker */
    bool ready_seen, finish_seen;
    /* the spool could not be read for a shortage of the machine; 0: it was read */
    int spool_errno;
    struct frame_finish finish;
    struct strbuf usage;     /* frames */
    /* why the start has failed, while the agents are being ended; or "" */
    char broken[256];
    char gone[256];   /* about an agent that ended before the start, */
    /* ... and its rank, while the spool is read for the reason */
    uint32_t gone_rank;
    char lost[256];          /* the first report of a lost agent */
    /* nodes whose agents were lost before all were ready; or NULL */
    struct hostlist *blamed;
    struct error err;
    int rc;
    /* > 0: a shortage of the machine, not of its user, made rc fail */
    int put_errno;
};

/* -- files.c, on a worker thread -- */

/* Opens dir_fd, once for the job's whole life: later mounts of the user over the
 * directory have no effect. */
int local_open_dir (struct local_job *l, struct error *err);

/* Writes the files; the result is in rc and err. */
void local_put_files (uv_work_t *w);

/* Writes the launch file again, with all nodes of job->r. */
void local_put_launch_again (uv_work_t *w);

/* Finds what an earlier broker has left: has_spool, has_launch, has_key and the key. rc:
 * the directory could not be opened, and nothing is known. */
void local_look (uv_work_t *w);

void local_remove_files (uv_work_t *w);

/* -- local_job.c -- */

/* NULL: no memory. */
struct local_job *local_job_make (struct exec *x, struct exec_job *job);
/* The same; NULL was reported as a failed start to the executor's host. */
struct local_job *local_job_create (struct exec *x, struct exec_job *job);
/* Begins work on a worker thread; l is busy until local_work_ended(). False: no memory. */
bool local_work_begin (struct local_job *l, uv_work_cb work, uv_after_work_cb done);
/* Frees l now, or when its work comes back. */
void local_job_free (struct local_job *l);
/* The work has come back. False: nobody needs it any more, and l is freed. */
bool local_work_ended (struct local_job *l);
void local_close_link (struct local_job *l);

/* -- job_reports.c: to the broker, each at most once -- */

void local_tell_ready (struct local_job *l);
/* A file could not be opened or read; the job tries again. */
void local_tell_shortage (struct local_job *l, const char *path, int errnum);
/* The start has failed for a shortage of the broker's machine. */
void local_tell_short (struct local_job *l, int errnum, const char *text);
void local_tell_start_failed (struct local_job *l, bool retry, const char *text);
void local_tell_prolog_failed (struct local_job *l, const struct local_admin *a);
void local_tell_finish (struct local_job *l, const struct frame_finish *fin);
/* The agents have ended without a FINISH. */
void local_tell_lost (struct local_job *l);
void local_tell_usage (struct local_job *l, const struct frame *f);
/* The usage that a worker has read. */
void local_tell_usages (struct local_job *l);

/* -- run.c, for recover.c and resize.c -- */

/* Begins with the job's files. */
void local_job_begin (struct local_job *l);
/* Watches agents that an earlier broker started. */
void local_job_adopt (struct local_job *l);
/* Opens the line to rank 0's agent at once. */
void local_job_link (struct local_job *l);
/* Kills the agents if they have not ended the job some time after its grace. */
void local_job_await_end (struct local_job *l);
/* Kills the agents now: a timer's callback. */
void local_kill_due (uv_timer_t *t);

/* Opens the line to rank 0's agent, if possible. */
void local_open_link (struct local_job *l);
int local_spawn_rank (struct local_job *l, uint32_t rank);
void local_look_at_spool (struct local_job *l);

/* -- cleanup.c -- */

/* Goes on with the cleanup, unless something of the job is still there. */
void local_finish_cleanup (struct local_job *l);
/* Ends the agents of a job in cleanup. */
void local_job_end_agents (struct local_job *l);
/* Ends the orphans of killed agents that were no children of ours, before anybody is told
 * of the job's end. On a worker thread. */
void local_end_remains (struct local_job *l);

/* -- recover.c -- */

/* For a job found in CLEANUP after a restart: looks for its remains, then cleans up. */
void local_recover_cleanup (struct local_job *l);

/* -- resize.c -- */

/* Handles a FRAME_RESIZED; handles the end of an agent while others run. */
void local_resize_frame (struct local_job *l, const struct frame *f);
void local_resize_agent_gone (struct local_job *l);

/* -- spool.c -- */

/* Reads the spool; sets ready_seen, finish, usage, lost and blamed. On a worker
 * thread. */
void local_read_spool (struct local_job *l);
/* Handles a FRAME_LOST. */
void local_note_lost (struct local_job *l, const struct frame *f);
/* The node of this rank contributed to a failed start. */
void local_blame (struct local_job *l, uint32_t rank);
