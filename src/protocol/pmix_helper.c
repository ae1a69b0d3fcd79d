/* pmix_helper.c - the text in which the agent describes a step to fluxq-pmix */
#include "protocol/pmix_helper.h"

#include "protocol/record.h"

#define TASKS_MAX (INT64_C (1) << 22)

static const struct record_field fields[] = {
#define FIELD(name, type, min, max)                                                      \
    RECORD_FIELD (struct pmix_setup, name, RECORD_##type, min, max)
    FIELD (nspace, STRING, 0, 0),      FIELD (nodes, STRING, 0, 0),
    FIELD (procs, STRING, 0, 0),       FIELD (node, U32, 0, TASKS_MAX),
    FIELD (nnodes, U32, 1, TASKS_MAX), FIELD (ntasks, U32, 1, TASKS_MAX),
    FIELD (directory, STRING, 0, 0),
#undef FIELD
};

static int check (const struct pmix_setup *s, struct error *err)
{
    if (!s->nspace || !s->nodes || !s->procs || !s->directory || s->directory[0] != '/')
        return error_set (err, EINVAL,
                          "PMIx: nspace, nodes, procs or directory is missing");
    if (s->node >= s->nnodes || s->ntasks == 0)
        return error_set (err, EINVAL, "PMIx: node %u of %u, %u tasks", s->node,
                          s->nnodes, s->ntasks);
    return 0;
}

int pmix_setup_parse (const char *text, size_t len, struct pmix_setup *ret,
                      struct error *err)
{
    struct record_text rest = { "PMIx", text, len, PMIX_SETUP_MAX };
    struct record r;
    uint64_t seen = 0;
    int rc = 0;

    *ret = (struct pmix_setup){ 0 };
    while (rc == 0 && (rc = record_take (&rest, &r, err)) > 0)
        rc = record_read (fields, ARRAY_SIZE (fields), ret, &seen, &r, err);
    if (rc == 0)
        rc = check (ret, err);
    if (rc < 0)
        pmix_setup_release (ret);
    return rc;
}

int pmix_setup_write (const struct pmix_setup *setup, struct strbuf *sb)
{
    int rc = record_write (fields, ARRAY_SIZE (fields), setup, sb);

    return rc == 0 ? sb->err : rc;
}

void pmix_setup_release (struct pmix_setup *setup)
{
    record_release (fields, ARRAY_SIZE (fields), setup);
}
