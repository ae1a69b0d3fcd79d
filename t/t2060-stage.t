#!/bin/sh
test_description='--stage-in and --stage-out on one machine: names, nodes, failures, every kind of end'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

cat >stage.yaml <<END
grace: 1s
local: {nodes: 4, cores: 2}
END

# fails_with TEXT SUBMIT-ARGUMENTS: the job fails before any task runs, and its result
# text contains TEXT.
fails_with()
{
    text=$1
    shift
    id=$(fluxq-submit -o /dev/null "$@") && wait_job_state "$id" FAILED &&
        job_field "$id" result_text >text && cat text && grep -- "$text" text &&
        test "$(count_events "$id" start)" = 0
}

# nothing_left DIRECTORY...: no partial copy is left.
nothing_left()
{
    find "$@" -name '.fluxq-*' >left && test_must_be_empty left
}

start_broker --config stage.yaml
chmod 711 "$FLUXQ_RUN"
mkdir work here

test_expect_success 'a file is copied in and a file is copied out, with other names and directories' '
    echo data >here/input.txt &&
    id=$(fluxq-submit --wait --stage-in="here/input.txt:work/in.txt" --stage-out="work/out.txt:here/result.txt" -o none \
        -- sh -c "tr a-z A-Z <work/in.txt >work/out.txt") &&
    echo DATA >wanted && test_cmp wanted here/result.txt && fluxq-show job $id >show &&
    grep "^Stage in: *$PWD/here/input.txt -> $PWD/work/in.txt$" show &&
    grep "^Stage out: *$PWD/work/out.txt -> $PWD/here/result.txt$" show && nothing_left .
'
test_expect_success 'several files are staged from directives, relative to the directory of the job' '
    echo one >one && echo two >two &&
    write_script several.sh <<-\END &&
	#!/bin/sh
	#FLUXQ --stage-in=../one --stage-in ../two:zwei
	#FLUXQ --stage-out=sum:../sum-%j-%x-%u-%A -o none
	cat one zwei >sum
	END
    id=$(fluxq-submit --wait -D work several.sh) && printf "one\ntwo\n" >wanted &&
    test_cmp wanted "sum-$id-several.sh-$(id -un)-$id"
'
test_expect_success 'files are staged for each task of an array, and from the environment variable' '
    echo three >in-3 && echo five >in-5 &&
    FLUXQ_STAGE_IN="in-%a:work/array-%a" fluxq-submit --wait -a 3,5 -o none --stage-out "work/o-%A-%a:array-out-%a" -- \
        sh -c "cat work/array-\$FLUXQ_ARRAY_TASK_ID >work/o-\$FLUXQ_ARRAY_JOB_ID-\$FLUXQ_ARRAY_TASK_ID" &&
    test_cmp in-3 array-out-3 && test_cmp in-5 array-out-5
'
test_expect_success 'mode and empty files are kept, and a file is replaced as a whole' '
    printf "#!/bin/sh\necho ran\n" >tool && chmod 750 tool && : >empty && chmod 600 empty && echo old >work/tool &&
    ln work/tool work/other && fluxq-submit --wait -o ran --stage-in tool:work/tool --stage-in empty:work/empty \
        --stage-out work/empty:here/empty --stage-out work/tool:here/tool -- work/tool &&
    echo ran >wanted && test_cmp wanted ran && test "$(stat -c %a work/tool)" = 750 &&
    test "$(stat -c %a:%s here/empty)" = 600:0 && test "$(stat -c %a here/tool)" = 750 && test_cmp tool here/tool &&
    echo old >wanted && test_cmp wanted work/other
'
test_expect_success 'a file that is already in its place stays unchanged' '
    echo same >same && ln -s same link && before=$(stat -c %i:%y same) &&
    fluxq-submit --wait -o none --stage-in same --stage-out same -- true &&
    fluxq-submit --wait -o none --stage-in link:same --stage-out same:link -- true &&
    test "$(stat -c %i:%y same)" = "$before" && test -h link
'
test_expect_success 'with %n files of each node are staged, and without %n files of the first node only' '
    for n in 0 1 2 3; do
        echo "in of $n" >"node-$n" || return 1
    done &&
    write_script nodes.sh <<-\END &&
	#!/bin/sh
	sed "s/in/out/" "work/got-$FLUXQ_NODEID" >"work/made-$FLUXQ_NODEID"
	END
    fluxq-submit --wait -N 4 -n 4 -o none --stage-in "node-%n:work/got-%n" --stage-out "work/made-%n:back-%N" \
        --stage-out "work/made-%n:first" -- ./nodes.sh &&
    for n in 0 1 2 3; do
        echo "out of $n" >wanted && test_cmp wanted "back-node$n" || return 1
    done &&
    echo "out of 0" >wanted && test_cmp wanted first &&
    fluxq-submit --wait -N 4 -o none --stage-in "node-%n:work/batch-%n" nodes.sh && test_cmp node-3 work/batch-3
'
test_expect_success 'all nodes copy the same file to the same place at once' '
    head -c 3000000 /dev/urandom >large &&
    fluxq-submit --wait -N 4 -n 4 -o none --stage-in large:work/large --stage-out work/large:here/large -- cmp large work/large &&
    test_cmp large here/large && nothing_left .
'

