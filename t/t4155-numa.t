#!/bin/sh
# t4155-numa.t: NUMA zones of nodes on a real API server. Needs root; about two minutes.

test_description='NUMA zones of nodes, and agents that report them late

The burst is three pods of 6 CPUs on two nodes of two zones with 8 CPUs each, from the document on the
over-reserving cache of kubernetes-sigs/scheduler-plugins. For its sentences to hold ("a naive scheduler gets
rejected", "the third stays pending", "none is rejected"), another pod has 4 CPUs of one zone of each node: in
total a node has room for two pods of 6, but only one of its zones has 6. In a second burst both zones are free;
there the third pod stays pending only until the agents have reported the zones of the first two, as that
document describes.

The API server and the custom resource are real; a stand-in (t/helper/standin_nodes.py) acts as kubelets and
agents, and fails a pod that fits in no zone, as a kubelet does.

A pod that its node rejects, a pod that waits although its node has reported room, or a stand-in that rejects
nothing would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"

CLUSTER_ID=numa
# Nothing renews the status of these nodes.
own_cluster --nodes 0 --controller-arg --node-monitor-grace-period=3600s

# add_node NAME: makes a node of 16 CPUs; the stand-in decides on its pods.
add_node()
{
    printf 'apiVersion: v1\nkind: Node\nmetadata: {name: %s}\n' "$1" | k apply -f - >/dev/null &&
        k patch node "$1" --subresource=status --type=merge -p '{"status": {
            "capacity": {"cpu": "16", "memory": "64Gi", "pods": "110"},
            "allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "test",
                            "lastHeartbeatTime": null, "lastTransitionTime": null}]}}' >/dev/null
}

# foreign NODE: makes a foreign pod of class Guaranteed with 4 CPUs on the node.
foreign()
{
    cat <<-END | k create -f - >/dev/null
	apiVersion: v1
	kind: Pod
	metadata: {name: foreign-$1}
	spec:
	  nodeName: $1
	  tolerations: [{operator: Exists}]
	  containers:
	  - {name: c, image: "nowhere:1", resources: {limits: {cpu: "4", memory: 1Gi}}}
	END
}

# report: the agents of all nodes report their zones now.
report()
{
    touch report && wait_until 120 test ! -e report
}

# told NODE LEFT...: the last report of the stand-in for the node.
told()
{
    node=$1 && shift
    left=$(echo "$*" | sed 's/ /, /g')
    grep "^reported $node" standin.log | tail -n 1 | grep -F "[$left]" >/dev/null
}

submit()
{
    fluxq-submit -N1 -n1 -c6 --mem=1G -o /dev/null -- true
}

# three: submits three jobs at once; their ids are in the files j1 to j3.
three()
{
    submit >j1 && submit >j2 && submit >j3
}

# admitted N: N pods of jobs were admitted by a node.
admitted()
{
    [ "$(grep -c "^admitted .* fluxq-$CLUSTER_ID-" standin.log)" = "$1" ]
}

none_rejected()
{
    ! grep '^rejected' standin.log && ! k get pods -o json | jq -e '.items[] | select(.status.phase == "Failed")'
}

waits()
{
    [ "$(job_state "$(cat "$1")")" = PENDING ] && fluxq-show job "$(cat "$1")" | grep -i "reason" >reason && cat reason
}

# broker_with NUMA: restarts the broker with kube.numa: NUMA.
broker_with()
{
    write_config "$configs/fluxq.kubeconfig" "start-timeout: 900s" "start-backoff: 1s" "  numa: $1" "  pods: broker" &&
        start_broker --kube --config kube.yaml &&
        wait_until 60 sh -c "fluxq-info --json | jq -e \".nodes | length == 2\""
}

all_gone()
{
    fluxq-cancel --state PENDING,RUNNING && wait_until 120 no_jobs_of_ours && wait_until 60 no_pods "fluxq-$CLUSTER_ID"
}

# no_pods TEXT: no pod has TEXT in its name.
no_pods()
{
    k get pods -o name >names && ! grep -e "$1" names
}

test_expect_success 'two nodes have two zones with 8 CPUs each, and foreign pods use 4 of one zone on each' '
    add_node n1 && add_node n2 &&
    { python3 "$FLUXQ_SOURCE_DIR/t/helper/standin_nodes.py" "$KUBE/enter" 2 8 n1 n2 >>standin.log & } && standin=$! &&
    foreign n1 && foreign n2 && wait_until 60 grep "^admitted n1 foreign-n1 4 0" standin.log &&
    wait_until 60 grep "^admitted n2 foreign-n2 4 0" standin.log
'

