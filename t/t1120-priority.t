#!/bin/sh
test_description='priority: the order by each term, fair share, holds of users and of operators'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

# Everything that the users nobody and daemon need is in a directory that they can enter;
# the build may be elsewhere.
chmod 755 "$FLUXQ_RUN"
BROKER_STATE=$FLUXQ_RUN/state
mkdir -p "$FLUXQ_RUN/bin" "$FLUXQ_RUN/shell"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$FLUXQ_RUN/bin"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_RUN/shell"
write_script "$FLUXQ_RUN/until.sh" <<END
#!/bin/sh
until [ -e $FLUXQ_RUN/stop ] || [ -e "$FLUXQ_RUN/stop.\$FLUXQ_JOB_ID" ]; do sleep 0.02; done
END

# fluxq_as USER WORDS...: runs fluxq WORDS as USER.
fluxq_as()
{
    as_user=$1
    shift
    (cd / && HOME=/nowhere exec setpriv --reuid="$as_user" --regid="$(id -g "$as_user")" \
        --init-groups "$FLUXQ_RUN/bin/fluxq" "$@")
}

# submit [OPTIONS]: submits a job that takes the whole machine until the file stop or stop.ID
# exists.
submit()
{
    fluxq-submit -o /dev/null -c 2 "$@" "$FLUXQ_RUN/until.sh"
}

submit_as()
{
    who=$1
    shift
    fluxq_as "$who" submit -o /dev/null -c 2 "$@" "$FLUXQ_RUN/until.sh"
}

end_job()
{
    touch "$FLUXQ_RUN/stop.$1" && wait_job_state "$1" COMPLETED
}

# Each case begins with an empty queue, also after a failed case.
fresh()
{
    rm -f "$FLUXQ_RUN"/stop* && { none_active || fluxq-cancel -t PENDING,RUNNING; } && wait_until 20 none_active
}

# order_is ID...: these jobs are pending in this order, in the listing and in fluxq-show priority.
order_is()
{
    printf '%s\n' "$@" >expected
    fluxq-queue -t PENDING --json | jq '.jobs[].id' >order && cmp -s expected order &&
        fluxq-show priority | sed 1d | awk '{ print $1 }' >order && cmp -s expected order
}

# configure LINE...: adds LINE... to the configuration of this test's machine;
# reloads are immediate.
configure()
{
    { echo 'local: {nodes: 1, cores: 2}'
      echo 'queues: {batch: {default: true}, fast: {priority: 100}}'
      printf '%s\n' "$@"; } >priority.yaml
}

# points ID TERM: prints the points of this term. factor ID TERM: prints its factor.
points()
{
    fluxq-show priority "$1" --json | jq ".terms[] | select(.name == \"$2\") | .points"
}

has_points()
{
    [ "$(points "$1" "$2")" -ge "$3" ]
}

# user_field USER FIELD: prints FIELD of USER in the fair-share list.
user_field()
{
    fluxq-show fair-share "$1" --json | jq -r ".users[0].$2"
}

# has_used USER CORE-SECONDS: the user has used at least CORE-SECONDS.
has_used()
{
    user_field "$1" usage | jq -e ". >= $2"
}

sums_up()
{
    fluxq-show priority "$1" --json >sum && jq -e '.priority == ([.terms[].points] | add)' sum >/dev/null &&
        [ "$(jq .priority sum)" = "$(job_field "$1" priority)" ] &&
        [ "$(jq .priority sum)" = "$(fluxq-queue -t PENDING --json | jq ".jobs[] | select(.id == $1) | .priority")" ]
}

configure 'priority: {interval: 1s}'
start_broker --config priority.yaml

test_expect_success 'by default jobs are ordered by urgency, then queue, then age, with urgency 31 first and held jobs last' '
    fresh &&
    full=$(submit) && wait_job_state $full RUNNING &&
    held=$(submit --hold) && old=$(submit) && new=$(submit) && fast=$(submit -q fast) &&
    urgent=$(submit --urgency 17) && lazy=$(submit --urgency 15 -q fast) && first=$(submit --urgency 31) &&
    order_is $first $urgent $fast $old $new $lazy $held &&
    for id in $first $urgent $fast $old; do
        end_job $full && full=$id && wait_job_state $full RUNNING || return 1
    done
