#!/bin/sh
test_description='which job starts when and where: order, backfill, holds, exclusive and drained nodes, elastic sizes'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

printf 'local: {nodes: 4, cores: 2, memory: 1Gi, gpus: 1}\ngrace: 1s\n' >machine.yaml

# A job that runs until the file stop.ID or stop exists.
write_script until.sh <<\END
#!/bin/sh
until [ -e stop ] || [ -e "stop.$FLUXQ_JOB_ID" ]; do sleep 0.02; done
END

submit()
{
    fluxq-submit -o /dev/null "$@" ./until.sh
}

end_job()
{
    touch "stop.$1" && wait_job_state "$1" COMPLETED
}

end_all()
{
    touch stop && wait_until 20 none_active && rm -f stop stop.*
}

# run ARGUMENTS: submits a job and waits for its end.
run()
{
    timeout 30 fluxq-submit --wait -o /dev/null "$@"
}

# Each case begins with an empty queue, also after a failed case.
fresh()
{
    rm -f stop stop.* && { none_active || fluxq-cancel -t PENDING,RUNNING; } && wait_until 20 none_active
}

nodes_of()
{
    job_field "$1" nodelist
}

start_broker --config machine.yaml
test_expect_success 'on a full machine jobs start one after the other in the order of their submits' '
    fresh &&
    full=$(submit -N 4 --exclusive) && wait_job_state $full RUNNING &&
    for i in 1 2 3 4 5; do
        submit -N 4 --exclusive || return 1
    done >order &&
    for id in $(cat order); do
        end_job $full && full=$id && wait_job_state $full RUNNING || return 1
    done &&
    end_all
'
test_expect_success 'urgency takes precedence over age' '
    fresh &&
    full=$(submit -N 4 --exclusive) && wait_job_state $full RUNNING &&
    low=$(submit --urgency 5 -N 4 --exclusive) && mid=$(submit -N 4 --exclusive) &&
    high=$(submit --urgency 25 -N 4 --exclusive) &&
    fluxq-queue -t PENDING --json | jq ".jobs[].id" >order &&
    printf "%s\n" $high $mid $low >expected && test_cmp expected order &&
    for id in $high $mid $low; do
        end_job $full && full=$id && wait_job_state $full RUNNING || return 1
    done &&
    end_all
