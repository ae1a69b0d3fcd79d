#!/bin/sh
test_description='a job that loses a node or cannot start is requeued: how often, when, at which place'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

shell=$FLUXQ_RUN/fluxq-shell
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$shell"

# configure LINE...: adds LINE... to the configuration of this test's machine.
configure()
{
    { echo "shell-path: $shell"
      echo 'grace: 1s'
      echo 'local: {nodes: 2, cores: 2}'
      printf '%s\n' "$@"; } >requeue.yaml
}

# Each case begins with an empty queue, also after a failed case.
fresh()
{
    [ ! -e "$shell.away" ] || mv "$shell.away" "$shell"
    none_active || fluxq-cancel -t PENDING,RUNNING
    configure "$@" && wait_until 20 none_active && fluxq-ctl reload
}

# Records each run with the variables about earlier runs, and runs until the test lets the job end.
write_script again.sh <<\END
#!/bin/sh
echo "${FLUXQ_RESTART_COUNT-none} ${SLURM_RESTART_COUNT-none}" >>"runs.$FLUXQ_JOB_ID"
until [ -e "go.$FLUXQ_JOB_ID" ]; do sleep 0.05; done
END

again()
{
    fluxq-submit -o /dev/null "$@" ./again.sh
}

has_run()
{
    [ -e "runs.$1" ] && [ "$(wc -l <"runs.$1")" = "$2" ]
}

# runs ID N: the job is in its N-th run, and the broker knows of the start.
runs()
{
    wait_until 20 has_run "$1" "$2" && wait_job_state "$1" RUNNING
}

lose()
{
    kill_all $(agents_of "$1")
}

may_end()
{
    touch "go.$1" && wait_job_state "$1" COMPLETED
}

has_events()
{
    [ "$(count_events "$1" "$2")" = "$3" ]
}

# For each requeue: the time in tenths of a second that the job then waits; 0: no wait.
waits()
{
    fluxq-show job "$1" --events --json |
        jq -r '.events[] | select(.name == "requeue") | if .context.begin == 0 then 0
               else ((.context.begin - .timestamp) * 10 | round) end' | tr '\n' ' '
}

configure
test_expect_success 'a job that loses a node is requeued, completes, and sees the count of restarts' '
    start_broker --config requeue.yaml &&
    id=$(SLURM_RESTART_COUNT=7 again -N 2) && runs $id 1 &&
    kill -9 $(worker_of $id 1) &&
    runs $id 2 && test "$(job_field $id restarts)" = 1 &&
    lose $id &&
    runs $id 3 && may_end $id &&
    printf "%s\n" "none none" "1 1" "2 2" >expected && test_cmp expected "runs.$id" &&
    has_events $id requeue 2 && has_events $id finish 1 && has_events $id submit 1 &&
    fluxq-show job $id --events | grep "requeue.*node lost: .*node1" &&
    test "$(job_field $id exit_code)" = 0 && wait_until 20 nodes_free
'
test_expect_success 'all tasks of a requeued job see the count of restarts, and dependent jobs keep waiting' '
    fresh && id=$(fluxq-submit -N 2 -n 2 -o /dev/null -- sh -c \
        "echo \$FLUXQ_PROCID \${SLURM_RESTART_COUNT-none} >>tasks; until [ -e go.\$FLUXQ_JOB_ID ]; do sleep 0.05; done") &&
    wait_job_state $id RUNNING && wait_until 10 eval "[ \$(wc -l <tasks) = 2 ]" &&
    after=$(fluxq-submit -d afterany:$id -o /dev/null -- true) &&
    { { fluxq-submit --wait -d afterok:$id -o /dev/null -- sh -c "exit 6"; echo $? >waited; } & } && waiter=$! &&
    kill -9 $(guardian_of $id 0) &&
    wait_until 20 eval "[ \$(wc -l <tasks) = 4 ]" &&
    test "$(job_state $after)" = PENDING && test ! -e waited &&
    may_end $id && wait_job_state $after COMPLETED && wait $waiter && test "$(cat waited)" = 6 &&
    sort tasks >ran && printf "%s\n" "0 1" "0 none" "1 1" "1 none" >expected && test_cmp expected ran
'

test_expect_success 'a lost job with --no-requeue, from any source, ends as NODE_FAIL' '
    fresh && printf "#!/bin/sh\n#SBATCH --no-requeue\ntouch up.\$FLUXQ_JOB_ID; exec sleep 97501\n" >no.sh &&
    printf "#!/bin/sh\n#FLUXQ --no-requeue\ntouch up.\$FLUXQ_JOB_ID; exec sleep 97501\n" >own.sh &&
    a=$(again --no-requeue) && b=$(FLUXQ_REQUEUE=no again) && c=$(FLUXQ_NO_REQUEUE=1 again --requeue --no-requeue) &&
    d=$(fluxq-submit -o /dev/null no.sh) &&
    runs $a 1 && runs $b 1 && runs $c 1 && wait_job_state $d RUNNING &&
    for id in $a $b $c $d; do
        lose $id && wait_job_state $id NODE_FAIL && has_events $id requeue 0 &&
        job_field $id result_text | grep "^node lost: .*node[01]" || return 1
    done &&
    e=$(fluxq-submit -o /dev/null own.sh) && wait_job_state $e RUNNING && lose $e && wait_job_state $e NODE_FAIL
