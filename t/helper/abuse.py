#!/usr/bin/env python3
"""Requests that no correct client makes; FLUXQ_BROKER names the broker. See t1090-abuse.t.

After each request the broker must answer other clients; a refusal must have a code.
"""
import json
import os
import pwd
import random
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fluxqtest import Client, UnixConnection, jobspec, main, until  # noqa: E402

SPEC = jobspec(command=["true"])


def expect(client, method, path, body, *statuses):
    status, problem = client.request(method, path, body)
    assert status in statuses, "%s %s: %d %s" % (method, path, status, problem)
    if status >= 400:
        assert problem["code"] and problem["detail"] and problem["status"] == status, problem
        assert "\n" not in problem["detail"], problem
    return problem


def alive(client):
    assert client.get("/v1/status")["pid"]


def jobs_of(client):
    return client.get("/v1/jobs?state=all")["total"]


def bodies():
    """Bodies that are not jobspecs, or not JSON, to every path that reads a body."""
    client = Client()
    before = jobs_of(client)
    deep = "[" * 100000 + "]" * 100000
    deep_object = '{"a":' * 50000 + "1" + "}" * 50000
    texts = ["", " ", "{", "nonsense", "[]", "7", "null", '"text"', "{}", '{"version":1}', deep,
             deep_object, '{"version":1,"version":1}', '{"version":1e400}', "\ufeff{}",
             '{"a":"\\ud800"}', '{"ids":"1-99999999999999999999"}', '{"ids":"9-1"}', '{"ids":"-3"}',
             '{"ids":7}', '{"ids":"1","colour":"red"}', '{"ids":"1","signal":99}', '{"action":7}',
             '{"action":"explode"}', '{"urgency":-1}', '{"urgency":32}', '{"urgency":"high"}',
             "\x00\x01\x02", '{"ids":"a' + "\\u0000" + 'b"}']
    for path in ("/v1/jobs", "/v1/cancel", "/v1/jobs/1/urgency", "/v1/nodes/node0",
                 "/v1/queues/batch", "/v1/jobs/999999999/urgency", "/v1/nodes/nowhere",
                 "/v1/queues/nowhere"):
        for text in texts:
            if path == "/v1/cancel" and "1-9999" in text:
                continue
            expect(client, "POST", path, text.encode("utf-8", "surrogatepass"), 400, 404, 409, 413, 422)
    expect(client, "POST", "/v1/jobs", b"\xff\xfe{}", 400, 422)
    assert jobs_of(client) == before, "one of these became a job"
    alive(client)


def jobspecs():
    """Jobspecs with one error each: refused, with the place."""
    client = Client()
    before = jobs_of(client)

    def wrong(change, *codes, said=""):
        spec = json.loads(json.dumps(SPEC))
        change(spec)
        problem = expect(client, "POST", "/v1/jobs", json.dumps(spec), 400, 422)
        assert problem["code"] in (codes or ("bad-jobspec", "infeasible", "unknown-queue")), problem
        assert said in problem["detail"], problem

    def node(spec):
        return spec["resources"][0]

    def system(spec):
        return spec["attributes"]["system"]

    for count in (0, -1, 2**31, 2**63, 2**64, 1.5, "many", None, {"min": 3, "max": 2}, {"min": 0},
                  {"max": 4}, [1], True, "5-2", "1000000000000000000000"):
        wrong(lambda s, c=count: node(s).update(count=c))
    for duration in (-1, 1e300, "long", [], 2**63):
        wrong(lambda s, d=duration: system(s).update(duration=d))
    for version in (0, 2, "1", None, 1.5):
        wrong(lambda s, v=version: s.update(version=v))
    wrong(lambda s: s.update(colour="red"))
    wrong(lambda s: s.pop("tasks"))
    wrong(lambda s: s.update(resources=[]))
    wrong(lambda s: s.update(resources=s["resources"] * 3))
    wrong(lambda s: node(s).update(type="x" * 10000))
    wrong(lambda s: s["tasks"][0].update(command=[]))
    wrong(lambda s: s["tasks"][0].update(command=[""] * 3 + [7]))
    wrong(lambda s: s["tasks"][0].update(slot="nowhere"))
    wrong(lambda s: system(s).update(cwd="relative"))
    wrong(lambda s: system(s).update(environment={"A": 7}))
    wrong(lambda s: system(s).update(queue="nowhere"))
    # A few bytes that stand for millions of jobs.
    wrong(lambda s: system(s).update(constraints={"hostlist": ["n[1-1000000,1-1000000]"]}), said="65536 names")
    wrong(lambda s: system(s).update(constraints={"or": [{"hostlist": ["n[1-40000]"]}] * 2}), said="25536 names")
    wrong(lambda s: system(s).update(constraints={"properties": ["^a"] * 1001}), said="1000 properties")
    wrong(lambda s: system(s).update(fluxq={"array": ",".join(["0-1999998:2"] * 5000)}), said="1000000 tasks")
    wrong(lambda s: system(s).update(files={"script": {"mode": 33261, "encoding": "utf-8",
                                                       "data": "x" * (4 * 1024 * 1024 + 1)}}))
    nested = {"type": "core", "count": 1}
    for _ in range(200):
        nested = {"type": "socket", "count": 1, "with": [nested]}
    wrong(lambda s: node(s).update({"with": [nested]}))
    wrong(lambda s: node(s).update({"with": [node(s)["with"][0]] * 2000}))
    assert jobs_of(client) == before, "one of these became a job"
    alive(client)


