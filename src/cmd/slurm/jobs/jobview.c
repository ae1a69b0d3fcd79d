/* jobview.c - see jobview.h */
#include "cmd/slurm/jobs/jobview.h"

#include "cmd/slurm/words/words.h"

#include <grp.h>
#include <sys/wait.h>

#include "cmd/print/print.h"
#include "common/clock.h"
#include "common/idset.h"
#include "jobspec/jobspec.h"
#include "protocol/pattern.h"

static bool is_pending (const json_t *job)
{
    return !strcmp (json_text (job, "state"), "PENDING")
           || !strcmp (json_text (job, "state"), "REQUEUED");
}

static const json_t *request_of (const json_t *job)
{
    return json_object_get (job, "request");
}

/* -- arrays -- */

static double count_of (const json_t *job, const char *set)
{
    return answer_number (json_object_get (json_object_get (job, "array"), set), "count");
}

static const char *tasks_of (const json_t *job, const char *set)
{
    return json_text (json_object_get (json_object_get (job, "array"), set), "tasks");
}

bool jobview_is_spent (const json_t *job)
{
    return json_object_get (job, "array") && count_of (job, "waiting") == 0
           && count_of (job, "cancelled") == 0;
}

void jobview_add_tasks (struct strbuf *sb, const json_t *job)
{
    const json_t *array = json_object_get (job, "array");
    const char *waiting = tasks_of (job, "waiting");

    if (!array && json_is_number (json_object_get (job, "array_task")))
        strbuf_addf (sb, "%.0f", answer_number (job, "array_task"));
    if (!array)
        return;
    record_add_text (sb, *waiting ? waiting : tasks_of (job, "cancelled"));
    if (answer_number (array, "limit") > 0)
        strbuf_addf (sb, "%%%.0f", answer_number (array, "limit"));
}

static void add_array_job (struct strbuf *sb, const json_t *job)
{
    if (answer_number (job, "array_job") > 0)
        strbuf_addf (sb, "%.0f", answer_number (job, "array_job"));
}

static void add_throttle (struct strbuf *sb, const json_t *job)
{
    double limit = answer_number (json_object_get (job, "array"), "limit");

    if (limit > 0)
        strbuf_addf (sb, "%.0f", limit);
}

/* -- who -- */

static void add_user (struct strbuf *sb, const json_t *job)
{
    record_add_text (sb, json_text (job, "user"));
    strbuf_addf (sb, "(%.0f)", answer_number (job, "userid"));
}

static void add_group (struct strbuf *sb, const json_t *job)
{
    double gid = answer_number (job, "groupid");
    const struct group *g = getgrgid ((gid_t)gid);

    record_add_text (sb, g ? g->gr_name : "nobody");
    strbuf_addf (sb, "(%.0f)", gid);
}

/* -- state -- */

/* Slurm's words for the reason of a job that has ended. */
static const struct {
    const char *state, *reason;
} end_reasons[] = {
    { "FAILED", "NonZeroExitCode" }, { "TIMEOUT", "TimeLimit" },
    { "NODE_FAIL", "NodeDown" },     { "OUT_OF_MEMORY", "OutOfMemory" },
    { "DEADLINE", "DeadLine" },
};

const char *jobview_reason (const json_t *job)
{
    const char *reason = json_text (job, "reason"), *state = json_text (job, "state");

    for (size_t i = 0; i < ARRAY_SIZE (end_reasons); i++)
        if (!strcmp (end_reasons[i].state, state))
            return end_reasons[i].reason;
    return *reason ? slurm_reason (reason) : "None";
}

static void add_reason (struct strbuf *sb, const json_t *job)
{
    record_add_text (sb, jobview_reason (job));
}

void jobview_exit (const json_t *job, int *ret_code, int *ret_signal)
{
    bool array = json_object_get (job, "array") != NULL; /* none of its tasks has run */
    int status = array ? 0 : (int)answer_number (job, "wait_status");

    *ret_code = WIFEXITED (status) ? WEXITSTATUS (status) : 0;
    *ret_signal = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
}

static void add_exit (struct strbuf *sb, const json_t *job)
{
    int code, signum;

    jobview_exit (job, &code, &signum);
    strbuf_addf (sb, "%d:%d", code, signum);
}

