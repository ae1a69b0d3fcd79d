#!/usr/bin/env python3
"""Kills a broker whose jobs run on Kubernetes, and counts their pods; see t4200-kube-faults.t."""
import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fluxqtest import Broker, jobspec, main, until  # noqa: E402

ONCE = ("submit", "alloc", "start", "finish", "release", "free", "clean")


class KubeBroker(Broker):
    def __init__(self, enter, config, state, run):
        super().__init__(state, run, ("--kube", "--config", config))
        self.args.insert(0, enter)


def started(enter, cluster):
    """Names of started containers, from the kubelets' events: (pod, job id). Events stay for an hour."""
    answer = subprocess.run([enter, "kubectl", "-n", "fluxq", "get", "events", "-o", "json",
                             "--field-selector", "reason=Started,involvedObject.kind=Pod"],
                            stdout=subprocess.PIPE, check=True, timeout=60)
    found = []
    for event in json.loads(answer.stdout)["items"]:
        pod = event["involvedObject"]["name"]
        name = pod.split("-")
        if name[:2] == ["fluxq", cluster]:
            found += [(pod, int(name[2]))] * (event.get("count") or 1)
    return found


def after_event(enter, config, cluster, state, run):
    """21 jobs, in groups of three; kill -9 at each kind of event of the first job of a group."""
    broker = KubeBroker(enter, config, state, run)
    broker.start()
    before = started(enter, cluster)
    ids = []
    for event in ONCE:
        watch = broker.watch()
        client = broker.client()
        mine = [client.submit(jobspec(command=["sh", "-c", "echo $FLUXQ_JOB_ID; sleep 0.3"],
                                      output="once-%j.out", duration=120)) for _ in range(3)]
        ids += mine
        seen = watch.until(lambda c: c.get("id") == mine[0] and c["event"] == event)
        assert seen, "the broker went by itself"
        broker.kill()
        client.close()
        broker.start()
    client = broker.client()
    for job in ids:
        result = client.wait(job)
        assert result["state"] == "COMPLETED", result
        until("job %d to be cleaned up" % job, lambda j=job: "clean" in client.events(j))
        names = client.events(job)
        for name in ONCE:
            assert names.count(name) == 1, "job %d has %s %d times: %s" % (
                job, name, names.count(name), names)
        with open("once-%d.out" % job, encoding="ascii") as f:
            text = f.read()
        assert text == "%d\n" % job, "job %d wrote %r" % (job, text)
    count = collections.Counter(job for pod, job in started(enter, cluster)
                                if (pod, job) not in before)
    assert all(count[job] == 1 for job in ids), "pods that were started: %s" % count
    broker.stop()


main([after_event])
