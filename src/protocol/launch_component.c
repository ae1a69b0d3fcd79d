/* launch_component.c - see launch_component.h */
#include "protocol/launch_component.h"

static const struct record_field fields[] = {
#define FIELD(name, type, min, max)                                                      \
    RECORD_FIELD (struct launch_component, name, RECORD_##type, min, max)
    FIELD (nnodes, U32, 1, INT32_MAX),
    FIELD (job_name, STRING, 0, 0),
    FIELD (nodes_requested, STRING, 0, 0),
    FIELD (cores_per_task, U32, 1, UINT32_MAX),
    FIELD (cpu_milli_per_task, U32, 0, INT32_MAX),
    FIELD (gpus_per_task, U32, 0, LAUNCH_IDS_MAX),
    FIELD (gpu_share, U32, 0, INT32_MAX),
    FIELD (mem_mib, U64, 0, INT64_MAX),
#undef FIELD
};

static void release (struct launch_component *c)
{
    record_release (fields, ARRAY_SIZE (fields), c);
    record_free_strings (c->env, c->nenv);
    *c = (struct launch_component){ 0 };
}

int launch_add_component (struct launch *l, struct launch_component *component)
{
    struct launch_component *list =
        record_room (l->components, l->ncomponents, sizeof (*list));

    if (!list) {
        release (component);
        return -ENOMEM;
    }
    l->components = list;
    list[l->ncomponents++] = *component;
    *component = (struct launch_component){ 0 };
    return 0;
}

int launch_component_read (struct launch *l, const struct record *r, struct error *err)
{
    struct record_text rest = { "launch file: component", r->data, r->len, LAUNCH_MAX };
    struct launch_component c = { .cores_per_task = 1 };
    struct record one;
    uint64_t seen = 0;
    int rc;

    if (l->ncomponents == LAUNCH_COMPONENTS_MAX)
        return error_set (err, EINVAL, "launch file: component: more than %d",
                          LAUNCH_COMPONENTS_MAX);
    while ((rc = record_take (&rest, &one, err)) > 0) {
        rc = strcmp (one.name, "env")
                 ? record_read (fields, ARRAY_SIZE (fields), &c, &seen, &one, err)
                 : record_append_env (&c.env, &c.nenv, &one, err);
        if (rc < 0)
            break;
    }
    if (rc == 0 && c.nnodes == 0)
        rc = error_set (err, EINVAL, "launch file: component: nnodes: missing");
    if (rc < 0) {
        release (&c);
        return rc;
    }
    return launch_add_component (l, &c) < 0 ? error_no_memory (err, "launch file") : 0;
}

int launch_component_settle (struct launch *l, struct error *err)
{
    size_t end = l->nnodes;

    for (size_t c = l->ncomponents; c > 0; c--) {
        uint32_t n = l->components[c - 1].nnodes;
        if (n >= end)
            return error_set (err, EINVAL, "launch file: component: too few nodes");
        for (size_t rank = end - n; rank < end; rank++)
            l->nodes[rank].component = (uint32_t)c;
        end -= n;
    }
    return 0;
}

int launch_component_write (const struct launch *l, struct strbuf *sb)
{
    autostrbuf struct strbuf text = STRBUF_INIT (LAUNCH_MAX);
    int rc = 0;

    for (size_t i = 0; i < l->ncomponents && rc == 0; i++) {
        const struct launch_component *c = &l->components[i];

        for (size_t k = 0; k < c->nenv; k++)
            if (c->env[k][0] == '=' || !strchr (c->env[k], '='))
                return -EINVAL;
        strbuf_reset (&text);
        rc = record_write (fields, ARRAY_SIZE (fields), c, &text);
        record_add_strings (&text, "env", c->env, c->nenv);
        if (rc == 0)
            rc = text.err;
        record_add_one (sb, "component", text.buf, text.len);
    }
    return rc;
}

void launch_component_release (struct launch *l)
{
    for (size_t i = 0; i < l->ncomponents; i++)
        release (&l->components[i]);
    free (l->components);
}

struct launch_component launch_get_component (const struct launch *l, uint32_t c)
{
    if (c > 0)
        return l->components[c - 1];
    return (struct launch_component){ .nnodes = launch_component_first (l, 1),
                                      .job_name = l->job_name,
                                      .nodes_requested = l->nodes_requested,
                                      .cores_per_task = l->cores_per_task,
                                      .cpu_milli_per_task = l->cpu_milli_per_task,
                                      .gpus_per_task = l->gpus_per_task,
                                      .gpu_share = l->gpu_share,
                                      .mem_mib = l->mem_mib,
                                      .env = l->env,
                                      .nenv = l->nenv };
}

uint32_t launch_component_first (const struct launch *l, uint32_t c)
{
    size_t first = l->nnodes;

    for (size_t i = l->ncomponents; i > 0 && i >= c; i--)
        first -= l->components[i - 1].nnodes;
    return c == 0 ? 0 : (uint32_t)first;
}
