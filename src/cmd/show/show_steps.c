/* show_steps.c - prints the usage of a job's steps for people; see show.h */
#include "cmd/show/show.h"

#include "cmd/print/print.h"
#include "common/json.h"
#include "common/parse.h"

/* Adds "1.25 s" of processor time, longer times as a duration; empty if unknown. */
static void add_seconds (struct grid *g, const json_t *step, const char *figure)
{
    const json_t *spread = json_object_get (step, figure);
    double seconds = answer_number (spread, "sum");
    autostrbuf struct strbuf sb = STRBUF_INIT (128);

    if (spread && seconds < 60)
        strbuf_addf (&sb, "%.2f", seconds);
    else if (spread)
        strbuf_add_duration (&sb, seconds);
    grid_add (g, "%s", sb.buf);
}

static void add_bytes (struct grid *g, const json_t *step, const char *figure,
                       const char *which)
{
    const json_t *spread = json_object_get (step, figure);
    double bytes = answer_number (spread, which);
    autostrbuf struct strbuf sb = STRBUF_INIT (128);

    if (spread && bytes < 1024)
        strbuf_addf (&sb, "%.0f B", bytes);
    else if (spread && bytes < 1048576)
        strbuf_addf (&sb, "%.0f KiB", bytes / 1024);
    else if (spread)
        add_memory (&sb, bytes / 1048576);
    grid_add (g, "%s", sb.buf);
}

/* "0", "3", "SIGKILL" */
static void add_status (struct grid *g, int status)
{
    int sig = status & 0x7f;

    if (sig > 0 && signal_name (sig))
        grid_add (g, "SIG%s", signal_name (sig));
    else if (sig > 0)
        grid_add (g, "signal %d", sig);
    else
        grid_add (g, "%d", (status >> 8) & 0xff);
}

static void add_step (struct grid *g, const json_t *step)
{
    double elapsed = answer_number (step, "end") - answer_number (step, "begin");
    const json_t *peak = json_object_get (step, "peak");
    struct strbuf sb = STRBUF_INIT (128);

    grid_add (g, "%s", json_text (step, "step"));
    grid_add (g, "%s", json_text (step, "name"));
    grid_add (g, "%.0f", answer_number (step, "ntasks"));
    grid_add (g, "%.0f", answer_number (step, "nnodes"));
    add_status (g, (int)answer_number (step, "status"));
    strbuf_add_duration (&sb, elapsed > 0 ? elapsed : 0);
    grid_add (g, "%s", sb.buf);
    strbuf_release (&sb);
    add_seconds (g, step, "user");
    add_seconds (g, step, "system");
    add_bytes (g, step, "peak", "max");
    grid_add (g, "%s", json_text (peak, "max_node"));
    add_bytes (g, step, "read", "sum");
    add_bytes (g, step, "written", "sum");
}

void show_steps (const json_t *job)
{
    static const char *const headings[] = { "STEP",   "NAME",     ">TASKS", ">NODES",
                                            "STATUS", ">ELAPSED", ">USER",  ">SYSTEM",
                                            ">PEAK",  "NODE",     ">READ",  ">WRITTEN" };
    const json_t *step, *steps = json_object_get (job, "steps");
    double more = answer_number (job, "steps_not_kept");
    struct grid g;
    size_t i;

    if (json_array_size (steps) == 0)
        return;
    putchar ('\n');
    grid_init (&g, headings, ARRAY_SIZE (headings));
    json_array_foreach (steps, i, step) {
        add_step (&g, step);
    }
    grid_print (&g, stdout);
    grid_release (&g);
    if (more > 0)
        printf (
            "%.0f more steps have no figures of their own; they are part of \"all\"\n",
            more);
}
