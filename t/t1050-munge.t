#!/bin/sh
test_description='TCP: a MUNGE credential is accepted once, for its own request only'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

# A munged for this test only.
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
trap 'status=$?; kill "$munged_pid" $other_pid 2>/dev/null; (exit $status); lib_finish' EXIT
other_pid=

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >tcp.yaml <<END
listen: 127.0.0.1:$port
tls: off
munge-socket: $munge_dir/socket
END

# credential METHOD TARGET BODY [BROKER]: makes a credential in the same way as the client.
credential()
{
    digest=$(printf '%s\n%s\n%s' "$1" "$2" "$3" | sha256sum | cut -d' ' -f1)
    broker=${4-127.0.0.1:$port} machine=
    case $broker in 127.*) machine=" $(cat /proc/sys/kernel/random/boot_id)" ;; esac
    munge --socket="$munge_dir/socket" --string="$digest $broker$machine"
}

# answer CREDENTIAL METHOD TARGET [BODY]: prints the status; the body goes to the file answer.
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

test_expect_success 'jobs can be submitted, watched, read and cancelled over TCP' '
    fluxq-submit --wait -o tcp.txt -- echo over tcp &&
    echo over tcp >expected && test_cmp expected tcp.txt &&
    id=$(fluxq-submit -o /dev/null -- sh -c "echo text; sleep 97561") &&
    wait_job_state $id RUNNING &&
    { fluxq-logs -f $id >followed & follower=$!; } &&
    wait_until 10 grep text followed &&
    fluxq-cancel $id && wait_job_state $id CANCELLED && wait $follower
'
test_expect_success 'a valid credential is accepted once' '
    cred=$(credential GET /v1/status "") &&
    test "$(answer "$cred" GET /v1/status)" = 200 &&
    test "$(answer "$cred" GET /v1/status)" = 401 &&
    grep -i "replay" answer && test "$(jq -r .code answer)" = unauthenticated
'
test_expect_success 'a credential for another path, method or body is refused' '
    cred=$(credential GET /v1/jobs "") &&
    test "$(answer "$cred" GET /v1/status)" = 401 && grep "another request" answer &&
    cred=$(credential GET /v1/cancel "{}") &&
    test "$(answer "$cred" POST /v1/cancel "{}")" = 401 &&
    cred=$(credential POST /v1/cancel "{\"ids\":\"1\"}") &&
    test "$(answer "$cred" POST /v1/cancel "{\"ids\":\"2\"}")" = 401 &&
    cred=$(credential GET "/v1/jobs?user=a" "") &&
    test "$(answer "$cred" GET "/v1/jobs?user=b")" = 401
'
test_expect_success 'a missing credential, a broken one, and one with another key are refused' '
    curl -s -o answer -w "%{http_code}\n" http://127.0.0.1:$port/v1/status >status &&
    echo 401 >expected && test_cmp expected status && grep -i munge answer &&
    test "$(answer "MUNGE:garbage:" GET /v1/status)" = 401 &&
    test "$(answer "" GET /v1/status)" = 401 &&
    cred=$(credential GET /v1/status "") &&
    test "$(answer "$(echo "$cred" | sed "s/.....:$/AAAAA:/")" GET /v1/status)" = 401 &&
    test "$(answer "$(head -c 20000 /dev/zero | tr "\0" A)" GET /v1/status)" -ge 400
'
test_expect_success 'a refused request cancels no job and creates no job' '
    fluxq-queue -a --json | jq ".jobs | length" >before &&
    body=$(fluxq-submit --dry-run -- true) &&
    cred=$(credential POST /v1/jobs "$body ") &&
    test "$(answer "$cred" POST /v1/jobs "$body")" = 401 &&
    fluxq-queue -a --json | jq ".jobs | length" >after && test_cmp before after
'

# ---- two brokers, one key ----

# relay.py record ADDRESS PORT FILE: acts as a broker and writes one request to FILE.
# relay.py send ADDRESS PORT FILE: sends the request and prints the status of the answer; the
# body goes to the file answer.
cat >relay.py <<\END
import http.client, socket, sys

verb, address, port, name = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
if verb == "record":
    with socket.create_server((address, port)) as listener:
        open("recording", "w").close()
        s, _ = listener.accept()
    request = b""
    while b"\r\n\r\n" not in request:
        request += s.recv(65536)
    s.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
    open(name, "wb").write(request)
else:
    s = socket.create_connection((address, port))
    s.sendall(open(name, "rb").read())
    response = http.client.HTTPResponse(s)
    response.begin()
    print(response.status)
    open("answer", "wb").write(response.read())
END

