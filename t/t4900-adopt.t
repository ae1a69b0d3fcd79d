#!/bin/sh
# t4900-adopt.t: Jobs that others create are queued, planned, released and ended like jobs. Needs
# root.

test_description='adopted Jobs: kubectl creates them, and the queue decides when they run

A Job that runs outside the plan, runs twice, is lost by a restart or belongs to the wrong user would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4900

own_cluster --nodes 3 --apiserver-arg --feature-gates=MutatingAdmissionPolicy=true \
    --apiserver-arg --runtime-config=admissionregistration.k8s.io/v1beta1=true

team() { ns=$1; shift; timeout 60 "$KUBE/enter" kubectl -n "$ns" "$@"; }

# new_job NAME LINE...: creates a Job in team-a. Lines belong to its spec (two spaces), its pods' spec
# (six), its metadata (meta: LINE) or its container (eight); the container runs $RUNS.
new_job()
{
    name=$1
    shift
    {
        printf '%s\n' 'apiVersion: batch/v1' 'kind: Job' 'metadata:' "  name: $name" '  namespace: team-a'
        for line; do case $line in meta:*) echo "${line#meta:}" ;; esac; done
        printf '%s\n' "  labels: {fluxq.io/queue: ${QUEUE:-batch}}" 'spec:' '  suspend: true'
        for line; do case $line in meta:* | '      '*) ;; *) echo "$line" ;; esac; done
        printf '%s\n' '  template:' '    spec:' '      restartPolicy: Never' '      terminationGracePeriodSeconds: 1'
        for line; do case $line in '        '*) ;; '      '*) echo "$line" ;; esac; done
        printf '%s\n' '      containers:' '      - name: main' '        image: busybox:1' \
            '        imagePullPolicy: IfNotPresent' "        command: [sh, -c, '${RUNS:-true}']" \
            "        resources: {requests: {cpu: '${CPU:-1}', memory: ${MEM:-16Mi}}}"
        for line; do case $line in '        '*) echo "$line" ;; esac; done
    } >"$name.yaml"
    team team-a create -f "$HERE/$name.yaml"
}

# job_of NAME: prints the id of the Job's job.
job_of() { fluxq-queue -t all --json 2>/dev/null | jq -r --arg n "team-a/$1" '.jobs[] | select(.name == $n) | .id' | tail -n 1; }
has_job() { [ -n "$(job_of "$1")" ]; }
adopted() { wait_until 30 has_job "$1" && id=$(job_of "$1"); }
status_of() { team team-a get job "$1" -o jsonpath='{.metadata.annotations.fluxq\.io/status}'; }
has_status() { [ "$(status_of "$1")" = "$2" ]; }
suspended() { [ "$(team team-a get job "$1" -o jsonpath='{.spec.suspend}')" = true ]; }
pods_of() { team team-a get pods -l "job-name=$1" "${2:---no-headers}"; }
no_pods() { [ -z "$(pods_of "$1" 2>/dev/null)" ]; }
# pods_on NAME: prints "NODE COUNT" of the Job's pods.
pods_on() { team team-a get pods -l "job-name=$1" -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | sort | uniq -c | awk '{ print $2, $1 }'; }
new_broker() { start_broker --kube --config "$HERE/kube.yaml"; }

test_expect_success 'two namespaces, the rights, the policies and an adopting broker are there' '
    for ns in team-a team-b other; do "$KUBE/enter" kubectl create namespace $ns || return 1; done &&
    "$KUBE/enter" kubectl apply -f "$FLUXQ_SOURCE_DIR/etc/kubernetes/adopt.yaml" &&
    for ns in team-a team-b; do
        team $ns create rolebinding fluxq-adopter --clusterrole=fluxq-adopter --user=fluxq || return 1
    done &&
    write_config "$configs/fluxq.kubeconfig" "  adopt: {namespaces: {team-a: daemon, team-b: null}, priority-classes: {urgent: 24}, owner-policy: fluxq-adopt-owner}" &&
    new_broker && for i in 1 2 3; do wait_until 30 sh -c "fluxq-info --json | grep -q node$i" || return 1; done
