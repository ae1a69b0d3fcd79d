#!/bin/sh
# t4100-exec-kube.t: jobs on the real cluster of t/kube (started here if it is not up). Needs root.

test_description='the Kubernetes executor: jobs run, end, fail and recover on a real cluster'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4100

# kill_agent JOB RANK: all processes of that rank's agent. One may end with the other.
kill_agent() {
    pids=$(agent_pids "$1" "$2")
    [ -n "$pids" ] && { kill -9 $pids 2>/dev/null || :; }
}

test_expect_success 'the cluster is up' '
    timeout 300 "$KUBE/up" &&
    configs=$(dirname "$("$KUBE/enter" printenv KUBECONFIG)") &&
    write_config "$configs/fluxq.kubeconfig"
'

test_expect_success 'the broker finds the cluster and its nodes' '
    start_broker --kube --config "$HERE/kube.yaml" &&
    for i in 1 2 3; do wait_until 30 sh -c "fluxq-info --json | grep -q node$i" || return 1; done
'

test_expect_success 'a two-node batch script runs and its output comes back' '
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

test_expect_success 'a command runs once a task, a file each, and the worst status counts' '
    test_expect_code 2 fluxq-submit --wait -N 3 -o "task-%t.out" -- \
        sh -c "echo \$FLUXQ_PROCID; exit \$FLUXQ_PROCID" &&
    for i in 0 1 2; do [ "$(cat task-$i.out)" = $i ] || return 1; done
'

test_expect_success 'the tasks of an array are jobs of the cluster, a limited number at a time' '
    id=$(fluxq-submit --wait -a 1-5:2%2 -- sh -c "echo \$SLURM_ARRAY_TASK_ID of \$SLURM_ARRAY_JOB_ID") &&
    for n in 1 3 5; do echo "$n of $id" >expected && test_cmp expected "fluxq-${id}_$n.out" || return 1; done &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'logs follow a running job to its end' '
    id=$(fluxq-submit -o none.out -- sh -c "echo begin; sleep 2; echo end") &&
    timeout 60 fluxq-logs -f "$id" >followed &&
    grep -q begin followed && grep -q end followed
'

relay() { RELAY_CWD=/ timeout 120 python3 "$FLUXQ_SOURCE_DIR/t/helper/relay.py" "$@"; }

test_expect_success 'a program here is a client of the job, through the API server and its pod proxy' '
    id=$(fluxq-submit -N 2 -o none.out -- sleep 97811) && wait_job_state "$id" RUNNING 60 &&
    test_expect_code 3 relay run "$id" sh -c "hostname; exit 3" >out &&
    grep "^fluxq-$CLUSTER_ID-$id-0-[01]$" out &&
    seq 1 200000 >in && relay input "$id" cat <in >out && test_cmp in out &&
    relay run "$id" head -c 20000000 /dev/zero >out && [ "$(wc -c <out)" = 20000000 ] &&
    test_expect_code 5 relay signal "$id" 10 sh -c "trap \"exit 5\" USR1; echo ready; while :; do sleep 0.1; done" >out &&
    relay garbage "$id" >out && echo closed >expected && test_cmp expected out
'

test_expect_success 'such a client goes: its step ends; the job ends: so does the client' '
    relay half "$id" sleep 97812 >out && test_cmp expected out &&
    wait_until 20 sh -c "! pgrep -f \"^sleep 97812\"" &&
    { relay hold "$id" sleep 97813 >held & } && wait_until 20 grep started held &&
    fluxq-cancel "$id" && wait_job_state "$id" CANCELLED 60 &&
    wait_until 20 grep closed held &&
    relay refused "$id" >out && grep "^409 job-ended" out &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'a running job is cancelled on all its nodes' '
    id=$(fluxq-submit -N 2 -o cancel.out -- sleep 300) &&
    wait_job_state "$id" RUNNING 60 &&
    fluxq-cancel "$id" &&
    wait_job_state "$id" CANCELLED 60 &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'a job is cancelled before its pods run' '
    id=$(fluxq-submit -N 2 -o cancel.out -- sleep 300) &&
    fluxq-cancel "$id" &&
    wait_job_state "$id" CANCELLED 60 &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'a name that is no image fails at once and says so' '
    id=$(fluxq-submit --image "NO::image" -o bad.out -- true) &&
    wait_job_state "$id" FAILED 40 &&
    fluxq-show job "$id" --events >events &&
    grep -q "image NO::image cannot be pulled" events
'

test_expect_success 'a missing output directory is named before anything starts' '
    id=$(fluxq-submit -o nowhere/x.out -- true) &&
    wait_job_state "$id" FAILED 20 &&
    fluxq-show job "$id" --events >events &&
    grep -q "nowhere does not exist" events
