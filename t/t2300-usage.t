#!/bin/sh
test_description='the job record has the usage of a job and its steps, for every kind of end'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

mkdir "$FLUXQ_RUN/bin"
ln -s "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_RUN/bin/fluxq-run"
PATH=$FLUXQ_RUN/bin:$PATH

configure()
{
    { echo 'grace: 1s'
      echo 'start-backoff: 0.1s'
      echo 'local: {nodes: 4, cores: 2}'; } >usage.yaml
}
configure

# figure ID STEP JQ: prints a value of one step in the job's record.
figure()
{
    fluxq-show job "$1" --json | jq -r --arg step "$2" ".steps[] | select(.step == \$step) | $3"
}

# holds ID STEP JQ: the condition is true for this step.
holds()
{
    [ "$(figure "$1" "$2" "$3")" = true ] && return
    echo "job $1, step $2: not so: $3" >&2
    fluxq-show job "$1" --json | jq .steps >&2
    return 1
}

if [ -r /proc/self/io ]; then
    test_set_prereq IO
fi

test_expect_success 'the broker starts' '
    start_broker --config usage.yaml
'

# One process of the job touches 64 MiB; a loop that only computes takes user time.
write_script work.sh <<'END'
#!/bin/sh
i=0
while [ $i -lt 100000 ]; do i=$((i + 1)); done
dd if=/dev/zero of="$1" bs=64M count=1
END

test_expect_success 'a job shows its processor time, its peak memory with the node, and its step' '
    id=$(fluxq-submit -N 1 -o /dev/null work.sh big) && wait_job_state $id COMPLETED &&
    holds $id batch ".user.sum > 0" &&
    holds $id batch ".peak.max >= 67108864 and .peak.max < 1073741824" &&
    holds $id batch ".peak.max_node == \"$(job_field $id nodelist)\"" &&
    holds $id batch ".name == \"work.sh\" and .ntasks == 1 and .nnodes == 1 and .status == 0" &&
    holds $id batch ".end >= .begin and .begin > 1500000000" &&
    holds $id all ".user.sum > 0 and .reported == 1"
'

test_expect_success IO 'bytes read and written include bytes in caches' '
    holds $id batch ".read.sum >= 67108864 and .written.sum >= 67108864" &&
    holds $id all ".read.sum >= 67108864"
'

test_expect_success IO,ROOT 'bytes read and written are known for jobs of other users, too' '
    chmod 711 "$FLUXQ_RUN" &&
    other=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups fluxq-submit --wait -o /dev/null -- \
        dd if=/dev/zero of=/dev/null bs=1M count=3) &&
    holds $other tasks ".read.sum >= 3145728 and .read.sum < 4000000 and .written.sum >= 3145728"
'

test_expect_success 'fluxq-show prints a line for each step' '
    fluxq-show job $id >text && grep -E "^STEP +NAME +TASKS +NODES +STATUS +ELAPSED +USER +SYSTEM +PEAK +NODE" text &&
    grep -E "^batch +work.sh +1 +1 +0 +0:[0-9]+ +[0-9.:]+ +[0-9.:]+ +[0-9]+ MiB +node" text
'

test_expect_success 'the tasks of a job without a script are the step "tasks", over all nodes' '
    id=$(fluxq-submit -N 3 -o /dev/null -- sh -c "[ \$FLUXQ_PROCID != 2 ] || dd if=/dev/zero of=/dev/null bs=48M count=1") &&
    wait_job_state $id COMPLETED &&
    holds $id tasks ".ntasks == 3 and .nnodes == 3 and .reported == 3" &&
    holds $id tasks ".peak.max >= 50331648 and .peak.min < 50331648" &&
    holds $id tasks "[.ranks[].node] == [\"node0\", \"node1\", \"node2\"]" &&
    holds $id tasks ".peak.max_node == \"node2\" and .ranks[2].peak == .peak.max" &&
    holds $id tasks ".peak.mean * 3 <= .peak.sum"
'

write_script steps.sh <<'END'
#!/bin/sh
fluxq-run -N 2 -n 2 --job-name=wide dd if=/dev/zero of=/dev/null bs=48M count=1
fluxq-run -N 1 -n 1 sh -c "exit 3"
fluxq-run -N 1 -n 1 sh -c '(head -c 3000000 /dev/zero >/dev/null; : >left) & exit 0'
while [ ! -e left ]; do sleep 0.05; done
exit 0
END

test_expect_success 'each step of fluxq-run has a line with size, status, times and usage' '
    id=$(fluxq-submit -N 2 -o /dev/null steps.sh) && wait_job_state $id COMPLETED &&
    [ "$(fluxq-show job $id --json | jq -c "[.steps[].step]")" = "[\"0\",\"1\",\"2\",\"batch\",\"all\"]" ] &&
    holds $id 0 ".name == \"wide\" and .ntasks == 2 and .nnodes == 2 and .status == 0" &&
    holds $id 0 ".peak.min >= 50331648 and .reported == 2" &&
    holds $id 1 ".name == \"sh\" and .status == 768 and .nnodes == 1 and .peak.max < 50331648" &&
    holds $id 1 ".begin >= $(figure $id 0 .end)" &&
    holds $id all ".peak.max >= 50331648 and .nnodes == 2" &&
    holds $id batch ".peak.max < 50331648"
'

test_expect_success IO 'the total includes processes that tasks left behind' '
    holds $id all ".read.sum >= $((2 * 48 * 1048576 + 3000000))"
