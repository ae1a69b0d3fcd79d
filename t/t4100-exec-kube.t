#!/bin/sh
# t4100-exec-kube.t: jobs on a real cluster. Needs root.

test_description='the Kubernetes executor: jobs run, end, fail and recover on a real cluster'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4100

own_cluster --nodes 3

test_expect_success 'the broker finds the cluster and its nodes' '
    write_config "$configs/fluxq.kubeconfig" &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    for i in 1 2 3; do wait_until 30 sh -c "fluxq-info --json | grep -q node$i" || return 1; done
'

test_expect_success 'a two-node batch script runs, and its output is in its file' '
    write_script two.sh <<-\END &&
	#!/bin/sh
	#SBATCH -N 2
	#SBATCH -o two-%j.out
	echo "job $FLUXQ_JOB_ID on $SLURM_NNODES nodes"
	echo problem >&2
	END
    id=$(fluxq-submit --wait two.sh) &&
    printf "job %s on 2 nodes\nproblem\n" "$id" >expected &&
    test_cmp expected "two-$id.out"
'

test_expect_success 'a command runs once for each task with a file for each, and the worst status counts' '
    test_expect_code 2 fluxq-submit --wait -N 3 -o "task-%t.out" -- \
        sh -c "echo \$FLUXQ_PROCID; exit \$FLUXQ_PROCID" &&
    for i in 0 1 2; do [ "$(cat task-$i.out)" = $i ] || return 1; done
'

test_expect_success 'the tasks of an array are Jobs of the cluster, a limited number at a time' '
    id=$(fluxq-submit --wait -a 1-5:2%2 -- sh -c "echo \$SLURM_ARRAY_TASK_ID of \$SLURM_ARRAY_JOB_ID") &&
    for n in 1 3 5; do echo "$n of $id" >expected && test_cmp expected "fluxq-${id}_$n.out" || return 1; done &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'a job with --no-requeue whose agent dies at once is not started again' '
    for i in 1 2 3; do
        id=$(fluxq-submit --no-requeue -o none.out -- sh -c "kill -9 \$PPID") && wait_job_state $id NODE_FAIL 60 &&
        test "$(count_events $id requeue)" = 0 && test "$(count_events $id start)" = 1 || return 1
    done
'

test_expect_success '--output-on-full=end is refused if the broker writes the files' '
    test_must_fail fluxq-submit --output-on-full=end -o none.out -- true 2>err && grep "output-on-full=end" err &&
    fluxq-submit --dry-run --output-on-full=wait -o none.out -- true
'

test_expect_success 'fluxq-logs follows a running job to its end' '
    id=$(fluxq-submit -o none.out -- sh -c "echo begin; sleep 2; echo end") &&
    timeout 60 fluxq-logs -f "$id" >followed &&
    grep -q begin followed && grep -q end followed
'

relay() { RELAY_CWD=/ timeout 120 python3 "$FLUXQ_SOURCE_DIR/t/helper/relay.py" "$@"; }

test_expect_success 'a program outside the cluster can be a client of the job, through the API server and its pod proxy' '
    id=$(fluxq-submit -N 2 -o none.out -- sleep 97811) && wait_job_state "$id" RUNNING 60 &&
    test_expect_code 3 relay run "$id" sh -c "hostname; exit 3" >out &&
    grep -x "n[01][.]fluxq-$CLUSTER_ID-$id-0[.].*" out &&
    seq 1 200000 >in && relay input "$id" cat <in >out && test_cmp in out &&
    relay run "$id" head -c 20000000 /dev/zero >out && [ "$(wc -c <out)" = 20000000 ] &&
    test_expect_code 5 relay signal "$id" 10 sh -c "trap \"exit 5\" USR1; echo ready; while :; do sleep 0.1; done" >out &&
    relay garbage "$id" >out && echo closed >expected && test_cmp expected out
'

