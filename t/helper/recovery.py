#!/usr/bin/env python3
"""Kills brokers at critical moments and checks the jobs afterwards; see t1000-recovery.t."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fluxqtest import Broker, UnixConnection, jobspec, main, processes_with, until  # noqa: E402

SCRIPT = """#!/bin/sh
printf '%s\\n' "$FLUXQ_JOB_ID" >>"$LEDGER"
[ "$PAUSE" = 0 ] || sleep "$PAUSE"
printf 'begin %s\\n' "$FLUXQ_JOB_ID"
exit $((FLUXQ_JOB_ID % 5))
"""
ONCE = ("submit", "alloc", "start", "finish", "release", "free", "clean")


def spec(i, ledger, pause="0"):
    return jobspec(script=SCRIPT, nodes=1 + i % 2, output="out-%j.txt", name="job%d" % i,
                   environment={"LEDGER": ledger, "PAUSE": pause})


def check(broker, ids, ledger):
    """Each of ids ended once with the right result, and its script ran once."""
    client = broker.client()
    for job in ids:
        result = client.wait(job)
        want = job % 5
        assert result["exit_code"] == want, "job %d: %s, wanted exit code %d" % (job, result, want)
        until("job %d to be cleaned up" % job, lambda j=job: "clean" in client.events(j))
        names = client.events(job)
        for name in ONCE:
            assert names.count(name) == 1, "job %d has %s %d times: %s" % (
                job, name, names.count(name), names)
        with open("out-%d.txt" % job, encoding="ascii") as f:
            text = f.read()
        assert text == "begin %d\n" % job, "job %d wrote %r" % (job, text)
    with open(ledger, encoding="ascii") as f:
        ran = [int(line) for line in f]
    assert sorted(ran) == sorted(ids), "scripts that ran: %s; jobs: %s" % (sorted(ran), sorted(ids))
    nodes = client.get("/v1/nodes")["nodes"]
    assert all(n["cores_used"] == 0 for n in nodes), "nodes are not free again: %s" % nodes
    client.close()


def after_event(event, cycles, run):
    """kill -9 at `event` of the third of seven jobs, several times, with one state directory."""
    ledger = os.path.abspath("ledger-" + event)
    broker = Broker("state-" + event, run)
    ids = []
    broker.start()
    for cycle in range(int(cycles)):
        watch = broker.watch()
        client = broker.client()
        mine = [client.submit(spec(i, ledger, "0.1" if i == 5 else "0")) for i in range(7)]
        ids += mine
        seen = watch.until(lambda c, j=mine[cycle % 5]: c.get("id") == j and c["event"] == event)
        assert seen, "the broker went by itself"
        broker.kill()
        client.close()
        broker.start()
    check(broker, ids, ledger)
    broker.stop()


def after_reply(cycles, run):
    """kill -9 right after the reply: accepted jobs must be there."""
    ledger = os.path.abspath("ledger-reply")
    broker = Broker("state-reply", run)
    ids = []
    broker.start()
    for cycle in range(int(cycles)):
        client = broker.client()
        for i in range(1 + cycle % 3):
            ids.append(client.submit(spec(i, ledger)))
        broker.kill()
        client.close()
        broker.start()
    assert ids == list(range(1, len(ids) + 1)), ids
    check(broker, ids, ledger)
    broker.stop()


def unanswered(cycles, run):
    """kill -9 before the reply; the same Idempotency-Key gives one job again, not two."""
    ledger = os.path.abspath("ledger-unanswered")
    broker = Broker("state-unanswered", run)
    ids = []
    broker.start()
    for cycle in range(int(cycles)):
        body = spec(cycle, ledger)
        connection = UnixConnection(broker.socket, 10)
        connection.request("POST", "/v1/jobs", json.dumps(body),
                           {"Idempotency-Key": "key%d" % cycle})
        time.sleep(0.0005 * (cycle % 12))  # not a wait for an event: chooses the moment of the kill
        broker.kill()
        broker.start()
        ids.append(broker.client().submit(body, key="key%d" % cycle))
    assert len(set(ids)) == len(ids), ids
    check(broker, ids, ledger)
    broker.stop()


def at_any_moment(cycles, run):
    """kill -9 while many short jobs go through all their states."""
    ledger = os.path.abspath("ledger-any")
    broker = Broker("state-any", run)
    broker.start()
    ids = []
    for cycle in range(int(cycles)):
        client = broker.client()
        ids += [client.submit(spec(i, ledger)) for i in range(30)]
        time.sleep(0.007 * (cycle * 5 % 13))  # not a wait for an event: chooses the moment of the kill
        broker.kill()
        client.close()
        broker.start()
    check(broker, ids, ledger)
    broker.stop()


def cancelling(cycles, run):
    """kill -9 during cancels: each job ends once, as cancelled, and nothing stays."""
    broker = Broker("state-cancel", run)
    mark = "mark-%d" % os.getpid()
    broker.start()
    ids = []
    for cycle in range(int(cycles)):
        watch = broker.watch()
        client = broker.client()
        mine = [client.submit(jobspec(command=["sleep", "987654"], nodes=1 + i % 2,
                                      environment={"T_MARK": mark}))
                for i in range(8)]
        ids += mine
        for job in mine[:2]:
            until("job %d to run" % job,
                  lambda j=job: client.get("/v1/jobs/%d" % j)["state"] == "RUNNING")
        answer = client.call("POST", "/v1/cancel", {"ids": "%d-%d" % (mine[0], mine[-1])})
        assert sorted(answer["done"]) == mine, answer
        events = ("exception", "finish", "release", "clean")
        watch.until(lambda c, e=events[cycle % 4]: c is None or c.get("event") == e)
        broker.kill()
        broker.start()
    client = broker.client()
    for job in ids:
        result = client.wait(job)
        assert result["state"] == "CANCELLED", result
        until("job %d to be cleaned up" % job, lambda j=job: "clean" in client.events(j))
        names = client.events(job)
        assert names.count("clean") == 1 and names.count("alloc") <= 1, names
    nodes = client.get("/v1/nodes")["nodes"]
    assert all(n["cores_used"] == 0 for n in nodes), nodes
    assert not processes_with("T_MARK=" + mark), "processes of cancelled jobs are left"
    broker.stop()


main([after_event, after_reply, unanswered, at_any_moment, cancelling])