test_expect_success 'without the custom resource the broker reports this, and uses nodes without zones' '
    broker_with true && wait_until 30 grep "kube.numa: the cluster has no noderesourcetopologies" "$BROKER_LOG" &&
    fluxq-info --json | jq -e ".nodes[] | select(.name == \"n1\") | .cores == 16" && stop_broker &&
    broker_with auto && stop_broker && [ "$(grep -c noderesourcetopologies "$BROKER_LOG")" = 1 ]
'

test_expect_success 'the custom resource exists, and the agents report' '
    k apply -f "$KUBE/noderesourcetopologies.yaml" &&
    k wait --for=condition=Established --timeout=60s crd/noderesourcetopologies.topology.node.k8s.io &&
    report && told n1 4 8 && told n2 4 8
'

# plain NAME CPUS: makes a pod of class Guaranteed for the scheduler of Kubernetes.
plain()
{
    cat <<-END | k create -f - >/dev/null
	apiVersion: v1
	kind: Pod
	metadata: {name: $1}
	spec:
	  containers:
	  - {name: c, image: "nowhere:1", resources: {limits: {cpu: "$2", memory: 1Gi}}}
	END
}

test_expect_success 'with the scheduler of Kubernetes one pod of the burst is rejected' '
    plain p1 6 && plain p2 6 && plain p3 6 && wait_until 120 grep "^rejected n[12] p[123] 6" standin.log && cat standin.log &&
    [ "$(k get pods -o json | jq -r ".items[] | select(.status.phase == \"Failed\") | .status.reason")" = TopologyAffinityError ] &&
    k delete pod p1 p2 p3 --wait=false && wait_until 60 no_pods pod/p && >standin.log
'

test_expect_success 'with zones the third job stays pending, and no pod is rejected' '
    report && told n1 4 8 && told n2 4 8 && broker_with true &&
    fluxq-info --json | jq -e ".nodes[] | select(.name == \"n1\") | .cores == 16" && three &&
    wait_until 120 admitted 2 && waits j3 && grep "^admitted n1 .* 6 1" standin.log &&
    grep "^admitted n2 .* 6 1" standin.log && report && told n1 4 2 && told n2 4 2 &&
    fluxq-submit -N1 -n1 -c4 --mem=1G -o /dev/null -- true >small && wait_until 120 admitted 3 &&
    grep "^admitted .* 4 0" standin.log && waits j3 && none_rejected
'

test_expect_success 'when a job has ended and the agent has reported, the third job runs' '
    fluxq-cancel "$(cat small)" "$(cat j1)" && wait_until 120 no_pods "$CLUSTER_ID-$(cat j1)-" &&
    report && wait_until 120 admitted 4 && none_rejected && all_gone && stop_broker
'

test_expect_success 'if an agent reports wrongly a rejected job is tried again on the other node' '
    >standin.log && report && told n1 4 8 && broker_with true && submit >j1 && wait_until 60 grep "^admitted n1 .* 6 1" standin.log &&
    report && told n1 4 2 &&
    k patch noderesourcetopologies n1 --type=json \
        -p "[{\"op\": \"replace\", \"path\": \"/zones/0/resources/0/available\", \"value\": \"8\"}]" &&
    submit >j2 && wait_until 60 grep "^rejected n1 fluxq-$CLUSTER_ID-$(cat j2)-" standin.log &&
    wait_until 60 said "$(cat j2)" "requeue.*TopologyAffinityError" &&
    wait_until 60 grep "^admitted n2 fluxq-$CLUSTER_ID-$(cat j2)-.* 6 1" standin.log &&
    all_gone && stop_broker
'

test_expect_success 'after a burst on free zones the third job waits until the agents have reported the zones of the others' '
    k delete pod foreign-n1 foreign-n2 --wait=false && wait_until 60 no_pods foreign &&
    >standin.log && report && told n1 8 8 && told n2 8 8 && broker_with true && three && wait_until 120 admitted 2 &&
    waits j3 && report && told n1 2 8 && wait_until 120 admitted 3 && grep "^admitted .* 6 1" standin.log &&
    none_rejected
'

test_expect_success 'a restarted broker finds the jobs in their zones, and a job larger than a zone never fits' '
    stop_broker && broker_with true && report && submit >j4 && wait_until 120 admitted 4 && none_rejected &&
    test_must_fail fluxq-submit -N1 -n1 -c9 --mem=1G -o /dev/null -- true 2>err && cat err &&
    test_must_fail fluxq-submit -N1 --exclusive -o /dev/null -- true 2>err && cat err
'

test_expect_success 'pods have the QoS class that kubelets align' '
    k get pods -l "fluxq.io/cluster=$CLUSTER_ID" -o jsonpath="{.items[*].status.qosClass}" >class && cat class &&
    grep Guaranteed class && ! grep Burstable class && all_gone
'

kill "$standin" 2>/dev/null
stop_broker 2>/dev/null
test_done
