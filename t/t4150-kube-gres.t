#!/bin/sh
# t4150-kube-gres.t: extended resources on a real cluster. Needs root; about a minute.

test_description='extended resources of nodes on a real cluster: --gres, short names, use by other pods

A pod that requests more or less than its job was given, a device that is allocated twice, or a name with
another meaning than configured would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4150

broker()
{
    write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" "$@" && cat >>kube.yaml <<END &&
queues:
  batch: {default: true}
  net: {pods: {resources: {example.org/hca: 1}}}
END
    start_broker --kube --config "$HERE/kube.yaml"
}

# has NODE AMOUNTS: sets the extended resources of the node, like a device plugin.
has()
{
    k patch node "$1" --subresource=status --type=merge -p "{\"status\": {\"capacity\": $2, \"allocatable\": $2}}"
}

# free NODE RESOURCE N: N of the resource are free on the node.
free()
{
    [ "$(fluxq-info --json | jq ".nodes[] | select(.name == \"$1\").gres[\"$2\"].free")" = "$3" ]
}

# hold ARGUMENTS...: submits a job that runs until its cancel.
hold()
{
    fluxq-submit -o out.%j "$@" -- sh -c 'echo "told ${FLUXQ_JOB_GRES-nothing}"; sleep 1000'
}

# asks JOB RANK AMOUNTS: the pod of that rank has exactly these extended resources as requests and
# limits.
asks()
{
    for what in requests limits; do
        found=$(k get pods -l "fluxq.io/job-id=$1,batch.kubernetes.io/job-completion-index=$2" -o json | jq -Sc \
            "[.items[0].spec.containers[0].resources.$what | to_entries[] | select(.key | contains(\"/\"))] | from_entries")
        [ "$found" = "$3" ] || { echo "$what of rank $2: $found" && return 1; }
    done
}

waits() # JOB TEXT
{
    fluxq-queue --why | grep -E "^ *$1 .* PD .*$2"
}

# stranger NAME N: makes a foreign pod that uses N adapters of node1.
stranger()
{
    cat >stranger.json <<END
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "$1", "namespace": "default"}, "spec": {"nodeName": "node1",
  "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": false, "containers": [{"name": "c", "image": "$image",
  "command": ["sleep", "1000"], "resources": {"limits": {"example.org/hca": "$2"}, "requests": {"example.org/hca": "$2"}}}]}}
END
    k apply -n default -f - <stranger.json
}

end()
{
    for id; do
        fluxq-cancel "$id" && wait_until 60 gone "$id" || return
    done
}

gone()
{
    [ -z "$(k get pods -l "fluxq.io/job-id=$1" -o name)" ]
}

own_cluster --nodes 2

test_expect_success 'nodes have devices' '
    has node1 "{\"example.org/hca\": \"3\", \"example.org/fpga\": \"1\", \"nvidia.com/gpu\": \"2\"}" &&
    has node2 "{\"example.org/hca\": \"2\"}" &&
    broker "  gres: {hca: example.org/hca, \"gpu:big\": nvidia.com/gpu}" &&
    image=$(sed -n "s/^  image: //p" kube.yaml) && wait_until 30 free node1 example.org/hca 3 &&
    free node1 example.org/fpga 1 && free node2 example.org/hca 2 && free node2 example.org/fpga null &&
    fluxq-info --json | jq -e ".nodes[0] | .gpus == 2 and (.gres | keys == [\"example.org/fpga\", \"example.org/hca\"])"
'

test_expect_success 'pods request the resources of their ranks, under any name, and jobs see them in the environment' '
    id=$(hold -N 2 --gres=hca:2) && wait_job_state $id RUNNING 60 &&
    asks $id 0 "{\"example.org/hca\":\"2\"}" && asks $id 1 "{\"example.org/hca\":\"2\"}" &&
    fluxq-show job $id --json | jq -e "[.ranks[].gres] == [{\"example.org/hca\": 2}, {\"example.org/hca\": 2}]" &&
    free node1 example.org/hca 1 && free node2 example.org/hca 0 && wait_until 30 grep "told example.org/hca:2" out.$id &&
    two=$(hold --gres=example.org/hca,example.org/fpga) && wait_job_state $two RUNNING 60 &&
    asks $two 0 "{\"example.org/fpga\":\"1\",\"example.org/hca\":\"1\"}" && end $id $two &&
    wait_until 30 free node1 example.org/hca 3
