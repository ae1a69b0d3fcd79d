/* userlimits.c - see userlimits.h
 */
#include "broker/core/no_memory.h"

#include <uthash.h>

#include "broker/services/userlimits.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <utlist.h>

#include "broker/core/jobs.h"
#include "broker/core/service.h"
#include "common/clock.h"
#include "common/userdir.h"

#define MEASURE_SECONDS 1.0 /* between two measurements, at least */
#define MEASURE_PART 20     /* measuring takes at most 1/MEASURE_PART of the time */

struct tally {
    UT_hash_handle hh;
    uid_t uid;
    int64_t jobs, bytes; /* waiting, without tasks of arrays */
    uint64_t output;     /* as of the last measurement */
};

struct output {
    uint64_t job, bytes;
};

struct userlimits {
    struct broker *b;
    struct tally *tallies;
    struct broker_timer timer;
    uv_work_t work;
    bool measuring, again;
    double took;            /* seconds, of the last measurement */
    struct output *outputs; /* the worker's, one for each job */
    size_t noutputs, alloc;
};

static struct service_place place;

/* -- settings -- */

struct settings {
    /* of one user, 0: unlimited: waiting jobs, bytes of their jobspecs, bytes of kept
     * output */
    uint64_t jobs_max, bytes_max, output_max;
};

#define AT(field) CONFIG_FIELD (struct settings, field)
#define MIB (INT64_C (1) << 20)
static const struct config_key keys[] = {
    { "user-jobs-max", value_int, AT (jobs_max), 0, 1000000000, NULL },
    { "user-bytes-max", value_bytes, AT (bytes_max), MIB, MIB << 30, NULL },
    { "user-output-max", value_bytes, AT (output_max), MIB, MIB << 40, NULL },
    { 0 },
};

static const struct settings defaults = { .jobs_max = 100000,
                                          .bytes_max = MIB << 8,
                                          .output_max = MIB << 16 };

SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct userlimits)

static struct tally *tally_of (struct userlimits *u, uid_t uid, bool make)
{
    struct tally *t;

    HASH_FIND (hh, u->tallies, &uid, sizeof (uid), t);
    if (t || !make || !(t = calloc (1, sizeof (*t))))
        return t;
    t->uid = uid;
    HASH_ADD (hh, u->tallies, uid, sizeof (t->uid), t);
    return t;
}

/* -- waiting jobs -- */

void userlimits_reserve (struct broker *b, uid_t uid, int64_t jobs, int64_t bytes)
{
    struct tally *t = tally_of (state_of (b), uid, true);

    if (!t)
        broker_no_memory ("the number of a user's jobs");
    t->jobs += jobs;
    t->bytes += bytes;
}

static void count (struct broker *b, const struct entry *e, bool waits)
{
    const struct job *job = entry_job (e);
    int64_t jobs = job->array ? 0 : 1, bytes = (int64_t)entry_spec_bytes (e);

    userlimits_reserve (b, job->userid, waits ? jobs : -jobs, waits ? bytes : -bytes);
}

static uint64_t jobs_of (struct broker *b, const struct tally *t, uid_t uid)
{
    uint64_t n = t ? (uint64_t)MAX (t->jobs, 0) : 0;
    const struct entry *e;

    entries_each (ENTRIES_ARRAYS, b, e)
        if (entry_job (e)->userid == uid && entry_job (e)->array)
            n += idset_count (entry_job (e)->array->waiting);
    return n;
}

int userlimits_check (struct broker *b, uid_t uid, uint64_t jobs, uint64_t bytes,
                      struct error *err)
{
    const struct settings *c = settings_of (b);
    const struct tally *t = tally_of (state_of (b), uid, false);
    uint64_t waiting = jobs_of (b, t, uid), held = t ? (uint64_t)MAX (t->bytes, 0) : 0;

    if (broker_is_administrator (b, uid))
        return 0;
    if (c->jobs_max > 0 && waiting + jobs > c->jobs_max)
        return error_set (err, EDQUOT,
                          "a user may have %ju waiting jobs (user-jobs-max): you have "
                          "%ju, and this submit adds %ju",
                          (uintmax_t)c->jobs_max, (uintmax_t)waiting, (uintmax_t)jobs);
    if (c->bytes_max > 0 && held + bytes > c->bytes_max)
        return error_set (err, EDQUOT,
                          "the scripts and environments of a user's waiting jobs may "
                          "have %ju KiB (user-bytes-max): yours have %ju, and this "
                          "submit adds %ju",
                          (uintmax_t)c->bytes_max >> 10, (uintmax_t)held >> 10,
                          (uintmax_t)bytes >> 10);
    if (c->output_max > 0 && t && t->output > c->output_max)
        return error_set (err, EDQUOT,
                          "the kept output of a user's jobs may have %ju MiB "
                          "(user-output-max): yours has %ju; it is removed with your "
                          "oldest jobs, or ask an operator",
                          (uintmax_t)c->output_max >> 20, (uintmax_t)t->output >> 20);
    return 0;
}

static void add_limit (json_t *o, const char *name, uint64_t limit)
{
    json_object_set_new (o, name,
                         limit > 0 ? json_integer ((json_int_t)limit) : json_null ());
}

