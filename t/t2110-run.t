#!/bin/sh
test_description='fluxq-run outside a job, fluxq-alloc, fluxq-attach: steps and terminals from the login node'
. "$(dirname "$0")/lib.sh"

start_broker
chmod 711 "$FLUXQ_RUN"

talk()
{
    timeout 60 python3 "$FLUXQ_SOURCE_DIR/t/helper/pty-talk.py" "$@"
}

# The id of the newest job.
newest()
{
    fluxq-queue --state all --no-header --format '%i' | sort -n | tail -n 1
}

# node RANK [ID]: the name of a rank's node, of the newest job or of job ID.
node()
{
    job_field "${2:-$(newest)}" "ranks[$1].node"
}

# Uses the whole machine until the file `free` exists.
occupy()
{
    rm -f free
    busy=$(fluxq-submit -N 4 --exclusive -o /dev/null -- \
        sh -c "until test -e '$PWD/free'; do sleep 0.05; done") && wait_job_state "$busy" RUNNING
}

# No sleep of so many seconds runs.
none_left()
{
    ! pgrep -fx "sleep $1" >/dev/null
}

test_expect_success 'fluxq-run passes output, and exits with the task'\''s status or 128 + signal' '
    fluxq-run sh -c "echo out; echo err >&2" >out 2>err && echo out >wanted && test_cmp wanted out &&
    echo err >wanted && grep -v "^fluxq-run: job .* \(waits\|runs\)" err >said && test_cmp wanted said &&
    wait_job_state $(newest) COMPLETED &&
    test_expect_code 3 fluxq-run sh -c "exit 3" 2>err && grep "exit status 3" err &&
    wait_job_state $(newest) FAILED && test "$(job_field $(newest) exit_code)" -eq 3 &&
    test_expect_code 137 fluxq-run sh -c "kill -9 \$\$" 2>err && grep -i "kill" err &&
    ls >files && test_must_fail grep fluxq- files
'

test_expect_success 'tasks are placed by -N and -n, lines can have labels, and for a range of sizes the step has the granted size' '
    fluxq-run -N 2 -n 3 -l sh -c "echo \$FLUXQ_NODENAME" | sort >out && set -- $(node 0) $(node 1) &&
    printf "0: $1\n1: $1\n2: $2\n" >wanted && test_cmp wanted out &&
    test "$(job_field $(newest) ntasks)" -eq 3 &&
    fluxq-run -N 2-4 sh -c "echo \$FLUXQ_NODENAME" | sort >out && test "$(wc -l <out)" -ge 2 &&
    test "$(sort -u out | wc -l)" = "$(job_field $(newest) nodes)" &&
    fluxq-run -n 2 -c 2 sh -c "echo \$FLUXQ_CPUS_PER_TASK" >out && printf "2\n2\n" >wanted && test_cmp wanted out
'

test_expect_success 'a new job gets the nodes of -w and avoids the nodes of -x' '
    fluxq-run -w "node[1,3]" sh -c "echo \$FLUXQ_NODENAME" | sort >out && printf "node1\nnode3\n" >wanted && test_cmp wanted out &&
    fluxq-run -x "node[0-2]" sh -c "echo \$FLUXQ_NODENAME" >out && echo node3 >wanted && test_cmp wanted out
'

test_expect_success 'standard input goes to all tasks, with its end' '
    head -c 1000000 /dev/urandom | base64 >in && fluxq-run cat <in >out && cmp in out &&
    echo word | fluxq-run -n 2 cat >out && printf "word\nword\n" >wanted && test_cmp wanted out
'

test_expect_success 'a million lines arrive in order' '
    fluxq-run seq 1000000 >out && seq 1000000 >wanted && cmp wanted out
'

test_expect_success 'the job has the caller'\''s directory and environment, without fluxq'\''s own variables' '
    MINE=yes FLUXQ_QUEUE=batch fluxq-run env >out && grep -x MINE=yes out && grep -x "FLUXQ_JOB_ID=$(newest)" out &&
    test_must_fail grep -E "^(FLUXQ_RUN_FD|FLUXQ_RUN_HOLD|FLUXQ_ALLOC_JOB|FLUXQ_BROKER|FLUXQ_QUEUE)=" out &&
    fluxq-run --export NONE env >out && test_must_fail grep MINE out &&
    mkdir -p below && fluxq-run -D below pwd >out && grep "/below\$" out
'

test_expect_success 'options of the job and options of the step both apply' '
    fluxq-run -J mine -t 5 -o out-%t -n 2 echo text && test "$(cat out-0 out-1 | wc -l)" -eq 2 &&
    test "$(job_field $(newest) name)" = mine && test "$(job_field $(newest) time_limit)" = 300 &&
    fluxq-run true && test "$(job_field $(newest) name)" = true
