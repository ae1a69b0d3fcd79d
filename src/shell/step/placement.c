/* placement.c - chooses the nodes and cores of a step
 *
 *     candidates   the job's nodes, or those that the step names
 *     usable       the candidates that have room now
 *     layout       the tasks on the first usable nodes that suffice (layout.h)
 *
 * A step with several parts (step_spec.h) has a choice for each part. The components of the
 * parts have no node in common, so each choice is made as if it were the only one; the
 * step starts when all have room.
 */

#include "common/gputype.h"
#include "common/hostlist.h"
#include "shell/io/rankhost.h"
#include "shell/step/steps_private.h"

/* -- the job's cores -- */

static struct idset *cores_of (const struct launch *l, uint32_t rank)
{
    const struct launch_node *node = &l->nodes[rank];
    struct idset *ids = node->cores && node->cores[0]
                            ? idset_decode (node->cores, LAUNCH_IDS_MAX, NULL)
                            : idset_create ();
    uint32_t least =
        MAX (node->ntasks, 1) * launch_get_component (l, node->component).cores_per_task;

    if (ids && idset_count (ids) == 0 && idset_add_range (ids, 0, least - 1) < 0) {
        idset_destroy (ids);
        return NULL;
    }
    return ids;
}

int placement_create (struct steps *steps)
{
    const struct launch *l = steps->launch;

    steps->nplaces = (uint32_t)MAX (l->nnodes, l->max_nodes);
    steps->places = calloc (steps->nplaces, sizeof (*steps->places));
    if (!steps->places)
        return -ENOMEM;
    for (uint32_t r = 0; r < l->nnodes; r++)
        if (placement_renew (steps, r) < 0)
            return -ENOMEM;
    return 0;
}

int placement_renew (struct steps *steps, uint32_t rank)
{
    struct place *p = &steps->places[rank];

    idset_destroy (p->cores);
    idset_destroy (p->free);
    p->cores = cores_of (steps->launch, rank);
    p->free = p->cores ? idset_copy (p->cores) : NULL;
    if (!p->free)
        return -ENOMEM;
    p->ncores = p->nfree = idset_count (p->cores);
    return 0;
}

void placement_destroy (struct steps *steps)
{
    for (uint32_t r = 0; steps->places && r < steps->nplaces; r++) {
        idset_destroy (steps->places[r].cores);
        idset_destroy (steps->places[r].free);
    }
    free (steps->places);
}

/* -- candidates -- */

struct choice {
    struct steps *steps;
    struct step_spec *spec; /* of the part */
    uint32_t *ranks;        /* candidates, then the chosen ranks */
    uint32_t *room;         /* [n] tasks for which the rank has free cores now */
    uint32_t *most;         /* [n] the same if nothing else runs */
    uint32_t n;
    uint32_t per_task; /* cores of one task */
    uint32_t ntasks;
    struct layout layout;
};

static struct hostlist *job_hosts (const struct launch *l)
{
    struct hostlist *hl = hostlist_create ();

    for (size_t r = 0; hl && r < l->nnodes; r++) {
        if (hostlist_append (hl, l->nodes[r].name) < 0) {
            hostlist_destroy (hl);
            return NULL;
        }
    }
    return hl;
}

static bool is_of_other (const struct choice *c, uint32_t rank)
{
    return c->steps->launch->nodes[rank].component != c->spec->component
           && !c->spec->any_component;
}

/* Marks ranks by the name of the node or host; -EINVAL: the job has no node of that
 * name. */
static int mark_hosts (const struct choice *c, const struct hostlist *job,
                       const char *text, const char *option, uint8_t *marks,
                       struct error *err)
{
    const struct launch *l = c->steps->launch;
    struct error why = { 0 };
    autohostlist struct hostlist *hl = hostlist_decode (text, l->nnodes, &why);
    int rc = 0;

