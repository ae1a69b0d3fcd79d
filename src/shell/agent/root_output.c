/* root_output.c - rank 0: frames into the spool and output into the user's files, and what
 * waits while there is no room */
#include <inttypes.h>

#include "common/macros.h"
#include "shell/agent/root.h"

#define ROOM_AGAIN 0.5 /* seconds between attempts while the spool's disk is full */

const char *root_node (const struct root *root, uint32_t rank)
{
    return root->agent->launch.nodes[rank].name;
}

/* -- frames -- */

unsigned root_decide_end (struct root *root, const char *reason, const char *text,
                          double grace)
{
    enum job_phase before = root->js.phase;
    if (root->finish_by > 0)
        root->finish_by = MIN (root->finish_by, loop_now () + ROOT_STREAM_GRACE);
    unsigned todo = jobstate_terminate (&root->js, reason, text, grace, loop_now ());
    if (before == JOB_RUN && todo)
        root_note (root, 0, root->js.finish.text);
    return todo;
}

/* A file cannot be written: ends the job with this reason, once. The actions that follow
 * are carried out later, as this may be called within an action. */
static void io_failed (struct root *root, const char *text)
{
    if (root->io_failed)
        return;
    root->io_failed = true;
    agent_log (root->agent, "%s", text);
    if (root->js.stages)
        jobstate_stage_failed (&root->js, text);
    root->js.keeps_zero = true;
    root->due |= root_decide_end (root, "signaled", text, root->agent->launch.grace);
    root->is_due = true;
}

void root_spool_failed (struct root *root, int rc)
{
    struct error err;
    if (root->io_failed)
        return;
    error_errno (&err, -rc, "cannot write spool %s", root->agent->launch.spool);
    io_failed (root, err.text);
}

void root_append (struct root *root, const struct frame *frame)
{
    if (root->js.phase == JOB_OVER && root->spool.finished)
        return; /* FRAME_FINISH is the last frame */
    int rc = spool_append (&root->spool, frame);
    if (rc < 0)
        root_spool_failed (root, rc);
}

void root_append_text (struct root *root, enum frame_type type, uint32_t rank,
                       const char *text)
{
    root_append (root, &(struct frame){ .type = (uint8_t)type,
                                        .rank = rank,
                                        .len = (uint32_t)strlen (text),
                                        .data = text });
}

void root_note (struct root *root, uint32_t rank, const char *text)
{
    root_append_text (root, FRAME_NOTE, rank, text);
}

/* -- output that waits for room in the spool -- */

static bool try_spool (struct root *root, const struct frame *frame)
{
    int rc = spool_append (&root->spool, frame);
    if (rc < 0 && !root->spool.err)
        return false;
    if (rc < 0)
        root_spool_failed (root, rc);
    return true;
}

/* Writers stop while is_full(), so unspooled holds only output that was under way. */
static void spool_output (struct root *root, const struct frame *frame)
{
    if (root->js.phase == JOB_OVER && root->spool.finished)
        return;
    if (root->unspooled.len == 0) {
        if (try_spool (root, frame))
            return;
        agent_log (root->agent, "output waits: no space for spool %s",
                   root->agent->launch.spool);
        loop_timer_set (&root->agent->loop, &root->room, loop_now () + ROOM_AGAIN);
    }
    wire_put (&root->unspooled, frame);
}

/* Counts the unspooled output as lost. */
static void give_up_spool (struct root *root)
{
    root->nospool += root->unspooled.len;
    outbuf_release (&root->unspooled);
}

bool root_output_waits (const struct root *root)
{
    return root->unspooled.len > 0 || (root->files && outfiles_full (root->files));
}

void root_output_give_up (struct root *root)
{
    give_up_spool (root);
    if (root->files)
        outfiles_give_up (root->files);
}

void root_append_output (struct root *root, uint32_t rank, uint32_t task, int stream,
                         const char *data, size_t len)
{
    struct error err = { 0 };
    spool_output (root, &(struct frame){ .type = FRAME_OUTPUT,
                                         .stream = (uint8_t)stream,
                                         .rank = rank,
                                         .task = task,
                                         .len = (uint32_t)len,
                                         .data = data });
    if (outfiles_write (root->files, task, stream, data, len, &err) < 0)
        io_failed (root, err.text);
}

