/* files.c - the files of a local job's agents in its directory: launch file, key, script;
 * made, read and removed on a worker thread */
#include <limits.h>

#include "common/sha256.h"
#include "common/userdir.h"
#include "exec/agentkey.h"
#include "exec/joblaunch.h"
#include "exec/local/private.h"
#include "launch/launcher.h"
#include "protocol/run_dir.h"

#define LAUNCH_BYTES_MAX (64 << 20)

static int no_memory (struct local_job *l)
{
    l->put_errno = ENOMEM;
    return error_no_memory (&l->err, NULL);
}

static const char *base_of (const char *path)
{
    return strrchr (path, '/') + 1;
}

int local_open_dir (struct local_job *l, struct error *err)
{
    int rc = 0;

    if (l->dir_fd < 0) {
        rc = userdir_open (l->job->dir, userdir_owner (l->job->user.uid), err);
        l->dir_fd = MAX (rc, -1);
    }
    return MIN (rc, 0);
}

/* Makes a new file in the job's directory, which is the user's: follows no link and keeps
 * no old file. */
static int put_file (struct local_job *l, const char *path, const void *data, size_t len,
                     mode_t mode)
{
    const struct exec_user *user = &l->job->user;
    /* The group bits are the mask of the ACL of a shared directory. */
    mode_t mask = launcher_is_on () ? (mode & 0700) >> 3 : 0;
    int rc = userdir_write (l->dir_fd, base_of (path), data, len, mode | mask,
                            userdir_owner (user->uid), user->gid, 0, &l->err);

    /* root has no quota: the file's user has, who gets the file. */
    if (rc < 0 && (rc != -EDQUOT || geteuid () != 0))
        l->put_errno = error_shortage (-rc);
    return rc;
}

/* Returns the address of any rank's agent, as a pattern (protocol/launch.h). NULL: no
 * memory. */
static char *agents_address (const struct local_job *l)
{
    struct strbuf sb = STRBUF_INIT (2 * PATH_MAX);

    strbuf_adds (&sb, "unix:");
    for (const char *p = l->socket; *p; p++)
        strbuf_adds (&sb, *p == '%' ? "%%" : (char[]){ *p, '\0' });
    strbuf_adds (&sb, "-%r");
    return strbuf_detach (&sb);
}

static int set_texts (struct local_job *l, struct launch *launch)
{
    const struct jobspec *js = l->job->js;
    autofree char *address = agents_address (l), *broker = NULL;
    if (asprintf (&broker, "unix://%s/" RUN_DIR_SOCKET, l->x->host->runtime_dir) < 0) {
        broker = NULL;
        return no_memory (l);
    }
    const struct {
        char **field;
        const char *value;
    } texts[] = {
        { &launch->rendezvous, address },
        { &launch->listen, address },
        { &launch->broker, broker },
        { &launch->spool, l->job->spool },
        { &launch->output, js->output ? js->output : "" },
        { &launch->error, js->error },
        { &launch->input, js->input },
        { &launch->script, jobspec_is_batch (js) ? l->script : NULL },
    };
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++)
        if (texts[i].value && !(*texts[i].field = strdup (texts[i].value)))
            return no_memory (l);
    launch->join_timeout = l->job->limits.start;
    /* With several virtual nodes each has all the machine's cores, or none of its own. */
    launch->cores_are_cpus = l->x->nodes == 1;
    launch->spool_keep = l->job->output_max;
    return address ? 0 : no_memory (l);
}

/* Both sides are this machine: the agents copy the files. */
static int set_stages (struct local_job *l, struct launch *launch)
{
    const struct stage_list *in = &l->job->js->stage_in, *out = &l->job->js->stage_out;
    int rc = 0;

    for (size_t i = 0; i < in->n && rc == 0; i++)
        rc = launch_add_stage (&launch->stage_in, &launch->nstage_in,
                               &(struct launch_stage){ .rank = LAUNCH_ALL_RANKS,
                                                       .from = in->v[i].from,
                                                       .to = in->v[i].to });
    for (size_t i = 0; i < out->n && rc == 0; i++) {
        bool each = pattern_is_per_node (out->v[i].to);
        rc =
            launch_add_stage (&launch->stage_out, &launch->nstage_out,
                              &(struct launch_stage){ .rank = each ? LAUNCH_ALL_RANKS : 0,
                                                      .from = out->v[i].from,
                                                      .to = out->v[i].to });
    }
    return rc < 0 ? error_set (&l->err, ENOMEM, "out of memory") : 0;
}

