/* machine_private.h - the machine's inside, for machine*.c and match*.c only
 *
 *     const struct machine_node *n = g->nodes[i];     // or NULL: that index is vacant
 *     graph_vertex (g->graph, n->v) ...               // the node in the graph
 *     machine_book (g, n, NULL, NULL);                // a job has a part of it now
 *
 * The graph holds sizes and bookings. The machine holds the rest: the node by its index,
 * the reports of executors, and the number of jobs on the node. Each change of the graph
 * is reported to the planner at once, see planner_changed().
 */
#pragma once

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "match/machine/machine.h"
#include "match/planner/planner.h"

struct place {                  /* stays when nothing is in it, see machine_place.c */
    char *key;                  /* id of the outer place, level and name */
    struct place *up;           /* or NULL: the cluster */
    struct machine_place *path; /* from the outermost place to this one */
    const struct machine_place *own; /* the last entry of path */
    uint32_t v;                      /* GRAPH_NONE: nothing is in it */
    uint32_t inside; /* nodes directly in it, and directly inner places that have a
                      * vertex */
    int id;
    UT_hash_handle hh;
};

struct machine_amounts {
    uint32_t cores, gpus;
    int64_t memory; /* MiB */
};

#define CPU_MILLI 1000 /* of a core, see GRES_CPU_MILLI */

struct machine_pool { /* a generic resource of a node */
    char *name;
    uint32_t v; /* in the graph */
};

struct node_zones; /* see machine_zone.c */

/* Groups of units in the graph, GRAPH_NONE: none. */
struct node_leaves {
    uint32_t core, gpu, memory;
};

struct machine_node {
    char *name;
    char *reason;
    char **properties;   /* NULL-terminated */
    char *gpu_type;      /* or NULL */
    struct place *place; /* the innermost; NULL: below the cluster */
    enum machine_node_state state;
    int index;
    bool leaving;
    bool exclusive; /* booked as a whole */
    bool withheld;  /* something may be withheld, see node_withhold() */
    uint32_t njobs;
    uint32_t v, core, gpu, memory; /* in the graph; GRAPH_NONE: the node has none */
    struct machine_pool *pools;    /* one for each of gres, and pools that are about to
                                    * go */
    size_t npools;
    struct machine_amounts size, foreign;
    struct machine_amounts taken; /* while exclusive: what the job was given */
    struct gres_list gres, gres_foreign, gres_taken; /* as size, foreign and taken */
    struct node_zones *zones;                        /* NULL: the node has no zones and
                                                      * never had any */
    struct machine_node *next; /* in a list of nodes that a job used */
    struct machine_node *drained_prev, *drained_next;
};

struct machine {
    char *name;
    struct graph *graph;
    struct planner *planner;     /* the matcher's, or NULL */
    struct machine_node **nodes; /* by index, NULL where vacant */
    size_t size, alloc;          /* indexes 0..size-1 have been used */
    size_t count;                /* nodes that exist */
    size_t vacant;               /* no index below it is vacant */
    int32_t renamed; /* number of resources whose name in the graph was taken; makes the
                      * next name */
    struct place *places; /* hash by key */
    uint64_t lost;        /* reports of a loss to the planner, see machine_lost() */
    bool divides_cpus;    /* all nodes have a pool GRES_CPU_MILLI */
    struct machine_node *drained; /* list of the drained nodes */
    uint64_t layout; /* grows when nodes come, go or change size, places or properties */
};

/* NULL: no node has that index. */
static inline struct machine_node *machine_node_at (const struct machine *g, int index)
{
    return index >= 0 && (size_t)index < g->size ? g->nodes[index] : NULL;
}

/* Returns the node at or above the vertex. */
struct machine_node *machine_node_of (const struct machine *g, uint32_t v);

/* Reports that the graph has changed at v. */
static inline void machine_changed (struct machine *g, uint32_t v)
{
    if (g->planner)
        planner_changed (g->planner, v);
}

/* Bracket changes of the graph in a node, see planner_begin_change(). */
static inline void machine_begin_change (struct machine *g, uint32_t v)
{
    if (g->planner)
        planner_begin_change (g->planner, v);
}

static inline void machine_end_change (struct machine *g, uint32_t v)
{
    if (g->planner)
        planner_end_change (g->planner, v);
}

/* The same for a change after which only less is free: requests that did not fit need not
 * be tried again. */
