# shellcheck shell=sh
# load.sh: attacks by load: giant and slow requests, many connections, many jobs; included by t1091-attack.t.

# served: a user other than the attacker gets answers, and a job of that user runs to its end.
served()
{
    victim timeout 30 fluxq queue >/dev/null && victim timeout 60 fluxq submit --wait -o /dev/null -- true
}
attack 'giant bodies, headers, paths and numbers are refused, and others are served' '
    head -c 20000000 /dev/zero | tr "\0" "[" >"$attacker/deep" && chmod 644 "$attacker/deep" && served &&
    ask t-attacker POST /v1/jobs -d "@$attacker/deep" >status && test_must_fail grep "^2" status &&
    head -c 200000 "$attacker/deep" >"$attacker/less" && chmod 644 "$attacker/less" &&
    for path in jobs cancel jobs/$job/urgency token; do
        ask t-attacker POST /v1/$path -d "@$attacker/less" >status && test_must_fail grep "^2" status || return 1
    done &&
    ask t-attacker GET "/v1/jobs?ids=1-99999999999999999999" >status && test_must_fail grep "^2" status &&
    ask t-attacker GET "/v1/jobs?ids=$(head -c 60000 /dev/zero | tr "\0" 7)" >status && test_must_fail grep "^2" status && served
'
holders()
{
    pgrep -u t-attacker -f "hold.py $FLUXQ_RUN/fluxqd.sock"
}
no_holders()
{
    ! holders
}
attack 'slow requests and silent connections of one user do not keep others from the broker' '
    { attacker /usr/bin/python3 "$FLUXQ_RUN/bin/hold.py" "$FLUXQ_RUN/fluxqd.sock" 300 >held 2>&1 & } &&
    test_when_finished "kill \$(holders) 2>/dev/null; :" && wait_until 20 grep -q ready held &&
    served && test "$(ask t-victim GET /v1/jobs/$job)" = 200 && kill $(holders) && wait_until 10 no_holders
'
attack 'jobs that start processes without end leave the broker and the other jobs alone' '
    id=$(attacker fluxq submit --no-requeue -o /dev/null -- sh -c "i=0; while [ \$i -lt 300 ]; do i=\$((i + 1)); (trap \"\" TERM HUP; exec setsid sleep 97642) & done; wait") &&
    many() { test "$(pgrep -u t-attacker -c -f "sleep 97642")" -ge 100; } && wait_until 20 many && served && attacker fluxq cancel $id &&
    wait_job_state $id CANCELLED 60 && gone() { ! pgrep -u t-attacker -f "sleep 97642"; } && wait_until 30 gone
'
