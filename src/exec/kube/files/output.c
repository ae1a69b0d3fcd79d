/* output.c - see output.h */
#include "exec/kube/files/output.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/sha256.h"
#include "common/userdir.h"
#include "common/userfile.h"
#include "exec/agentkey.h"
#include "exec/kube/files/outputfiles.h"
#include "exec/kube/files/stagefiles.h"
#include "exec/kube/files/staging.h"
#include "exec/kube/files/unprivileged.h"
#include "exec/mounts.h"

#define KEY_NAME "key"
#define DELIVERED_MAX (32 << 20)
#define SCAN_BUFFER (1 << 20)
#define USAGE_MAX ((size_t)8 << 20) /* the rest is not reported */

static bool is_seen (const struct exec_job *job, const struct launch *launch,
                     const char *file, bool to_write)
{
    return file && *file && mounts_see (job->mounts, launch->cwd, file, to_write);
}

static unsigned decide_by_agent (const struct exec_job *job, const struct launch *launch)
{
    const struct jobspec *js = job->js;
    bool output = is_seen (job, launch, js->output, true);
    bool error = js->error ? is_seen (job, launch, js->error, true) : output;

    return (output ? OUTPUT_BY_AGENT : 0) | (error ? ERROR_BY_AGENT : 0);
}

static int copy_stages (struct stage_list *to, const struct stage_list *from)
{
    int rc = 0;

    for (size_t i = 0; i < from->n && rc == 0; i++)
        rc = stage_list_add (to, from->v[i].from, from->v[i].to, "stage-in", NULL);
    return rc;
}

struct output *output_create (const struct exec_job *job, const struct launch *launch)
{
    struct output *o = calloc (1, sizeof (*o));

    if (!o)
        return NULL;
    o->spool = o->dir = -1;
    strbuf_init (&o->usage, USAGE_MAX);
    o->launch = launch;
    o->max = job->output_max;
    o->output = job->js->output ? strdup (job->js->output) : NULL;
    o->error = job->js->error ? strdup (job->js->error) : NULL;
    o->input = job->js->input ? strdup (job->js->input) : NULL;
    o->script_len = job->js->script_len;
    o->sends_input = inputfiles_wanted (job->js->input)
                     && !is_seen (job, launch, job->js->input, false);
    o->by_agent = decide_by_agent (job, launch);
    o->user = (struct exec_user){ .uid = job->user.uid, .gid = job->user.gid };
    o->user.groups = calloc (job->user.ngroups + 1, sizeof (gid_t));
    if (o->user.groups && job->user.ngroups) {
        o->user.ngroups = job->user.ngroups;
        memcpy (o->user.groups, job->user.groups, job->user.ngroups * sizeof (gid_t));
    }
    o->dir_path = strdup (job->dir);
    o->spool_name = strdup (strrchr (job->spool, '/') + 1);
    snprintf (o->delivered, sizeof (o->delivered), "delivered-%u", job->attempt);
    o->staged = stagefiles_create (launch);
    if (copy_stages (&o->stage_in, &job->js->stage_in) == 0 && o->staged && o->spool_name
        && o->dir_path && o->user.groups
        && !o->output == !job->js->output && !o->error == !job->js->error
        && !o->input == !job->js->input)
        return o;
    output_destroy (o);
    return NULL;
}

void output_destroy (struct output *o)
{
    if (!o)
        return;
    if (o->spool >= 0)
        close (o->spool);
    if (o->dir >= 0)
        close (o->dir);
    outputfiles_destroy (o->files);
    stagefiles_destroy (o->staged);
    stage_list_release (&o->stage_in);
    strbuf_release (&o->usage);
    secret_wipe (o->key, sizeof (o->key));
    free (o->user.groups);
    free (o->output);
    free (o->error);
    free (o->input);
    inputfiles_release (&o->inputs);
    free (o->dir_path);
    free (o->spool_name);
    free (o);
}

/* Without root, the job's directory belongs to us, see unprivileged.h. */
static int become (struct output *o, struct error *err)
{
    if (unprivileged_for (o->user.uid))
        return 0;
    return userfile_become (o->user.uid, o->user.gid, o->user.groups, o->user.ngroups,
                            err);
}

