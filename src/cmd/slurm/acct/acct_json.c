/* acct_json.c - jobs of sacct --json in the shape of slurmdb's data_parser v0.0.41; see
 * acct.h
 */
#include <math.h>
#include <pwd.h>
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/slurm/acct/acct.h"
#include "cmd/slurm/jobs/job_json.h"

#define TEXT_MAX (4 << 20)

/* Sets a member "time/elapsed" below objects that come into being. */
static void set (json_t *o, const char *path, json_t *value)
{
    const char *slash = strchr (path, '/');
    autofree char *key = slash ? strndup (path, (size_t)(slash - path)) : NULL;

    if (!slash) {
        json_object_set_new (o, path, value);
        return;
    }
    if (!json_object_get (o, key))
        json_object_set_new (o, key, json_object ());
    set (json_object_get (o, key), slash + 1, value);
}

static json_t *text_of (const struct acct_row *row, const char *name)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TEXT_MAX);
    const struct list_field *f = acct_fields;

    while (strcmp (f->name, name) != 0)
        f++;
    if (f->add)
        f->add (row, &sb);
    return json_string (sb.buf);
}

static json_t *number_of (const struct acct_row *row, const char *name)
{
    json_t *text = text_of (row, name);
    const char *digits = json_string_value (text);
    json_t *n = json_integer (digits ? strtoll (digits, NULL, 10) : 0);

    json_decref (text);
    return n;
}

static void set_time (json_t *o, const char *path, double t)
{
    set (o, path, json_integer ((json_int_t)MAX (t, 0)));
}

/* Members that are fields of -o. */
struct member {
    const char *path, *field;
    bool number;
};

static void add_members (json_t *o, const struct acct_row *row, const struct member *list)
{
    for (const struct member *m = list; m->path; m++)
        set (o, m->path, m->number ? number_of (row, m->field) : text_of (row, m->field));
}

/* Whole seconds, and the rest. */
static void add_cpu_times (json_t *o, const struct acct_row *row)
{
    static const struct {
        const char *name, *figure;
    } times[] = { { "total", NULL }, { "user", "user" }, { "system", "system" } };
    char path[64];

    for (size_t i = 0; i < ARRAY_SIZE (times); i++) {
        double t = acct_cpu_time (row, times[i].figure);
        snprintf (path, sizeof (path), "time/%s/seconds", times[i].name);
        set (o, path, json_integer ((json_int_t)floor (t)));
        snprintf (path, sizeof (path), "time/%s/microseconds", times[i].name);
        set (o, path, json_integer ((json_int_t)((t - floor (t)) * 1e6)));
    }
}

/* "cpu=2,gres/gpu=1,mem=200M,node=2" as a list. */
static json_t *tres_list (const struct acct_row *row, bool asked)
{
    static const struct {
        const char *type, *name;
        json_int_t id;
    } known[] = {
        { "cpu", "", 1 }, { "mem", "", 2 }, { "node", "", 4 }, { "gres", "gpu", 1001 }
    };
    struct acct_view view = *row->view;
    struct acct_row exact = *row;
    struct strbuf sb = STRBUF_INIT (4096);
    json_t *list = json_array ();

    view.unit = 2; /* MiB */
    exact.view = &view;
    acct_add_tres (&exact, asked, &sb);
    for (const char *p = sb.buf; *p; p += strcspn (p, ","), p += *p == ',')
        for (size_t i = 0; i < ARRAY_SIZE (known); i++)
            if (!strncmp (p, known[i].type, strlen (known[i].type)))
                json_array_append_new (
                    list, json_pack ("{s:s s:s s:I s:I}", "type", known[i].type, "name",
                                     known[i].name, "id", known[i].id, "count",
                                     (json_int_t)strtod (strchr (p, '=') + 1, NULL)));
    strbuf_release (&sb);
    return list;
}

static json_t *step_json (const struct acct_row *row)
{
    static const struct member members[] = {
        { "nodes/count", "NNodes", true },
        { "nodes/range", "NodeList", false },
        { "step/id", "JobIDRaw", false },
        { "step/name", "JobName", false },
        { "tasks/count", "NTasks", true },
        { "time/elapsed", "ElapsedRaw", true },
        { 0 },
    };
    json_t *o = json_object ();

    add_members (o, row, members);
    add_cpu_times (o, row);
    set (o, "time/start", job_json_number (true, acct_start (row)));
    set (o, "time/end", job_json_number (true, acct_end (row)));
    set (o, "exit_code", job_json_exit (true, acct_status (row)));
    set (o, "state", json_pack ("[s]", acct_step_state (row)));
    set (o, "time/suspended", json_integer (0));
    set (o, "tres/allocated", tres_list (row, false));
    return o;
}

