#!/bin/sh
test_description='a machine of many nodes that are sorted again: requests during the sort wait, and none is lost'
. "$(dirname "$0")/lib.sh"

# Another policy sorts all nodes again, in parts. A submit during the sort waits for its end; the
# log shows whether a submit came during the sort, and the test retries until one did.
printf 'local: {nodes: 50000, cores: 2, memory: 1Gi}\nlog-level: debug\n' >machine.yaml
policy=low

reload()
{
    if [ $policy = low ]; then policy=high; else policy=low; fi
    { cat machine.yaml && echo "match-policy: $policy"; } >live.yaml && fluxq-ctl reload >/dev/null
}

waited()
{
    grep -c 'submission of uid [0-9]* waits until all nodes' "$BROKER_LOG"
}

# until_one_waits COMMAND...: runs COMMAND right after a reload, again and again until COMMAND had
# to wait. The files out and err have the last output, and $status the last status.
until_one_waits()
{
    before=$(waited)
    for n in $(seq 100); do
        reload || return 1
        "$@" >out 2>err
        status=$?
        [ "$(waited)" -eq "$before" ] || return 0
    done
    echo "none of $n came while the nodes were looked at" >&2
    return 1
}


cp machine.yaml live.yaml && echo "match-policy: $policy" >>live.yaml
start_broker --config live.yaml

test_expect_success 'a submit during the sort is accepted, and the job runs' '
    until_one_waits fluxq-submit -o /dev/null -- true &&
    cat err && test $status -eq 0 && wait_job_state $(cat out) COMPLETED
'
test_expect_success 'a submit during the sort that can never run is refused with the reason' '
    until_one_waits fluxq-submit -N 50001 -- true &&
    test $status -eq 1 && cat err && grep 50000 err
'
test_expect_success 'each of many submits during the sort gets its answer, and all jobs run' '
    pids= && reload &&
    for i in $(seq 20); do
        fluxq-submit -o /dev/null -- true >id.$i 2>&1 & pids="$pids $!"
    done &&
    for pid in $pids; do wait $pid || return 1; done &&
    for i in $(seq 20); do wait_job_state $(cat id.$i) COMPLETED || return 1; done
'
test_done
