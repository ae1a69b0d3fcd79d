#!/bin/sh
# t4215-kube-told.t: messages to users about troubles of the cluster, and objects that the broker makes
# again. Needs root.

test_description='late starts show their reason, and a deleted agent'"'"'s ConfigMap is made again

A job that waits for a missing object without a reason, or forever for an object that the broker can make
again, would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4215

own_cluster --nodes 2

reason_has() { job_field "$1" reason_text >reason && grep -q -e "$2" reason; }
agent_map() { k get configmaps -o name | grep "^configmap/fluxq-agent-$CLUSTER_ID-"; }
other_agent_map() { now=$(agent_map) && now=$(k get "$now" -o jsonpath="{.metadata.uid}") && [ -n "$now" ] && [ "$now" != "$1" ]; }

test_expect_success 'the broker runs, with a queue that names a missing Secret' '
    write_config "$configs/fluxq.kubeconfig" "start-timeout: 25s" "start-backoff: 1s" "start-backoff-max: 1s" \
        "queues: {batch: {default: true}, keys: {mounts: [{path: /keys, volume: {secret: {secretName: nowhere}}}]}, apart: {pods: {namespace: apart}}}" &&
    "$KUBE/enter" kubectl create namespace apart && "$KUBE/enter" kubectl -n apart create rolebinding fluxq-runner --clusterrole=fluxq-runner --user=fluxq &&
    start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 sh -c "fluxq-info --json | grep -q node2"
'

test_expect_success 'when the agent'\''s ConfigMap is deleted it is made again, and the next job starts' '
    id=$(fluxq-submit -w node1 -- sleep 1000) && wait_job_state $id RUNNING 60 && map=$(agent_map) &&
    uid=$(k get $map -o jsonpath="{.metadata.uid}") && k delete $map && wait_until 30 other_agent_map $uid &&
    next=$(fluxq-submit -w node2 -- true) && wait_job_state $next COMPLETED 60 && [ "$(job_field $next restarts)" = 0 ] &&
    grep "the agent.s ConfigMap .* was deleted, not by fluxq" "$BROKER_LOG"
'

