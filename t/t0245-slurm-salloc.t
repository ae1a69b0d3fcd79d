#!/bin/sh
test_description='salloc: an allocation without a command, the signal for a command that outlives the job, the bell'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
start_broker --local 2

# outlives SIGNAL OPTION...: salloc runs a command that notes the signal which it gets when its job is cancelled.
outlives()
{
    wanted=$1
    shift
    rm -f ready got
    salloc "$@" sh -c 'for s in HUP TERM USR1; do trap "echo $s >got; exit 0" $s; done
        echo "$SLURM_JOB_ID" >ready.tmp; mv ready.tmp ready; while :; do sleep 0.02; done' </dev/null >out 2>err &
    wait_until 20 test -e ready && scancel "$(cat ready)" && wait "$!"
    test "$(cat got)" = "$wanted"
}

test_expect_success 'salloc --no-shell leaves an allocation, in which srun --jobid runs steps until it is cancelled' '
    salloc --no-shell -N2 2>err </dev/null && id=$(sed -n "s/^salloc: Granted job allocation //p" err) && test -n "$id" && ! grep Relinquishing err &&
    test "$(job_state $id)" = RUNNING && test "$(squeue -h -j $id -o "%j %D")" = "no-shell 2" &&
    srun --jobid=$id -N2 -n2 -l sh -c "echo \$SLURM_JOB_ID" >out && sort out >sorted && printf "0: $id\n1: $id\n" >wanted && test_cmp wanted sorted &&
    kill_broker && start_broker --local 2 && srun --jobid=$id -n1 true && test "$(job_state $id)" = RUNNING &&
    scancel $id && wait_job_state $id CANCELLED && sinfo -h -o %t | grep idle
'
test_expect_success 'its time limit ends it' '
    SALLOC_ACCOUNT=a salloc -Q --no-shell -t 0:01 -J mine 2>err && test_must_be_empty err &&
    id=$(fluxq-queue -t all --no-header -o %i | sort -n | tail -n 1) && wait_job_state $id TIMEOUT && test "$(sacct -X -n -P -j $id -o JobName,State,Account)" = "mine|TIMEOUT|a"
'
test_expect_success 'a command that would never run, and signals that do not exist, are refused' '
    test_expect_code 1 salloc --no-shell true 2>err && grep "no-shell runs no command: leave true out" err &&
    test_expect_code 1 salloc -KNONE true 2>err && grep "kill-command.*NONE" err &&
    test_must_fail sbatch --no-shell --wrap true 2>err
'
test_expect_success 'a command that outlives its job gets SIGHUP, with -K SIGTERM, with -K and a signal this one' '
    outlives HUP && outlives TERM -K && outlives USR1 -KUSR1 && outlives USR1 --kill-command=10 &&
    SALLOC_KILL_CMD=USR1 outlives USR1 && SALLOC_KILL_CMD=HUP SALLOC_CLUSTERS=all outlives USR1 -KUSR1
'
if python3 -c "import pty" 2>/dev/null; then
test_expect_success 'the bell rings on a terminal, if it is asked for' '
    on_terminal() { python3 -c "import pty, sys; pty.spawn(sys.argv[1:])" "$@" </dev/null >typed 2>&1; } &&
    on_terminal salloc --bell true && grep -q "$(printf "\a")" typed &&
    on_terminal salloc true && ! grep -q "$(printf "\a")" typed &&
    salloc --bell true >out 2>err && ! grep -q "$(printf "\a")" out &&
    SALLOC_BELL=1 on_terminal salloc true && grep -q "$(printf "\a")" typed
'
fi
test_done
