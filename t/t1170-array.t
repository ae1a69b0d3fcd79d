#!/bin/sh
# An array is submitted as one job and ends as many: no task may be lost or run twice, whatever is
# cancelled and however often the broker dies, and each task must be found by its number.
test_description='job arrays: tasks, limits, ranges, dependencies, restarts'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

printf 'local: {nodes: 2, cores: 4}\ngrace: 1s\nkeep-finished: 500\n' >machine.yaml

# Runs until the file end or end.TASK exists; exits with the number in this file. Records the task.
write_script task.sh <<\END
#!/bin/sh
echo "$SLURM_ARRAY_TASK_ID" >>started
until [ -e end ] || [ -e "end.$SLURM_ARRAY_TASK_ID" ]; do sleep 0.02; done
exit $(cat "end.$SLURM_ARRAY_TASK_ID" 2>/dev/null || cat end)
END

fresh()
{
    { none_active || fluxq-cancel -t PENDING,RUNNING; } && wait_until 20 none_active &&
        rm -f end end.* started && : >started
}

# end_task TASK STATUS: the task exits with STATUS.
end_task()
{
    echo "$2" >end.tmp && mv end.tmp "end.$1"
}

# rows FORMAT: prints the rows of the queue without a heading.
rows()
{
    fluxq-queue --no-header -o "$1" | sed 's/^ *//; s/ *$//'
}

# tasks ID SET: prints the tasks of that set.
tasks()
{
    job_field "$1" "array.$2.tasks"
}

tasks_are()
{
    test "$(tasks "$1" "$2")" = "$3"
}

n_started()
{
    test "$(wc -l <started)" -ge "$1"
}

start_broker --config machine.yaml

test_expect_success 'each task has its number, its variables and its output' '
    fresh &&
    id=$(fluxq-submit --array=1-7:3 -- sh -c "env | grep _ARRAY_ | sort; echo \$FLUXQ_JOB_ID") &&
    wait_job_state $id COMPLETED &&
    for n in 1 4 7; do
        printf "%s\n" FLUXQ_ARRAY_JOB_ID=$id FLUXQ_ARRAY_TASK_COUNT=3 FLUXQ_ARRAY_TASK_ID=$n \
            FLUXQ_ARRAY_TASK_MAX=7 FLUXQ_ARRAY_TASK_MIN=1 FLUXQ_ARRAY_TASK_STEP=3 \
            SLURM_ARRAY_JOB_ID=$id SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_ID=$n \
            SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=3 \
            $(fluxq-queue --no-header -o number ${id}_$n) >want &&
        test_cmp want fluxq-${id}_$n.out || return 1
    done &&
    test "$(job_field $id array.completed.tasks)" = 1-7:3 &&
    test "$(job_field $id result_text)" = "completed, all 3 tasks" &&
    test "$(job_field ${id}_4 array_task)" = 4 && test "$(job_field ${id}_4 array_job)" = $id &&
    fluxq-logs ${id}_7 >logs && test_cmp fluxq-${id}_7.out logs
'
test_expect_success 'a job that a task submits has no array variables' '
    fresh && printf "#!/bin/sh\nenv | grep _ARRAY_ >inner || echo none >inner\n" >inner.sh && chmod +x inner.sh &&
    id=$(fluxq-submit -a 3 -o outer -- fluxq-submit --broker $FLUXQ_BROKER --wait -o /dev/null ./inner.sh) &&
    wait_job_state $id COMPLETED && grep -x none inner
'
test_expect_success 'at most the limit of tasks runs at a time, and the others are one row with the reason' '
    fresh &&
    id=$(fluxq-submit -a 1-5%2 -o /dev/null ./task.sh) &&
    wait_until 10 n_started 2 && wait_job_state ${id}_1 RUNNING && wait_job_state ${id}_2 RUNNING &&
    rows "id,st,reason" >queue &&
    printf "%s\n" "${id}_1 R None" "${id}_2 R None" "${id}_[3-5%2] PD JobArrayTaskLimit" >want &&
    sed "s/  */ /g" queue >got && test_cmp want got &&
    test "$(fluxq-queue --no-header -o st "${id}_[3-5%2]")" = PD &&
    test "$(job_field $id reason_text)" = "2 of its tasks run, and at most 2 may run at a time" &&
    end_task 1 0 && wait_until 10 n_started 3 && tasks_are $id running 2-3 && tasks_are $id waiting 4-5 &&
    end_task 2 1 && wait_until 10 n_started 4 && echo 0 >end && wait_job_state $id FAILED &&
    test "$(job_field $id result_text)" = "1 of 5 tasks failed: 2" &&
    test "$(job_field $id exit_code)" = 1 && test "$(sort started | tr -d "\n")" = 12345
