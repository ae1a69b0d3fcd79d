#!/bin/sh
# t4200-kube-faults.t: faults in and around a real cluster. Needs root; about 4 minutes.

test_description='the Kubernetes executor under faults

A job that is lost, run twice, or failed for good because of another program, or an object left in the
cluster would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4200
BROKER_OPTIONS="start-retries:_20 start-backoff:_1s start-backoff-max:_2s"

# settings [KUBECONFIG [LINE...]]: the configuration, with a short back-off, so that
# retries come soon.
settings() {
    kubeconfig=${1:-$configs/fluxq.kubeconfig}
    [ $# -eq 0 ] || shift
    write_config "$kubeconfig" "$@" &&
        for option in $BROKER_OPTIONS; do
            grep -q "^${option%%:*}:" kube.yaml || sed -i "1i $(echo "$option" | tr _ ' ')" kube.yaml
        done
}
start_kube() { start_broker --kube --config "$HERE/kube.yaml"; }
# with [KUBECONFIG [LINE...]]: restarts the broker with these settings.
with() {
    settings "$@" && { [ -z "$BROKER_PID" ] || stop_broker; } && start_kube
}
all_completed() { # IDS...
    for job; do
        [ "$(job_state "$job")" = COMPLETED ] || return 1
    done
}
node_info() { fluxq-info --json | jq -e --arg name "$1" ".nodes[] | select(.name == \$name) | $2" >/dev/null; }
nodes_of() { job_field "$1" nodelist; }
all_up() { [ "$(fluxq-info --json | jq '[.nodes[] | select(.state == "up")] | length')" = 3 ]; }
all_free() { [ "$(fluxq-info --json | jq '[.nodes[].cores_used] | add')" = 0 ]; }
# foreign NAME NODE CPU SECONDS [LABELS]: makes a pod of another program.
foreign() {
    k create -f - <<END
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: foreign${5:+, $5}}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  nodeSelector: {kubernetes.io/hostname: $2}
  containers:
  - {name: c, image: "busybox:1", command: [sleep, "$4"], resources: {requests: {cpu: "$3"}}}
END
}

own_cluster --nodes 3

# ---- the identity of the broker ----

test_expect_success 'without rights the broker reports the missing right, and a job shows why it waits' '
    write_config "$configs/nobody.kubeconfig" && start_kube &&
    wait_until 20 grep -q "User \"nobody\" cannot list resource \"nodes\"" "$BROKER_LOG" &&
    id=$(fluxq-submit -- true) && [ "$(job_state "$id")" = PENDING ] &&
    fluxq-show job "$id" | grep -q "does not know its nodes" &&
    fluxq-cancel "$id" && stop_broker
'

test_expect_success 'with a wrong token the broker reports the error, and goes on with a correct token' '
    sed "s/token: ./token: wrong/" "$configs/fluxq-token.kubeconfig" >token.kubeconfig &&
    write_config "$HERE/token.kubeconfig" && start_kube &&
    wait_until 20 grep -q "/api/v1/nodes: Unauthorized" "$BROKER_LOG" && stop_broker &&
    cp "$configs/fluxq-token.kubeconfig" token.kubeconfig && start_kube &&
    wait_until 20 all_up && stop_broker
'

# A service account; its deletion also revokes its token.
new_account() {
    k create serviceaccount t4200 && k create token t4200 --duration=1h >token.new &&
        mv token.new token && chmod 600 token
}
token_is_refused() {
    ! "$KUBE/enter" kubectl --kubeconfig="$HERE/token.kubeconfig" get nodes 2>refusal && grep -qi "logged in\|unauthorized" refusal
}
test_expect_success 'when a token is revoked no running job fails, and the next token is used' '
    new_account &&
    k create rolebinding t4200 --clusterrole=fluxq-runner --serviceaccount=fluxq:t4200 &&
    k create clusterrolebinding t4200 --clusterrole=fluxq-observer --serviceaccount=fluxq:t4200 &&
    sed "s|tokenFile: [^}]*|tokenFile: \"$HERE/token\"|" "$configs/fluxq-tokenfile.kubeconfig" >token.kubeconfig &&
    with "$HERE/token.kubeconfig" &&
    id=$(fluxq-submit -o revoked.out -- sh -c "echo begin; sleep 14; echo end") &&
    wait_job_state "$id" RUNNING 60 &&
    k delete serviceaccount t4200 && wait_until 30 token_is_refused &&
    late=$(fluxq-submit -o late.out -- echo late) &&
    wait_until 30 said "$late" "requeue.*Unauthorized" &&
    new_account && wait_job_state "$late" COMPLETED 90 && wait_job_state "$id" COMPLETED 60 &&
    printf "begin\nend\n" >expected && test_cmp expected revoked.out && wait_until 60 no_jobs_of_ours &&
    with && k delete serviceaccount,rolebinding t4200 && k delete clusterrolebinding t4200
