/* claim.h - the claim that only this broker acts for its cluster id
 *
 * Two brokers may be started for one cluster id, so that one takes over when the other,
 * or its machine, is gone. The broker with the claim acts; the others wait in
 * exec_ops.claim(). A broker that is no longer sure of its claim ends itself at once,
 * before another may begin: its state is on disk.
 *
 *     if (ops->claim && ops->claim (&host, doc, config, &claim, &err) < 0) ...
 *     ... the state is read, for as long as it takes ...
 *     exec_claim_begin (claim);     // from now on we act
 *     exec_claim_check (claim);     // before each act: ends the process if it is lost
 *     exec_claim_rest (claim);      // we shall end soon; the loop may run out
 *     exec_claim_release (claim);   // the next one may begin at once
 *
 * All take NULL: there is no claim, and none is needed.
 */
#pragma once

#include "common/macros.h"

struct exec_claim {
    void (*begin) (struct exec_claim *c); /* runs the loop until c is sure again */
    void (*check) (struct exec_claim *c);
    void (*rest) (struct exec_claim *c);
    void (*release) (struct exec_claim *c); /* frees c; runs the loop for 2 s at most */
};

static inline void exec_claim_begin (struct exec_claim *c)
{
    if (c)
        c->begin (c);
}

static inline void exec_claim_check (struct exec_claim *c)
{
    if (c)
        c->check (c);
}

static inline void exec_claim_rest (struct exec_claim *c)
{
    if (c)
        c->rest (c);
}

static inline void exec_claim_release (struct exec_claim *c)
{
    if (c)
        c->release (c);
}
