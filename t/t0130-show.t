#!/bin/sh
test_description='fluxq-show: all data of a job, a node and a queue, for people and programs'
. "$(dirname "$0")/lib.sh"

start_broker
chmod 711 "$FLUXQ_RUN"

as_nobody()
{
    (cd / && setpriv --reuid=65534 --regid=65534 --clear-groups "$@")
}

ended=$(fluxq-submit -J ended -o out-%j --wait -- sh -c "exit 3; : \"it's\"")
held=$(fluxq-submit -J held -t 90 --hold -N 2 -n 4 -o /dev/null -- true)
running=$(fluxq-submit -J running -N 2 -o /dev/null -- sleep 1000)
wait_job_state $running RUNNING

# shows WHAT... -- LABEL VALUE: fluxq-show prints a line "LABEL: VALUE" (an extended
# regular expression).
shows()
{
    what=
    while [ "$1" != -- ]; do
        what="$what $1"
        shift
    done
    # shellcheck disable=SC2086
    fluxq-show $what >text && grep -E "^$2: +$3\$" text || { cat text && return 1; }
}

test_expect_success 'an ended job shows its result, its times and its exit status' '
    shows job $ended -- Job $ended && shows job $ended -- Name ended &&
    shows job $ended -- State FAILED && shows job $ended -- "Exit status" 3 &&
    shows job $ended -- Result ".*3.*" && shows job $ended -- Ended "20[0-9T:-]+" &&
    shows job $ended -- User "$(id -un) \($(id -u)\)" && shows job $ended -- Output "(.*/)?out-(%j|$ended)" &&
    shows job $ended -- Command "sh -c .exit 3; : .it.{4}s.." && shows job $ended -- Directory "$PWD"
'

test_expect_success 'a pending job shows its reason and its request' '
    shows job $held -- State PENDING && shows job $held -- Reason ".*[Hh]eld.*" &&
    shows job $held -- Urgency "0 \(held\)" && shows job $held -- Asked "2 nodes, 4 tasks, 4 cores" &&
    shows job $held -- Time "0:00 of 1:30:00" && test_must_fail grep -E "^(Result|Exit status|Ended)" text
'

test_expect_success 'a running job shows each rank with its node and cores' '
    shows job $running -- State RUNNING && shows job $running -- Nodes "node\[[0-9-]*\]|node.*,.*" &&
    shows job $running -- "Rank 0" "node[0-9], cores [0-9]" &&
    shows job $running -- "Rank 1" "node[0-9], cores [0-9]"
'

test_expect_success '--json has the state'\''s name for users, numbers as numbers, and null for times to come' '
    fluxq-show job $held --json | jq -e "
        .id == $held and .state == \"PENDING\" and .nodes == 2 and .ntasks == 4 and
        .time_limit == 5400 and .start_time == null and (.submit_time | type) == \"number\"" &&
    fluxq-show job $running --json | jq -e ".ranks | length == 2" && fluxq-show $running | grep "^Job: *$running"
'

test_expect_success 'several jobs can be shown at once, and an unknown job does not hide the others' '
    test_expect_code 1 fluxq-show job $ended 99999 $held >out 2>err &&
    grep -E "^Job: +$ended" out && grep -E "^Job: +$held" out && grep 99999 err
'

test_expect_success '--events shows the events in order, with times and context' '
    fluxq-show job $ended --events >out && cat out &&
    awk "NR > 1 { print \$3 }" out >names &&
    sed -n 1p names | grep -x submit && tail -n 1 names | grep -x clean &&
    awk "NR > 1 { if (\$2 < last) exit 1; last = \$2 }" out &&
    grep -E " submit .*user=$(id -un)" out &&
    fluxq-show job $ended --events --json | jq -e ".events | map(.name) | index(\"alloc\") < index(\"finish\")"
'

test_expect_success '--jobspec prints the submitted jobspec' '
    fluxq-submit --dry-run -J held -t 90 --hold -N 2 -n 4 -o /dev/null -- true >wanted.json &&
    fluxq-show job $held --jobspec >got.json &&
    for f in wanted got; do
        jq -S "{resources, tasks, name: .attributes.system.job.name, cwd: .attributes.system.cwd}" \
            $f.json >$f || return 1
    done && test_cmp wanted got
'

test_expect_success ROOT 'all users see a job, but only the owner sees its script and environment' '
    as_nobody fluxq-show job $running >out && grep running out &&
    test_expect_code 1 as_nobody fluxq-show job $running --jobspec >out 2>err &&
    test_must_be_empty out && grep "$running" err
'

test_expect_success 'a node shows its resources, their use, and its jobs' '
    node=$(fluxq-show job $running --json | jq -r ".ranks[0].node") &&
    shows node $node -- Node $node && shows node $node -- State mixed &&
    shows node $node -- Jobs "$running" && shows node $node -- Cores "[0-9]+, 1 used by jobs, [0-9]+ free" &&
    fluxq-show node "node[0-1]" | grep -c "^Node:" | grep -x 2 &&
    fluxq-show node | grep -c "^Node:" | grep -x 4 &&
    fluxq-show node $node --json | jq -e ".nodes[0].jobs == [$running]"
'

test_expect_success 'a queue shows its state and the number of its jobs' '
    shows queue batch -- Queue "batch \(default\)" && shows queue batch -- State started &&
    shows queue batch -- Pending "1 jobs" && shows queue -- Running "1 jobs on 2 nodes" &&
    fluxq-show queue --json | jq -e ".queues[0].name == \"batch\""
'

test_expect_success 'for an unknown job, node or queue the error names it' '
    test_expect_code 1 fluxq-show job 99999 2>err && grep 99999 err &&
    test_expect_code 1 fluxq-show job 99999 --events 2>err && grep 99999 err &&
    test_expect_code 1 fluxq-show node nosuchnode 2>err && grep nosuchnode err &&
    test_expect_code 1 fluxq-show queue nosuchqueue 2>err && grep nosuchqueue err
'

test_expect_success 'wrong usage exits with 2' '
    test_expect_code 2 fluxq-show && test_expect_code 2 fluxq-show job &&
    test_expect_code 2 fluxq-show jobs 1 && test_expect_code 2 fluxq-show job x &&
    test_expect_code 2 fluxq-show job 0 && test_expect_code 2 fluxq-show node --events &&
    test_expect_code 2 fluxq-show job 1 --events --jobspec && test_expect_code 1 fluxq-show node "n[1-" 2>err
'

test_expect_success 'the end of a job is still known after a restart of the broker' '
    fluxq-cancel $running && wait_job_state $running CANCELLED &&
    restart_broker &&
    shows job $ended -- State FAILED && shows job $ended -- "Exit status" 3 &&
    shows job $running -- State CANCELLED && fluxq-show job $running --events | grep -w cancel
'

test_done
