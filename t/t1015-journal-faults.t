#!/bin/sh
test_description='the journal under faults: what was answered is true after a crash, and damage is not silent

The state directory is a file system of this script alone: ext2 on a loop device, in a sparse file on a tmpfs.
With the tmpfs full, writes go to the page cache and fdatasync fails for real.
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
truncate -s 256M "$under/image" && /sbin/mke2fs -q -t ext2 "$under/image" && mount -o loop "$under/image" "$disk" || exit 1
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

# submit KEY: over the API, once, as fluxq-submit tries again by itself. "STATUS CODE-OR-ID".
submit()
{
    status=$(curl -s -o answer -w '%{http_code}' --unix-socket "$FLUXQ_RUN/fluxqd.sock" -H "Idempotency-Key: $1" \
        --data-binary @held.json 'http://fluxqd/v1/jobs?urgency=0') &&
        echo "$status $(jq -r '.code // .id' answer)"
}

# submit_all LETTER: ten submits; answers.LETTER has a line "KEY STATUS CODE-OR-ID" each.
submit_all()
{
    for i in 0 1 2 3 4 5 6 7 8 9; do
        echo "$1$i $(submit $1$i)" || return
    done >answers.$1
}

jobs_there()
{
    fluxq-queue -a --json | jq '.jobs | length'
}

fluxq-submit --dry-run -J kept -- sh -c true "$(head -c 3000 /dev/zero | tr '\0' x)" >held.json

start_broker
test_expect_success 'fdatasync fails: submits are refused, or their fate is said to be unknown' '
    submit first >answer.first && grep "^201 1$" answer.first &&
    break_disk &&
    submit_all a && cat answers.a &&
    grep -c "503 journal\|503 commit-unknown" answers.a
'
test_expect_success 'kill -9 then: a submit that was refused is not there' '
    kill_broker && mend_disk && start_broker &&
    accepted=$(grep -c " 20[01] " answers.a) ; unknown=$(grep -c commit-unknown answers.a) ;
    there=$(jobs_there) && echo "accepted $accepted unknown $unknown there $there" && fluxq-queue -a &&
    test $there -ge $((1 + accepted)) && test $there -le $((1 + accepted + unknown))
'
test_expect_success '... and whoever asks again with the key learns the truth: one job a key' '
    cp answers.a before && submit_all a && cat answers.a &&
    ! grep -v " 20[01] " answers.a &&
    cut -d" " -f3 answers.a | sort -u >ids && test $(wc -l <ids) = 10 &&
    grep " 201 " before | sed "s/ 201 / 200 /" >expected &&
    grep -F -f expected answers.a >same || :; test_cmp expected same &&
    test "$(jobs_there)" = 11
'
test_expect_success 'the disk is mended while the broker runs: the same, without a crash' '
    break_disk && submit_all b && cat answers.b && mend_disk &&
    fluxq-submit --hold -J kept -- true &&
    submit_all b && ! grep -v " 20[01] " answers.b &&
    test "$(jobs_there)" = 22 &&
    kill_broker && start_broker && test "$(jobs_there)" = 22 &&
    submit_all b && ! grep -v " 200 " answers.b
'
test_expect_success 'fluxq-submit asks again by itself until the disk is mended: one job' '
    break_disk &&
    { fluxq-submit --hold -J patient -- sh -c true "$(head -c 100000 /dev/zero | tr "\0" x)" >patient 2>patient.err & submitter=$!; } &&
    wait_until 20 grep -q waiting patient.err &&
    mend_disk && wait $submitter &&
    kill_broker && start_broker &&
    fluxq-queue -a -n patient --json | jq ".jobs[].id" >there && test_cmp patient there
'
test_expect_success 'the clock of the machine jumps ten years: the key of a submit still gives the first id' '
    submit clock >first && restart_broker &&
    stop_broker && FLUXQ_CLOCK_OFFSET=315360000 && export FLUXQ_CLOCK_OFFSET && start_broker &&
    submit clock >second &&
    stop_broker && unset FLUXQ_CLOCK_OFFSET && start_broker && submit clock >third &&
    sed "s/201/200/" first >expected && test_cmp expected second && test_cmp expected third
'
test_done
