/* main.c - fluxq-pmix FD: serves PMIx to the tasks of a step on one node
 *
 * The agent starts this program and speaks with it over the descriptor FD, see
 * protocol/pmix_helper.h. The program ends when the agent closes the socket. */
#include <signal.h>

#include "common/parse.h"
#include "pmix/server.h"

#define END_WITHIN 10 /* seconds */

/* The agent sends the signals of the job to all of its processes. */
static void ignore_signals (void)
{
    for (int sig = 1; sig < NSIG; sig++)
        if (sig != SIGCHLD && sig != SIGALRM && sig != SIGSEGV && sig != SIGBUS
            && sig != SIGABRT && sig != SIGILL && sig != SIGFPE)
            signal (sig, SIG_IGN);
}

static int read_setup (struct pmix_link *link, struct pmix_setup *ret, struct error *err)
{
    autostrbuf struct strbuf text = STRBUF_INIT (PMIX_SETUP_MAX);
    struct frame f;
    int rc;

    while ((rc = pmix_link_receive (link, &f, err)) > 0) {
        if (f.type != PMIX_SETUP)
            return error_set (err, EPROTO, "the agent began with a frame %u", f.type);
        strbuf_add (&text, f.data, f.len);
        if (f.stream == 1)
            return text.err ? error_errno (err, -text.err, "the step's description")
                            : pmix_setup_parse (text.buf, text.len, ret, err);
    }
    return rc < 0 ? rc : error_set (err, EPROTO, "the agent has gone");
}

struct session {
    const struct pmix_setup *setup;
    struct pmix_server *server;
    struct parcels *parcels;
    struct strbuf fenced; /* pieces of what all tasks put */
};

static int on_fenced (struct session *s, const struct frame *f, struct error *err)
{
    int rc = strbuf_add (&s->fenced, f->data, f->len);

    if (rc < 0)
        return error_errno (err, -rc, "the data of a fence");
    if (f->stream != 1)
        return 0;
    size_t len = s->fenced.len;
    char *data = strbuf_detach (&s->fenced);
    if (!data)
        return error_no_memory (err, NULL);
    strbuf_init (&s->fenced, PMIX_FENCE_MAX);
    pmix_server_fenced (s->server, data, len);
    return 0;
}

static int on_from (struct session *s, const struct frame *f, struct error *err)
{
    struct parcel parcel;

    if (f->rank >= s->setup->nnodes)
        return error_set (err, EPROTO, "a message of node %u of %u", f->rank,
                          s->setup->nnodes);
    if (f->len == 0) {
        pmix_server_node_ended (s->server, f->rank);
        return 0;
    }
    int rc = parcels_take (s->parcels, f, &parcel, err);
    if (rc > 0)
        pmix_server_parcel (s->server, &parcel);
    return rc < 0 ? rc : 0;
}

/* Until the agent closes the socket. */
static int serve (struct session *s, struct pmix_link *link, struct error *err)
{
    struct frame f;
    int rc;

    while ((rc = pmix_link_receive (link, &f, err)) > 0) {
        if (f.type == PMIX_FENCED)
            rc = on_fenced (s, &f, err);
        else if (f.type == PMIX_FROM)
            rc = on_from (s, &f, err);
        else
            rc = error_set (err, EPROTO, "the agent sent a frame %u", f.type);
        if (rc < 0)
            break;
    }
    return rc;
}

static int run (struct pmix_link *link, const struct pmix_setup *setup, struct error *err)
{
    struct session s = { .setup = setup, .parcels = parcels_create (link) };
    int rc;

    if (!s.parcels)
        return error_no_memory (err, NULL);
    strbuf_init (&s.fenced, PMIX_FENCE_MAX);
    s.server = pmix_server_create (setup, link, s.parcels, err);
    rc = s.server ? pmix_server_start (s.server, err) : -EINVAL;
    if (rc == 0) {
        pmix_link_send (link, &(struct frame){ .type = PMIX_READY });
        rc = serve (&s, link, err);
    }
    alarm (END_WITHIN);
    if (s.server)
        pmix_server_destroy (s.server);
    strbuf_release (&s.fenced);
    parcels_destroy (s.parcels);
    return rc;
}

int main (int argc, char **argv)
{
    struct error err = { 0 };
    struct pmix_setup setup = { 0 };
    int64_t fd;

    if (argc != 2 || parse_int (argv[1], 3, INT32_MAX, &fd, "FD", &err) < 0) {
        fprintf (stderr,
                 "usage: " PMIX_HELPER
                 " FD\nfluxq's agent starts this program; it is not for users.\n");
        return 2;
    }
    ignore_signals ();
    struct pmix_link *link = pmix_link_create ((int)fd);
    if (!link)
        return 1;
    int rc = read_setup (link, &setup, &err);
    if (rc == 0)
        rc = run (link, &setup, &err);
    if (rc < 0)
        pmix_link_send (link, &(struct frame){ .type = PMIX_FAILED,
                                               .data = err.text,
                                               .len = (uint32_t)strlen (err.text) });
    pmix_setup_release (&setup);
    pmix_link_destroy (link);
    return rc < 0;
}