    if (!hl)
        return error_set (err, EINVAL, "%s: %s", option, why.text);
    for (size_t i = 0; i < hostlist_count (hl) && rc == 0; i++) {
        const char *name = hostlist_nth (hl, i);
        ssize_t r = hostlist_find (job, name);
        if (r < 0)
            r = rank_of_host (l, name);
        if (r < 0)
            rc = error_set (err, EINVAL, "%s: the job has no node %s", option, name);
        else if (is_of_other (c, (uint32_t)r))
            rc = error_set (err, EINVAL,
                            "%s: node %s is of component %u: say --het-group=%u", option,
                            name, l->nodes[r].component, l->nodes[r].component);
        else
            marks[r] = 1;
    }
    return rc;
}

/* Keeps only the nodes from number `relative` on: as many as are asked for, or all. */
static int skip_first (struct choice *c, struct error *err)
{
    uint32_t from = c->spec->relative, n = c->spec->nnodes;

    if (from >= c->n || n > c->n - from)
        return error_set (err, EINVAL,
                          "--relative=%u: the job has %u nodes, numbered from 0", from,
                          c->n);
    c->n = n > 0 ? n : c->n - from;
    memmove (c->ranks, c->ranks + from, c->n * sizeof (*c->ranks));
    return 0;
}

static int list_candidates (struct choice *c, const struct hostlist *job,
                            struct error *err)
{
    const struct step_spec *spec = c->spec;
    uint32_t n = (uint32_t)c->steps->launch->nnodes;
    autofree uint8_t *in = calloc (n, 1);
    autofree uint8_t *out = calloc (n, 1);
    int rc = in && out ? 0 : error_no_memory (err, NULL);

    if (rc == 0 && spec->hosts)
        rc = mark_hosts (c, job, spec->hosts, "--nodelist", in, err);
    if (rc == 0 && spec->exclude)
        rc = mark_hosts (c, job, spec->exclude, "--exclude", out, err);
    for (uint32_t r = 0; r < n && rc == 0; r++)
        if ((!spec->hosts || in[r]) && !out[r] && !is_of_other (c, r))
            c->ranks[c->n++] = r;
    if (rc == 0 && c->n == 0)
        return error_set (err, EINVAL, "--exclude leaves no node of the job");
    return rc == 0 && spec->relative > 0 ? skip_first (c, err) : rc;
}

static uint32_t tasks_of_job (const struct choice *c, uint32_t n)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += c->steps->launch->nodes[c->ranks[i]].ntasks;
    return (uint32_t)MIN (MAX (sum, 1u), STEP_TASKS_MAX);
}

/* Derives the numbers that were not given from the others and from the job. */
static int settle_numbers (struct choice *c, struct error *err)
{
    const struct step_spec *spec = c->spec;
    uint32_t nodes = spec->nnodes ? spec->nnodes : c->n;

    if (spec->nnodes > c->n)
        return error_set (err, ENOSPC, "%u nodes are requested, the job has %u",
                          spec->nnodes, c->n);
    c->per_task =
        spec->cores_per_task
            ? spec->cores_per_task
            : launch_get_component (c->steps->launch, spec->component).cores_per_task;
    c->ntasks = spec->ntasks;
    if (c->ntasks == 0 && spec->per_node) {
        if ((uint64_t)nodes * spec->per_node > STEP_TASKS_MAX)
            return error_set (err, ERANGE, "more than %u tasks", STEP_TASKS_MAX);
        c->ntasks = nodes * spec->per_node;
    }
    if (c->ntasks == 0 && spec->nnodes)
        c->ntasks = MAX (spec->nnodes, tasks_of_job (c, nodes));
    if (c->ntasks == 0)
        c->ntasks = tasks_of_job (c, nodes);
    if (spec->nnodes > c->ntasks)
        return error_set (err, EINVAL,
                          "%u tasks cannot run on %u nodes: --ntasks is less than "
                          "--nodes",
                          c->ntasks, spec->nnodes);
    return 0;
}

/* -- room -- */

