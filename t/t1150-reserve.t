#!/bin/sh
test_description='advance reservations and maintenance: their jobs, their times, and restarts of the broker'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

me=$(id -un)
printf 'local: {nodes: 4, cores: 2, memory: 1Gi}\ngrace: 1s\n' >reserve.yaml

# Runs until the file stop.ID or stop exists.
write_script until.sh <<\END
#!/bin/sh
until [ -e stop ] || [ -e "stop.$FLUXQ_JOB_ID" ]; do sleep 0.02; done
END

# Runs until one of these files exists, and then past its time limit for a moment.
write_script stubborn.sh <<\END
#!/bin/sh
trap '' TERM
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

# reserve START DURATION NODES [ARGUMENTS]: makes a reservation for this user and prints the name.
reserve()
{
    from=$1 long=$2 where=$3
    shift 3
    fluxq-ctl reserve --start "$from" --duration "$long" --nodes "$where" --users "$me" "$@"
}

maintain()
{
    from=$1 long=$2 where=$3
    shift 3
    fluxq-ctl reserve --start "$from" --duration "$long" --nodes "$where" --maintenance "$@"
}

reservations()
{
    fluxq-show reservation --json | jq -r '.reservations | length'
}

# resv NAME FIELD: prints FIELD of the reservation.
resv()
{
    fluxq-show reservation "$1" --json | jq -r ".reservations[0].$2"
}

has_state()
{
    [ "$(resv "$1" state)" = "$2" ]
}

is_over()
{
    test_must_fail fluxq-show reservation "$1" 2>/dev/null >/dev/null
}

node_state()
{
    fluxq-info -N | awk -v node="$1" '$1 == node { print $2 }'
}

node_is()
{
    [ "$(node_state "$1")" = "$2" ]
}

why()
{
    job_field "$1" reason_text
}

why_has()
{
    why "$1" | grep -q "$2"
}

# Ends all jobs and removes all reservations.
fresh()
{
    rm -f stop stop.* &&
    for name in $(fluxq-show reservation --json | jq -r '.reservations[].name'); do
        fluxq-ctl unreserve "$name" || return 1
    done &&
    { none_active || fluxq-cancel -t PENDING,RUNNING; } && wait_until 20 none_active
}

refused()
{
    words=$1
    shift
    test_must_fail fluxq-ctl reserve "$@" 2>err && cat err &&
        [ "$(grep -vc "^Try " err)" = 1 ] && grep -q -e "$words" err
}

start_broker --config reserve.yaml

test_expect_success 'jobs with a time limit that overlaps a planned reservation wait, and shorter jobs start' '
    fresh &&
    [ "$(reserve now+1hour 60 node[0-2] --note "a course")" = resv-1 ] &&
    fluxq-show reservation resv-1 >show && cat show &&
    grep -q "^State: *planned" show && grep -q "^Nodes: *node\[0-2\] (3)" show &&
    grep -q "^Users: *$me\$" show && grep -q "^Made by: *$me\$" show && grep -q "^Note: *a course" show &&
    fluxq-show node node1 | grep -q "^Reservation: *resv-1, from 20" && node_is node1 idle &&
    fluxq-show node node3 >node && ! grep Reservation node &&
    long=$(submit 61 -N 2 --exclusive) && short=$(submit 50 -N 2 --exclusive) &&
    one=$(submit 61 -N 1 --exclusive) &&
    wait_job_state $short RUNNING && wait_job_state $one RUNNING &&
    [ "$(job_field $one nodelist)" = node3 ] && [ "$(job_field $short nodelist)" = "node[0-1]" ] &&
    wait_until 10 why_has $long "; node\[0-2\] are reserved for resv-1 from 20.*; starts about 20" &&
    end=$(resv resv-1 end) && from=$(job_field $long expected_start) &&
    [ "$(echo "$from $end" | jq -s ".[0] >= .[1] - 1")" = true ]
'

test_expect_success 'unreserve frees the nodes at once' '
    end_job $short && fluxq-ctl unreserve resv-1 &&
    wait_job_state $long RUNNING && is_over resv-1 &&
    test_must_fail fluxq-ctl unreserve resv-1 2>err && grep "there is no reservation resv-1" err &&
    touch stop && wait_job_state $long COMPLETED && wait_job_state $one COMPLETED