'

test_expect_success 'an exclusive job has all resources of its node, and its pod requests those that the job names' '
    id=$(hold -w node1 -N 1 --exclusive) && wait_job_state $id RUNNING 60 && asks $id 0 "{\"nvidia.com/gpu\":\"2\"}" &&
    free node1 example.org/hca 0 && end $id && id=$(hold -w node1 -N 1 --exclusive --gres=hca) &&
    wait_job_state $id RUNNING 60 && asks $id 0 "{\"example.org/hca\":\"3\",\"nvidia.com/gpu\":\"2\"}" && end $id
'

test_expect_success 'the resource of the GPUs means GPUs, under any name' '
    for name in gpu:2 nvidia.com/gpu:2 gpu:big:2; do
        id=$(hold --gres=$name) && wait_job_state $id RUNNING 60 && asks $id 0 "{\"nvidia.com/gpu\":\"2\"}" &&
            [ "$(fluxq-show job $id --json | jq -r ".ranks[0].gpus")" = 0-1 ] && end $id || return 1
    done
'

test_expect_success 'a request that no node can serve is refused' '
    test_must_fail fluxq-submit --gres=hca:4 -- true 2>why && grep "needs 4 example.org/hca on a node, the largest has 3" why &&
    test_must_fail fluxq-submit --gres=hca:small -- true 2>why && grep "the machine has no hca:small" why
'

test_expect_success 'resources that other pods use are not allocated until these pods are gone' '
    stranger one 2 && wait_until 30 free node1 example.org/hca 1 && id=$(hold -w node1 -N 1 --gres=hca:2) &&
    wait_until 30 waits $id "." && k delete pod -n default one --wait=false && wait_job_state $id RUNNING 60 &&
    asks $id 0 "{\"example.org/hca\":\"2\"}"
'

test_expect_success 'after kill -9 of the broker resources are booked as before, by full name or short name' '
    kill_broker && broker "  gres: {adapter: example.org/hca}" && wait_until 30 free node1 example.org/hca 1 &&
    two=$(hold -w node1 -N 1 --gres=adapter:2) && wait_until 30 waits $two "." && end $id &&
    wait_job_state $two RUNNING 60 && end $two && test_must_fail fluxq-submit --gres=hca -- true 2>why &&
    grep "the machine has no hca" why && wait_until 30 free node1 example.org/hca 3
'

test_expect_success 'resources that a queue adds to its pods are booked, and the larger of both amounts counts' '
    id=$(hold -q net -w node2 -N 1) && wait_job_state $id RUNNING 60 && asks $id 0 "{\"example.org/hca\":\"1\"}" &&
    wait_until 30 free node2 example.org/hca 1 && end $id && wait_until 30 free node2 example.org/hca 2 &&
    id=$(hold -q net -w node2 -N 1 --gres=adapter:2) && wait_job_state $id RUNNING 60 &&
    asks $id 0 "{\"example.org/hca\":\"2\"}" && free node2 example.org/hca 0 && end $id
'

test_expect_success 'fluxq sees when the resources of a node grow or shrink' '
    has node2 "{\"example.org/hca\": \"7\"}" && wait_until 30 free node2 example.org/hca 7 &&
    has node2 "{\"example.org/hca\": null}" && wait_until 30 free node2 example.org/hca null
'

# wrong TEXT VALUE: this value of kube.gres is refused with its place.
wrong()
{
    write_config nowhere "  gres: $2" "  topology: [{level: isle, label: isle}]" && test_must_fail fluxqd --kube --config "$HERE/kube.yaml" --check >why 2>&1 && cat why &&
        grep -E "kube.yaml:[0-9]+:[0-9]+: $1" why
}

test_expect_success 'a wrong mapping is refused with line and column' '
    wrong "kube.gres: expected a mapping" "[hca]" && wrong "kube.gres: hca: expected an extended resource" "{hca: adapter}" &&
    wrong "kube.gres: hca: expected an extended resource" "{hca: kubernetes.io/x}" &&
    wrong "kube.gres: gpu: its resource is named by kube.gpu-resource" "{gpu: a.b/c}" &&
    wrong "kube.gres: isle is a level of kube.topology" "{isle: a.b/c}" &&
    wrong "kube.gres: .a/b. cannot be the short name" "{a/b: c/d}"
'

test_expect_success 'the broker stops and leaves nothing' '
    stop_broker && nothing_of_ours
'

test_done