static json_t *steps_json (struct acct_row *row)
{
    json_t *list = json_array ();
    const json_t *step;
    size_t i;

    json_array_foreach (row->steps, i, step) {
        if (!acct_step_is_shown (row, step, &row->step_id))
            continue;
        row->step = step;
        json_array_append_new (list, step_json (row));
        row->step = NULL;
    }
    return list;
}

static void add_empty (json_t *o)
{
    static const char *const texts[] = {
        "block",  "comment/system", "container", "failed_node",
        "script", "submit_line",    "used_gres",
    };
    static const char *const numbers[] = { "reservation/id", "time/suspended" };

    for (size_t i = 0; i < ARRAY_SIZE (texts); i++)
        set (o, texts[i], json_string (""));
    for (size_t i = 0; i < ARRAY_SIZE (numbers); i++)
        set (o, numbers[i], json_integer (0));
    set (o, "flags", json_array ());
    set (o, "wckey/flags", json_array ());
}

static void add_job_times (json_t *o, const struct acct_row *row)
{
    double limit = acct_number (row, ACCT_LIMIT);

    set_time (o, "time/submission", floor (acct_number (row, ACCT_SUBMIT)));
    set_time (o, "time/eligible", floor (acct_eligible (row)));
    set_time (o, "time/start", acct_start (row));
    set_time (o, "time/end", acct_end (row));
    set (o, "time/limit",
         job_json_number (true, limit > 0 ? ceil (limit / 60) : HUGE_VAL));
    add_cpu_times (o, row);
}

static void add_array (json_t *o, const struct acct_row *row)
{
    const char *tasks = row->values[ACCT_ARRAY_TASKS], *most = strchr (tasks, '%');

    set (o, "array/job_id", json_integer ((json_int_t)acct_number (row, ACCT_ARRAY_JOB)));
    set (o, "array/task_id",
         job_json_number (acct_has (row, ACCT_ARRAY_TASK),
                          acct_number (row, ACCT_ARRAY_TASK)));
    set (o, "array/task", json_stringn (tasks, strcspn (tasks, "%")));
    set (o, "array/limits/max/running/tasks",
         json_integer (most ? strtoll (most + 1, NULL, 10) : 0));
}

static json_t *canceller (const struct acct_row *row)
{
    const char *id = row->values[ACCT_CANCELLED_BY];
    const struct passwd *pw = *id ? getpwuid ((uid_t)strtoul (id, NULL, 10)) : NULL;

    return json_string (pw ? pw->pw_name : id);
}

json_t *acct_json (struct acct_row *row)
{
    static const struct member members[] = {
        { "account", "Account", false },
        { "allocation_nodes", "AllocNodes", true },
        { "association/account", "Account", false },
        { "association/cluster", "Cluster", false },
        { "association/partition", "Partition", false },
        { "association/user", "User", false },
        { "cluster", "Cluster", false },
        { "comment/administrator", "AdminComment", false },
        { "comment/job", "Comment", false },
        { "constraints", "Constraints", false },
        { "extra", "Extra", false },
        { "group", "Group", false },
        { "job_id", "JobIDRaw", true },
        { "licenses", "Licenses", false },
        { "mcs/label", "McsLabel", false },
        { "name", "JobName", false },
        { "nodes", "NodeList", false },
        { "partition", "Partition", false },
        { "qos", "QOS", false },
        { "required/CPUs", "ReqCPUS", true },
        { "reservation/name", "Reservation", false },
        { "state/reason", "Reason", false },
        { "stderr", "StdErr", false },
        { "stdin", "StdIn", false },
        { "stdout", "StdOut", false },
        { "time/elapsed", "ElapsedRaw", true },
        { "user", "User", false },
        { "wckey/wckey", "WCKey", false },
        { "working_directory", "WorkDir", false },
        { 0 },
    };
    json_t *o = json_object ();

    if (!o)
        return NULL;
    add_members (o, row, members);
    add_empty (o);
    add_job_times (o, row);
    add_array (o, row);
    set (o, "derived_exit_code", job_json_exit (true, acct_derived_status (row)));
    set (o, "exit_code", job_json_exit (true, acct_status (row)));
    set (o, "het/job_id",
         json_integer (*row->component ? (json_int_t)acct_number (row, ACCT_ID) : 0));
    set (o, "het/job_offset",
         job_json_number (*row->component, strtod (row->component, NULL)));
    set (o, "hold", json_boolean (!strncmp (row->values[ACCT_REASON], "JobHeld", 7)));
    set (o, "kill_request_user", canceller (row));
    set (o, "priority",
         job_json_number (acct_has (row, ACCT_PRIORITY),
                          acct_number (row, ACCT_PRIORITY)));
    set (o, "state/current", json_pack ("[s]", row->values[ACCT_STATE]));
    set (o, "tres/allocated", tres_list (row, false));
    set (o, "tres/requested", tres_list (row, true));
    set (o, "steps", steps_json (row));
    return o;
}
