#!/bin/sh
test_description='private: no route shows others the hidden data of a job'
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "Bail out! needs root: jobs of several users"; exit 1; }

chmod 755 "$FLUXQ_RUN"
BROKER_STATE=$FLUXQ_RUN/state
mkdir -p "$FLUXQ_RUN/bin" "$FLUXQ_RUN/shell"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$FLUXQ_RUN/bin"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_RUN/shell"
mkdir "$FLUXQ_RUN/sekrit" && chown nobody "$FLUXQ_RUN/sekrit"

# as USER COMMAND...: runs COMMAND as USER.
as()
{
    as_user=$1
    shift
    (cd "$FLUXQ_RUN/sekrit" && HOME=/nowhere exec setpriv --reuid="$as_user" --regid="$(id -g "$as_user")" \
        --init-groups "$@")
}

submit_secret()
{
    as nobody env SEKRIT=sekrit "$FLUXQ_RUN/bin/fluxq" submit -J "$1" -o sekrit.txt "$FLUXQ_RUN/sekrit/job.sh" sekrit
}

get_as()
{
    as "$1" timeout 3 curl -sS --unix-socket "$FLUXQ_RUN/fluxqd.sock" -X "$2" ${4:+-d "$4"} "http://fluxqd$3"
    return 0
}

# Requests each path of the API description as USER for each job, and prints the answers.
# Streams do not end, so all requests of a path run in parallel.
all_answers()
{
    sed -n 's/^  \(\/v1[^:]*\):$/\1/p' "$FLUXQ_SOURCE_DIR/doc/openapi.yaml" >routes &&
        test "$(wc -l <routes)" -gt 15 || return
    rm -f part.*
    n=0
    requests=
    for route in $(cat routes); do
        for id in $jobs; do
            path=$(echo "$route" | sed "s/{id}/$id/; s/{name}/node0/")
            one_answer "$1" GET "$path"
            one_answer "$1" GET "$path?state=all&follow=1&ids=$id"
            one_answer "$1" GET "$path?state=all&format=tsv"
            case $route in
            */shutdown | */reload) ;;
            *) one_answer "$1" POST "$path" "{\"ids\":\"$id\",\"state\":\"all\"}" ;;
            esac
        done
        # shellcheck disable=SC2086
        wait $requests
        requests=
    done
    cat part.*
}

# one_answer USER METHOD PATH [BODY]: prints the answer to one request.
one_answer()
{
    n=$((n + 1))
    { echo "== $2 $3" && get_as "$@"; } >part.$n 2>&1 &
    requests="$requests $!"
}

configure()
{
    printf '%s\n' "local: {nodes: 2}" "$@" >private.yaml
}

