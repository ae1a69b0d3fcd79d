#!/bin/sh
test_description='audit-log: who did what to whose job, from where, with what result

The log is in a small tmpfs of this script only (in a mount namespace of its own).
'
# shellcheck disable=SC2093
if [ -z "${T1048_ALONE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "Bail out! needs root: jobs of several users, and a tmpfs"; exit 1; }
    T1048_ALONE=yes exec unshare --mount sh "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$FLUXQ_BUILD_DIR/src/rest:$PATH
chmod 755 "$FLUXQ_RUN"
BROKER_STATE=$FLUXQ_RUN/state
mkdir -p "$FLUXQ_RUN/bin" "$FLUXQ_RUN/shell" "$FLUXQ_RUN/home" "$FLUXQ_RUN/log"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$FLUXQ_RUN/bin"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_RUN/shell"
chown nobody "$FLUXQ_RUN/home"
log=$FLUXQ_RUN/log/audit.log
mount -t tmpfs -o size=8m none "$FLUXQ_RUN/log" || exit 1
munged_pid='' rest_pid=''
trap 'status=$?; kill $munged_pid $rest_pid 2>/dev/null; umount -l "$FLUXQ_RUN/log"; (exit $status); lib_finish' EXIT

munge_dir=$FLUXQ_RUN/munge
start_munged()
{
    mkdir "$munge_dir" && chmod 755 "$munge_dir" &&
        (umask 077 && dd if=/dev/urandom bs=64 count=1 of="$munge_dir/key" 2>/dev/null)
    munged --foreground --force --key-file="$munge_dir/key" --socket="$munge_dir/socket" \
        --pid-file="$munge_dir/pid" --seed-file="$munge_dir/seed" --log-file="$munge_dir/log" \
        </dev/null >munged.log 2>&1 3>&- 4>&- 5>&- &
    munged_pid=$!
    wait_until 10 test -S "$munge_dir/socket"
}

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(umask 077 && head -c 32 /dev/urandom >token.key)

# configure LINE...: writes the configuration.
configure()
{
    printf '%s\n' "local: {nodes: 2}" "listen: 127.0.0.1:$port" "tls: off" "munge-socket: $munge_dir/socket" \
        "token-key: $PWD/token.key" "operators: [daemon]" "$@" >audit.yaml
}

# as USER COMMAND...: runs COMMAND as USER.
as()
{
    as_user=$1
    shift
    (cd "$FLUXQ_RUN/home" && HOME=/nowhere exec setpriv --reuid="$as_user" --regid="$(id -g "$as_user")" \
        --init-groups "$@")
}

# fluxq_as USER COMMAND...: runs a fluxq command as USER.
fluxq_as()
{
    fluxq_user=$1
    shift
    as "$fluxq_user" "$FLUXQ_RUN/bin/fluxq" "$@"
}

# post_as USER PATH BODY: prints the answer.
post_as()
{
    as "$1" curl -sS --unix-socket "$FLUXQ_RUN/fluxqd.sock" -d "$3" "http://fluxqd$2"
}

# Reads the lines of the log that are new since the last call, as LINES; fails if one is not JSON.
seen=0
new_lines()
{
    tail -n +$((seen + 1)) "$log" >new.json && seen=$(wc -l <"$log") && jq -e . new.json >/dev/null
}

# said LINE...: the new lines are these, as [user, uid, by, method, path, action, jobs, failed, owner, status, code].
said()
{
    new_lines || return
    jq -c "[.user, .uid, .by, .method, .path, .action, .jobs, .failed, .owner, .status, .code]" new.json >got
    : >wanted
    for line; do
        echo "$line" >>wanted
    done
    test_cmp wanted got
}

all_logs_are_json()
{
    cat "$log" "$log".* >all.json 2>/dev/null
    if test "$(jq -c . all.json | wc -l)" = "$(wc -l <all.json)" && test -z "$(tail -c 1 "$log" | tr -d '\n')"; then
        return 0
    fi
    tail -n 3 "$log"
    return 1
}

nobody=$(id -u nobody)
daemon=$(id -u daemon)
configure "audit-log: $log"
start_munged
start_broker --config audit.yaml

test_expect_success 'the file is for the broker alone, and no reader adds to it' '
    test "$(stat -c "%a %u" "$log")" = "600 0" &&
    fluxq-queue && fluxq-info && fluxq-ctl status && as nobody "$FLUXQ_RUN/bin/fluxq" queue && said
'
test_expect_success 'a submit has a line with all fields' '
    before=$(date -u +%Y-%m-%dT%H:%M:%S) &&
    id=$(fluxq_as nobody submit -o /dev/null -- sleep 97321) && new_lines &&
    after=$(date -u +%Y-%m-%dT%H:%M:%S.999999Z) &&
    jq -c "del(.time, .from)" new.json >got &&
    echo "{\"user\":\"nobody\",\"uid\":$nobody,\"by\":\"socket\",\"method\":\"POST\",\"path\":\"/v1/jobs\",\"action\":\"submit\",\"jobs\":[$id],\"njobs\":1,\"failed\":0,\"owner\":\"nobody\",\"status\":201,\"code\":null}" >wanted &&
    test_cmp wanted got &&
    jq -r .time new.json | grep "^....-..-..T..:..:..[.]......Z$" &&
    jq -e ".time >= \"$before\" and .time <= \"$after\"" new.json &&
    jq -r .from new.json | grep "^pid [1-9][0-9]*$"
'
test_expect_success 'users change their own jobs' '
    fluxq_as nobody submit --hold -N 2 --exclusive -o /dev/null -J x -- secret-word >id && held=$(cat id) &&
    fluxq_as nobody ctl release $held && fluxq_as nobody ctl hold $held && fluxq_as nobody cancel $held &&
    own="\"nobody\",$nobody,\"socket\",\"POST\"" &&
    said "[$own,\"/v1/jobs\",\"submit\",[$held],0,\"nobody\",201,null]" \
        "[$own,\"/v1/jobs/$held/urgency\",\"release\",[$held],0,\"nobody\",200,null]" \
        "[$own,\"/v1/jobs/$held/urgency\",\"hold\",[$held],0,\"nobody\",200,null]" \
        "[$own,\"/v1/cancel\",\"cancel\",[$held],0,\"nobody\",200,null]" &&
    test_must_fail grep secret-word "$log"
'
test_expect_success 'others are refused, and the log has their try and whose job it was' '
    root=$(fluxq-submit -o /dev/null -- sleep 97322) && new_lines &&
    test_must_fail fluxq_as nobody cancel $root 2>err && grep "belongs to root" err &&
    test_must_fail fluxq_as nobody ctl hold $root &&
    post_as nobody /v1/jobs/$root/requeue {} | jq -e ".code == \"not-owner\"" &&
    test_must_fail fluxq_as nobody logs $root &&
    test_must_fail fluxq_as nobody ctl drain node0 --reason x &&
    test_must_fail fluxq_as nobody ctl shutdown &&
    own="\"nobody\",$nobody,\"socket\"" &&
    said "[$own,\"POST\",\"/v1/cancel\",\"cancel\",[$root],1,\"root\",200,\"not-owner\"]" \
        "[$own,\"POST\",\"/v1/jobs/$root/urgency\",\"urgency\",[$root],0,\"root\",403,\"not-owner\"]" \
        "[$own,\"POST\",\"/v1/jobs/$root/requeue\",\"requeue\",[$root],0,\"root\",403,\"not-owner\"]" \
        "[$own,\"GET\",\"/v1/jobs/$root/output\",null,[],0,null,403,\"not-owner\"]" \
        "[$own,\"POST\",\"/v1/nodes/node0\",\"node\",[],0,null,403,\"not-operator\"]" \
        "[$own,\"POST\",\"/v1/shutdown\",\"shutdown\",[],0,null,403,\"not-operator\"]"
'
test_expect_success 'operators: nodes, queues, and jobs of others' '
    fluxq_as daemon ctl drain node1 --reason "fan, again" && fluxq_as daemon ctl resume node1 &&
    fluxq_as daemon ctl queue stop batch && fluxq_as daemon ctl queue start batch &&
    fluxq_as daemon cancel --signal CONT $id && fluxq_as daemon cancel $id $root &&
    own="\"daemon\",$daemon,\"socket\",\"POST\"" &&
    said "[$own,\"/v1/nodes/node1\",\"drain\",[],0,null,200,null]" \
        "[$own,\"/v1/nodes/node1\",\"resume\",[],0,null,200,null]" \
        "[$own,\"/v1/queues/batch\",\"stop\",[],0,null,200,null]" \
        "[$own,\"/v1/queues/batch\",\"start\",[],0,null,200,null]" \
        "[$own,\"/v1/cancel\",\"signal\",[$id],0,\"nobody\",200,null]" \
        "[$own,\"/v1/cancel\",\"cancel\",[$id,$root],0,\"nobody,root\",200,null]" &&
    test_must_fail grep again "$log"
'
test_expect_success 'tokens: who makes them, who is known by one, and who is refused' '
    scontrol token username=nobody lifespan=600 >made && token=$(sed -n "s/^SLURM_JWT=//p" made) &&
    id=$(SLURM_JWT=$token sbatch --parsable -D / -o /dev/null --wrap true) &&
    SLURM_JWT=$token test_must_fail scontrol token &&
    SLURM_JWT=abc.def.ghi test_must_fail squeue &&
    said "[\"root\",0,\"socket\",\"POST\",\"/v1/token\",\"token\",[],0,null,200,null]" \
        "[\"nobody\",$nobody,\"token\",\"POST\",\"/v1/jobs\",\"submit\",[$id],0,\"nobody\",201,null]" \
        "[\"nobody\",$nobody,\"token\",\"POST\",\"/v1/token\",\"token\",[],0,null,403,\"by-token\"]" \
        "[\"root\",0,\"token\",\"GET\",\"/v1/jobs\",null,[],0,null,401,\"unauthenticated\"]" &&
    test_must_fail grep -e "${token##*.}" -e abc.def "$log"
'
test_expect_success 'the REST interface: its requests come with the token of the user' '
    { slurmrestd "unix:$FLUXQ_RUN/rest.sock" </dev/null >rest.log 2>&1 3>&- 4>&- 5>&- & rest_pid=$!; } &&
    wait_until 10 grep "listening on" rest.log &&
    printf "%s\n" "X-SLURM-USER-NAME: nobody" "X-SLURM-USER-TOKEN: $token" >headers &&
    job="{\"script\": \"#!/bin/sh\\ntrue\", \"job\": {\"name\": \"r\", \"environment\": [\"PATH=/bin\", \"S=sekrit\"], \"current_working_directory\": \"/\", \"standard_output\": \"/dev/null\", \"hold\": true}}" &&
    curl -sS --unix-socket "$FLUXQ_RUN/rest.sock" -H @headers -H "Content-Type: application/json" \
        -d "$job" http://x/slurm/v0.0.41/job/submit >answer && id=$(jq -e .job_id answer) &&
    curl -sS --unix-socket "$FLUXQ_RUN/rest.sock" -H @headers -X DELETE http://x/slurm/v0.0.41/job/$id >answer &&
    curl -sS --unix-socket "$FLUXQ_RUN/rest.sock" -H @headers http://x/slurm/v0.0.41/jobs >answer &&
    own="\"nobody\",$nobody,\"token\",\"POST\"" &&
    said "[$own,\"/v1/jobs\",\"submit\",[$id],0,\"nobody\",201,null]" \
        "[$own,\"/v1/cancel\",\"cancel\",[$id],0,\"nobody\",200,null]" &&
    test_must_fail grep sekrit "$log"
'
test_expect_success MUNGE 'over TCP the log has the address, and requests without a credential' '
    id=$(FLUXQ_MUNGE_SOCKET=$munge_dir/socket FLUXQ_BROKER=http://127.0.0.1:$port fluxq_as nobody submit --hold -o /dev/null -- true) &&
    test "$(curl -sS -o answer -w "%{http_code}" -d "{}" "http://127.0.0.1:$port/v1/cancel?a=secret")" = 401 &&
    test "$(curl -sS -o answer -w "%{http_code}" -H "Authorization: MUNGE x" "http://127.0.0.1:$port/v1/jobs")" = 401 &&
    said "[\"nobody\",$nobody,\"munge\",\"POST\",\"/v1/jobs\",\"submit\",[$id],0,\"nobody\",201,null]" \
        "[null,null,null,\"POST\",\"/v1/cancel\",null,[],0,null,401,\"unauthenticated\"]" \
        "[null,null,\"munge\",\"GET\",\"/v1/jobs\",null,[],0,null,401,\"unauthenticated\"]" &&
    jq -r .from new.json >from && test "$(grep -c "^127[.]0[.]0[.]1:[1-9][0-9]*$" from)" = 3 &&
    fluxq-cancel $id && new_lines
'
test_expect_success 'hostile paths are escaped and cut, and never make a line of their own' '
    long=$(printf "%0999d" 0) &&
    post_as nobody "/v1/nodes/%0a%7b%22user%22:%22root%22%7d%ff%1b" {} &&
    curl -sS -o answer "http://127.0.0.1:$port/v1/$long%0a$long%22$long" &&
    new_lines && test "$(wc -l <new.json)" = 2 &&
    jq -e -s ".[0].path | startswith(\"/v1/nodes/\n{\\\"user\\\":\\\"root\\\"}\")" new.json &&
    jq -e -s ".[1] | .status == 401 and (.path | length < 600 and endswith(\"\u2026\"))" new.json &&
    LC_ALL=C test_must_fail grep "[[:cntrl:]]" new.json
'
test_expect_success 'an array, its tasks, and a request that only asks' '
    array=$(fluxq_as nobody submit --hold -a 1-5 -o /dev/null -- true) &&
    fluxq_as nobody cancel ${array}_2 && fluxq_as nobody cancel $array &&
    fluxq_as nobody submit --test-only -o /dev/null -- true &&
    own="\"nobody\",$nobody,\"socket\",\"POST\"" &&
    said "[$own,\"/v1/jobs\",\"submit\",[$array],0,\"nobody\",201,null]" \
        "[$own,\"/v1/cancel\",\"cancel\",[$array],0,\"nobody\",200,null]" \
        "[$own,\"/v1/cancel\",\"cancel\",[$array],0,\"nobody\",200,null]"
'
test_expect_success 'another program moves the file away: the next line goes to a new file' '
    mv "$log" "$log.moved" && lines=$(wc -l <"$log.moved") && fluxq-ctl queue start batch &&
    test "$(wc -l <"$log.moved")" = $lines && seen=0 &&
    said "[\"root\",0,\"socket\",\"POST\",\"/v1/queues/batch\",\"start\",[],0,null,200,null]" &&
    test "$(stat -c %a "$log")" = 600 && rm "$log.moved"
'
test_expect_success 'reload refuses a file that cannot be opened, in one line with the way out, and goes on' '
    configure "audit-log: /nowhere/audit.log" && test_must_fail fluxq-ctl reload 2>err && cat err &&
    test "$(wc -l <err)" = 1 && grep "audit-log: /nowhere/audit.log: No such file or directory: .*directory" err &&
    ln -s audit.log "$FLUXQ_RUN/log/link" &&
    configure "audit-log: $FLUXQ_RUN/log/link" && test_must_fail fluxq-ctl reload 2>err && grep "symbolic link" err &&
    configure "audit-log: relative.log" && test_must_fail fluxq-ctl reload 2>err &&
    grep "audit.yaml:[0-9]*:1: audit-log: expected the absolute path" err &&
    configure "audit-log: $log" "audit-log-keep: 0" && test_must_fail fluxq-ctl reload &&
    line="[\"root\",0,\"socket\",\"POST\",\"/v1/reload\",\"reload\",[],0,null,400,\"bad-request\"]" &&
    said "$line" "$line" "$line" "$line"
'
test_expect_success 'a broker does not start with a log that it cannot write' '
    configure "audit-log: /nowhere/audit.log" &&
    test_must_fail timeout 20 fluxqd --config audit.yaml --runtime-dir "$FLUXQ_RUN/no" --state-dir no 2>err && cat err &&
    test "$(grep -c "audit-log: /nowhere/audit.log: No such file or directory: .*directory" err)" = 1
'
test_expect_success 'reload takes another file, and no file' '
    configure "audit-log: $log.other" && fluxq-ctl reload && new_lines &&
    jq -c "del(.time)" new.json >got && echo "{\"next\":\"$log.other\"}" >wanted && test_cmp wanted got &&
    jq -e ".action == \"reload\" and .status == 200" "$log.other" &&
    configure && fluxq-ctl reload && fluxq-ctl queue start batch && said &&
    jq -s -e "length == 2 and (.[1] | has(\"next\") and .next == null)" "$log.other" && rm "$log.other" &&
    configure "audit-log: $log" && fluxq-ctl reload && fluxq-ctl queue start batch &&
    said "[\"root\",0,\"socket\",\"POST\",\"/v1/queues/batch\",\"start\",[],0,null,200,null]"
'

# flood N: N requests for which nobody has no rights, each with a long line.
flood()
{
    as nobody curl -sS --unix-socket "$FLUXQ_RUN/fluxqd.sock" -d "{}" "http://fluxqd/v1/nodes/$(printf %0240d 0)[1-$1]" >flooded
}

test_expect_success 'the log is rotated at its size, and no line is lost or in two files' '
    configure "audit-log: $log" "audit-log-size: 1Mi" "audit-log-keep: 2" && fluxq-ctl reload && new_lines &&
    flood 3000 && test "$(stat -c %s "$log.1")" -le 1048576 && test "$(stat -c %s "$log.1")" -gt 1040000 &&
    test "$(stat -c %a "$log.1")" = 600 && all_logs_are_json &&
    cat "$log.1" "$log" | jq -r "select(.code == \"not-operator\" and .action == \"node\") | .path" | grep -c "/v1/nodes/0000" >count &&
    echo 3000 >wanted && test_cmp wanted count &&
    flood 6000 && test -e "$log.2" && test ! -e "$log.3" && all_logs_are_json && seen=$(wc -l <"$log")
'
test_expect_success 'kill -9 leaves only whole lines, and the log goes on after it' '
    { flood 9000 & flooding=$!; } && sleep 0.3 && kill_broker && { wait $flooding || :; } &&
    start_broker --config audit.yaml && fluxq-ctl queue start batch && all_logs_are_json &&
    tail -n 1 "$log" | jq -e ".action == \"start\""
'
test_expect_success 'what a kill may leave of a line is taken away at the start' '
    stop_broker && lines=$(wc -l <"$log") && printf "{\"time\":\"2026-01-3" >>"$log" &&
    start_broker --config audit.yaml && test "$(wc -l <"$log")" = $lines && all_logs_are_json &&
    fluxq-ctl queue start batch && test "$(wc -l <"$log")" = $((lines + 1)) && all_logs_are_json
'

fill()
{
    dd if=/dev/zero of="$FLUXQ_RUN/log/filler" bs=64k 2>/dev/null
    dd if=/dev/zero of="$FLUXQ_RUN/log/filler2" bs=512 2>/dev/null
    return 0
}

lost()
{
    fluxq-ctl status --json | jq .audit_log.lost
}

test_expect_success 'on a full disk requests are served; status and log count what is missing' '
    rm -f "$log".* && configure "audit-log: $log" && fluxq-ctl reload && new_lines && test "$(lost)" = 0 &&
    fluxq-ctl status >status && test_must_fail grep "Audit log" status &&
    warned=$(grep -c "audit log:.*No space" "$BROKER_LOG" || :) &&
    fill && id=$(fluxq_as nobody submit -o /dev/null -- true) && wait_job_state $id COMPLETED &&
    flood 50 && test "$(grep -o not-operator flooded | wc -l)" = 50 &&
    missing=$(lost) && echo "$missing missing" && test "$missing" -gt 20 && all_logs_are_json &&
    fluxq-ctl status >status && grep "Audit log: *$missing requests not recorded; .*No space left" status &&
    fluxq_as nobody ctl status >status && test_must_fail grep "Audit log" status &&
    test "$(grep -c "audit log:.*No space" "$BROKER_LOG")" = $((warned + 1)) &&
    rm "$FLUXQ_RUN/log/filler" "$FLUXQ_RUN/log/filler2" && fluxq-ctl queue start batch && new_lines &&
    jq -s -e "map(select(.lost)) == [.[-2]] and .[-2].lost == $missing and .[-1].action == \"start\"" new.json &&
    jq -s "map(select(.path)) | length" new.json >written && test $(($(cat written) + missing)) = 52 &&
    fluxq-ctl status >status && test_must_fail grep "Audit log" status && test "$(lost)" = $missing
'
test_done
