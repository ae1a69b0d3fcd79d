/* fuzz_agent_step_spec.c - any bytes as the request for a step, as a client sends it to the
 * agent; an accepted one is written and reads back with the same text
 *
 * Parser: shell/step/step_spec.c protocol/distribution.c protocol/gpubind.c shell/step/mpi_kind.c
 */
#include "fuzz_records.h"

#include "protocol/distribution.h"
#include "protocol/gpubind.h"
#include "shell/step/step_spec.h"

static void try_gpu_bind (const char *text)
{
    autoidset struct idset *gpus = idset_decode ("0-3,6", SIZE_MAX, NULL);
    struct gpubind bind;
    struct error err = { 0 };

    if (!gpubind_of_tres (text, &err))
        fuzz_check_refusal (&err, "--tres-bind: ");
    if (gpubind_parse (text, &bind, &err) < 0) {
        fuzz_check_refusal (&err, "--gpu-bind");
        return;
    }
    for (uint32_t task = 0; task < 6; task++) {
        bool missed;
        autoidset struct idset *own = gpubind_choose (&bind, gpus, task, &missed);
        assert (own && idset_count (own) > 0);
        IDSET_FOREACH (own, id)
        assert (idset_has (gpus, id));
    }
}

static void check (const struct step_spec *spec)
{
    struct layout_option layout;
    struct error err = { 0 };
    size_t n;

    assert (spec->cwd && spec->cwd[0] == '/' && (spec->nargs > 0 || spec->multi_prog));
    assert (spec->nparts <= STEP_PARTS_MAX && spec->ntasks <= STEP_TASKS_MAX);
    for (uint32_t c = 0; c < 4; c++) {
        assert (step_spec_of (spec, c) && step_spec_env (spec, c, &n));
        step_spec_uses (spec, c);
    }
    step_spec_has_mpidir (spec);
    for (uint32_t node = 0; node < 3; node++)
        free (step_spec_part (spec->cores ? spec->cores : "0;;1-3", node));
    if (spec->distribution)
        layout_option_parse (spec->distribution, &layout, &err);
    if (spec->gpu_bind)
        try_gpu_bind (spec->gpu_bind);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    autostrbuf struct strbuf one = STRBUF_INIT (STEP_SPEC_MAX), two = one;
    struct step_spec spec, again;
    struct error err = { 0 };

    if (step_spec_parse ((const char *)data, size, &spec, &err) < 0) {
        fuzz_check_refusal (&err, "");
        return 0;
    }
    check (&spec);
    assert (step_spec_write (&spec, &one) == 0);
    assert (step_spec_parse (one.buf, one.len, &again, &err) == 0);
    assert (step_spec_write (&again, &two) == 0);
    assert (one.len == two.len && !memcmp (one.buf, two.buf, one.len));
    step_spec_forget_places (&again);
    assert (!again.ranks && !again.cores);
    step_spec_release (&again);
    step_spec_release (&spec);
    return 0;
}
