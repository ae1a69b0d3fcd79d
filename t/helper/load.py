#!/usr/bin/env python3
"""Many jobs and many clients at once; FLUXQ_BROKER names the broker. See t1080-load.t."""
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fluxqtest import Client, UnixConnection, Watch, jobspec, main, until  # noqa: E402

LEDGER = "#!/bin/sh\nprintf '%s\\n' \"$FLUXQ_JOB_ID\" >>\"$LEDGER\"\n"


def submit(count, ledger):
    """Submits jobs that write their id to a file; prints the ids."""
    client = Client()
    spec = jobspec(script=LEDGER, environment={"LEDGER": os.path.abspath(ledger)})
    for _ in range(int(count)):
        print(client.submit(spec))


def in_threads(n, work):
    """Runs work (i) in n threads at once; raises the first error here."""
    troubles = []

    def guarded(i):
        try:
            work(i)
        except Exception as e:  # pylint: disable=broad-except
            troubles.append("%d: %s: %s" % (i, type(e).__name__, e))

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not troubles, (len(troubles), troubles[:5])


def complete(count, clients):
    """Submits `count` jobs from `clients` connections at once; each must complete."""
    ids = []
    each = int(count) // int(clients)

    def work(_):
        client = Client()
        mine = [client.submit(jobspec(command=["true"])) for _ in range(each)]
        ids.extend(mine)
        client.close()

    in_threads(int(clients), work)
    assert len(set(ids)) == each * int(clients), "ids were given twice"
    client = Client()
    for job in ids:
        result = client.wait(job)
        assert result["state"] == "COMPLETED" and result["exit_code"] == 0, result
    until("no job to be active", lambda: not client.get("/v1/jobs")["jobs"])


def waiters(count):
    """`count` requests GET …/wait at once: half of them on one job, the others each on a job of its own."""
    gate = os.path.abspath("gate")
    client = Client()
    job = client.submit(jobspec(command=["sh", "-c", "until [ -e '%s' ]; do sleep 0.05; done; exit 9"
                                         % gate]))
    answers = []

    def work(i):
        own = Client()
        if i % 2:
            answers.append(own.wait(job)["exit_code"])
        else:
            mine = own.submit(jobspec(command=["sh", "-c", "exit %d" % (i % 7)]))
            assert own.wait(mine)["exit_code"] == i % 7
            answers.append(9)
        if len(answers) == int(count) // 2:  # the others wait for the gate, or will soon
            with open(gate, "w", encoding="ascii"):
                pass

    in_threads(int(count), work)
    assert answers == [9] * int(count), answers


def stuck_follower(megabytes):
    """One follower never reads; another gets all output, the job ends, and the broker answers."""
    client = Client()
    job = client.submit(jobspec(script="#!/bin/sh\nhead -c %d000000 /dev/zero | tr '\\0' x\n"
                                       % int(megabytes)))
    until("the job to start", lambda: client.get("/v1/jobs/%d" % job)["state"] != "PENDING")
    stuck = UnixConnection(client.path, 60)
    stuck.connect()
    stuck.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stuck.request("GET", "/v1/jobs/%d/output?follow=1" % job)
    watch = UnixConnection(client.path, 60)  # a watcher that never reads, too
    watch.request("GET", "/v1/watch")
    answer = Client(timeout=120).open("GET", "/v1/jobs/%d/output?follow=1" % job)
    data = answer.read()
    assert data == b"x" * (int(megabytes) * 1000000), len(data)
    assert client.wait(job)["state"] == "COMPLETED"
    for _ in range(50):
        mine = client.submit(jobspec(command=["true"]))
        assert client.wait(mine)["state"] == "COMPLETED"
    memory = client.get("/v1/status")["memory_kib"]
    assert memory < 400 * 1024, "the broker has grown to %d KiB" % memory


main([submit, complete, waiters, stuck_follower])
