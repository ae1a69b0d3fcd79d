#!/bin/sh
test_description='limits of each user: connections, a reserve for root and operators'
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "Bail out! needs root: several users"; exit 1; }

chmod 755 "$FLUXQ_RUN"
cp "$FLUXQ_SOURCE_DIR/t/helper/crowd.py" "$FLUXQ_RUN"
mkdir -m 1777 "$FLUXQ_RUN/shared"
socket=$FLUXQ_RUN/fluxqd.sock

# as UID COMMAND...
as()
{
    as_uid=$1
    shift
    (cd / && exec setpriv --reuid="$as_uid" --regid=65534 --clear-groups "$@")
}
ann=$(id -u nobody) bob=$(id -u daemon) op=$(id -u games)

# crowd UID N: connections of the user, until disperse
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

# ask UID: the status of a request; the answer goes to the file reply
ask()
{
    as "$1" curl -s -i -w "\n%{http_code}\n" --unix-socket "$socket" http://x/v1/status >reply
    tail -n 1 reply
}
answers()
{
    test "$(ask "$1")" = "$2"
}

# The broker that start_broker starts, in the background.
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
clients: {connections: 20, reserve: 16}
END
start_broker --config limits.yaml
test_expect_success 'a user with too many connections is refused and told when to come again; others are served' '
    crowd $ann 20 && test "$(ask $ann)" = 429 && grep -i "^Retry-After: 1" reply &&
    grep "\"code\":\"busy\"" reply &&
    test "$(ask $bob)" = 200 && test "$(ask $op)" = 200 && test "$(ask 0)" = 200 && disperse &&
    wait_until 10 answers $ann 200
'
test_expect_success 'a subordinate uid counts as its owner, one of nobody as itself' '
    wait_until 10 grep "1 ranges of subordinate uids" "$BROKER_LOG" &&
    crowd 300005 20 && test "$(ask $ann)" = 429 && test "$(ask 300999)" = 429 &&
    test "$(ask 301000)" = 200 && test "$(ask $bob)" = 200 && disperse &&
    wait_until 10 answers 300005 200
'
test_expect_success 'the limit and the ranges change with a reload' '
    echo "$bob:300000:1000" >subuid && sed -i "s/connections: 20/connections: 200/" limits.yaml &&
    fluxq-ctl reload && wait_until 10 sh -c "test \$(grep -c \"ranges of subordinate\" \"$BROKER_LOG\") = 2" &&
    crowd $ann 30 && test "$(ask $ann)" = 200 && test "$(ask 300005)" = 200 && disperse &&
    sed -i "s/connections: 200/connections: 20/" limits.yaml && fluxq-ctl reload &&
    wait_until 10 sh -c "test \$(grep -c \"ranges of subordinate\" \"$BROKER_LOG\") = 3" &&
    crowd 300005 20 && test "$(ask $bob)" = 429 && test "$(ask $ann)" = 200 && disperse
'
test_expect_success 'one user has all connections but the reserve: root and operators are served, others wait' '
    sed -i "s/connections: 20/connections: 2000/" limits.yaml && fluxq-ctl reload &&
    crowd $ann 130 && wait_until 10 answers $bob 503 && grep -i "^Retry-After: 1" reply &&
    test "$(ask $op)" = 200 && test "$(ask 0)" = 200 && timeout 30 fluxq-ctl status && disperse &&
    wait_until 10 answers $bob 200
'
stop_broker
test_done
