/* local.c - the executor "local": virtual nodes of this machine
 *
 * Configuration (`local:` in fluxq.yaml; defaults in parentheses): nodes (1), cores of a
 * node (the machine's), memory of a node (the machine's), gpus of a node (0), gpu-type (none), gres
 * (generic resources of a node; none), tmp (temporary disk of a node; the file system of
 * /tmp), cgroup (parent of the jobs' cgroups: auto, none,
 * or a directory), topology (levels of places, each of a number of consecutive nodes;
 * none). The nodes are named node0, node1, ... By default each of several nodes has all
 * cores of the machine, so they share them, which is good for tests; `cores` changes
 * that.
 */

#include <sys/statvfs.h>

#include "common/parse.h"
#include "exec/local/local.h"
#include "exec/local/remains.h"

#define NODES_MAX 100000

/* gpu-type: a100 */
static int read_gpu_type (struct exec *x, const struct yaml_doc *doc, json_t *config,
                          struct error *err)
{
    const json_t *o = json_object_get (config, "gpu-type");

    if (o
        && (!json_is_string (o)
            || gpu_type_read (json_string_value (o), x->gpu_type) < 0))
        return yaml_error (doc, config, "gpu-type", err,
                           "local: gpu-type: expected a name such as a100");
    return 0;
}

static int check_keys (const struct yaml_doc *doc, json_t *config, struct error *err)
{
    static const char *const known[] = { "nodes",    "cores",  "memory",   "gpus", "gres",
                                         "topology", "cgroup", "gpu-type", "tmp" };
    const char *key;
    json_t *value;

    json_object_foreach (config, key, value) {
        bool found = false;
        for (size_t i = 0; i < ARRAY_SIZE (known); i++)
            found |= !strcmp (key, known[i]);
        if (!found)
            return yaml_error (doc, config, key, err,
                               "local: unknown key '%s' (see fluxq.yaml(5))", key);
    }
    return 0;
}

static int get_count (const struct yaml_doc *doc, json_t *config, const char *key,
                      int64_t min, int64_t max, int64_t *ret, struct error *err)
{
    json_t *value = json_object_get (config, key);
    if (!value)
        return 0;
    if (!json_is_integer (value) || json_integer_value (value) < min
        || json_integer_value (value) > max)
        return yaml_error (doc, config, key, err,
                           "local: %s: expected an integer from %jd to %jd", key,
                           (intmax_t)min, (intmax_t)max);
    *ret = json_integer_value (value);
    return 0;
}

/* gres: {license: 4} */
static int read_gres (struct exec *x, const struct yaml_doc *doc, json_t *config,
                      struct error *err)
{
    json_t *o = json_object_get (config, "gres"), *v;
    const char *name;

    if (o && !json_is_object (o))
        return yaml_error (doc, config, "gres", err,
                           "local: gres: expected a mapping such as {license: 4}");
    json_object_foreach (o, name, v) {
        int64_t n = json_is_integer (v) ? json_integer_value (v) : 0;
        bool level = false;
        for (size_t i = 0; i < x->topology.n; i++)
            level |= !strcmp (x->topology.level[i].name, name);
        if (!gres_name_is_valid (name) || level
            || !strncmp (name, GPU_TYPE_PREFIX, strlen (GPU_TYPE_PREFIX)))
            return yaml_error (
                doc, o, name, err,
                "local: gres: '%.80s' cannot be the name of a generic "
                "resource%s",
                name,
                strncmp (name, "gpu", 3) ? "" : "; say local.gpus and local.gpu-type");
        if (n < 1 || n > GRES_COUNT_MAX)
            return yaml_error (doc, o, name, err,
                               "local: gres: %s: expected an integer from 1 to %d", name,
                               GRES_COUNT_MAX);
        if (x->gres.n == GRES_LIST_MAX)
            return yaml_error (doc, config, "gres", err,
                               "local: gres: more than %d names", GRES_LIST_MAX);
        if (gres_set (&x->gres, name, n) < 0)
            return error_set (err, ENOMEM, "out of memory");
    }
    return 0;
}

/* tmp: 100Gi; by default the size of the file system of /tmp. */
static int read_tmp (struct exec *x, const struct yaml_doc *doc, json_t *config,
                     struct error *err)
{
    json_t *tmp = json_object_get (config, "tmp");
    struct statvfs fs;
    int64_t bytes = 0, mib;

