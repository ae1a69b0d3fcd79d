#!/usr/bin/env python3
"""Changes nodes and pods of a cluster at random and compares the output of fluxq-info with that of kubectl
describe; see t4030-capacity.t. Runs inside the cluster's network (t/kube/enter).

usage: capacity.py SEED ROUNDS
"""
import json
import math
import random
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from fractions import Fraction

PORT = 18001
NS = "/api/v1/namespaces/default/pods"
GPU = "t.example/gpu"
HCA = "t.example/hca"
NODES = ["big1", "big2", "big10", "small1", "small2", "odd1"]
OPS_PER_ROUND = 14
DEADLINE = 60
MERGE = "application/merge-patch+json"


class Cluster:
    """The API, through kubectl proxy."""

    def __init__(self):
        self.proxy = subprocess.Popen(["kubectl", "proxy", "--port=%d" % PORT], stdout=subprocess.PIPE)
        self.proxy.stdout.readline()

    def close(self):
        self.proxy.terminate()
        self.proxy.wait()

    def call(self, method, path, body=None, kind="application/json", fine=()):
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (PORT, path), method=method,
                                         data=json.dumps(body).encode() if body is not None else None,
                                         headers={"Content-Type": kind})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            if e.code in fine:
                return None
            raise RuntimeError("%s %s: %s" % (method, path, e.read().decode()))

    def patch(self, path, body, fine=()):
        return self.call("PATCH", path, body, MERGE, fine)


# ---- nodes ----

