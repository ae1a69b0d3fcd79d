/* start.c - from an allocation to the executor; reports.c: and back
 *
 *   alloc on disk --> jobspec (journal) --> user (passwd) --> directory (worker)
 *                 --> exec start
 *                       |  ready: start
 *                       |  finished: finish, lost: requeue
 *                       v  start_failed: requeue
 *   finish on disk --> exec cleanup --> released: release, free --> cleaned: clean
 *
 * Each step before exec start checks that the job is still wanted, otherwise it cleans
 * up. A job found running after a restart takes the same way to exec recover, but is
 * never given up here: it may have processes, which only the executor can end.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "broker/core/exec_job.h"
#include "broker/core/inside.h"
#include "broker/core/job_dirs.h"
#include "broker/core/jobs.h"
#include "broker/core/pause.h"
#include "broker/core/service.h"
#include "broker/core/share_dir.h"
#include "broker/core/start.h"
#include "broker/core/turn.h"
#include "common/io.h"

#define RETRY_SECONDS 2.0

struct state {
    struct broker_timer retry; /* tries starts that are held back */
};

struct slot {
    bool again;    /* the start is held back */
    bool examined; /* the failed start waits for pause_examine() */
};

static struct service_place place;
SERVICE_STATE_OF (struct state)
SERVICE_SLOT_OF (struct slot)

/* A look-up for a start; the entry may have gone when the answer comes. */
struct preparation {
    uv_work_t work;
    struct broker *b;
    uint64_t id;
    char *dir;
    uid_t uid;
    gid_t gid;
    bool chown, share;
    bool first; /* first attempt: the directory cannot have files of this job */
    int rc;
    int pause_errno; /* a shortage on the broker's side */
    struct error err;
};

static void preparation_free (struct preparation *p)
{
    free (p->dir);
    free (p);
}

void start_release (struct broker *b, struct entry *e)
{
    broker_emit_or_stop (b, e, "release",
                         json_pack ("{s:s s:b}", "ranks", "all", "final", 1));
}

void start_close_attempt (struct broker *b, struct entry *e)
{
    e->starting = slot_of (e)->examined = false;
    exec_job_free (e->xjob);
    e->xjob = NULL;
    rset_destroy (e->r_given_back);
    e->r_given_back = NULL;
    services_call (attempt_over, b, e);
    entry_drop_spec (e);
    e->recovered = slot_of (e)->again = false;
    if (entry_job (e)->state != JOB_CLEANUP)
        return;
    if (entry_job (e)->released)
        broker_act (b, e, entry_job (e)->allocated ? JOB_ACT_FREE : JOB_ACT_CLEAN);
    else if (entry_job (e)->allocated)
        start_release (b, e);
    else
        broker_emit_or_stop (b, e, "clean", NULL);
}

/* Holds the start back for a reason outside the job: the job keeps its nodes, and goes on
 * when the timer looks again or a pause is over. */
static void hold (struct broker *b, struct entry *e, const char *text)
{
    if (!e->note || strcmp (e->note, text) != 0)
        log_warning ("job %ju: its start waits: %s", (uintmax_t)entry_id (e), text);
    entry_set_note (e, text);
    e->starting = false;
    slot_of (e)->again = true;
    exec_job_free (e->xjob);
    e->xjob = NULL;
    if (!pause_reason (b) && !state_of (b)->retry.is_set)
        broker_timer_set (&state_of (b)->retry, RETRY_SECONDS);
}

static void hold_short (struct broker *b, struct entry *e, const char *text, int errnum)
{
    pause_note (b, text, errnum);
    hold (b, e, text);
}

static bool waits_for_pause (struct broker *b, struct entry *e)
{
    char text[700];

    if (e->recovered || !pause_reason (b))
        return false;
    snprintf (text, sizeof (text), "its start waits: %s", pause_reason (b));
    entry_set_note (e, text);
    return slot_of (e)->again = true;
}

/* Ends a start that fails for a reason here, not in the executor. */
static void give_up (struct broker *b, struct entry *e, const char *text)
{
    log_warning ("job %ju: cannot start: %s", (uintmax_t)entry_id (e), text);
    if (broker_exception (b, e, "start-failed", b->uid, text) == -ENOMEM)
        broker_no_memory ("the end of a job");
    start_close_attempt (b, e);
}

/* A directory of root's was made by a broker that was killed before it gave it away. */
static bool is_of_another (const struct preparation *p)
{
    struct stat st;

    return p->chown && lstat (p->dir, &st) == 0 && st.st_uid != 0 && st.st_uid != p->uid;
}

/* Removes what a job of this id in an earlier journal left: its spool would be mistaken
 * for this job's. The parent directory is the broker's, so the name is safe. */
