/* ranktext.c - see ranktext.h */
#include "shell/agent/ranktext.h"

#include "common/parse.h"

int rank_parse (const char *text, int64_t *rank, struct error *err)
{
    const char *plus = strchr (text, '+');
    int64_t first = 0, index;
    char number[16];

    if (plus) {
        snprintf (number, sizeof (number), "%.*s", (int)MIN (plus - text, 15), text);
        int rc = parse_int (number, 0, INT32_MAX, &first, "--rank", err);
        if (rc < 0)
            return rc;
    }
    int rc =
        parse_int (plus ? plus + 1 : text, 0, INT32_MAX - first, &index, "--rank", err);
    if (rc == 0)
        *rank = first + index;
    return rc;
}
