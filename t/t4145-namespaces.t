#!/bin/sh
# t4145-namespaces.t: namespaces of queues and users, on a real cluster. Needs root; about two minutes.

test_description='each user has a namespace, made on first use, with its objects

A job in a wrong namespace, objects of others that are changed or counted as fluxq'"'"'s, a job that is lost
because the settings of its queue changed, or a namespace without its quota would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4145

# queues [TEMPLATE]: writes the configuration; TEMPLATE is the namespace of the queue users.
queues()
{
    write_config "$configs/fluxq.kubeconfig" "place-timeout: 15s" "start-backoff: 1s" && cat >>kube.yaml <<END
queues:
  batch: {default: true}
  users:
    pods:
      namespace: ${1:-jobs-%u}
      namespace-create: true
      namespace-role: fluxq-runner
      namespace-labels: {team: hpc}
      quota: {hard: {pods: 2}}
      limits: [{type: Container, max: {memory: 1Gi}}]
  closed:
    pods: {namespace: closed-%U}
  team:
    pods: {namespace: team}
  own:
    pods:
      namespace: jobs-%u
      namespace-create: true
      namespace-role: fluxq-runner
      allow: {pod-template: [metadata.labels, metadata.annotations, spec.dnsConfig, spec.volumes.emptyDir, spec.volumes.configMap]}
END
}

work=$FLUXQ_RUN/work
mkdir -m 777 "$work"

as() # USER COMMAND...
{
    as_whom=$1
    shift
    (cd "$work" && setpriv --reuid="$as_whom" --regid="$(id -g "$as_whom")" --clear-groups "$@")
}

submit() # USER ARGUMENTS...: submits as USER; the id is in `id`
{
    submit_as=$1
    shift
    id=$(as "$submit_as" fluxq-submit -o 'out-%j' "$@")
}

# runs_in NAMESPACE USER ARGUMENTS...: a job of USER completes, and its pods were in NAMESPACE.
runs_in()
{
    runs_where=$1
    shift
    runs_as=$1
    shift
    submit "$runs_as" "$@" -- sed -n 's/^search \([^.]*\)[.]svc.*/\1/p' /etc/resolv.conf &&
        wait_job_state "$id" COMPLETED 90 && cat "$work/out-$id" && [ "$(sort -u "$work/out-$id")" = "$runs_where" ]
}

start_hold() # USER ARGUMENTS...
{
    submit "$@" -- sleep 300 && wait_job_state "$id" RUNNING 60
}

refuses() # TEXT ARGUMENTS...
{
    refuses_text=$1
    shift
    test_must_fail submit daemon "$@" -- true 2>why && cat why && head -n 1 why | grep -q -e "--$refuses_text"
}

pods_in() # NAMESPACE ID
{
    k -n "$1" get pods -l "fluxq.io/job-id=$2" -o name | wc -l
}

no_pods_in()
{
    [ "$(pods_in "$@")" = 0 ]
}

reason_has() # ID TEXT
{
    fluxq-show job "$1" >shown && grep -q -e "$2" shown || said "$1" "$2"
}

get() # NAMESPACE KIND NAME PATH: prints the field as JSON
{
    k -n "$1" get "$2" ${3:+"$3"} -o json | jq -cS "$4"
}

# labelled NAMESPACE KIND NAME LABELS...: makes an object of KIND with these labels.
labelled()
{
    labelled_in=$1 labelled_kind=$2 labelled_name=$3
    shift 3
    k -n "$labelled_in" create "$labelled_kind" "$labelled_name" && k -n "$labelled_in" label "$labelled_kind" "$labelled_name" "$@"
}

# lookalike NAMESPACE NAME JOB: makes a pod with one core that looks like a pod of fluxq.
lookalike()
{
    cat >pod.yaml <<END
apiVersion: v1
kind: Pod
metadata:
  name: $2
  namespace: $1
  labels: {app.kubernetes.io/managed-by: fluxq, fluxq.io/cluster: $CLUSTER_ID, fluxq.io/job-id: "$3", fluxq.io/attempt: "0"}
  annotations: {batch.kubernetes.io/job-completion-index: "0"}
spec:
  nodeName: node1
  terminationGracePeriodSeconds: 0
  containers: [{name: job, image: "busybox:1", command: [sleep, "1000"], resources: {requests: {cpu: "1"}}}]
END
    k -n "$1" apply -f - <pod.yaml
}

# Prints the use of node1 by other pods, in thousandths of a core.
foreign()
{
    fluxq-info --json | jq '.nodes[] | select(.name == "node1") | .exact.cpu_milli_foreign'
}

foreign_is()
{
    [ "$(foreign)" = "$1" ]
}

own_cluster --nodes 2

test_expect_success 'without the rights a job in a queue with namespaces waits with the missing right, and other jobs run' '
    queues && start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 fluxq-info &&
    submit daemon -q users -- true && first=$id && wait_until 60 reason_has "$first" "cannot get resource .namespaces." &&
    submit daemon -- true && wait_job_state "$id" COMPLETED 60 && fluxq-cancel "$first"
