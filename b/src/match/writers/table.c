/* Made by contrib/gen-table from the files that exist: see contrib/tables. */
#include "match/writers/writer.h"

#include <stddef.h>

extern const struct match_writer match_writer_jgf;
extern const struct match_writer match_writer_jgf_shorthand;
extern const struct match_writer match_writer_pretty_simple;
extern const struct match_writer match_writer_rlite;
extern const struct match_writer match_writer_rv1;
extern const struct match_writer match_writer_rv1_nosched;
extern const struct match_writer match_writer_rv1_shorthand;
extern const struct match_writer match_writer_simple;

const struct match_writer *const match_writers[] = {
    &match_writer_jgf,           &match_writer_jgf_shorthand, &match_writer_pretty_simple,
    &match_writer_rlite,         &match_writer_rv1,           &match_writer_rv1_nosched,
    &match_writer_rv1_shorthand, &match_writer_simple,        NULL,
};