/* {"jobs", "jobs_max", "bytes", ...} of the user; a limit that does not apply is null. */
static json_t *usage_of (struct broker *b, uid_t uid)
{
    const struct tally *t = tally_of (state_of (b), uid, false);
    bool none = broker_is_administrator (b, uid);
    json_t *o = json_pack ("{s:I s:I s:I}", "jobs", (json_int_t)jobs_of (b, t, uid),
                           "bytes", t ? (json_int_t)MAX (t->bytes, 0) : 0, "output",
                           t ? (json_int_t)t->output : 0);

    if (!o)
        return NULL;
    add_limit (o, "jobs_max", none ? 0 : settings_of (b)->jobs_max);
    add_limit (o, "bytes_max", none ? 0 : settings_of (b)->bytes_max);
    add_limit (o, "output_max", none ? 0 : settings_of (b)->output_max);
    return o;
}

/* -- kept output, on a worker thread -- */

static void add_output (struct userlimits *u, uint64_t job, uint64_t bytes)
{
    if (array_reserve (&u->outputs, &u->alloc, u->noutputs + 1, sizeof (*u->outputs))
        == 0)
        u->outputs[u->noutputs++] = (struct output){ job, bytes };
}

/* Stays on this mount: a file system mounted by a user is not touched. */
static uint64_t file_bytes (int dir, const char *name)
{
    struct stat st;
    autoclose int fd = userdir_openat (dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);

    return fd >= 0 && fstat (fd, &st) == 0 && S_ISREG (st.st_mode)
               ? (uint64_t)st.st_blocks * 512
               : 0;
}

/* Adds up the spools in a job's directory. The directory is its user's: no file in it is
 * opened. */
static void measure_job (struct userlimits *u, int jobs, const char *name)
{
    int fd =
        userdir_openat (jobs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    DIR *dir = fd < 0 ? NULL : fdopendir (fd);
    struct dirent *d;
    uint64_t bytes = 0;

    if (!dir) {
        if (fd >= 0)
            close (fd);
        return;
    }
    while ((d = readdir (dir)))
        if (!strncmp (d->d_name, "spool-", 6))
            bytes += file_bytes (fd, d->d_name);
    closedir (dir);
    if (bytes > 0)
        add_output (u, strtoull (name, NULL, 10), bytes);
}

static void measure_work (uv_work_t *w)
{
    struct userlimits *u = w->data;
    double begin = clock_mono ();
    DIR *dir = opendir (broker_jobs_dir (u->b));
    struct dirent *d;

    u->noutputs = 0;
    while (dir && (d = readdir (dir)))
        if (d->d_name[0] >= '0' && d->d_name[0] <= '9')
            measure_job (u, dirfd (dir), d->d_name);
    if (dir)
        closedir (dir);
    u->took = clock_mono () - begin;
}

static void measure_soon (struct broker *b);

static void measured (uv_work_t *w, int status)
{
    struct userlimits *u = w->data;
    struct tally *t, *next;

    u->measuring = false;
    if (broker_is_dead (u->b))
        return;
    HASH_ITER (hh, u->tallies, t, next)
        t->output = 0;
    for (size_t i = 0; status == 0 && i < u->noutputs; i++) {
        const struct entry *e = entry_find (u->b, u->outputs[i].job);
        if (e && (t = tally_of (u, entry_job (e)->userid, true)))
            t->output += u->outputs[i].bytes;
    }
    if (u->again)
        measure_soon (u->b);
}

static void measure (struct broker *b)
{
    struct userlimits *u = state_of (b);

    u->again = false;
    u->work.data = u;
    u->measuring = uv_queue_work (broker_loop (b), &u->work, measure_work, measured) == 0;
}

static void measure_soon (struct broker *b)
{
    struct userlimits *u = state_of (b);

    if (broker_is_dead (b) || settings_of (b)->output_max == 0)
        return;
    u->again = true;
    if (!u->measuring && !u->timer.is_set)
        broker_timer_set (&u->timer, MAX (MEASURE_SECONDS, u->took * MEASURE_PART));
}

/* -- begin and end -- */

static int init (struct broker *b, struct error *err)
{
    struct userlimits *u = state_of (b);

    (void)err;
    u->b = b;
    measure_soon (b);
    return 0;
}

static void release (struct broker *b)
{
    struct userlimits *u = state_of (b);
    struct tally *t, *next;

    HASH_ITER (hh, u->tallies, t, next) {
        HASH_DEL (u->tallies, t);
        free (t);
    }
    free (u->outputs);
}

static void moved (struct broker *b, struct entry *e, enum job_state before)
{
    bool waits = entry_job (e)->state < JOB_RUN;

    (void)before;
    if (waits != entry_is_waiting (e))
        count (b, e, waits);
}

static void leave (struct broker *b, struct entry *e)
{
    if (entry_is_waiting (e))
        count (b, e, false);
}

/* Measures kept output again, soon. */
static void ended (struct broker *b, struct entry *e)
{
    (void)e;
    measure_soon (b);
}

static void shows_status (struct broker *b, uid_t viewer, json_t *status)
{
    json_t *usage = usage_of (b, viewer);

    json_object_set_new (status, "usage", usage ? usage : json_null ());
}

const struct broker_service service_userlimits = {
    .name = "userlimits",
    .place = &place,
    .state_size = sizeof (struct userlimits),
    .settings = &settings,
    .timer = offsetof (struct userlimits, timer),
    .on_timer = measure,
    .init = init,
    .release = release,
    .moved = moved,
    .goes = leave,
    .ended = ended,
    .shows_status = shows_status,
};
