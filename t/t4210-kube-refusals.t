#!/bin/sh
# t4210-kube-refusals.t: refusals of the cluster, and changes of fluxq's objects by others. Needs root; about
# 2 minutes.

test_description='refusals of the cluster, objects that are edited by hand, finalizers that are never removed

A job that ends or waits without naming the object, its holder and the reason, that is failed for good because
of an administrator, or that runs on although its Job was stopped would fail this. Quotas, tokens and
deletions are in t4200, images in t4110, evictions in t4205.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4210

# with [KUBECONFIG [LINE...]]: restarts the broker with these settings.
with()
{
    kubeconfig=${1:-$configs/fluxq.kubeconfig}
    [ $# -eq 0 ] || shift
    write_config "$kubeconfig" "start-backoff: 1s" "start-backoff-max: 2s" "start-retries: 20" "$@" &&
        { [ -z "$BROKER_PID" ] || stop_broker; } && start_broker --kube --config "$HERE/kube.yaml"
}

reason_is() # ID TEXT: fluxq-show job shows this reason now
{
    fluxq-show job "$1" >shown && grep -q "^ *Reason.*$2" shown
}

ends() # ID STATE TEXT
{
    wait_job_state "$1" "$2" 90 && job_field "$1" result_text >text && grep "$3" text
}

# policy RESOURCE GROUP EXPRESSION MESSAGE: a policy in force until `no_policy`; it ignores objects without
# fluxq's label.
policy()
{
    k create -f - <<END && wait_until 30 policy_refuses "$1"
apiVersion: v1
kind: List
items:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: t4210}
  spec:
    failurePolicy: Fail
    matchConstraints: {resourceRules: [{apiGroups: ["$2"], apiVersions: [v1], operations: [CREATE], resources: [$1]}]}
    validations: [{expression: '$3', message: '$4'}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: t4210}
  spec: {policyName: t4210, validationActions: [Deny]}
END
}

policy_refuses() # RESOURCE
{
    ! k create --dry-run=server -f "sample-$1.yaml" 2>refusal && grep -q t4210 refusal
}

no_policy()
{
    k delete validatingadmissionpolicybinding,validatingadmissionpolicy t4210 --ignore-not-found
}

cat >sample-pods.yaml <<END
{apiVersion: v1, kind: Pod, metadata: {name: sample, labels: {fluxq.io/user: root}},
 spec: {containers: [{name: c, image: "busybox:1"}]}}
END
cat >sample-jobs.yaml <<END
{apiVersion: batch/v1, kind: Job, metadata: {name: sample, labels: {fluxq.io/user: root}},
 spec: {completions: 2, suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "busybox:1"}]}}}}
END

own_cluster --nodes 2

# ---- refusals ----

test_expect_success 'if the namespace is missing the job shows this reason, and runs when the namespace exists' '
    with "$configs/admin.kubeconfig" "  namespace: nowhere" &&
    id=$(fluxq-submit -o nowhere.out -- echo there) &&
    wait_until 30 said $id "requeue.*namespaces .*nowhere.* not found" &&
    wait_until 10 reason_is $id "namespaces .*nowhere.* not found" &&
    k create namespace nowhere && wait_job_state $id COMPLETED 90 && [ "$(cat nowhere.out)" = there ]
'

test_expect_success 'if a policy refuses the Job, the job fails at once with the policy'\''s message' '
    with && test_when_finished no_policy &&
    policy jobs batch "object.spec.completions < 2" "t4210: no two of us" &&
    id=$(fluxq-submit -N 2 -o policy.out -- true) && ends $id FAILED "t4210: no two of us" &&
    [ "$(count_events $id requeue)" = 0 ]
'

test_expect_success 'if a policy refuses pods of the broker, the job fails with the policy'\''s message' '
    with "" "  pods: broker" && test_when_finished no_policy &&
    policy pods "" "!has(object.metadata.labels) || !(\"fluxq.io/user\" in object.metadata.labels)" "t4210: none of ours" &&
    id=$(fluxq-submit -N 2 -o policy.out -- true) && ends $id FAILED "t4210: none of ours"
'

test_expect_success 'if a policy refuses pods of the Job controller, the job shows the policy'\''s message until the pods are admitted' '
    with "" "start-timeout: 4s" "pull-timeout: 4s" "  pods: controller" && test_when_finished no_policy &&
    policy pods "" "!has(object.metadata.labels) || !(\"fluxq.io/user\" in object.metadata.labels)" "t4210: none of yours" &&
    id=$(fluxq-submit -N 2 -o policy.out -- true) &&
    wait_until 60 said $id "requeue.*2 of 2 pods were not made.*t4210: none of yours" &&
    reason_is $id "t4210: none of yours" && no_policy && wait_job_state $id COMPLETED 90
'

test_expect_success 'if a webhook does not answer the start is tried again with the reason' '
    with && test_when_finished "k delete validatingwebhookconfiguration t4210 --ignore-not-found" &&
    k create -f - <<-\END &&
	apiVersion: admissionregistration.k8s.io/v1
	kind: ValidatingWebhookConfiguration
	metadata: {name: t4210}
	webhooks:
	- name: t4210.example.com
	  clientConfig: {url: "https://127.0.0.1:1/refuse"}
	  failurePolicy: Fail
	  sideEffects: None
	  timeoutSeconds: 2
	  admissionReviewVersions: [v1]
	  rules: [{apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}]
	END
    wait_until 30 eval "! k create --dry-run=server -f sample-jobs.yaml" &&
    id=$(fluxq-submit -o webhook.out -- true) && wait_until 60 said $id "requeue.*failed calling webhook .*t4210.example.com" &&
    k delete validatingwebhookconfiguration t4210 && wait_job_state $id COMPLETED 90
