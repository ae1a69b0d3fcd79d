#!/bin/sh
test_description='fluxq-info and fluxq-ctl: nodes, drain and resume, holds, queues, reload and shutdown'
. "$(dirname "$0")/lib.sh"

config=$FLUXQ_RUN/fluxq.yaml
cat >"$config" <<'END'
executor: local
local:
  nodes: 4
queues:
  batch:
    default: true
  night:
    max-time: 2h
END

broker()
{
    start_broker --config "$config"
}

broker
chmod 711 "$FLUXQ_RUN"

as_nobody()
{
    (cd / && setpriv --reuid=65534 --regid=65534 --clear-groups "$@")
}

submit()
{
    fluxq-submit -o /dev/null "$@"
}

# state_of NODE: the state that fluxq-info -N shows.
state_of()
{
    fluxq-info -N | awk -v node="$1" '$1 == node { print $2 }'
}

test_expect_success 'fluxq-info groups idle nodes and shows their resources' '
    fluxq-info >out && cat out && test "$(wc -l <out)" -eq 2 &&
    grep -E "^idle +4 +0/([0-9]+)/\1 .*node\[0-3\]$" out &&
    fluxq-info -N >out && test "$(wc -l <out)" -eq 5 &&
    fluxq-info -n "node[1-2]" -N >out && test "$(wc -l <out)" -eq 3 &&
    fluxq-info --json | jq -e ".nodes | length == 4"
'

test_expect_success 'fluxq-info shows the resources of a running job as used, and as free after the job' '
    id=$(submit -- sleep 1000) && wait_job_state $id RUNNING &&
    fluxq-info >out && cat out && grep -E "^mixed +1 +1/" out && grep -E "^idle +3 " out &&
    fluxq-info -N | grep -E " $id( |\$)" &&
    fluxq-cancel $id && wait_until 20 sh -c "fluxq-info | grep -qE \"^idle +4 \""
'

test_expect_success 'a drained node starts no job and shows its reason, and resume makes the node usable' '
    fluxq-ctl drain "node[0-2]" --reason "new memory" &&
    test "$(state_of node1)" = drained && fluxq-info -N | grep "new memory" &&
    fluxq-show node node1 | grep -E "^Reason: +.*new memory" &&
    a=$(submit -- sleep 1000) && wait_job_state $a RUNNING && test "$(job_field $a nodelist)" = node3 &&
    b=$(submit -N 2 -- true) && test "$(job_state $b)" = PENDING &&
    fluxq-ctl resume node0 node1,node2 && wait_job_state $b COMPLETED &&
    fluxq-cancel $a && test "$(state_of node1)" = idle
'

test_expect_success 'a drained node keeps its job, and stays drained through a restart' '
    id=$(submit -- sleep 1000) && wait_job_state $id RUNNING &&
    node=$(job_field $id nodelist) && fluxq-ctl drain $node --reason later &&
    test "$(state_of $node)" = draining && test "$(job_state $id)" = RUNNING &&
    restart_broker && wait_until 20 sh -c "fluxq-info -N | grep -E \"^$node +draining\"" &&
    fluxq-cancel $id && wait_until 20 sh -c "fluxq-info -N | grep -E \"^$node +drained\"" &&
    fluxq-ctl resume $node && test "$(state_of $node)" = idle
'

test_expect_success 'drain needs a reason and existing nodes' '
    test_expect_code 2 fluxq-ctl drain node1 2>err && grep reason err &&
    test_expect_code 2 fluxq-ctl drain node1 --reason "$(printf "\374ber")" 2>err && grep -e "--reason: .*not UTF-8" err &&
    test_expect_code 2 fluxq-ctl drain --reason x && test_expect_code 2 fluxq-ctl drain node1 --reason "" &&
    test_expect_code 1 fluxq-ctl drain nosuchnode --reason x 2>err && grep nosuchnode err &&
    test_expect_code 2 fluxq-ctl drain "node[1-" --reason x && test "$(state_of node1)" = idle
'

