/* prompt.c - see prompt.h */
#include "tools/match/prompt.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "common/io.h"
#include "tools/match/commands.h"
#include "tools/match/complete.h"

#define HISTORY_SIZE 1000
#define LINE_MAX_BYTES (1 << 20)

/* -- history -- */

/* $XDG_STATE_HOME/fluxq/match-history, readable by its owner only. If there is no place
 * for it, *path is empty and there is no history. */
static void open_history (struct strbuf *path)
{
    const char *state = getenv ("XDG_STATE_HOME"), *home = getenv ("HOME");

    strbuf_init (path, 4096);
    if (state && state[0] == '/')
        strbuf_addf (path, "%s/fluxq", state);
    else if (home && home[0] == '/')
        strbuf_addf (path, "%s/.local/state/fluxq", home);
    if (path->len == 0 || io_mkdir_p (path->buf, 0700, NULL) < 0
        || strbuf_adds (path, "/match-history") < 0) {
        strbuf_reset (path);
        return;
    }
    autoclose int fd =
        open (path->buf, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (fd < 0 || fchmod (fd, S_IRUSR | S_IWUSR) < 0) {
        strbuf_reset (path);
        return;
    }
    stifle_history (HISTORY_SIZE);
    read_history (path->buf);
}

/* Written at once, so that several sessions can share the file without losing lines. */
static void remember (const struct strbuf *path, const char *line)
{
    const HIST_ENTRY *last =
        history_length > 0 ? history_get (history_base + history_length - 1) : NULL;

    if (line[strspn (line, " \t")] == '\0' || (last && !strcmp (last->line, line)))
        return;
    add_history (line);
    if (path->len > 0)
        append_history (1, path->buf);
}

static void close_history (struct strbuf *path)
{
    if (path->len > 0)
        history_truncate_file (path->buf, HISTORY_SIZE);
    strbuf_release (path);
}

/* -- lines -- */

static void talk (struct session *s)
{
    const char *prompt = s->opt->no_prompt ? "" : "fluxq-match> ";
    struct strbuf history;
    char *line;

    complete_setup (s);
    open_history (&history);
    while (!s->over && (line = readline (prompt)) != NULL) {
        remember (&history, line);
        command_run (s, line, strlen (line));
        free (line);
    }
    if (!s->over)
        putchar ('\n');
    close_history (&history);
}

static void read_lines (struct session *s)
{
    autofree char *line = NULL;
    size_t size = 0;
    ssize_t len;

    while (!s->over && (len = getline (&line, &size, stdin)) > 0) {
        if (len > LINE_MAX_BYTES || memchr (line, '\0', (size_t)len))
            session_complain ("a line is longer than %d bytes, or has a NUL byte",
                              LINE_MAX_BYTES);
        else
            command_run (s, line, (size_t)len - (line[len - 1] == '\n'));
    }
}

void prompt_run (struct session *s)
{
    s->interactive = isatty (STDIN_FILENO) && isatty (STDOUT_FILENO);
    if (s->interactive)
        talk (s);
    else
        read_lines (s);
}
