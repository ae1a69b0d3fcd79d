#!/bin/sh
# t4030-capacity.t: fluxq-info and kubectl describe give the same resources of nodes. Needs root; about 1
# minute.

test_description='capacity is correct after random changes of nodes and pods

A node that is offered with a wrong size, a pod that is not counted or counted twice, a terminating pod that no
longer holds its share, or a state that the cluster does not have would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4030

# Nodes are objects without a kubelet: the cluster must not treat them as lost.
own_cluster --nodes 0 --controller-arg --controllers=*,-node-lifecycle-controller

test_expect_success 'the broker watches the cluster' '
    write_config "$configs/fluxq.kubeconfig" "  node-selector: {pool: a}" "  topology: [{level: rack, label: rack}]" \
        "  gpu-resource: t.example/gpu" "  tolerations: [{key: team, operator: Exists}]" &&
    start_broker --kube --config "$HERE/kube.yaml"
'

for seed in 1 2; do
    test_expect_success "the broker and the cluster agree on resources after every change (seed $seed)" '
        timeout 300 "$KUBE/enter" python3 "$FLUXQ_SOURCE_DIR/t/helper/capacity.py" $seed 8 &&
        {
            k delete nodes --all && k delete -n default pods,daemonsets --all --wait=false &&
            k delete runtimeclass heavy && k get -n default pods -o name >pods
        } >/dev/null && for pod in $(cat pods); do
            k patch -n default "$pod" --type=merge -p "{\"metadata\": {\"finalizers\": null}}" || :
        done >/dev/null 2>&1 &&
        wait_until 30 eval "[ \"\$(fluxq-info --json | jq \".nodes | length\")\" = 0 ]"
    '
done

test_expect_success 'the broker stops and leaves nothing' '
    stop_broker && nothing_of_ours
'

test_done
