/* exec.c - finds an executor in the generated table (see exec.h) */
#include "exec/exec.h"

const struct exec_ops *exec_find (const char *name)
{
    for (size_t i = 0; executors[i]; i++)
        if (strcmp (executors[i]->name, name) == 0)
            return executors[i];
    return NULL;
}

const struct exec_ops *exec_default (void)
{
    size_t i = 0;

    while (executors[i + 1] && !executors[i]->is_default)
        i++;
    return executors[i];
}