def requests():
    """Wrong methods, paths, queries and headers."""
    client = Client()
    job = client.submit(jobspec(command=["true"]))
    client.wait(job)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "BREW"):
        expect(client, method, "/v1/jobs", None, 405, 400, 501)
    expect(client, "GET", "/v1/cancel", None, 405)
    expect(client, "POST", "/v1/status", b"", 405)
    for path in ("/", "/v1", "/v1/", "/v2/jobs", "/v1/jobs/", "/v1/jobs/1/2/3", "//v1/jobs",
                 "/v1/jobs/1/output/x", "/v1/../v1/none", "/" + "a" * 8000):
        expect(client, "GET", path, None, 400, 404, 414)
    for number in ("0", "-1", "abc", "1x", "99999999999999999999", "%31%00", "1e3", "+1", "0x1"):
        expect(client, "GET", "/v1/jobs/" + number, None, 400, 404)
    for query in ("state=sleeping", "ids=x", "ids=5-1", "limit=-1", "limit=many", "after=x",
                  "fields=colour", "format=xml", "state=" + "R," * 3000 + "x"):
        expect(client, "GET", "/v1/jobs?" + query, None, 400)
    for query in ("rank=-1", "rank=x", "stream=stdboth"):
        expect(client, "GET", "/v1/jobs/%d/output?%s" % (job, query), None, 400)
    expect(client, "GET", "/v1/nodes?names=node[0-", None, 400)
    # A few bytes that stand for millions of ids: counted, and refused with the limit.
    for query, said in (("nodes?names=n[1-1000000,1-1000000,1-1000000]", "more than 1024 names"),
                        ("nodes?names=node[0-999999999]", "more than 1024 names"),
                        ("nodes?names=" + ",".join(["node[0-99]"] * 11), "more than 1024 names"),
                        ("jobs?ids=" + ",".join(["1_0-999999"] * 2), "at most 0 tasks"),
                        ("jobs?ids=1_0-499999,2_0-499999,3_7", "at most 0 tasks"),
                        ("jobs?user=" + "a," * 10000, "more than 10000 names"),
                        ("jobs?name=" + "a," * 10000, "more than 10000 names"),
                        ("jobs?fields=id,name,id", "id is there twice")):
        problem = expect(client, "GET", "/v1/" + query, None, 400)
        assert said in problem["detail"], problem
    problem = expect(client, "GET", "/v1/nodes?names=node[0-9]", None, 404)
    assert "node4" in problem["detail"], problem
    status, answer = client.request("GET", "/v1/jobs?state=all&ids=" + ",".join([str(job)] * 5000))
    assert status == 200 and [row["id"] for row in answer["jobs"]] == [job], answer
    ids = client.call("POST", "/v1/cancel", {"ids": ",".join([str(job)] * 5000)})
    assert len(ids["done"]) + len(ids["failed"]) == 1, ids
    expect(client, "POST", "/v1/jobs?urgency=99", json.dumps(SPEC), 400)
    status, problem = client.request("POST", "/v1/jobs", json.dumps(SPEC),
                                     {"Idempotency-Key": "k" * 300})
    assert status == 400, problem
    ids = client.call("POST", "/v1/cancel", {"ids": "1-4000000000000000000"})
    assert ids["done"] == [], ids
    alive(client)


