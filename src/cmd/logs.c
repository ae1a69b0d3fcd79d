/* logs.c - fluxq-logs: what a job's tasks wrote, so far or to the end
 */
#include <errno.h>
#include <string.h>

#include "cmd/command.h"
#include "common/parse.h"

enum { FOLLOW = 1, RANK, STDOUT, STDERR };

static const struct option_desc options[] = {
    { "follow", 'f', NULL, "go on until the job ends", FOLLOW, false },
    { "rank", 0, "N", "only what came from this rank (node of the job, from 0)", RANK,
      false },
    { "stdout", 0, NULL, "only standard output", STDOUT, false },
    { "stderr", 0, NULL, "only standard error", STDERR, false },
    OPTION_END,
};

struct logs {
    const char *id; /* NULL: not given */
    int64_t rank;   /* -1: all */
    bool follow, out, err;
};

static int read_options (struct cmd *c, struct logs *l)
{
    struct option_match m;
    struct error err = { 0 };

    while (cmd_next (c, &m) > 0) {
        switch (m.desc ? m.desc->id : CMD_OPERAND) {
        case FOLLOW:
            l->follow = true;
            break;
        case RANK:
            if (parse_int (m.value, 0, INT32_MAX, &l->rank, "--rank", &err) < 0)
                cmd_usage (c, "%s", err.text);
            break;
        case STDOUT:
            l->out = true;
            break;
        case STDERR:
            l->err = true;
            break;
        default:
            if (l->id)
                cmd_usage (c, "one job at a time");
            else if (cmd_check_id (c, m.value) == CMD_OK)
                l->id = m.value;
        }
    }
    if (!c->ended && !l->id)
        cmd_usage (c, "which job?");
    return c->status;
}

/* Straight to the reader: what follows is to be seen as it comes. */
static int write_piece (const char *data, size_t len, void *arg)
{
    (void)arg;
    if (fwrite (data, 1, len, stdout) != len || fflush (stdout) != 0)
        return -EPIPE;
    return cmd_interrupted () ? -EINTR : 0;
}

static int run (struct cmd *c)
{
    struct logs l = { .rank = -1 };
    struct http_response r = { 0 };
    struct error err = { 0 };
    char target[128], rank[32] = "";

    if (read_options (c, &l) != CMD_OK || c->ended)
        return c->status;
    if (l.rank >= 0)
        snprintf (rank, sizeof (rank), "&rank=%jd", (intmax_t)l.rank);
    snprintf (target, sizeof (target), "/v1/jobs/%s/output?follow=%d%s%s", l.id, l.follow,
              rank,
              l.out == l.err ? ""
              : l.out        ? "&stream=stdout"
                             : "&stream=stderr");
    if (cmd_connect (c) != CMD_OK)
        return c->status;
    int rc = http_client_stream (c->client, "GET", target, write_piece, NULL, &r, &err);
    if (rc == 0 && r.status >= 300)
        rc = http_response_error (&r, &err);
    http_response_release (&r);
    if (rc == -EPIPE && ferror (stdout))
        return CMD_FAILED; /* command_run() says why */
    return rc < 0 ? cmd_broken (c, rc, &err) : CMD_OK;
}

static const char *const usage[] = { "[OPTION]... ID", NULL };

const struct command command_logs = {
    .name = "logs",
    .summary = "Show what a job has written, and follow it to the end",
    .usage = usage,
    .options = options,
    .operands = COMPLETE_ALL_JOBS,
    .run = run,
};