'

test_expect_success '--test-only plans a start after the reservation' '
    fresh && name=$(reserve now+20 30 4) && [ "$name" = resv-2 ] &&
    fluxq-submit --test-only -t 1 -N 1 -- true >told && cat told &&
    grep "would start not before" told &&
    fluxq-submit --test-only -t 0:05 -N 1 -- true >told && grep "would start now" told &&
    fluxq-submit --test-only -t 5 -N 2 --reservation $name -- true >told && cat told &&
    grep "would start not before .* on node\[0-1\]" told
'

test_expect_success 'a reservation limits the users, the time and the size of its jobs' '
    fresh && reserve now 10 2 --name mine && fluxq-ctl reserve --name theirs --start now --duration 10 \
        --nodes 1 --users nobody,root >name && [ "$(cat name)" = theirs ] &&
    test_must_fail fluxq-submit -t 1 --reservation other -- true 2>err && cat err &&
    grep "there is no reservation other" err &&
    if [ "$me" != root ]; then
        test_must_fail fluxq-submit -t 1 --reservation theirs -- true 2>err && grep "not one of the users of" err
    fi &&
    fluxq-ctl unreserve theirs && fluxq-ctl reserve --name theirs --start now --duration 10 --nodes 1 --users nobody &&
    test_must_fail fluxq-submit -t 1 --reservation theirs -- true 2>err && cat err &&
    [ "$(wc -l <err)" = 1 ] && grep "you are not one of the users of reservation theirs" err &&
    test_must_fail fluxq-submit -t 11 --reservation mine -- true 2>err && cat err &&
    grep "a time limit of 11:00 is longer than the .* of reservation mine" err &&
    test_must_fail fluxq-submit -t UNLIMITED --reservation mine -- true 2>err && grep "without a time limit" err &&
    test_must_fail fluxq-submit -t 1 -N 3 --reservation mine -- true 2>err && cat err &&
    grep "reservation mine: needs 3 nodes" err &&
    FLUXQ_RESERVATION=mine submit 5 -N 2 >id && wait_job_state $(cat id) RUNNING &&
    [ "$(job_field $(cat id) nodelist)" = "$(resv mine nodes)" ] &&
    [ "$(job_field $(cat id) reservation)" = mine ] && end_job $(cat id) &&
    { printf "#!/bin/sh\n#SBATCH --reservation=mine\n#SBATCH -t 5 -o /dev/null\n" && cat until.sh; } >script.sh &&
    id=$(fluxq-submit script.sh) && wait_job_state $id RUNNING && [ "$(job_field $id reservation)" = mine ] && end_job $id
'

test_expect_success 'the jobs in a reservation have a queue of their own, with order, nodes, reasons and drained nodes' '
    fresh && reserve now 10 2 --name in && node_is node0 resv &&
    a=$(submit 5 -N 2 --exclusive --reservation in) && wait_job_state $a RUNNING &&
    node_is node0 allocated && fluxq-show node node0 --json | jq -e ".nodes[0].cores_used == 2" &&
    b=$(submit 4 -N 1 --exclusive --reservation in) && out=$(submit 5 -N 1) && wait_job_state $out RUNNING &&
    case $(job_field $out nodelist) in node[23]) ;; *) false ;; esac &&
    wait_until 10 why_has $b "job $a frees" && [ "$(job_field $b reason)" = Resources ] &&
    fluxq-ctl drain node0 --reason disk && end_job $a && wait_job_state $b RUNNING &&
    [ "$(job_field $b nodelist)" = node1 ] && c=$(submit 3 -N 1 --exclusive --reservation in) &&
    sleep 0.3 && [ "$(job_state $c)" = PENDING ] && node_is node0 drained &&
    fluxq-ctl resume node0 && wait_job_state $c RUNNING && [ "$(job_field $c nodelist)" = node0 ] &&
    touch stop && for id in $b $c $out; do wait_job_state $id COMPLETED || return 1; done
'