test_expect_success 'when a client goes its step ends, and when the job ends the client'\''s connection ends' '
    relay half "$id" sleep 97812 >out && test_cmp expected out &&
    wait_until 20 eval "[ -z \"\$(on_our_nodes \"^sleep 97812\")\" ]" &&
    { relay hold "$id" sleep 97813 >held & } && wait_until 20 grep started held &&
    fluxq-cancel "$id" && wait_job_state "$id" CANCELLED 60 &&
    wait_until 20 grep closed held &&
    relay refused "$id" >out && grep "^409 job-ended" out &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'a cancel ends a running job on all its nodes' '
    id=$(fluxq-submit -N 2 -o cancel.out -- sleep 300) &&
    wait_job_state "$id" RUNNING 60 &&
    fluxq-cancel "$id" &&
    wait_job_state "$id" CANCELLED 60 &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'a job can be cancelled before its pods run' '
    id=$(fluxq-submit -N 2 -o cancel.out -- sleep 300) &&
    fluxq-cancel "$id" &&
    wait_job_state "$id" CANCELLED 60 &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'an invalid image name fails the job at once with the reason' '
    id=$(fluxq-submit --image "NO::image" -o bad.out -- true) &&
    wait_job_state "$id" FAILED 40 &&
    fluxq-show job "$id" --events >events &&
    grep -q "image NO::image cannot be pulled" events
'

test_expect_success 'a missing output directory is reported before the start of any pod' '
    id=$(fluxq-submit -o nowhere/x.out -- true) &&
    wait_job_state "$id" FAILED 20 &&
    fluxq-show job "$id" --events >events &&
    grep -q "nowhere does not exist" events
'

test_expect_success 'standard input from a file is sent to the pods, one file or one for each task' '
    echo "from the login node" >in.txt &&
    printf "#!/bin/sh\n#SBATCH -i in.txt -o read.out\ncat\n" >read.sh && fluxq-submit --wait read.sh &&
    test_cmp in.txt read.out &&
    for t in 0 1 2 3; do echo "task $t" >in-$t || return 1; done &&
    fluxq-submit --wait -N 2 -n 4 -i "in-%t" -o "read-%t.out" -- cat &&
    for t in 0 1 2 3; do test_cmp in-$t read-$t.out || return 1; done &&
    fluxq-submit --wait -N 2 -n 2 -i in.txt -o "all-%n.out" -- cat && test_cmp in.txt all-0.out && test_cmp in.txt all-1.out
'

test_expect_success 'input up to the limit of a ConfigMap is sent, and larger or missing input fails the job before its start' '
    head -c 1000000 /dev/urandom >much.bin && fluxq-submit --wait -i much.bin -o much.out -- cat && cmp much.bin much.out &&
    head -c 1100000 /dev/urandom >more.bin && id=$(fluxq-submit -i more.bin -o more.out -- cat) &&
    wait_job_state "$id" FAILED 20 && said "$id" "more.bin.*the pods do not see" &&
    id=$(fluxq-submit -i no-such-file -o more.out -- cat) && wait_job_state "$id" FAILED 20 &&
    said "$id" "input file: no-such-file: No such file" && [ "$(count_events "$id" start)" = 0 ]
'

test_expect_success 'all file patterns and --open-mode work' '
    id=$(fluxq-submit --wait -N 2 -n 4 -o "p-%j-%J-%s-%n-%N-%2t-%x-%u-%%.out" -J pat -- sh -c "echo \$FLUXQ_PROCID") &&
    ls p-$id-* >files && test "$(wc -l <files)" = 4 &&
    for t in 0 1 2 3; do
        set -- p-$id-$id.0-0-$((t / 2))-node[123]-0$t-pat-root-%.out && test "$(cat "$1")" = $t || return 1
    done &&
    echo before >mode.out && fluxq-submit --wait --open-mode=append -o mode.out -- echo after &&
    printf "before\nafter\n" >expected && test_cmp expected mode.out &&
    fluxq-submit --wait -o mode.out -- echo anew && echo anew >expected && test_cmp expected mode.out
'

test_expect_success 'output of a job is in its file while the job runs, and stays after a kill' '
    id=$(fluxq-submit -N 2 -n 2 -o "kept-%t.out" -- sh -c "seq 20000; exec sleep 300") &&
    seq 20000 >expected &&
    wait_until 60 cmp -s expected kept-0.out && wait_until 60 cmp -s expected kept-1.out &&
    [ "$(job_state "$id")" = RUNNING ] && fluxq-cancel "$id" && wait_job_state "$id" CANCELLED 60 &&
    test_cmp expected kept-0.out && test_cmp expected kept-1.out
'

