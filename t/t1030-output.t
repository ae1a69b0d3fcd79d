#!/bin/sh
test_description='output files: names, paths that cannot be written, links of others, a full disk'
# shellcheck disable=SC2093
if [ -z "${T1030_ALONE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "Bail out! mounting a tmpfs needs root"; exit 1; }
    T1030_ALONE=yes exec unshare --mount sh "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

# Directories where nobody can create files, and a small disk.
chmod 755 "$FLUXQ_RUN"
disk=$FLUXQ_RUN/disk
sticky=$FLUXQ_RUN/sticky
theirs=$FLUXQ_RUN/theirs
mkdir "$disk" "$sticky" "$theirs" && chmod 1777 "$sticky" && chown nobody "$theirs" &&
    mount -t tmpfs -o size=1m none "$disk" || exit 1
trap 'status=$?; umount -l "$disk"; (exit $status); lib_finish' EXIT

as_nobody()
{
    setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"
}

# fails_with TEXT SUBMIT-ARGUMENTS: the job ends as failed, and its result text contains TEXT.
fails_with()
{
    text=$1
    shift
    id=$(fluxq-submit "$@") && wait_job_state "$id" FAILED && job_field "$id" result_text >text &&
        cat text && grep -i "$text" text
}

start_broker
test_expect_success 'by default the output goes to slurm-ID.out in the directory of the submit' '
    write_script both.sh <<-\END &&
	#!/bin/sh
	echo to stdout
	echo to stderr >&2
	END
    mkdir -p default && (cd default && fluxq-submit ../both.sh >../id) &&
    wait_job_state $(cat id) COMPLETED &&
    ls default >list && test "$(wc -l <list)" = 1 && grep "$(cat id)" list &&
    sort default/* >lines && printf "to stderr\nto stdout\n" >expected && test_cmp expected lines
'
test_expect_success '-o expands %j, %x and %u, and -e sets a file of its own' '
    id=$(fluxq-submit -J name -o "o-%j-%x-%u-%%.txt" -e "e-%j.txt" ./both.sh) &&
    wait_job_state $id COMPLETED &&
    test "$(cat o-$id-name-root-%.txt)" = "to stdout" && test "$(cat e-$id.txt)" = "to stderr"
'
test_expect_success '-e with the text of -o gives each task one stream, in order' '
    id=$(fluxq-submit --wait -n2 -o one-%t.txt -e one-%t.txt -- sh -c "for i in 1 2 3 4 5; do echo \$i; echo \$i >&2; done") &&
    for t in 0 1; do test "$(cat one-$t.txt | xargs)" = "1 1 2 2 3 3 4 4 5 5" || return 1; done &&
    fluxq-logs --stderr $id >out 2>&1 && ! grep [1-5] out
'

test_expect_success '-o with %N and %t gives a file for each node and task' '
    id=$(fluxq-submit -N 2 -n 4 -o "t-%j-%N-%t.txt" -- sh -c "echo \$FLUXQ_PROCID") &&
    wait_job_state $id COMPLETED &&
    ls t-$id-*.txt | wc -l >count && echo 4 >expected && test_cmp expected count &&
    for t in 0 1 2 3; do
        test "$(cat t-$id-*-$t.txt)" = $t || return 1
    done
'
test_expect_success '-o /dev/null writes no file, and fluxq-logs still has the output' '
    id=$(fluxq-submit -o /dev/null ./both.sh) && wait_job_state $id COMPLETED &&
    fluxq-logs $id | sort >logged && printf "to stderr\nto stdout\n" >expected &&
    test_cmp expected logged &&
    fluxq-logs --stderr $id >logged && echo to stderr >expected && test_cmp expected logged
'
test_expect_success 'if the directory is missing the job fails at once and names the directory' '
    fails_with "missing does not exist" -o missing/out.txt ./both.sh && test ! -e missing
'
test_expect_success 'if the output file is a directory the job fails' '
    mkdir -p adir && fails_with "adir" -o adir ./both.sh
'
test_expect_success 'if the directory is not writable the job fails' '
    cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_RUN/fluxq" &&
    (umask 022; cp both.sh "$FLUXQ_RUN") &&
    stop_broker && BROKER_STATE=$FLUXQ_RUN/state && start_broker &&
    mkdir "$FLUXQ_RUN/closed" && (cd "$FLUXQ_RUN" && as_nobody ./fluxq submit -o closed/out.txt both.sh >theirs/id) &&
    id=$(cat "$theirs/id") && wait_job_state $id FAILED &&
    job_field $id result_text >text && grep "closed.*Permission denied" text
'
test_expect_success 'a link of user nobody in a sticky directory is not followed' '
    echo precious >precious && as_nobody ln -s "$PWD/precious" "$sticky/out.txt" &&
    fails_with "link" -o "$sticky/out.txt" ./both.sh &&
    echo precious >expected && test_cmp expected precious
'
test_expect_success 'a link in a directory of user nobody is not followed, at the end or inside the path' '
    as_nobody ln -s "$PWD/precious" "$theirs/out.txt" && as_nobody ln -s "$PWD" "$theirs/dir" &&
    fails_with "link" -o "$theirs/out.txt" ./both.sh &&
    fails_with "link" -o "$theirs/dir/precious" ./both.sh &&
    echo precious >expected && test_cmp expected precious
'
test_expect_success 'a file of user nobody in a sticky directory is not written' '
    as_nobody touch "$sticky/trap.txt" && as_nobody chmod 666 "$sticky/trap.txt" &&
    fails_with "trap.txt" -o "$sticky/trap.txt" ./both.sh && test ! -s "$sticky/trap.txt"
'
test_expect_success 'a link of the job'\''s own user is followed' '
    mkdir -p real && ln -s real mine &&
    id=$(fluxq-submit -o mine/out.txt ./both.sh) && wait_job_state $id COMPLETED &&
    test -s real/out.txt
'
test_expect_success 'a FIFO without a reader is refused at once' '
    mkfifo fifo && fails_with "fifo" -o fifo ./both.sh
'
test_expect_success 'when the disk of the output is full the job ends and reports the full disk' '
    write_script flood.sh <<-\END &&
	#!/bin/sh
	head -c 4000000 /dev/zero
	sleep 97541
	END
    id=$(fluxq-submit --output-on-full=end -o "$disk/out.txt" ./flood.sh) &&
    wait_job_state $id "FAILED" 30 &&
    job_field $id result_text >text && cat text && grep -i "out.txt.*space" text &&
    wait_until 10 nodes_free && rm -f "$disk/out.txt"
'
test_expect_success 'a file of two jobs contains the output of both' '
    id=$(fluxq-submit -o shared.txt -- echo one) && wait_job_state $id COMPLETED &&
    ls -i shared.txt >inode &&
    id=$(fluxq-submit -o shared.txt -- echo two) && wait_job_state $id COMPLETED &&
    ls -i shared.txt >expected && test_cmp expected inode && grep two shared.txt
'
test_expect_success 'a file pattern with an unknown letter is refused at submit' '
    test_must_fail fluxq-submit -o "out-%q.txt" ./both.sh 2>text && grep "%q" text
'
test_expect_success 'no job is active, and the broker stops' 'none_active && stop_broker'
test_done
