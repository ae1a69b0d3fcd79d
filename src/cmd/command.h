/* command.h - a user's command: one file, one descriptor, found through the table of
 * commands
 *
 *     static const struct option_desc options[] = { {"follow", 'f', ...}, OPTION_END };
 *
 *     static int run (struct cmd *c)
 *     {
 *         struct option_match m;
 *         while (cmd_next (c, &m) > 0)
 *             switch (m.desc ? m.desc->id : CMD_OPERAND) { ... }
 *         if (c->ended)
 *             return c->status;                    // --help, wrong usage
 *         if (cmd_get (c, "/v1/status", &body) != 0)
 *             return c->status;                    // the reason was printed
 *         ...
 *         return 0;
 *     }
 *
 *     const struct command command_logs = { .name = "logs", .summary = "...", ..., .run = run };
 *
 * A command runs in a process of its own or, in the console, one after another in one
 * process: it returns its exit status and never ends the process, keeps nothing in static
 * variables, and writes to stdout through stdio. What the user reads about a failure is
 * one line, "fluxq-NAME: ...". Exit status: 0 done, 1 refused or failed, 2 wrong usage,
 * 130 interrupted, --wait: the job's.
 */
#ifndef FLUXQ_CMD_COMMAND_H
#define FLUXQ_CMD_COMMAND_H

#include <stdbool.h>

#include "common/json.h"
#include "common/option.h"
#include "net/http_client.h"

enum { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2, CMD_INTERRUPTED = 130 };

/* Ids of options: each command numbers its own from 1, those of all commands lie
 * apart. */
enum { CMD_OPERAND = -1, CMD_OPTION_COMMON = 0x2000 };

/* What completion offers for an operand or an option's value. */
enum completion {
    COMPLETE_NONE,
    COMPLETE_FILES,
    COMPLETE_JOBS,     /* those that wait or run */
    COMPLETE_ALL_JOBS, /* ended ones too */
    COMPLETE_NODES,
    COMPLETE_QUEUES,
    COMPLETE_RESERVATIONS,
    COMPLETE_STATES,
    COMPLETE_COMMANDS,
    COMPLETE_OPTIONS,
    COMPLETE_SUBCOMMANDS,
};

/* A word that must follow the command's name: "fluxq-show job", "fluxq-ctl drain". */
struct subcommand {
    const char *name;  /* NULL ends the table */
    const char *usage; /* what follows the word, "" for nothing */
    const char *summary;
    enum completion operands;
};

struct cmd;

struct command {
    const char *name;         /* without "fluxq-" */
    const char *summary;      /* one line, for the list of commands */
    const char *const *usage; /* each line after the program's name; NULL-terminated */
    const struct option_desc *options;
    /* A second table or NULL; without the options that the first one has, */
    const struct option_desc *more_options;
    const char *const *without; /* ... and those in this list; or NULL */
    int option_flags;           /* enum option_flags */
    const struct subcommand *subcommands; /* or NULL */
    enum completion operands;
    const char *notes;               /* further paragraphs of the help, or NULL */
    void (*print_notes) (FILE *out); /* and what comes out of a table, or NULL */
    int (*run) (struct cmd *c);
};

/* Made by contrib/gen-table; NULL-terminated, in alphabetical order. */
extern const struct command *const commands[];
const struct command *command_find (const char *name);
/* Says so on stderr, with what to do about it: CMD_USAGE. */
int command_unknown (const char *name, const char *hint);

#define CMD_OPTIONS_MAX 128
/* The options of all tables of a command and the common ones, ended by OPTION_END. */
void command_options (const struct command *command,
                      struct option_desc ret[static CMD_OPTIONS_MAX]);
void command_print_help (FILE *out, const struct command *command);
/* All commands, a line each. */
void command_print_list (FILE *out);

