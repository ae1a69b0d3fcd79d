#!/bin/sh
test_description='places of nodes: levels from the configuration, fluxq-info --topology, requests for places'
. "$(dirname "$0")/lib.sh"

config=$FLUXQ_RUN/fluxq.yaml

# with_levels LIST: configures 8 nodes of 4 cores with these levels.
with_levels()
{
    cat >"$config" <<-ENDCONFIG
	executor: local
	local:
	  nodes: 8
	  cores: 4
	  topology: $1
	ENDCONFIG
}

with_levels '[{level: zone, nodes: 4}, {level: rack, nodes: 2}]'
broker()
{
    start_broker --config "$config"
}
broker

is()
{
    [ "$1" = "$2" ] || { echo "it is '$1', not '$2'" && false; }
}

# post FILTER: the answer to a jobspec of two nodes that the jq filter FILTER has changed.
post()
{
    fluxq-submit --dry-run -N 2 -c 4 -o /dev/null -- sleep 1000 | jq "$1" >spec.json &&
        curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" --data-binary @spec.json http://fluxqd/v1/jobs >answer &&
        cat answer
}

test_expect_success 'fluxq-info --topology shows a tree with the nodes and resources of each place' '
    fluxq-info --topology >out && cat out && test "$(wc -l <out)" -eq 7 &&
    grep -E "^zone zone0 +4 +0/16/16 .* -\$" out &&
    grep -E "^  rack rack1 +2 +0/8/8 .* node\[2-3\]\$" out &&
    test "$(awk "NR > 1 { print \$1 }" out | tr "\n" " ")" = "zone rack rack zone rack rack "
'

test_expect_success 'fluxq-info --json and fluxq-show node have the places' '
    fluxq-info --json | jq -e ".nodes[] | select(.name == \"node5\") | .places == {zone: \"zone1\", rack: \"rack2\"}" &&
    fluxq-show node node5 | grep -E "^Places: +zone zone1, rack rack2\$"
'

test_expect_success 'a jobspec may request any level' '
    post ".resources = [{type: \"zone\", count: 1, with: [{type: \"rack\", count: 2, with: .resources}]}]" &&
    id=$(jq -e .id answer) && wait_job_state $id RUNNING && is "$(job_field $id nodelist)" "node[0-3]" &&
    post ".resources = [{type: \"rack\", count: 2, with: .resources}]" &&
    id=$(jq -e .id answer) && wait_job_state $id RUNNING && is "$(job_field $id nodelist)" "node[4-7]" &&
    post ".resources = [{type: \"rack\", count: 5, with: (.resources | .[0].count = 1 | .[0].with[0].with[0].count = 1)}]" &&
    jq -e ".status == 422" answer && grep "4 of 5 racks fit the machine" answer &&
    post ".resources = [{type: \"island\", count: 1, with: .resources}]" && grep "the machine has no island" answer
'

nobody_runs()
{
    fluxq-cancel --me || true
    wait_until 30 sh -c "fluxq-info | grep -qE \"^idle +8 \""
}

# submit NODES OPTION...: submits a job of NODES whole nodes that runs until its cancel;
# prints the id.
submit()
{
    n=$1 && shift && fluxq-submit -o /dev/null -N "$n" --exclusive "$@" -- sleep 1000
}

# nodes_of ID: waits for the start and prints the nodes.
nodes_of()
{
    wait_job_state "$1" RUNNING >&2 && job_field "$1" nodelist
}

shown()
{
    fluxq-show job "$1" | sed -n "s/^$2: *//p"
}

test_expect_success '--nodes-per and --nodes-per-rack set the number of nodes in each place' '
    nobody_runs &&
    a=$(submit 4 --nodes-per-rack=1) && is "$(nodes_of $a)" "node[0,2,4,6]" &&
    b=$(submit 2 --nodes-per=zone:1) && is "$(nodes_of $b)" "node[1,5]" &&
    c=$(submit 2 --nodes-per=zone:2) && is "$(job_state $c)" PENDING &&
    fluxq-show job $c | grep -E "needs 1 zone with 2 exclusive nodes" &&
    fluxq-cancel $a && is "$(nodes_of $c)" "node[0,2]" && nobody_runs &&
    id=$(fluxq-submit -o /dev/null -N 2-8:2 --nodes-per=rack:2 --exclusive -- sleep 1000) && is "$(nodes_of $id)" "node[0-7]"
