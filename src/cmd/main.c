/* main.c - fluxq, one binary for all commands: run as fluxq-NAME, "fluxq NAME", with the name
 * of one of Slurm's commands (sbatch), alone, or by the broker as fluxq-inside
 */
#include <config.h>
#include <stdio.h>
#include <string.h>

#include "cmd/client/command.h"
#include "cmd/client/inside.h"
#include "cmd/complete.h"
#include "protocol/inside.h"

enum { OPT_HELP = 1, OPT_VERSION, OPT_BROKER, OPT_COMPLETE };

static const struct option_desc options[] = {
    { "help", 'h', NULL, "show this text, or that of a command: fluxq NAME --help",
      OPT_HELP, false, NULL },
    { "version", 'V', NULL, "show the version", OPT_VERSION, false, NULL },
    { "broker", 0, "URL",
      "address of the broker [$FLUXQ_BROKER, else the default sockets]", OPT_BROKER,
      false, NULL },
    { "complete", 0, "LINE",
      "print the words that can follow this part of a command line, for shells",
      OPT_COMPLETE, false, NULL },
    OPTION_END,
};

static void print_help (void)
{
    puts ("Usage: fluxq [OPTION]... [COMMAND [ARGUMENT]...]\nA batch system in front of "
          "Kubernetes. Without a command, fluxq starts a console that reads "
          "commands.\n\nCommands (also as fluxq-COMMAND):");
    command_print_list (stdout);
    puts ("\nOptions:");
    option_print_help (stdout, options);
}

static int help (int argc, char **argv)
{
    const struct command *command = argc > 1 ? command_find (argv[1]) : NULL;

    if (argc > 1 && !command) {
        return command_unknown (argv[1], " (fluxq --help lists them)");
    }
    if (command)
        command_print_help (stdout, command);
    else
        print_help ();
    return CMD_OK;
}

/* fluxq [OPTION]... [COMMAND [ARGUMENT]...] */
static int multi_call (int argc, char **argv)
{
    struct option_parser p;
    struct option_match m;
    struct error err = { 0 };
    const char *broker = NULL;
    int rc;

    option_parser_init (&p, "fluxq", options, OPTION_STOP_AT_OPERAND, argc, argv);
    while ((rc = option_next (&p, &m, &err)) > 0 && m.desc) {
        switch (m.desc->id) {
        case OPT_HELP:
            print_help ();
            return CMD_OK;
        case OPT_VERSION:
            puts ("fluxq " PACKAGE_VERSION);
            return CMD_OK;
        case OPT_COMPLETE:
            complete_print (m.value, broker);
            return CMD_OK;
        default:
            broker = m.value;
        }
    }
    if (rc < 0) {
        fprintf (stderr, "fluxq: %s (see fluxq --help)\n", err.text);
        return CMD_USAGE;
    }
    if (rc == 0)
        return command_execute (command_find ("console"), 1, argv, broker, false);
    if (!strcmp (m.value, "help"))
        return help (argc - m.index, argv + m.index);
    const struct command *command = command_find (m.value);
    if (!command) {
        return command_unknown (m.value, " (fluxq --help lists them)");
    }
    return command_execute (command, argc - m.index, argv + m.index, broker, false);
}

int main (int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr (argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "fluxq";
    const struct command *command = NULL;

    if (!strcmp (name, INSIDE_SERVER))
        return inside_main (argc, argv);
    if (!strncmp (name, "fluxq-", 6))
        command = command_find (name + 6);
    else
        command = command_find_slurm (name);
    if (command)
        return command_execute (command, argc, argv, NULL, false);
    return multi_call (argc, argv);
}