test_expect_success 'in a maintenance reservation nobody runs jobs, not even root' '
    fresh && [ "$(maintain now 10 node[0-2] --name disks)" = disks ] &&
    fluxq-show reservation disks | grep "^Users: *none: maintenance" &&
    node_is node0 maint && node_is node3 idle && fluxq-info | grep "^maint  *3 .*node\[0-2\]" &&
    test_must_fail fluxq-submit -t 1 --reservation disks -- true 2>err && grep "is for maintenance" err &&
    id=$(submit 5 -N 2) && one=$(submit 5 -N 1) && wait_job_state $one RUNNING &&
    [ "$(job_field $one nodelist)" = node3 ] && wait_until 10 why_has $id "reserved for disks until" &&
    fluxq-ctl unreserve disks && wait_job_state $id RUNNING
'

test_expect_success 'a reservation avoids busy nodes, refuses a list with a busy node, and waits for jobs with --ignore-running' '
    fresh && run=$(submit 30 -N 1 --exclusive) && wait_job_state $run RUNNING && node=$(job_field $run nodelist) &&
    name=$(reserve now+60 10 3) && case ,$(resv $name nodes), in *$node*) false ;; esac &&
    fluxq-ctl unreserve $name &&
    refused "3 of 4 are free" --start now+60 --duration 10 --nodes 4 --users "$me" &&
    refused "job $run runs on $node, .*--ignore-running" --start now+60 --duration 10 --nodes "$node" --users "$me" &&
    reserve now+31minutes 10 $node --name later && fluxq-ctl unreserve later &&
    reserve now 10 node[0-3] --ignore-running --name now &&
    all=$(submit 5 -N 4 --exclusive --reservation now) && some=$(submit 1 -N 3 --reservation now) &&
    out=$(submit 1 -N 1) && wait_until 10 why_has $all "needs 4 exclusive nodes" && [ "$(job_state $run)" = RUNNING ] &&
    wait_job_state $some RUNNING && end_job $some && [ "$(job_state $all)" = PENDING ] &&
    end_job $run && wait_job_state $all RUNNING && [ "$(job_state $out)" = PENDING ] &&
    fluxq-ctl unreserve now && end_job $all && wait_job_state $out RUNNING
'

test_expect_success 'a new reservation moves planned jobs behind it' '
    fresh && run=$(submit 1 -N 4 --exclusive) && wait_job_state $run RUNNING &&
    next=$(submit 30 -N 2 --exclusive) && wait_until 10 why_has $next "starts about" &&
    was=$(job_field $next expected_start) && name=$(reserve now+2minutes 10 node[0-3]) &&
    wait_until 10 why_has $next "reserved for $name from" &&
    echo "$was $(job_field $next expected_start) $(resv $name end)" | jq -s -e ".[1] > .[0] and .[1] >= .[2] - 1" &&
    end_job $run && sleep 0.3 && [ "$(job_state $next)" = PENDING ]
'

test_expect_success 'planned and active reservations, a job inside and a pending job survive kill -9' '
    fresh && reserve now 20 node[0-1] --name active && reserve now+1hour 20 node[2-3] --name plan --note later &&
    in=$(submit 10 -N 1 --exclusive --reservation active) && wait_job_state $in RUNNING &&
    node=$(job_field $in nodelist) && wait=$(submit 9 -N 2 --exclusive --reservation active) &&
    early=$(submit 10 -N 1 --reservation plan) &&
    out=$(submit 90 -N 3) && kill_broker && start_broker --config reserve.yaml &&
    has_state active active && has_state plan planned && [ "$(resv plan note)" = later ] &&
    wait_job_state $in RUNNING && [ "$(job_field $in nodelist)" = $node ] && node_is $node allocated &&
    wait_until 10 why_has $wait "job $in frees" &&
    [ "$(job_field $early reason)" = Reservation ] && why_has $early "reservation plan begins at 20" &&
    [ "$(job_state $out)" = PENDING ] && short=$(submit 30 -N 2) && wait_job_state $short RUNNING &&
    [ "$(job_field $short nodelist)" = "node[2-3]" ] &&
    end_job $in && wait_job_state $wait RUNNING && end_job $wait && end_job $short &&
    fluxq-ctl unreserve active && kill_broker && start_broker --config reserve.yaml && is_over active &&
    has_state plan planned
