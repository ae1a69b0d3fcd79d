/* launch-write.c - functions for the tests of fluxq-shell that no fluxq command has
 *
 *   launch-write key FILE                         makes a new key
 *   launch-write launch FILE NAME=VALUE...        makes a launch file;
 *                                                 node=NAME:TASKS[:CORES[:GPUS]], arg= and
 *                                                 env= may be repeated
 *   launch-write request SOCKET KEY METHOD TARGET sends a signed request; the body goes to
 *                                                 stdout. Exit 0 for 2xx; otherwise 1, with
 *                                                 the status on stderr
 *   launch-write unsigned SOCKET METHOD TARGET    sends the request without a signature
 *   launch-write replay SOCKET KEY METHOD TARGET  sends the same signed request twice; prints
 *                                                 the result of the second
 *   launch-write raw SOCKET                       sends stdin to the socket, and the answer to
 *                                                 stdout
 *   launch-write frames SPOOL                     prints a line for each frame
 *   launch-write output SPOOL TASK STREAM         prints the output of a task
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/macros.h"
#include "common/parse.h"
#include "common/sha256.h"
#include "protocol/agent_api.h"
#include "protocol/frame.h"
#include "protocol/launch.h"

#define PIECE 65536

static _Noreturn void die (const char *what)
{
    fprintf (stderr, "launch-write: %s: %s\n", what, errno ? strerror (errno) : "failed");
    exit (2);
}

static void write_all (int fd, const void *data, size_t len)
{
    for (const char *p = data; len > 0;) {
        ssize_t n = write (fd, p, len);
        if (n < 0 && errno != EINTR)
            die ("write");
        p += MAX (n, 0);
        len -= (size_t)MAX (n, 0);
    }
}

/* Reads a whole file, NUL-terminated. */
static char *read_whole (const char *path, size_t *ret_len)
{
    FILE *f = fopen (path, "r");
    char *text = NULL;
    size_t len = 0;
    if (!f)
        die (path);
    for (size_t n = 1; n > 0; len += n) {
        text = realloc (text, len + PIECE + 1);
        if (!text)
            die ("memory");
        n = fread (text + len, 1, PIECE, f);
    }
    fclose (f);
    text[len] = '\0';
    *ret_len = len;
    return text;
}

static int cmd_key (const char *path)
{
    uint8_t raw[AGENT_KEY_SIZE];
    char hex[2 * AGENT_KEY_SIZE + 1];
    int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC, 0400);
    if (fd < 0 || secret_random (raw, sizeof (raw)) < 0)
        die (path);
    hex_encode (raw, sizeof (raw), hex);
    write_all (fd, hex, strlen (hex));
    return close (fd);
}

/* -- launch -- */

static double number (const char *value)
{
    char *end;
    double d = strtod (value, &end);
    if (*end || end == value)
        die (value);
    return d;
}

static void push (char ***list, size_t *n, const char *value)
{
    *list = realloc (*list, (*n + 2) * sizeof (char *));
    if (!*list || !((*list)[*n] = strdup (value)))
        die ("memory");
    (*list)[++*n] = NULL;
}

static void add_node (struct launch *l, const char *value)
{
    char *copy = strdup (value);
    char *name = strsep (&copy, ":"), *tasks = strsep (&copy, ":");
    char *cores = strsep (&copy, ":"), *gpus = strsep (&copy, ":");
    l->nodes = realloc (l->nodes, (l->nnodes + 1) * sizeof (*l->nodes));
    if (!l->nodes)
        die ("memory");
    l->nodes[l->nnodes++] = (struct launch_node){
        .name = name,
        .ntasks = tasks ? (uint32_t)number (tasks) : 1,
        .cores = cores ? cores : strdup (""),
        .gpus = gpus ? gpus : strdup (""),
    };
}