static void look_at (struct choice *c)
{
    const struct step_spec *spec = c->spec;

    for (uint32_t i = 0; i < c->n; i++) {
        const struct place *p = &c->steps->places[c->ranks[i]];
        uint32_t cores = p->nfree;
        if (spec->overlap)
            cores = p->ncores;
        else if (!spec->exact && p->nfree < p->ncores)
            cores = 0;
        c->room[i] = cores / c->per_task;
        c->most[i] = p->ncores / c->per_task;
        if (spec->overcommit) {
            c->room[i] = cores > 0 ? MAX (c->room[i], 1u) : 0;
            c->most[i] = MAX (c->most[i], 1u);
        }
        if (spec->per_node) {
            c->room[i] = MIN (c->room[i], spec->per_node);
            c->most[i] = MIN (c->most[i], spec->per_node);
        }
    }
}

/* Keeps only candidates with room, and no more than can have a task. */
static void narrow (struct choice *c, const uint32_t *room)
{
    uint32_t most = c->spec->nnodes ? c->spec->nnodes : c->ntasks;
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n && n < most; i++) {
        if (room[i] == 0)
            continue;
        c->ranks[n] = c->ranks[i];
        c->most[n] = c->most[i];
        c->room[n++] = c->room[i];
    }
    c->n = n;
}

static int lay_out (const struct choice *c, const uint32_t *room,
                    const struct hostlist *job, struct layout *ret, struct error *err)
{
    struct layout_option opt = { 0 };
    autofree uint32_t *arbitrary = NULL;
    int rc = 0;

    if (c->spec->distribution)
        rc = layout_option_parse (c->spec->distribution, &opt, err);
    if (rc == 0 && c->spec->hostfile) {
        opt.kind = LAYOUT_ARBITRARY;
        autohostlist struct hostlist *hl = hostlist_create ();
        for (uint32_t i = 0; hl && i < c->n; i++)
            hostlist_append (hl, hostlist_nth (job, c->ranks[i]));
        rc = hl ? layout_read_hosts (c->spec->hostfile, hl, c->ntasks, &arbitrary, err)
                : error_no_memory (err, NULL);
    } else if (rc == 0 && opt.kind == LAYOUT_ARBITRARY) {
        rc = error_set (err, EINVAL,
                        "--distribution=arbitrary needs a list of nodes in "
                        "the file that SLURM_HOSTFILE names");
    }
    struct layout_request req = { .nranks = c->n,
                                  .room = room,
                                  .ntasks = c->ntasks,
                                  .per_rank = c->spec->per_node,
                                  .kind = c->spec->taskmap_asked ? LAYOUT_MAP : opt.kind,
                                  .pack = opt.pack,
                                  .plane = opt.plane,
                                  .arbitrary = arbitrary,
                                  .taskmap = c->spec->taskmap_asked,
                                  .overcommit = c->spec->overcommit };
    return rc == 0 ? layout_make (&req, ret, err) : rc;
}

/* Checks whether the step would fit if nothing else ran. */
static int check_ever (const struct choice *c, const struct hostlist *job,
                       struct error *err)
{
    struct choice all = *c;
    struct layout l;
    size_t bytes = c->n * sizeof (uint32_t);
    autofree uint32_t *copies = malloc (3 * bytes + 1);

    if (!copies)
        return error_no_memory (err, NULL);
    all.ranks = memcpy (copies, c->ranks, bytes);
    all.room = memcpy (copies + c->n, c->room, bytes);
    all.most = memcpy (copies + 2 * c->n, c->most, bytes);
    narrow (&all, c->most);
    if (all.n == 0 || (c->spec->nnodes && all.n < c->spec->nnodes))
        return error_set (err, ENOSPC, "no node of the job has %u cores for a task",
                          c->per_task);
    int rc = lay_out (&all, all.most, job, &l, err);
    if (rc == 0)
        layout_release (&l);
    return rc;
}

/* -- taking -- */

static struct idset *first_of (const struct idset *free, uint32_t n)
{
    struct idset *ids = idset_create ();

