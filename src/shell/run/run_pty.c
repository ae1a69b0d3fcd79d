/* run_pty.c - puts the user's terminal into raw mode and back */
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "shell/run/run.h"

static struct termios before;
static bool raw;

void run_terminal_size (uint32_t *ret_rows, uint32_t *ret_cols)
{
    struct winsize size = { 0 };
    if (ioctl (STDIN_FILENO, TIOCGWINSZ, &size) < 0)
        ioctl (STDOUT_FILENO, TIOCGWINSZ, &size);
    *ret_rows = size.ws_row;
    *ret_cols = size.ws_col;
}

void run_terminal_take (void)
{
    if (!raw && tcgetattr (STDIN_FILENO, &before) < 0)
        return;
    struct termios t = before;
    cfmakeraw (&t);
    raw = tcsetattr (STDIN_FILENO, TCSADRAIN, &t) == 0;
}

bool run_terminal_give_back (void)
{
    bool was_raw = raw;
    if (raw)
        tcsetattr (STDIN_FILENO, TCSADRAIN, &before);
    raw = false;
    return was_raw;
}
