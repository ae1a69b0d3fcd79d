#!/usr/bin/env python3
"""A small stand-in for an autoscaler of the test cluster; see t4230-node-groups.t.

    autoscaler.py KUBE requests            open ProvisioningRequests: name, number of missing nodes
    autoscaler.py KUBE pods                unschedulable pods: name, label of the group
    autoscaler.py KUBE answer NAME TYPE MESSAGE    sets a condition of that request to True
    autoscaler.py KUBE make LABEL N        boots N nodes that are off and would have the label KEY=VALUE

KUBE is t/kube. Like a real autoscaler it detects a need only by unanswered requests, with the template that
they name, and by pods without a node with the condition PodScheduled=False, Unschedulable. It ignores needs
whose pods do not fit on such a node.
"""
import datetime
import json
import subprocess
import sys

CPUS = 4  # CPUs of each node


def kubectl(kube, *args, **more):
    return subprocess.run([kube + "/enter", "kubectl", "-n", "fluxq", *args], check=True, timeout=60,
                          stdout=subprocess.PIPE, **more).stdout


def items(kube, kind):
    return json.loads(kubectl(kube, "get", kind, "-o", "json"))["items"]


def conditions(thing):
    return {c["type"]: c for c in thing.get("status", {}).get("conditions", [])}


def fits(spec):
    return int(spec["containers"][0]["resources"]["requests"].get("cpu", "0")) <= CPUS


def requests(kube):
    there = items(kube, "provisioningrequests")
    templates = {t["metadata"]["name"]: t["template"] for t in items(kube, "podtemplates")}
    for request in there:
        if set(conditions(request)) & {"Provisioned", "Failed"}:
            continue
        for pods in request["spec"]["podSets"]:
            template = templates.get(pods["podTemplateRef"]["name"])
            if template and fits(template["spec"]):  # the template may be gone
                print(request["metadata"]["name"], pods["count"])


def pods(kube):
    for pod in items(kube, "pods"):
        said = conditions(pod).get("PodScheduled", {})
        if pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp"):
            continue
        if (said.get("status"), said.get("reason")) == ("False", "Unschedulable") and fits(pod["spec"]):
            print(pod["metadata"]["name"], ",".join(f"{k}={v}" for k, v in pod["spec"]["nodeSelector"].items()))


def answer(kube, name, kind, message):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    said = {"type": kind, "status": "True", "reason": kind, "message": message, "lastTransitionTime": now}
    kubectl(kube, "patch", "provisioningrequest", name, "--subresource=status", "--type=merge",
            "-p", json.dumps({"status": {"conditions": [said]}}))


def make(kube, label, count):
    key, value = label.split("=")
    there = {n["metadata"]["name"] for n in items(kube, "nodes")}
    off = [i for i in range(1, 5) if f"node{i}" not in there and {key: value} == {key: f"r{(i + 1) // 2}"}]
    if len(off) < int(count):
        sys.exit(f"{count} nodes are wanted, {len(off)} can be made")
    for i in off[:int(count)]:
        subprocess.run([kube + "/node", "start", str(i)], check=True, timeout=200)


if __name__ == "__main__":
    {"requests": requests, "pods": pods, "answer": answer, "make": make}[sys.argv[2]](sys.argv[1], *sys.argv[3:])
