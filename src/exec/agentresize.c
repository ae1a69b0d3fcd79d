/* agentresize.c - see agentresize.h */
#include "exec/agentresize.h"

#include "exec/joblaunch.h"

#define TARGET_MAX 4096

static void next_request (struct agentresize *x);

void agentresize_end (struct agentresize *x)
{
    agentlink_forget (x->command);
    x->command = NULL;
    if (x->has_launch)
        launch_release (&x->launch);
    x->has_launch = false;
}

static void answered (int rc, void *arg)
{
    struct agentresize *x = arg;
    bool last = x->next > x->job->resize.nodes;

    x->command = NULL;
    if (rc == 0 && !last) {
        next_request (x);
        return;
    }
    agentresize_end (x);
    if (rc != -ESRCH) /* the link is closed, and its closer knows */
        x->told (rc, x->arg);
}

static void add_word (struct strbuf *sb, const char *name, const char *value)
{
    if (value && *value)
        strbuf_addf (sb, "&%s=%s", name, value);
}

static void add_node (struct strbuf *sb, const struct agentresize *x, uint32_t rank)
{
    const struct launch_node *node = &x->launch.nodes[rank];

    strbuf_addf (sb, "/v1/node?rank=%u&ntasks=%u", rank, node->ntasks);
    add_word (sb, "name", node->name);
    add_word (sb, "cores", node->cores);
    add_word (sb, "gpus", node->gpus);
    add_word (sb, "gres", node->gres);
    add_word (sb, "gpu_type", node->gpu_type);
}

/* Sends the next new node, or the change after the last; then x->next is past the
 * last. */
static void next_request (struct agentresize *x)
{
    const struct exec_resize *to = &x->job->resize;
    autostrbuf struct strbuf target = STRBUF_INIT (TARGET_MAX);
    bool grows = to->nodes > to->from;

    if (grows && x->next < to->nodes)
        add_node (&target, x, x->next);
    else
        strbuf_addf (&target, "/v1/resize?generation=%u&nodes=%u&grace=%.3f",
                     to->generation, to->nodes, grows ? x->new_within : to->grace);
    x->next = grows && x->next < to->nodes ? x->next + 1 : to->nodes + 1;
    if (target.err)
        answered (-EINVAL, x);
    else
        x->command = agentlink_post (x->link, target.buf, answered, x);
}

void agentresize_begin (struct agentresize *x, struct agentlink *link,
                        const struct exec_job *job, double new_within,
                        void (*told) (int rc, void *arg), void *arg)
{
    struct error err = { 0 };

    agentresize_end (x);
    *x = (struct agentresize){ .link = link,
                               .job = job,
                               .next = job->resize.from,
                               .new_within = new_within,
                               .told = told,
                               .arg = arg };
    x->has_launch = joblaunch_fill (job, &x->launch, &err) == 0;
    if (x->has_launch)
        next_request (x);
    else
        told (-ENOMEM, arg);
}

bool agentresize_is_about (const struct exec_job *job, const struct frame *f)
{
    return f->type == FRAME_RESIZED && job->resize.active
           && f->task == job->resize.generation;
}
