/* root_resize_hook.c - rank 0: runs the job's own program when the job's size changes
 *
 * FLUXQ_RESIZE_HOOK of the submission's environment names the program. It runs on rank 0
 * in the job's directory as "HOOK OLD NEW", with the lines of the resize file as
 * variables. Its output is output of the job. It is ended after HOOK_SECONDS, or at the
 * next change.
 */

#include "common/macros.h"
#include "shell/agent/root.h"
#include "shell/agent/root_resize.h"
#include "shell/io/resizefile.h"
#include "shell/io/wait_status.h"
#include "shell/step/env.h"

#define HOOK_VARIABLE "FLUXQ_RESIZE_HOOK="
#define HOOK_SECONDS 60.0
#define HOOK_TASK 0 /* its output counts as the script's */

struct resize_hook {
    struct root *root;
    struct taskset *set;
    struct loop_timer timer;
};

static const char *hook_of (const struct launch *l)
{
    for (size_t i = 0; i < l->nenv; i++)
        if (!strncmp (l->env[i], HOOK_VARIABLE, strlen (HOOK_VARIABLE)))
            return l->env[i] + strlen (HOOK_VARIABLE);
    return NULL;
}

void root_resize_end_hook (struct root *root)
{
    struct resize_hook *hook = root->resize.hook;
    if (!hook)
        return;
    root->resize.hook = NULL;
    loop_timer_clear (&root->agent->loop, &hook->timer);
    taskset_destroy (hook->set);
    loop_free_later (&root->agent->loop, hook);
}

static size_t on_room (void *ctx)
{
    struct resize_hook *hook = ctx;
    return root_room (hook->root);
}

static void on_output (void *ctx, uint32_t task, int stream, const char *data, size_t len)
{
    struct resize_hook *hook = ctx;
    root_append_output (hook->root, 0, task, stream, data, len);
}

static void on_exited (void *ctx, uint32_t task, int status, bool oom)
{
    struct resize_hook *hook = ctx;
    struct root *root = hook->root;
    char what[80], text[160];
    (void)task;
    (void)oom;
    wait_status_text (status, what, sizeof (what));
    snprintf (text, sizeof (text), "FLUXQ_RESIZE_HOOK: %s", what);
    if (status != 0)
        root_note (root, 0, text);
    root_resize_end_hook (root);
}

static const struct task_events hook_events = { on_room, on_output, on_exited, NULL,
                                                NULL };

static void on_time (struct loop_timer *timer)
{
    struct resize_hook *hook = CONTAINER_OF (timer, struct resize_hook, timer);
    struct root *root = hook->root;
    root_note (root, 0, "FLUXQ_RESIZE_HOOK: the program takes too long and is ended");
    root_resize_end_hook (root);
}

/* Puts the lines of the file, as variables, before all others. NULL: no memory. */
static char **with_lines (char **env, char *lines)
{
    size_t n = 0, nlines = 0;
    while (env[n])
        n++;
    for (const char *p = lines; *p; p++)
        nlines += *p == '\n';
    char **all = calloc (n + nlines + 1, sizeof (*all)), *line;
    if (!all)
        return NULL;
    nlines = 0;
    while ((line = strsep (&lines, "\n")) && *line)
        all[nlines++] = line;
    memcpy (all + nlines, env, n * sizeof (*all));
    return all;
}

static int start (struct root *root, const char *program,
                  const struct wire_resize *change, struct error *err)
{
    struct resize_hook *hook = root->resize.hook;
    const struct launch *l = &root->agent->launch;
    const char *cwd;
    int fd = tasks_cwd (root->tasks, &cwd);
    char old[16], new[16];
    struct env_context ctx = { .launch = l,
                               .cwd = cwd,
                               .start_time = tasks_start_time (root->tasks),
                               .end_time = tasks_end_time (root->tasks) };
    autofree char *lines = resizefile_text (l, change);
    char **env = lines ? env_make (&ctx, err) : NULL;
    autofree char **all = env ? with_lines (env, lines) : NULL;
    autofree char *name = strdup (program);
    char *argv[] = { name, old, new, NULL };
    snprintf (old, sizeof (old), "%u", change->from);
    snprintf (new, sizeof (new), "%u", change->to);
    int rc = all && name ? taskset_start (hook->set,
                                          &(struct task_start){ .id = HOOK_TASK,
                                                                .argv = argv,
                                                                .env = all,
                                                                .cwd_fd = fd,
                                                                .cwd = cwd,
                                                                .in_fd = -1,
                                                                .pass_fd = -1 },
                                          err)
                         : error_no_memory (err, NULL);
    free_strings (env);
    return rc;
}

void root_resize_hook (struct root *root, const struct wire_resize *change)
{
    const char *program = hook_of (&root->agent->launch);
    struct error err = { 0 };
    root_resize_end_hook (root);
    if (!program || !*program)
        return;
    struct resize_hook *hook = calloc (1, sizeof (*hook));
    if (!hook)
        return;
    *hook = (struct resize_hook){ .root = root, .timer = { .fire = on_time } };
    hook->set = taskset_create (root->tasks, 1, &hook_events, hook);
    if (!hook->set) {
        free (hook);
        return;
    }
    root->resize.hook = hook;
    loop_timer_set (&root->agent->loop, &hook->timer, loop_now () + HOOK_SECONDS);
    if (start (root, program, change, &err) < 0) {
        root_note (root, 0, err.text);
        root_resize_end_hook (root);
    }
}
