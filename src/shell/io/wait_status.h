/* wait_status.h - how a process ended, as wait(2) reports it */
#pragma once

#include <stddef.h>

/* The worse of two wait statuses: a signal beats any exit code, larger beats smaller. */
int wait_status_worst (int a, int b);
/* "exit status 3", "killed by signal 9 (Killed)". */
void wait_status_text (int status, char *buf, size_t size);
