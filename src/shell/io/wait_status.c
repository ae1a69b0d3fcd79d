/* wait_status.c - compares wait statuses and puts them into words */
#include "shell/io/wait_status.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

int wait_status_worst (int a, int b)
{
    if (WIFSIGNALED (a) != WIFSIGNALED (b))
        return WIFSIGNALED (a) ? a : b;
    if (WIFSIGNALED (a))
        return WTERMSIG (a) >= WTERMSIG (b) ? a : b;
    return WEXITSTATUS (a) >= WEXITSTATUS (b) ? a : b;
}

void wait_status_text (int status, char *buf, size_t size)
{
    if (WIFSIGNALED (status))
        snprintf (buf, size, "killed by signal %d (%s)", WTERMSIG (status),
                  strsignal (WTERMSIG (status)));
    else
        snprintf (buf, size, "exit status %d", WEXITSTATUS (status));
}
