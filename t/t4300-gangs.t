#!/bin/sh
# t4300-gangs.t: jobs that clog a cluster when their pods are placed one by one. Needs root; about 4
# minutes. Uses a cluster of its own, of 3 nodes with 60 CPUs and 11 GiB each.
#
# Two jobs of 20 ranks, each rank with 1 CPU and 1,267 MiB (together 75 % of the cluster's memory), and a
# quick job of 50 ranks are submitted together. If pods are placed in the order in which they come, a
# part of each large job waits for memory that the other large job has. A rank is a slot of the jobspec
# here: fluxq makes a pod for each node, with as many slots as fit there, so a large job has 3 pods, of
# 8, 8 and 4 ranks, and the quick job a single pod.

test_description='gangs: two large jobs and a quick one at once, 20 times over; and as elastic jobs

A job that never ends, two jobs that are half-started, or an object that is left over would fail
this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"
CLUSTER_ID=t4300
ROUNDS=20
ELASTIC_ROUNDS=2

# send NAME FILTER ARGUMENTS...: sends the jobspec of these arguments to the broker, changed by the jq
# filter; writes the id to the file NAME.id.
send()
{
    name=$1 filter=$2
    shift 2
    fluxq-submit --dry-run -J "$name" -o /dev/null -t 5 "$@" | jq "$filter" >"$name.json" &&
        curl -sf --unix-socket "$FLUXQ_RUN/fluxqd.sock" -d "@$name.json" http://fluxqd/v1/jobs | jq .id >"$name.id"
}

with_memory='.resources[0].with += [{type: "memory", count: 1267, unit: "MiB"}]'

# together NAME FILTER: submits both large jobs, with this filter, and the quick job; they may start at the
# same moment.
together()
{
    fluxq-ctl queue stop batch && send "$1-a" "$2" -n 20 -- sleep 0.2 && send "$1-b" "$2" -n 20 -- sleep 0.2 &&
        fluxq-submit -J "$1-quick" -o /dev/null -t 5 -N 1 -n 50 -- true >"$1-quick.id" && fluxq-ctl queue start batch
}

# Requests the result; the answer comes at the end of the job.
all_complete()
{
    for job; do
        curl -sf --max-time 120 --unix-socket "$FLUXQ_RUN/fluxqd.sock" "http://fluxqd/v1/jobs/$job/wait" >result.json &&
            jq -e '.state == "COMPLETED"' result.json >/dev/null || { echo "job $job: $(cat result.json)" && return 1; }
    done
}

# Records the changes of all jobs' pods: EVENT NAME NODE PHASE.
start_watch()
{
    "$KUBE/enter" kubectl -n fluxq get pods --watch --output-watch-events --no-headers \
        -o custom-columns=EVENT:.type,NAME:.object.metadata.name,NODE:.object.spec.nodeName,PHASE:.object.status.phase \
        >pods.log 2>pods.err 3>&- 4>&- 5>&- &
}

# Reads pods.log and, from the file sizes, "ID PODS" of the large jobs. Reports each job that was half-started
# (some of its pods run or exist, and others do not) while another job was, and each job with unexpected pods.
judge()
{
    awk -v ours="fluxq-$CLUSTER_ID-" '
        NR == FNR { want[$1] = $2; next }
        index ($2, ours) != 1 { next }
        {
            split (substr ($2, length (ours) + 1), part, "-")
            job = part[1]
            if (!(job in want)) next
            if (!($2 in phase)) made[job]++
            phase[$2] = $4
            if ($4 != "Pending" && !($2 in ran)) { ran[$2] = 1; started[job]++ }
            if ($1 == "DELETED") gone[job]++
            halves = ""; n = 0
            for (j in want)
                if (made[j] > 0 && started[j] < want[j] && gone[j] == 0) { halves = halves " " j; n++ }
            if (n > 1) { print "half-started at once:" halves; bad = 1 }
            if (made[job] > want[job]) { print "job " job ": a pod more than its " want[job]; bad = 1 }
        }
        END {
            for (j in want)
                if (started[j] != want[j]) { print "job " j ": " started[j] + 0 " of " want[j] " pods ran"; bad = 1 }
            exit bad
        }' sizes pods.log
}