test_expect_success 'fluxq-logs has the output of each rank and task after the pods are gone' '
    wait_until 30 no_jobs_of_ours && fluxq-logs --stdout --rank 1 "$id" >logged && test_cmp expected logged &&
    fluxq-logs --stdout --task 0 "$id" >logged && test_cmp expected logged &&
    fluxq-logs --label --task 1 --stdout "$id" | sed -n 2p | grep -x "1: 2"
'

test_expect_success 'twenty megabytes from two nodes arrive complete, and with output-max fluxq-logs marks the cut' '
    stop_broker && write_config "$configs/fluxq.kubeconfig" "output-max: 4Mi" &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    id=$(fluxq-submit --wait -N 2 -n 2 -o "large-%t.out" -- seq 1500000) && seq 1500000 >expected &&
    test_cmp expected large-0.out && test_cmp expected large-1.out && rm large-?.out &&
    fluxq-logs --stdout "$id" >logged && grep -c "^fluxq: \[\.\.\. about .* MB" logged && [ "$(stat -c %s logged)" -lt 4300000 ] &&
    [ "$(head -n 1 logged)" = 1 ] && [ "$(tail -n 1 logged)" = 1500000 ] &&
    stop_broker && write_config "$configs/fluxq.kubeconfig" && start_broker --kube --config "$HERE/kube.yaml"
'

test_expect_success 'tasks run in the job'\''s directory if the pods mount it, and the agent writes there as the user' '
    mkdir -m 777 "$FLUXQ_RUN/shared" && mkdir mine && dir=$FLUXQ_RUN/shared &&
    stop_broker && write_config "$configs/fluxq.kubeconfig" \
        "queues: {batch: {mounts: [{path: $dir, volume: {hostPath: {path: $dir}}}]}}" &&
    start_broker --kube --config "$HERE/kube.yaml" && cp read.sh in.txt "$dir" &&
    id=$(cd "$dir" && setpriv --reuid=65534 --regid=65534 --clear-groups fluxq-submit --wait read.sh) &&
    test_cmp in.txt "$dir/read.out" && [ "$(stat -c %u "$dir/read.out")" = 65534 ] &&
    head -c 2000000 /dev/urandom >"$dir/large.bin" &&
    id=$(cd "$dir" && fluxq-submit --wait -N 2 -n 2 -i large.bin -o "here-%n" -e "$HERE/mine/err" -- \
        sh -c "cat; pwd >&2; ls >/dev/null") &&
    cmp "$dir/large.bin" "$dir/here-0" && cmp "$dir/large.bin" "$dir/here-1" &&
    printf "%s\n" "$dir" "$dir" >expected && test_cmp expected mine/err &&
    fluxq-logs --stdout --task 1 $id | cmp - "$dir/large.bin"
'

test_expect_success 'in a mounted directory a missing path fails the job at once, and output stays after a kill' '
    id=$(cd "$dir" && fluxq-submit -o missing/out -- true) && wait_job_state "$id" FAILED 60 &&
    said "$id" "missing does not exist" && [ "$(count_events "$id" alloc)" = 1 ] &&
    id=$(cd "$dir" && fluxq-submit -o out -- sh -c "seq 20000; exec sleep 300") && seq 20000 >expected &&
    wait_until 60 cmp -s expected "$dir/out" && fluxq-cancel "$id" && wait_job_state "$id" CANCELLED 60 &&
    test_cmp expected "$dir/out" &&
    stop_broker && write_config "$configs/fluxq.kubeconfig" && start_broker --kube --config "$HERE/kube.yaml"
'

test_expect_success 'a job and its output files belong to the submitting user' '
    mkdir -m 777 nobody && chmod 711 "$HERE" &&
    id=$(cd nobody && setpriv --reuid=65534 --regid=65534 --clear-groups \
        fluxq-submit --wait -o who.out -- id -u) &&
    [ "$(cat nobody/who.out)" = 65534 ] &&
    [ "$(stat -c %u nobody/who.out)" = 65534 ]
'

test_expect_success 'after kill -9 of the broker the job goes on, and no line is lost or repeated' '
    id=$(fluxq-submit -N 2 -n 2 -o "count-%t.out" -- \
        sh -c "i=0; while [ \$i -lt 80 ]; do echo \$i; i=\$((i+1)); sleep 0.1; done") &&
    wait_until 60 has_lines count-0.out 10 &&
    kill_broker &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 60 has_lines count-0.out 40 &&
    kill_broker &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_job_state "$id" COMPLETED 60 &&
    counts_up count-0.out 80 && counts_up count-1.out 80 &&
    [ "$(count_events "$id" alloc)" = 1 ]