    IDSET_FOREACH (free, id)
    {
        if (!ids || n-- == 0)
            break;
        if (idset_add (ids, id) < 0) {
            idset_destroy (ids);
            return NULL;
        }
    }
    return ids;
}

/* The i-th node of the choice. */
static int take_node (struct choice *c, struct step_node *node, uint32_t i)
{
    struct place *p = &c->steps->places[c->ranks[i]];

    node->rank = c->ranks[i];
    node->left = c->layout.count[i];
    node->holds = !c->spec->overlap;
    strbuf_init (&node->puts, STEP_PUTS_MAX);
    if (node->left == 0)
        node->cores = idset_create ();
    else if (c->spec->exact && !c->spec->overlap)
        node->cores = first_of (p->free, MIN (node->left * c->per_task, p->nfree));
    else
        node->cores = idset_copy (p->cores);
    if (!node->cores)
        return -ENOMEM;
    if (node->holds && idset_remove_all (p->free, node->cores) < 0)
        return -ENOMEM;
    p->nfree = idset_count (p->free);
    return 0;
}

void placement_give (struct steps *steps, struct step_node *node)
{
    struct place *p = &steps->places[node->rank];

    if (node->holds && node->cores && idset_add_all (p->free, node->cores) < 0)
        abort (); /* out of memory for a few ranges: the cores would be lost for good */
    p->nfree = idset_count (p->free);
    idset_destroy (node->cores);
    node->cores = NULL;
}

/* Writes the GPUs of the step: on each node, as many as requested for its tasks or for
 * the node. */
static int write_gpus_of_nodes (const struct choice *c, struct strbuf *sb,
                                struct error *err)
{
    const struct step_spec *spec = c->spec;

    for (uint32_t i = 0; i < c->n; i++) {
        const struct launch_node *node = &c->steps->launch->nodes[c->ranks[i]];
        uint64_t wanted = spec->no_gpus ? 0
                          : spec->gpus_per_task
                              ? (uint64_t)c->layout.count[i] * spec->gpus_per_task
                              : spec->gpus_per_node;
        autoidset struct idset *ids =
            node->gpus && node->gpus[0] ? idset_decode (node->gpus, LAUNCH_IDS_MAX, NULL)
                                        : NULL;
        uint32_t has = ids ? idset_count (ids) : 0;
        autoidset struct idset *own =
            wanted <= has && ids ? first_of (ids, (uint32_t)wanted) : NULL;

        strbuf_adds (sb, i ? ";" : "");
        if (own)
            strbuf_add_idset (sb, own);
        if (wanted > has)
            return error_set (err, ENOSPC, "its tasks on %s need %ju GPUs, and it has %u",
                              node->name, (uintmax_t)wanted, has);
    }
    return sb->err ? error_errno (err, -sb->err, "its GPUs") : 0;
}

/* Writes the GPUs of the step: as many as requested, from the first node on. */
static int write_gpus (const struct choice *c, struct strbuf *sb, struct error *err)
{
    uint32_t left = c->spec->gpus;

    for (uint32_t i = 0; i < c->n; i++) {
        const char *text = c->steps->launch->nodes[c->ranks[i]].gpus;
        autoidset struct idset *ids =
            text && text[0] ? idset_decode (text, LAUNCH_IDS_MAX, NULL) : NULL;
        autoidset struct idset *own = ids && c->spec->gpus ? first_of (ids, left) : NULL;
        strbuf_adds (sb, i ? ";" : "");
        if (c->spec->gpus ? own != NULL : ids != NULL)
            strbuf_add_idset (sb, own ? own : ids);
        left -= own ? idset_count (own) : 0;
    }
    if (left > 0)
        return error_set (err, ENOSPC, "%u GPUs are requested, its nodes have %u",
                          c->spec->gpus, c->spec->gpus - left);
    return sb->err ? error_errno (err, -sb->err, "its GPUs") : 0;
}