    if (tmp
        && (!json_is_string (tmp)
            || parse_bytes (json_string_value (tmp), &bytes, "tmp", NULL) < 0))
        return yaml_error (doc, config, "tmp", err,
                           "local: tmp: expected an amount such as 100Gi");
    mib = bytes >> 20;
    if (!tmp && statvfs ("/tmp", &fs) == 0)
        mib = (int64_t)(fs.f_blocks / 1024 * fs.f_frsize / 1024);
    if (gres_set (&x->gres, GRES_TMP_DISK, MIN (mib, GRES_COUNT_MAX)) < 0)
        return error_no_memory (err, NULL);
    return 0;
}

static int read_cgroup (struct exec *x, const struct yaml_doc *doc, json_t *config,
                        struct error *err)
{
    json_t *cgroup = json_object_get (config, "cgroup");
    const char *text = json_string_value (cgroup);

    if (cgroup && (!text || (strcmp (text, "auto") && strcmp (text, "none") && *text != '/')))
        return yaml_error (doc, config, "cgroup", err,
                           "local: cgroup: expected auto, none or an absolute path");
    if (!(x->cgroup = strdup (text ? text : "auto")))
        return error_set (err, ENOMEM, "out of memory");
    return 0;
}

static int read_config (struct exec *x, const struct yaml_doc *doc, json_t *config,
                        struct error *err)
{
    json_t *memory = json_object_get (config, "memory");
    int64_t bytes = (int64_t)sysconf (_SC_PHYS_PAGES) * sysconf (_SC_PAGESIZE);

    x->nodes = 1;
    x->cores = MAX (sysconf (_SC_NPROCESSORS_ONLN), 1);
    if (check_keys (doc, config, err) < 0
        || get_count (doc, config, "nodes", 1, NODES_MAX, &x->nodes, err) < 0
        || get_count (doc, config, "cores", 1, 65536, &x->cores, err) < 0
        || get_count (doc, config, "gpus", 0, 1024, &x->gpus, err) < 0
        || topology_read (doc, config, "local", TOPOLOGY_NODES, &x->topology, err) < 0
        || read_gres (x, doc, config, err) < 0 || read_tmp (x, doc, config, err) < 0
        || read_gpu_type (x, doc, config, err) < 0)
        return -EINVAL;
    if (memory
        && (!json_is_string (memory)
            || parse_bytes (json_string_value (memory), &bytes, "memory", NULL) < 0
            || bytes < (1 << 20)))
        return yaml_error (doc, config, "memory", err,
                           "local: memory: expected an amount such as 16Gi");
    x->memory_mib = bytes >> 20;
    return read_cgroup (x, doc, config, err);
}

/* Node i is in zone i / (nodes in a zone), and so on. */
struct places {
    char name[MACHINE_LEVELS_MAX][96];
    struct machine_place list[MACHINE_LEVELS_MAX + 1];
};

static void place_node (const struct topology *t, int64_t i, struct places *ret)
{
    for (size_t k = 0; k < t->n; k++) {
        const struct topology_level *level = &t->level[k];
        snprintf (ret->name[k], sizeof (ret->name[k]), "%s%jd", level->name,
                  (intmax_t)(i / level->nodes));
        ret->list[k] = (struct machine_place){ level->name, ret->name[k] };
    }
    ret->list[t->n] = (struct machine_place){ NULL, NULL };
}

static void announce (uv_timer_t *t)
{
    struct exec *x = t->data;
    char name[32];
    struct places places;
    struct machine_node_spec spec = { .name = name,
                                      .places = places.list,
                                      .cores = (uint32_t)x->cores,
                                      .gpus = (uint32_t)x->gpus,
                                      .gpu_type = x->gpu_type[0] ? x->gpu_type : NULL,
                                      .memory_mib = x->memory_mib,
                                      .gres = &x->gres };
    for (int64_t i = 0; i < x->nodes; i++) {
        snprintf (name, sizeof (name), "node%jd", (intmax_t)i);
        place_node (&x->topology, i, &places);
        x->host->node (x->host->arg, &spec, MACHINE_NODE_UP, NULL);
    }
    x->host->nodes_complete (x->host->arg);
}

