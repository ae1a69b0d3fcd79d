/* joblog.h - the result of each job, one JSON object per line
 *
 *     FILE *f = joblog_open ("jobs.jsonl", &err);
 *     joblog_add (f, &start);                       // each job, in the order of starts
 *     rc = joblog_close (f, "jobs.jsonl", &err);    // reports any failed write
 */
#pragma once

#include <stdio.h>

#include "tools/sim/sim.h"

FILE *joblog_open (const char *path, struct error *err);
void joblog_add (FILE *f, const struct sim_start *s);
int joblog_close (FILE *f, const char *path, struct error *err);
