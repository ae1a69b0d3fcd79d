#!/bin/sh
test_description='fluxq-shell runs a job of several ranks, keeps its output and leaves nothing behind'
. "$(dirname "$0")/lib.sh"

. "$FLUXQ_SOURCE_DIR/t/agents.sh"

test_expect_success 'version and help go to stdout, and wrong usage exits with 2' '
    fluxq-shell --version | grep "^fluxq-shell [0-9]" &&
    fluxq-shell --help | grep -- --launch &&
    test_expect_code 2 fluxq-shell &&
    test_expect_code 2 fluxq-shell --launch x --key y --rank -1 &&
    test_expect_code 2 fluxq-shell --launch x --key y --rank 0 --uid 5
'

test_expect_success 'an invalid launch file or key gives exit status 1 and the name of the file' '
    make_job bad arg=true node=n0 && echo rubbish >bad/rubbish &&
    test_expect_code 1 fluxq-shell --launch bad/rubbish --key bad/key --rank 0 2>err &&
    grep bad/rubbish err &&
    test_expect_code 1 fluxq-shell --launch bad/launch --key bad/rubbish --rank 0 2>err &&
    grep bad/rubbish err &&
    test_expect_code 1 fluxq-shell --launch bad/launch --key bad/key --rank 5 2>err &&
    grep "rank 5" err && ! test -e bad/spool
'

test_expect_success 'a batch script runs once, on rank 0, with its arguments and both output streams' '
    make_job batch batch=1 script="$PWD/batch/script" arg="a b" arg=c node=n0:2 node=n1:2 &&
    write_script batch/script <<-\END &&
	#!/bin/sh
	echo "$# $1 $2 in $PWD, task $FLUXQ_PROCID of $SLURM_NTASKS on $SLURM_JOB_NODELIST"
	echo complaint >&2
	cat
	END
    run_job batch 2 && finish_is batch 0 exited &&
    launch-write output batch/spool 0 1 >out &&
    echo "2 a b c in $PWD/batch, task 0 of 4 on n[0-1]" >expected && test_cmp expected out &&
    test "$(launch-write output batch/spool 0 2)" = complaint &&
    frames batch >all && test "$(grep -c ^READY all)" = 1 && test "$(grep -c ^EXIT all)" = 1 &&
    ! test -e batch/sock
'

test_expect_success 'a command runs once for each task on every rank, with an output file for each task' '
    mkdir files &&
    make_job each "arg=sh" "arg=-c" \
        "arg=echo \$FLUXQ_PROCID \$SLURM_LOCALID \$FLUXQ_NODEID \$SLURMD_NODENAME" \
        node=n0:2 node=n1:2 node=n2:2 output="$PWD/files/%x-%j-%N-%t" &&
    run_job each 3 && finish_is each 0 exited &&
    ls files >names &&
    cat >expected <<-END &&
	test-7-n0-0
	test-7-n0-1
	test-7-n1-2
	test-7-n1-3
	test-7-n2-4
	test-7-n2-5
	END
    test_cmp expected names &&
    echo "5 1 2 n2" >expected && test_cmp expected files/test-7-n2-5
'

test_expect_success 'output can go to a file for each node, and standard error to a file of its own' '
    mkdir nodes &&
    make_job pernode arg=sh arg=-c "arg=echo out; echo err >&2" node=n0:2 node=n1:1 \
        output="$PWD/nodes/%N.out" error="$PWD/nodes/all.err" &&
    run_job pernode 2 &&
    test "$(wc -l <nodes/n0.out)" = 2 && test "$(wc -l <nodes/n1.out)" = 1 &&
    test "$(wc -l <nodes/all.err)" = 3 &&
    make_job together arg=sh arg=-c "arg=echo out; echo err >&2" node=n0:1 \
        output="$PWD/nodes/same" error="$PWD/nodes/same" &&
    echo old >nodes/same && run_job together 1 && test "$(sort nodes/same | tr "\n" " ")" = "err out " &&
    make_job append arg=echo arg=more node=n0:1 output="$PWD/nodes/same" append=1 &&
    run_job append 1 && test "$(wc -l <nodes/same)" = 3
'

