/* reader.c - readers by name: see reader.h */
#include "match/readers/reader.h"

const struct match_reader *match_reader_find (const char *name)
{
    for (const struct match_reader *const *r = match_readers; *r; r++) {
        if (!strcmp ((*r)->name, name))
            return *r;
    }
    return NULL;
}
