/* nspace.c - registers a step and its tasks with the PMIx library, see nspace.h */
#include "pmix/nspace.h"

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <sys/stat.h>

#include "common/strbuf.h"

#define TEXT_MAX (8 * 1024 * 1024)

/* -- waiting for the library -- */

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t here;
    bool done;
    pmix_status_t status;
};

static void on_answer (pmix_status_t status, void *arg)
{
    struct answer *a = arg;

    pthread_mutex_lock (&a->lock);
    a->done = true;
    a->status = status;
    pthread_cond_signal (&a->here);
    pthread_mutex_unlock (&a->lock);
}

/* status: what the call has returned. Returns the status of the whole operation. */
static pmix_status_t wait_for (struct answer *a, pmix_status_t status)
{
    if (status == PMIX_OPERATION_SUCCEEDED)
        return PMIX_SUCCESS;
    if (status != PMIX_SUCCESS)
        return status;
    pthread_mutex_lock (&a->lock);
    while (!a->done)
        pthread_cond_wait (&a->here, &a->lock);
    pthread_mutex_unlock (&a->lock);
    return a->status;
}

static int failed (struct error *err, const char *what, pmix_status_t status)
{
    return error_set (err, EIO, "PMIx: %s: %s", what, PMIx_Error_string (status));
}

/* -- information about the step -- */

struct list {
    pmix_info_t *v;
    size_t n, room;
};

static void add (struct list *l, const char *key, const void *value,
                 pmix_data_type_t type)
{
    if (l->n < l->room)
        PMIX_INFO_LOAD (&l->v[l->n++], key, value, type);
}

static void add_u32 (struct list *l, const char *key, uint32_t n)
{
    add (l, key, &n, PMIX_UINT32);
}

static void add_rank (struct list *l, const char *key, uint32_t n)
{
    pmix_rank_t rank = n;

    add (l, key, &rank, PMIX_PROC_RANK);
}

static void add_u16 (struct list *l, const char *key, uint32_t n)
{
    uint16_t small = (uint16_t)MIN (n, (uint32_t)UINT16_MAX);

    add (l, key, &small, PMIX_UINT16);
}

static void add_bool (struct list *l, const char *key, bool yes)
{
    add (l, key, &yes, PMIX_BOOL);
}

static char *node_name (const struct nspace *ns, uint32_t node)
{
    const char *at = ns->setup->nodes;

    for (; node > 0; node--) {
        at += strcspn (at, ",");
        at += *at == ',';
    }
    return strndup (at, strcspn (at, ","));
}

static bool is_here (const struct nspace *ns, uint32_t task)
{
    return ns->places->node_of[task] == ns->setup->node;
}

static void step_directory (const struct nspace *ns, char ret[PATH_MAX])
{
    snprintf (ret, PATH_MAX, "%s/step", ns->base);
}

static void task_directory (const struct nspace *ns, uint32_t task, char ret[PATH_MAX])
{
    snprintf (ret, PATH_MAX, "%s/step/%u", ns->base, task);
}

static int make_directories (const struct nspace *ns, struct error *err)
{
    char path[PATH_MAX];

    step_directory (ns, path);
    if (mkdir (path, 0700) < 0)
        return error_errno (err, errno, "%s", path);
    for (uint32_t task = 0; task < ns->setup->ntasks; task++) {
        task_directory (ns, task, path);
        if (is_here (ns, task) && mkdir (path, 0700) < 0)
            return error_errno (err, errno, "%s", path);
    }
    return 0;
}

/* One task. */
#define TASK_KEYS 9
static void add_task (const struct nspace *ns, struct list *l, uint32_t task)
{
    const struct taskplaces *p = ns->places;
    autofree char *host = node_name (ns, p->node_of[task]);
    char path[PATH_MAX];
    pmix_data_array_t *array;
    struct list own = { .room = TASK_KEYS };

    PMIX_DATA_ARRAY_CREATE (array, TASK_KEYS, PMIX_INFO);
    own.v = array->array;
    add_rank (&own, PMIX_RANK, task);
    add_u32 (&own, PMIX_APPNUM, 0);
    add_rank (&own, PMIX_APP_RANK, task);
    add_rank (&own, PMIX_GLOBAL_RANK, task);
    add_u16 (&own, PMIX_LOCAL_RANK, p->local_of[task]);
    add_u16 (&own, PMIX_NODE_RANK, p->local_of[task]);
    add_u32 (&own, PMIX_NODEID, p->node_of[task]);
    add (&own, PMIX_HOSTNAME, host, PMIX_STRING);
    task_directory (ns, task, path);
    if (is_here (ns, task))
        add (&own, PMIX_PROCDIR, path, PMIX_STRING);
    array->size = own.n;
    add (l, PMIX_PROC_DATA, array, PMIX_DATA_ARRAY);
    PMIX_DATA_ARRAY_FREE (array);
}

