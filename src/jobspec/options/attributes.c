/* attributes.c - see attributes.h */
#include "jobspec/options/attributes.h"

#include "common/printable.h"
#include "jobspec/attributes/licenses.h"
#include "jobspec/attributes/mail.h"
#include "jobspec/attributes/requires.h"
#include "jobspec/attributes/text.h"
#include "jobspec/options/environment.h"
#include "jobspec/options/set.h"
#include "protocol/pattern.h"

/* -- checks of texts -- */

int attribute_check_line (const char *text, size_t max, const char *where,
                          struct error *err)
{
    return text_is_line (text, max)
               ? printable_check (text, where, err)
               : error_set (err, EINVAL,
                            "%s: must be a text of 1 to %zu bytes without control "
                            "characters",
                            where, max);
}

static int check_path (const char *text, const char *where, struct error *err)
{
    if (!text_is_line (text, 4095))
        return error_set (
            err, EINVAL,
            "%s: must be a text of 1 to %d bytes without control characters", where,
            4095);
    if (pattern_check_home (text, err) == 0)
        return 0;
    error_prefix (err, "%s", where);
    return -EINVAL;
}

static int check_queue (const char *text, const char *where, struct error *err)
{
    if (strchr (text, ','))
        return error_set (err, EINVAL, "%s: '%.64s' is a list; name one queue", where,
                          text);
    if (!text_is_name (text))
        return error_set (err, EINVAL, "%s: '%.64s' cannot be the name of a queue", where,
                          text);
    return 0;
}

static int check_image (const char *text, const char *where, struct error *err)
{
    if (!text_is_line (text, 1024) || strpbrk (text, " \"'\\"))
        return error_set (err, EINVAL, "%s: '%.64s' cannot be the name of an image",
                          where, text);
    return 0;
}

static int check_array (const char *text, const char *where, struct error *err)
{
    struct array_spec a;
    int rc = array_spec_parse (&a, text, where, err);

    if (rc == 0)
        array_spec_release (&a);
    return rc;
}

static int check_hosts (const char *text, const char *where, struct error *err)
{
    autojson json_t *o = requires_hosts (text, where, NULL, err);

    return o ? attribute_check_line (text, 65535, where, err) : -err->code;
}

static int check_licenses (const char *text, const char *where, struct error *err)
{
    struct gres_list list;
    int rc = licenses_parse (text, &list, where, err);

    if (rc == 0)
        gres_release (&list);
    return rc < 0 ? rc : attribute_check_line (text, LICENSES_TEXT_MAX, where, err);
}

static int check_mail_type (const char *text, const char *where, struct error *err)
{
    unsigned types;

    return mail_types_parse (text, &types, where, err);
}

static int check_constraint (const char *text, const char *where, struct error *err)
{
    autojson json_t *o = requires_parse (text, where, err);

    return o ? attribute_check_line (text, REQUIRES_MAX, where, err) : -err->code;
}

/* -- the table, in the order of the help -- */

#define AT(member) .at = offsetof (struct submit_options, member)
#define TEXT(member) .type = ATTRIBUTE_TEXT, AT (member)
#define FLAG(member) .type = ATTRIBUTE_FLAG, AT (member)
#define SPAN(member) .type = ATTRIBUTE_SPAN, AT (member)
#define TIME(member) .type = ATTRIBUTE_TIME, AT (member)
#define NUMBER(member) .type = ATTRIBUTE_NUMBER, AT (member)
#define COUNT(member) NUMBER (member), .min = 1, .max = JOBSPEC_COUNT_MAX
#define OWN(kind) .set = option_set_##kind
#define OWN_AT(kind, member) OWN (kind), AT (member)

_Static_assert(offsetof (struct submit_options, js) == 0, "at also counts in a jobspec");

