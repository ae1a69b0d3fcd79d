#!/bin/sh
test_description='places of nodes: levels from the configuration, fluxq-info --topology, jobs that ask for them'
. "$(dirname "$0")/lib.sh"

config=$FLUXQ_RUN/fluxq.yaml

# with_levels LIST: 8 nodes of 4 cores with these levels.
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
start_broker --config "$config"

# post FILTER: the answer to a jobspec of two nodes that jq changed so.
post()
{
    fluxq-submit --dry-run -N 2 -c 4 -o /dev/null -- sleep 1000 | jq "$1" >spec.json &&
        curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" --data-binary @spec.json http://fluxqd/v1/jobs >answer &&
        cat answer
}

test_expect_success 'info --topology: a tree, with what is in each place' '
    fluxq-info --topology >out && cat out && test "$(wc -l <out)" -eq 7 &&
    grep -E "^zone zone0 +4 +0/16/16 .* -\$" out &&
    grep -E "^  rack rack1 +2 +0/8/8 .* node\[2-3\]\$" out &&
    test "$(awk "NR > 1 { print \$1 }" out | tr "\n" " ")" = "zone rack rack zone rack rack "
'

test_expect_success 'info --json and show node have the places' '
    fluxq-info --json | jq -e ".nodes[] | select(.name == \"node5\") | .places == {zone: \"zone1\", rack: \"rack2\"}" &&
    fluxq-show node node5 | grep -E "^Places: +zone zone1, rack rack2\$"
'

test_expect_success 'a jobspec may ask for any level' '
    post ".resources = [{type: \"zone\", count: 1, with: [{type: \"rack\", count: 2, with: .resources}]}]" &&
    id=$(jq -e .id answer) && wait_job_state $id RUNNING && test "$(job_field $id nodelist)" = "node[0-3]" &&
    post ".resources = [{type: \"rack\", count: 2, with: .resources}]" &&
    id=$(jq -e .id answer) && wait_job_state $id RUNNING && test "$(job_field $id nodelist)" = "node[4-7]" &&
    post ".resources = [{type: \"rack\", count: 5, with: (.resources | .[0].count = 1 | .[0].with[0].with[0].count = 1)}]" &&
    jq -e ".status == 422" answer && grep "4 of 5 racks fit the machine" answer &&
    post ".resources = [{type: \"island\", count: 1, with: .resources}]" && grep "the machine has no island" answer
'

test_expect_success 'a level that cannot be is refused with line and column' '
    refused() { with_levels "$1" && test_must_fail fluxqd --check --config "$config" 2>err && cat err && grep -E "$2" err; } &&
    refused "[{level: node, nodes: 2}]" "fluxq.yaml:5:[0-9]+: local.topology: level: expected a name" &&
    refused "[{level: \"a b\", nodes: 2}]" "expected a name" &&
    refused "[{level: rack, nodes: 0}]" "nodes: expected how many are in one rack" &&
    refused "[{level: rack, label: x}]" "unknown key .label. \(level and nodes are known\)" &&
    refused "[{level: rack, nodes: 2}, {level: rack, nodes: 4}]" "level rack is there twice" &&
    refused "rack" "expected a list of at most 8 levels" &&
    refused "[rack]" "expected a list of .level: NAME, nodes" &&
    printf "executor: kube\nkube:\n  rack-label: x\n" >kube.yaml &&
    test_must_fail fluxqd --check --config kube.yaml 2>err && grep "kube.yaml:3:[0-9]*: kube.rack-label: it is a level of kube.topology now" err &&
    printf "executor: kube\nkube:\n  topology: [{level: rack, nodes: 2}]\n" >kube.yaml &&
    test_must_fail fluxqd --check --config kube.yaml 2>err && grep "unknown key .nodes. (level and label are known)" err
'

test_done
