/* hostfile.c - writes the job's hosts and their slots into a file */
#include "shell/io/agent_file.h"
#include "shell/io/hostfile.h"

#include <fcntl.h>

#include "common/io.h"
#include "shell/io/rankhost.h"

char *hostfile_path (const struct launch *launch)
{
    return agent_file (launch, "hostfile");
}

int hostfile_write (const struct launch *launch, struct error *err)
{
    autofree char *path = hostfile_path (launch);
    autostrbuf struct strbuf sb = STRBUF_INIT (LAUNCH_MAX);
    for (uint32_t i = 0; i < launch_component_first (launch, 1); i++) {
        autofree char *host = rank_host (launch, i);
        if (!host)
            return error_no_memory (err, NULL);
        strbuf_addf (&sb, "%s slots=%u\n", host, MAX (launch->nodes[i].ntasks, 1u));
    }
    if (!path || sb.err)
        return error_no_memory (err, NULL);
    autoclose int fd =
        open (path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -errno : io_write_all (fd, sb.buf, sb.len);
    return rc < 0 ? error_errno (err, -rc, "cannot write %s", path) : 0;
}

void hostfile_remove (const struct launch *launch)
{
    autofree char *path = hostfile_path (launch);
    if (path)
        unlink (path);
}
