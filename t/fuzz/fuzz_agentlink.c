/* fuzz_agentlink.c - the answers of a hostile agent to the broker, over a real socket: the
 * stream of its spool, and the connection for clients
 *
 * Parser: exec/agentlink.c exec/agentstream.c net/http_parser.c
 *
 * The first byte chooses: 0: frames in a good answer; 1: any bytes as the answer; 2: any bytes
 * as the answer to a connection for clients. The broker gets whole frames only, each byte once.
 */
#define FUZZ_FRAMES_AT 1
#include "fuzz_frames.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "exec/agentlink.h"
#include "exec/agentstream.h"

#define TURNS_MAX 2000
#define OK "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n"

static uv_loop_t loop;
static struct httpc *http;
static int listener;
static struct sockaddr_un addr = { .sun_family = AF_UNIX };
static const uint8_t key[AGENT_KEY_SIZE] = "key";

struct seen {
    uint64_t next, frames; /* bytes of on_bytes(), of on_frame() */
    unsigned troubles, finishes, opened;
};

static void clean_up (void)
{
    unlink (addr.sun_path);
}

static void start (void)
{
    struct error err = { 0 };

    snprintf (addr.sun_path, sizeof (addr.sun_path), "/dev/shm/fluxq-fuzz-link.%d",
              (int)getpid ());
    atexit (clean_up);
    listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert (uv_loop_init (&loop) == 0 && (http = httpc_create (&loop, &err)));
    assert (bind (listener, (struct sockaddr *)&addr, sizeof (addr)) == 0);
    assert (listen (listener, 5) == 0);
}

static int on_bytes (uint64_t offset, const void *data, size_t len, void *arg)
{
    struct seen *s = arg;

    assert (offset >= s->next && data && len > 0); /* more after a gap */
    s->next = offset + len;
    return 0;
}

static void on_frame (const struct frame *f, void *arg)
{
    struct seen *s = arg;

    assert (f->type > 0 && f->type < FRAME_TYPES && f->len <= FRAME_DATA_MAX);
    s->frames += FRAME_HEAD + f->len;
}

static void on_trouble (unsigned n, const struct error *err, void *arg)
{
    assert (n > 0);
    fuzz_check_refusal (err, "");
    ((struct seen *)arg)->troubles++;
}

static void on_finish (const struct frame_finish *fin, void *arg)
{
    assert (fin->status >= 0 && fin->reason[0]);
    ((struct seen *)arg)->finishes++;
}

static void on_opened (const struct error *err, void *arg)
{
    if (err)
        fuzz_check_refusal (err, "");
    ((struct seen *)arg)->opened += err ? 1 : 2;
}

static void on_ready (void *arg)
{
    (void)arg;
}

/* The agent accepts, answers with these bytes and closes. True: done. */
static bool answer (const char *head, const uint8_t *data, size_t size)
{
    char request[4096];
    int fd = accept4 (listener, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        return false;
    for (int i = 0; i < 50 && recv (fd, request, sizeof (request), MSG_DONTWAIT) <= 0;
         i++)
        uv_run (&loop, UV_RUN_NOWAIT);
    assert (send (fd, head, strlen (head), MSG_NOSIGNAL) >= 0 || errno == EPIPE);
    (void)!send (fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    close (fd);
    return true;
}

static void turn_until (const unsigned *a, const unsigned *b)
{
    for (int i = 0; i < TURNS_MAX && *a == 0 && *b == 0; i++)
        uv_run (&loop, UV_RUN_NOWAIT);
}

static void accept_and_answer (const char *head, const uint8_t *data, size_t size)
{
    for (int i = 0; i < TURNS_MAX && !answer (head, data, size); i++)
        uv_run (&loop, UV_RUN_NOWAIT);
}

static void try_link (const struct agentlink_where *where, const char *head,
                      const uint8_t *data, size_t size)
{
    static const struct agentlink_events events = { on_bytes, on_frame, on_trouble,
                                                    on_finish };
    struct seen s = { 0 };
    struct error err = { 0 };
    struct agentlink *l = agentlink_open (http, &loop, where, key, 0, &events, &s, &err);

    assert (l);
    accept_and_answer (head, data, size);
    turn_until (&s.troubles, &s.finishes);
    assert (s.finishes <= 1 && s.frames <= size);
    agentlink_close (l);
}

static void try_stream (const struct agentlink_where *where, const uint8_t *data,
                        size_t size)
{
    static const struct agentstream_events events = { on_opened, on_ready };
    struct seen s = { 0 };
    struct error err = { 0 };
    struct agentstream *stream = agentstream_open (&loop, where, key, &events, &s, &err);
    char buf[256];
    ssize_t n = 1;

    assert (stream);
    accept_and_answer ("", data, size);
    turn_until (&s.opened, &s.opened);
    assert (s.opened <= 2);
    for (size_t total = 0; s.opened == 2 && n > 0; total += (size_t)n) {
        n = agentstream_read (stream, buf, sizeof (buf));
        assert (total <= size);
    }
    agentstream_close (stream);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct agentlink_where where = { .unix_socket = addr.sun_path,
                                     .peer = geteuid (),
                                     .url_prefix = "http://agent" };

    if (!http)
        start ();
    if (size < 1 || size > 60000)
        return 0;
    if (data[0] % 3 == 2)
        try_stream (&where, data + 1, size - 1);
    else
        try_link (&where, data[0] % 3 ? "" : OK, data + 1, size - 1);
    for (int fd; (fd = accept4 (listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;)
        close (fd);
    uv_run (&loop, UV_RUN_NOWAIT);
    return 0;
}
