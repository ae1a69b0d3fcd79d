/* config_private.h - declarations shared by the files of config.h
 *
 *     config.c         the whole file        value.c          values
 *     queue.c          the mapping queues
 */
#pragma once

#include "broker/config/keys.h"

#define FAIL CONFIG_FAIL

const struct config_key *config_find_key (const struct config_key *keys,
                                          const char *name);
/* Reads a mapping into a struct. what: the mapping's name, for messages. */
int config_read_mapping (void *c, const struct config_key *keys, json_t *body,
                         const char *what, const struct config_place *p);
/* Frees the texts and lists of names in a struct. */
void config_release (void *c, const struct config_key *keys);

/* Reads the mapping queues, and replaces the queues of the struct config whose field is
 * `queues`. */
config_value config_read_queues;
void config_release_queues (struct config *c);