'
test_expect_success 'the sum of the points is the priority of the job in all outputs' '
    wait_until 10 sums_up $new && wait_until 10 sums_up $lazy && wait_until 10 sums_up $held &&
    test "$(fluxq-show priority $held --json | jq .priority)" = 0 &&
    test "$(points $lazy urgency)" = 150000000 && test "$(points $lazy queue)" = 500000 &&
    fluxq-show priority $lazy >text && grep -E "^queue +5000 +100 +500000 of queue fast" text &&
    grep -E "^sum +$(job_field $lazy priority)$" text
'
test_expect_success 'the priority event has the sum at its time, and a started job keeps its priority' '
    fluxq-show job $new --events --json | jq ".events[] | select(.name == \"priority\") | .context.priority" >told &&
    echo 160001500 >expected && test_cmp expected told &&
    end_job $full && wait_job_state $new RUNNING && test "$(job_field $new priority)" = 160001500
'
test_expect_success 'the size term puts larger jobs first, or smaller jobs' '
    fresh && configure "priority: {interval: 1s, size: 1000}" && fluxq-ctl reload >text && grep "priority.size" text &&
    full=$(submit) && wait_job_state $full RUNNING &&
    small=$(submit -c 1) && large=$(submit) && order_is $large $small &&
    test "$(points $large size)" = 1000 && test "$(points $small size)" = 750 &&
    configure "priority: {interval: 1s, size: -500}" && fluxq-ctl reload &&
    order_is $small $large && test "$(points $large size)" = 0 && test "$(points $small size)" = 125
'
test_expect_success 'with age an old job overtakes a job with more other points, and no longer gains after age-max' '
    fresh && configure "priority: {interval: 1s, queue: 1, age: 1000, age-max: 3s}" && fluxq-ctl reload &&
    full=$(submit) && wait_job_state $full RUNNING &&
    old=$(submit) && wait_until 10 has_points $old age 1000 &&
    new=$(submit -q fast) && order_is $old $new &&
    wait_until 10 order_is $new $old && test "$(points $old age)" = 1000 &&
    test "$(count_events $old priority)" = 1 && test "$(count_events $new priority)" = 1
'
test_expect_success 'age does not count the time in which a job is held' '
    fluxq-ctl hold $old && fluxq-ctl release $old && test "$(points $old age)" -lt 1000 &&
    wait_until 10 has_points $old age 1000
'
test_expect_success 'a reload changes the order at once' '
    configure "priority: {interval: 1h, queue: 0}" && fluxq-ctl reload && order_is $old $new &&
    configure "priority: {interval: 1s}" && fluxq-ctl reload && order_is $new $old
'
test_expect_success 'a change of urgency gives another priority event and another place' '
    fluxq-cancel $new && id=$(submit -q fast) && order_is $id $old &&
    curl -sf --unix-socket "$FLUXQ_RUN/fluxqd.sock" -d "{\"urgency\":15}" http://fluxqd/v1/jobs/$id/urgency &&
    order_is $old $id && test "$(count_events $id priority)" = 2
'
test_expect_success 'fluxq-show priority refuses started jobs, unknown jobs and wrong usage' '
    test_must_fail fluxq-show priority $full 2>why && grep "job $full no longer waits (RUNNING)" why &&
    test_must_fail fluxq-show priority 99999 2>why && grep "no job 99999" why &&
    test_expect_code 2 fluxq-show priority x && test_expect_code 2 fluxq-show priority --events 2>why &&
    test_must_fail fluxq-show fair-share nosuchuser 2>why && grep nosuchuser why &&
    for query in limit=0 limit=x after=-1 after=99999999999; do
        test "$(curl -s -o /dev/null -w "%{http_code}" --unix-socket "$FLUXQ_RUN/fluxqd.sock" "http://fluxqd/v1/fair-share?$query")" = 400 || return 1
    done
