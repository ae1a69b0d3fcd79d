/* root_steps.c - rank 0: messages between steps, this rank's part of them, and its
 * clients */
#include <errno.h>

#include "shell/agent/root.h"
#include "shell/io/hostfile.h"

/* Sends a message of steps to a rank. Messages to this rank wait for the end of the
 * round, so that no function is called within its own call. */
static void step_send (void *ctx, uint32_t rank, const struct frame *msg)
{
    struct root *root = ctx;
    if (rank == 0 || rank == WIRE_ALL)
        wire_put (&root->to_self, msg);
    if (rank == WIRE_ALL)
        server_broadcast (root->server, msg);
    else if (rank > 0)
        server_send (root->server, rank, msg);
}

/* Messages of this rank's part and its clients to steps. */
static void step_up (void *ctx, const struct frame *msg)
{
    struct root *root = ctx;
    if (msg->type == WIRE_OOM)
        root_on_oom (root, 0, msg);
    else
        root_step_message (root, 0, msg);
}

/* A frame in the spool tells the broker that a command waits. A failed write does not fail
 * the job: the command is refused. */
static int wake_broker (void *ctx)
{
    struct root *root = ctx;
    return spool_append (&root->spool, &(struct frame){ .type = FRAME_CALL });
}

bool root_step_message (struct root *root, uint32_t rank, const struct frame *msg)
{
    if (msg->type == WIRE_RUN_CALL || msg->type == WIRE_RUN_GONE)
        calls_message (root->calls, rank, msg);
    return msg->type == WIRE_RUN_CALL || steps_message (root->steps, rank, msg);
}

void root_deliver_to_self (struct root *root)
{
    while (root->to_self.len > 0) {
        struct outbuf all = root->to_self;
        const char *data = all.data + all.off;
        struct frame msg;
        ssize_t n;
        root->to_self = (struct outbuf){ 0 };
        for (size_t pos = 0; (n = wire_parse (data + pos, all.len - pos, &msg)) > 0;
             pos += (size_t)n) {
            if (msg.type >= WIRE_STEP_START)
                stepd_message (root->stepd, &msg);
            else
                client_listener_message (root->listener, &msg);
        }
        outbuf_release (&all);
    }
}

int root_create_steps (struct root *root, struct error *err)
{
    struct agent *agent = root->agent;
    const struct launch *l = &agent->launch;
    root->steps = steps_create (&agent->loop, l, step_send, root_append_use, root);
    root->stepd = stepd_create (&agent->loop, l, root->tasks, 0, step_up, root);
    root->calls = calls_create (step_send, wake_broker, root);
    if (!root->steps || !root->stepd || !root->calls)
        return error_no_memory (err, NULL);
    root->listener = client_listener_create (&agent->loop, l, 0, step_up, root, err);
    return root->listener ? hostfile_write (l, err) : -EIO;
}
