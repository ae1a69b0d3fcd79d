"""Simulated agents: they answer at port 7717 of pods that do not run.

A simulated pod is Running only in its status. The unchanged fluxqd asks the agent of rank 0 for the job's
state (src/protocol/agent_api.h). This process stands in for the agents of all pods: the pods' addresses lead to
the loopback of the cluster's network namespace, and the requested address and the key identify the agent (a
restarted kwok gives some addresses a second time). It implements only the broker's part of the protocol: requests
must be signed with the job's key; READY comes when all pods of the job are ready, then a line of output, and
FINISH when the driver reports the end of the work or the broker ends the job. Unknown requests are refused as by
an agent.

    agents = Agents(api, namespace, released)    # listens; released(job) when an agent would exit
    agents.pod(ip, job)                          # rank 0 of that Kubernetes Job has this address
    agents.ready(job)
    agents.finish(job)                           # its tasks have ended, with status 0
    agents.forget(job)                           # its pods are gone
"""
import base64
import hashlib
import hmac
import http.server
import re
import socketserver
import struct
import sys
import threading
import urllib.parse

from api import Refused

PORT = 7717
OUTPUT, READY, EXIT, FINISH = 1, 2, 3, 6  # protocol/frame.h
REASONS = {"cancelled": "cancelled on request", "timeout": "ended on request", "lost": "ended on request",
           "oom": "ended on request"}
SIGTERM = 15


def frame(kind, data=b"", stream=0):
    return struct.pack("<BBHIII", kind, stream, 0, 0, 0, len(data)) + data


class Agent:
    """The agent of rank 0 of one job."""

    def __init__(self, job):
        self.job = job
        self.key = None
        self.nonces = set()
        self.spool = b""
        self.released = 0
        self.is_ready = self.finished = self.gone = False
        self.changed = threading.Condition()

    def append(self, *frames):
        with self.changed:
            if not self.finished:
                self.spool += b"".join(frames)
                self.changed.notify_all()

    def ready(self):
        if not self.is_ready:
            self.is_ready = True
            self.append(frame(READY), frame(OUTPUT, ("%s runs\n" % self.job).encode(), stream=1))

    def finish(self, status, reason, text):
        last = [frame(FINISH, ("status=%d reason=%s text=%s" % (status, reason, text)).encode())]
        if reason == "exited":
            last.insert(0, frame(EXIT, struct.pack("<I", status)))
        with self.changed:
            self.append(*last)
            self.finished = True
            self.changed.notify_all()

    def leave(self):
        with self.changed:
            self.gone = True
            self.changed.notify_all()

    def knows(self, method, target, value):
        """True if the request is signed with the job's key and is not a replay."""
        match = re.fullmatch(r"([0-9a-f]{32}):([0-9a-f]{64})", value or "")
        if not match:
            return False
        text = "%s %s\n%s" % (method, target, match[1])
        right = hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()
        with self.changed:
            if not hmac.compare_digest(right, match[2]) or match[1] in self.nonces:
                return False
            self.nonces.add(match[1])
        return True


class Agents:
    def __init__(self, api, namespace, released):
        self.api, self.namespace, self.released = api, namespace, released
        self.by_job, self.by_ip = {}, {}
        self.lock = threading.Lock()
        self.server = Server(("0.0.0.0", PORT), Handler)
        self.server.agents = self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def agent(self, job):
        with self.lock:
            return self.by_job.setdefault(job, Agent(job))

    def pod(self, ip, job):
        agent = self.agent(job)
        with self.lock:
            agents = self.by_ip.setdefault(ip, [])
            if agent not in agents:
                agents.append(agent)

    def ready(self, job):
        self.agent(job).ready()

    def finish(self, job):
        self.agent(job).finish(0, "exited", "completed")

    def forget(self, job):
        with self.lock:
            agent = self.by_job.pop(job, None)
            for ip in [ip for ip, agents in self.by_ip.items() if agent in agents]:
                self.by_ip[ip].remove(agent)
        if agent:
            agent.leave()

    def key_of(self, agent):
        if agent.key is None:
            try:
                secret = self.api.get("/api/v1/namespaces/%s/secrets/%s" % (self.namespace, agent.job))
            except Refused:
                return None
            agent.key = bytes.fromhex(base64.b64decode(secret["data"]["key"]).decode())
        return agent.key

    def at(self, ip):
        """The agents with this address, and their keys; empty if none is there (any more)."""
        with self.lock:
            agents = list(self.by_ip.get(ip, ()))
        return [agent for agent in agents if self.key_of(agent)]


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # the client has gone
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    """One request; like the agent, it closes the connection afterwards."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *arguments):  # pylint: disable=arguments-differ
        pass

    def reply(self, status, text=""):
        self.send_response(status)
        self.send_header("Connection", "close")
        if status != 204:
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def number(self, name):
        values = self.query.get(name, [])
        return int(values[0]) if len(values) == 1 and values[0].isdigit() else None

    def serve(self):
        self.close_connection = True
        agents = self.server.agents.at(self.connection.getsockname()[0])
        if not agents:
            self.reply(503, "no agent has this address\n")
            return
        signed = self.headers.get("X-Fluxq-Auth")
        agent = next((agent for agent in agents if agent.knows(self.command, self.path, signed)), None)
        if agent is None:
            self.reply(401, "not signed with this job's key, or used before\n")
            return
        url = urllib.parse.urlsplit(self.path)
        self.query = urllib.parse.parse_qs(url.query)
        route = ROUTES.get((self.command, url.path))
        if route:
            route(self, agent)
        else:
            self.reply(404, "no such request\n")

    do_GET = do_POST = serve

    def stream(self, agent):
        offset = self.number("offset") or 0
        if not agent.released <= offset <= len(agent.spool):
            self.reply(400, "offset: not in the spool\n")
            return
        self.send_response(200)
        self.send_header("Connection", "close")
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        while True:
            with agent.changed:
                agent.changed.wait_for(lambda: len(agent.spool) > offset or agent.finished or agent.gone)
                piece, over = agent.spool[offset:], agent.finished
            if piece:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                offset += len(piece)
            elif over:
                self.wfile.write(b"0\r\n\r\n")
                return
            else:
                return  # the pod has gone: the connection breaks

    def terminate(self, agent):
        reason = self.query.get("reason", [""])[0]
        if reason == "startfail":
            if agent.is_ready:
                self.reply(409, "all have joined\n")
                return
            self.reply(204)
            agent.finish(1 << 8, "startfail", "not all pods are ready")
        elif reason in REASONS:
            self.reply(204)
            agent.finish(SIGTERM, reason, REASONS[reason])
        else:
            self.reply(400, "reason: not a reason to end a job\n")

    def release(self, agent):
        offset = self.number("offset")
        if offset is None or offset > len(agent.spool):
            self.reply(400, "offset: is past the end\n")
            return
        agent.released = max(agent.released, offset)
        self.reply(204)
        if agent.finished and agent.released == len(agent.spool):
            self.server.agents.released(agent.job)


ROUTES = {
    ("GET", "/v1/stream"): Handler.stream,
    ("POST", "/v1/terminate"): Handler.terminate,
    ("POST", "/v1/release"): Handler.release,
}
