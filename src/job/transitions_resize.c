/* transitions_resize.c - events of a malleable job that is resized while it runs
 *
 *   grow:    `resize` has R: the job holds the new nodes at once; `resized`: they take
 *            part
 *   shrink:  `resize` has no R: the job keeps its nodes; `resized` has R with the nodes
 *            left
 *
 * A growth that fails is taken back by a `resize` to the old size.
 */
#include <errno.h>
#include <string.h>

#include "job/transitions.h"

/* The job's resources in an event with R. */
struct held {
    json_t *r;
    const char *nodelist;
    int64_t nnodes, ntasks, ncores, cpu_milli;
};

static int get_count (const struct event *e, const char *key, int64_t *ret,
                      struct error *err)
{
    return json_get_int (e->context, key, 0, INT64_MAX, ret, JSON_OPTIONAL_KEY, e->name,
                         err);
}

static int read_held (const struct job *job, const struct event *e, struct held *h,
                      struct error *err)
{
    int rc;

    *h = (struct held){ .nnodes = job->nnodes,
                        .ntasks = job->ntasks,
                        .ncores = job->ncores,
                        .cpu_milli = job->cpu_milli };
    if ((rc = json_get_object (e->context, "R", &h->r, JSON_OPTIONAL_KEY, e->name, err))
            < 0
        || (rc = json_get_string (e->context, "nodelist", &h->nodelist, JSON_OPTIONAL_KEY,
                                  e->name, err))
               < 0
        || (rc = get_count (e, "nnodes", &h->nnodes, err)) < 0
        || (rc = get_count (e, "ntasks", &h->ntasks, err)) < 0
        || (rc = get_count (e, "ncores", &h->ncores, err)) < 0)
        return rc;
    return get_count (e, "cpu_milli", &h->cpu_milli, err);
}

/* The job holds these resources from now on; the same as before if the event has no R.
 * why: the sentence for its size, or NULL. */
static int take_held (struct job *job, const struct held *h, const char *why, double now,
                      struct error *err)
{
    char *text = h->r ? json_dumps (h->r, JSON_COMPACT | JSON_REAL_PRECISION (16)) : NULL;
    struct text texts[3];
    size_t n = 0;

    if (h->r)
        texts[n++] = (struct text){ .field = &job->nodelist, .value = h->nodelist };
    if (why) {
        texts[n++] = (struct text){ .field = &job->size_reason, .value = "resized" };
        texts[n++] = (struct text){ .field = &job->size_text, .value = why };
    }
    if ((h->r && !text) || texts_set (texts, n, err) < 0) {
        free (text);
        return error_no_memory (err, NULL);
    }
    if (!h->r)
        return 0;
    free (job->r);
    job->r = text;
    job->nnodes = h->nnodes;
    job->ntasks = h->ntasks;
    job->ncores = h->ncores;
    job->cpu_milli = h->cpu_milli;
    job->t_cores = now;
    return 0;
}

static int get_generation (const struct event *e, int64_t *ret, struct error *err)
{
    if (!e->context)
        return error_set (err, EINVAL, "%s: there is no context", e->name);
    return json_get_int (e->context, "generation", 1, UINT32_MAX, ret, JSON_REQUIRED,
                         e->name, err);
}

int transition_resize (struct job *job, const struct event *e, struct outcome *out,
                       struct error *err)
{
    const struct job_resize *was = &job->resize;
    int64_t generation, nnodes, from;
    const char *by = "";
    struct held held;
    int rc = get_generation (e, &generation, err);

    (void)out;
    if (rc < 0
        || (rc = json_get_string (e->context, "by", &by, JSON_OPTIONAL_KEY, e->name, err))
               < 0
        || (rc = json_get_int (e->context, "nnodes", 1, INT32_MAX, &nnodes, JSON_REQUIRED,
                               e->name, err))
               < 0
        || (rc = json_get_int (e->context, "from", 1, INT32_MAX, &from, JSON_REQUIRED,
                               e->name, err))
               < 0
        || (rc = read_held (job, e, &held, err)) < 0)
        return rc;
    if (!job->started || !job->allocated)
        return error_set (err, EPROTO, "resize: it does not run");
    if (generation != (int64_t)was->generation + 1)
        return error_set (err, EPROTO, "resize: generation %jd does not follow %u",
                          (intmax_t)generation, was->generation);
    if (was->active && (was->nnodes < was->from || nnodes >= was->nnodes))
        return error_set (err, EPROTO, "resize: another one is under way");
    if ((nnodes > from) != (held.r != NULL) || nnodes == from)
        return error_set (err, EINVAL,
                          "resize: R is for growing only, and required there");
    if ((rc = take_held (job, &held, NULL, e->timestamp, err)) < 0)
        return rc;
    const bool by_user = was->by_user || !strcmp (by, "user");
    job->resize = (struct job_resize){ .generation = (uint32_t)generation,
                                       .active = true,
                                       .nnodes = nnodes,
                                       .from = from,
                                       .by_user = by_user,
                                       .failed = !strcmp (by, "broker"),
                                       .at = e->timestamp };
    return 0;
}

int transition_resized (struct job *job, const struct event *e, struct outcome *out,
                        struct error *err)
{
    int64_t generation;
    struct held held;
    char why[64];
    int rc = get_generation (e, &generation, err);

    (void)out;
    if (rc < 0 || (rc = read_held (job, e, &held, err)) < 0)
        return rc;
    if (!job->resize.active || generation != job->resize.generation)
        return error_set (err, EPROTO, "resized: generation %jd is not under way",
                          (intmax_t)generation);
    if ((job->resize.nnodes < job->resize.from) != (held.r != NULL))
        return error_set (err, EINVAL,
                          "resized: R is for shrinking only, and required there");
    snprintf (why, sizeof (why), "it had %jd node%s before", (intmax_t)job->resize.from,
              job->resize.from == 1 ? "" : "s");
    if ((rc = take_held (job, &held, why, e->timestamp, err)) < 0)
        return rc;
    job->resize.active = false;
    job->resize.at = e->timestamp;
    return 0;
}
