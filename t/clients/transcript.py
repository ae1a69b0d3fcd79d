"""Transcripts of clients: recorded calls of Slurm's commands, made comparable; see t/clients/run."""

import difflib
import json
import os
import re
import socket

HERE = os.path.dirname(os.path.abspath(__file__))
COMMANDS = (
    "sacct sacctmgr salloc sattach sbatch sbcast scancel scontrol sinfo sprio squeue sreport srun sshare " "sstat"
).split()
# A state that a job passes through is seen or not, by chance.
PASSING = r"\b(PENDING|CONFIGURING|RUNNING|COMPLETING|PD|CF|CG|R)\b"
REPLACED = (
    (r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?", "<date>"),
    (r"\b(\d+-)?(\d\d:)?\d{1,2}:\d\d\b(?!:)(\.\d+)?", "<time>"),
    (r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])", "<uuid>"),
    (r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", "<uuid>"),
)


def make_recorders(directory):
    """Fills a directory for PATH: a recorder in the name of each command."""
    os.makedirs(directory)
    for name in COMMANDS:
        os.symlink(os.path.join(HERE, "record"), os.path.join(directory, name))


def calls_of(path):
    """The recorded calls, in order."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def job_numbers(calls):
    """The jobs in the order of their submits."""
    numbers = []
    for call in calls:
        if call["argv"][0] == "sbatch" and call["status"] == 0:
            found = re.search(r"^(?:Submitted batch job )?(\d+)", call["stdout"])
            if found and found.group(1) not in numbers:
                numbers.append(found.group(1))
    return numbers


class Normalizer:
    """Replaces what differs between two runs of the same client."""

    def __init__(self, work, numbers):
        self.work = work
        self.numbers = {number: f"<job {i + 1}>" for i, number in enumerate(numbers)}
        self.host = socket.gethostname()

    def __call__(self, text):
        text = text.replace(self.work, "<dir>")
        text = re.sub(rf"(?<![\w-]){re.escape(self.host)}(?![\w-])", "<host>", text)
        text = re.sub(r"(?<!\d)\d{4,}(?!\d)", lambda m: self.numbers.get(m.group(), m.group()), text)
        for pattern, word in REPLACED:
            text = re.sub(pattern, word, text)
        return text


def command_line(call, normalize):
    """The words of a call without what clients make up: names of files, what is wrapped, which jobs they ask for at once."""
    words = [re.sub(r"^--wrap=.*", "--wrap=...", word, flags=re.S) for word in call["argv"]]
    text = re.sub(r"<dir>/[^ ,:'\"]*", "<dir>/...", normalize(" ".join(words)))
    text = re.sub(r"127\.0\.0\.1:\d+|(?<=ADDRESS=)[\d.]+:\d+", "<address>", text)
    return re.sub(r"((-j |, ?)?<job \d+>(_[\d,[\]%-]+)?[ ,]*)+", "<jobs> ", text).strip()


def call_lines(calls, normalize, foreign):
    """A block for each different command line, with all different lines of its answers, sorted.

    Lines about jobs in a passing state are left out, and those that match `foreign`: other clients' jobs."""
    blocks = {}
    for call in calls:
        argv = command_line(call, normalize)
        answers = blocks.setdefault(argv, set())
        answers.add(f"  status {call['status']}")
        for mark, text in (("  ", call["stdout"]), ("! ", call["stderr"])):
            lines = (normalize(line) for line in text.splitlines() if not re.search(PASSING, line))
            answers.update(f"  {mark}{line}" for line in lines if not re.search(foreign, line))
    lines = []
    for argv, answers in blocks.items():
        lines.append(f"$ {argv}")
        lines.extend(sorted(answers))
    return lines


def read(work, scratch):
    """The client's output and its calls, as comparable lines. scratch: names of jobs that do not count."""
    calls = calls_of(os.path.join(work, "calls"))
    normalize = Normalizer(work, job_numbers(calls))
    with open(os.path.join(work, "stdout"), encoding="utf-8", errors="replace") as f:
        results = [normalize(line.rstrip("\n")) for line in f]
    root = os.path.dirname(os.path.dirname(work))
    foreign = "|".join([re.escape(root), r"^ *JobId=\d"] + [re.escape(name) for name in scratch])
    lines = call_lines(calls, normalize, foreign)
    with open(os.path.join(work, "transcript"), "w", encoding="utf-8") as f:
        f.write("".join(f"{line}\n" for line in results + lines))
    return results, lines


def differences(ours, theirs, most=40, width=150):
    """A unified diff without its head, of at most `most` lines; long lines are cut."""
    diff = [
        line for line in difflib.unified_diff(ours, theirs, lineterm="", n=1) if not line.startswith(("---", "+++"))
    ]
    lines = [line if len(line) <= width else line[: width - 3] + "..." for line in diff[:most]]
    return lines + [f"({len(diff) - most} more lines: see --keep)"] * (len(diff) > most)
