/* moves.c - see moves.h */
#include "broker/core/no_memory.h"

#include "broker/services/nodes/moves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct spec { /* a copy */
    struct machine_node_spec spec;
    struct machine_place *places;
    struct machine_zone *zones;
    char *reason;
    struct gres_list gres;
    char **properties;
    enum machine_node_state state;
};

struct report { /* a copy; its lists stand behind it */
    struct machine_report report;
};

struct move { /* of one node; ordered as inserted into the hash */
    char *name;
    bool gone;
    struct spec *spec;     /* or NULL */
    struct report *report; /* or NULL */
    bool foreign;
    uint32_t cores, gpus;
    int64_t memory_mib;
    struct gres_list gres; /* used outside fluxq */
    UT_hash_handle hh;
};

struct moves {
    struct move *list;
};

/* -- copies -- */

static void spec_free (struct spec *s)
{
    if (!s)
        return;
    for (char **p = s->properties; p && *p; p++)
        free (*p);
    free (s->properties);
    free (s->places);
    free (s->zones);
    free (s->reason);
    gres_release (&s->gres);
    free (s);
}

static int copy_text (char **to, const char *from)
{
    *to = from ? strdup (from) : NULL;
    return from && !*to ? -ENOMEM : 0;
}

static int copy_properties (char ***to, const char *const *from)
{
    size_t n = 0;

    while (from && from[n])
        n++;
    if (from && !(*to = calloc (n + 1, sizeof (**to))))
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (copy_text (&(*to)[i], from[i]) < 0)
            return -ENOMEM;
    return 0;
}

static int copy_zones (struct spec *s, const struct machine_node_spec *spec)
{
    size_t bytes = spec->nzones * sizeof (*s->zones);

    if (spec->nzones == 0)
        return 0;
    if (!(s->zones = malloc (bytes)))
        return -ENOMEM;
    memcpy (s->zones, spec->zones, bytes);
    return 0;
}

static struct report *report_copy (const struct machine_report *r)
{
    size_t left = r->nleft * sizeof (*r->left), seen = r->nseen * sizeof (*r->seen);
    struct report *copy = malloc (sizeof (*copy) + left + seen);

    if (!copy)
        return NULL;
    copy->report = *r;
    copy->report.left = memcpy (copy + 1, r->left, left);
    copy->report.seen = memcpy ((char *)(copy + 1) + left, r->seen, seen);
    return copy;
}

static struct spec *spec_copy (const struct machine_node_spec *spec,
                               enum machine_node_state state, const char *reason)
{
    struct spec *s = calloc (1, sizeof (*s));

    if (!s)
        return NULL;
    s->places = machine_places_copy (spec->places);
    if (!s->places || copy_zones (s, spec) < 0 || copy_text (&s->reason, reason) < 0
        || copy_properties (&s->properties, spec->properties) < 0
        || (spec->gres && gres_copy (&s->gres, spec->gres) < 0)) {
        spec_free (s);
        return NULL;
    }
    s->spec = *spec;
    s->spec.places = s->places;
    s->spec.gres = &s->gres;
    s->spec.zones = s->zones;
    s->spec.properties = (const char *const *)s->properties;
    s->state = state;
    return s;
}

/* -- pending changes -- */

static void move_free (struct move *move)
{
    spec_free (move->spec);
    gres_release (&move->gres);
    free (move->report);
    free (move->name);
    free (move);
}

/* The node's entry, or a new one at the end; NULL: no memory. */
static struct move *move_of (struct moves *m, const char *name)
{
    struct move *move;

    HASH_FIND_STR (m->list, name, move);
    if (move)
        return move;
    if (!(move = calloc (1, sizeof (*move))) || !(move->name = strdup (name))) {
        free (move);
        return NULL;
    }
    HASH_ADD_KEYPTR (hh, m->list, move->name, strlen (move->name), move);
    if (!move->hh.tbl) {
        move_free (move);
        return NULL;
    }
    return move;
}

int moves_node (struct moves *m, const struct machine_node_spec *spec,
                enum machine_node_state state, const char *reason)
{
    struct spec *copy = spec_copy (spec, state, reason);
    struct move *move = copy ? move_of (m, spec->name) : NULL;

    if (!move) {
        spec_free (copy);
        return -ENOMEM;
    }
    spec_free (move->spec);
    copy->spec.name = move->name;
    move->spec = copy;
    return 0;
}

int moves_foreign (struct moves *m, const char *name, uint32_t cores, uint32_t gpus,
                   int64_t memory_mib, const struct gres_list *gres)
{
    struct gres_list copy = { 0 };

    if (gres && gres_copy (&copy, gres) < 0)
        return -ENOMEM;
    struct move *move = move_of (m, name);
    if (!move) {
        gres_release (&copy);
        return -ENOMEM;
    }
    gres_release (&move->gres);
    move->gres = copy;
    move->foreign = true;
    move->cores = cores;
    move->gpus = gpus;
    move->memory_mib = memory_mib;
    return 0;
}

int moves_zones (struct moves *m, const char *name, const struct machine_report *report)
{
    struct report *copy = report_copy (report);
    struct move *move = copy ? move_of (m, name) : NULL;

    if (!move) {
        free (copy);
        return -ENOMEM;
    }
    free (move->report);
    move->report = copy;
    return 0;
}

int moves_gone (struct moves *m, const char *name)
{
    struct move *move = move_of (m, name);

    if (!move)
        return -ENOMEM;
    move->gone = true;
    move->foreign = false;
    free (move->report);
    move->report = NULL;
    spec_free (move->spec);
    move->spec = NULL;
    return 0;
}

bool moves_any (const struct moves *m)
{
    return m->list != NULL;
}

bool moves_next (struct moves *m, const struct moves_verbs *verbs, void *arg)
{
    struct move *move = m->list;

    if (!move)
        return false;
    HASH_DELETE (hh, m->list, move);
    if (move->gone)
        verbs->node_gone (arg, move->name);
    if (move->spec)
        verbs->node (arg, &move->spec->spec, move->spec->state, move->spec->reason);
    if (move->foreign)
        verbs->node_foreign (arg, move->name, move->cores, move->gpus, move->memory_mib,
                             &move->gres);
    if (move->report)
        verbs->node_zones (arg, move->name, &move->report->report);
    move_free (move);
    return true;
}

/* -- all -- */

struct moves *moves_create (void)
{
    return calloc (1, sizeof (struct moves));
}

void moves_destroy (struct moves *m)
{
    struct move *move, *next;

    if (!m)
        return;
    HASH_ITER (hh, m->list, move, next) {
        HASH_DELETE (hh, m->list, move);
        move_free (move);
    }
    free (m);
}