static bool is_full (const struct root *root)
{
    return spool_full (&root->spool) || root->unspooled.len > 0
           || outfiles_blocked (root->files);
}

static void give_credit (struct root *root, uint32_t rank, uint32_t least)
{
    struct root_member *m = &root->members[rank];
    if (m->consumed < MAX (least, 1u))
        return;
    server_send (root->server, rank,
                 &(struct frame){ .type = WIRE_CREDIT, .task = m->consumed });
    m->consumed = 0;
}

void root_output_resume (void *ctx)
{
    struct root *root = ctx;
    if (!root->was_full || is_full (root))
        return;
    root->was_full = false;
    tasks_resume (root->tasks);
    stage_resume (root->stage);
    for (uint32_t rank = 1; rank < root->js.nranks; rank++)
        give_credit (root, rank, 1);
}

static void on_room_timer (struct loop_timer *timer)
{
    struct root *root = CONTAINER_OF (timer, struct root, room);
    struct outbuf *out = &root->unspooled;
    struct frame frame;
    ssize_t n;
    while (out->len > 0 && (n = frame_parse (out->data + out->off, out->len, &frame)) > 0) {
        if (!try_spool (root, &frame)) {
            loop_timer_set (&root->agent->loop, timer, loop_now () + ROOM_AGAIN);
            return;
        }
        out->off += (size_t)n;
        out->len -= (size_t)n;
    }
    outbuf_release (out);
    root_output_resume (root);
}

size_t root_room (void *ctx)
{
    struct root *root = ctx;
    if (!is_full (root))
        return FRAME_DATA_MAX;
    root->was_full = true;
    return 0;
}

void root_took (struct root *root, uint32_t rank, uint32_t len)
{
    root->members[rank].consumed += len;
    if (is_full (root))
        root->was_full = true;
    else
        give_credit (root, rank, root->window / 4);
}

/* Notes lost output in the result, so that users of a successful job know what its files
 * lack. */
static void tell_lost_output (struct root *root)
{
    const char *why;
    uint64_t lost = outfiles_lost (root->files, &why);
    char *text = root->js.finish.text;
    size_t size = sizeof (root->js.finish.text), len = strnlen (text, size);
    if (lost == 0 || strstr (text, why))
        return;
    root_note (root, 0, why);
    snprintf (text + len, size - len, "%soutput is lost (%" PRIu64 " bytes): %s",
              len ? "; " : "", lost, why);
}

static void tell_unspooled (struct root *root)
{
    char *text = root->js.finish.text;
    size_t size = sizeof (root->js.finish.text), len = strnlen (text, size);
    if (root->nospool > 0)
        snprintf (text + len, size - len,
                  "%s%" PRIu64 " bytes of output had no room in spool %.150s",
                  len ? "; " : "", root->nospool, root->agent->launch.spool);
}

int root_output_create (struct root *root, struct error *err)
{
    const struct launch *l = &root->agent->launch;
    root->room.fire = on_room_timer;
    int rc = spool_create (&root->spool, l->spool, l->spool_max, err);
    if (rc == 0)
        spool_keep (&root->spool, l->spool_keep);
    return rc;
}

void root_output_open (struct root *root, struct error *err)
{
    static const struct launch no_output = { 0 };
    struct loop *loop = &root->agent->loop;
    root->files =
        outfiles_open (&root->agent->launch, loop, root_output_resume, root, err);
    if (!root->files)
        root->files = outfiles_open (&no_output, loop, root_output_resume, root, NULL);
    if (!root->files)
        abort ();
}

void root_output_result (struct root *root)
{
    if (root->files)
        tell_lost_output (root);
    tell_unspooled (root);
}

void root_output_destroy (struct root *root)
{
    loop_timer_clear (&root->agent->loop, &root->room);
    outbuf_release (&root->unspooled);
    outfiles_close (root->files);
    spool_close (&root->spool);
}