test_expect_success 'the environment has the submitted variables, fluxq'\''s variables and defaults, and not the key' '
    make_job env arg=env node=n0:3:0-2:1,3 node=n1:3:0-2:1,3 node=n2:1:7 env=A=first env=A=last \
        env=FLUXQ_JOB_ID=forged env=HOME=/elsewhere time_limit=600 cores_per_task=1 &&
    run_job env 3 && launch-write output env/spool 4 1 >env.4 &&
    for line in A=last HOME=/elsewhere USER=nobody FLUXQ_JOB_ID=7 FLUXQ_PROCID=4 FLUXQ_LOCALID=1 \
        FLUXQ_NODEID=1 FLUXQ_NNODES=3 FLUXQ_NTASKS=7 "FLUXQ_NODELIST=n\[0-2\]" FLUXQ_CORES=0-2 \
        FLUXQ_GPUS=1,3 CUDA_VISIBLE_DEVICES=1,3 SLURM_JOBID=7 "SLURM_TASKS_PER_NODE=3(x2),1" \
        "SLURM_JOB_CPUS_PER_NODE=3(x2),1" SLURM_CPUS_ON_NODE=3 SLURM_JOB_PARTITION=batch \
        SLURMD_NODENAME=n1 FLUX_JOB_SIZE=7 FLUX_TASK_RANK=4 FLUXQ_JOB_END_TIME=[0-9]*; do
        grep -qx "$line" env.4 || { echo "no $line"; return 1; }
    done &&
    launch-write output env/spool 6 1 >env.6 && ! grep CUDA env.6 &&
    ! grep -i "$(cat env/key)" env.4
'

# Descriptor 3 belongs to ls itself, for the directory that ls lists.
test_expect_success 'tasks inherit no descriptor and no blocked signal, and stdin is empty' '
    make_job clean arg=sh arg=-c "arg=ls /proc/self/fd; grep SigBlk /proc/self/status; cat; ulimit -n" node=n0:1 &&
    run_job clean 1 && launch-write output clean/spool 0 1 >out &&
    printf "0\n1\n2\n3\nSigBlk:\t0000000000000000\n%s\n" "$(ulimit -n)" >expected &&
    test_cmp expected out
'

test_expect_success 'the exit status of the job is the status of the worst task' '
    make_job worst arg=sh arg=-c "arg=exit \$FLUXQ_PROCID" node=n0:2 node=n1:2 &&
    run_job worst 2 && finish_is worst 768 exited "task 3 on n1: exit status 3"
'

test_expect_success 'a death by signal takes precedence over an exit code' '
    make_job sig arg=sh arg=-c "arg=[ \$FLUXQ_PROCID = 1 ] && kill -SEGV \$\$; exit 9" node=n0:1 node=n1:2 &&
    run_job sig 2 && finish_is sig 11 signaled "task 1 on n1: killed by signal 11" &&
    test "$(frames sig | grep -c ^EXIT)" = 3
'

test_expect_success 'a program that cannot be executed gives the status of a shell, and the reason' '
    make_job none arg=no-such-program node=n0:1 && run_job none 1 && finish_is none 32512 exited &&
    launch-write output none/spool 0 2 | grep "cannot execute no-such-program" &&
    make_job noexec arg="$PWD/noexec/key" node=n0:1 && run_job noexec 1 &&
    finish_is noexec 32256 exited &&
    make_job interp batch=1 script="$PWD/interp/script" node=n0:1 &&
    echo "#!/no/such/shell" | write_script interp/script && run_job interp 1 &&
    finish_is interp 32512 exited && launch-write output interp/spool 0 2 | grep "first line"
'

test_expect_success 'without its working directory a job is refused, or runs in / with a note' '
    make_job nocwd cwd=/no/such arg=pwd node=n0:1 node=n1:1 && run_job nocwd 2 &&
    finish_is nocwd 256 startfail "cannot change to directory /no/such: No such file" &&
    ! has_frame nocwd ^READY &&
    make_job fallback cwd=/no/such cwd_fallback=1 arg=pwd node=n0:1 node=n1:1 && run_job fallback 2 &&
    finish_is fallback 0 exited && has_frame fallback "^NOTE .*/no/such does not exist on n\[0-1\]" &&
    test "$(launch-write output fallback/spool 1 1)" = /
'

test_expect_success 'an output file that cannot be opened ends the job before any task starts' '
    make_job nodir arg=touch arg=ran node=n0:1 node=n1:1 output="$PWD/missing/%j.out" &&
    run_job nodir 2 && finish_is nodir 256 startfail "missing" &&
    ! has_frame nodir ^READY && ! test -e nodir/ran && ! test -e missing
