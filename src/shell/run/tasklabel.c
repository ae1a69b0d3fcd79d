/* tasklabel.c - makes the label of a line of output, see tasklabel.h */
#include "shell/run/tasklabel.h"

#include <stdio.h>

size_t tasklabel (char label[TASKLABEL_MAX], uint32_t task, uint32_t ntasks)
{
    int width = 1;

    for (uint32_t n = ntasks > 0 ? ntasks - 1 : 0; n >= 10; n /= 10)
        width++;
    return (size_t)snprintf (label, TASKLABEL_MAX, "%0*u: ", width, task);
}
