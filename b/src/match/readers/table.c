/* Made by contrib/gen-table from the files that exist: see contrib/tables. */
#include "match/readers/reader.h"

#include <stddef.h>

extern const struct match_reader match_reader_grug;
extern const struct match_reader match_reader_hwloc;
extern const struct match_reader match_reader_jgf;
extern const struct match_reader match_reader_jgf_shorthand;
extern const struct match_reader match_reader_rv1exec;
extern const struct match_reader match_reader_rv1exec_force;

const struct match_reader *const match_readers[] = {
    &match_reader_grug,
    &match_reader_hwloc,
    &match_reader_jgf,
    &match_reader_jgf_shorthand,
    &match_reader_rv1exec,
    &match_reader_rv1exec_force,
    NULL,
};
