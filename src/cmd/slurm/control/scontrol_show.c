/* scontrol_show.c - scontrol show: which entity, and those that need no record: host lists,
 * the configuration, the state of the broker */
#include "cmd/slurm/control/scontrol.h"

#include "cmd/print/print.h"
#include "cmd/slurm/nodes/node_json.h"
#include "cmd/slurm/nodes/nodeview.h"
#include "cmd/slurm/words/record.h"
#include "common/clock.h"
#include "common/hostlist.h"
#include "common/io.h"

#define LIST_MAX (8 << 20)

/* -- lists of hosts -- */

/* The list that the user named, or the job's. NULL: a message was printed. */
static struct hostlist *decode (struct scontrol *s, const char *list)
{
    struct error err = { 0 };
    struct hostlist *hl;

    if (!list || !*list) {
        scontrol_error (s, "host list is empty");
        return NULL;
    }
    hl = hostlist_decode (list, HOSTLIST_MAX, &err);
    if (!hl)
        scontrol_error (s, "Invalid hostlist: %s: %s", list, err.text);
    return hl;
}

static const char *list_of_job (void)
{
    const char *list = getenv ("SLURM_JOB_NODELIST");

    return list && *list ? list : getenv ("SLURM_NODELIST");
}

/* As in Slurm, an empty list has no names. */
void scontrol_show_hostnames (struct scontrol *s, const char *value)
{
    struct hostlist *hl =
        value && !*value ? NULL : decode (s, value ? value : list_of_job ());

    for (size_t i = 0; hl && i < hostlist_count (hl); i++)
        print_text (hostlist_nth (hl, i));
    hostlist_destroy (hl);
}

/* The names in a file, separated by commas, blanks or ends of lines; in sb. */
static int read_names (struct scontrol *s, const char *path, struct strbuf *sb)
{
    autostrbuf struct strbuf text = STRBUF_INIT (LIST_MAX);
    struct error err = { 0 };

    if (io_read_file (path, &text, LIST_MAX, &err) < 0) {
        scontrol_error (s, "%s", err.text);
        return -1;
    }
    for (char *rest = text.buf, *name; (name = strsep (&rest, ", \t\r\n"));)
        if (*name)
            strbuf_addf (sb, "%s%s", sb->len ? "," : "", name);
    return 0;
}

static void encode (struct scontrol *s, const char *value, bool sorted)
{
    autostrbuf struct strbuf names = STRBUF_INIT (LIST_MAX);
    const char *list = value ? value : list_of_job ();

    if (list && *list == '/') {
        if (read_names (s, list, &names) < 0)
            return;
        list = names.buf;
    }
    struct hostlist *hl = decode (s, list),
                    *shown = hl && sorted ? nodeview_sort (hl) : hl;
    autofree char *text = shown ? hostlist_encode (shown) : NULL;
    if (text)
        print_text (text);
    else if (hl)
        scontrol_error (s, "out of memory");
    if (shown != hl)
        hostlist_destroy (shown);
    hostlist_destroy (hl);
}

void scontrol_show_hostlist (struct scontrol *s, const char *value)
{
    encode (s, value, false);
}

void scontrol_show_hostlistsorted (struct scontrol *s, const char *value)
{
    encode (s, value, true);
}

/* -- the broker -- */

static void print_ping (const char *host, bool up)
{
    printf ("Slurmctld(primary) at %s is %s\n", host, up ? "UP" : "DOWN");
}

/* The host or the socket on which the broker listens, as the client knows it. */
static const char *broker_host (const json_t *status)
{
    const char *first =
        json_string_value (json_array_get (json_object_get (status, "listen"), 0));
    const char *host = getenv ("FLUXQ_BROKER");

    return first ? first : host && *host ? host : "the default socket";
}

void scontrol_ping (struct scontrol *s, const char *tag, const struct words *w)
{
    struct refusal why;
    autojson json_t *o = NULL;

    (void)tag;
    (void)w;
    bool up = scontrol_call (s, "GET", "/v1/status", NULL, &o, &why) == 0;
    print_ping (broker_host (o), up);
    s->status = up ? s->status : CMD_FAILED;
}

static void add_seconds (struct strbuf *sb, double seconds)
{
    strbuf_addf (sb, "%.0f sec", seconds);
}

static void add_age (struct strbuf *sb, const json_t *o)
{
    add_seconds (sb, answer_number (o, "keep"));
}

static void add_boot (struct strbuf *sb, const json_t *o)
{
    record_add_time (sb, clock_wall () - answer_number (o, "uptime"));
}

/* Slurm's number is one more than the greatest number of a task. fluxq's array-max is the
 * most tasks, which is the same for an array from 0. */
static void add_array_size (struct strbuf *sb, const json_t *o)
{
    strbuf_addf (sb, "%.0f", answer_number (o, "array_max"));
}

static void add_nodes (struct strbuf *sb, const json_t *o)
{
    const json_t *n = json_object_get (o, "nodes");

    strbuf_addf (sb, "%.0f",
                 answer_number (n, "up") + answer_number (n, "drained")
                     + answer_number (n, "down"));
}

/* The lines of Slurm's configuration that fluxq has values for, in Slurm's order. */
static const struct row parameters[] = {
    { .key = "BOOT_TIME", .add = add_boot },
    { .key = "ClusterName", .from = "cluster" },
    { .key = "MaxArraySize", .add = add_array_size },
    { .key = "MaxNodeCount", .add = add_nodes },
    { .key = "MinJobAge", .add = add_age },
    { .key = "SLURM_VERSION", .fixed = CMD_SLURM_VERSION },
    { .key = "StateSaveLocation", .from = "state_dir" },
    { 0 },
};

