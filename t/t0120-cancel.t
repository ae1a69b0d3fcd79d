#!/bin/sh
test_description='fluxq-cancel: cancels exactly the named jobs, and reports jobs that it could not cancel'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

start_broker
chmod 711 "$FLUXQ_RUN"

submit()
{
    fluxq-submit -o /dev/null "$@"
}

connections() # to the broker's socket; the listening socket counts, too
{
    grep -c "${FLUXQ_BROKER#unix://}" /proc/net/unix
}

more_connections() # THAN
{
    [ "$(connections)" -gt "$1" ]
}

as_nobody()
{
    (cd / && setpriv --reuid=65534 --regid=65534 --clear-groups "$@")
}

test_expect_success 'pending and running jobs end as CANCELLED, and fluxq-cancel prints nothing' '
    pending=$(submit --hold -- true) && running=$(submit -- sleep 1000) &&
    wait_job_state $running RUNNING &&
    fluxq-cancel $pending $running >out 2>&1 && test_must_be_empty out &&
    wait_job_state $pending CANCELLED && wait_job_state $running CANCELLED
'

test_expect_success 'ids and ranges cancel exactly the named jobs' '
    a=$(submit --hold -- true) && b=$(submit --hold -- true) && c=$(submit --hold -- true) &&
    d=$(submit --hold -- true) && e=$(submit --hold -- true) &&
    fluxq-cancel $a,$c-$d &&
    wait_job_state $a CANCELLED && wait_job_state $c CANCELLED && wait_job_state $d CANCELLED &&
    test "$(job_state $b)" = PENDING && test "$(job_state $e)" = PENDING && fluxq-cancel $b $e
'

test_expect_success 'name, queue and state select jobs, and a job must match all of them' '
    one=$(submit -J one --hold -- true) && two=$(submit -J two --hold -- true) &&
    run=$(submit -J one -- sleep 1000) && wait_job_state $run RUNNING &&
    fluxq-cancel --name one --state PENDING && wait_job_state $one CANCELLED &&
    test "$(job_state $two)" = PENDING && test "$(job_state $run)" = RUNNING &&
    test_expect_code 1 fluxq-cancel -q nosuchqueue -t RUNNING 2>err && grep "no queue" err &&
    test "$(job_state $run)" = RUNNING &&
    fluxq-cancel -q batch -t running && wait_job_state $run CANCELLED &&
    fluxq-cancel --me && wait_job_state $two CANCELLED
'

test_expect_success 'a filter that matches no job is reported without a failure' '
    fluxq-cancel --name nosuchname 2>err && grep "nothing to cancel" err &&
    test_expect_code 1 fluxq-cancel --user me,nosuchuser 2>err && grep "no user .nosuchuser" err &&
    test_expect_code 1 fluxq-cancel --queue nosuchqueue 2>err && grep "no queue .nosuchqueue" err &&
    fluxq-cancel --user daemon 2>err && grep "nothing to cancel" err
'

test_expect_success 'jobs that cannot be cancelled are named with the reason, and the other jobs are cancelled' '
    ended=$(submit --wait -- true) && id=$(submit --hold -- true) &&
    test_expect_code 1 fluxq-cancel 99999 $ended $id 2>err &&
    grep "^fluxq-cancel: .*99999" err && grep "^fluxq-cancel: .*job $ended .*ended" err &&
    test "$(wc -l <err)" -eq 2 && wait_job_state $id CANCELLED
'

test_expect_success 'a signal reaches the tasks and does not end the job by itself' '
    cat >trap.sh <<-\END &&
	#!/bin/sh
	trap "echo got usr1; exit 9" USR1
	echo ready
	while :; do sleep 0.1; done
	END
    id=$(fluxq-submit -o trap.out trap.sh) && wait_until 20 grep -q ready trap.out &&
    wait_job_state $id RUNNING && fluxq-cancel --signal USR1 $id && wait_job_state $id FAILED &&
    grep "got usr1" trap.out && test "$(job_field $id exit_code)" = 9
'

