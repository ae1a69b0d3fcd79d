/* job_dirs.c - removes the directories of jobs that have left the table
 *
 * One worker at a time, so that starts get one too. What a broker that ends leaves, the
 * next one removes at its start.
 */
#include "broker/core/inside.h"
#include "broker/core/job_dirs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "broker/core/service.h"
#include "common/io.h"
#include "common/parse.h"
#include "common/userdir.h"
#include "launch/launcher.h"

struct state {
    uint64_t *gone; /* jobs with directories to remove, by id */
    size_t n, alloc;
    bool busy;
};

static struct service_place place;
SERVICE_STATE_OF (struct state)

struct removal {
    uv_work_t work;
    struct broker *b;
    char *jobs_dir;
    uint64_t *ids; /* to remove; or, sorted, to keep if `below` is set */
    size_t n;
    uint64_t below;
};

bool job_dirs_are_shared (const struct broker *b)
{
    return launcher_is_on () && b->ops->runs_here;
}

uid_t job_spool_owner (const struct broker *b, uid_t user)
{
    return job_dirs_are_shared (b) ? user : userdir_owner (user);
}

/* The owner of the first entry that is not the broker's; false: there is none. */
static bool find_other (const char *path, uid_t *ret_uid)
{
    DIR *dir = opendir (path);
    struct dirent *d;
    struct stat st;
    bool found = false;

    while (dir && !found && (d = readdir (dir)))
        if (fstatat (dirfd (dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0
            && strcmp (d->d_name, "..") != 0 && st.st_uid != geteuid ()) {
            *ret_uid = st.st_uid;
            found = true;
        }
    if (dir)
        closedir (dir);
    return found;
}

/* The broker cannot enter directories that the user has made: the user removes them. */
int job_dir_remove (const char *path, struct error *err)
{
    int rc = io_remove_tree (path, err);
    uid_t uid;

    if (rc < 0 && launcher_is_on () && find_other (path, &uid)) {
        *err = (struct error){ 0 };
        rc = launcher_remove_tree (uid, path, err);
        if (rc == 0)
            rc = io_remove_tree (path, err);
    }
    return rc;
}

static void remove_one (const struct removal *r, uint64_t id)
{
    struct error err = { 0 };
    autostrbuf struct strbuf path = STRBUF_INIT (8192);

    strbuf_addf (&path, "%s/%ju", r->jobs_dir, (uintmax_t)id);
    if (path.err == 0 && job_dir_remove (path.buf, &err) < 0)
        log_warning ("cannot remove %s: %s", path.buf, err.text);
}

/* Removes directories of jobs before `below` that are not in the list. */
static void remove_others (const struct removal *r)
{
    DIR *dir = opendir (r->jobs_dir);
    struct dirent *d;
    int64_t id;

    while (dir && (d = readdir (dir))) {
        if (parse_int (d->d_name, 1, INT64_MAX, &id, "job id", NULL) < 0
            || (uint64_t)id >= r->below)
            continue;
        uint64_t key = (uint64_t)id;
        if (r->n == 0 || !bsearch (&key, r->ids, r->n, sizeof (key), compare_u64))
            remove_one (r, key);
    }
    if (dir)
        closedir (dir);
}

static void removal_work (uv_work_t *w)
{
    const struct removal *r = w->data;
    for (size_t i = 0; !r->below && i < r->n; i++)
        remove_one (r, r->ids[i]);
    if (r->below)
        remove_others (r);
}

static void removal_free (struct removal *r)
{
    free (r->jobs_dir);
    free (r->ids);
    free (r);
}

static void remove_next (struct broker *b);

static void removal_done (uv_work_t *w, int status)
{
    struct removal *r = w->data;
    struct broker *b = r->b;

    (void)status;
    removal_free (r);
    state_of (b)->busy = false;
    if (!b->dead) /* else the next start of the broker finds them */
        remove_next (b);
}

/* Takes ids over. */
static void remove_dirs (struct broker *b, uint64_t *ids, size_t n, uint64_t below)
{
    struct removal *r = calloc (1, sizeof (*r));

    if (!r || !(r->jobs_dir = strdup (b->jobs_dir))) {
        free (r);
        free (ids);
        return;
    }
    r->b = b;
    r->ids = ids;
    r->n = n;
    r->below = below;
    r->work.data = r;
    if (uv_queue_work (b->loop, &r->work, removal_work, removal_done) < 0)
        removal_free (r);
    else
        state_of (b)->busy = true;
}

static void remove_next (struct broker *b)
{
    struct state *state = state_of (b);
    uint64_t *ids = state->gone;
    size_t n = state->n;

    if (n == 0 || state->busy)
        return;
    state->gone = NULL;
    state->n = state->alloc = 0;
    remove_dirs (b, ids, n, 0);
}

void job_dirs_remove (struct broker *b, uint64_t id)
{
    struct state *state = state_of (b);

    if (array_reserve (&state->gone, &state->alloc, state->n + 1, sizeof (*state->gone))
        < 0)
        return; /* the next start of the broker finds it */
    state->gone[state->n++] = id;
    remove_next (b);
}

uint64_t job_dirs_last (const struct broker *b)
{
    DIR *dir = opendir (b->jobs_dir);
    struct dirent *d;
    int64_t id;
    uint64_t last = 0;

    while (dir && (d = readdir (dir)))
        if (parse_int (d->d_name, 1, INT64_MAX, &id, "job id", NULL) == 0)
            last = MAX (last, (uint64_t)id);
    if (dir)
        closedir (dir);
    return last;
}

void job_dirs_remove_leftovers (struct broker *b)
{
    uint64_t *ids = calloc (HASH_COUNT (b->table.all) + 1, sizeof (*ids));
    struct entry *e, *next;
    size_t n = 0;

    if (!ids)
        return;
    HASH_ITER (hh, b->table.all, e, next)
        ids[n++] = entry_id (e);
    qsort (ids, n, sizeof (*ids), compare_u64);
    remove_dirs (b, ids, n, b->table.next_id);
}

static void release (struct broker *b)
{
    free (state_of (b)->gone);
}

const struct broker_service service_job_dirs = {
    .name = "job_dirs",
    .place = &place,
    .state_size = sizeof (struct state),
    .release = release,
};
