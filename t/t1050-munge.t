#!/bin/sh
test_description='TCP: a MUNGE credential that fits the request, once; all else is refused'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

# A munged of this test alone.
munge_dir=$FLUXQ_RUN/munge
mkdir "$munge_dir" && chmod 755 "$munge_dir" "$FLUXQ_RUN"
(umask 077 && dd if=/dev/urandom bs=64 count=1 of="$munge_dir/key" 2>/dev/null)
start_munged()
{
    munged --foreground --force --key-file="$munge_dir/key" --socket="$munge_dir/socket" \
        --pid-file="$munge_dir/pid" --seed-file="$munge_dir/seed" --log-file="$munge_dir/log" \
        </dev/null >munged.log 2>&1 3>&- 4>&- 5>&- &
    munged_pid=$!
    wait_until 10 test -S "$munge_dir/socket"
}
stop_munged()
{
    kill "$munged_pid" && wait_until 10 lib_gone "$munged_pid"
}
trap 'status=$?; kill "$munged_pid" 2>/dev/null; (exit $status); lib_finish' EXIT

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >tcp.yaml <<END
listen: 127.0.0.1:$port
munge-socket: $munge_dir/socket
END

# credential METHOD TARGET BODY: as the client makes it
credential()
{
    digest=$(printf '%s\n%s\n%s' "$1" "$2" "$3" | sha256sum | cut -d' ' -f1)
    munge --socket="$munge_dir/socket" --string="$digest"
}

# answer CREDENTIAL METHOD TARGET [BODY]: the status; the body goes to the file answer
answer()
{
    curl -s -o answer -w '%{http_code}\n' -X "$2" -H "Authorization: MUNGE $1" \
        --data-binary "${4:-}" "http://127.0.0.1:$port$3"
}

start_munged
start_broker --local 4 --config tcp.yaml
FLUXQ_MUNGE_SOCKET=$munge_dir/socket
FLUXQ_BROKER=http://127.0.0.1:$port
export FLUXQ_MUNGE_SOCKET FLUXQ_BROKER

test_expect_success 'jobs are submitted, watched, read and cancelled over TCP' '
    fluxq-submit --wait -o tcp.txt -- echo over tcp &&
    echo over tcp >expected && test_cmp expected tcp.txt &&
    id=$(fluxq-submit -o /dev/null -- sh -c "echo text; sleep 97561") &&
    wait_job_state $id RUNNING &&
    { fluxq-logs -f $id >followed & follower=$!; } &&
    wait_until 10 grep text followed &&
    fluxq-cancel $id && wait_job_state $id CANCELLED && wait $follower
'
test_expect_success 'a good credential serves once' '
    cred=$(credential GET /v1/status "") &&
    test "$(answer "$cred" GET /v1/status)" = 200 &&
    test "$(answer "$cred" GET /v1/status)" = 401 &&
    grep -i "replay" answer && test "$(jq -r .code answer)" = unauthenticated
'
test_expect_success 'one of another path, method or body is refused' '
    cred=$(credential GET /v1/jobs "") &&
    test "$(answer "$cred" GET /v1/status)" = 401 && grep "another request" answer &&
    cred=$(credential GET /v1/cancel "{}") &&
    test "$(answer "$cred" POST /v1/cancel "{}")" = 401 &&
    cred=$(credential POST /v1/cancel "{\"ids\":\"1\"}") &&
    test "$(answer "$cred" POST /v1/cancel "{\"ids\":\"2\"}")" = 401 &&
    cred=$(credential GET "/v1/jobs?user=a" "") &&
    test "$(answer "$cred" GET "/v1/jobs?user=b")" = 401
'
test_expect_success 'none, a broken one and one of another key are refused' '
    curl -s -o answer -w "%{http_code}\n" http://127.0.0.1:$port/v1/status >status &&
    echo 401 >expected && test_cmp expected status && grep -i munge answer &&
    test "$(answer "MUNGE:garbage:" GET /v1/status)" = 401 &&
    test "$(answer "" GET /v1/status)" = 401 &&
    cred=$(credential GET /v1/status "") &&
    test "$(answer "$(echo "$cred" | sed "s/.....:$/AAAAA:/")" GET /v1/status)" = 401 &&
    test "$(answer "$(head -c 20000 /dev/zero | tr "\0" A)" GET /v1/status)" -ge 400
'
test_expect_success 'a refusal ends no job and takes none in' '
    fluxq-queue -a --json | jq ".jobs | length" >before &&
    body=$(fluxq-submit --dry-run -- true) &&
    cred=$(credential POST /v1/jobs "$body ") &&
    test "$(answer "$cred" POST /v1/jobs "$body")" = 401 &&
    fluxq-queue -a --json | jq ".jobs | length" >after && test_cmp before after
'
test_expect_success 'without munged: the command says so, and the broker, and both recover' '
    stop_munged &&
    test_must_fail fluxq-queue 2>text && grep -i munge text &&
    FLUXQ_BROKER=unix://$FLUXQ_RUN/fluxqd.sock fluxq-queue &&
    curl -s -m 30 -o answer -w "%{http_code}\n" -H "Authorization: MUNGE MUNGE:AwQDAAA=:" http://127.0.0.1:$port/v1/status >status &&
    grep -i munge answer && grep "401\|503" status &&
    start_munged && fluxq-queue
'
test_expect_success 'stop' 'FLUXQ_BROKER=unix://$FLUXQ_RUN/fluxqd.sock && stop_broker && stop_munged'
test_done
