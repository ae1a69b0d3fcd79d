"""The schedulers to compare: the submit of a gang, the end of its work, and the detection of its end.

    way = WAYS["plain"](run)      # run: the driver's Run
    way.prepare()                 # queues and the like
    way.submit(gang)
    way.gang_of(pod)              # the gang of this pod, or None
    way.pod_changed(pod, gang), way.pods_ready(gang), way.pods_gone(gang)      # reports of the driver
    way.work_over(gang)               # a decision of the driver
    way.cancel()
    way.clean()                   # removes everything; the names of objects that stay in the cluster

All make the same pods: Indexed Jobs of equally many pods of 2 CPU and 2 GiB, which tolerate the simulated nodes' taint.
A job's deadline is activeDeadlineSeconds of the Job (it runs from the creation of a Job that is not suspended,
under Kueue from its admission), and for fluxq the job's time limit (from when all its pods are ready). A Job
that misses its deadline fails, and the Job controller deletes its pods.
"""
import http.client
import json
import os
import subprocess
import sys
import threading
import time

from agents import Agents
from api import Refused
from gangs import median

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../helper"))
from fluxqtest import Client, Watch, until  # noqa: E402

POD_CPU, POD_GIB = 2, 2
CLEAN_LIMIT = 300  # seconds for the last objects to go
ACTIVE = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "REQUEUED")
BACK_LIMIT = 60  # ... and for fluxqd to come back, where it is killed
TAINT = "kwok.x-k8s.io/node"
SUCCEEDED = {"status": {"phase": "Succeeded", "conditions": [
    {"type": t, "status": "False" if t != "PodScheduled" else "True", "reason": "PodCompleted"}
    for t in ("Ready", "ContainersReady", "PodScheduled")]}}


class Plain:
    """Unchanged Jobs, kube-scheduler."""

    namespace = "default"
    job_api = "/apis/batch/v1/namespaces/default/jobs"

    def __init__(self, run):
        self.run = run
        self.api = run.api
        self.by_name = {g.name: g for g in run.board.gangs}

    def prepare(self):
        self.api.watch("job", self.job_api, self.run.put)

    def manifest(self, gang):
        pods = self.run.options.pods
        size = {"cpu": str(POD_CPU), "memory": "%dGi" % POD_GIB}
        return {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": gang.name},
            "spec": {
                "completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimit": 0,
                "activeDeadlineSeconds": max(1, round(self.run.deadline)),
                "template": {"spec": {
                    "restartPolicy": "Never", "nodeSelector": {"type": "kwok"},
                    "automountServiceAccountToken": False, "enableServiceLinks": False,
                    "tolerations": [{"key": TAINT, "operator": "Exists", "effect": "NoSchedule"}],
                    "containers": [{"name": "main", "image": "busybox:1", "command": ["true"],
                                    "resources": {"requests": size, "limits": size}}]}}}}

    def submit(self, gang):
        self.api.call("POST", self.job_api, self.manifest(gang))

    def gang_of(self, pod):
        return self.by_name.get(pod["metadata"].get("labels", {}).get("batch.kubernetes.io/job-name"))

    def pod_changed(self, pod, gang):
        """Hook for a way that needs more data of its pods."""

    def pods_ready(self, gang):
        pass

    def pods_gone(self, gang):
        pass

    def work_over(self, gang):
        for name in list(gang.pods):
            self.run.workers.put(self.pod_over, name)

    def pod_over(self, name):
        try:
            self.api.merge("/api/v1/namespaces/%s/pods/%s/status" % (self.namespace, name), SUCCEEDED)
        except Refused as e:
            if e.status != 404:  # it was deleted meanwhile
                raise

    def job_changed(self, job):
        gang = self.by_name.get(job["metadata"]["name"])
        for condition in job.get("status", {}).get("conditions", []) if gang else []:
            if condition["status"] != "True":
                continue
            if condition["type"] == "Complete":
                self.run.board.end(gang, "completed")
            elif condition["type"] == "Failed":
                self.run.board.end(gang, "failed", condition.get("reason", ""))

    def stages(self):
        return {}

    def outputs(self):
        """The number of jobs with output, if the scheduler handles output."""
        return None

    def cancel(self):
        """Ends the remaining gangs: the cluster ends with them."""

    def clean(self):
        return []


class InTree(Plain):
    """The gang scheduling of Kubernetes itself: the Job requests it, and the Job controller makes the group."""

    def manifest(self, gang):
        job = super().manifest(gang)
        job["spec"]["scheduling"] = {"schedulingPolicy": {"gang": {"minCount": self.run.options.pods}}}
        return job


class Kueue(Plain):
    """Kueue with one queue, main, with the nodes' capacity as quota (t/kube/kueue), and waitForPodsReady."""

    def manifest(self, gang):
        job = super().manifest(gang)
        job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "main"}
        job["spec"]["suspend"] = True
        return job