'

# For a job that is ended, the running step is in the record, too.
write_script long.sh <<'END'
#!/bin/sh
fluxq-run -n 1 dd if=/dev/zero of=/dev/null bs=48M count=1
echo begun >begun
fluxq-run -n 1 sleep 97601
END

ended_well()
{
    holds "$1" 0 ".peak.max >= 50331648 and .status == 0" &&
        holds "$1" 1 ".status != 0 and .reported == 1 and .name == \"sleep\"" &&
        holds "$1" batch ".status != 0 and .reported == 1" && holds "$1" all ".reported == 1"
}

test_expect_success 'a cancelled job has its usage' '
    rm -f begun && id=$(fluxq-submit -o /dev/null long.sh) && wait_until 20 [ -e begun ] &&
    until_step() { fluxq-show job $id --json | jq -e ".steps | length > 0" >/dev/null; } &&
    wait_until 20 until_step &&
    until_second() { ps -eo args | grep -q "^sleep 9760[1]"; } && wait_until 20 until_second &&
    fluxq-cancel $id && wait_job_state $id CANCELLED && ended_well $id
'

test_expect_success 'a job at its time limit has its usage' '
    rm -f begun && id=$(fluxq-submit -t 0:03 -o /dev/null long.sh) && wait_job_state $id TIMEOUT 40 && ended_well $id
'

test_expect_success 'after kill -9 of the broker no usage is lost or repeated' '
    rm -f begun go && write_script wait.sh <<-"END" &&
	#!/bin/sh
	fluxq-run -n 1 dd if=/dev/zero of=/dev/null bs=48M count=1
	echo begun >begun
	while [ ! -e go ]; do sleep 0.05; done
	END
    id=$(fluxq-submit -o /dev/null wait.sh) && wait_until 20 [ -e begun ] && kill_broker &&
    start_broker --config usage.yaml && : >go && wait_job_state $id COMPLETED &&
    [ "$(fluxq-show job $id --json | jq -c "[.steps[].step]")" = "[\"0\",\"batch\",\"all\"]" ] &&
    holds $id 0 ".peak.max >= 50331648" && [ "$(count_events $id usage)" = 1 ] &&
    fluxq-show job $id --json | jq .steps >before && kill_broker && start_broker --config usage.yaml &&
    fluxq-show job $id --json | jq .steps >after && test_cmp before after
'

test_expect_success 'a step that ended where the spool was cut is still reported' '
    write_script cut.sh <<-\END &&
	#!/bin/sh
	head -c 200000 /dev/zero
	fluxq-run -n 1 -o none true
	head -c 6000000 /dev/zero
	fluxq-run -n 1 -o none true
	END
    stop_broker && echo "output-max: 1Mi" >>usage.yaml && start_broker --config usage.yaml &&
    id=$(fluxq-submit -o /dev/null cut.sh) && wait_job_state $id COMPLETED &&
    fluxq-logs $id | tr -d "\0" | grep "left out" &&
    [ "$(figure $id 0 .ntasks)" = 1 ] && [ "$(figure $id 1 .ntasks)" = 1 ] &&
    [ "$(fluxq-show job $id --json | jq ".steps | length")" = 4 ]
'

test_expect_success 'a lost rank has no usage, the other ranks have theirs' '
    rm -f go && id=$(fluxq-submit --no-requeue -N 2 -o /dev/null -- sh -c "while [ ! -e go ]; do sleep 0.05; done") &&
    wait_job_state $id RUNNING && kill -9 $(worker_of $id 1) && wait_job_state $id NODE_FAIL 40 &&
    holds $id tasks ".reported == 1 and [.ranks[].rank] == [0] and .nnodes == 2" &&
    holds $id all ".reported == 1"
'

test_expect_success 'each attempt of a requeued job has its own usage' '
    id=$(fluxq-submit --requeue -N 2 -o /dev/null -- sh -c "while [ ! -e go ]; do sleep 0.05; done") &&
    wait_job_state $id RUNNING && kill -9 $(worker_of $id 1) &&
    restarted() { [ "$(job_field $id restarts)" = 1 ]; } && wait_until 20 restarted && : >go &&
    wait_job_state $id COMPLETED 40 && holds $id tasks ".reported == 2" &&
    fluxq-show job $id --events --json | jq -c "[.events[] | select(.name == \"usage\") | .context.attempt]" >got &&
    echo "[0,1]" >want && test_cmp want got
'

test_expect_success 'a job that never started has no steps' '
    id=$(fluxq-submit --hold -o /dev/null -- true) && fluxq-cancel $id && wait_job_state $id CANCELLED &&
    [ "$(fluxq-show job $id --json | jq -c .steps)" = "[]" ] && [ "$(count_events $id usage)" = 0 ]
'

# More ranks than the record lists one by one, and more steps than the record keeps.
test_expect_success 'for a job of many ranks the record has the sum, the minimum and the maximum with their ranks' '
    stop_broker && start_broker --local 70 &&
    id=$(fluxq-submit -N 70 -o /dev/null -- sh -c "[ \$FLUXQ_PROCID != 69 ] || dd if=/dev/zero of=/dev/null bs=48M count=1") &&
    wait_job_state $id COMPLETED 60 &&
    holds $id tasks ".reported == 70 and .ntasks == 70 and .ranks == null" &&
    holds $id tasks ".peak.max >= 50331648 and .peak.max_node == \"node69\" and .peak.min < 50331648"
'

test_done
