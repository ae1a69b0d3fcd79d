#!/bin/sh
# t4207-kube-sweep.t: the sweep removes objects that belong to no job, and nothing else. Needs
# root; about 1 minute.

test_description='the sweep of a real cluster

Objects of a killed broker that stay forever, or an object of another program that is removed because
it looks like fluxq'"'"'s, would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4207

# labels CLUSTER ID ATTEMPT: prints the labels of a job's object.
labels()
{
    echo "app.kubernetes.io/managed-by: fluxq, fluxq.io/cluster: $1, fluxq.io/job-id: \"$2\", fluxq.io/attempt: \"$3\""
}

# object KIND NAME LABELS [NAMESPACE]: prints one YAML document.
object()
{
    echo "---"
    case $1 in
    Job) echo "{apiVersion: batch/v1, kind: Job, spec: {suspend: true, template: {metadata: {labels: {$3}}, spec: $pod}}," ;;
    Pod) echo "{apiVersion: v1, kind: Pod, spec: $pod," ;;
    EndpointSlice)
        echo "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, endpoints: [{addresses: [192.0.2.1]}],"
        ;;
    Service) echo "{apiVersion: v1, kind: Service, spec: {clusterIP: None, ports: [{port: 1}]}," ;;
    *) echo "{apiVersion: v1, kind: $1," ;;
    esac
    echo " metadata: {name: $2, namespace: ${4:-fluxq}, labels: {$3}}}"
}
pod='{restartPolicy: Never, schedulerName: nobody, containers: [{name: c, image: "busybox:1"}]}'

# all_of ID ATTEMPT: prints one object of each kind, as for a job of fluxq.
all_of()
{
    for kind in Job ConfigMap Secret Service EndpointSlice; do
        object $kind "fluxq-$CLUSTER_ID-$1-$2" "$(labels $CLUSTER_ID "$1" "$2")"
    done
    object EndpointSlice "fluxq-$CLUSTER_ID-$1-$2-1" "$(labels $CLUSTER_ID "$1" "$2")" # for a job of over 1000 ranks
    object Pod "fluxq-$CLUSTER_ID-$1-$2-0-abcde" "$(labels $CLUSTER_ID "$1" "$2")"
}

make() # makes the objects of standard input; their names are in the file made
{
    timeout 60 "$KUBE/enter" kubectl create -f - >made
}

named() # PART: names of all objects, in any namespace, that contain PART
{
    k get jobs,pods,configmaps,secrets,services,endpointslices -A -o custom-columns=K:.kind,N:.metadata.name,NS:.metadata.namespace \
        --no-headers | grep -e "$1" | sort
}

none_named()
{
    named "$1" >names
    ! [ -s names ]
}

own_cluster --nodes 1

test_expect_success 'a broker that sweeps every 2 s, and a job, run' '
    write_config "$configs/fluxq.kubeconfig" "  sweep-interval: 2s" &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    id=$(fluxq-submit -o run.out -- sh -c "until [ -e /tmp/go ]; do sleep 0.2; done; echo done") &&
    wait_job_state $id RUNNING 60 && named "fluxq-t4207-$id-0" >running
'

test_expect_success 'objects of no job, and of other attempts of a running job, are removed' '
    { all_of 999 0 && all_of $id 1; } | make &&
    wait_until 60 none_named "fluxq-t4207-999-0" && wait_until 30 none_named "fluxq-t4207-$id-1" &&
    named "fluxq-t4207-$id-0" >now && test_cmp running now
'