def raw(path, *pieces, wait=True):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect(path)
    try:
        for piece in pieces:
            s.sendall(piece)
        return s.recv(65536) if wait else b""
    except (BrokenPipeError, ConnectionResetError):
        return b"reset"
    finally:
        s.close()


def wire():
    """Data that is not HTTP, that stops half-way, or that is too large."""
    client = Client()
    path = client.path
    before = jobs_of(client)
    random.seed(7)
    raw(path, b"\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n")
    for size in (1, 100, 10000):
        raw(path, random.randbytes(size) + b"\r\n\r\n", wait=False)
    raw(path, b"GET /v1/status HTTP/9.9\r\n\r\n", wait=False)
    raw(path, b"GET /v1/status HTTP/1.1\r\n" + b"X: " + b"y" * 200000 + b"\r\n\r\n")
    raw(path, b"GET /v1/status HTTP/1.1\r\n" + b"".join(b"H%d: x\r\n" % i for i in range(20000))
        + b"\r\n")
    answer = raw(path, b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 10485760\r\n\r\n",
                 b"x" * 10485760)
    assert b" 413 " in answer or answer == b"reset", answer[:200]
    raw(path, b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", wait=False)
    raw(path, b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        wait=False)
    body = json.dumps(SPEC).encode()
    for cut in (1, len(body) // 2, len(body) - 1):  # a body that never ends
        raw(path, b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body),
            body[:cut], wait=False)
    raw(path, b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        wait=False)
    alive(client)
    assert jobs_of(client) == before, "half a request became a job"


def large():
    """10 MiB: refused for its size, with a message."""
    client = Client()
    try:
        expect(client, "POST", "/v1/jobs", b" " * (10 << 20), 413)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the broker did not read on, as it should
    alive(Client())


def idle(count):
    """Thousands of silent connections: other users are served, and further connections are refused with a message."""
    client = Client()
    alive(client)
    path = client.path
    open_ones = []
    root = os.geteuid() == 0
    if root:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    for _ in range(int(count)):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(10)
        try:
            s.connect(path)
            open_ones.append(s)
        except OSError:
            s.close()
    if root:  # another user is not affected
        os.seteuid(0)
        for _ in range(50):
            alive(Client())
    alive(client)  # the earlier connection
    for s in open_ones:
        s.close()

    def served():
        try:
            alive(Client())
            return True
        except (AssertionError, OSError, Exception):  # pylint: disable=broad-except
            return False
    until("new clients to be served", served)


def leaving():
    """Clients that close before the answer: of submits, waits, follows, watches and lists."""
    client = Client()
    job = client.submit(jobspec(command=["sleep", "97581"]))
    for i in range(200):
        c = UnixConnection(client.path, 10)
        method, path, body = (("POST", "/v1/jobs", json.dumps(SPEC)),
                              ("GET", "/v1/jobs/%d/wait" % job, None),
                              ("GET", "/v1/jobs/%d/output?follow=1" % job, None),
                              ("GET", "/v1/watch", None),
                              ("GET", "/v1/jobs?state=all", None))[i % 5]
        c.request(method, path, body)
        c.close()
    alive(client)
    client.call("POST", "/v1/cancel", {"ids": str(job)})
    assert client.wait(job)["state"] == "CANCELLED"
    until("the other jobs to end", lambda: not client.get("/v1/jobs")["jobs"])


main([bodies, jobspecs, requests, wire, large, idle, leaving])
