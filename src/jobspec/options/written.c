/* written.c - names options in errors of the jobspec, as the user wrote them
 *
 * A user who gave -N has not written resources[0].count. An error of the broker that
 * names a path of the jobspec is rewritten to name the option that the value comes from.
 */

#include "common/macros.h"
#include "jobspec/options/components.h"
#include "jobspec/options/set.h"

#define OPENING "jobspec: "
#define SYSTEM "attributes.system."

void submit_written_note (struct submit_options *so, const struct attribute *a,
                          const char *where)
{
    char **written = &so->written[a - attribute_table];

    free (*written);
    *written = strdup (where); /* NULL: the path stays in the message */
}

void submit_written_explain (const struct submit_options *so,
                             const struct option_value *v, bool again)
{
    const char *before = so->written[v->attribute - attribute_table];
    const char *word = so->explain_as ? so->explain_as : "done";
    char text[1024];

    if (so->component > 0 && submit_component_ignores (v->attribute))
        word = "not used: that of the first component counts";
    before = before ? before : "another option";
    if (!option_adds (v))
        snprintf (text, sizeof (text), "%s%s%.200s: not used: %s has precedence",
                  v->where, v->text ? " " : "", v->text ? v->text : "", before);
    else
        snprintf (text, sizeof (text), "%s%s%.200s: %s%s%s", v->where, v->text ? " " : "",
                  v->text ? v->text : "", word, again ? ", after " : "",
                  again ? before : "");
    so->explain (text, so->explain_arg);
}

void submit_written_release (struct submit_options *so)
{
    for (size_t i = 0; i < ARRAY_SIZE (so->written); i++)
        free (so->written[i]);
}

static bool begins (const char *text, const char *with)
{
    return !strncmp (text, with, strlen (with));
}

/* Whether the value of the row is at this path, or below. */
static bool is_at (const struct attribute *a, const char *path)
{
    return (a->resource && begins (path, "resources"))
           || (a->path && begins (path, SYSTEM)
               && begins (path + strlen (SYSTEM), a->path));
}

void submit_options_explain (const struct submit_options *so, struct error *err)
{
    struct error before = *err;
    const char *path = before.text + strlen (OPENING);

    if (!begins (before.text, OPENING))
        return;
    for (const struct attribute *a = attribute_table; a->name; a++) {
        const char *written = so->written[a - attribute_table];
        if (!written || !is_at (a, path))
            continue;
        snprintf (err->text, sizeof (err->text), "%s%s", written,
                  path + strcspn (path, ": "));
        return;
    }
}
