#!/bin/sh
test_description='limits of each user: connections, a reserve for root and operators, requests per second'
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "Bail out! needs root: several users"; exit 1; }

chmod 755 "$FLUXQ_RUN"
cp "$FLUXQ_SOURCE_DIR/t/helper/crowd.py" "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_RUN"
mkdir -m 1777 "$FLUXQ_RUN/shared"
socket=$FLUXQ_RUN/fluxqd.sock

# as UID COMMAND...: runs COMMAND as UID.
as()
{
    as_uid=$1
    shift
    (cd / && exec setpriv --reuid="$as_uid" --regid=65534 --clear-groups "$@")
}
ann=$(id -u nobody) bob=$(id -u daemon) op=$(id -u games)

# crowd UID N: opens N connections of UID until disperse.
crowd()
{
    as "$1" /usr/bin/python3 "$FLUXQ_RUN/crowd.py" "$socket" "$2" "$FLUXQ_RUN/shared/ready" &
    crowd=$!
    wait_until 20 test -e "$FLUXQ_RUN/shared/ready"
}
disperse()
{
    rm -f "$FLUXQ_RUN/shared/ready" && wait $crowd
}

# ask UID: prints the status of a request; the answer goes to the file reply.
ask()
{
    as "$1" curl -s -i -w "\n%{http_code}\n" --unix-socket "$socket" http://x/v1/status >reply
    tail -n 1 reply
}
answers()
{
    test "$(ask "$1")" = "$2"
}

# The broker of start_broker, in the background.
fluxqd()
{
    ulimit -n "$descriptors" && exec "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$@"
}

descriptors=256 # for 128 connections
echo "$ann:300000:1000" >subuid
cat >limits.yaml <<END
executor: local
local: {nodes: 1}
operators: [games]
subuid-file: $PWD/subuid
log-level: debug # says when the ranges have been read
clients: {connections: 20, reserve: 16}
END
start_broker --config limits.yaml
test_expect_success 'a user with too many connections is refused with a time to retry, and others are served' '
    crowd $ann 20 && test "$(ask $ann)" = 429 && grep -i "^Retry-After: 1" reply &&
    grep "\"code\":\"busy\"" reply &&
    test "$(ask $bob)" = 200 && test "$(ask $op)" = 200 && test "$(ask 0)" = 200 && disperse &&
    wait_until 10 answers $ann 200
'
test_expect_success 'a subordinate uid counts for its owner, a subordinate uid without an owner for itself' '
    wait_until 10 grep "1 ranges of subordinate uids" "$BROKER_LOG" &&
    crowd 300005 20 && test "$(ask $ann)" = 429 && test "$(ask 300999)" = 429 &&
    test "$(ask 301000)" = 200 && test "$(ask $bob)" = 200 && disperse &&
    wait_until 10 answers 300005 200
'
test_expect_success 'a reload changes the limit and the ranges of subordinate uids' '
    echo "$bob:300000:1000" >subuid && sed -i "s/connections: 20/connections: 200/" limits.yaml &&
    fluxq-ctl reload && wait_until 10 sh -c "test \$(grep -c \"ranges of subordinate\" \"$BROKER_LOG\") = 2" &&
    crowd $ann 30 && test "$(ask $ann)" = 200 && test "$(ask 300005)" = 200 && disperse &&
    sed -i "s/connections: 200/connections: 20/" limits.yaml && fluxq-ctl reload &&
    wait_until 10 sh -c "test \$(grep -c \"ranges of subordinate\" \"$BROKER_LOG\") = 3" &&
    crowd 300005 20 && test "$(ask $bob)" = 429 && test "$(ask $ann)" = 200 && disperse
'
test_expect_success 'when one user has all connections but the reserve, root and operators are served, and others wait' '
    sed -i "s/connections: 20/connections: 2000/" limits.yaml && fluxq-ctl reload &&
    crowd $ann 130 && wait_until 10 answers $bob 503 && grep -i "^Retry-After: 1" reply &&
    test "$(ask $op)" = 200 && test "$(ask 0)" = 200 && timeout 30 fluxq-ctl status && disperse &&
    wait_until 10 answers $bob 200
'
stop_broker

# flood UID N: prints the statuses of N requests over one connection.
flood()
{
    as "$1" curl -s -o /dev/null -w "%{http_code}\n" --unix-socket "$socket" "http://x/v1/status?n=[1-$2]"
}

# A munged for this test only.
munge_dir=$FLUXQ_RUN/munge
mkdir "$munge_dir" && chmod 755 "$munge_dir"
(umask 077 && dd if=/dev/urandom bs=64 count=1 of="$munge_dir/key" 2>/dev/null)
munged --foreground --force --key-file="$munge_dir/key" --socket="$munge_dir/socket" \
    --pid-file="$munge_dir/pid" --seed-file="$munge_dir/seed" --log-file="$munge_dir/log" \
    </dev/null >munged.log 2>&1 3>&- 4>&- 5>&- &
munged_pid=$!
trap 'status=$?; kill "$munged_pid" 2>/dev/null; (exit $status); lib_finish' EXIT
wait_until 10 test -S "$munge_dir/socket"

# queue UID WAIT: runs fluxq-queue of UID over TCP.
queue()
{
    as "$1" env FLUXQ_BROKER="http://127.0.0.1:$port" FLUXQ_MUNGE_SOCKET="$munge_dir/socket" \
        FLUXQ_BROKER_WAIT="$2" "$FLUXQ_RUN/fluxq" queue
}
refused()
{
    ! queue "$1" 0 2>why && grep "requests a second" why
}

port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >requests.yaml <<END
executor: local
local: {nodes: 1}
operators: [games]
subuid-file: $PWD/ranges
log-level: debug # says when the ranges have been read
listen: 127.0.0.1:$port
tls: off
munge-socket: $munge_dir/socket
clients: {requests: 1, burst: 100}
END
echo "$ann:300000:1000" >ranges
start_broker --config requests.yaml
test_expect_success 'a user with too many requests is refused with a time to retry, and others are served' '
    wait_until 10 grep "1 ranges of subordinate uids in $PWD/ranges" "$BROKER_LOG" &&
    flood $ann 300 >statuses && head -n 100 statuses | sort -u >first && echo 200 >expected &&
    test_cmp expected first && grep 429 statuses &&
    wait_until 60 answers $ann 429 && grep -i "^Retry-After: 1" reply && grep too-many-requests reply &&
    test "$(ask $bob)" = 200
'
test_expect_success 'neither a new connection nor a subordinate uid refills a user'\''s bucket' '
    flood $ann 90 | grep 429 && flood 300007 90 | grep 429
'
test_expect_success 'root and operators have no request limit' '
    flood 0 300 >statuses && flood $op 300 >>statuses && sort -u statuses >all && test_cmp expected all
'
test_expect_success 'over TCP the limit applies to the same user, and a command waits and is served' '
    wait_until 60 refused $ann && queue $bob 0 && queue $ann 60
'
test_expect_success 'a body of a refused request is not read, and the answer comes before the body' '
    wait_until 60 answers $ann 429 &&
    as $ann /usr/bin/python3 -c "import select, socket, sys
crowd = [socket.socket(socket.AF_UNIX) for _ in range(50)]
for s in crowd:
    s.connect(sys.argv[1])
    s.sendall(b\"POST /v1/jobs HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 9000000\\r\\n\\r\\n\")
print(select.select(crowd, [], [], 60)[0][0].recv(12))" "$socket" >first &&
    grep "HTTP/1.1 429" first
'
stop_broker
kill $munged_pid && wait_until 10 lib_gone $munged_pid
test_done
