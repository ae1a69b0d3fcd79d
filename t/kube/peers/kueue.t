#!/bin/sh
# kueue.t: Kueue in the test cluster, for comparisons. Needs root; about half a minute, and six
# if it must be built. Not among the tests of contrib/check, which does not build it.

test_description='Kueue in the test cluster (t/kube/kueue): admits what its quota allows, and is gone with the cluster

A peer that admits everything, nothing, or waits for what is never ready would fail this.
'
FLUXQ_SOURCE_DIR=${FLUXQ_SOURCE_DIR:-$(cd "$(dirname "$0")/../../.." && pwd)}
. "$FLUXQ_SOURCE_DIR/t/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"

test_expect_success 'Kueue builds' '
    timeout 3000 "$KUBE/build" --with kueue
'

# job NAME SIZE CPUS: prints a job of simulated pods
job()
{
    cat <<END
apiVersion: batch/v1
kind: Job
metadata: {name: $1, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  suspend: true
  completions: $2
  parallelism: $2
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      tolerations: [{key: kwok.x-k8s.io/node, operator: Exists}]
      nodeSelector: {type: kwok}
      containers: [{name: c, image: "nowhere:1", resources: {requests: {cpu: $3, memory: 1Gi}}}]
END
}

is()
{
    [ "$(k get "$1" -o "jsonpath={$2}")" = "$3" ]
}

quota_used()
{
    k get clusterqueue main -o 'jsonpath={.status.flavorsReservation[0].resources[?(@.name=="cpu")].total}'
}

# waits NAME: Kueue has reported that there is no room for the job
waits()
{
    k get workloads -o json | jq -e --arg job "$1" '.items[] |
        select(.metadata.ownerReferences[0].name == $job) | .status.conditions[] |
        select(.type == "QuotaReserved" and .status == "False")' >/dev/null && is job/"$1" .spec.suspend true
}

own_cluster --kwok --nodes 2

test_expect_success 'Kueue starts, and status shows Kueue' '
    timeout 300 "$KUBE/kueue" --quota cpu=12,memory=40Gi --wait-for-pods-ready 15s &&
    "$KUBE/status" >status && grep -E "^kueue +runs" status &&
    test_expect_code 1 "$KUBE/kueue" 2>error && grep "started already" error &&
    [ -z "$(k get jobs -A -o name)" ]
'

test_expect_success 'a job within the quota runs, and the next one waits until the first is over' '
    job first 2 5 | k create -f - && wait_until 60 is job/first .status.ready 2 && [ "$(quota_used)" = 10 ] &&
    job second 2 5 | k create -f - && wait_until 60 waits second &&
    k delete job first --cascade=foreground --timeout=50s && wait_until 60 is job/second .status.ready 2 &&
    k delete job second --cascade=foreground --timeout=50s
'

evicted()
{
    k get workloads -o json | jq -e ".items[] | .status.conditions[] |
        select(.type == \"Evicted\" and .reason == \"PodsReadyTimeout\")" >/dev/null
}

test_expect_success 'a job whose pods are not ready in time is requeued' '
    job wide 1 11 | k create -f - && wait_until 60 evicted && wait_until 60 is job/wide .spec.suspend true
'

test_expect_success 'Kueue ignores a Job without a queue' '
    k create job real --image=busybox:1 -- true && k wait --for=condition=Complete --timeout=50s job/real
'

test_expect_success 'down also ends Kueue' '
    pid=$(cat "$FLUXQ_KUBE_RUN/pid/kueue") && "$KUBE/down" && ! [ -e "$FLUXQ_KUBE_RUN" ] &&
    ! grep -qs kueue "/proc/$pid/cmdline"
'

test_done
