/* clusters.c - the clusters that -M of Slurm's commands names: there is one */
#include "cmd/client/command.h"

/* Whether name, of len bytes, stands for the cluster. */
static bool is_cluster (const struct cmd *c, const char *name, size_t len)
{
    static const char *const all[] = { "all", "-1" };

    for (size_t i = 0; i < ARRAY_SIZE (all); i++)
        if (len == strlen (all[i]) && !strncasecmp (name, all[i], len))
            return true;
    return len == strlen (c->cluster) && !memcmp (name, c->cluster, len);
}

int cmd_set_clusters (struct cmd *c, const char *list, const char *where)
{
    autojson json_t *status = NULL;

    if (cmd_get (c, "/v1/status", &status) != CMD_OK)
        return c->status;
    snprintf (c->cluster, sizeof (c->cluster), "%s", json_text (status, "cluster"));
    for (const char *name = list;; name++) {
        size_t len = strcspn (name, ",");

        if (!is_cluster (c, name, len))
            return cmd_usage (c,
                              "'%.*s' can't be reached now, or it is an invalid entry "
                              "for %s; there is one cluster, %s",
                              (int)MIN (len, 64), name, where, c->cluster);
        name += len;
        if (!*name)
            return CMD_OK;
    }
}

int cmd_set_clusters_from_environ (struct cmd *c)
{
    const char *list = getenv ("SLURM_CLUSTERS");

    return list && *list && !c->cluster[0] ? cmd_set_clusters (c, list, "SLURM_CLUSTERS")
                                           : CMD_OK;
}
