/* job_fields.c - see job_fields.h */
#include "cmd/slurm/jobs/job_fields.h"

#include <grp.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "cmd/slurm/words/words.h"
#include "common/hostlist.h"
#include "protocol/pattern.h"

#define HOSTS_MAX 1000000
#define TASKS_SHOWN_MAX 64 /* bytes of a list of tasks, as in Slurm */
#define PATH_TEXT_MAX 8192
#define BLOCKERS_MAX 4 /* ids in a list of blocking jobs, see doc/openapi.yaml */

/* -- functions of fields -- */

/* The value, or other text if there is none. */
#define TEXT(name, v, none)                                                              \
    static void add_##name (const void *row, struct strbuf *sb)                          \
    {                                                                                    \
        strbuf_adds (sb, job_has (row, (v)) ? job_value (row, (v)) : (none));            \
    }
#define TIME(name, expr)                                                                 \
    static void add_##name (const void *p, struct strbuf *sb)                            \
    {                                                                                    \
        const struct job_row *row = p;                                                   \
        slurm_add_time (sb, (expr));                                                     \
    }
#define SECONDS(name, expr)                                                              \
    static void add_##name (const void *p, struct strbuf *sb)                            \
    {                                                                                    \
        const struct job_row *row = p;                                                   \
        slurm_add_seconds (sb, (expr));                                                  \
    }
/* The text that Slurm shows for a job without the value. */
#define CONSTANT(name, text)                                                             \
    static void add_##name (const void *row, struct strbuf *sb)                          \
    {                                                                                    \
        (void)row;                                                                       \
        strbuf_adds (sb, (text));                                                        \
    }

CONSTANT (null, "(null)")
CONSTANT (not_available, "N/A")
CONSTANT (na, "NA")
CONSTANT (zero, "0")
CONSTANT (no, "No")
CONSTANT (no_time, "0:00")
CONSTANT (any, "*")
CONSTANT (any_sct, "*:*:*")
CONSTANT (not_set, "NotSet")
CONSTANT (no_exit, "0:0")

TEXT (account, JOB_ACCOUNT, "(null)")
TEXT (admin_comment, JOB_ADMIN_COMMENT, "(null)")
TEXT (comment, JOB_COMMENT, "(null)")
TEXT (mcs_label, JOB_MCS_LABEL, "(null)")
TEXT (program, JOB_PROGRAM, "(null)")
TEXT (cwd, JOB_CWD, "(null)")
TEXT (features, JOB_FEATURES, "(null)")
TEXT (name, JOB_NAME, "(null)")
TEXT (queue, JOB_QUEUE, "(null)")
TEXT (qos, JOB_QOS, "(null)")
TEXT (wckey, JOB_WCKEY, "(null)")
TEXT (licenses, JOB_LICENSES, "(null)")
TEXT (reservation, JOB_RESERVATION, "(null)")
TEXT (required_nodes, JOB_REQUIRED_NODES, "")
TEXT (excluded_nodes, JOB_EXCLUDED_NODES, "")
TEXT (nodelist, JOB_NODELIST, "")
TEXT (groupid, JOB_GROUPID, "0")
TEXT (userid, JOB_USERID, "0")
TEXT (user, JOB_USER, "nobody")
TEXT (nice, JOB_NICE, "0")
TEXT (ncores, JOB_NCORES, "0")
TEXT (nodes, JOB_NODES, "0")
TEXT (ntasks, JOB_NTASKS, "0")
TEXT (cpus_per_task, JOB_CPUS_PER_TASK, "1")
TEXT (priority_long, JOB_PRIORITY, "0")
TEXT (may_requeue, JOB_MAY_REQUEUE, "0")
TEXT (restarts, JOB_RESTARTS, "0")
TEXT (switches, JOB_SWITCHES, "0")
TEXT (batch_script, JOB_BATCH_SCRIPT, "0")
TEXT (state, JOB_STATE, "")
TEXT (st, JOB_ST, "")

TIME (submit_time, job_number (row, JOB_SUBMIT_TIME))
TIME (start_time, job_start_time (row))
TIME (deadline, job_number (row, JOB_DEADLINE))
SECONDS (time, floor (job_number (row, JOB_TIME)))
SECONDS (time_min, job_number (row, JOB_TIME_MIN))
SECONDS (switches_wait, job_number (row, JOB_SWITCHES_WAIT))

