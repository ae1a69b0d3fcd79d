/* root_usage.c - rank 0: puts the usage of the job, its steps and its ranks into the
 * spool */

#include "common/clock.h"
#include "common/macros.h"
#include "shell/agent/root.h"

#define KEPT_MAX 256 /* frames of steps, see repeat() */

static uint64_t now_ms (void)
{
    return (uint64_t)(clock_wall () * 1000.0);
}

/* Keeps at most as many as the broker keeps of a job. */
static void keep (struct root *root, const struct frame *frame)
{
    uint8_t head[FRAME_HEAD];
    if (root->nkept >= KEPT_MAX
        || root->kept.len + FRAME_HEAD + frame->len > ROOT_KEPT_BYTES)
        return;
    frame_encode_head (frame, head);
    strbuf_add (&root->kept, head, sizeof (head));
    strbuf_add (&root->kept, frame->data, frame->len);
    root->nkept++;
}

/* A failed write does not fail the job, which goes on to its end. */
void root_append_use (void *ctx, struct stepuse *use)
{
    struct root *root = ctx;
    autostrbuf struct strbuf sb = STRBUF_INIT (FRAME_DATA_MAX);
    stepuse_encode (use, &sb);
    const struct frame frame = { .type = FRAME_USAGE,
                                 .len = (uint32_t)sb.len,
                                 .data = sb.buf };
    if (!sb.err) {
        spool_append (&root->spool, &frame);
        keep (root, &frame);
    }
}

/* Repeats all kept frames at the end of a long spool, whose middle may be cut out
 * (output_limit.h). */
static void repeat (struct root *root)
{
    struct frame frame;
    ssize_t n;
    if (root->spool.len <= SPOOL_MAX_LEAST)
        return;
    for (size_t at = 0;
         (n = frame_parse (root->kept.buf + at, root->kept.len - at, &frame)) > 0;
         at += (size_t)n)
        spool_append (&root->spool, &frame);
}

void root_begin_use (struct root *root)
{
    const struct launch *l = &root->agent->launch;
    uint32_t ntasks = l->batch ? 1 : launch_ntasks (l);
    uint32_t nnodes = l->batch ? 1 : (uint32_t)l->nnodes;
    const char *own = l->batch ? STEPUSE_BATCH : STEPUSE_TASKS;
    root->used[0] = (struct stepuse){ .ntasks = ntasks, .nnodes = nnodes };
    root->used[1] = (struct stepuse){ .ntasks = ntasks, .nnodes = (uint32_t)l->nnodes };
    snprintf (root->used[0].step, sizeof (root->used[0].step), "%s", own);
    snprintf (root->used[1].step, sizeof (root->used[1].step), STEPUSE_ALL);
    for (size_t i = 0; i < ARRAY_SIZE (root->used); i++) {
        snprintf (root->used[i].name, sizeof (root->used[i].name), "%s", l->job_name);
        root->used[i].begin_ms = now_ms ();
    }
}

/* Adds what a rank has used. A rank without tasks of the job's own adds nothing to
 * these. */
bool root_take_use (struct root *root, uint32_t rank, unsigned which,
                    const struct use *use)
{
    uint8_t bit = (uint8_t)(1U << which);
    if (which >= ARRAY_SIZE (root->used) || (root->members[rank].told & bit))
        return false;
    root->members[rank].told |= bit;
    if (which == 1 || tasks_count (&root->agent->launch, rank) > 0)
        stepuse_add (&root->used[which], rank, use);
    return true;
}

bool root_on_usage (struct root *root, uint32_t rank, const struct frame *msg)
{
    struct use use;
    return use_decode (msg->data, msg->len, &use) == 0
           && root_take_use (root, rank, msg->stream, &use);
}

void root_append_uses (struct root *root)
{
    if (root->used[0].begin_ms == 0)
        return; /* nothing has started */
    steps_record_rest (root->steps);
    repeat (root);
    root->used[0].status = root->js.status;
    root->used[1].status = root->js.finish.status;
    root->used[1].end_ms = now_ms ();
    if (root->used[0].end_ms == 0)
        root->used[0].end_ms = root->used[1].end_ms;
    for (size_t i = 0; i < ARRAY_SIZE (root->used); i++)
        root_append_use (root, &root->used[i]);
}

/* Keeps and reports only the first kill. */
void root_note_oom (struct root *root, uint32_t rank, const struct cgroup_memory *m)
{
    char text[256], what[160];
    if (root->js.decided || root->js.oom_text[0])
        return;
    cgroup_oom_text (m, root->agent->launch.mem_mib, what, sizeof (what));
    snprintf (text, sizeof (text), "node %.80s: %s", root_node (root, rank), what);
    root_note (root, rank, text);
    jobstate_oom (&root->js, text);
}

bool root_on_oom (struct root *root, uint32_t rank, const struct frame *msg)
{
    if (msg->len != CGROUP_MEMORY_SIZE)
        return false;
    struct cgroup_memory m = cgroup_memory_get (msg->data);
    root_note_oom (root, rank, &m);
    return true;
}

void root_describe_steps (struct root *root, bool fresh, struct strbuf *sb)
{
    const struct stepuse *own = &root->used[0];
    bool runs = own->begin_ms > 0 && own->end_ms == 0;
    char ranks[32];
    snprintf (ranks, sizeof (ranks), own->nnodes > 1 ? "0-%u" : "0", own->nnodes - 1);
    if (fresh)
        steps_sample (root->steps, runs ? own->nnodes : 0);
    steps_describe (root->steps, runs ? own : NULL, ranks, sb);
}

void root_own_ended (struct root *root)
{
    root->used[0].end_ms = now_ms ();
}
