#!/bin/sh
test_description='the agents of a job are a tree: all output arrives, each loss is named, nothing is left behind'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/agents.sh"

# With a fan-out of 3: rank 0 has children 1-3, rank 1 has 4-6, rank 4 has 13-15, rank 12 has 37-39.
NAMED='arg=echo $$ >>pids; setsid sleep 1000 & echo $! >>pids; echo $$ >pid.of.$FLUXQ_NODEID; wait'

# agents_end DIR LAST: all agents have ended with any status, rank 0 with 0.
agents_end()
{
    for rank in $(seq 1 "$2"); do
        [ "$(cat "$1/pid.$rank")" = none ] || end_of "$1" "$rank" || [ $? = 1 ] || return
    done
    end_of "$1" 0
}

# joined DIR N: N ranks have joined.
joined()
{
    request "$1" GET /v1/status 2>&1 | grep "\"joined\":$2,"
}

# lost_alone DIR NODE: NODE is the only node that is reported as lost.
lost_alone()
{
    frames "$1" | grep ^LOST >"$1/lost"
    has_lines "$1/lost" 1 && grep "^LOST rank=${2#n} node $2: its agent was lost" "$1/lost"
}

test_expect_success 'output of 40 ranks arrives complete, and the status of the job is the worst of all ranks' '
    make_tree all 40 3 arg=sh arg=-c "arg=seq \$FLUXQ_NODEID 3000; echo err >&2; exit \$FLUXQ_NODEID" &&
    run_job all 40 && finish_is all 9984 exited "task 39 on n39: exit status 39" &&
    frames all >all.frames && test "$(grep -c ^READY all.frames)" = 1 &&
    test "$(grep -c ^EXIT all.frames)" = 40 && ! grep -e ^LOST -e ^NOTE all.frames &&
    for rank in $(seq 0 39); do
        seq "$rank" 3000 >expected && launch-write output all/spool "$rank" 1 | test_cmp expected - &&
        test "$(launch-write output all/spool "$rank" 2)" = err || return 1
    done
'

test_expect_success 'only ranks with children listen, and only until the children have joined' '
    make_tree doors 13 3 arg=sh arg=-c "arg=until [ -e go ]; do sleep 0.05; done" &&
    start_agents doors 0 11 && wait_until 10 joined doors 12 &&
    ! test -e doors/sock-1 && ! test -e doors/sock-2 && test -S doors/sock-3 && test -S doors/sock-0 && ! test -e doors/sock-4 &&
    start_agent doors 12 && wait_until 10 has_frame doors ^READY && ! test -e doors/sock-3 &&
    touch doors/go && agents_end doors 12 && finish_is doors 0 exited && ! ls doors | grep sock
'

test_expect_success 'a signal reaches all ranks' '
    make_tree sigs 40 3 arg=sh arg=-c "arg=trap \"echo told; exit 0\" USR1; echo \$\$ >>up; while :; do sleep 0.2; done" &&
    start_agents sigs 0 39 && wait_until 20 has_lines sigs/up 40 &&
    request sigs POST /v1/signal?signal=10 && agents_end sigs 39 && finish_is sigs 0 exited &&
    for rank in $(seq 0 39); do
        test "$(launch-write output sigs/spool "$rank" 1)" = told || return 1
    done
'

test_expect_success 'SIGTERM to an agent deep in the tree cancels the job everywhere' '
    make_tree term 40 3 arg=sh arg=-c "$NAMED" grace=5 && start_agents term 0 39 &&
    wait_until 20 has_lines term/pids 80 && kill -TERM "$(cat term/pid.38)" &&
    agents_end term 39 && finish_is term 15 cancelled "node n38: the agent was told to end" && all_gone term/pids
'

