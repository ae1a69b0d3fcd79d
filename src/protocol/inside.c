/* inside.c - messages and requests of Slurm's commands inside a job, see inside.h */
#include "protocol/inside.h"

#include <string.h>
#include <sys/socket.h>

#include "protocol/record.h"

const char *const inside_clients[] = { "sacct",  "sacctmgr", "sattach",  "sbatch",
                                       "sbcast", "scancel",  "scontrol", "sinfo",
                                       "sprio",  "squeue",   "sreport",  "srun",
                                       "sshare", "sstat",    "strigger", NULL };
/* Commands that the agent's program runs itself. */
static const char *const own[] = { "sbcast", "srun" };

bool inside_is_served (const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE (own); i++)
        if (!strcmp (own[i], name))
            return false;
    for (size_t i = 0; inside_clients[i]; i++)
        if (!strcmp (inside_clients[i], name))
            return true;
    return false;
}

/* -- messages -- */

static int send_all (int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = send (fd, p, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == ECONNRESET ? -EPIPE : -errno;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int inside_send (struct inside_link *l, enum inside_kind kind, const void *data,
                 size_t len)
{
    const struct frame f = { .type = INSIDE_TYPE,
                             .stream = (uint8_t)kind,
                             .len = (uint32_t)len };
    uint8_t head[FRAME_HEAD];

    frame_encode_head (&f, head);
    int rc = send_all (l->fd, head, sizeof (head));
    return rc < 0 ? rc : send_all (l->fd, data, len);
}

static uint32_t get_u32 (const char *data)
{
    const uint8_t *p = (const uint8_t *)data;

    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16
           | (uint32_t)p[3] << 24;
}

/* Accounts and removes INSIDE_USED wherever they are, and notes INSIDE_GONE, so that
 * messages for which it is too early do not hold them up. */
static int absorb (struct inside_link *l)
{
    size_t at = l->used;
    struct frame f;
    ssize_t n;

    while ((n = frame_parse_type (l->buf + at, l->len - at, INSIDE_TYPE, &f)) > 0) {
        l->gone |= f.stream == INSIDE_GONE;
        if (f.stream != INSIDE_USED) {
            at += (size_t)n;
            continue;
        }
        if (f.len == 4)
            l->unread -= MIN (l->unread, (size_t)get_u32 (f.data));
        l->len -= (size_t)n;
        memmove (l->buf + at, l->buf + at + n, l->len - at);
    }
    return n < 0 ? -EBADMSG : 0;
}

int inside_pump (struct inside_link *l, bool wait)
{
    memmove (l->buf, l->buf + l->used, l->len - l->used);
    l->len -= l->used;
    l->used = 0;
    if (l->len == sizeof (l->buf))
        return -EBADMSG; /* more than the window allows */
    ssize_t n =
        recv (l->fd, l->buf + l->len, sizeof (l->buf) - l->len, wait ? 0 : MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || (!wait && errno == EAGAIN)))
        return 0;
    if (n <= 0)
        return n == 0 || errno == ECONNRESET ? -EPIPE : -errno;
    l->len += (size_t)n;
    return absorb (l);
}

bool inside_message (struct inside_link *l, struct frame *ret)
{
    ssize_t n = frame_parse_type (l->buf + l->used, l->len - l->used, INSIDE_TYPE, ret);

    l->used += n > 0 ? (size_t)n : 0;
    return n > 0;
}

int inside_receive (struct inside_link *l, struct frame *ret)
{
    int rc = 0;

    while (rc == 0 && !inside_message (l, ret))
        rc = inside_pump (l, true);
    return rc;
}

int inside_flow (struct inside_link *l, enum inside_kind kind, const char *data,
                 size_t len)
{
    int rc = 0;

    while (rc == 0 && len > 0) {
        size_t n = MIN (len, INSIDE_PIECE);
        rc = inside_pump (l, !inside_has_room (l));
        if (rc == 0 && l->gone)
            rc = -EPIPE;
        if (rc < 0 || !inside_has_room (l))
            continue;
        rc = inside_send (l, kind, data, n);
        l->unread += n;
        data += n;
        len -= n;
    }
    return rc;
}

int inside_took (struct inside_link *l, size_t len)
{
    uint8_t data[4];

    for (int i = 0; i < 4; i++)
        data[i] = (uint8_t)(len >> (8 * i));
    return inside_send (l, INSIDE_USED, data, sizeof (data));
}

/* -- the request -- */

static const struct record_field fields[] = {
    RECORD_FIELD (struct inside_request, command, RECORD_STRING, 0, 0),
    RECORD_FIELD (struct inside_request, cwd, RECORD_STRING, 0, 0),
    RECORD_FIELD (struct inside_request, host, RECORD_STRING, 0, 0),
    RECORD_FIELD (struct inside_request, umask, RECORD_U32, 0, 0777),
    RECORD_FIELD (struct inside_request, nice, RECORD_U32, 0, 19),
};

int inside_request_write (const struct inside_request *r, struct strbuf *sb)
{
    int rc = record_write (fields, ARRAY_SIZE (fields), r, sb);

    for (size_t i = 0; i < RLIMITS_COUNT; i++) {
        char text[RLIMITS_TEXT_MAX];
        if (!(r->rlimits.given & UINT32_C (1) << i))
            continue;
        rlimits_format (&r->rlimits, i, text, sizeof (text));
        record_add_one (sb, "rlimit", text, strlen (text));
    }
    record_add_strings (sb, "arg", r->args, r->nargs);
    record_add_strings (sb, "env", r->env, r->nenv);
    if (rc < 0)
        return rc;
    return sb->err ? sb->err : sb->len > INSIDE_REQUEST_MAX ? -E2BIG : 0;
}

static int read_record (struct inside_request *ret, const struct record *r,
                        uint64_t *seen, struct error *err)
{
    if (!strcmp (r->name, "arg") && ret->nargs < INSIDE_WORDS_MAX)
        return record_append (&ret->args, &ret->nargs, r, err);
    if (!strcmp (r->name, "env") && ret->nenv < INSIDE_WORDS_MAX)
        return record_append_env (&ret->env, &ret->nenv, r, err);
    if (!strcmp (r->name, "rlimit")) {
        char text[RLIMITS_TEXT_MAX];
        snprintf (text, sizeof (text), "%.*s", (int)MIN (r->len, sizeof (text)), r->data);
        return rlimits_add (&ret->rlimits, text, err);
    }
    return record_read (fields, ARRAY_SIZE (fields), ret, seen, r, err);
}

int inside_request_read (const char *data, size_t len, struct inside_request *ret,
                         struct error *err)
{
    struct record_text text = { "request", data, len, len };
    struct record r;
    uint64_t seen = 0;
    int rc;

    *ret = (struct inside_request){ .umask = 022 };
    while ((rc = record_take (&text, &r, err)) > 0)
        if ((rc = read_record (ret, &r, &seen, err)) < 0)
            return rc;
    if (rc < 0)
        return rc;
    if (!ret->command || !ret->cwd || ret->cwd[0] != '/' || !ret->host || ret->nargs == 0)
        return error_set (err, EINVAL,
                          "request: command, arguments, directory or host are missing");
    return 0;
}

void inside_request_release (struct inside_request *r)
{
    record_free_strings (r->args, r->nargs);
    record_free_strings (r->env, r->nenv);
    record_release (fields, ARRAY_SIZE (fields), r);
    r->args = r->env = NULL;
    r->nargs = r->nenv = 0;
}
