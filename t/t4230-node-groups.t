#!/bin/sh
# t4230-node-groups.t: nodes that do not exist yet, and jobs that wait for them. Needs root; about 3 minutes.

test_description='nodes that could be made: kube.node-groups and an autoscaler (t/helper/autoscaler.py stands in for one)

A job that is refused although its nodes could be made, or that requests more or fewer nodes than it
lacks, nodes that another job requests, nodes beyond the maximum, or nodes after its cancel would fail
this; so would a job that does not show its reason, or that does not run although its nodes exist.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4230
AUTOSCALER=$FLUXQ_SOURCE_DIR/t/helper/autoscaler.py

autoscaler()
{
    timeout 250 "$AUTOSCALER" "$KUBE" "$@"
}

# Nodes 3 and 4 are the nodes of rack r2.
power_off() # I
{
    "$KUBE/node" stop "$1" && k delete node "node$1"
}

nodes_are() # NAMES: the broker has these nodes
{
    fluxq-info --json | jq -r '[.nodes[].name] | sort | join(" ")' >nodes && [ "$(cat nodes)" = "$1" ]
}

waits_for() # ID PATTERN: the reason of the job matches
{
    job_field "$1" reason_text >reason && grep -q -e "$2" reason
}

asked() # ID N: there is exactly one request, of this job and for N nodes
{
    autoscaler requests >requests && [ "$(wc -l <requests)" = 1 ] &&
        grep -q "^fluxq-need-$CLUSTER_ID-$1-r2-[0-9]* $2$" requests
}

nobody_asks()
{
    k get provisioningrequests,podtemplates,pods -l "fluxq.io/cluster=$CLUSTER_ID,fluxq.io/need" -o name >left &&
        ! [ -s left ]
}

answer() # ID TYPE MESSAGE
{
    autoscaler requests | sed -n "s/^\(fluxq-need-$CLUSTER_ID-$1-[^ ]*\) .*/\1/p" >name &&
        autoscaler answer "$(cat name)" "$2" "$3"
}

# group_config [LINE...]: LINE... replaces "provision: request" in the settings of the group.
group_config()
{
    write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" "  sweep-interval: 3s"
    cat >>kube.yaml <<END
  node-groups:
  - {name: r2, max: 2, labels: {fluxq.io/rack: r2}, cpu: 4, memory: 6Gi, delay: 5s, ${1:-provision: request}}
END
}

own_cluster --nodes 4

test_expect_success 'two nodes are off, and the type of requests exists' '
    power_off 3 && power_off 4 && k create -f "$KUBE/lib/provisioningrequest.yaml" &&
    k create -f "$FLUXQ_SOURCE_DIR/etc/kubernetes/rbac-node-groups.yaml" &&
    k wait --for=condition=Established --timeout=30s crd/provisioningrequests.autoscaling.x-k8s.io
'

# ---- refused and accepted jobs ----

test_expect_success 'without groups a job of more nodes than exist is refused' '
    write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" &&
    start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 nodes_are "node1 node2" &&
    test_must_fail fluxq-submit -N 3 -c 3 -- true 2>err && grep "3 nodes" err && stop_broker
'

test_expect_success 'with a group --test-only shows the earliest start, and makes no request' '
    group_config && start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 nodes_are "node1 node2" &&
    { fluxq-submit --test-only -N 4 -c 3 -- true >test 2>&1 || :; } && cat test &&
    grep "needs 2 nodes of group r2 that would have to be made: not before 20" test && nobody_asks
'

test_expect_success 'the job is accepted, shows the missing nodes as its reason, and requests them' '
    id=$(fluxq-submit -N 3 -c 3 -o three.out -- sh -c "echo \$SLURM_JOB_NUM_NODES") && wait_until 30 asked $id 1 &&
    waits_for $id "waits for 1 node of group r2 to be made (asked for at 20.*); not before 20" &&
    fluxq-queue --why >why && grep "1 node of group r2" why
'

test_expect_success 'the request asks for the resources that the job would use there, and has no owner' '
    autoscaler requests >requests && read name count <requests &&
    k get podtemplate $name -o json >template.json &&
    jq -e ".template.spec | .containers[0].resources.requests.cpu == \"3\" and .nodeSelector == {\"fluxq.io/rack\": \"r2\"}" template.json &&
    k get provisioningrequest $name -o json >request.json &&
    jq -e "(.metadata.ownerReferences | not) and .spec.provisioningClassName == \"best-effort-atomic-scale-up.autoscaling.x-k8s.io\"" request.json
'

test_expect_success 'a job beyond the maximum of the group is still refused' '
    test_must_fail fluxq-submit -N 5 -c 3 -- true 2>err && grep "could be made" err
'

test_expect_success 'a job behind it requests only the remaining nodes, never beyond the maximum' '
    second=$(fluxq-submit -N 2 -c 3 --exclusive -- true) && third=$(fluxq-submit -N 4 -c 4 -- true) &&
    wait_job_state $second COMPLETED 90 &&
    asked $id 1 && ! waits_for $third "of group"
'

# ---- failed requests ----

test_expect_success 'a failure of the autoscaler is the reason of the job, and the request is repeated later' '
    answer $id Failed "no quota in this zone" &&
    wait_until 20 waits_for $id "the autoscaler has failed: no quota in this zone" &&
    wait_until 60 asked $id 1 && ! grep -q -e "-r2-0 " requests
