/* fuzz_step_options.c - any bytes as --distribution, as --cpu-bind and as a host file;
 * accepted values place tasks and bind them to cores of the job
 *
 * Parser: shell/step/cpubind.c shell/step/layout.c shell/step/layout_text.c
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "shell/step/cpubind.h"
#include "shell/step/layout.h"

#define RANKS 3
#define TASKS 8

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const uint32_t room[RANKS] = { 1, 4, 3 };

static void lay_out (enum layout_kind kind, uint32_t plane, bool pack,
                     const uint32_t *arbitrary)
{
    struct layout_request req = { .nranks = RANKS,
                                  .room = room,
                                  .ntasks = TASKS,
                                  .kind = kind,
                                  .plane = plane,
                                  .pack = pack,
                                  .arbitrary = arbitrary,
                                  .overcommit = arbitrary };
    struct layout l;
    int rc = layout_make (&req, &l, NULL);
    uint32_t n = 0;

    assert (rc == 0);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        n += l.count[rank];
    assert (n == TASKS);
    layout_release (&l);
}

static void try_hosts (const char *text)
{
    struct hostlist *nodes = hostlist_decode ("n[1-3]", HOSTLIST_MAX, NULL);
    struct error err = { 0 };
    uint32_t *ranks;

    assert (nodes);
    if (layout_read_hosts (text, nodes, TASKS, &ranks, &err) == 0) {
        lay_out (LAYOUT_ARBITRARY, 0, false, ranks);
        free (ranks);
    } else
        assert (!strncmp (err.text, "host file: ", 11));
    hostlist_destroy (nodes);
}

static void try_distribution (const char *text)
{
    struct layout_option opt;
    struct error err = { 0 };

    if (layout_option_parse (text, &opt, &err) < 0)
        assert (!strncmp (err.text, "--distribution: ", 16));
    else if (opt.kind != LAYOUT_ARBITRARY)
        lay_out (opt.kind, opt.plane, opt.pack, NULL);
}

static void bind_tasks (const struct cpubind *bind)
{
    struct idset *cores = idset_decode ("0-5,8", SIZE_MAX, NULL);
    struct cpubind_node node = { .cores = cores, .ntasks = 3, .cores_per_task = 2 };

    assert (cores);
    for (uint32_t i = 0; i < node.ntasks; i++) {
        struct error err = { 0 };
        struct idset *set;
        if (cpubind_cores (bind, &node, i, &set, &err) < 0)
            assert (!set && !strncmp (err.text, "--cpu-bind: ", 12));
        else if (set) {
            assert (idset_count (set) > 0);
            IDSET_FOREACH (set, core)
            assert (idset_has (cores, core));
            idset_destroy (set);
        }
    }
    idset_destroy (cores);
}

static void try_cpu_bind (const char *text)
{
    struct cpubind bind;
    struct error err = { 0 };

    if (cpubind_parse (text, &bind, &err) < 0) {
        assert (!strncmp (err.text, "--cpu-bind: ", 12));
        return;
    }
    bind_tasks (&bind);
    cpubind_release (&bind);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    autofree char *text = strndup ((const char *)data, size);

    assert (text);
    try_hosts (text);
    try_distribution (text);
    try_cpu_bind (text);
    return 0;
}
