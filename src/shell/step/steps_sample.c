/* steps_sample.c - rank 0: what running steps have used so far, asked from their ranks
 *
 *   steps_sample() --WIRE_STEP_SAMPLE, round--> ranks --WIRE_STEP_SAMPLED, round--> sums
 *
 * An answer to an earlier round is dropped. Rounds begin at most once a second; a reader
 * who comes in between reads the sums of the round under way.
 */
#include "common/macros.h"
#include "shell/step/steps_private.h"

#define ROUND_SECONDS 1.0

static uint32_t nodes_left (const struct step *step)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < step->nnodes; i++)
        n += step->nodes[i].left > 0;
    return n;
}

/* Begins with the nodes whose tasks have ended: they do not answer. */
static void begin (struct step_sample *sample, const struct stepuse *so_far,
                   uint32_t nodes)
{
    stepuse_release (&sample->use);
    *sample = (struct step_sample){ .expected = nodes };
    memcpy (sample->use.spread, so_far->spread, sizeof (sample->use.spread));
}

void steps_sample (struct steps *steps, uint32_t own_nodes)
{
    static const struct stepuse none = { 0 };
    double now = loop_now ();
    if (steps->sampled_at > 0 && now < steps->sampled_at + ROUND_SECONDS)
        return;
    steps->sampled_at = now;
    steps->round++;
    begin (&steps->own, &none, own_nodes);
    for (struct step *s = steps->first; s; s = s->next)
        if (s->state == STEP_RUNNING)
            begin (&s->sample, &s->use, nodes_left (s));
    const struct frame msg = { .type = WIRE_STEP_SAMPLE,
                               .stream = steps->round,
                               .rank = WIRE_ALL };
    steps->send (steps->ctx, WIRE_ALL, &msg);
}

bool steps_sampled (const struct steps *steps, struct step_sample *sample, uint32_t rank,
                    const struct frame *msg)
{
    struct use use;
    if (use_decode (msg->data, msg->len, &use) < 0)
        return false;
    if (msg->stream == steps->round && sample->reported < sample->expected) {
        stepuse_add (&sample->use, rank, &use);
        sample->reported++;
    }
    return true;
}

/* The figures of the sample, with the name and size of the step. */
static void add (const struct stepuse *step, const struct step_sample *sample,
                 const char *ranks, struct strbuf *sb)
{
    struct stepuse all = *step;
    memcpy (all.spread, sample->use.spread, sizeof (all.spread));
    all.ranks = sample->use.ranks;
    all.nreported = all.ranks ? sample->use.nreported : 0;
    all.end_ms = 0;
    strbuf_addf (sb, "ranks %s\n", ranks);
    stepuse_encode (&all, sb);
    strbuf_addch (sb, '\n');
}

void steps_describe (const struct steps *steps, const struct stepuse *own,
                     const char *own_ranks, struct strbuf *sb)
{
    uint32_t waiting = own ? steps->own.expected - steps->own.reported : 0;
    for (const struct step *s = steps->first; s; s = s->next)
        if (s->state == STEP_RUNNING)
            waiting += s->sample.expected - s->sample.reported;
    strbuf_addf (sb, "waiting %u\n\n", waiting);
    if (own)
        add (own, &steps->own, own_ranks, sb);
    for (const struct step *s = steps->first; s; s = s->next)
        if (s->state == STEP_RUNNING)
            add (&s->use, &s->sample, s->spec.ranks ? s->spec.ranks : "", sb);
}
