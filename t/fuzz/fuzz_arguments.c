/* fuzz_arguments.c - any lines as the arguments of a command: of fluxq-submit, srun, fluxq-run,
 * fluxq-bcast and sbcast
 *
 * Parser: common/option.c protocol/step_client.c common/printable.c
 * The first byte chooses the command. Each argument is used once, in order.
 */
#include "fuzz.h"

#include "common/option.h"
#include "common/printable.h"
#include "jobspec/options/submit_options.h"
#include "protocol/step_client.h"

#define WORDS_MAX 32

static void check_refused (const struct option_desc *table, const struct option_match *m)
{
    struct error err = { 0 };

    if (table == srun_options && m->desc->id == STEP_OPT_REFUSED) {
        assert (srun_refuse (m->desc, &err) == -EINVAL);
        fuzz_check_refusal (&err, "");
    }
    if (table == sbcast_options && m->desc->id == BCAST_OPT_REFUSED) {
        assert (sbcast_refuse (m->desc, &err) == -EINVAL);
        fuzz_check_refusal (&err, "");
    }
}

static void try (const struct option_desc *table, int flags, int argc, char **argv)
{
    struct option_parser p;
    struct option_match m;
    struct error err = { 0 };
    int rc, last = 0, operands = 0;

    option_parser_init (&p, "x", table, flags, argc, argv);
    while ((rc = option_next (&p, &m, &err)) > 0) {
        assert (m.index >= last && m.index < argc);
        last = m.index;
        if (!m.desc) {
            operands++;
            assert (m.value == argv[m.index]);
            continue;
        }
        assert (flags == OPTION_PERMUTE || operands == 0);
        assert (!m.value == (!m.desc->arg || (m.desc->arg_optional && !m.value)));
        check_refused (table, &m);
    }
    if (rc < 0)
        assert (err.code == EINVAL && err.text[0]);
}

static void try_names (const struct option_desc *table, const char *name)
{
    struct error err = { 0 };

    if (!option_find (table, name, &err))
        assert (err.code == EINVAL && err.text[0]);
    option_find_letter (table, name[0]);
}

static void try_printable (const char *word)
{
    autofree char *copy = strdup (word);
    struct error err = { 0 };
    unsigned hidden;

    printable_clean (copy);
    assert (strlen (copy) <= strlen (word) && printable_check (copy, "x", &err) == 0);
    if (printable_check (word, "x", &err) < 0)
        fuzz_check_refusal (&err, "x: ");
    for (const char *s = word; *s;) {
        size_t n = printable_next (s, &hidden);
        assert (n >= 1 && n <= strlen (s));
        s += n;
    }
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    const struct option_desc *const tables[] = { submit_options_table (), step_options,
                                                 srun_options, bcast_options,
                                                 sbcast_options };
    struct fuzz_input in = { data, size };
    const struct option_desc *table = tables[fuzz_byte (&in) % ARRAY_SIZE (tables)];
    char name[] = "x", *argv[WORDS_MAX + 1] = { name };
    int argc = 1;

    while (in.size > 0 && argc < WORDS_MAX)
        argv[argc++] = fuzz_line (&in);
    FILE *out = fopen ("/dev/null", "w");
    assert (out);
    option_print_help (out, table);
    fclose (out);
    try (table, OPTION_PERMUTE, argc, argv);
    try (table, OPTION_STOP_AT_OPERAND, argc, argv);
    for (int k = 1; k < argc; k++) {
        try_names (table, argv[k]);
        try_printable (argv[k]);
        free (argv[k]);
    }
    return 0;
}
