"""Shared classes of the system tests in Python: a client of the broker's API, jobspecs, brokers to kill.

    from fluxqtest import Broker, Client, jobspec
    broker = Broker ("state", "/tmp/run.1")
    broker.start ()
    job = broker.client ().submit (jobspec (script="#!/bin/sh\\nexit 3\\n"))
    assert broker.client ().wait (job)["exit_code"] == 3
    broker.kill ()

All waits have a deadline: a longer wait raises an exception, and the test fails.
"""
import atexit
import http.client
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time

DEADLINE = 60.0  # seconds; the operations should take one


class Refused(Exception):
    def __init__(self, status, problem):
        super().__init__("%s: %s" % (status, problem))
        self.status = status
        self.problem = problem if isinstance(problem, dict) else {}


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("fluxqd", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Client:
    """One connection, opened on demand and kept. Not for concurrent use by several threads."""

    def __init__(self, path=None, timeout=DEADLINE):
        if path is None:
            path = os.environ["FLUXQ_BROKER"].replace("unix://", "")
        self.path = path
        self.timeout = timeout
        self.connection = None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def open(self, method, path, body=None, headers=None):
        if self.connection is None:
            self.connection = UnixConnection(self.path, self.timeout)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        self.connection.request(method, path, body, headers or {})
        return self.connection.getresponse()

    def request(self, method, path, body=None, headers=None):
        """(status, decoded body); opens a new connection if the broker has closed the old one."""
        try:
            answer = self.open(method, path, body, headers)
            data = answer.read()
        except (http.client.HTTPException, OSError):
            self.close()
            raise
        if answer.will_close:
            self.close()
        if (answer.getheader("Content-Type") or "").startswith("application/"):
            return answer.status, json.loads(data)
        return answer.status, data

    def call(self, method, path, body=None, headers=None):
        status, value = self.request(method, path, body, headers)
        if status >= 300:
            raise Refused(status, value)
        return value

    def get(self, path):
        return self.call("GET", path)

    def submit(self, spec, key=None, query=""):
        headers = {"Idempotency-Key": key} if key else {}
        return self.call("POST", "/v1/jobs" + query, spec, headers)["id"]

    def wait(self, job):
        return self.get("/v1/jobs/%d/wait" % job)

    def events(self, job):
        return [e["name"] for e in self.get("/v1/jobs/%d/events" % job)["events"]]

    def output(self, job):
        return self.get("/v1/jobs/%d/output" % job)


class Watch(threading.Thread):
    """GET /v1/watch: .lines yields the changes; None after the broker has gone."""

    def __init__(self, path, query=""):
        super().__init__(daemon=True)
        self.client = Client(path)
        self.answer = self.client.open("GET", "/v1/watch" + query)
        self.lines = queue.Queue()
        if not json.loads(self.answer.readline()).get("sync"):
            raise AssertionError("the first line of a watch is no sync")
        self.start()

    def run(self):
        try:
            for line in self.answer:
                self.lines.put(json.loads(line))
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass
        self.lines.put(None)

    def until(self, wanted, deadline=DEADLINE):
        """The first change for which wanted (change) holds; None if the broker has gone first."""
        end = time.monotonic() + deadline
        while True:
            try:
                change = self.lines.get(timeout=max(end - time.monotonic(), 0.001))
            except queue.Empty:
                raise AssertionError("no such event within %g s" % deadline) from None
            if change is None or wanted(change):
                return change


def until(what, condition, deadline=DEADLINE):
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("gave up waiting for " + what)
        time.sleep(0.02)


def jobspec(script=None, command=None, nodes=1, cores=1, name=None, duration=300, cwd=None,
            output="/dev/null", environment=None, exclusive=False, queue_name=None):
    slot = {"type": "slot", "count": 1, "label": "task",
            "with": [{"type": "core", "count": cores}]}
    node = {"type": "node", "count": nodes, "with": [slot]}
    if exclusive:
        node["exclusive"] = True
    system = {
        "cwd": cwd or os.getcwd(),
        "environment": dict({"PATH": os.environ["PATH"]}, **(environment or {})),
        "shell": {"options": {"output": {"stdout": {"type": "file", "path": output}}}},
    }
    if duration is not None:
        system["duration"] = duration
    if name:
        system["job"] = {"name": name}
    if queue_name:
        system["queue"] = queue_name
    if script is not None:
        system["files"] = {"script": {"mode": 33261, "encoding": "utf-8", "data": script}}
        command = ["{{tmpdir}}/script"]
    return {"version": 1, "resources": [node],
            "tasks": [{"command": command, "slot": "task", "count": {"per_slot": 1}}],
            "attributes": {"system": system}}


class Broker:
    def __init__(self, state, run, args=("--local", "4"), log="fluxqd.log"):
        self.args = ["fluxqd", *args, "--state-dir", os.path.abspath(state), "--runtime-dir", run]
        self.socket = os.path.join(run, "fluxqd.sock")
        self.log = open(log, "ab")
        self.process = None
        atexit.register(self.end)

    def end(self):
        """For a test that fails half-way: ends the broker and its jobs."""
        if self.process is None or self.process.poll() is not None:
            return
        try:
            self.client().call("POST", "/v1/cancel", {"state": "active", "signal": 9})
            self.client().call("POST", "/v1/cancel", {"state": "active"})
            until("its jobs to end", lambda: not self.client().get("/v1/jobs")["jobs"], 5)
        except (OSError, AssertionError, Refused, http.client.HTTPException):
            pass
        self.process.kill()
        self.process.wait()

    def start(self):
        self.process = subprocess.Popen(self.args, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log)
        until("the broker to listen", self.listens)

    def listens(self):
        if self.process.poll() is not None:
            raise AssertionError("the broker ended with %d" % self.process.returncode)
        try:
            client = Client(self.socket)
            status, value = client.request("GET", "/v1/status")
            client.close()
            return status == 200 and value["pid"] == self.process.pid
        except (OSError, http.client.HTTPException):
            return False

    def client(self):
        return Client(self.socket)

    def watch(self, query=""):
        return Watch(self.socket, query)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE)

    def stop(self):
        """A clean stop; the exit status must be 0 (ASan reports leaks here)."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE)
        if status != 0:
            raise AssertionError("the broker's end: status %d" % status)


def processes_with(marker):
    """Pids of the processes that have `marker` in their environment or arguments."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("environ", "cmdline"):
            try:
                with open("/proc/%s/%s" % (pid, name), "rb") as f:
                    if marker.encode() in f.read():
                        found.append(int(pid))
                        break
            except OSError:
                pass
    return found


def main(commands):
    """commands: the functions that a test may name in its first argument."""
    table = {f.__name__: f for f in commands}
    if len(sys.argv) < 2 or sys.argv[1] not in table:
        sys.exit("usage: %s {%s} [ARGUMENT]..." % (sys.argv[0], ",".join(table)))
    table[sys.argv[1]](*sys.argv[2:])
