#!/bin/sh
# The attacks are in t/attack/. After each of them the job of the victim must still run and make progress.
test_description='a user attacks the job of another user at each door, and the job goes on'
# shellcheck disable=SC2034
T_USERS='t-victim t-attacker'
. "$(dirname "$0")/users.sh"
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

chmod 755 "$FLUXQ_RUN"
BROKER_STATE=$FLUXQ_RUN/state
mkdir -p "$FLUXQ_RUN/bin" "$FLUXQ_RUN/shell"
mkdir -m 1777 "$FLUXQ_RUN/shared"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$FLUXQ_SOURCE_DIR"/t/attack/*.py "$FLUXQ_RUN/bin"
ln -s fluxq "$FLUXQ_RUN/bin/srun"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_BUILD_DIR/src/shell/fluxq-run" "$FLUXQ_RUN/shell"
victim=$FLUXQ_RUN/victim attacker=$FLUXQ_RUN/attacker
mkdir -m 700 "$victim" "$attacker" && chown t-victim "$victim" && chown t-attacker "$attacker"

# as USER COMMAND...: in the directory of the user, which only the user can enter.
as()
{
    as_user=$1
    shift
    (cd "$FLUXQ_RUN/${as_user#t-}" && exec setpriv --reuid="$as_user" --regid="$as_user" --init-groups \
        env HOME="$PWD" PATH="$FLUXQ_RUN/bin:$FLUXQ_RUN/shell:/usr/bin:/bin" "$@")
}
# denied COMMAND...: the kernel or the broker refuses it to the attacker.
denied()
{
    test_must_fail attacker "$@" >denied.out 2>denied.err &&
        { grep -q "ermission denied\|not permitted\|belongs to t-victim" denied.err || { cat denied.err && return 1; }; }
}
victim() { as t-victim "$@"; }
attacker() { as t-attacker "$@"; }

# ask USER METHOD PATH [CURL OPTION...]: prints the status; the body is in the file answer.
ask()
{
    ask_user=$1 ask_method=$2 ask_path=$3
    shift 3
    as "$ask_user" timeout 20 curl -s -o - -w '\n%{http_code}\n' --unix-socket "$FLUXQ_RUN/fluxqd.sock" \
        -X "$ask_method" "$@" "http://fluxqd$ask_path" >answer
    tail -n 1 answer
}

beat()
{
    cat "$victim/beat" 2>/dev/null
}
new_beat()
{
    [ "$(beat)" != "$1" ] && [ -n "$(beat)" ]
}
# The victim's job runs, in its first attempt and with its own limit, and its tasks make progress.
goes_on()
{
    test "$(job_state $job)" = RUNNING && test "$(job_field $job restarts)" = 0 &&
        test "$(job_field $job comment)" = mine && wait_until 10 new_beat "$(beat)" && kill -0 "$BROKER_PID"
}

# attack TITLE SCRIPT: a case, after which the victim's job goes on.
attack()
{
    test_expect_success "$1" "{ $2
    } && goes_on"
}

cat >"$victim/work.sh" <<'END'
#!/bin/sh
echo "output of the victim"
while :; do
    date +%s%N >beat.new && mv beat.new beat
    sleep 0.05
done
END
chmod 755 "$victim/work.sh"
echo "data of the victim" >"$victim/precious" && chown t-victim "$victim/precious" "$victim/work.sh" && chmod 600 "$victim/precious"
cp "$victim/precious" precious
untouched()
{
    test_cmp precious "$victim/precious"
}

head -c 32 /dev/urandom >token.key && chmod 600 token.key
printf '%s\n' "local: {nodes: 4}" "token-key: $PWD/token.key" "clients: {connections: 64}" "start-retries: 0" >attack.yaml
start_broker --config attack.yaml
job=$(victim env VICTIM_SECRET=sesame-97 fluxq submit -N 2 -n 2 --comment mine -t 60 -o out.txt ./work.sh)
test_expect_success 'the victim'\''s job runs' '
    wait_job_state $job RUNNING && wait_until 10 test -s "$victim/beat" && goes_on
'
for part in requests files processes agents load; do
    . "$FLUXQ_SOURCE_DIR/t/attack/$part.sh"
done
test_expect_success 'the job ends when the victim says so, and the output is complete' '
    victim fluxq cancel $job && wait_job_state $job CANCELLED && grep "output of the victim" "$victim/out.txt" &&
    untouched && stop_broker
'
test_done
