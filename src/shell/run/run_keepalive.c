/* run_keepalive.c - fluxq-run --hold: the task of an allocation, which waits for its
 * end */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/io.h"
#include "protocol/keepalive.h"
#include "shell/io/stderr_line.h"
#include "shell/io/wire.h"
#include "shell/run/run.h"

static int fail (const struct error *err)
{
    fprintf (stderr, "%s: %s\n", run_name, err->text);
    return 1;
}

/* Receives the next message; any failure means that the agent has ended. */
static int receive (int fd, char *buf, size_t size, struct frame *ret, struct error *err)
{
    size_t len = 0;
    ssize_t n;
    while ((n = wire_parse (buf, len, ret)) == 0) {
        /* Read no further than this message, so that no bytes are left over. */
        size_t want = len < FRAME_HEAD ? FRAME_HEAD : FRAME_HEAD + (size_t)ret->len;
        ssize_t got = recv (fd, buf + len, MIN (want, size) - len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return error_set (err, ECONNRESET, "the job's agent is gone");
        len += (size_t)got;
    }
    return n > 0 ? 0 : error_set (err, EBADMSG, "the job's agent talks nonsense");
}

int run_keepalive (void)
{
    static char buf[FRAME_HEAD + FRAME_DATA_MAX];
    uint8_t wait[KEEPALIVE_SIZE];
    struct error err = { 0 };
    struct frame msg;
    int fd = run_connect (NULL, &err);
    if (fd < 0)
        return fail (&err);
    fcntl (fd, F_SETFL, 0); /* blocking */
    keepalive_encode (KEEPALIVE_WAIT, 0, wait);
    int rc = io_write_all (fd, wait, sizeof (wait));
    if (rc < 0) {
        error_errno (&err, -rc, "the job's agent");
        return fail (&err);
    }
    do {
        if (receive (fd, buf, sizeof (buf), &msg, &err) < 0)
            return fail (&err);
    } while (msg.type != WIRE_RUN_END || msg.len < 4);
    int status = (int)wire_get_u32 (msg.data);
    if (msg.len > 4)
        stderr_line (run_name, "%.*s", (int)msg.len - 4, msg.data + 4);
    return WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
}
