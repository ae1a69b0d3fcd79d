#!/bin/sh
test_description='the journal under faults: answers hold after a crash, and damage is reported

The state directory is a file system of this script only: ext4 on a loop device, in a sparse file on a tmpfs.
When the tmpfs is full, writes go to the page cache and fdatasync really fails. A block whose first write failed is then
written again from the page cache, with success, and is empty after the next mount (unwritten extents): a new mount shows this.

The disk must fail as real disks do, also when the kernel drops cached pages at any moment:
- The blocks of the file system itself have their place in the file, so a full tmpfs loses none of them.
- A request has one block. The loop driver of some kernels reports success for a write that is cut short.
'
# shellcheck disable=SC2093
if [ -z "${T1015_ALONE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "Bail out! mounting needs root"; exit 1; }
    T1015_ALONE=yes exec unshare --mount sh "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

under=$FLUXQ_RUN/under
disk=$FLUXQ_RUN/disk
BROKER_STATE=$disk/state
mkdir "$under" "$disk" && mount -t tmpfs -o size=48m none "$under" || exit 1
make_disk()
{
    truncate -s 64M "$under/image" &&
        /sbin/mke2fs -q -t ext4 -b 4096 -N 1024 -O ^has_journal,^resize_inode -E nodiscard,lazy_itable_init=0 "$under/image" &&
        dd if="$under/image" of="$under/image" bs=4k count=73 conv=notrunc status=none &&
        attach_disk
}

attach_disk()
{
    device=$(losetup --find --show "$under/image") &&
        echo 4 >"/sys/block/${device#/dev/}/queue/max_sectors_kb" &&
        mount "$device" "$disk" &&
        losetup --detach "$device" # the end of the mount removes it
}
make_disk || exit 1
trap 'status=$?; rm -f "$under"/filler*; umount -l "$disk"; umount -l "$under"; (exit $status); lib_finish' EXIT

break_disk()
{
    dd if=/dev/zero of="$under/filler" bs=4k 2>/dev/null
    return 0
}

mend_disk()
{
    rm -f "$under/filler"
}

# submit KEY: submits over the API once, as fluxq-submit would retry by itself. Prints
# "STATUS CODE-OR-ID".
submit()
{
    status=$(curl -s -o answer -w '%{http_code}' --unix-socket "$FLUXQ_RUN/fluxqd.sock" -H "Idempotency-Key: $1" \
        --data-binary @held.json 'http://fluxqd/v1/jobs?urgency=0') &&
        echo "$status $(jq -r '.code // .id' answer)"
}

# submit_all LETTER: ten submits; answers.LETTER has one line "KEY STATUS CODE-OR-ID" for each.
submit_all()
{
    for i in 0 1 2 3 4 5 6 7 8 9; do
        echo "$1$i $(submit $1$i)" || return
    done >answers.$1
}

# The file still has some space of its own.
submit_until_refused()
{
    for i in $(seq 500); do
        case $(submit "probe$i") in
        201* | "503 journal") ;; # a smaller one may still fit
        503*) return 0 ;;
        *) return 1 ;;
        esac
    done
    return 1
}

jobs_there()
{
    fluxq-queue -a --json | jq '.jobs | length'
}

fluxq-submit --dry-run -J kept -- sh -c true "$(head -c 3000 /dev/zero | tr '\0' x)" >held.json

start_broker
test_expect_success 'when fdatasync fails submits are refused, or their result is reported as unknown' '
    submit first >answer.first && grep "^201 1$" answer.first &&
    break_disk &&
    submit_all a && cat answers.a &&
    grep -c "503 journal\|503 commit-unknown" answers.a
'
test_expect_success 'after a failed fdatasync and kill -9 a refused submit has no job' '
    kill_broker && mend_disk && start_broker &&
    accepted=$(grep -c " 20[01] " answers.a) ; unknown=$(grep -c commit-unknown answers.a) ;
    there=$(jobs_there) && echo "accepted $accepted unknown $unknown there $there" && fluxq-queue -a &&
    test $there -ge $((1 + accepted)) && test $there -le $((1 + accepted + unknown))
'
test_expect_success 'a client that submits again with its key learns the result, and each key has one job' '
    cp answers.a before && submit_all a && cat answers.a &&
    ! grep -v " 20[01] " answers.a &&
    cut -d" " -f3 answers.a | sort -u >ids && test $(wc -l <ids) = 10 &&
    grep " 201 " before | sed "s/ 201 / 200 /" >expected &&
    grep -F -f expected answers.a >same || :; test_cmp expected same &&
    test "$(jobs_there)" = 11
