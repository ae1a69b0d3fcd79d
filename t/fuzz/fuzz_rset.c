/* fuzz_rset.c - any JSON as R (RFC 20) of a job, as a constraint (RFC 31) and as a user's
 * choices for pods; an accepted R is written and reads back as the same R
 *
 * Parser: match/machine/rset.c match/machine/rset_parts.c match/request/constraint.c
 * Parser: jobspec/attributes/podtemplate.c jobspec/attributes/podwish.c
 */
#include "fuzz_json.h"

#include "exec/podset.h"
#include "jobspec/attributes/podtemplate.h"
#include "jobspec/attributes/podwish.h"
#include "match/machine/rset.h"
#include "match/request/constraint.h"

#define WISHES "attributes.system.fluxq.pods"

/* A few bytes describe millions of cores: keeps each try short. */
static bool is_large (const uint8_t *text, size_t len)
{
    size_t digits = 0;

    for (size_t i = 0; i < len; i++) {
        digits = text[i] >= '0' && text[i] <= '9' ? digits + 1 : 0;
        if (digits > 4)
            return true;
    }
    return len > 8192;
}

static void check_sums (const struct rset *r)
{
    uint32_t slots = 0;
    size_t first;

    for (size_t i = 0; i < r->nranks; i++) {
        const struct rset_rank *rank = &r->ranks[i];
        slots += rank->slots;
        assert (rank->node && rank->cores && rank->gpus && rank->memory_mib >= 0);
        assert (i == 0 || rank->component >= r->ranks[i - 1].component);
        assert (rset_rank_cpu_milli (rank) >= 0);
    }
    assert (r->nranks > 0 && rset_slots (r) == slots && rset_cpu_milli (r) >= 0);
    assert (rset_component (r, 0, &first) <= r->nranks);
    rset_cores (r);
    free (rset_nodelist (r));
}

static void check_parts (const struct rset *r)
{
    struct rset *one = rset_first (r, 1), *all = rset_join (one, NULL);

    assert (one && all && one->nranks == 1 && all->nranks == 1);
    rset_destroy (one);
    rset_destroy (all);
}

static void try_rset (const json_t *o)
{
    struct error err = { 0 };
    struct rset *r = rset_from_json (o, &err), *again;

    if (!r) {
        fuzz_check_refusal (&err, "");
        return;
    }
    check_sums (r);
    check_parts (r);
    autofree char *text = rset_encode (r), *same = NULL;
    if (text) { /* else a node comes twice */
        again = rset_decode (text, strlen (text), &err);
        assert (again && again->nranks == r->nranks);
        same = rset_encode (again);
        assert (same && !strcmp (text, same));
        rset_destroy (again);
    }
    rset_destroy (r);
}

static void try_constraint (const json_t *o)
{
    struct error err = { 0 };
    struct constraint *c = constraint_compile (o, &err);

    if (!c)
        fuzz_check_refusal (&err, "");
    for (size_t i = 0; i < 3; i++)
        constraint_property (c, i);
    constraint_destroy (c);
}

static void try_wishes (const json_t *o)
{
    struct error err = { 0 };
    json_t *set = json_pack ("{s:{s:b s:s s:[s]}}", "allow", "host-network", 1,
                             "shm-size", "1Gi", "service-account", "a");

    if (podtemplate_check (o, "x", &err) == 0) {
        for (const char *const *f = podtemplate_fields; *f; f++)
            podtemplate_sets (o, *f);
        json_t *mounts = podtemplate_mounts (o);
        assert (json_is_array (mounts));
        json_decref (mounts);
    } else
        fuzz_check_refusal (&err, "x");
    if (podwish_check (o, WISHES, &err) < 0)
        fuzz_check_refusal (&err, WISHES);
    else if (podset_admit (set, "batch", o, NULL, &err) < 0)
        fuzz_check_refusal (&err, "");
    json_decref (set);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct error err = { 0 };
    autojson json_t *o = NULL;

    if (!(o = json_parse ((const char *)data, size, "x", &err)))
        return 0;
    if (!is_large (data, size))
        try_rset (o);
    try_constraint (o);
    try_wishes (o);
    return 0;
}
