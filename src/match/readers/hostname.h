/* hostname.h - base and number of a node's name: "rack2-node017" is number 17 of
 * "rack2-node" */
#pragma once

#include "common/error.h"

#define HOSTNAME_BASE_SIZE 256

/* Splits a name into the number at its end (-1: none, or no valid id: 2^31 or more) and
 * the base before it. A name of digits only is its own base. -EINVAL: empty, longer than
 * 255 bytes, or a number past 2^63. */
int hostname_split (const char *name, char base[HOSTNAME_BASE_SIZE], int64_t *ret_id,
                    struct error *err);
