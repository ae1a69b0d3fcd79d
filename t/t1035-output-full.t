#!/bin/sh
test_description='the disk of a job'"'"'s output is full for a while: the job waits for space, or does as its option says

The output files are on a small tmpfs of this script only (in a mount namespace of its own).
'
# shellcheck disable=SC2093
if [ -z "${T1035_ALONE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "Bail out! mounting a tmpfs needs root"; exit 1; }
    T1035_ALONE=yes exec unshare --mount sh "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

disk=$FLUXQ_RUN/disk
mkdir "$disk" && mount -t tmpfs -o size=4m none "$disk" || exit 1
trap 'status=$?; umount -l "$disk"; (exit $status); lib_finish' EXIT

fill()
{
    rm -f "$disk"/*.out written
    dd if=/dev/zero of="$disk/filler" bs=64k 2>/dev/null
    dd if=/dev/zero of="$disk/filler" bs=4k oflag=append conv=notrunc 2>/dev/null
    return 0
}

make_room()
{
    rm -f "$disk/filler"
}

# When the program has ended, its output is in the pipe of its agent.
write_script short.sh <<\END
#!/bin/sh
echo one; echo two; echo three
touch written
END

echo "grace: 1s" >grace.yaml
start_broker --local 2 --config grace.yaml
test_expect_success 'a program that ends with 0 before its output has space keeps the 0, and no output is lost' '
    fill && id=$(fluxq-submit -o "$disk/short.out" ./short.sh) &&
    wait_until 20 test -e written && wait_until 20 test -e "$disk/short.out" && test ! -s "$disk/short.out" &&
    wait_job_state $id RUNNING && make_room && wait_job_state $id COMPLETED &&
    printf "%s\n" one two three >expected && test_cmp expected "$disk/short.out" &&
    test_must_fail sh -c "fluxq-show job $id --json | grep lost"
'
test_expect_success 'a program that writes more than a pipe holds waits for space, and goes on' '
    fill && id=$(fluxq-submit -N 2 -n 2 -o "$disk/long-%t.out" -- sh -c "touch written; seq 100000; exit 3") &&
    wait_until 20 test -e written && wait_job_state $id RUNNING && make_room && wait_job_state $id FAILED &&
    test "$(job_field $id exit_code)" = 3 && seq 100000 >expected &&
    test_cmp expected "$disk/long-0.out" && test_cmp expected "$disk/long-1.out"
'
test_expect_success 'a job that waits for space can be cancelled, before and after the end of its program' '
    fill && a=$(fluxq-submit -o "$disk/a.out" ./short.sh) && wait_until 20 test -e written && wait_job_state $a RUNNING &&
    b=$(fluxq-submit -o "$disk/b.out" -- sh -c "touch b; seq 100000") && wait_until 20 test -e b && wait_job_state $b RUNNING &&
    fluxq-cancel $a $b && wait_job_state $b CANCELLED && wait_job_state $a "CANCELLED|COMPLETED" && nodes_free
'
test_expect_success 'with "drop" the job goes on, and its result reports the lost output' '
    fill && printf "#!/bin/sh\n#FLUXQ --output-on-full=drop -o %s\necho one; echo two\n" "$disk/drop.out" >drop.sh &&
    id=$(fluxq-submit drop.sh) && wait_job_state $id COMPLETED && test ! -s "$disk/drop.out" &&
    job_field $id result_text >text && grep "output is lost (8 bytes): cannot write $disk/drop.out: No space" text &&
    fluxq-logs $id >logged && grep -x one logged && grep -x two logged
'
test_expect_success 'with "end" a running program is ended, a program that ends with 0 keeps the 0, and the reason is reported' '
    fill && id=$(fluxq-submit --output-on-full=end -o "$disk/end.out" -- sh -c "echo one; exec sleep 97551") &&
    wait_job_state $id FAILED && job_field $id result_text | grep "cannot write $disk/end.out: No space" &&
    id=$(fluxq-submit --output-on-full=end -o "$disk/end.out" -- sh -c "trap \"\" TERM; echo one") && wait_job_state $id COMPLETED &&
    job_field $id result_text | grep "cannot write $disk/end.out: No space"
'
test_expect_success 'other values of --output-on-full are refused, and the job'\''s record has the value' '
    test_must_fail fluxq-submit --output-on-full=stop -- true 2>err && grep "wait, drop or end" err &&
    fluxq-show job $id --json | jq -e "[.. | .output_on_full? // empty] == [\"end\"]"
'
test_expect_success 'no job is active, and the broker stops' '
    none_active && stop_broker
'
test_done