'

# ---- changes by hand ----

# If the broker makes the pods, the content of the Job does not matter.
test_expect_success 'when a Job is suspended by hand the job is requeued with this reason' '
    with "" "  pods: controller" &&
    id=$(fluxq-submit --requeue -N 2 -n 2 -o edit.out -- sh -c "[ \$FLUXQ_RESTART_COUNT ] || sleep 300; echo again") &&
    wait_job_state $id RUNNING 60 && k patch job fluxq-t4210-$id-0 -p "{\"spec\":{\"suspend\":true}}" &&
    wait_until 60 said $id "requeue.*its Job fluxq-t4210-$id-0 was suspended, not by fluxq" && wait_job_state $id COMPLETED 90
'

test_expect_success 'when the parallelism of a Job is lowered the job ends with this reason' '
    id=$(fluxq-submit --no-requeue -N 2 -n 2 -o edit.out -- sleep 300) && wait_job_state $id RUNNING 60 &&
    k patch job fluxq-t4210-$id-0 -p "{\"spec\":{\"parallelism\":1}}" &&
    ends $id NODE_FAIL "its Job fluxq-t4210-$id-0 was changed: parallelism is 1 instead of 2"
'

test_expect_success 'when the labels of a Job are removed the job ends normally, and nothing is left' '
    with &&
    id=$(fluxq-submit -o labels.out -- sleep 3) && wait_job_state $id RUNNING 60 &&
    k label job fluxq-t4210-$id-0 fluxq.io/cluster- fluxq.io/job-id- app.kubernetes.io/managed-by- &&
    wait_job_state $id COMPLETED 60 && wait_until 60 eval "! k get job fluxq-t4210-$id-0" && wait_until 60 no_jobs_of_ours
'

# ---- objects that cannot be removed ----

cores_used()
{
    [ "$(fluxq-info --json | jq "[.nodes[].cores_used] | add")" = "$1" ]
}

test_expect_success 'when a finalizer keeps an ended pod the nodes are free, and the job names the pod, the finalizer and a remedy' '
    wait_until 30 cores_used 0 && id=$(fluxq-submit -c 3 -o hang.out -- sleep 300) && wait_job_state $id RUNNING 60 &&
    pod=$(k get pods -l fluxq.io/job-id=$id -o name) &&
    k patch $pod --type=merge -p "{\"metadata\":{\"finalizers\":[\"t.example/hangs\"]}}" &&
    fluxq-cancel $id &&
    wait_until 90 reason_is $id "pod ${pod#pod/} on node1 is kept by its finalizer t.example/hangs.*kubectl -n fluxq patch pod ${pod#pod/}" &&
    cores_used 0 && other=$(fluxq-submit -c 3 -- true) && wait_job_state $other COMPLETED 60 &&
    [ "$(job_field $id state)" = COMPLETING ] && k patch $pod --type=merge -p "{\"metadata\":{\"finalizers\":null}}" &&
    wait_job_state $id CANCELLED 30 && wait_until 60 no_jobs_of_ours
'

test_expect_success 'after kill -9 of the broker with a kept pod the job has ended, and its nodes are free' '
    id=$(fluxq-submit -c 3 -o hang.out -- sleep 300) && wait_job_state $id RUNNING 60 &&
    pod=$(k get pods -l fluxq.io/job-id=$id -o name) &&
    k patch $pod --type=merge -p "{\"metadata\":{\"finalizers\":[\"t.example/hangs\"]}}" &&
    fluxq-cancel $id && wait_until 60 cores_used 0 && [ "$(job_field $id state)" = COMPLETING ] &&
    kill_broker && start_broker --kube --config "$HERE/kube.yaml" && wait_job_state $id CANCELLED 30 && cores_used 0 &&
    k patch $pod --type=merge -p "{\"metadata\":{\"finalizers\":null}}" && wait_until 60 no_jobs_of_ours
'

test_expect_success 'when a finalizer keeps the Job its pods are removed and its nodes are free, and the log names the Job' '
    id=$(fluxq-submit -N 2 -n 2 -o hang.out -- sleep 300) && wait_job_state $id RUNNING 60 &&
    k patch job fluxq-t4210-$id-0 --type=merge -p "{\"metadata\":{\"finalizers\":[\"t.example/hangs\"]}}" &&
    fluxq-cancel $id && wait_job_state $id CANCELLED 60 && wait_until 60 cores_used 0 &&
    grep "its Job fluxq-t4210-$id-0 is deleted, but its finalizer t.example/hangs keeps it" "$BROKER_LOG" &&
    k get pods -l fluxq.io/job-id=$id -o name >pods && ! [ -s pods ] && k get job fluxq-t4210-$id-0 &&
    k patch job fluxq-t4210-$id-0 --type=merge -p "{\"metadata\":{\"finalizers\":null}}" && wait_until 60 no_jobs_of_ours
'

test_expect_success 'after all jobs no object of this cluster id is left' '
    stop_broker && wait_until 60 nothing_of_ours
'

test_done
