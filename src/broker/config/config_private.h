/* config_private.h - declarations shared by the files of config.h
 *
 *     config.c         the whole file        value.c          values
 *     queue.c          the mapping queues
 */
#ifndef FLUXQ_BROKER_CONFIG_CONFIG_PRIVATE_H
#define FLUXQ_BROKER_CONFIG_CONFIG_PRIVATE_H

#include "broker/config/config.h"

#define CONFIG_NO_PROGRAM "none" /* also disables the program of all queues */

enum kind {
    KIND_STRING,
    KIND_DURATION,
    KIND_TIMEOUT,
    KIND_INT,
    KIND_BOOL,
    KIND_BYTES,
    KIND_MOUNTS,
    KIND_PODS,
    KIND_STRINGS,
    KIND_PRIVATE,
    KIND_LEVEL,
    KIND_POLICY,
    KIND_QUEUE_POLICY,
    KIND_REQUEUE_ORDER,
    KIND_LISTEN,
    KIND_NAMES,
    KIND_QUEUES,
    KIND_PRIORITY,
    KIND_HISTORY,
    KIND_CLIENTS,
    KIND_PROGRAM,
    KIND_PLACEMENT
};

struct key {
    const char *name;
    enum kind kind;
    size_t offset, size; /* of the field: KEY_FIELD */
    int64_t min, max; /* KIND_INT, KIND_BYTES; in "priority:" also durations */
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

/* Each setter returns 0 and sets the field, or -EINVAL with file, line and column, or
 * -ENOMEM. The field owns texts; its old text is freed. */
int value_string (char **field, const json_t *value, const struct place *p);
int value_duration (double *field, const json_t *value, const struct place *p);
int value_timeout (double *field, const json_t *value, const struct place *p);
int value_program (char **field, const json_t *value, const struct place *p);
int value_bool (bool *field, const json_t *value, const struct place *p);
/* [jobs, arguments, usage] */
int value_private (unsigned *field, const json_t *value, const struct place *p);
int value_strings (char ***field, const json_t *value, const struct place *p);
/* field: of key->size bytes, 4 or 8 */
int value_int (const struct key *key, void *field, const json_t *value,
               const struct place *p);

/* Reads the mapping queues, and replaces the queues of c. */
int config_read_queues (struct config *c, json_t *value, const struct place *p);
void config_release_queues (struct config *c);

#endif
