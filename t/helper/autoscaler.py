#!/usr/bin/env python3
"""A small stand-in for an autoscaler of the test cluster; see t4230-node-groups.t.

    autoscaler.py KUBE requests            open ProvisioningRequests: name, nodes that it lacks
    autoscaler.py KUBE pods                pods that are unschedulable: name, group's label
    autoscaler.py KUBE answer NAME TYPE MESSAGE    a condition of that request becomes True
    autoscaler.py KUBE make LABEL N        N nodes that are off and would have KEY=VALUE are booted

KUBE is t/kube. Like the real one it knows need by two things alone: a request that nobody has answered,
with the template that it names; and pods without a node with the condition PodScheduled=False, Unschedulable.
What a pod of either asks for must fit on such a node, or it is none of its business.
"""
import datetime
import json
import subprocess
import sys

CPUS = 4  # of each node


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
            if template and fits(template["spec"]):  # it may have gone since
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
