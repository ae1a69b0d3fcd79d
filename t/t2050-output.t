#!/bin/sh
test_description='output and input: every pattern, -i, --open-mode, large output, fluxq-logs'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

configure()
{
    { echo 'grace: 1s'
      echo 'local: {nodes: 4, cores: 2}'
      printf '%s\n' "$@"; } >output.yaml
}

# fails_with TEXT SUBMIT-ARGUMENTS: the job fails before any task runs, and its result
# text contains TEXT.
fails_with()
{
    text=$1
    shift
    id=$(fluxq-submit "$@") && wait_job_state "$id" FAILED && job_field "$id" result_text >text &&
        cat text && grep -- "$text" text && test "$(count_events "$id" start)" = 0
}

configure
start_broker --config output.yaml
chmod 711 "$FLUXQ_RUN"

write_script cat.sh <<'END'
#!/bin/sh
cat
END

test_expect_success 'patterns in output file names of a batch script are replaced' '
    write_script both.sh <<-\END &&
	#!/bin/sh
	#SBATCH -J name -o o-%A-%a-%j-%J-%N-%n-%s-%t-%u-%x-%%-%5j-%3n.txt
	#SBATCH -e e-%J.%s
	echo out
	echo err >&2
	END
    id=$(fluxq-submit --wait both.sh) && me=$(id -un) &&
    echo out >wanted && test_cmp wanted "o-$id-0-$id-$id-node0-0-batch-0-$me-name-%-$(printf %05d $id)-000.txt" &&
    echo err >wanted && test_cmp wanted "e-$id.batch"
'
test_expect_success 'patterns of a command on every rank give a file for each node (%n, %N) or task (%t)' '
    id=$(fluxq-submit --wait -N 2 -n 4 -o "c-%J-%s-%n-%2t.txt" -e "node%n-%j" -- \
        sh -c "echo \$FLUXQ_PROCID; echo \$FLUXQ_PROCID >&2") &&
    for t in 0 1 2 3; do
        echo $t >wanted && test_cmp wanted "c-$id.0-0-$((t / 2))-0$t.txt" || return 1
    done &&
    sort "node0-$id" >got && printf "0\n1\n" >wanted && test_cmp wanted got &&
    sort "node1-$id" >got && printf "2\n3\n" >wanted && test_cmp wanted got
'
test_expect_success 'patterns in file names of an array are replaced' '
    id=$(fluxq-submit --wait -a 3,5 -o "a-%A_%3a.txt" -- sh -c "echo \$FLUXQ_ARRAY_TASK_ID") &&
    echo 3 >wanted && test_cmp wanted a-${id}_003.txt && echo 5 >wanted && test_cmp wanted a-${id}_005.txt
'
test_expect_success 'a name with a backslash has no patterns, and the backslash is removed' '
    fluxq-submit --wait -o "plain\\-%j-%q.txt" -- echo hello && echo hello >wanted &&
    test_cmp wanted "plain-%j-%q.txt"
'
test_expect_success 'the name "none" means /dev/null, as for sbatch' '
    id=$(fluxq-submit --wait -o none -e NONE -i none -- sh -c "echo out; cat") &&
    test ! -e none && fluxq-logs $id >got && echo out >wanted && test_cmp wanted got
'

test_expect_success 'with -i a script reads the file, in all three dialects' '
    echo "from a file" >in.txt &&
    id=$(fluxq-submit --wait -i in.txt -o cat1 cat.sh) && test_cmp in.txt cat1 &&
    printf "#!/bin/sh\n#SBATCH -i in.txt -o cat2\ncat\n" >sbatch.sh && fluxq-submit --wait sbatch.sh && test_cmp in.txt cat2 &&
    printf "#!/bin/sh\n# flux: --input=in.txt --output=cat3\ncat\n" >flux.sh && fluxq-submit --wait flux.sh &&
    test_cmp in.txt cat3 &&
    printf "#!/bin/sh\n#FLUXQ --input=\"%s/in.txt\" -o cat4\ncat\n" "$PWD" >own.sh && fluxq-submit --wait own.sh &&
    test_cmp in.txt cat4 && fluxq-show job $id | grep "Input:.*in.txt"
'
test_expect_success 'without -i the input is empty' '
    fluxq-submit --wait -o cat5 cat.sh && test_must_be_empty cat5 &&
    fluxq-submit --wait -i /dev/null -o cat5 cat.sh && test_must_be_empty cat5