test_expect_success 'output waits for credit through inner ranks, and arrives complete' '
    head -c 1500000 /dev/urandom >data &&
    make_tree credit 13 2 arg=cat arg="$PWD/data" spool_max=400000 serve_until_released=1 &&
    start_agents credit 0 12 && : >credit/copy && offset=0 &&
    while ! launch-write frames credit/copy | grep -q ^FINISH; do
        wait_until 20 sh -c "[ \$(wc -c <credit/spool) -gt $offset ]" || break
        end=$(wc -c <credit/spool) &&
        tail -c +$((offset + 1)) credit/spool | head -c $((end - offset)) >>credit/copy &&
        offset=$end && request credit POST /v1/release?offset=$offset || break
    done &&
    agents_end credit 12 &&
    for rank in $(seq 0 12); do
        launch-write output credit/copy "$rank" 1 | cmp - data || return 1
    done
'

# KILLED is a rank and one of its processes: after the kill the job is lost, the node is
# named, and no process is left.
for killed in "1 agent" "1 worker" "4 agent" "4 worker" "12 agent" "39 agent" "39 worker"; do
    name=kill-$(echo $killed | tr " " -)
    node=n${killed% *}
    test_expect_success "after kill -9 of the $killed the job is lost with the node's name, and no process is left" '
        make_tree $name 40 3 arg=sh arg=-c "$NAMED" grace=1 && start_agents $name 0 39 &&
        wait_until 20 has_lines $name/pids 80 && pid=$(cat $name/pid.${killed% *}) &&
        if [ "${killed#* }" = worker ]; then pid=$(worker_of $pid); fi &&
        kill -KILL $pid && wait "$(cat $name/pid.${killed% *})"; echo none >$name/pid.${killed% *};
        agents_end $name 39 && finish_is $name 9 lost "node $node: its agent was lost" &&
        lost_alone $name $node && wait_until 10 all_gone $name/pids
    '
done

test_expect_success 'an inner agent and its parent die together or in turn, and no process is left' '
    for pair in "1 4" "4 1" "4 13" "3 12"; do
        name=pair-$(echo $pair | tr " " -)
        make_tree $name 40 3 arg=sh arg=-c "$NAMED" grace=1 && start_agents $name 0 39 &&
        wait_until 20 has_lines $name/pids 80 || return 1
        workers=$(for rank in $pair; do worker_of "$(cat $name/pid.$rank)"; done) &&
        echo "$workers" >$name/workers && has_lines $name/workers 2 || return 1
        for worker in $workers; do
            kill -KILL $worker || : the other one was quicker
        done
        agents_end $name 39 && finish_is $name 9 lost "its agent was lost" &&
        wait_until 10 all_gone $name/pids || return 1
    done
'

test_expect_success 'after a kill of rank 0 the whole tree ends' '
    make_tree root 40 3 arg=sh arg=-c "$NAMED" grace=1 && start_agents root 0 39 &&
    wait_until 20 has_lines root/pids 80 && kill -KILL "$(worker_of "$(cat root/pid.0)")" &&
    for rank in $(seq 0 39); do
        test_expect_code 1 end_of root $rank || return 1
    done &&
    wait_until 10 all_gone root/pids && has_text "rank 0 was lost" root/log.1 && has_text "rank 12 was lost" root/log.39
'

test_expect_success 'when an inner agent is stopped all agents below it end' '
    make_tree frozen 13 3 arg=sh arg=-c "$NAMED" grace=1 && start_agents frozen 0 12 &&
    wait_until 20 has_lines frozen/pids 26 && frozen=$(worker_of "$(cat frozen/pid.1)") &&
    kill -STOP $frozen && wait_until 40 has_frame frozen ^FINISH &&
    cat frozen/pid.of.[4-6] >frozen/below && wait_until 20 all_gone frozen/below &&
    kill -0 "$(cat frozen/pid.of.1)"; kill -CONT $frozen;
    agents_end frozen 12 && finish_is frozen 9 lost "node n1: .*no sign of life for 20 s" &&
    lost_alone frozen n1 && wait_until 10 all_gone frozen/pids
'