'

test_expect_success 'the broker learns of a job that ended while no broker ran' '
    id=$(fluxq-submit -o away.out -- sh -c "echo a; sleep 2; echo b; exit 5") &&
    wait_job_state "$id" RUNNING 60 &&
    kill_broker && sleep 3 &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_job_state "$id" FAILED 60 &&
    printf "a\nb\n" >expected && test_cmp expected away.out
'

test_expect_success 'when an agent is killed the job ends and names the node' '
    id=$(fluxq-submit --no-requeue -N 2 -o lost.out -- sleep 300) &&
    wait_job_state "$id" RUNNING 60 &&
    kill_agent "$id" 1 &&
    wait_job_state "$id" "NODE_FAIL|FAILED" 60 &&
    fluxq-show job "$id" --events >events && grep -q "node[123]: its agent was lost" events
'

test_expect_success 'when the agent of rank 0 is killed the job ends and names the node' '
    id=$(fluxq-submit --no-requeue -N 2 -o lost.out -- sleep 300) &&
    wait_job_state "$id" RUNNING 60 &&
    kill_agent "$id" 0 &&
    wait_job_state "$id" "NODE_FAIL|FAILED" 60 &&
    fluxq-show job "$id" --events >events && grep -q "node[123]: " events &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'a job that loses an agent is requeued and runs again' '
    id=$(fluxq-submit -N 2 -o again.out -- \
        sh -c "echo run \${FLUXQ_RESTART_COUNT-0}; [ -n \"\$FLUXQ_RESTART_COUNT\" ] || sleep 300") &&
    wait_job_state "$id" RUNNING 60 && kill_agent "$id" 1 &&
    wait_job_state "$id" COMPLETED 90 &&
    [ "$(count_events "$id" requeue)" = 1 ] && [ "$(count_events "$id" alloc)" = 2 ] &&
    printf "run 1\nrun 1\n" >expected && test_cmp expected again.out &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'a running job does not notice a short outage of the API server' '
    id=$(fluxq-submit -N 2 -n 2 -o "api-%t.out" -- \
        sh -c "i=0; while [ \$i -lt 100 ]; do echo \$i; i=\$((i+1)); sleep 0.1; done") &&
    wait_until 60 has_lines api-0.out 5 &&
    "$KUBE/daemon" stop apiserver && sleep 5 && timeout 90 "$KUBE/daemon" start apiserver &&
    wait_job_state "$id" COMPLETED 90 &&
    counts_up api-0.out 100 && counts_up api-1.out 100
'

test_expect_success 'a cordoned node gets no job, and an uncordoned node does' '
    wait_until 120 sh -c "! fluxq-info --json | grep -q \"not ready\"" &&
    k cordon node1 && wait_until 60 sh -c "fluxq-info --json | grep -q cordoned" &&
    id=$(fluxq-submit -N 3 -o cordon.out -- true) &&
    wait_until 60 sh -c "fluxq-queue -o %r | grep -q Resources" &&
    [ "$(job_state "$id")" = PENDING ] &&
    k uncordon node1 &&
    wait_job_state "$id" COMPLETED 150
'

test_expect_success 'a token file works as well as a client certificate' '
    stop_broker && write_config "$configs/fluxq-tokenfile.kubeconfig" &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    fluxq-submit --wait -o token.out -- true
'

test_expect_success 'a limit can be extended while the pods run, also over a restart, and a signal reaches the batch script' '
    write_script limit.sh <<-\END &&
	#!/bin/sh
	trap "echo shell USR1" USR1
	umask
	echo ready
	until [ -e /tmp/never ]; do sleep 0.1; done
	END
    id=$(umask 027 && fluxq-submit -N 2 -t 5 --signal=B:USR1@3 --export=NIL --get-user-env -o limit.out limit.sh) &&
    wait_job_state "$id" RUNNING 60 && wait_until 30 grep -q ready limit.out && grep -x 0027 limit.out &&
    fluxq-ctl extend "$id" +5 && restart_broker --kube --config "$HERE/kube.yaml" && wait_job_state "$id" RUNNING 60 &&
    test "$(job_field "$id" time_limit)" = 600 && ! grep USR1 limit.out &&
    wait_until 60 fluxq-cancel --signal=USR1 --batch "$id" && wait_until 30 grep -q "shell USR1" limit.out &&
    fluxq-ctl extend "$id" 0:01 && wait_job_state "$id" TIMEOUT 90 && wait_until 30 no_jobs_of_ours