/* When the job's age begins to count; of a held job it does not. */
static void add_eligible_time (const void *p, struct strbuf *sb)
{
    const struct job_row *row = p;
    double begin = job_number (row, JOB_BEGIN_TIME);
    bool later = job_waits (row) && begin > row->now;
    bool depends = job_waits (row) && !strncmp (row->values[JOB_REASON], "Depend", 6);

    if (job_waits (row) && (job_is_held (row) || depends))
        slurm_add_time (sb, 0);
    else
        slurm_add_time (sb, later ? begin : job_number (row, JOB_ELIGIBLE_TIME));
}

static void add_end_time (const void *p, struct strbuf *sb)
{
    const struct job_row *row = p;

    if (!job_has_ended (row) && !job_has (row, JOB_TIME_LIMIT)
        && job_start_time (row) > 0)
        strbuf_adds (sb, "NONE");
    else
        slurm_add_time (sb, job_end_time (row));
}

static void add_time_limit (const void *row, struct strbuf *sb)
{
    if (job_has (row, JOB_TIME_LIMIT))
        slurm_add_seconds (sb, job_number (row, JOB_TIME_LIMIT));
    else
        strbuf_adds (sb, "UNLIMITED");
}

static void add_time_left (const void *row, struct strbuf *sb)
{
    if (job_has (row, JOB_TIME_LIMIT))
        slurm_add_seconds (sb, job_number (row, JOB_TIME_LIMIT)
                                   - floor (job_number (row, JOB_TIME)));
    else
        strbuf_adds (sb, "UNLIMITED");
}

/* Seconds from the submit to the start, or until now. */
static void add_pending_time (const void *p, struct strbuf *sb)
{
    const struct job_row *row = p;
    double start = job_start_time (row);
    double end = start > 0 && start < row->now ? start : row->now;

    strbuf_addf (sb, "%.0f",
                 MAX (floor (end) - floor (job_number (row, JOB_SUBMIT_TIME)), 0));
}

/* -- ids and arrays -- */

static bool is_array (const void *row)
{
    return job_has (row, JOB_ARRAY_JOB) && !job_has (row, JOB_ARRAY_TASK);
}

/* Appends the waiting tasks, cut after a few: "0-3%2", "1,3,5,...". */
static void add_tasks (const struct job_row *row, struct strbuf *sb)
{
    const char *tasks = row->tasks ? row->tasks : row->values[JOB_ARRAY_TASKS];
    const char *limit = strchr (tasks, '%');
    size_t len = limit ? (size_t)(limit - tasks) : strlen (tasks);
    const char *longest = getenv ("SLURM_BITSTR_LEN");
    size_t max = longest ? strtoul (longest, NULL, 10) : TASKS_SHOWN_MAX;

    if (max > 0 && len >= max) {
        for (len = max > 4 ? max - 4 : 0; len > 0 && tasks[len] != ',';)
            len--;
        strbuf_add (sb, tasks, len);
        strbuf_adds (sb, len ? ",..." : "...");
    } else {
        strbuf_add (sb, tasks, len);
    }
    strbuf_adds (sb, limit && !row->tasks ? limit : "");
}

/* Whether the row is one task of an array that has not become a job. */
static bool is_one_task (const struct job_row *row)
{
    return row->tasks && row->tasks[strspn (row->tasks, "0123456789")] == '\0';
}

static void add_job (const void *p, struct strbuf *sb)
{
    const struct job_row *row = p;

    if (!job_has (row, JOB_ARRAY_TASKS) && !row->tasks) {
        bool ended =
            strchr (job_value (row, JOB_JOB), '['); /* an array before its tasks */
        strbuf_adds (sb, job_value (row, ended ? JOB_ID : JOB_JOB));
        return;
    }
    strbuf_adds (sb, job_value (row, JOB_ID));
    strbuf_adds (sb, is_one_task (row) ? "_" : "_[");
    add_tasks (row, sb);
    strbuf_adds (sb, is_one_task (row) ? "" : "]");
}

static void add_id (const void *p, struct strbuf *sb)
{
    const struct job_row *row = p;

    strbuf_adds (sb, row->number ? row->number : row->values[JOB_ID]);
}

