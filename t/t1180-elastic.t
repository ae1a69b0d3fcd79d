#!/bin/sh
test_description='elastic jobs: sizes as ranges, steps and lists; the granted size, the environment, the reason'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

shell=$FLUXQ_RUN/fluxq-shell
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$shell"
cat >elastic.yaml <<END
shell-path: $shell
grace: 1s
local: {nodes: 4, cores: 4, memory: 1Gi}
start-backoff: 1s
start-backoff-max: 1s
start-retries: 20
queues:
  batch: {default: true}
  small: {max-nodes: 2}
END

# hold ARGUMENTS...: submits a job that keeps its resources until end_job, and that records its
# environment.
write_script hold.sh <<\END
#!/bin/sh
env | grep -E "^(FLUXQ|SLURM|FLUX)_" >"env.$FLUXQ_JOB_ID.new" && mv "env.$FLUXQ_JOB_ID.new" "env.$FLUXQ_JOB_ID"
until [ -e "stop.$FLUXQ_JOB_ID" ]; do sleep 0.02; done
END

hold()
{
    fluxq-submit -o /dev/null -t 60 "$@" ./hold.sh
}

end_job()
{
    for job; do
        touch "stop.$job" && wait_job_state "$job" COMPLETED || return
    done
}

fresh()
{
    none_active || fluxq-cancel -t PENDING,RUNNING
    wait_until 20 none_active
}

