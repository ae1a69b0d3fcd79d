/* stepuse.h - what a step of a job has used: its ranks' figures, and the text of FRAME_USAGE
 *
 *     struct stepuse s = { .ntasks = 8, .nnodes = 2 };
 *     snprintf (s.step, sizeof (s.step), "0");
 *     stepuse_add (&s, rank, &use);            // of each rank that reports
 *     stepuse_encode (&s, &sb);                // and stepuse_decode()
 *     stepuse_release (&s);
 *
 * A figure that could not be measured is unknown, which is not 0. Of all ranks the sum, the
 * least and the greatest are kept; each rank's own figures only of steps of at most
 * STEPUSE_RANKS_MAX ranks. libc only (the agent links it).
 */
#ifndef FLUXQ_COMMON_STEPUSE_H
#define FLUXQ_COMMON_STEPUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/strbuf.h"

#define STEPUSE_RANKS_MAX 64
#define USE_TEXT_MAX 512 /* bytes of one rank's figures as text */

/* The job's own program, beside the steps 0, 1, ... of fluxq-run. */
#define STEPUSE_BATCH "batch" /* its script */
#define STEPUSE_TASKS "tasks" /* its command, once a task */
#define STEPUSE_ALL "all"     /* all that ran on the ranks */

enum use_figure {
    USE_USER,   /* processor time, microseconds */
    USE_SYSTEM, /* likewise, in the kernel */
    USE_PEAK,   /* bytes of memory, at most at once */
    USE_READ, /* bytes, by read(2) and its like: of files, pipes, and from caches, too */
    USE_WRITTEN,
    USE_DISK_READ, /* bytes from block devices; only where the job has a cgroup */
    USE_DISK_WRITTEN,
    USE_FIGURES,
};

extern const char *const use_names[USE_FIGURES]; /* "user", "system", "peak", ... */

struct use {
    uint64_t v[USE_FIGURES];
    unsigned known; /* bits of 1 << enum use_figure */
};

void use_set (struct use *use, enum use_figure figure, uint64_t value);
/* The sum, also of the peaks: of what runs at the same time. Sums stop at UINT64_MAX. */
void use_add (struct use *to, const struct use *more);
/* The sum, but of the peaks the greater: of what may run one after the other. */
void use_join (struct use *to, const struct use *more);
/* What `better` knows replaces what is there. */
void use_overrule (struct use *use, const struct use *better);
/* "user 1200 peak 4096": what is known. The number of bytes before the NUL. */
size_t use_encode (const struct use *use, char buf[USE_TEXT_MAX]);
/* 0 or -EBADMSG. Figures of other names are passed over. */
int use_decode (const char *text, size_t len, struct use *ret);

struct use_spread {
    uint64_t sum, min, max;
    uint32_t min_rank, max_rank;
    uint32_t n; /* ranks that know it */
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
    uint32_t nreported; /* ranks that have */
    struct use_spread spread[USE_FIGURES];
    struct use_rank *ranks; /* owned; [nreported], NULL past STEPUSE_RANKS_MAX */
};

void stepuse_add (struct stepuse *s, uint32_t rank, const struct use *use);
/* Append the text: at most 32 KiB. A name's control characters become blanks. */
void stepuse_encode (const struct stepuse *s, struct strbuf *sb);
/* 0, -EBADMSG or -ENOMEM; after an error nothing is to be released. */
int stepuse_decode (const char *text, size_t len, struct stepuse *ret);
void stepuse_release (struct stepuse *s);

#endif
