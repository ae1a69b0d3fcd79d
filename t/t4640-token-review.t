#!/bin/sh
# t4640-token-review.t: callers with the token of a service account (token-users). Needs root; about a minute.

test_description='the token of a service account identifies a user, by a TokenReview of the API server

A token that was made for the API server or for another account, a caller whom the API server has not
confirmed, or a token in a log would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4640

own_cluster --nodes 1
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# configure USERS [LINE...]
configure()
{
    configured=$1
    shift
    write_config "$configs/fluxq.kubeconfig" "audit-log: $FLUXQ_RUN/audit.log" "token-users: {$configured}" "$@"
}

# The broker listens in the network namespace of the cluster.
# ask TOKEN [OPTION... URL]: the status of a request that only administrators may make; the body is in `answer`.
ask()
{
    printf 'Authorization: Bearer %s\n' "$1" >header
    shift
    [ $# -gt 0 ] || set -- --unix-socket "$FLUXQ_RUN/fluxqd.sock" http://localhost
    timeout 70 "$KUBE/enter" curl -s -o answer -w '%{http_code}\n' -H @header -H 'Content-Type: application/json' -d '{"all": true}' \
        --max-time 60 "$@"/v1/token/revoke
}
# answers TOKEN STATUS TEXT [OPTION... URL]
answers()
{
    said_token=$1 said_status=$2 said_text=$3
    shift 3
    [ "$(ask "$said_token" "$@")" = "$said_status" ] && grep -q -e "$said_text" answer
}

test_expect_success 'without the right to ask, no token is accepted' '
    configure "fluxq/robot: daemon" && start_broker --kube --config "$PWD/kube.yaml" &&
    for name in robot stranger gone; do k create serviceaccount $name && k create token $name --audience=fluxq >$name || return 1; done &&
    k create token robot >api && answers "$(cat robot)" 503 forbidden
'

test_expect_success 'the token of a mapped account is its user, who is no administrator' '
    k apply -f "$FLUXQ_SOURCE_DIR/etc/kubernetes/rbac-tokens.yaml" && wait_until 30 answers "$(cat robot)" 403 not-operator &&
    answers "$(cat robot)" 403 not-operator && tail -n 1 "$FLUXQ_RUN/audit.log" >line && cat line &&
    jq -e ".user == \"daemon\" and .by == \"service account fluxq/robot\" and .status == 403" line
'

test_expect_success 'tokens of other audiences, of unmapped and deleted accounts, and garbage are refused' '
    k delete serviceaccount gone && answers "$(cat api)" 401 "audience fluxq" &&
    answers "$(cat stranger)" 401 "fluxq/stranger is no user" && answers "$(cat gone)" 401 "not accept" &&
    answers garbage 401 "not accept" && answers "$(cat robot)x" 401 "not accept" &&
    answers "$(head -c 9000 /dev/zero | tr "\\0" a)" 401 "too long"
'

test_expect_success 'commands send the token in the file that FLUXQ_TOKEN_FILE names' '
    id=$(FLUXQ_TOKEN_FILE=$PWD/robot fluxq-submit --hold -D / -o /dev/null -- true) && test "$(job_field $id user)" = daemon &&
    FLUXQ_TOKEN_FILE=$PWD/robot fluxq-cancel $id && wait_job_state $id CANCELLED &&
    FLUXQ_TOKEN_FILE=$PWD/stranger test_must_fail fluxq-queue 2>err && grep "fluxq/stranger is no user" err &&
    : >empty && FLUXQ_TOKEN_FILE=$PWD/empty test_must_fail fluxq-queue 2>err && grep "empty: no token is in it" err &&
    FLUXQ_TOKEN_FILE=$PWD/none test_must_fail fluxq-queue 2>err && grep "none: No such file" err &&
    cp robot open && chmod 666 open && FLUXQ_TOKEN_FILE=$PWD/open test_must_fail fluxq-queue 2>err && grep "open: mode 0666" err
'

test_expect_success 'after a reload another account is the user' '
    configure "fluxq/stranger: bin" && fluxq-ctl reload && answers "$(cat robot)" 401 "fluxq/robot is no user" &&
    answers "$(cat stranger)" 403 not-operator && tail -n 1 "$FLUXQ_RUN/audit.log" | jq -e ".user == \"bin\"" &&
    configure "fluxq/stranger: nobody-of-this-name" && fluxq-ctl reload && answers "$(cat stranger)" 401 "does not exist here"
'

test_expect_success 'over TLS the same tokens count, and the same are refused' '
    stop_broker &&
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out tls.crt -days 2 -subj /CN=broker \
        -addext subjectAltName=IP:127.0.0.1 2>/dev/null && chmod 600 tls.key &&
    configure "fluxq/robot: daemon" "listen: 127.0.0.1:$port" "tls-certificate: $PWD/tls.crt" "tls-key: $PWD/tls.key" &&
    start_broker --kube --config "$PWD/kube.yaml" && answers "$(cat robot)" 403 not-operator --cacert tls.crt "https://127.0.0.1:$port" &&
    answers "$(cat api)" 401 "audience fluxq" --cacert tls.crt "https://127.0.0.1:$port" || { cat answer; false; }
'

test_expect_success 'while the API server does not answer nobody is let in, and the broker stops with requests that wait' '
    k create token robot --audience=fluxq >new && k create token robot --audience=fluxq >third && server=$(cat "$FLUXQ_KUBE_RUN/pid/apiserver") &&
    kill -STOP $server && test_when_finished "kill -CONT $server" && answers "$(cat new)" 503 "does not answer" &&
    { ask "$(cat third)" >late & asker=$!; } && sleep 1 && stop_broker && wait $asker; cat late && kill -CONT $server &&
    ! grep "^[23]" late && start_broker --kube --config "$PWD/kube.yaml" && wait_until 60 answers "$(cat new)" 403 not-operator
'

test_expect_success 'no token is in a log, and no object is left' '
    for name in robot api stranger gone new third; do
        ! grep -rF -e "$(cat $name)" "$FLUXQ_RUN/audit.log" "$BROKER_LOG" || return 1
    done && stop_broker && nothing_of_ours
'

test_done
