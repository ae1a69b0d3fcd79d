/* private.h - one job as local processes: run.c (its course), recover.c (picked up after a restart), resize.c (other nodes), files.c (what its agents find),
 * spool.c (what they have said) */
#ifndef FLUXQ_EXEC_LOCAL_PRIVATE_H
#define FLUXQ_EXEC_LOCAL_PRIVATE_H

#include "common/strbuf.h"
#include "exec/agentresize.h"
#include "exec/local/local.h"

#define LOCAL_USAGE_MAX                                                                  \
    ((size_t)8 << 20) /* bytes of frames; what comes past it is not told */

struct local_job {
    struct exec *x;
    struct exec_job *job;
    struct local_job *prev, *next;
    char *launch, *key_path, *script; /* absolute paths */
    char *socket;                     /* the same; "-RANK" follows */
    uint8_t key[AGENT_KEY_SIZE];
    int dir_fd; /* the job's directory, opened by a worker; also a way to the socket that
                 * is never too long */
    struct agentlink *link;
    uv_timer_t timer; /* opens the link; later kills */
    uv_work_t work;
    bool busy;     /* work is under way */
    bool looking;  /* ... which is local_look(): the key is not known yet */
    bool started;  /* agents were spawned or adopted */
    bool starting; /* the timer is that of start_overdue() */
    bool ready_told, end_told, cleaning, closing;
    bool forgotten; /* the executor has ended: freed when the work comes back */
    bool ending;    /* terminate() was called, with this reason: */
    char end_reason[16];
    double end_grace;
    bool mute;    /* its key is gone: signals are all that its agents can be told */
    bool killed;  /* the agents were, as they did nothing about it */
    bool orphans; /* what the agents leave does not come to us: we did not start them */
    bool remains_ended; /* ... is gone, with the job's cgroup */
    bool unclean; /* an agent did not clear away: what it left must go before we do */
    bool waits;   /* for that */
    struct local_admin *admin; /* runs; or NULL */
    bool entered;              /* a prolog may have run, so the epilog is due */
    bool epilogue;             /* ... and has been */
    size_t nagents;
    struct agentresize resize;
    bool resize_done;        /* rank 0 says so; the agents that go have yet to end */
    uint32_t resize_spawned; /* the generation whose new agents were started, */
    uint32_t resize_told;    /* the generation of which the broker has heard */
    /* found by local_look() */
    bool has_spool, has_launch, has_key;
    /* of the spool, read by the worker */
    bool ready_seen, finish_seen;
    int spool_errno; /* it could not be read for a shortage of the machine; 0: it was */
    struct frame_finish finish;
    struct strbuf usage;     /* frames */
    char broken[256]; /* the start is given up, and why: the agents are being ended; or "" */
    char gone[256];   /* an agent that has ended before the start, */
    uint32_t gone_rank;      /* ... and which; while the spool is being read for why */
    char lost[256];          /* the first word of an agent that is lost */
    struct hostlist *blamed; /* nodes whose agents were, before all were ready; or NULL */
    struct error err;
    int rc;
    int put_errno; /* a shortage of the machine, not of its user, > 0: why rc failed */
};

/* -- files.c, on a worker thread -- */

/* dir_fd, once for the job's whole life: what its user mounts over it later is not looked
 * at. */
int local_open_dir (struct local_job *l, struct error *err);

/* rc and err say what became of it. */
void local_put_files (uv_work_t *w);

/* The launch file anew, with all nodes of job->r. */
void local_put_launch_again (uv_work_t *w);

/* What an earlier broker has left: has_spool, has_launch, has_key and the key. rc: the
 * directory could not be opened, and nothing is known. */
void local_look (uv_work_t *w);

void local_remove_files (uv_work_t *w);

/* -- run.c, for recover.c and resize.c -- */

/* NULL: no memory; the executor's host has been told that the start failed. */
struct local_job *local_job_create (struct exec *x, struct exec_job *job);
/* From its files on. */
void local_job_begin (struct local_job *l);
/* Agents that an earlier broker started are watched. */
void local_job_adopt (struct local_job *l);
/* The line to rank 0's agent, at once. */
void local_job_link (struct local_job *l);
/* Kill the agents if they have not ended the job some time after its grace. */
void local_job_await_end (struct local_job *l);
/* Of a job that is cleaned up. */
void local_job_end_agents (struct local_job *l);

/* The line to rank 0's agent, if it can be. */
void local_open_link (struct local_job *l);
int local_spawn_rank (struct local_job *l, uint32_t rank);
/* The work has come back. False: there is nobody any more who wants it, and l is gone. */
bool local_work_ended (struct local_job *l);
void local_look_at_spool (struct local_job *l);
void local_finish_cleanup (struct local_job *l);

/* -- recover.c -- */

/* Found in CLEANUP after a restart: what is there is looked for, then cleaned up. */
void local_recover_cleanup (struct local_job *l);

/* -- resize.c -- */

/* A FRAME_RESIZED; an agent has ended, and others have not. */
void local_resize_frame (struct local_job *l, const struct frame *f);
void local_resize_agent_gone (struct local_job *l);

/* -- spool.c -- */

/* ready_seen, finish, usage, lost and blamed from it; on a worker thread. */
void local_read_spool (struct local_job *l);
/* A FRAME_LOST. */
void local_note_lost (struct local_job *l, const struct frame *f);
/* A rank's node had to do with it that the job did not start. */
void local_blame (struct local_job *l, uint32_t rank);

#endif