'
test_expect_success '--wait exits with the worst status of the tasks' '
    fresh && echo 3 >end.2 && echo 0 >end.1 &&
    { timeout 60 fluxq-submit --wait -a 1-2 -o /dev/null ./task.sh >id 2>err; test $? = 3; } &&
    grep "job $(cat id): FAILED: 1 of 2 tasks failed: 2" err
'
test_expect_success 'single tasks and ranges can be cancelled, pending and running' '
    fresh &&
    id=$(fluxq-submit -a 1-12 -o /dev/null ./task.sh) && wait_until 10 n_started 8 &&
    fluxq-cancel ${id}_2 "${id}_[9-10,12]" && wait_until 20 n_started 9 &&
    test "$(sort -n started | tr "\n" " ")" = "1 2 3 4 5 6 7 8 11 " &&
    test "$(job_state ${id}_2)" = CANCELLED && tasks_are $id cancelled 9-10,12 &&
    { fluxq-cancel ${id}_[2,9,13] 2>err; test $? = 1; } &&
    grep "task 2 of array $id has ended already" err && grep "no task 13 in array $id" err &&
    echo 0 >end && wait_job_state $id FAILED &&
    test "$(fluxq-queue --no-header -a -o id,st "${id}_[9-10]" | sed "s/^ *//")" = "${id}_[9-10,12] CA" &&
    test "$(fluxq-queue --no-header -t CA -o array_task -j $id | sort)" = "-
2"
'
test_expect_success 'after a cancel of the whole array pending tasks never start, and running tasks end' '
    fresh &&
    id=$(fluxq-submit -a 0-99 -o /dev/null ./task.sh) && wait_until 10 n_started 8 &&
    fluxq-cancel $id && wait_job_state $id CANCELLED && wait_until 10 none_active &&
    tasks_are $id cancelled 8-99 && test "$(wc -l <started)" = 8 &&
    { fluxq-cancel $id 2>err; test $? = 1; } && grep "has ended already" err
'
test_expect_success 'a cancel by state ends pending tasks, and running tasks go on' '
    fresh &&
    id=$(fluxq-submit -a 1-20 -o /dev/null ./task.sh) && wait_until 10 n_started 8 &&
    fluxq-cancel --state=PENDING && tasks_are $id waiting "" && tasks_are $id running 1-8 &&
    echo 0 >end && wait_job_state $id CANCELLED && tasks_are $id completed 1-8
'
test_expect_success 'an array of ten thousand tasks is one record and one row' '
    fresh &&
    fluxq-submit -n 8 -o /dev/null ./task.sh >/dev/null && wait_until 10 n_started 1 &&
    before=$(fluxq-submit -o /dev/null -- true) &&
    id=$(fluxq-submit --array=1-10000%50:2 -o /dev/null -- true) &&
    test "$(rows id | tail -n 1)" = "${id}_[1-9999:2%50]" &&
    fluxq-cancel "${id}_[1-4000]" 2>/dev/null; tasks_are $id waiting 4001-9999:2 &&
    fluxq-cancel $id && after=$(fluxq-submit -o /dev/null -- true) &&
    test $after = $((id + 5001)) && test $id = $((before + 1)) && echo 0 >end
'
test_expect_success 'hold and release apply to all pending tasks' '
    fresh &&
    id=$(fluxq-submit --hold -a 1-3 -o /dev/null ./task.sh) && test "$(rows id,reason)" = "${id}_[1-3] JobHeldUser" &&
    { fluxq-ctl release ${id}_2 2>err; test $? = 1; } && grep "held and released together" err &&
    fluxq-ctl release $id && wait_until 10 n_started 3 && echo 0 >end && wait_job_state $id COMPLETED
