#!/usr/bin/env python3
"""pty-talk.py COMMAND...: runs COMMAND on a terminal and talks to it as the lines of stdin say.

    expect TEXT       wait (20 s) until TEXT, a regular expression, appears in the unread output
    send TEXT         type TEXT; \\t \\n \\x03 (ctrl-C) \\x04 (ctrl-D) as in Python
    unseen TEXT       fail if TEXT is in the output since the last expect
    end               wait for the end of COMMAND

All output goes to stdout; the exit status is that of COMMAND (1: an expectation failed).
"""
import os
import pty
import re
import select
import sys
import time

pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", COLUMNS="120")
    os.execvp(sys.argv[1], sys.argv[1:])

text = ""


def take(timeout):
    """Appends output of the command to the text; False at its end or after the timeout."""
    global text
    if not select.select([fd], [], [], timeout)[0]:
        return False
    try:
        data = os.read(fd, 65536).decode(errors="replace")
    except OSError:
        return False
    sys.stdout.write(data)
    sys.stdout.flush()
    text += data
    return data != ""


def fail(why):
    print(f"\npty-talk: {why}; not used: {text!r}")
    os.kill(pid, 9)
    sys.exit(1)


for line in sys.stdin.read().splitlines():
    word, _, rest = line.strip().partition(" ")
    if word == "expect":
        deadline = time.monotonic() + 20
        while not (found := re.search(rest, text)):
            if not take(max(0, deadline - time.monotonic())):
                fail(f"no {rest!r}")
        seen, text = text[: found.end()], text[found.end():]
    elif word == "send":
        os.write(fd, rest.encode().decode("unicode_escape").encode("latin-1"))
    elif word == "unseen":
        if re.search(rest, seen):
            fail(f"there is {rest!r}")
    elif word == "end":
        while take(20):
            pass
    elif word:
        fail(f"unknown word {word}")
os.close(fd)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