static void set_field (struct launch *l, const char *name, const char *value)
{
    const struct {
        const char *name;
        char **text;
    } texts[] = {
        { "job_name", &l->job_name }, { "user", &l->user },
        { "queue", &l->queue },       { "cwd", &l->cwd },
        { "script", &l->script },     { "rendezvous", &l->rendezvous },
        { "listen", &l->listen },     { "spool", &l->spool },
        { "output", &l->output },     { "error", &l->error },
        { "home", &l->home },         { "shell", &l->shell },
    };
    const struct {
        const char *name;
        double *seconds;
    } times[] = {
        { "time_limit", &l->time_limit },
        { "grace", &l->grace },
        { "join_timeout", &l->join_timeout },
        { "warn_before", &l->warn_before },
    };
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        { "cwd_fallback", &l->cwd_fallback },
        { "batch", &l->batch },
        { "append", &l->append },
        { "serve_until_released", &l->serve_until_released },
        { "warn_batch", &l->warn_batch },
        { "user_env_login", &l->user_env_login },
    };
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++)
        if (strcmp (name, texts[i].name) == 0 && (*texts[i].text = strdup (value)))
            return;
    for (size_t i = 0; i < ARRAY_SIZE (times); i++)
        if (strcmp (name, times[i].name) == 0) {
            *times[i].seconds = number (value);
            return;
        }
    for (size_t i = 0; i < ARRAY_SIZE (flags); i++)
        if (strcmp (name, flags[i].name) == 0) {
            *flags[i].flag = number (value) != 0;
            return;
        }
    if (strcmp (name, "job_id") == 0)
        l->job_id = (uint64_t)number (value);
    else if (strcmp (name, "spool_max") == 0)
        l->spool_max = (uint64_t)number (value);
    else if (strcmp (name, "cores_per_task") == 0)
        l->cores_per_task = (uint32_t)number (value);
    else if (strcmp (name, "user_env") == 0)
        l->user_env = (uint32_t)number (value);
    else if (strcmp (name, "warn_signal") == 0)
        l->warn_signal = (uint32_t)number (value);
    else if (strcmp (name, "on_full") == 0)
        l->on_full = (uint32_t)number (value);
    else if (strcmp (name, "nice") == 0)
        l->nice = (uint32_t)number (value);
    else if (strcmp (name, "rlimit") == 0)
        push (&l->rlimits, &l->nrlimits, value);
    else if (strcmp (name, "fanout") == 0)
        l->fanout = (uint32_t)number (value);
    else if (strcmp (name, "arg") == 0)
        push (&l->args, &l->nargs, value);
    else if (strcmp (name, "env") == 0)
        push (&l->env, &l->nenv, value);
    else if (strcmp (name, "node") == 0)
        add_node (l, value);
    else
        die (name);
}

static int cmd_launch (const char *path, char **fields)
{
    struct launch l = {
        .job_id = 7, .cores_per_task = 1, .grace = 2, .join_timeout = 20, .umask = 022
    };
    struct strbuf sb;
    set_field (&l, "job_name", "test");
    set_field (&l, "user", "nobody");
    set_field (&l, "queue", "batch");
    set_field (&l, "cwd", "/");
    for (; *fields; fields++) {
        char *value = strchr (*fields, '=');
        if (!value)
            die (*fields);
        *value = '\0';
        set_field (&l, *fields, value + 1);
    }
    strbuf_init (&sb, 64u << 20);
    if (launch_write (&l, &sb) < 0 || sb.err)
        die ("launch_write");
    int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        die (path);
    write_all (fd, sb.buf, sb.len);
    return close (fd);
}

/* -- requests -- */

static int connect_to (const char *path)
{
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    char *copy = strdup (path);
    char *slash = strrchr (copy, '/');
    int here = open (".", O_PATH | O_CLOEXEC);
    if (slash) { /* the path may be longer than an address */
        *slash = '\0';
        if (chdir (copy) < 0)
            die (path);
        copy = slash + 1;
    }
    snprintf (sa.sun_path, sizeof (sa.sun_path), "%s", copy);
    int fd = socket (AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect (fd, (struct sockaddr *)&sa, sizeof (sa)) < 0)
        die (path);
    if (fchdir (here) < 0)
        die (".");
    close (here);
    return fd;
}

/* Reads a line of the head or of a chunk, without its end; false at the end of file. */
static bool read_line (FILE *in, char *line, size_t size)
{
    if (!fgets (line, (int)size, in))
        return false;
    line[strcspn (line, "\r\n")] = '\0';
    return true;
}

/* Writes the chunks to stdout; exit status 1 if the stream breaks off. */
static int copy_chunks (FILE *in)
{
    char line[64];
    char *piece = malloc (2 * PIECE);
    while (piece && read_line (in, line, sizeof (line))) {
        size_t left = strtoul (line, NULL, 16);
        if (left == 0)
            return 0;
        while (left > 0) {
            size_t n = fread (piece, 1, MIN (left, (size_t)PIECE), in);
            if (n == 0)
                die ("the stream broke off");
            write_all (STDOUT_FILENO, piece, n);
            left -= n;
        }
        read_line (in, line, sizeof (line));
    }
    errno = 0;
    die ("the stream has no end");
}