'

test_expect_success 'a reservation begins and ends by itself, and its pending jobs run in the next of the same name' '
    fresh && reserve now+6 0:08 node[0-1] --name quick && has_state quick planned &&
    in=$(submit 0:03 -N 1 --exclusive --reservation quick) && two=$(submit 0:08 -N 2 --exclusive --reservation quick) &&
    [ "$(job_field $in reason)" = Reservation ] && wait_until 20 has_state quick active &&
    wait_job_state $in RUNNING && all=$(submit 1 -N 4) && wait_until 20 is_over quick &&
    wait_job_state $all RUNNING && [ "$(job_state $two)" = PENDING ] && [ "$(job_field $two reason)" = Reservation ] &&
    why_has $two "reservation quick has ended or was removed" && end_job $all &&
    kill_broker && start_broker --config reserve.yaml && is_over quick && why_has $two "has ended or was removed" &&
    third=$(submit 1 -N 1) && wait_job_state $third RUNNING && end_job $third &&
    fluxq-ctl reserve --name quick --start now --duration 5 --nodes 2 --users nobody &&
    wait_until 10 why_has $two "not one of the users" && fluxq-ctl unreserve quick &&
    reserve now 5 2 --name quick && wait_job_state $two RUNNING && end_job $two
'

test_expect_success 'a job of a removed reservation can be cancelled' '
    fresh && reserve now+1hour 5 2 --name gone && id=$(submit 1 --reservation gone) && fluxq-ctl unreserve gone &&
    why_has $id "ended or was removed" && fluxq-cancel $id && wait_job_state $id CANCELLED
'

test_expect_success 'when a reservation ends its running jobs keep their nodes' '
    fresh && reserve now 10 node[0-1] --name end && in=$(submit 5 -N 1 --exclusive --reservation end) &&
    wait_job_state $in RUNNING && fluxq-ctl unreserve end && [ "$(job_state $in)" = RUNNING ] &&
    node=$(job_field $in nodelist) && node_is $node allocated &&
    rest=$(submit 5 -N 3 --exclusive) && all=$(submit 5 -N 1 --exclusive) && wait_job_state $rest RUNNING &&
    case ,$(fluxq-show job $rest --json | jq -r "[.ranks[].node] | join(\",\")"), in *,$node,*) false ;; esac &&
    [ "$(job_state $all)" = PENDING ] &&
    kill_broker && start_broker --config reserve.yaml && wait_job_state $in RUNNING && node_is $node allocated &&
    reserve now 10 $node --name end --ignore-running &&
    kill_broker && start_broker --config reserve.yaml && wait_job_state $in RUNNING && end_job $in && node_is $node resv &&
    sleep 0.2 && [ "$(job_state $all)" = PENDING ] && fluxq-ctl unreserve end && wait_job_state $all RUNNING
'

test_expect_success 'array tasks run in a reservation one after the other, also after kill -9 and after its end' '
    fresh && reserve now 20 node[0-1] --name many &&
    array=$(fluxq-submit -o /dev/null -t 5 --array 1-3 -N 2 --exclusive --reservation many ./until.sh) &&
    wait_job_state "${array}_1" RUNNING && [ "$(job_field ${array}_1 nodelist)" = "node[0-1]" ] &&
    [ "$(job_field ${array}_1 reservation)" = many ] && kill_broker && start_broker --config reserve.yaml &&
    wait_job_state "${array}_1" RUNNING && node_is node0 allocated &&
    touch "stop.$(job_field ${array}_1 id)" && wait_job_state "${array}_1" COMPLETED &&
    wait_job_state "${array}_2" RUNNING && [ "$(job_field ${array}_2 nodelist)" = "node[0-1]" ] &&
    fluxq-ctl unreserve many && out=$(submit 1 -N 4) && touch "stop.$(job_field ${array}_2 id)" &&
    wait_job_state "${array}_2" COMPLETED && wait_job_state $out RUNNING && end_job $out &&
    wait_until 10 why_has $array "reservation many has ended" && reserve now 20 node[2-3] --name many &&
    wait_job_state "${array}_3" RUNNING && [ "$(job_field ${array}_3 nodelist)" = "node[2-3]" ] &&
    touch stop && wait_job_state "${array}_3" COMPLETED
