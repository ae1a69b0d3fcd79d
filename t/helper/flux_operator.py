#!/usr/bin/env python3
"""Stands in for the Flux operator, because its images cannot be pulled where the tests run; see t4800-minicluster.t.

usage: flux_operator.py        (runs inside the cluster's network, see t/kube/enter; until SIGTERM)

For each MiniCluster it makes the same objects as flux-framework/flux-operator (commit 0d75cef8): the ConfigMap
NAME-entrypoint, the headless Service NAME, the Indexed Job NAME, and the status; they belong to the MiniCluster,
and only Job and pods have the labels that it names. It copies the oddities of the real operator:

- the main container's script ends with a `touch`, so it succeeds whatever the result of Flux, unless
  logging.strict is set
- the quorum is minSize if that is set, but a submitted command has -N size
- workers try again 15 s after Flux could not reach rank 0
- all pods of the namespace without the label job-index get it, also foreign ones
- pod.resources becomes the pods' overhead; of pod.securityContext only fsGroup is kept
- backoffLimit 0 becomes 100; an emptyDir is at /dev/shm; volumes have no modes; a ConfigMap's volume has the
  ConfigMap's name, and its mount has the name of the key
- commands.script passes through an unquoted here-document
- objects that somebody deletes are made again while the MiniCluster exists

The scripts belong to this stand-in; their calls of Flux, with the arguments, are the contract.
"""
import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

PORT = 18002
GROUP = "/apis/flux-framework.org/v1alpha2"
ROUND = 0.2  # seconds

VIEW = "/mnt/flux"


class Cluster:
    """The API, through kubectl proxy."""

    def __init__(self):
        self.proxy = subprocess.Popen(["kubectl", "proxy", "--port=%d" % PORT], stdout=subprocess.PIPE)
        self.proxy.stdout.readline()

    def close(self):
        self.proxy.terminate()
        self.proxy.wait()

    def call(self, method, path, body=None, kind="application/json"):
        """The answer, or the status of an HTTP error."""
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (PORT, path), method=method,
                                         data=json.dumps(body).encode() if body is not None else None,
                                         headers={"Content-Type": kind})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            if e.code not in (404, 409):
                print(method, path, e.code, e.read().decode()[:500], file=sys.stderr, flush=True)
            return e.code
        except OSError:  # the API server is away
            return 0


# ---- the scripts ----

BROKER_TOML = """[resource]
path = "{view}/config/etc/flux/system/R"
[bootstrap]
curve_cert = "{view}/config/curve/curve.cert"
default_port = 8050
default_bind = "tcp://eth0:%p"
default_connect = "tcp://%h.{service}.{namespace}.svc.cluster.local:%p"
hosts = [ {{ host="{hosts}" }} ]
"""

INIT = """#!/bin/sh
config={view}/config
mkdir -p $config/etc/flux/system/cron.d $config/etc/flux/config $config/run/flux $config/var/lib/flux {view}/view
echo '{hosts}' >$config/etc/flux/system/hostlist
cat >$config/etc/flux/config/broker.toml <<'EOT'
{toml}EOT
mkdir -p {view}/software
cp -R /opt/view/* {view}/view
touch {view}/flux-operator-done.txt
"""