class Fluxq(Plain):
    """fluxqd. The agents of its pods are simulated (agents.py), as simulated pods have none."""

    namespace = "fluxq"
    selector = "labelSelector=app.kubernetes.io%2Fmanaged-by%3Dfluxq"

    def prepare(self):
        self.by_id, self.jobs, self.seen = {}, {}, {}
        self.client = Client()
        self.agents = Agents(self.api, self.namespace, lambda job: self.run.put(("released", "", job)))
        self.spec = self.jobspec()
        self.watch = Watch(self.client.path)
        threading.Thread(target=self.follow, daemon=True).start()
        until("fluxqd to know the nodes",
              lambda: len(self.client.get("/v1/nodes")["nodes"]) >= self.run.options.nodes)

    def jobspec(self):
        """As a user submits it: N nodes, with a task of two cores on each; nodes may be shared."""
        pods, limit = str(self.run.options.pods), max(1, round(self.run.deadline))
        text = subprocess.run(
            ["fluxq-submit", "--dry-run", "-N", pods, "-n", pods, "-c", str(POD_CPU), "--mem", "%dG" % POD_GIB,
             "-t", "%d:%02d" % divmod(limit, 60), "-o", os.path.abspath("out-%j"), "--", "true"],
            check=True, stdout=subprocess.PIPE, timeout=60).stdout
        return json.loads(text)

    def follow(self):
        while True:
            line = self.watch.lines.get()
            if line is not None:
                self.run.put(("broker", line["event"], line))
            elif self.run.options.struck:
                self.watch = until("fluxqd to be there again", self.watch_again, BACK_LIMIT)
                self.ask_results()
            else:
                self.run.put(("broker", "ERROR", "fluxqd has ended"))
                return

    def watch_again(self):
        try:
            return Watch(self.client.path)
        except (OSError, http.client.HTTPException, AssertionError):
            return None

    def ask_results(self):
        """Asks for gangs whose end was not reported because fluxqd was away."""
        for job, gang in list(self.by_id.items()):
            if gang.ended is None:
                self.run.workers.put(self.ask_if_ended, gang, job)

    def submit(self, gang):
        self.spec["attributes"]["system"].setdefault("job", {})["name"] = gang.name
        self.by_id[self.client.submit(self.spec)] = gang

    def gang_of(self, pod):
        return self.by_id.get(int(pod["metadata"].get("labels", {}).get("fluxq.io/job-id", 0)))

    def pod_changed(self, pod, gang):
        labels, ip = pod["metadata"]["labels"], pod.get("status", {}).get("podIP")
        job = self.jobs[gang] = labels["batch.kubernetes.io/job-name"]
        if ip and labels.get("batch.kubernetes.io/job-completion-index") == "0":
            self.agents.pod(ip, job)

    def pods_ready(self, gang):
        self.agents.ready(self.jobs[gang])

    def work_over(self, gang):
        self.agents.finish(self.jobs[gang])

    def released(self, job):
        """The agents exit, and with them the containers."""
        for gang, its in self.jobs.items():
            if its == job:
                super().work_over(gang)

    def pods_gone(self, gang):
        job = self.jobs.pop(gang, None)
        if job:
            self.agents.forget(job)

    def broker_event(self, name, line):
        gang = self.by_id.get(line["id"])
        self.seen[line["id"], name] = time.monotonic()  # maybe before submit() has recorded the job's gang
        if name in ("finish", "clean") and gang and gang.ended is None:
            # Where daemons are killed, the job may be requeued.
            ask = self.ask_if_ended if self.run.options.struck else self.ask_result
            self.run.workers.put(ask, gang, line["id"])

    def ask(self, question):
        """The broker's answer, also if fluxqd may be and is away for a moment."""
        end = time.monotonic() + (BACK_LIMIT if self.run.options.struck else 0)
        while True:
            client = Client()
            try:
                return question(client)
            except (OSError, http.client.HTTPException):
                if time.monotonic() >= end:
                    raise
                time.sleep(0.2)
            finally:
                client.close()

    def ask_if_ended(self, gang, job):
        if self.ask(lambda client: client.get("/v1/jobs/%d" % job))["state"] not in ACTIVE:
            self.ask_result(gang, job)

    def ask_result(self, gang, job):
        self.run.put(("result", "", (gang, self.ask(lambda client: client.wait(job)))))

    def cancel(self):
        self.ask(lambda client: client.call("POST", "/v1/cancel", {"state": "active"}))

    def stages(self):
        """Medians of the times that the broker adds, in seconds."""
        if self.run.options.struck:
            return {}  # events from while fluxqd was away are missing
        done = [(g, {name: self.seen.get((job, name)) for name in ("alloc", "finish", "free")})
                for job, g in self.by_id.items() if g.result == "completed"]

        def between(first, then):
            """Over all jobs with both times: for the last jobs "free" may be missing."""
            both = [(first(g, seen), then(g, seen)) for g, seen in done]
            return median([b - a for a, b in both if a and b])

        return {
            "allocated -> first pod made": between(lambda g, seen: seen["alloc"], lambda g, seen: g.made),
            "work over -> job finished": between(lambda g, seen: g.finishing, lambda g, seen: seen["finish"]),
            "job finished -> nodes free": between(lambda g, seen: seen["finish"], lambda g, seen: seen["free"]),
        }

    def outputs(self):
        """The number of jobs whose output files have the output of their (simulated) agents."""
        found = 0
        for job in self.by_id:
            path = "out-%d" % job
            if os.path.exists(path):
                with open(path, encoding="ascii") as f:
                    found += f.read().endswith(" runs\n")
        return found

    def clean(self):
        end = time.monotonic() + CLEAN_LIMIT
        while self.objects("&limit=1") and time.monotonic() < end:
            time.sleep(0.5)
        return self.objects("")

    def objects(self, query):
        """All objects with fluxq's label except the agent's, which all jobs share and which goes later."""
        found = []
        for path in ("apis/batch/v1/jobs", "api/v1/pods", "api/v1/secrets", "api/v1/services",
                     "apis/discovery.k8s.io/v1/endpointslices", "api/v1/configmaps"):
            group, kind = path.rsplit("/", 1)
            more = "" if kind == "configmaps" else query
            listed = self.api.get("/%s/namespaces/%s/%s?%s%s" % (group, self.namespace, kind, self.selector, more))
            found += [kind + "/" + o["metadata"]["name"] for o in listed["items"]
                      if not o["metadata"]["name"].startswith("fluxq-agent-")]
            if found and query:
                break
        return found


WAYS = {"fluxq": Fluxq, "bind": Fluxq, "plain": Plain, "kueue": Kueue, "intree": InTree}
