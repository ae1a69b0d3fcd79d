/* fuzz_inside.c - the request of a command inside a job, as records, from a hostile pod; an
 * accepted one is written and reads back with the same text
 *
 * Parser: protocol/inside.c protocol/record.c protocol/pmix_helper.c
 * The same text is also the request of an agent to its helper for PMIx (pmix_helper.c).
 */
#include "fuzz_records.h"

#include <sys/socket.h>
#include <unistd.h>

#include "protocol/inside.h"
#include "protocol/pmix_helper.h"

static void try_request (const char *data, size_t size)
{
    autostrbuf struct strbuf one = STRBUF_INIT (INSIDE_REQUEST_MAX), two = one;
    struct inside_request r, again;
    struct error err = { 0 };

    if (inside_request_read (data, size, &r, &err) == 0) {
        assert (r.command && r.cwd && r.nargs <= INSIDE_WORDS_MAX);
        assert (r.nargs > 0 && !r.args[r.nargs] && r.nenv <= INSIDE_WORDS_MAX);
        assert (inside_request_write (&r, &one) == 0);
        assert (inside_request_read (one.buf, one.len, &again, &err) == 0);
        assert (inside_request_write (&again, &two) == 0);
        assert (one.len == two.len && !memcmp (one.buf, two.buf, one.len));
        inside_is_served (r.command);
        inside_request_release (&again);
    } else
        fuzz_check_refusal (&err, "");
    inside_request_release (&r);
}

static void try_pmix (const char *data, size_t size)
{
    autostrbuf struct strbuf one = STRBUF_INIT (PMIX_SETUP_MAX), two = one;
    struct pmix_setup s, again;
    struct error err = { 0 };

    if (pmix_setup_parse (data, size, &s, &err) < 0) {
        fuzz_check_refusal (&err, "");
        return;
    }
    assert (s.nspace && s.nodes && s.procs && s.node < s.nnodes && s.ntasks > 0);
    assert (pmix_setup_write (&s, &one) == 0);
    assert (pmix_setup_parse (one.buf, one.len, &again, &err) == 0);
    assert (pmix_setup_write (&again, &two) == 0);
    assert (one.len == two.len && !memcmp (one.buf, two.buf, one.len));
    pmix_setup_release (&again);
    pmix_setup_release (&s);
}

/* The bytes as messages of a peer that goes then. */
static void try_messages (const char *data, size_t size)
{
    static struct inside_link l;
    struct frame msg;
    int fds[2], rc;
    size_t total = 0;

    if (size > 100000 || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return;
    assert (write (fds[0], data, size) == (ssize_t)size);
    shutdown (fds[0], SHUT_WR);
    memset (&l, 0, offsetof (struct inside_link, buf));
    l.fd = fds[1];
    while ((rc = inside_receive (&l, &msg)) == 0) {
        assert (msg.len <= FRAME_DATA_MAX);
        total += FRAME_HEAD + msg.len;
        inside_took (&l, msg.len);
    }
    assert (rc == -EPIPE || rc == -EBADMSG);
    assert (total <= size);
    close (fds[0]);
    close (fds[1]);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    try_request ((const char *)data, size);
    try_pmix ((const char *)data, size);
    try_messages ((const char *)data, size);
    return 0;
}