# takes JOB FIELD VALUE...: the job is RUNNING, and its fields have these values.
takes()
{
    id=$1
    shift
    wait_job_state "$id" RUNNING || return
    while [ $# -gt 0 ]; do
        if [ "$(job_field "$id" "$1")" != "$2" ]; then
            echo "job $id: $1 is $(job_field "$id" "$1"), not $2"
            return 1
        fi
        shift 2
    done
}

# told JOB NAME=VALUE...: the environment of the job has these variables.
told()
{
    id=$1
    shift
    wait_until 20 test -e "env.$id" || return
    for lib_line; do
        grep -qxF "$lib_line" "env.$id" || { echo "job $id: no $lib_line" && sort "env.$id" && return 1; }
    done
}

# gets NODES ARGUMENTS...: a job with these arguments starts with NODES nodes; then
# the job is ended.
gets()
{
    wanted=$1
    shift
    one=$(hold "$@") && takes "$one" nodes "$wanted" && end_job "$one"
}

# refused TEXT ARGUMENTS...: fluxq-submit fails with one line that contains TEXT.
refused()
{
    text=$1
    shift
    test_must_fail fluxq-submit "$@" -- true 2>err && cat err && grep -E -- "$text" err &&
        [ "$(grep -cv "^Try '" err)" = 1 ]
}

# post JQ ARGUMENTS...: sends the jobspec of these arguments after the jq filter JQ has changed it.
post()
{
    filter=$1
    shift
    fluxq-submit --dry-run -o /dev/null -t 60 "$@" ./hold.sh | jq "$filter" >spec.json &&
        curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" -d @spec.json -o answer.json http://fluxqd/v1/jobs &&
        jq -r '.id // .detail' answer.json
}

start_broker --config elastic.yaml

test_expect_success 'from ranges, steps and lists a job gets the largest size that fits' '
    fresh &&
    gets 4 -N 1-4 --exclusive && gets 4 -N 2-16:2:^ --exclusive && gets 4 -N 1,2,4,8 --exclusive &&
    busy=$(hold -N 1 --exclusive) && wait_job_state $busy RUNNING &&
    gets 3 -N 1-4 --exclusive && gets 2 -N 2-4:2 --exclusive && gets 2 -N 1-8:2:* --exclusive &&
    gets 2 -N 2-16:2:^ --exclusive && gets 2 -N 1,2,4 --exclusive && gets 3 -N 1+ --exclusive &&
    FLUXQ_NODES=1,3,4 gets 3 --exclusive &&
    printf "#!/bin/sh\n#SBATCH -N 1-4:3 --exclusive\nexec ./hold.sh\n" >steps.sh && chmod 755 steps.sh &&
    script=$(fluxq-submit -o /dev/null steps.sh) && takes $script nodes 1 && end_job $script $busy
'

test_expect_success 'the environment of a job has the granted and the requested size' '
    fresh &&
    busy=$(hold -N 1 --exclusive) && wait_job_state $busy RUNNING &&
    id=$(hold -N 2-4 --ntasks-per-node=2 --exclusive) &&
    takes $id nodes 3 ntasks 6 ncores 12 nodelist "node[1-3]" &&
    told $id FLUXQ_NODES_REQUESTED=2-4 FLUXQ_NNODES=3 FLUXQ_NTASKS=6 "FLUXQ_NODELIST=node[1-3]" \
        SLURM_JOB_NUM_NODES=3 SLURM_NNODES=3 SLURM_NTASKS=6 SLURM_NPROCS=6 "SLURM_TASKS_PER_NODE=2(x3)" \
        "SLURM_JOB_NODELIST=node[1-3]" "SLURM_NODELIST=node[1-3]" "SLURM_JOB_CPUS_PER_NODE=4(x3)" \
        SLURM_CPUS_ON_NODE=4 FLUX_JOB_NNODES=3 FLUX_JOB_SIZE=6 &&
    end_job $id &&
    ranks=$(fluxq-submit -o ranks.out --wait -N 2-4 --ntasks-per-node=2 --exclusive -- \
        sh -c "echo \$FLUXQ_PROCID of \$FLUXQ_NTASKS on \$FLUXQ_NODEID of \$SLURM_JOB_NUM_NODES") &&
    sort ranks.out >got && printf "%s\n" "0 of 6 on 0 of 3" "1 of 6 on 0 of 3" "2 of 6 on 1 of 3" \
        "3 of 6 on 1 of 3" "4 of 6 on 2 of 3" "5 of 6 on 2 of 3" >want && test_cmp want got &&
    fixed=$(hold -N 3) && told $fixed FLUXQ_NODES_REQUESTED=3 FLUXQ_NNODES=3 && end_job $fixed &&
    none=$(hold -n 3) && told $none FLUXQ_NTASKS=3 && ! grep NODES_REQUESTED env.$none && end_job $none &&
    steps=$(hold -N 2-4:2:*) && told $steps "FLUXQ_NODES_REQUESTED=2-4:2:*" && end_job $steps $busy
'

test_expect_success 'tasks can be elastic alone, per node, and on nodes' '
    fresh &&
    busy=$(hold -N 1 --exclusive) && wait_job_state $busy RUNNING &&
    id=$(hold -n 2-64) && takes $id ntasks 12 nodes 3 && told $id FLUXQ_NTASKS=12 SLURM_NTASKS=12 && end_job $id &&
    id=$(hold -n 2-64:2:* -c 1) && takes $id ntasks 8 && told $id FLUXQ_NTASKS=8 && end_job $id &&
    id=$(hold -n 4-16 --ntasks-per-node=4) && takes $id ntasks 12 nodes 3 &&
    told $id "SLURM_TASKS_PER_NODE=4(x3)" FLUXQ_NODES_REQUESTED=1-4 && end_job $id &&
    id=$(hold -N 2 -n 4-16) && takes $id ntasks 8 nodes 2 && told $id "SLURM_TASKS_PER_NODE=4(x2)" && end_job $id &&
    id=$(hold -N 1-4 -n 2-12) && takes $id ntasks 9 nodes 3 && told $id "SLURM_TASKS_PER_NODE=3(x3)" &&
    end_job $id $busy
'

test_expect_success 'a fixed number of tasks is spread over the granted nodes' '
    fresh &&
    id=$(hold -N 2-4 -n 8) && takes $id nodes 4 ntasks 8 ncores 8 &&
    told $id FLUXQ_NTASKS=8 "SLURM_TASKS_PER_NODE=2(x4)" FLUXQ_NODES_REQUESTED=2-4 && end_job $id &&
    busy=$(hold -N 1 --exclusive) && wait_job_state $busy RUNNING &&
    id=$(hold -N 2-4 -n 8) && takes $id nodes 3 ntasks 8 ncores 9 && told $id FLUXQ_NTASKS=8 &&
    sed -n "s/^SLURM_TASKS_PER_NODE=//p" env.$id >got && [ "$(cat got)" = "3(x2),2" ] && end_job $id &&
    two=$(hold -N 1 --exclusive) && wait_job_state $two RUNNING &&
    id=$(hold -N 2-4 -n 8) && takes $id nodes 2 ntasks 8 && told $id "SLURM_TASKS_PER_NODE=4(x2)" &&
    fluxq-show job $id >show && cat show && grep -E "^ *Asked: *2-4 nodes, 8 tasks, " show && end_job $id &&
    out=$(fluxq-submit -o spread.out --wait -N 2-4 -n 8 -- sh -c "echo \$FLUXQ_PROCID \$FLUXQ_NTASKS") &&
    sort -n spread.out >got && seq 0 7 | sed "s/\$/ 8/" >want && test_cmp want got &&
    fluxq-submit --test-only -N 2-4 -n 8 ./hold.sh >out && cat out && grep "2 nodes, 8 tasks, 8 cores" out &&
    end_job $two $busy &&
    fluxq-submit --test-only -N 2-4 -n 8 ./hold.sh >out && grep "4 nodes, 8 tasks, 8 cores" out &&
    refused "needs 20 cores|of 4 nodes? fit|needs" -N 2-4 -n 20
'

test_expect_success 'the job shows requested size, granted size and reason, and the queue shows the range until the start' '
    fresh &&
    all=$(hold -N 4 --exclusive) && wait_job_state $all RUNNING &&
    id=$(hold -N 1-4 --ntasks-per-node=2 --exclusive) && steps=$(hold -N 2-4:2 --exclusive) &&
    fluxq-queue >queue && cat queue && grep -E "^ *$id .* PD +[0-9:]+ +1-4 +\(" queue &&
    grep -E "^ *$steps .* PD +[0-9:]+ +2-4:2 +\(" queue && grep -E "^ *$all .* R +[0-9:]+ +4 +node" queue &&
    fluxq-queue --why | grep -E "^ *$id .* PD +1-4 " &&
    fluxq-show job $id >show && cat show && grep -E "^ *Asked: *1-4 nodes, 2 tasks a node" show &&
    ! grep -E "Granted|Size" show && [ "$(job_field $id granted)" = null ] &&
    fluxq-cancel $steps &&
    one=$(hold -N 1 --exclusive --urgency=16) && end_job $all && wait_job_state $id RUNNING &&
    fluxq-show job $id >show && cat show && grep -E "^ *Granted: *4 nodes, 8 tasks, 16 cores" show &&
    grep -E "^ *Size: *its largest size\$" show && end_job $id && wait_job_state $one RUNNING &&
    id=$(hold -N 1-4 --ntasks-per-node=2 --exclusive) && takes $id nodes 3 &&
    fluxq-show job $id >show && cat show && grep -E "^ *Granted: *3 nodes, 6 tasks" show &&
    grep -E "^ *Size: *the largest size that fitted at 20.*; its largest needs 4 whole nodes, 3 are free \(of 4\)" show &&
    fluxq-queue | grep -E "^ *$id .* R +[0-9:]+ +3 +node" &&
    fluxq-show job $id --json | jq -e ".size_reason == \"fitted\" and .granted == \"3 nodes, 6 tasks, 12 cores\"
        and .asked == \"1-4 nodes, 2 tasks a node, 1 core a task\" and .request.nodes_max == 4" &&
    kill_broker && start_broker --config elastic.yaml && fluxq-show job $id >again && grep -E "^ *Size: *the largest size that" again &&
    grep -E "^ *Asked: *1-4 nodes" again && end_job $id && fluxq-show job $id | grep -E "^ *Size: *the largest size that" &&
    fluxq-show job $one >show && ! grep Size show && [ "$(job_field $one size_text)" = null ] && end_job $one
'

test_expect_success 'with --max-wait the job shows which rule gave the size' '
    fresh &&
    three=$(hold -N 3 --exclusive) && wait_job_state $three RUNNING &&
    id=$(hold -N 1-4 --exclusive --max-wait=0:01) && takes $id nodes 1 size_reason waited &&
    job_field $id size_text >text && cat text &&
    grep -E "^the largest size that fitted at 20.*, after holding out 0:0[1-9].* for more; its largest needs 4 whole nodes, 1 is free" text &&
    end_job $id &&
    id=$(hold -N 1-4 --exclusive --max-wait=10:00) &&
    wait_until 20 sh -c "fluxq-show job $id | grep \"waits for its largest until\"" && sleep 1 && end_job $three &&
    takes $id nodes 4 size_reason largest && job_field $id size_text | grep -E "^its largest size, after holding out 0:.* for it" &&
    end_job $id &&
    id=$(hold -n 2-16 --max-wait=10:00) && takes $id ntasks 16 size_text "its largest size" && end_job $id
'

test_expect_success 'a larger size that would delay a reservation is not granted' '
    fresh &&
    two=$(fluxq-submit -o /dev/null -t 30 -N 2 --exclusive ./hold.sh) && wait_job_state $two RUNNING &&
    first=$(fluxq-submit -o /dev/null -t 30 -N 3 --exclusive ./hold.sh) &&
    wait_until 20 sh -c "fluxq-show job $first | grep \"Starts: *about\"" &&
    id=$(hold -N 1-2 --exclusive) && takes $id nodes 1 &&
    fluxq-show job $id | grep -E "^ *Size: *the largest size that fitted" && [ "$(job_state $first)" = PENDING ] &&
    end_job $two && wait_job_state $first RUNNING && end_job $first $id
'

test_expect_success 'RFC 14 counts work at any level of a jobspec' '
    fresh &&
    id=$(post ".resources[0].count = {min: 1, max: 4, operator: \"*\", operand: 2} |
        .resources[0].with[0].count = \"1-4\" | .resources[0].with[0].with[0].count = 1" -N 1) &&
    takes $id nodes 4 ntasks 16 && told $id FLUXQ_NNODES=4 FLUXQ_NTASKS=16 "FLUXQ_NODES_REQUESTED=1-4:2:*" &&
    fluxq-show job $id | grep -E "^ *Asked: *1-4:2:\* nodes, 1-4 tasks a node, 1 core a task" && end_job $id &&
    id=$(post ".resources[0].with[0].with[0].count = {min: 1, max: 9, operator: \"+\", operand: 2}" -N 2) &&
    takes $id ncores 6 && told $id "SLURM_JOB_CPUS_PER_NODE=3(x2)" &&
    job_field $id asked >asked && grep -x "2 nodes, 2 tasks, 1-9:2 cores a task" asked && end_job $id &&
    id=$(post ".resources[0].count = \"1,3\"" -n 1) && takes $id ntasks 3 &&
    job_field $id asked >asked && grep -x "1,3 tasks, 1 core a task" asked && end_job $id &&
    id=$(post ".resources[0].with[0].count = {min: 1, max: 4, operator: \"*\", operand: 2} | .resources[0].count = \"1-2\"" -N 1) &&
    takes $id ntasks 8 && job_field $id asked >asked && grep -x "1-2 nodes, 1-4:2:\* tasks a node, 1 core a task" asked && end_job $id &&
    post ".resources[0].count = {min: 4, max: 2}" -N 1 >said && grep "resources\[0\].count: max 2 is less than min 4" said &&
    post ".resources[0].count = {min: 1, max: 4, operator: \"+\", operand: 2}" -N 1 >said &&
    grep "resources\[0\].count: its steps (2) miss max 4: the last size is 3" said &&
    post ".resources[0].count = {min: 1, max: 4, operator: \"*\", operand: 1}" -N 1 >said && grep "operand must be 2 or more" said &&
    post ".resources[0].count = {min: 1, max: 4, operator: \"^\", operand: 2}" -N 1 >said && grep "min must be 2" said &&
    post ".resources[0].count = {min: 1, max: 4, operator: \"/\", operand: 2}" -N 1 >said && grep "not one of + \* ^" said
'

test_expect_success 'a failed start frees all nodes, and the next try takes the size that fits then' '
    fresh &&
    mv "$shell" "$shell.away" &&
    id=$(hold -N 1-4 --exclusive) &&
    wait_until 20 sh -c "fluxq-show job $id --events | grep -q \" requeue \"" &&
    fluxq-show job $id --events --json >events.json &&
    jq -e "[.events[] | select(.name == \"alloc\")][0].context.nnodes == 4" events.json &&
    mv "$shell.away" "$shell" && takes $id nodes 4 && end_job $id &&
    mv "$shell" "$shell.away" && id=$(hold -N 1-4 --exclusive) &&
    wait_until 20 sh -c "fluxq-show job $id --events | grep -q \" requeue \"" &&
    fluxq-ctl drain node0,node2 --reason disk && mv "$shell.away" "$shell" &&
    takes $id nodes 2 nodelist "node[1,3]" && told $id FLUXQ_NNODES=2 "FLUXQ_NODELIST=node[1,3]" FLUXQ_NODES_REQUESTED=1-4 &&
    fluxq-show job $id | grep -E "^ *Size: *the largest size that fitted" &&
    fluxq-ctl resume node0,node2 && end_job $id
'

test_expect_success 'each task of an array is elastic by itself' '
    fresh &&
    all=$(hold -N 4 --exclusive) && wait_job_state $all RUNNING &&
    array=$(hold -N 1-3 --exclusive --array=1-2) && fluxq-queue >queue && cat queue && grep -E "^ *${array}_.* PD +[0-9:]+ +1-3 +\(" queue &&
    one=$((array + 1)) two=$((array + 2)) && end_job $all &&
    takes $one nodes 3 size_reason largest && takes $two nodes 1 size_reason fitted &&
    told $one FLUXQ_NODES_REQUESTED=1-3 FLUXQ_NNODES=3 && told $two FLUXQ_NODES_REQUESTED=1-3 FLUXQ_NNODES=1 &&
    end_job $one $two && wait_job_state $array COMPLETED
'

test_expect_success 'a queue that allows fewer nodes than the largest size refuses the job with its limit' '
    fresh &&
    refused "queue small allows at most 2 nodes per job, and the request allows 1-4; request no more than that" -q small -N 1-4 &&
    refused "the request allows 2\+;" -q small -N 2+ && refused "queue small allows at most 2 nodes per job, 3 are requested" -q small -N 3 &&
    gets 2 -q small -N 1-2 --exclusive
'

test_expect_success 'impossible sizes are refused in one line that shows a correct request' '
    fresh &&
    refused "max 4 is less than min 16" -N 16-4 && refused "max 8 is less than min 64" -n 64-8 &&
    refused "the last size is 12; use 4-12:4" -N 4-15:4 && refused "4 is the only size" -N "4-7:2:*" &&
    refused "use 2-16:2:\\^" -N "2-255:2:^" && refused "operand must be 2 or more" -N "1-4:1:*" &&
    refused "min must be 2 or more" -N "1-16:2:^" && refused "is not one of" -N "1-16:2:x" &&
    refused "rising numbers" -N 4,2 && refused "at .0." -N 0-4 && refused "at its end" -N 4- &&
    refused "does not divide among 3 nodes.*say -n 9-63" -N 3 -n 8-64 &&
    refused "say --ntasks-per-node" -N 4-16 -n 64-128 && refused "cannot occupy 16 nodes" -N 4-16 -n 8 &&
    refused "multiples of 7" -n 8-64 --ntasks-per-node=7 && refused "say --gpus-per-task" -N 2-4 -G 4 &&
    refused "1-30.*30 hours after days" -t 1-30 && refused "is not a time" -t -5 && refused "longer than 10 years" -t 99999-00 &&
    refused "1-30" --begin=1-30 && refused "30 hours after days" --max-wait=1-30 && refused "30 hours after days" --time-min=1-30 &&
    refused "deadline" --begin=now+1hour -t 30 --deadline=now+1hour &&
    refused "time-min is more than the time limit" -t 10 --time-min=20 &&
    id=$(fluxq-submit --begin=2020-01-01 -o /dev/null -- true 2>err) && grep -E "past" err && wait_job_state $id COMPLETED &&
    printf "#!/bin/sh\n#SBATCH -N 4-15:4\n" >bad.sh && test_must_fail fluxq-submit bad.sh 2>err && grep "bad.sh:2: -N: .4-15:4.: .*use 4-12:4" err
'

test_done