'
test_expect_success 'what a restarted broker has is on the disk, not only in the kernel'\''s memory' '
    kill_broker && umount "$disk" && attach_disk && start_broker && test "$(jobs_there)" = 11
'
test_expect_success 'when the disk recovers while the broker runs a second submit with each key gives one job, without a crash' '
    break_disk && submit_all b && cat answers.b && mend_disk &&
    fluxq-submit --hold -J kept -- true &&
    submit_all b && ! grep -v " 20[01] " answers.b &&
    test "$(jobs_there)" = 22 &&
    kill_broker && umount "$disk" && attach_disk && start_broker && test "$(jobs_there)" = 22 &&
    submit_all b && ! grep -v " 200 " answers.b
'
test_expect_success 'fluxq-submit retries by itself until the disk recovers, and creates one job' '
    break_disk && submit_until_refused &&
    { fluxq-submit --hold -J patient -- sh -c true "$(head -c 100000 /dev/zero | tr "\0" x)" >patient 2>patient.err & submitter=$!; } &&
    wait_until 20 grep -q waiting patient.err &&
    mend_disk && wait $submitter &&
    kill_broker && umount "$disk" && attach_disk && start_broker &&
    fluxq-queue -a -n patient --json | jq ".jobs[].id" >there && test_cmp patient there
'
test_expect_success 'after a jump of the clock by ten years the key of a submit still gives the first id' '
    submit clock >first && restart_broker &&
    stop_broker && FLUXQ_CLOCK_OFFSET=315360000 && export FLUXQ_CLOCK_OFFSET && start_broker &&
    submit clock >second &&
    stop_broker && unset FLUXQ_CLOCK_OFFSET && start_broker && submit clock >third &&
    sed "s/201/200/" first >expected && test_cmp expected second && test_cmp expected third
'

# -- damage --

# Lost writes have damaged the file system, so the test makes a new one.
test_expect_success 'the broker starts on a new disk' '
    stop_broker && umount "$disk" && make_disk && start_broker
'

