/* fuzz_multiprog.c - any bytes as a file of --multi-prog; an accepted file gives each
 * task a program, and nothing beyond the file's text
 *
 * Parser: shell/step/multiprog.c
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "shell/step/multiprog.h"

#define TASKS 16

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void check_argv (const struct multiprog *mp, uint32_t task, size_t size)
{
    char **argv = multiprog_argv (mp, task);
    size_t n = 0;

    assert (argv && argv[0] && argv[0][0]);
    for (size_t i = 0; argv[i]; i++)
        n += strlen (argv[i]);
    assert (n <= size); /* a number is at most as long as its %t */
    free_strings (argv);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct error err = { 0 };
    struct multiprog *mp =
        multiprog_parse ((const char *)data, size, "conf", TASKS, &err);

    if (!mp) {
        assert (err.code && !strncmp (err.text, "conf:", 5) && !strchr (err.text, '\n'));
        return 0;
    }
    for (uint32_t task = 0; task < TASKS; task++)
        check_argv (mp, task, size);
    multiprog_destroy (mp);
    return 0;
}
