/* record.h - structures as text: a sequence of records "NAME LENGTH\nBYTES\n"
 *
 * A value can have any byte but NUL. A table describes the single fields of a structure;
 * the caller handles repeated and composed fields.
 *
 *     static const struct record_field fields[] = {
 *         RECORD_FIELD (struct launch, job_id, RECORD_U64, 1, INT64_MAX), ...
 *     };
 *     struct record_text text = { "launch file", data, len };
 *     struct record r;
 *     while ((rc = record_take (&text, &r, &err)) > 0)
 *         rc = record_read (fields, ARRAY_SIZE (fields), &l, &seen, &r, &err);
 *
 * libc only (the agent links it).
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

#define RECORD_NAME_MAX 32
#define RECORD_FIELDS_MAX 64

enum record_type {
    RECORD_STRING, /* char *, owned by the structure; NULL: absent */
    RECORD_BOOLEAN,
    RECORD_U32,
    RECORD_U64,
    RECORD_SECONDS, /* double, kept to the millisecond */
};

struct record_field {
    const char *name;
    enum record_type type;
    size_t offset;
    int64_t min, max; /* of numbers; RECORD_SECONDS: in milliseconds, as in the text */
};

/* clang-format off */
#define RECORD_FIELD(structure, name, type, min, max) \
    { #name, type, offsetof (structure, name), min, max }
/* clang-format on */

struct record_text {  /* the rest of a text, not read yet */
    const char *what; /* for messages: "launch file" */
    const char *data;
    size_t len;
    size_t longest; /* bytes of the longest value allowed */
};

struct record {
    const char *what;
    char name[RECORD_NAME_MAX];
    const char *data; /* in the text; without NUL bytes */
    size_t len;
};

/* The next record: 1; 0 at the end; -EINVAL with the record's name. */
int record_take (struct record_text *text, struct record *ret, struct error *err);
/* Set the field of the record's name in *base: 0; -EINVAL: no such field, the record
 * comes twice (*seen, 0 at first, remembers the fields), or its value is wrong;
 * -ENOMEM. */
int record_read (const struct record_field *fields, size_t n, void *base, uint64_t *seen,
                 const struct record *r, struct error *err);
/* Append the value to a NULL-terminated array of *n strings, which may be NULL. 0 or
 * -ENOMEM. */
int record_append (char ***array, size_t *n, const struct record *r, struct error *err);
/* The same for NAME=VALUE only; else -EINVAL. */
int record_append_env (char ***array, size_t *n, const struct record *r,
                       struct error *err);
/* Returns the array with room for element n and one more; the array moves when n is 0 or
 * a power of two from 8 on. NULL: no memory (the old array is still valid). */
void *record_room (void *array, size_t n, size_t size);

/* Append one record, all fields (-EINVAL: a number is out of its range), or a record for
 * each string of an array. */
void record_add_one (struct strbuf *sb, const char *name, const char *data, size_t len);
int record_write (const struct record_field *fields, size_t n, const void *base,
                  struct strbuf *sb);
void record_add_strings (struct strbuf *sb, const char *name, char *const *array,
                         size_t n);
/* Free the strings; they become NULL. */
void record_release (const struct record_field *fields, size_t n, void *base);
void record_free_strings (char **array, size_t n);
