#!/bin/sh
test_description='each route of the API is for the roles of its table, and for nobody else'
# shellcheck disable=SC2034
T_USERS='t-owner t-operator t-member t-stranger t-admin t-other' T_GROUPS='t-crew:t-member'
. "$(dirname "$0")/users.sh"
. "$(dirname "$0")/lib.sh"
PATH=$FLUXQ_BUILD_DIR/src/rest:$PATH

chmod 755 "$FLUXQ_RUN"
BROKER_STATE=$FLUXQ_RUN/state
mkdir -p "$FLUXQ_RUN/bin" "$FLUXQ_RUN/shell"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$FLUXQ_RUN/bin"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_RUN/shell"
for name in scancel scontrol squeue fluxq-ctl fluxq-submit; do ln -s fluxq "$FLUXQ_RUN/bin/$name"; done

# as USER COMMAND...
as()
{
    as_user=$1
    shift
    (cd / && HOME=/nonexistent exec setpriv --reuid="$as_user" --regid="$as_user" --init-groups \
        env PATH="$FLUXQ_RUN/bin:/usr/bin:/bin" "$@")
}

configure()
{
    printf '%s\n' "local: {nodes: 2}" "token-key: $PWD/token.key" "operators: [t-admin]" \
        "queues: {mine: {default: true, operators: [t-operator, \"@t-crew\"]$1}, theirs: {operators: [t-stranger]}}" >roles.yaml
}

# holders ROLE: prints the users who have the role for a job of t-owner in queue mine, for the queue, and for t-owner's tokens.
holders()
{
    case $1 in
    user) echo t-owner t-operator t-member t-stranger t-admin t-other root ;;
    owner) echo t-owner ;;
    operator) echo t-operator t-member ;;
    administrator) echo t-admin root ;;
    root) echo root ;;
    *) return 1 ;;
    esac
}

# The path with an object in place of {}; fails for a route without an object in this test.
path_of()
{
    case $1 in
    */jobs/{}*) echo "$1" | sed "s/{}/$job/" ;;
    */queues/{}) echo /v1/queues/mine ;;
    */nodes/{}) echo /v1/nodes/node1 ;;
    */reservations/{}) echo /v1/reservations/none ;;
    *{}*) echo "no object for $1" >&2 && return 1 ;;
    *) echo "$1" ;;
    esac
}

# A body that the route takes or refuses after the decision about the role, and that does no harm.
body_of()
{
    case $1 in
    */cancel) echo "{\"ids\": \"$job\", \"signal\": 18}" ;;
    */limit) echo '{"limit": 3600}' ;;
    */urgency) echo '{"urgency": 16}' ;;
    */requeue) echo '{"hold": 1}' ;;
    */queues/*) echo '{"action": "start"}' ;;
    */token | */revoke) echo '{"user": "t-owner"}' ;;
    *) echo '{}' ;;
    esac
}

# verdict USER METHOD PATTERN: "yes" when the role was enough, "no" when it was not or the object is hidden.
# The wait for a job does not end while the job runs, and then no answer (000) is a yes.
verdict()
{
    path=$(path_of "$3") && body=$(body_of "$3") || return
    answer=$PWD/answer.$1
    case $3 in
    */wait | */watch) patience=4 ;;
    *) patience=60 ;;
    esac
    status=$(as "$1" curl -s -m $patience --unix-socket "$FLUXQ_RUN/fluxqd.sock" -X "$2" -w '\n%{http_code}' \
        $([ "$2" = GET ] || echo "-d @-") "http://fluxqd$path" 2>/dev/null <<-END
	$body
	END
    ) || :
    printf '%s\n' "$status" >"$answer"
    status=$(tail -n 1 "$answer")
    code=$(sed '$d' "$answer" | jq -r '.failed[0].code // .code // ""' 2>/dev/null)
    case $3:$status:$code in
    *:403:not-owner | *:403:not-operator | *:404:unknown-job | /v1/cancel:200:not-owner | /v1/cancel:200:unknown-job) echo no ;;
    *:[24]??:* | */wait:000:) echo yes ;;
    *) echo "status $status $code" ;;
    esac
}

# wanted USER ROLES: what the table says about the user.
wanted()
{
    for role in $(echo "$2" | tr -d ,); do
        case " $(holders "$role") " in
        *" $1 "*) echo yes && return ;;
        esac
    done
    echo no
}

# each_row ROWS: tries each row of the table with each user; prints one line for each try.
each_row()
{
    while IFS='|' read -r _ method path roles _; do
        method=$(echo "$method" | tr -d ' ') path=$(echo "$path" | tr -d '` ')
        path_of "$path" >/dev/null || return
        tries=
        for user in $(holders user); do
            { echo "$user $method $path $(verdict "$user" "$method" "$path")" >"got.$user" 2>&1; } &
            tries="$tries $!"
        done
        # shellcheck disable=SC2086
        wait $tries
        for user in $(holders user); do
            cat "got.$user" >>got && echo "$user $method $path $(wanted "$user" "$roles")" >>wanted
        done
    done <"$1"
}

fluxqd --routes | sed '1,2d' >table
grep -v '/v1/shutdown' table >rows
head -c 32 /dev/urandom >token.key && chmod 600 token.key
configure && start_broker --config roles.yaml
job=$(as t-owner fluxq-submit -D / -o /dev/null -t 60 -- sleep 97641)

test_expect_success 'each route serves the callers with a role of its row, and refuses all others' '
    wait_job_state $job RUNNING && test "$(wc -l <rows)" -ge 30 && rm -f got wanted && each_row rows &&
    test_cmp wanted got && test "$(grep -c " no$" got)" -ge 60 && test "$(job_state $job)" = RUNNING
