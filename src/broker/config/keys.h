/* keys.h - keys of fluxq.yaml: a table of rows, each with the function that reads its value
 *
 *     struct settings { unsigned failures; };
 *     #define AT(field) CONFIG_FIELD (struct settings, field)
 *     static const struct config_key keys[] = {
 *         { "drain-after-failures", value_int, AT (failures), 0, 1000, NULL },
 *         { 0 },
 *     };
 *     static const struct settings defaults = { .failures = 3 };
 *     static const struct config_part settings = { keys, sizeof (struct settings), &defaults };
 *
 * The keys of the core and of api/ are in config.c; a service has its own in its file
 * (core/service.h), which then needs no edit here. Every key is at the top of the file.
 */
#pragma once

#include "broker/config/config.h"

struct config_key;

/* The place in the file, for messages. */
struct config_place {
    const struct yaml_doc *doc;
    json_t *owner;
    const char *key;
    struct error *err;
};

/* Refuses a value: sets the error, with file, line and column, and returns -EINVAL. */
#define CONFIG_FAIL(p, ...)                                                              \
    yaml_error ((p)->doc, (p)->owner, (p)->key, (p)->err, __VA_ARGS__)

/* Reads a value of the file into the field of a key: 0, or -EINVAL with file, line and
 * column, or -ENOMEM. The field owns texts; its old text is freed. */
typedef int config_value (const struct config_key *key, void *field, json_t *value,
                          const struct config_place *p);

struct config_key {
    const char *name; /* NULL ends a table */
    config_value *read;
    size_t offset, size;           /* of the field: CONFIG_FIELD */
    int64_t min, max;              /* of value_int, value_bytes, value_seconds */
    const struct config_key *keys; /* of value_mapping: the keys of the mapping */
};

#define CONFIG_FIELD(type, field) offsetof (type, field), sizeof (((type *)0)->field)

/* The settings of a service. */
struct config_part {
    const struct config_key *keys;
    size_t size;          /* of the struct */
    const void *defaults; /* such a struct; a text that a key sets is NULL */
};

/* The parts of a configuration, and where each lies in it. */
struct config_layout {
    const struct config_part *const *parts;
    const size_t *offsets;
    size_t n, size;
};

/* char *: a text; an absolute path, or CONFIG_NO_PROGRAM */
config_value value_string, value_program;
/* double: seconds, any; from 1 s to 24 h; from min to max */
config_value value_duration, value_timeout, value_seconds;
/* bool */
config_value value_bool;
/* unsigned, from [jobs, arguments, usage] */
config_value value_private;
/* char **, a list of names */
config_value value_strings;
/* an integer of 4 or 8 bytes, from min to max */
config_value value_int;
/* uint64_t: bytes, 0 or from min (a whole number of MiB) to max */
config_value value_bytes;
/* a struct, from a mapping with key->keys */
config_value value_mapping;

#define CONFIG_YEARS_MAX (INT64_C (10) * 365 * 86400) /* for value_seconds */
#define CONFIG_NO_PROGRAM "none" /* also disables the program of all queues */
