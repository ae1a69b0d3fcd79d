#!/bin/sh
test_description='the plan: reservations, jobs that may start earlier without delaying them, expected starts'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

config()
{
    printf 'local: {nodes: 4, cores: 2, memory: 1Gi}\ngrace: 1s\n' >plan.yaml
    for lib_line; do echo "$lib_line" >>plan.yaml; done
}

# submit TIME ARGUMENTS: submits a job that runs until the file stop.ID or stop exists.
write_script until.sh <<\END
#!/bin/sh
until [ -e stop ] || [ -e "stop.$FLUXQ_JOB_ID" ]; do sleep 0.02; done
END

submit()
{
    limit=$1
    shift
    fluxq-submit -o /dev/null -t "$limit" "$@" ./until.sh
}

end_job()
{
    touch "stop.$1" && wait_job_state "$1" COMPLETED
}

fresh()
{
    rm -f stop stop.* && { none_active || fluxq-cancel -t PENDING,RUNNING; } && wait_until 20 none_active
}

end_all()
{
    touch stop && wait_until 20 none_active && rm -f stop stop.*
}

# starts ID: prints the planned start, in minutes from now, rounded, or "none".
starts()
{
    fluxq-show job "$1" --json | jq -r 'if .expected_start then ((.expected_start - now) / 60 | round) else "none" end'
}

starts_in()
{
    [ "$(starts "$1")" = "$2" ]
}

config
start_broker --config plan.yaml

test_expect_success 'with easy a job may start before the first job only if it does not delay the first job' '
    fresh &&
    two=$(submit 60 -N 2 --exclusive) && wait_job_state $two RUNNING &&
    first=$(submit 30 -N 4 --exclusive) &&
    long=$(submit 90 -N 1 --exclusive) && short=$(submit 20 -N 1 --exclusive) &&
    wait_job_state $short RUNNING &&
    [ "$(job_state $first)" = PENDING ] && [ "$(job_state $long)" = PENDING ] &&
    wait_until 10 starts_in $first 60 && starts_in $long none &&
    fluxq-show job $first | grep "^Reason:.*needs 4 whole nodes, 1 is free now (of 4)" &&
    end_job $short && sleep 0.3 && [ "$(job_state $long)" = PENDING ] &&
    end_job $two && wait_job_state $first RUNNING &&
    wait_until 10 starts_in $long 30 &&
    end_job $first && wait_job_state $long RUNNING &&
    end_all
'

test_expect_success 'the API answers which jobs are ahead, the planned start, and the reason' '
    fresh &&
    all=$(submit 60 -N 4 --exclusive) && wait_job_state $all RUNNING &&
    one=$(submit 10 -N 2) && two=$(submit 10 -N 3 --exclusive) &&
    wait_until 10 starts_in $one 60 &&
    fluxq-queue --why >why && cat why &&
    grep -q "^JOBID.*AHEAD.*EXPECTED_START.*REASON_TEXT" why &&
    grep -Eq "^ *$one .* PD +[0-9]+ +0 +20[0-9T:-]+ +needs .*; job $all frees 2 nodes by 20.*; starts about 20" why &&
    grep -Eq "^ *$two .* PD +[0-9]+ +1 +N/A +.*1 job ahead" why &&
    ! grep -q "^ *$all " why &&
    fluxq-queue --start >start && grep -Eq "^ *$one .* PD +20[0-9T:-]+ +[0-9]+ +Resources" start &&
    fluxq-show job $one >show && grep -q "^ *Starts: *about 20" show && grep -q "^ *Waits for: *job $all" show &&
    fluxq-show job $two >show && grep -q "^ *Starts: *not before 20" show &&
    fluxq-show job $two --json | jq -e ".jobs_ahead == 1 and .expected_start == null and .not_before > now" &&
    fluxq-queue -o "%i %S" -t pending | grep -Eq "^ *$one +20" &&
    fluxq-queue --json >list.json && jq -e ".jobs[] | select(.id == $one) | .reason == \"Resources\" and .blocking_jobs == [$all] and
        .jobs_ahead == 0 and .expected_start > now" list.json &&
    jq -e ".jobs[] | select(.id == $two or .id == $all) | .blocking_jobs == []" list.json &&
    fluxq-queue -o id,blocking_jobs | grep -Eq "^ *$one +$all$" &&
    end_all
'

