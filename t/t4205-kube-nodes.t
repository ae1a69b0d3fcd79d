#!/bin/sh
# t4205-kube-nodes.t: nodes of a real cluster that leave, or will leave. Needs root;
# about 2 minutes.

test_description='nodes that are drained, tainted, not ready or deleted, and pods that are evicted

A job that counts as failed because its node left, that runs forever on an unreachable node, that still runs
there when it is tried again, or that ends because its node is cordoned would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4205
SPOT=aws-node-termination-handler/spot-itn

node_is()
{
    fluxq-info --json | jq -r --arg n "$1" '.nodes[] | select(.name == $n) | .state + " " + (.reason // "")' >node-state &&
        grep -q "^$2" node-state
}

all_up()
{
    for i in 1 2 3; do node_is node$i up || return 1; done
}

# node_of ID RANK: the node of a rank, for a job of one or two nodes in any order: "node2", "node[1-2]",
# "node[2,1]".
node_of()
{
    job_field "$1" nodelist | tr -dc '0-9,-' | tr - , | cut -d , -f $(($2 + 1)) | sed 's/^/node/'
}

runs() # ID
{
    wait_job_state "$1" RUNNING 90
}

ends_lost() # ID TEXT: the job ends as NODE_FAIL with this reason
{
    wait_job_state "$1" NODE_FAIL 90 && job_field "$1" result_text >text && grep "$2" text
}

drain()
{
    k drain "$1" --ignore-daemonsets --delete-emptydir-data --force --timeout=50s
}

kubelet() # I SIGNAL
{
    "$KUBE/node" exec "$1" sh -c "kill -$2 \$(pidof kubelet)"
}

no_task() # PATTERN: no process on any node matches
{
    [ -z "$(on_our_nodes "$1")" ]
}

own_cluster --nodes 3

test_expect_success 'the broker knows its nodes' '
    write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" "start-backoff-max: 2s" &&
    start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 all_up
'

# ---- announced losses ----

test_expect_success 'a cordoned node keeps its job and gets no other' '
    id=$(fluxq-submit -o cordon.out -- sleep 6) && runs $id && n=$(node_of $id 0) && k cordon $n &&
    wait_until 20 node_is $n "drained cordoned" &&
    other=$(fluxq-submit -o other.out -- true) && wait_job_state $other COMPLETED 60 &&
    [ "$(node_of $other 0)" != $n ] && wait_job_state $id COMPLETED 60 && k uncordon $n &&
    wait_until 20 all_up
'

test_expect_success 'a node with a termination notice is drained with the reason, and its job sees the reason and goes on' '
    id=$(fluxq-submit -o spot.out -- sleep 6) && runs $id && n=$(node_of $id 0) && k taint node $n $SPOT=x:NoSchedule &&
    wait_until 20 node_is $n "drained it is about to go: taint $SPOT" &&
    wait_until 10 eval "job_field $id reason_text | grep \"node $n: it is about to go: taint $SPOT\"" &&
    wait_job_state $id COMPLETED 60 && k taint node $n $SPOT- && wait_until 20 all_up
'

# ---- evictions ----

test_expect_success 'after kubectl drain of the node of rank 1 the job is lost, not failed by its program' '
    lost=$(fluxq-submit --no-requeue -N 2 -n 2 -o drain.out -- sleep 300) && runs $lost && n=$(node_of $lost 1) &&
    again=$(fluxq-submit --requeue -N 2 -n 2 -o again.out -- \
        sh -c "[ \$FLUXQ_RESTART_COUNT ] || sleep 300; echo again") && runs $again && [ "$(node_of $again 1)" = $n ] &&
    drain $n && ends_lost $lost "node $n: the pod of rank 1 was evicted: EvictionByEvictionAPI" &&
    wait_until 60 said $again "requeue.*$n: the pod of rank 1 was evicted: EvictionByEvictionAPI" &&
    wait_job_state $again COMPLETED 90 && [ "$(node_of $again 0)" != $n ] && [ "$(node_of $again 1)" != $n ] &&
    k uncordon $n && wait_until 20 all_up
'

test_expect_success 'after a NoExecute taint on the node of rank 0 the job is lost with the reason' '
    id=$(fluxq-submit --no-requeue -N 2 -n 2 -o taint.out -- sleep 300) && runs $id && n=$(node_of $id 0) &&
    k taint node $n t4205=x:NoExecute &&
    ends_lost $id "node $n: the pod of rank 0 was evicted: DeletionByTaintManager" &&
    k taint node $n t4205- && wait_until 20 all_up
'

test_expect_success 'a job whose pod is preempted by a pod of higher priority is lost with the reason' '
    id=$(fluxq-submit --no-requeue -c 4 -o preempt.out -- sleep 300) && runs $id && n=$(node_of $id 0) &&
    k create priorityclass t4205 --value=1000 && cat >first.yaml <<-END &&
	apiVersion: v1
	kind: Pod
	metadata: {name: first}
	spec:
	  priorityClassName: t4205
	  nodeSelector: {kubernetes.io/hostname: $n}
	  terminationGracePeriodSeconds: 0
	  containers: [{name: c, image: "busybox:1", command: [sleep, "600"], resources: {requests: {cpu: "3"}}}]
	END
    wait_until 30 k create -f "$HERE/first.yaml" && # the API server learns of the class from a watch
    ends_lost $id "node $n: the pod of rank 0 was evicted: PreemptionByScheduler" &&
    k delete pod first && k delete priorityclass t4205
'

# ---- lost nodes ----

# The agents still reach each other: only the cluster reports a fault.
test_expect_success 'with a frozen kubelet the job is lost after the grace, and its tasks end by themselves' '
    wait_until 60 no_jobs_of_ours &&
    id=$(fluxq-submit --no-requeue -N 2 -n 2 -o frozen.out -- sleep 97205) && runs $id && n=$(node_of $id 1) &&
    wait_until 20 eval "[ \$(on_our_nodes \"^sleep 97205\" | wc -l) = 2 ]" && kubelet ${n#node} STOP &&
    ends_lost $id "node $n: not ready for 5 s (rank 1)" && wait_until 30 no_task "^sleep 97205" &&
    wait_until 60 eval "[ \"\$(count_events $id clean)\" = 1 ]" &&
    kubelet ${n#node} CONT && wait_until 60 all_up
'

test_expect_success 'when a node is deleted from the cluster its job is requeued on other nodes' '
    id=$(fluxq-submit --requeue -N 2 -n 2 -o gone.out -- sh -c "[ \$FLUXQ_RESTART_COUNT ] || sleep 300; echo again") &&
    runs $id && n=$(node_of $id 1) && k delete node $n &&
    wait_until 90 said $id "requeue.*$n: " && said $id "requeue.*$n: .*\(deleted from the cluster\|no longer exists\)" &&
    wait_job_state $id COMPLETED 120 && [ "$(node_of $id 0)" != $n ] && [ "$(node_of $id 1)" != $n ] &&
    "$KUBE/node" stop ${n#node} && timeout 120 "$KUBE/node" start ${n#node} && wait_until 60 all_up
'

test_expect_success 'after all jobs no object of this cluster id is left' '
    wait_until 90 no_jobs_of_ours && stop_broker && wait_until 60 nothing_of_ours
'

test_done
