#!/bin/sh
# t4130-pods.t: who makes the pods of a job. Needs root; about 80 seconds.

test_description='the two ways of making pods on a real cluster: by the Job controller, and by the broker

A gang that does not run in one of the ways, a Job that kubectl shows wrongly, a pod that looks different
to programs that read its labels, a pod that is made twice or left behind, or a missing right that the
broker does not report would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4130

# with WAY [LINE...]: restarts the broker with these settings.
with()
{
    lib_way=$1 && shift &&
        write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" "start-backoff-max: 1s" "  pods: $lib_way" "$@" &&
        { [ -z "$BROKER_PID" ] || stop_broker; } && start_broker --kube --config "$HERE/kube.yaml" &&
        for i in 1 2 3; do wait_until 30 sh -c "fluxq-info --json | grep -q node$i" || return 1; done
}

# job_has ID JQ: the Job of the first start exists, and the condition is true for it.
job_has()
{
    k get job "fluxq-t4130-$1-0" -o json 2>/dev/null | jq -e "$2" >/dev/null
}

# watch_start KIND FILE FORMAT; watch_end: records all changes of these objects.
watch_start()
{
    : >"$2"
    timeout 300 "$KUBE/enter" kubectl -n fluxq get "$1" --watch --output-watch-events -o "$3" >"$2" &
    watcher=$!
}
watch_end()
{
    kill "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null || :
}

# release ID: lets the tasks end.
release()
{
    for rank in 0 1 2; do
        for pid in $(agent_pids "$1" $rank); do touch "/proc/$pid/root/tmp/go" && break; done || return
    done
}

# clean ID: no object of the job is left.
clean()
{
    wait_until 60 eval "our_objects >objects && ! grep -e \"-t4130-$1-\" objects"
}