test_expect_success 'without time limits no start is planned, and no job starts before the first on its nodes' '
    fresh &&
    all=$(fluxq-submit -o /dev/null -N 3 --exclusive ./until.sh) && wait_job_state $all RUNNING &&
    first=$(fluxq-submit -o /dev/null -N 4 --exclusive ./until.sh) &&
    later=$(fluxq-submit -o /dev/null -N 1 --exclusive ./until.sh) &&
    wait_until 10 sh -c "fluxq-show job $first | grep -q \"job $all has 3 nodes and no time limit\"" &&
    starts_in $first none && [ "$(job_state $later)" = PENDING ] &&
    short=$(submit 1:00:00 -N 1 --exclusive) && wait_job_state $short RUNNING &&
    end_all
'

test_expect_success 'after a reload to conservative every job has a planned start, and a cancel moves the other jobs forward' '
    fresh &&
    config "queue-policy: conservative" && fluxq-ctl reload >out && grep queue-policy out &&
    all=$(submit 60 -N 4 --exclusive) && wait_job_state $all RUNNING &&
    a=$(submit 30 -N 4 --exclusive) && b=$(submit 20 -N 2 --exclusive) && c=$(submit 10 -N 4 --exclusive) &&
    wait_until 10 starts_in $a 60 && wait_until 10 starts_in $b 90 && wait_until 10 starts_in $c 110 &&
    fluxq-cancel $a && wait_until 10 starts_in $b 60 && wait_until 10 starts_in $c 80 &&
    end_all
'

test_expect_success 'a job of higher urgency is planned before earlier jobs' '
    fresh &&
    all=$(submit 60 -N 4 --exclusive) && wait_job_state $all RUNNING &&
    a=$(submit 30 -N 4 --exclusive) && wait_until 10 starts_in $a 60 &&
    b=$(submit 20 -N 4 --exclusive) && wait_until 10 starts_in $b 90 &&
    curl -s -o urgency.out --unix-socket "$FLUXQ_RUN/fluxqd.sock" -X POST -d "{\"urgency\":20}" "http://fluxqd/v1/jobs/$b/urgency" &&
    wait_until 10 starts_in $b 60 && wait_until 10 starts_in $a 80 &&
    end_all
'

test_expect_success 'with hybrid as many jobs have a planned start as reservation-depth says' '
    fresh &&
    config "queue-policy: hybrid" "reservation-depth: 2" && fluxq-ctl reload &&
    all=$(submit 60 -N 4 --exclusive) && wait_job_state $all RUNNING &&
    a=$(submit 30 -N 4 --exclusive) && b=$(submit 20 -N 2 --exclusive) && c=$(submit 10 -N 4 --exclusive) &&
    wait_until 10 starts_in $b 90 && starts_in $a 60 && starts_in $c none &&
    end_all
'

test_expect_success 'with fcfs no job starts before the first' '
    fresh &&
    config "queue-policy: fcfs" && fluxq-ctl reload &&
    two=$(submit 60 -N 2 --exclusive) && wait_job_state $two RUNNING &&
    first=$(submit 30 -N 4 --exclusive) && short=$(submit 1 -N 1) &&
    wait_until 10 starts_in $first 60 && sleep 0.3 && [ "$(job_state $short)" = PENDING ] &&
    end_job $two && wait_job_state $first RUNNING &&
    end_all
'

test_expect_success 'a drained node changes the plan, and a resumed node changes the plan' '
    fresh &&
    config "queue-policy: easy" && fluxq-ctl reload &&
    two=$(submit 60 -N 2 --exclusive) && wait_job_state $two RUNNING &&
    first=$(submit 30 -N 4 --exclusive) && wait_until 10 starts_in $first 60 &&
    fluxq-ctl drain node3 --reason disk && wait_until 10 starts_in $first none &&
    fluxq-ctl resume node3 && wait_until 10 starts_in $first 60 &&
    end_all
'

test_expect_success 'the plan is computed again after a restart' '
    fresh &&
    two=$(submit 60 -N 2 --exclusive) && wait_job_state $two RUNNING &&
    first=$(submit 30 -N 4 --exclusive) && wait_until 10 starts_in $first 60 &&
    kill_broker && start_broker --config plan.yaml &&
    wait_until 20 starts_in $first 60 &&
    end_all
'