'

test_expect_success ROOT 'a user who has used more has a lower priority' '
    fresh && configure "priority: {interval: 1s}" "keep-finished: 0" && fluxq-ctl reload &&
    id=$(submit_as nobody) && wait_until 20 has_used nobody 2 && end_job $id &&
    full=$(submit) && wait_job_state $full RUNNING &&
    one=$(submit_as nobody) && two=$(submit_as daemon) && wait_until 10 order_is $two $one &&
    fluxq-show fair-share daemon --json | jq -e ".users[0] | .factor == 1 and .usage == 0" &&
    fluxq-show fair-share nobody --json | jq -e ".users[0] | .factor < 1 and .usage >= 2 and .share < 0.34" &&
    end_job $full && wait_job_state $two RUNNING && wait_until 20 has_used daemon 2 && end_job $two && wait_job_state $one RUNNING && end_job $one
'
test_expect_success ROOT 'the fair-share list has pages, and can show all users or one user' '
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" "http://fluxqd/v1/fair-share?limit=1" >page &&
    jq -e ".total == 3 and (.users | length) == 1 and .users[0].user == \"root\" and .next == 0" page &&
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" "http://fluxqd/v1/fair-share?limit=2&after=0" >page &&
    jq -e "(.users | length) == 2 and .next == null" page &&
    fluxq-show fair-share >text && test "$(sed 1d text | wc -l)" = 3 && grep -E "^nobody +33.3 " text &&
    fluxq-show fair-share --json | jq -e "(([.users[].usage_part] | add) - 1 | fabs) < 0.001"
'
# near USER CORE-SECONDS: the usage is within 1 % of CORE-SECONDS.
near()
{
    user_field "$1" usage | jq -e --argjson was "$2" '. > $was * 0.99 and . < $was * 1.01'
}
test_expect_success ROOT 'usage survives a restart, and kill -9' '
    used=$(user_field nobody usage) && theirs=$(user_field daemon usage) &&
    restart_broker && near nobody $used && near daemon $theirs && test "$(user_field nobody user)" = nobody &&
    id=$(submit_as nobody) && wait_until 20 has_used nobody "$used + 2" && end_job $id && more=$(user_field nobody usage) &&
    kill_broker && start_broker --config priority.yaml && near nobody $more && near daemon $theirs
'
test_expect_success ROOT 'running jobs count as usage while they run, also jobs started before a restart' '
    before=$(user_field daemon usage) && id=$(submit_as daemon) && wait_until 20 has_used daemon "$before + 2" &&
    running=$(user_field daemon usage) && wait_job_state $id RUNNING && test "$(user_field daemon cores)" = 2 &&
    kill_broker && start_broker --config priority.yaml && test "$(job_state $id)" = RUNNING &&
    after=$(user_field daemon usage) && jq -n -e "$after >= $running" && test "$(user_field daemon cores)" = 2 &&
    end_job $id && jq -n -e "$(user_field daemon usage) >= $after" && test "$(user_field daemon cores)" = 0
'
is_forgotten()
{
    ! fluxq-show fair-share "$1"
}
test_expect_success ROOT 'usage decays with the half-life, and a user without usage is forgotten for good' '
    fresh && configure "priority: {interval: 1s, half-life: 0.5s}" "keep-finished: 0" && fluxq-ctl reload &&
    wait_until 20 is_forgotten nobody && wait_until 20 is_forgotten daemon &&
    configure "priority: {interval: 1s}" && restart_broker && is_forgotten nobody && is_forgotten daemon
'

reason_is()
{
    [ "$(job_field "$1" reason)" = "$2" ] && job_field "$1" reason_text >text && cat text && grep "$3" text
}
test_expect_success ROOT 'a user can hold and release a job, with a reason' '
    fresh && id=$(submit_as nobody --hold) && reason_is $id JobHeldUser "held by its user; release it with" &&
    fluxq_as nobody ctl hold $id --reason "not yet" && reason_is $id JobHeldUser "held by its user: not yet; release" &&
    fluxq_as nobody ctl release $id && wait_job_state $id RUNNING && end_job $id