'

test_expect_success 'a pending job prints its reason, and prints its nodes when it runs' '
    occupy && rm -f out err && { fluxq-run -N 2 echo done >out 2>err & } && pid=$! &&
    wait_until 20 grep "^fluxq-run: job .* waits: " err && : >free && wait $pid &&
    printf "done\ndone\n" >wanted && test_cmp wanted out && grep "^fluxq-run: job .* runs on node" err
'

test_expect_success 'ctrl-C and SIGTERM during the wait cancel the job' '
    occupy && printf "%s\n" "expect waits: " "send \\x03" "expect is cancelled" end >words &&
    test_expect_code 130 talk fluxq-run -N 2 echo never <words && wait_job_state $(newest) CANCELLED &&
    rm -f out err && { fluxq-run -N 2 echo never >out 2>err & } && pid=$! && wait_until 20 grep waits err && kill -TERM $pid &&
    test_expect_code 130 wait $pid && wait_job_state $(newest) CANCELLED && test_must_be_empty out
'

test_expect_success '--immediate fails rather than waits, and --quiet prints no state' '
    test_expect_code 1 fluxq-run -I -N 2 echo never 2>err && grep "would have to wait" err &&
    wait_job_state $(newest) CANCELLED &&
    rm -f out err && { fluxq-run -Q -N 2 true 2>err & } && pid=$! && wait_until 20 sh -c "fluxq-queue --state pending --no-header | grep true" &&
    : >free && wait $pid && test_must_be_empty err
'

test_expect_success 'one ctrl-C reports the state, and two within a second kill the step' '
    printf "%s\n" "expect going" "send \\x03" "expect interrupt: 1 of 1 tasks run" "send \\x03" "expect are killed" end >words &&
    test_expect_code 137 talk fluxq-run sh -c "echo going; exec sleep 3131" <words &&
    wait_job_state $(newest) FAILED && wait_until 20 none_left 3131
'

test_expect_success 'after kill -9 of fluxq-run the job ends, and no process is left' '
    rm -f out err && { fluxq-run -N 2 sh -c "echo going; exec sleep 3132.5" >out 2>err & } && pid=$! &&
    wait_until 20 grep going out && kill -KILL $pid && wait_job_state $(newest) "FAILED|CANCELLED" &&
    wait_until 20 none_left 3132.5 && fluxq-logs $(newest) | grep "is gone"
'

test_expect_success 'at the time limit the step ends and prints the reason' '
    test_expect_code 143 fluxq-run -t 0:01 sleep 3133.5 2>err && grep "time limit" err &&
    wait_job_state $(newest) TIMEOUT && wait_until 20 none_left 3133.5
'

test_expect_success 'fluxq-run works in the console, and the next command follows' '
    printf "run -n 2 echo one\nrun sh -c \"exit 3\"\ninfo\n" | fluxq >out 2>err && grep -cx one out | grep -x 2 &&
    grep "exit status 3" err && grep -i node out
'

test_expect_success 'wrong options are refused, and no job is created' '
    before=$(newest) && test_expect_code 2 fluxq-run && test_expect_code 2 fluxq-run --nonsense true &&
    test_expect_code 2 fluxq-run -N x true && test_expect_code 2 fluxq-run -a 1-3 true &&
    test_expect_code 1 fluxq-run -N 400 true 2>err && grep 400 err && test "$(newest)" = "$before" &&
    test_expect_code 2 fluxq-run --cpu-bind=nonsense true && wait_job_state $(newest) FAILED 20
'

test_expect_success 'fluxq-alloc runs a command here and steps on the nodes, and exits with the command'\''s status' '
    fluxq-alloc -N 2 sh -c "echo \$FLUXQ_JOB_ID \$SLURM_JOB_ID \$FLUXQ_NNODES
        fluxq-run sh -c \"echo \\\$FLUXQ_JOB_ID \\\$FLUXQ_NODENAME\" | sort
        fluxq-run -n 1 cat </dev/null
        exit 4" >out 2>err
    test $? -eq 4 && id=$(newest) && printf "$id $id 2\n$id $(node 0)\n$id $(node 1)\n" >wanted && test_cmp wanted out &&
    grep "granted job allocation $id" err && grep "relinquishing job allocation $id" err &&
    wait_job_state $id FAILED && test "$(job_field $id exit_code)" -eq 4 &&
    fluxq-alloc -Q true 2>err && test_must_be_empty err && wait_job_state $(newest) COMPLETED
'

