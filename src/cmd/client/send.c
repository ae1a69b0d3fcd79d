/* send.c - see send.h */
#include "cmd/client/send.h"

#include <sys/random.h>

#include "common/clock.h"

#define KEY_MAX 64
#define ASK_EVERY 0.25 /* seconds */

static int make_key (struct cmd *c, char key[static KEY_MAX])
{
    unsigned char raw[16];
    size_t n = (size_t)snprintf (key, KEY_MAX, "Idempotency-Key: ");

    if (getrandom (raw, sizeof (raw), 0) != (ssize_t)sizeof (raw))
        return cmd_fail (c, "no random bytes: %s", strerror (errno));
    for (size_t i = 0; i < sizeof (raw); i++)
        n += (size_t)snprintf (key + n, KEY_MAX - n, "%02x", raw[i]);
    return CMD_OK;
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

static int post (struct cmd *c, const char *target, const char *body, size_t len,
                 const char *const headers[], const struct submit_options *so,
                 struct http_response *ret)
{
    struct error err = { 0 };
    int rc = cmd_open (c, &err);

    *ret = (struct http_response){ 0 };
    if (rc == 0)
        rc = http_client_request (c->client, "POST", target, body, len, headers, ret, &err);
    if (rc == 0 && (ret->status < 200 || ret->status > 299)) {
        rc = http_response_error (ret, &err);
        submit_options_explain (so, &err);
        cmd_add_words (c, ret, &err);
    }
    if (rc == 0)
        return CMD_OK;
    http_response_release (ret);
    return cmd_broken (c, rc, &err);
}

int send_request (struct cmd *c, const char *target, const char *body, size_t len,
                  const struct submit_options *so, struct http_response *ret)
{
    return post (c, target, body, len, NULL, so, ret);
}

int send_job (struct cmd *c, const char *target, const char *body, size_t len,
              const struct submit_options *so, uint64_t *ret_id)
{
    struct http_response r;
    char key[KEY_MAX];
    const char *const headers[] = { key, NULL };

    if (make_key (c, key) != CMD_OK)
        return c->status;
    int status = post (c, target, body, len, headers, so, &r);
    if (status != CMD_OK)
        return status;
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

/* One request for the result: 0; -ECONNRESET: the broker went away meanwhile; another
 * errno when it refused, or was away for too long. */
static int ask_result (struct cmd *c, const char *target, struct strbuf *result,
                       struct error *err)
{
    struct http_response r = { 0 };

    strbuf_reset (result);
    *err = (struct error){ 0 };
    int rc = cmd_open (c, err);
    if (rc < 0)
        return rc;
    rc = http_client_stream (c->client, "GET", target, add_piece, result, &r, err);
    if (rc == 0 && r.status >= 300 && http_response_error (&r, err) < 0)
        rc = -EPROTO;
    else if (rc == 0 && result->len == 0) /* an empty answer: the broker went away */
        rc = error_set (err, ECONNRESET, "it went away");
    http_response_release (&r);
    return rc;
}

int send_wait (struct cmd *c, uint64_t id, struct strbuf *result)
{
    struct error err;
    char target[64];
    double asked;
    int rc;

    snprintf (target, sizeof (target), "/v1/jobs/%ju/wait", (uintmax_t)id);
    do {
        asked = clock_mono ();
        rc = ask_result (c, target, result, &err);
        if (cmd_interrupted ())
            return goes_on (c, id);
        if (rc == 0)
            return CMD_OK;
        /* Do not ask in a tight loop when the broker goes away repeatedly. */
    } while (rc == -ECONNRESET
             && (clock_mono () - asked > ASK_EVERY || cmd_sleep (ASK_EVERY)));
    if (cmd_interrupted ())
        return goes_on (c, id);
    return cmd_fail (c, "job %ju goes on, but its end cannot be waited for: %s",
                     (uintmax_t)id, err.text[0] ? err.text : strerror (-rc));
}
