/* written.c - names options in errors of the jobspec, as the user wrote them
 *
 * A user who gave -N has not written resources[0].count. An error of the broker that
 * names a path of the jobspec is rewritten to name the option that the value comes from.
 */
#include <string.h>

#include "common/macros.h"
#include "jobspec/options/written.h"

#define OPENING "jobspec: "

/* Paths whose parts are not names of options. The error names the first given option. */
static const struct {
    const char *path;
    const char *options[12];
} paths[] = {
    { "attributes.system.duration", { "time" } },
    { "attributes.system.cwd", { "chdir" } },
    { "attributes.system.job.name", { "job-name" } },
    { "attributes.system.dependencies", { "dependency" } },
    { "attributes.system.begin-time", { "begin" } },
    { "attributes.system.constraints", { "constraint", "nodelist", "exclude" } },
    { "attributes.system.fluxq.memory-per-node", { "mem" } },
    { "attributes.system.fluxq.pods.volumes", { "volume" } },
    { "attributes.system.shell.options.output.stderr", { "error" } },
    { "attributes.system.shell.options.output.mode", { "open-mode" } },
    { "attributes.system.shell.options.output.on-full", { "output-on-full" } },
    { "resources",
      { "nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "mem", "gpus", "gpus-per-task",
        "gpus-per-node", "gres", "exclusive" } },
};

void submit_written_note (struct submit_options *so, int id, const char *where)
{
    char **written = &so->written[id - SUBMIT_OPTION_FIRST];

    free (*written);
    *written = strdup (where); /* NULL: the path stays in the message */
}

void submit_written_release (struct submit_options *so)
{
    for (size_t i = 0; i < ARRAY_SIZE (so->written); i++)
        free (so->written[i]);
}

/* The option as the user wrote it; NULL: not given. */
static const char *written (const struct submit_options *so, const char *name, size_t len)
{
    for (const struct option_desc *o = submit_options_table; o->name; o++)
        if (strlen (o->name) == len && !memcmp (o->name, name, len)
            && so->written[o->id - SUBMIT_OPTION_FIRST])
            return so->written[o->id - SUBMIT_OPTION_FIRST];
    return NULL;
}

static const char *from_table (const struct submit_options *so, const char *path, size_t len)
{
    for (size_t i = 0; i < ARRAY_SIZE (paths); i++) {
        size_t n = strlen (paths[i].path);
        if (len < n || memcmp (path, paths[i].path, n) != 0)
            continue;
        for (const char *const *o = paths[i].options; *o; o++) {
            const char *found = written (so, *o, strlen (*o));
            if (found)
                return found;
        }
    }
    return NULL;
}

/* The last part of the path that is the name of a given option. */
static const char *from_parts (const struct submit_options *so, const char *path, size_t len)
{
    const char *found = NULL;

    for (const char *p = path; p < path + len;) {
        size_t n = MIN (strcspn (p, ".[:"), (size_t)(path + len - p));
        const char *w = written (so, p, n);
        found = w ? w : found;
        p += n + 1;
    }
    return found;
}

void submit_options_explain (const struct submit_options *so, struct error *err)
{
    size_t opening = strlen (OPENING);
    struct error before = *err;
    const char *path = before.text + opening;

    if (strncmp (before.text, OPENING, opening) != 0)
        return;
    size_t len = strcspn (path, ": ");
    const char *option = from_table (so, path, len);
    if (!option)
        option = from_parts (so, path, len);
    if (option)
        snprintf (err->text, sizeof (err->text), "%s%s", option, path + len);
}
