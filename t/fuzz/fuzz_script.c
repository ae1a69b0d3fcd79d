/* fuzz_script.c - any bytes as a batch script; the resulting jobspec contains the
 * script byte by byte, or the script is refused with the wrong directive
 *
 * Parser: jobspec/script/script.c jobspec/script/dialect.c jobspec/script/words.c
 * Parser: jobspec/dialects/sbatch.c jobspec/dialects/flux.c jobspec/dialects/fluxq.c
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "jobspec/jobspec.h"
#include "jobspec/script/script.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void warn (const char *text, void *arg)
{
    (void)arg;
    assert (!strchr (text, '\n'));
}

static void check_jobspec (const struct submit_options *so, const char *text, size_t len)
{
    static char *const environ_list[] = { "A=1", "PATH=/bin", NULL };
    struct submit_program prog = { .script = text, .script_len = len };
    struct error err = { 0 };
    json_t *root = submit_options_jobspec (so, &prog, "/home/ann", environ_list, &err);
    struct jobspec *js;

    if (!root) { /* contradictory counts */
        assert (err.code && err.text[0]);
        return;
    }
    js = jobspec_from_json (root, &err);
    json_decref (root);
    if (!js) { /* such as --malleable with one number of nodes */
        submit_options_explain (so, &err);
        assert (err.code && !strncmp (err.text, "job.sh:", 7));
        return;
    }
    assert (js->script_len == len && !memcmp (js->script, text, len));
    jobspec_destroy (js);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct submit_options so;
    struct error err = { 0 };

    submit_options_init (&so);
    if (script_read_all ((const char *)data, size, "job.sh", &so, warn, NULL, NULL, &err)
        == 0)
        check_jobspec (&so, (const char *)data, size);
    else
        assert (err.code && !strncmp (err.text, "job.sh:", 7)
                && !strchr (err.text, '\n'));
    submit_options_release (&so);
    return 0;
}