'
test_expect_success 'a change of urgency reorders pending jobs' '
    fresh &&
    full=$(submit -N 4 --exclusive) && wait_job_state $full RUNNING &&
    one=$(submit -N 4 --exclusive) && two=$(submit -N 4 --exclusive) &&
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" -X POST -d "{\"urgency\":30}" http://fluxqd/v1/jobs/$two/urgency &&
    end_job $full && wait_job_state $two RUNNING && test "$(job_state $one)" = PENDING && end_all
'
test_expect_success 'a job that fits starts although an earlier job waits for more nodes' '
    fresh &&
    part=$(submit -N 3 --exclusive) && wait_job_state $part RUNNING &&
    big=$(submit -N 2 --exclusive) && small=$(submit -N 1) &&
    wait_job_state $small RUNNING && test "$(job_state $big)" = PENDING &&
    job_field $big reason_text >why && grep "2 whole nodes, 0 are free now" why &&
    end_job $part && wait_job_state $big RUNNING && end_all
'
test_expect_success 'held jobs wait, released jobs start, and jobs that are held again wait' '
    fresh &&
    id=$(submit --hold) && other=$(submit) && wait_job_state $other RUNNING &&
    test "$(job_state $id)" = PENDING && job_field $id reason_text | grep -i held &&
    fluxq-ctl release $id && wait_job_state $id RUNNING &&
    test_must_fail fluxq-ctl hold $id 2>why && end_all &&
    full=$(submit -N 4 --exclusive) && wait_job_state $full RUNNING &&
    id=$(submit) && fluxq-ctl hold $id && end_job $full && run -- true &&
    test "$(job_state $id)" = PENDING && fluxq-cancel $id
'
test_expect_success 'an exclusive job shares its node with no other job' '
    fresh &&
    one=$(submit) && wait_job_state $one RUNNING && shared=$(nodes_of $one) &&
    ex=$(submit -N 3 --exclusive) && wait_job_state $ex RUNNING &&
    more=$(submit) && wait_job_state $more RUNNING && test "$(nodes_of $more)" = "$shared" &&
    waits=$(submit) && ex2=$(submit --exclusive) &&
    fluxq-submit --dry-run -- true >/dev/null &&
    test "$(job_state $waits)" = PENDING && test "$(job_state $ex2)" = PENDING && end_all
'
test_expect_success 'each core, byte of memory and GPU is allocated to one job only' '
    fresh &&
    a=$(submit -c 2) && b=$(submit --mem 700) && c=$(submit -G 1) &&
    for id in $a $b $c; do wait_job_state $id RUNNING || return 1; done &&
    for i in 1 2 3 4; do submit --mem 700 || return 1; done >ids &&
    for i in 1 2 3 4; do submit -G 1 || return 1; done >>ids &&
    wait_until 10 sh -c "test \$(fluxq-queue -t PENDING --json | jq \".jobs | length\") -ge 2" &&
    fluxq-info --json | jq -e "[.nodes[] | select(.cores_used > .cores or .memory_used > .memory_mib or .gpus_used > .gpus)] | length == 0" &&
    test "$(fluxq-info --json | jq "[.nodes[].gpus_used] | add")" -le 4 && end_all && nodes_free
'
test_expect_success 'a drained node gets no job and keeps its running job, and a resumed node is used again' '
    fresh &&
    id=$(submit) && wait_job_state $id RUNNING && node=$(nodes_of $id) &&
    fluxq-ctl drain $node --reason "smells" &&
    all=$(submit -N 3 --exclusive) && wait_job_state $all RUNNING &&
    waits=$(submit) &&
    fluxq-info --json >nodes && jq -e ".nodes[] | select(.name == \"$node\") | .state == \"drained\" and .reason == \"smells\"" nodes &&
    test "$(job_state $waits)" = PENDING && test "$(job_state $id)" = RUNNING &&
    fluxq-ctl resume $node && wait_job_state $waits RUNNING && test "$(nodes_of $waits)" = $node && end_all
'
test_expect_success 'a second drain, a second resume, unknown nodes and a missing reason give clear messages' '
    fresh &&
    fluxq-ctl drain node1 --reason one && fluxq-ctl drain node1 --reason two &&
    fluxq-info --json | jq -e ".nodes[] | select(.name == \"node1\") | .reason == \"two\"" &&
    fluxq-ctl resume node1 &&
    test_must_fail fluxq-ctl resume node1 2>why && grep "node1 is not drained" why &&
    test_must_fail fluxq-ctl drain node9 --reason x 2>why && grep node9 why &&
    test_must_fail fluxq-ctl drain node1 2>why && grep -i reason why
'
test_expect_success 'an elastic job gets the largest size that fits now, at least its smallest size' '
    fresh &&
    free4=$(submit -N 2-4 --exclusive) && wait_job_state $free4 RUNNING &&
    test "$(job_field $free4 nodes)" = 4 && end_all &&
    one=$(submit --exclusive) && wait_job_state $one RUNNING &&
    three=$(submit -N 2-4 --exclusive) && wait_job_state $three RUNNING &&
    test "$(job_field $three nodes)" = 3 && end_all &&
    most=$(submit -N 3 --exclusive) && wait_job_state $most RUNNING &&
    waits=$(submit -N 2-4 --exclusive) && run -- true &&
    test "$(job_state $waits)" = PENDING && end_job $most && wait_job_state $waits RUNNING && end_all
'
test_expect_success 'the environment of an elastic job has the granted size' '
    fresh &&
    one=$(submit --exclusive) && wait_job_state $one RUNNING &&
    timeout 30 fluxq-submit --wait -N 2-4 --exclusive -o size.txt -- sh -c "echo \$FLUXQ_NNODES" &&
    sort -u size.txt >size && echo 3 >expected && test_cmp expected size && end_all
'
# infeasible TEXT ARGUMENTS: fluxq-submit refuses the job with one line that contains TEXT.
infeasible()
{
    text=$1
    shift
    test_must_fail fluxq-submit "$@" -- true 2>why && cat why && test "$(wc -l <why)" = 1 && grep -q "$text" why
}
test_expect_success 'a job that can never run is refused with the failing request and the machine'\''s limit' '
    fresh &&
    infeasible "5 nodes.*4" -N 5 && infeasible "3 cores.*2" -c 3 && infeasible "gpus.* 1" -G 2 -N 1 &&
    infeasible "memory\|MiB\|GiB" --mem 2G && infeasible "" -n 9 &&
    infeasible "" -N 2147483647
'
test_expect_success '--allow-infeasible accepts a job that can never run, and the job shows the reason' '
    fresh &&
    id=$(fluxq-submit --allow-infeasible -N 5 -- true) &&
    run -- true &&
    test "$(job_state $id)" = PENDING && job_field $id reason_text >why && cat why && grep "5 nodes" why &&
    fluxq-cancel $id && wait_job_state $id CANCELLED
'
test_expect_success 'a job that fits only on drained nodes is accepted' '
    fresh &&
    fluxq-ctl drain node1 node2 --reason x &&
    id=$(submit -N 4) && job_field $id reason_text >why && cat why && grep "node1 is drained: x; node2 is drained: x" why &&
    test "$(job_state $id)" = PENDING && fluxq-ctl resume node1 node2 && wait_job_state $id RUNNING && end_all
'
test_expect_success 'the reason of a job names a drained node that the job could use, and no other node' '
    fresh &&
    fluxq-ctl drain node3 --reason "bad disk" &&
    named=$(submit -w node3) && other=$(submit -N 4 -x node3 --allow-infeasible) && any=$(submit -N 4) &&
    job_field $named reason_text >why && cat why && grep "; node3 is drained: bad disk" why &&
    fluxq-queue --why | grep "node3 is drained: bad disk" &&
    fluxq-cancel $named && wait_job_state $named CANCELLED && job_field $other reason_text >why && cat why &&
    test_must_fail grep "is drained" why &&
    fluxq-cancel $other && wait_job_state $other CANCELLED && job_field $any reason_text >why && cat why && grep "node3 is drained" why &&
    fluxq-ctl drain node0 node1 node2 --reason y && job_field $any reason_text >why && cat why &&
    grep "node0 is drained: y; node1 is drained: y; more nodes are drained" why &&
    fluxq-ctl resume node3 && job_field $any reason_text >why && test_must_fail grep "node3\|more" why && grep "node2 is drained: y" why &&
    fluxq-ctl resume node0 node1 node2 && wait_job_state $any RUNNING && end_all
'
test_expect_success 'no job is active, all nodes are free, and the broker stops' 'none_active && nodes_free && stop_broker'
test_done