test_expect_success 'SLURM_NTASKS_PER_NODE has the value of the options of fluxq-run, fluxq-alloc or the step' '
    write_script each.sh <<-\END &&
	#!/bin/sh
	echo "${SLURM_NTASKS_PER_NODE-none}"
	END
    fluxq-run -N 2 --ntasks-per-node=1 ./each.sh >out && printf "1\n1\n" >expected && test_cmp expected out &&
    fluxq-run ./each.sh >out && echo none >expected && test_cmp expected out &&
    SLURM_NTASKS_PER_NODE=7 fluxq-alloc -N 2 --ntasks-per-node=2 sh -c "./each.sh; fluxq-run -n 1 ./each.sh
        fluxq-run -n 1 --ntasks-per-node=1 ./each.sh" >out && printf "2\n2\n1\n" >expected && test_cmp expected out &&
    SLURM_NTASKS_PER_NODE=7 fluxq-alloc ./each.sh >out && echo none >expected && test_cmp expected out
'

test_expect_success 'inside an allocation job options and another allocation are refused' '
    test_expect_code 2 fluxq-alloc fluxq-run -t 1 true 2>err && grep "new job" err &&
    test_expect_code 1 fluxq-alloc fluxq-alloc true 2>err && grep "inside the allocation of job" err &&
    test_expect_code 127 fluxq-alloc ./nothing 2>err && wait_job_state $(newest) FAILED
'

test_expect_success 'fluxq-alloc starts a shell on the terminal' '
    printf "%s\n" "expect granted" "expect [#$]" "send fluxq-run -n 1 hostname; exit 6\\n" end >words &&
    test_expect_code 6 talk fluxq-alloc <words >out && grep "$(hostname)" out && wait_job_state $(newest) FAILED
'

test_expect_success 'ctrl-C during the wait of fluxq-alloc cancels the job' '
    occupy && printf "%s\n" "expect waits: " "send \\x03" "expect is cancelled" end >words &&
    test_expect_code 130 talk fluxq-alloc -N 2 touch never <words && wait_job_state $(newest) CANCELLED &&
    : >free && test ! -e never
'

test_expect_success 'when the job ends before the command, the command gets SIGHUP and the reason is printed' '
    test_expect_code 129 fluxq-alloc -t 0:01 sleep 3134.5 </dev/null 2>err && grep "has ended: TIMEOUT" err &&
    none_left 3134.5 && write_script hup.sh <<-\END &&
	#!/bin/sh
	trap "echo hup >hup; exit 7" HUP
	echo $FLUXQ_JOB_ID >id
	while :; do sleep 0.05; done
	END
    rm -f out err && { fluxq-alloc ./hup.sh </dev/null 2>err & } && pid=$! && wait_until 20 test -s id && fluxq-cancel $(cat id) &&
    test_expect_code 7 wait $pid && grep hup hup && grep "has ended: CANCELLED" err
'

test_expect_success 'an allocation survives a restart of the broker' '
    rm -f out err && { fluxq-alloc -N 2 sh -c "until test -e again; do sleep 0.05; done; fluxq-run hostname" >out 2>err & } && pid=$! &&
    wait_until 20 grep granted err && id=$(newest) && kill_broker && start_broker && : >again && wait $pid &&
    test "$(wc -l <out)" -eq 2 && wait_job_state $id COMPLETED
'

# The wait takes as long as an allocation outlives its connection; a later case checks the result.
test_expect_success 'fluxq-alloc can be killed with -9' '
    rm -f out err && { fluxq-alloc sh -c "echo \$\$ >left; exec sleep 3135.5" </dev/null 2>err & } && pid=$! &&
    wait_until 20 test -s left &&
    orphan=$(newest) && kill -KILL $pid && wait_until 5 lib_gone $pid &&
    kill $(cat left)
'

write_script talk.sh <<'END'
#!/bin/sh
echo "first line"
while ! test -e "$1"; do sleep 0.05; done
echo "last line"
exit 5
END

test_expect_success 'fluxq-attach shows all output and exits with the job'\''s status' '
    id=$(fluxq-submit -N 2 -o /dev/null talk.sh "$PWD/go") && rm -f out err && { fluxq-attach $id >out 2>err & } && pid=$! &&
    wait_until 20 grep "first line" out && : >go && test_expect_code 5 wait $pid &&
    printf "first line\nlast line\n" >wanted && test_cmp wanted out && grep "job $id: FAILED" err
'