/* -- times -- */

static void add_limit (struct strbuf *sb, const json_t *job)
{
    double limit = answer_number (job, "time_limit");

    if (limit > 0)
        record_add_duration (sb, limit);
    else
        strbuf_adds (sb, "UNLIMITED");
}

double jobview_start (const json_t *job)
{
    if (!is_pending (job))
        return answer_number (job, "start_time");
    return answer_number (job, "expected_start");
}

double jobview_end (const json_t *job)
{
    double end = answer_number (job, "end_time"), start = jobview_start (job);
    double limit = answer_number (job, "time_limit");

    if (end > 0 && !is_pending (job))
        return end;
    return start > 0 && limit > 0 ? start + limit : 0;
}

static void add_start (struct strbuf *sb, const json_t *job)
{
    record_add_time (sb, jobview_start (job));
}

static void add_end (struct strbuf *sb, const json_t *job)
{
    record_add_time (sb, jobview_end (job));
}

/* A job that is held or depends on others has no such time yet. */
static double eligible_time (const json_t *job)
{
    double begin = answer_number (job, "begin_time");
    double eligible = answer_number (job, "eligible_time");

    if (!is_pending (job))
        return eligible;
    if (answer_number (job, "urgency") == 0
        || !strcmp (json_text (job, "reason"), "Dependency"))
        return 0;
    return MAX (begin, eligible);
}

static void add_eligible (struct strbuf *sb, const json_t *job)
{
    record_add_time (sb, eligible_time (job));
}

/* From this time on the age of a job counts. */
static void add_accrue (struct strbuf *sb, const json_t *job)
{
    double t = eligible_time (job);

    record_add_time (sb, t > clock_wall () ? 0 : t);
}

/* -- places -- */

/* The hosts in an RFC 31 constraint of fluxq-submit's form, below "and" at most. */
static const char *find_hosts (const json_t *constraint, bool excluded)
{
    const json_t *list = json_object_get (constraint, excluded ? "not" : "hostlist");
    const json_t *all = json_object_get (constraint, "and"), *part;
    const char *found;
    size_t i;

    if (list && excluded)
        return find_hosts (json_array_get (list, 0), false);
    if (json_array_size (list) == 1)
        return json_string_value (json_array_get (list, 0));
    json_array_foreach (all, i, part) {
        if ((found = find_hosts (part, excluded)))
            return found;
    }
    return NULL;
}

const char *jobview_hosts (const json_t *job, bool excluded)
{
    const char *hosts =
        find_hosts (json_object_get (request_of (job), "constraints"), excluded);

    return hosts ? hosts : "";
}

static void add_hosts (struct strbuf *sb, const json_t *job, bool excluded)
{
    const char *hosts = jobview_hosts (job, excluded);

    record_add_text (sb, *hosts ? hosts : "(null)");
}

static void add_required (struct strbuf *sb, const json_t *job)
{
    add_hosts (sb, job, false);
}

static void add_excluded (struct strbuf *sb, const json_t *job)
{
    add_hosts (sb, job, true);
}

/* The first node, where the batch script runs. */
static void add_batch_host (struct strbuf *sb, const json_t *job)
{
    const json_t *first = json_array_get (json_object_get (job, "ranks"), 0);

    if (!is_pending (job))
        record_add_text (sb, json_text (first, "node"));
}

/* The requested range for a waiting job. */
static void add_nodes (struct strbuf *sb, const json_t *job)
{
    double max = answer_number (request_of (job), "nodes_max");
    double min = MAX (answer_number (request_of (job), "nodes_min"), 1);

    bool asked = *json_text (request_of (job), "slots_per_node");

    if (is_pending (job) && asked && max > 0 && max < 1e9)
        strbuf_addf (sb, "%.0f-%.0f", min, max);
    else
        strbuf_addf (sb, "%.0f", MAX (answer_number (job, "nodes"), 1));
}

static void add_cpus_a_task (struct strbuf *sb, const json_t *job)
{
    double cores = answer_number (request_of (job), "cores_per_slot");

    if (cores > 0)
        strbuf_addf (sb, "%.0f", cores);
    else
        strbuf_adds (sb, "N/A");
}

