/* stepuse.h - resource usage of a job step: figures of its ranks, and text of FRAME_USAGE
 *
 *     struct stepuse s = { .ntasks = 8, .nnodes = 2 };
 *     snprintf (s.step, sizeof (s.step), "0");
 *     stepuse_add (&s, rank, &use);            // for each rank that reports
 *     stepuse_encode (&s, &sb);                // and stepuse_decode()
 *     stepuse_release (&s);
 *
 * A figure that could not be measured is unknown, which differs from 0. A step keeps the
 * sum, the minimum and the maximum of each figure; the figures of each rank are kept only
 * for steps of at most STEPUSE_RANKS_MAX ranks. libc only (the agent links it).
 */
#pragma once

#include "common/strbuf.h"

#define STEPUSE_RANKS_MAX 64
#define USE_TEXT_MAX 512 /* bytes of one rank's figures as text */

/* Steps of the job's own program, beside the steps 0, 1, ... of fluxq-run. */
#define STEPUSE_BATCH "batch" /* its script */
#define STEPUSE_TASKS "tasks" /* its command, once a task */
#define STEPUSE_ALL "all"     /* all that ran on the ranks */

enum use_figure {
    USE_USER,   /* processor time, microseconds */
    USE_SYSTEM, /* processor time in the kernel, microseconds */
    USE_PEAK,   /* bytes of memory, the maximum over time */
    USE_READ, /* bytes by read(2) and similar calls: files, pipes, also from caches */
    USE_WRITTEN,
    USE_DISK_READ, /* bytes from block devices; only if the job has a cgroup */
    USE_DISK_WRITTEN,
    USE_FIGURES,
};

extern const char *const use_names[USE_FIGURES]; /* "user", "system", "peak", ... */

struct use {
    uint64_t v[USE_FIGURES];
    unsigned known; /* bits of 1 << enum use_figure */
};

void use_set (struct use *use, enum use_figure figure, uint64_t value);
/* Add figures of processes that run at the same time: sums, also of the peaks. Saturates
 * at UINT64_MAX. */
void use_add (struct use *to, const struct use *more);
/* Add figures of processes that can run one after the other: sums, but the greater
 * peak. */
void use_join (struct use *to, const struct use *more);
/* The known figures of `better` replace those of `use`. */
void use_overrule (struct use *use, const struct use *better);
/* Write the known figures, "user 1200 peak 4096". Returns the number of bytes before the
 * NUL. */
size_t use_encode (const struct use *use, char buf[USE_TEXT_MAX]);
/* 0 or -EBADMSG. Unknown names are skipped. */
int use_decode (const char *text, size_t len, struct use *ret);

struct use_spread {
    uint64_t sum, min, max;
    uint32_t min_rank, max_rank;
    uint32_t n; /* ranks that know the figure */
};

struct use_rank {
    uint32_t rank;
    struct use use;
};

struct stepuse {
    char step[16]; /* "batch", "tasks", "all" or a number */
    char name[64];
    uint64_t begin_ms, end_ms; /* unix time */
    uint32_t ntasks, nnodes;
    int status;         /* worst wait status */
    uint32_t nreported; /* ranks that have reported */
    struct use_spread spread[USE_FIGURES];
    struct use_rank *ranks; /* owned; [nreported], NULL past STEPUSE_RANKS_MAX */
};

void stepuse_add (struct stepuse *s, uint32_t rank, const struct use *use);
/* Append the text: at most 32 KiB. A name's control characters become blanks. */
void stepuse_encode (const struct stepuse *s, struct strbuf *sb);
/* 0, -EBADMSG or -ENOMEM; after an error *ret needs no release. */
int stepuse_decode (const char *text, size_t len, struct stepuse *ret);
void stepuse_release (struct stepuse *s);