'

test_expect_success 'a second start of the same job does nothing' '
    make_job twice batch=1 script="$PWD/twice/script" node=n0:1 &&
    printf "#!/bin/sh\necho ran >>count\n" | write_script twice/script &&
    run_job twice 1 && cp twice/spool before &&
    test_expect_code 3 fluxq-shell --launch twice/launch --key twice/key --rank 0 &&
    test_cmp before twice/spool && test "$(wc -l <twice/count)" = 1
'

test_expect_success 'at the time limit tasks get SIGTERM, and after the grace time SIGKILL' '
    make_job limit batch=1 script="$PWD/limit/script" node=n0:1 time_limit=1 grace=1 &&
    write_script limit/script <<-\END &&
	#!/bin/sh
	trap "echo told" TERM
	echo $$ >pids
	while :; do sleep 0.1; done
	END
    run_job limit 1 && finish_is limit 9 timeout "time limit of 0:01 reached" &&
    has_frame limit "^NOTE .*time limit of 0:01 reached" &&
    launch-write output limit/spool 0 1 | grep told && all_gone limit/pids
'

test_expect_success 'the time limit reaches the tasks of all ranks, also in other sessions' '
    make_job limits arg=sh arg=-c "arg=echo \$\$ >>pids; setsid sleep 1000 & echo \$! >>pids; wait; wait" \
        node=n0:1 node=n1:1 node=n2:1 time_limit=1 grace=5 &&
    run_job limits 3 && finish_is limits 15 timeout && test "$(wc -l <limits/pids)" = 6 &&
    all_gone limits/pids
'

test_expect_success 'a process that forked twice into its own session is dead when the job is over' '
    make_job away batch=1 script="$PWD/away/script" node=n0:1 &&
    write_script away/script <<-\END &&
	#!/bin/sh
	(setsid sh -c "trap \"\" TERM HUP; echo \$\$ >>pids; (sleep 1000 & echo \$! >>pids; wait)" &) &
	(setsid sh -c "echo \$\$ >>pids; exec >/dev/null 2>&1; sleep 1000" &)
	until [ "$(wc -l <pids 2>/dev/null)" = 3 ]; do sleep 0.01; done
	exit 4
	END
    run_job away 1 && finish_is away 1024 exited && all_gone away/pids
'

test_expect_success 'after kill -9 of an agent the job is lost with the node'\''s name, and all processes on both ranks are dead' '
    make_job kill1 arg=sh arg=-c "arg=echo \$\$ >>pids; setsid sleep 1000 & echo \$! >>pids; wait" node=n0:1 node=n1:1 grace=1 &&
    start_agent kill1 0 && start_agent kill1 1 &&
    wait_until 20 sh -c "[ \"\$(wc -l <kill1/pids)\" = 4 ]" &&
    kill -KILL "$(cat kill1/pid.1)" && end_of kill1 0 && finish_is kill1 9 lost "node n1" &&
    has_frame kill1 "^LOST rank=1 node n1" && wait_until 5 all_gone kill1/pids
'

test_expect_success 'after kill -9 of a worker its guardian cleans up, and the job ends on all ranks' '
    make_job kill2 arg=sh arg=-c "arg=echo \$\$ >>pids; setsid sleep 1000 & echo \$! >>pids; wait" node=n0:1 node=n1:1 grace=1 &&
    start_agent kill2 0 && start_agent kill2 1 &&
    wait_until 20 sh -c "[ \"\$(wc -l <kill2/pids)\" = 4 ]" &&
    kill -KILL "$(worker_of "$(cat kill2/pid.1)")" && test_expect_code 1 end_of kill2 1 &&
    end_of kill2 0 && finish_is kill2 9 lost "node n1" && wait_until 5 all_gone kill2/pids
'

test_expect_success 'after kill -9 of a guardian with the last task the job is lost, not failed by a task' '
    make_job last arg=sh arg=-c "arg=[ \$FLUXQ_PROCID = 1 ] || exit 0; echo \$\$ >>pids; exec sleep 1000" node=n0:1 node=n1:1 grace=1 &&
    start_agent last 0 && start_agent last 1 &&
    wait_until 20 test -s last/pids && wait_until 20 has_frame last "^EXIT rank=0" &&
    kill -KILL "$(cat last/pid.1)" && end_of last 0 && finish_is last 9 lost "node n1" &&
    wait_until 5 all_gone last/pids