static int write_gpu_ids (const struct choice *c, uint32_t nparts, struct step_spec *spec,
                          struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (STEP_SPEC_MAX);
    int rc = 0;

    for (uint32_t i = 0; i < nparts && rc == 0; i++) {
        const struct step_spec *own = c[i].spec;
        strbuf_adds (&sb, i ? ";" : "");
        rc = own->gpus_per_task || own->gpus_per_node || own->no_gpus
                 ? write_gpus_of_nodes (&c[i], &sb, err)
                 : write_gpus (&c[i], &sb, err);
    }
    spec->gpu_ids = rc == 0 ? strbuf_detach (&sb) : NULL;
    return rc == 0 && !spec->gpu_ids ? error_no_memory (err, NULL) : rc;
}

/* Whether the GPUs of all nodes of the step are of the type that it asks for. */
static int check_gpu_type (const struct choice *c, struct error *err)
{
    const char *asked = c->spec->gpu_type;

    for (uint32_t i = 0; i < c->n && asked; i++) {
        const struct launch_node *node = &c->steps->launch->nodes[c->ranks[i]];
        if (!node->gpus || !node->gpus[0]
            || (node->gpu_type && gpu_type_has_name (node->gpu_type, asked)))
            continue;
        return error_set (err, ENOSPC,
                          "Requested node configuration is not available (no GPUs of the "
                          "type %.64s on %s: the job has GPUs of %s there)",
                          asked, node->name,
                          node->gpu_type ? node->gpu_type : "an unknown type");
    }
    return 0;
}

static int write_places (struct step *step, struct error *err)
{
    struct strbuf ranks = STRBUF_INIT (STEP_SPEC_MAX);
    struct strbuf map = STRBUF_INIT (STEP_SPEC_MAX);
    struct strbuf cores = STRBUF_INIT (STEP_SPEC_MAX);
    autoidset struct idset *ids = idset_create ();
    int rc = ids ? 0 : -ENOMEM;

    for (uint32_t i = 0; i < step->nnodes && rc == 0; i++) {
        rc = idset_add (ids, step->nodes[i].rank);
        if (i)
            strbuf_addch (&cores, ';');
        strbuf_add_idset (&cores, step->nodes[i].cores);
    }
    if (rc == 0)
        strbuf_add_idset (&ranks, ids);
    strbuf_add_taskmap (&map, step->layout.rank, step->layout.ntasks);
    step->spec.ranks = strbuf_detach (&ranks);
    step->spec.taskmap = strbuf_detach (&map);
    step->spec.cores = strbuf_detach (&cores);
    return step->spec.ranks && step->spec.taskmap && step->spec.cores
               ? 0
               : error_no_memory (err, NULL);
}

/* The layout of the step: that of each part, one after another. */
static int join_layouts (const struct choice *c, uint32_t nparts, struct layout *ret,
                         struct error *err)
{
    uint32_t nnodes = 0, ntasks = 0;

    for (uint32_t i = 0; i < nparts; i++) {
        nnodes += c[i].n;
        ntasks += c[i].ntasks;
    }
    if (ntasks > STEP_TASKS_MAX)
        return error_set (err, ERANGE, "more than %u tasks", STEP_TASKS_MAX);
    *ret = (struct layout){ .rank = calloc (ntasks, sizeof (*ret->rank)),
                            .count = calloc (nnodes, sizeof (*ret->count)) };
    if (!ret->rank || !ret->count)
        return error_no_memory (err, NULL);
    for (uint32_t i = 0, first = 0; i < nparts; first += c[i++].n) {
        for (uint32_t t = 0; t < c[i].ntasks; t++)
            ret->rank[ret->ntasks++] = first + c[i].layout.rank[t];
        memcpy (ret->count + first, c[i].layout.count, c[i].n * sizeof (*ret->count));
    }
    return 0;
}

