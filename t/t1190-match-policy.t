#!/bin/sh
test_description='a machine of many nodes under another match policy: who submits right then is answered, and jobs run'
. "$(dirname "$0")/lib.sh"

# Another policy puts all nodes in another order: the first match after the reload rebuilds all indexes.
printf 'local: {nodes: 50000, cores: 2, memory: 1Gi}\n' >machine.yaml
policy=lonode

reload()
{
    if [ $policy = lonode ]; then policy=hinode; else policy=lonode; fi
    { cat machine.yaml && echo "match-policy: $policy"; } >live.yaml && fluxq-ctl reload >/dev/null
}

# node_of: the node of a job that is submitted right after a reload
node_of()
{
    reload && id=$(fluxq-submit -o /dev/null -- true) && wait_job_state $id COMPLETED >&2 && job_field $id nodelist
}

cp machine.yaml live.yaml && echo "match-policy: $policy" >>live.yaml
start_broker --config live.yaml

test_expect_success 'a submit right after the reload is accepted, and the job runs where the new policy says' '
    node_of >high && node_of >low && cat high low && test "$(cat low)" = node0 && test "$(cat high)" = node49999
'
test_expect_success 'one that can never run is refused, with the reason' '
    reload && test_expect_code 1 fluxq-submit -N 50001 -- true 2>err && cat err && grep 50000 err
'
test_expect_success 'many at once: each has its answer, and all run' '
    pids= && reload &&
    for i in $(seq 20); do
        fluxq-submit -o /dev/null -- true >id.$i 2>&1 & pids="$pids $!"
    done &&
    for pid in $pids; do wait $pid || return 1; done &&
    for i in $(seq 20); do wait_job_state $(cat id.$i) COMPLETED || return 1; done
'
test_done
