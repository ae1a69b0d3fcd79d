#!/bin/sh
# t4160-fractional.t: fractional CPUs on a real cluster. Needs root; about a minute.

test_description='fractional CPUs on a real cluster: --cpus-per-task=0.5

A core that is allocated twice, as a whole and in fractions, a pod that requests more or less than its job was
given, an environment that rounds half a CPU to none, or a plan that forgets fractions over a restart would fail
this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4160

broker()
{
    write_config "$configs/fluxq.kubeconfig" "start-backoff: 1s" "$@" && start_broker --kube --config "$HERE/kube.yaml"
}

# node FIELD: prints the field of the only node.
node()
{
    fluxq-info --json | jq ".nodes[0].$1"
}

has_cores() # more than one; false until the node is known
{
    fluxq-info --json | jq -e ".nodes[0].cores_free > 1"
}

node_has() # FIELD VALUE
{
    [ "$(node "$1")" = "$2" ]
}

# hold ARGUMENTS...: submits a job that prints its variables and runs until its cancel.
hold()
{
    fluxq-submit -o out.%j "$@" -- sh -c \
        'echo "$SLURM_CPUS_PER_TASK $FLUXQ_CPUS_PER_TASK ${FLUXQ_CPU_MILLI_PER_TASK-whole} ${FLUXQ_JOB_GRES-none}"; sleep 1000'
}

# asks JOB REQUESTS LIMITS: the only pod of the job has these requests and limits of CPUs.
asks()
{
    k get pods -l "fluxq.io/job-id=$1" -o json | jq -r \
        '[.items[].spec.containers[0].resources | .requests.cpu, .limits.cpu // "none"] | join(" ")' >asked &&
        echo "$2 $3" >wanted && test_cmp wanted asked
}

waits() # JOB TEXT
{
    fluxq-queue --why | grep -E "^ *$1 .* PD .*$2"
}

gone()
{
    [ -z "$(k get pods -l "fluxq.io/job-id=$1" -o name)" ]
}

end()
{
    for id; do
        fluxq-cancel "$id" && wait_until 60 gone "$id" || return
    done
}

write_script steps.sh <<\END
#!/bin/sh
fluxq-run echo step
END

own_cluster --nodes 1

test_expect_success 'a job uses all whole cores of the node except one' '
    broker && wait_until 30 has_cores && whole=$(node cores_free) &&
    milli=$(node cpu_milli_free) && [ "$milli" -ge "$((1000 * whole))" ] && [ "$milli" -lt "$((1000 * whole + 1000))" ] &&
    full=$(hold -c $((whole - 1))) && wait_job_state $full RUNNING 60 && asks $full $((whole - 1)) none &&
    wait_until 30 grep "whole none" out.$full && node_has cores_free 1
'

test_expect_success 'two jobs of half a CPU share one core, and their pods request half a CPU' '
    one=$(hold -c 0.5) && two=$(hold -c 500m) && wait_job_state $one RUNNING 60 && wait_job_state $two RUNNING 60 &&
    asks $one 500m 500m && asks $two 500m 500m && node_has cores_free 0 &&
    node_has cpu_milli_free $((milli - 1000 * whole)) &&
    echo "1 1 500 none" >expected && wait_until 30 test_cmp expected out.$one
'

test_expect_success 'without a free whole core a job that needs one waits with this reason' '
    core=$(hold -c 1) && wait_until 30 waits $core "needs 1 cpu in all, 0" &&
    fluxq-queue -o "%i %C" | grep -E "^ *$one +0.5" && fluxq-show job $one | grep "cpus 0.5"
'

test_expect_success 'after kill -9 of the broker fractions and cores are booked as before' '
    kill_broker && broker && wait_until 30 node_has cores_free 0 && wait_until 30 waits $core "needs 1 cpu in all, 0" &&
    node_has cpu_milli_free $((milli - 1000 * whole))
'

test_expect_success 'the job starts when both halves of a core are free' '
    end $one $two && wait_job_state $core RUNNING 60 && asks $core 1 none && end $core
'

test_expect_success 'the tasks on a node add up' '
    id=$(hold -N 1 -n 3 -c 0.3) && wait_job_state $id RUNNING 60 && asks $id 900m 900m && end $id &&
    id=$(hold -N 1 -n 4 -c 0.25) && wait_job_state $id RUNNING 60 && asks $id 1 1 && end $id $full &&
    wait_until 30 node_has cpu_milli_free $milli
'

test_expect_success 'a job with fractional CPUs can run steps' '
    fluxq-run -n 2 -c 0.5 sh -c "echo \$FLUXQ_PROCID" | sort >ran && printf "0\n1\n" >expected && test_cmp expected ran &&
    id=$(fluxq-submit -N 1 -n 2 -c 0.5 -o steps.out steps.sh) &&
    wait_job_state $id COMPLETED 60 && wait_until 30 has_lines steps.out 2
'

test_expect_success 'a request beyond a node is refused, with the amount as the user wrote it' '
    test_must_fail fluxq-submit -c 99.5 -- true 2>why && grep "needs 99.5 cpus on a node, the largest has" why
'

test_expect_success 'with fractional-cpu: false fractional CPUs are refused' '
    stop_broker && broker "  fractional-cpu: false" && wait_until 30 node_has cores_free $whole &&
    test_must_fail fluxq-submit -c 0.5 -- true 2>why && grep "request whole ones.*the administrator.*kube.fractional-cpu" why &&
    id=$(fluxq-submit -c 2000m -- true) && wait_job_state $id COMPLETED 60
'

test_expect_success 'the broker stops and leaves nothing' '
    stop_broker && nothing_of_ours
'

test_done
