/* machine_private.h - the machine's inside, for machine*.c and match*.c only
 *
 *     const struct machine_node *n = g->nodes[i];     // or NULL: that index is vacant
 *     graph_vertex (g->graph, n->v) ...               // the node in the graph
 *     machine_book (g, n, NULL);                      // a job has something there now
 *
 * The graph is the truth about sizes and bookings. Here is what it has no place for: the
 * node by its index, what executors said of it, and how many jobs are on it. Every change
 * of the graph is told to the planner at once, one by one, see planner_changed().
 */
#ifndef FLUXQ_MATCH_MACHINE_PRIVATE_H
#define FLUXQ_MATCH_MACHINE_PRIVATE_H

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "match/machine.h"
#include "match/planner.h"

struct place {                  /* stays when nothing is in it, see machine_place.c */
    char *key;                  /* id of the outer one, level and name */
    struct place *up;           /* or NULL: the cluster */
    struct machine_place *path; /* from the outermost one to itself */
    const struct machine_place *own; /* the last of these */
    uint32_t v;                      /* GRAPH_NONE: nothing is in it */
    uint32_t inside; /* nodes, and places that have a vertex, directly in it */
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

/* Groups of the graph, GRAPH_NONE: none. */
struct node_leaves {
    uint32_t core, gpu, memory;
};

struct machine_node {
    char *name;
    char *reason;
    char **properties;   /* NULL-terminated */
    struct place *place; /* the innermost; NULL: below the cluster */
    enum machine_node_state state;
    int index;
    bool leaving;
    bool exclusive; /* booked as a whole */
    bool withheld;  /* some of it may be, see node_withhold() */
    uint32_t njobs;
    uint32_t v, core, gpu, memory; /* in the graph; GRAPH_NONE: it has none of that */
    struct machine_pool *pools;    /* one for each of gres, and those that are to go */
    size_t npools;
    struct machine_amounts size, foreign;
    struct machine_amounts taken; /* while exclusive: what the job was given */
    struct gres_list gres, gres_foreign, gres_taken; /* the same */
    struct node_zones *zones;                        /* NULL: it has and had none */
    struct machine_node *next; /* in a list of those on which a job was */
    struct machine_node *drained_prev, *drained_next;
};

struct machine {
    char *name;
    struct graph *graph;
    struct planner *planner;     /* the matcher's, or NULL */
    struct machine_node **nodes; /* by index, NULL where vacant */
    size_t size, alloc;          /* indexes 0..size-1 were given */
    size_t count;                /* nodes that exist */
    size_t vacant;               /* no index below it is vacant */
    int32_t renamed; /* resources whose name in the graph was taken; for the next one */
    struct place *places; /* hash by key */
    uint64_t lost;        /* times that the planner was told of a loss */
    bool divides_cpus;    /* all nodes have a pool GRES_CPU_MILLI */
    struct machine_node *drained; /* list of those that are */
    uint64_t layout; /* bumped when nodes come, go or change size, places or properties */
};

struct machine_node *machine_node_at (const struct machine *g, int index); /* or NULL */
/* The node in which the vertex is, or which it is. */
struct machine_node *machine_node_of (const struct machine *g, uint32_t v);
/* The graph has changed at v. */
void machine_changed (struct machine *g, uint32_t v);
/* The same, and all that has changed is that less is free: what did not fit need not be
 * tried again. */
void machine_lost (struct machine *g, uint32_t v);

/* One job more is booked on the node; taken: it has all of it, and was given so much, and of
 * generic resources gres (NULL: none). */
void machine_book (struct machine *g, struct machine_node *n,
                   const struct machine_amounts *taken, const struct gres_list *gres);
/* One less. The node is gone afterwards when it was leaving and this was the last. */
void machine_unbook (struct machine *g, struct machine_node *n);
/* A reservation there is gone: so is the node if only that kept it. */
void machine_tidy (struct machine *g, struct machine_node *n);

/* -- machine_place.c: where nodes are -- */

int places_check (const struct machine_node_spec *spec, struct error *err);
/* The innermost of them, which is made if it is new; NULL where the list is empty. -ENOMEM. */
int place_get (struct machine *g, const struct machine_place *list, struct place **ret);
/* Where the nodes of a place (NULL: of none) are, made with those above it if it is not
 * there; GRAPH_NONE with the reason. */
uint32_t place_vertex (struct machine *g, struct place *x, struct error *err);
/* Its vertex goes, and those above it, when nothing is in it. */
void place_tidy (struct machine *g, struct place *x);
/* The node is in that place (or none) from now on; its vertex is there already. */
void node_set_place (struct machine *g, struct machine_node *n, struct place *to);
void places_destroy (struct machine *g);

/* -- machine_zone.c: NUMA zones -- */

/* Of spec what machine_node_add() and its like are to refuse. */
int zones_check (const struct machine_node_spec *spec, struct error *err);
/* As node_resize(), of a node that has, had or is to have zones. */
int zones_resize (struct machine *g, struct machine_node *n,
                  const struct machine_node_spec *spec, struct error *err);
void zones_destroy (struct machine_node *n);
/* The node's leaves: those that are in no zone, then zone by zone; false: no more. */
bool node_leaves_at (const struct machine_node *n, size_t i, struct node_leaves *ret);
/* The job is booked on the node, and from now on loose; it has nothing there any more. */
void zones_book (struct machine *g, struct machine_node *n, uint64_t job,
                 const struct machine_amounts *given);
void zones_unbook (struct machine_node *n, uint64_t job);
/* What was put off is done if nothing is booked. */
void zones_tidy (struct machine *g, struct machine_node *n);
/* node_withhold() of what is in zones. */
bool zones_are_there (const struct machine_node *n);
int zones_withhold (struct machine *g, struct machine_node *n);

/* -- machine_size.c: what a node has, and what of that others use -- */

/* It gets this size. -EINVAL, -ENOMEM: some of it may have changed. */
int node_resize (struct machine *g, struct machine_node *n,
                 const struct machine_amounts *size, struct error *err);
/* ... and has these generic resources (NULL: none). */
int node_set_gres (struct machine *g, struct machine_node *n,
                   const struct gres_list *gres, struct error *err);
/* The vertex of that name, or GRAPH_NONE. */
uint32_t node_pool (const struct machine_node *n, const char *name);
/* Booked of a divisible vertex (or GRAPH_NONE), and what could be. */
int64_t pool_used (const struct graph *g, uint32_t v);
int64_t pool_free (const struct graph *g, uint32_t v);
/* Of one group of units, or one pool: the highest free ones of the graph; 0 or -ENOMEM. */
int leaf_withhold_units (struct machine *g, uint32_t v, uint32_t foreign);
int leaf_withhold_pool (struct machine *g, uint32_t v, int64_t foreign);
/* Units that are not booked and are there to stay, withheld or not. */
uint32_t leaf_unbooked (const struct graph *g, uint32_t v);
/* Withhold what is foreign, and what is booked beyond the node's size, from what is free
 * now. After each change of any of these. 0 or -ENOMEM. */
int node_withhold (struct machine *g, struct machine_node *n);
/* Leaves that were only kept for jobs are dropped when they are free. */
void node_tidy (struct machine *g, struct machine_node *n);
/* Booked, by units; and what could be booked now if the node took jobs. */
struct machine_amounts node_used (const struct machine *g, const struct machine_node *n);
struct machine_amounts node_left (const struct machine *g, const struct machine_node *n);

#endif
