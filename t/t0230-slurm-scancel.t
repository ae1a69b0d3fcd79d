#!/bin/sh
test_description='scancel: words and exit status as in Slurm'
. "$(dirname "$0")/lib.sh"

start_broker

submit()
{
    fluxq-submit -o /dev/null "$@"
}

test_expect_success 'scancel is silent, also for jobs that do not exist or have ended' '
    id=$(submit -- sleep 100) && wait_job_state $id RUNNING &&
    scancel $id >out 2>&1 && test_must_be_empty out && wait_job_state $id CANCELLED &&
    scancel $id 9999 >out 2>&1 && test_must_be_empty out
'

test_expect_success '-v says what is done' '
    id=$(submit --hold -- true) && scancel -v $id 9999 2>err && wait_job_state $id CANCELLED &&
    grep -x "scancel: Terminating job $id" err && grep "^scancel: error: Kill job error on job id 9999: Invalid job id specified" err &&
    id=$(submit -- sleep 100) && wait_job_state $id RUNNING && scancel -v -s TERM $id 2>err &&
    grep -x "scancel: Signal 15 to job $id" err && wait_job_state $id FAILED
'

test_expect_success 'bad operands and options are refused with status 1' '
    test_expect_code 1 scancel 2>err && grep "^scancel: error: No job identification provided" err &&
    test_expect_code 1 scancel abc 2>err && grep "Invalid job id abc" err &&
    test_expect_code 1 scancel -u nosuchuser 2>err && grep "Invalid user name: nosuchuser" err &&
    test_expect_code 1 scancel -t COMPLETED 2>err && grep "Invalid job state specified: COMPLETED" err &&
    test_expect_code 1 scancel -s FOO 1 2>err && grep "Unknown job signal: FOO" err
'

test_expect_success 'filters select jobs: name, state, partition, account, qos, wckey' '
    a=$(submit --hold -J one -A x --qos=q1 --wckey=w1 -- true) && b=$(submit --hold -J two -A y --qos=q2 --wckey=w2 -- true) &&
    c=$(submit --hold -J three -A y -- true) && d=$(submit --hold -J four -- true) &&
    scancel --name one && wait_job_state $a CANCELLED && test "$(job_state $b)" = PENDING &&
    scancel -A y --wckey w2 && wait_job_state $b CANCELLED && test "$(job_state $c)" = PENDING &&
    scancel -q q2 && scancel -t RUNNING && test "$(job_state $c)" = PENDING &&
    scancel -A y && wait_job_state $c CANCELLED && test "$(job_state $d)" = PENDING &&
    scancel --me -p batch -t PD && wait_job_state $d CANCELLED
'

test_expect_success 'a filter on nodes selects running jobs' '
    a=$(submit -w node0 -- sleep 100) && b=$(submit -w node1 -- sleep 100) &&
    wait_job_state $a RUNNING && wait_job_state $b RUNNING &&
    scancel -w "node[1-3]" && wait_job_state $b CANCELLED && test "$(job_state $a)" = RUNNING && scancel $a
'

test_expect_success '-i asks before each job' '
    a=$(submit --hold -J ask -- true) && b=$(submit --hold -J ask -- true) &&
    printf "n\ny\n" | scancel -i -n ask >out && grep "Cancel job_id=$a name=ask partition=batch \[y/n\]?" out &&
    wait_until 10 sh -c "test \$(fluxq-queue -n ask --no-header | wc -l) -eq 1" && scancel -n ask
'

test_expect_success 'tasks of arrays, and steps' '
    id=$(submit --hold -a 0-3 -- true) && scancel ${id}_1 "${id}_[2-3]" &&
    wait_until 10 sh -c "fluxq-queue -j $id -o %i --no-header | grep -x \"${id}_\[0\]\"" && scancel $id &&
    write_script steps.sh <<-\END &&
	#!/bin/sh
	fluxq-run sleep 100
	touch after
	END
    id=$(submit steps.sh) && wait_until 20 sh -c "scancel $id.0; test -e after" &&
    wait_job_state $id "COMPLETED|FAILED"
'

test_expect_success 'a job of another user is not touched' '
    id=$(submit --hold -- true) && chmod 711 "$FLUXQ_RUN" &&
    test_expect_code 1 sh -c "cd / && setpriv --reuid=65534 --regid=65534 --clear-groups scancel $id" 2>err &&
    grep "^scancel: error: Kill job error on job id $id: Access/permission denied" err && test "$(job_state $id)" = PENDING
'

test_expect_success '-M names the one cluster' '
    id=$(fluxq-submit --hold -o /dev/null -- true) && test_expect_code 1 scancel -M other $id 2>err && grep "one cluster, fluxq" err &&
    wait_job_state $id PENDING && scancel -M fluxq $id && wait_job_state $id CANCELLED
'

test_expect_success 'a signal for a job reaches its steps, and a script without steps only with --batch or --full, as in Slurm' '
    id=$(sbatch --parsable -o none.out --wrap "trap \"echo told\" USR1; echo up; while sleep 0.1; do :; done") &&
    wait_until 10 grep up none.out && scancel -s USR1 $id && scancel -s USR2 --name wrap && sleep 0.3 &&
    ! grep told none.out && test "$(squeue -h -j $id -o %T)" = RUNNING && scancel -b -s USR1 $id && wait_until 10 grep told none.out && scancel $id &&
    id=$(sbatch --parsable -o step.out --wrap "srun sh -c \"trap \\\"echo told; exit 5\\\" USR1; echo up; while sleep 0.1; do :; done\"; echo step \$?") &&
    wait_until 10 grep up step.out && scancel -s USR1 $id && wait_job_state $id COMPLETED && grep told step.out && grep "step 5" step.out &&
    id=$(submit -- sleep 1000) && wait_job_state $id RUNNING && scancel -s USR1 $id && wait_job_state $id FAILED
'

test_done
