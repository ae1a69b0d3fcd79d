/* command.c - common parts of all commands: options, help, messages, exit. See command.h.
 */
#include <config.h>

#include "cmd/client/command.h"

#include "jobspec/script/dialect.h"

enum {
    OPT_HELP = CMD_OPTION_COMMON,
    OPT_USAGE,
    OPT_VERSION,
    OPT_BROKER,
    OPT_BROKER_WAIT
};

static const struct option_desc common_options[] = {
    { "broker", 0, "URL",
      "address of the broker [$FLUXQ_BROKER, else the default sockets]", OPT_BROKER,
      false, "General" },
    { "broker-wait", 0, "DURATION",
      "how long to wait for a broker that is being restarted [$FLUXQ_BROKER_WAIT, else "
      "60s]",
      OPT_BROKER_WAIT, false, "General" },
    { "help", 'h', NULL, "show this text", OPT_HELP, false, "General" },
    { "version", 'V', NULL, "show the version", OPT_VERSION, false, "General" },
    OPTION_END,
};

/* Slurm's commands use -h for something else, unless their own table has it. */
static const struct option_desc slurm_common_options[] = {
    { "help", 0, NULL, "show this text", OPT_HELP, false, NULL },
    { "usage", 0, NULL, "show the usage in short", OPT_USAGE, false, NULL },
    { "version", 'V', NULL, "show the version", OPT_VERSION, false, NULL },
    OPTION_END,
};

static const struct command *find (const struct command *const *table, const char *name)
{
    while (*table && strcmp ((*table)->name, name) != 0)
        table++;
    return *table;
}

const struct command *command_find (const char *name)
{
    return find (commands, name);
}

const struct command *command_find_slurm (const char *name)
{
    return find (slurm_commands, name);
}

/* -- help -- */

/* Whether an option of the second table is left out: the first table has it, or the
 * command excludes it. */
static bool is_left_out (const struct command *command, const struct option_desc *d)
{
    for (const char *const *name = command->without; name && *name; name++) {
        if (!strcmp (*name, d->name))
            return true;
    }
    for (const struct option_desc *own = command->options; own->name; own++) {
        if (!strcmp (own->name, d->name))
            return true;
    }
    return false;
}

static struct option_desc *find_option (struct option_desc *list, size_t n,
                                        const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp (list[i].name, name))
            return &list[i];
    return NULL;
}

void command_options (const struct command *command,
                      struct option_desc ret[static CMD_OPTIONS_MAX])
{
    const struct option_desc *tables[] = {
        command->options, command->more_options ? command->more_options () : NULL
    };
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE (tables); i++) {
        for (const struct option_desc *d = tables[i]; d && d->name; d++) {
            if (n + 1 < CMD_OPTIONS_MAX && (i != 1 || !is_left_out (command, d)))
                ret[n++] = *d;
        }
    }
    for (const struct option_desc *d = command->slurm ? slurm_common_options
                                                      : common_options;
         d->name; d++) {
        struct option_desc *own = find_option (ret, n, d->name);
        if (own) /* with a letter of its own */
            own->id = d->id;
        else if (n + 1 < CMD_OPTIONS_MAX)
            ret[n++] = *d;
    }
    ret[n] = (struct option_desc)OPTION_END;
}

static void print_usage (FILE *out, const struct command *command)
{
    const char *lead = "Usage:";

    for (const char *const *u = command->usage; *u; u++) {
        fprintf (out, "%s %s%s%s%s\n", lead, command->slurm ? "" : "fluxq-",
                 command->name, **u ? " " : "", *u);
        lead = "      ";
    }
}

void command_print_help (FILE *out, const struct command *command)
{
    struct option_desc options[CMD_OPTIONS_MAX];

    print_usage (out, command);
    fprintf (out, "%s.\n", command->summary);
    for (const struct subcommand *s = command->subcommands; s && s->name; s++) {
        int used = fprintf (out, "%s  %s%s%s", s == command->subcommands ? "\n" : "",
                            s->name, *s->usage ? " " : "", s->usage);
        used -= s == command->subcommands;
        fprintf (out, "%*s%s\n", used < 29 ? 30 - used : 1, "", s->summary);
    }
    fputs ("\nOptions:\n", out);
    command_options (command, options);
    option_print_help (out, options);
    if (command->notes)
        fprintf (out, "\n%s", command->notes);
    if (command->print_notes)
        command->print_notes (out);
}

void command_print_list (FILE *out)
{
    for (const struct command *const *c = commands; *c; c++)
        fprintf (out, "  %-12s%s\n", (*c)->name, (*c)->summary);
}

/* -- messages -- */

static void complain (const struct cmd *c, const char *lead, const char *fmt, va_list ap)
{
    struct error err = { 0 };
    char text[ERROR_TEXT_MAX];

    vsnprintf (text, sizeof (text), fmt, ap);
    error_set (&err, EINVAL, "%s", text); /* one line, no control characters */
    fflush (stdout);
    fprintf (stderr, "%s: %s%s\n", c->program, c->command->slurm ? lead : "", err.text);
}