'

test_expect_success 'after kill -9 of rank 0 the other ranks end, and no process is left' '
    make_job kill3 arg=sh arg=-c "arg=echo \$\$ >>pids; setsid sleep 1000 & echo \$! >>pids; wait" node=n0:1 node=n1:1 grace=1 &&
    start_agent kill3 0 && start_agent kill3 1 &&
    wait_until 20 sh -c "[ \"\$(wc -l <kill3/pids)\" = 4 ]" &&
    kill -KILL "$(worker_of "$(cat kill3/pid.0)")" &&
    test_expect_code 1 end_of kill3 0 && test_expect_code 1 end_of kill3 1 &&
    wait_until 5 all_gone kill3/pids && has_text "rank 0 was lost" kill3/log.1 &&
    make_job kill4 arg=sh arg=-c "arg=echo \$\$ >>pids; setsid sleep 1000 & echo \$! >>pids; wait" node=n0:1 node=n1:1 grace=1 &&
    start_agent kill4 0 && start_agent kill4 1 &&
    wait_until 20 sh -c "[ \"\$(wc -l <kill4/pids)\" = 4 ]" &&
    kill -KILL "$(cat kill4/pid.0)" && end_of kill4 1 &&
    wait_until 5 all_gone kill4/pids && finish_is kill4 9 lost "node n0: the agent was killed"
'

test_expect_success 'an agent that is stopped for too long is lost, and kills its tasks when it continues' '
    make_job frozen arg=sh arg=-c "arg=echo \$\$ >>pids; exec sleep 1000" node=n0:1 node=n1:1 grace=1 &&
    start_agent frozen 0 && start_agent frozen 1 &&
    wait_until 20 sh -c "[ \"\$(wc -l <frozen/pids)\" = 2 ]" &&
    frozen=$(worker_of "$(cat frozen/pid.1)") && kill -STOP $frozen &&
    wait_until 40 has_frame frozen ^FINISH; kill -CONT $frozen &&
    end_of frozen 0 && finish_is frozen 9 lost "node n1: .*no sign of life" && end_of frozen 1;
    wait_until 5 all_gone frozen/pids
'

test_expect_success 'SIGTERM to an agent of any rank cancels the job' '
    for rank in 0 1; do
        make_job term$rank arg=sh arg=-c "arg=echo \$\$ >>pids; exec sleep 1000" node=n0:1 node=n1:1 grace=5 &&
        start_agent term$rank 0 && start_agent term$rank 1 &&
        wait_until 20 sh -c "[ \"\$(wc -l <term$rank/pids)\" = 2 ]" &&
        kill -TERM "$(cat term$rank/pid.$rank)" && end_of term$rank 0 && end_of term$rank 1 &&
        finish_is term$rank 15 cancelled && all_gone term$rank/pids || return 1
    done
'

test_expect_success 'a failed start names the ranks that never joined' '
    make_job nojoin arg=true join_timeout=1 node=n0:1 node=n1:1 node=n2:1 node=n3:1 &&
    start_agent nojoin 0 && start_agent nojoin 2 && end_of nojoin 0 && end_of nojoin 2 &&
    finish_is nojoin 256 startfail "2 of 4 nodes did not join within 0:01: n\[1,3\]" &&
    ! has_frame nojoin ^READY
'

test_expect_success 'the executor can end the wait for ranks before the deadline, while ranks are joining' '
    make_job stopjoin arg=sh arg=-c "arg=until [ -e go ]; do sleep 0.02; done" node=n0:1 node=n1:1 &&
    start_agent stopjoin 0 && wait_until 10 request stopjoin GET /v1/status &&
    request stopjoin POST /v1/terminate?reason=startfail && end_of stopjoin 0 &&
    finish_is stopjoin 256 startfail "1 of 2 nodes did not join within 0:0[0-9]*: n1" &&
    frames stopjoin | grep "^LOST rank=1 node n1: its agent did not join"