test_expect_success '--test-only prints time and place of the start, and submits nothing' '
    fresh && config "queue-policy: easy" && fluxq-ctl reload &&
    fluxq-submit --test-only -N 2 -n 4 -t 5 ./until.sh >out && cat out &&
    grep -Eq "^would start now on node\[0-1\]: 2 nodes, 4 tasks, 4 cores$" out &&
    all=$(submit 60 -N 4 --exclusive) && wait_job_state $all RUNNING && one=$(submit 30 -N 4 --exclusive) &&
    wait_until 10 starts_in $one 60 &&
    fluxq-submit --test-only -N 1 -t 5 ./until.sh >out && cat out &&
    grep -Eq "^would start not before 20[0-9T:-]+ on node0: 1 node, 1 task, 1 core; 1 job waits$" out &&
    fluxq-submit --test-only --json -N 1 -t 5 ./until.sh >out.json &&
    jq -e ".start > now + 5000 and .now == false and .nodelist == \"node0\" and .pending == 1" out.json &&
    test_must_fail fluxq-submit --test-only -N 9 ./until.sh 2>err && grep "needs 9 nodes" err &&
    test_must_fail fluxq-submit --test-only --wait ./until.sh 2>err && grep "no job to --wait for" err &&
    test_must_fail fluxq-submit --test-only --dry-run ./until.sh 2>err && grep "give one of them" err &&
    [ "$(fluxq-queue --no-header | wc -l)" = 2 ] &&
    end_all
'

granted()
{
    fluxq-show job "$1" --json | jq .nodes
}

test_expect_success 'an elastic job starts at once with the free nodes, and with --max-wait waits for its largest size' '
    fresh &&
    three=$(submit 60 -N 3 --exclusive) && wait_job_state $three RUNNING &&
    now=$(submit 10 -N 1-4 --exclusive) && wait_job_state $now RUNNING && [ "$(granted $now)" = 1 ] &&
    end_job $now &&
    wait=$(submit 10 -N 1-4 --exclusive --max-wait=30) && sleep 0.5 && [ "$(job_state $wait)" = PENDING ] &&
    fluxq-queue --why | grep -Eq "^ *$wait .*a smaller size fits now; it waits for its largest until 20" &&
    end_job $three && wait_job_state $wait RUNNING && [ "$(granted $wait)" = 4 ] && end_job $wait &&
    three=$(submit 60 -N 3 --exclusive) && wait_job_state $three RUNNING &&
    short=$(submit 10 -N 1-4 --exclusive --max-wait=0:02) && sleep 0.5 && [ "$(job_state $short)" = PENDING ] &&
    wait_job_state $short RUNNING 20 && [ "$(granted $short)" = 1 ] &&
    test_must_fail fluxq-submit --max-wait=UNLIMITED -N 1-2 ./until.sh 2>err && grep "it must end" err &&
    end_all
'

test_expect_success '--time-min shortens the time limit if the job can then start before the reservation of the first job' '
    fresh &&
    two=$(submit 60 -N 2 --exclusive) && wait_job_state $two RUNNING &&
    first=$(submit 30 -N 4 --exclusive) && wait_until 10 starts_in $first 60 &&
    long=$(submit 90 -N 1 --exclusive) && less=$(submit 90 -N 1 --exclusive --time-min=20) &&
    wait_job_state $less RUNNING && [ "$(job_state $long)" = PENDING ] &&
    fluxq-show job $less --json | jq -e ".time_limit > 3000 and .time_limit <= 3600" &&
    kill_broker && start_broker --config plan.yaml &&
    fluxq-show job $less --json | jq -e ".time_limit > 3000 and .time_limit <= 3600" &&
    wait_until 20 starts_in $first 60 &&
    test_must_fail fluxq-submit -t 10 --time-min=20 ./until.sh 2>err && grep "time-min is more than the time limit of 10:00" err &&
    write_script tm.sh <<-\END &&
	#!/bin/sh
	#SBATCH --time=1:00:00 --time-min=10
	END
    fluxq-submit --dry-run tm.sh | jq -e ".attributes.system.fluxq.\"time-min\" == 600" &&
    end_all
'

test_expect_success 'wrong settings of the plan are refused with their place' '
    config "queue-policy: fair" && test_must_fail fluxqd --check --config plan.yaml 2>err &&
    grep "plan.yaml:3:.*queue-policy: expected one of conservative, easy, fcfs, hybrid" err &&
    config "queue-policy: easy" "reservation-depth: 5" && test_must_fail fluxqd --check --config plan.yaml 2>err &&
    grep "plan.yaml:4:.*reservation-depth is for queue-policy hybrid" err &&
    config "queue-policy: hybrid" "reservation-depth: 0" && test_must_fail fluxqd --check --config plan.yaml 2>err &&
    grep "plan.yaml:4:.*reservation-depth" err
'

test_done
