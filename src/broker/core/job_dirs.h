/* job_dirs.h - removes the directories of jobs that have left the table */
#pragma once

#include "broker/core/broker.h"

/* The owner of the spool in the directory of a user's job. */
uid_t job_spool_owner (const struct broker *b, uid_t user);
/* Whether the broker shares job directories with users who write in them (share_dir.h). */
bool job_dirs_are_shared (const struct broker *b);
/* Removes the directory, also what a user has made in it. On a worker thread. */
int job_dir_remove (const char *path, struct error *err);
/* Removes the job's directory soon, on a worker thread. */
void job_dirs_remove (struct broker *b, uint64_t id);
/* At start-up: removes directories that an earlier broker left behind. */
void job_dirs_remove_leftovers (struct broker *b);
/* The greatest job id that has a directory; 0: none. */
uint64_t job_dirs_last (const struct broker *b);
