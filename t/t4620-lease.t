#!/bin/sh
# t4620-lease.t: several brokers for one cluster id, of which only one is active. Needs root.

test_description='kube.lease: a waiting broker takes over, and a broker that has lost the lease ends before it acts'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4620

own_cluster --nodes 2
write_config "${configs:-}/fluxq.kubeconfig" "  lease: true"

# broker NAME STATE: starts another broker, with its own log and socket, and does not wait for it.
broker()
{
    mkdir -p "$FLUXQ_RUN/$1" && : >"$1.log"
    "$KUBE/enter" fluxqd --kube --config "$HERE/kube.yaml" --runtime-dir "$FLUXQ_RUN/$1" --state-dir "$2" \
        </dev/null >>"$1.log" 2>&1 3>&- 4>&- 5>&- 6<&- &
    echo $! >"$1.pid"
}
pid_of() { cat "$1.pid"; }
has_ended() { lib_gone "$(pid_of "$1")"; }
listens() { grep -q "^fluxqd: listening" "$1.log"; }
log_has() { grep -q -e "$2" "$1.log"; }
at() { FLUXQ_BROKER=unix://$FLUXQ_RUN/$1/fluxqd.sock && export FLUXQ_BROKER; }
holder() { k get lease "fluxq-$CLUSTER_ID" -o 'jsonpath={.spec.holderIdentity}'; }
is_held_by() { holder | grep -q "_$(pid_of "$1")_"; }
goes_on() { fluxq-logs "$1" | grep "^[0-9]" >now; [ "$(wc -l <now)" -gt "$2" ] && counts_up now "$(wc -l <now)"; }
picked_up() { wait_until 60 goes_on "$id" $(($(wc -l <now) + 5)) && [ "$(count_events "$id" start)" = 1 ]; }
seconds() { echo $(($(date +%s) - $1)); }

end_all()
{
    status=$?
    for pid in *.pid; do
        ! [ -f "$pid" ] || { kill -CONT "$(cat "$pid")"; kill -KILL "$(cat "$pid")"; } 2>/dev/null
    done
    (exit $status)
    cluster_finish
}
trap end_all EXIT

test_expect_success 'the first broker has the lease and runs jobs' '
    broker one "$BROKER_STATE" && wait_until 60 listens one && is_held_by one && at one &&
    id=$(cd / && fluxq-submit -o /dev/null -- sh -c "n=0; while :; do echo \$n; n=\$((n + 1)); sleep 0.2; done") &&
    wait_job_state "$id" RUNNING 60 && wait_until 60 goes_on "$id" 3
'

test_expect_success 'the second broker waits, names the holder, and does not listen' '
    broker two "$BROKER_STATE" && wait_until 60 log_has two "waiting: the broker $(holder) has the lease fluxq-$CLUSTER_ID" &&
    wait_until 60 goes_on "$id" $(($(wc -l <now) + 10)) && ! listens two && is_held_by one && [ ! -S "$FLUXQ_RUN/two/fluxqd.sock" ]
'

test_expect_success 'after a kill of the first broker the second takes over, with the jobs' '
    kill -9 "$(pid_of one)" && began=$(date +%s) && wait_until 60 listens two && is_held_by two &&
    echo "# after $(seconds $began) s" && at two && picked_up
'

test_expect_success 'a broker that stops cleanly releases the lease' '
    broker three "$BROKER_STATE" && wait_until 60 log_has three waiting &&
    k get lease "fluxq-$CLUSTER_ID" -o json | jq -r .spec.leaseDurationSeconds >lasts && echo 10 >expected && test_cmp expected lasts &&
    fluxq-ctl shutdown && wait_until 30 has_ended two && wait_until 60 listens three && at three && picked_up
'

test_expect_success 'if a broker with the same state hangs, the next gets the lease and waits for the first to end' '
    broker four "$BROKER_STATE" && wait_until 60 log_has four waiting &&
    kill -STOP "$(pid_of three)" && wait_until 60 is_held_by four && wait_until 60 log_has four "another broker has the journal" &&
    ! listens four && kill -CONT "$(pid_of three)" && wait_until 60 has_ended three &&
    log_has three "the lease fluxq-$CLUSTER_ID could not be renewed" && wait_until 60 listens four && at four && picked_up
'

# The copy is the disk as another machine would see it. A request is waiting when the first broker
# continues.
test_expect_success 'a broker that continues after another has taken over does nothing' '
    rm -rf copy && kill -STOP "$(pid_of four)" && cp -a "$BROKER_STATE" copy &&
    broker five "$HERE/copy" && wait_until 60 listens five && at five && picked_up &&
    { FLUXQ_BROKER=unix://$FLUXQ_RUN/four/fluxqd.sock timeout 60 fluxq-cancel "$id" >cancel.log 2>&1 & canceller=$!; } &&
    wait_until 30 grep -q "$FLUXQ_RUN/four/fluxqd.sock" /proc/net/unix &&
    kill -CONT "$(pid_of four)" && wait_until 60 has_ended four && log_has four "another broker may act now" &&
    test_must_fail wait $canceller && picked_up && wait_job_state "$id" RUNNING 5 &&
    ! fluxq-show job "$id" --events | grep exception
'

test_expect_success 'a broker with another state is refused, and changes nothing' '
    broker six "$HERE/fresh" && wait_until 60 has_ended six && cat six.log && log_has six "belongs to a broker with another state" &&
    picked_up
'

test_expect_success 'without the right to leases the settings are refused with one line' '
    sed "s/fluxq.kubeconfig/nobody.kubeconfig/" kube.yaml >nobody.yaml && mkdir "$FLUXQ_RUN/seven" &&
    test_must_fail timeout 120 "$KUBE/enter" fluxqd --kube --config "$HERE/nobody.yaml" --runtime-dir "$FLUXQ_RUN/seven" --state-dir "$HERE/copy2" 2>error &&
    grep "kube.lease: fluxq-$CLUSTER_ID in namespace fluxq: .*forbidden" error
'

test_expect_success 'without the API server the broker cannot renew and ends, and the next starts when the server is back' '
    "$KUBE/daemon" stop apiserver && wait_until 60 has_ended five && log_has five "could not be renewed" &&
    broker eight "$HERE/copy" && "$KUBE/daemon" start apiserver && wait_until 120 listens eight && at eight && picked_up
'

test_expect_success 'the last broker stops, and no object and no holder is left' '
    fluxq-cancel "$id" && wait_job_state "$id" CANCELLED 60 && fluxq-ctl shutdown && wait_until 60 has_ended eight &&
    wait_until 60 nothing_of_ours && [ -z "$(holder)" ]
'
test_done