# pods_started ID: prints the names of the pods whose containers kubelets have started, one
# line for each start.
pods_started()
{
    k get events --field-selector reason=Started,involvedObject.kind=Pod -o json |
        jq -r ".items[] | select(.involvedObject.name | startswith(\"fluxq-t4130-$1-\")) | .involvedObject.name as \$n |
            range(.count // 1) | \$n"
}

# may VERB RESOURCE: the broker's user has this right.
may()
{
    k auth can-i "$1" "$2" --as=fluxq -q
}

write_script gate.sh <<\END
#!/bin/sh
hostname
last=$(hostname | sed 's/[0-9]*[.]/2./')
timeout 30 sh -c "until nslookup $last >/dev/null 2>&1; do sleep 0.2; done" && echo resolved
until [ -e /tmp/go ]; do sleep 0.2; done
END

placed=custom-columns=NAME:.object.metadata.name,NODE:.object.spec.nodeName

own_cluster --nodes 3

# host WAY JOB RANK: the first label of the rank's name.
host()
{
    if [ "$1" = broker ]; then echo "n$3"; else echo "fluxq-t4130-$2-0-$3"; fi
}

for way in broker controller; do
    test_expect_success "$way: a gang of three runs, and the status of its Job says so" '
        with $way && gang=$(fluxq-submit -N 3 -n 3 -o "gang-%n.out" -- sh -c "$(cat gate.sh)") &&
        wait_job_state $gang RUNNING 60 &&
        wait_until 30 job_has $gang ".status | .active == 3 and .ready == 3 and .startTime != null" &&
        if [ $way = broker ]; then job_has $gang ".spec.managedBy == \"fluxq.io/broker\""
        else job_has $gang ".spec.managedBy == null"; fi
    '

    test_expect_success "$way: the pods have the labels and names of an Indexed Job's pods" '
        k get pods -l "batch.kubernetes.io/job-name=fluxq-t4130-$gang-0" -o json | jq -r --arg uid \
            "$(k get job fluxq-t4130-$gang-0 -o json | jq -r .metadata.uid)" ".items |
            sort_by(.metadata.labels[\"batch.kubernetes.io/job-completion-index\"]) | .[] | [
            .metadata.labels[\"batch.kubernetes.io/job-completion-index\"],
            .metadata.annotations[\"batch.kubernetes.io/job-completion-index\"],
            .metadata.labels[\"job-name\"], .spec.hostname, .spec.subdomain, .spec.restartPolicy,
            .metadata.labels[\"batch.kubernetes.io/controller-uid\"] == \$uid,
            .metadata.labels[\"controller-uid\"] == \$uid, (.metadata.ownerReferences | length),
            (.metadata.ownerReferences[0] | .kind, .uid == \$uid, .controller, .blockOwnerDeletion),
            (.spec.containers[0].env[] | .name) ] | join(\" \")" >looks &&
        for i in 0 1 2; do
            echo "$i $i fluxq-t4130-$gang-0 $(host $way $gang $i) fluxq-t4130-$gang-0 Never true true 1 Job true true true JOB_COMPLETION_INDEX"
        done >expected && test_cmp expected looks &&
        for i in 0 1 2; do
            wait_until 40 has_lines gang-$i.out 2 && printf "$(host $way $gang $i).fluxq-t4130-$gang-0.fluxq.svc.cluster.local\nresolved\n" >expected && test_cmp expected gang-$i.out ||
                return 1
        done
    '

    test_expect_success "$way: the gang ends, and nothing is left" '
        watch_start jobs ended.json json && test_when_finished watch_end &&
        wait_until 30 grep -q "fluxq-t4130-$gang-0" ended.json &&
        release $gang && wait_job_state $gang COMPLETED 60 && clean $gang &&
        wait_until 30 grep -q DELETED ended.json
    '

    test_expect_success "$way: each rank's pod requests the resources of that rank, if the broker makes the pods" '
        uneven=$(fluxq-submit -n 5 -o none.out -- sleep 300) && wait_job_state $uneven RUNNING 60 &&
        k get pods -l "job-name=fluxq-t4130-$uneven-0" -o json |
            jq -r "[.items[].spec.containers[0].resources.requests.cpu] | sort | join(\" \")" >requests &&
        if [ $way = broker ]; then echo "1 4"; else echo "1 1"; fi >expected && test_cmp expected requests &&
        fluxq-cancel $uneven && wait_job_state $uneven CANCELLED 60 && clean $uneven
    '

    test_expect_success "$way: when a pod is deleted by hand the job ends with this reason" '
        id=$(fluxq-submit --no-requeue -N 3 -o none.out -- sleep 300) && wait_job_state $id RUNNING 60 &&
        k delete pod -l "fluxq.io/job-id=$id,batch.kubernetes.io/job-completion-index=2" --wait=false &&
        wait_job_state $id NODE_FAIL 60 && said $id "node[123]: the pod of rank 2 was deleted" && clean $id
    '

    test_expect_success "$way: when the Job is deleted by hand the job ends with this reason" '
        id=$(fluxq-submit -N 3 -o none.out -- sleep 300) && wait_job_state $id RUNNING 60 &&
        k delete job fluxq-t4130-$id-0 --wait=false && wait_job_state $id CANCELLED 60 &&
        said $id "its Job fluxq-t4130-$id-0 was deleted" && clean $id
    '

    test_expect_success "$way: a start that fails leaves nothing" '
        id=$(fluxq-submit -N 3 --image "NO::image" -o none.out -- true) && wait_job_state $id FAILED 60 &&
        said $id "image NO::image cannot be pulled" && clean $id
    '

    # With one request a second, two pods are made a second apart.
    test_expect_success "$way: after kill -9 of the broker between two pods all ranks run, each once" '
        with $way "  request-rate: 1" "  request-burst: 12" && watch_start pods placed "$placed" && test_when_finished watch_end &&
        id=$(fluxq-submit -N 3 -n 3 -o "killed-%n.out" -- echo ran) &&
        wait_until 60 grep -q "^fluxq-t4130-$id-.* node" placed && kill_broker &&
        [ "$(k get pods -l "fluxq.io/job-id=$id" -o json | jq "[.items[] | select(.spec.nodeName)] | length")" -lt 3 ] &&
        with $way && wait_job_state $id COMPLETED 60 && clean $id &&
        for i in 0 1 2; do [ "$(cat killed-$i.out)" = ran ] || return 1; done &&
        [ "$(count_events $id alloc)" = 1 ] && wait_until 20 eval "[ \"\$(pods_started $id | wc -l)\" = 3 ]" &&
        [ "$(pods_started $id | sort -u | wc -l)" = 3 ]
    '

    test_expect_success "$way: a cancel between two pods leaves nothing" '
        with $way "  request-rate: 1" "  request-burst: 12" && watch_start pods placed "$placed" && test_when_finished watch_end &&
        id=$(fluxq-submit -N 3 -n 3 -o none.out -- sleep 300) && wait_until 60 grep -q "^fluxq-t4130-$id-0" placed &&
        fluxq-cancel $id && wait_job_state $id CANCELLED 60 && clean $id && with $way
    '
done

# ---- the Job's status, if the broker writes it ----

# ended_as ID JQ: the condition is true for the recorded changes of that Job.
ended_as()
{
    jq -s -e "any(.[].object | select(.metadata.name == \"fluxq-t4130-$1-0\") | .status; $2)" ended.json >/dev/null 2>&1
}

condition()
{
    echo "([.conditions[]? | select(.status == \"True\") | .type] == [\"$1\", \"$2\"])"
}

test_expect_success 'broker: a watcher of a Job sees it complete, or fail with the reason' '
    with broker && watch_start jobs ended.json json && test_when_finished watch_end &&
    good=$(fluxq-submit -N 2 -o none.out -- sleep 2) && wait_job_state $good RUNNING 60 &&
    { k wait --for=condition=complete --timeout=50s job/fluxq-t4130-$good-0 >waited & } && waiter=$! &&
    bad=$(fluxq-submit -o none.out -- sh -c "exit 3") && wrong=$(fluxq-submit -N 2 --image "NO::image" -o none.out -- true) &&
    wait_job_state $good COMPLETED 60 && wait $waiter && grep "condition met" waited &&
    wait_until 20 ended_as $good "$(condition SuccessCriteriaMet Complete) and .succeeded == 2 and .completedIndexes == \"0,1\" and
        .completionTime != null and (.active // 0) == 0" &&
    wait_job_state $bad FAILED 60 &&
    wait_until 20 ended_as $bad "$(condition FailureTarget Failed) and .failed == 1 and .conditions[1].reason == \"NonZeroExit\"" &&
    wait_job_state $wrong FAILED 60 && wait_until 20 ended_as $wrong "$(condition FailureTarget Failed) and
        .conditions[1].reason == \"StartFailed\" and (.conditions[1].message | contains(\"NO::image\"))" &&
    ! grep "status of its Job cannot be written" "$BROKER_LOG"
'

test_expect_success 'broker: the Job is completed also if no broker ran at the end of the job' '
    watch_start jobs ended.json json && test_when_finished watch_end &&
    id=$(fluxq-submit -N 2 -o none.out -- sh -c "until [ -e /tmp/go ]; do sleep 0.2; done") && wait_job_state $id RUNNING 60 &&
    kill_broker && release $id && with broker && wait_job_state $id COMPLETED 60 &&
    wait_until 20 ended_as $id "$(condition SuccessCriteriaMet Complete) and .succeeded == 2" && clean $id
'

# names_are ID NAME...: the ranks of the job have these names.
names_are()
{
    k get endpointslice "fluxq-t4130-$1-0" -o json | jq -r ".endpoints[].hostname" >names && shift && printf "%s\n" "$@" | test_cmp - names
}

test_expect_success 'broker: the ranks of a job keep their names over a kill and a restart of the broker' '
    with broker && id=$(fluxq-submit -N 2 -o none.out -- sleep 300) && wait_job_state $id RUNNING 60 && names_are $id n0 n1 &&
    kill_broker && with broker && wait_job_state $id RUNNING 30 && names_are $id n0 n1 &&
    fluxq-cancel $id && wait_job_state $id CANCELLED 60 && clean $id
'

quota_counts()
{
    k get quota t4130 -o json | jq -e ".status.used.pods" >/dev/null
}

test_expect_success 'broker: with a quota for pods a start is given up at once with the reason, and leaves nothing' '
    k create quota t4130 --hard=pods=1 && test_when_finished "k delete quota t4130 --ignore-not-found" &&
    wait_until 30 quota_counts && with broker "start-retries: 30" &&
    id=$(fluxq-submit -N 3 -o none.out -- true) && wait_until 60 said $id "requeue.*the pod of rank [12] was not made.*exceeded quota" &&
    k delete quota t4130 && wait_job_state $id COMPLETED 60 && clean $id
'

# ---- rights ----

test_expect_success 'without the right to create pods, auto uses the Job controller and reports this once' '
    k get clusterrole fluxq-runner -o json | jq "(.rules[] | select(.resources == [\"pods\"])).verbs -= [\"create\"]" >less.json &&
    k get clusterrole fluxq-runner -o json | jq "del(.metadata.resourceVersion)" >full.json &&
    k replace -f less.json && wait_until 30 eval "! may create pods" && stop_broker && with auto &&
    id=$(fluxq-submit -N 2 -o none.out -- sleep 300) && wait_job_state $id RUNNING 60 &&
    job_has $id ".spec.managedBy == null" && fluxq-submit --wait -o none.out -- true &&
    [ "$(grep -c "the Job controller makes the pods in namespace fluxq, as the broker may not: create pods is missing" "$BROKER_LOG")" = 1 ] &&
    fluxq-cancel $id && wait_job_state $id CANCELLED 60 && clean $id
'

test_expect_success 'without the right to create pods, broker reports the missing right, and goes on when the right is there' '
    with broker "start-retries: 50" && id=$(fluxq-submit -N 2 -o none.out -- true) &&
    wait_until 30 said $id "requeue.*kube.pods is .broker., but its right to create pods is missing" &&
    k replace -f full.json && wait_until 30 may create pods && wait_job_state $id COMPLETED 60 && clean $id
'

test_expect_success 'with the right to create pods, auto lets the broker make the pods' '
    with auto && id=$(fluxq-submit -o none.out -- sleep 300) && wait_job_state $id RUNNING 60 &&
    job_has $id ".spec.managedBy == \"fluxq.io/broker\"" && fluxq-cancel $id && wait_job_state $id CANCELLED 60 && clean $id
'

test_expect_success 'after all jobs no object of this cluster id is left' '
    wait_until 60 no_jobs_of_ours && stop_broker && wait_until 60 nothing_of_ours
'
test_done