static int make_new (struct preparation *p)
{
    if (mkdir (p->dir, 0700) == 0)
        return 0;
    if (errno != EEXIST)
        return error_errno (&p->err, errno, "%s", p->dir);
    if ((p->first || is_of_another (p)) && job_dir_remove (p->dir, &p->err) < 0)
        return -EEXIST;
    if (mkdir (p->dir, 0700) < 0 && errno != EEXIST)
        return error_errno (&p->err, errno, "%s", p->dir);
    return 0;
}

static void make_dir (uv_work_t *w)
{
    struct preparation *p = w->data;

    p->rc = make_new (p);
    if (p->rc == 0 && p->share)
        p->rc = share_dir (p->dir, p->uid, &p->err);
    if (p->rc < 0) {
        p->pause_errno = error_shortage (p->err.code);
    } else if (p->chown && lchown (p->dir, p->uid, p->gid) < 0) {
        p->rc = error_errno (&p->err, errno, "%s", p->dir);
        if (p->err.code != EDQUOT) /* the quota is the user's */
            p->pause_errno = error_shortage (p->err.code);
    }
}

static void hand_over (struct broker *b, struct entry *e)
{
    e->starting = false;
    if (!e->recovered) {
        b->ops->start (b->exec, e->xjob);
        return;
    }
    e->recovered = false;
    entry_set_note (e, NULL);
    if (entry_job (e)->state == JOB_CLEANUP
        && (entry_job (e)->finished || entry_job (e)->requeue || !e->js || !e->r)) {
        b->ops->cleanup (b->exec, e->xjob);
        return;
    }
    b->ops->recover (b->exec, e->xjob);
    if (entry_job (e)->state == JOB_CLEANUP)
        b->ops->terminate (b->exec, e->xjob, "cancelled", broker_config (b)->grace);
    services_call (picked_up, b, e);
}

/* A look-up failed for the moment. A job found running waits as long as it takes; for a
 * new one the start has failed. */
static void postpone (struct broker *b, struct entry *e, const char *text)
{
    if (!e->recovered) {
        const struct exec_start_failure why = { .text = text, .retry = true };
        e->starting = false;
        if (entry_job (e)->state == JOB_RUN)
            b->host.start_failed (b, entry_id (e), &why);
        else
            start_close_attempt (b, e);
        return;
    }
    hold (b, e, text);
}

static void retry_due (struct broker *b)
{
    struct entry *e;

    entries_each (ENTRIES_ACTIVE, b, e) {
        if (!slot_of (e)->again)
            continue;
        slot_of (e)->again = false;
        broker_start (b, e);
    }
}

static void starts_due (struct broker *b)
{
    if (!b->dead)
        broker_timer_set (&state_of (b)->retry, 0);
}

static void clean_up (struct broker *b, struct entry *e);

static void dir_made (uv_work_t *w, int status)
{
    struct preparation *p = w->data;
    struct broker *b = p->b;
    struct entry *e = b->dead ? NULL : entry_find (b, p->id);

    if (status == 0 && e && e->starting) {
        if (p->rc < 0 && e->recovered)
            postpone (b, e, p->err.text);
        else if (p->rc < 0 && p->pause_errno && entry_job (e)->state == JOB_RUN)
            hold_short (b, e, p->err.text, p->pause_errno);
        else if (p->rc < 0)
            give_up (b, e, p->err.text);
        else if (entry_job (e)->state == JOB_RUN || e->recovered)
            hand_over (b, e);
        else
            clean_up (b, e); /* cancelled meanwhile */
    }
    preparation_free (p);
}

/* The job was found running and cannot go on: it is ended and removed. */
static void abandon (struct broker *b, struct entry *e, const char *text)
{
    log_error ("job %ju: cannot be picked up and is ended: %s", (uintmax_t)entry_id (e),
               text);
    if (entry_job (e)->state == JOB_RUN
        && broker_exception (b, e, "start-failed", b->uid, text) == -ENOMEM)
        broker_no_memory ("the end of a job");
}

/* Makes the directory on a worker thread; takes p. */
static void prepare_dir (struct preparation *p, struct entry *e,
                         const struct exec_user *user)
{
    struct broker *b = p->b;

    if ((!e->js && !e->recovered) || !(e->xjob = exec_job_make (b, e, user))
        || !(p->dir = strdup (e->xjob->dir))) {
        hold_short (b, e, "out of memory", ENOMEM);
        preparation_free (p);
        return;
    }
    p->uid = user->uid;
    p->gid = user->gid;
    p->chown = b->uid == 0;
    p->share = job_dirs_are_shared (b) && p->uid != b->uid;
    p->first = entry_job (e)->restarts == 0 && !e->recovered;
    p->work.data = p;
    if (uv_queue_work (b->loop, &p->work, make_dir, dir_made) < 0) {
        hold_short (b, e, "out of memory", ENOMEM);
        preparation_free (p);
    }
}