static uid_t owner_of (const struct output *o)
{
    return userdir_owner (o->user.uid);
}

static int put_file (struct output *o, const char *name, const char *text,
                     struct error *err)
{
    return userdir_write (o->dir, name, text, strlen (text), 0600, owner_of (o),
                          o->user.gid, USERDIR_DURABLE, err);
}

/* -- the key -- */

static int make_key (struct output *o, struct error *err)
{
    char hex[2 * AGENT_KEY_SIZE + 1];
    int rc = secret_random (o->key, sizeof (o->key));

    if (rc < 0)
        return error_errno (err, -rc, "no random numbers");
    hex_encode (o->key, sizeof (o->key), hex);
    rc = put_file (o, KEY_NAME, hex, err);
    secret_wipe (hex, sizeof (hex));
    return rc;
}

static int open_key (struct output *o, struct error *err)
{
    int rc = agentkey_read (o->dir, KEY_NAME, owner_of (o), o->key, err);

    return rc == -ENOENT ? make_key (o, err) : rc;
}

/* -- delivered output -- */

/* 1: there is a checkpoint; 0: there is none. Returns the sizes of output files and of
 * staged files (NULL: none). */
static int read_delivered (struct output *o, json_t **ret_sizes, json_t **ret_staged,
                           struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (DELIVERED_MAX + 1);
    autojson json_t *root = NULL;
    int64_t offset = 0, by_agent = 0;
    json_t *sizes = NULL, *staged = NULL;
    const char *problem = "";
    int rc = userdir_read (o->dir, o->delivered, owner_of (o), &sb, DELIVERED_MAX, err);

    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    root = json_parse (sb.buf, sb.len, o->delivered, err);
    if (!root
        || json_get_int (root, "offset", 0, INT64_MAX, &offset, JSON_REQUIRED,
                         o->delivered, err)
               < 0
        || json_get_int (root, "agent", 0, OUTPUT_BY_AGENT | ERROR_BY_AGENT, &by_agent,
                         JSON_OPTIONAL_KEY, o->delivered, err)
               < 0
        || json_get_object (root, "files", &sizes, JSON_REQUIRED, o->delivered, err)
               < 0
        || json_get_object (root, "staged", &staged, JSON_OPTIONAL_KEY, o->delivered,
                            err)
               < 0
        || json_get_string (root, "problem", &problem, JSON_OPTIONAL_KEY,
                            o->delivered, err)
               < 0)
        return -EINVAL;
    o->safe = (uint64_t)offset;
    o->by_agent = (unsigned)by_agent;
    *ret_sizes = json_incref (sizes);
    *ret_staged = json_incref (staged);
    snprintf (o->stage_problem, sizeof (o->stage_problem), "%s", problem ? problem : "");
    return 1;
}

static int write_delivered (struct output *o, struct error *err)
{
    json_t *sizes = outputfiles_sync (o->files);
    autojson json_t *root = json_pack ("{s:I s:i s:o}", "offset", (json_int_t)o->offset,
                                       "agent", (int)o->by_agent, "files", sizes);
    if (root && o->launch->nstage_out > 0
        && json_object_update_new (root, json_pack ("{s:o s:s}", "staged",
                                                    stagefiles_sync (o->staged),
                                                    "problem", o->stage_problem))
               < 0)
        return error_set (err, ENOMEM, "out of memory");
    autofree char *text = root ? json_dumps (root, JSON_COMPACT) : NULL;

    if (!text)
        return error_set (err, ENOMEM, "out of memory");
    int rc = put_file (o, o->delivered, text, err);
    if (rc == 0)
        o->safe = o->offset;
    return rc;
}

/* -- frames -- */

/* The job reports the first problem, if it has none of its own. */
static void stage_failed (struct output *o, const struct error *err)
{
    o->note_fresh = true;
    snprintf (o->note, sizeof (o->note), "%s", err->text);
    if (!o->stage_problem[0])
        snprintf (o->stage_problem, sizeof (o->stage_problem), "%.250s", err->text);
}

