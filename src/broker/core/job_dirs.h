/* job_dirs.h - removes the directories of jobs that have left the table */
#pragma once

#include "broker/core/broker.h"

/* Removes the job's directory soon, on a worker thread. */
void job_dirs_remove (struct broker *b, uint64_t id);
/* At start-up: removes directories that an earlier broker left behind. */
void job_dirs_remove_leftovers (struct broker *b);
/* The greatest job id that has a directory; 0: none. */
uint64_t job_dirs_last (const struct broker *b);