/* All components of a heterogeneous job have the id of the job. */
static void add_het_job (const void *row, struct strbuf *sb)
{
    strbuf_adds (sb, job_has (row, JOB_COMPONENTS) ? job_value (row, JOB_ID) : "N/A");
}

TEXT (het_offset, JOB_COMPONENTS, "N/A")

static void add_array_job (const void *row, struct strbuf *sb)
{
    strbuf_adds (sb,
                 job_value (row, job_has (row, JOB_ARRAY_JOB) ? JOB_ARRAY_JOB : JOB_ID));
}

static void add_array_task (const void *row, struct strbuf *sb)
{
    if (is_array (row)
        && (job_has (row, JOB_ARRAY_TASKS) || ((const struct job_row *)row)->tasks))
        add_tasks (row, sb);
    else
        strbuf_adds (sb, job_has (row, JOB_ARRAY_TASK) ? job_value (row, JOB_ARRAY_TASK)
                                                       : "N/A");
}

/* -- nodes, resources -- */

static void add_batch_host (const void *row, struct strbuf *sb)
{
    const char *nodes = job_value (row, JOB_NODELIST);
    struct hostlist *hl = *nodes ? hostlist_decode (nodes, HOSTS_MAX, NULL) : NULL;
    const char *first = hl ? hostlist_nth (hl, 0) : NULL;

    strbuf_adds (sb, first ? first : "n/a");
    hostlist_destroy (hl);
}

static void add_max_nodes (const void *row, struct strbuf *sb)
{
    const char *count = job_value (row, JOB_NODE_COUNT), *to = strchr (count, '-');
    size_t digits = to ? strspn (to + 1, "0123456789") : 0;

    if (digits > 0)
        strbuf_add (sb, to + 1, digits);
    else
        strbuf_adds (sb, job_value (row, JOB_NODES));
}

static void add_memory (const void *p, struct strbuf *sb)
{
    const struct job_row *row = p;

    slurm_add_mib (sb, job_number (row, JOB_MEMORY_PER_NODE), !row->noconvert);
}

static void add_tmp_disk (const void *p, struct strbuf *sb)
{
    const struct job_row *row = p;

    slurm_add_mib (sb, job_number (row, JOB_TMP_DISK_PER_NODE), !row->noconvert);
}

/* Appends "gres/gpu:2,gres/license:1". */
static void add_gres (const void *row, struct strbuf *sb)
{
    const char *list = job_value (row, JOB_GRES_PER_NODE);

    strbuf_adds (sb, *list ? "" : "N/A");
    for (size_t len; *list; list += len + (list[len] == ',')) {
        len = strcspn (list, ",");
        strbuf_adds (sb, list > job_value (row, JOB_GRES_PER_NODE) ? ",gres/" : "gres/");
        strbuf_add (sb, list, len);
    }
}

/* The GPUs on each node in the list, 0: none. */
static double gpus_per_node (const struct job_row *row)
{
    const char *list = row->values[JOB_GRES_PER_NODE];

    for (; *list; list += strcspn (list, ","), list += *list == ',')
        if (!strncmp (list, "gpu:", 4))
            return strtod (list + 4, NULL);
    return 0;
}

/* GPUs of the whole job, if it has not asked for them by node. */
static void add_gres_per_job (const void *row, struct strbuf *sb)
{
    if (job_has (row, JOB_GPUS) && gpus_per_node (row) <= 0)
        strbuf_addf (sb, "gres/gpu:%s", job_value (row, JOB_GPUS));
    else
        strbuf_adds (sb, "N/A");
}

/* "cpu=2,mem=200M,node=2,gres/gpu=2" */
static void add_tres (const void *p, struct strbuf *sb)
{
    const struct job_row *row = p;
    double nodes = job_number (row, JOB_NODES), gpus = gpus_per_node (row) * nodes;
    double memory = job_number (row, JOB_MEMORY_PER_NODE) * nodes;

    strbuf_addf (sb, "cpu=%s", row->values[JOB_NCORES]);
    if (memory > 0) {
        strbuf_adds (sb, ",mem=");
        slurm_add_mib (sb, memory, !row->noconvert);
    }
    strbuf_addf (sb, ",node=%.0f", nodes);
    if (gpus <= 0)
        gpus = job_number (row, JOB_GPUS);
    if (gpus > 0)
        strbuf_addf (sb, ",gres/gpu=%.0f", gpus);
    slurm_add_licenses (sb, row->values[JOB_LICENSES]);
}

