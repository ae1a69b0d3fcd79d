/* fuzz_sql.h - changes of a data base by statements of SQL with any values
 *
 *     while (in.size > 0)
 *         fuzz_sql_run (db, &in, statements, ARRAY_SIZE (statements));
 *
 * The input has, for each change, a byte for the statement, one for ?1 (a small number, or
 * INT64_MAX), one for the length of ?2, and ?2: a number if it has 8 bytes, else a text.
 */
#pragma once

#include <sqlite3.h>

#include "fuzz.h"

/* Statements that fail change nothing. */
static inline void fuzz_sql_run (sqlite3 *db, struct fuzz_input *in,
                                 const char *const *statements, size_t n)
{
    const char *sql = statements[fuzz_byte (in) % n];
    int8_t number = (int8_t)fuzz_byte (in);
    size_t len = fuzz_byte (in);
    sqlite3_stmt *st = NULL;
    sqlite3_int64 value;

    len = MIN (len, in->size);
    if (sqlite3_prepare_v2 (db, sql, -1, &st, NULL) == SQLITE_OK) {
        sqlite3_bind_int64 (st, 1, number == INT8_MIN ? INT64_MAX : number);
        if (len == sizeof (value)) {
            memcpy (&value, in->data, sizeof (value));
            sqlite3_bind_int64 (st, 2, value);
        } else
            sqlite3_bind_text (st, 2, (const char *)in->data, (int)len, SQLITE_STATIC);
        sqlite3_step (st);
    }
    sqlite3_finalize (st);
    in->data += len;
    in->size -= len;
}