static void add_cpus_a_node (struct strbuf *sb, const json_t *job)
{
    double tasks = strtod (json_text (request_of (job), "slots_per_node"), NULL);
    double cores = answer_number (request_of (job), "cores_per_slot");

    strbuf_addf (sb, "%.0f", MAX (tasks, 1) * MAX (cores, 1));
}

static void add_memory_a_node (struct strbuf *sb, const json_t *job)
{
    record_add_memory (sb, answer_number (request_of (job), "memory_per_node_mib"));
}

static void add_disk_a_node (struct strbuf *sb, const json_t *job)
{
    record_add_memory (sb, answer_number (request_of (job), "tmp_disk_per_node_mib"));
}

/* The properties of an RFC 31 constraint, "a&b", "a|b"; hosts are in other fields. */
static void add_properties (struct strbuf *sb, const json_t *constraint)
{
    static const struct {
        const char *key, *joint;
    } keys[] = { { "properties", "&" }, { "and", "&" }, { "or", "|" } };
    const json_t *part;
    size_t i, before;

    for (size_t k = 0; k < ARRAY_SIZE (keys); k++)
        json_array_foreach (json_object_get (constraint, keys[k].key), i, part) {
            struct strbuf text = STRBUF_INIT (64 * 1024);
            before = sb->len;
            if (json_is_string (part))
                strbuf_adds (&text, json_string_value (part));
            else
                add_properties (&text, part);
            if (text.len > 0)
                strbuf_addf (sb, "%s%s", before ? keys[k].joint : "", text.buf);
            strbuf_release (&text);
        }
}

static void add_features (struct strbuf *sb, const json_t *job)
{
    autostrbuf struct strbuf text = STRBUF_INIT (64 * 1024);

    add_properties (&text, json_object_get (request_of (job), "constraints"));
    record_add_text (sb, text.len ? text.buf : "(null)");
}

/* -- resources -- */

void jobview_add_tres (struct strbuf *sb, const json_t *job, bool granted)
{
    const json_t *request = request_of (job), *rank;
    const json_t *ranks = json_object_get (job, "ranks");
    struct tres t = { .cpus = answer_number (job, "ncores"),
                      .nodes = answer_number (job, "nodes"),
                      .licenses = json_text (job, "licenses") };
    size_t i;

    if (!granted) {
        t.cpus = MAX (answer_number (request, "cores"), is_pending (job) ? t.cpus : 0);
        t.nodes = MAX (answer_number (request, "nodes_min"), 1);
        t.gpus = answer_number (request, "gpus");
        t.memory_mib = answer_number (request, "memory_per_node_mib") * t.nodes;
    }
    json_array_foreach (granted ? ranks : NULL, i, rank) {
        struct idset *gpus = idset_decode (json_text (rank, "gpus"), IDSET_MAX, NULL);
        t.memory_mib += answer_number (rank, "memory_mib");
        t.gpus += gpus ? idset_count (gpus) : 0;
        idset_destroy (gpus);
    }
    record_add_tres (sb, &t);
}

static void add_asked (struct strbuf *sb, const json_t *job)
{
    jobview_add_tres (sb, job, false);
}

static void add_granted (struct strbuf *sb, const json_t *job)
{
    if (json_array_size (json_object_get (job, "ranks")) > 0)
        jobview_add_tres (sb, job, true);
    else
        strbuf_adds (sb, "(null)");
}

static void add_licenses_held (struct strbuf *sb, const json_t *job)
{
    bool holds = json_array_size (json_object_get (job, "ranks")) > 0
                 && *json_text (job, "licenses");

    record_add_text (sb, holds ? json_text (job, "licenses") : "(null)");
}

static void add_expedited (struct strbuf *sb, const json_t *job)
{
    strbuf_adds (sb, answer_number (job, "expedited_requeue") > 0 ? "Yes" : "");
}

/* Only of a job with mail. */
static void add_mail_user (struct strbuf *sb, const json_t *job)
{
    const char *to = json_text (job, "mail_user");

    if (*json_text (job, "mail_type"))
        record_add_text (sb, *to ? to : json_text (job, "user"));
}