'

test_expect_success 'a job that overruns its limit keeps its node from the jobs of a reservation until it has ended' '
    fresh && run=$(fluxq-submit -o /dev/null -t 0:01 -N 1 --exclusive ./stubborn.sh) && wait_job_state $run RUNNING &&
    node=$(job_field $run nodelist) && reserve now+2 5 $node --name behind &&
    in=$(submit 1 -N 1 --exclusive --reservation behind) && wait_job_state $in RUNNING 30 &&
    ended=$(job_field $run end_time) && began=$(job_field $in start_time) &&
    echo "$ended $began" | jq -s -e ".[0] <= .[1]" && end_job $in
'

test_expect_success 'a stopped queue starts no job in a reservation' '
    fresh && reserve now 10 2 --name still && fluxq-ctl queue stop batch && id=$(submit 1 --reservation still) &&
    wait_until 10 why_has $id "its queue is stopped" && fluxq-ctl queue start batch && wait_job_state $id RUNNING && end_job $id
'

test_expect_success 'wrong input gives one line each, and makes no reservation' '
    fresh && reserve now+1hour 10 node1 --name there &&
    refused "in the past" --start 2020-01-01 --duration 10 --nodes 1 --users "$me" &&
    refused "not" --start sometime --duration 10 --nodes 1 --users "$me" &&
    refused "must end" --start now --duration 0 --nodes 1 --users "$me" &&
    refused "lasts at most 366 days" --start now --duration 400-00 --nodes 1 --users "$me" &&
    refused "lasts at most 366 days" --start 2200-01-01 --duration 10 --nodes 1 --users "$me" &&
    refused "must end" --start now --duration UNLIMITED --nodes 1 --users "$me" &&
    refused "no node is named node4" --start now --duration 10 --nodes node[1-9] --users "$me" &&
    refused "the machine has 4" --start now --duration 10 --nodes 5 --users "$me" &&
    refused "nodes: .0. is not an integer from 1" --start now --duration 10 --nodes 0 --users "$me" &&
    refused "nodes" --start now --duration 10 --nodes "node[" --users "$me" &&
    refused "nodes" --start now --duration 10 --nodes "" --users "$me" &&
    refused "no user no-such-user" --start now --duration 10 --nodes 1 --users "$me",no-such-user &&
    refused "expected names" --start now --duration 10 --nodes 1 --users "$me,," &&
    refused "node1 is in reservation there from 20" --start now+65minutes --duration 10 --nodes node[0-3] --users "$me" &&
    refused "3 of 4 are free" --start now --duration 2:00:00 --nodes 4 --users "$me" &&
    refused "a reservation there already exists" --start now --duration 10 --nodes 1 --users "$me" --name there &&
    refused "cannot be the name" --start now --duration 10 --nodes 1 --users "$me" --name "a b" &&
    refused "cannot be the name" --start now --duration 10 --nodes 1 --users "$me" --name a/b &&
    refused "cannot be the name" --start now --duration 10 --nodes 1 --users "$me" --name $(printf %064d 0) &&
    refused "needs either --users or --maintenance" --start now --duration 10 --nodes 1 &&
    refused "needs either --users or --maintenance" --start now --duration 10 --nodes 1 --users "$me" --maintenance &&
    refused "needs --start" --duration 10 --nodes 1 --users "$me" &&
    refused "needs --nodes" --start now --duration 10 --users "$me" &&
    test_must_fail fluxq-ctl status --name x 2>err && grep -e "--name is for reserve" err &&
    [ "$(reservations)" = 1 ] &&
    name=$(printf %063d 0) && [ "$(reserve now+2hours 10 2 --name $name)" = $name ] && fluxq-ctl unreserve $name
'

test_expect_success 'all jobs end, and the broker stops' '
    fresh && stop_broker
'

test_done
