# shellcheck shell=bash
# kube.sh: `true` on the cluster of t/kube, by fluxq and as a bare Job
#
#     kube_is_up             true if the cluster of t/kube/up runs
#     kube_up                starts a broker on it; fluxq_down ends the broker
#     kube_fluxq COUNT       prints the output of spawn
#     kube_bare COUNT        the same for `kubectl create job` and `kubectl wait`

KUBE=$TOP/t/kube

kube_is_up() {
    "$KUBE/status" >/dev/null 2>&1
}

kube_up() {
    cat >"$WORK/kube.yaml" <<END
cluster-id: bench
kube:
  kubeconfig: $(dirname "$("$KUBE/enter" printenv KUBECONFIG)")/fluxq.kubeconfig
  namespace: fluxq
  image: busybox:1
  allow-root: true
END
    fluxq_up kube "$KUBE/enter" fluxqd --kube --config "$WORK/kube.yaml"
}

kube_fluxq() {
    "$SPAWN" -n "$1" -w 1 -e fluxq-submit --wait -o /dev/null -- true
}

kube_bare() {
    "$KUBE/enter" "$SPAWN" -n "$1" -w 1 -e "$BENCH/lib/kube-job"
    "$KUBE/enter" kubectl get jobs -o name | grep ^job.batch/fluxq-bench- |
        xargs "$KUBE/enter" kubectl delete --wait=false >/dev/null
}
