/* placement.c - chooses the nodes and cores of a step
 *
 *     candidates   the job's nodes, or those that the step names
 *     usable       the candidates that have room now
 *     layout       the tasks on the first usable nodes that suffice (layout.h)
 */

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
    uint32_t least = MAX (node->ntasks, 1) * l->cores_per_task;

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
    const struct step_spec *spec;
    uint32_t *ranks; /* candidates, then the chosen ranks */
    uint32_t *room;  /* [n] tasks for which the rank has free cores now */
    uint32_t *most;  /* [n] the same if nothing else runs */
    uint32_t n;
    uint32_t per_task; /* cores of one task */
    uint32_t ntasks;
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

/* Marks ranks by the name of the node or host; -EINVAL: the job has no node of that
 * name. */
static int mark_hosts (const struct choice *c, const struct hostlist *job,
                       const char *text, const char *option, uint8_t *marks,
                       struct error *err)
{
    struct error why = { 0 };
    autohostlist struct hostlist *hl =
        hostlist_decode (text, c->steps->launch->nnodes, &why);
    int rc = 0;

    if (!hl)
        return error_set (err, EINVAL, "%s: %s", option, why.text);
    for (size_t i = 0; i < hostlist_count (hl) && rc == 0; i++) {
        const char *name = hostlist_nth (hl, i);
        ssize_t r = hostlist_find (job, name);
        if (r < 0)
            r = rank_of_host (c->steps->launch, name);
        if (r < 0)
            rc = error_set (err, EINVAL, "%s: the job has no node %s", option, name);
        else
            marks[r] = 1;
    }
    return rc;
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
        if ((!spec->hosts || in[r]) && !out[r])
            c->ranks[c->n++] = r;
    if (rc == 0 && c->n == 0)
        return error_set (err, EINVAL, "--exclude leaves no node of the job");
    return rc;
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
        spec->cores_per_task ? spec->cores_per_task : c->steps->launch->cores_per_task;
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

static int take_node (struct choice *c, struct step *step, uint32_t i)
{
    struct step_node *node = &step->nodes[i];
    struct place *p = &c->steps->places[c->ranks[i]];

    node->rank = c->ranks[i];
    node->left = step->layout.count[i];
    strbuf_init (&node->puts, STEP_PUTS_MAX);
    if (node->left == 0)
        node->cores = idset_create ();
    else if (c->spec->exact && !c->spec->overlap)
        node->cores = first_of (p->free, MIN (node->left * c->per_task, p->nfree));
    else
        node->cores = idset_copy (p->cores);
    if (!node->cores)
        return -ENOMEM;
    if (step->holds && idset_remove_all (p->free, node->cores) < 0)
        return -ENOMEM;
    p->nfree = idset_count (p->free);
    return 0;
}

void placement_give (struct steps *steps, struct step *step, struct step_node *node)
{
    struct place *p = &steps->places[node->rank];

    if (step->holds && node->cores && idset_add_all (p->free, node->cores) < 0)
        abort (); /* out of memory for a few ranges: the cores would be lost for good */
    p->nfree = idset_count (p->free);
    idset_destroy (node->cores);
    node->cores = NULL;
}

/* Writes the GPUs of the step: on each node, as many as requested for its tasks or for
 * the node. */
static int write_gpus_of_nodes (const struct choice *c, const struct step *step,
                                struct strbuf *sb, struct error *err)
{
    const struct step_spec *spec = c->spec;

    for (uint32_t i = 0; i < c->n; i++) {
        const struct launch_node *node = &c->steps->launch->nodes[c->ranks[i]];
        uint64_t wanted = spec->no_gpus ? 0
                          : spec->gpus_per_task
                              ? (uint64_t)step->layout.count[i] * spec->gpus_per_task
                              : spec->gpus_per_node;
        autoidset struct idset *ids =
            node->gpus && node->gpus[0] ? idset_decode (node->gpus, LAUNCH_IDS_MAX, NULL)
                                        : NULL;
        uint32_t has = ids ? idset_count (ids) : 0;
        autoidset struct idset *own =
            wanted <= has && ids ? first_of (ids, (uint32_t)wanted) : NULL;

        if (i)
            strbuf_addch (sb, ';');
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
        if (i)
            strbuf_addch (sb, ';');
        if (c->spec->gpus ? own != NULL : ids != NULL)
            strbuf_add_idset (sb, own ? own : ids);
        left -= own ? idset_count (own) : 0;
    }
    if (left > 0)
        return error_set (err, ENOSPC, "%u GPUs are requested, its nodes have %u",
                          c->spec->gpus, c->spec->gpus - left);
    return sb->err ? error_errno (err, -sb->err, "its GPUs") : 0;
}

static int write_places (const struct choice *c, struct step *step, struct error *err)
{
    struct strbuf ranks = STRBUF_INIT (STEP_SPEC_MAX);
    struct strbuf map = STRBUF_INIT (STEP_SPEC_MAX);
    struct strbuf cores = STRBUF_INIT (STEP_SPEC_MAX);
    struct strbuf gpus = STRBUF_INIT (STEP_SPEC_MAX);
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
    rc = step->spec.ranks && step->spec.taskmap && step->spec.cores
             ? (c->spec->gpus_per_task || c->spec->gpus_per_node || c->spec->no_gpus
                    ? write_gpus_of_nodes (c, step, &gpus, err)
                    : write_gpus (c, &gpus, err))
             : error_no_memory (err, NULL);
    step->spec.gpu_ids = rc == 0 ? strbuf_detach (&gpus) : NULL;
    strbuf_release (&gpus);
    return rc == 0 && !step->spec.gpu_ids ? error_no_memory (err, NULL) : rc;
}

static int take (struct choice *c, struct step *step, struct error *err)
{
    int rc = 0;

    step->nodes = calloc (c->n, sizeof (*step->nodes));
    if (!step->nodes)
        return error_no_memory (err, NULL);
    step->holds = !c->spec->overlap;
    for (; step->nnodes < c->n && rc == 0; step->nnodes++)
        rc = take_node (c, step, step->nnodes);
    if (rc < 0)
        return error_errno (err, -rc, "its cores");
    for (uint32_t i = 0; i < step->nnodes; i++)
        step->nbusy += step->nodes[i].left > 0;
    step->spec.ntasks = step->left = step->layout.ntasks;
    step->spec.nnodes = step->nnodes;
    step->spec.cores_per_task = c->per_task;
    return write_places (c, step, err);
}

static int choose (struct choice *c, struct step *step, const struct hostlist *job,
                   struct error *err)
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
    if (c->n == 0 || (c->spec->nnodes && c->n < c->spec->nnodes)
        || lay_out (c, c->room, job, &step->layout, &now) < 0)
        return 0;
    rc = take (c, step, err);
    return rc < 0 ? rc : 1;
}

int placement_take (struct steps *steps, struct step *step, struct error *err)
{
    size_t n = steps->launch->nnodes;
    autofree uint32_t *ranks = calloc (n, sizeof (*ranks));
    autofree uint32_t *room = calloc (n, sizeof (*room));
    autofree uint32_t *most = calloc (n, sizeof (*most));
    autohostlist struct hostlist *job = job_hosts (steps->launch);
    struct choice c = {
        .steps = steps, .spec = &step->spec, .ranks = ranks, .room = room, .most = most
    };

    return ranks && room && most && job ? choose (&c, step, job, err)
                                        : error_no_memory (err, NULL);
}
