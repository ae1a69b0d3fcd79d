#!/bin/sh
test_description='the broker with jobs that end in an unusual order, at limits, and with leftovers

A job that never ends, output of another job, nodes that are allocated twice or an incomplete listing
would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

shell=$FLUXQ_RUN/fluxq-shell
chmod 711 "$FLUXQ_RUN"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$shell"
configure()
{
    cat >config.yaml <<-END
	shell-path: $shell
	start-backoff: 1
	grace: 0
	$1
	local: {nodes: ${2:-4}, cores: 2}
	END
}

# Prints a frame of a spool: FINISH of rank 0 with the given text, in the form for printf.
finish_frame()
{
    printf "\\006\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\$(printf %03o ${#1})\\000\\000\\000%s" "$1"
}

test_expect_success 'a directory that all users can write to is refused' '
    mkdir open && chmod 777 open &&
    test_must_fail fluxqd --local 1 --runtime-dir open --state-dir "$BROKER_STATE" 2>err &&
    grep "writable for everybody" err
'
test_expect_success ROOT 'a directory of another user is refused' '
    mkdir theirs && chown 65534 theirs &&
    test_must_fail fluxqd --local 1 --runtime-dir "$FLUXQ_RUN" --state-dir theirs 2>err &&
    grep "belongs to uid 65534" err
'

test_expect_success 'files that an earlier journal left under the id of a job are not the job'\''s output' '
    mkdir -p "$BROKER_STATE/jobs/1" &&
    finish_frame "status=0 reason=exited text=long ago" >"$BROKER_STATE/jobs/1/spool-0" &&
    configure && start_broker --config config.yaml &&
    id=$(fluxq-submit -o own.txt -- sh -c "echo mine; exit 3") && test "$id" = 2 &&
    wait_job_state 2 FAILED && test "$(job_field 2 exit_code)" = 3 && grep -x mine own.txt
'

# The cancel takes the 30 s that agents have after the grace; the other cases run meanwhile.
test_expect_success 'a job with stopped agents can be cancelled' '
    stopped=$(T_MARK=t1100-$$ fluxq-submit -o /dev/null -- sleep 98764) &&
    wait_job_state $stopped RUNNING &&
    wait_until 10 eval "test -n \"\$(processes_with T_MARK=t1100-$$)\"" &&
    kill -STOP $(agents_of $stopped) &&
    fluxq-cancel $stopped && test "$(job_state $stopped)" = COMPLETING
'

test_expect_success 'a text of an agent that is not UTF-8 does not keep the job from its end' '
    id=$(fluxq-submit -o /dev/null -- sleep 98765) && wait_job_state $id RUNNING &&
    finish_frame "$(printf "status=256 reason=exited text=caf\\351")" >frame &&
    cat frame >>"$BROKER_STATE/jobs/$id/spool-0" &&
    kill_all $(agents_of $id) &&
    wait_job_state $id FAILED && test "$(job_field $id exit_code)" = 1 &&
    fluxq-show job $id --json | jq -e . >/dev/null && fluxq-show job $id --events >/dev/null
'

test_expect_success 'a failed start is tried again, and a follower sees the output of the next try' '
    mv "$shell" "$shell.away" &&
    id=$(fluxq-submit -o /dev/null -- sh -c "echo second; exit 4") &&
    { fluxq-logs -f $id >followed & } && follower=$! &&
    wait_until 10 eval "[ \$(count_events $id requeue) -gt 0 ]" &&
    mv "$shell.away" "$shell" &&
    wait_job_state $id FAILED && test "$(job_field $id exit_code)" = 4 &&
    wait $follower && grep -x second followed
'
test_expect_success 'a job that waits for its next try can be cancelled or held' '
    mv "$shell" "$shell.away" &&
    a=$(fluxq-submit -o /dev/null -- true) && b=$(fluxq-submit -o /dev/null -- true) &&
    wait_until 10 eval "[ \$(count_events $a requeue) -gt 0 ] && [ \$(count_events $b requeue) -gt 0 ]" &&
    wait_until 10 fluxq-ctl hold $b &&
    fluxq-cancel $a && wait_job_state $a CANCELLED &&
    mv "$shell.away" "$shell" &&
    test "$(job_state $b)" = PENDING &&
    fluxq-ctl release $b && wait_job_state $b COMPLETED
'

test_expect_success 'nodes that a restart removes stay booked for a running job, and come back' '
    id=$(fluxq-submit -N 3 -n 3 -c 1 -o /dev/null -- sleep 98766) && wait_job_state $id RUNNING &&
    stop_broker && configure "" 1 && start_broker --config config.yaml &&
    test "$(job_state $id)" = RUNNING &&
    test "$(fluxq-info --json | jq "[.nodes[].cores_used] | add")" -ge 3 &&
    test "$(fluxq-info --json | jq "[.nodes[] | select(.state == \"up\")] | length")" = 1 &&
    stop_broker && configure && start_broker --config config.yaml &&
    test "$(fluxq-info --json | jq "[.nodes[] | select(.state == \"up\")] | length")" = 4 &&
    fluxq-cancel $id && wait_job_state $id CANCELLED &&
    id=$(fluxq-submit -N 2 -o /dev/null -- true) && wait_job_state $id COMPLETED
'

test_expect_success 'a listing of 6000 jobs is complete as JSON and as a table, and one cancel ends all' '
    fluxq-ctl queue stop batch &&
    helper load submit 6000 many.ledger >ids &&
    fluxq-queue --json >all.json && jq -r ".jobs[].id" all.json | grep -xFf ids | wc -l >n &&
    test "$(cat n)" -eq 6000 && test "$(jq .total all.json)" -ge 6000 &&
    fluxq-queue >table &&
    test "$(wc -l <table)" -ge 6000 &&
    fluxq-cancel --state PENDING && test "$(fluxq-queue --json -t pending | jq ".jobs | length")" = 0 &&
    test ! -s many.ledger && fluxq-ctl queue start batch
'

test_expect_success 'repeated reloads work, and with a smaller keep-finished old jobs and their files go' '
    fluxq-ctl reload && fluxq-ctl reload &&
    configure "keep-finished: 2" && fluxq-ctl reload &&
    for i in 1 2 3 4; do fluxq-submit --wait -o /dev/null -- true || return 1; done &&
    wait_until 20 test ! -e "$BROKER_STATE/jobs/1"
'

test_expect_success 'the job with stopped agents has ended as cancelled, with all its processes' '
    wait_job_state $stopped CANCELLED 60 && wait_until 10 nodes_free &&
    test -z "$(processes_with T_MARK=t1100-$$)"
'

test_expect_success 'the broker stops cleanly under load' '
    { helper load submit 4000 more.ledger >more 2>/dev/null & } && load=$! &&
    wait_until 20 test -s more.ledger &&
    stop_broker && { wait $load || :; }
'
test_expect_success 'a start removes job directories that a killed broker left' '
    mkdir -p "$BROKER_STATE/jobs/2" && configure "keep-finished: 0" &&
    start_broker --config config.yaml &&
    wait_until 20 test ! -e "$BROKER_STATE/jobs/2" &&
    id=$(fluxq-submit --wait -o zero.txt -- echo zero) && grep -x zero zero.txt &&
    wait_until 20 test ! -e "$BROKER_STATE/jobs/$id"
'
test_done