'
test_expect_success ROOT 'a user cannot release a job that an operator holds, and the operator'\''s reason is shown' '
    full=$(submit) && wait_job_state $full RUNNING && id=$(submit_as nobody) &&
    fluxq-ctl hold $id --reason "ask \"me\" first" &&
    reason_is $id JobHeldAdmin "^held by operator: ask \"me\" first$" &&
    fluxq-queue -t PENDING | grep "(JobHeldAdmin)" &&
    for words in "release $id" "hold $id" "hold $id --reason mine"; do
        test_must_fail fluxq_as nobody ctl $words 2>why && cat why &&
        grep "job $id is held by operator, ask .me. first: only operators release it" why || return 1
    done &&
    test_must_fail fluxq_as daemon ctl release $id 2>why && grep "belongs to nobody" why &&
    reason_is $id JobHeldAdmin "ask"
'
test_expect_success ROOT 'the hold of an operator survives a restart, and an operator can release the job' '
    kill_broker && start_broker --config priority.yaml && reason_is $id JobHeldAdmin "ask" &&
    test_must_fail fluxq_as nobody ctl release $id &&
    fluxq-ctl release $id && test "$(job_field $id reason)" != JobHeldAdmin && end_job $full &&
    wait_job_state $id RUNNING && end_job $id
'
test_expect_success ROOT 'an operator can take over the hold of a user, and users can cancel held jobs' '
    id=$(submit_as nobody --hold) && fluxq-ctl hold $id && reason_is $id JobHeldAdmin "^held by operator$" &&
    test_must_fail fluxq_as nobody ctl release $id 2>why && grep "held by operator: only" why &&
    fluxq_as nobody cancel $id && wait_job_state $id CANCELLED
'
test_expect_success 'only a hold may have a reason, and the reason has a maximum length' '
    id=$(submit --hold) && test_expect_code 2 fluxq-ctl release $id --reason x 2>why && grep -e --reason why &&
    test_must_fail fluxq-ctl hold $id --reason "$(printf %0401d 0)" 2>why && grep "reason: 1 to 400" why &&
    test_must_fail fluxq-ctl hold $id --reason "" 2>why && grep "reason: 1 to 400" why &&
    test "$(curl -s -o /dev/null -w "%{http_code}" --unix-socket "$FLUXQ_RUN/fluxqd.sock" -d "{\"urgency\":16,\"reason\":\"x\"}" http://fluxqd/v1/jobs/$id/urgency)" = 400 &&
    fluxq-cancel $id
'

# wrong_value PLACE TEXT LINES...: the configuration is refused with line and column
# PLACE, and with TEXT.
wrong_value()
{
    place=$1 text=$2
    shift 2
    printf '%s\n' "$@" >wrong.yaml
    test_expect_code 1 fluxqd --check --config wrong.yaml 2>why && cat why && grep "wrong.yaml:$place: .*$text" why
}
test_expect_success 'wrong values are refused with line and column' '
    wrong_value 1:1 "mapping" "priority: high" &&
    wrong_value 2:3 "unknown key .weight." "priority:" "  weight: 1" &&
    wrong_value 2:3 "age: expected an integer from 0 to 1000000" "priority:" "  age: -1" &&
    wrong_value 3:3 "fair-share" "priority:" "  age: 1" "  fair-share: much" &&
    wrong_value 2:3 "size: expected an integer from -1000000 to 1000000" "priority:" "  size: -1000001" &&
    wrong_value 2:3 "queue" "priority:" "  queue: 1.5" &&
    wrong_value 2:3 "age-max: expected a duration from 1" "priority:" "  age-max: 0" &&
    wrong_value 2:3 "half-life" "priority:" "  half-life: -1" &&
    wrong_value 2:3 "interval: expected a duration from 1 to 86400" "priority:" "  interval: 0.5" &&
    echo "priority: {half-life: infinity, size: -1}" >right.yaml && fluxqd --check --config right.yaml
'
test_expect_success 'no job is left, and the broker stops' 'fresh && stop_broker'
test_done