/* One run of a command. */
struct cmd {
    const struct command *command;
    char program[32];   /* "fluxq-submit" */
    const char *broker; /* URL of --broker or NULL */
    double broker_wait; /* seconds, of --broker-wait or $FLUXQ_BROKER_WAIT; < 0: not read yet */
    bool in_console;
    bool ended;                 /* --help, --version or wrong usage: return status */
    int status;                 /* what a failed cmd_*() function wants returned */
    struct http_client *client; /* opened by the first request */
    struct option_parser parser;
    struct option_desc options[CMD_OPTIONS_MAX];
};

/* Run a command as a program with these arguments (argv[0] is passed over); the exit
 * status. Flushes stdout; broker may be NULL. */
int command_execute (const struct command *command, int argc, char **argv, const char *broker,
                 bool in_console);

/* The next option or operand: 1 and *ret set; 0 at the end, c->ended when the command
 * is to return c->status at once. */
int cmd_next (struct cmd *c, struct option_match *ret);
/* How the user wrote the option: "--nodes" or "-N"; in buf. */
const char *cmd_option_as_written (const struct cmd *c, const struct option_match *m,
                                   char *buf, size_t size);

/* Print "PROGRAM: text" to stderr. Both return the status, and set it in c. */
int cmd_fail (struct cmd *c, const char *fmt, ...) PRINTF_LIKE (2, 3); /* CMD_FAILED */
int cmd_usage (struct cmd *c, const char *fmt, ...)
    PRINTF_LIKE (2, 3); /* CMD_USAGE, and ended */
/* The same without consequences. */
void cmd_warn (const struct cmd *c, const char *fmt, ...) PRINTF_LIKE (2, 3);

/* -- interrupts -- */

/* From now on SIGINT ends the wait for the broker, and the command goes on to its clean end. A
 * command of its own process that does not ask for this dies of it. */
void cmd_catch_interrupts (void);
/* SIGINT has come. */
bool cmd_interrupted (void);
/* For the console: the handler itself, and a new start before each command. */
void cmd_note_interrupt (int signum);
void cmd_forget_interrupt (void);
/* Sleep; false when interrupted. */
bool cmd_sleep (double seconds);

/* -- the broker -- */

#define CMD_BROKER_WAIT "FLUXQ_BROKER_WAIT"
#define CMD_BROKER_WAIT_SECONDS 60.0 /* when nothing says another time */

/* A duration, with "infinity" as a hundred years. */
int cmd_parse_wait (const char *text, double *ret_seconds, const char *what,
                    struct error *err);
/* How long each call waits for a broker that is away, in seconds: 0 or more. Negative errno:
 * $FLUXQ_BROKER_WAIT is no duration. */
double cmd_broker_wait (struct cmd *c, struct error *err);
/* Open c->client if it is not; 0 or negative errno. It waits for a broker that is being started
 * again; interrupts end its waits with -EINTR. */
int cmd_open (struct cmd *c, struct error *err);
void cmd_disconnect (struct cmd *c);
/* A request that must be answered with 2xx: 0 and *ret to release, or the exit status.
 * body may be NULL; of len bytes. */
int cmd_request (struct cmd *c, const char *method, const char *target, const char *body,
                 size_t len, struct http_response *ret);
/* A request with a JSON answer, *ret a new reference. body (consumed) may be NULL. */
int cmd_call (struct cmd *c, const char *method, const char *target, json_t *body,
              json_t **ret);
int cmd_get (struct cmd *c, const char *target, json_t **ret);
/* For a client call that failed: prints and gives the status; CMD_INTERRUPTED without
 * words after SIGINT. */
int cmd_broken (struct cmd *c, int rc, const struct error *err);

/* -- targets -- */

/* "?a=b" or "&c=d" behind a target; value NULL: nothing is added. */
void target_add (struct strbuf *target, const char *name, const char *value);
/* Job ids as operands, "7" "1,4-7" "12_[1-3]", joined by commas in ids. 0, or CMD_USAGE after a
 * message. */
int cmd_add_ids (struct cmd *c, struct strbuf *ids, const char *text);
/* One job, "7" or "12_3": 0, or CMD_USAGE after a message. It may stand in a target as it
 * is. */
int cmd_check_id (struct cmd *c, const char *text);

#endif
