#!/bin/sh
test_description='the disk of the journal is full: submits are refused, and accepted jobs are not lost

The state directory is a small tmpfs of this script only (in a mount namespace of its own).
'
# shellcheck disable=SC2093
if [ -z "${T1010_ALONE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "Bail out! mounting a tmpfs needs root"; exit 1; }
    T1010_ALONE=yes exec unshare --mount sh "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

disk=$FLUXQ_RUN/disk
BROKER_STATE=$disk/state
mkdir "$disk" && mount -t tmpfs -o size=6m none "$disk" || exit 1
trap 'status=$?; umount -l "$disk"; (exit $status); lib_finish' EXIT

fill()
{
    dd if=/dev/zero of="$disk/filler" bs=64k 2>/dev/null
    dd if=/dev/zero of="$disk/filler2" bs=512 2>/dev/null
    return 0
}

make_room()
{
    rm -f "$disk/filler" "$disk/filler2"
}

trouble()
{
    fluxq-ctl status --json | jq -r '.journal.trouble'
}

has_trouble()
{
    [ "$(trouble)" != null ]
}

# After a failed write the journal truncates its file, which may leave some space:
# this is filled, too.
status_shows_full()
{
    dd if=/dev/zero of="$disk/filler2" bs=512 oflag=append conv=notrunc 2>/dev/null
    fluxq-ctl status >status && grep -i "full\|space" status
}

no_trouble()
{
    ! has_trouble
}

# submit_held: submits over the API, as fluxq-submit would retry for a while. Prints the status of the
# answer.
submit_held()
{
    curl -s -o answer -w '%{http_code}\n' --unix-socket "$FLUXQ_RUN/fluxqd.sock" \
        --data-binary @held.json 'http://fluxqd/v1/jobs?urgency=0'
}

# The space that is left in the log's file is enough for some commits.
submit_until_refused()
{
    for _ in $(seq 500); do
        case $(submit_held) in
        201) jq .id answer >>accepted ;;
        503) return 0 ;;
        *) return 1 ;;
        esac
    done
    return 1
}

fluxq-submit --dry-run -J kept -- true >held.json

write_script job.sh <<\END
#!/bin/sh
until [ -e go ]; do sleep 0.05; done
echo done
exit 3
END

# With a reserve the broker would refuse submits before the log of the journal is full.
echo "disk-reserve: 0" >"$FLUXQ_RUN/reserve.yaml"
begin()
{
    start_broker --local 4 --config "$FLUXQ_RUN/reserve.yaml"
}

begin
test_expect_success 'on a full disk submits are refused, and the message says why' '
    before=$(fluxq-submit --hold -J kept -- true) && echo $before >accepted &&
    runs=$(fluxq-submit -o out.txt ./job.sh) &&
    wait_job_state $runs RUNNING &&
    fill &&
    submit_until_refused &&
    test_must_fail fluxq-submit --hold -J kept -- true 2>refusal &&
    tail -n 1 refusal | grep -i "full\|space"
'
test_expect_success 'on a full disk the API answers 503 with the code journal or paused' '
    submit_held >status && echo 503 >expected && test_cmp expected status &&
    jq -r .code answer | grep -x "journal\|paused"
'
test_expect_success 'the end of a job is held back on a full disk, and fluxq-ctl status reports the problem' '
    touch go &&
    wait_until 20 status_shows_full &&
    wait_until 10 grep -q done out.txt
'
test_expect_success 'listing, waiting and cancelling work on a full disk' '
    fluxq-queue -a >list && grep kept list &&
    fluxq-show job $runs >/dev/null &&
    { timeout 30 fluxq-cancel $before >cancelled 2>&1 & canceller=$!; } &&
    fluxq-info >/dev/null
'
test_expect_success 'when the disk has space again all goes on, and the end of the job is known' '
    make_room &&
    wait_job_state $runs FAILED &&
    test "$(job_field $runs exit_code)" = 3 &&
    wait_until 20 no_trouble &&
    wait $canceller &&
    wait_job_state $before CANCELLED &&
    new=$(fluxq-submit -- true) && wait_job_state $new COMPLETED
'
test_expect_success 'after a restart the accepted jobs are there and the refused jobs are not' '
    restart_broker &&
    fluxq-queue -a -n kept --json | jq ".jobs[].id" | sort -n >there &&
    sort -n accepted >expected && test_cmp expected there &&
    test "$(job_state $runs)" = FAILED
'
test_expect_success 'kill -9 on a full disk and a start with space lose nothing, and each job ends once' '
    rm -f go out.txt &&
    runs=$(fluxq-submit -o out.txt ./job.sh) &&
    wait_job_state $runs RUNNING &&
    fill && submit_until_refused &&
    touch go && wait_until 60 has_trouble &&
    kill_broker &&
    make_room &&
    begin &&
    wait_job_state $runs FAILED && test "$(job_field $runs exit_code)" = 3 &&
    test "$(cat out.txt)" = done &&
    fluxq-queue -a -n kept --json | jq ".jobs[].id" | sort -n >there &&
    sort -n accepted >expected && test_cmp expected there
'
test_expect_success 'a start on a full disk either reports the full disk or serves requests' '
    stop_broker &&
    fill &&
    { begin 2>why && fluxq-queue >/dev/null && kill_broker || grep -i "full\|space" why; } &&
    make_room &&
    begin &&
    new=$(fluxq-submit -- true) && wait_job_state $new COMPLETED
'
test_expect_success 'a first start on a full disk fails with a clear error' '
    fill &&
    test_must_fail fluxqd --local 1 --state-dir "$disk/new" --runtime-dir "$FLUXQ_RUN/new" 2>why &&
    grep -i "full\|space" why &&
    make_room
'
test_expect_success 'the journal passes the integrity check' '
    fluxq-cancel -t PENDING -n kept &&
    stop_broker &&
    test "$(sqlite3 "$BROKER_STATE/journal.db" "pragma integrity_check")" = ok
'
test_done