/* Tasks a node, board, socket and core. */
static void add_tasks_a_node (struct strbuf *sb, const json_t *job)
{
    const char *slots = json_text (request_of (job), "slots_per_node");

    strbuf_addf (sb, "%s:0:*:*", *slots ? slots : "0");
}

static void add_oversubscribe (struct strbuf *sb, const json_t *job)
{
    bool whole = json_is_true (json_object_get (request_of (job), "exclusive"));

    strbuf_adds (sb, whole ? "NO" : "OK");
}

/* -- files -- */

void jobview_add_file (struct strbuf *sb, const json_t *job, const char *which)
{
    const char *pattern = json_text (job, which);

    if (!*pattern && !strcmp (which, "error"))
        pattern = json_text (job, "output");
    if (!*pattern) {
        strbuf_adds (sb, "/dev/null");
        return;
    }
    const struct pattern_vars vars = {
        .job_id = (uint64_t)answer_number (job, "id"),
        .array_job = (uint64_t)answer_number (job, "array_job"),
        .array_task = (uint32_t)answer_number (job, "array_task"),
        .job_name = json_text (job, "name"),
        .user = json_text (job, "user"),
        .node = json_text (json_array_get (json_object_get (job, "ranks"), 0), "node"),
    };
    autostrbuf struct strbuf name = STRBUF_INIT (64 * 1024);
    const char *directory = *pattern == '/' ? "" : json_text (job, "cwd");

    strbuf_addf (&name, "%s%s", directory, *directory ? "/" : "");
    if ((json_object_get (job, "array") && pattern_is_per_job (pattern))
        || pattern_expand (pattern, &vars, &name, NULL) < 0)
        strbuf_adds (&name, pattern);
    record_add_text (sb, name.buf);
}

static void add_batch_file (struct strbuf *sb, const json_t *job, const char *which)
{
    if (json_is_true (json_object_get (job, "batch")))
        jobview_add_file (sb, job, which);
}

static void add_error (struct strbuf *sb, const json_t *job)
{
    add_batch_file (sb, job, "error");
}

static void add_input (struct strbuf *sb, const json_t *job)
{
    add_batch_file (sb, job, "input");
}

static void add_output (struct strbuf *sb, const json_t *job)
{
    add_batch_file (sb, job, "output");
}

/* -- the rows, in Slurm's order -- */