'
test_expect_success 'after all ranks have joined the executor cannot end the wait' '
    make_job joined arg=sh arg=-c "arg=until [ -e go ]; do sleep 0.02; done" node=n0:1 node=n1:1 &&
    start_agents joined 0 1 && wait_until 10 has_frame joined ^READY &&
    test_must_fail request joined POST /v1/terminate?reason=startfail 2>err && grep 409 err &&
    : >joined/go && end_of joined 0 && end_of joined 1 && finish_is joined 0 exited
'

test_expect_success 'a rank that finds no rank 0 gives up at the deadline, and names the address' '
    make_job alone arg=true join_timeout=1 node=n0:1 node=n1:1 &&
    start_agent alone 1 && test_expect_code 1 end_of alone 1 && has_text "$PWD/alone/sock" alone/log.1
'

test_expect_success 'an agent with a wrong key cannot join, and does no harm' '
    make_job key arg=echo arg=fine node=n0:1 node=n1:1 join_timeout=10 &&
    launch-write key other && start_agent key 0 &&
    { fluxq-shell --launch key/launch --key other --rank 1 2>key/log.wrong & } && wrong=$! &&
    AGENTS="$AGENTS $wrong" && wait_until 10 has_text "does not have this job" key/log.wrong &&
    printf "FQJ1\001\000\000\000nnnnnnnnnnnnnnnnpppppppppppppppppppppppppppppppp" | launch-write raw key/sock >/dev/null &&
    has_text "refused rank 1" key/log.0 &&
    start_agent key 1 && end_of key 0 && end_of key 1 && finish_is key 0 exited;
    kill $wrong; wait $wrong; test -e key/finish
'

test_expect_success 'agents join over TCP, with a name that has several addresses' '
    port=$((20000 + $$ % 20000)) &&
    make_job tcp arg=hostname node=n0:1 node=n1:1 node=n2:1 listen=tcp:127.0.0.1:$port rendezvous=tcp:localhost:$port &&
    run_job tcp 3 && finish_is tcp 0 exited && test "$(frames tcp | grep -c ^EXIT)" = 3 &&
    make_job notcp arg=true node=n0:1 node=n1:1 join_timeout=1 rendezvous=tcp:no-such-host.invalid:1 &&
    start_agent notcp 1 && test_expect_code 1 end_of notcp 1 && has_text no-such-host notcp/log.1
'

test_expect_success 'unsigned, forged, replayed, unknown and invalid requests are refused' '
    make_job http arg=sleep arg=1000 node=n0:1 &&
    start_agent http 0 && wait_until 10 has_frame http ^READY &&
    test_must_fail launch-write unsigned http/sock GET /v1/status 2>err && grep 401 err &&
    test_must_fail launch-write request http/sock other GET /v1/status 2>err && grep 401 err &&
    test_must_fail launch-write replay http/sock http/key GET /v1/status 2>err && grep 401 err &&
    test_must_fail request http GET /v1/nothing 2>err && grep 404 err &&
    test_must_fail request http GET /v1/stream?offset=-1 2>err && grep 400 err &&
    test_must_fail request http GET /v1/stream?offset=1000000 2>err && grep 400 err &&
    test_must_fail request http POST /v1/signal?signal=99 2>err && grep 400 err &&
    test_must_fail request http POST /v1/terminate?reason=mood 2>err && grep 400 err &&
    test_must_fail request http POST /v1/release?offset=99999 2>err && grep 400 err &&
    echo nonsense | tr "\n" "\0" | launch-write raw http/sock | grep "400 Bad Request" &&
    request http GET /v1/status >status && grep "\"ranks\":1,\"joined\":1,\"running\":1,\"finished\":false" status &&
    request http POST "/v1/terminate?reason=cancelled&grace=5" && end_of http 0 &&
    finish_is http 15 cancelled
'

test_expect_success 'a signal reaches all tasks and their children' '
    make_job sigs arg=sh arg=-c "arg=trap : USR1; setsid sh -c \"trap \\\"echo child; exit\\\" USR1; touch ready.\$FLUXQ_PROCID; while :; do sleep 0.05; done\" & wait; wait" node=n0:1 node=n1:1 &&
    start_agent sigs 0 && start_agent sigs 1 &&
    wait_until 10 test -e sigs/ready.0 && wait_until 10 test -e sigs/ready.1 &&
    request sigs POST /v1/signal?signal=10 && end_of sigs 0 && end_of sigs 1 &&
    finish_is sigs 0 exited && launch-write output sigs/spool 1 1 | grep child
'