test_expect_success 'objects that only look like fluxq'\''s stay' '
    {
        object Job lookalike-job "$(labels t4207 999 0)" && object ConfigMap lookalike-map "$(labels t4207 999 0)" &&
        object Pod lookalike-pod "$(labels t4207 999 0)" &&
        object Pod fluxq-t4207-9990-0-lookalike "$(labels t4207 999 0)" &&
        object ConfigMap fluxq-other-999-0-lookalike "$(labels other 999 0)" &&
        object Job fluxq-t4207-997-0-lookalike "" && object Secret fluxq-t4207-997-0-lookalike "" &&
        object ConfigMap fluxq-t4207-998-0-lookalike "fluxq.io/cluster: t4207, fluxq.io/job-id: \"998\", fluxq.io/attempt: \"0\"" &&
        object Secret fluxq-agent-t4207-lookalike "app.kubernetes.io/managed-by: fluxq, fluxq.io/cluster: t4207" &&
        object ConfigMap lookalike-agent "app.kubernetes.io/managed-by: fluxq, fluxq.io/cluster: t4207" &&
        for kind in Job ConfigMap Secret Service EndpointSlice; do
            object $kind fluxq-t4207-998-0 "fluxq.io/cluster: t4207, fluxq.io/job-id: \"998\", fluxq.io/attempt: \"0\"" &&
            object $kind fluxq-t4207-997-0 "" && object $kind fluxq-other-999-0 "$(labels other 999 0)" &&
            object $kind fluxq-t4207-996-0 "$(labels t4207 996 0)" default || return 1
        done
    } | make &&
    named "lookalike\|-99[6-9]-0" >before && [ "$(wc -l <before)" = "$(wc -l <made)" ] &&
    for wave in 1 2; do # the removed objects show that a sweep has run
        all_of 990 $wave | make && wait_until 60 none_named "fluxq-t4207-990-$wave" || return 1
    done &&
    named "lookalike\|-99[6-9]-0" >after && test_cmp before after
'

test_expect_success 'the log has one line for each removed object, and no other' '
    [ "$(grep -c "kube: sweep: .*belongs to no job" "$BROKER_LOG")" = 28 ] &&
    [ "$(grep -c "kube: sweep" "$BROKER_LOG")" = 28 ]
'

test_expect_success 'when a Job is deleted without its pods, the pods are removed at the end of the job' '
    k delete job "fluxq-t4207-$id-0" --cascade=orphan &&
    for pid in $(agent_pids $id 0); do touch "/proc/$pid/root/tmp/go" && break; done &&
    wait_job_state $id COMPLETED 60 && wait_until 60 none_named "fluxq-t4207-$id-0" && [ "$(cat run.out)" = "done" ]
'

test_expect_success 'a broker with a new state directory removes all objects of the last broker when it starts' '
    id=$(fluxq-submit -o lost.out -- sleep 300) && wait_job_state $id RUNNING 60 &&
    kill_broker && BROKER_STATE=$HERE/state2 && object ConfigMap fluxq-agent-t4207-0123456789 \
        "app.kubernetes.io/managed-by: fluxq, fluxq.io/cluster: t4207" | make &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 90 none_named "fluxq-t4207-$id-0\|fluxq-agent-t4207-0123456789"
'

test_expect_success 'if a new state directory repeats a job id, objects of the other job with this id are not used' '
    stop_broker && write_config "$configs/fluxq.kubeconfig" "  sweep-interval: 1h" &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    id=$(($(fluxq-submit --hold -- true) + 1)) && submitted="fluxq.io/submitted: \"1700000000.000000\"" &&
    { object Job fluxq-t4207-$id-0 "$(labels t4207 $id 0), $submitted" &&
        object ConfigMap fluxq-t4207-$id-0 "$(labels t4207 $id 0), $submitted" &&
        object Pod fluxq-t4207-$id-0-0 "$(labels t4207 $id 0), $submitted, batch.kubernetes.io/job-completion-index: \"0\""; } | make &&
    { object ConfigMap fluxq-t4207-$((id + 1))-0 "$(labels t4207 $((id + 1)) 0), $submitted" &&
        object Secret fluxq-t4207-$((id + 1))-0 "$(labels t4207 $((id + 1)) 0), $submitted"; } | make &&
    for n in 0 1; do
        [ "$(fluxq-submit -o new-$n.out -- echo new-$n)" = $((id + n)) ] || return 1
    done &&
    for n in 0 1; do
        wait_job_state $((id + n)) COMPLETED 120 && [ "$(cat new-$n.out)" = new-$n ] || return 1
    done &&
    stop_broker && start_broker --kube --config "$HERE/kube.yaml" && wait_until 60 none_named "fluxq-t4207-$id-0\|fluxq-t4207-$((id + 1))-0" # by the sweep at the start
'

test_expect_success 'the look-alikes are still there, and nothing else is left' '
    stop_broker && named "lookalike\|-99[6-9]-0" >after && test_cmp before after &&
    named "t4207" >left && ! grep -v -e "lookalike" -e "-99[6-9]-0" left
'

test_done
