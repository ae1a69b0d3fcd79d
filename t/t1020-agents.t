#!/bin/sh
test_description='after a kill or fault of an agent or task the job ends everywhere and leaves nothing'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

# T_MARK in the environment identifies the processes of each job.
begin_job()
{
    T_MARK=t1020-$$-$1
    export T_MARK
    shift
    id=$(fluxq-submit --no-requeue "$@") && wait_job_state "$id" RUNNING
}

# A job of two ranks with started tasks: no agent has a child that is still a copy of the agent.
begin_stubborn()
{
    rm -f up.* && begin_job "$1" -N 2 -n 2 -o /dev/null -- ./stubborn.sh &&
        wait_until 10 test -e up.0 && wait_until 10 test -e up.1
}

nothing_left()
{
    wait_until 20 nodes_free &&
        left=$(processes_with "T_MARK=$T_MARK") && test -z "$left" && test -z "$(agents_of "$id")"
}

# Tasks that never end by themselves, and children that have lost their parent.
write_script stubborn.sh <<\END
#!/bin/sh
trap '' TERM HUP INT
sleep 97531 &
setsid sh -c 'trap "" TERM HUP; sleep 97532 & setsid sleep 97533 & wait' &
touch "up.${FLUXQ_PROCID:-0}"
while :; do sleep 1; done
END

echo "grace: 1s" >grace.yaml
start_broker --local 4 --config grace.yaml
for who in guardian worker; do
    for rank in 1 0; do
        test_expect_success "after kill -9 of the $who of rank $rank the job ends as lost and names the node" "
            begin_stubborn $who$rank &&
            kill -9 \$(${who}_of \$id $rank) &&
            wait_job_state \$id NODE_FAIL &&
            job_field \$id result_text >text &&
            grep node$rank text &&
            nothing_left
        "
    done
done
test_expect_success 'after kill -9 of all agents at once the job ends as lost' '
    begin_stubborn all &&
    kill_all $(agents_of $id) &&
    wait_job_state $id NODE_FAIL &&
    nothing_left
'
# Each process of the chain is known only by its predecessor, so the broker gets them as children one
# at a time.
test_expect_success 'before the next job on the nodes starts no process of a killed agent'\''s job is left' '
    write_script row.sh <<-\END &&
	#!/bin/sh
	trap "" TERM HUP INT
	if [ $1 = 0 ]; then
	    touch row
	    exec sleep 97539
	fi
	setsid ./row.sh $(($1 - 1)) &
	wait
	END
    write_script look.sh <<-\END &&
	#!/bin/sh
	echo found:
	grep -lzsFx "T_MARK=$1" /proc/[0-9]*/environ
	:
	END
    begin_job row -o /dev/null -- ./row.sh 200 && wait_until 20 test -e row &&
    mark=$T_MARK && unset T_MARK && # processes that this test starts while it waits do not belong to the job
    next=$(fluxq-submit -N 4 --exclusive -o found.txt ./look.sh $mark) &&
    test "$(processes_with T_MARK=$mark | wc -l)" -gt 200 && test "$(job_state $next)" = PENDING &&
    kill_all $(agents_of $id) &&
    wait_job_state $id NODE_FAIL && wait_job_state $next COMPLETED &&
    echo found: >expected && test_cmp expected found.txt && T_MARK=$mark && nothing_left
'
test_expect_success 'a cancelled job ends although one of its agents is stopped' '
    begin_job stopped -N 2 -n 2 -o /dev/null -- sleep 97534 &&
    kill -STOP $(worker_of $id 1) &&
    fluxq-cancel $id &&
    wait_job_state $id "CANCELLED|NODE_FAIL" 60 &&
    nothing_left
'
test_expect_success 'processes that a task leaves behind, also daemons in sessions of their own, end with the job' '
    write_script daemon.sh <<-\END &&
	#!/bin/sh
	setsid sh -c "setsid sleep 97535 >/dev/null 2>&1 & sleep 97536 >/dev/null 2>&1 &" &
	wait
	exit 4
	END
    T_MARK=t1020-$$-daemon && export T_MARK &&
    id=$(fluxq-submit -N 2 -o /dev/null ./daemon.sh) &&
    wait_job_state $id FAILED &&
    test "$(job_field $id exit_code)" = 4 &&
    nothing_left
