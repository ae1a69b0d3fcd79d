#!/bin/sh
# t4910-adopt-gangs.t: Jobs of others that clog a cluster when their pods are placed one by one. Needs root.
# Uses a cluster of its own, of 10 simulated nodes with 10 CPUs and 10 GiB each.
#
# Two Jobs of 20 pods, each pod with 1 CPU and 3,840 MiB (together 75 % of the cluster's memory for each Job),
# and a quick Job of 50 pods are created together with kubectl, as plain manifests. If both large Jobs were
# half-started, their pods would wait for each other forever.

test_description='adopted gangs: two large Jobs and a quick one at once, with either scheduler; and groups of plain pods

A Job that never ends, two Jobs that are half-started, or a pod on a wrong node would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4910
ROUNDS=4

own_cluster --kwok --nodes 10 --sim-cpus 10 --sim-mem 10 --scheduler-arg --kube-api-qps=500 --scheduler-arg --kube-api-burst=500

team() { timeout 60 "$KUBE/enter" kubectl -n team-a "$@"; }

# manifest NAME PODS MEMORY SECONDS [SCHEDULER]: prints a Job. With PLAIN set, the Job is not suspended, so
# that its pods could run at once on any free node.
manifest()
{
    suspend=true tolerations='[]'
    [ -z "${PLAIN:-}" ] || { suspend=false && tolerations='[{key: kwok.x-k8s.io/node, operator: Exists}]'; }
    cat <<END
---
apiVersion: batch/v1
kind: Job
metadata: {name: $1, namespace: team-a, labels: {fluxq.io/queue: sim}}
spec:
  suspend: $suspend
  parallelism: $2
  completions: $2
  completionMode: Indexed
  backoffLimit: 0
  template:
    metadata: {annotations: {fluxq.io/sim-duration: ${4}s}}
    spec:
      restartPolicy: Never
      schedulerName: ${5:-default-scheduler}
      tolerations: $tolerations
      containers: [{name: c, image: "nowhere:1", resources: {requests: {cpu: 1, memory: $3}}}]
END
}

# pods NAME N: prints a group of N plain pods.
pods()
{
    for i in $(seq 1 "$2"); do
        cat <<END
---
apiVersion: v1
kind: Pod
metadata:
  name: $1-$i
  namespace: team-a
  labels: {fluxq.io/queue: sim, fluxq.io/group: $1}
  annotations: {fluxq.io/group-size: "${3:-$2}", fluxq.io/sim-duration: 2s}
spec:
  restartPolicy: Never
  schedulingGates: [{name: fluxq.io/queue}]
  tolerations: [{key: kwok.x-k8s.io/node, operator: Exists}]
  containers: [{name: c, image: "nowhere:1", resources: {requests: {cpu: 2, memory: 1Gi}}}]
END
    done
}

job_of() { fluxq-queue -t all --json 2>/dev/null | jq -r --arg n "team-a/$1" '.jobs[] | select(.name == $n) | .id' | tail -n 1; }
has_job() { [ -n "$(job_of "$1")" ]; }
adopted() { wait_until 30 has_job "$1" && id=$(job_of "$1"); }

all_complete()
{
    for name; do
        adopted "$name" && wait_job_state "$id" COMPLETED 120 || { fluxq-show job "$id"; return 1; }
    done
}