'

test_expect_success 'impossible values of --nodes-per are refused with the numbers' '
    refused() { text=$1 && shift && test_must_fail fluxq-submit "$@" -- true 2>err && cat err && grep -e "$text" err; } &&
    refused "5 does not divide into 2 nodes a rack" -N 5 --nodes-per-rack=2 &&
    refused "needs the number of nodes: give -N" -n 5 --nodes-per-rack=2 &&
    refused "cannot be combined with --switches" -N 4 --nodes-per-rack=2 --switches=1 &&
    refused "cannot be combined with --placement" -N 4 --nodes-per=rack:2 --placement=pack &&
    refused "is not LEVEL:NUMBER" -N 4 --nodes-per=rack &&
    refused "the machine has no island" -N 4 --nodes-per=island:2 &&
    refused "needs 1 rack with 4 nodes.* 0 of 1 rack fit the machine" -N 4 --nodes-per-rack=4
'

test_expect_success '--placement packs a job into few places or spreads it over all, and never delays the job' '
    nobody_runs &&
    a=$(submit 1) && is "$(nodes_of $a)" node0 &&
    b=$(submit 2 --placement=pack) && is "$(nodes_of $b)" "node[2-3]" &&
    c=$(submit 2 --placement=spread:zone) && is "$(nodes_of $c)" "node[1,4]" &&
    is "$(shown $b Placement)" "packed into few racks, if possible" && is "$(shown $b Places)" "1 rack: zone0/rack1" &&
    is "$(shown $c Placement)" "spread over all zones, if possible" && is "$(shown $c Places)" "2 zones: zone0, zone1" &&
    d=$(submit 3 --placement=pack) && is "$(nodes_of $d)" "node[5-7]" && is "$(shown $d Places)" "2 racks: zone1/rack2, zone1/rack3" &&
    test_must_fail fluxq-submit --placement=spread:island -N 2 -- true 2>err && grep "there is no level island; there is zone, rack" err &&
    test_must_fail fluxq-submit --placement=near -N 2 -- true 2>err && grep "near. is not one of pack, spread" err
'

test_expect_success '--switches waits for at most so many racks, shows the reason, and then runs anywhere' '
    nobody_runs &&
    a=$(submit 1) && is "$(nodes_of $a)" node0 && b=$(submit 1 -w node2) && is "$(nodes_of $b)" node2 &&
    c=$(submit 1 -w node4) && is "$(nodes_of $c)" node4 && d=$(submit 1 -w node6) && is "$(nodes_of $d)" node6 &&
    id=$(submit 2 --switches=1@UNLIMITED) && fluxq-show job $id >out && cat out &&
    grep -E "in at most 1 rack: 1 of 2 nodes fits now" out && is "$(job_state $id)" PENDING &&
    is "$(shown $id Placement)" "in at most 1 rack, however long that takes" &&
    two=$(submit 2 -t 60 --switches=2) && is "$(nodes_of $two)" "node[1,3]" && is "$(shown $two Places)" "2 racks: zone0/rack0, zone0/rack1" &&
    is "$(shown $two Placement)" "in at most 2 racks, waits 5:00 for that" &&
    soon=$(submit 2 -t 60 --switches=1@0:01) && is "$(nodes_of $soon)" "node[5,7]" && is "$(shown $soon Places)" "2 racks: zone1/rack2, zone1/rack3" &&
    fluxq-show job $soon && is "$(job_state $id)" PENDING &&
    fluxq-cancel $b $two && is "$(nodes_of $id)" "node[2-3]" && is "$(shown $id Places)" "1 rack: zone0/rack1"
'