'
test_expect_success 'the time limit kills a task that ignores SIGTERM after the grace' '
    T_MARK=t1020-$$-limit && export T_MARK &&
    id=$(fluxq-submit -N 2 -n 2 -t 0:02 -o limit.txt -- ./stubborn.sh) &&
    wait_job_state $id TIMEOUT &&
    job_field $id result_text >text && grep -i "time limit" text &&
    nothing_left
'
test_expect_success 'a task that handles SIGTERM can clean up at the time limit' '
    write_script tidy.sh <<-\END &&
	#!/bin/sh
	trap "echo tidied; exit 0" TERM
	sleep 97537 & wait
	END
    T_MARK=t1020-$$-tidy && export T_MARK &&
    id=$(fluxq-submit -t 0:01 -o tidy.txt ./tidy.sh) &&
    wait_job_state $id TIMEOUT && grep -x tidied tidy.txt && nothing_left
'
test_expect_success 'a cancelled task that ignores SIGTERM is killed after the grace' '
    begin_stubborn cancel &&
    fluxq-cancel $id &&
    wait_job_state $id CANCELLED && nothing_left
'
test_expect_success 'a job cancelled during its start ends as cancelled, at any stage of the start' '
    T_MARK=t1020-$$-early && export T_MARK &&
    for i in $(seq 30); do
        id=$(fluxq-submit -N 2 -n 2 -o /dev/null -- sleep 97538) && fluxq-cancel $id || return 1
        echo $id >>early
    done &&
    for id in $(cat early); do
        wait_job_state $id CANCELLED || return 1
    done &&
    nothing_left
'
test_expect_success 'a task killed by a signal gives exit status 128 + signal, and the text names the signal' '
    write_script suicide.sh <<-\END &&
	#!/bin/sh
	kill -SEGV $$
	END
    id=$(fluxq-submit -o /dev/null ./suicide.sh) &&
    wait_job_state $id FAILED &&
    test "$(job_field $id exit_code)" = 139 &&
    job_field $id result_text | grep -i "signal 11" &&
    test_expect_code 139 fluxq-submit --wait -o /dev/null ./suicide.sh
'
test_expect_success 'if the agent cannot be started the job fails with the reason, and the broker goes on' '
    stop_broker &&
    cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" shell &&
    FLUXQ_SHELL=$PWD/shell && export FLUXQ_SHELL &&
    printf "start-retries: 0\ngrace: 1s\n" >grace.yaml &&
    start_broker --local 4 --config grace.yaml &&
    mv shell gone &&
    id=$(fluxq-submit -- true) &&
    wait_job_state $id FAILED &&
    job_field $id result_text | grep "shell" &&
    mv gone shell &&
    id=$(fluxq-submit -- true) && wait_job_state $id COMPLETED &&
    unset FLUXQ_SHELL && nodes_free
'
# An agent that never joins replaces the agent of rank BAD.
test_expect_success 'if an agent dies before all agents have joined, the start fails at once and the other agents end' '
    stop_broker && mv shell agent &&
    write_script shell <<-END &&
	#!/bin/sh
	cd "$PWD"
	[ -e bad ] && case " \$* " in
	*" --rank \$(cat bad) "*) exec sleep 97540 ;;
	esac
	exec ./agent "\$@"
	END
    FLUXQ_SHELL=$PWD/shell && export FLUXQ_SHELL &&
    start_broker --local 4 --config grace.yaml &&
    for rank in 1 0; do
        echo $rank >bad && T_MARK=t1020-$$-bad$rank && export T_MARK && id=$(fluxq-submit -N 3 -o /dev/null -- true) &&
        wait_until 10 eval "pid=\$(pgrep -P $BROKER_PID -x sleep)" && kill -9 $pid &&
        wait_job_state $id FAILED && job_field $id result_text >text && cat text &&
        grep "node$rank: its agent was killed before all were ready" text && nothing_left || return 1
    done &&
    rm bad && id=$(fluxq-submit -N 3 -- true) && wait_job_state $id COMPLETED &&
    unset FLUXQ_SHELL && nodes_free
'
test_expect_success 'no process of a job is left, and the broker stops cleanly' '
    none_active && stop_broker