static inline void machine_lost (struct machine *g, uint32_t v)
{
    machine_changed (g, v);
    g->lost += g->planner != NULL;
}

/* Counts one more job on the node. taken: the job has the whole node, and was given these
 * amounts, and of generic resources gres (NULL: none). */
void machine_book (struct machine *g, struct machine_node *n,
                   const struct machine_amounts *taken, const struct gres_list *gres);
/* Counts one job less. Removes the node if it was leaving and this was the last job. */
void machine_unbook (struct machine *g, struct machine_node *n);
/* Called when a reservation there ends: removes the node if only the reservation kept
 * it. */
void machine_tidy (struct machine *g, struct machine_node *n);

/* -- machine_place.c: where nodes are -- */

int places_check (const struct machine_node_spec *spec, struct error *err);
/* Returns the innermost place of the list in *ret, made if it is new; NULL if the list is
 * empty. -ENOMEM. */
int place_get (struct machine *g, const struct machine_place *list, struct place **ret);
/* Returns the vertex that nodes of a place (NULL: of none) are below, made with those
 * above it if missing; GRAPH_NONE with the reason. */
uint32_t place_vertex (struct machine *g, struct place *x, struct error *err);
/* Removes the vertices of the place and of those above it, where nothing is in them. */
void place_tidy (struct machine *g, struct place *x);
/* Moves the node to that place (or none), which has its vertex already. */
void node_set_place (struct machine *g, struct machine_node *n, struct place *to);
void places_destroy (struct machine *g);

/* -- machine_zone.c: NUMA zones -- */

/* Checks the zones of a spec for machine_node_add() and machine_node_update(). */
int zones_check (const struct machine_node_spec *spec, struct error *err);
/* As node_resize(), for a node that has, had or gets zones. */
int zones_resize (struct machine *g, struct machine_node *n,
                  const struct machine_node_spec *spec, struct error *err);
void zones_destroy (struct machine_node *n);
/* Iterates over the leaves of a node: first those outside zones, then zone by zone;
 * false: no more. */
bool node_leaves_at (const struct machine_node *n, size_t i, struct node_leaves *ret);
/* Note that the job is booked on the node, loose from now on; that it has nothing there
 * any more. */
void zones_book (struct machine *g, struct machine_node *n, uint64_t job,
                 const struct machine_amounts *given);
void zones_unbook (struct machine_node *n, uint64_t job);
/* Applies the postponed layout if nothing is booked. */
void zones_tidy (struct machine *g, struct machine_node *n);
/* node_withhold() for resources in zones. */
bool zones_are_there (const struct machine_node *n);
int zones_withhold (struct machine *g, struct machine_node *n);

/* -- machine_size.c: what a node has, and what of that others use -- */

/* Resizes the node. -EINVAL, -ENOMEM: some of it may have changed. */
int node_resize (struct machine *g, struct machine_node *n,
                 const struct machine_amounts *size, struct error *err);
/* Sets its generic resources (NULL: none). Errors as node_resize(). */
int node_set_gres (struct machine *g, struct machine_node *n,
                   const struct gres_list *gres, struct error *err);
/* Returns the pool of that name, or GRAPH_NONE. */
uint32_t node_pool (const struct machine_node *n, const char *name);
/* Amount of a divisible vertex (or GRAPH_NONE) that is booked, and that can be booked. */
int64_t pool_used (const struct graph *g, uint32_t v);
int64_t pool_free (const struct graph *g, uint32_t v);
/* Withholds amounts of groups of units (the highest free ones) and of memory; 0 or
 * -ENOMEM. */
int leaves_withhold (struct machine *g, const struct node_leaves *l,
                     const struct machine_amounts *foreign);
/* Units that are not booked and stay in the graph, withheld or not. */
uint32_t leaf_unbooked (const struct graph *g, uint32_t v);
/* Withholds the foreign use, and bookings beyond the node's size, from what is free now.
 * Call it after each change of any of these. 0 or -ENOMEM. */
int node_withhold (struct machine *g, struct machine_node *n);
/* Drops leaves that were kept only for jobs, if they are free. */
void node_tidy (struct machine *g, struct machine_node *n);
/* The booked amounts, by units; the amounts that could be booked now if the node took
 * jobs. */
struct machine_amounts node_used (const struct machine *g, const struct machine_node *n);
struct machine_amounts node_left (const struct machine *g, const struct machine_node *n);
