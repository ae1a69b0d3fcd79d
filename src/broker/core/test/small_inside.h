/* small_inside.h - what the files of small.h share; for small*.c and fake_*.c only */
#pragma once

#include "broker/core/test/small.h"

#include "exec/exec.h"

#define SMALL_TEXT_MAX (1 << 20) /* bytes */

/* One at a time: the linker's names have no argument for it. */
extern struct small *small_current;

void small_clock_begin (void);

void small_journal_begin (void);
void small_journal_end (void);
/* Writes the job's record, as its submit does. key and jobspec may be NULL. */
void small_keep_job (uint64_t id, uint32_t uid, const char *key, const char *jobspec);
/* Its submit is not on disk after all. */
void small_forget_job (uint64_t id);
/* Whether operations wait for their completion; completes those. */
bool small_completes (void);
void small_complete (void);

struct exec {
    struct small *small;
};
extern const struct exec_ops small_exec_ops;
/* All signals that the executor was told to send end with rc. */
void small_answer_signals (int rc);

/* Before a completion: removes all jobs if small_vanish() wants this now. */
void small_vanish_if_due (void);
