/* bcast.c - fluxq-bcast: sends a file to a step with one task on each node */
#include "shell/run/bcast.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "shell/io/stderr_line.h"
#include "shell/run/run.h"

/* The tasks run the agent that starts them. With this name the client need not know the
 * path of the agent on the nodes. */
#define AGENT_ITSELF "/proc/self/exe"
#define OPTIONS_MAX 24

enum { HELP = 0x1000 };

struct bcast {
    const char *name; /* of the program */
    const char *file, *dest;
    bool force, preserve;
};

static bool is_slurm (const struct bcast *b)
{
    return !strcmp (b->name, SBCAST_CLIENT);
}

static void add_help (const struct option_desc *own, struct option_desc all[OPTIONS_MAX])
{
    size_t n = 0;
    for (const struct option_desc *d = own; d->name && n + 2 < OPTIONS_MAX; d++)
        all[n++] = *d;
    all[n++] = (struct option_desc){ "help", 'h', NULL, "print this help",
                                     HELP, false, NULL };
    all[n] = (struct option_desc)OPTION_END;
}

static void print_help (const struct bcast *b, const struct option_desc *all)
{
    printf ("Usage: %s [OPTION...] FILE DEST\n"
            "Copy a file to all nodes of the job. DEST is a path, or ends in / and gets "
            "the name of FILE.\n\n",
            b->name);
    option_print_help (stdout, all);
}

static int take_option (struct bcast *b, const struct option_match *m, struct error *err)
{
    const char *job = getenv ("FLUXQ_JOB_ID");
    switch (m->desc->id) {
    case BCAST_OPT_FORCE:
        b->force = true;
        return 0;
    case BCAST_OPT_PRESERVE:
        b->preserve = true;
        return 0;
    case BCAST_OPT_JOBID:
        return job && !strcmp (job, m->value)
                   ? 0
                   : error_set (
                       err, EINVAL,
                       "--jobid=%s: inside a job a file is copied to the nodes of "
                       "that job, %s",
                       m->value, job ? job : "");
    case BCAST_OPT_REFUSED:
        return sbcast_refuse (m->desc, err);
    default: /* BCAST_OPT_NOTHING */
        return 0;
    }
}

static int take_operand (struct bcast *b, const char *text, struct error *err)
{
    if (b->dest)
        return error_set (err, EINVAL, "'%s': expected one FILE and one DEST", text);
    *(b->file ? &b->dest : &b->file) = text;
    return 0;
}

/* 0; 1: --help was answered; -EINVAL. */
static int parse (struct bcast *b, int argc, char **argv, struct error *err)
{
    struct option_desc options[OPTIONS_MAX];
    struct option_parser parser;
    struct option_match m;
    int rc;
    add_help (is_slurm (b) ? sbcast_options : bcast_options, options);
    option_parser_init (&parser, b->name, options, OPTION_PERMUTE, argc, argv);
    while ((rc = option_next (&parser, &m, err)) > 0) {
        if (m.desc && m.desc->id == HELP) {
            print_help (b, options);
            return 1;
        }
        rc = m.desc ? take_option (b, &m, err) : take_operand (b, m.value, err);
        if (rc < 0)
            return rc;
    }
    if (rc == 0 && is_slurm (b))
        rc = sbcast_read_environ (&b->force, &b->preserve, err);
    if (rc == 0 && !b->dest)
        return error_set (err, EINVAL, "FILE and DEST are required (see %s --help)",
                          b->name);
    return rc;
}

/* Returns the absolute path of DEST, with the name of FILE if DEST is a directory. The
 * caller frees it. */
static char *full_path (const struct bcast *b)
{
    autofree char *here = getcwd (NULL, 0);
    const char *slash = strrchr (b->file, '/');
    const char *name = slash ? slash + 1 : b->file;
    bool relative = b->dest[0] != '/';
    bool folder = b->dest[0] == '\0' || b->dest[strlen (b->dest) - 1] == '/';
    char *path;
    if (!here
        || asprintf (&path, "%s%s%s%s", relative ? here : "", relative ? "/" : "",
                     b->dest, folder ? name : "")
               < 0)
        return NULL;
    return path;
}

static int add_argument (struct step_spec *s, const char *text)
{
    s->args[s->nargs] = text ? strdup (text) : NULL;
    return s->args[s->nargs++] ? 0 : -ENOMEM;
}

/* Sets the command of the task on each node. */
static int fill_command (struct step_spec *s, const struct bcast_copy *c,
                         const struct stat *st, struct error *err)
{
    char size[32], mode[16], mtime[32];
    snprintf (size, sizeof (size), "--size=%jd", (intmax_t)st->st_size);
    snprintf (mode, sizeof (mode), "--mode=%u", st->st_mode & 0777);
    snprintf (mtime, sizeof (mtime), "--mtime=%jd", (intmax_t)st->st_mtime);
    const char *const words[] = { AGENT_ITSELF,
                                  "--receive",
                                  c->dest,
                                  size,
                                  mode,
                                  c->preserve ? mtime : NULL,
                                  c->force ? "--force" : NULL };
    s->args = calloc (ARRAY_SIZE (words) + 1, sizeof (*s->args));
    for (size_t i = 0; s->args && i < ARRAY_SIZE (words); i++)
        if (words[i] && add_argument (s, words[i]) < 0)
            return error_no_memory (err, NULL);
    return s->args ? 0 : error_no_memory (err, NULL);
}

int bcast_fill (struct run_options *o, const struct bcast_copy *c, struct error *err)
{
    struct step_spec *s = &o->spec;
    struct stat st;
    *o = (struct run_options){ .input_fd =
                                   open (c->file, O_RDONLY | O_CLOEXEC | O_NOCTTY) };
    if (o->input_fd < 0 || fstat (o->input_fd, &st) < 0)
        return error_errno (err, errno, "%s", c->file);
    if (!S_ISREG (st.st_mode))
        return error_set (err, EINVAL, "%s: not a file", c->file);
    o->digest = true;
    o->size = (uint64_t)st.st_size;
    o->quiet = true;
    s->input = STEP_INPUT_ALL;
    s->any_component = true;
    s->per_node = 1;
    s->cores_per_task = 1;
    s->overlap = true;
    s->umask = 077;
    s->cwd = strdup ("/");
    s->mpi = strdup ("none");
    s->cpu_bind = strdup ("none");
    s->name = strdup (BCAST_PROGRAM);
    s->env = calloc (1, sizeof (*s->env));
    if (!s->cwd || !s->mpi || !s->cpu_bind || !s->name || !s->env)
        return error_no_memory (err, NULL);
    return fill_command (s, c, &st, err);
}

static int fill (struct run_options *o, const struct bcast *b, struct error *err)
{
    autofree char *dest = full_path (b);
    const struct bcast_copy copy = { b->file, dest, b->force, b->preserve };

    return dest ? bcast_fill (o, &copy, err) : error_no_memory (err, NULL);
}

int bcast_main (const char *name, int argc, char **argv)
{
    struct bcast b = { .name = name };
    struct run_options o = { .input_fd = -1 };
    struct error err = { 0 };
    int rc = parse (&b, argc, argv, &err);
    if (rc == 1)
        return 0;
    int status = rc < 0 && !is_slurm (&b) ? 2 : 1;
    if (rc == 0 && (rc = fill (&o, &b, &err)) == 0)
        return run_step (&o);
    stderr_line (name, "%s%s", is_slurm (&b) ? "error: " : "", err.text);
    run_options_release (&o);
    return status;
}