test_expect_success 'a stream has the content of the spool from any offset, to the end of the job' '
    make_job stream arg=sh arg=-c "arg=seq 100; until [ -e go ]; do sleep 0.02; done; seq 101 20000; echo err >&2" node=n0:1 node=n1:1 &&
    start_agent stream 0 && start_agent stream 1 && wait_until 10 has_frame stream ^OUTPUT &&
    { request stream GET /v1/stream?offset=0 >stream.0 & } && first=$! &&
    { request stream GET "/v1/stream?offset=16&output=1" >stream.16 & } && second=$! &&
    { request stream GET /v1/stream?output=0 >stream.events & } && third=$! &&
    wait_until 10 test -s stream.0 && wait_until 10 test -s stream.16 && wait_until 10 test -s stream.events &&
    touch stream/go && wait $first && wait $second && wait $third && end_of stream 0 && end_of stream 1 &&
    cmp stream.0 stream/spool && tail -c +17 stream/spool | cmp - stream.16 &&
    launch-write frames stream.events >events && frames stream | grep -v ^OUTPUT >expected &&
    test_cmp expected events
'

test_expect_success 'the agent stays until all output is released, and released blocks are freed' '
    make_job stay arg=sh arg=-c "arg=seq 100000" node=n0:1 node=n1:1 serve_until_released=1 &&
    start_agent stay 0 && start_agent stay 1 && wait_until 10 has_frame stay ^FINISH &&
    cp stay/spool whole && size=$(wc -c <whole) && before=$(du -k stay/spool | cut -f1) &&
    request stay GET /v1/stream?offset=0 | cmp - whole &&
    request stay POST /v1/release?offset=$((size - 10)) && after=$(du -k stay/spool | cut -f1) &&
    test $after -lt $((before / 2)) &&
    test_must_fail request stay GET /v1/stream?offset=0 2>err && grep 400 err &&
    request stay GET /v1/stream?offset=$((size - 10)) >tail.10 && tail -c 10 whole | cmp - tail.10 &&
    kill -0 "$(cat stay/pid.0)" && kill -0 "$(cat stay/pid.1)" &&
    request stay POST /v1/release?offset=$size && end_of stay 0 && end_of stay 1
'

longer()
{
    [ "$(wc -c <"$1")" -gt "$2" ]
}

test_expect_success 'output waits while the spool is full, and goes on after a release' '
    head -c 3000000 /dev/urandom >three &&
    make_job full arg=cat arg="$PWD/three" node=n0:1 node=n1:1 spool_max=300000 serve_until_released=1 &&
    start_agent full 0 && start_agent full 1 && wait_until 10 has_frame full ^OUTPUT &&
    : >full/copy && offset=0 &&
    while ! launch-write frames full/copy | grep ^FINISH; do
        wait_until 10 longer full/spool $offset &&
        test $(($(wc -c <full/spool) - offset)) -le 700000 &&
        end=$(wc -c <full/spool) && tail -c +$((offset + 1)) full/spool | head -c $((end - offset)) >>full/copy &&
        offset=$end && request full POST /v1/release?offset=$offset || break
    done &&
    end_of full 0 && end_of full 1 &&
    launch-write output full/copy 0 1 | cmp - three && launch-write output full/copy 1 1 | cmp - three
'

test_expect_success 'a remaining process that holds the output does not hold the job' '
    make_job hold arg=sh arg=-c "arg=sleep 1000 & echo \$! >pids; echo out" node=n0:1 &&
    run_job hold 1 && finish_is hold 0 exited && all_gone hold/pids &&
    make_job yes arg=sh arg=-c "arg=sh -c \"while :; do echo y; sleep 0.01; done\" & echo out" node=n0:1 &&
    run_job yes 1 && finish_is yes 0 exited
'

test_expect_success '100 MB from each of two ranks arrive unchanged' '
    head -c 100000000 /dev/urandom >data && mkdir big.out &&
    make_job big arg=cat arg="$PWD/data" node=n0:1 node=n1:1 output="$PWD/big.out/%t" &&
    begin=$(date +%s%N) && run_job big 2 && end=$(date +%s%N) && finish_is big 0 exited &&
    cmp data big.out/0 && cmp data big.out/1 &&
    launch-write output big/spool 1 1 | cmp - data &&
    echo "# 200 MB in $(((end - begin) / 1000000)) ms: $((200000000 / ((end - begin) / 1000))) MB/s, spool and files" >&3;
    status=$?; rm -rf data big big.out; (exit $status)
