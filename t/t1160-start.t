#!/bin/sh
test_description='failed starts: they are given up in time and tried on other nodes, and faulty nodes are drained'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

faults=$FLUXQ_RUN/faults
mkdir "$faults"

# The agent, but on nodes with a file in $faults the agent ends at once (dead) or never answers
# (hung).
shell=$FLUXQ_RUN/fluxq-shell
cat >"$shell" <<END_OF_SHELL
#!/bin/sh
launch= rank= option=
for word; do
    case \$option in
    --launch) launch=\$word ;;
    --rank) rank=\$word ;;
    esac
    option=\$word
done
node=\$(sed -n '/^node [0-9]*\$/{n;s/.* //p}' "\$launch" | sed -n "\$((rank + 1))p")
fault=
[ ! -e "$faults/\$node" ] || read -r fault <"$faults/\$node"
case \$fault in
dead) exit 1 ;;
hung) exec sleep 97601 ;;
esac
exec "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "\$@"
END_OF_SHELL
chmod 755 "$shell"

backoff=0.3s
drains=0
# configure LINE...: adds LINE... to the configuration of this test's machine.
configure()
{
    { echo "shell-path: $shell"
      echo 'grace: 1s'
      echo "drain-after-failures: $drains"
      echo "start-backoff: $backoff"
      echo "start-backoff-max: $backoff"
      echo 'local: {nodes: 3, cores: 2}'
      printf '%s\n' "$@"; } >start.yaml
}

resume_all()
{
    for node in node0 node1 node2; do
        fluxq-ctl resume $node 2>/dev/null
    done
    :
}

