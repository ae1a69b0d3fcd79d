/* writer.c - writers by name: see writer.h */
#include "match/writers/writer.h"

const struct match_writer *match_writer_find (const char *name)
{
    for (const struct match_writer *const *w = match_writers; *w; w++) {
        if (!strcmp ((*w)->name, name))
            return *w;
    }
    return NULL;
}
