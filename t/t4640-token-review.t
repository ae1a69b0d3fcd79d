#!/bin/sh
# t4640-token-review.t: callers with the token of a service account (token-users). Needs root.

test_description='the token of a service account identifies a user, by a TokenReview of the API server'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4640

own_cluster --nodes 1
write_config "${configs:-}/fluxq.kubeconfig" "audit-log: $FLUXQ_RUN/audit.log" "token-users: {fluxq/robot: daemon}"

# ask TOKEN: the status of a request that only administrators may make; the answer is in `answer`.
ask()
{
    printf 'Authorization: Bearer %s\n' "$1" >header
    curl -s -o answer -w '%{http_code}\n' -H @header -H 'Content-Type: application/json' -d '{"all": true}' \
        --max-time 60 --unix-socket "$FLUXQ_RUN/fluxqd.sock" http://localhost/v1/token/revoke
}
answers() { [ "$(ask "$1")" = "$2" ] && grep -q -e "$3" answer; }

test_expect_success 'without the right to ask, no token is accepted' '
    start_broker --kube --config kube.yaml &&
    for name in robot stranger gone; do k create serviceaccount $name || return 1; done &&
    k create token robot --audience=fluxq >robot && k create token robot >api && k create token stranger --audience=fluxq >stranger &&
    k create token gone --audience=fluxq >gone && answers "$(cat robot)" 503 forbidden
'

test_expect_success 'the token of a mapped account is its user, who is no administrator' '
    { k create clusterrolebinding t4640 --clusterrole=system:auth-delegator --group=system:authenticated || return 1; } &&
    wait_until 30 answers "$(cat robot)" 403 not-operator && answers "$(cat robot)" 403 not-operator
'

test_expect_success 'tokens of other audiences, of unmapped and deleted accounts, and garbage are refused' '
    k delete serviceaccount gone && answers "$(cat api)" 401 "audience fluxq" &&
    answers "$(cat stranger)" 401 "fluxq/stranger is no user" && answers "$(cat gone)" 401 "not accept" &&
    answers garbage 401 "not accept" && answers "$(cat robot)x" 401 "not accept"
'

test_expect_success 'no token is in the logs' '
    for name in robot api stranger gone; do ! grep -F -e "$(cat $name)" "$FLUXQ_RUN/audit.log" fluxqd.log || return 1; done
'

test_done