/* The licenses that the job holds. */
static void add_licenses_held (const void *p, struct strbuf *sb)
{
    const struct job_row *row = p;
    bool holds =
        job_is_state (row, "R") || job_is_state (row, "CF") || job_is_state (row, "CG");

    strbuf_adds (sb, holds && job_has (row, JOB_LICENSES) ? job_value (row, JOB_LICENSES)
                                                          : "(null)");
}

static void add_over_subscribe (const void *row, struct strbuf *sb)
{
    strbuf_adds (sb, job_has (row, JOB_EXCLUSIVE) ? "NO" : "OK");
}

/* -- other words -- */

static void add_reason (const void *row, struct strbuf *sb)
{
    strbuf_adds (sb, job_reason (row));
}

/* The nodes, or why the job waits or has failed. */
static void add_reason_list (const void *p, struct strbuf *sb)
{
    static const char *const with_reason[] = { "F", "TO", "OOM", "DL" };
    const struct job_row *row = p;
    bool reason = job_waits (row);

    for (size_t i = 0; !reason && i < ARRAY_SIZE (with_reason); i++)
        reason = job_is_state (row, with_reason[i]);
    if (!reason) {
        strbuf_adds (sb, job_value (row, JOB_NODELIST));
        return;
    }
    strbuf_addch (sb, '(');
    strbuf_adds (sb, job_reason (row));
    strbuf_addch (sb, ')');
}

static void add_priority (const void *row, struct strbuf *sb)
{
    strbuf_addf (sb, "%16.14f", job_number (row, JOB_PRIORITY) / UINT32_MAX);
}

static void add_exit_code (const void *row, struct strbuf *sb)
{
    int status = (int)job_number (row, JOB_WAIT_STATUS);

    strbuf_addf (sb, "%d:%d", WIFEXITED (status) ? WEXITSTATUS (status) : 0,
                 WIFSIGNALED (status) ? WTERMSIG (status) : 0);
}

static void add_group (const void *row, struct strbuf *sb)
{
    const char *id = job_value (row, JOB_GROUPID);
    const struct group *gr = *id ? getgrgid ((gid_t)strtoul (id, NULL, 10)) : NULL;

    strbuf_adds (sb, gr ? gr->gr_name : "nogroup");
}

/* Whether the list of ids has the id, or is cut. */
static bool is_blocked_by (const struct job_row *row, const char *id, size_t len)
{
    const char *list = row->values[JOB_BLOCKING_JOBS];
    size_t n = 1;

    for (const char *p = list; *p; p += strcspn (p, ","), p += *p == ',', n++)
        if (strcspn (p, ",") == len && !memcmp (p, id, len))
            return true;
    return n > BLOCKERS_MAX || len == 0;
}

/* Appends a dependency "KIND:ID" that is not met yet. */
static void add_condition (const struct job_row *row, const char *kind, size_t kind_len,
                           const char *id, size_t len, bool first, struct strbuf *sb)
{
    if (!is_blocked_by (row, id, strspn (id, "0123456789")))
        return;
    strbuf_adds (sb, first ? "" : ",");
    strbuf_add (sb, kind, kind_len);
    strbuf_adds (sb, len ? ":" : "");
    strbuf_add (sb, id, len);
    strbuf_adds (sb, "(unfulfilled)");
}

/* "afterok:21(unfulfilled),afterok:22(unfulfilled)": what the job still waits for. */
static void add_dependency (const void *p, struct strbuf *sb)
{
    const struct job_row *row = p;
    const char *text = row->values[JOB_DEPENDENCY];
    bool waits = !strcmp (row->values[JOB_FLUX_STATE], "DEPEND");
    size_t at = sb->len;

    while (waits && *text) {
        size_t part = strcspn (text, ",?"), kind = strcspn (text, ":,?");
        const char *id = text + kind, *end = text + part;
        do {
            id += id < end;
            size_t len = strcspn (id, ":,?");
            add_condition (row, text, kind, id, len, sb->len == at, sb);
            id += len;
        } while (id < end);
        text = end + (*end != '\0');
    }
    if (sb->len == at)
        strbuf_adds (sb, "(null)");
}