# sizes_of IDS...: prints "ID PODS" of each job.
sizes_of()
{
    for job; do
        echo "$job $(job_field "$job" nodes)"
    done
}

own_cluster --nodes 3 --cpus 60 --mem 11

test_expect_success 'the broker knows its nodes' '
    write_config "$configs/fluxq.kubeconfig" && start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 sh -c "fluxq-info --json | jq -e \"[.nodes[] | select(.state == \\\"up\\\")] | length == 3\"" && start_watch
'

test_expect_success "two large jobs and a quick one, submitted together $ROUNDS times, all complete" '
    : >large && round=1 &&
    while [ $round -le $ROUNDS ]; do
        together r$round "$with_memory" && all_complete $(cat r$round-quick.id r$round-a.id r$round-b.id) &&
        cat r$round-a.id r$round-b.id >>large || break
        round=$((round + 1))
    done &&
    [ $round -gt $ROUNDS ] && [ "$(wc -l <large)" = $((2 * ROUNDS)) ] && wait_until 60 none_active &&
    [ "$(fluxq-queue -t finished --no-header -o st | sort | uniq -c | tr -d " ")" = "$((3 * ROUNDS))CD" ]
'

test_expect_success 'the two large jobs were never half-started together, and no job was started twice' '
    sizes_of $(cat large) >sizes && [ "$(wc -l <sizes)" = $((2 * ROUNDS)) ] &&
    wait_until 60 no_jobs_of_ours && wait_until 20 judge &&
    for job in $(cat large); do [ "$(job_field $job restarts) $(job_field $job ntasks)" = "0 20" ] || return 1; done
'

# Each of these jobs takes 4 to 20 ranks: the first leaves enough for the second.
elastic="$with_memory | .resources[0].count = {min: 4, max: 20, operator: \"+\", operand: 1}"

test_expect_success 'as elastic jobs both run at once, with the sizes that fit' '
    send e-a "$elastic" -n 20 -- sh -c "until [ -e /tmp/go ]; do sleep 0.2; done" &&
    send e-b "$elastic" -n 20 -- sh -c "until [ -e /tmp/go ]; do sleep 0.2; done" &&
    a=$(cat e-a.id) b=$(cat e-b.id) && wait_job_state $a RUNNING 120 && wait_job_state $b RUNNING 120 &&
    [ "$(job_state $a) $(job_state $b)" = "RUNNING RUNNING" ] &&
    [ "$(job_field $a ntasks) $(job_field $b ntasks)" = "20 4" ] &&
    fluxq-show job $a $b >show && grep -E "Asked: *4-20 tasks" show && grep -E "Granted: *3 nodes, 20 tasks" show &&
    grep -E "Size: *its largest size" show && grep -E "Size: *the largest size that fitted at .*; its largest needs" show &&
    for pod in $(k get pods -o name); do k exec $pod -- touch /tmp/go || return 1; done &&
    all_complete $a $b
'

test_expect_success "elastic jobs and the quick one, submitted together $ELASTIC_ROUNDS times, all complete, and both run at once" '
    round=1 &&
    while [ $round -le $ELASTIC_ROUNDS ]; do
        wait_until 60 none_active && together x$round "$elastic" && a=$(cat x$round-a.id) b=$(cat x$round-b.id) &&
        all_complete $a $b $(cat x$round-quick.id) &&
        fluxq-show job $a --json >a.json && fluxq-show job $b --json >b.json &&
        jq -e -s ".[0].alloc_time < .[1].end_time and .[1].alloc_time < .[0].end_time and
            (map(.ntasks) | sort) == [4, 20]" a.json b.json || break
        round=$((round + 1))
    done &&
    [ $round -gt $ELASTIC_ROUNDS ]
'

test_expect_success 'no object and no booked core of any job is left' '
    wait_until 60 no_jobs_of_ours && [ "$(fluxq-info --json | jq "[.nodes[].cores_used] | add")" = 0 ] &&
    stop_broker && wait_until 60 nothing_of_ours
'

test_done
