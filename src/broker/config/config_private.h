/* config_private.h - declarations shared by the files of config.h
 *
 *     config.c         the whole file        value.c          values
 *     queue.c          the mapping queues
 */
#ifndef FLUXQ_BROKER_CONFIG_CONFIG_PRIVATE_H
#define FLUXQ_BROKER_CONFIG_CONFIG_PRIVATE_H

#include "broker/config/config.h"

#define CONFIG_NO_PROGRAM "none" /* also disables the program of all queues */

struct key;
struct place;

/* Reads a value of the file into the field of a key: 0, or -EINVAL with file, line and
 * column, or -ENOMEM. The field owns texts; its old text is freed. */
typedef int value_f (const struct key *key, void *field, json_t *value,
                     const struct place *p);

struct key {
    const char *name;
    value_f *read;
    size_t offset, size; /* of the field: KEY_FIELD */
    int64_t min, max;    /* of integers, amounts, value_seconds() */
};

#define KEY_FIELD(type, field) offsetof (type, field), sizeof (((type *)0)->field)

/* The place in the file, for the setters. */
struct place {
    const struct yaml_doc *doc;
    json_t *owner;
    const char *key;
    struct error *err;
};

#define FAIL(p, ...) yaml_error ((p)->doc, (p)->owner, (p)->key, (p)->err, __VA_ARGS__)

const struct key *config_find_key (const struct key *table, size_t n, const char *name);
/* Reads a mapping into a struct by its table of keys. what: its name, for messages. */
int config_read_mapping (void *c, const struct key *table, size_t n, json_t *body,
                         const char *what, const struct place *p);

/* The fields: char *, a text; */
value_f value_string;
/* double: seconds, any; from 1 s to 24 h; from min to max */
value_f value_duration, value_timeout, value_seconds;
/* char *: an absolute path, or CONFIG_NO_PROGRAM */
value_f value_program;
/* bool */
value_f value_bool;
/* unsigned, from [jobs, arguments, usage] */
value_f value_private;
/* char **, a list of names */
value_f value_strings;
/* an integer of 4 or 8 bytes, from min to max */
value_f value_int;

/* Reads the mapping queues, and replaces the queues of the struct config whose field is
 * `queues`. */
value_f config_read_queues;
void config_release_queues (struct config *c);

#endif
