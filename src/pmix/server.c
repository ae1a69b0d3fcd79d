/* server.c - what the PMIx library asks of the host, see server.h */
#include "pmix/server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>

#include "common/io.h"
#include "pmix/gather.h"
#include "pmix/nspace.h"

#define ASKS_MAX 65536 /* open requests for the data of tasks on other nodes */

struct ask {
    struct ask *next;
    uint64_t id;
    uint32_t node;
    pmix_modex_cbfunc_t done;
    void *arg;
};

/* A request of another node for the data of a task here. */
struct query {
    struct pmix_server *server;
    uint32_t node;
    uint64_t id;
};

struct pmix_server {
    const struct pmix_setup *setup;
    struct pmix_link *link;
    struct parcels *parcels;
    struct taskplaces *places;
    char base[PATH_MAX];
    bool started;
    pthread_mutex_t lock; /* for what follows */
    struct gathers *gathers;
    pmix_modex_cbfunc_t fence_done; /* of all tasks; NULL: none */
    void *fence_arg;
    struct ask *asks;
    uint32_t nasks;
    uint64_t next_id;
};

/* The library's callbacks have no argument for their host. */
static struct pmix_server *current;

static void tell (uint8_t type, const pmix_proc_t *proc, const void *data, size_t len)
{
    pmix_link_send (current->link,
                    &(struct frame){ .type = type,
                                     .task = current->places->local_of[proc->rank],
                                     .data = data,
                                     .len = (uint32_t)len });
}

/* Whether the process is a task of the step. */
static bool is_task (const pmix_proc_t *proc)
{
    return PMIX_CHECK_NSPACE (proc->nspace, current->setup->nspace)
           && proc->rank < current->setup->ntasks;
}

