/* components.c - see components.h
 *
 * Each struct submit_options has a list of the options that were set, `given`:
 * [row, option, value or null, where, source]. What a component takes from another one is
 * set there once more.
 */
#include "jobspec/options/components.h"

enum { ROW, OPTION, VALUE, WHERE, SOURCE };

static const char *text_of (const json_t *entry, size_t i)
{
    return json_string_value (json_array_get (entry, i));
}

static int source_of (const json_t *entry)
{
    return (int)json_integer_value (json_array_get (entry, SOURCE));
}

int submit_components_note (struct submit_options *so, enum submit_source source,
                            const struct attribute *a, const char *name,
                            const char *value, const char *where, struct error *err)
{
    json_t *entry = json_array ();
    const char *row = a->same_as ? a->same_as : a->name;
    int rc = json_array_append_new (entry, json_string (row));

    rc |= json_array_append_new (entry, json_string (name));
    rc |=
        json_array_append_new (entry, value ? json_string_nocheck (value) : json_null ());
    rc |= json_array_append_new (entry, json_string_nocheck (where));
    rc |= json_array_append_new (entry, json_integer (source));
    if (rc == 0 && !so->given)
        so->given = json_array ();
    if (rc == 0)
        return json_array_append_new (so->given, entry) == 0
                   ? 0
                   : error_no_memory (err, where);
    json_decref (entry);
    return error_no_memory (err, where);
}

/* The value of the row that is in force; NULL: none. */
static const json_t *in_force (const struct submit_options *so, const char *row)
{
    const json_t *entry, *found = NULL;
    size_t i;

    json_array_foreach (so->given, i, entry)
        if (!strcmp (text_of (entry, ROW), row)
            && (!found || source_of (entry) >= source_of (found)))
            found = entry;
    return found;
}

struct submit_options *submit_component_add (struct submit_options *first,
                                             struct error *err)
{
    size_t n = first->nfurther;
    struct submit_options *so;

    if (n + 1 >= JOBSPEC_COMPONENTS_MAX) {
        error_set (err, EINVAL, "a heterogeneous job has at most %d components",
                   JOBSPEC_COMPONENTS_MAX);
        return NULL;
    }
    struct submit_options **more = realloc (first->further, (n + 1) * sizeof (*more));
    if (more)
        first->further = more;
    if (!more || !(so = malloc (sizeof (*so)))) {
        error_no_memory (err, NULL);
        return NULL;
    }
    submit_options_init (so);
    so->first = first;
    so->component = n + 1;
    so->slurm_defaults = first->slurm_defaults;
    so->explain = first->explain;
    so->explain_arg = first->explain_arg;
    first->further[first->nfurther++] = so;
    return so;
}

static int set_again (struct submit_options *so, enum submit_source source,
                      const json_t *entry, struct error *err)
{
    void (*explain) (const char *text, void *arg) = so->explain;

    so->explain = NULL;
    int rc = submit_options_set (so, source, text_of (entry, OPTION),
                                 text_of (entry, VALUE), text_of (entry, WHERE), err);
    so->explain = explain;
    return rc;
}

/* The options of the component before that are not from the script. */
static int repeat (struct submit_options *so, const struct submit_options *before,
                   struct error *err)
{
    const json_t *entry;
    const char *name;
    json_t *value;
    size_t i;
    int rc = 0;

    json_array_foreach (before->given, i, entry)
        if (rc == 0 && source_of (entry) > SUBMIT_FROM_SCRIPT)
            rc = set_again (so, (enum submit_source)source_of (entry), entry, err);
    if (rc == 0 && before->for_steps && !(so->for_steps = json_object ()))
        rc = error_no_memory (err, NULL);
    json_object_foreach (before->for_steps, name, value)
        if (rc == 0 && json_integer_value (json_array_get (value, 0)) > SUBMIT_FROM_SCRIPT
            && json_object_set (so->for_steps, name, value) < 0)
            rc = error_no_memory (err, NULL);
    return rc;
}

struct submit_options *submit_component_of_script (struct submit_options *first,
                                                   size_t index, struct error *err)
{
    if (index <= first->nfurther)
        return index == 0 ? first : first->further[index - 1];
    struct submit_options *so = submit_component_add (first, err);
    const struct submit_options *before = index == 1 ? first : first->further[index - 2];
    return so && repeat (so, before, err) == 0 ? so : NULL;
}

/* -- what goes together -- */

static bool is_own (const struct attribute *a)
{
    return a->resource || !strcmp (a->name, "job-name")
           || (a->path && !strcmp (a->path, "constraints"));
}