'

test_expect_success 'a job runs as the user who submitted it, and so does its output' '
    mkdir -m 777 nobody && chmod 711 "$HERE" &&
    id=$(cd nobody && setpriv --reuid=65534 --regid=65534 --clear-groups \
        fluxq-submit --wait -o who.out -- id -u) &&
    [ "$(cat nobody/who.out)" = 65534 ] &&
    [ "$(stat -c %u nobody/who.out)" = 65534 ]
'

test_expect_success 'kill -9 of the broker: the job goes on, no line is lost or doubled' '
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

test_expect_success 'a job that ended while the broker was away is picked up' '
    id=$(fluxq-submit -o away.out -- sh -c "echo a; sleep 2; echo b; exit 5") &&
    wait_job_state "$id" RUNNING 60 &&
    kill_broker && sleep 3 &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_job_state "$id" FAILED 60 &&
    printf "a\nb\n" >expected && test_cmp expected away.out
'

test_expect_success 'an agent is killed: the job ends and names the node' '
    id=$(fluxq-submit --no-requeue -N 2 -o lost.out -- sleep 300) &&
    wait_job_state "$id" RUNNING 60 &&
    kill_agent "$id" 1 &&
    wait_job_state "$id" "NODE_FAIL|FAILED" 60 &&
    fluxq-show job "$id" --events >events && grep -q "node[123]: its agent was lost" events
'

test_expect_success 'the agent of rank 0 is killed: the same' '
    id=$(fluxq-submit --no-requeue -N 2 -o lost.out -- sleep 300) &&
    wait_job_state "$id" RUNNING 60 &&
    kill_agent "$id" 0 &&
    wait_job_state "$id" "NODE_FAIL|FAILED" 60 &&
    fluxq-show job "$id" --events >events && grep -q "node[123]: " events &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'a job that loses an agent goes back into the queue and runs again' '
    id=$(fluxq-submit -N 2 -o again.out -- \
        sh -c "echo run \${FLUXQ_RESTART_COUNT-0}; [ -n \"\$FLUXQ_RESTART_COUNT\" ] || sleep 300") &&
    wait_job_state "$id" RUNNING 60 && kill_agent "$id" 1 &&
    wait_job_state "$id" COMPLETED 90 &&
    [ "$(count_events "$id" requeue)" = 1 ] && [ "$(count_events "$id" alloc)" = 2 ] &&
    printf "run 1\nrun 1\n" >expected && test_cmp expected again.out &&
    wait_until 30 no_jobs_of_ours
'

test_expect_success 'the API server is away for a while: a running job does not notice' '
    id=$(fluxq-submit -N 2 -n 2 -o "api-%t.out" -- \
        sh -c "i=0; while [ \$i -lt 100 ]; do echo \$i; i=\$((i+1)); sleep 0.1; done") &&
    wait_until 60 has_lines api-0.out 5 &&
    "$KUBE/apiserver" stop && sleep 5 && timeout 90 "$KUBE/apiserver" start &&
    wait_job_state "$id" COMPLETED 90 &&
    counts_up api-0.out 100 && counts_up api-1.out 100
'

test_expect_success 'a cordoned node gets no job, one that is given back does' '
    wait_until 120 sh -c "! fluxq-info --json | grep -q \"not ready\"" &&
    k cordon node1 && wait_until 60 sh -c "fluxq-info --json | grep -q cordoned" &&
    id=$(fluxq-submit -N 3 -o cordon.out -- true) &&
    wait_until 60 sh -c "fluxq-queue -o %r | grep -q Resources" &&
    [ "$(job_state "$id")" = PENDING ] &&
    k uncordon node1 &&
    wait_job_state "$id" COMPLETED 150
'

test_expect_success 'a token file serves as well as a client certificate' '
    stop_broker && write_config "$configs/fluxq-tokenfile.kubeconfig" &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    fluxq-submit --wait -o token.out -- true
'

test_expect_success 'what carries our label and belongs to no job is swept away' '
    stop_broker &&
    k create configmap left-over && k label configmap left-over app.kubernetes.io/managed-by=fluxq \
        fluxq.io/cluster=t4100 fluxq.io/job-id=999999 fluxq.io/attempt=0 &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 sh -c "! \"$KUBE/enter\" kubectl -n fluxq get configmap left-over"
'

test_expect_success 'when all is over and the broker has gone, nothing of ours is left' '
    wait_until 60 no_jobs_of_ours &&
    stop_broker &&
    wait_until 60 nothing_of_ours
'

test_done
