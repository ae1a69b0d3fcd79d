/* walk_test.h - machines, requests and answers of the walk in one line each
 *
 *     struct rig r = rig_make ("cluster>rack*2>node*2>(core*4,memory/1024)", "low");
 *     expect (&r, "node=1>slot=1>(core=2,memory=400)", "node0:core0-1,memory0=400");
 *     rig_drop (&r);
 *
 *     machine = TYPE ["*" N] [":" SIZE | "/" AMOUNT] [">" machine | ">(" machine {","...} ")"]
 *     request = TYPE "=" COUNT ["!"] ["?" PROPERTY] [">" ... as above], several by ","
 *     COUNT   = MIN ["-" MAX ["*" FACTOR]] | "{" idset "}"
 *
 * N leaves are one group, AMOUNT means a divisible vertex. Ids count up in each node; ids
 * outside nodes count up in the whole machine. An answer gives the claims, their places and
 * a later time, or the reason of a refusal. A wrong text fails the test.
 */
#pragma once

#include "common/test/unit.h"

#include "match/planner/planner.h"
#include "match/search/search.h"
#include "match/test/inspect.h"
#include "match/test/verify.h"

struct rig {
    struct graph *g;
    struct planner *p;
    unsigned flags;     /* flags of shape_compile() */
    json_t *constraint; /* for the whole request; owned */
    int64_t node_memory;
    int64_t now;
    uint64_t job; /* the last one */
};

struct rig rig_make (const char *machine, const char *policy);
struct rig rig_make_with (const char *machine, const char *policy,
                          const struct planner_options *opt);
void rig_drop (struct rig *r);
/* Finds a vertex by its path below the root: "rack0/node1/core3". */
void rig_find (const struct rig *r, const char *path, uint32_t *ret_v,
               uint32_t *ret_unit);
void rig_flag (struct rig *r, const char *path, uint8_t flag, bool on);
void rig_property (struct rig *r, const char *path, const char *key, const char *value);
/* Sets a constraint (RFC 31) for all later requests; NULL: none. */
void rig_constraint (struct rig *r, const char *json);

struct shape *rig_shape (const struct rig *r, const char *request);
/* Calls search_match() as a job of its own, for 10 ticks. *ret: NULL if the
 * request does not fit. */
int rig_ask (struct rig *r, enum search_op op, const char *request,
             struct selection **ret, struct error *why);
/* The claims as text: "node0:core0-3,gpu0 rack1". */
void rig_tell (const struct rig *r, const struct selection *s, char *buf, size_t size);

/* An allocation must give this answer, or this reason. */
#define expect(r, request, answer)                                                       \
    rig_expect ((r), SEARCH_ALLOCATE, (request), (answer), __FILE__, __LINE__)
/* A reservation must give "at 10: node0:core0-3". */
#define expect_later(r, request, answer)                                                 \
    rig_expect ((r), SEARCH_ALLOCATE_ORELSE_RESERVE, (request), (answer), __FILE__,     \
                __LINE__)
void rig_expect (struct rig *r, enum search_op op, const char *request,
                 const char *answer, const char *file, int line);