static void announced (uv_handle_t *h)
{
    struct exec *x = h->data;

    topology_release (&x->topology);
    gres_release (&x->gres);
    free (x->cgroup);
    free (x);
}

static void destroy (struct exec *x)
{
    local_jobs_forget (x);
    agents_destroy (x->agents);
    remains_destroy (x->remains);
    httpc_destroy (x->http);
    uv_close ((uv_handle_t *)&x->announce, announced);
}

static int create (const struct exec_host *host, const struct yaml_doc *doc,
                   json_t *config, struct exec **ret, struct error *err)
{
    struct exec *x = calloc (1, sizeof (*x));

    if (!x)
        return error_set (err, ENOMEM, "out of memory");
    x->host = host;
    if (read_config (x, doc, config, err) < 0) {
        topology_release (&x->topology);
        gres_release (&x->gres);
        free (x->cgroup);
        free (x);
        return -EINVAL;
    }
    uv_timer_init (host->loop, &x->announce);
    x->announce.data = x;
    if (!(x->http = httpc_create (host->loop, err))
        || !(x->remains = remains_create (x->cgroup, host->state_dir))
        || !(x->agents = agents_create (host, local_jobs_no_strays, x, err))) {
        destroy (x);
        return -EIO;
    }
    uv_timer_start (&x->announce, announce, 0, 0);
    *ret = x;
    return 0;
}

static int check_config (const struct yaml_doc *doc, json_t *config, struct error *err)
{
    struct exec x = { 0 };
    int rc = read_config (&x, doc, config, err);

    topology_release (&x.topology);
    gres_release (&x.gres);
    free (x.cgroup);
    return rc;
}

static int separate (const struct yaml_doc *doc, json_t *config,
                     const struct exec_separation *by, struct error *err)
{
    struct exec x = { 0 };
    int rc = read_config (&x, doc, config, err);

    if (rc == 0)
        remains_separate (x.cgroup, by);
    topology_release (&x.topology);
    gres_release (&x.gres);
    free (x.cgroup);
    return rc;
}

static int check (struct exec *x, const struct jobspec *js, const char *queue,
                  const json_t *mounts, uid_t uid, struct error *err)
{
    const char *pods = json_object_iter_key (json_object_iter (js->pods));

    (void)x, (void)uid, (void)queue, (void)mounts;
    if (pods)
        return error_set (err, EINVAL,
                          "--%s: this broker runs jobs as processes of its own machine, "
                          "without pods; leave it out",
                          strcmp (pods, "volumes") ? pods : "volume");
    if (js->image)
        return error_set (err, EINVAL,
                          "--image: this broker runs jobs as processes of its own "
                          "machine, without containers; leave the image out");
    return 0;
}

/* Called once at the start, before jobs have adopted their agents, then periodically. */
static void sweep (struct exec *x, const uint64_t *live, size_t nlive)
{
    agents_end_strays (x->agents, live, nlive);
    remains_sweep (x->remains, live, nlive);
}

static const struct exec_option options[] = {
    { .name = "local",
      .arg = "N",
      .help = "run jobs as processes of this machine, on N virtual nodes",
      .key = "nodes",
      .min = 1,
      .max = NODES_MAX,
      .personal = true },
    { .name = NULL },
};

/* A process that agents.c knows is no orphan of a job. */
static int spawn (struct exec *x, char *const argv[],
                  void (*done) (uint32_t zero, int status, bool known, void *arg),
                  void *arg, struct error *err)
{
    return agents_spawn (x->agents, argv, 0, done, arg, err);
}

const struct exec_ops exec_local = {
    .name = "local",
    .is_default = true,
    .runs_here = true,
    .options = options,
    .create = create,
    .check_config = check_config,
    .separate = separate,
    .spawn = spawn,
    .topology = TOPOLOGY_NODES,
    .destroy = destroy,
    .check = check,
    .start = local_job_start,
    .recover = local_job_recover,
    .terminate = local_job_terminate,
    .signal = local_job_signal,
    .steps = local_job_steps,
    .connect = local_job_connect,
    .limit = local_job_limit,
    .resize = local_job_resize,
    .cleanup = local_job_cleanup,
    .sweep = sweep,
};