'

# ---- refusals at submit ----

test_expect_success 'without allow-root a submit of root is refused' '
    with "" "  allow-root: false" &&
    test_must_fail fluxq-submit -- true 2>error && grep -q "root may not run jobs" error
'

test_expect_success 'a script too large for a ConfigMap is refused at submit' '
    with &&
    { echo "#!/bin/sh"; head -c 900000 /dev/zero | tr "\0" "#"; echo; } >large.sh &&
    test_must_fail fluxq-submit large.sh 2>error && grep -q "the script has 900011 bytes; on Kubernetes" error
'

# ---- foreign pods on the same nodes ----

# Prints the free resources of each node according to Kubernetes, "NAME CORES MIB":
# allocatable less the requests of the pods.
test_expect_success 'the free resources of a node are its allocatable less the requests of foreign pods' '
    foreign guest1 node2 1500m 600 && k wait --for=condition=Ready --timeout=60s pod/guest1 &&
    wait_until 20 node_info node2 ".cores_foreign == 2" &&
    k get nodes -o json | jq -r ".items[] | [.metadata.name, .status.allocatable.cpu,
        (.status.allocatable.memory | if endswith(\"Gi\") then rtrimstr(\"Gi\") | tonumber * 1024
            else rtrimstr(\"Ki\") | tonumber / 1024 | floor end)] | @tsv" >allocatable &&
    fluxq-info --json | jq -r ".nodes[] | [.name, .cores, .memory_mib] | @tsv" >offered &&
    test_cmp allocatable offered &&
    fluxq-info --json | jq -r ".nodes[] | [.name, .cores_free] | @tsv" >free &&
    printf "node1\t4\nnode2\t2\nnode3\t4\n" >expected && test_cmp expected free
'

test_expect_success 'a job that needs the resources of a foreign pod waits with this reason' '
    id=$(fluxq-submit -N 3 -c 4 -o guest.out -- true) &&
    wait_until 20 sh -c "fluxq-queue -o %r | grep -q Resources" && [ "$(job_state "$id")" = PENDING ] &&
    k delete pod guest1 --wait=false && wait_job_state "$id" COMPLETED 60
'

# A pod that looks like a job's own is not counted as foreign, but the kubelet counts it: for the broker this
# looks as if another scheduler was faster.
test_expect_success 'if another pod has taken the node'\''s resources (OutOfcpu) the job is tried again' '
    mask=$(fluxq-submit -c 4 -o mask.out -- sleep 300) && wait_job_state "$mask" RUNNING 60 &&
    [ "$(nodes_of "$mask")" = node1 ] &&
    foreign guest2 node3 3 600 "fluxq.io/cluster: t4200, fluxq.io/job-id: \"$mask\", fluxq.io/attempt: \"0\"" &&
    k wait --for=condition=Ready --timeout=60s pod/guest2 &&
    id=$(fluxq-submit -N 2 -c 4 -o race.out -- true) &&
    wait_until 30 said "$id" "requeue.*OutOfcpu" && [ "$(job_state "$id")" != FAILED ] &&
    k delete pod guest2 --wait=false && wait_job_state "$id" COMPLETED 60 &&
    fluxq-cancel "$mask" && wait_job_state "$mask" CANCELLED 30
'

test_expect_success 'pods of another scheduler between fluxq'\''s pods cause no job to fail' '
    ids= && for round in 1 2 3; do
        for i in 1 2 3; do ids="$ids $(fluxq-submit -c 3 -o race.out -- sleep 1)" || return 1; done &&
        for i in 1 2 3; do foreign other$round$i node$i 2 2 >/dev/null || return 1; done
    done &&
    wait_until 120 all_completed $ids &&
    k delete pods -l app=foreign --wait=false
'

test_expect_success 'thirty jobs at once on three nodes all complete and leave nothing' '
    ids= && for i in $(seq 30); do ids="$ids $(fluxq-submit -o "many-%j.out" -- sh -c "echo \$FLUXQ_JOB_ID")" || return 1; done &&
    wait_until 120 all_completed $ids &&
    for id in $ids; do [ "$(cat "many-$id.out")" = "$id" ] || return 1; done &&
    wait_until 60 no_jobs_of_ours && all_free
'

# ---- refusals by the cluster ----

# quota LIMIT: sets a quota until the end of the case. A new quota admits everything until its controller has
# counted.
quota() {
    test_when_finished "k delete quota t4200 --ignore-not-found" &&
        k create quota t4200 --hard="$1" && wait_until 30 quota_refuses
}
quota_refuses() {
    ! k create --dry-run=server -f - <<END 2>refusal && grep -q "exceeded quota" refusal
apiVersion: v1
kind: List
items:
- {apiVersion: batch/v1, kind: Job, metadata: {name: more}, spec: {suspend: true, template: {spec: $more}}}
- {apiVersion: v1, kind: Pod, metadata: {name: more}, spec: $more}
END
}
more='{restartPolicy: Never, containers: [{name: c, image: "busybox:1"}]}'

test_expect_success 'with an exhausted quota a job waits with this reason, and runs when the quota is raised' '
    quota count/jobs.batch=0 &&
    id=$(fluxq-submit -o quota.out -- true) &&
    wait_until 30 said "$id" "requeue.*exceeded quota" &&
    wait_until 10 eval "fluxq-show job $id | grep -q \"last start: .*exceeded quota\"" &&
    k delete quota t4200 && wait_job_state "$id" COMPLETED 60
'

test_expect_success 'with a quota for pods the job shows the reason that Kubernetes gives' '
    with "" "start-timeout: 4s" "pull-timeout: 4s" &&
    quota pods=0 &&
    id=$(fluxq-submit -N 2 -o quota.out -- true) &&
    wait_until 30 said "$id" "requeue.*pod.* not made.*exceeded quota" &&
    k delete quota t4200 && wait_job_state "$id" COMPLETED 60
'

test_expect_success 'a job with an unreachable registry is tried start-retries times and then fails with the reason' '
    with "" "start-retries: 2" "start-timeout: 4s" "pull-timeout: 4s" &&
    id=$(fluxq-submit --image no.such.registry/image:1 -o image.out -- true) &&
    wait_job_state "$id" FAILED 60 &&
    [ "$(count_events "$id" requeue)" = 2 ] &&
    said "$id" "exception.*start-failed.*no.such.registry" &&
    fluxq-show job "$id" | grep -q "no.such.registry" &&
    wait_until 30 no_jobs_of_ours
'

# ---- losses of a running job ----

# Prints the first process of that agent's container, with its pid on this machine: its parent is the shim.
first_process() { # JOB RANK
    for pid in $(agent_pids "$1" "$2"); do
        tr "\0" " " <"/proc/$(parent_of "$pid")/cmdline" | grep -q containerd-shim && echo "$pid" && return
    done
    echo "job $1 has no container of rank $2" >&2
    return 1
}

test_expect_success 'the jobs that are to lose something run' '
    with &&
    byjob=$(fluxq-submit --no-requeue -N 2 -o lost.out -- sleep 300) && bypod=$(fluxq-submit --no-requeue -N 2 -o lost.out -- sleep 300) &&
    shim=$(fluxq-submit --no-requeue -N 2 -o lost.out -- sleep 300) && shim0=$(fluxq-submit --no-requeue -N 2 -o lost.out -- sleep 300) &&
    main=$(fluxq-submit --no-requeue -o lost.out -- sleep 300) &&
    for id in $byjob $bypod $shim $shim0 $main; do wait_job_state "$id" RUNNING 60 || return 1; done
'

test_expect_success 'when a Job is deleted by hand the job ends with this reason' '
    k delete job "fluxq-t4200-$byjob-0" --wait=false && wait_job_state "$byjob" CANCELLED 30 &&
    said "$byjob" "its Job fluxq-t4200-$byjob-0 was deleted"
'

test_expect_success 'when a pod is deleted by hand the job ends with this reason' '
    k delete pod -l "fluxq.io/job-id=$bypod,batch.kubernetes.io/job-completion-index=1" --wait=false &&
    wait_job_state "$bypod" NODE_FAIL 30 &&
    said "$bypod" "node$(nodes_of "$bypod" | tail -c 3 | head -c 1): the pod of rank 1 was deleted"
'

test_expect_success 'when containers lose their shim the jobs end and name the node' '
    first=$(first_process "$shim" 1) && first0=$(first_process "$shim0" 0) &&
    kill -9 "$(parent_of "$first")" "$(parent_of "$first0")" &&
    wait_job_state "$shim" NODE_FAIL 60 && said "$shim" "finish.*node[123]: " &&
    wait_job_state "$shim0" NODE_FAIL 60 && said "$shim0" "finish.*node[123]: "
'

test_expect_success 'when the first process of a container is killed the job ends and names the node' '
    node=$(nodes_of "$main") &&
    first=$(first_process "$main" 0) && kill -9 "$first" &&
    wait_job_state "$main" NODE_FAIL 60 && said "$main" "finish.*$node: "
'

test_expect_success 'a job that exceeds its memory ends as OUT_OF_MEMORY, with the figures' '
    id=$(fluxq-submit --mem 64 -o oom.out -- dd if=/dev/zero of=/dev/null bs=300M count=1) &&
    wait_job_state "$id" OUT_OF_MEMORY 60 &&
    said "$id" "node[123]: out of memory: it asked for 64 MiB, 6[0-9.]* MiB were in use when the kernel killed" &&
    job_field "$id" result_text | grep "^node node[123]: out of memory: it asked for 64 MiB" &&
    wait_until 60 no_jobs_of_ours && all_free
'

test_expect_success 'a job ends as OUT_OF_MEMORY also if a step exceeds the memory on another node than the script'\''s' '
    write_script step.sh <<-\END &&
	#!/bin/sh
	ln -s /fluxq/bin/fluxq-shell /tmp/fluxq-run
	/tmp/fluxq-run -N 2 -n 2 sh -c "[ \$FLUXQ_PROCID = 0 ] || dd if=/dev/zero of=/dev/null bs=300M count=1"
	END
    id=$(fluxq-submit -N 2 --mem 64 -o step.out step.sh) && wait_job_state "$id" OUT_OF_MEMORY 60 &&
    said "$id" "node2: out of memory: it asked for 64 MiB, 6[0-9.]* MiB were in use" &&
    fluxq-show job "$id" | grep -E "^0 +sh +2 +2 +SIGKILL " && wait_until 60 no_jobs_of_ours
'

# The kernel may kill the whole pod at once, together with the agent (control groups of version 2):
# then only the kubelet knows the reason. Here the kernel kills a task, and the test kills the rest.
test_expect_success 'a job whose pod is killed as a whole ends as OUT_OF_MEMORY, for any rank, and is not requeued' '
    for rank in 0 1; do
        rm -f eaten.out && id=$(fluxq-submit -N 2 --mem 64 --requeue -o eaten.out -- \
            sh -c "[ \$FLUXQ_PROCID != $rank ] || { dd if=/dev/zero of=/dev/null bs=300M count=1; echo eaten; }; sleep 97621") &&
        wait_until 60 grep -q eaten eaten.out && kill_agent "$id" $rank &&
        wait_job_state "$id" OUT_OF_MEMORY 90 &&
        said "$id" "node[123]: out of memory: it asked for 64 MiB, and all of that was in use" &&
        [ "$(count_events "$id" requeue)" = 0 ] && wait_until 60 no_jobs_of_ours || return 1
    done
'

# ---- the broker ----

test_expect_success 'with kill -9 of the broker at each event 21 jobs run once each' '
    stop_broker && timeout 200 python3 "$FLUXQ_SOURCE_DIR/t/helper/kubefaults.py" \
        after_event "$KUBE/enter" "$HERE/kube.yaml" t4200 state "$FLUXQ_RUN"
'

# ---- the API server ----

test_expect_success 'during an outage of the API server of 30 s jobs run on, end and are submitted' '
    start_kube &&
    long=$(fluxq-submit -N 2 -n 2 -o "long-%t.out" -- \
        sh -c "i=0; while [ \$i -lt 400 ]; do echo \$i; i=\$((i+1)); sleep 0.1; done") &&
    wait_job_state "$long" RUNNING 60 &&
    short=$(fluxq-submit -o short.out -- sh -c "echo begin; sleep 10; echo end; exit 3") &&
    wait_until 30 has_lines short.out 1 &&
    "$KUBE/daemon" stop apiserver && began=$(date +%s) &&
    late=$(fluxq-submit -o late.out -- echo late) &&
    [ "$(job_state "$long")" = RUNNING ] && kill_broker && start_kube && [ "$(job_state "$long")" = RUNNING ] &&
    wait_until 40 eval "[ \$((\$(date +%s) - began)) -ge 30 ]" &&
    timeout 90 "$KUBE/daemon" start apiserver &&
    wait_job_state "$short" FAILED 60 && [ "$(job_field "$short" exit_code)" = 3 ] &&
    wait_job_state "$late" COMPLETED 90 && wait_job_state "$long" COMPLETED 90 &&
    printf "begin\nend\n" >expected && test_cmp expected short.out &&
    counts_up long-0.out 400 && counts_up long-1.out 400 && [ "$(cat late.out)" = late ] && [ "$(count_events "$late" start)" = 1 ] &&
    [ "$(count_events "$long" alloc)" = 1 ] && [ "$(count_events "$short" alloc)" = 1 ] &&
    wait_until 60 no_jobs_of_ours
'

# ---- nodes ----

# node1: half of the first job and another job that fills the node; node2: rank 1 of the first, rank 0 of
# the second.
test_expect_success 'when a node is lost the jobs with rank 0 or rank 1 on it end and name the node' '
    wait_until 60 all_up &&
    first=$(fluxq-submit --no-requeue -N 2 -c 2 -o lost.out -- sleep 300) && wait_job_state "$first" RUNNING 60 &&
    stays=$(fluxq-submit -c 2 -o stays.out -- sh -c "until [ -e /tmp/go ]; do sleep 0.2; done; echo stayed") &&
    wait_job_state "$stays" RUNNING 60 &&
    second=$(fluxq-submit --no-requeue -N 2 -c 2 -o lost.out -- sleep 300) && wait_job_state "$second" RUNNING 60 &&
    [ "$(nodes_of "$first") $(nodes_of "$stays") $(nodes_of "$second")" = "node[1-2] node1 node[2-3]" ] &&
    "$KUBE/node" stop 2 &&
    wait_job_state "$first" NODE_FAIL 60 && said "$first" "finish.*node2: " &&
    wait_job_state "$second" NODE_FAIL 60 && said "$second" "finish.*node2: "
'

test_expect_success 'after the loss the good nodes are free, the lost node gets no job, and nothing is left' '
    wait_until 60 eval "[ \"\$(count_events $first clean) \$(count_events $second clean)\" = \"1 1\" ]" &&
    our_objects >objects && ! grep -e "-$first-0" -e "-$second-0" objects &&
    id=$(fluxq-submit -c 4 -o free.out -- true) && wait_job_state "$id" COMPLETED 60 &&
    [ "$(nodes_of "$id")" = node3 ] &&
    waits=$(fluxq-submit -N 2 -c 4 -o free.out -- true) &&
    for pid in $(agent_pids "$stays" 0); do touch "/proc/$pid/root/tmp/go" && break; done &&
    wait_job_state "$stays" COMPLETED 60 && [ "$(cat stays.out)" = stayed ] &&
    three=$(fluxq-submit -N 3 -o free.out -- true) && wait_job_state "$waits" COMPLETED 60 &&
    [ "$(nodes_of "$waits")" = "node[1,3]" ] && [ "$(job_state "$three")" = PENDING ]
'

test_expect_success 'when the node is back it gets jobs again' '
    timeout 120 "$KUBE/node" start 2 && wait_job_state "$three" COMPLETED 60
'

test_expect_success 'after all jobs and the broker have ended no object of this cluster id is left' '
    wait_until 60 no_jobs_of_ours && all_free && stop_broker &&
    wait_until 60 nothing_of_ours && k delete pods -l app=foreign --wait=false
'

test_done