const struct attribute attribute_table[] = {
    { .name = "job-name", .letter = 'J', .arg = "NAME", .group = "Job",
      .help = "name of the job [name of the script or command]",
      TEXT (js.name), .max = 255, .path = "job.name", .in_job = true },
    { .name = "output", .letter = 'o', .arg = "FILE", .group = "Files and directory",
      .help = "standard output; %j id, %A_%a array and its task, %x name, %u user, %N "
              "node, %t task, %J %n %s [" SUBMIT_DEFAULT_OUTPUT "]",
      OWN_AT (pattern, output), .path = "shell.options.output.stdout" },
    { .name = "error", .letter = 'e', .arg = "FILE", .group = "Files and directory",
      .help = "standard error [the same as the output]",
      OWN_AT (pattern, error), .path = "shell.options.output.stderr" },
    { .name = "input", .letter = 'i', .arg = "FILE", .group = "Files and directory",
      .help = "standard input of every task [/dev/null]",
      OWN_AT (pattern, input), .path = "shell.options.input.stdin" },
    { .name = "stage-in", .arg = "FILE[:DEST]", .group = "Files and directory",
      .help = "before the tasks start, copy FILE to DEST on each node of the job [same "
              "name]; may be given several times",
      OWN_AT (stage, stage_in), .path = "shell.options.stage-in" },
    { .name = "stage-out", .arg = "FILE[:DEST]", .group = "Files and directory",
      .help = "when the tasks have ended, copy FILE of the job to DEST here [same name]; "
              "may be given several times",
      OWN_AT (stage, stage_out), .path = "shell.options.stage-out" },
    { .name = "open-mode", .arg = "append|truncate", .group = "Files and directory",
      .help = "append to existing output files, or truncate them [truncate]",
      OWN (open_mode), .path = "shell.options.output.mode" },
    { .name = "output-on-full", .arg = "wait|drop|end", .group = "Files and directory",
      .help = "what happens when the file system of the output is full: the tasks wait, "
              "output is dropped, or the job ends [wait]",
      OWN (on_full), .path = "shell.options.output.on-full" },
    { .name = "nodes", .letter = 'N', .arg = "N|SIZES", .group = "Resources",
      .help = "number of nodes, or acceptable numbers: 4-16, 4-16:4, 2-16:2:*, 1,2,4",
      OWN_AT (sizes, nodes), .resource = true },
    { .name = "ntasks", .letter = 'n', .arg = "N|SIZES", .group = "Resources",
      .help = "number of tasks, or acceptable numbers [1, or one per node]",
      OWN_AT (sizes, ntasks), .resource = true, .in_job = true },
    { .name = "ntasks-per-node", .arg = "N", .group = "Resources",
      .help = "tasks on each node, at most N with --ntasks",
      COUNT (ntasks_per_node), .resource = true },
    { .name = "ntasks-per-socket", .arg = "N", .group = "Resources",
      .help = "at most N tasks on each socket; a node counts as one socket",
      COUNT (ntasks_per_socket), .resource = true },
    { .name = "spread-job", .group = "Resources",
      .help = "with --ntasks and without --nodes: use as many nodes as possible, each "
              "with as few tasks",
      FLAG (spread_job), .resource = true },
    { .name = "cpus-per-task", .letter = 'c', .arg = "N", .group = "Resources",
      .help = "cores for each task; on Kubernetes also a part of a core: 0.5, 500m [1]",
      OWN (cpus), .resource = true, .in_job = true },
    { .name = "ntasks-per-gpu", .arg = "N", .group = "Resources",
      .help = "tasks for each GPU, which they share; the number of GPUs or of tasks "
              "follows from the other",
      COUNT (ntasks_per_gpu), .resource = true },
    { .name = "cpus-per-gpu", .arg = "N", .group = "Resources",
      .help = "cores for each GPU, in place of --cpus-per-task",
      COUNT (cpus_per_gpu), .resource = true },
    { .name = "mem", .arg = "SIZE", .group = "Resources",
      .help = "memory on each node, in MiB or with a suffix K, M, G, T; 0: the whole "
              "node",
      OWN_AT (memory, mem_mib), .resource = true, .path = "fluxq.memory-per-node" },
    { .name = "mem-per-cpu", .arg = "SIZE", .group = "Resources",
      .help = "memory for each core, in place of --mem",
      OWN_AT (memory, mem_per_cpu), .resource = true },
    { .name = "mem-per-gpu", .arg = "SIZE", .group = "Resources",
      .help = "memory for each GPU, in place of --mem",
      OWN_AT (memory, mem_per_gpu), .resource = true },
    { .name = "tmp", .arg = "SIZE", .group = "Resources",
      .help = "temporary disk on each node, in MiB or with a suffix K, M, G, T",
      OWN_AT (memory, tmp_mib), .resource = true },
    { .name = "gpus", .letter = 'G', .arg = "[TYPE:]N", .group = "Resources",
      .help = "GPUs in all, of this type (a100) or of any",
      OWN_AT (gpus, gpus), .resource = true, .in_job = true },
    { .name = "gpus-per-task", .arg = "[TYPE:]N", .group = "Resources",
      .help = "GPUs for each task",
      OWN_AT (gpus, gpus_per_task), .resource = true },
    { .name = "gpus-per-node", .arg = "[TYPE:]N", .group = "Resources",
      .help = "GPUs on each node",
      OWN_AT (gpus, gpus_per_node), .resource = true },
    { .name = "gres", .arg = "NAME[:TYPE][:COUNT],...", .group = "Resources",
      .help = "generic resources on each node: license:2, gpu:1, vendor.com/thing, or "
              "none (fluxq-info -N lists them)",
      OWN (gres), .resource = true },
    { .name = "licenses", .letter = 'L', .arg = "NAME[:COUNT],...", .group = "Resources",
      .help = "licenses of the site, which the job holds while it runs",
      TEXT (js.licenses), .max = LICENSES_TEXT_MAX, .check = check_licenses,
      .path = "fluxq.licenses", .event = "licenses", .label = "Licenses",
      .heading = "LICENSES", .column_letter = 'W', .variable = "SLURM_JOB_LICENSES" },
    { .name = "nodelist", .letter = 'w', .arg = "HOSTS", .group = "Placement",
      .help = "run on nodes of this list, such as node[1-4]; --nodes says on how many "
              "[all]",
      TEXT (nodelist), .check = check_hosts, .path = "constraints",
      .in_job = true },
    { .name = "nodefile", .letter = 'F', .arg = "FILE", .group = "Placement",
      .help = "the same as --nodelist with the names in this file, between commas and blanks",
      OWN (nodefile), .same_as = "nodelist" },
    { .name = "exclude", .letter = 'x', .arg = "HOSTS", .group = "Placement",
      .help = "do not run on these nodes",
      TEXT (exclude), .check = check_hosts, .path = "constraints" },
    { .name = "constraint", .letter = 'C', .arg = "TEXT", .group = "Placement",
      .help = "run on nodes with these properties: fast&(a100|h100), not slow; "
              "host:node[1-4]",
      TEXT (constraint), .check = check_constraint, .path = "constraints" },
    { .name = "requires", .arg = "TEXT", .group = "Placement",
      .help = "the same as --constraint",
      .same_as = "constraint" },
    { .name = "switches", .arg = "N[@TIME]", .group = "Placement",
      .help = "run in at most N racks (places of the innermost level); after TIME of "
              "waiting, run anywhere [as configured]",
      OWN (switches), .path = "fluxq.switches" },
    { .name = "nodes-per", .arg = "LEVEL:N", .group = "Placement",
      .help = "use exactly N nodes in each place of LEVEL (rack, zone, ...) that is used",
      OWN (nodes_per) },
    { .name = "nodes-per-rack", .arg = "N", .group = "Placement",
      .help = "the same as --nodes-per=rack:N",
      OWN (nodes_per), .same_as = "nodes-per" },
    { .name = "segment", .arg = "N", .group = "Placement",
      .help = "place the nodes in segments of N, each in one rack (place of the "
              "innermost level)",
      COUNT (js.segment), .path = "fluxq.segment" },
    { .name = "spread-segments", .group = "Placement",
      .help = "with --segment: each segment in a rack of its own",
      FLAG (js.spread_segments), .path = "fluxq.spread-segments" },
    { .name = "placement", .arg = "pack|spread[:LEVEL]|any", .group = "Placement",
      .help = "pack: use as few racks (zones, ...) as possible; spread: use all evenly; "
              "the job never waits for this [set by the queue]",
      OWN (placement), .path = "fluxq.placement" },
    { .name = "time", .letter = 't', .arg = "TIME", .group = "Time",
      .help = "time limit: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S or UNLIMITED",
      OWN (time), .path = "duration" },
    { .name = "queue", .letter = 'q', .arg = "NAME", .group = "Queue and priority",
      .help = "queue to submit to",
      TEXT (js.queue), .max = 253, .check = check_queue, .path = "queue" },
    { .name = "partition", .letter = 'p', .arg = "NAME", .group = "Queue and priority",
      .help = "the same as --queue",
      .same_as = "queue" },
    { .name = "reservation", .arg = "NAME", .group = "Placement",
      .help = "run in this advance reservation only",
      TEXT (js.reservation), .max = 63, .path = "fluxq.reservation",
      .label = "Reservation" },
    { .name = "comment", .arg = "TEXT", .group = "Job",
      .help = "comment on the job, for people and programs; shown with the job",
      TEXT (js.comment), .max = 1024, .path = "fluxq.comment", .event = "comment",
      .label = "Comment", .heading = "COMMENT", .column_letter = 'k',
      .is_private = true, .variable = "SLURM_JOB_COMMENT", .changes = true },
    { .name = "wckey", .arg = "KEY", .group = "Job",
      .help = "key of the workload that the job belongs to; shown with the job",
      TEXT (js.wckey), .max = 255, .path = "fluxq.wckey", .event = "wckey",
      .label = "Wckey", .heading = "WCKEY", .column_letter = 'w',
      .variable = "SLURM_WCKEY", .changes = true },
    { .name = "extra", .arg = "TEXT", .group = "Job",
      .help = "another text for people and programs; shown with the job",
      TEXT (js.extra), .max = 1024, .path = "fluxq.extra", .event = "extra",
      .label = "Extra", .heading = "EXTRA", .is_private = true,
      .variable = "SLURM_JOB_EXTRA", .changes = true },
    { .name = "mcs-label", .arg = "LABEL", .group = "Job",
      .help = "security label of the job; shown with the job",
      TEXT (js.mcs_label), .max = 255, .path = "fluxq.mcs-label", .event = "mcs_label",
      .label = "MCS label", .heading = "MCS_LABEL", .changes = true },
    { .name = "admin-comment", .arg = "TEXT", .group = "Job",
      .help = "comment of an operator; shown with the job",
      TEXT (js.admin_comment), .max = 1024, .path = "fluxq.admin-comment",
      .event = "admin_comment", .label = "Admin comment", .heading = "ADMIN_COMMENT",
      .is_private = true, .changes = true, .by_operator = true },
    { .name = "account", .letter = 'A', .arg = "NAME", .group = "Job",
      .help = "account that the job is charged to; shown with the job",
      TEXT (js.account), .max = 255, .path = "fluxq.account", .event = "account",
      .label = "Account", .heading = "ACCOUNT", .column_letter = 'a',
      .variable = "SLURM_JOB_ACCOUNT" },
    { .name = "qos", .arg = "NAME", .group = "Job",
      .help = "quality of service that the job asks for; shown with the job",
      TEXT (js.qos), .max = 255, .path = "fluxq.qos", .event = "qos", .label = "QOS",
      .heading = "QOS", .column_letter = 'q', .variable = "SLURM_JOB_QOS" },
    { .name = "mail-type", .arg = "EVENTS", .group = "Mail",
      .help = "send mail at these events: BEGIN, END, FAIL, REQUEUE, INVALID_DEPEND, ALL, "
              "TIME_LIMIT, TIME_LIMIT_90, _80, _50, ARRAY_TASKS, NONE",
      TEXT (js.mail_type), .max = MAIL_TEXT_MAX, .check = check_mail_type,
      .path = "fluxq.mail-type", .event = "mail_type", .label = "Mail type",
      .heading = "MAIL_TYPE" },
    { .name = "mail-user", .arg = "USER", .group = "Mail",
      .help = "send the mail to this user or address [the user who submits]",
      TEXT (js.mail_user), .max = MAIL_USER_MAX, .check = mail_user_check,
      .path = "fluxq.mail-user", .event = "mail_user", .label = "Mail user",
      .heading = "MAIL_USER", .is_private = true },
    { .name = "chdir", .letter = 'D', .arg = "DIR", .group = "Files and directory",
      .help = "working directory [the current one]",
      TEXT (chdir), .check = check_path, .path = "cwd" },
    { .name = "export", .arg = "LIST", .group = "Environment",
      .help = "variables that the job gets: ALL, NONE, NIL or [ALL,]NAME[=VALUE],...",
      TEXT (export), .check = environment_check, .path = "environment" },
    { .name = "export-file", .arg = "FILE", .group = "Environment",
      .help = "variables from this file, in addition: NAME=VALUE, each ended by NUL",
      TEXT (export_file), .check = check_path },
    { .name = "get-user-env", .arg = "[SECONDS][L|S]", .arg_optional = true,
      .group = "Environment",
      .help = "variables of the user's login shell on the job's node, in addition; the "
              "others take precedence [8L]",
      OWN (user_env) },
    { .name = "propagate", .arg = "LIST", .arg_optional = true, .group = "Environment",
      .help = "soft resource limits to pass on to the job: ALL, NONE, or AS, CORE, CPU, "
              "DATA, FSIZE, MEMLOCK, NOFILE, NPROC, RSS, STACK [NONE; without LIST: ALL]",
      OWN (propagate) },
    { .name = "signal", .arg = "[B:]SIG[@SECONDS]", .group = "Time",
      .help = "send this signal to the job's tasks (B: the batch script's shell) before "
              "the time limit [60 s before]",
      OWN (signal) },
    { .name = "nice", .arg = "N", .arg_optional = true, .group = "Queue and priority",
      .help = "lower the priority by N points [0; without N: 100]",
      NUMBER (js.nice), .min = -JOBSPEC_NICE_MAX, .max = JOBSPEC_NICE_MAX,
      .without = 100, .path = "fluxq.nice", .event = "nice" },
    { .name = "priority", .arg = "N|TOP", .group = "Queue and priority",
      .help = "fixed priority in place of the computed one: 0 holds the job; users may not "
              "raise it",
      NUMBER (js.priority), .max = JOBSPEC_PRIORITY_TOP, .set = option_set_priority,
      .path = "fluxq.priority", .event = "fixed_priority" },
    { .name = "image", .arg = "IMAGE", .group = "Pods on Kubernetes",
      .help = "container image of the job's pods",
      TEXT (js.image), .max = 1024, .check = check_image, .path = "fluxq.image",
      .label = "Image", .is_private = true },
    { .name = "executor", .arg = "NAME", .group = "Pods on Kubernetes",
      .help = "object that runs the job: job, an Indexed Job, or minicluster, a "
              "MiniCluster of the Flux operator [set by the queue, else job]",
      OWN (pod), .path = "fluxq.pods.executor" },
    { .name = "runtime-class", .arg = "NAME", .group = "Pods on Kubernetes",
      .help = "runtime class of the job's pods; the queue must allow it",
      OWN (pod), .path = "fluxq.pods.runtime-class" },
    { .name = "priority-class", .arg = "NAME", .group = "Pods on Kubernetes",
      .help = "priority class of the job's pods; the queue must allow it",
      OWN (pod), .path = "fluxq.pods.priority-class" },
    { .name = "service-account", .arg = "NAME", .group = "Pods on Kubernetes",
      .help = "service account of the job's pods; the queue must allow it",
      OWN (pod), .path = "fluxq.pods.service-account" },
    { .name = "volume", .arg = "NAME:PATH", .group = "Pods on Kubernetes",
      .help = "mount the queue's volume NAME at PATH; may be given several times",
      OWN (pod), .path = "fluxq.pods.volumes" },
    { .name = "shm-size", .arg = "SIZE", .group = "Pods on Kubernetes",
      .help = "size of /dev/shm in the job's pods, in MiB or with a suffix K, M, G, T",
      OWN (pod), .path = "fluxq.pods.shm-size" },
    { .name = "pod-template", .arg = "FILE", .group = "Pods on Kubernetes",
      .help = "pod template to apply to the job's pods; the queue must allow its fields",
      OWN (pod), .path = "fluxq.pods.pod-template" },
    { .name = "host-network", .group = "Pods on Kubernetes",
      .help = "use the network of the nodes; the job must have whole nodes",
      FLAG (host_network), .path = "fluxq.pods.host-network" },
    { .name = "array", .letter = 'a', .arg = "LIST", .group = "Job",
      .help = "submit an array, one job for each number: 0-15, 1-9:2, 1,4,7; with %N at "
              "the end, N jobs run at a time",
      TEXT (array), .check = check_array, .path = "fluxq.array" },
    { .name = "dependency", .letter = 'd', .arg = "LIST", .group = "Dependencies",
      .help = "wait for other jobs: after, afterany, afterok, afternotok, "
              "aftercorr:ID[:ID...], singleton; join several with ',' (all) or '?' (any)",
      OWN (dependency), .path = "dependencies" },
    { .name = "kill-invalid-depend", .arg = "yes|no", .group = "Dependencies",
      .help = "cancel the job when its dependency can no longer be met [yes]",
      OWN (kill), .path = "fluxq.kill-invalid-depend" },
    { .name = "begin", .letter = 'b', .arg = "TIME", .group = "Time",
      .help = "do not start before this time: 16:00, tomorrow, 2026-11-21T08:00, "
              "now+1hour",
      TIME (js.begin), .max = JOBSPEC_TIME_MAX, .path = "begin-time", .event = "begin" },
    { .name = "deadline", .arg = "TIME", .group = "Time",
      .help = "cancel the job when it cannot end before this time",
      TIME (js.deadline), .max = JOBSPEC_TIME_MAX, .path = "fluxq.deadline",
      .event = "deadline" },
    { .name = "max-wait", .arg = "TIME", .group = "Elastic and malleable jobs",
      .help = "with several sizes: how long to wait for the largest once the smallest "
              "fits [not at all]",
      SPAN (js.max_wait), .max = JOBSPEC_DURATION_MAX, .path = "fluxq.max-wait" },
    { .name = "time-min", .arg = "TIME", .group = "Time",
      .help = "allow fluxq to lower the time limit to this, if the job then starts "
              "earlier or ends before its deadline",
      SPAN (js.time_min), .max = JOBSPEC_DURATION_MAX, .path = "fluxq.time-min" },
    { .name = "hold", .letter = 'H', .group = "Queue and priority",
      .help = "submit the job held (urgency 0)",
      FLAG (hold) },
    { .name = "start-timeout", .arg = "TIME", .group = "Failures",
      .help = "give the start up after this time [as configured]",
      SPAN (js.start_timeout), .min = 1, .max = JOBSPEC_START_TIMEOUT_MAX,
      .path = "fluxq.start-timeout" },
    { .name = "requeue", .arg = "expedite", .arg_optional = true, .group = "Failures",
      .help = "queue the job again when it loses a node [as configured]; with expedite, "
              "before all other jobs, if the site allows it",
      OWN (requeue), .path = "fluxq.requeue" },
    { .name = "no-requeue", .group = "Failures",
      .help = "end the job when it loses a node",
      OWN (requeue), .same_as = "requeue" },
    { .name = "malleable", .group = "Elastic and malleable jobs",
      .help = "with several numbers of nodes (-N MIN-MAX): the job can gain and lose "
              "nodes while it runs",
      FLAG (js.malleable), .path = "fluxq.malleable" },
    { .name = "resize-signal", .arg = "SIG", .group = "Elastic and malleable jobs",
      .help = "signal that tells the script and the tasks of a malleable job of a resize "
              "[WINCH]",
      OWN (resize_signal), .path = "fluxq.resize-signal" },
    { .name = "exclusive", .group = "Resources",
      .help = "do not share the nodes with other jobs",
      FLAG (exclusive), .resource = true },
    { .name = NULL },
};
_Static_assert(ARRAY_SIZE (attribute_table) <= ATTRIBUTES_MAX, "a source for each row");

const struct attribute *attribute_find (const char *name, size_t len)
{
    for (const struct attribute *a = attribute_table; a->name; a++)
        if (strlen (a->name) == len && !memcmp (a->name, name, len))
            return a;
    return NULL;
}