int command_unknown (const char *name, const char *hint)
{
    struct error err = { 0 };

    error_set (&err, ENOENT, "%s", name);
    fprintf (stderr, "fluxq: %s: no such command%s\n", err.text, hint);
    return CMD_USAGE;
}

int cmd_fail (struct cmd *c, const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    complain (c, "error: ", fmt, ap);
    va_end (ap);
    return c->status = CMD_FAILED;
}

int cmd_usage (struct cmd *c, const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    complain (c, "error: ", fmt, ap);
    va_end (ap);
    fprintf (stderr, "Try '%s --help'.\n", c->program);
    c->ended = true;
    return c->status = c->command->slurm ? CMD_FAILED : CMD_USAGE;
}

void cmd_warn (const struct cmd *c, const char *fmt, ...)
{
    va_list ap;

    va_start (ap, fmt);
    complain (c, "", fmt, ap);
    va_end (ap);
}

/* -- options -- */

static void print_version (const struct cmd *c)
{
    if (c->command->slurm)
        printf ("slurm " CMD_SLURM_VERSION " (fluxq " PACKAGE_VERSION ")\n");
    else
        printf ("%s %s\n", c->program, PACKAGE_VERSION);
}

static void set_broker_wait (struct cmd *c, const char *value)
{
    struct error err = { 0 };

    if (cmd_parse_wait (value, &c->broker_wait, "--broker-wait", &err) < 0)
        cmd_usage (c, "%s", err.text);
}

static bool is_of_jobs (const struct command *command)
{
    return command->more_options == submit_options_table;
}

/* Lists the other commands that have the option; "": none. */
static void list_commands (const struct cmd *c, const char *name, char *ret, size_t size)
{
    struct option_desc options[CMD_OPTIONS_MAX];
    size_t n = 0;

    *ret = '\0';
    for (const struct command *const *other = commands; *other; other++) {
        command_options (*other, options);
        for (const struct option_desc *o = options; *other != c->command && o->name; o++) {
            if (!strcmp (o->name, name) && n < size)
                n += (size_t)snprintf (ret + n, size - n, "%sfluxq-%s", n > 0 ? ", " : "",
                                       (*other)->name);
        }
    }
}

/* Explains an option that this command does not have, but sbatch or other commands do. */
static void explain_unknown (struct cmd *c, const char *word, struct error *err)
{
    bool long_one = strncmp (word, "--", 2) == 0;
    char name[64], list[256];

    snprintf (name, sizeof (name), "%.*s", (int)strcspn (word, "="), word);
    if (long_one && option_find (c->options, name + 2, NULL))
        return; /* the error has another cause */
    if ((is_of_jobs (c->command) && dialect_explain (c->options, word, err)) || !long_one)
        return;
    list_commands (c, name + 2, list, sizeof (list));
    if (*list)
        error_set (err, err->code, "%s: unknown option here; it is one of %s", name, list);
}

int cmd_next (struct cmd *c, struct option_match *ret)
{
    struct error err = { 0 };
    int rc;

    while (!c->ended && (rc = option_next (&c->parser, ret, &err)) != 0) {
        if (rc < 0) {
            explain_unknown (c, c->parser.argv[ret->index], &err);
            cmd_usage (c, "%s", err.text);
            return 0;
        }
        if (!ret->desc || ret->desc->id < OPT_HELP || ret->desc->id > OPT_BROKER_WAIT)
            return 1;
        if (ret->desc->id == OPT_BROKER) {
            c->broker = ret->value;
            continue;
        }
        if (ret->desc->id == OPT_BROKER_WAIT) {
            set_broker_wait (c, ret->value);
            continue;
        }
        if (ret->desc->id == OPT_HELP)
            command_print_help (stdout, c->command);
        else if (ret->desc->id == OPT_USAGE)
            print_usage (stdout, c->command);
        else
            print_version (c);
        c->ended = true;
        c->status = CMD_OK;
    }
    return 0;
}

const char *cmd_option_as_written (const struct cmd *c, const struct option_match *m,
                                   char *buf, size_t size)
{
    if (!strncmp (c->parser.argv[m->index], "--", 2) || !m->desc->letter)
        snprintf (buf, size, "--%s", m->desc->name);
    else
        snprintf (buf, size, "-%c", m->desc->letter);
    return buf;
}

int command_execute (const struct command *command, int argc, char **argv, const char *broker,
                 bool in_console)
{
    struct cmd c = { .command = command,
                     .broker = broker,
                     .broker_wait = -1,
                     .in_console = in_console };

    snprintf (c.program, sizeof (c.program), "%s%s", command->slurm ? "" : "fluxq-",
              command->name);
    command_options (command, c.options);
    option_parser_init (&c.parser, c.program, c.options, command->option_flags, argc,
                        argv);
    int status = command->run (&c);
    cmd_disconnect (&c);
    if (fflush (stdout) != 0 || ferror (stdout)) {
        if (errno != EPIPE)
            cmd_warn (&c, "cannot write the output: %s", strerror (errno));
        clearerr (stdout);
        return status ? status : CMD_FAILED;
    }
    return status;
}
