/* run_output.c - writes the output of tasks to the terminal or to files, with labels */
#include <fcntl.h>

#include "common/io.h"
#include "common/parse.h"
#include "protocol/pattern.h"
#include "shell/run/run.h"
#include "shell/run/tasklabel.h"

#define LINE_MAX_BYTES (64 * 1024) /* longer lines are written in parts */

struct target { /* destination of one stream */
    const char *pattern;
    int64_t only; /* number of the only task; -1: all tasks */
    bool none;
    int fd;   /* for all tasks */
    int *fds; /* [nfds] one for each task or node; -1: not open yet */
    uint32_t nfds;
    bool by_node;
};

struct part {       /* of the step */
    uint32_t first; /* its first task */
    struct target targets[2];
    bool shared; /* the targets are those of an earlier part */
};

struct run_output {
    struct run_vars vars;
    struct part *parts; /* [nparts] by their tasks */
    size_t nparts;
    bool label, append;
    int width;            /* of a label */
    struct strbuf *lines; /* [2 * ntasks] with labels: incomplete lines */
};

struct pattern_vars run_pattern_vars (const struct run_vars *vars, uint32_t task)
{
    uint32_t node = vars->node_of[task];
    return (struct pattern_vars){ .job_id = vars->job_id,
                                  .array_job = vars->array_job,
                                  .array_task = vars->array_task,
                                  .job_name = vars->job_name,
                                  .user = vars->user,
                                  .node = vars->hosts[node],
                                  .node_index = vars->ranks[node],
                                  .task = task,
                                  .in_step = true,
                                  .step = vars->step };
}

static int open_file (const struct run_output *out, const struct target *t, uint32_t task,
                      struct error *err)
{
    autostrbuf struct strbuf path = STRBUF_INIT (64 * 1024);
    const struct pattern_vars v = run_pattern_vars (&out->vars, task);
    int rc = pattern_expand (t->pattern, &v, &path, err);
    if (rc < 0)
        return rc;
    int fd = open (path.buf,
                   O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY
                       | (out->append ? O_APPEND : O_TRUNC),
                   0666);
    return fd < 0 ? error_errno (err, errno, "cannot write %s", path.buf) : fd;
}

static int set_target (struct run_output *out, struct target *t, uint32_t first,
                       const char *pattern, int own_fd, struct error *err)
{
    *t = (struct target){ .pattern = pattern, .only = -1, .fd = own_fd };
    if (!pattern || !strcmp (pattern, "all"))
        return 0;
    if (!strcmp (pattern, "none")) {
        t->none = true;
        return 0;
    }
    if (parse_int (pattern, 0, (int64_t)out->vars.ntasks - 1, &t->only, "", NULL) == 0)
        return 0;
    t->only = -1;
    t->by_node = !pattern_is_per_task (pattern) && pattern_is_per_node (pattern);
    if (!t->by_node && !pattern_is_per_task (pattern)) {
        t->fd = open_file (out, t, first, err);
        return t->fd < 0 ? t->fd : 0;
    }
    t->nfds = t->by_node ? out->vars.nnodes : out->vars.ntasks;
    t->fds = malloc (t->nfds * sizeof (*t->fds));
    if (!t->fds)
        return error_no_memory (err, NULL);
    for (uint32_t i = 0; i < t->nfds; i++)
        t->fds[i] = -1;
    return 0;
}

static int set_targets (struct run_output *out, struct part *p,
                        const struct run_files *files, struct error *err)
{
    int rc =
        set_target (out, &p->targets[0], p->first, files->output, STDOUT_FILENO, err);
    if (rc < 0)
        return rc;
    if (!files->error && files->output) { /* the same target as output */
        p->targets[1] = p->targets[0];
        return 0;
    }
    p->targets[1].fd = -1;
    return set_target (out, &p->targets[1], p->first, files->error, STDERR_FILENO, err);
}

static bool same_text (const char *a, const char *b)
{
    return a && b ? !strcmp (a, b) : a == b;
}

/* The files of part i. */
static struct run_files files_of (const struct run_options *o, size_t i)
{
    return i > 0 && o->files ? o->files[i - 1]
                             : (struct run_files){ o->output, o->error };
}

/* Parts with the same files write to them together. */
static int set_parts (struct run_output *out, const struct run_options *o,
                      const struct step_spec *step, struct error *err)
{
    uint32_t first = out->vars.ntasks;

    for (size_t i = out->nparts; i-- > 0;) {
        first = i > 0 ? first - MIN (first, step->parts[i - 1].ntasks) : 0;
        out->parts[i].first = first;
    }
    for (size_t i = 0; i < out->nparts; i++) {
        struct part *p = &out->parts[i];
        struct run_files files = files_of (o, i);
        size_t k = 0;

        while (k < i
               && !(same_text (files_of (o, k).output, files.output)
                    && same_text (files_of (o, k).error, files.error)))
            k++;
        p->shared = k < i;
        if (p->shared)
            memcpy (p->targets, out->parts[k].targets, sizeof (p->targets));
        else if (set_targets (out, p, &files, err) < 0)
            return -EIO;
    }
    return 0;
}