'

test_expect_success 'a Job becomes a job of its namespace'\''s user, runs and completes' '
    RUNS="sleep 2" new_job first "  parallelism: 2" "  completions: 2" "  activeDeadlineSeconds: 300" && adopted first &&
    wait_job_state $id COMPLETED 60 && [ "$(job_field $id user)" = daemon ] && [ "$(job_field $id ntasks)" = 2 ] &&
    [ "$(job_field $id time_limit)" = 300 ] && fluxq-show job $id >shown && grep "Adopted: *Job team-a/first" shown &&
    team team-a wait --for=condition=complete --timeout=10s job/first &&
    wait_until 20 has_status first COMPLETED &&
    [ "$(team team-a get job first -o jsonpath="{.metadata.annotations.fluxq\.io/job-id}")" = $id ]
'

test_expect_success 'a copy of a Job, with everything that the broker wrote on it, is another job' '
    team team-a get job first -o json | jq "del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .status, .spec.selector,
        .spec.template.metadata.labels) | .metadata.name = \"second\" | .metadata.labels |= with_entries(select(.key | startswith(\"fluxq\"))) | .spec.suspend = true" >second.json &&
    grep -q "fluxq.io/status.*COMPLETED" second.json && team team-a create -f "$HERE/second.json" && adopted second && wait_job_state $id COMPLETED 60 &&
    wait_until 20 has_status second COMPLETED && [ "$(team team-a get job second -o jsonpath="{.metadata.annotations.fluxq\.io/job-id}")" = $id ] &&
    adopted first && uid=$(team team-a get job second -o jsonpath="{.metadata.uid} {.metadata.annotations.fluxq\.io/status-of}") && [ "${uid% *}" = "${uid#* }" ]
'

test_expect_success 'the events of the Job tell when and where it was released' '
    team team-a get events.events.k8s.io -o jsonpath="{range .items[*]}{.regarding.name} {.reason} {.note}{\"\n\"}{end}" >events &&
    grep "^first Running job $id: RUNNING: node" events && grep "^first Completed" events
'

test_expect_success 'a failed Job is a failed job, with its status' '
    RUNS="exit 7" new_job fails "  backoffLimit: 0" && adopted fails && wait_job_state $id FAILED 60 &&
    [ "$(job_field $id exit_code)" = 7 ] && fluxq-show job $id | grep BackoffLimitExceeded && wait_until 20 has_status fails FAILED
'

test_expect_success 'a Job that does not fit waits with its reason, and starts when nodes are free' '
    RUNS="while [ ! -e /tmp/go ]; do sleep 0.2; done" CPU=3 new_job large "  parallelism: 3" "  completions: 3" "  backoffLimit: 0" && adopted large &&
    large=$id && wait_job_state $large RUNNING 60 && pods_on large >on && [ "$(wc -l <on)" = 3 ] &&
    CPU=2 new_job waits "  parallelism: 2" "  completions: 2" && adopted waits && waits=$id &&
    wait_until 30 has_status waits "PENDING (Resources)" && suspended waits && no_pods waits &&
    team team-a get jobs -o wide -L fluxq.io/state >wide && grep "^waits *Suspended.*PENDING.Resources" wide &&
    fluxq-queue >queue && grep "team-a/w" queue &&
    [ "$(job_field $waits state)" = PENDING ]
'

test_expect_success 'after kill -9 of the broker the running Job goes on, the pending one waits, and no second job exists' '
    fluxq-queue -t all --no-header -o %i | sort >before && kill_broker && new_broker &&
    wait_job_state $large RUNNING 30 && fluxq-queue -t all --no-header -o %i | sort >after && test_cmp before after &&
    [ "$(job_field $large restarts)" = 0 ] && no_pods waits
'

test_expect_success 'signals, steps and output of an adopted Job, which has no agent, are refused with its name' '
    test_must_fail fluxq-cancel -s USR1 $large 2>err && grep "Job team-a/large.*kubectl" err &&
    test_must_fail fluxq-logs $large 2>err && grep "Job team-a/large.*kubectl" err
