#include "shell/oom.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/macros.h"

uint64_t oom_parse (const char *text)
{
    static const char name[] = "oom_kill ";
    for (const char *line = text; line; line = strchr (line, '\n')) {
        line += *line == '\n';
        if (strncmp (line, name, sizeof (name) - 1) == 0)
            return strtoull (line + sizeof (name) - 1, NULL, 10);
    }
    return 0;
}

uint64_t oom_kills (void)
{
    static const char *const paths[] = { "/sys/fs/cgroup/memory.events",
                                         "/sys/fs/cgroup/memory/memory.oom_control" };
    char text[1024];
    for (size_t i = 0; i < ARRAY_SIZE (paths); i++) {
        autoclose int fd = open (paths[i], O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read (fd, text, sizeof (text) - 1);
        if (n < 0)
            continue;
        text[n] = '\0';
        return oom_parse (text);
    }
    return 0;
}
