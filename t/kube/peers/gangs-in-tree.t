#!/bin/sh
# gangs-in-tree.t: Kubernetes 1.37.1 as the test cluster's control plane, for comparisons.
# Needs root; about half a minute, and six if it must be built. Not among the tests of
# contrib/check, which does not build it.

test_description='the gang scheduling of Kubernetes 1.37 in the test cluster (t/kube/up --kubernetes)

A peer that starts half a job in a benchmark, since its gates are not open, would fail this.
'
FLUXQ_SOURCE_DIR=${FLUXQ_SOURCE_DIR:-$(cd "$(dirname "$0")/../../.." && pwd)}
. "$FLUXQ_SOURCE_DIR/t/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"

test_expect_success 'Kubernetes 1.37.1 builds' '
    timeout 3000 "$KUBE/build" --with kubernetes-1.37
'

# job NAME SIZE POLICY: prints an Indexed Job whose pods fill a simulated node each
job()
{
    cat <<END
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  completions: $2
  parallelism: $2
  completionMode: Indexed
  scheduling: {schedulingPolicy: {$3}}
  template:
    spec:
      restartPolicy: Never
      tolerations: [{key: kwok.x-k8s.io/node, operator: Exists}]
      nodeSelector: {type: kwok}
      containers: [{name: c, image: "nowhere:1", resources: {requests: {cpu: 8}}}]
END
}

# state JOB: prints "PLACED REFUSED", the numbers of its pods with a node and of pods that the scheduler refused
state()
{
    k get pods -l "job-name=$1" -o "jsonpath={range .items[*]}{.status.conditions[?(@.type==\"PodScheduled\")].status} {end}" |
        tr ' ' '\n' | awk '/True/ { placed++ } /False/ { refused++ } END { print placed + 0, refused + 0 }'
}

state_is()
{
    [ "$(state "$1")" = "$2" ]
}

gates=--feature-gates=GenericWorkload=true
own_cluster --kwok --nodes 2 --kubernetes 1.37.1 --apiserver-arg "$gates,WorkloadWithJob=true" \
    --apiserver-arg --runtime-config=scheduling.k8s.io/v1beta1=true \
    --controller-arg "$gates,WorkloadWithJob=true" --scheduler-arg "$gates"

test_expect_success 'the control plane is 1.37.1, the kubelet 1.35.4' '
    k get --raw /version | jq -e ".gitVersion == \"v1.37.1\"" &&
    [ "$(k get node node1 -o jsonpath={.status.nodeInfo.kubeletVersion})" = v1.35.4 ] && "$KUBE/status"
'

test_expect_success 'without a gang a part of a job starts' '
    job plain 3 "basic: {}" | k create -f - && wait_until 60 state_is plain "2 1" &&
    k delete job plain --cascade=foreground --timeout=50s
'

test_expect_success 'a gang starts completely or not at all' '
    job large 3 "gang: {minCount: 3}" | k create -f - && wait_until 60 state_is large "0 3" &&
    job small 2 "gang: {minCount: 2}" | k create -f - && wait_until 60 state_is small "2 0" &&
    state_is large "0 3"
'

test_expect_success 'a real node runs a pod in this cluster' '
    k create job real --image=busybox:1 -- true &&
    k wait --for=condition=Complete --timeout=50s job/real
'

test_done
