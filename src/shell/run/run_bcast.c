/* run_bcast.c - srun --bcast: the program is copied to the nodes before the step starts
 *
 *     run_bcast_find()    the program and its destination, from the options
 *     run_bcast_copy()    a step like that of fluxq-bcast, over the same connection
 *     run_bcast_copied()  the step then runs the copies
 *
 * The nodes of the step are not chosen before it starts, so the copy goes to all nodes
 * that it may use. The copies stay there, as in Slurm.
 */
#include <limits.h>
#include <sys/stat.h>

#include "shell/run/bcast.h"
#include "shell/run/run.h"

static bool is_program (const char *path)
{
    struct stat st;

    return stat (path, &st) == 0 && S_ISREG (st.st_mode) && access (path, X_OK) == 0;
}

/* Finds the program as execvp() does. *ret: the caller frees it. */
static int find_program (const char *name, char **ret, struct error *err)
{
    const char *path = getenv ("PATH");
    autofree char *copy = strdup (path ? path : "");
    char found[PATH_MAX];

    snprintf (found, sizeof (found), "%s", name);
    for (char *rest = copy, *dir; copy && !strchr (name, '/') && (dir = strsep (&rest, ":"));) {
        snprintf (found, sizeof (found), "%s/%s", *dir ? dir : ".", name);
        if (is_program (found))
            break;
    }
    if (!is_program (found))
        return error_set (err, ENOENT, "--bcast: %.200s: not a program here", name);
    *ret = strdup (found);
    return *ret && copy ? 0 : error_no_memory (err, NULL);
}

/* The absolute path of DEST; it ends in '/' without DEST, and if DEST does. */
static int find_dest (struct run_options *o, struct error *err)
{
    const char *dest = o->bcast_dest ? o->bcast_dest : "";
    char *path;

    if (asprintf (&path, "%s%s%s", *dest == '/' ? "" : o->spec.cwd,
                  *dest == '/' ? "" : "/", dest)
        < 0)
        return error_no_memory (err, NULL);
    free (o->bcast_dest);
    o->bcast_dest = path;
    return 0;
}

int run_bcast_find (struct run_options *o, struct error *err)
{
    struct step_spec *s = &o->spec;
    const char *slash;

    if (!o->bcast)
        return 0;
    if (s->multi_prog)
        return error_set (err, EINVAL,
                          "--bcast copies one program: it cannot be combined with "
                          "--multi-prog");
    if (o->send_libs)
        return error_set (err, EINVAL,
                          "--send-libs: libraries are not copied: remove it (copy them as "
                          "files, or use an image that has them)");
    int rc = find_program (s->args[0], &o->bcast_file, err);
    if (rc == 0)
        rc = find_dest (o, err);
    slash = strrchr (s->args[0], '/');
    if (rc == 0 && !s->name && !(s->name = strdup (slash ? slash + 1 : s->args[0])))
        rc = error_no_memory (err, NULL);
    return rc;
}

static int copy_text (char **to, const char *from)
{
    return from && !(*to = strdup (from)) ? -ENOMEM : 0;
}

int run_bcast_copy (const struct run_options *o, struct run_options *ret,
                    struct error *err)
{
    const struct bcast_copy copy = { o->bcast_file, o->bcast_dest, true, true };
    int rc = bcast_fill (ret, &copy, err);

    if (rc == 0
        && (copy_text (&ret->spec.hosts, o->spec.hosts) < 0
            || copy_text (&ret->spec.exclude, o->spec.exclude) < 0
            || copy_text (&ret->spec.client_address, o->spec.client_address) < 0))
        rc = error_no_memory (err, NULL);
    return rc;
}

int run_bcast_copied (struct run_options *o, uint32_t step, struct error *err)
{
    const char *job = getenv ("FLUXQ_JOB_ID");
    char number[16], *path;

    snprintf (number, sizeof (number), "%u", step);
    o->spec.node_program = o->bcast_dest[strlen (o->bcast_dest) - 1] == '/';
    int n = o->spec.node_program ? asprintf (&path, "%s" BCAST_NAME, o->bcast_dest,
                                             job ? job : "", number)
                                 : asprintf (&path, "%s", o->bcast_dest);
    if (n < 0)
        return error_no_memory (err, NULL);
    free (o->spec.args[0]);
    o->spec.args[0] = path;
    o->bcast = false;
    for (size_t i = 0; i < o->spec.nparts; i++) { /* they run the same program */
        struct step_spec *part = &o->spec.parts[i];
        free (part->args[0]);
        if (!(part->args[0] = strdup (path)))
            return error_no_memory (err, NULL);
    }
    return 0;
}
