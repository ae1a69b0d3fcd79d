/* fuzz_jobspec.c - any bytes as a jobspec; an accepted jobspec is encoded and read
 * again, with the same result
 *
 * Parser: jobspec/parse/jobspec.c jobspec/parse/resources.c jobspec/parse/attributes.c
 * Parser: jobspec/parse/request.c jobspec/parse/components.c jobspec/parse/gputype.c
 */
#include "fuzz_json.h"

#include "jobspec/jobspec.h"

static void check_sizes (const struct jobspec *js)
{
    struct jobspec_sizes s;

    jobspec_get_sizes (js, &s);
    assert (s.min_nodes >= 1 && s.min_nodes <= s.max_nodes);
    assert (s.min_slots >= 1 && s.min_slots <= s.max_slots);
    assert (s.min_cores >= 0 && s.min_cores <= s.max_cores);
    assert (s.min_gpus >= 0 && s.min_gpus <= s.max_gpus);
    assert (s.cores_per_slot >= 0 && jobspec_task_total (js, s.min_slots) >= 1);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct error err = { 0 };
    struct jobspec *js = jobspec_parse ((const char *)data, size, &err), *again;
    char *text, *same;

    if (!js) {
        assert (err.code && !strncmp (err.text, "jobspec", 7)
                && !strchr (err.text, '\n'));
        return 0;
    }
    check_sizes (js);
    text = jobspec_encode (js);
    again = jobspec_parse (text, strlen (text), &err);
    assert (again);
    same = jobspec_encode (again);
    assert (!strcmp (text, same));
    free (text);
    free (same);
    jobspec_destroy (js);
    jobspec_destroy (again);
    return 0;
}
