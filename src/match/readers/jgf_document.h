/* jgf_document.h - a text in JGF (RFC 40), checked, as arrays of vertices and edges
 *
 *     struct jgf_document d;
 *     if (jgf_document_parse (&d, text, len, &err) < 0) ...
 *     // err.text: "jgf: graph.nodes[17].metadata.size: 0 is not from 1 to 999999999"
 *     for (size_t i = 0; i < d.nv; i++)
 *         ... d.v[i].type, jgf_path (&d.v[i], "containment")
 *     jgf_document_release (&d);
 *
 * A vertex must have "id", "metadata.type" and "metadata.paths". The other keys have
 * Fluxion's defaults: uniq_id is the number in "id"; id the digits at the end of a node's
 * name, else uniq_id; basename the type; name basename and id; size 1; rank -1; status 0
 * (1: down). A unit is checked and dropped: as in Fluxion, a graph read from JGF is
 * printed without units. An edge has a source and a target, both in the document, and
 * belongs to metadata.subsystem, else to containment. Names are free except for control
 * characters and slashes. The structure of the edges is not checked here: see jgf_tree.h.
 *
 * All texts are borrowed from d->root and live until jgf_document_release().
 */
#pragma once

#include "common/json.h"
#include "match/graph/graph.h"

#define JGF_SIZE_MAX INT64_C (999999999)
#define JGF_NAME_MAX 255

struct jgf_vertex {
    const char *id; /* in the document */
    const char *type, *basename;
    const char *name;         /* NULL: basename and number, see graph_spec */
    const json_t *paths;      /* object: path by subsystem */
    const json_t *properties; /* object of strings, or NULL */
    int64_t number;           /* metadata.id, -1 .. 2^31-1 */
    int64_t uniq;
    int64_t size;
    int32_t rank;
    bool down;
    bool exclusive;
};

struct jgf_edge {
    const char *subsystem;
    const char *type; /* metadata.relationship, or NULL */
    uint32_t source, target;
};

struct jgf_document {
    json_t *root;
    json_t *by_id; /* index in v by id */
    struct jgf_vertex *v;
    struct jgf_edge *e;
    size_t nv, ne;
    struct idset *freed; /* ranks that the job has already given back, or NULL */
};

/* 0, -EINVAL, -ERANGE, -E2BIG, -ENOMEM. Memory is of the order of the text's size. */
int jgf_document_parse (struct jgf_document *d, const char *text, size_t len,
                        struct error *err);
void jgf_document_release (struct jgf_document *d);
/* NULL: the vertex is not in that subsystem. */
const char *jgf_path (const struct jgf_vertex *v, const char *subsystem);
/* Writes the name ("node3") to buf, cut to size. Returns buf. */
const char *jgf_name (const struct jgf_vertex *v, char *buf, size_t size);

static inline void jgf_document_releasep (struct jgf_document *d)
{
    jgf_document_release (d);
}
#define autojgf __attribute__ ((cleanup (jgf_document_releasep)))
