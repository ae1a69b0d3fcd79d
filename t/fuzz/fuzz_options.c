/* fuzz_options.c - any lines "NAME=VALUE" as options of fluxq-submit, and any lines
 * "+NAME=VALUE" as variables of the user; accepted options make a jobspec, or a refusal names
 * the option
 *
 * Parser: jobspec/options/set.c jobspec/options/submit_options.c jobspec/options/slurm_options.c
 * Parser: jobspec/options/environment.c jobspec/options/make_jobspec.c jobspec/options/shape.c
 * Parser: jobspec/options/shape_places.c jobspec/options/submit_size.c jobspec/options/attributes.c
 * Parser: jobspec/options/attribute_values.c jobspec/options/written.c
 * Parser: jobspec/attributes/array.c jobspec/attributes/dependency.c jobspec/attributes/licenses.c
 * Parser: jobspec/attributes/mail.c jobspec/attributes/placement.c jobspec/attributes/process.c
 * Parser: jobspec/attributes/podwish.c jobspec/attributes/requires.c jobspec/attributes/stage.c
 */
#include "fuzz.h"

#include "jobspec/jobspec.h"
#include "jobspec/options/submit_options.h"

#define WORDS_MAX 32

/* Options with the name of a file, which the target does not open. */
static bool is_file (const char *name)
{
    return !strcmp (name, "pod-template") || !strcmp (name, "export-file");
}

static int set (struct submit_options *so, char *line, struct error *err)
{
    char where[64], *value = strchr (line, '=');

    if (value)
        *value++ = '\0';
    if (is_file (line))
        return 0;
    snprintf (where, sizeof (where), "--%.40s", line);
    return submit_options_set (so, SUBMIT_FROM_COMMAND, line, value, where, err);
}

static void check_jobspec (const struct submit_options *so, char *const *variables)
{
    static char *const words[] = { "/bin/echo", "hello", NULL };
    struct submit_program prog = { .args = words };
    struct error err = { 0 };
    json_t *root = submit_options_jobspec (so, &prog, "/home/ann", variables, &err);

    if (!root) {
        fuzz_check_refusal (&err, "");
        return;
    }
    struct jobspec *js = jobspec_from_json (root, &err);
    if (!js) {
        submit_options_explain (so, &err);
        fuzz_check_refusal (&err, "");
    } else {
        autofree char *text = jobspec_encode (js);
        struct jobspec *again = jobspec_parse (text, strlen (text), &err);
        assert (again);
        jobspec_destroy (again);
        jobspec_destroy (js);
    }
    json_decref (root);
}

/* The input has been read to its end, or an option is refused. */
static int read_lines (struct submit_options *so, struct fuzz_input *in, char **variables,
                       struct error *err)
{
    int rc = 0;

    for (size_t n = 0; in->size > 0 && rc == 0;) {
        char *line = fuzz_line (in);
        if (line[0] == '+' && strchr (line, '=') && n + 1 < WORDS_MAX) {
            memmove (line, line + 1, strlen (line));
            variables[n++] = line;
            continue;
        }
        rc = set (so, line, err);
        if (rc < 0)
            fuzz_check_refusal (err, "");
        free (line);
    }
    return rc;
}

static void submit (const char *text)
{
    struct fuzz_input in = { (const uint8_t *)text, strlen (text) };
    char *variables[WORDS_MAX] = { NULL };
    struct submit_options so;
    struct error err = { 0 };

    submit_options_init (&so);
    int rc = read_lines (&so, &in, variables, &err);
    if (rc == 0 && (rc = submit_options_from_environ (&so, variables, &err)) < 0)
        fuzz_check_refusal (&err, "");
    if (rc == 0)
        check_jobspec (&so, variables);
    submit_options_release (&so);
    for (char **v = variables; *v; v++)
        free (*v);
}

/* Each line "---" begins the options of another job. */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };

    while (in.size > 0) {
        autofree char *text = fuzz_part (&in, "\n---\n");
        submit (text);
    }
    return 0;
}