/* Applies the frame to the state, and to the files if they do not have it yet. */
static void deliver (struct output *o, const struct frame *f, bool to_files)
{
    struct error err = { 0 };

    if (f->type == FRAME_READY) {
        o->was_ready = true;
        inputfiles_release (&o->inputs);
    } else if (f->type == FRAME_FINISH) {
        o->finished = frame_finish_decode (f->data, f->len, &o->finish) == 0;
    } else if (to_files && f->type == FRAME_FILE) {
        if (stagefiles_write (o->staged, f, &err) < 0)
            stage_failed (o, &err);
    } else if (to_files && f->type == FRAME_OUTPUT
               && outputfiles_write (o->files, f, &err) < 0) {
        o->note_fresh = true;
        snprintf (o->note, sizeof (o->note),
                  "%s (its output is lost there; fluxq-logs has it)", err.text);
    }
}

/* Takes all whole frames of the buffer, the first of which is at *at; *at advances to the
 * rest. 1: behind a cut. */
static int scan_frames (struct output *o, struct strbuf *buf, uint64_t *at, uint64_t size)
{
    size_t used = 0;
    struct frame f;
    uint64_t next;
    ssize_t n;

    while ((n = frame_parse (buf->buf + used, buf->len - used, &f)) > 0) {
        if (f.type == FRAME_USAGE)
            frame_keep (&f, &o->usage);
        deliver (o, &f, *at >= o->safe);
        used += (size_t)n;
        *at += (uint64_t)n;
    }
    strbuf_consume (buf, used);
    if (n == 0 || buf->len < OUTPUT_GAP_SIZE)
        return 0;
    if (!output_gap_parse (buf->buf, buf->len, &next) || next <= *at || next > size)
        return -EBADMSG;
    o->gap.at = *at;
    o->gap.next = *at = next;
    return 1;
}

/* Reads the spool from the start, for its state and for what the files lack. The last
 * whole frame becomes the spool's end. */
static int scan_spool (struct output *o, struct error *err)
{
    uint64_t at = 0, read_at = 0;
    struct strbuf buf = STRBUF_INIT (2 * SCAN_BUFFER);
    struct stat st;
    ssize_t got = 1;
    int rc = fstat (o->spool, &st);

    while (rc >= 0 && got > 0) {
        char piece[65536];

        got = pread (o->spool, piece, sizeof (piece), (off_t)read_at);
        if (got < 0)
            break;
        read_at += (uint64_t)got;
        strbuf_add (&buf, piece, (size_t)got);
        rc = scan_frames (o, &buf, &at, (uint64_t)st.st_size);
        if (rc > 0) {
            read_at = at;
            strbuf_reset (&buf);
        }
    }
    strbuf_release (&buf);
    o->offset = at;
    if (got < 0 || ftruncate (o->spool, (off_t)at) < 0)
        return error_errno (err, errno, "%s", o->spool_name);
    return 0;
}

static int open_spool (struct output *o, struct error *err)
{
    o->spool =
        userdir_open_file (o->dir, o->spool_name, O_RDWR | O_CREAT, owner_of (o), err);
    if (o->spool < 0)
        return o->spool;
    output_limit_init (&o->gap, o->spool, o->max);
    o->gap.durable = true;
    return 0;
}

/* As much as the ConfigMap has room for beside the launch file and the script. */
static int read_inputs (struct output *o, struct error *err)
{
    autostrbuf struct strbuf text = STRBUF_INIT (2 * LAUNCH_MAX);
    size_t other, max;
    int rc = 0;

    if ((!o->sends_input && o->stage_in.n == 0) || o->was_ready || o->finished)
        return 0;
    if (launch_write (o->launch, &text) < 0)
        return error_set (err, E2BIG, "its arguments and environment are too large");
    other = text.len + o->script_len;
    max = CONFIGMAP_MAX - MIN (other, CONFIGMAP_MAX);
    if (o->sends_input)
        rc = inputfiles_read (&o->inputs, o->launch, o->input, max, err);
    for (size_t i = 0; i < o->inputs.n; i++)
        max -= o->inputs.v[i].len;
    return rc < 0 ? rc : staging_read (&o->inputs, &o->stage_in, o->launch, max, err);
}

/* Opens the files that the agent does not write. */
static struct outputfiles *open_files (struct output *o, struct error *err)
{
    const char *output = o->by_agent & OUTPUT_BY_AGENT ? NULL : o->output;
    const char *error = o->by_agent & ERROR_BY_AGENT ? "" : o->error;