printf '#!/bin/sh\n# sekrit\nsleep 97461\n' >"$FLUXQ_RUN/sekrit/job.sh"
printf '#!/bin/sh\nexit 3\n' >"$FLUXQ_RUN/sekrit/fails.sh"
chmod 755 "$FLUXQ_RUN/sekrit"/*.sh
configure && start_broker --config private.yaml
test_expect_success 'by default other users see a job, and the search of this test finds the marker' '
    running=$(submit_secret plain) && wait_job_state $running RUNNING &&
    jobs=$running && all_answers daemon >open && grep -q sekrit open
'
test_expect_success 'with private arguments no route shows other users a command, directory, file or environment' '
    configure "private: [arguments]" && fluxq-ctl reload &&
    ended=$(as nobody "$FLUXQ_RUN/bin/fluxq" submit -J plain -o /nowhere/sekrit -- sekrit) &&
    wait_job_state $ended FAILED &&
    waiting=$(as nobody "$FLUXQ_RUN/bin/fluxq" submit -N 2 --exclusive -J plain -o sekrit.txt "$FLUXQ_RUN/sekrit/job.sh" sekrit) &&
    jobs="$running $waiting $ended" && all_answers daemon >answers &&
    test_must_fail grep -n sekrit answers &&
    as daemon "$FLUXQ_RUN/bin/fluxq" queue -a >list && grep "plain.*nobody" list &&
    for id in $jobs; do as daemon "$FLUXQ_RUN/bin/fluxq" show job $id >>list || return 1; done &&
    test_must_fail grep sekrit list &&
    known() { get_as nobody GET "/v1/history?ids=$ended" | grep sekrit; } && wait_until 10 known &&
    get_as daemon GET "/v1/history?ids=$ended&steps=1" | jq -e ".jobs[0] | .steps == [] and .cwd == \"\"" &&
    get_as nobody GET /v1/jobs/$running | grep -q sekrit && get_as root GET /v1/jobs/$running | grep -q sekrit
'
test_expect_success 'with private usage other users see no priority, also not in events' '
    configure "private: [usage]" && fluxq-ctl reload &&
    get_as daemon GET /v1/jobs/$waiting | jq -e ".priority == null and .command != []" &&
    get_as daemon GET /v1/jobs/$waiting/events | jq -e "[.events[].context | objects | has(\"priority\")] | any | not" &&
    get_as nobody GET /v1/jobs/$waiting/events | jq -e "[.events[].context | objects | has(\"priority\")] | any"
'
test_expect_success 'with private jobs no route shows other users anything of a job, by name or id' '
    configure "private: [jobs, usage]" && fluxq-ctl reload &&
    named=$(submit_secret sekrit-name) &&
    mine=$(as daemon "$FLUXQ_RUN/bin/fluxq" submit -D / -o /dev/null -N 2 --exclusive -- true) &&
    jobs="$running $named $ended" && all_answers daemon >answers &&
    test_must_fail grep -n "sekrit\|nobody" answers &&
    for id in $running $named $waiting $ended; do
        test "$(get_as daemon GET /v1/jobs/$id | jq -r .code)" = unknown-job || return 1
    done &&
    test "$(get_as daemon GET "/v1/jobs?state=all" | jq -c "[.jobs[].id]")" = "[$mine]" &&
    get_as daemon GET /v1/jobs/$mine >show && jq -e ".blocking_jobs == []" show &&
    test_must_fail grep "job $running\>" show &&
    test "$(get_as daemon GET /v1/nodes | jq -c "[.nodes[].jobs[]] | unique")" = "[]" &&
    get_as daemon POST /v1/cancel "{\"ids\":\"$running\"}" | jq -e ".failed[0].code == \"unknown-job\"" &&
    test_must_fail as daemon "$FLUXQ_RUN/bin/fluxq" submit -d afterok:$running -o /dev/null -- true 2>err &&
    grep "there is no job $running" err &&
    test "$(get_as daemon GET /v1/fair-share | jq -r "[.users[].user] | join(\",\")")" = daemon &&
    test "$(job_state $running)" = RUNNING
'
test_expect_success 'with private jobs the owner and operators see the whole job, also when only the journal has the job' '
    test "$(get_as nobody GET /v1/jobs | jq ".jobs | length")" = 3 && get_as root GET /v1/jobs/$named | grep -q sekrit &&
    configure "private: [jobs, usage]" "keep-finished: 0" && restart_broker &&
    test "$(get_as daemon GET /v1/jobs/$ended | jq -r .code)" = unknown-job &&
    test "$(get_as daemon GET /v1/jobs/$ended/events | jq -r .code)" = unknown-job &&
    get_as nobody GET /v1/jobs/$ended | jq -e ".id == $ended" &&
    test "$(get_as daemon GET "/v1/history?ids=$ended" | jq -c .)" = "{\"jobs\":[],\"next\":null}" &&
    test "$(get_as nobody GET "/v1/history?ids=$ended" | jq ".jobs[].id")" = $ended &&
    test_must_fail as daemon "$FLUXQ_RUN/bin/fluxq" submit -d afterany:$ended -o /dev/null -- true 2>err &&
    grep "there is no job $ended" err &&
    as nobody "$FLUXQ_RUN/bin/fluxq" submit -d afterany:$ended --hold -o /dev/null -- true
'
test_expect_success 'with private jobs a task of a hidden array gives the same answer as a task of a missing array' '
    array=$(as nobody "$FLUXQ_RUN/bin/fluxq" submit --hold --array 1-3 -o /dev/null -- true) &&
    for rest in "" /events /jobspec /wait /output /priority; do
        for task in 1 9; do
            get_as daemon GET /v1/jobs/${array}_$task$rest | sed "s/\<$array/N/g" >hidden &&
            get_as daemon GET /v1/jobs/7777777_$task$rest | sed "s/\<7777777/N/g" >absent &&
            test_cmp hidden absent && grep unknown-job hidden || return 1
        done
    done &&
    as daemon "$FLUXQ_RUN/bin/fluxq" submit -d afterok:${array}_1 -o /dev/null -- true 2>err
    grep "there is no job $array" err
'
test_expect_success 'the setting of a queue hides only the jobs of that queue' '
    fluxq-cancel $mine && fluxq-cancel -u nobody &&
    configure "queues: {batch: {default: true}, quiet: {private: [jobs]}}" && restart_broker &&
    a=$(as nobody "$FLUXQ_RUN/bin/fluxq" submit --hold -o /dev/null -- true) &&
    b=$(as nobody "$FLUXQ_RUN/bin/fluxq" submit -q quiet --hold -o /dev/null -- true) &&
    test "$(get_as daemon GET /v1/jobs | jq -c "[.jobs[].id]")" = "[$a]"
'
test_expect_success 'ended jobs of a removed private queue stay hidden' '
    ended=$(as nobody "$FLUXQ_RUN/bin/fluxq" submit -q quiet -o /dev/null -- false) && wait_job_state $ended FAILED &&
    fluxq-cancel $b && configure "queues: {batch: {default: true}, still: {private: [jobs]}}" && restart_broker &&
    test "$(get_as daemon GET /v1/jobs/$ended | jq -r .code)" = unknown-job && get_as nobody GET /v1/jobs/$ended | jq -e ".queue == \"quiet\"" &&
    seen() { get_as nobody GET "/v1/history?ids=$ended" | jq -e ".jobs[0].queue == \"quiet\""; } && wait_until 10 seen &&
    test "$(get_as daemon GET "/v1/history?ids=$ended&format=tsv")" = ""
'
test_expect_success 'an unknown value of private is refused' '
    configure "private: [everything]" && test_must_fail fluxqd --check --config private.yaml 2>err && grep "private: expected" err
'
test_done