test_expect_success 'an impossible --switches is refused if its wait is infinite, and ignored otherwise' '
    nobody_runs &&
    test_must_fail fluxq-submit -N 3 --switches=1@infinite -- true 2>err && cat err &&
    grep "needs 3 nodes with 1 slot of 1 core each in at most 1 rack: 2 of 3 nodes fit the machine" err &&
    id=$(submit 3 --switches=1@60:00) && is "$(nodes_of $id)" "node[0-2]" &&
    test_must_fail fluxq-submit -N 2 --switches=0 -- true && test_must_fail fluxq-submit -N 2 --switches=1@soon -- true
'

test_expect_success 'the plan respects --switches: no job delays a job that waits for one rack' '
    nobody_runs &&
    long=$(submit 1 -t 60 -w node0) && b=$(submit 1 -t 30 -w node2) && c=$(submit 1 -t 60 -w node4) && d=$(submit 1 -t 60 -w node6) &&
    wait_job_state $d RUNNING && id=$(submit 2 -t 10 --switches=1@UNLIMITED) &&
    over=$(submit 1 -t 31 -w node3) && within=$(submit 1 -t 29 -w node3) && wait_job_state $within RUNNING &&
    is "$(job_state $over)" PENDING && fluxq-show job $id && fluxq-show job $id | grep -E "$b"
'

test_expect_success 'a restart keeps --switches and its wait, and a queue can have its own placement' '
    nobody_runs && stop_broker &&
    with_levels "[{level: zone, nodes: 4}, {level: rack, nodes: 2}]" &&
    printf "switches-wait: 2s\nqueues:\n  batch: {default: true}\n  wide: {placement: \"spread:zone\"}\n" >>"$config" &&
    broker && w=$(submit 2 -q wide) && is "$(nodes_of $w)" "node[0,4]" && is "$(shown $w Places)" "2 zones: zone0, zone1" &&
    any=$(submit 2 -q wide --placement=any) && is "$(nodes_of $any)" "node[1-2]" && test -z "$(shown $any Places)" &&
    six=$(submit 1 -w node6) && wait_job_state $six RUNNING &&
    ever=$(submit 2 --switches=1@UNLIMITED) && soon=$(submit 2 -t 60 --switches=1) &&
    kill_broker && broker && is "$(nodes_of $soon)" "node[3,5]" && is "$(job_state $ever)" PENDING &&
    is "$(shown $ever Placement)" "in at most 1 rack, however long that takes" &&
    sed -i "s/spread:zone/spread:island/" "$config" && test_must_fail fluxq-ctl reload 2>err && cat err &&
    grep "fluxq.yaml:[0-9]*:[0-9]*: queue wide: placement: local.topology has no level island" err &&
    test_must_fail fluxqd --check --config "$config"
'

test_expect_success 'wrong levels are refused with line and column' '
    refused() { with_levels "$1" && test_must_fail fluxqd --check --config "$config" 2>err && cat err && grep -E "$2" err; } &&
    refused "[{level: node, nodes: 2}]" "fluxq.yaml:5:[0-9]+: local.topology: level: expected a name" &&
    refused "[{level: \"a b\", nodes: 2}]" "expected a name" &&
    refused "[{level: rack, nodes: 0}]" "nodes: expected how many are in one rack" &&
    refused "[{level: rack, label: x}]" "unknown key .label. \(level and nodes are known\)" &&
    refused "[{level: rack, nodes: 2}, {level: rack, nodes: 4}]" "level rack is listed twice" &&
    refused "rack" "expected a list of at most 8 levels" &&
    refused "[rack]" "expected a list of .level: NAME, nodes" &&
    printf "executor: kube\nkube:\n  rack-label: x\n" >kube.yaml &&
    test_must_fail fluxqd --check --config kube.yaml 2>err && grep "kube.yaml:3:[0-9]*: kube.rack-label: use a level of kube.topology" err &&
    printf "executor: kube\nkube:\n  topology: [{level: rack, nodes: 2}]\n" >kube.yaml &&
    test_must_fail fluxqd --check --config kube.yaml 2>err && grep "unknown key .nodes. (level and label are known)" err
'

test_done
