/* listing.h - aligned columns from rows of tab-separated fields
 *
 *     struct listing l;
 *     rc = listing_parse (&l, &format, body, len, &err);  // changes and uses body
 *     listing_fit (&l, 80, true);                         // 0: as wide as it wants
 *     listing_print (&l, true, &sb);
 *     listing_release (&l);
 *
 * One pass over the text finds cells and widths, a second one writes: 10,000 rows take
 * about 2 ms. Widths are those that the terminal shows. Unprintable characters
 * (common/printable.h), which could control the reader's terminal, become question marks.
 */
#pragma once

#include "cmd/print/columns.h"
#include "cmd/print/tsv.h"

struct listing {
    const struct format *format;
    size_t nrows;
    struct cell *cells; /* nrows * format->n */
    unsigned widths[FORMAT_ITEMS_MAX];
    char *made; /* texts of computed cells */
    size_t made_len;
};

/* body: lines of format->nfields fields (api: format=tsv), and a NUL at len. -EPROTO: a line has another
 * number of fields; -ENOMEM. */
int listing_parse (struct listing *l, const struct format *format, char *body, size_t len,
                   struct error *err);
/* Chooses the widths: that of the widest text (heading: or heading), or as the format
 * says. If terminal > 0, columns shrink to fit it: first the last column, then the widest
 * ones, each as far as its table entry allows. */
void listing_fit (struct listing *l, unsigned terminal, bool heading);
/* Appends all rows. A text that was cut to fit ends in '+'; a sentence in the last column
 * continues in further lines instead. */
void listing_print (const struct listing *l, bool heading, struct strbuf *sb);
void listing_release (struct listing *l);
