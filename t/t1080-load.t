#!/bin/sh
test_description='high load: jobs, clients, waiters, output, pending jobs; none is lost or starved'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

start_broker
test_expect_success '1,024 jobs from 64 clients at once all complete' '
    helper load complete 1024 64
'
test_expect_success '64 fluxq-submit processes at once create 64 jobs with 64 ids' '
    for i in $(seq 64); do
        fluxq-submit --hold -J many -- true >id.$i & echo $! >>pids
    done &&
    for pid in $(cat pids); do wait $pid || return 1; done &&
    cat id.* | sort -nu >ids && test "$(wc -l <ids)" = 64 &&
    fluxq-cancel -n many && wait_until 20 none_active
'
test_expect_success '200 clients can wait at once, half of them for the same job' '
    helper load waiters 200
'
test_expect_success 'two readers follow 20 MB of output while the job writes them, and get all of it' '
    cat >big.sh <<-\END && chmod +x big.sh &&
	#!/bin/sh
	until [ -e go ]; do sleep 0.02; done
	seq 1 2500000
	END
    id=$(fluxq-submit -o big.txt ./big.sh) && wait_job_state $id RUNNING &&
    { fluxq-logs -f $id >first & first=$!; } && { fluxq-logs -f $id >second & second=$!; } &&
    touch go && wait_job_state $id COMPLETED 60 &&
    wait $first && wait $second &&
    seq 1 2500000 >expected && cmp expected first && cmp expected second && cmp expected big.txt &&
    fluxq-logs $id | cmp expected - && rm -f first second
'
test_expect_success 'a follower that stops reading harms neither the job nor other clients' '
    helper load stuck_follower 20
'
test_expect_success '5,000 pending jobs can be listed in order, counted, and cancelled by range' '
    fluxq-ctl queue stop batch &&
    helper load submit 5000 pending.ledger >ids &&
    first=$(head -n 1 ids) && last=$(tail -n 1 ids) &&
    fluxq-queue --json | jq ".jobs[].id" >listed && test_cmp ids listed &&
    test "$(fluxq-ctl status --json | jq .jobs.pending)" = 5000 &&
    fluxq-queue -j $((first + 10))-$((first + 12)) --json | jq ".jobs | length" >count && echo 3 >expected && test_cmp expected count &&
    fluxq-cancel $first-$((last - 1)) &&
    fluxq-queue --json | jq -c "[.jobs[].id]" >left && echo "[$last]" >expected && test_cmp expected left &&
    fluxq-ctl queue start batch && wait_job_state $last COMPLETED &&
    echo $last >expected && test_cmp expected pending.ledger
'
test_expect_success 'after a restart with all these ended jobs the broker answers and knows the jobs' '
    restart_broker && test "$(fluxq-queue -a -j $first --json | jq -r ".jobs[0].state")" = CANCELLED &&
    fluxq-submit --wait -- true
'
test_expect_success 'no job is active, all nodes are free, and the broker stops' 'none_active && nodes_free && stop_broker'
test_done
