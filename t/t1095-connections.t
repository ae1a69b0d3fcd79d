#!/bin/sh
test_description='connections: no free descriptors, chunked bodies; the broker serves others and goes on'
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "Bail out! needs root: two users"; exit 1; }

chmod 755 "$FLUXQ_RUN"
cp "$FLUXQ_SOURCE_DIR/t/helper/crowd.py" "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_RUN"
mkdir -m 1777 "$FLUXQ_RUN/shared"

as_nobody()
{
    (cd / && exec setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@")
}

# crowd N: opens N connections of user nobody until disperse.
crowd()
{
    as_nobody /usr/bin/python3 "$FLUXQ_RUN/crowd.py" "$FLUXQ_RUN/fluxqd.sock" "$1" "$FLUXQ_RUN/shared/ready" &
    crowd=$!
    wait_until 20 test -e "$FLUXQ_RUN/shared/ready"
}

disperse()
{
    rm -f "$FLUXQ_RUN/shared/ready" && wait $crowd
}

# Processor time of the broker, in ticks.
ticks()
{
    sed 's/.*) //' "/proc/$BROKER_PID/stat" | awk '{ print $12 + $13 }'
}

# True if the broker sleeps, and false if the broker runs in a busy loop.
quiet()
{
    before=$(ticks) && sleep 0.3 && test $(($(ticks) - before)) -le 6
}

# The broker of start_broker, in the background.
fluxqd()
{
    ulimit -n "$descriptors" && exec "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$@"
}

descriptors=64
start_broker
test_expect_success 'with 100 connections for 64 descriptors root is served, and other users are told to retry' '
    crowd 100 &&
    timeout 30 fluxq-ctl status >status &&
    as_nobody /usr/bin/python3 -c "import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
print(s.makefile().read())" "$FLUXQ_RUN/fluxqd.sock" >reply &&
    grep "^HTTP/1.1 503" reply && grep -i "^Retry-After: 1" reply && grep "\"busy\"" reply
'
test_expect_success 'when the connections have closed all users are served, and jobs run' '
    disperse && FLUXQ_BROKER_WAIT=30 && export FLUXQ_BROKER_WAIT &&
    as_nobody timeout 60 "$FLUXQ_RUN/fluxq" queue &&
    timeout 60 fluxq-submit --wait -o /dev/null -- true &&
    unset FLUXQ_BROKER_WAIT
'
test_expect_success 'without any descriptor a client waits, and is served when descriptors are free' '
    crowd 5 && prlimit --pid $BROKER_PID --nofile=4:64 &&
    { timeout 60 fluxq-ctl status >status & } && client=$! &&
    wait_until 10 quiet && kill -0 $client &&
    prlimit --pid $BROKER_PID --nofile=64:64 && wait $client && disperse
'
stop_broker
descriptors=1024

port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >tcp.yaml <<END
executor: local
local: {nodes: 1}
listen: 127.0.0.1:$port
tls: off
END
start_broker --config tcp.yaml
test_expect_success 'an endless chunk line over TCP from an unknown client gets 411, and the broker works on' '
    /usr/bin/python3 "$FLUXQ_SOURCE_DIR/t/helper/chunks.py" $port &&
    timeout 30 fluxq-queue && wait_until 30 quiet
'
test_expect_success 'a body with Content-Length is accepted, and a chunked body is refused with the reason' '
    echo "{" >body &&
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" --data-binary @body http://x/v1/jobs | jq -e ".status != 411 and .code != \"length-required\"" &&
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" -H "Transfer-Encoding: chunked" --data-binary @body \
        http://x/v1/jobs | jq -e ".code == \"length-required\""
'
stop_broker
test_done
