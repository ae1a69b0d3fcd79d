/* grug_recipe.h - a GRUG recipe: what a machine is made of, from GraphML
 *
 *     struct grug_recipe r;
 *     if (grug_recipe_parse (&r, text, len, &err) < 0) ...
 *     // err.text: "grug: line 118: edge 'rack2node': multi_scale: 'x' is not an integer ..."
 *     grug_recipe_release (&r);
 *
 * A node of the recipe stands for all vertices made in one way ("the sockets of a node").
 * An edge says how many of them are made, and where:
 *
 *     cluster --multi_scale 4--> rack --multi_scale 18--> node        MULTIPLY: new ones
 *     powerpanel --ASSOCIATE_IN--> pdu         every existing vertex of the type
 *     pdu --ASSOCIATE_BY_PATH_IN--> node       those with the same path in as_tgt_subsystem,
 *                                              as_tgt_uplvl and as_src_uplvl levels up
 *
 * Attributes (GraphML: data, declared by key elements with their defaults). Of a node:
 * root, type, basename (default: the type), size, unit, subsystem. Of an edge:
 * e_subsystem, relation, rrelation, gen_method, multi_scale, id_scope, id_start,
 * id_stride, as_tgt_subsystem, as_tgt_uplvl, as_src_uplvl. The order of nodes and edges
 * matters, see grug_plan.h.
 *
 * XML is read without network access, own entities or a document type; the limits are
 * GRUG_TEXT_MAX bytes, and GRUG_ITEMS_MAX nodes and edges each.
 */
#pragma once

#include "common/error.h"

#define GRUG_TEXT_MAX (16u << 20)
#define GRUG_ITEMS_MAX 1024
#define GRUG_SIZE_MAX INT64_C (999999999)

enum grug_method { GRUG_MULTIPLY, GRUG_ASSOCIATE, GRUG_ASSOCIATE_BY_PATH };

struct grug_node {
    char *id, *type, *basename, *subsystem;
    char *unit; /* "": none */
    int64_t size, root;
    long line;
};

struct grug_edge {
    char *id; /* or "" */
    char *subsystem, *relation, *reverse, *method_name, *at_subsystem;
    enum grug_method method;
    int64_t scale; /* new vertices below each source */
    int64_t id_scope, id_start, id_stride;
    int64_t up_of_target, up_of_source;
    uint32_t source, target; /* nodes */
    long line;
};

struct grug_recipe {
    struct grug_node *nodes;
    struct grug_edge *edges;
    size_t nnodes, nedges;
};

int grug_recipe_parse (struct grug_recipe *r, const char *text, size_t len,
                       struct error *err);
void grug_recipe_release (struct grug_recipe *r);