test_expect_success 'a signal to a job that does not run, and an unknown signal, are refused' '
    id=$(submit --hold -- true) &&
    test_expect_code 1 fluxq-cancel -s TERM $id 2>err && grep "job $id" err &&
    test "$(job_state $id)" = PENDING &&
    test_expect_code 2 fluxq-cancel -s NOPE $id && test_expect_code 2 fluxq-cancel -s 0 $id &&
    test_expect_code 2 fluxq-cancel -s 65 $id && fluxq-cancel $id
'

test_expect_success 'a signal counts as sent only after the agent has sent it, and fails for a step that does not run' '
    id=$(submit -- sleep 1000) && wait_job_state $id RUNNING &&
    test_expect_code 1 fluxq-cancel $id.7 2>err && grep "^fluxq-cancel: .*job $id: step 7 does not run" err &&
    test_expect_code 1 fluxq-cancel -s USR1 $id.0 2>err && grep "^fluxq-cancel: .*job $id: step 0 does not run" err &&
    test "$(job_state $id)" = RUNNING && fluxq-cancel $id
'

test_expect_success 'the error names an agent that does not answer, also when the broker stops meanwhile' '
    id=$(submit -- sleep 1000) && wait_job_state $id RUNNING && worker=$(worker_of $id 0) &&
    test_when_finished "kill -CONT $worker 2>/dev/null || :" && kill -STOP $worker &&
    test_expect_code 1 fluxq-cancel -s CONT $id 2>err && grep "job $id: its agent does not answer" err &&
    before=$(connections) && { fluxq-cancel -s CONT $id 2>told & } && client=$! &&
    wait_until 5 more_connections $before && stop_broker &&
    test_expect_code 1 wait $client && grep "^fluxq-cancel: " told &&
    kill -CONT $worker && start_broker && fluxq-cancel $id && wait_job_state $id CANCELLED
'

test_expect_success 'missing jobs, invalid ids and an unknown state are wrong usage' '
    test_expect_code 2 fluxq-cancel 2>err && grep "name the jobs" err &&
    test_expect_code 2 fluxq-cancel 0 && test_expect_code 2 fluxq-cancel -- -1 &&
    test_expect_code 2 fluxq-cancel 3-1 && test_expect_code 2 fluxq-cancel abc &&
    test_expect_code 1 fluxq-cancel --state NOPE 2>err && grep NOPE err
'

test_expect_success ROOT 'cancelling another user'\''s job is refused with the owner'\''s name, and the job goes on' '
    id=$(submit -- sleep 1000) && wait_job_state $id RUNNING &&
    test_expect_code 1 as_nobody fluxq-cancel $id 2>err &&
    grep "^fluxq-cancel: .*job $id belongs to $(id -un)" err &&
    test_expect_code 1 as_nobody fluxq-cancel -s KILL $id &&
    test "$(job_state $id)" = RUNNING
'

test_expect_success ROOT 'filters of a user match only the user'\''s own jobs, filters of an operator match all jobs' '
    mine=$(submit --hold -- true) &&
    theirs=$(as_nobody fluxq-submit -o /dev/null --hold -- true) &&
    also=$(as_nobody fluxq-submit -o /dev/null --hold -- true) &&
    as_nobody fluxq-cancel --state PENDING &&
    wait_job_state $theirs CANCELLED && wait_job_state $also CANCELLED &&
    test "$(job_state $mine)" = PENDING && test "$(job_state $id)" = RUNNING &&
    theirs=$(as_nobody fluxq-submit -o /dev/null --hold -- true) &&
    fluxq-cancel -u nobody && wait_job_state $theirs CANCELLED &&
    test "$(job_state $mine)" = PENDING && fluxq-cancel $id $mine && wait_job_state $id CANCELLED
'

test_expect_success 'the note of fluxq-cancel is in the events of the job' '
    id=$(submit --hold -- true) && fluxq-cancel --note "wrong input" $id &&
    wait_job_state $id CANCELLED && fluxq-show job $id --events | grep "wrong input"
'

test_done
