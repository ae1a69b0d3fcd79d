#!/bin/sh
# t4800-minicluster.t: jobs as MiniClusters of the Flux operator. Needs root; about 3 minutes.
# OPERATOR="PROGRAM ARGUMENTS..." runs this operator instead of the stand-in.

test_description='--executor=minicluster on a real cluster: an operator makes the pods, and the broker binds them

The custom resource is the real one. The operator is t/helper/flux_operator.py, and Flux is the program of
t/kube/flux-image: stand-ins with the traps of the real ones. An exit status that is not the application'"'"'s,
a size that is not the granted one, output that is lost, a job that runs twice, or an object that stays would
fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4800
CRD=$FLUXQ_SHARED_DIR/data/flux-operator/miniclusters-crd.yaml
OPERATOR=${OPERATOR:-python3 $FLUXQ_SOURCE_DIR/t/helper/flux_operator.py}

with() # [LINE...]: restarts the broker with these settings
{
    write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" "start-backoff-max: 1s" "  image: flux:1" \
        "  flux-image: flux:1" "$@" && { [ -z "$BROKER_PID" ] || stop_broker; } &&
        start_broker --kube --config "$HERE/kube.yaml" &&
        for i in 1 2 3; do wait_until 30 sh -c "fluxq-info --json | grep -q node$i" || return 1; done
}

mini() # OPTIONS...: submits a MiniCluster job, prints its id
{
    fluxq-submit --executor=minicluster "$@"
}

mini_script() # TEXT OPTIONS...: submits a MiniCluster job with this script
{
    printf "#!/bin/sh\n%s\n" "$1" >inline.sh && shift && mini "$@" inline.sh
}

# of_job ID: prints all objects of the job, in any namespace, with fluxq's labels or without.
of_job()
{
    k get miniclusters,jobs,pods,configmaps,secrets,services,endpointslices -A -o name >there &&
        grep -e "-t4800-$1-" there
}
clean() # ID: no object of the job is left
{
    wait_until 60 eval "! of_job $1"
}

refused() # PATTERN OPTIONS...: fluxq-submit fails with this line
{
    refused_why=$1 && shift && test_must_fail fluxq-submit "$@" 2>why && cat why && grep -q -e "$refused_why" why
}

has() # ID JQ: the condition is true for the job's MiniCluster
{
    k get minicluster "fluxq-t4800-$1-0" -o json | jq -e "$2" >/dev/null
}

operator_pid=
start_operator()
{
    "$KUBE/enter" $OPERATOR >operator.log 2>&1 &
    operator_pid=$!
}
stop_operator()
{
    kill "$operator_pid" && { wait "$operator_pid" || :; }
}

write_script where.sh <<\END
#!/bin/sh
#FLUXQ --executor=minicluster
echo "$FLUXQ_NNODES nodes, $FLUXQ_NTASKS tasks"
flux run -N $FLUXQ_NNODES -n $FLUXQ_NTASKS sh -c 'echo task $FLUX_TASK_RANK of $FLUX_JOB_SIZE on $(hostname)'
exit 7
END

own_cluster --nodes 3

test_expect_success 'the nodes have an image with the stand-in for Flux' '
    "$KUBE/node" load "$("$KUBE/flux-image")"
'

test_expect_success 'without the operator a submit is refused, and the error shows how to install the operator' '
    with && refused "kubectl apply -f https://.*flux-operator.yaml" --executor=minicluster -N 2 ./where.sh &&
    refused "executor: .flux. is not an executor for jobs" --executor=flux ./where.sh &&
    with "queues: {batch: {pods: {executor: minicluster}}}" && refused "does not have the Flux operator" -N 2 -- true &&
    id=$(fluxq-submit --executor=job --image busybox:1 -o none.out -- true) && wait_job_state $id COMPLETED 60
'

test_have_prereq SHARED || test_done

test_expect_success 'soon after the operator'\''s installation the same broker accepts such jobs' '
    with && k create -f "$CRD" && start_operator &&
    wait_until 60 sh -c "fluxq-submit --executor=minicluster --hold -o none.out ./where.sh >held" &&
    fluxq-cancel $(cat held)
'

test_expect_success 'a script runs once with a Flux instance over all its nodes, gives its own status, and leaves nothing' '
    id=$(fluxq-submit -N 2 -n 4 -o where.out ./where.sh) && wait_job_state $id FAILED 90 && cat where.out &&
    test "$(job_field $id exit_code)" = 7 &&
    head -n 1 where.out >first && echo "2 nodes, 4 tasks" >expected && test_cmp expected first &&
    tail -n +2 where.out | sort >tasks &&
    for t in 0 1 2 3; do echo "task $t of 4 on fluxq-t4800-$id-0-$((t / 2))"; done >expected && test_cmp expected tasks &&
    clean $id