/* -- files -- */

static void expand (const struct job_row *row, struct strbuf *path)
{
    autostrbuf struct strbuf node = STRBUF_INIT (256), to = STRBUF_INIT (PATH_TEXT_MAX);
    struct error err = { 0 };

    add_batch_host (row, &node);
    const struct pattern_vars vars = {
        .job_id = (uint64_t)job_number (row, JOB_ID),
        .array_job = (uint64_t)job_number (row, JOB_ARRAY_JOB),
        .array_task = (uint32_t)job_number (row, JOB_ARRAY_TASK),
        .job_name = row->values[JOB_NAME],
        .user = row->values[JOB_USER],
        .node = node.buf,
    };
    if (pattern_expand (path->buf, &vars, &to, &err) < 0)
        return;
    strbuf_reset (path);
    strbuf_adds (path, to.buf);
}

static void add_file (const struct job_row *row, const char *name, struct strbuf *sb)
{
    autostrbuf struct strbuf path = STRBUF_INIT (PATH_TEXT_MAX);

    if (*name && *name != '/')
        strbuf_addf (&path, "%s/", row->values[JOB_CWD]);
    strbuf_adds (&path, name);
    if (row->expand_patterns && !is_array (row)) /* its tasks differ */
        expand (row, &path);
    strbuf_adds (sb, path.buf);
}

static void add_output (const void *p, struct strbuf *sb)
{
    add_file (p, job_value (p, JOB_OUTPUT), sb);
}

static void add_error (const void *p, struct strbuf *sb)
{
    add_file (p, job_value (p, job_has (p, JOB_ERROR) ? JOB_ERROR : JOB_OUTPUT), sb);
}

static void add_input (const void *p, struct strbuf *sb)
{
    add_file (p, job_has (p, JOB_INPUT) ? job_value (p, JOB_INPUT) : "/dev/null", sb);
}

/* -- the table -- */

#define BIT(v) (UINT64_C (1) << JOB_##v)
#define START                                                                            \
    (BIT (ST) | BIT (EXPECTED_START) | BIT (BEGIN_TIME) | BIT (START_TIME) | BIT (REASON))
#define REASON (BIT (ST) | BIT (REASON) | BIT (WAIT_STATUS))
#define TASKS (BIT (ID) | BIT (JOB) | BIT (ARRAY_TASKS))
#define FILE_NAME                                                                        \
    (BIT (CWD) | BIT (ID) | BIT (NAME) | BIT (USER) | BIT (ARRAY_JOB) | BIT (ARRAY_TASK) \
     | BIT (NODELIST))
#define TRES                                                                             \
    (BIT (NCORES) | BIT (NODES) | BIT (MEMORY_PER_NODE) | BIT (GPUS)                     \
     | BIT (GRES_PER_NODE) | BIT (LICENSES))

