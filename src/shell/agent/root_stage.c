/* root_stage.c - rank 0: files of --stage-in and --stage-out, its own (stage.h) and those
 * of other ranks */

#include "common/macros.h"
#include "shell/agent/root.h"

/* A file cannot be staged: tells the user in the output. */
static void tell_problem (struct root *root, uint32_t rank, const char *text)
{
    root_note (root, rank, text);
    jobstate_stage_failed (&root->js, text);
}

static void own_send (void *ctx, const struct frame *frame)
{
    root_append (ctx, frame);
}

static void own_problem (void *ctx, const char *text)
{
    tell_problem (ctx, 0, text);
}

static void own_done (void *ctx, const struct error *err)
{
    struct root *root = ctx;
    char text[256];

    if (root->js.phase == JOB_STAGE) {
        root_carry_out (root, jobstate_staged (&root->js, 0, loop_now ()));
    } else if (err->code) {
        snprintf (text, sizeof (text), "node %s: %.200s",
                  root->agent->launch.nodes[0].name, err->text);
        root_carry_out (root, jobstate_fail (&root->js, text, loop_now ()));
    } else {
        root_carry_out (root, jobstate_joined (&root->js, 0, loop_now ()));
    }
}

static const struct stage_events own_events = { root_room, own_send, own_problem,
                                                own_done };

int root_stage_create (struct root *root)
{
    struct agent *agent = root->agent;

    root->stage = stage_create (&agent->loop, &agent->launch, 0, &own_events, root);
    root->js.stages = agent->launch.nstage_out > 0;
    return root->stage ? 0 : -ENOMEM;
}

int root_stage_in (struct root *root, struct error *err)
{
    const struct launch *l = &root->agent->launch;
    const char *name;
    int fd = tasks_cwd (root->tasks, &name), rc;

    if (fd >= 0)
        stage_set_directory (root->stage, fd, name);
    rc = stage_check (root->stage, err);
    if (rc < 0 || !stage_has_in (l, 0))
        return rc;
    stage_in (root->stage);
    return 1;
}

/* Takes a piece of a file, if this rank must send that file. */
static bool take_piece (struct root *root, uint32_t rank, const struct frame *msg)
{
    const struct launch *l = &root->agent->launch;
    const struct launch_stage *s =
        msg->stream < l->nstage_out ? &l->stage_out[msg->stream] : NULL;

    if (!s || !s->send || (s->rank != LAUNCH_ALL_RANKS && s->rank != rank))
        return false;
    if (root->js.phase == JOB_STAGE)
        root_append (root, &(struct frame){ .type = FRAME_FILE,
                                            .stream = msg->stream,
                                            .rank = rank,
                                            .task = msg->task,
                                            .len = msg->len,
                                            .data = msg->data });
    root_took (root, rank, msg->len);
    return true;
}

bool root_stage_message (struct root *root, uint32_t rank, const struct frame *msg)
{
    char text[256];

    switch (msg->type) {
    case FRAME_FILE:
        return take_piece (root, rank, msg);
    case WIRE_STAGE_FAIL:
        snprintf (text, sizeof (text), "%.*s", (int)MIN (msg->len, 255u), msg->data);
        tell_problem (root, rank, text);
        return true;
    case WIRE_STAGED:
        root_carry_out (root, jobstate_staged (&root->js, rank, loop_now ()));
        return true;
    default:
        return false;
    }
}