void scontrol_show_config (struct scontrol *s, const char *value)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (64 * 1024);
    struct refusal why;
    autojson json_t *o = NULL;

    (void)value; /* ignored by Slurm as well */
    if (scontrol_call (s, "GET", "/v1/status", NULL, &o, &why) < 0) {
        scontrol_say (s, "slurm_load_ctl_conf error: %s", why.words);
        return;
    }
    strbuf_adds (&sb, "Configuration data as of ");
    record_add_time (&sb, clock_wall ());
    for (const struct row *row = parameters; row->key; row++) {
        const struct row one[] = { { .key = "",
                                     .fixed = row->fixed,
                                     .from = row->from,
                                     .add = row->add,
                                     .kind = row->kind },
                                   { 0 } };
        strbuf_addf (&sb, "\n%-23s = ", row->key);
        record_add (&sb, one, o, 0);
    }
    printf ("%s\n\n", sb.buf);
    print_ping (broker_host (o), true);
}

void scontrol_completing (struct scontrol *s, const char *tag, const struct words *w)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (1 << 24);
    struct refusal why;
    autojson json_t *o = NULL;
    const json_t *job;
    size_t i;

    (void)tag;
    (void)w;
    if (scontrol_call (s, "GET", "/v1/jobs?state=completing", NULL, &o, &why) < 0) {
        scontrol_say (s, "slurm_load_jobs error: %s", why.words);
        return;
    }
    json_array_foreach (json_object_get (o, "jobs"), i, job) {
        double end = answer_number (job, "end_time");
        strbuf_addf (&sb, "JobId=%.0f EndTime=", answer_number (job, "id"));
        record_add_time (&sb, end);
        strbuf_adds (&sb, " CompletingTime=");
        record_add_duration (&sb, end > 0 ? clock_wall () - end : 0);
        strbuf_addf (&sb, " Nodes(COMPLETING)=%s \n", json_text (job, "nodelist"));
    }
    fputs (sb.buf, stdout);
}

/* -- which entity -- */

static const struct entity {
    const char *name;
    size_t min;
    void (*show) (struct scontrol *s, const char *value);
    const char *refused;
} entities[] = {
    { "aliases", 1, NULL, "nodes of fluxq have one name" },
    { "bbstat", 2, NULL, "fluxq has no burst buffers" },
    { "dwstat", 2, NULL, "fluxq has no burst buffers" },
    { "burstbuffer", 2, NULL, "fluxq has no burst buffers" },
    { "assoc_mgr", 2, NULL,
      "fluxq has no associations; limits of users are in fluxq.yaml" },
    { "cache", 2, NULL, "fluxq has no associations; limits of users are in fluxq.yaml" },
    { "config", 1, scontrol_show_config, NULL },
    { "daemons", 1, NULL, "see fluxq-ctl status" },
    { "federations", 1, NULL, "fluxq has one cluster" },
    { "hostnames", 5, scontrol_show_hostnames, NULL },
    { "hostlist", 5, scontrol_show_hostlist, NULL },
    { "hostlistsorted", 9, scontrol_show_hostlistsorted, NULL },
    { "jobs", 1, scontrol_show_jobs, NULL },
    { "jobid", 1, scontrol_show_jobs, NULL },
    { "licenses", 2, scontrol_show_licenses, NULL },
    { "nodes", 1, scontrol_show_nodes, NULL },
    { "partitions", 2, scontrol_show_partitions, NULL },
    { "partitionname", 2, scontrol_show_partitions, NULL },
    { "reservations", 1, scontrol_show_reservations, NULL },
    { "reservationname", 1, scontrol_show_reservations, NULL },
    { "resources", 4, NULL, "scontrol -d show job shows the nodes of a job" },
    { "slurmd", 2, NULL, "fluxq has no daemon on each node" },
    { "steps", 2, scontrol_show_steps, NULL },
    { "topoconf", 5, NULL, "see fluxq-info --topology" },
    { "topology", 1, NULL, "see fluxq-info --topology" },
};

/* Whether --json shows such records. */
static bool has_json (const struct entity *e)
{
    return e->show == scontrol_show_jobs || e->show == scontrol_show_nodes
           || e->show == scontrol_show_partitions || e->show == scontrol_show_reservations
           || e->show == scontrol_show_licenses;
}

/* An empty name is as none; an empty list of hosts is a list. */
static bool takes_list (size_t entity)
{
    return entities[entity].show == scontrol_show_hostnames;
}

void scontrol_show (struct scontrol *s, const char *tag, const struct words *w)
{
    const char *name = w->word[0], *equals = strchr (name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen (name), i = 0;
    const char *value = equals ? equals + 1 : w->n > 1 ? w->word[1] : NULL;

    if (w->n > 2) {
        scontrol_say (s, "too many arguments for keyword:%s", tag);
        return;
    }
    while (i < ARRAY_SIZE (entities)
           && !scontrol_is (name, len, entities[i].name, entities[i].min))
        i++;
    if (i == ARRAY_SIZE (entities))
        scontrol_say (s, "invalid entity:%s for keyword:%s ", name, tag);
    else if (entities[i].refused)
        scontrol_error (s, "show %s is not supported: %s", entities[i].name,
                        entities[i].refused);
    else if (s->json && !has_json (&entities[i]))
        scontrol_error (s, "--json is for show job, node, partition, reservation and "
                           "license");
    else
        entities[i].show (s, value && (*value || takes_list (i)) ? value : NULL);
}
