/* nodeview.c - see nodeview.h */
#include "cmd/slurm/nodes/nodeview.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/slurm/words/record.h"
#include "common/gres.h"

/* -- states -- */

unsigned nodeview_state (const json_t *node)
{
    const char *state = json_text (node, "state");
    bool used =
        answer_number (node, "njobs") > 0 || answer_number (node, "cores_used") > 0;
    bool full =
        answer_flag (node, "exclusive") || answer_number (node, "cores_free") <= 0;
    unsigned bits = !used ? NODE_IDLE : full ? NODE_ALLOCATED : NODE_MIXED;

    if (!strcmp (state, "down"))
        bits = NODE_DOWN | NODE_NOT_RESPONDING;
    else if (!strcmp (state, "drained"))
        bits |= NODE_DRAIN;
    if (answer_flag (node, "reservation_active"))
        bits |= NODE_RESERVED | (answer_flag (node, "maintenance") ? NODE_MAINT : 0);
    return bits;
}

bool nodeview_is_used (unsigned state)
{
    unsigned base = state & NODE_BASE;

    return base == NODE_ALLOCATED || base == NODE_MIXED;
}

struct state_word {
    const char *compact, *full;
};

/* *mark: '\0' for none. */
static const struct state_word *word_of (unsigned state, char *mark)
{
    static const struct state_word bases[] = {
        [NODE_DOWN] = { "DOWN", "DOWN" },
        [NODE_IDLE] = { "IDLE", "IDLE" },
        [NODE_ALLOCATED] = { "ALLOC", "ALLOCATED" },
        [NODE_MIXED] = { "MIX", "MIXED" },
    };
    static const struct state_word draining = { "DRNG", "DRAINING" };
    static const struct state_word drained = { "DRAIN", "DRAINED" };
    static const struct state_word maint = { "MAINT", "MAINT" };
    static const struct state_word reserved = { "RESV", "RESERVED" };
    unsigned base = state & NODE_BASE;
    bool dead = state & NODE_NOT_RESPONDING;

    *mark = state & NODE_MAINT ? '$' : dead ? '*' : '\0';
    if (state & NODE_DRAIN)
        return nodeview_is_used (state) ? &draining : &drained;
    if (base == NODE_IDLE && state & NODE_MAINT) {
        *mark = dead ? '*' : '\0';
        return &maint;
    }
    if (base == NODE_IDLE && state & NODE_RESERVED && !dead)
        return &reserved;
    return &bases[base];
}

bool nodeview_states_alike (unsigned a, unsigned b)
{
    char x, y;

    return a == b || (word_of (a, &x) == word_of (b, &y) && x == y);
}

void nodeview_add_state (struct strbuf *sb, unsigned state, enum state_form form)
{
    static const struct {
        unsigned bit;
        const char *name;
    } flags[] = {
        { NODE_DRAIN, "DRAIN" },
        { NODE_MAINT, "MAINTENANCE" },
        { NODE_RESERVED, "RESERVED" },
        { NODE_NOT_RESPONDING, "NOT_RESPONDING" },
    };
    char mark;
    const struct state_word *word;

    if (form != STATE_COMPLETE) {
        word = word_of (state, &mark);
        strbuf_adds (sb, form == STATE_COMPACT ? word->compact : word->full);
        if (mark)
            strbuf_addch (sb, mark);
        return;
    }
    strbuf_adds (sb, word_of (state & NODE_BASE, &mark)->full);
    for (size_t i = 0; i < ARRAY_SIZE (flags); i++)
        if (state & flags[i].bit)
            strbuf_addf (sb, "+%s", flags[i].name);
}

/* -- resources -- */

static void add_gres (struct strbuf *sb, const char *name, double count)
{
    record_add_text (sb, name);
    strbuf_addf (sb, ":%.0f", count);
}

double nodeview_tmp_disk (const json_t *node)
{
    return answer_number (json_object_get (node, GRES_TMP_DISK), "count");
}

static double used (const json_t *o, const char *used_key, const char *foreign_key)
{
    return answer_number (o, used_key) + answer_number (o, foreign_key);
}