test_expect_success 'a missing or invalid stage-in file fails the job at its start with one line' '
    fails_with "node node0: stage-in: nosuch: No such file or directory$" --stage-in nosuch:x -- true &&
    fails_with "stage-in: here is a directory, not a file" --stage-in here:x -- true &&
    mkfifo fifo && fails_with "stage-in: fifo is not a regular file" --stage-in fifo:x -- true &&
    fails_with "stage-in: missing/x: directory missing: No such file or directory" --stage-in one:missing/x -- true &&
    fails_with "stage-in: work is a directory, not a file" --stage-in one:work -- true &&
    rm node-2 && fails_with "node node2: stage-in: node-2: No such file" -N 4 -n 4 --stage-in "node-%n:work/y-%n" -- true &&
    nothing_left . && test ! -e x && test ! -e missing
'
test_expect_success 'a stage-out target that cannot be written fails the job at its start' '
    fails_with "node node0: stage-out: $PWD/missing does not exist" --stage-out one:missing/x -- touch ran-1 &&
    fails_with "stage-out: $PWD/work is a directory" --stage-out one:work -- touch ran-1 && test ! -e ran-1
'
test_expect_success ROOT 'stage files that the user may not read or write fail the job at its start' '
    cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_RUN/fluxq" &&
    echo secret >"$FLUXQ_RUN/secret" && chmod 600 "$FLUXQ_RUN/secret" &&
    stop_broker && BROKER_STATE=$FLUXQ_RUN/state && start_broker --config stage.yaml &&
    mkdir -p "$FLUXQ_RUN/theirs" && chown 65534:65534 "$FLUXQ_RUN/theirs" &&
    as_nobody() { (cd "$FLUXQ_RUN/theirs" && setpriv --reuid=65534 --regid=65534 --clear-groups "$FLUXQ_RUN/fluxq" submit "$@"); } &&
    id=$(as_nobody -o none --stage-in ../secret -- true) && wait_job_state $id FAILED &&
    job_field $id result_text | grep "stage-in: ../secret: Permission denied" &&
    id=$(as_nobody -o none --stage-out x:../out -- true) && wait_job_state $id FAILED &&
    job_field $id result_text | grep "stage-out: $FLUXQ_RUN/out: Permission denied" &&
    as_nobody --wait -o none --stage-out x:y -- sh -c "echo z >x" &&
    test "$(stat -c %u "$FLUXQ_RUN/theirs/y")" = 65534
'
test_expect_success 'a missing stage-out file fails the job at its end, and the other files are copied' '
    rm -f here/b && id=$(fluxq-submit -o none --stage-out work/none:here/a --stage-out one:here/b -- true) &&
    wait_job_state $id FAILED && echo "stage-out: work/none: No such file or directory (node0)" >wanted &&
    job_field $id result_text >got && test_cmp wanted got && test "$(job_field $id exit_code)" = 1 &&
    test_cmp one here/b && test ! -e here/a &&
    fluxq-show job $id --events >events && grep "stage-out: work/none: No such file" events &&
    test_expect_code 1 fluxq-submit --wait -o none --stage-out work:here/a -- true
'
test_expect_success 'a job that has failed by itself keeps its result when a stage-out file is missing' '
    rm -f here/b && id=$(fluxq-submit -o none --stage-out work/none:here/a --stage-out one:here/b -- sh -c "exit 3") &&
    wait_job_state $id FAILED && test "$(job_field $id exit_code)" = 3 && test_cmp one here/b &&
    fluxq-logs $id | grep "stage-out: work/none: No such file"
'
test_expect_success 'stage-out also runs after a cancel and after the time limit' '
    rm -f here/c here/t &&
    id=$(fluxq-submit -o none --stage-out work/c:here/c -- sh -c "echo partial >work/c; touch runs-c; exec sleep 1000") &&
    wait_until 20 test -e runs-c && fluxq-cancel $id && wait_job_state $id CANCELLED && echo partial >wanted &&
    test_cmp wanted here/c &&
    id=$(fluxq-submit -t 0:01 -o none --stage-out work/t:here/t -- sh -c "echo partial >work/t; exec sleep 1000") &&
    wait_job_state $id TIMEOUT && test_cmp wanted here/t
'
test_expect_success 'a job that stages out while the broker is dead goes on, and reports its end' '
    rm -f here/k && id=$(fluxq-submit -o none --stage-out work/k:here/k -- sh -c \
        "touch runs-k; while test ! -e go-k; do sleep 0.05; done; echo k >work/k") && wait_until 20 test -e runs-k &&
    kill_broker && touch go-k && wait_until 20 test -e here/k && start_broker --config stage.yaml &&
    wait_job_state $id COMPLETED
'
test_expect_success 'invalid stage options are refused at submit' '
    refused() { text=$1; shift; test_must_fail fluxq-submit "$@" -- true 2>err && cat err && grep -- "$text" err; } &&
    refused "%t has no meaning here" --stage-in "in-%t" && refused "%s has no meaning here" --stage-out "x:o-%s" &&
    refused "%J has no meaning here" --stage-out "x:o-%J" && refused "%q" --stage-in "in-%q" &&
    refused "cannot be the name of a file" --stage-in "" && refused "cannot be the name of a file" --stage-in "a:" &&
    refused "is a directory; name a file" --stage-in "a/" && refused "is a directory; name a file" --stage-out "a:.." &&
    refused "would both become .x." --stage-in a:x --stage-in b:x &&
    set -- && i=0 && while test $i -lt 65; do set -- "$@" --stage-in "f$i"; i=$((i + 1)); done &&
    refused "more than 64 files" "$@" &&
    test_must_fail fluxq-run --stage-in a -- true 2>err
'

test_done