test_expect_success 'ctrl-C detaches, and the job goes on' '
    id=$(fluxq-submit -N 2 -o /dev/null talk.sh "$PWD/go2") && wait_job_state $id RUNNING &&
    printf "%s\n" "expect first line" "send \\x03" "expect detached: job $id goes on" end >words &&
    test_expect_code 130 talk fluxq-attach $id <words && test "$(job_state $id)" = RUNNING
'

write_script terminal.sh <<'END'
#!/bin/sh
# terminal.sh COMMAND...: runs COMMAND on a terminal of 40 lines that grows when the file
# "larger" exists.
stty rows 40 cols 100
stty -g >before
(until test -e larger; do sleep 0.05; done; stty rows 50 cols 132 </dev/tty) &
"$@"
status=$?
: >larger
wait
stty -g >after
cmp before after || exit 99
exit $status
END

test_expect_success 'fluxq-attach --pty gives a terminal on rank 1 with size, keys, signals and exit status' '
    rm -f larger && cat >words <<-END &&
	expect [#$]
	send echo \$FLUXQ_NODENAME-; tty; stty size\n
	expect $(node 1 $id)-
	expect /dev/pts/
	expect 40 100
	expect [#$]
	send sh -c "echo sle""eping; exec sleep 3136.5"\n
	expect sleeping
	send \x03
	expect [#$]
	send : >larger; until stty size | grep "50 132"; do sleep 0.05; done; echo chan""ged\n
	expect changed
	expect [#$]
	send printf "%s." one two; exit 7\n
	expect one.two.
	end
	END
    test_expect_code 7 talk ./terminal.sh fluxq-attach $id --pty --rank 1 sh <words && none_left 3136.5 &&
    test "$(job_state $id)" = RUNNING
'

test_expect_success 'fluxq-attach --pty runs the user'\''s shell on a named node, and a kill restores the terminal' '
    rm -f larger && cat >words <<-END &&
	expect [#$]
	send echo \$FLUXQ_NODENAME-; echo \$\$ >"\$HOME/remote"; tty\n
	expect $(node 1 $id)-
	expect /dev/pts/
	expect [#$]
	send kill -TERM \$(cat "\$HOME/client")\n
	end
	END
    write_script client.sh <<-\END &&
	#!/bin/sh
	echo $$ >"$HOME/client"
	exec fluxq-attach --pty -w "$2" "$1"
	END
    test_expect_code 143 talk ./terminal.sh ./client.sh $id $(node 1 $id) <words &&
    wait_until 20 lib_gone "$(cat remote)"
'

test_expect_success 'fluxq-run --pty gives a terminal to task 0, and output of other tasks is not shown' '
    rm -f larger && printf "%s\n" "expect t0 /dev/pts/" "expect [#$]" "send \\x04" end >words &&
    talk ./terminal.sh fluxq-run -N 2 --pty sh -c "echo t\$FLUXQ_PROCID \$(tty); test \$FLUXQ_PROCID -gt 0 || exec sh" <words >out &&
    test_must_fail grep t1 out &&
    echo "echo typed" | fluxq-run --pty sh >out && grep typed out &&
    test_expect_code 2 fluxq-run --pty -o x true 2>err && grep -e --pty err
'

test_expect_success 'invalid uses of fluxq-attach and --pty are refused' '
    test_expect_code 1 fluxq-attach $id --pty --rank 2 2>err && grep "2 nodes" err &&
    test_expect_code 1 fluxq-attach $id --pty -w node9 2>err && grep "which has node" err &&
    test_expect_code 2 fluxq-attach && test_expect_code 2 fluxq-attach $id true 2>err && grep -e --pty err &&
    test_expect_code 2 fluxq-attach $id --rank 0 -w node0 && test_expect_code 1 fluxq-attach 99999 2>err && grep 99999 err &&
    : >go2 && wait_job_state $id FAILED && test_expect_code 1 fluxq-attach $id --pty 2>err && grep "FAILED" err
'

test_expect_success ROOT 'fluxq-attach to another user'\''s job is refused' '
    id=$(fluxq-submit -o /dev/null talk.sh "$PWD/go3") && wait_job_state $id RUNNING &&
    (cd / && test_expect_code 1 setpriv --reuid=65534 --regid=65534 --clear-groups fluxq-attach $id) >out 2>err &&
    test_must_be_empty out && grep "job $id" err &&
    (cd / && test_expect_code 1 setpriv --reuid=65534 --regid=65534 --clear-groups fluxq-attach $id --pty sh) \
        </dev/null >out 2>err && test_must_be_empty out && grep "job $id" err && : >go3
'

test_expect_success 'the allocation of the killed fluxq-alloc has ended' '
    wait_job_state $orphan FAILED 60 && fluxq-logs $orphan | grep "is gone"
'

test_done