'

test_expect_success 'a cancelled running Job is suspended, its pods go, and the next one starts' '
    fluxq-cancel $large && wait_job_state $large CANCELLED 60 && suspended large && wait_until 20 no_pods large &&
    wait_job_state $waits COMPLETED 60 && wait_until 20 has_status large CANCELLED
'

test_expect_success 'a cancelled Job that somebody resumes is suspended again' '
    team team-a patch job large --type=merge -p "{\"spec\":{\"suspend\":false}}" &&
    wait_until 30 suspended large && wait_until 30 no_pods large
'

test_expect_success 'after kill -9 during a release the Job runs once, with all its pods' '
    fluxq-ctl queue stop batch && RUNS="sleep 2" new_job torn "  parallelism: 3" "  completions: 3" && adopted torn &&
    fluxq-ctl queue start batch && kill_broker && new_broker && wait_job_state $id COMPLETED 90 &&
    [ "$(pods_of torn | wc -l)" = 3 ] && [ "$(team team-a get job torn -o jsonpath="{.status.succeeded} {.status.failed}")" = "3 " ]
'

test_expect_success 'deleting the Job cancels the job, pending or running' '
    fluxq-ctl queue stop batch && new_job gone1 && adopted gone1 && team team-a delete job gone1 --wait=false &&
    wait_job_state $id CANCELLED 30 && fluxq-show job $id | grep "team-a/gone1 was deleted" &&
    fluxq-ctl queue start batch && RUNS="sleep 1000" new_job gone2 && adopted gone2 && wait_job_state $id RUNNING 60 &&
    team team-a delete job gone2 --wait=false && wait_job_state $id CANCELLED 60 && wait_until 30 no_pods gone2
'

test_expect_success 'the next broker detects a Job that was deleted without a broker' '
    fluxq-ctl queue stop batch && new_job gone3 && adopted gone3 && kill_broker &&
    team team-a delete job gone3 --wait=false && new_broker && wait_job_state $id CANCELLED 30 && fluxq-ctl queue start batch
'

test_expect_success 'fluxq binds the pods of a Job with "schedulerName: fluxq" to their planned nodes' '
    RUNS="sleep 3" CPU=2 new_job binds "  parallelism: 5" "  completions: 5" "      schedulerName: fluxq" && adopted binds &&
    wait_job_state $id RUNNING 60 && pods_on binds >on && awk "\$2 > 2 { exit 1 }" on && wait_job_state $id COMPLETED 60
'

test_expect_success 'with another scheduler every pod gets its planned node' '
    RUNS="sleep 3" CPU=1500m new_job exact "  parallelism: 4" "  completions: 4" && adopted exact &&
    wait_job_state $id RUNNING 60 && pods_on exact >on &&
    fluxq-show job $id --json | jq -r ".ranks[] | \"\(.node) \(.slots)\"" | sort >planned && test_cmp planned on &&
    wait_job_state $id COMPLETED 60
'

test_expect_success 'with more completions than places the pods follow each other in the same places' '
    RUNS="sleep 1" new_job many "  parallelism: 2" "  completions: 6" && adopted many && wait_job_state $id COMPLETED 90 &&
    [ "$(job_field $id ntasks)" = 2 ] && [ "$(team team-a get job many -o jsonpath="{.status.succeeded}")" = 6 ]
'

test_expect_success 'with a minimum number a Job starts with as many pods as fit' '
    RUNS="sleep 3" CPU=3 new_job elastic "  parallelism: 5" "  completions: 5" "meta:  annotations: {fluxq.io/min-parallelism: \"2\"}" &&
    adopted elastic && wait_job_state $id RUNNING 60 && [ "$(job_field $id ntasks)" = 3 ] && wait_job_state $id COMPLETED 90
'

