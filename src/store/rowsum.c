/* rowsum.c - see rowsum.h */
#include "store/rowsum.h"

#include <string.h>

static uint64_t mix (uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C (0xff51afd7ed558ccd);
    return sum ^ (sum >> 32);
}

uint64_t rowsum_int (uint64_t sum, int64_t value)
{
    return mix (mix (sum, 'i'), (uint64_t)value);
}

uint64_t rowsum_real (uint64_t sum, double value)
{
    uint64_t word;

    memcpy (&word, &value, sizeof (word));
    return mix (mix (sum, 'r'), word);
}

uint64_t rowsum_text (uint64_t sum, const char *text, size_t len)
{
    uint64_t word;

    if (!text)
        return mix (sum, 'n');
    sum = mix (mix (sum, 't'), len);
    for (; len >= sizeof (word); len -= sizeof (word), text += sizeof (word)) {
        memcpy (&word, text, sizeof (word));
        sum = mix (sum, word);
    }
    word = 0;
    memcpy (&word, text, len);
    return mix (sum, word);
}

static void sql_rowsum (sqlite3_context *context, int n, sqlite3_value **values)
{
    uint64_t sum = ROWSUM_START;

    for (int i = 0; i < n; i++) {
        sqlite3_value *v = values[i];
        switch (sqlite3_value_type (v)) {
        case SQLITE_INTEGER:
            sum = rowsum_int (sum, sqlite3_value_int64 (v));
            break;
        case SQLITE_FLOAT:
            sum = rowsum_real (sum, sqlite3_value_double (v));
            break;
        case SQLITE_NULL:
            sum = rowsum_text (sum, NULL, 0);
            break;
        default: {
            const char *text = (const char *)sqlite3_value_text (v);
            sum = rowsum_text (sum, text, (size_t)sqlite3_value_bytes (v));
        }
        }
    }
    sqlite3_result_int64 (context, (sqlite3_int64)sum);
}

int rowsum_register (sqlite3 *db)
{
    return sqlite3_create_function (db, "rowsum", -1,
                                    SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sql_rowsum,
                                    NULL, NULL);
}