WAIT = """#!/bin/sh
{strict}
{init}
view={view}
{path}
[ -e /opt/software ] && cp -R $view/software/. /opt/software/ || true
if [[ "$HOME" == "/" ]]; then export HOME=/home/flux-operator; fi
command="{command}"
{script}
cfg=$view/config/etc/flux/config
mkdir -p $view/config/curve && cp /flux_operator/curve.cert $view/config/curve/curve.cert
flux R encode --hosts=$(cat $view/config/etc/flux/system/hostlist) --local >/tmp/R
mv /tmp/R $view/config/etc/flux/system/R
options="-Scron.directory=$view/config/etc/flux/system/cron.d -Stbon.fanout=256 -Srundir=$view/config/run/flux \\
  -Sstatedir=$view/config/var/lib/flux -Slocal-uri=local://$view/config/run/flux/local \\
  -Stbon.connect_timeout={connect} {quorum} -Slog-stderr-level=6 -Slog-stderr-mode=local"
{pre}
if [ $(hostname) == "{name}-0" ]; then
{broker_pre}
  if [ "$command" == "" ]; then
    flux broker --config-path $cfg $options
  else
    flux start -o --config $cfg $options {prefix} {submit} $command
  fi
else
{worker_pre}
  while true; do
    flux start -o --config $cfg $options
    status=$?
    if [[ $status -eq 0 ]] || [[ "{complete}" == "true" ]]; then break; fi
    echo "worker: status $status, again in 15 s"
    sleep 15
  done
fi
{post}
touch $view/flux-operator-complete.txt
"""


def value(o, *path, default=""):
    for key in path:
        o = o.get(key) if isinstance(o, dict) else None
    return default if o is None else o