# record FILE: records a client's request to the first broker; the first broker
# never gets the request.
record()
{
    rm -f recording
    python3 relay.py record 127.0.0.1 "$port" "$1" &
    relay=$!
    wait_until 10 test -e recording &&
        test_must_fail env FLUXQ_BROKER="http://127.0.0.1:$port" fluxq-queue && wait $relay
}
other_ctl() { FLUXQ_BROKER=unix://$FLUXQ_RUN/other/fluxqd.sock fluxq-ctl "$@"; }
other_answers() { other_ctl status >/dev/null 2>&1; }
refused() { [ "$(python3 relay.py send "$1" "$port" "$2")" = 401 ]; }
code() { jq -r .code answer; }
tcp_queue() { FLUXQ_BROKER=$1 fluxq-queue >/dev/null; }

test_expect_success 'two brokers have one key, and the test records requests to the first' '
    sed "s/^listen: .*/listen: 127.0.0.2:$port/" tcp.yaml >other.yaml && mkdir "$FLUXQ_RUN/other" &&
    { fluxqd --local 1 --config other.yaml --runtime-dir "$FLUXQ_RUN/other" --state-dir "$PWD/other-state" \
        </dev/null >other.log 2>&1 3>&- 4>&- 5>&- 6<&- & other_pid=$!; } &&
    wait_until 20 other_answers && tcp_queue "http://127.0.0.2:$port" &&
    FLUXQ_BROKER=unix://$FLUXQ_RUN/fluxqd.sock && stop_broker &&
    record unchanged && record changed && record good &&
    start_broker --local 4 --config tcp.yaml && FLUXQ_BROKER=http://127.0.0.1:$port &&
    grep "^Host: 127.0.0.1:$port" changed
'
test_expect_success 'a broker refuses a credential for another broker, and the error explains listen-names' '
    refused 127.0.0.2 unchanged && test "$(code)" = wrong-broker &&
    grep "127.0.0.1:$port" answer && grep listen-names answer &&
    sed -i "s/^Host: .*/Host: 127.0.0.2:$port\r/" changed &&
    refused 127.0.0.2 changed && test "$(code)" = wrong-broker &&
    test "$(python3 relay.py send 127.0.0.1 "$port" good)" = 200
'
test_expect_success 'a credential without a broker'\''s name is refused, and the error asks for an update of the client' '
    digest=$(printf "GET\n/v1/status\n" | sha256sum | cut -d" " -f1) &&
    cred=$(munge --socket="$munge_dir/socket" --string="$digest") &&
    test "$(answer "$cred" GET /v1/status)" = 401 && test "$(code)" = wrong-broker && grep "update fluxq" answer
'
test_expect_success 'the port is part of a broker'\''s name' '
    cred=$(credential GET /v1/status "" 127.0.0.1:$((port ^ 1))) &&
    test "$(answer "$cred" GET /v1/status)" = 401 && test "$(code)" = wrong-broker
'
# The resolver reads 127.0.2 as 127.0.0.2: a second name without a name server.
test_expect_success 'listen-names adds names to the broker from the next reload on' '
    test_must_fail tcp_queue "http://127.0.2:$port" 2>why && grep "127.0.2:$port.*listen-names" why &&
    echo "listen-names: [login1.example, 127.0.2]" >>other.yaml && other_ctl reload >applied &&
    grep listen-names applied && tcp_queue "http://127.0.2:$port" && tcp_queue "http://127.0.0.2:$port" &&
    cred=$(credential GET /v1/status "" login1.example:$port) &&
    curl -s -o answer -w "%{http_code}\n" -H "Authorization: MUNGE $cred" "http://127.0.0.2:$port/v1/status" >status &&
    echo 200 >expected && test_cmp expected status &&
    sed -i "/^listen-names/d" other.yaml && other_ctl reload && test_must_fail tcp_queue "http://127.0.2:$port"
'
test_expect_success 'a broker on all addresses accepts each address, the name of the machine, and localhost' '
    other_ctl shutdown && wait_until 20 lib_gone $other_pid && wait $other_pid &&
    FLUXQ_BROKER=unix://$FLUXQ_RUN/fluxqd.sock && stop_broker &&
    sed "s/^listen: .*/listen: \"[::]:$port\"/" tcp.yaml >all.yaml && start_broker --local 4 --config all.yaml &&
    for name in 127.0.0.1 127.0.0.2 "[::1]" "[0::1]" localhost LocalHost; do
        tcp_queue "http://$name:$port" || return 1
    done &&
    for name in $(hostname) $(hostname | sed "s/\..*//"); do
        cred=$(credential GET /v1/status "" "$(echo "$name" | tr A-Z a-z):$port") &&
        test "$(answer "$cred" GET /v1/status)" = 200 || return 1
    done &&
    cred=$(credential GET /v1/status "" "other.example:$port") && test "$(answer "$cred" GET /v1/status)" = 401 &&
    FLUXQ_BROKER=unix://$FLUXQ_RUN/fluxqd.sock && stop_broker && start_broker --local 4 --config tcp.yaml &&
    FLUXQ_BROKER=http://127.0.0.1:$port
'

test_expect_success 'without munged commands and broker report the problem, and both recover' '
    stop_munged &&
    test_must_fail fluxq-queue 2>text && grep -i munge text &&
    FLUXQ_BROKER=unix://$FLUXQ_RUN/fluxqd.sock fluxq-queue &&
    curl -s -m 30 -o answer -w "%{http_code}\n" -H "Authorization: MUNGE MUNGE:AwQDAAA=:" http://127.0.0.1:$port/v1/status >status &&
    grep -i munge answer && grep "401\|503" status &&
    start_munged && fluxq-queue
'
test_expect_success 'the broker and munged stop' 'FLUXQ_BROKER=unix://$FLUXQ_RUN/fluxqd.sock && stop_broker && stop_munged'
test_done
