#!/bin/sh
# t4135-topology.t: racks and zones from the labels of nodes on a real API server. Needs root; about a minute.

test_description='places of nodes on a real API server

Two racks of the same name in two zones that count as one, or a node that stays in the place of its old label,
would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"

CLUSTER_ID=topology
own_cluster --nodes 0

# add_node NAME ZONE RACK: makes a node of 4 CPUs without a kubelet; "-" means without this label.
add_node()
{
    labels=
    [ "$2" = - ] || labels="topology.kubernetes.io/zone: $2"
    [ "$3" = - ] || labels="$labels${labels:+, }example.org/rack: $3"
    cat >node.yaml <<-ENDNODE
	apiVersion: v1
	kind: Node
	metadata: {name: $1, labels: {$labels}}
	ENDNODE
    k apply -f node.yaml >/dev/null &&
        k patch node "$1" --subresource=status --type=merge -p '{"status": {
            "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "test",
                            "lastHeartbeatTime": null, "lastTransitionTime": null}]}}' >/dev/null
}

# is_in NODE FILTER: fluxq has the node in these places; FILTER is a jq filter.
is_in()
{
    fluxq-info --json | jq -e --arg n "$1" ".nodes[] | select(.name == \$n) | .places == $2" >/dev/null
}

# True if the machine with all nodes up could run such a job: the nodes have no kubelets, so they do not stay
# ready.
can()
{
    fluxq-submit --hold -o /dev/null "$@" -- true >id && fluxq-cancel "$(cat id)"
}
cannot()
{
    text=$1 && shift && test_must_fail fluxq-submit --hold -o /dev/null "$@" -- true 2>err && cat err && grep -e "$text" err
}

test_expect_success 'nodes are made by hand, with racks of the same name in two zones, and a node without a rack' '
    add_node n1 a r1 && add_node n2 a r1 && add_node n3 b r1 && add_node n4 b r1 && add_node n5 b - && add_node n6 - -
'

test_expect_success 'the broker knows the levels that its configuration names' '
    write_config "$configs/fluxq.kubeconfig" \
        "  topology: [{level: zone, label: topology.kubernetes.io/zone}, {level: rack, label: example.org/rack}]" &&
    start_broker --kube --config kube.yaml &&
    wait_until 60 sh -c "fluxq-info --json | jq -e \".nodes | length == 6\"" &&
    fluxq-info --topology >out && cat out &&
    wait_until 30 is_in n1 "{zone: \"a\", rack: \"r1\"}" && is_in n3 "{zone: \"b\", rack: \"r1\"}" &&
    is_in n5 "{zone: \"b\"}" && is_in n6 "{}" &&
    grep -E "^zone b +3 .* n5\$" out && grep -E "^no place +1 .* n6\$" out && test "$(grep -c "^  rack r1 " out)" = 2
'

test_expect_success 'two racks of the same name in different zones are two racks' '
    can -N 4 --nodes-per-rack=2 && cannot "0 of 1 rack fit the machine" -N 4 --nodes-per-rack=4 &&
    cannot "2 of 3 racks fit the machine" -N 3 --nodes-per-rack=1 &&
    can -N 6 --placement=pack:zone && can -N 4 --switches=2@UNLIMITED &&
    cannot "2 of 3 nodes fit the machine" -N 3 --switches=1@UNLIMITED &&
    cannot "4 of 5 nodes fit the machine" -N 5 --switches=2@UNLIMITED
'

test_expect_success 'a change of a label moves the node' '
    k label node n6 topology.kubernetes.io/zone=a example.org/rack=r1 && k label node n5 example.org/rack=r1 &&
    wait_until 30 is_in n6 "{zone: \"a\", rack: \"r1\"}" && wait_until 30 is_in n5 "{zone: \"b\", rack: \"r1\"}" &&
    can -N 3 --switches=1@UNLIMITED && can -N 6 --nodes-per=zone:3 && cannot "3 of 4 nodes fit" -N 4 --switches=1@UNLIMITED &&
    k label --overwrite node n6 topology.kubernetes.io/zone=b && wait_until 30 is_in n6 "{zone: \"b\", rack: \"r1\"}" &&
    can -N 4 --switches=1@UNLIMITED && cannot "1 of 2 zones fits the machine" -N 6 --nodes-per=zone:3 &&
    k label node n6 topology.kubernetes.io/zone- example.org/rack- && wait_until 30 is_in n6 "{}" &&
    fluxq-info --topology | grep -E "^no place +1 .* n6\$"
'

test_done