class MiniCluster:
    def __init__(self, o):
        self.o, self.spec = o, o["spec"]
        self.name, self.namespace = o["metadata"]["name"], o["metadata"]["namespace"]
        self.size = self.spec.get("size", 1)
        self.max = self.spec.get("maxSize") or self.size
        self.min = self.spec.get("minSize", 0)
        self.service = value(self.spec, "network", "headlessName") or self.name
        self.entrypoint = self.name + "-entrypoint"
        self.containers = self.spec["containers"]
        if len(self.containers) == 1:
            self.containers[0]["runFlux"] = True
        self.view = value(self.spec, "flux", "container", "name") or "flux-view"

    def valid(self):
        return self.size > 0 and self.max >= self.size >= self.min

    def hosts(self):
        return "%s-[%s]" % (self.name, "0" if self.max == 1 else "0-%d" % (self.max - 1))

    def quorum(self):
        if self.min:
            return self.min
        return None if self.max == self.size else self.size

    def owned(self, api, kind, name, rest):
        m = self.o["metadata"]
        meta = {"name": name, "namespace": self.namespace, "ownerReferences": [
            {"apiVersion": "flux-framework.org/v1alpha2", "kind": "MiniCluster", "name": m["name"], "uid": m["uid"],
             "controller": True, "blockOwnerDeletion": True}]}
        return {"apiVersion": api, "kind": kind, "metadata": meta, **rest}

    def submit(self, c):
        if c.get("launcher"):
            return ""
        tasks = self.spec.get("tasks", 1)
        nodes = "-N %d " % self.size if tasks >= self.size or tasks == 0 else ""
        return "%s %s %s --quiet --watch" % (value(self.spec, "flux", "submitCommand") or "flux submit", nodes,
                                             "-n%d" % tasks if tasks else "")

    def wait_script(self, c):
        commands = c.get("commands", {})
        script = ""
        if commands.get("script"):
            script = "cat <<EOF >/tmp/custom-entrypoint.sh\n%s\nEOF\nchmod +x /tmp/custom-entrypoint.sh\n" \
                     "command=/tmp/custom-entrypoint.sh" % commands["script"]
        return WAIT.format(
            view=VIEW, name=self.name, command=c.get("command", ""), script=script, submit=self.submit(c),
            strict="set -eEu -o pipefail" if value(self.spec, "logging", "strict") else "",
            path="" if value(self.spec, "flux", "container", "disable") else "export PATH=$PATH:$view/view/bin",
            connect=value(self.spec, "flux", "connectTimeout", default="5s"),
            quorum="-Sbroker.quorum=%d" % self.quorum() if self.quorum() else "",
            complete=str(value(self.spec, "flux", "completeWorkers", default=False)).lower(),
            init=commands.get("init", ""), pre=commands.get("pre", ""), post=commands.get("post", ""),
            prefix=commands.get("prefix", ""), broker_pre=commands.get("brokerPre", ""),
            worker_pre=commands.get("workerPre", ""))

    def config_map(self):
        toml = BROKER_TOML.format(view=VIEW, service=self.service, namespace=self.namespace, hosts=self.hosts())
        data = {self.view: INIT.format(view=VIEW, hosts=self.hosts(), toml=toml), "curve.cert": "stand-in"}
        for i, c in enumerate(self.containers):
            if c.get("runFlux"):
                data["wait-%d" % i] = self.wait_script(c)
        return self.owned("v1", "ConfigMap", self.entrypoint, {"data": data})

    def headless(self):
        return self.owned("v1", "Service", self.service, {"spec": {"clusterIP": "None", "selector": {"job-name": self.name}}})

    def volume(self, key, v):
        """(the pod's volume, the container's mount)"""
        mount = {"name": key, "mountPath": v.get("path", ""), "readOnly": v.get("readOnly", False)}
        if v.get("secretName"):
            return {"name": key, "secret": {"secretName": v["secretName"]}}, mount
        if v.get("emptyDir"):
            medium = "Memory" if v.get("emptyDirMedium") == "memory" else ""
            empty = {"medium": medium, **({"sizeLimit": v["emptyDirSizeLimit"]} if v.get("emptyDirSizeLimit") else {})}
            return {"name": key, "emptyDir": empty}, {"name": key, "mountPath": "/dev/shm"}
        if v.get("hostPath"):
            return {"name": key, "hostPath": {"path": v["hostPath"], "type": "Directory"}}, mount
        if v.get("configMapName"):
            items = [{"key": k, "path": p} for k, p in v.get("items", {}).items()]
            return {"name": v["configMapName"], "configMap": {"name": v["configMapName"], "items": items}}, mount
        return {"name": key, "persistentVolumeClaim": {"claimName": v.get("claimName", "")}}, mount

    def pod_spec(self):
        pod, flux = self.spec.get("pod", {}), value(self.spec, "flux", "container", default={})
        modes = [{"key": "wait-%d" % i, "path": "wait-%d.sh" % i, "mode": 0o777}
                 for i, c in enumerate(self.containers) if c.get("runFlux")]
        modes += [{"key": self.view, "path": "flux-init.sh", "mode": 0o777}, {"key": "curve.cert", "path": "curve.cert"}]
        volumes = [{"name": n, "emptyDir": {}} for n in ("spack-software", "flux-operator-home", self.view)]
        volumes.append({"name": self.entrypoint, "configMap": {"name": self.entrypoint, "items": modes}})
        mounts = [{"name": "flux-operator-home", "mountPath": "/home/flux-operator"},
                  {"name": self.view, "mountPath": VIEW},
                  {"name": self.entrypoint, "mountPath": "/flux_operator/", "readOnly": True}]
        init = {"name": self.view, "image": flux.get("image"), "command": ["/bin/bash", "/flux_operator/flux-init.sh"],
                "imagePullPolicy": "Always" if flux.get("pullAlways") else "IfNotPresent", "volumeMounts": list(mounts),
                "stdin": True, "tty": True, "resources": flux.get("resources", {}),
                "securityContext": flux.get("securityContext", {})}
        mounts.append({"name": "spack-software", "mountPath": "/opt/software"})
        containers = []
        for i, c in enumerate(self.containers):
            for key, v in c.get("volumes", {}).items():
                volume, mount = self.volume(key, v)
                volumes.append(volume)
                mounts.append(mount)
            containers.append({
                "name": self.name if c.get("runFlux") else c["name"], "image": c.get("image"),
                "imagePullPolicy": c.get("imagePullPolicy") or ("Always" if c.get("pullAlways") else "IfNotPresent"),
                "workingDir": c.get("workingDir", ""), "volumeMounts": mounts, "stdin": True, "tty": True,
                "resources": c.get("resources", {}), "securityContext": c.get("securityContext", {}),
                "command": ["/bin/bash", "/flux_operator/wait-%d.sh" % i],
                "ports": [{"containerPort": p, "protocol": "TCP"} for p in c.get("ports", [])],
                "env": [{"name": k, "value": v} for k, v in c.get("environment", {}).items()]})
        secrets = [{"name": c["imagePullSecret"]} for c in self.containers if c.get("imagePullSecret")]
        spec = {"subdomain": self.service, "volumes": volumes, "initContainers": [init], "containers": containers,
                "imagePullSecrets": secrets, "restartPolicy": pod.get("restartPolicy") or "OnFailure",
                "automountServiceAccountToken": pod.get("automountServiceAccountToken", False),
                "tolerations": pod.get("tolerations", []), "nodeSelector": pod.get("nodeSelector", {})}
        for key in ("schedulerName", "serviceAccountName", "runtimeClassName"):
            if pod.get(key):
                spec[key] = pod[key]
        if pod.get("securityContext"):
            spec["securityContext"] = {"fsGroup": pod["securityContext"].get("fsGroup")}
        if pod.get("resources"):
            spec["overhead"] = pod["resources"]
        return spec

    def job(self):
        pod = self.spec.get("pod", {})
        labels = {**pod.get("labels", {}), "namespace": self.namespace, "app": "flux-operator",
                  "app.kubernetes.io/name": self.name, "hpa-selector": self.name}
        job = self.owned("batch/v1", "Job", self.name, {"spec": {
            "backoffLimit": self.spec.get("backoffLimit") or 100, "completions": self.size, "parallelism": self.size,
            "completionMode": "Indexed", "activeDeadlineSeconds": self.spec.get("deadlineSeconds", 31500000),
            "template": {"metadata": {"labels": labels, "annotations": pod.get("annotations", {})},
                         "spec": self.pod_spec()}}})
        job["metadata"]["labels"] = self.spec.get("jobLabels", {})
        return job

    def status(self):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ready = "JobMiniClusterReady"
        return {"size": self.size, "maximumSize": self.max, "jobid": "", "selector": "hpa-selector=" + self.name,
                "conditions": [{"type": ready, "reason": ready, "message": ready, "status": "True",
                                "lastTransitionTime": now}]}


