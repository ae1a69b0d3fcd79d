/* history_row.h - makes a row of the history of a job's record in the journal
 */
#pragma once

#include "store/history.h"

/* Writes the job: rec has its jobspec and its events. done as in history_put(). -ENOMEM,
 * -EAGAIN, -ESHUTDOWN; -EINVAL: the job has not ended. */
int history_row_put (struct history *h, const struct journal_record *rec,
                     history_done_f done, void *arg);