static int put_launch (struct local_job *l)
{
    struct launch launch;
    struct strbuf sb = STRBUF_INIT (LAUNCH_BYTES_MAX);

    if (joblaunch_fill (l->job, &launch, &l->err) < 0)
        return -ENOMEM;
    int rc = set_texts (l, &launch);
    if (rc == 0)
        rc = set_stages (l, &launch);
    if (rc == 0 && (rc = launch_write (&launch, &sb)) < 0)
        error_set (&l->err, E2BIG, "its arguments and environment are too large");
    if (rc == 0)
        rc = put_file (l, l->launch, sb.buf, sb.len, 0400);
    strbuf_release (&sb);
    launch_release (&launch);
    return rc;
}

static int put_key (struct local_job *l)
{
    char hex[2 * AGENT_KEY_SIZE + 2];
    if (secret_random (l->key, sizeof (l->key)) < 0)
        return error_set (&l->err, EIO, "no random bytes to be had");
    hex_encode (l->key, sizeof (l->key), hex);
    hex[2 * AGENT_KEY_SIZE] = '\n';
    int rc = put_file (l, l->key_path, hex, 2 * AGENT_KEY_SIZE + 1, 0400);
    secret_wipe (hex, sizeof (hex));
    return rc;
}

void local_put_launch_again (uv_work_t *w)
{
    struct local_job *l = w->data;

    l->err = (struct error){ 0 };
    if ((l->rc = local_open_dir (l, &l->err)) == 0)
        l->rc = put_launch (l);
}

void local_put_files (uv_work_t *w)
{
    struct local_job *l = w->data;
    uid_t self = geteuid ();
    const struct jobspec *js = l->job->js;

    if (self != 0 && self != l->job->user.uid
        && !launcher_is_on ()) { /* it would run with our identity */
        l->rc = error_set (&l->err, EPERM,
                           "the broker runs without root and cannot become %s",
                           l->job->user.name);
        return;
    }
    if ((l->rc = local_open_dir (l, &l->err)) < 0)
        l->put_errno = error_shortage (-l->rc);
    if (l->rc == 0 && (l->rc = put_key (l)) == 0 && (l->rc = put_launch (l)) == 0 && jobspec_is_batch (js))
        l->rc = put_file (l, l->script, js->script, js->script_len, 0700);
}

void local_look (uv_work_t *w)
{
    struct local_job *l = w->data;
    struct error err = { 0 };

    l->err = (struct error){ 0 };
    l->rc = local_open_dir (l, &l->err);
    if (l->rc < 0)
        return;
    l->has_spool = userdir_has (l->dir_fd, base_of (l->job->spool));
    l->has_launch = userdir_has (l->dir_fd, base_of (l->launch));
    l->has_key = agentkey_read (l->dir_fd, base_of (l->key_path),
                                userdir_owner (l->job->user.uid), l->key, &err)
                 == 0;
    if (!l->has_key)
        l->err = err;
}

/* Agents remove their own sockets, unless they were killed. */
void local_remove_files (uv_work_t *w)
{
    struct local_job *l = w->data;
    const char *files[] = { l->launch, l->key_path, l->script };
    char name[PATH_MAX];

    if (local_open_dir (l, &l->err) < 0)
        return; /* the directory is removed with the job */
    for (size_t i = 0; i < ARRAY_SIZE (files); i++)
        userdir_remove (l->dir_fd, base_of (files[i]));
    for (size_t rank = 0; rank < l->job->r->nranks; rank++) {
        snprintf (name, sizeof (name), "%s-%zu", base_of (l->socket), rank);
        userdir_remove (l->dir_fd, name);
    }
}