'

test_expect_success 'with the rights each of two users has a namespace, made on first use' '
    k apply -f "$FLUXQ_SOURCE_DIR/etc/kubernetes/namespaces.yaml" && ! k get namespace jobs-daemon &&
    wait_until 10 k auth can-i create namespaces --as fluxq && runs_in jobs-daemon daemon -q users -N 2 &&
    runs_in jobs-nobody nobody -q users && [ "$(count_events "$id" requeue)" = 0 ] && runs_in fluxq daemon
'

test_expect_success 'the namespace has the labels, quota, limits and network policy of the queue, and only the role'\''s rights' '
    get jobs-daemon namespace jobs-daemon .metadata.labels >labels && cat labels &&
    jq -e "del(.[\"kubernetes.io/metadata.name\"]) == {\"app.kubernetes.io/managed-by\": \"fluxq\", \"fluxq.io/cluster\": \"t4145\",
        \"fluxq.io/uid\": \"1\", \"pod-security.kubernetes.io/enforce\": \"restricted\", team: \"hpc\"}" labels &&
    [ "$(get jobs-daemon resourcequota fluxq .spec.hard)" = "{\"pods\":\"2\"}" ] &&
    [ "$(get jobs-daemon limitrange fluxq ".spec.limits[0].max")" = "{\"memory\":\"1Gi\"}" ] &&
    get jobs-daemon networkpolicy fluxq-jobs .spec >policy && cat policy &&
    sed "/^---/,\$d" "$FLUXQ_SOURCE_DIR/etc/kubernetes/networkpolicy.yaml" |
        k -n fluxq-jobs create --dry-run=client -o json -f - | jq -cS .spec >wanted && test_cmp wanted policy &&
    [ "$(get jobs-daemon rolebinding fluxq-runner "[.roleRef.name, .subjects[].name]")" = "[\"fluxq-runner\",\"fluxq\"]" ] &&
    ! k -n jobs-daemon auth can-i delete rolebindings --as fluxq
'

test_expect_success 'the pod security level is enforced in the namespace' '
    test_must_fail k -n jobs-daemon run root --image busybox:1 --privileged 2>why && cat why && grep "violates PodSecurity \"restricted" why
'

test_expect_success 'a quota limits a user'\''s namespace, is the reason of a waiting job, and does not limit other users' '
    start_hold daemon -q users -N 2 && held=$id && submit daemon -q users -- true && waits=$id &&
    wait_until 60 reason_has "$waits" "exceeded quota: fluxq" && runs_in jobs-nobody nobody -q users &&
    fluxq-cancel "$held" && wait_job_state "$waits" COMPLETED 90
'

# bin_is_refused REASON: submits until a job has this reason, as the broker keeps its knowledge of a namespace
# for half a second.
bin_is_refused()
{
    submit bin -q users -- true && wait_job_state "$id" FAILED 60 && reason_has "$id" "$1"
}

test_expect_success 'a namespace that is not marked for fluxq, or is marked for another user, is not used' '
    k create namespace jobs-bin && submit bin -q users -- true && wait_job_state "$id" FAILED 60 &&
    reason_has "$id" "namespace jobs-bin: it exists, but not for fluxq" && [ "$(our_objects -n jobs-bin)" = "" ] &&
    k label namespace jobs-bin app.kubernetes.io/managed-by=fluxq "fluxq.io/cluster=$CLUSTER_ID" fluxq.io/uid=3 &&
    wait_until 60 bin_is_refused "it belongs to another user" && [ "$(our_objects -n jobs-bin)" = "" ]
'

test_expect_success 'a job waits for a missing namespace if its queue does not make namespaces' '
    submit daemon -q closed -- true && wait_until 60 reason_has "$id" "namespace closed-1: it does not exist" &&
    printf "%s\n" "apiVersion: v1" "kind: Namespace" "metadata:" "  name: closed-1" \
        "  labels: {app.kubernetes.io/managed-by: fluxq, fluxq.io/cluster: $CLUSTER_ID, fluxq.io/uid: \"1\"}" >space.yaml &&
    k apply -f - <space.yaml && k create rolebinding -n closed-1 fluxq-runner --clusterrole=fluxq-runner --user=fluxq &&
    wait_job_state "$id" COMPLETED 90 &&
    [ "$(k -n closed-1 get networkpolicies,resourcequotas -o name)" = "networkpolicy.networking.k8s.io/fluxq-$CLUSTER_ID-user-1" ]
'

test_expect_success 'a namespace that the queue names needs no mark' '
    k create namespace team && k create rolebinding -n team fluxq-runner --clusterrole=fluxq-runner --user=fluxq &&
    runs_in team daemon -q team && runs_in team nobody -q team
'