'
test_expect_success 'other jobs can wait for an array, or for one task that has not started' '
    fresh &&
    id=$(fluxq-submit -a 1-3%1 -o /dev/null ./task.sh) && wait_until 10 n_started 1 &&
    all=$(fluxq-submit -d afterok:$id -o /dev/null -- true) && two=$(fluxq-submit -d afterok:${id}_2 -o /dev/null -- true) &&
    never=$(fluxq-submit -d afterok:${id}_3 -o /dev/null -- true) &&
    test "$(job_field $two reason_text)" = "waits for job ${id}_2 to succeed" &&
    test "$(job_field $two dependency)" = "afterok:${id}_2" &&
    end_task 1 0 && wait_until 10 n_started 2 && test "$(job_state $two)" = PENDING &&
    end_task 2 0 && wait_job_state $two COMPLETED && test "$(job_state $all)" = PENDING &&
    wait_until 10 n_started 3 && fluxq-cancel ${id}_3 && wait_job_state $never CANCELLED &&
    test "$(job_field $never result_text)" = "cancelled: job ${id}_3 did not succeed" &&
    wait_job_state $all CANCELLED &&
    { fluxq-submit -d afterok:${id}_4 -- true 2>err; test $? = 1; } && grep "array $id has no task 4" err &&
    { fluxq-submit -d afterok:${two}_4 -- true 2>err; test $? = 1; } && grep "job $two is not an array" err
'
test_expect_success 'jobs that wait for a task learn of its cancel before its start' '
    fresh &&
    id=$(fluxq-submit -a 1-3%1 -o /dev/null ./task.sh) && wait_until 10 n_started 1 &&
    ok=$(fluxq-submit -d afterok:${id}_3 -o /dev/null -- true) && any=$(fluxq-submit -d afterany:${id}_3 -o /dev/null -- true) &&
    fluxq-cancel ${id}_3 && wait_job_state $ok CANCELLED && wait_job_state $any COMPLETED &&
    late=$(fluxq-submit -d afterany:${id}_3 -o /dev/null -- true) && wait_job_state $late COMPLETED &&
    echo 0 >end && wait_job_state $id CANCELLED
'
test_expect_success 'with aftercorr each task waits for the task of the same number, and is cancelled if that task fails' '
    fresh &&
    one=$(fluxq-submit -a 1-3 -o /dev/null ./task.sh) && wait_until 10 n_started 3 &&
    two=$(fluxq-submit -a 1-4 -d aftercorr:$one -o /dev/null -- true) &&
    tasks_are $two cancelled 4 && test "$(job_field $two reason)" = Dependency &&
    end_task 2 0 && wait_until 10 tasks_are $two completed 2 && tasks_are $two waiting 1,3 &&
    end_task 1 1 && wait_until 10 tasks_are $two cancelled 1,4 && tasks_are $two waiting 3 &&
    end_task 3 0 && wait_job_state $two CANCELLED && tasks_are $two completed 2-3
'
test_expect_success 'after kill -9 of the broker each task runs once, and the limit holds' '
    fresh &&
    id=$(fluxq-submit -a 1-9%3 -o /dev/null ./task.sh) && wait_until 10 n_started 3 &&
    dep=$(fluxq-submit -d afterok:${id}_8 -o /dev/null -- true) &&
    two=$(fluxq-submit -a 1-9 -d aftercorr:$id -o /dev/null -- true) &&
    fluxq-cancel ${id}_9 && kill_broker && start_broker --config machine.yaml &&
    tasks_are $id running 1-3 && tasks_are $id waiting 4-8 && tasks_are $id cancelled 9 &&
    test "$(job_field $id reason)" = JobArrayTaskLimit && tasks_are $two cancelled 9 &&
    end_task 2 0 && wait_until 20 n_started 4 && tasks_are $id running 1,3-4 &&
    wait_until 10 tasks_are $two completed 2 && kill_broker && start_broker --config machine.yaml &&
    tasks_are $two completed 2 && echo 0 >end && wait_job_state $dep COMPLETED && wait_job_state $id CANCELLED &&
    wait_job_state $two CANCELLED && tasks_are $two completed 1-8 &&
    test "$(sort -n started | tr -d "\n")" = 12345678