test_expect_success 'a Job that is not suspended is suspended at its creation' '
    RUNS="sleep 2" new_job eager "  parallelism: 1" >out && sed "s/eager/keen/; s/suspend: true/suspend: false/" eager.yaml >keen.yaml &&
    fluxq-ctl queue stop batch && team team-a create -f "$HERE/keen.yaml" && suspended keen && adopted keen &&
    fluxq-ctl queue start batch && wait_job_state $id COMPLETED 60
'

test_expect_success 'without the policy the broker suspends the Job when it sees it' '
    "$KUBE/enter" kubectl delete mutatingadmissionpolicybinding fluxq-adopt-suspend && fluxq-ctl queue stop batch &&
    sed "s/eager/late/; s/suspend: true/suspend: false/; s/sleep 2/sleep 1000/" eager.yaml >late.yaml &&
    not_suspended() { team team-a create --dry-run=server -o json -f "$HERE/late.yaml" | jq -e ".spec.suspend | not"; } &&
    wait_until 20 not_suspended &&
    team team-a create -f "$HERE/late.yaml" && adopted late && wait_until 30 suspended late && wait_until 30 no_pods late &&
    fluxq-cancel $id && fluxq-ctl queue start batch
'

test_expect_success 'a Job of another controller (a child of a JobSet) is adopted like any other' '
    uid=$(team team-a create configmap parent -o jsonpath="{.metadata.uid}") &&
    RUNS="sleep 1" new_job child "meta:  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: parent, uid: $uid, controller: true}]" &&
    adopted child && wait_job_state $id COMPLETED 60
'

test_expect_success 'a Job that cannot be planned is refused with the reason, and stays suspended' '
    new_job pinned "      nodeName: node1" && wait_until 30 has_status pinned REFUSED && suspended pinned && ! has_job pinned &&
    QUEUE=nowhere new_job lost && wait_until 30 has_status lost REFUSED &&
    team team-a get events.events.k8s.io -o jsonpath="{range .items[*]}{.regarding.name} {.type} {.note}{\"\n\"}{end}" >events &&
    grep "^pinned Warning spec.nodeName" events && grep "^lost Warning.*nowhere.* does not exist" events
'

test_expect_success 'a PriorityClass that the configuration names raises the urgency, and another class does not' '
    for class in urgent loud; do "$KUBE/enter" kubectl create priorityclass $class --value=1000 || return 1; done && fluxq-ctl queue stop batch &&
    new_job plain && adopted plain && plain=$(job_field $id priority) && new_job vain "      priorityClassName: loud" && adopted vain && [ "$(job_field $id urgency)" = 16 ] &&
    new_job ahead "      priorityClassName: urgent" && adopted ahead && [ "$(job_field $id urgency)" = 24 ] &&
    [ "$(job_field $id priority)" -gt "$plain" ] && fluxq-ctl queue start batch && wait_job_state $id COMPLETED 60
'

test_expect_success 'only users that the policy allows may name an owner' '
    sed "s/eager/named/; s/team-a/team-b/; s/^  labels/  annotations: {fluxq.io\/owner: nobody}\n  labels/" eager.yaml >named.yaml &&
    test_must_fail team team-b --as=mallory --as-group=system:masters create -f "$HERE/named.yaml" 2>err && grep fluxq-adopt-owner err &&
    team team-b --as=portal --as-group=fluxq:owners --as-group=system:masters create -f "$HERE/named.yaml" &&
    named() { fluxq-queue -t all --json | jq -e ".jobs[] | select(.name == \"team-b/named\" and .user == \"nobody\")"; } &&
    wait_until 30 named
'

test_expect_success 'without the policy in force no named owner is accepted' '
    "$KUBE/enter" kubectl delete validatingadmissionpolicybinding fluxq-adopt-owner && kill_broker && new_broker &&
    sed "s/named/unproved/" named.yaml >unproved.yaml && said_owner() { grep -q "fluxq.io/owner is not believed" "$BROKER_LOG"; } &&
    wait_until 20 said_owner && wait_until 20 team team-b create -f "$HERE/unproved.yaml" &&
    refused() { [ "$(team team-b get job unproved -o jsonpath="{.metadata.annotations.fluxq\.io/status}")" = REFUSED ]; } &&
    wait_until 30 refused && "$KUBE/enter" kubectl apply -f "$FLUXQ_SOURCE_DIR/etc/kubernetes/adopt.yaml" >applied && cat applied
