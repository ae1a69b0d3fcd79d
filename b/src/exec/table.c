/* Made by contrib/gen-table from the files that exist: see contrib/tables. */
#include "exec/exec.h"

#include <stddef.h>

extern const struct exec_ops exec_kube;
extern const struct exec_ops exec_local;

const struct exec_ops *const executors[] = {
    &exec_kube,
    &exec_local,
    NULL,
};