bool submit_component_ignores (const struct attribute *a)
{
    return (a->path && !strncmp (a->path, "shell.options.output.", 21))
           || !strcmp (a->name, "input") || !strncmp (a->name, "mail-", 5);
}

static bool equal (const json_t *a, const json_t *b)
{
    return b && !strcmp (text_of (a, OPTION), text_of (b, OPTION))
           && json_equal (json_array_get (a, VALUE), json_array_get (b, VALUE));
}

/* An option of the whole job in a further component. */
static int check_job_option (const struct submit_options *first, const json_t *entry,
                             struct error *err)
{
    const char *row = text_of (entry, ROW);
    const struct attribute *a = attribute_find (row, strlen (row));

    if (is_own (a) || submit_component_ignores (a)
        || equal (entry, in_force (first, row)))
        return 0;
    return error_set (err, EINVAL,
                      "%s: all components of a heterogeneous job have one --%s: give it "
                      "before the first 'hetjob' or ':'",
                      text_of (entry, WHERE), row);
}

static int check_job_options (const struct submit_options *first,
                              const struct submit_options *so, struct error *err)
{
    const json_t *entry;
    size_t i;
    int rc = 0;

    json_array_foreach (so->given, i, entry)
        if (rc == 0 && entry == in_force (so, text_of (entry, ROW)))
            rc = check_job_option (first, entry, err);
    return rc;
}

static const struct {
    const char *row, *why;
} without[] = {
    { "array", "an array has no components: submit its tasks one by one" },
    { "malleable", "a malleable job has no components" },
    { "max-wait", "a component has fixed numbers of nodes and tasks" },
    { "nodes-per", "it does not go with the components of a heterogeneous job" },
    { "placement", "it does not go with the components of a heterogeneous job" },
    { "segment", "it does not go with the components of a heterogeneous job" },
    { "switches", "it does not go with the components of a heterogeneous job" },
};

static int check_first (const struct submit_options *first, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE (without); i++) {
        const json_t *entry = in_force (first, without[i].row);
        if (entry)
            return error_set (err, EINVAL, "%s: %s", text_of (entry, WHERE),
                              without[i].why);
    }
    return 0;
}

static bool has_sizes (const struct submit_size *z)
{
    return z->count.min != z->count.max || z->list;
}

static int check_component (const struct submit_options *so, struct error *err)
{
    const char *sized = has_sizes (&so->nodes)    ? "nodes"
                        : has_sizes (&so->ntasks) ? "ntasks"
                                                  : NULL;
    const json_t *mem = in_force (so, "mem");

    if (sized)
        return error_set (err, EINVAL,
                          "%s: a component of a heterogeneous job has a fixed number: "
                          "name one",
                          text_of (in_force (so, sized), WHERE));
    if (mem && so->mem_mib && so->ntasks.count.min > 1 && !so->nodes.count.min
        && !so->ntasks_per_node)
        return error_set (err, EINVAL,
                          "%s: a component of a heterogeneous job with several tasks "
                          "and --mem needs a number of nodes: say --nodes",
                          text_of (mem, WHERE));
    return 0;
}

/* -- what later components take from earlier ones -- */

static int inherit (struct submit_options *so, const struct submit_options *before,
                    const char *row, struct error *err)
{
    const json_t *entry = in_force (before, row);

    if (!entry || in_force (so, row))
        return 0;
    return set_again (so, SUBMIT_FROM_SCRIPT, entry, err);
}

static int inherit_all (struct submit_options *so, const struct submit_options *before,
                        struct error *err)
{
    int rc = inherit (so, before, "job-name", err);

    if (rc == 0)
        rc = inherit (so, before, "exclude", err);
    if (rc == 0 && !in_force (so, "mem-per-cpu") && !in_force (so, "mem-per-gpu"))
        rc = inherit (so, before, "mem", err);
    return rc;
}

int submit_components_complete (const struct submit_options *first, struct error *err)
{
    const struct submit_options *before = first;
    int rc = first->nfurther > 0 ? check_first (first, err) : 0;

    if (rc == 0 && first->nfurther > 0)
        rc = check_component (first, err);
    for (size_t i = 0; i < first->nfurther && rc == 0; i++) {
        struct submit_options *so = first->further[i];
        rc = inherit_all (so, before, err);
        if (rc == 0)
            rc = check_component (so, err);
        if (rc == 0)
            rc = check_job_options (first, so, err);
        before = so;
    }
    return rc;
}

void submit_components_release (struct submit_options *so)
{
    for (size_t i = 0; i < so->nfurther; i++) {
        submit_options_release (so->further[i]);
        free (so->further[i]);
    }
    free (so->further);
    json_decref (so->given);
}
