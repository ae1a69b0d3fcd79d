/* command.h - a user's command: one file and one descriptor in the table of commands
 *
 * This folder holds what each command is and how it talks to the broker. A command line
 * comes in; requests go to the broker, and its answers go back to the command as JSON.
 * The folder uses no other folder of cmd.
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
 *     const struct command command_logs = { .name = "logs", ..., .run = run };
 *
 * A command runs in its own process or, in the console, after other commands in the same
 * process. So it returns its exit status and never ends the process, keeps nothing in
 * static variables, and writes to stdout through stdio. Users read one line about a
 * failure, "fluxq-NAME: ...". Exit status: 0 done, 1 refused or failed, 2 wrong usage,
 * 130 interrupted, --wait: the job's. Slurm's commands (src/cmd/slurm) have Slurm's words
 * and exit status instead.
 */
#pragma once

#include "common/json.h"
#include "common/option.h"
#include "net/http_client.h"

/* The version of Slurm whose options and words src/cmd/slurm follows. */
#define CMD_SLURM_VERSION "25.11.0"

enum { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2, CMD_INTERRUPTED = 130 };

/* Ids of options. Each command numbers its own from 1, common options begin at
 * CMD_OPTION_COMMON. */
enum { CMD_OPERAND = -1, CMD_OPTION_COMMON = 0x2000 };

/* The words that completion offers for an operand or an option's value. */
enum completion {
    COMPLETE_NONE,
    COMPLETE_FILES,
    COMPLETE_JOBS,     /* jobs that wait or run */
    COMPLETE_ALL_JOBS, /* also ended jobs */
    COMPLETE_NODES,
    COMPLETE_QUEUES,
    COMPLETE_RESERVATIONS,
    COMPLETE_STATES,
    COMPLETE_COMMANDS,
    COMPLETE_OPTIONS,
    COMPLETE_SUBCOMMANDS,
    COMPLETE_PHRASES, /* the words of the command's phrase */
};

/* A word that must follow the command's name: "fluxq-show job", "fluxq-ctl drain". */
struct subcommand {
    const char *name;  /* NULL ends the table */
    const char *usage; /* the operands after the word, "" for none */
    const char *summary;
    enum completion operands;
};

/* A phrase of a command line, "scontrol show", and the words that may follow, for
 * completion. */
struct phrase {
    const char *after; /* the operands up to here, "" for none; NULL ends the table */
    const char *words; /* "jobs|nodes", or NULL: */
    enum completion operands; /* ... words of this kind */
};

struct cmd;

struct command {
    const char *name;         /* without "fluxq-" */
    const char *summary;      /* one line, for the list of commands */
    const char *const *usage; /* lines without the program's name; NULL-terminated */
    const struct option_desc *options;
    /* A second table or NULL, except the options that the first table has */
    const struct option_desc *(*more_options) (void);
    const char *const *without; /* ... and those in this list; or NULL */
    int option_flags;           /* enum option_flags */
    const struct subcommand *subcommands; /* or NULL */
    enum completion operands;
    const struct phrase *phrases;    /* or NULL */
    const char *notes;               /* more paragraphs for the help, or NULL */
    void (*print_notes) (FILE *out); /* prints further notes made from a table, or NULL */
    int (*run) (struct cmd *c);
    /* One of Slurm's commands, with Slurm's words: the program is NAME, its messages are
     * "NAME: error: ...", wrong usage is exit status 1, and the options --broker,
     * --broker-wait do not exist ($FLUXQ_BROKER and $FLUXQ_BROKER_WAIT do). */
    bool slurm;
    /* ... and what stands before the reason when the broker refuses a request
     * ("Batch job submission failed: "); or NULL. */
    const char *refused;
};

/* Made by contrib/gen-table; NULL-terminated, in alphabetical order. */
extern const struct command *const commands[];       /* fluxq's own: src/cmd */
extern const struct command *const slurm_commands[]; /* src/cmd/slurm */
/* name: without "fluxq-". NULL: there is none. */
const struct command *command_find (const char *name);
const struct command *command_find_slurm (const char *name);
/* Prints an error and a hint to stderr, and returns CMD_USAGE. */
int command_unknown (const char *name, const char *hint);

#define CMD_OPTIONS_MAX 192
/* All options of a command, its tables' and the common ones, ended by OPTION_END. */
void command_options (const struct command *command,
                      struct option_desc ret[static CMD_OPTIONS_MAX]);
void command_print_help (FILE *out, const struct command *command);
/* Prints all commands, a line each. */
void command_print_list (FILE *out);

/* One run of a command. */
struct cmd {
    const struct command *command;
    char program[32];   /* "fluxq-submit" */
    const char *broker; /* URL of --broker or NULL */
    /* seconds, of --broker-wait or $FLUXQ_BROKER_WAIT; < 0: not read yet */
    double broker_wait;
    char cluster[256]; /* the name of the cluster if -M names it, or "" */
    bool in_console;
    bool ended;                 /* --help, --version or wrong usage: return status */
    int status;                 /* the status to return after a cmd_*() function failed */
    struct http_client *client; /* opened by the first request */
    struct option_parser parser;
    struct option_desc options[CMD_OPTIONS_MAX];
};