'
test_expect_success 'a shutdown is for administrators' '
    for user in $(holders user); do
        expected=$(wanted $user administrator) && test "$(verdict $user POST /v1/shutdown)" = $expected &&
        case $expected in
        no) kill -0 $BROKER_PID ;;
        yes) wait_until 10 lib_gone $BROKER_PID && start_broker --config roles.yaml ;;
        esac || return 1
    done && test "$(job_state $job)" = RUNNING
'
test_expect_success 'with private jobs the same roles reach a job, and for others the job does not exist' '
    configure ", private: [jobs]" && fluxq-ctl reload && rm -f got wanted && each_row rows &&
    sed -i -E "s,^(t-stranger|t-other) GET (/v1/jobs/.*) yes$,\1 GET \2 no," wanted &&
    test_cmp wanted got && test "$(as t-member squeue -h -j $job -o %i)" = $job && test -z "$(as t-stranger squeue -h -j $job -o %i)"
'
test_expect_success 'an operator of the queue holds, releases, changes and requeues jobs of others with Slurm'\''s commands' '
    waits=$(as t-owner fluxq-submit --hold -D / -o /dev/null -t 10 -- true) &&
    for user in t-stranger t-other; do
        test_must_fail as $user scontrol release $waits && test_must_fail as $user scontrol update JobId=$waits TimeLimit=5 &&
        test_must_fail as $user scontrol requeue $job && test_must_fail as $user scontrol hold $waits || return 1
    done &&
    for user in t-operator t-member; do
        as $user scontrol hold $waits && test "$(job_field $waits reason)" = JobHeldAdmin &&
        test_must_fail as t-owner scontrol release $waits &&
        as $user scontrol update JobId=$waits TimeLimit=20 Comment=seen || return 1
    done &&
    test "$(job_field $waits time_limit)" = 1200 && test "$(job_field $waits comment)" = seen &&
    restarts=$(job_field $job restarts) && as t-member scontrol requeue $job && wait_until 20 sh -c "test \$(fluxq-show job $job --json | jq .restarts) -gt $restarts" &&
    wait_job_state $job RUNNING
'
test_expect_success 'an operator of the queue signals and cancels jobs of others, by id and by filter, and no job of another queue' '
    configure && fluxq-ctl reload &&
    else=$(as t-owner fluxq-submit -q theirs --hold -D / -o /dev/null -- true) &&
    as t-operator scancel --signal=CONT $job && test_must_fail as t-stranger scancel --signal=CONT $job &&
    test_must_fail as t-operator scancel $else && as t-stranger scancel -u t-owner &&
    wait_job_state $else CANCELLED && test "$(job_state $waits)" = PENDING && test "$(job_state $job)" = RUNNING &&
    as t-member scancel $waits && wait_job_state $waits CANCELLED
'
test_expect_success 'an operator may give a job of the queue more urgency and time, and may submit where others may not' '
    configure ", users: [t-owner]" && fluxq-ctl reload &&
    test_must_fail as t-owner fluxq-submit --urgency 20 -D / -o /dev/null -- true 2>err && grep "only operators" err &&
    test_must_fail as t-stranger fluxq-submit -D / -o /dev/null -- true 2>err && grep "not for t-stranger" err &&
    id=$(as t-operator fluxq-submit --urgency 20 -D / -o /dev/null -- true) && wait_job_state $id COMPLETED &&
    test_must_fail as t-operator fluxq-submit -q theirs --urgency 20 -D / -o /dev/null -- true
'
test_expect_success 'the operator of a queue stops and starts that queue, and no other' '
    as t-member fluxq-ctl queue stop mine && test_must_fail as t-member fluxq-ctl queue stop theirs 2>err &&
    grep "only operators of queue theirs" err && test_must_fail as t-owner fluxq-ctl queue start mine &&
    as t-operator fluxq-ctl queue start mine
'
test_expect_success 'slurmrestd gives a caller the roles of the token'\''s user, and no more' '
    { slurmrestd "unix:$FLUXQ_RUN/rest.sock" </dev/null >rest.log 2>&1 3>&- 4>&- 5>&- & rest_pid=$!; } &&
    test_when_finished "kill $rest_pid" && wait_until 10 grep "listening on" rest.log &&
    waits=$(as t-owner fluxq-submit --hold -D / -o /dev/null -- true) &&
    delete_as() {
        token=$(scontrol token username=$1 lifespan=60 | sed -n "s/^SLURM_JWT=//p") &&
        printf "%s\n" "X-SLURM-USER-NAME: $1" "X-SLURM-USER-TOKEN: $token" >headers &&
        curl -sS --unix-socket "$FLUXQ_RUN/rest.sock" -H @headers -X DELETE http://x/slurm/v0.0.41/job/$waits >answer
    } &&
    delete_as t-stranger && test "$(job_state $waits)" = PENDING && jq -e ".errors != []" answer &&
    delete_as t-member && wait_job_state $waits CANCELLED
'
test_expect_success 'after a reload the operators are those of the new file, and a group that does not exist is refused' '
    waits=$(as t-owner fluxq-submit --hold -D / -o /dev/null -- true) &&
    sed -i "s/\"@t-crew\"/\"@t-other\"/" roles.yaml && fluxq-ctl reload &&
    test_must_fail as t-member scancel $waits && as t-other scancel $waits && wait_job_state $waits CANCELLED &&
    sed -i "s/\"@t-other\"/\"@t-nobody\"/" roles.yaml && test_must_fail fluxq-ctl reload 2>err &&
    grep "queue mine: operators: there is no group .t-nobody" err && as t-operator scancel $job && wait_job_state $job CANCELLED
'
test_done