test_expect_success 'hold and release accept ids and ranges' '
    fluxq-ctl queue stop batch &&
    a=$(submit -- true) && b=$(submit -- true) && c=$(submit -- true) &&
    fluxq-ctl hold $a-$b && fluxq-ctl queue start batch &&
    wait_job_state $c COMPLETED && test "$(job_state $a)" = PENDING && test "$(job_state $b)" = PENDING &&
    fluxq-ctl release $b && wait_job_state $b COMPLETED && test "$(job_state $a)" = PENDING &&
    fluxq-ctl release $a,$b 2>err; test $? -eq 1 && grep "job $b" err && wait_job_state $a COMPLETED
'

test_expect_success 'a stopped queue accepts jobs and starts none, other queues start theirs' '
    fluxq-ctl queue stop night && fluxq-show queue night | grep -E "^State: +stopped" &&
    a=$(submit -q night -- true) && b=$(submit --wait -- true) &&
    test "$(job_state $a)" = PENDING && fluxq-ctl queue start night && wait_job_state $a COMPLETED &&
    test_expect_code 1 fluxq-ctl queue stop nosuchqueue 2>err && grep nosuchqueue err &&
    test_expect_code 2 fluxq-ctl queue pause night && test_expect_code 2 fluxq-ctl queue start
'

test_expect_success 'reload applies and reports changes, and errors name line and column' '
    sed "s/2h/3h/" "$config" >new && cp new "$config" &&
    fluxq-ctl reload >out && cat out && grep queues out &&
    fluxq-show queue night | grep "3:00:00" &&
    echo "frobnicate: 1" >>"$config" && test_expect_code 1 fluxq-ctl reload 2>err &&
    grep -E "fluxq.yaml:9:1: .*frobnicate" err && cp new "$config" &&
    fluxq-show queue night | grep "3:00:00" && fluxq-ctl reload
'

test_expect_success 'status prints text for people and JSON for programs' '
    fluxq-ctl status >out && grep -E "^Version: +[0-9]" out && grep -E "^Executor: +local" out &&
    grep "$FLUXQ_RUN/fluxqd.sock" out &&
    fluxq-ctl status --json | jq -e ".pid == $BROKER_PID and .nodes.up == 4"
'

test_expect_success ROOT 'users see this information, and change only their own jobs' '
    as_nobody fluxq-info && as_nobody fluxq-ctl status && as_nobody fluxq-show queue &&
    for what in "drain node1 --reason x" "resume node1" "queue stop batch" reload shutdown; do
        test_expect_code 1 as_nobody fluxq-ctl $what 2>err && grep operator err || return 1
    done &&
    id=$(submit --hold -- true) && test_expect_code 1 as_nobody fluxq-ctl release $id 2>err &&
    grep "job $id belongs to" err && test "$(job_state $id)" = PENDING && fluxq-cancel $id &&
    id=$(as_nobody fluxq-submit -o /dev/null --hold -- true) && as_nobody fluxq-ctl release $id &&
    wait_job_state $id COMPLETED
'

test_expect_success 'wrong usage exits with 2' '
    test_expect_code 2 fluxq-ctl && test_expect_code 2 fluxq-ctl frob 2>err && grep frob err &&
    test_expect_code 2 fluxq-ctl status now && test_expect_code 2 fluxq-ctl shutdown --json &&
    test_expect_code 2 fluxq-ctl hold && test_expect_code 2 fluxq-ctl hold x &&
    test_expect_code 2 fluxq-ctl resume node1 --reason x && test_expect_code 2 fluxq-info node1
'

test_expect_success 'shutdown ends the broker with 0, and running jobs go on and are found again' '
    id=$(submit -- sh -c "while ! test -e \"$PWD/go\"; do sleep 0.1; done") &&
    wait_job_state $id RUNNING &&
    fluxq-ctl shutdown >out && grep "1 running job" out && lib_reap &&
    test_expect_code 1 fluxq-ctl status && broker && test "$(job_state $id)" = RUNNING &&
    : >go && wait_job_state $id COMPLETED && stop_broker
'

test_done