test_expect_success 'an inner agent that never joins is named together with the ranks behind it' '
    make_tree nojoin 13 3 arg=true join_timeout=2 && start_agent nojoin 0 && start_agents nojoin 2 12 &&
    end_of nojoin 0 && finish_is nojoin 256 startfail "4 of 13 nodes did not join within 0:02: n1; behind them: n\[4-6\]" &&
    frames nojoin >nojoin.frames && test "$(grep -c ^LOST nojoin.frames)" = 1 &&
    grep "^LOST rank=1 node n1: its agent did not join" nojoin.frames && ! grep ^READY nojoin.frames &&
    for rank in 4 5 6; do
        test_expect_code 1 end_of nojoin $rank && has_text "could not join rank 1 at" nojoin/log.$rank || return 1
    done &&
    end_of nojoin 2 && end_of nojoin 7 && end_of nojoin 12
'

test_expect_success 'the death of an inner agent before all have joined ends the start' '
    make_tree early 14 3 arg=true && start_agents early 0 12 && wait_until 10 joined early 13 &&
    kill -KILL "$(cat early/pid.1)" && echo none >early/pid.1 && agents_end early 12 &&
    finish_is early 9 lost "node n1: its agent was lost" && ! has_frame early ^READY
'

test_expect_success 'an inner agent that cannot listen fails the start, and its node is named' '
    make_tree deaf 5 3 arg=true "listen=unix:$PWD/deaf/%r/sock" "rendezvous=unix:$PWD/deaf/%r/sock" &&
    mkdir deaf/0 && start_agents deaf 0 3 && end_of deaf 0 &&
    finish_is deaf 256 startfail "node n1: listen on unix:.*/deaf/1/sock: No such file" &&
    make_tree same 5 3 arg=true "listen=unix:$PWD/same/sock" && start_agent same 0 &&
    test_expect_code 1 end_of same 0 && has_text "needs a %r" same/log.0
'

# Opens so many connections one after another, sends one of several kinds of invalid data on
# each, and keeps the last 300 open until the end.
write_script strangers <<\END
#!/usr/bin/env python3
import os, socket, sys
path, count = sys.argv[1], int(sys.argv[2])
os.chdir(os.path.dirname(path))
kinds = [b"", b"F", b"FQJ1", b"FQJ1\4\0\0\0" + b"n" * 16, b"FQJ1\4\0\0\0" + b"n" * 16 + b"p" * 32,
         b"\0" * 100, b"GET /v1/status HTTP/1.1\r\n\r\n", b"GET " + b"x" * 9000, b"FQJ1\xff\xff\xff\xff" + b"n" * 16]
held = []
for i in range(count):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(os.path.basename(path))
        s.send(kinds[i % len(kinds)])
    except (BrokenPipeError, ConnectionResetError):
        pass
    held.append(s)
    if len(held) > 300:
        held.pop(0).close()
print("done", flush=True)
sys.stdin.read()
END

test_expect_success 'unknown clients on the port of an inner agent are refused and do no harm' '
    make_tree strange 13 3 arg=echo arg=fine && launch-write key other &&
    start_agents strange 0 3 && wait_until 10 test -S strange/sock-1 &&
    { fluxq-shell --launch strange/launch --key other --rank 4 2>strange/log.wrong & } && wrong=$! &&
    AGENTS="$AGENTS $wrong" && wait_until 10 has_text "does not have this job" strange/log.wrong &&
    raw() { launch-write raw "$PWD/strange/sock-1" >/dev/null; } &&
    printf "FQJ1\004\000\000\000nnnnnnnnnnnnnnnnpppppppppppppppppppppppppppppppp" | raw &&
    has_text "refused rank 4: it does not have the job" strange/log.1 &&
    for rank in 000 001 002 007 015 377; do
        printf "FQJ1\\$rank\000\000\000nnnnnnnnnnnnnnnnpppppppppppppppppppppppppppppppp" | raw
    done &&
    for rank in 0 1 2 7 13 255; do
        has_text "refused a connection that claims to be rank $rank\$" strange/log.1 || return 1
    done &&
    test_must_fail launch-write request strange/sock-1 strange/key GET /v1/status 2>err && grep 404 err &&
    test_must_fail launch-write request strange/sock-1 strange/key POST "/v1/terminate?reason=cancelled" 2>err && grep 404 err &&
    test_must_fail launch-write unsigned strange/sock-1 GET /v1/status 2>err && grep 404 err &&
    kill $wrong && mkfifo strange/hold && { timeout 60 ./strangers "$PWD/strange/sock-1" 10000 <strange/hold >strange/done & } &&
    strangers=$! && exec 8>strange/hold && wait_until 60 test -s strange/done &&
    worker=$(worker_of "$(cat strange/pid.1)") && test "$(ls /proc/$worker/fd | wc -l)" -lt 2100 &&
    test "$(grep -c refused strange/log.1)" -lt 100 &&
    start_agents strange 4 12 && agents_end strange 12 && exec 8>&- && wait $strangers &&
    finish_is strange 0 exited && test "$(frames strange | grep -c ^OUTPUT)" = 13