    if (unprivileged_for (o->user.uid)) {
        if (unprivileged_refuse (o->launch, output, error,
                                 o->sends_input ? o->input : NULL, err)
            < 0)
            return NULL;
        output = error = NULL;
    }
    return outputfiles_create (o->launch, output, error, err);
}

/* A staged file that cannot be continued does not end a running job. */
static void restore_staged (struct output *o, json_t *sizes)
{
    struct error err = { 0 };

    if (stagefiles_restore (o->staged, sizes, &err) < 0)
        stage_failed (o, &err);
}

/* The job's own directory is the broker's, but its user's quota is the user's. Of errors
 * in the user's files, only a shortage of the broker's process is the broker's. */
static int own (struct output *o, int rc, const struct error *err)
{
    if (rc < 0 && err->code != EDQUOT && err->code != EAGAIN)
        o->shortage = error_shortage (err->code);
    return rc;
}

static int theirs (struct output *o, int rc, const struct error *err)
{
    if (rc < 0 && (err->code == EMFILE || err->code == ENFILE || err->code == ENOMEM))
        o->shortage = err->code;
    return rc;
}

static int open_all (struct output *o, struct error *err)
{
    autojson json_t *sizes = NULL;
    autojson json_t *staged = NULL;
    int rc = 0, known;

    if (o->dir < 0)
        rc = o->dir = own (o, userdir_open (o->dir_path, owner_of (o), err), err);
    if (rc >= 0)
        rc = own (o, open_key (o, err), err);
    o->shortage = rc < 0 ? o->shortage : 0;
    if (rc < 0 || (rc = own (o, open_spool (o, err), err)) < 0)
        return rc;
    known = own (o, read_delivered (o, &sizes, &staged, err), err);
    if (known < 0)
        return known;
    o->files = open_files (o, err);
    if (!o->files)
        return theirs (o, -EINVAL, err);
    if (known)
        restore_staged (o, staged);
    else
        rc = stagefiles_check (o->staged, err);
    if (rc == 0)
        rc = known ? outputfiles_restore (o->files, sizes, err)
                   : outputfiles_begin (o->files, err);
    theirs (o, rc, err);
    if (rc == 0)
        rc = own (o, scan_spool (o, err), err);
    if (rc == 0)
        rc = theirs (o, read_inputs (o, err), err);
    return rc < 0 ? rc : own (o, write_delivered (o, err), err);
}

int output_open (struct output *o, struct error *err)
{
    int rc = become (o, err);

    if (rc < 0)
        return rc;
    rc = open_all (o, err);
    userfile_restore (NULL);
    return rc;
}

static int write_spool (struct output *o, const char *data, size_t len, struct error *err)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = pwrite (o->spool, data + done, len - done, (off_t)(o->offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_errno (err, errno, "%s", o->spool_name);
        done += (size_t)n;
    }
    return 0;
}

int output_write (struct output *o, const void *data, size_t len, struct error *err)
{
    const char *p = data;
    struct frame f;
    int rc = become (o, err);

    if (rc < 0)
        return rc;
    o->shortage = 0;
    rc = own (o, write_spool (o, p, len, err), err);
    if (rc == 0) {
        for (size_t at = 0; at < len;) {
            ssize_t n = frame_parse (p + at, len - at, &f);

            if (n <= 0)
                break; /* the link passes on whole frames only */
            deliver (o, &f, true);
            at += (size_t)n;
        }
        o->offset += len;
    }
    userfile_restore (NULL);
    return rc;
}

int output_checkpoint (struct output *o, struct error *err)
{
    int rc = become (o, err);

    if (rc < 0)
        return rc;
    if (fsync (o->spool) < 0)
        rc = error_errno (err, errno, "%s", o->spool_name);
    else
        rc = write_delivered (o, err);
    /* Cuts only what the files have, too. */
    if (rc == 0 && output_limit_advance (&o->gap, o->spool, o->safe) < 0)
        o->gap.max = 0;
    userfile_restore (NULL);
    return rc;
}

const char *output_note (struct output *o)
{
    if (!o->note_fresh)
        return NULL;
    o->note_fresh = false;
    return o->note;
}
