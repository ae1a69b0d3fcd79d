/* zonerule.c - see zonerule.h */
#include "exec/kube/topology/zonerule.h"

#define MIB ((int64_t)1 << 20)

void zonerule_object (struct zonerule *s, const struct zoneobject *object)
{
    s->latest = *object;
    s->version++;
}

/* Whether the report's fingerprint is that of these pods, of all or of those that run.
 * room: for n hashes. */
static bool is_of (const struct zoneobject *o, const struct zonepod *pods, size_t n,
                   bool all, uint64_t *room)
{
    char print[PODPRINT_SIZE];
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if ((all || pods[i].running) && (pods[i].exclusive || !o->only_exclusive))
            room[k++] = pods[i].print;
    podprint_sign (room, k, print);
    return strcmp (print, o->print) == 0;
}

static void see (struct zonepod *pods, size_t n, bool all)
{
    for (size_t i = 0; i < n; i++)
        pods[i].seen = pods[i].seen || all || pods[i].running;
}

/* By fingerprint: whether the report's pods are known now. */
static int match_print (const struct zonerule *s, struct zonepod *pods, size_t n)
{
    uint64_t *room = malloc ((n + 1) * sizeof (*room));
    int found = 0;

    if (!room)
        return -ENOMEM;
    for (int all = 1; all >= 0 && !found; all--) {
        found = is_of (&s->latest, pods, n, all, room);
        if (found)
            see (pods, n, all);
    }
    free (room);
    return found;
}

static int match_version (const struct zonerule *s, struct zonepod *pods, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pods[i].running && s->version > pods[i].run_at)
            pods[i].seen = true;
    return 1;
}

/* Foreign pods that may be in any zone. */
static bool is_loose (const struct zonepod *p)
{
    return p->job == 0 && p->exclusive && !p->seen;
}

int zonerule_look (struct zonerule *s, struct zonepod *pods, size_t n)
{
    bool printed = s->latest.print[0] != 0;
    int found = printed ? match_print (s, pods, n) : match_version (s, pods, n);

    if (found < 0)
        return found;
    for (size_t i = 0; i < n && !s->has_base; i++)
        pods[i].seen = pods[i].seen || pods[i].job == 0;
    if (found || !s->has_base)
        s->base = s->latest;
    s->has_base = true;
    s->exact = found && printed;
    for (size_t i = 0; i < n; i++)
        s->exact = s->exact && !is_loose (&pods[i]);
    return 0;
}

static int64_t above (int64_t n, int64_t unit)
{
    return n / unit + (n % unit > 0);
}

/* Subtracts in whole cores and MiB. */
static void take_off (struct machine_zone *z, const struct podsize *size)
{
    int64_t cores = MIN (above (size->cpu_milli, 1000), z->cores);

    z->cores -= (uint32_t)cores;
    z->gpus -= (uint32_t)MIN (size->gpus, z->gpus);
    z->memory_mib -= MIN (above (size->memory, MIB), z->memory_mib);
}

size_t zonerule_left (const struct zonerule *s, const struct zonepod *pods, size_t n,
                      struct machine_zone left[MACHINE_ZONES_MAX])
{
    memcpy (left, s->base.left, sizeof (s->base.left));
    for (size_t i = 0; i < n; i++)
        for (size_t z = 0; z < s->base.n && is_loose (&pods[i]); z++)
            take_off (&left[z], &pods[i].size);
    return s->base.n;
}