# fresh LINE...: each case begins with good nodes and an empty queue.
fresh()
{
    rm -f "$faults"/* && : >go &&
    { none_active || fluxq-cancel -t PENDING,RUNNING; } &&
    configure "$@" && backoff=0.3s && wait_until 20 none_active && resume_all && fluxq-ctl reload && rm -f go
}

# fault NODE KIND: NODE gets this fault.
fault()
{
    echo "$2" >"$faults/$1"
}

# A job that runs until the file go exists.
waiting()
{
    fluxq-submit -o /dev/null "$@" -- sh -c 'until [ -e go ]; do sleep 0.05; done'
}

has_events()
{
    [ "$(count_events "$1" "$2")" = "$3" ]
}

nodes_of()
{
    job_field "$1" nodelist
}

# avoids ID: prints the nodes to avoid of each requeue of the job, one line each.
avoids()
{
    fluxq-show job "$1" --events --json | jq -r '.events[] | select(.name == "requeue") | .context.avoid // "none"'
}

node_state()
{
    fluxq-info --json | jq -r --arg n "$1" '.nodes[] | select(.name == $n) | .state + " " + (.reason // "")'
}

configure
test_expect_success 'a job that failed to start on a node tries another node' '
    start_broker --config start.yaml && fault node0 dead &&
    id=$(waiting) && wait_job_state $id RUNNING && test "$(nodes_of $id)" = node1 &&
    avoids $id >got && echo node0 >expected && test_cmp expected got &&
    fluxq-show job $id --events | grep "requeue.*node0: its agent ended without a word" &&
    test "$(job_field $id avoids)" = null && touch go && wait_job_state $id COMPLETED
'
test_expect_success 'a job of several nodes avoids only the faulty node, and the faulty nodes of earlier tries' '
    fresh && fault node0 dead && fault node1 dead &&
    id=$(waiting) && wait_job_state $id RUNNING && test "$(nodes_of $id)" = node2 &&
    avoids $id >got && printf "%s\n" node0 "node[0-1]" >expected && test_cmp expected got &&
    fresh "start-timeout: 2s" && fault node1 dead &&
    id=$(waiting -N 2) && wait_job_state $id RUNNING && test "$(nodes_of $id)" = "node[0,2]" &&
    avoids $id >got && echo node1 >expected && test_cmp expected got
'
test_expect_success 'a job that needs the faulty node tries the node again, and runs when the node is good' '
    fresh "start-retries: 100" "start-timeout: 1s" && fault node1 dead &&
    id=$(waiting -N 3) && wait_until 20 has_events $id requeue 2 && rm "$faults/node1" &&
    wait_job_state $id RUNNING && test "$(nodes_of $id)" = "node[0-2]"
'
test_expect_success 'a job tries the faulty node again also if the other nodes are drained, or come back, during its wait' '
    backoff=2s && fresh && fault node0 dead &&
    id=$(waiting) && wait_until 20 has_events $id requeue 1 && rm "$faults/node0" &&
    fluxq-ctl drain node1 --reason away && fluxq-ctl drain node2 --reason away &&
    wait_job_state $id RUNNING && test "$(nodes_of $id)" = node0 && touch go && wait_job_state $id COMPLETED &&
    backoff=2s && fresh && fault node0 dead &&
    fluxq-ctl drain node1 --reason away && fluxq-ctl drain node2 --reason away && id=$(waiting) &&
    wait_until 20 has_events $id requeue 1 && fluxq-ctl resume node2 &&
    wait_job_state $id RUNNING && test "$(nodes_of $id)" = node2
'
test_expect_success 'a restart keeps the nodes to avoid, and other jobs may use these nodes' '
    backoff=2s && fresh && fault node0 dead &&
    id=$(waiting) && wait_until 20 has_events $id requeue 1 && rm "$faults/node0" &&
    test "$(job_field $id avoids)" = node0 && kill_broker && start_broker --config start.yaml &&
    test "$(job_field $id avoids)" = node0 && other=$(waiting) && wait_job_state $other RUNNING &&
    test "$(nodes_of $other)" = node0 &&
    wait_job_state $id RUNNING && test "$(nodes_of $id)" = node1
'
test_expect_success 'a constraint of the jobspec applies together with the nodes to avoid' '
    fresh && cat >hosts.json <<-END && fault node1 dead &&
	{"version": 1, "tasks": [{"command": ["sleep", "97602"], "slot": "t", "count": {"per_slot": 1}}],
	 "resources": [{"type": "slot", "count": 1, "label": "t", "with": [{"type": "core", "count": 1}]}],
	 "attributes": {"system": {"duration": 0, "constraints": {"hostlist": ["node[1-2]"]}}}}
	END
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" -H "Content-Type: application/json" -d @hosts.json http://x/v1/jobs >answer &&
    id=$(jq .id answer) && wait_job_state $id RUNNING && test "$(nodes_of $id)" = node2 &&
    fluxq-cancel $id && wait_job_state $id CANCELLED
'

test_expect_success 'a start that hangs on rank 0 is given up after start-timeout, and its node is avoided' '
    fresh "start-timeout: 1s" && fault node0 hung &&
    id=$(waiting) && wait_job_state $id RUNNING && test "$(nodes_of $id)" = node1 &&
    fluxq-show job $id --events | grep "not ready after 0:01: node node0: its agent does not answer" &&
    test -z "$(processes_with nothing=at-all)" && touch go && wait_job_state $id COMPLETED
'
test_expect_success 'a start that hangs on another rank is given up after start-timeout, and its node is avoided' '
    fresh "start-timeout: 1s" && fault node1 hung &&
    id=$(waiting -N 2) && wait_job_state $id RUNNING && test "$(nodes_of $id)" = "node[0,2]" &&
    fluxq-show job $id --events | grep "requeue.*1 of 2 nodes did not join within 0:01: node1"
'
test_expect_success 'a queue and a job can have a start-timeout of their own' '
    fresh "start-timeout: 100s" "start-retries: 0" "queues: {batch: {default: true}, quick: {start-timeout: 1s}}" &&
    fault node0 hung && fault node1 hung && fault node2 hung &&
    a=$(waiting -q quick) && b=$(waiting --start-timeout=0:01) && c=$(FLUXQ_START_TIMEOUT=0:01 waiting) &&
    d=$(waiting) &&
    for id in $a $b $c; do wait_job_state $id FAILED && job_field $id result_text | grep "not ready after 0:01" || return 1; done &&
    test "$(job_state $d)" = CONFIGURING && fluxq-cancel $d && wait_job_state $d CANCELLED
'
test_expect_success 'a slow start within start-timeout is not given up' '
    fresh "start-timeout: 20s" && fault node0 hung && id=$(waiting) && wait_job_state $id CONFIGURING &&
    rm "$faults/node0" && fluxq-cancel $id && wait_job_state $id CANCELLED
'
test_expect_success 'wrong values are refused' '
    for line in "start-timeout: 0" "start-timeout: 25h" "pull-timeout: soon" "place-timeout: infinity"; do
        configure "$line" && test_must_fail fluxqd --check --config start.yaml 2>err && grep "start.yaml:7:1: ${line%%:*}:" err || return 1
    done &&
    for value in 0 UNLIMITED 2-0 -1 x; do
        test_must_fail fluxq-submit --start-timeout=$value -- true 2>err && grep "^fluxq-submit: --start-timeout: " err || return 1
    done
'

drains=3
# fails_on NODE: a new job fails to start on NODE once, and then runs on another node.
fails_on()
{
    id=$(waiting) && wait_job_state "$id" RUNNING && [ "$(avoids "$id")" = "$1" ]
}
test_expect_success 'a node where three jobs failed to start that started elsewhere is drained' '
    fresh && fault node0 dead &&
    fails_on node0 && fails_on node0 && test "$(node_state node0)" = "up " &&
    fails_on node0 && wait_until 10 eval "node_state node0 | grep \"^drained 3 jobs failed to start here, last: .*node0\"" &&
    grep "warning.*node node0 is drained: 3 jobs" "$BROKER_LOG" &&
    fluxq-info -l >text; fluxq-info --json | jq -e ".nodes[0].reason | test(\"3 jobs failed\")"
'
test_expect_success 'the drain survives a restart, until an operator resumes the node' '
    rm "$faults/node0" && kill_broker && start_broker --config start.yaml && node_state node0 | grep "^drained 3 jobs" &&
    fluxq-ctl resume node0 && test "$(node_state node0)" = "up "
'
test_expect_success 'a successful start on a node resets the node'\''s count' '
    fresh && fault node0 dead && fails_on node0 && fails_on node0 && rm "$faults/node0" &&
    good=$(waiting) && wait_job_state $good RUNNING && test "$(nodes_of $good)" = node0 && touch go &&
    wait_until 10 none_active && rm go && fault node0 dead &&
    fails_on node0 && fails_on node0 && test "$(node_state node0)" = "up " &&
    fails_on node0 && wait_until 10 eval "node_state node0 | grep ^drained"
'
test_expect_success 'repeated failures of one job count once' '
    fresh "start-retries: 5" && for n in 0 1 2; do fault node$n dead; done &&
    id=$(waiting) && wait_job_state $id FAILED && has_events $id requeue 5 &&
    for n in 0 1 2; do test "$(node_state node$n)" = "up " || return 1; done
'
test_expect_success 'if no job starts on any node no node is drained' '
    fresh "start-retries: 2" && for n in 0 1 2; do fault node$n dead; done &&
    for n in 1 2 3 4 5; do waiting || return 1; done >ids && wait_until 30 none_active &&
    for id in $(cat ids); do test "$(job_state $id)" = FAILED || return 1; done &&
    for n in 0 1 2; do test "$(node_state node$n)" = "up " || return 1; done
'
test_expect_success 'jobs that fail for their own reasons do not count against a node' '
    fresh && mkdir -p full && : >full/file &&
    for n in 1 2 3 4; do
        id=$(fluxq-submit -o full/file/out -- true) && wait_job_state $id FAILED && has_events $id requeue 0 &&
        id=$(fluxq-submit -o /dev/null -D "$PWD/nowhere" -- true) && wait_job_state $id FAILED &&
        id=$(fluxq-submit -o /dev/null -- "$PWD/no-such-program") && wait_job_state $id FAILED || return 1
    done &&
    good=$(waiting) && wait_job_state $good RUNNING && test "$(nodes_of $good)" = node0 &&
    for n in 0 1 2; do test "$(node_state node$n)" = "up " || return 1; done
'
test_expect_success 'drain-after-failures: 0 never drains, 1 drains at once, and both apply at a reload' '
    drains=0 && fresh && fault node0 dead &&
    for n in 1 2 3 4; do fails_on node0 || return 1; done && test "$(node_state node0)" = "up " &&
    drains=1 && fresh && fault node0 dead && fails_on node0 &&
    wait_until 10 eval "node_state node0 | grep \"^drained 1 job failed\""
'

drains=0
test_expect_success 'with start-serialize one large job starts at a time, and small jobs start beside it' '
    fresh "start-serialize: 2" "start-timeout: 1m" && fault node0 hung &&
    first=$(waiting -N 2) && wait_job_state $first CONFIGURING && wait_until 10 eval "[ -n \"\$(agents_of $first)\" ]" &&
    second=$(waiting -N 2 -n 2) && wait_job_state $second CONFIGURING && small=$(waiting) &&
    wait_until 10 eval "job_field $second reason_text | grep \"waits until job $first is ready\"" &&
    test -z "$(agents_of $second)" && test ! -e "$BROKER_STATE/jobs/$second" &&
    fluxq-cancel $first && wait_job_state $first CANCELLED && wait_until 10 eval "[ -n \"\$(agents_of $second)\" ]"
'
test_expect_success 'with start-serialize a restart continues with the same job, and waiting jobs can be cancelled' '
    fresh "start-serialize: 2" "start-timeout: 1m" && fault node0 hung &&
    first=$(waiting -N 2) && wait_until 10 eval "[ -n \"\$(agents_of $first)\" ]" &&
    second=$(waiting -N 2 -n 2) && wait_job_state $second CONFIGURING && kill_broker && start_broker --config start.yaml &&
    wait_until 10 eval "job_field $second reason_text | grep \"waits until job $first is ready\"" &&
    third=$(waiting -N 2) && test -z "$(agents_of $second)" &&
    fluxq-cancel $second && wait_job_state $second CANCELLED && test "$(job_state $first)" = CONFIGURING &&
    fluxq-cancel $first && wait_job_state $first CANCELLED
'
test_expect_success 'after a reload without start-serialize all jobs start' '
    fresh "start-serialize: 2" "start-timeout: 1m" && fault node0 hung &&
    first=$(waiting -N 2) && second=$(waiting -N 2 -n 2) && wait_job_state $second CONFIGURING &&
    wait_until 10 eval "job_field $second reason_text | grep waits" &&
    configure "start-timeout: 1m" && fluxq-ctl reload && wait_until 10 eval "[ -n \"\$(agents_of $second)\" ]"
'
test_expect_success 'with start-serialize the next job starts when the first is ready or has failed' '
    fresh "start-serialize: 2" "start-timeout: 2s" && fault node0 hung &&
    first=$(waiting -N 2) && second=$(waiting -N 2 -n 2) && wait_job_state $second CONFIGURING &&
    wait_until 20 has_events $first requeue 1 && rm "$faults/node0" &&
    wait_job_state $second RUNNING && wait_job_state $first RUNNING
'

test_expect_success 'no job is active, all nodes are free, and the broker stops' '
    fresh && wait_until 10 nodes_free && stop_broker
'
test_done
