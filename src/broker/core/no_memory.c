/* no_memory.c - see no_memory.h */
#include "broker/core/no_memory.h"

#include "common/log.h"

void broker_no_memory (const char *what)
{
    log_error ("out of memory: the broker stops rather than lose %s", what);
    abort ();
}