'

test_expect_success 'the MiniCluster has the granted size and fluxq'\''s scheduler, and does not contain the script' '
    k get pods --watch --output-watch-events -o custom-columns=N:.object.metadata.name,NODE:.object.spec.nodeName >placed &
    watcher=$! && test_when_finished "kill $watcher" &&
    id=$(mini_script "echo \$FLUXQ_NNODES; sleep 300" -N 2-8 -o size.out) && wait_job_state $id RUNNING 90 &&
    has $id ".spec | .size == 3 and .minSize == 3 and .maxSize == 8 and .pod.schedulerName == \"fluxq\"" &&
    has $id ".spec.containers[0] | .launcher and .commands.script == null and .resources.requests.cpu != null" &&
    has $id "tostring | contains(\"FLUXQ_NNODES\") | not" &&
    wait_until 20 grep -x 3 size.out &&
    for i in 0 1 2; do grep -n "^fluxq-t4800-$id-0-$i-.* node" placed | head -n 1 | cut -d: -f1; done >order &&
    [ "$(head -n 1 order)" -lt "$(sort -n order | sed -n 2p)" ] &&
    fluxq-cancel $id && wait_job_state $id CANCELLED 60 && clean $id
'

test_expect_success 'a command becomes Flux tasks on all granted nodes, and the worst status counts' '
    id=$(mini -N 2-8 --ntasks-per-node=1 -o tasks.out -- sh -c "echo \$FLUX_TASK_RANK \"\$0\"; exit \$FLUX_TASK_RANK" "it'"'"'s \$HOME") &&
    wait_job_state $id FAILED 90 && test "$(job_field $id exit_code)" = 2 && sort tasks.out >sorted &&
    printf "0 it'"'"'s \$HOME\n1 it'"'"'s \$HOME\n2 it'"'"'s \$HOME\n" >expected && test_cmp expected sorted && clean $id
'

test_expect_success 'agents run on all nodes, and steps run beside Flux' '
    id=$(mini_script "fluxq-run hostname" -N 3 -n 3 -o steps.out) && wait_job_state $id COMPLETED 90 && sort steps.out >sorted &&
    for i in 0 1 2; do echo "fluxq-t4800-$id-0-$i"; done >expected && test_cmp expected sorted && clean $id
'

test_expect_success 'the time limit ends a MiniCluster job' '
    id=$(mini_script "sleep 300" -N 2 -t 0:03 -o none.out) && wait_job_state $id TIMEOUT 120 && clean $id
'

test_expect_success 'with an image that cannot start Flux the start fails with the rank, and nothing is left' '
    with "start-retries: 0" && id=$(mini -N 2 --image busybox:1 -o none.out ./where.sh) && wait_job_state $id FAILED 90 &&
    fluxq-show job $id --events | tee events && grep -q "rank [01] on node" events && clean $id
'

test_expect_success 'with an image without Flux the start fails with the last line of the container'\''s log' '
    with "start-retries: 0" "  flux-in-image: true" && id=$(mini -N 2 -o none.out ./where.sh) && wait_job_state $id FAILED 90 &&
    said $id "rank 0 on node.*ended with status 0 before the job began.*said last: .*flux: command not found" && clean $id
'

test_expect_success 'without a running operator the start fails with this reason, and is tried again' '
    with "place-timeout: 5s" "start-retries: 20" && stop_operator && id=$(mini -N 2 -n 2 -o late.out ./where.sh) &&
    wait_until 60 said $id "is the operator running" && start_operator && wait_job_state $id FAILED 120 &&
    test "$(job_field $id exit_code)" = 7 && clean $id
'

test_expect_success 'when a pod is deleted by hand the job ends with this reason' '
    with && id=$(mini_script "sleep 300" --no-requeue -N 3 -o none.out) && wait_job_state $id RUNNING 90 &&
    k delete pod -l "fluxq.io/job-id=$id,batch.kubernetes.io/job-completion-index=2" --wait=false --grace-period=1 &&
    wait_job_state $id NODE_FAIL 90 && said $id "node[123]: .*rank 2" && clean $id
'

test_expect_success 'when the MiniCluster is deleted by hand the job is cancelled' '
    id=$(mini_script "sleep 300" -N 2 -o none.out) && wait_job_state $id RUNNING 90 &&
    k delete minicluster fluxq-t4800-$id-0 --wait=false && wait_job_state $id CANCELLED 90 &&
    said $id "its MiniCluster fluxq-t4800-$id-0 was deleted" && clean $id
'

test_expect_success 'after kill -9 of the broker the job goes on, and all its output comes once' '
    id=$(mini_script "i=0; while [ \$i -lt 40 ]; do echo \$i; i=\$((i+1)); sleep 0.2; done; exit 5" -N 2 -o count.out) &&
    wait_job_state $id RUNNING 90 && wait_until 30 has_lines count.out 3 && kill_broker && sleep 1 && with &&
    wait_job_state $id FAILED 90 && test "$(job_field $id exit_code)" = 5 && counts_up count.out 40 && clean $id
'

test_expect_success 'after kill -9 of the broker right after the MiniCluster exists, the job runs once' '
    id=$(mini -N 2 -n 2 -o once.out ./where.sh) && wait_until 30 has $id .spec && kill_broker && with &&
    wait_job_state $id FAILED 120 && test "$(job_field $id exit_code)" = 7 && has_lines once.out 3 &&
    [ "$(wc -l <once.out)" = 3 ] && clean $id
'

test_expect_success 'a MiniCluster without a job is removed, with all objects that the operator made for it' '
    with "  sweep-interval: 2s" && id=$(mini_script "sleep 300" -N 2 -o none.out) && wait_job_state $id RUNNING 90 &&
    k get minicluster fluxq-t4800-$id-0 -o json |
        jq "del(.status) | .metadata = {name: \"fluxq-t4800-9999-0\", namespace: .metadata.namespace,
            labels: (.metadata.labels + {\"fluxq.io/job-id\": \"9999\"})} |
            .spec.pod.labels[\"fluxq.io/job-id\"] = \"9999\" | .spec.jobLabels[\"fluxq.io/job-id\"] = \"9999\"" >stray.json &&
    k create -f - <stray.json && wait_until 30 grep -q "miniclusters/fluxq-t4800-9999-0 in fluxq belongs to no job" "$BROKER_LOG" &&
    clean 9999 && of_job $id && fluxq-cancel $id && wait_job_state $id CANCELLED 60 && clean $id
'

test_expect_success 'settings that a MiniCluster cannot have are refused at submit, or reported' '
    nfs="{mounts: [{path: /data, volume: {nfs: {server: s, path: /}}}]}" && jobs="{pods: {allow: {executor: [job]}}}" &&
    with "queues: {batch: {}, odd: {pods: {priority-class: low}}, nfs: $nfs, jobs: $jobs, flux: {pods: {executor: minicluster}}, pro: {prolog: /bin/true}}" &&
    refused "cannot have a prolog or epilog" -q pro --executor=minicluster -- true &&
    refused "cannot have a priority class" -q odd --executor=minicluster -- true &&
    refused "volume at /data: it mounts" -q nfs --executor=minicluster -- true &&
    refused "executor: queue jobs does not have .minicluster., but job" -q jobs --executor=minicluster -- true &&
    refused "stage-in: a MiniCluster" --executor=minicluster --stage-in where.sh:w -- true &&
    refused "malleable: a MiniCluster keeps its size" --executor=minicluster -N 2-3 --ntasks-per-node=1 --malleable ./where.sh
'

test_expect_success 'a queue can run its jobs as MiniClusters' '
    id=$(fluxq-submit -q flux -N 2 -n 2 -o queue.out -- hostname) && wait_job_state $id COMPLETED 90 && sort queue.out >sorted &&
    for i in 0 1; do echo "fluxq-t4800-$id-0-$i"; done >expected && test_cmp expected sorted && clean $id
'

test_expect_success 'another user can run a MiniCluster job' '
    mkdir -m 777 other && printf "#!/bin/sh\nid -u\nflux run -n 1 id -u\n" >other/who.sh && (cd other && setpriv --reuid=65534 --regid=65534 --clear-groups \
        fluxq-submit --executor=minicluster -N 2 -n 2 -o where.out who.sh) >ids && id=$(cat ids) && wait_job_state $id COMPLETED 90 && printf "65534\n65534\n" >expected &&
    test_cmp expected other/where.out && clean $id
'

test_expect_success 'at the end no object of this cluster id is left' '
    stop_broker && stop_operator && nothing_of_ours && ! k get miniclusters -A -o name | grep .
'

test_done
