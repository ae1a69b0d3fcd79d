# shellcheck shell=sh
# requests.sh: attacks through the broker's socket; included by t1091-attack.t.

attack 'a request that reads output, script or steps of another user'\''s job is refused' '
    for path in output output?follow=1 jobspec steps; do
        test "$(ask t-attacker GET /v1/jobs/$job/$path)" = 403 && test_must_fail grep -e "output of" -e sesame answer || return 1
    done &&
    denied fluxq logs $job && denied fluxq attach $job &&
    test "$(ask t-victim GET /v1/jobs/$job/jobspec)" = 200 && grep sesame answer
'
attack 'no request of another user cancels, signals, holds, requeues or changes the job' '
    for body in "{\"ids\":\"$job\"}" "{\"ids\":\"$job\",\"signal\":9}" "{\"ids\":\"$job\",\"signal\":9,\"step\":0}" "{\"ids\":\"1-$job\"}"; do
        ask t-attacker POST /v1/cancel -d "$body" && grep not-owner answer || return 1
    done &&
    ask t-attacker POST /v1/cancel -d "{\"user\":\"t-victim\"}" && ask t-attacker POST /v1/cancel -d "{\"state\":\"all\"}" &&
    for act in "urgency {\"urgency\":0}" "limit {\"limit\":1}" "requeue {\"hold\":true}" "memo {\"comment\":\"his\"}" "resize {\"nodes\":1}"; do
        test "$(ask t-attacker POST /v1/jobs/$job/${act%% *} -d "${act#* }")" = 403 && grep not-owner answer || return 1
    done
'
attack 'another user cannot connect to the agents of the job through the broker' '
    test "$(ask t-attacker POST /v1/jobs/$job/connect -H "Connection: Upgrade" -H "Upgrade: fluxq")" = 403 &&
    denied srun --jobid=$job id && denied fluxq attach --pty $job -- id
'
attack 'headers, queries and members that name another user change nothing: the socket says who asks' '
    uid=$(id -u t-victim) &&
    test "$(ask t-attacker GET "/v1/jobs/$job/jobspec?user=t-victim&uid=$uid" -H "X-SLURM-USER-NAME: t-victim" -H "X-Remote-User: t-victim" \
        -H "Authorization: Basic dC12aWN0aW06")" != 200 && test_must_fail grep sesame answer &&
    spec="{\"version\":1,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"task\",\"with\":[{\"type\":\"core\",\"count\":1}]}],\"tasks\":[{\"command\":[\"sh\",\"-c\",\"id -u >who; id -G >>who\"],\"slot\":\"task\",\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{\"duration\":60,\"cwd\":\"$attacker\",\"userid\":$uid,\"uid\":0,\"environment\":{\"PATH\":\"/usr/bin:/bin\",\"USER\":\"t-victim\"}},\"user\":{\"userid\":0}}}" &&
    status=$(ask t-attacker POST "/v1/jobs?userid=$uid&user=t-victim" -d "$spec" -H "X-User: root") && cat answer &&
    { test $status = 400 || test $status = 422 || {
        id=$(sed "\$d" answer | jq .id) && wait_job_state $id "COMPLETED|FAILED" && test "$(job_field $id user)" = t-attacker &&
        { id -u t-attacker; id -G t-attacker; } >expected && test_cmp expected "$attacker/who"; }; }
'
# jwt KEY PAYLOAD: a token of the header HS256; with an empty KEY an unsigned token.
url64()
{
    openssl base64 -A | tr '+/' '-_' | tr -d '='
}
jwt()
{
    [ -n "$1" ] && alg=HS256 || alg=none
    text=$(printf '{"alg":"%s","typ":"JWT"}' $alg | url64).$(printf %s "$2" | url64)
    [ -n "$1" ] && sign=$(printf %s "$text" | openssl dgst -sha256 -binary -mac HMAC -macopt "hexkey:$(od -An -tx1 "$1" | tr -d ' \n')" | url64) || sign=
    echo "$text.$sign"
}
# refused_token TOKEN: neither reads nor cancels.
refused_token()
{
    printf 'Authorization: Bearer %s\n' "$1" >"$FLUXQ_RUN/header" && chmod 644 "$FLUXQ_RUN/header" &&
        test "$(ask t-attacker GET /v1/jobs/$job/jobspec -H "@$FLUXQ_RUN/header")" = 401 &&
        test "$(ask t-attacker POST /v1/cancel -H "@$FLUXQ_RUN/header" -d "{\"ids\":\"$job\"}")" = 401
}
attack 'forged, unsigned, changed, expired and revoked tokens of the victim are refused' '
    now=$(date +%s) && claims="{\"sun\":\"t-victim\",\"iat\":$((now - 60)),\"exp\":$((now + 600))}" &&
    head -c 32 /dev/urandom >other.key && refused_token "$(jwt other.key "$claims")" && refused_token "$(jwt "" "$claims")" &&
    refused_token "$(jwt token.key "{\"sun\":\"t-victim\",\"iat\":$((now - 60)),\"exp\":$((now - 30))}")" &&
    test "$(ask t-attacker POST /v1/token -d "{\"user\":\"t-victim\"}")" = 403 &&
    ask t-attacker POST /v1/token -d "{}" && own=$(sed "\$d" answer | jq -r .token) &&
    refused_token "$(echo "$own" | cut -d. -f1).$(printf %s "$claims" | url64).$(echo "$own" | cut -d. -f3)" &&
    ask t-victim POST /v1/token -d "{}" && stolen=$(sed "\$d" answer | jq -r .token) &&
    test "$(ask t-attacker POST /v1/token/revoke -d "{\"user\":\"t-victim\"}")" = 403 &&
    test "$(ask t-victim POST /v1/token/revoke -d "{}")" = 200 && refused_token "$stolen"
'
attack 'the key of the victim'\''s submit gives another user neither the job nor its id' '
    first=$(ask t-victim POST /v1/jobs -H "Idempotency-Key: night-run" -d "$spec" >/dev/null; sed "\$d" answer | jq .id) &&
    again=$(ask t-victim POST /v1/jobs -H "Idempotency-Key: night-run" -d "$spec" >/dev/null; sed "\$d" answer | jq .id) && test $first = $again &&
    other=$(ask t-attacker POST /v1/jobs -H "Idempotency-Key: night-run" -d "$spec" >/dev/null; sed "\$d" answer | jq .id) &&
    test $other != $first && test "$(job_field $other user)" = t-attacker
'
attack 'a dependency, a reservation and a node state are no way to another user'\''s job' '
    test "$(ask t-attacker POST /v1/nodes/node0 -d "{\"action\":\"drain\"}")" = 403 && test "$(ask t-attacker POST /v1/queues/batch -d "{\"action\":\"stop\"}")" = 403 &&
    test "$(ask t-attacker POST /v1/reservations -d "{}")" = 403 && test "$(ask t-attacker POST /v1/shutdown -d "{}")" = 403 &&
    test "$(ask t-attacker POST /v1/reload -d "{}")" = 403 && test "$(ask t-attacker POST /v1/journal -d "{}")" = 403 &&
    id=$(attacker fluxq submit -d afterany:$job -D / -o /dev/null -- true) && test "$(job_state $id)" = PENDING && attacker fluxq cancel $id
'
