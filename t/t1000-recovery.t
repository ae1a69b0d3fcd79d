#!/bin/sh
test_description='accepted jobs survive the broker: kill -9 after each event, restarts

A job that is lost, run twice, ended with a wrong result or never found again would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

for event in submit alloc start finish release free clean; do
    test_expect_success "after kill -9 at event '$event' 28 jobs are neither lost nor run twice" "
        helper recovery after_event $event 4 $FLUXQ_RUN
    "
done

test_expect_success 'after kill -9 right after the reply the accepted jobs are there' '
    helper recovery after_reply 12 $FLUXQ_RUN
'

test_expect_success 'after kill -9 before the reply the same Idempotency-Key creates no second job' '
    helper recovery unanswered 24 $FLUXQ_RUN
'

test_expect_success '13 times kill -9 at any moment lose none of 390 jobs' '
    helper recovery at_any_moment 13 $FLUXQ_RUN
'

test_expect_success 'after kill -9 during cancels all jobs end as cancelled, and no process runs on' '
    helper recovery cancelling 4 $FLUXQ_RUN
'

# One line for each step, so that lost or repeated lines show; ends when the file go exists.
write_script steps.sh <<\END
#!/bin/sh
i=0
while [ $i -lt 2000 ]; do
    echo "$FLUXQ_JOB_ID step $i"
    i=$((i + 1))
done
until [ -e go ]; do sleep 0.05; done
while [ $i -lt 4000 ]; do
    echo "$FLUXQ_JOB_ID step $i"
    i=$((i + 1))
done
exit 7
END

expected_steps()
{
    seq 0 3999 | sed "s/^/$1 step /"
}

start_broker
test_expect_success 'a running job goes on while the broker is dead, and the new broker finds the job' '
    id=$(fluxq-submit -N 2 -o steps-%j.txt ./steps.sh) &&
    other=$(fluxq-submit -N 2 -n 2 -o command-%j.txt -- sh -c "until [ -e go ]; do sleep 0.05; done; echo \$FLUXQ_PROCID") &&
    wait_job_state $id RUNNING && wait_job_state $other RUNNING &&
    fluxq-show job $id --json | jq -r .start_time >start.before &&
    kill_broker &&
    start_broker &&
    test "$(job_state $id)" = RUNNING &&
    fluxq-show job $id --json | jq -r .start_time >start.after &&
    test_cmp start.before start.after
'
test_expect_success 'the output of a found job can be read so far, and followed to its end' '
    { fluxq-logs -f $id >followed & follower=$!; } &&
    wait_until 10 grep -q "step 1999" followed &&
    touch go &&
    wait_job_state $id FAILED && wait_job_state $other COMPLETED &&
    wait $follower
'
test_expect_success 'the exit status of a found job is known, and no line is lost or repeated' '
    test "$(job_field $id exit_code)" = 7 &&
    expected_steps $id >expected &&
    test_cmp expected steps-$id.txt &&
    test_cmp expected followed &&
    fluxq-logs $id >whole && test_cmp expected whole &&
    sort command-$other.txt >tasks && printf "0\n1\n" >expected && test_cmp expected tasks
'
test_expect_success 'the result of a job that ends without a broker is known to the next broker' '
    rm -f go &&
    id=$(fluxq-submit -o steps-%j.txt ./steps.sh) &&
    wait_job_state $id RUNNING &&
    kill_broker &&
    touch go &&
    wait_until 20 grep -q "step 3999" steps-$id.txt &&
    start_broker &&
    wait_job_state $id FAILED &&
    test "$(job_field $id exit_code)" = 7 &&
    expected_steps $id >expected && test_cmp expected steps-$id.txt &&
    test "$(count_events $id start)" = 1 && test "$(count_events $id finish)" = 1