struct run_output *run_output_create (const struct run_options *o,
                                      const struct step_spec *step,
                                      const struct run_vars *vars, struct error *err)
{
    struct run_output *out = calloc (1, sizeof (*out));
    if (out) {
        out->nparts = step->nparts + 1;
        out->parts = calloc (out->nparts, sizeof (*out->parts));
        out->lines = calloc (2 * (size_t)vars->ntasks, sizeof (*out->lines));
    }
    if (!out || !out->parts || !out->lines) {
        if (out) {
            free (out->parts);
            free (out->lines);
        }
        free (out);
        return error_null (error_no_memory (err, NULL));
    }
    out->vars = *vars;
    out->label = o->label;
    out->append = o->append;
    for (uint32_t i = 0; i < 2 * vars->ntasks; i++)
        strbuf_init (&out->lines[i], LINE_MAX_BYTES + 1);
    if (set_parts (out, o, step, err) < 0) {
        run_output_destroy (out);
        return NULL;
    }
    return out;
}

static bool is_same (const struct part *p)
{
    return p->targets[0].fd == p->targets[1].fd && p->targets[0].fds == p->targets[1].fds;
}

static void release_targets (struct part *p)
{
    bool same = is_same (p);

    for (int s = 0; s < (same ? 1 : 2); s++) {
        struct target *t = &p->targets[s];
        for (uint32_t i = 0; t->fds && i < t->nfds; i++)
            if (t->fds[i] >= 0)
                close (t->fds[i]);
        free (t->fds);
        if (t->fd > STDERR_FILENO)
            close (t->fd);
    }
}

void run_output_destroy (struct run_output *out)
{
    if (!out)
        return;
    for (size_t i = 0; i < out->nparts; i++)
        if (!out->parts[i].shared)
            release_targets (&out->parts[i]);
    free (out->parts);
    for (uint32_t i = 0; i < 2 * out->vars.ntasks; i++)
        strbuf_release (&out->lines[i]);
    free (out->lines);
    free (out);
}

static struct part *part_of (const struct run_output *out, uint32_t task)
{
    size_t i = out->nparts - 1;

    while (i > 0 && task < out->parts[i].first)
        i--;
    return &out->parts[i];
}

static int target_fd (struct run_output *out, struct target *t, uint32_t task,
                      struct error *err)
{
    uint32_t i = t->by_node ? out->vars.node_of[task] : task;
    if (!t->fds)
        return t->fd;
    if (t->fds[i] < 0)
        t->fds[i] = open_file (out, t, task, err);
    return t->fds[i];
}

static int write_out (struct run_output *out, uint32_t task, int stream, const char *data,
                      size_t len, struct error *err)
{
    struct target *t = &part_of (out, task)->targets[stream - 1];
    int fd = target_fd (out, t, task, err);
    if (fd < 0)
        return fd;
    int rc = io_write_all (fd, data, len);
    if (rc == 0)
        return 0;
    return error_errno (err, -rc, "cannot write %s",
                        t->pattern    ? t->pattern
                        : stream == 1 ? "standard output"
                                      : "standard error");
}

/* Writes a line, or a part of an overlong one, after the label. */
static int write_line (struct run_output *out, uint32_t task, int stream,
                       const struct strbuf *line, struct error *err)
{
    char label[TASKLABEL_MAX];
    size_t n = tasklabel (label, task, out->vars.ntasks);
    autofree char *all = malloc (n + line->len + 1);
    if (!all)
        return error_no_memory (err, NULL);
    memcpy (all, label, n);
    memcpy (all + n, line->buf, line->len);
    size_t len = n + line->len;
    if (line->len == 0 || line->buf[line->len - 1] != '\n')
        all[len++] = '\n';
    return write_out (out, task, stream, all, len, err);
}

static int write_labelled (struct run_output *out, uint32_t task, int stream,
                           const char *data, size_t len, struct error *err)
{
    struct strbuf *line = &out->lines[2 * task + (uint32_t)stream - 1];
    int rc = 0;
    while (len > 0 && rc == 0) {
        const char *end = memchr (data, '\n', len);
        size_t room = LINE_MAX_BYTES - line->len;
        size_t n = MIN (end ? (size_t)(end - data) + 1 : len, room);
        if (strbuf_add (line, data, n) < 0)
            return error_no_memory (err, NULL);
        data += n;
        len -= n;
        if (line->len == LINE_MAX_BYTES || line->buf[line->len - 1] == '\n') {
            rc = write_line (out, task, stream, line, err);
            strbuf_reset (line);
        }
    }
    return rc;
}

int run_output_write (struct run_output *out, uint32_t task, int stream, const char *data,
                      size_t len, struct error *err)
{
    const struct target *t = &part_of (out, task)->targets[stream - 1];
    if (t->none || (t->only >= 0 && t->only != task))
        return 0;
    if (out->label)
        return write_labelled (out, task, stream, data, len, err);
    return write_out (out, task, stream, data, len, err);
}

int run_output_end (struct run_output *out, uint32_t task, struct error *err)
{
    int rc = 0;
    for (int stream = 1; stream <= 2; stream++) {
        struct strbuf *line = &out->lines[2 * task + (uint32_t)stream - 1];
        if (line->len > 0 && rc == 0)
            rc = write_line (out, task, stream, line, err);
        strbuf_release (line);
    }
    struct part *p = part_of (out, task);
    for (int s = 0; s < (is_same (p) ? 1 : 2); s++) {
        struct target *t = &p->targets[s];
        if (t->fds && !t->by_node && t->fds[task] >= 0) {
            close (t->fds[task]);
            t->fds[task] = -1;
        }
    }
    return rc;
}