/* The tasks of this node, "0,2", and the first of them. */
static int local_peers (const struct nspace *ns, struct strbuf *sb, uint32_t *ret_first)
{
    *ret_first = UINT32_MAX;
    for (uint32_t task = 0; task < ns->setup->ntasks; task++) {
        if (!is_here (ns, task))
            continue;
        strbuf_addf (sb, "%s%u", sb->len ? "," : "", task);
        *ret_first = MIN (*ret_first, task);
    }
    return sb->err;
}

static void add_sizes (const struct nspace *ns, struct list *l)
{
    const struct pmix_setup *s = ns->setup;
    uint32_t here = ns->places->count[s->node];

    add_u32 (l, PMIX_UNIV_SIZE, s->ntasks);
    add_u32 (l, PMIX_JOB_SIZE, s->ntasks);
    add_u32 (l, PMIX_MAX_PROCS, s->ntasks);
    add_u32 (l, PMIX_LOCAL_SIZE, here);
    add_u32 (l, PMIX_NODE_SIZE, here);
    add_u32 (l, PMIX_NUM_NODES, s->nnodes);
    add_u32 (l, PMIX_JOB_NUM_APPS, 1);
    add_u32 (l, PMIX_NODEID, s->node);
}

/* The maps of nodes and tasks, in the library's own form. */
static int add_maps (const struct nspace *ns, struct list *l, struct error *err)
{
    char *nodes = NULL, *procs = NULL;
    pmix_status_t rc = PMIx_generate_regex (ns->setup->nodes, &nodes);

    if (rc == PMIX_SUCCESS)
        rc = PMIx_generate_ppn (ns->setup->procs, &procs);
    if (rc == PMIX_SUCCESS) {
        add (l, PMIX_NODE_MAP, nodes, PMIX_REGEX);
        add (l, PMIX_PROC_MAP, procs, PMIX_REGEX);
    }
    free (nodes);
    free (procs);
    return rc == PMIX_SUCCESS ? 0 : failed (err, "map of the tasks", rc);
}

#define STEP_KEYS 24
static int fill (const struct nspace *ns, struct list *l, struct error *err)
{
    autostrbuf struct strbuf peers = STRBUF_INIT (TEXT_MAX);
    autofree char *host = node_name (ns, ns->setup->node);
    char path[PATH_MAX];
    uint32_t first;

    if (local_peers (ns, &peers, &first) < 0 || !host)
        return error_no_memory (err, NULL);
    step_directory (ns, path);
    add (l, PMIX_JOBID, ns->setup->nspace, PMIX_STRING);
    add (l, PMIX_HOSTNAME, host, PMIX_STRING);
    add_bool (l, PMIX_SPAWNED, false);
    add (l, PMIX_TMPDIR, ns->base, PMIX_STRING);
    add (l, PMIX_NSDIR, path, PMIX_STRING);
    add_bool (l, PMIX_TDIR_RMCLEAN, true);
    add_sizes (ns, l);
    add (l, PMIX_LOCAL_PEERS, peers.buf, PMIX_STRING);
    add_rank (l, PMIX_LOCALLDR, first);
    int rc = add_maps (ns, l, err);
    for (uint32_t task = 0; task < ns->setup->ntasks && rc == 0; task++)
        add_task (ns, l, task);
    return rc;
}

static int register_step (const struct nspace *ns, struct error *err)
{
    struct answer a = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0 };
    struct list l = { .room = STEP_KEYS + ns->setup->ntasks };
    int here = (int)ns->places->count[ns->setup->node];

    PMIX_INFO_CREATE (l.v, l.room);
    int rc = l.v ? fill (ns, &l, err) : error_no_memory (err, NULL);
    if (rc == 0) {
        pmix_status_t status =
            wait_for (&a, PMIx_server_register_nspace (ns->setup->nspace, here, l.v, l.n,
                                                       on_answer, &a));
        rc = status == PMIX_SUCCESS ? 0 : failed (err, "registering the step", status);
    }
    if (l.v)
        PMIX_INFO_FREE (l.v, l.room);
    return rc;
}

static int register_task (const struct nspace *ns, uint32_t task, struct error *err)
{
    struct answer a = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0 };
    pmix_proc_t proc;

    PMIX_LOAD_PROCID (&proc, ns->setup->nspace, task);
    pmix_status_t status =
        wait_for (&a, PMIx_server_register_client (&proc, getuid (), getgid (), NULL,
                                                   on_answer, &a));
    return status == PMIX_SUCCESS ? 0 : failed (err, "registering a task", status);
}

int nspace_register (const struct nspace *ns, struct error *err)
{
    int rc = make_directories (ns, err);

    if (rc == 0)
        rc = register_step (ns, err);
    for (uint32_t task = 0; task < ns->setup->ntasks && rc == 0; task++)
        if (is_here (ns, task))
            rc = register_task (ns, task, err);
    return rc;
}

char **nspace_environment (const struct nspace *ns, uint32_t task, struct error *err)
{
    char **env = NULL;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID (&proc, ns->setup->nspace, task);
    pmix_status_t status = PMIx_server_setup_fork (&proc, &env);
    if (status == PMIX_SUCCESS && env)
        return env;
    failed (err, "environment of a task", status);
    return NULL;
}
