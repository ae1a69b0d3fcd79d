/* gputype.c - GPUs of a type: GPUs, and a constraint on the nodes; see jobspec.h */
#include "common/gputype.h"

#include "common/gres.h"
#include "jobspec/jobspec_private.h"

struct types {
    char property[sizeof (GPU_TYPE_PREFIX) + GPU_TYPE_MAX]; /* "" until one is found */
    bool several, untyped, invalid;
};

static const char *name_of (const char *type, void *arg)
{
    struct types *t = arg;
    char name[GPU_TYPE_MAX + 1], property[sizeof (t->property)];

    t->untyped |= !strcmp (type, "gpu");
    if (strncmp (type, GPU_TYPE_PREFIX, strlen (GPU_TYPE_PREFIX)) != 0)
        return NULL;
    t->invalid |= gpu_type_read (type + strlen (GPU_TYPE_PREFIX), name) < 0;
    if (t->invalid)
        return NULL;
    snprintf (property, sizeof (property), GPU_TYPE_PREFIX "%s", name);
    t->several |= t->property[0] && strcmp (t->property, property) != 0;
    memcpy (t->property, property, sizeof (property));
    return "gpu";
}

/* Adds {"properties": [...]} to the constraints in root. */
static int add_constraint (struct jobspec *js, const char *property)
{
    json_t *system = json_object_get (json_object_get (js->root, "attributes"), "system");
    json_t *own = json_pack ("{s:[s]}", "properties", property);
    json_t *all =
        js->constraints ? json_pack ("{s:[O, o]}", "and", js->constraints, own) : own;

    if (!all || json_object_set_new (system, "constraints", all) < 0)
        return -ENOMEM;
    js->constraints = all;
    return 0;
}

int jobspec_type_gpus (struct jobspec *js, struct error *err)
{
    struct types t = { .property = "" };
    int rc = jobspec_rename (js, name_of, &t);

    if (t.invalid || t.several || (t.property[0] && t.untyped))
        return error_set (err, EINVAL, "resources: a job has GPUs of one type");
    if (rc > 0 && add_constraint (js, t.property) < 0)
        rc = -ENOMEM;
    return rc < 0 ? error_no_memory (err, NULL) : rc;
}