/* Runs a command as a program with these arguments (argv[0] is ignored), flushes stdout,
 * and returns the exit status. broker may be NULL. */
int command_execute (const struct command *command, int argc, char **argv, const char *broker,
                 bool in_console);

/* Gets the next option or operand: 1 and *ret is set; 0 at the end. If c->ended is set
 * then, the command must return c->status at once. */
int cmd_next (struct cmd *c, struct option_match *ret);
/* The option as the user wrote it: "--nodes" or "-N"; in buf. */
const char *cmd_option_as_written (const struct cmd *c, const struct option_match *m,
                                   char *buf, size_t size);

/* Print "PROGRAM: text" to stderr. Both set c->status and return it. */
int cmd_fail (struct cmd *c, const char *fmt, ...) PRINTF_LIKE (2, 3); /* CMD_FAILED */
int cmd_usage (struct cmd *c, const char *fmt, ...)
    PRINTF_LIKE (2, 3); /* CMD_USAGE, also sets c->ended */
/* Prints the same, but sets nothing. */
void cmd_warn (const struct cmd *c, const char *fmt, ...) PRINTF_LIKE (2, 3);

/* -- interrupts -- */

/* From now on SIGINT ends the wait for the broker, and the command cleans up. Without
 * this call SIGINT kills a command that runs in its own process. */
void cmd_catch_interrupts (void);
/* Whether SIGINT has come. */
bool cmd_interrupted (void);
/* For the console: the signal handler, and a reset before each command. */
void cmd_note_interrupt (int signum);
void cmd_forget_interrupt (void);
/* Sleeps; false when interrupted. */
bool cmd_sleep (double seconds);

/* -- the broker -- */

#define CMD_BROKER_WAIT "FLUXQ_BROKER_WAIT"
#define CMD_BROKER_WAIT_SECONDS 60.0 /* the default */

/* Parses a duration; "infinity" is a hundred years. */
int cmd_parse_wait (const char *text, double *ret_seconds, const char *what,
                    struct error *err);
/* The seconds, >= 0, for which each call waits for a broker that is away. Negative errno:
 * $FLUXQ_BROKER_WAIT is not a duration. */
double cmd_broker_wait (struct cmd *c, struct error *err);
/* Opens c->client unless it is open; 0 or negative errno. Waits for a broker that
 * restarts; interrupts end the wait with -EINTR. */
int cmd_open (struct cmd *c, struct error *err);
void cmd_disconnect (struct cmd *c);
/* A request that needs a 2xx answer: 0 and *ret, which the caller releases, or the exit
 * status. body may be NULL; len: its bytes. */
int cmd_request (struct cmd *c, const char *method, const char *target, const char *body,
                 size_t len, struct http_response *ret);
/* GET: the reader gets a 2xx answer while it arrives, see http_client_read(). 0, or the exit
 * status; then the pieces do not count. */
int cmd_read (struct cmd *c, const char *target, const struct http_reader *reader);
/* A request with a JSON answer; *ret is a new reference. body (taken over) may be
 * NULL. */
int cmd_call (struct cmd *c, const char *method, const char *target, json_t *body,
              json_t **ret);
int cmd_get (struct cmd *c, const char *target, json_t **ret);
/* Slurm's -M: asks the broker for the name of its cluster, and sets c->cluster. Names of
 * the list (separated by commas) other than this one and "all" are wrong usage; where:
 * begins with the option. */
int cmd_set_clusters (struct cmd *c, const char *list, const char *where);
/* Does the same for $SLURM_CLUSTERS, unless -M was given. */
int cmd_set_clusters_from_environ (struct cmd *c);
/* Slurm's sentence for the code of a problem; NULL: there is none. */
const char *cmd_slurm_sentence (const char *code);
/* In Slurm's commands, puts Slurm's sentence before the reason why the broker refused the
 * request. */
void cmd_add_words (const struct cmd *c, const struct http_response *r,
                    struct error *err);
/* After a client call that failed: prints the error and returns the status;
 * CMD_INTERRUPTED, silently, after SIGINT. */
int cmd_broken (struct cmd *c, int rc, const struct error *err);

/* -- targets -- */

/* Appends "?a=b" or "&c=d" to a target; value NULL: appends nothing. */
void target_add (struct strbuf *target, const char *name, const char *value);
/* Adds an operand of job ids, "7", "1,4-7" or "12_[1-3]", to the comma-separated ids. 0,
 * or CMD_USAGE after a message. */
int cmd_add_ids (struct cmd *c, struct strbuf *ids, const char *text);
/* Checks an operand of one job, "7" or "12_3": 0, or CMD_USAGE after a message. A valid
 * one can be used in a target unchanged. */
int cmd_check_id (struct cmd *c, const char *text);
