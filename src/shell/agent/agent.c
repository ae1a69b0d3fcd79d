/* agent.c - what both roles of the worker use: its log, its server, and whether a child is
 * in its place */
#include "shell/agent/agent.h"

#include "shell/agent/server.h"
#include "shell/io/sock.h"
#include "shell/io/stderr_line.h"

void agent_log (const struct agent *agent, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start (ap, fmt);
    vsnprintf (text, sizeof (text), fmt, ap);
    va_end (ap);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20)
            *p = '?';
    stderr_line ("fluxq-shell", "job %ju rank %u: %s", (uintmax_t)agent->launch.job_id,
         agent->rank, text);
}

struct server *agent_listen (struct agent *agent, const struct spool *spool,
                             const struct server_events *events, void *ctx,
                             char **ret_address, struct error *err)
{
    struct server_config config = { .key = agent->key,
                                    .job_id = agent->launch.job_id,
                                    .tree = &agent->tree,
                                    .rank = agent->rank,
                                    .spool = spool };
    autofree char *address = sock_of_rank (agent->launch.listen, agent->rank);
    if (!address)
        return error_null (error_no_memory (err, NULL));
    config.fd = sock_listen (address, err);
    if (config.fd < 0)
        return NULL;
    struct server *server = server_create (&agent->loop, &config, events, ctx);
    if (!server) {
        close (config.fd);
        return error_null (error_no_memory (err, NULL));
    }
    *ret_address = address;
    address = NULL;
    return server;
}

bool agent_is_node (const struct agent *agent, uint32_t rank, const struct frame *join,
                    const char **ret_why)
{
    const char *name = agent->launch.nodes[rank].name;
    if (name && join->len == strlen (name) && memcmp (join->data, name, join->len) == 0)
        return true;
    *ret_why = "it is on another node than the launch file says";
    return false;
}
