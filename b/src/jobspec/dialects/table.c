/* Made by contrib/gen-table from the files that exist: see contrib/tables. */
#include "jobspec/script/dialect.h"

#include <stddef.h>

extern const struct dialect dialect_flux;
extern const struct dialect dialect_fluxq;
extern const struct dialect dialect_sbatch;

const struct dialect *const dialects[] = {
    &dialect_flux,
    &dialect_fluxq,
    &dialect_sbatch,
    NULL,
};
