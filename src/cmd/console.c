/* console.c - fluxq: the commands without their prefix, line by line
 *
 * On a terminal it uses readline, with completion and a history. Otherwise it reads a
 * script, and the exit status is that of the last command, as in sh.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "cmd/client/command.h"
#include "cmd/complete.h"
#include "common/io.h"
#include "jobspec/script/words.h"

#define HISTORY_SIZE 1000
#define LINE_MAX_BYTES (1 << 20)

static const struct option_desc options[] = { OPTION_END };

struct console {
    const char *broker;
    bool interactive, over;
    int status;            /* of the last command */
    struct strbuf history; /* file name, "": none */
};

/* -- history -- */

/* Opens $XDG_STATE_HOME/fluxq/history, readable for its owner only. Without a directory
 * there is no history. */
static void open_history (struct console *x)
{
    const char *state = getenv ("XDG_STATE_HOME"), *home = getenv ("HOME");

    strbuf_init (&x->history, 4096);
    if (state && state[0] == '/')
        strbuf_addf (&x->history, "%s/fluxq", state);
    else if (home && home[0] == '/')
        strbuf_addf (&x->history, "%s/.local/state/fluxq", home);
    if (x->history.len == 0 || io_mkdir_p (x->history.buf, 0700, NULL) < 0
        || strbuf_adds (&x->history, "/history") < 0) {
        strbuf_reset (&x->history);
        return;
    }
    autoclose int fd = open (x->history.buf, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                             S_IRUSR | S_IWUSR);
    if (fd < 0 || fchmod (fd, S_IRUSR | S_IWUSR) < 0) {
        strbuf_reset (&x->history);
        return;
    }
    stifle_history (HISTORY_SIZE);
    read_history (x->history.buf);
}

/* Appends at once, so that several consoles can share the file without losing lines. */
static void remember (struct console *x, const char *line)
{
    const HIST_ENTRY *last =
        history_length > 0 ? history_get (history_base + history_length - 1) : NULL;

    if (line[strspn (line, " \t")] == '\0' || (last && !strcmp (last->line, line)))
        return;
    add_history (line);
    if (x->history.len > 0)
        append_history (1, x->history.buf);
}

static void close_history (struct console *x)
{
    if (x->history.len > 0) {
        history_truncate_file (x->history.buf, HISTORY_SIZE);
        if (chmod (x->history.buf, S_IRUSR | S_IWUSR) < 0)
            fprintf (stderr, "fluxq: %s: %s\n", x->history.buf, strerror (errno));
    }
    strbuf_release (&x->history);
}

/* -- a line -- */

static int help (int argc, char **argv)
{
    const struct command *command = argc > 2 ? command_find (argv[2]) : NULL;

    if (argc > 2 && !command) {
        return command_unknown (argv[2], "; \"help\" lists them");
    }
    if (command) {
        command_print_help (stdout, command);
        return CMD_OK;
    }
    command_print_list (stdout);
    puts ("  help        Show this list, or the help of a command: help submit\n"
          "  exit, quit  Leave the console, as ctrl-D does");
    return CMD_OK;
}

/* argv[0] is empty, as words_split() returns it. */
static int run_words (struct console *x, int argc, char **argv)
{
    const char *name = argv[1];

    if (!strcmp (name, "exit") || !strcmp (name, "quit")) {
        x->over = true;
        return x->status;
    }
    if (!strcmp (name, "help"))
        return help (argc, argv);
    if (!strncmp (name, "fluxq-", 6))
        name += 6;
    const struct command *command = command_find (name);
    if (!command || !strcmp (name, "console")) {
        return command_unknown (argv[1], "; \"help\" lists them");
    }
    return command_execute (command, argc - 1, argv + 1, x->broker, true);
}

static void run_line (struct console *x, const char *line, size_t len)
{
    struct words w;
    struct error err = { 0 };

    if (words_split (&w, line, len, WORDS_POSIX, &err) < 0) {
        fprintf (stderr, "fluxq: %s\n", err.text);
        x->status = CMD_USAGE;
        return;
    }
    if (w.argc > 1) {
        if (x->interactive)
            cmd_catch_interrupts ();
        x->status = cmd_interrupted () ? CMD_INTERRUPTED : run_words (x, w.argc, w.argv);
        fflush (stdout);
    }
    words_release (&w);
}

/* -- where lines come from -- */

static sigjmp_buf prompt;

/* ctrl-C at the prompt. Readline catches signals itself and passes them on where its
 * state is sound; only there a jump out of it is safe. Otherwise readline is not active,
 * and the signal is for the command that is about to begin. */
static void leave_prompt (int signum)
{
    if (RL_ISSTATE (RL_STATE_SIGHANDLER))
        siglongjmp (prompt, signum);
    cmd_note_interrupt (signum);
}

/* Reads a line; NULL at ctrl-D. The caller frees it. */
static char *read_line (void)
{
    struct sigaction sa = { .sa_handler = leave_prompt };

    sigemptyset (&sa.sa_mask);
    sigaction (SIGINT, &sa, NULL);
    cmd_forget_interrupt ();
    if (sigsetjmp (prompt, 1)) {
        RL_UNSETSTATE (RL_STATE_SIGHANDLER);
        putchar ('\n');
    }
    return readline ("fluxq> ");
}

static void talk (struct console *x)
{
    char *line;

    complete_setup (x->broker);
    open_history (x);
    puts ("fluxq: help lists the commands, tab completes, ctrl-D leaves.");
    while (!x->over && (line = read_line ()) != NULL) {
        remember (x, line);
        run_line (x, line, strlen (line));
        free (line);
    }
    if (!x->over)
        putchar ('\n');
    close_history (x);
}

static void read_lines (struct console *x)
{
    autofree char *line = NULL;
    size_t size = 0;
    ssize_t len;

    while (!x->over && x->status != CMD_INTERRUPTED
           && (len = getline (&line, &size, stdin)) > 0) {
        if (len > LINE_MAX_BYTES || memchr (line, '\0', (size_t)len)) {
            fputs ("fluxq: a line is too long, or has a NUL byte\n", stderr);
            x->status = CMD_USAGE;
            continue;
        }
        run_line (x, line, (size_t)len - (line[len - 1] == '\n'));
    }
}

static int run (struct cmd *c)
{
    struct console x = { .interactive = isatty (STDIN_FILENO) && isatty (STDOUT_FILENO) };
    struct option_match m;

    while (cmd_next (c, &m) > 0)
        cmd_usage (c, "'%s': unexpected argument", m.value);
    if (c->ended)
        return c->status;
    x.broker = c->broker;
    if (x.interactive)
        talk (&x);
    else
        read_lines (&x);
    return x.status;
}

static const char *const usage[] = { "", NULL };

const struct command command_console = {
    .name = "console",
    .summary = "Read commands line by line (also started by fluxq alone)",
    .usage = usage,
    .options = options,
    .run = run,
};