'

test_expect_success 'messages of the autoscaler are shown as one line of printable characters' '
    answer $id Accepted "$(printf "one\ntwo \033[31mred")" &&
    wait_until 20 waits_for $id "has accepted it: one?two ?\[31mred"
'

# ---- new nodes ----

test_expect_success 'after a cancel the third job, which was behind it, makes the request' '
    fluxq-cancel $id && wait_until 30 asked $third 2 && fluxq-cancel $third && wait_until 30 nobody_asks
'

test_expect_success 'when the node is made the job runs there, and no request is left' '
    id=$(fluxq-submit -N 3 -c 3 -o three.out -- sh -c "echo \$SLURM_JOB_NUM_NODES") && wait_until 30 asked $id 1 &&
    answer $id Provisioned "in a moment" && wait_until 20 waits_for $id "has made them: in a moment" &&
    autoscaler make fluxq.io/rack=r2 1 &&
    wait_job_state $id COMPLETED 120 && job_field $id nodelist | grep "3" && [ "$(sort -u three.out)" = 3 ] &&
    wait_until 30 nobody_asks
'

test_expect_success 'with one of two nodes there, only one is requested' '
    id=$(fluxq-submit -N 4 -c 3 -- true) && wait_until 30 asked $id 1 && fluxq-cancel $id && wait_until 30 nobody_asks
'

# ---- restarts ----

# The broker lists jobs, nodes and requests at the same time, so any of these lists may be the last.
kept() # the next broker adopts the request of job $id
{
    kill_broker && start_broker --kube --config "$HERE/kube.yaml" && wait_until 60 waits_for $id "asked for at" &&
        asked $id 1 && { cmp requests before || { cat before requests && tail -n 20 "$BROKER_LOG" && false; }; }
}

test_expect_success 'after kill -9, ten times, the next broker keeps the request' '
    id=$(fluxq-submit -N 4 -c 3 -- true) && wait_until 30 asked $id 1 && cp requests before &&
    for i in 1 2 3 4 5 6 7 8 9 10; do
        kept || return 1
    done
'

test_expect_success 'a request that somebody deletes is made again' '
    k delete provisioningrequest --all && wait_until 60 asked $id 1
'

# look_alike JOB: makes a request that only looks like fluxq's.
look_alike()
{
    k get provisioningrequest -l "fluxq.io/job-id=$id" -o json |
        jq ".items[0] | .metadata |= {name: \"somebodys\", labels: .labels} | del(.status)" | k create -f -
}

test_expect_success 'after a cancel and kill -9 the request is removed, and the look-alike stays' '
    look_alike && fluxq-cancel $id && kill_broker && start_broker --kube --config "$HERE/kube.yaml" &&
    wait_job_state $id CANCELLED 30 && gone() {
        k get provisioningrequests,podtemplates -o name >left &&
            [ "$(grep -v kube-root left)" = provisioningrequest.autoscaling.x-k8s.io/somebodys ]
    } && wait_until 60 gone && k delete provisioningrequest somebodys && stop_broker
'

# ---- provision: pods ----

pods_are() # ID N
{
    autoscaler pods >pods && [ "$(wc -l <pods)" = "$2" ] &&
        [ "$(grep -c "^fluxq-need-$CLUSTER_ID-$1-r2-[0-9]*-[0-9]* fluxq.io/rack=r2$" pods)" = "$2" ]
}

test_expect_success 'with "provision: pods" there is an unschedulable pod for each missing node, until the cancel' '
    power_off 3 && group_config "provision: pods" && start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 nodes_are "node1 node2" && id=$(fluxq-submit -N 4 -c 3 -- true) &&
    wait_until 30 pods_are $id 2 && waits_for $id "waits for 2 nodes of group r2" &&
    fluxq-cancel $id && wait_until 30 nobody_asks
'

test_expect_success 'the pods of a request never run, and are gone before the pods of the job' '
    id=$(fluxq-submit -N 3 -c 3 -o pods.out -- sh -c "echo \$SLURM_JOB_NUM_NODES") && wait_until 30 pods_are $id 1 &&
    autoscaler make fluxq.io/rack=r2 1 && wait_job_state $id COMPLETED 120 && [ "$(sort -u pods.out)" = 3 ] &&
    wait_until 30 nobody_asks && stop_broker
'

# ---- provision: none, and missing rights ----

test_expect_success 'with "provision: none" the job waits and shows that nobody is asked' '
    power_off 3 && group_config "provision: none" && start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 nodes_are "node1 node2" && id=$(fluxq-submit -N 3 -c 3 -- true) &&
    wait_until 20 waits_for $id "waits for 1 node of group r2 to be made (nobody is asked" && nobody_asks &&
    autoscaler make fluxq.io/rack=r2 1 && wait_job_state $id COMPLETED 120 && stop_broker
'

test_expect_success 'without the right to make requests the job shows this reason' '
    k delete rolebinding fluxq-provisioner && power_off 3 && group_config "provision: pods" &&
    start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 nodes_are "node1 node2" &&
    id=$(fluxq-submit -N 3 -c 3 -- true) && wait_until 30 waits_for $id "cannot be asked for: .*forbidden" &&
    fluxq-cancel $id && wait_until 30 nobody_asks
'

test_expect_success 'no object is left' '
    wait_until 60 no_jobs_of_ours && stop_broker && nothing_of_ours
'

test_done
