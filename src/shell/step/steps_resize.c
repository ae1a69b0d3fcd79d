/* steps_resize.c - steps of a malleable job when nodes are added or removed */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "shell/step/steps_private.h"

int steps_grown (struct steps *steps, uint32_t from)
{
    for (uint32_t rank = from; rank < steps->launch->nnodes; rank++)
        if (placement_renew (steps, rank) < 0)
            return -ENOMEM;
    steps_start_waiting (steps);
    return 0;
}

/* Returns the last node of a step with running tasks. Nodes are sorted by rank. */
static struct step_node *last_busy (const struct step *step)
{
    for (uint32_t i = step->nnodes; i-- > 0;)
        if (step->nodes[i].left > 0)
            return &step->nodes[i];
    return NULL;
}

static bool uses (const struct step *step, uint32_t from)
{
    const struct step_node *node = step->state == STEP_RUNNING ? last_busy (step) : NULL;
    return node && node->rank >= from;
}

bool steps_use (const struct steps *steps, uint32_t from)
{
    const struct step *step = steps->first;
    while (step && !uses (step, from))
        step = step->next;
    return step != NULL;
}

void steps_take_back (struct steps *steps, uint32_t from)
{
    for (struct step *step = steps->first, *next; step; step = next) {
        next = step->next;
        if (uses (step, from))
            steps_stop (steps, step, "the job gives back nodes on which it runs");
    }
}

void steps_lose (struct steps *steps, uint32_t rank)
{
    char why[160];
    snprintf (why, sizeof (why), "node %.80s: its agent was lost",
              steps->launch->nodes[rank].name);
    for (struct step *step = steps->first, *next; step; step = next) {
        next = step->next;
        for (uint32_t i = 0; step->state == STEP_RUNNING && i < step->nnodes; i++) {
            if (step->nodes[i].rank != rank || step->nodes[i].left == 0)
                continue;
            steps_lose_node (steps, step, &step->nodes[i], SIGKILL, why);
            break;
        }
    }
}

bool steps_held (const struct steps *steps)
{
    return steps->keepalive.waiter.here || steps->keepalive.keeper.here;
}