'
# The first of 200 tasks kills the agent while the agent starts the other tasks.
suicidal()
{
    fluxq-submit "$@" -N 1 -n 200 -o /dev/null -- sh -c \
        '[ $FLUXQ_PROCID = 0 ] || exec sleep 97503; echo >>runs.$FLUXQ_JOB_ID; kill -9 $PPID'
}
test_expect_success 'a job with --no-requeue does not run again if its agent dies during the start of the tasks' '
    stop_broker && printf "start-retries: 2\ngrace: 1s\n" >many.yaml &&
    printf "local: {nodes: 2, cores: 400}\n" >>many.yaml && start_broker --config many.yaml &&
    for i in 1 2 3 4 5; do
        id=$(suicidal --no-requeue) && wait_job_state $id NODE_FAIL && has_events $id requeue 0 &&
        has_events $id start 1 && has_run $id 1 || return 1
    done &&
    id=$(suicidal) && wait_job_state $id NODE_FAIL && has_run $id 3
'
test_expect_success 'a job with --no-requeue does not run again if the broker dies with the agent' '
    for i in 1 2 3; do
        id=$(fluxq-submit --no-requeue -N 1 -o /dev/null -- sh -c "echo >>runs.\$FLUXQ_JOB_ID; kill -9 $BROKER_PID \$PPID") &&
        lib_reap || : && start_broker --config many.yaml &&
        wait_job_state $id NODE_FAIL && has_run $id 1 || return 1
    done
'
test_expect_success 'a --requeue with precedence over --no-requeue applies' '
    restart_broker --config requeue.yaml && fresh && printf "#!/bin/sh\n#SBATCH --no-requeue\necho >>runs.\$FLUXQ_JOB_ID; exec sleep 97502\n" >no.sh &&
    a=$(fluxq-submit --requeue -o /dev/null no.sh) && b=$(FLUXQ_REQUEUE=1 fluxq-submit -o /dev/null no.sh) &&
    for id in $a $b; do
        runs $id 1 && lose $id && runs $id 2 && fluxq-cancel $id && wait_job_state $id CANCELLED || return 1
    done
'
test_expect_success 'a cancelled job, and a job that ends by itself, is not requeued' '
    fresh && write_script stubborn.sh <<-\END &&
	#!/bin/sh
	trap "" TERM
	touch up.$FLUXQ_JOB_ID
	while :; do sleep 0.1; done
	END
    id=$(fluxq-submit -o /dev/null ./stubborn.sh) && wait_job_state $id RUNNING && wait_until 10 test -e up.$id &&
    fluxq-cancel $id && lose $id && wait_job_state $id CANCELLED && has_events $id requeue 0 &&
    id=$(fluxq-submit -o /dev/null -- sh -c "kill -KILL \$\$") && wait_job_state $id FAILED && has_events $id requeue 0
'
test_expect_success 'the configuration sets requeue for jobs without the option, also by a reload' '
    fresh && a=$(again) && b=$(again --requeue) && runs $a 1 && runs $b 1 &&
    configure "requeue: false" && fluxq-ctl reload && lose $a && lose $b &&
    wait_job_state $a NODE_FAIL && runs $b 2 && may_end $b
'
test_expect_success 'a job that is lost too often ends with the reason' '
    fresh "start-retries: 2" && id=$(again) &&
    for n in 1 2 3; do runs $id $n && lose $id || return 1; done &&
    wait_job_state $id NODE_FAIL && has_events $id requeue 2 && has_run $id 3 &&
    job_field $id result_text >text && grep "^node lost: .*node[01].* (try 3 of 3)" text &&
    fresh "start-retries: 0" &&
    id=$(again) && runs $id 1 && lose $id && wait_job_state $id NODE_FAIL && has_events $id requeue 0
'

# Three jobs that each need the whole machine; the first is lost while the others are pending.
three()
{
    first=$(again -N 2 -c 2) && runs "$first" 1 && second=$(again -N 2 -c 2) && third=$(again -N 2 -c 2) &&
        lose "$first"
}
test_expect_success 'with "requeue-order: old" a requeued job is before later jobs' '
    age="priority: {age: 1000000, age-max: 100s}" &&
    fresh "$age" && three &&
    runs $first 2 && may_end $first && runs $second 1 && may_end $second && runs $third 1 && may_end $third
'
test_expect_success 'with "requeue-order: end" a requeued job is behind jobs that were pending' '
    fresh "$age" "requeue-order: end" && three &&
    runs $second 1 && test "$(job_state $first)" = PENDING &&
    fluxq-queue -t PENDING --json | jq ".jobs[].id" >order &&
    printf "%s\n" $third $first >expected && test_cmp expected order &&
    restart_broker && fluxq-queue -t PENDING --json | jq ".jobs[].id" >order && test_cmp expected order &&
    may_end $second && runs $third 1 && may_end $third && runs $first 2 && may_end $first