'
test_expect_success 'the name of the input has patterns, and each task of a command reads the file from its start' '
    fluxq-submit --wait -N 2 -n 4 -i in.txt -o "all-%t" -- cat &&
    for t in 0 1 2 3; do
        test_cmp in.txt all-$t || return 1
    done &&
    for t in 0 1 2 3; do
        echo "this is $t" >each-$t
    done &&
    fluxq-submit --wait -N 2 -n 4 -i "each-%t" -o "each-out-%t" -- cat &&
    for t in 0 1 2 3; do
        test_cmp each-$t each-out-$t || return 1
    done &&
    fluxq-submit --wait -N 2 -n 2 -i "each-%n" -o "node-out-%n" -- cat && test_cmp each-1 node-out-1
'
test_expect_success 'a missing input file, a file of the wrong type or a pattern for one task fails the job at once with the name' '
    fails_with "no-such-file: No such file" -i no-such-file -o /dev/null cat.sh &&
    fails_with "is a directory" -i . -o /dev/null cat.sh &&
    mkfifo fifo && fails_with "fifo is not a regular file" -i fifo -o /dev/null cat.sh &&
    rm each-3 && fails_with "node1: input file: each-3: No such file" -N 2 -n 4 -i "each-%t" -o /dev/null -- cat
'
test_expect_success ROOT 'an input file that the user may not read fails the job' '
    echo secret >"$FLUXQ_RUN/secret" && chmod 600 "$FLUXQ_RUN/secret" &&
    cp cat.sh "$FLUXQ_RUN/cat.sh" && chmod 755 "$FLUXQ_RUN/cat.sh" &&
    stop_broker && BROKER_STATE=$FLUXQ_RUN/state && start_broker --config output.yaml &&
    cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_RUN/fluxq" &&
    id=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups "$FLUXQ_RUN/fluxq" submit -i "$FLUXQ_RUN/secret" \
        -o /dev/null "$FLUXQ_RUN/cat.sh") &&
    wait_job_state $id FAILED && job_field $id result_text | grep "secret: Permission denied"
'
test_expect_success 'a missing output directory fails the job at once with the name' '
    fails_with "/missing does not exist" -o missing/out.txt cat.sh && test ! -e missing &&
    fails_with "/missing does not exist" -o /dev/null -e missing/err.txt cat.sh
'

test_expect_success '--open-mode truncates existing files or appends to them' '
    echo before >mode.txt && fluxq-submit --wait -o mode.txt -- echo one && echo one >wanted && test_cmp wanted mode.txt &&
    fluxq-submit --wait --open-mode=append -o mode.txt -- echo two && echo two >>wanted && test_cmp wanted mode.txt &&
    printf "#!/bin/sh\n#SBATCH --open-mode=append -o mode.txt\necho three\n" >mode.sh && fluxq-submit --wait mode.sh &&
    echo three >>wanted && test_cmp wanted mode.txt &&
    printf "#!/bin/sh\n# flux: -o output.mode=append --output=mode.txt\necho four\n" >mode.sh && fluxq-submit --wait mode.sh &&
    echo four >>wanted && test_cmp wanted mode.txt &&
    fluxq-submit --wait --open-mode=truncate mode.sh && echo four >wanted && test_cmp wanted mode.txt &&
    test_must_fail fluxq-submit --open-mode=new mode.sh 2>err && grep "new" err
'

has_line()
{
    grep -qx "$1" "$2"
}

# twice MODE: a job that loses its node in its first run; its output is in twice.txt.
twice()
{
    rm -f go twice.txt &&
        id=$(fluxq-submit --requeue --open-mode="$1" -o twice.txt -- sh -c \
            "echo run \${FLUXQ_RESTART_COUNT-0}; until [ -e go ]; do sleep 0.05; done") &&
        wait_until 20 has_line "run 0" twice.txt && wait_job_state "$id" RUNNING && kill_all $(agents_of "$id") &&
        wait_until 20 has_line "run 1" twice.txt && : >go && wait_job_state "$id" COMPLETED
}

test_expect_success '--open-mode also applies when a job runs again after the loss of a node' '
    twice truncate && echo "run 1" >wanted && test_cmp wanted twice.txt &&
    twice append && printf "run 0\nrun 1\n" >wanted && test_cmp wanted twice.txt
'
test_expect_success 'a killed job keeps all its output, in its file and in fluxq-logs' '
    id=$(fluxq-submit -o killed.txt -- sh -c "seq 200000; touch written; sleep 97561") &&
    wait_until 30 test -e written && fluxq-cancel $id && wait_job_state $id CANCELLED &&
    seq 200000 >wanted && head -n 200000 killed.txt >got && test_cmp wanted got &&
    fluxq-logs --stdout $id >got && test_cmp wanted got
