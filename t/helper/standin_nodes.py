#!/usr/bin/env python3
"""Stands in for the kubelets and agents of nodes that are only objects; see t4155-numa.t.

usage: standin_nodes.py ENTER ZONES CPUS NODE...

Each node has ZONES NUMA zones of CPUS CPUs, and the policies "static" and "single-numa-node". Like a kubelet, it
admits a pod of class Guaranteed to the lowest zone with enough free CPUs, or else fails it with
TopologyAffinityError; other pods share the remaining CPUs. It removes deleted pods. The agent reports only on
request: when a file "report" appears in the directory; the file goes when the report is done.

The fingerprint is computed here from its definition, not with fluxq's code.
"""
import json
import os
import subprocess
import sys
import time

M = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                      0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def rotated(x, n):
    return (x << n | x >> (64 - n)) & M


def mixed(lane, n):
    return rotated((lane + n * P2) & M, 31) * P1 & M


def xxh64(data, seed=0):
    n, at = len(data), 0
    if n >= 32:
        lanes = [(seed + P1 + P2) & M, (seed + P2) & M, seed, (seed - P1) & M]
        while n - at >= 32:
            for i in range(4):
                lanes[i] = mixed(lanes[i], int.from_bytes(data[at:at + 8], "little"))
                at += 8
        h = sum(rotated(x, r) for x, r in zip(lanes, (1, 7, 12, 18))) & M
        for lane in lanes:
            h = ((h ^ mixed(0, lane)) * P1 + P4) & M
    else:
        h = (seed + P5) & M
    h = (h + n) & M
    while n - at >= 8:
        h = (rotated(h ^ mixed(0, int.from_bytes(data[at:at + 8], "little")), 27) * P1 + P4) & M
        at += 8
    if n - at >= 4:
        h = (rotated(h ^ int.from_bytes(data[at:at + 4], "little") * P1 & M, 23) * P2 + P3) & M
        at += 4
    for byte in data[at:]:
        h = rotated(h ^ byte * P5 & M, 11) * P1 & M
    h = (h ^ h >> 33) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32


def fingerprint(pods):
    hashes = sorted(xxh64(name.encode(), xxh64(ns.encode())) for ns, name in pods)
    return "pfp0v001%016x" % xxh64(b"".join(h.to_bytes(8, "little") for h in hashes))


assert xxh64(b"xxhash", 20141025) == 0xb559b98d844e0635
assert xxh64(b"Call me Ishmael. Some years ago--never mind how long precisely-") == 0x02a2e85470d6fd96


class Nodes:
    def __init__(self, enter, zones, cpus, names):
        self.enter, self.zones, self.cpus, self.names = enter, zones, cpus, names
        self.taken = {}  # (node, namespace, name): (zone or None, CPUs)

    def kubectl(self, *args, text=None):
        return subprocess.run([self.enter, "kubectl", *args], stdout=subprocess.PIPE, check=False, timeout=120,
                              input=text, encoding="utf-8").stdout

    def left(self, node, zone):
        return self.cpus - sum(n for (at, _, _), (z, n) in self.taken.items() if (at, z) == (node, zone))

    def admit(self, node, ns, name, pod):
        cpus = sum(int(c["resources"].get("requests", {}).get("cpu", "0")) for c in pod["spec"]["containers"])
        zone = None
        if pod["status"].get("qosClass") == "Guaranteed":
            zone = next((z for z in range(self.zones) if self.left(node, z) >= cpus), None)
            if zone is None:
                self.status(ns, name, {"phase": "Failed", "reason": "TopologyAffinityError",
                                       "message": "Pod was rejected: Resources cannot be allocated with "
                                                  "Topology locality"})
                print("rejected", node, name, cpus, flush=True)
                return
        self.taken[node, ns, name] = (zone, cpus)
        self.status(ns, name, {"phase": "Running"})
        print("admitted", node, name, cpus, zone, flush=True)

    def status(self, ns, name, status):
        self.kubectl("-n", ns, "patch", "pod", name, "--subresource=status", "--type=merge",
                     "-p", json.dumps({"status": status}))

    def look(self):
        answer = self.kubectl("get", "pods", "-A", "-o", "json")
        if not answer:
            return
        there = set()
        for pod in json.loads(answer)["items"]:
            node, meta = pod["spec"].get("nodeName"), pod["metadata"]
            if node not in self.names:
                continue
            ns, name, phase = meta["namespace"], meta["name"], pod["status"].get("phase")
            if meta.get("deletionTimestamp"):
                self.kubectl("-n", ns, "delete", "pod", name, "--force", "--grace-period=0", "--wait=false")
            elif phase in ("Pending", "Running"):
                there.add((node, ns, name))
                if (node, ns, name) not in self.taken:
                    self.admit(node, ns, name, pod)
        for key in set(self.taken) - there:
            del self.taken[key]

    def report(self):
        for node in self.names:
            pods = [(ns, name) for at, ns, name in self.taken if at == node]
            zones = [{"name": "node-%d" % z, "type": "Node", "resources": [
                {"name": "cpu", "capacity": str(self.cpus), "allocatable": str(self.cpus),
                 "available": str(self.left(node, z))}]} for z in range(self.zones)]
            attributes = [{"name": "topologyManagerPolicy", "value": "single-numa-node"},
                          {"name": "topologyManagerScope", "value": "pod"},
                          {"name": "nodeTopologyPodsFingerprint", "value": fingerprint(pods)}]
            self.kubectl("apply", "-f", "-", text=json.dumps(
                {"apiVersion": "topology.node.k8s.io/v1alpha2", "kind": "NodeResourceTopology",
                 "metadata": {"name": node}, "attributes": attributes, "zones": zones}))
            print("reported", node, [self.left(node, z) for z in range(self.zones)], flush=True)


def main():
    enter, zones, cpus, names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    nodes = Nodes(enter, zones, cpus, names)
    while os.getppid() != 1:
        nodes.look()
        if os.path.exists("report"):
            nodes.report()
            os.unlink("report")
        time.sleep(0.2)


main()