'

test_expect_success ROOT 'a full disk of the output file ends a job that asked for this, and the reason names the file' '
    mkdir small && mount -t tmpfs -o size=1m tmpfs small &&
    test_when_finished "umount -l small" &&
    make_job disk1 arg=cat arg="$PWD/three" node=n0:1 output="$PWD/small/out" on_full=2 &&
    run_job disk1 1 && finish_is disk1 15 signaled "cannot write .*small/out: No space left" &&
    has_frame disk1 "^NOTE .*No space left"
'

test_expect_success ROOT 'a full disk of the spool ends no job: output waits for space, and lost output is counted' '
    mkdir narrow && mount -t tmpfs -o size=1m tmpfs narrow &&
    test_when_finished "umount -l narrow" &&
    make_job disk2 arg=cat arg="$PWD/three" node=n0:1 node=n1:1 spool="$PWD/narrow/spool" && start_agents disk2 0 1 &&
    wait_until 10 has_text "output waits: no space for spool" disk2/log.0 &&
    mount -o remount,size=16m narrow && end_of disk2 0 && end_of disk2 1 &&
    cp narrow/spool disk2/spool && finish_is disk2 0 exited && launch-write output disk2/spool 1 1 | cmp - three &&
    rm narrow/spool && mount -o remount,size=1m narrow &&
    make_job disk3 arg=cat arg="$PWD/three" node=n0:1 spool="$PWD/narrow/spool" time_limit=1 && run_job disk3 1 &&
    cp narrow/spool disk3/spool && finish_is disk3 15 timeout "bytes of output had no room in spool"
'

test_expect_success ROOT 'a job runs as another user with the user'\''s groups, and cannot return to root' '
    chmod 711 "$FLUXQ_RUN" && mkdir "$FLUXQ_RUN/user" && chown 65534:65534 "$FLUXQ_RUN/user" &&
    launch-write key "$FLUXQ_RUN/user/key" && chown 65534 "$FLUXQ_RUN/user/key" &&
    launch-write launch "$FLUXQ_RUN/user/launch" listen="unix:$FLUXQ_RUN/user/sock" rendezvous="unix:$FLUXQ_RUN/user/sock" \
        spool="$FLUXQ_RUN/user/spool" cwd="$FLUXQ_RUN/user" output=ids node=n0:1 \
        arg=sh arg=-c "arg=id -u; id -g; id -G; grep NoNewPrivs /proc/\$\$/status" &&
    chown 65534 "$FLUXQ_RUN/user/launch" &&
    fluxq-shell --launch "$FLUXQ_RUN/user/launch" --key "$FLUXQ_RUN/user/key" --rank 0 --uid 65534 --gid 65534 --groups 65534,12,34 &&
    printf "65534\n65534\n65534 12 34\nNoNewPrivs:\t1\n" >expected && test_cmp expected "$FLUXQ_RUN/user/ids" &&
    test "$(stat -c %u "$FLUXQ_RUN/user/ids" "$FLUXQ_RUN/user/spool" | sort -u)" = 65534
'

test_expect_success ROOT 'an agent can be the first process of a pid namespace, as in a pod' '
    make_job pod arg=sh arg=-c "arg=setsid sleep 1000 & (setsid sleep 1000 &) & echo \$PPID; exit 3" node=n0:1 &&
    unshare --pid --fork --mount-proc --kill-child \
        fluxq-shell --launch pod/launch --key pod/key --rank 0 &&
    finish_is pod 768 exited && test "$(launch-write output pod/spool 0 1)" = 2 &&
    make_job podterm arg=sh arg=-c "arg=touch up; exec sleep 1000" node=n0:1 grace=5 &&
    { unshare --pid --fork --mount-proc --kill-child \
        fluxq-shell --launch podterm/launch --key podterm/key --rank 0 & } && outer=$! &&
    wait_until 10 test -e podterm/up && kill -TERM "$(worker_of $outer)" && wait $outer &&
    finish_is podterm 15 cancelled
'

# A home directory with a profile that sets variables, prints text, and leaves a process behind.
mkdir home && cat >home/.profile <<-\END
	echo noise from a profile
	sleep 1000 &
	FROM_PROFILE="two words" BOTH=profile
	export FROM_PROFILE BOTH
