/* send.c - see send.h */
#include "cmd/send.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"

#define BROKEN_TRIES 5
#define BROKEN_SECONDS 10.0 /* for a submission */
#define BUSY_SECONDS 30.0
#define WAIT_SECONDS 60.0 /* for a broker that went while we waited for a job */

struct sending {
    struct cmd *c;
    const char *target, *body;
    size_t len;
    char key[64]; /* the header */
    bool reached; /* a connection was there once */
    bool told;    /* "waiting for the broker" was said */
    int broken;   /* connections that broke */
    double began;
};

static void tell (struct cmd *c, bool *told)
{
    if (!*told)
        cmd_warn (c, "waiting for the broker...");
    *told = true;
}

static int make_key (struct sending *s)
{
    unsigned char raw[16];
    size_t n = (size_t)snprintf (s->key, sizeof (s->key), "Idempotency-Key: ");

    if (getrandom (raw, sizeof (raw), 0) != (ssize_t)sizeof (raw))
        return cmd_fail (s->c, "no random bytes: %s", strerror (errno));
    for (size_t i = 0; i < sizeof (raw); i++)
        n += (size_t)snprintf (s->key + n, sizeof (s->key) - n, "%02x", raw[i]);
    return CMD_OK;
}

/* Errors of a connection that was there, or would have been but for a restart. */
static bool is_broken (int rc)
{
    return rc == -ECONNRESET || rc == -EPIPE || rc == -ECONNREFUSED || rc == -ENOENT
           || rc == -ECONNABORTED || rc == -ENOTCONN;
}

/* One attempt: 0 and an answer in r (of any status), or negative errno. */
static int attempt (struct sending *s, struct http_response *r, struct error *err)
{
    const char *const headers[] = { s->key, NULL };
    struct cmd *c = s->c;
    int rc = cmd_open (c, err);

    if (rc < 0)
        return rc;
    rc = http_client_request (c->client, "POST", s->target, s->body, s->len, headers, r,
                              err);
    if (rc < 0) {
        http_response_release (r);
        *r = (struct http_response){ 0 };
        cmd_disconnect (c);
    }
    return rc;
}

/* Whether it is worth another try; sleeps until then. */
static bool try_again (struct sending *s, int rc, const struct http_response *r)
{
    double waited = clock_mono () - s->began, pause;

    if (rc == 0) {
        pause = r->retry_after > 0 ? r->retry_after : 1;
        if ((r->status != 429 && r->status != 503) || waited + pause > BUSY_SECONDS)
            return false;
    } else {
        /* Who never reached a broker is told so at once. */
        s->reached |= rc == -ECONNRESET || rc == -EPIPE;
        pause = 0.1 * (1 << 2 * s->broken);
        pause = MIN (pause, BROKEN_SECONDS - waited);
        if (!s->reached || !is_broken (rc) || s->broken++ >= BROKEN_TRIES || pause <= 0)
            return false;
    }
    if (cmd_interrupted ())
        return false;
    tell (s->c, &s->told);
    return cmd_sleep (pause);
}

static int read_id (struct cmd *c, const struct http_response *r, uint64_t *ret_id)
{
    struct error err = { 0 };
    autojson json_t *o = json_parse (r->body, r->len, "the broker's answer", &err);
    int64_t id;

    if (!o
        || json_get_int (o, "id", 1, INT64_MAX, &id, JSON_REQUIRED, "answer", &err) < 0)
        return cmd_fail (c, "%s", err.text);
    *ret_id = (uint64_t)id;
    return CMD_OK;
}

int send_job (struct cmd *c, const char *target, const char *body, size_t len,
              uint64_t *ret_id)
{
    struct sending s = {
        .c = c, .target = target, .body = body, .len = len, .began = clock_mono ()
    };
    struct http_response r = { 0 };
    struct error err = { 0 };
    int rc, status;

    if (make_key (&s) != CMD_OK)
        return c->status;
    while ((rc = attempt (&s, &r, &err)) < 0 || r.status < 200 || r.status > 299) {
        bool again = try_again (&s, rc, &r);
        if (!again) {
            if (rc == 0)
                rc = http_response_error (&r, &err);
            http_response_release (&r);
            return cmd_broken (c, rc, &err);
        }
        http_response_release (&r);
        r = (struct http_response){ 0 };
        err = (struct error){ 0 };
    }
    status = read_id (c, &r, ret_id);
    http_response_release (&r);
    return status;
}

/* -- waiting -- */

static int add_piece (const char *data, size_t len, void *arg)
{
    return strbuf_add (arg, data, len);
}

static int goes_on (struct cmd *c, uint64_t id)
{
    cmd_warn (c, "job %ju goes on; fluxq-cancel %ju ends it", (uintmax_t)id,
              (uintmax_t)id);
    return c->status = CMD_INTERRUPTED;
}

/* One request for the result: 0, -ECONNRESET and its kin when the broker went, another
 * errno when it refused. */
static int ask_result (struct cmd *c, const char *target, struct strbuf *result,
                       struct error *err)
{
    struct http_response r = { 0 };
    int rc;

    strbuf_reset (result);
    *err = (struct error){ 0 };
    rc = cmd_open (c, err);
    if (rc < 0)
        return rc;
    rc = http_client_stream (c->client, "GET", target, add_piece, result, &r, err);
    if (rc == 0 && r.status == 503)
        rc = error_set (err, ECONNRESET, "it is going down");
    else if (rc == 0 && r.status >= 300 && http_response_error (&r, err) < 0)
        rc = -EPROTO;
    else if (rc == 0 && result->len == 0) /* ended without a word: it went */
        rc = error_set (err, ECONNRESET, "it went away");
    http_response_release (&r);
    if (rc < 0)
        cmd_disconnect (c);
    return rc;
}

int send_wait (struct cmd *c, uint64_t id, struct strbuf *result)
{
    struct error err;
    char target[64];
    bool told = false;
    double asked, lost = 0; /* since when */
    int rc;

    snprintf (target, sizeof (target), "/v1/jobs/%ju/wait", (uintmax_t)id);
    for (;;) {
        asked = clock_mono ();
        rc = ask_result (c, target, result, &err);
        if (cmd_interrupted ())
            return goes_on (c, id);
        if (rc == 0)
            return CMD_OK;
        if (lost == 0 || clock_mono () - asked > 1)
            lost = clock_mono ();
        if (!is_broken (rc) || clock_mono () - lost > WAIT_SECONDS)
            break;
        tell (c, &told);
        if (!cmd_sleep (0.25))
            return goes_on (c, id);
    }
    return cmd_fail (c, "job %ju goes on, but its end cannot be waited for: %s",
                     (uintmax_t)id, err.text[0] ? err.text : strerror (-rc));
}