def ready(status):
    return {"conditions": [{"type": "Ready", "status": status, "reason": "Test", "message": "",
                            "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                            "lastTransitionTime": "2026-01-01T00:00:00Z"}]}


class Changes:
    """Each method with a name do_... is one kind of change."""

    def __init__(self, cluster, rng, others):
        self.c, self.rng, self.others = cluster, rng, others  # others: a second generator, only for amounts of HCA
        self.nodes, self.pods, self.count = set(), {}, 0
        self.kinds = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("do_")]

    def any_node(self):
        return "/api/v1/nodes/" + self.rng.choice(sorted(self.nodes))

    def any_pod(self):
        return NS + "/" + self.rng.choice(sorted(self.pods)) if self.pods else None

    def amounts(self):
        r = self.rng
        amounts = {"cpu": r.choice(["4", "3920m", "7999m", "64", "1", "999m"]),
                   "memory": r.choice(["8Gi", "8000000000", "7654321Ki", "1.5Gi", "123456789"]),
                   GPU: r.choice(["0", "1", "4"]), HCA: self.others.choice(["0", "2", "5"]), "pods": "110"}
        return {"capacity": amounts, "allocatable": amounts}

    def make_node(self, name):
        self.c.call("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": {"pool": "a"}}})
        self.c.patch("/api/v1/nodes/%s/status" % name, {"status": {**ready("True"), **self.amounts()}})
        self.c.patch("/api/v1/nodes/" + name, {"spec": {"taints": None}})
        self.nodes.add(name)

    def do_cordon(self):
        self.c.patch(self.any_node(), {"spec": {"unschedulable": self.rng.random() < 0.3}})

    def do_taint(self):
        taints = [t for t in ({"key": "soft", "effect": "PreferNoSchedule"},
                              {"key": "team", "value": "x", "effect": "NoSchedule"},
                              {"key": "stranger", "effect": "NoSchedule"},
                              {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"})
                  if self.rng.random() < 0.15]
        self.c.patch(self.any_node(), {"spec": {"taints": taints}})

    def do_label(self):
        self.c.patch(self.any_node(), {"metadata": {"labels": {
            "pool": self.rng.choice(["a", "a", "a", "a", "a", "a", "b", None]),
            "rack": self.rng.choice(["r1", "r2", None])}}})

    def do_resize_node(self):
        self.c.patch(self.any_node() + "/status", {"status": self.amounts()})

    def do_ready(self):
        self.c.patch(self.any_node() + "/status",
                     {"status": ready(self.rng.choice(["True", "True", "True", "True", "False", "Unknown"]))})

    def do_replace_node(self):
        """A node leaves; or a node that has left comes back under its name, where its pods still are."""
        name = self.rng.choice(NODES)
        if name not in self.nodes:
            self.make_node(name)
        elif len(self.nodes) > 3:
            self.c.call("DELETE", "/api/v1/nodes/" + name)
            self.nodes.remove(name)

    # ---- pods ----

    def container(self, name, **more):
        r = self.rng
        requests = {}
        if r.random() < 0.85:
            requests["cpu"] = r.choice(["1m", "250m", "333m", "0.5", "1", "1500m", "2.001"])
        if r.random() < 0.85:
            requests["memory"] = r.choice(["1", "1Ki", "100M", "100Mi", "123456789", "0.5Gi", "1e8"])
        limits = {GPU: "1"} if r.random() < 0.1 else {}
        if self.others.random() < 0.2:
            limits[HCA] = self.others.choice(["1", "2"])
        return {"name": name, "image": "none", "resources": {"requests": {**requests, **limits}, "limits": limits},
                **more}

    def do_pod(self):
        r = self.rng
        self.count += 1
        name = "p%d" % self.count
        spec = {"nodeName": r.choice(NODES), "terminationGracePeriodSeconds": 0,
                "tolerations": [{"operator": "Exists"}], "automountServiceAccountToken": False,
                "containers": [self.container("c%d" % i) for i in range(r.randint(1, 3))]}
        if r.random() < 0.5:
            spec["initContainers"] = [
                self.container("i%d" % i, **({"restartPolicy": "Always"} if r.random() < 0.5 else {}))
                for i in range(r.randint(1, 3))]
        if r.random() < 0.3:
            spec["runtimeClassName"] = "heavy"
        meta = {"name": name}
        if r.random() < 0.2:
            meta["annotations"] = {"kubernetes.io/config.mirror": "x"}
        if r.random() < 0.4:
            meta["finalizers"] = ["t.example/hangs"]
        self.c.call("POST", NS, {"metadata": meta, "spec": spec})
        self.pods[name] = spec

    do_another_pod = do_third_pod = do_pod

    def do_phase(self):
        pod = self.any_pod()
        if pod:
            self.c.patch(pod + "/status", {"status": {"phase": self.rng.choice(
                ["Running", "Running", "Succeeded", "Failed"])}}, fine=(404, 422))

    def do_delete_pod(self):
        """The end may hang: then the pod holds its resources until do_release()."""
        pod = self.any_pod()
        if pod:
            self.c.call("DELETE", pod + "?gracePeriodSeconds=0", fine=(404,))

    def do_release(self):
        pod = self.any_pod()
        if pod:
            self.c.patch(pod, {"metadata": {"finalizers": None}}, fine=(404,))

    def do_resize_pod(self):
        """As if a kubelet had not yet lowered the pod to its new requests."""
        pod = self.any_pod()
        if pod:
            container = self.pods[pod.rsplit("/", 1)[1]]["containers"][0]
            if not container["resources"]["requests"]:
                return  # kubectl describe crashes on such a pod
            held = {"cpu": self.rng.choice(["100m", "3"]), "memory": "200Mi"}
            self.c.patch(pod + "/status", {"status": {"containerStatuses": [
                {"name": container["name"], "image": "none", "imageID": "", "ready": False, "restartCount": 0,
                 "resources": {"requests": held}, "allocatedResources": held}]}}, fine=(404,))


# ---- the output of kubectl ----

SUFFIX = {"": 1, "m": Fraction(1, 1000), "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def quantity(text):
    number, suffix = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)([a-zA-Z]*)", text).groups()
    return Fraction(number) * SUFFIX[suffix]


def section(text, title):
    """The indented lines below this title."""
    found = re.search(r"^%s:\n((?:[ ].*\n)+)" % re.escape(title), text, re.M)
    return [line.split() for line in found.group(1).splitlines()] if found else []


def value(text, key):
    found = re.search(r"^%s:[ ]+(.*)((?:\n[ ]+.*)*)" % key, text, re.M)
    return [found.group(1)] + found.group(2).split()


def state_of(text):
    """The capacity for jobs of such a node; None if the node is not offered."""
    labels = dict(item.split("=", 1) for item in value(text, "Labels") if "=" in item)
    taints = [t for t in value(text, "Taints") if t != "<none>" and not t.endswith(":PreferNoSchedule")]
    pressed = [t for t in taints if t.startswith("node.kubernetes.io/disk-pressure:")]
    if labels.get("pool") != "a" or any(t.startswith("stranger:") for t in taints):
        return None, None
    ready_now = any(line[:2] == ["Ready", "True"] for line in section(text, "Conditions"))
    drained = pressed or value(text, "Unschedulable")[0] == "true"
    return ("down" if not ready_now else "drained" if drained else "up"), labels.get("rack")


def described():
    out = subprocess.run(["kubectl", "describe", "nodes"], stdout=subprocess.PIPE, check=True, timeout=60)
    nodes = {}
    for text in re.split(r"(?m)^(?=Name: )", out.stdout.decode())[1:]:
        state, rack = state_of(text)
        if state is None:
            continue
        has = {line[0].rstrip(":"): quantity(line[1]) for line in section(text, "Allocatable")}
        used = {line[0]: quantity(line[1]) for line in section(text, "Allocated resources")
                if len(line) > 1 and line[1][0].isdigit()}
        free = {key: max(has[key] - used.get(key, 0), 0) if state == "up" else 0 for key in has}
        nodes[value(text, "Name")[0]] = {
            "state": state, "places": {"rack": rack} if rack else {}, "cores": int(has["cpu"]), "cores_free": int(free["cpu"]),
            "memory_mib": int(has["memory"] / 2**20), "memory_free": int(free["memory"] / 2**20),
            "gpus": int(has[GPU]), "gpus_free": int(free[GPU]),
            "gres": {HCA: {"count": int(has[HCA]), "free": int(free[HCA])}} if has[HCA] else {},
            "exact": {"cpu_milli": int(has["cpu"] * 1000), "memory_bytes": int(has["memory"]), "gpus": int(has[GPU]),
                      "cpu_milli_foreign": math.ceil(used.get("cpu", 0) * 1000),
                      "memory_bytes_foreign": math.ceil(used.get("memory", 0)),
                      "gpus_foreign": int(used.get(GPU, 0))}}
    return nodes


KEYS = ("state", "places", "cores", "cores_free", "memory_mib", "memory_free", "gpus", "gpus_free", "gres", "exact")


def offered():
    """The same from fluxq-info."""
    out = subprocess.run(["fluxq-info", "--json"], stdout=subprocess.PIPE, check=True, timeout=60)
    nodes = json.loads(out.stdout)["nodes"]
    for n in nodes:
        n["gres"] = {name: {key: n["gres"][name][key] for key in ("count", "free")} for name in n["gres"]}
    return {n["name"]: {key: n[key] for key in KEYS} for n in nodes}


def differences(want, have):
    for name in sorted(set(want) | set(have)):
        for key in sorted(set(want.get(name, {})) | set(have.get(name, {}))):
            a, b = (side.get(name, {}).get(key, "no such node") for side in (want, have))
            if a != b:
                yield "%s: %s: kubectl describe says %s, fluxq-info %s" % (name, key, a, b)


def compare(when):
    end = time.monotonic() + DEADLINE
    while True:
        want = described()
        found = list(differences(want, offered()))
        if not found:
            return want
        if time.monotonic() > end:
            sys.exit("%s:\n%s" % (when, "\n".join(found)))
        time.sleep(0.2)


DAEMON = {"metadata": {"name": "daemon"}, "spec": {
    "selector": {"matchLabels": {"app": "daemon"}}, "template": {
        "metadata": {"labels": {"app": "daemon"}}, "spec": {"tolerations": [{"operator": "Exists"}], "containers": [
            {"name": "c", "image": "none", "resources": {"requests": {"cpu": "17m", "memory": "33333333"}}}]}}}}


def main(seed, rounds):
    cluster = Cluster()
    try:
        changes = Changes(cluster, random.Random(int(seed)), random.Random("hca " + seed))
        cluster.call("POST", "/apis/node.k8s.io/v1/runtimeclasses", {
            "metadata": {"name": "heavy"}, "handler": "heavy",
            "overhead": {"podFixed": {"cpu": "130m", "memory": "37Mi"}}})
        for name in NODES:
            changes.make_node(name)
        cluster.call("POST", "/apis/apps/v1/namespaces/default/daemonsets", DAEMON)
        seen = set()
        for number in range(int(rounds)):
            log = [changes.rng.choice(changes.kinds) for _ in range(OPS_PER_ROUND)]
            for change in log:
                change()
            nodes = compare("round %d, seed %s, after %s" % (number, seed, [c.__name__ for c in log]))
            seen.update(n["state"] for n in nodes.values())
            used = sum(n["exact"]["cpu_milli_foreign"] for n in nodes.values())
            print("round %d: %d nodes, %d millicores used by %d pods" % (number, len(nodes), used, changes.count))
        assert seen == {"up", "drained", "down"}, "states that were never there: only %s" % seen
    finally:
        cluster.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