static void add_all_gres (struct strbuf *sb, const json_t *node, bool in_use)
{
    double gpus = answer_number (node, "gpus");
    const char *type = json_text (node, "gpu_type");
    char gpu[80];
    size_t at = sb->len;
    const char *name;
    json_t *g;

    snprintf (gpu, sizeof (gpu), "gpu%s%s", *type ? ":" : "", type);
    if (gpus > 0)
        add_gres (sb, gpu, in_use ? used (node, "gpus_used", "gpus_foreign") : gpus);
    json_object_foreach (json_object_get (node, "gres"), name, g) {
        strbuf_adds (sb, sb->len > at ? "," : "");
        add_gres (sb, name,
                  in_use ? used (g, "used", "foreign") : answer_number (g, "count"));
    }
    if (sb->len == at)
        strbuf_adds (sb, "(null)");
}

void nodeview_add_gres (struct strbuf *sb, const json_t *node)
{
    add_all_gres (sb, node, false);
}

void nodeview_add_gres_used (struct strbuf *sb, const json_t *node)
{
    add_all_gres (sb, node, true);
}

const char *nodeview_reservation (const json_t *node)
{
    return answer_flag (node, "reservation_active") ? json_text (node, "reservation")
                                                    : "";
}

/* -- queues -- */

static bool is_text (const json_t *value, const char *text)
{
    return json_is_string (value) && !strcmp (json_string_value (value), text);
}

bool nodeview_has_queue (const json_t *node, const char *queue)
{
    const json_t *name;
    size_t i;

    json_array_foreach (json_object_get (node, "queues"), i, name) {
        if (is_text (name, queue))
            return true;
    }
    return false;
}

void queueview_add_groups (struct strbuf *sb, const json_t *queue, const char *none)
{
    const json_t *list = json_object_get (queue, "groups"), *name;
    size_t i;

    json_array_foreach (list, i, name) {
        strbuf_adds (sb, i ? "," : "");
        record_add_text (sb, json_is_string (name) ? json_string_value (name) : "");
    }
    if (json_array_size (list) == 0)
        strbuf_adds (sb, none);
}

/* -- names -- */

static int compare (const void *a, const void *b)
{
    return strverscmp (*(const char *const *)a, *(const char *const *)b);
}

struct hostlist *nodeview_sort (const struct hostlist *hl)
{
    size_t n = hostlist_count (hl);
    const char **names = calloc (n + 1, sizeof (*names));
    struct hostlist *sorted = names ? hostlist_create () : NULL;

    for (size_t i = 0; sorted && i < n; i++)
        names[i] = hostlist_nth (hl, i);
    if (sorted)
        qsort (names, n, sizeof (*names), compare);
    for (size_t i = 0; sorted && i < n; i++)
        hostlist_append (sorted, names[i]);
    free (names);
    return sorted;
}

void queueview_sum (json_t *queue, const json_t *nodes)
{
    struct hostlist *names = hostlist_create ();
    double cpus = 0, memory = 0, gpus = 0;
    const json_t *node;
    size_t i;

    json_array_foreach (nodes, i, node) {
        if (!names || !nodeview_has_queue (node, json_text (queue, "name")))
            continue;
        hostlist_append (names, json_text (node, "name"));
        cpus += answer_number (node, "cores");
        memory += answer_number (node, "memory_mib");
        gpus += answer_number (node, "gpus");
    }
    autofree char *list = names ? hostlist_encode (names) : NULL;
    json_object_update_new (
        queue, json_pack ("{s:s? s:I s:f s:f s:f}", "nodelist", list, "nnodes",
                          (json_int_t)(names ? hostlist_count (names) : 0), "cpus", cpus,
                          "memory", memory, "gpus", gpus));
    hostlist_destroy (names);
}

void reservationview_sum (json_t *o, const json_t *nodes)
{
    struct hostlist *names = hostlist_decode (json_text (o, "nodes"), HOSTLIST_MAX, NULL);
    double cpus = 0;
    const json_t *node;
    size_t i;

    json_array_foreach (nodes, i, node) {
        if (names && hostlist_find (names, json_text (node, "name")) >= 0)
            cpus += answer_number (node, "cores");
    }
    json_object_set_new (o, "cpus", json_real (cpus));
    hostlist_destroy (names);
}
