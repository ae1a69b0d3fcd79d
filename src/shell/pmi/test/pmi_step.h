/* pmi_step.h - a step of several ranks in one process, for the tests of pmi.c
 *
 *     struct step *step = step_create (2, 4, STEP_BLOCKS);     // 2 ranks, 4 tasks
 *     step_say (step, 3, "cmd=init pmi_version=1 pmi_subversion=1\n");
 *     assert_string_equal (step_heard (step, 3), "cmd=response_to_init ...\n");
 *     step_destroy (step);
 *
 * Tasks are named by their number in the step. Data for a task is kept until it is read.
 * When all ranks have called exchange(), all get the concatenation, at once or by
 * step_exchange().
 */
#pragma once

#include <string.h>

#include "common/macros.h"
#include "common/strbuf.h"
#include "shell/pmi/pmi.h"

#define STEP_TASKS_MAX 1024
#define STEP_RANKS_MAX 16

enum step_layout { STEP_BLOCKS, STEP_CYCLIC };

struct step_rank {
    struct step *step;
    struct pmi *pmi;
    uint32_t nlocal;
    uint32_t global[STEP_TASKS_MAX];
    struct strbuf given;
    bool gave;
};

struct step {
    uint32_t nranks;
    uint32_t ntasks;
    uint32_t node_of[STEP_TASKS_MAX];
    uint32_t local_of[STEP_TASKS_MAX];
    struct strbuf heard[STEP_TASKS_MAX];
    struct step_rank ranks[STEP_RANKS_MAX];
    bool manual;  /* fences wait for step_exchange() */
    size_t piece; /* bytes in which step_say() gives its text, 0: all at once */
    uint32_t fences;
    int exchanged; /* the worst result of the last pmi_exchanged() of all ranks */
    uint32_t abort_task;
    int abort_status; /* 0: none yet */
    char abort_text[PMI_ABORT_TEXT_MAX];
    struct error err;
};

/* Gives all ranks the data of all ranks. */
static inline void step_exchange (struct step *step)
{
    struct strbuf all;

    strbuf_init (&all, (size_t)PMI_KVS_MAX * 4);
    for (uint32_t i = 0; i < step->nranks; i++) {
        strbuf_add (&all, step->ranks[i].given.buf, step->ranks[i].given.len);
        strbuf_reset (&step->ranks[i].given);
        step->ranks[i].gave = false;
    }
    step->fences++;
    step->exchanged = 0;
    for (uint32_t i = 0; i < step->nranks; i++) {
        int rc = pmi_exchanged (step->ranks[i].pmi, all.buf, all.len, &step->err);
        step->exchanged = MIN (step->exchanged, rc);
    }
    strbuf_release (&all);
}

static inline bool step_is_due (const struct step *step)
{
    for (uint32_t i = 0; i < step->nranks; i++)
        if (!step->ranks[i].gave)
            return false;
    return true;
}

static inline void step_on_send (void *ctx, uint32_t local, const char *data, size_t len)
{
    struct step_rank *rank = ctx;

    strbuf_add (&rank->step->heard[rank->global[local]], data, len);
}

static inline void step_on_exchange (void *ctx, const char *data, size_t len)
{
    struct step_rank *rank = ctx;

    strbuf_add (&rank->given, data, len);
    rank->gave = true;
    if (!rank->step->manual && step_is_due (rank->step))
        step_exchange (rank->step);
}

static inline void step_on_abort (void *ctx, uint32_t local, int status, const char *text)
{
    struct step_rank *rank = ctx;

    rank->step->abort_task = rank->global[local];
    rank->step->abort_status = status;
    snprintf (rank->step->abort_text, sizeof (rank->step->abort_text), "%s", text);
}

static inline void step_destroy (struct step *step)
{
    for (uint32_t i = 0; step && i < STEP_RANKS_MAX; i++) {
        pmi_destroy (step->ranks[i].pmi);
        strbuf_release (&step->ranks[i].given);
    }
    for (uint32_t i = 0; step && i < STEP_TASKS_MAX; i++)
        strbuf_release (&step->heard[i]);
    free (step);
}

static inline void step_config (const struct step *step, uint32_t rank,
                                struct pmi_config *ret)
{
    *ret = (struct pmi_config){
        .jobid = "12.0",
        .ntasks = step->ntasks,
        .nlocal = step->ranks[rank].nlocal,
        .global = step->ranks[rank].global,
        .node_of = step->node_of,
        .nnodes = step->nranks,
    };
}

/* NULL: no memory. */
static inline struct step *step_create (uint32_t nranks, uint32_t ntasks,
                                        enum step_layout layout)
{
    static const struct pmi_events events = { step_on_send, step_on_exchange,
                                              step_on_abort };
    struct step *step = calloc (1, sizeof (*step));

    if (!step)
        return NULL;
    step->nranks = nranks;
    step->ntasks = ntasks;
    for (uint32_t i = 0; i < ntasks; i++) {
        uint32_t node = layout == STEP_CYCLIC ? i % nranks : i * nranks / ntasks;
        step->node_of[i] = node;
        step->local_of[i] = step->ranks[node].nlocal;
        step->ranks[node].global[step->ranks[node].nlocal++] = i;
        strbuf_init (&step->heard[i], (size_t)1 << 24);
    }
    for (uint32_t i = 0; i < nranks; i++) {
        struct pmi_config config;
        step_config (step, i, &config);
        step->ranks[i].step = step;
        strbuf_init (&step->ranks[i].given, PMI_KVS_MAX);
        step->ranks[i].pmi = pmi_create (&config, &events, &step->ranks[i], &step->err);
        if (!step->ranks[i].pmi) {
            step_destroy (step);
            return NULL;
        }
    }
    return step;
}

static inline struct pmi *step_pmi (const struct step *step, uint32_t task)
{
    return step->ranks[step->node_of[task]].pmi;
}

/* The result of pmi_receive(); its error is in step->err. */
static inline int step_send (struct step *step, uint32_t task, const char *data,
                             size_t len)
{
    int rc = 0;

    while (len > 0 && rc == 0) {
        size_t n = step->piece ? MIN (len, step->piece) : len;
        rc = pmi_receive (step_pmi (step, task), step->local_of[task], data, n,
                          &step->err);
        data += n;
        len -= n;
    }
    return rc;
}

static inline int step_say (struct step *step, uint32_t task, const char *text)
{
    return step_send (step, task, text, strlen (text));
}

/* All data that was sent to the task since the last call. Valid until the
 * second call after. */
static inline const char *step_heard (struct step *step, uint32_t task)
{
    static char texts[2][1 << 16];
    static int turn;
    char *text = texts[turn = !turn];

    snprintf (text, sizeof (texts[0]), "%s", step->heard[task].buf);
    strbuf_reset (&step->heard[task]);
    return text;
}

static inline void step_close (struct step *step, uint32_t task)
{
    pmi_closed (step_pmi (step, task), step->local_of[task]);
}

static inline bool step_is_unfinished (const struct step *step, uint32_t task)
{
    return pmi_is_unfinished (step_pmi (step, task), step->local_of[task]);
}

/* A command of PMI-2 with its length before it; valid until the second call after. */
static inline const char *framed (const char *body)
{
    static char texts[2][PMI_COMMAND_MAX + 16];
    static int turn;
    char *text = texts[turn = !turn];

    snprintf (text, sizeof (texts[0]), "%6zu%s", strlen (body), body);
    return text;
}
