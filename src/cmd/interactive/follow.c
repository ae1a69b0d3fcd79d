/* follow.c - see follow.h */
#include "cmd/interactive/follow.h"

#include "common/clock.h"
#include "common/parse.h"

#define PIECE_MAX (64 << 20)
#define ASK_EVERY 0.25 /* seconds; for a broker that goes away repeatedly */

struct stream {
    struct follow *f;
    struct strbuf came; /* the position line and the part of its piece received so far */
    /* after all text written: "ATTEMPT:OFFSET:OPEN:TASK"; "": at the start */
    char position[96];
    bool ended;
};

/* Parses "ATTEMPT OFFSET OPEN TASK LENGTH": the length, and the others joined by
 * colons. */
static int read_position (char *line, char position[static 96], size_t *ret_len)
{
    char *space = strrchr (line, ' ');
    int64_t len;

    if (!space || parse_int (space + 1, 1, PIECE_MAX, &len, "", NULL) < 0)
        return -EPROTO;
    *space = '\0';
    if (strlen (line) >= 96)
        return -EPROTO;
    for (char *p = line; (p = strchr (p, ' ')) != NULL;)
        *p = ':';
    memcpy (position, line, strlen (line) + 1);
    *ret_len = (size_t)len;
    return 0;
}

/* Writes without a buffer, so that the reader sees text as it comes. */
static int write_text (struct stream *s, const char *text, size_t len)
{
    if (fwrite (text, 1, len, stdout) != len || fflush (stdout) != 0)
        return -EPIPE;
    s->f->written += len;
    return 0;
}

/* Takes a whole piece: its size, 0: more data is needed, or negative errno. */
static ssize_t take_piece (struct stream *s, const char *data, size_t avail)
{
    const char *newline = memchr (data, '\n', MIN (avail, (size_t)128));
    char line[128], position[96];
    size_t len = 0;

    if (!newline)
        return avail < sizeof (line) ? 0 : -EPROTO;
    size_t head = (size_t)(newline - data) + 1;
    snprintf (line, sizeof (line), "%.*s", (int)head - 1, data);
    if (!strcmp (line, "end")) {
        s->ended = true;
        return (ssize_t)head;
    }
    int rc = read_position (line, position, &len);
    if (rc < 0 || avail - head < len)
        return rc;
    rc = write_text (s, data + head, len);
    memcpy (s->position, position, sizeof (position));
    return rc < 0 ? rc : (ssize_t)(head + len);
}

static int take (const char *data, size_t len, void *arg)
{
    struct stream *s = arg;
    size_t used = 0;
    ssize_t n;

    if (cmd_interrupted ())
        return -EINTR;
    if (strbuf_add (&s->came, data, len) < 0)
        return -ENOMEM;
    while ((n = take_piece (s, s->came.buf + used, s->came.len - used)) > 0)
        used += (size_t)n;
    strbuf_consume (&s->came, used);
    return (int)MIN (n, 0);
}

/* 0 at the end of the output, -ECONNRESET when the broker went away, another errno. */
static int ask (struct cmd *c, struct stream *s, struct error *err)
{
    struct http_response r = { 0 };
    autostrbuf struct strbuf target = STRBUF_INIT (4096);

    strbuf_adds (&target, s->f->target);
    strbuf_adds (&target, "&positions=1");
    if (s->position[0])
        strbuf_addf (&target, "&from=%s", s->position);
    strbuf_reset (&s->came);
    int rc = cmd_open (c, err);
    if (rc == 0)
        rc = http_client_stream (c->client, "GET", target.buf, take, s, &r, err);
    if (rc == 0 && r.status >= 300)
        rc = http_response_error (&r, err);
    else if (rc == 0 && !s->ended)
        rc = -ECONNRESET;
    http_response_release (&r);
    return rc;
}

int follow_output (struct cmd *c, struct follow *f)
{
    struct stream s = { .f = f };
    struct error err;
    double asked;
    int rc;

    strbuf_init (&s.came, PIECE_MAX + 4096);
    do {
        asked = clock_mono ();
        err = (struct error){ 0 };
        rc = ask (c, &s, &err);
    } while (rc == -ECONNRESET
             && (clock_mono () - asked > ASK_EVERY || cmd_sleep (ASK_EVERY)));
    strbuf_release (&s.came);
    if (rc == -EPIPE && ferror (stdout))
        return c->status = CMD_FAILED;
    return rc < 0 ? cmd_broken (c, rc, &err) : CMD_OK;
}
