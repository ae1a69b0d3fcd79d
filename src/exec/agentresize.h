/* agentresize.h - tells rank 0's agent that a malleable job changes its nodes
 *
 *     struct agentresize x = { 0 };
 *     agentresize_begin (&x, link, job, told, arg);   // job->resize: the new size
 *     ... told (rc, arg): 0: rank 0 knows, and new ranks may come
 *     if (agentresize_is_about (job, frame)) ...      // FRAME_RESIZED: it is done, or cannot be
 *     agentresize_end (&x);                           // before the link is closed
 *
 * Sends the description of each new node, then the change itself. All of it may be
 * repeated: an agent that has the change does nothing. After trouble it tries again as
 * long as the link is open. One change at a time; a later one replaces one under way.
 */
#pragma once

#include "exec/agentlink.h"
#include "protocol/launch.h"

struct agentresize {
    struct agentlink *link;
    struct agentlink_command *command; /* under way; or NULL */
    struct launch launch;              /* the nodes as the agents have them */
    bool has_launch;
    uint32_t next;     /* the next rank whose node is sent */
    double new_within; /* seconds that new ranks have to join */
    const struct exec_job *job;
    void (*told) (int rc, void *arg);
    void *arg;
};

/* new_within: seconds > 0. told is called once, later: 0; -EINVAL: rank 0 refused (most
 * likely the job is ending); -ENOMEM. */
void agentresize_begin (struct agentresize *x, struct agentlink *link,
                        const struct exec_job *job, double new_within,
                        void (*told) (int rc, void *arg), void *arg);
/* told does not come any more. */
void agentresize_end (struct agentresize *x);
/* Whether the frame is a FRAME_RESIZED of the change under way. */
bool agentresize_is_about (const struct exec_job *job, const struct frame *f);