static int take (struct choice *c, uint32_t nparts, struct step *step, struct error *err)
{
    uint32_t n = 0;
    int rc = join_layouts (c, nparts, &step->layout, err);

    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < nparts; i++)
        n += c[i].n;
    if (!(step->nodes = calloc (n, sizeof (*step->nodes))))
        return error_no_memory (err, NULL);
    for (uint32_t i = 0; i < nparts; i++) {
        c[i].spec->cores_per_task = c[i].per_task;
        c[i].spec->ntasks = c[i].ntasks;
        for (uint32_t k = 0; k < c[i].n && rc == 0; k++)
            rc = take_node (&c[i], &step->nodes[step->nnodes++], k);
    }
    if (rc < 0)
        return error_errno (err, -rc, "its cores");
    for (uint32_t i = 0; i < step->nnodes; i++)
        step->nbusy += step->nodes[i].left > 0;
    step->spec.ntasks = step->left = step->layout.ntasks;
    step->spec.nnodes = step->nnodes;
    for (uint32_t i = 0; i < nparts; i++)
        if ((rc = check_gpu_type (&c[i], err)) < 0)
            return rc;
    rc = write_places (step, err);
    return rc == 0 ? write_gpu_ids (c, nparts, &step->spec, err) : rc;
}

/* 1: chosen; 0: no room now; negative: never. */
static int choose (struct choice *c, const struct hostlist *job, struct error *err)
{
    struct error now = { 0 };
    int rc = list_candidates (c, job, err);

    if (rc == 0)
        rc = settle_numbers (c, err);
    if (rc < 0)
        return rc;
    look_at (c);
    if ((rc = check_ever (c, job, err)) < 0)
        return rc;
    narrow (c, c->room);
    return c->n > 0 && (!c->spec->nnodes || c->n >= c->spec->nnodes)
           && lay_out (c, c->room, job, &c->layout, &now) == 0;
}

static int check_components (const struct steps *steps, const struct step_spec *spec,
                             struct error *err)
{
    size_t last =
        spec->nparts ? spec->parts[spec->nparts - 1].component : spec->component;
    size_t n = steps->launch->ncomponents;

    if (last <= n)
        return 0;
    if (n == 0)
        return error_set (
            err, EINVAL,
            "component %zu: this job is not heterogeneous: give one command, "
            "or different programs with --multi-prog",
            last);
    return error_set (err, EINVAL, "component %zu: the job has the components 0 to %zu",
                      last, n);
}

/* Chooses for each part. A part that never fits is found even if another one has no room
 * now. */
static int choose_all (struct choice *c, uint32_t nparts, struct step *step,
                       struct error *err)
{
    autohostlist struct hostlist *job = job_hosts (c->steps->launch);
    size_t nnodes = c->steps->launch->nnodes;
    int all = 1;

    for (uint32_t i = 0; i < nparts; i++) {
        c[i] = (struct choice){ .steps = c->steps,
                                .spec = i ? &step->spec.parts[i - 1] : &step->spec };
        c[i].ranks = calloc (3 * nnodes, sizeof (*c[i].ranks));
        if (!c[i].ranks || !job)
            return error_no_memory (err, NULL);
        c[i].room = c[i].ranks + nnodes;
        c[i].most = c[i].room + nnodes;
        int rc = choose (&c[i], job, err);
        if (rc < 0)
            return rc;
        all &= rc;
    }
    return all;
}

int placement_take (struct steps *steps, struct step *step, struct error *err)
{
    uint32_t nparts = 1 + (uint32_t)step->spec.nparts;
    int rc = check_components (steps, &step->spec, err);
    autofree struct choice *c = rc == 0 ? calloc (nparts, sizeof (*c)) : NULL;

    if (!c)
        return rc < 0 ? rc : error_no_memory (err, NULL);
    c->steps = steps;
    rc = choose_all (c, nparts, step, err);
    if (rc > 0) {
        int taken = take (c, nparts, step, err);
        rc = taken < 0 ? taken : 1;
    }
    for (uint32_t i = 0; i < nparts; i++) {
        free (c[i].ranks);
        layout_release (&c[i].layout);
    }
    return rc;
}
