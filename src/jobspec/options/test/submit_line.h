/* submit_line.h - for tests: from a command line of options to the jobspec
 *
 *     json_t *root = make ("-N 2 --mem=1G", &err);    // NULL: refused, err says why
 *     struct jobspec *js = parse (root);
 */
#pragma once

#include "common/test/unit.h"

#include <string.h>

#include "jobspec/jobspec.h"
#include "jobspec/options/submit_options.h"

static char *const no_environment[] = { NULL };
static char *const echo_command[] = { "/bin/echo", "hello", NULL };
static const struct submit_program echo_program = { .args = echo_command };

static const struct option_desc *find_letter (char letter)
{
    for (const struct option_desc *o = submit_options_table (); o->name; o++) {
        if (o->letter == letter)
            return o;
    }
    fail_msg ("no option -%c", letter);
    return NULL;
}

/* "-N 2 --mem=1G --hold": each option and its value is one word, as in -N2 or --mem=1G */
static int set_all (struct submit_options *so, const char *line, struct error *err)
{
    autofree char *copy = strdup (line);
    char *save = NULL;

    for (char *w = strtok_r (copy, " ", &save); w; w = strtok_r (NULL, " ", &save)) {
        char *value = w[1] == '-' ? strchr (w, '=') : w + 2;
        const char *name;
        int rc;

        if (w[1] == '-' && value)
            *value++ = '\0';
        name = w[1] == '-' ? w + 2 : find_letter (w[1])->name;
        if (value && !*value && w[1] != '-')
            value = NULL;
        rc = submit_options_set (so, SUBMIT_FROM_COMMAND, name, value, NULL, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static json_t *make (const char *line, struct error *err)
{
    struct submit_options so;
    json_t *root = NULL;

    submit_options_init (&so);
    if (set_all (&so, line, err) == 0)
        root =
            submit_options_jobspec (&so, &echo_program, "/home/ann", no_environment, err);
    submit_options_release (&so);
    return root;
}

static struct jobspec *parse (json_t *root)
{
    struct error err = { 0 };
    struct jobspec *js = jobspec_from_json (root, &err);

    if (!js)
        fail_msg ("own jobspec refused: %s", err.text);
    return js;
}