'

test_expect_success 'Jobs in a namespace that is not configured are not changed' '
    sed "s/team-a/other/; s/eager/free/; s/suspend: true/suspend: false/" eager.yaml >free.yaml &&
    "$KUBE/enter" kubectl delete mutatingadmissionpolicybinding fluxq-adopt-suspend &&
    not_suspended() { team other create --dry-run=server -o json -f "$HERE/free.yaml" | jq -e ".spec.suspend | not"; } &&
    wait_until 20 not_suspended &&
    team other create -f "$HERE/free.yaml" && team other wait --for=condition=complete --timeout=60s job/free
'

test_expect_success 'when a pod is evicted the whole Job is suspended and requeued' '
    RUNS="sleep 30" new_job evicted "  parallelism: 2" "  completions: 2" "  backoffLimit: 3" && adopted evicted &&
    wait_job_state $id RUNNING 60 && pod=$(team team-a get pods -l job-name=evicted -o name | head -n 1) && pod=${pod#pod/} &&
    printf "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"team-a\"}}" $pod >eviction.json &&
    "$KUBE/enter" kubectl create --raw /api/v1/namespaces/team-a/pods/$pod/eviction -f "$HERE/eviction.json" &&
    again() { [ "$(job_field $id restarts)" -ge 1 ]; } && wait_until 60 again && fluxq-show job $id --events | grep "was evicted" &&
    wait_job_state $id RUNNING 90 && fluxq-cancel $id && wait_job_state $id CANCELLED 60
'

test_expect_success 'when an eviction makes the Job fail (backoffLimit: 0) the job has failed' '
    RUNS="sleep 30" new_job brittle "  backoffLimit: 0" && adopted brittle && wait_job_state $id RUNNING 60 &&
    pod=$(team team-a get pods -l job-name=brittle -o name | head -n 1) && pod=${pod#pod/} &&
    sed "s/\"name\":\"[^\"]*\"/\"name\":\"$pod\"/" eviction.json >brittle.json &&
    "$KUBE/enter" kubectl create --raw /api/v1/namespaces/team-a/pods/$pod/eviction -f "$HERE/brittle.json" &&
    wait_job_state $id FAILED 60 && fluxq-show job $id | grep BackoffLimitExceeded
'

test_expect_success 'when pods do not start in time the Job is suspended and requeued with back-off' '
    RUNS="true" new_job slow "        volumeMounts: [{name: vol, mountPath: /vol}]" "      volumes: [{name: vol, configMap: {name: nowhere}}]" &&
    adopted slow && again() { [ "$(job_field $id restarts)" -ge 1 ]; } && wait_until 120 again && wait_until 20 suspended slow &&
    wait_until 20 no_pods slow && team team-a create configmap nowhere && wait_job_state $id COMPLETED 120
' 

test_expect_success 'the time limit ends the Job in Kubernetes and the job' '
    RUNS="sleep 1000" new_job overdue "  activeDeadlineSeconds: 4" && adopted overdue && wait_job_state $id TIMEOUT 90 &&
    [ "$(team team-a get job overdue -o jsonpath="{.status.conditions[?(@.type==\"Failed\")].reason}")" = DeadlineExceeded ]
'

test_expect_success 'with "on-cancel: delete" a cancel deletes the Job' '
    kill_broker && sed -i "s/owner-policy/on-cancel: delete, owner-policy/" kube.yaml && new_broker &&
    RUNS="sleep 1000" new_job away && adopted away && wait_job_state $id RUNNING 60 && fluxq-cancel $id && wait_job_state $id CANCELLED 60 &&
    no_job() { test_must_fail team team-a get job away; } && wait_until 30 no_job
'

test_expect_success 'no object counts as left over, and none is left over' '
    ! grep "belongs to no job" "$BROKER_LOG" && wait_until 30 no_jobs_of_ours
'

test_done