END

test_expect_success 'submitted variables take precedence over the variables of the login shell' '
    make_job login arg=env node=n0:1 node=n1:1 env=BOTH=submission user_env=8 user_env_login=1 home="$PWD/home" shell=/bin/sh &&
    run_job login 2 && finish_is login 0 exited &&
    for task in 0 1; do
        launch-write output login/spool $task 1 >env.out &&
        grep -x "FROM_PROFILE=two words" env.out && grep -x BOTH=submission env.out && ! grep noise env.out || return 1
    done &&
    make_job nologin arg=env node=n0:1 user_env=8 home="$PWD/home" shell=/bin/sh && run_job nologin 1 &&
    ! launch-write output nologin/spool 0 1 | grep FROM_PROFILE && launch-write output nologin/spool 0 1 | grep -x "HOME=$PWD/home"
'

test_expect_success 'a login shell that hangs or gives no answer costs its time and a note, and the job runs' '
    mkdir slow mute && echo "sleep 1000" >slow/.profile && echo "exit 3" >mute/.profile &&
    make_job slowjob arg=env node=n0:1 env=A=1 user_env=1 user_env_login=1 home="$PWD/slow" shell=/bin/sh && run_job slowjob 1 &&
    finish_is slowjob 0 exited && frames slowjob | grep "^NOTE.*took longer than 1 s" && launch-write output slowjob/spool 0 1 | grep -x A=1 &&
    make_job mutejob arg=env node=n0:1 env=A=1 user_env=8 user_env_login=1 home="$PWD/mute" shell=/bin/sh && run_job mutejob 1 &&
    finish_is mutejob 0 exited && frames mutejob | grep "^NOTE.*without an answer" && launch-write output mutejob/spool 0 1 | grep -x A=1 &&
    make_job noshell arg=env node=n0:1 user_env=8 user_env_login=1 home="$PWD/home" shell=/nonexistent/zsh && run_job noshell 1 &&
    launch-write output noshell/spool 0 1 | grep -x "FROM_PROFILE=two words"
'

test_expect_success 'soft limits and niceness are set, and a limit above the agent'\''s own gives a note' '
    make_job softer arg=sh arg=-c "arg=ulimit -S -n; ulimit -S -c; nice" node=n0:1 rlimit=nofile=99 rlimit=core=0 nice=3 &&
    run_job softer 1 && launch-write output softer/spool 0 1 >out && printf "99\n0\n%s\n" $(($(nice) + 3)) | test_cmp - out &&
    ! frames softer | grep ^NOTE &&
    make_job cut arg=sh arg=-c "arg=ulimit -S -n" node=n0:1 rlimit=nofile=2000 &&
    (ulimit -n 1000 && run_job cut 1) && test "$(launch-write output cut/spool 0 1)" = 1000 &&
    frames cut | grep "^NOTE.*nofile=2000 (at most 1000)"
'

test_expect_success 'requests set the target of a signal, another limit, or a step, and invalid requests are refused' '
    make_job whom arg=sh arg=-c "arg=trap \"echo got\" USR1; touch ready; while :; do sleep 0.05; done" node=n0:1 && start_agent whom 0 &&
    wait_until 10 test -e whom/ready &&
    test_must_fail request whom POST "/v1/signal?signal=10&whom=all" 2>err && grep 400 err &&
    test_must_fail request whom POST "/v1/signal?signal=10&whom=batch" 2>err && grep 404 err &&
    test_must_fail request whom POST "/v1/signal?signal=10&step=0" 2>err && grep 404 err &&
    test_must_fail request whom POST "/v1/cancel?step=0" 2>err && grep 404 err &&
    test_must_fail request whom POST "/v1/cancel" 2>err && grep 400 err &&
    test_must_fail request whom POST "/v1/limit?seconds=-1" 2>err && grep 400 err &&
    test_must_fail request whom POST "/v1/limit?seconds=nan" 2>err && grep 400 err &&
    test_must_fail request whom POST "/v1/limit" 2>err && grep 400 err &&
    request whom POST "/v1/signal?signal=10&whom=tasks" && got() { launch-write output whom/spool 0 1 | grep got; } && wait_until 10 got &&
    request whom POST "/v1/limit?seconds=0.1" && end_of whom 0 && finish_is whom 15 timeout
'

test_done