'

test_expect_success '"requeue-order: end" works also if age has no points, and puts the job before later submits' '
    fresh "priority: {age: 0}" "requeue-order: end" && three && runs $second 1 && fourth=$(again -N 2 -c 2) &&
    fluxq-queue -t PENDING --json | jq ".jobs[].id" >order &&
    printf "%s\n" $third $first $fourth >expected && test_cmp expected order &&
    restart_broker && fluxq-queue -t PENDING --json | jq ".jobs[].id" >order && test_cmp expected order &&
    may_end $second && runs $third 1 && may_end $third && runs $first 2 && may_end $first && runs $fourth 1 && may_end $fourth
'
test_expect_success '"requeue-order: end" overrides all other points, and fluxq-show priority shows the rule' '
    fresh "priority: {age: 0, size: 100000}" "requeue-order: end" &&
    first=$(again -N 2 -c 2) && runs $first 1 && small=$(again -c 2) && lose $first &&
    runs $small 1 && test "$(job_state $first)" = PENDING &&
    fluxq-show priority $first >terms && grep "requeue" terms &&
    fluxq-show priority $first --json | jq -e "(.priority == ([.terms[].points] | add)) and any(.terms[]; .name == \"requeue\" and .points < 0)" &&
    may_end $small && runs $first 2 && may_end $first
'

test_expect_success 'a job that is lost without a broker is requeued by the next broker' '
    fresh && id=$(again -N 2) && runs $id 1 && pids=$(agents_of $id) && kill_broker && kill_all $pids &&
    start_broker --config requeue.yaml && runs $id 2 && may_end $id && has_events $id requeue 1 &&
    printf "%s\n" "none none" "1 1" >expected && test_cmp expected "runs.$id"
'
test_expect_success 'if the broker is killed right after the loss the job runs once more' '
    fresh && id=$(again -N 2) && runs $id 1 && lose $id && kill_broker &&
    start_broker --config requeue.yaml && runs $id 2 && kill_broker &&
    start_broker --config requeue.yaml && test "$(job_state $id)" = RUNNING && may_end $id &&
    has_run $id 2 && has_events $id requeue 1
'

test_expect_success 'after each failed start the wait doubles up to a maximum, and then the job ends as FAILED with the reason' '
    fresh "start-backoff: 0.5s" "start-backoff-max: 1s" "start-retries: 3" && mv "$shell" "$shell.away" &&
    id=$(again) && wait_job_state $id FAILED &&
    test "$(waits $id)" = "5 10 10 " && job_field $id result_text | grep "could not start: .*fluxq-shell" &&
    mv "$shell.away" "$shell"
'
test_expect_success 'a job that waits for its next try shows the reason and the time, also after a restart' '
    fresh "start-backoff: 100s" && mv "$shell" "$shell.away" &&
    id=$(again) && wait_until 10 has_events $id requeue 1 && wait_job_state $id PENDING &&
    told() {
        fluxq-show job $id >text && grep "^ *Reason: *BeginTime.*last start: .*fluxq-shell" text &&
        grep "^ *Not before" text
    } &&
    told && mv "$shell.away" "$shell" && kill_broker && start_broker --config requeue.yaml && told &&
    fluxq-cancel $id && wait_job_state $id CANCELLED
'
test_expect_success 'a successful start resets the count of failed starts' '
    fresh "start-backoff: 0.5s" "start-retries: 2" && mv "$shell" "$shell.away" &&
    id=$(again) && wait_until 10 has_events $id requeue 2 && mv "$shell.away" "$shell" &&
    runs $id 1 && mv "$shell" "$shell.away" && lose $id &&
    wait_until 10 has_events $id requeue 4 && mv "$shell.away" "$shell" &&
    runs $id 2 && may_end $id && test "$(waits $id)" = "5 10 0 5 " &&
    printf "%s\n" "2 2" "4 4" >expected && test_cmp expected "runs.$id"
'

refused()
{
    wanted=$1 && shift && test_must_fail "$@" 2>err && grep "$wanted" err
}
test_expect_success 'wrong values are refused with their place' '
    for line in "requeue: maybe" "requeue: 1"; do
        configure "$line" && refused "requeue.yaml:4:1: requeue: expected true or false" fluxqd --check --config requeue.yaml || return 1
    done &&
    for line in "requeue-order: middle" "requeue-order: true" "requeue-order: [old]"; do
        configure "$line" && refused "requeue.yaml:4:1: requeue-order: expected old or end" fluxqd --check --config requeue.yaml || return 1
    done &&
    FLUXQ_REQUEUE=perhaps && export FLUXQ_REQUEUE && refused "FLUXQ_REQUEUE: .perhaps. is not yes, no or expedite" fluxq-submit ./again.sh &&
    unset FLUXQ_REQUEUE &&
    printf "#!/bin/sh\n#SBATCH --requeue=later\n" >bad.sh && refused "bad.sh:2: .*requeue" fluxq-submit bad.sh
'
test_expect_success 'no job is active, all nodes are free, and the broker stops' '
    none_active && wait_until 10 nodes_free && stop_broker
'
test_done