# flip FILE OFFSET: flips one bit, as a bad disk or memory would.
flip()
{
    byte=$(od -An -tu1 -j "$2" -N 1 "$1") &&
        printf "\\$(printf %03o $((byte ^ 4)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

journal=$BROKER_STATE/journal.db

# Restores the kept state for the next kind of damage.
keep_state()
{
    rm -rf kept-state && mkdir kept-state && cp "$journal" "$journal-wal" "$journal-head" kept-state/
}

back_to_kept()
{
    rm -f "$journal"* && cp kept-state/* "$BROKER_STATE/"
}

# refused: the broker does not start, reports the damaged journal, and does not change the journal.
refused()
{
    cp "$journal-wal" wal-before && cp "$journal" db-before &&
        test_must_fail fluxqd --local 1 --state-dir "$BROKER_STATE" --runtime-dir "$FLUXQ_RUN/x" >why 2>&1 &&
        grep "damaged" why && grep "journal repair" why &&
        cmp wal-before "$journal-wal" && cmp db-before "$journal"
}

test_expect_success 'with a flipped bit at any of 24 places of the log the broker refuses to start and changes nothing' '
    for i in 1 2 3 4 5 6; do submit wal$i >line && grep "^201 " line || return 1; done &&
    fluxq-queue -a --json | jq ".jobs[].id" | sort -n >all &&
    kill_broker && keep_state &&
    size=$(stat -c %s "$journal-wal") &&
    for i in $(seq 0 22); do
        back_to_kept && flip "$journal-wal" $((36 + i * (size - 100) / 23)) && refused || { echo "place $i of $size"; return 1; }
    done &&
    back_to_kept && flip "$journal-wal" 17 && refused
'
test_expect_success 'with a log that lacks its end, cut at any frame, the broker refuses to start and changes nothing' '
    back_to_kept && frames=$((($(stat -c %s "$journal-wal") - 32) / 4120)) &&
    for n in 2 $((frames / 3)) $((frames / 2)) $((frames - 1)); do
        back_to_kept && truncate -s $((32 + 4120 * n)) "$journal-wal" && refused || { echo "frame $n of $frames"; return 1; }
    done &&
    test_must_fail fluxq-ctl journal check --state "$BROKER_STATE" >said && cat said && grep "^jobs .* are lost$\|^events .* are lost$" said
'
test_expect_success 'journal check lists the losses, and repair loses no more, lists the losses, and keeps the damaged files' '
    back_to_kept &&
    flip "$journal-wal" $(($(grep -abo "kept" "$journal-wal" | tail -n 1 | cut -d: -f1) + 1)) &&
    test_must_fail fluxq-ctl journal check --state "$BROKER_STATE" >said 2>why && cat said why && grep "frame .* is damaged" said &&
    fluxq-ctl journal repair --state "$BROKER_STATE" >said && cat said && grep "is repaired" said &&
    sed -n "s/^job \([0-9]*\): .*lost$/\1/p" said | sort -u >lost && test $(wc -l <lost) = 1 &&
    ls "$BROKER_STATE" | grep "journal.db.damaged-.*-wal" &&
    fluxq-ctl journal check --state "$BROKER_STATE" &&
    start_broker && fluxq-queue -a --json | jq ".jobs[].id" | sort -n >there &&
    grep -vxF -f lost all >expected && grep -vxF -f lost there >others && test_cmp expected others &&
    submit after >line && grep "^201 " line
'
test_expect_success 'the ids of lost jobs are not given again' '
    stop_broker && back_to_kept && size=$(stat -c %s "$journal-wal") &&
    yes damage | dd of="$journal-wal" bs=1 seek=$((size / 2)) count=$((size / 2)) conv=notrunc 2>/dev/null &&
    fluxq-ctl journal repair --state "$BROKER_STATE" >said && cat said && grep "^jobs .* are lost$" said &&
    start_broker && restart_broker && submit next >line && cat line && grep "^201 " line &&
    test $(cut -d" " -f2 line) -gt $(tail -n 1 all)
'
test_expect_success 'the end of a log that a crash cut short is not damage' '
    kill_broker && back_to_kept &&
    head -c 4000 "$journal-wal" | tail -c 3000 >torn && cat torn >>"$journal-wal" &&
    fluxq-ctl journal check --state "$BROKER_STATE" &&
    start_broker && submit wal6 >line && grep "^200 " line
'
test_expect_success 'with flipped bits in the database the broker refuses to start or reads unchanged data' '
    stop_broker &&
    offset=$(grep -abo "kept" "$journal" | tail -n 1 | cut -d: -f1) &&
    flip "$journal" $((offset + 1)) &&
    test_must_fail fluxqd --local 1 --state-dir "$BROKER_STATE" --runtime-dir "$FLUXQ_RUN/x" >why 2>&1 &&
    cat why && grep "damaged.* of job" why &&
    test_must_fail fluxq-ctl journal check --state "$BROKER_STATE" >said 2>why && cat said && grep "^job .* lost$" said &&
    fluxq-ctl journal repair --state "$BROKER_STATE" && start_broker && stop_broker
'
test_expect_success 'journal check refuses a journal that a broker uses' '
    start_broker && test_must_fail fluxq-ctl journal check --state "$BROKER_STATE" 2>why && grep "in use" why
'

# -- an older journal --

test_expect_success 'after the restore of an older journal no id is given twice, and the log reports the older journal' '
    stop_broker && cp "$journal" older.db && start_broker &&
    newest=$(for i in 1 2 3 4 5; do fluxq-submit -o /dev/null -- sh -c "exit 3" || exit; done | tail -n 1) &&
    wait_job_state $newest FAILED && stop_broker &&
    rm -f "$journal" "$journal-wal" "$journal-shm" && cp older.db "$journal" && start_broker &&
    grep "an older one was restored" "$BROKER_LOG" &&
    id=$(fluxq-submit -o /dev/null -- true) && test $id -gt $newest &&
    wait_job_state $id COMPLETED &&
    restart_broker && test "$(fluxq-submit --hold -- true)" = $((id + 1))
'
test_expect_success 'after the restore of an older journal and one more restart no id is given twice' '
    stop_broker && rm -f "$journal" "$journal-wal" "$journal-shm" && cp older.db "$journal" && start_broker && restart_broker &&
    newest=$(fluxq-submit --hold -- true) && test $newest -gt $((id + 1))
'
test_expect_success 'after the removal of the journal no id is given twice' '
    kill_broker && rm -f "$journal" "$journal-wal" "$journal-shm" && start_broker &&
    id=$(fluxq-submit -o moved.txt -- true) && test $id -gt $newest && wait_job_state $id COMPLETED
'
test_expect_success 'after the removal of the journal and all its other files no id is given twice, by the numbers of job directories' '
    kill_broker && rm -f "$journal"* && start_broker && rm moved.txt &&
    next=$(fluxq-submit -o moved.txt -- sh -c "echo new; exit 3") && test $next -gt $id &&
    wait_job_state $next FAILED && test "$(cat moved.txt)" = new
'
test_expect_success 'journal check detects a row that was removed from the database' '
    stop_broker && sqlite3 "$journal" "DELETE FROM event WHERE seq = (SELECT max(seq) - 3 FROM event)" &&
    test_must_fail fluxq-ctl journal check --state "$BROKER_STATE" >said && grep "rows are missing" said
'
test_done
