/* build.h - jobspecs for tests from one line, without a parser of JSON
 *
 *     req = build_request ("node=2-4>slot=2>(core=3,gpu=1)", 0, NULL, &err);
 *
 *     TREE = VERTEX [">" TREE | ">" "(" TREE {"," TREE} ")"]
 *     VERTEX = TYPE "=" MIN ["-" MAX [("+"|"*"|"^") OPERAND]] [":" UNIT] ["!" | "~"]
 *
 * "!" is exclusive: true, "~" exclusive: false. A wrong line aborts the test.
 */
#pragma once

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "match/machine/match.h"

static inline int64_t build_number (const char **p)
{
    char *end;
    int64_t n = strtoll (*p, &end, 10);
    if (end == *p)
        abort ();
    *p = end;
    return n;
}

static inline char *build_word (const char **p)
{
    size_t len = 0;
    while (isalpha ((unsigned char)(*p)[len]) || ((*p)[len] && strchr ("/_:", (*p)[len])))
        len++;
    char *word = strndup (*p, len);
    *p += len;
    return word;
}

static inline void build_vertex (const char **p, struct jobspec_resource *v)
{
    *v = (struct jobspec_resource){ .exclusive = JOBSPEC_UNSET };
    v->type = build_word (p);
    if (*(*p)++ != '=')
        abort ();
    v->count.min = v->count.max = build_number (p);
    v->count.op = '+';
    v->count.operand = 1;
    if (**p == '-') {
        (*p)++;
        v->count.max = build_number (p);
    }
    if (strchr ("+*^", **p) && **p) {
        v->count.op = *(*p)++;
        v->count.operand = build_number (p);
    }
    if (**p == ':') {
        (*p)++;
        v->unit = build_word (p);
    }
    if (**p == '!' || **p == '~')
        v->exclusive = *(*p)++ == '!' ? JOBSPEC_TRUE : JOBSPEC_FALSE;
    if (**p != '>')
        return;
    (*p)++;
    bool list = **p == '(';
    do {
        *p += list; /* "(" or "," */
        v->with = realloc (v->with, (v->nwith + 1) * sizeof (*v->with));
        build_vertex (p, &v->with[v->nwith++]);
    } while (list && **p == ',');
    *p += list; /* ")" */
}

static inline void build_release (struct jobspec_resource *v)
{
    for (size_t i = 0; i < v->nwith; i++)
        build_release (&v->with[i]);
    free (v->with);
    free (v->type);
    free (v->unit);
}

static inline struct match_request *build_request_by (
    struct match_request *(*create) (const struct jobspec *js, struct error *err),
    const char *tree, int64_t memory_per_node, const char *constraints, struct error *err)
{
    struct jobspec_resource top;
    struct jobspec js = { .resources = &top, .nresources = 1 };
    json_t *c = constraints ? json_loads (constraints, 0, NULL) : NULL;
    const char *p = tree;
    build_vertex (&p, &top);
    if (*p || (constraints && !c))
        abort ();
    js.memory_per_node = memory_per_node;
    js.constraints = c;
    struct match_request *req = create (&js, err);
    build_release (&top);
    json_decref (c);
    return req;
}

static inline struct match_request *build_request (const char *tree,
                                                   int64_t memory_per_node,
                                                   const char *constraints,
                                                   struct error *err)
{
    return build_request_by (match_request_create, tree, memory_per_node, constraints,
                             err);
}

/* A request for a machine that divides CPUs. */
static inline struct match_request *build_divided (const char *tree,
                                                   int64_t memory_per_node,
                                                   const char *constraints,
                                                   struct error *err)
{
    return build_request_by (match_request_create_divided, tree, memory_per_node,
                             constraints, err);
}

/* Seeded pseudo-random numbers for property tests (splitmix64). */
static inline uint64_t build_random (uint64_t *state)
{
    uint64_t x = (*state += UINT64_C (0x9e3779b97f4a7c15));
    x = (x ^ (x >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C (0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* FLUXQ_TEST_SEED, or the default; printed, so that a failure can be repeated. */
static inline uint64_t build_seed (const char *test)
{
    const char *text = getenv ("FLUXQ_TEST_SEED");
    uint64_t seed = text ? strtoull (text, NULL, 0) : 20261120;
    printf ("# %s: FLUXQ_TEST_SEED=%llu\n", test, (unsigned long long)seed);
    return seed;
}