test_expect_success 'a user'\''s template applies to the pod if the queue allows it' '
    cat >"$work/pod.yaml" <<-\END &&
	apiVersion: v1
	kind: Pod
	metadata:
	  labels: {example.org/team: hpc}
	  annotations: {example.org/note: one line}
	spec:
	  dnsConfig: {options: [{name: ndots, value: "3"}]}
	  volumes:
	  - {name: scratch, emptyDir: {sizeLimit: 64Mi}}
	  - {name: conf, configMap: {name: conf}}
	  containers:
	  - name: job
	    volumeMounts:
	    - {name: scratch, mountPath: /scratch}
	    - {name: conf, mountPath: /conf, readOnly: true}
	END
    k -n jobs-daemon create configmap conf --from-literal=greeting=hello &&
    submit daemon -q own --pod-template pod.yaml -- sh -c "cp /conf/greeting /scratch/there && cat /scratch/there; sleep 300" &&
    wait_until 60 grep -q hello "$work/out-$id" && pod=$(k -n jobs-daemon get pods -l "fluxq.io/job-id=$id,example.org/team=hpc" -o name) &&
    [ -n "$pod" ] && [ "$(get jobs-daemon "$pod" "" "[.metadata.annotations[\"example.org/note\"], .spec.dnsConfig.options[0].value]")" = \
        "[\"one line\",\"3\"]" ] && fluxq-cancel "$id" && wait_until 60 no_pods_in jobs-daemon "$id" &&
    refuses "pod-template: queue users does not allow its jobs to have one" -q users --pod-template pod.yaml &&
    echo "spec: {volumes: [{name: a, secret: {secretName: a}}]}" >"$work/pod.yaml" &&
    refuses "pod-template: spec.volumes.secret: queue own does not allow this field" -q own --pod-template pod.yaml &&
    echo "spec: {hostPID: true}" >"$work/pod.yaml" && refuses "pod-template: spec.hostPID: " -q own --pod-template pod.yaml
'

test_expect_success 'pods in other namespaces with fluxq'\''s labels count as foreign, and are no rank of the job' '
    start_hold daemon -q users && victim=$id && before=$(foreign) && k create namespace strange &&
    lookalike strange "fluxq-$CLUSTER_ID-$victim-0-0" "$victim" && wait_until 30 foreign_is $((before + 1000)) &&
    fluxq-cancel "$victim" && wait_job_state "$victim" CANCELLED 60 && [ "$(pods_in jobs-daemon "$victim")" = 0 ] &&
    [ "$(pods_in strange "$victim")" = 1 ] && foreign_is $((before + 1000))
'

test_expect_success 'the sweep removes objects without a job in every namespace of fluxq, and none elsewhere' '
    ours="app.kubernetes.io/managed-by=fluxq fluxq.io/cluster=$CLUSTER_ID fluxq.io/job-id=99999 fluxq.io/attempt=0" &&
    stop_broker && for in in jobs-daemon closed-1 team strange; do
        labelled "$in" configmap "fluxq-$CLUSTER_ID-99999-0" $ours && labelled "$in" configmap another-name $ours || return 1
    done && start_broker --kube --config "$HERE/kube.yaml" &&
    for in in jobs-daemon closed-1 team; do
        wait_until 30 test_must_fail k -n "$in" get configmap "fluxq-$CLUSTER_ID-99999-0" && k -n "$in" get configmap another-name || return 1
    done && k -n strange get configmap "fluxq-$CLUSTER_ID-99999-0" && [ "$(pods_in strange "$victim")" = 1 ] &&
    for in in jobs-daemon closed-1 team strange; do k -n "$in" delete configmap another-name || return 1; done &&
    k delete namespace strange
'

test_expect_success 'a running job stays in its namespace, also if the queue has another one after a restart' '
    start_hold daemon -q users && stays=$id && start_hold nobody -q users && goes=$id && kill_broker && queues "moved-%u" &&
    start_broker --kube --config "$HERE/kube.yaml" && wait_job_state "$stays" RUNNING 30 &&
    wait_until 30 test "$(pods_in jobs-daemon "$stays")" = 1 && fluxq-cancel "$stays" "$goes" &&
    wait_job_state "$stays" CANCELLED 60 && wait_until 60 no_pods_in jobs-daemon "$stays" && wait_until 60 no_pods_in jobs-nobody "$goes" &&
    runs_in moved-daemon daemon -q users
'

test_expect_success 'when the namespace is deleted the job ends, and the next job has a new namespace' '
    start_hold daemon -q users --no-requeue && lost=$id && timeout 120 "$KUBE/enter" kubectl delete namespace moved-daemon --wait=false &&
    wait_job_state "$lost" "NODE_FAIL|CANCELLED|FAILED" 120 && submit daemon -q users -- true && wait_job_state "$id" COMPLETED 120 &&
    [ "$(get moved-daemon resourcequota fluxq .spec.hard)" = "{\"pods\":\"2\"}" ]
'

test_expect_success 'no object is left in any namespace, and the namespaces stay' '
    stop_broker && wait_until 60 nothing_of_ours && k get namespace jobs-daemon jobs-nobody moved-daemon
'

test_done
