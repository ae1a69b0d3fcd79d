/* history.h - removes old or surplus ended jobs from the journal
 */
#pragma once

#include "broker/core/broker.h"

/* Starts a round now; after it the journal returns its free space to the file system. */
void history_compact (struct broker *b);
/* The number of jobs removed since the start. */
uint64_t history_removed (const struct broker *b);
