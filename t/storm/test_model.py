#!/usr/bin/env python3
"""The model's own test: a good history has no violation, and each rule reports the history that breaks it.

Each bad history is the good one with one change, and must break the rules that the case names, and no others.
"""
import copy
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import model  # noqa: E402

RUN = ["submit", "validate", "depend", "priority", "alloc", "start", "finish", "release", "free", "clean"]
AGAIN = RUN[:6] + ["requeue", "release", "free", "clean"] + RUN[3:]


def submit(job, **changes):
    return dict({"kind": "submit", "key": "k%d" % job, "job": job, "nodes": 1, "cores": 2,
                 "requeue": True, "held": False, "after": [], "exit": 0}, **changes)


def start(job, node="node0", cores="0-1", pid=None):
    return {"kind": "start", "job": job, "rank": 0, "pid": pid or job, "node": node, "cores": cores}


def end(job, code=0):
    return {"kind": "end", "job": job, "rank": 0, "pid": job, "code": code}


def final(job, state="COMPLETED", code=0, events=None):
    return {"kind": "final", "job": job, "state": state, "exit_code": code, "events": events or RUN}


def good():
    """Job 1 completes, job 2 waits for it and fails, job 3 is requeued and runs twice, job 4 is cancelled."""
    return [
        submit(1), submit(2, after=[["afterok", 1]], exit=3), submit(3, held=True), submit(4),
        start(1), {"kind": "seen", "job": 1, "state": "RUNNING", "events": RUN[:6]},
        end(1), start(2), end(2, 3),
        {"kind": "call", "action": "release", "job": 3}, {"kind": "answer", "action": "release", "job": 3,
                                                          "done": True},
        start(3, pid=30), start(3), end(3),
        {"kind": "call", "action": "cancel", "job": 4}, {"kind": "answer", "action": "cancel", "job": 4,
                                                         "done": True},
        {"kind": "listed", "jobs": [1, 2, 3, 4]},
        final(1), final(2, "FAILED", 3),
        final(3, events=AGAIN[:3] + ["urgency"] + AGAIN[3:]),
        final(4, "CANCELLED", 1, RUN[:4] + ["exception", "clean"]),
        {"kind": "left", "cores_used": 0, "processes": []},
    ]


def at(history, kind, job=None, place=0):
    return [i for i, r in enumerate(history) if r["kind"] == kind and job in (None, r.get("job"))][place]


def changed(kind, job, **fields):
    def change(history):
        history[at(history, kind, job)].update(fields)
    return change


def removed(kind, job, place=0):
    def change(history):
        del history[at(history, kind, job, place)]
    return change


def before(kind, job, record):
    def change(history):
        history.insert(at(history, kind, job), record)
    return change


CASES = [
    ("an accepted job is gone", "kept", removed("final", 4)),
    ("one id for two keys", "unique", before("start", 1, submit(1, key="other"))),
    ("two jobs for one key", "unique", before("submit", 4, submit(4, key="k1"))),
    ("a job that nobody has submitted", "unique", changed("listed", None, jobs=[1, 2, 3, 4, 5])),
    ("a job is listed twice", "unique", changed("listed", None, jobs=[1, 2, 3, 4, 4])),
    ("a job runs twice at a time", "twice", before("end", 1, {"kind": "twice", "job": 1, "rank": 0})),
    ("a job runs once more than it was requeued", "twice", before("start", 3, start(3, pid=31))),
    ("a job runs again without permission", "twice", changed("submit", 3, requeue=False)),
    ("a job runs again after its end", "twice order", before("listed", None, start(1))),
    ("a job runs before the end of its dependency", "order",
     lambda h: h.insert(at(h, "end", 1), dict(h.pop(at(h, "start", 2)), node="node1"))),
    ("a job runs though its dependency failed", "order", changed("final", 1, state="FAILED")),
    ("a job runs though its dependency never began", "order", changed("submit", 2, after=[["after", 4]])),
    ("a core is given twice, by its lock", "units",
     before("end", 1, {"kind": "clash", "job": 9, "node": "node0", "core": 1, "rank": 0, "with": "job 1"})),
    ("a core is given twice, by the records", "units held",
     lambda h: h.insert(at(h, "end", 1), dict(h.pop(at(h, "start", 3)), cores="1-2"))),
    ("a job has too many cores", "units", changed("start", 2, cores="0-2")),
    ("a start without alloc", "edges", changed("final", 2, events=RUN[:4] + RUN[5:])),
    ("a clean end with resources", "edges", changed("final", 1, events=RUN[:-2] + ["clean"])),
    ("a job that never ends", "terminal", changed("final", 2, state="RUNNING", events=RUN[:6])),
    ("an event that a client has read is gone", "seen",
     changed("seen", 1, events=RUN[:4] + ["urgency"] + RUN[4:6])),
    ("an end state that a client has read is gone", "seen", changed("seen", 1, state="FAILED")),
    ("an answer promised a cancel that never was", "answers",
     before("listed", None, {"kind": "answer", "action": "cancel", "job": 1, "done": True})),
    ("a held job runs", "held", removed("call", 3)),
    ("a job runs without resources", "edges", before("end", 1, start(4, node="node1"))),
    ("a job completes without the end of its task", "result", changed("final", 2, state="COMPLETED")),
    ("a job's exit code is not that of its task", "result", changed("final", 2, exit_code=4)),
    ("a core is in use at the end", "left", changed("left", None, cores_used=1)),
    ("a process lives at the end", "left", changed("left", None, processes=[77])),
]


def main():
    assert model.check(good()) == [], model.check(good())
    for name, rule, change in CASES:
        history = copy.deepcopy(good())
        change(history)
        rules = {found for _, found, _ in model.check(history)}
        assert rules == set(rule.split()), "%s: broke %s, wanted %s" % (name, rules or "nothing", rule)
    covered = {rule for _, rules, _ in CASES for rule in rules.split()}
    print("%d histories, rules: %s" % (len(CASES) + 1, ", ".join(sorted(covered))))


main()
