/* staging.c - see staging.h */
#include "exec/kube/files/staging.h"

#include "exec/kube/core/names.h"
#include "exec/kube/files/stagefiles.h"
#include "exec/mounts.h"

#define NAME "stage"
#define PLACE POD_JOB "/" NAME "-" /* no user can name it: it is the agent's */
#define PATH_TEXT_MAX 4096

static int out_of_memory (struct error *err)
{
    return error_set (err, ENOMEM, "out of memory");
}

/* Key of the ConfigMap: "stage-3", for a rank "stage-3-1". */
static void name_of (uint32_t entry, uint32_t rank, char name[32])
{
    if (rank == LAUNCH_ALL_RANKS)
        snprintf (name, 32, NAME "-%u", entry);
    else
        snprintf (name, 32, NAME "-%u-%u", entry, rank);
}

static int add_sent (struct launch *l, size_t entry, uint32_t rank, char *to)
{
    char name[32], place[64];

    name_of ((uint32_t)entry, rank, name);
    snprintf (place, sizeof (place), POD_JOB "/%s", name);
    return launch_add_stage (
        &l->stage_in, &l->nstage_in,
        &(struct launch_stage){ .rank = rank, .from = place, .to = to });
}

/* Adds one record, or one for each rank if each gets a file of its own. */
static int fill_in (const struct exec_job *job, struct launch *l, size_t i)
{
    const struct stage_entry *e = &job->js->stage_in.v[i];
    int rc = 0;

    if (mounts_see (job->mounts, l->cwd, e->from, false))
        return launch_add_stage (&l->stage_in, &l->nstage_in,
                                 &(struct launch_stage){ .rank = LAUNCH_ALL_RANKS,
                                                         .from = e->from,
                                                         .to = e->to });
    if (!pattern_is_per_node (e->from))
        return add_sent (l, i, LAUNCH_ALL_RANKS, e->to);
    if (l->nstage_in + l->nnodes > INPUTFILES_MAX)
        return -E2BIG;
    for (uint32_t rank = 0; rank < l->nnodes && rc == 0; rank++)
        rc = add_sent (l, i, rank, e->to);
    return rc;
}

static int fill_out (const struct exec_job *job, struct launch *l, size_t i)
{
    const struct stage_entry *e = &job->js->stage_out.v[i];

    return launch_add_stage (
        &l->stage_out, &l->nstage_out,
        &(struct launch_stage){ .rank =
                                    pattern_is_per_node (e->to) ? LAUNCH_ALL_RANKS : 0,
                                .send = !mounts_see (job->mounts, l->cwd, e->to, true),
                                .from = e->from,
                                .to = e->to });
}

int staging_fill (const struct exec_job *job, struct launch *l, struct error *err)
{
    const struct jobspec *js = job->js;
    bool at_root = l->cwd[strspn (l->cwd, "/")] == '\0';
    int rc = 0;

    for (size_t i = 0; i < js->stage_in.n && rc == 0; i++) {
        if (at_root && js->stage_in.v[i].to[0] != '/')
            return error_set (
                err, EINVAL,
                "stage-in: %.200s: the job's directory is /: give an absolute "
                "destination (FILE:/DIR/NAME)",
                js->stage_in.v[i].from);
        rc = fill_in (job, l, i);
    }
    for (size_t i = 0; i < js->stage_out.n && rc == 0; i++)
        rc = fill_out (job, l, i);
    if (rc == -E2BIG)
        return error_set (err, E2BIG,
                          "stage-in: files of each node are more than the %d that can be "
                          "sent to the pods",
                          INPUTFILES_MAX);
    if (l->nstage_out * l->nnodes > STAGEFILES_MAX)
        return error_set (err, E2BIG,
                          "stage-out: %zu files of %zu nodes are more than %d",
                          l->nstage_out, l->nnodes, STAGEFILES_MAX);
    return rc < 0 ? out_of_memory (err) : 0;
}

const char *staging_directory (const struct exec_job *job, const struct launch *l)
{
    if ((l->nstage_in == 0 && l->nstage_out == 0) || l->cwd[strspn (l->cwd, "/")] == '\0'
        || mounts_see (job->mounts, "/", l->cwd, false))
        return NULL;
    return l->cwd;
}

/* Reads the file of an entry for the record: of its rank, or of all. */
static int read_one (struct inputfiles *in, const struct stage_list *list, size_t entry,
                     const struct launch *l, size_t record, size_t *max,
                     struct error *err)
{
    const uint32_t of = l->stage_in[record].rank;
    const uint32_t rank = of == LAUNCH_ALL_RANKS ? 0 : of;
    const struct pattern_vars vars =
        launch_pattern_vars (l, rank, launch_first_task (l, rank));
    struct inputfile *file = &in->v[in->n];
    autostrbuf struct strbuf name = STRBUF_INIT (PATH_TEXT_MAX);
    int rc = pattern_expand (list->v[entry].from, &vars, &name, err);

    if (rc == 0)
        rc = inputfiles_read_staged (file, l->cwd, name.buf, *max, err);
    if (rc < 0)
        return error_prefix (err, "stage-in");
    name_of ((uint32_t)entry, of, file->name);
    file->record = record;
    *max -= file->len;
    in->n++;
    return 0;
}

static bool is_sent (const struct launch_stage *s)
{
    return strncmp (s->from, PLACE, sizeof (PLACE) - 1) == 0;
}

/* Returns the last record of the entry whose first record this is. */
static size_t last_of_entry (const struct launch *l, size_t record)
{
    if (l->stage_in[record].rank == LAUNCH_ALL_RANKS)
        return record;
    return record + l->nnodes - 1;
}

int staging_read (struct inputfiles *in, const struct stage_list *list,
                  const struct launch *l, size_t max, struct error *err)
{
    size_t wanted = 0;
    int rc = 0;

    for (size_t i = 0; i < l->nstage_in; i++)
        wanted += is_sent (&l->stage_in[i]);
    if (wanted == 0)
        return 0;
    if (in->n + wanted > INPUTFILES_MAX)
        return error_set (
            err, E2BIG,
            "stage-in: %zu files for all nodes are more than the %d that can "
            "be sent to the pods",
            in->n + wanted, INPUTFILES_MAX);
    struct inputfile *v = realloc (in->v, (in->n + wanted) * sizeof (*v));
    if (!v)
        return out_of_memory (err);
    in->v = v;
    memset (v + in->n, 0, wanted * sizeof (*v));
    for (size_t entry = 0, record = 0; entry < list->n && rc == 0; entry++) {
        size_t last = last_of_entry (l, record);

        for (; record <= last && rc == 0; record++) {
            if (is_sent (&l->stage_in[record]))
                rc = read_one (in, list, entry, l, record, &max, err);
        }
    }
    return rc;
}

void staging_set_modes (struct launch *l, const struct inputfiles *in)
{
    for (size_t i = 0; i < in->n; i++) {
        if (in->v[i].record < l->nstage_in)
            l->stage_in[in->v[i].record].mode = in->v[i].mode;
    }
}