'

test_expect_success 'a second agent of a joined rank is refused' '
    make_tree second 6 3 arg=sh arg=-c "arg=echo \$\$ >>pids" &&
    start_agent second 0 && start_agent second 1 && start_agent second 4 && wait_until 10 joined second 3 &&
    { fluxq-shell --launch second/launch --key second/key --rank 4 2>second/log.again & } && again=$! &&
    AGENTS="$AGENTS $again" && wait_until 10 has_text "refused rank 4: it has joined before" second/log.1 &&
    wait_until 10 lib_gone $again && start_agents second 2 3 && start_agent second 5 && agents_end second 5 &&
    finish_is second 0 exited && has_lines second/pids 6
'

test_expect_success 'the tree works over TCP, with an address for each rank' '
    port=$((20000 + $$ % 20000)) &&
    make_tree tcp 15 2 arg=echo arg=hello listen=tcp:127.0.77.%r:$port rendezvous=tcp:127.0.77.%r:$port &&
    run_job tcp 15 && finish_is tcp 0 exited && test "$(frames tcp | grep -c ^EXIT)" = 15 &&
    make_tree every 15 2 arg=echo arg=hello listen=tcp:127.0.78.%r:$port rendezvous=tcp:127.0.78.%r:$port \
        batch=1 script="$PWD/every/script" &&
    echo "#!/bin/sh" | write_script every/script && run_job every 15 && finish_is every 0 exited
'

test_expect_success '512 agents all join and finish' '
    make_tree many 512 0 arg=true join_timeout=100 && begin=$(date +%s%N) && start_agents many 0 511 &&
    wait_until 100 has_frame many ^FINISH && end=$(date +%s%N) && finish_is many 0 exited &&
    agents_end many 511 && frames many >many.frames && test "$(grep -c ^EXIT many.frames)" = 512 &&
    ! grep -e ^LOST -e ^NOTE many.frames && ! ls many | grep ^sock &&
    echo "# 512 agents from the start of the first to the end of the job: $(((end - begin) / 1000000)) ms" >&3
'

# The task waits until the test opens the other end.
test_expect_success 'none of 512 agents has more connections than children, and all use little memory' '
    make_tree wide 512 0 arg=sh arg=-c "arg=echo \$PPID >>workers; read line <go; true" join_timeout=100 && mkfifo wide/go &&
    start_agents wide 0 511 && wait_until 100 has_lines wide/workers 512 &&
    for pid in $(cat wide/workers); do
        echo "$(ls /proc/$pid/fd | wc -l) $(sed -n "s/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p" /proc/$pid/status)"
    done | sort -n >wide/sizes && test "$(wc -l <wide/sizes)" = 512 &&
    most=$(tail -n 1 wide/sizes | cut -d" " -f1) && memory=$(cut -d" " -f2 wide/sizes | sort -n | tail -n 1) &&
    echo "# of 512 agents: at most $most descriptors and $memory KiB resident in one" >&3 &&
    test $most -le 32 && test $memory -le 8192 &&
    opened() { : <>wide/go; has_frame wide ^FINISH; } && wait_until 60 opened &&
    agents_end wide 511 && finish_is wide 0 exited
'

test_done