static int send_request (const char *path, const char *method, const char *target,
                         const char *auth)
{
    char line[1024];
    bool chunked = false;
    int c, status;
    FILE *in = fdopen (connect_to (path), "r+");
    if (!in)
        die (path);
    setvbuf (in, NULL, _IOFBF, PIECE);
    fprintf (in, "%s %s HTTP/1.1\r\nHost: agent\r\n%s%s%s\r\n", method, target,
             auth ? AGENT_AUTH_HEADER ": " : "", auth ? auth : "", auth ? "\r\n" : "");
    fflush (in);
    if (!read_line (in, line, sizeof (line)) || strlen (line) < 12)
        die ("no reply");
    status = (int)strtol (line + 9, NULL, 10);
    while (read_line (in, line, sizeof (line)) && *line)
        if (strstr (line, "chunked"))
            chunked = true;
    if (status >= 300)
        fprintf (stderr, "%d\n", status);
    if (chunked)
        return copy_chunks (in);
    while ((c = fgetc (in)) != EOF)
        putchar (c);
    fclose (in);
    return status < 300 ? 0 : 1;
}

static int cmd_request (const char *path, const char *key_path, const char *method,
                        const char *target, int times)
{
    uint8_t key[AGENT_KEY_SIZE];
    char auth[AGENT_AUTH_MAX];
    int rc = 0;
    if (agent_key_read (key_path, key) < 0
        || agent_auth_make (key, method, target, auth) < 0)
        die (key_path);
    for (int i = 0; i < times; i++)
        rc = send_request (path, method, target, auth);
    return rc;
}

static int cmd_raw (const char *path)
{
    char piece[PIECE];
    ssize_t n;
    int fd = connect_to (path);
    while ((n = read (STDIN_FILENO, piece, sizeof (piece))) > 0)
        if (send (fd, piece, (size_t)n, MSG_NOSIGNAL) < 0)
            break;
    while ((n = read (fd, piece, sizeof (piece))) > 0)
        write_all (STDOUT_FILENO, piece, (size_t)n);
    return 0;
}

/* -- spools -- */

static void print_frame (const struct frame *f)
{
    static const char *const names[] = { "?",    "OUTPUT", "READY",  "EXIT",
                                         "NOTE", "LOST",   "FINISH", "USAGE" };
    printf ("%s rank=%" PRIu32, names[f->type < ARRAY_SIZE (names) ? f->type : 0],
            f->rank);
    if (f->type == FRAME_OUTPUT)
        printf (" task=%" PRIu32 " stream=%d len=%" PRIu32, f->task, f->stream, f->len);
    else if (f->type == FRAME_EXIT && f->len == 4)
        printf (" task=%" PRIu32 " status=%d", f->task,
                (uint8_t)f->data[0] | (uint8_t)f->data[1] << 8);
    else
        printf (" %.*s", (int)f->len, f->data);
    putchar ('\n');
}

static int walk (const char *path, int64_t task, int64_t stream)
{
    size_t len, pos = 0;
    char *text = read_whole (path, &len);
    for (struct frame f; pos < len;) {
        ssize_t n = frame_parse (text + pos, len - pos, &f);
        errno = 0;
        if (n <= 0)
            die (n < 0 ? "malformed frame" : "truncated frame");
        if (task < 0)
            print_frame (&f);
        else if (f.type == FRAME_OUTPUT && f.task == task && f.stream == stream)
            fwrite (f.data, 1, f.len, stdout);
        pos += (size_t)n;
    }
    free (text);
    return 0;
}

int main (int argc, char **argv)
{
    const char *cmd = argc > 2 ? argv[1] : "";
    if (strcmp (cmd, "key") == 0)
        return cmd_key (argv[2]);
    if (strcmp (cmd, "launch") == 0)
        return cmd_launch (argv[2], argv + 3);
    if (strcmp (cmd, "request") == 0 && argc == 6)
        return cmd_request (argv[2], argv[3], argv[4], argv[5], 1);
    if (strcmp (cmd, "replay") == 0 && argc == 6)
        return cmd_request (argv[2], argv[3], argv[4], argv[5], 2);
    if (strcmp (cmd, "unsigned") == 0 && argc == 5)
        return send_request (argv[2], argv[3], argv[4], NULL);
    if (strcmp (cmd, "raw") == 0)
        return cmd_raw (argv[2]);
    if (strcmp (cmd, "frames") == 0)
        return walk (argv[2], -1, 0);
    if (strcmp (cmd, "output") == 0 && argc == 5)
        return walk (argv[2], (int64_t)number (argv[3]), (int64_t)number (argv[4]));
    fprintf (stderr,
             "launch-write: see the comment at the top of t/helper/launch-write.c\n");
    return 2;
}