'
test_expect_success 'forty megabytes from four ranks arrive complete' '
    cat >flood.py <<-\END &&
	import hashlib, os, sys
	rank = int(os.environ["FLUXQ_PROCID"])
	digest = hashlib.sha256()
	for i in range(10 * 16):
	    piece = b"".join(b"%d %d %d\n" % (rank, i, n) for n in range(9000))[:65536]
	    digest.update(piece)
	    os.write(1, piece) == len(piece) or sys.exit("short write")
	open("digest-%d" % rank, "w").write(digest.hexdigest())
	END
    id=$(fluxq-submit --wait -N 4 -n 4 -o "flood-%t" -- /usr/bin/python3 flood.py) &&
    for t in 0 1 2 3; do
        test "$(stat -c %s flood-$t)" = 10485760 &&
        test "$(sha256sum <flood-$t)" = "$(cat digest-$t)  -" &&
        test "$(fluxq-logs --task $t $id | sha256sum)" = "$(cat digest-$t)  -" || return 1
    done
'

test_expect_success 'fluxq-logs --task and --rank select one task and one node' '
    id=$(fluxq-submit --wait -N 2 -n 4 -o /dev/null -- sh -c "echo task \$FLUXQ_PROCID; echo err \$FLUXQ_PROCID >&2") &&
    fluxq-logs --task 2 $id | sort >got && printf "err 2\ntask 2\n" >wanted && test_cmp wanted got &&
    fluxq-logs --task 2 --stdout $id >got && echo "task 2" >wanted && test_cmp wanted got &&
    fluxq-logs --rank 1 --stderr $id | sort >got && printf "err 2\nerr 3\n" >wanted && test_cmp wanted got &&
    fluxq-logs --rank 0 --task 2 $id >got && test_must_be_empty got &&
    test_expect_code 2 fluxq-logs --task x $id
'
test_expect_success '--label prefixes each line with its task' '
    fluxq-logs --label --stdout $id | sort >got && printf "%s\n" "0: task 0" "1: task 1" "2: task 2" "3: task 3" >wanted &&
    test_cmp wanted got &&
    id=$(fluxq-submit --wait -N 2 -n 2 -o /dev/null -- sh -c "printf \"a\nb\"") &&
    fluxq-logs -l $id >got && cat got && sort got >sorted && printf "%s\n" "0: a" "0: b" "1: a" "1: b" >wanted &&
    test_cmp wanted sorted &&
    id=$(fluxq-submit --wait -o /dev/null -- sh -c "yes \"\" | head -n 500000") &&
    fluxq-logs -l $id | sort | uniq -c >got && echo " 500000 0: " >wanted && test_cmp wanted got
'

# cut_from LOGGED WHOLE: LOGGED is the beginning and the end of WHOLE, with a line in between that tells how
# much is left out. A reader that was overtaken several times has several such lines, with the output between
# them.
cut_from()
{
    python3 -c "
import re, sys
logged, whole = (open(name, 'rb').read() for name in sys.argv[1:])
first, *rest = re.split(rb'(?m)^fluxq: \[\.\.\. about ([0-9.]+) MB .*\n', logged)
said, pieces = rest[::2], rest[1::2]
assert said, 'nothing is left out'
assert first and (whole.startswith(first) or whole.startswith(first[:-1]))
assert pieces[-1] and whole.endswith(pieces[-1])
assert all(piece[:-1] in whole for piece in pieces)
left = len(whole) - len(first) - sum(map(len, pieces))
assert abs(sum(map(float, said)) * 1e6 - left) < 0.1 * left, said
print(len(said))" "$@"
}

test_expect_success 'with output-max fluxq-logs has the beginning and the end of long output, and marks the cut' '
    stop_broker && configure "output-max: 4Mi" && start_broker --config output.yaml &&
    id=$(fluxq-submit --wait -o big.txt -- seq 5000000) &&
    seq 5000000 >whole && test_cmp whole big.txt && fluxq-logs $id >logged && [ "$(cut_from logged whole)" = 1 ] &&
    test "$(stat -c %s logged)" -gt 2000000 && test "$(stat -c %s logged)" -lt 4200000 &&
    set -- $(du -s -B1 "$BROKER_STATE/jobs/$id") && test "$1" -lt 5000000 &&
    fluxq-logs --stdout $id | cmp - logged && fluxq-logs --task 0 $id | cmp - logged
'
test_expect_success 'with output-max a follower that is overtaken has the beginning and the end, and marks the cuts' '
    id=$(fluxq-submit -o big.txt -- sh -c "seq 1000; until [ -e on ]; do sleep 0.05; done; seq 1001 5000000") &&
    { fluxq-logs -f $id >followed & } && logs=$! &&
    wait_until 20 grep -qx 1000 followed && kill -STOP $logs && : >on && wait_job_state $id COMPLETED 60 &&
    kill -CONT $logs && wait $logs && cut_from followed whole && rm big.txt whole
'
test_done