'
test_expect_success 'a found job can still be cancelled, with all its processes' '
    mark=t1000-$$-cancel &&
    id=$(T_MARK=$mark fluxq-submit -N 2 -n 2 -- sleep 98761) &&
    wait_job_state $id RUNNING &&
    kill_broker && start_broker &&
    fluxq-cancel $id &&
    wait_job_state $id CANCELLED &&
    wait_until 10 nodes_free &&
    test -z "$(processes_with T_MARK=$mark)"
'
test_expect_success 'a found job can still get a signal' '
    write_script trap.sh <<-\END &&
	#!/bin/sh
	trap "echo usr1; exit 5" USR1
	touch trap-ready
	while :; do sleep 0.05; done
	END
    id=$(fluxq-submit -o signal.txt ./trap.sh) &&
    wait_until 10 test -e trap-ready &&
    kill_broker && start_broker &&
    fluxq-cancel --signal USR1 $id &&
    wait_job_state $id FAILED &&
    test "$(job_field $id exit_code)" = 5 && test "$(grep -cx usr1 signal.txt)" = 1
'
test_expect_success 'the time limit holds across a restart' '
    id=$(fluxq-submit -t 0:02 -o /dev/null -- sleep 98762) &&
    wait_job_state $id RUNNING &&
    kill_broker && start_broker &&
    wait_job_state $id TIMEOUT
'
test_expect_success 'a job ends as lost if its agent was killed while no broker ran' '
    id=$(fluxq-submit --no-requeue -N 2 -- sleep 98763) &&
    wait_job_state $id RUNNING &&
    pids=$(agents_of $id 0) && test -n "$pids" &&
    kill_broker &&
    kill_all $pids &&
    start_broker &&
    wait_job_state $id NODE_FAIL &&
    test -z "$(agents_of $id)"
'
test_expect_success 'held jobs stay held, drained nodes stay drained, stopped queues stay stopped' '
    held=$(fluxq-submit --hold -- true) &&
    fluxq-ctl drain node2 --reason "new disk" &&
    fluxq-ctl queue stop batch &&
    waiting=$(fluxq-submit -- true) &&
    kill_broker && start_broker &&
    test "$(job_state $held)" = PENDING && test "$(job_state $waiting)" = PENDING &&
    fluxq-info --json >nodes &&
    test "$(jq -r ".nodes[] | select(.name == \"node2\") | .state + \" \" + .reason" nodes)" = "drained new disk" &&
    test "$(fluxq-show queue batch --json | jq -c "[.. | .started? | values]")" = "[false]" &&
    fluxq-ctl queue start batch &&
    wait_job_state $waiting COMPLETED &&
    test "$(job_state $held)" = PENDING &&
    fluxq-ctl release $held && wait_job_state $held COMPLETED &&
    fluxq-ctl resume node2 &&
    restart_broker &&
    test "$(fluxq-info --json | jq "[.nodes[] | select(.state == \"up\")] | length")" = 4
'
test_expect_success '500 pending jobs survive kill -9 in their order, and each ends once' '
    fluxq-ctl queue stop batch &&
    helper load submit 500 many.ledger >ids &&
    fluxq-queue --json | jq -r ".jobs[].id" >before && test_cmp ids before &&
    kill_broker && start_broker &&
    fluxq-queue --json | jq -r ".jobs[].id" >after &&
    test_cmp before after &&
    fluxq-ctl queue start batch &&
    wait_until 10 test -s many.ledger &&
    kill_broker && start_broker &&
    wait_until 90 none_active &&
    sort -n many.ledger >ran && test_cmp ids ran &&
    test "$(fluxq-queue -a --json -j $(head -n 1 ids)-$(tail -n 1 ids) | jq "[.jobs[] | select(.state == \"COMPLETED\")] | length")" = 500
'
test_expect_success 'after restarts the ids continue' '
    last=$(tail -n 1 ids) &&
    test "$(fluxq-submit --hold -- true)" = $((last + 1)) && fluxq-cancel $((last + 1))
'
test_expect_success 'SIGTERM ends the broker cleanly' '
    kill -TERM $BROKER_PID && lib_reap
'
test_done