# judge ROUND...: checks in the objects that all 20 pods of both large Jobs of a round ran once and succeeded,
# and that the first pod of one Job started after the last of the other had ended (each Job needs more than
# half of the cluster).
judge()
{
    team get pods -o json >pods.json && team get jobs -o json >jobs.json && for round; do
        for name in r$round-a r$round-b; do
            jq -e --arg n "$name" '.items[] | select(.metadata.name == $n) | .status |
                .succeeded == 20 and .completedIndexes == "0-19" and (.failed // 0) == 0 and
                ([.uncountedTerminatedPods // {} | .[] | length] | add // 0) == 0' jobs.json >verdict ||
                { echo "$name: $(jq -c --arg n "$name" '.items[] | select(.metadata.name == $n) | .status' jobs.json)" && return 1; }
            jq -r --arg n "$name" '[.items[] | select(.metadata.labels["job-name"] == $n and .status.phase == "Succeeded") | .status.startTime] |
                sort | "\(first) \(last) \(length)"' pods.json || return 1
        done >spans
        awk '{ first[NR] = $1; last[NR] = $2 } $3 != 20 { exit 1 } END { exit !(NR == 2 && (last[1] <= first[2] || last[2] <= first[1])) }' spans ||
            { echo "round $round: half-started at once:" && cat spans && return 1; }
    done
}

# Each pod was on a node that its job was given, and no node ever had more of the Job's pods than slots: a
# later pod may take the place of an ended one.
in_their_places()
{
    team get pods -o json "$@" | jq -r '.items[] | .spec.nodeName as $n |
        "\($n) \(.status.startTime) 1", "\($n) \(.status.containerStatuses[0].state.terminated.finishedAt) -1"' | sort -k 1,2 -k 3n >changes &&
        fluxq-show job "$id" --json | jq -r '.ranks[] | "\(.node) \(.slots)"' | sort >planned &&
        awk 'FILENAME == "planned" { slots[$1] = $2; next }
            !($1 in slots) || (there[$1] += $3) > slots[$1] { print "not as planned: " $0; bad = 1 }
            END { exit bad || NR < 4 }' planned changes
}

test_expect_success 'a queue has the simulated nodes, and the broker adopts' '
    "$KUBE/enter" kubectl create namespace team-a && "$KUBE/enter" kubectl create -f "$FLUXQ_SOURCE_DIR/etc/kubernetes/adopt.yaml" 2>err ||
        grep "no matches for kind \"MutatingAdmissionPolicy" err &&
    team create rolebinding fluxq-adopter --clusterrole=fluxq-adopter --user=fluxq &&
    write_config "$configs/fluxq.kubeconfig" "  adopt: {namespaces: {team-a: daemon}}" \
        "queues: {sim: {default: true, pods: {node-selector: {type: kwok}, tolerations: [{key: kwok.x-k8s.io/node, operator: Exists}]}}}" &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 sh -c "fluxq-info --json | jq -e \"[.nodes[] | select(.state == \\\"up\\\")] | length >= 10\""
'

test_expect_success "large Jobs created together $ROUNDS times, bound by fluxq or by kube-scheduler, all complete" '
    round=1 &&
    while [ $round -le $ROUNDS ]; do
        scheduler=default-scheduler && [ $((round % 2)) = 0 ] || scheduler=fluxq
        { manifest r$round-a 20 3840Mi 3 $scheduler && manifest r$round-b 20 3840Mi 3 $scheduler &&
            manifest r$round-quick 50 16Mi 1 $scheduler; } >round.yaml && team create -f "$HERE/round.yaml" &&
        all_complete r$round-a r$round-b r$round-quick || break
        round=$((round + 1))
    done &&
    [ $round -gt $ROUNDS ] && [ "$(fluxq-queue -t finished --no-header -o st | sort | uniq -c | tr -d " ")" = "$((3 * ROUNDS))CD" ]
'

test_expect_success 'two large Jobs were never half-started together, and none was started twice' '
    judge $(seq 1 $ROUNDS) && for job in $(fluxq-queue -t all --no-header -o %i); do [ "$(job_field $job restarts)" = 0 ] || return 1; done
'

test_expect_success 'every pod was on a node of its job' '
    for name in r1-a r1-b r2-a r2-b r2-quick; do adopted $name && in_their_places -l job-name=$name || return 1; done
'

# Some Jobs may end before the broker can suspend them: their status says so, and they are not jobs.
plain_round()
{
    names="p$1-a p$1-b" && { PLAIN=1 manifest p$1-a 20 3840Mi 3 $2 && PLAIN=1 manifest p$1-b 20 3840Mi 3 $2; } >plain.yaml &&
        for i in $(seq 1 37); do PLAIN=1 manifest p$1-q$i 1 16Mi 1 $2 && names="$names p$1-q$i"; done >>plain.yaml &&
        team create -f "$HERE/plain.yaml" >created && [ "$(wc -l <created)" = 39 ] &&
        team wait --for=condition=complete --timeout=50s $(printf "job/%s " $names) >waited &&
        no_other_end() { [ -z "$(fluxq-queue -t pending,running --no-header -o %i)" ]; } && wait_until 60 no_other_end &&
        fluxq-queue -t all --json | jq -r '.jobs[] | "\(.name) \(.state) \(.restarts)"' >ends &&
        for name in $names; do
            grep -q "^team-a/$name COMPLETED 0" ends ||
                { team get job $name -o "jsonpath={.metadata.annotations.fluxq\.io/status}" | grep ENDED && ! grep "^team-a/$name " ends; } ||
                { echo "$name: $(grep "^team-a/$name " ends)" && return 1; }
        done
}

test_expect_success 'Jobs that are not suspended at their creation are suspended, queued and complete, with either scheduler' '
    for round in $(seq 1 ${PLAIN_ROUNDS:-2}); do
        scheduler=default-scheduler && [ $((round % 2)) = 0 ] || scheduler=fluxq
        plain_round $round $scheduler || { cat ends && return 1; }
    done
'

test_expect_success 'a group of plain pods is one job when all its pods exist' '
    pods grp 6 >grp.yaml && sed "/^  name: grp-6/,\$d" grp.yaml >most && head -n -4 most >part.yaml &&
    team create -f "$HERE/part.yaml" && [ "$(team get pods -l fluxq.io/group=grp -o name | wc -l)" = 5 ] &&
    pods single 1 | sed "/fluxq.io.group: single/s/, fluxq.io.group: single//" >single.yaml && team create -f "$HERE/single.yaml" &&
    all_complete single-1 && ! has_job grp &&
    short() { team get events.events.k8s.io -o jsonpath="{range .items[*]}{.reason} {.regarding.name} {.note}{\"\n\"}{end}" | grep "^Incomplete grp-[1-5] 5 of its 6 pods"; } &&
    wait_until 30 short && [ "$(short | wc -l)" = 1 ] &&
    sed -n "/^  name: grp-6/,\$p" grp.yaml | { printf "apiVersion: v1\nkind: Pod\nmetadata:\n" && cat; } >rest.yaml && team create -f "$HERE/rest.yaml" &&
    all_complete grp && [ "$(job_field $id ntasks)" = 6 ] && fluxq-show job $id | grep "Adopted: *Pods team-a/grp" &&
    in_their_places -l fluxq.io/group=grp
'

test_expect_success 'a pending group is gated, a cancelled group stays gated, and deleting its pods cancels its job' '
    fluxq-ctl queue stop sim && pods held 2 >held.yaml && team create -f "$HERE/held.yaml" && adopted held &&
    [ -z "$(team get pods -l fluxq.io/group=held -o "jsonpath={.items[*].spec.nodeName}")" ] && fluxq-cancel $id && wait_job_state $id CANCELLED &&
    [ "$(team get pods -l fluxq.io/group=held -o name | wc -l)" = 2 ] &&
    pods away 2 >away.yaml && team create -f "$HERE/away.yaml" && adopted away && team delete pod away-1 away-2 --wait=false &&
    wait_job_state $id CANCELLED 30 && fluxq-ctl queue start sim
'

test_expect_success 'after kill -9 of the broker a pending and a running group have one job each' '
    pods one 2 >one.yaml && sed -i "s/sim-duration: 2s/sim-duration: 15s/" one.yaml && team create -f "$HERE/one.yaml" && adopted one &&
    one=$id && wait_job_state $one RUNNING 30 && fluxq-ctl queue stop sim && pods two 2 >two.yaml && team create -f "$HERE/two.yaml" &&
    adopted two && two=$id && fluxq-queue -t all --no-header -o %i | sort >before && kill_broker && start_broker --kube --config "$HERE/kube.yaml" &&
    fluxq-ctl queue start sim && wait_job_state $one COMPLETED 60 && wait_job_state $two COMPLETED 60 &&
    fluxq-queue -t all --no-header -o %i | sort >after && test_cmp before after && [ "$(job_field $one restarts)" = 0 ]
'

test_expect_success 'a group of unlike pods is refused, and the event names the pod' '
    pods mixed 2 >mixed.yaml && sed -i "0,/cpu: 2/s//cpu: 3/" mixed.yaml && team create -f "$HERE/mixed.yaml" &&
    refused() { team get events.events.k8s.io -o jsonpath="{range .items[*]}{.reason} {.note}{\"\n\"}{end}" | grep "^Refused.*different amounts.*mixed-"; } &&
    wait_until 30 refused && ! has_job mixed
'

test_done
