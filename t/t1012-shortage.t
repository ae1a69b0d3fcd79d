#!/bin/sh
test_description='the broker lacks a resource for a while: starts wait, and no job fails for it

The disk of the jobs of a root broker is a small tmpfs of this script only (in a mount namespace
of its own): really full, really read-only. prlimit takes descriptors from the running broker.
'
# shellcheck disable=SC2093
if [ -z "${T1012_ALONE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "Bail out! mounting a tmpfs needs root"; exit 1; }
    T1012_ALONE=yes exec unshare --mount sh "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

jobs=$BROKER_STATE/jobs
mkdir -p "$BROKER_STATE" && mount -t tmpfs -o size=40m,mode=0711 none "$BROKER_STATE" &&
    mkdir "$jobs" && mount -t tmpfs -o size=12m,mode=0711 none "$jobs" || exit 1
trap 'status=$?; umount -l "$jobs" "$BROKER_STATE"; (exit $status); lib_finish' EXIT

marks=marks
release=release

# hold_and_wait: 60 jobs wait for one job that has all nodes.
hold_and_wait()
{
    rm -f "$marks" "$release" &&
        blocker=$(fluxq-submit -N 4 --exclusive -o /dev/null -- sh -c "until [ -e release ]; do sleep 0.05; done") &&
        wait_job_state "$blocker" RUNNING || return
    for _ in $(seq 60); do
        fluxq-submit -J mark -o /dev/null -- sh -c "echo \$FLUXQ_JOB_ID >>marks" || return
    done >ids
}

fill()
{
    dd if=/dev/zero of="$jobs/filler" bs=64k 2>/dev/null
    dd if=/dev/zero of="$jobs/filler2" bs=512 2>/dev/null
    return 0
}

paused()
{
    fluxq-ctl status --json | jq -e '.paused.starts != null' >/dev/null
}

none_waits()
{
    test "$(fluxq-queue -n mark --json | jq '.jobs | length')" = 0
}

# Each job of the file ids has completed and ran once; no start counts as failed, and no node
# is under suspicion.
all_well()
{
    for id in $(cat ids); do
        test "$(job_state "$id")" = COMPLETED || return
    done
    sort -n ids >expected && sort -n "$marks" >ran && test_cmp expected ran &&
        sqlite3 "$BROKER_STATE/journal.db" "select context from event where name = 'requeue'" >requeues &&
        test "$(jq -s 'map(select(.uncounted != true or .avoid != null or .begin > 0)) | length' requeues)" = 0 &&
        test "$(fluxq-ctl status --json | jq .nodes.up)" = 4
}

not()
{
    ! "$@"
}

start_broker --local 4
test_expect_success 'on a full disk 60 pending jobs stay pending, and no job fails' '
    hold_and_wait &&
    fill && touch "$release" && wait_until 30 paused &&
    test "$(fluxq-queue -a -n mark -t FAILED --json | jq ".jobs | length")" = 0
'
test_expect_success 'on a full disk the status and the reason of each job name the problem, and submits are refused with a code' '
    fluxq-ctl status >status && grep "Starts.*no space is left" status &&
    fluxq-queue -n mark -t pending --json | jq -r ".jobs[] | .reason + \" \" + .reason_text" >reasons &&
    grep "^BrokerPaused .*no space is left" reasons &&
    test "$(curl -s -o answer -w "%{http_code}" --unix-socket "$FLUXQ_RUN/fluxqd.sock" \
        --data-binary "$(fluxq-submit --dry-run -- true)" http://fluxqd/v1/jobs)" = 503 &&
    test "$(jq -r .code answer)" = paused
'
test_expect_success 'when the disk has space again the pause ends by itself, and each job runs once' '
    rm -f "$jobs/filler" "$jobs/filler2" &&
    wait_until 60 none_waits && all_well &&
    fluxq-ctl status --json | jq -e ".paused == null"
'
test_expect_success 'when the disk fills under running jobs their output waits for space, and they end with their own results' '
    rm -f go lines.* && printf "#!/bin/sh\nuntil [ -e go ]; do sleep 0.05; done\nseq 100000\nexit 3\n" >lines.sh && chmod +x lines.sh &&
    id=$(fluxq-submit -N 2 -n 2 -o lines.%t -- ./lines.sh) && other=$(fluxq-submit -o /dev/null -- ./lines.sh) &&
    wait_job_state $id RUNNING && wait_job_state $other RUNNING && fill && touch go &&
    wait_until 20 grep "job $id .*output waits: no space for spool" "$BROKER_LOG" &&
    wait_until 20 grep "job $other .*output waits: no space for spool" "$BROKER_LOG" &&
    fluxq-cancel $other && wait_job_state $other CANCELLED && test "$(job_state $id)" = RUNNING &&
    rm -f "$jobs/filler" "$jobs/filler2" && wait_job_state $id FAILED && test "$(job_field $id exit_code)" = 3 &&
    seq 100000 >expected && for t in 0 1; do
        test_cmp expected lines.$t && fluxq-logs --task $t $id >logged && test_cmp expected logged || return 1
    done
'
test_expect_success 'on a read-only file system pending jobs stay pending, and each runs once afterwards' '
    hold_and_wait &&
    mount --bind "$jobs" "$jobs" && mount -o remount,bind,ro "$jobs" &&
    touch "$release" && wait_until 30 paused &&
    fluxq-ctl status >status && grep "Starts.*read-only" status &&
    umount "$jobs" && wait_until 60 none_waits && all_well
'
test_expect_success 'without free descriptors pending jobs stay pending, but submits are accepted, as the journal works' '
    hold_and_wait && new=$(fluxq-submit -d afterok:$(tail -n 1 ids) -- true) &&
    before=$(grep -c "no file descriptors left" "$BROKER_LOG"; :) &&
    used=$(ls /proc/$BROKER_PID/fd | wc -l) &&
    prlimit --pid $BROKER_PID --nofile=$used: &&
    touch "$release" &&
    more() { test "$(grep -c "no file descriptors left" "$BROKER_LOG")" -gt $before; } &&
    wait_until 30 more &&
    prlimit --pid $BROKER_PID --nofile=$(prlimit --pid $BROKER_PID --nofile -o HARD --noheadings | tr -d " "): &&
    wait_until 60 none_waits && all_well && wait_job_state $new COMPLETED
'
submits_refused()
{
    fluxq-ctl status --json | jq -e '.paused.submits != null' >/dev/null
}

test_expect_success 'with little space for the journal submits are refused, and accepted jobs run' '
    hold_and_wait &&
    free=$(df --output=avail -k "$BROKER_STATE" | tail -n 1) &&
    dd if=/dev/zero of="$BROKER_STATE/filler" bs=1k count=$((free - 1500)) 2>/dev/null &&
    wait_until 30 submits_refused &&
    test "$(curl -s -o answer -w "%{http_code}" --unix-socket "$FLUXQ_RUN/fluxqd.sock" \
        --data-binary "$(fluxq-submit --dry-run -- true)" http://fluxqd/v1/jobs)" = 503 &&
    test "$(jq -r .code answer)" = paused && jq -r .detail answer | grep disk-reserve &&
    touch "$release" && wait_until 60 none_waits && all_well &&
    rm "$BROKER_STATE/filler" && wait_until 30 not submits_refused &&
    fluxq-submit -- true
'
test_expect_success 'when the journal is removed submits are refused, as nobody would find the jobs in the removed file' '
    mv "$BROKER_STATE/journal.db" "$BROKER_STATE/elsewhere" &&
    test "$(curl -s -o answer -w "%{http_code}" --unix-socket "$FLUXQ_RUN/fluxqd.sock" \
        --data-binary "$(fluxq-submit --dry-run -- true)" http://fluxqd/v1/jobs)" = 503 &&
    jq -r .detail answer | grep "removed or replaced" && wait_until 30 paused &&
    mv "$BROKER_STATE/elsewhere" "$BROKER_STATE/journal.db" &&
    wait_until 30 not paused && wait_until 30 fluxq-submit -- true
'
test_expect_success 'when another directory replaces the state directory submits are refused' '
    mount -t tmpfs -o mode=0711 none "$BROKER_STATE" &&
    wait_until 30 paused && fluxq-ctl status >status && grep "removed or replaced" status &&
    test_must_fail fluxq-submit --hold -- true &&
    umount "$BROKER_STATE" &&
    wait_until 30 not paused && id=$(fluxq-submit -- true) && wait_job_state $id COMPLETED
'
test_expect_success 'when the socket is removed the broker creates the socket again' '
    rm -f "$FLUXQ_RUN/fluxqd.sock" &&
    wait_until 30 test -S "$FLUXQ_RUN/fluxqd.sock" &&
    wait_until 10 fluxq-queue
'
test_done
