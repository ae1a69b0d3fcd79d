#!/bin/sh
# t4220-kube-chaos.t: kills broker, controller manager, kubelets and nodes while jobs run. Needs root; about 2
# minutes. SEED=N gives another order of the kills.

test_description='forty jobs on a cluster in which everything is killed once or twice

A job that is lost or failed because of the kills, incomplete output, a rank that runs twice at the same time,
or an object that is left would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4220
JOBS=40
LINES=30
SEED=${SEED:-4220}

# shuffled WORDS...: prints the words in the order of this seed.
shuffled()
{
    echo "$@" | tr ' ' '\n' | awk -v seed="$SEED" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -n | cut -f 2
}

ended() # N: N jobs have ended
{
    [ "$(fluxq-queue --all --no-header -o %T | grep -c -e COMPLETED -e FAIL -e TIMEOUT -e CANCELLED -e MEMORY)" -ge "$1" ]
}

# The node of a killed kubelet starts it again; a kubelet without its node stays away.
strike()
{
    case $1 in
    broker) kill_broker && start_kube ;;
    controllers) "$KUBE/daemon" stop controller-manager && k get pods -A >/dev/null && "$KUBE/daemon" start controller-manager ;;
    kubelet*) "$KUBE/node" exec "${1#kubelet}" sh -c "kill -9 \$(pidof kubelet)" ;;
    lose*) "$KUBE/node" stop "${1#lose}" ;;
    esac
}

start_kube()
{
    start_broker --kube --config "$HERE/kube.yaml"
}

is_whole() # FILE
{
    counts_up "$1" $LINES || { echo "$1:" && cat "$1"; return 1; } >&2
}

own_cluster --nodes 3

# Each change of a job's pod according to the API, on one line: "TYPE PHASE JOB RANK NAME".
test_expect_success 'the broker runs, and the test watches all pods' '
    write_config "$configs/fluxq.kubeconfig" "start-retries: 50" "start-backoff: 1s" "start-backoff-max: 2s" \
        "  sweep-interval: 10s" && start_kube &&
    { "$KUBE/enter" kubectl -n fluxq get pods -w --output-watch-events -o json | jq --unbuffered -r "[.type, .object.status.phase,
        .object.metadata.labels[\"fluxq.io/job-id\"], .object.metadata.labels[\"batch.kubernetes.io/job-completion-index\"],
        .object.metadata.name] | @tsv" >pods.log & } &&
    wait_until 30 eval "fluxq-info --json | jq -e \"[.nodes[] | select(.state == \\\"up\\\")] | length == 3\""
'

test_expect_success "$JOBS jobs run while everything is killed (seed $SEED)" '
    ids= && for i in $(seq $JOBS); do
        ids="$ids $(fluxq-submit --requeue -N $((i % 2 + 1)) -n $((i % 2 + 1)) -o "out-%j-%t" -- \
            sh -c "i=0; while [ \$i -lt $LINES ]; do echo \$i; i=\$((i+1)); sleep 0.1; done")" || return 1
    done &&
    done=2 && for what in $(shuffled broker broker broker controllers controllers kubelet1 kubelet3 lose2); do
        wait_until 90 ended $done && echo "after $done jobs: $what" && strike "$what" && done=$((done + 3)) || return 1
    done
'

test_expect_success 'no job is lost: all have completed, and each output is complete' '
    { timeout 120 "$KUBE/node" start 2 & starter=$!; } && wait_until 150 ended $JOBS && wait $starter &&
    fluxq-queue --all --no-header -o %T >states && [ "$(grep -cx "COMPLETED *" states)" = $JOBS ] &&
    for id in $ids; do
        for file in out-$id-*; do is_whole "$file" || return 1; done
        [ "$(ls out-$id-* | wc -l)" = $(($(fluxq-show job $id --json | jq .ntasks))) ] || return 1
    done
'

test_expect_success 'no object is left, and all nodes are free' '
    wait_until 90 no_jobs_of_ours && [ "$(fluxq-info --json | jq "[.nodes[].cores_used] | add")" = 0 ] &&
    stop_broker && wait_until 60 nothing_of_ours
'

test_expect_success 'no rank of a job ran twice at the same time' '
    awk "
        { key = \$3 \" \" \$4 }
        \$1 != \"DELETED\" && \$2 == \"Running\" {
            if (runs[key] != \"\" && runs[key] != \$5) { print \"rank \" key \": \" runs[key] \" and \" \$5; bad = 1 }
            runs[key] = \$5; seen[\$5] = 1
        }
        \$1 == \"DELETED\" || \$2 == \"Succeeded\" || \$2 == \"Failed\" { if (runs[key] == \$5) runs[key] = \"\" }
        END { for (name in seen) n++; print n \" pods ran\"; exit bad || n < $JOBS }
    " pods.log
'

test_done
