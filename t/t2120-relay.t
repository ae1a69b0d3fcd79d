#!/bin/sh
test_description='a program on the login node is a client of the agents of a job, through the broker'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

relay()
{
    timeout 120 python3 "$FLUXQ_SOURCE_DIR/t/helper/relay.py" "$@"
}

gone_from() # COMMAND: no process runs exactly COMMAND
{
    ! pgrep -x -f "$1" >/dev/null
}

says()
{
    [ "$(cat "$1")" = "$2" ]
}

start_broker
id=$(fluxq-submit -N 2 -o none.out -- sleep 97431)
wait_job_state "$id" RUNNING

test_expect_success 'a step runs in the job, and the client gets its output and status' '
    test_expect_code 3 relay run $id sh -c "echo out of \$SLURM_JOB_ID; echo problem >&2; exit 3" >out 2>err &&
    echo "out of $id" >expected && test_cmp expected out &&
    echo problem >expected && test_cmp expected err
'
test_expect_success 'a step reads its input from the client, to the end of file' '
    seq 1 200000 >in &&
    relay input $id cat <in >out && test_cmp in out
'
test_expect_success 'a signal from the client reaches the tasks' '
    test_expect_code 5 relay signal $id 10 sh -c "trap \"exit 5\" USR1; echo ready; while :; do sleep 0.1; done" >out &&
    echo ready >expected && test_cmp expected out
'
test_expect_success 'several clients at once have steps of their own' '
    for i in 1 2 3 4 5 6; do relay run $id sh -c "echo $i; exit $i" >out.$i & eval "pid$i=\$!"; done &&
    for i in 1 2 3 4 5 6; do
        eval "wait \$pid$i"; [ $? = $i ] && says out.$i $i || return 1
    done
'
test_expect_success 'when a client is killed its step ends, and the job goes on' '
    rm -f held && { relay hold $id sleep 97432 >held & } && wait_until 20 says held started && pgrep -f "sleep 97432" >/dev/null &&
    kill -9 $(pgrep -f "relay.py hold $id sleep 97432") && wait_until 20 gone_from "sleep 97432" &&
    [ "$(job_state $id)" = RUNNING ]
'
test_expect_success 'when a client shuts down its side the step and the connection end' '
    relay half $id sleep 97433 >out && says out closed && wait_until 20 gone_from "sleep 97433"
'
test_expect_success 'an invalid client is disconnected, and does no harm' '
    relay garbage $id >out && says out closed &&
    relay run $id true && [ "$(job_state $id)" = RUNNING ]
'
test_expect_success 'a client that takes credit and does not read does not make the broker grow' '
    relay slow $id $BROKER_PID 64 >out && says out 67108864
'
test_expect_success 'a client that sends unread input does not make the agent grow, and its step is ended' '
    relay flood $id "$(worker_of $id 0)" 100 2>err &&
    says err "why: its client sends more input than the tasks can take" && [ "$(job_state $id)" = RUNNING ]
'
test_expect_success 'a request without upgrade headers is refused' '
    relay refused $id "Connection: keep-alive" >out && says out "426 upgrade-required" &&
    relay refused $id "Connection: Upgrade" "Upgrade: websocket" >out && says out "426 upgrade-required"
'
test_expect_success 'unknown, pending and ended jobs refuse a client, each with its own code' '
    waits=$(fluxq-submit --hold -- true) && ended=$(fluxq-submit --wait -- true) &&
    array=$(fluxq-submit --hold -a 1-2 -- true) &&
    relay refused 999 >out && says out "404 unknown-job" &&
    relay refused x >out && says out "400 bad-request" &&
    relay refused $waits >out && says out "409 job-pending" &&
    relay refused $ended >out && says out "409 job-ended" &&
    relay refused $array >out && says out "409 wrong-state" &&
    fluxq-cancel $waits $array
'
test_expect_success 'a user may have 128 connections, further ones are told to retry, and later there is room' '
    relay many $id 228 >out && printf "101 128\n429 100\n" >expected && test_cmp expected out &&
    wait_until 20 relay run $id true
'
short=$(fluxq-submit -o none.out -- sleep 97434)
test_expect_success 'the end of the job closes the connection' '
    wait_job_state $short RUNNING &&
    rm -f held && { relay hold $short sleep 97435 >held & } && wait_until 20 says held started &&
    fluxq-cancel $short && wait_job_state $short CANCELLED &&
    printf "started\nclosed\n" >expected && wait_until 20 test_cmp expected held &&
    gone_from "sleep 97435"
'
test_expect_success 'when the broker is killed the step ends, the job goes on, and a new broker connects' '
    rm -f held && { relay hold $id sleep 97436 >held & } && wait_until 20 says held started &&
    kill_broker &&
    printf "started\nclosed\n" >expected && wait_until 20 test_cmp expected held &&
    wait_until 20 gone_from "sleep 97436" && pgrep -f "sleep 97431" >/dev/null &&
    start_broker && wait_job_state $id RUNNING &&
    wait_until 20 relay run $id true
'
test_expect_success 'when the broker stops connections close, and the job goes on' '
    rm -f held && { relay hold $id sleep 97437 >held & } && wait_until 20 says held started &&
    stop_broker &&
    printf "started\nclosed\n" >expected && wait_until 20 test_cmp expected held &&
    wait_until 20 gone_from "sleep 97437" &&
    start_broker && fluxq-cancel $id && wait_job_state $id CANCELLED
'
test_done
