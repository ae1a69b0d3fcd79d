"""The API server for the benchmark's driver: requests on kept connections, and watches.

    api = Api()                                   # of $KUBECONFIG's current context
    api.call("POST", "/api/v1/namespaces/x/pods", pod)
    api.watch("pods", "/api/v1/namespaces/x/pods", events.put)   # a thread; see Watch
    api.requests                                  # {("POST", "pods"): 1, ...}: the requests sent

Each calling thread has one connection. All requests of the driver are counted, so that they can be
subtracted from the server's own figures.
"""
import base64
import collections
import http.client
import json
import queue
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse

TIMEOUT = 60.0


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, status, text):
        super().__init__("HTTP %d: %s" % (status, text))
        self.status = status


def _credentials():
    """(host, port, TLS context) of the current context."""
    text = subprocess.run(["kubectl", "config", "view", "--raw", "--minify", "-o", "json"], check=True,
                          stdout=subprocess.PIPE, timeout=TIMEOUT).stdout
    config = json.loads(text)
    cluster = config["clusters"][0]["cluster"]
    user = config["users"][0]["user"]
    tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    with tempfile.NamedTemporaryFile() as both:  # mode 0600; ssl reads certificates from files only
        both.write(base64.b64decode(user["client-certificate-data"]) + b"\n")
        both.write(base64.b64decode(user["client-key-data"]))
        both.flush()
        tls.load_cert_chain(both.name)
    url = urllib.parse.urlsplit(cluster["server"])
    return url.hostname, url.port, tls


def _named(method, path):
    """("PATCH", "pods/status"), ("LIST", "pods"): as the server counts this request."""
    parts = path.split("?")[0].strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    if parts[:1] == ["namespaces"] and len(parts) > 2:
        parts = parts[2:]
    if method == "GET" and len(parts) == 1:
        method = "LIST"
    return method, "/".join(parts[:1] + parts[2:3])


class Api:
    def __init__(self):
        self.host, self.port, self.tls = _credentials()
        self.requests = collections.Counter()
        self.local = threading.local()
        self.lock = threading.Lock()

    def connection(self, timeout=TIMEOUT):
        return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=self.tls)

    def call(self, method, path, body=None, content="application/json"):
        """The decoded answer; opens a new connection if the server closed the idle one."""
        data = json.dumps(body) if body is not None else None
        headers = {"Content-Type": content} if data is not None else {}
        for last in (False, True):
            if getattr(self.local, "connection", None) is None:
                self.local.connection = self.connection()
            try:
                self.local.connection.request(method, path, data, headers)
                answer = self.local.connection.getresponse()
                text = answer.read()
                break
            except (http.client.HTTPException, OSError):
                self.local.connection.close()
                self.local.connection = None
                if last:
                    raise
        with self.lock:
            self.requests[_named(method, path)] += 1
        if answer.status >= 300:
            raise Refused(answer.status, text.decode(errors="replace")[:500])
        return json.loads(text) if text[:1] in b"{[" else text.decode()

    def get(self, path):
        return self.call("GET", path)

    def merge(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")

    def watch(self, kind, path, put):
        return Watch(self, kind, path, put)


class Watch(threading.Thread):
    """Lists and then watches; put((kind, change, object)) with change ADDED, MODIFIED or DELETED.

    Objects that vanish between two lists are not reported as DELETED: this is for a cluster without broken
    watches. A 410 is an error, reported as (kind, "ERROR", text)."""

    def __init__(self, api, kind, path, put):
        super().__init__(daemon=True)
        self.api, self.kind, self.path, self.put = api, kind, path, put
        listed = api.get(path)
        self.version = listed["metadata"]["resourceVersion"]
        for item in listed["items"]:
            put((kind, "ADDED", item))
        self.start()

    def follow(self):
        connection = self.api.connection(timeout=None)
        join = "&" if "?" in self.path else "?"
        connection.request("GET", "%s%swatch=1&allowWatchBookmarks=true&resourceVersion=%s"
                           % (self.path, join, self.version))
        answer = connection.getresponse()
        if answer.status != 200:
            raise Refused(answer.status, answer.read().decode(errors="replace")[:500])
        for line in answer:
            event = json.loads(line)
            if event["type"] == "ERROR":
                raise Refused(event["object"].get("code", 500), event["object"].get("message", ""))
            self.version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self.put((self.kind, event["type"], event["object"]))
        connection.close()

    def run(self):
        while True:
            try:
                self.follow()
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.2)
            except Refused as e:
                self.put((self.kind, "ERROR", str(e)))
                return


class Workers:
    """Threads that run functions in any order: workers.put(function, argument...)."""

    def __init__(self, n, failed):
        self.queue = queue.SimpleQueue()
        self.failed = failed  # called with the text of the error
        for _ in range(n):
            threading.Thread(target=self.work, daemon=True).start()

    def put(self, function, *arguments):
        self.queue.put((function, arguments))

    def work(self):
        while True:
            function, arguments = self.queue.get()
            try:
                function(*arguments)
            except Exception as e:  # pylint: disable=broad-except
                self.failed("%s: %s: %s" % (function.__name__, type(e).__name__, e))