'

# step_holds ID STEP JQ: the condition is true for the record of this step.
step_holds()
{
    fluxq-show job "$1" --json | jq -e --arg step "$2" ".steps[] | select(.step == \$step) | $3" >/dev/null && return
    fluxq-show job "$1" --json | jq .steps >&2
    return 1
}

test_expect_success 'the record of a job has the usage of its tasks, and of its pods by their control groups' '
    id=$(fluxq-submit --wait -N 2 --mem 200 -o /dev/null -- \
        sh -c "dd if=/dev/zero of=/dev/null bs=64M count=1; i=0; while [ \$i -lt 100000 ]; do i=\$((i+1)); done") &&
    step_holds $id tasks ".reported == 2 and .user.sum > 0 and .peak.min >= 67108864 and .read.sum >= 134217728" &&
    step_holds $id all ".reported == 2 and .user.sum > 0 and .peak.min >= 67108864 and .peak.max <= 209715200" &&
    fluxq-show job $id | grep -E "^all .* MiB +node[1-3]"
'

# Programs of the administrator: on a node that hooks.yaml names they fail with this word.
hook()
{
    write_script "$1" <<-END
	#!/bin/sh
	echo "on \$FLUXQ_NODENAME as \$(id -u), rank \$FLUXQ_NODEID of \$FLUXQ_NNODES" >&2
	[ "\$FLUXQ_NODENAME" != "$2" ] || exit 7
	exit 0
	END
}

node_is()
{
    fluxq-show node "$1" --json | jq -r ".nodes[0] | .state, .reason" >node.text && [ "$(head -n 1 node.text)" = "$2" ]
}

with_hooks()
{
    hook prolog "$1" && hook epilog "$2" && stop_broker && write_config "$configs/fluxq.kubeconfig" \
        "prolog: $HERE/prolog" "epilog: $HERE/epilog" "prolog-timeout: 20s" &&
        start_broker --kube --config "$HERE/kube.yaml"
}

test_expect_success 'after a failed prolog the node is drained, and the job runs on other nodes' '
    with_hooks node1 none && id=$(fluxq-submit -N 2 -o /dev/null -- true) && wait_job_state $id COMPLETED 90 &&
    [ "$(job_field $id nodelist)" = "node[2-3]" ] && [ "$(job_field $id restarts)" = 1 ] &&
    node_is node1 drained && grep -E "prolog failed on node node1: exit status 7: on node1 as [0-9]+, rank 0 of 2" node.text &&
    fluxq-ctl resume node1
'

test_expect_success 'after a failed epilog the node is drained, and the job keeps its result' '
    with_hooks none node2 && id=$(fluxq-submit -N 3 -o /dev/null -- true) && wait_job_state $id COMPLETED 90 &&
    is_drained() { node_is node2 drained; } && wait_until 60 is_drained &&
    grep -E "epilog failed on node node2: exit status 7: on node2 as [0-9]+, rank 1 of 3" node.text &&
    node_is node1 up && node_is node3 up && wait_until 60 no_jobs_of_ours && fluxq-ctl resume node2 &&
    stop_broker && write_config "$configs/fluxq.kubeconfig" && start_broker --kube --config "$HERE/kube.yaml"
'

test_expect_success 'objects with fluxq'\''s label that belong to no job are removed' '
    stop_broker &&
    k create configmap fluxq-t4100-999999-0 && k label configmap fluxq-t4100-999999-0 app.kubernetes.io/managed-by=fluxq \
        fluxq.io/cluster=t4100 fluxq.io/job-id=999999 fluxq.io/attempt=0 &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 sh -c "! \"$KUBE/enter\" kubectl -n fluxq get configmap fluxq-t4100-999999-0"
'

test_expect_success 'after all jobs and the broker have ended no object of this cluster id is left' '
    wait_until 60 no_jobs_of_ours &&
    stop_broker &&
    wait_until 60 nothing_of_ours
'

test_done