test_expect_success 'when all ConfigMaps are deleted together, twice, the agent'\''s ConfigMap is made again' '
    for i in 1 2; do
        map=$(agent_map) && uid=$(k get $map -o jsonpath="{.metadata.uid}") &&
        k delete configmaps -l app.kubernetes.io/managed-by=fluxq --field-selector metadata.name=${map#configmap/} &&
        wait_until 30 other_agent_map $uid || return 1
    done && fluxq-cancel $id && wait_job_state $id CANCELLED 60
'

test_expect_success 'a missing Secret of the queue is the reason while the job starts, and the reason of its failure' '
    id=$(fluxq-submit -q keys -- true) && wait_until 40 reason_has $id "rank 0 on node.*FailedMount.*secret \"nowhere\" not found" &&
    [ "$(job_field $id state)" = CONFIGURING ] && fluxq-show job $id | grep FailedMount &&
    echo $id >secret-job &&
    again() { [ "$(job_field $id restarts)" -ge 1 ]; } && wait_until 60 again && said $id "not ready after.*FailedMount.*nowhere" &&
    k create secret generic nowhere --from-literal=a=b && wait_job_state $id COMPLETED 120
'

events_of() { k get events.events.k8s.io -o json | jq -r --arg n "fluxq-$CLUSTER_ID-$1-" '.items[] | select(.regarding.kind == "Job" and (.regarding.name | startswith($n))) | "\(.regarding.name) \(.reason) \(.note)"'; }
has_event() { events_of "$1" >told && grep -q -e "$2" told; }

test_expect_success 'the events of a Job tell why its job was queued, started and ended, with at most two events for an attempt' '
    fluxq-ctl queue stop batch && id=$(fluxq-submit -- sh -c "sleep 3; exit 3") && held=$(fluxq-submit --dependency afterany:$id -- true) &&
    sleep_some() { fluxq-show job $id --json | jq -e "now - .submit_time > 2"; } && wait_until 20 sleep_some && fluxq-ctl queue start batch &&
    wait_job_state $id RUNNING 60 && wait_until 20 has_event $id "Started job $id of root: submitted to queue batch at 20.*for its turn and its nodes.*runs on node" &&
    k describe job fluxq-$CLUSTER_ID-$id-0 >described && grep "Started.*fluxq.io/broker.*job $id of root" described &&
    wait_job_state $id FAILED 60 && wait_until 20 has_event $id "Failed job $id: exited, status 3" && [ "$(wc -l <told)" = 2 ] &&
    wait_job_state $held COMPLETED 60 && wait_until 20 has_event $held "Started.*held, or for other jobs" && wait_until 20 has_event $held "Completed job $held" &&
    id=$(fluxq-submit -- sleep 1000) && wait_job_state $id RUNNING 60 && fluxq-cancel $id && wait_until 20 has_event $id "Cancelled job $id: cancelled, signal"
'

test_expect_success 'failed starts, and the next start, are in the events, too' '
    id=$(cat secret-job) && has_event $id "StartFailed job $id: may be queued again: .*nowhere" && has_event $id "StartedAgain.*after: .*nowhere"
'

test_expect_success 'when the namespace is deleted the job is requeued, or cancelled if the Job went before its pods' '
    id=$(fluxq-submit -q apart -- sleep 1000) && wait_job_state $id RUNNING 60 && "$KUBE/enter" kubectl delete namespace apart --wait=false &&
    told() { said $id "pod of rank 0 was deleted" || said $id "Job .* was deleted"; } && wait_until 60 told &&
    no_namespace() { test_must_fail "$KUBE/enter" kubectl get namespace apart; } && wait_until 60 no_namespace
'

test_expect_success 'without the namespace no job starts there and none is lost, and jobs start when the namespace is back' '
    next=$(fluxq-submit -q apart -- true) && wait_until 60 said $next "requeue.*\(in the namespace .*apart\|in namespace apart\|namespaces .*apart\)" &&
    "$KUBE/enter" kubectl create namespace apart && "$KUBE/enter" kubectl -n apart create rolebinding fluxq-runner --clusterrole=fluxq-runner --user=fluxq &&
    wait_job_state $next COMPLETED 120 && wait_job_state $id "RUNNING|CANCELLED" 120 && { fluxq-cancel $id || :; } && wait_job_state $id CANCELLED 60
'

policy_of() { k get networkpolicy "fluxq-$CLUSTER_ID-user-$1" -o json >policy; }
test_expect_success 'each user has a network policy for only that user'\''s pods, and jobs of several pods run' '
    id=$(fluxq-submit -N 2 -n 2 -- sleep 1000) && wait_job_state $id RUNNING 60 &&
    setpriv --reuid daemon --regid daemon --init-groups fluxq-submit -o /dev/null -- true >other && wait_job_state $(cat other) COMPLETED 60 &&
    for uid in 0 $(id -u daemon); do
        policy_of $uid && jq -e --arg u $uid ".spec.podSelector.matchLabels as \$s | \$s[\"fluxq.io/uid\"] == \$u and \$s[\"fluxq.io/cluster\"] == \"$CLUSTER_ID\" and
            .spec.policyTypes == [\"Ingress\"] and .spec.ingress[0] == {from: [{podSelector: {matchLabels: \$s}}]} and
            [.spec.ingress[1].ports[].port] == [7717]" policy || return 1
    done &&
    [ "$(k get pods -l fluxq.io/job-id=$id,fluxq.io/uid=0 -o name | wc -l)" = 2 ] && fluxq-cancel $id && wait_job_state $id CANCELLED 60
'

test_expect_success 'with user-policies: false no network policy is made' '
    k delete networkpolicies --all && stop_broker && echo "  user-policies: false" >>kube.yaml &&
    start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 sh -c "fluxq-info --json | grep -q node2" &&
    id=$(fluxq-submit -- true) && wait_job_state $id COMPLETED 60 && [ -z "$(k get networkpolicies -o name)" ]
'

test_expect_success 'a kubeconfig that checks no certificate gives a warning at each start, and other kubeconfigs give none' '
    ! grep insecure "$BROKER_LOG" && stop_broker && "$KUBE/enter" kubectl --kubeconfig "$configs/fluxq.kubeconfig" config view --raw -o json |
        jq "del(.clusters[].cluster[\"certificate-authority\", \"certificate-authority-data\"]) | .clusters[].cluster[\"insecure-skip-tls-verify\"] = true" >lax.json &&
    cp kube.yaml strict.yaml && sed -i "s|kubeconfig: .*|kubeconfig: $HERE/lax.json|" kube.yaml &&
    for start in 1 2; do
        start_broker --kube --config "$HERE/kube.yaml" && wait_until 30 sh -c "fluxq-info --json | grep -q node2" && stop_broker || return 1
    done && [ "$(grep -c "warning: .*insecure-skip-tls-verify" "$BROKER_LOG")" = 2 ] && mv strict.yaml kube.yaml
'

test_done