static void user_known (int rc, const struct exec_user *user, void *arg)
{
    struct preparation *p = arg;
    struct broker *b = p->b;
    struct entry *e = b->dead ? NULL : entry_find (b, p->id);
    char text[128];

    if (!e || !e->starting) {
        preparation_free (p);
        return;
    }
    if (rc == 0) {
        prepare_dir (p, e, user);
    } else if (rc == -ENOENT && e->recovered) {
        /* End and remove the job with the uid alone. */
        char empty[] = "", root[] = "/";
        struct exec_user number = { .uid = entry_job (e)->userid,
                                    .gid = entry_job (e)->groupid,
                                    .name = entry_job (e)->user,
                                    .home = root,
                                    .shell = empty,
                                    .groups = (gid_t[]){ entry_job (e)->groupid },
                                    .ngroups = 1 };
        abandon (b, e, "its user does not exist here any more");
        prepare_dir (p, e, &number);
    } else {
        if (rc == -ENOENT)
            give_up (b, e, "its user does not exist here, or no longer exists");
        else {
            snprintf (text, sizeof (text), "uid %u cannot be looked up: %s",
                      (unsigned)entry_job (e)->userid, strerror (-rc));
            if (rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM)
                hold_short (b, e, text, -rc);
            else
                postpone (b, e, text);
        }
        preparation_free (p);
    }
}

static void find_user (struct preparation *p, struct entry *e)
{
    users_find (p->b->users, entry_job (e)->userid, user_known, p);
}

static void spec_read (int rc, const struct journal_record *rec, void *arg)
{
    struct preparation *p = arg;
    struct broker *b = p->b;
    struct entry *e = b->dead ? NULL : entry_find (b, p->id);
    struct error err = { 0 };

    b->under_way--;
    if (!e || !e->starting) {
        preparation_free (p);
        return;
    }
    if (rc < 0)
        error_set (&err, EIO, "its jobspec cannot be read from the journal");
    else if (!e->js)
        e->js = jobspec_parse (rec->jobspec, rec->jobspec_len, &err);
    if (rc == 0 && !e->js && err.code == ENOMEM) {
        hold_short (b, e, err.text, ENOMEM);
        preparation_free (p);
        return;
    }
    if (rc == 0 && !e->js && e->recovered)
        abandon (b, e, err.text);
    if (rc == 0 && (e->js || e->recovered)) {
        find_user (p, e);
        return;
    }
    if (rc < 0)
        postpone (b, e, err.text);
    else
        give_up (b, e, err.text);
    preparation_free (p);
}

void start_set_examined (struct entry *e, bool examined)
{
    slot_of (e)->examined = examined;
}

bool start_is_examined (const struct entry *e)
{
    return slot_of (e)->examined;
}

void broker_start (struct broker *b, struct entry *e)
{
    if (e->starting || e->xjob)
        return;
    if (entry_job (e)->state != JOB_RUN && !e->recovered)
        return; /* cancelled before the start: end_job() or cleanup follows */
    if (waits_for_pause (b, e) || slot_of (e)->examined)
        return;
    if (services_any (holds_start, b, e)) {
        slot_of (e)->again = true;
        return;
    }
    struct preparation *p = calloc (1, sizeof (*p));
    if (!p) {
        hold_short (b, e, "out of memory", ENOMEM);
        return;
    }
    p->b = b;
    p->id = entry_id (e);
    e->starting = true;
    if (e->js) {
        find_user (p, e);
    } else if (journal_read (b->journal, entry_id (e), JOURNAL_JOBSPEC, spec_read, p)
               == 0) {
        b->under_way++;
    } else {
        preparation_free (p);
        hold (b, e, "too many look-ups wait for the journal");
    }
}

static void end_job (struct broker *b, struct entry *e)
{
    if (e->starting || e->recovered)
        return; /* the next step of the start notices */
    if (!e->xjob)
        start_close_attempt (b, e);
    else
        b->ops->terminate (b->exec, e->xjob, "cancelled", broker_config (b)->grace);
}

static void clean_up (struct broker *b, struct entry *e)
{
    if (e->recovered || (e->starting && !e->xjob))
        return;
    e->starting = false;
    if (e->xjob)
        b->ops->cleanup (b->exec, e->xjob);
    else
        start_close_attempt (b, e);
}

static const struct service_act acts[] = {
    { JOB_ACT_START, broker_start },
    { JOB_ACT_CLEANUP, clean_up },
    { JOB_ACT_KILL, end_job },
    { 0, NULL },
};

const struct broker_service service_start = {
    .name = "start",
    .place = &place,
    .state_size = sizeof (struct state),
    .slot_size = sizeof (struct slot),
    .timer = offsetof (struct state, retry),
    .on_timer = retry_due,
    .acts = acts,
    .starts_due = starts_due,
};