'

# Broker and agents die at the same time: the kernel then no longer knows the processes of the job as children
# of an agent. Only the cgroup identifies processes that have also changed their environment.
cgroups=$(awk '$3 == "cgroup2" || ($3 == "cgroup" && $4 ~ /freezer/) { print $2 }' /proc/mounts)
[ "$(id -u)" = 0 ] || cgroups=
leave_behind()
{
    rm -f left.* && printf "grace: 1s\nlocal: {nodes: 4, cgroup: $1}\n" >cgroup.yaml && start_broker --config cgroup.yaml &&
        begin_job "gone$2" -N 2 -n 2 -o /dev/null -- ./leaves.sh "$2" && mark=$T_MARK && unset T_MARK &&
        wait_until 10 eval "[ \$(ls left.* | wc -l) = 6 ]" && kill_all $(agents_of $id) $BROKER_PID && lib_reap
    BROKER_PID=
    for file in left.*; do
        ! lib_gone ${file#left.} || return 1
    done
}
all_ended()
{
    for file in left.*; do
        lib_gone ${file#left.} || return 1
    done
}
test_expect_success 'if broker and agents are killed at the same time, remaining processes of the job end before the job does' '
    write_script leaves.sh <<-\END &&
	#!/bin/sh
	[ $1 = kept ] || unset FLUXQ_AGENT_SOCKET T_MARK
	( (setsid sh -c "trap \"\" TERM HUP; touch left.\$\$; exec sleep 97541" &) )
	( (trap "" TERM HUP; exec setsid sh -c "sh -c \"touch left.\\\$\\\$; exec sleep 97541\" & touch left.\$\$; wait" &) )
	sleep 97541
	END
    for how in $cgroups none auto; do
        env=changed && { [ $how != none ] || env=kept; } && { [ $how != auto ] || [ -n "$cgroups" ] || env=kept; } &&
        leave_behind $how $env && start_broker --config cgroup.yaml &&
        wait_job_state $id NODE_FAIL && all_ended && wait_until 10 nodes_free && stop_broker &&
        ! ls -d $(sed -n "s/.*each job has a cgroup in //p" "$BROKER_LOG" | tail -n 1)/job-* || return 1
    done
'
# With 20 nodes, ranks 17 to 19 connect to rank 1. The sockets are below the state directory, and
# its name contains a sequence that looks like the pattern of a rank.
test_expect_success 'a job of 20 nodes has two levels of agents, and leaves no socket when an inner agent is killed' '
    BROKER_STATE=$PWD/per%rcent && start_broker --local 20 --config grace.yaml && T_MARK=t1020-$$-tree && export T_MARK &&
    id=$(fluxq-submit --wait -N 20 -o "tree-%t.out" -- sh -c "echo \$FLUXQ_NODEID") &&
    for i in $(seq 0 19); do [ "$(cat tree-$i.out)" = "$i" ] || return 1; done &&
    begin_job tree -N 20 -n 20 -o /dev/null -- sleep 1000 &&
    worker=$(worker_of $id 19) && kill -9 $(worker_of $id 1) &&
    wait_job_state $id NODE_FAIL && job_field $id result_text | grep "node1: its agent was lost" &&
    nothing_left && lib_gone $worker && ! find "$BROKER_STATE" -name "socket-*" | grep . && stop_broker
'
# A broker searches the processes of the machine when it starts. It must open no descriptors
# for processes of other brokers: otherwise one busy user would stop all brokers.
test_expect_success 'the agents of another broker use no descriptor of this broker' '
    BROKER_STATE=$PWD/busy && start_broker --local 8 && T_MARK=t1020-$$-others && export T_MARK &&
    begin_job others -N 8 -o /dev/null -- sleep 1000 &&
    mkdir -m 700 own && { "$FLUXQ_BUILD_DIR/src/broker/fluxqd" --local 1 --state-dir own/state \
        --runtime-dir own/run 2>own/log & } && own=$! && test_when_finished "kill $own 2>/dev/null || :" &&
    wait_until 30 test -S own/run/fluxqd.sock && ls -l /proc/$own/fd >own/fds &&
    ! grep pidfd own/fds && kill $own && wait $own && fluxq-cancel $id && nothing_left && stop_broker
'
test_done