static const struct row rows[] = {
    { .key = "JobId", .from = "id", .kind = ROW_NUMBER },
    { .key = "ArrayJobId", .add = add_array_job, .optional = true },
    { .key = "ArrayTaskId", .add = jobview_add_tasks, .optional = true },
    { .key = "ArrayTaskThrottle", .add = add_throttle, .optional = true },
    { .key = "HetJobId", .add = jobview_add_het_job, .optional = true },
    { .key = "HetJobOffset", .add = jobview_add_component, .optional = true },
    { .key = "JobName", .from = "name", .ends = true },
    { .key = "HetJobIdSet", .add = jobview_add_het_job, .optional = true, .ends = true },
    { .key = "UserId", .add = add_user },
    { .key = "GroupId", .add = add_group },
    { .key = "MCS_label", .from = "mcs_label", .none = "N/A", .ends = true },
    { .key = "Priority", .from = "priority", .kind = ROW_NUMBER },
    { .key = "Nice", .from = "nice", .kind = ROW_NUMBER },
    { .key = "Account", .from = "account" },
    { .key = "QOS", .from = "qos", .ends = true },
    { .key = "JobState", .from = "state" },
    { .key = "Reason", .add = add_reason },
    { .key = "Dependency", .from = "dependency", .ends = true },
    { .key = "Requeue", .from = "requeue", .kind = ROW_FLAG },
    { .key = "Restarts", .from = "restarts", .kind = ROW_NUMBER },
    { .key = "BatchFlag", .from = "batch", .kind = ROW_FLAG },
    { .key = "Reboot", .fixed = "0" },
    { .key = "ExitCode", .add = add_exit, .ends = true },
    { .key = "DerivedExitCode", .add = add_exit, .detail = true, .ends = true },
    { .key = "RunTime", .from = "time", .kind = ROW_DURATION },
    { .key = "TimeLimit", .add = add_limit },
    { .key = "TimeMin",
      .from = "time_min",
      .kind = ROW_DURATION,
      .none = "N/A",
      .ends = true },
    { .key = "SubmitTime", .from = "submit_time", .kind = ROW_TIME },
    { .key = "EligibleTime", .add = add_eligible, .ends = true },
    { .key = "AccrueTime", .add = add_accrue, .ends = true },
    { .key = "StartTime", .add = add_start },
    { .key = "EndTime", .add = add_end },
    { .key = "Deadline",
      .from = "deadline",
      .kind = ROW_TIME,
      .none = "N/A",
      .ends = true },
    { .key = "SuspendTime", .fixed = "None" },
    { .key = "SecsPreSuspend", .fixed = "0" },
    { .key = "LastSchedEval", .fixed = "Unknown" },
    { .key = "Scheduler", .fixed = "Main", .ends = true },
    { .key = "Partition", .from = "queue" },
    { .key = "AllocNode:Sid", .fixed = "(null):0", .ends = true },
    { .key = "ReqNodeList", .add = add_required },
    { .key = "ExcNodeList", .add = add_excluded, .ends = true },
    { .key = "NodeList", .from = "nodelist", .none = "", .ends = true },
    { .key = "BatchHost", .add = add_batch_host, .optional = true, .ends = true },
    { .key = "NumNodes", .add = add_nodes },
    { .key = "NumCPUs", .from = "ncores", .kind = ROW_NUMBER },
    { .key = "NumTasks", .from = "ntasks", .kind = ROW_NUMBER },
    { .key = "CPUs/Task", .add = add_cpus_a_task },
    { .key = "ReqB:S:C:T", .fixed = "0:0:*:*", .ends = true },
    { .key = "ReqTRES", .add = add_asked, .ends = true },
    { .key = "AllocTRES", .add = add_granted, .ends = true },
    { .key = "Socks/Node", .fixed = "*" },
    { .key = "NtasksPerN:B:S:C", .add = add_tasks_a_node },
    { .key = "CoreSpec", .fixed = "*", .ends = true },
    { .key = "JOB_GRES",
      .add = jobview_add_job_gres,
      .detail = true,
      .optional = true,
      .ends = true },
    { .key = "",
      .add = jobview_add_details,
      .detail = true,
      .optional = true,
      .ends = true },
    { .key = "MinCPUsNode", .add = add_cpus_a_node },
    { .key = "MinMemoryNode", .add = add_memory_a_node },
    { .key = "MinTmpDiskNode", .add = add_disk_a_node, .ends = true },
    { .key = "Features", .add = add_features },
    { .key = "DelayBoot", .fixed = "00:00:00", .ends = true },
    { .key = "Reservation", .from = "reservation", .optional = true, .ends = true },
    { .key = "OverSubscribe", .add = add_oversubscribe },
    { .key = "Contiguous", .fixed = "0" },
    { .key = "Licenses", .from = "licenses", .none = "(null)" },
    { .key = "LicensesAlloc", .add = add_licenses_held },
    { .key = "Network", .fixed = "(null)", .ends = true },
    { .key = "Command", .from = "program", .ends = true },
    { .key = "SubmitLine", .fixed = "(null)", .ends = true },
    { .key = "WorkDir", .from = "cwd", .ends = true },
    { .key = "AdminComment", .from = "admin_comment", .optional = true, .ends = true },
    { .key = "Comment", .from = "comment", .optional = true, .ends = true },
    { .key = "StdErr", .add = add_error, .optional = true, .ends = true },
    { .key = "StdIn", .add = add_input, .optional = true, .ends = true },
    { .key = "StdOut", .add = add_output, .optional = true, .ends = true },
    { .key = "ExpeditedRequeue", .add = add_expedited, .optional = true, .ends = true },
    { .key = "MailUser", .add = add_mail_user, .optional = true },
    { .key = "MailType", .from = "mail_type", .optional = true, .ends = true },
    { 0 },
};

void jobview_add (struct strbuf *sb, const json_t *job, int flags)
{
    record_add (sb, rows, job, flags);
}