static pmix_status_t on_connected (const pmix_proc_t *proc, void *object,
                                   pmix_info_t info[], size_t ninfo,
                                   pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)info, (void)ninfo, (void)done, (void)arg;
    if (is_task (proc))
        tell (PMIX_CONNECTED, proc, NULL, 0);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized (const pmix_proc_t *proc, void *object,
                                   pmix_op_cbfunc_t done, void *arg)
{
    (void)object, (void)done, (void)arg;
    if (is_task (proc))
        tell (PMIX_FINALIZED, proc, NULL, 0);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort (const pmix_proc_t *proc, void *object, int status,
                               const char text[], pmix_proc_t procs[], size_t nprocs,
                               pmix_op_cbfunc_t done, void *arg)
{
    char data[4 + 256] = { (char)(status & 0xff) };
    int len = snprintf (data + 4, sizeof (data) - 4, "%s", text ? text : "");

    (void)object, (void)procs, (void)nprocs, (void)done, (void)arg;
    if (is_task (proc))
        tell (PMIX_ABORT, proc, data, 4 + MIN ((size_t)len, sizeof (data) - 5));
    return PMIX_OPERATION_SUCCEEDED;
}

/* -- fences -- */

static int compare_tasks (const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* The tasks of a fence, sorted and without repetition. NULL with *ret_n 0: all tasks of
 * the step; else no memory, or processes that are no tasks. */
static uint32_t *fence_tasks (const pmix_proc_t procs[], size_t n, size_t *ret_n)
{
    uint32_t *tasks = calloc (n + 1, sizeof (*tasks));
    size_t kept = 0;
    bool all = false, bad = !tasks;

    for (size_t i = 0; i < n && !bad; i++) {
        all |= procs[i].rank == PMIX_RANK_WILDCARD
               && PMIX_CHECK_NSPACE (procs[i].nspace, current->setup->nspace);
        bad = !all && !is_task (&procs[i]);
        tasks[i] = procs[i].rank;
    }
    if (!bad && !all) {
        qsort (tasks, n, sizeof (*tasks), compare_tasks);
        for (size_t i = 0; i < n; i++)
            if (kept == 0 || tasks[kept - 1] != tasks[i])
                tasks[kept++] = tasks[i];
    }
    *ret_n = bad ? 1 : kept == current->setup->ntasks ? 0 : kept;
    if (!bad && *ret_n > 0)
        return tasks;
    free (tasks);
    return NULL;
}

static pmix_status_t enter_all (const char *data, size_t len, pmix_modex_cbfunc_t done,
                                void *arg)
{
    pthread_mutex_lock (&current->lock);
    bool busy = current->fence_done != NULL;
    if (!busy) {
        current->fence_done = done;
        current->fence_arg = arg;
    }
    pthread_mutex_unlock (&current->lock);
    if (busy)
        return PMIX_ERR_NOT_SUPPORTED;
    pmix_link_send_pieces (current->link, &(struct frame){ .type = PMIX_FENCE }, data,
                           len);
    return PMIX_SUCCESS;
}

static pmix_status_t on_fence (const pmix_proc_t procs[], size_t nprocs,
                               const pmix_info_t info[], size_t ninfo, char *data,
                               size_t len, pmix_modex_cbfunc_t done, void *arg)
{
    size_t n = 0;
    uint32_t *tasks = fence_tasks (procs, nprocs, &n);
    int rc = -EINVAL;

    (void)info, (void)ninfo;
    if (len > PMIX_FENCE_MAX) {
        free (tasks);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (!tasks && n == 0)
        return enter_all (data, len, done, arg);
    if (tasks) {
        pthread_mutex_lock (&current->lock);
        rc = gathers_enter (current->gathers, tasks, n, data, len, done, arg);
        pthread_mutex_unlock (&current->lock);
    }
    free (tasks);
    return rc == 0         ? PMIX_SUCCESS
           : rc == -EINVAL ? PMIX_ERR_NOT_SUPPORTED
                           : PMIX_ERR_NOMEM;
}

void pmix_server_fenced (struct pmix_server *server, char *data, size_t len)
{
    pthread_mutex_lock (&server->lock);
    pmix_modex_cbfunc_t done = server->fence_done;
    void *arg = server->fence_arg;
    server->fence_done = NULL;
    pthread_mutex_unlock (&server->lock);
    if (done)
        done (PMIX_SUCCESS, data, len, arg, free, data);
    else
        free (data);
}

/* -- data of single tasks -- */

static pmix_status_t on_get (const pmix_proc_t *proc, const pmix_info_t info[],
                             size_t ninfo, pmix_modex_cbfunc_t done, void *arg)
{
    struct ask *ask = is_task (proc) ? calloc (1, sizeof (*ask)) : NULL;
    char rank[4];

    (void)info, (void)ninfo;
    if (!ask)
        return PMIX_ERR_NOT_FOUND;
    pthread_mutex_lock (&current->lock);
    *ask = (struct ask){ .next = current->asks,
                         .id = ++current->next_id,
                         .node = current->places->node_of[proc->rank],
                         .done = done,
                         .arg = arg };
    bool full = current->nasks == ASKS_MAX;
    uint64_t id = ask->id;
    uint32_t node = ask->node;
    if (!full) {
        current->asks = ask;
        current->nasks++;
    }
    pthread_mutex_unlock (&current->lock);
    if (full) {
        free (ask);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < 4; i++)
        rank[i] = (char)(proc->rank >> (8 * i));
    parcels_send (current->parcels, node, PARCEL_ASK, id, rank, sizeof (rank));
    return PMIX_SUCCESS;
}

/* Takes the request out of the list. NULL: there is none. */
static struct ask *take_ask (struct pmix_server *server, uint32_t node, uint64_t id)
{
    pthread_mutex_lock (&server->lock);
    struct ask **at = &server->asks;
    while (*at && ((*at)->node != node || (id > 0 && (*at)->id != id)))
        at = &(*at)->next;
    struct ask *ask = *at;
    if (ask) {
        *at = ask->next;
        server->nasks--;
    }
    pthread_mutex_unlock (&server->lock);
    return ask;
}

static void answer (const struct query *q, pmix_status_t status, const char *data,
                    size_t len)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (PARCEL_MAX);
    char head[4];

    for (int i = 0; i < 4; i++)
        head[i] = (char)((uint32_t)status >> (8 * i));
    strbuf_add (&sb, head, sizeof (head));
    strbuf_add (&sb, data, len);
    if (sb.err == 0)
        parcels_send (q->server->parcels, q->node, PARCEL_ANSWER, q->id, sb.buf, sb.len);
}

static void on_own_data (pmix_status_t status, char *data, size_t len, void *arg)
{
    struct query *q = arg;

    answer (q, status, data, data ? len : 0);
    free (q);
}

static uint32_t get_u32 (const char *data)
{
    const uint8_t *p = (const uint8_t *)data;

    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16
           | (uint32_t)p[3] << 24;
}

static void on_ask (struct pmix_server *server, const struct parcel *parcel)
{
    struct query *q = calloc (1, sizeof (*q));
    uint32_t rank = parcel->len == 4 ? get_u32 (parcel->data) : UINT32_MAX;
    pmix_proc_t proc;
    pmix_status_t status = PMIX_ERR_NOT_FOUND;

    if (!q)
        return;
    *q = (struct query){ server, parcel->node, parcel->id };
    if (rank < server->setup->ntasks
        && server->places->node_of[rank] == server->setup->node) {
        PMIX_LOAD_PROCID (&proc, server->setup->nspace, rank);
        status = PMIx_server_dmodex_request (&proc, on_own_data, q);
    }
    if (status == PMIX_SUCCESS)
        return;
    answer (q, status, NULL, 0);
    free (q);
}

/* Takes over the data. */
static void on_answer (struct pmix_server *server, struct parcel *parcel)
{
    struct ask *ask = take_ask (server, parcel->node, parcel->id);

    if (!ask)
        return;
    if (parcel->len < 4) {
        ask->done (PMIX_ERR_UNPACK_FAILURE, NULL, 0, ask->arg, NULL, NULL);
    } else {
        pmix_status_t status = (pmix_status_t)get_u32 (parcel->data);
        memmove (parcel->data, parcel->data + 4, parcel->len - 4);
        ask->done (status, parcel->data, parcel->len - 4, ask->arg, free, parcel->data);
        parcel->data = NULL;
    }
    free (ask);
}

void pmix_server_parcel (struct pmix_server *server, struct parcel *parcel)
{
    if (parcel->kind == PARCEL_ASK) {
        on_ask (server, parcel);
    } else if (parcel->kind == PARCEL_ANSWER) {
        on_answer (server, parcel);
    } else {
        pthread_mutex_lock (&server->lock);
        if (parcel->kind == PARCEL_PART)
            gathers_part (server->gathers, parcel);
        else
            gathers_whole (server->gathers, parcel);
        pthread_mutex_unlock (&server->lock);
    }
    free (parcel->data);
}

void pmix_server_node_ended (struct pmix_server *server, uint32_t node)
{
    struct ask *ask;

    while ((ask = take_ask (server, node, 0))) {
        ask->done (PMIX_ERR_UNREACH, NULL, 0, ask->arg, NULL, NULL);
        free (ask);
    }
    pthread_mutex_lock (&server->lock);
    gathers_node_ended (server->gathers, node);
    pthread_mutex_unlock (&server->lock);
}

/* -- start and end -- */

static pmix_server_module_t module = {
    .client_connected2 = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_get,
};

struct pmix_server *pmix_server_create (const struct pmix_setup *setup,
                                        struct pmix_link *link, struct parcels *parcels,
                                        struct error *err)
{
    struct pmix_server *s = calloc (1, sizeof (*s));

    if (!s) {
        error_no_memory (err, NULL);
        return NULL;
    }
    *s = (struct pmix_server){ .setup = setup, .link = link, .parcels = parcels };
    pthread_mutex_init (&s->lock, NULL);
    current = s;
    s->places = taskplaces_parse (setup->procs, setup->nnodes, setup->ntasks, err);
    if (s->places && !(s->gathers = gathers_create (s->places, setup->node, parcels)))
        error_no_memory (err, NULL);
    if (s->gathers)
        return s;
    pmix_server_destroy (s);
    return NULL;
}

void pmix_server_destroy (struct pmix_server *s)
{
    if (s->started)
        PMIx_server_finalize ();
    if (s->base[0])
        io_remove_tree (s->base, NULL);
    while (s->asks) {
        struct ask *ask = s->asks;
        s->asks = ask->next;
        free (ask);
    }
    gathers_destroy (s->gathers);
    taskplaces_destroy (s->places);
    pthread_mutex_destroy (&s->lock);
    current = NULL;
    free (s);
}

static int make_base (struct pmix_server *s, struct error *err)
{
    char path[PATH_MAX];
    int n = snprintf (path, sizeof (path), "%s/pmix-XXXXXX", s->setup->directory);

    if (n >= (int)sizeof (path) || !mkdtemp (path))
        return error_errno (err, errno, "PMIx: a directory in %s", s->setup->directory);
    snprintf (s->base, sizeof (s->base), "%s", path);
    return 0;
}

static int init_library (struct pmix_server *s, struct error *err)
{
    const char *at = s->setup->nodes;
    pmix_info_t *info;

    for (uint32_t node = s->setup->node; node > 0; node--) {
        at += strcspn (at, ",");
        at += *at == ',';
    }
    autofree char *host = strndup (at, strcspn (at, ","));
    PMIX_INFO_CREATE (info, 2);
    if (!host || !info)
        return error_no_memory (err, NULL);
    PMIX_INFO_LOAD (&info[0], PMIX_HOSTNAME, host, PMIX_STRING);
    PMIX_INFO_LOAD (&info[1], PMIX_SERVER_TMPDIR, s->base, PMIX_STRING);
    pmix_status_t status = PMIx_server_init (&module, info, 2);
    PMIX_INFO_FREE (info, 2);
    s->started = status == PMIX_SUCCESS;
    return s->started ? 0
                      : error_set (err, EIO, "PMIx: the server does not start: %s",
                                   PMIx_Error_string (status));
}

static int send_environment (struct pmix_server *s, const struct nspace *ns,
                             uint32_t task, struct error *err)
{
    char **env = nspace_environment (ns, task, err);

    for (size_t i = 0; env && env[i]; i++) {
        pmix_link_send (s->link,
                        &(struct frame){ .type = PMIX_ENV,
                                         .task = s->places->local_of[task],
                                         .data = env[i],
                                         .len = (uint32_t)MIN (strlen (env[i]),
                                                               (size_t)PMIX_ENV_MAX) });
        free (env[i]);
    }
    free (env);
    return env ? 0 : -EIO;
}

int pmix_server_start (struct pmix_server *s, struct error *err)
{
    struct nspace ns = { .setup = s->setup, .places = s->places, .base = s->base };
    int rc = make_base (s, err);

    if (rc == 0)
        rc = init_library (s, err);
    if (rc == 0)
        rc = nspace_register (&ns, err);
    for (uint32_t task = 0; task < s->setup->ntasks && rc == 0; task++)
        if (s->places->node_of[task] == s->setup->node)
            rc = send_environment (s, &ns, task, err);
    return rc;
}