'
test_expect_success 'repeated kills of the broker lose no task and run none twice' '
    fresh &&
    id=$(fluxq-submit -a 1-60 -o /dev/null -- sh -c "echo \$FLUXQ_ARRAY_TASK_ID >>started") &&
    for n in 10 20 30 40; do
        wait_until 30 n_started $n && kill_broker && start_broker --config machine.yaml || return 1
    done &&
    wait_job_state $id COMPLETED && seq 1 60 >want && sort -n started >got && test_cmp want got
'
test_expect_success 'no other job gets the number of a task, also after a restart' '
    fresh &&
    id=$(fluxq-submit --hold -a 1-100 -o /dev/null -- true) && kill_broker && start_broker --config machine.yaml &&
    next=$(fluxq-submit -o /dev/null -- true) && test $next = $((id + 101)) && fluxq-cancel $id
'
test_expect_success 'a script may have the option, and errors are reported with their place' '
    fresh &&
    printf "#!/bin/sh\n#SBATCH --array=2-3\n#SBATCH -o out-%%A-%%3a\necho \$SLURM_ARRAY_TASK_ID\n" >script.sh &&
    id=$(fluxq-submit script.sh) && wait_job_state $id COMPLETED && test "$(cat out-$id-002 out-$id-003)" = "2
3" &&
    printf "#!/bin/sh\n#SBATCH --array=3-2\ntrue\n" >bad.sh &&
    { fluxq-submit bad.sh 2>err; test $? = 1; } && grep "bad.sh:2: .*ends before it begins" err &&
    for wrong in x 1- -3 3-1 1-3:0 1%0 4000001 0-1000000 1,,2 1-3x; do
        { fluxq-submit --array=$wrong -- true 2>err; test $? = 2; } && test $(wc -l <err) -le 2 &&
            grep -e "--array" err || return 1
    done &&
    fluxq-submit -a 1-2 -o same.out -- true 2>err && grep "write to the same file" err
'
test_expect_success 'tasks of an array that only the journal has can be found' '
    fresh && id=$(fluxq-submit -a 4-6 -o /dev/null -- sh -c "test \$FLUXQ_ARRAY_TASK_ID != 5") &&
    wait_job_state $id FAILED && stop_broker && { cat machine.yaml && echo "keep-finished: 1"; } | sed 3d >one.yaml &&
    start_broker --config one.yaml && fluxq-submit --wait -o /dev/null -- true && fluxq-submit --wait -o /dev/null -- true &&
    test "$(job_field ${id}_5 state)" = FAILED && test "$(job_field ${id}_5 array_task)" = 5 &&
    test "$(job_field ${id}_4 state)" = COMPLETED && tasks_are $id failed 5 &&
    fluxq-show job --events ${id}_6 >events && grep alloc events &&
    { fluxq-show job ${id}_7 2>err; test $? = 1; } && cat err &&
    late=$(fluxq-submit -d afterok:${id}_4 -o /dev/null -- true) && wait_job_state $late COMPLETED &&
    late=$(fluxq-submit -d afterok:${id}_5 -o /dev/null -- true) && wait_job_state $late CANCELLED &&
    corr=$(fluxq-submit -a 4-6 -d aftercorr:$id -o /dev/null -- true) && wait_job_state $corr CANCELLED &&
    tasks_are $corr completed 4,6 && stop_broker && start_broker --config machine.yaml
'
test_expect_success 'an array of more tasks than array-max is refused' '
    fresh && stop_broker && { cat machine.yaml && echo "array-max: 10"; } >small.yaml &&
    start_broker --config small.yaml && { fluxq-submit -a 1-11 -- true 2>err; test $? = 1; } &&
    grep "11 tasks.*at most 10" err && fluxq-submit -a 1-10 -o /dev/null -- true
'
test_done