/* clang-format off */
const struct slurm_field slurm_job_fields[] = {
    { 'a', "Account", "ACCOUNT", BIT (ACCOUNT), add_account, 0 },
    { 0, "AccrueTime", "ACCRUE_TIME", BIT (ST) | BIT (REASON) | BIT (BEGIN_TIME) | BIT (ELIGIBLE_TIME), add_eligible_time, 0 },
    { 0, "admin_comment", "ADMIN_COMMENT", BIT (ADMIN_COMMENT), add_admin_comment, 0 },
    { 0, "AllocNodes", "ALLOC_NODES", 0, add_null, 0 },
    { 0, "AllocSID", "ALLOC_SID", 0, add_zero, 0 },
    { 'F', "ArrayJobId", "ARRAY_JOB_ID", BIT (ID) | BIT (ARRAY_JOB), add_array_job, 0 },
    { 'K', "ArrayTaskId", "ARRAY_TASK_ID", TASKS | BIT (ARRAY_JOB) | BIT (ARRAY_TASK), add_array_task, 0 },
    { 0, "AssocId", "ASSOC_ID", 0, add_zero, 0 },
    { 0, "BatchFlag", "BATCH_FLAG", BIT (BATCH_SCRIPT), add_batch_script, 0 },
    { 'B', "BatchHost", "EXEC_HOST", BIT (NODELIST), add_batch_host, 0 },
    { 0, "BoardsPerNode", "BOARDS_PER_NODE", 0, add_zero, 0 },
    { 0, "BurstBuffer", "BURST_BUFFER", 0, add_null, 0 },
    { 0, "BurstBufferState", "BURST_BUFFER_STATE", 0, add_null, 0 },
    { 0, "Cluster", "CLUSTER", 0, add_null, 0 },
    { 0, "ClusterFeature", "CLUSTER_FEATURES", 0, add_null, 0 },
    { 'o', "Command", "COMMAND", BIT (PROGRAM), add_program, 0 },
    { 'k', "Comment", "COMMENT", BIT (COMMENT), add_comment, 0 },
    { 0, "Container", "CONTAINER", 0, add_null, 0 },
    { 0, "ContainerId", "CONTAINERID", 0, add_null, 0 },
    { 'O', "Contiguous", "CONTIGUOUS", 0, add_zero, 0 },
    { 'I', "Cores", "CORES_PER_SOCKET", 0, add_any, 0 },
    { 'X', "CoreSpec", "CORE_SPEC", 0, add_not_available, 0 },
    { 0, "CPUsPerTask", "CPUS_PER_TASK", BIT (CPUS_PER_TASK), add_cpus_per_task, 0 },
    { 0, "cpus-per-task", "CPUS_PER_TASK", BIT (CPUS_PER_TASK), add_cpus_per_task, 0 },
    { 0, "cpus-per-tres", "CPUS_PER_TRES", 0, add_not_available, 0 },
    { 0, "CronJob", "CRON_JOB", 0, add_no, 0 },
    { 0, "Deadline", "DEADLINE", BIT (DEADLINE), add_deadline, 0 },
    { 0, "DelayBoot", "DELAY_BOOT", 0, add_no_time, 0 },
    { 'E', "Dependency", "DEPENDENCY", BIT (FLUX_STATE) | BIT (DEPENDENCY) | BIT (BLOCKING_JOBS), add_dependency, 0 },
    { 0, "DerivedEC", "DERIVED_EC", 0, add_no_exit, 0 },
    { 0, "EligibleTime", "ELIGIBLE_TIME", BIT (ST) | BIT (REASON) | BIT (BEGIN_TIME) | BIT (ELIGIBLE_TIME), add_eligible_time, 0 },
    { 'e', "EndTime", "END_TIME", START | BIT (END_TIME) | BIT (TIME_LIMIT), add_end_time, 0 },
    { 'x', "ExcNodes", "EXC_NODES", BIT (EXCLUDED_NODES), add_excluded_nodes, SLURM_FIELD_UNCUT },
    { 0, "exit_code", "EXIT_CODE", BIT (WAIT_STATUS), add_exit_code, 0 },
    { 'f', "Feature", "FEATURES", BIT (FEATURES), add_features, 0 },
    { 'b', "Gres", "TRES_PER_NODE", BIT (GRES_PER_NODE), add_gres, SLURM_FIELD_HIDDEN },
    { 'G', "GroupId", "GROUP", BIT (GROUPID), add_groupid, 0 },
    { 'g', "GroupName", "GROUP", BIT (GROUPID), add_group, 0 },
    { 0, "HetJobId", "HET_JOB_ID", BIT (ID), add_het_job, 0 },
    { 0, "HetJobIdSet", "HET_JOB_ID_SET", BIT (ID), add_het_job, 0 },
    { 0, "HetJobOffset", "HET_JOB_OFFSET", 0, add_het_offset, 0 },
    { 'i', "JobArrayId", "JOBID", TASKS, add_job, 0 },
    { 'A', "JobId", "JOBID", BIT (ID), add_id, 0 },
    { 0, "LastSchedEval", "LAST_SCHED_EVAL", 0, add_not_available, 0 },
    { 'W', "Licenses", "LICENSES", BIT (LICENSES), add_licenses, 0 },
    { 0, "LicensesAlloc", "LICENSES_ALLOC", BIT (LICENSES) | BIT (ST), add_licenses_held,
      0 },
    { 0, "MaxCPUs", "MAX_CPUS", BIT (NCORES), add_ncores, 0 },
    { 0, "MaxNodes", "MAX_NODES", BIT (NODE_COUNT) | BIT (NODES), add_max_nodes, 0 },
    { 0, "mem-per-tres", "MEM_PER_TRES", 0, add_not_available, 0 },
    { 0, "MCSLabel", "MCSLABEL", BIT (MCS_LABEL), add_mcs_label, 0 },
    { 'c', "MinCPUs", "MIN_CPUS", BIT (CPUS_PER_TASK), add_cpus_per_task, 0 },
    { 'm', "MinMemory", "MIN_MEMORY", BIT (MEMORY_PER_NODE), add_memory, 0 },
    { 0, "MinTime", "TIME_MIN", BIT (TIME_MIN), add_time_min, 0 },
    { 'd', "MinTmpDisk", "MIN_TMP_DISK", BIT (TMP_DISK_PER_NODE), add_tmp_disk, 0 },
    { 'j', "Name", "NAME", BIT (NAME), add_name, 0 },
    { 0, "Network", "NETWORK", 0, add_null, 0 },
    { 'y', "Nice", "NICE", BIT (NICE), add_nice, 0 },
    { 'N', "NodeList", "NODELIST", BIT (NODELIST), add_nodelist, SLURM_FIELD_UNCUT | SLURM_FIELD_UNCUT_HEADING },
    { 0, "NTPerCore", "NTASKS_PER_CORE", 0, add_not_available, 0 },
    { 0, "NTPerNode", "NTASKS_PER_NODE", 0, add_zero, 0 },
    { 0, "NTPerSocket", "NTASKS_PER_SOCKET", 0, add_not_available, 0 },
    { 0, "NTPerBoard", "NTASKS_PER_BOARD", 0, add_zero, 0 },
    { 'C', "NumCPUs", "CPUS", BIT (NCORES), add_ncores, 0 },
    { 'D', "NumNodes", "NODES", BIT (NODES), add_nodes, 0 },
    { 0, "NumTasks", "TASKS", BIT (NTASKS), add_ntasks, 0 },
    { 0, "Origin", "ORIGIN", 0, add_na, 0 },
    { 0, "OriginRaw", "ORIGIN_RAW", 0, add_na, 0 },
    { 'h', "OverSubscribe", "OVER_SUBSCRIBE", BIT (EXCLUSIVE), add_over_subscribe, 0 },
    { 0, "PackJobId", "HET_JOB_ID", BIT (ID), add_het_job, SLURM_FIELD_HIDDEN },
    { 0, "PackJobIdSet", "HET_JOB_ID_SET", BIT (ID), add_het_job, SLURM_FIELD_HIDDEN },
    { 0, "PackJobOffset", "HET_JOB_OFFSET", 0, add_het_offset, SLURM_FIELD_HIDDEN },
    { 'P', "Partition", "PARTITION", BIT (QUEUE), add_queue, 0 },
    { 0, "PendingTime", "PENDING_TIME", START | BIT (SUBMIT_TIME), add_pending_time, 0 },
    { 0, "PreemptTime", "PREEMPT_TIME", 0, add_not_available, 0 },
    { 0, "Prefer", "PREFER", 0, add_null, 0 },
    { 'p', "Priority", "PRIORITY", BIT (PRIORITY), add_priority, 0 },
    { 'Q', "PriorityLong", "PRIORITY", BIT (PRIORITY), add_priority_long, 0 },
    { 0, "Profile", "PROFILE", 0, add_not_set, 0 },
    { 'q', "QOS", "QOS", BIT (QOS), add_qos, 0 },
    { 'r', "Reason", "REASON", REASON, add_reason, 0 },
    { 'R', "ReasonList", "NODELIST(REASON)", REASON | BIT (NODELIST), add_reason_list, SLURM_FIELD_UNCUT | SLURM_FIELD_UNCUT_HEADING },
    { 0, "Reboot", "REBOOT", 0, add_zero, 0 },
    { 'n', "ReqNodes", "REQ_NODES", BIT (REQUIRED_NODES), add_required_nodes, SLURM_FIELD_UNCUT },
    { 0, "ReqSwitch", "REQ_SWITCH", BIT (SWITCHES), add_switches, 0 },
    { 0, "Requeue", "REQUEUE", BIT (MAY_REQUEUE), add_may_requeue, 0 },
    { 'v', "Reservation", "RESERVATION", BIT (RESERVATION), add_reservation, 0 },
    { 0, "ResizeTime", "RESIZE_TIME", 0, add_not_available, 0 },
    { 0, "RestartCnt", "RESTART_COUNT", BIT (RESTARTS), add_restarts, 0 },
    { 'Y', "SchedNodes", "SCHEDNODES", 0, add_null, SLURM_FIELD_UNCUT | SLURM_FIELD_UNCUT_HEADING },
    { 'z', "SCT", "S:C:T", 0, add_any_sct, 0 },
    { 0, "SegmentSize", "SEGMENT_SIZE", 0, add_not_available, 0 },
    { 0, "SiblingsActive", "ACTIVE_SIBLINGS", 0, add_na, 0 },
    { 0, "SiblingsActiveRaw", "ACTIVE_SIBLINGS_RAW", 0, add_na, 0 },
    { 0, "SiblingsViable", "VIABLE_SIBLINGS", 0, add_na, 0 },
    { 0, "SiblingsViableRaw", "VIALBLE_SIBLINGS_RAW", 0, add_na, 0 },
    { 0, "Shared", "OVER_SUBSCRIBE", BIT (EXCLUSIVE), add_over_subscribe, SLURM_FIELD_HIDDEN },
    { 's', "SLUID", "SLUID", 0, add_null, 0 },
    { 'H', "Sockets", "SOCKETS_PER_NODE", 0, add_any, 0 },
    { 0, "SPerBoard", "SOCKETS_PER_BOARD", 0, add_zero, 0 },
    { 'S', "StartTime", "START_TIME", START, add_start_time, 0 },
    { 'T', "State", "STATE", BIT (STATE), add_state, 0 },
    { 't', "StateCompact", "ST", BIT (ST), add_st, 0 },
    { 0, "StdErr", "STDERR", FILE_NAME | BIT (OUTPUT) | BIT (ERROR), add_error, 0 },
    { 0, "StdIn", "STDIN", FILE_NAME | BIT (INPUT), add_input, 0 },
    { 0, "StdOut", "STDOUT", FILE_NAME | BIT (OUTPUT), add_output, 0 },
    { 'V', "SubmitTime", "SUBMIT_TIME", BIT (SUBMIT_TIME), add_submit_time, 0 },
    { 0, "system_comment", "SYSTEM_COMMENT", 0, add_null, 0 },
    { 'J', "Threads", "THREADS_PER_CORE", 0, add_any, 0 },
    { 'L', "TimeLeft", "TIME_LEFT", BIT (TIME) | BIT (TIME_LIMIT), add_time_left, SLURM_FIELD_UNCUT },
    { 'l', "TimeLimit", "TIME_LIMIT", BIT (TIME_LIMIT), add_time_limit, SLURM_FIELD_UNCUT },
    { 'M', "TimeUsed", "TIME", BIT (TIME), add_time, SLURM_FIELD_UNCUT },
    { 0, "Tres", "TRES_ALLOC", TRES, add_tres, SLURM_FIELD_HIDDEN },
    { 0, "tres-alloc", "TRES_ALLOC", TRES, add_tres, 0 },
    { 0, "tres-bind", "TRES_BIND", 0, add_not_available, 0 },
    { 0, "tres-freq", "TRES_FREQ", 0, add_not_available, 0 },
    { 0, "tres-per-job", "TRES_PER_JOB", BIT (GPUS) | BIT (GRES_PER_NODE), add_gres_per_job, 0 },
    { 0, "tres-per-node", "TRES_PER_NODE", BIT (GRES_PER_NODE), add_gres, SLURM_FIELD_HIDDEN },
    { 0, "tres-per-socket", "TRES_PER_SOCKET", 0, add_not_available, 0 },
    { 0, "tres-per-task", "TRES_PER_TASK", 0, add_not_available, 0 },
    { 'U', "UserId", "UID", BIT (USERID), add_userid, 0 },
    { 'u', "UserName", "USER", BIT (USER), add_user, 0 },
    { 0, "Wait4Switch", "WAIT4SWITCH", BIT (SWITCHES_WAIT), add_switches_wait, 0 },
    { 'w', "WCKey", "WCKEY", BIT (WCKEY), add_wckey, 0 },
    { 'Z', "WorkDir", "WORK_DIR", BIT (CWD), add_cwd, 0 },
    { 0 },
};
/* clang-format on */
