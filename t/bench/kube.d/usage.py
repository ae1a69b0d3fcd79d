"""The costs of a run: CPU time and memory of processes, and the API server's count of requests.

    before = Costs(api, {"API server": pid, ...})
    ...
    figures = before.since(api)

Requests are those of apiserver_request_total, without leases (signs of life), without the driver's requests,
which it has counted, and without kwok's, which the server counts separately (t/kube/lib/kwok-user.yaml).
"""
import collections
import os
import re

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get", "LIST": "list",
         "WATCH": "watch", "DELETECOLLECTION": "deletecollection"}
WRITES = ("POST", "PUT", "PATCH", "DELETE", "DELETECOLLECTION")
KWOK = "kwok-"  # its flow schemas
TICK = os.sysconf("SC_CLK_TCK")
SAMPLE = re.compile(r'^(\w+)\{(.*)\} ([0-9.e+]+)$', re.M)
LABEL = re.compile(r'(\w+)="([^"]*)"')


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory_mib(pid, which="VmHWM"):
    """The peak memory so far, or with VmRSS the current memory."""
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        for line in f:
            if line.startswith(which + ":"):
                return int(line.split()[1]) / 1024
    return None


def requests(api):
    """All requests since the server's start by (verb, resource), and kwok's share by verb."""
    everything, kwok = collections.Counter(), collections.Counter()
    words = {KWOK + word: verb for verb, word in VERBS.items()}
    for name, text, value in SAMPLE.findall(api.get("/metrics")):
        if name == "apiserver_request_total":
            label = dict(LABEL.findall(text))
            verb = {"APPLY": "PATCH"}.get(label["verb"], label["verb"])
            resource = "/".join(filter(None, (label["resource"], label["subresource"])))
            everything[verb, resource] += int(float(value))
        elif name == "apiserver_flowcontrol_dispatched_requests_total":
            schema = dict(LABEL.findall(text))["flow_schema"]
            if schema in words:
                kwok[words[schema]] += int(float(value))
    return everything, kwok


class Costs:
    """Counts from its creation. processes: {name: pid}."""

    def __init__(self, api, processes):
        self.processes = processes
        self.driver = collections.Counter(api.requests)
        self.all, self.kwok = requests(api)
        self.cpu = {name: cpu_seconds(pid) for name, pid in processes.items()}

    def since(self, api):
        cpu = {name: cpu_seconds(pid) - self.cpu[name] for name, pid in self.processes.items()}
        driver = collections.Counter(api.requests)
        everything, kwok = requests(api)
        for now, before in ((everything, self.all), (kwok, self.kwok), (driver, self.driver)):
            now.subtract(before)
        of_others = collections.Counter()
        for (verb, resource), n in everything.items():
            if verb in VERBS and resource.split("/")[0] != "leases":
                of_others[verb] += n
        of_others.subtract(kwok)
        for (verb, _), n in driver.items():
            of_others[verb] -= n
        return {
            "cpu_s": cpu,
            "memory_mib": {name: memory_mib(pid) for name, pid in self.processes.items()},
            "requests": {verb: of_others[verb] for verb in VERBS if verb != "WATCH"},
            "writes": sum(of_others[verb] for verb in WRITES),
            "all_requests": {"%s %s" % key: n for key, n in sorted(everything.items()) if n > 0},
            "kwok_requests": dict(kwok),
            "driver_requests": {"%s %s" % key: n for key, n in sorted(driver.items()) if n},
        }
