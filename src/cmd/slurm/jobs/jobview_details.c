/* jobview_details.c - the lines of scontrol -d show job with the resources of each node
 */
#include "cmd/print/print.h"
#include "cmd/slurm/jobs/jobview.h"
#include "common/gres.h"
#include "common/hostlist.h"
#include "common/idset.h"

static void add_gres (struct strbuf *sb, const json_t *rank)
{
    const char *name;
    json_t *count;
    bool first = true;

    if (*json_text (rank, "gpus")) {
        strbuf_addf (sb, "gpu(IDX:%s)", json_text (rank, "gpus"));
        first = false;
    }
    json_object_foreach (json_object_get (rank, "gres"), name, count) {
        if (gres_is_reserved (name))
            continue;
        strbuf_addf (sb, "%s%s:%.0f", first ? "" : ",", name, json_number_value (count));
        first = false;
    }
}

void jobview_add_job_gres (struct strbuf *sb, const json_t *job)
{
    const json_t *ranks = json_object_get (job, "ranks"), *rank;
    autojson json_t *sums = json_object ();
    const char *name;
    double gpus = 0;
    json_t *count;
    size_t i;

    json_array_foreach (ranks, i, rank) {
        struct idset *ids = idset_decode (json_text (rank, "gpus"), IDSET_MAX, NULL);
        gpus += ids ? idset_count (ids) : 0;
        idset_destroy (ids);
        json_object_foreach (json_object_get (rank, "gres"), name, count)
            json_object_set_new (
                sums, name,
                json_real (answer_number (sums, name) + json_number_value (count)));
    }
    json_object_del (sums, GRES_CPU_MILLI);
    json_object_del (sums, GRES_TMP_DISK);
    if (gpus > 0)
        json_object_set_new (sums, "gpu", json_real (gpus));
    json_object_foreach (sums, name, count)
        strbuf_addf (sb, "%s%s:%.0f", sb->len ? "," : "", name,
                     json_number_value (count));
    if (sb->len == 0 && json_array_size (ranks) > 0)
        strbuf_adds (sb, "(null)");
}

void jobview_add_details (struct strbuf *sb, const json_t *job)
{
    const json_t *ranks = json_object_get (job, "ranks"), *rank;
    struct hostlist *names = hostlist_create ();
    struct strbuf last = STRBUF_INIT (1 << 20), this = STRBUF_INIT (1 << 20);
    size_t i, n = json_array_size (ranks);

    for (i = 0; names && i <= n; i++) {
        rank = json_array_get (ranks, i);
        strbuf_reset (&this);
        strbuf_addf (&this, "CPU_IDs=%s Mem=%.0f GRES=", json_text (rank, "cores"),
                     answer_number (rank, "memory_mib"));
        add_gres (&this, rank);
        if (i > 0 && (i == n || strcmp (this.buf, last.buf) != 0)) {
            autofree char *list = hostlist_encode (names);
            strbuf_addf (sb, "%s  Nodes=", sb->len ? "\n   " : "");
            record_add_text (sb, list ? list : "");
            strbuf_addf (sb, " %s", last.buf);
            hostlist_destroy (names);
            names = hostlist_create ();
        }
        if (i < n && names)
            hostlist_append (names, json_text (rank, "node"));
        strbuf_reset (&last);
        strbuf_adds (&last, this.buf);
    }
    hostlist_destroy (names);
    strbuf_release (&last);
    strbuf_release (&this);
}
