/* fuzz_http_server.c - data of a hostile client for the broker's HTTP server, over a
 * real socket and in a real loop.
 *
 * Parser: net/http_server.c net/http_request.c net/http_target.c
 *
 * The first byte sets the number of parts of the rest, and whether the client
 * half-closes and reads. Besides the sanitizers' findings, it is an error if
 * libmicrohttpd wants to run again and again without an event (a stall), or if a
 * connection costs more turns than its bytes explain. No time is measured.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/io.h"
#include "net/http_server.h"

#define PIECES_MAX 16
#define TURNS_A_PIECE 40 /* measured: 3 to 8 */
#define TURNS_MAX 2000

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static uv_loop_t loop;
static struct http_server *server;
static char dir[64] = "/tmp/fluxq-fuzz-http.XXXXXX";
static struct sockaddr_un addr = { .sun_family = AF_UNIX };

static void on_request (struct http_request *req, void *arg)
{
    size_t len;
    const char *body = http_request_body (req, &len);

    (void)arg;
    http_request_query (req, "limit");
    http_reply (req, 200, NULL, body, len);
}

static void clean_up (void)
{
    io_remove_tree (dir, NULL);
}

static void start (void)
{
    struct error err = { 0 };

    signal (SIGPIPE, SIG_IGN);
    if (!mkdtemp (dir) || uv_loop_init (&loop) < 0)
        abort ();
    atexit (clean_up);
    snprintf (addr.sun_path, sizeof (addr.sun_path), "%s/sock", dir);
    server = http_server_create (&loop, on_request, NULL, &err);
    if (!server || http_server_listen_unix (server, addr.sun_path, 0600, &err) < 0)
        abort ();
}

static void check_turns (uint64_t before, uint64_t most)
{
    uint64_t turns, stalls;

    http_server_count (server, &turns, &stalls);
    if (stalls > 0 || turns - before > most)
        abort ();
}

/* Runs until there is no event any more. */
static void settle (void)
{
    for (int i = 0; i < TURNS_A_PIECE; i++)
        uv_run (&loop, UV_RUN_NOWAIT);
}

static void send_pieces (int fd, const uint8_t *data, size_t size, size_t pieces,
                         bool reads)
{
    static char answer[65536];
    size_t step = size / pieces + 1;

    for (size_t at = 0; at < size; at += step) {
        (void)!send (fd, data + at, MIN (step, size - at), MSG_NOSIGNAL | MSG_DONTWAIT);
        settle ();
        while (reads && recv (fd, answer, sizeof (answer), MSG_DONTWAIT) > 0)
            ;
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    uint64_t before, stalls;

    if (!server)
        start ();
    if (size < 2)
        return 0;
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect (fd, (struct sockaddr *)&addr, sizeof (addr)) < 0)
        abort (); /* the server does not answer */
    http_server_count (server, &before, &stalls);
    send_pieces (fd, data + 1, size - 1, 1 + data[0] % PIECES_MAX, data[0] & 0x80);
    if (data[0] & 0x40)
        shutdown (fd, SHUT_WR);
    settle ();
    check_turns (before, TURNS_MAX);
    close (fd);
    settle ();
    check_turns (before, TURNS_MAX);
    return 0;
}