def make(cluster, m, path, o):
    if cluster.call("GET", "%s/%s" % (path, o["metadata"]["name"])) == 404:
        cluster.call("POST", path, o)


def label_pods(cluster, m):
    """All pods without one, in the namespace."""
    path = "/api/v1/namespaces/%s/pods" % m.namespace
    there = cluster.call("GET", path + "?labelSelector=!job-index")
    for pod in there["items"] if isinstance(there, dict) else []:
        name = pod["metadata"]["name"]
        index = name.replace(m.name + "-", "", 1).split("-")[0]
        cluster.call("PATCH", "%s/%s" % (path, name), [{"op": "add", "path": "/metadata/labels/job-index", "value": index}],
                     "application/json-patch+json")


def reconcile(cluster, o):
    m = MiniCluster(o)
    if not m.valid() or o["metadata"].get("deletionTimestamp"):
        return
    core = "/api/v1/namespaces/%s/" % m.namespace
    make(cluster, m, core + "configmaps", m.config_map())
    make(cluster, m, core + "services", m.headless())
    make(cluster, m, "/apis/batch/v1/namespaces/%s/jobs" % m.namespace, m.job())
    label_pods(cluster, m)
    if not value(o, "status", "conditions"):
        cluster.call("PATCH", "%s/namespaces/%s/miniclusters/%s/status" % (GROUP, m.namespace, m.name),
                     {"status": m.status()}, "application/merge-patch+json")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    cluster = Cluster()
    try:
        while True:
            there = cluster.call("GET", GROUP + "/miniclusters")
            for o in there["items"] if isinstance(there, dict) else []:
                reconcile(cluster, o)
            time.sleep(ROUND)
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
