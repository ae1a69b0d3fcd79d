#!/bin/sh
test_description='scontrol token and slurmrestd: who is let in, what requests do, and that tokens stay secret'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$FLUXQ_BUILD_DIR/src/rest:$PATH
key=$PWD/token.key
(umask 077 && head -c 32 /dev/urandom >"$key")
echo "token-key: $key" >token.yaml
chmod 755 "$FLUXQ_RUN" # other users come to the socket
start_broker --local 4 --config token.yaml

rest_pid=
start_rest()
{
    slurmrestd "unix:$FLUXQ_RUN/rest.sock" "$@" </dev/null >>rest.log 2>&1 3>&- 4>&- 5>&- &
    rest_pid=$!
    wait_until 10 grep "listening on $FLUXQ_RUN/rest.sock" rest.log
}
stop_rest()
{
    [ -z "$rest_pid" ] || { kill "$rest_pid" && wait_until 10 lib_gone "$rest_pid"; }
    rest_pid=
}
trap 'status=$?; kill $rest_pid 2>/dev/null; (exit $status); lib_finish' EXIT
: >rest.log
start_rest

# token ARGS...: prints a token.
token()
{
    scontrol token "$@" | sed -n 's/^SLURM_JWT=//p'
}

# jwt ALG SECRET CLAIMS: makes a token by hand; ALG none: without a signature.
jwt()
{
    python3 - "$@" <<\END
import base64, hashlib, hmac, json, sys
def part(data): return base64.urlsafe_b64encode(data).rstrip(b"=")
alg, secret, claims = sys.argv[1:]
secret = open(secret, "rb").read()
head = part(json.dumps({"alg": alg, "typ": "JWT"}).encode()) + b"." + part(claims.encode())
name = {"HS256": "sha256", "HS512": "sha512"}.get(alg)
sign = part(hmac.new(secret, head, name).digest()) if name else b""
print((head + b"." + sign).decode())
END
}

# call METHOD PATH TOKEN [BODY]: prints the status; the answer goes to the file answer, and to
# the folder answers for the comparison with the description. The token goes through a file, as
# command lines are for everybody to read. A PATH from / on is that of another version or of slurmdb.
mkdir answers
call()
{
    case $2 in /*) path=$2 ;; *) path=/slurm/v0.0.41/$2 ;; esac
    echo "X-SLURM-USER-NAME: $(id -un)" >headers
    [ -z "$3" ] || echo "X-SLURM-USER-TOKEN: $3" >>headers
    curl -s --unix-socket "$FLUXQ_RUN/rest.sock" -o answer -w '%{http_code}\n' -X "$1" -H @headers \
        ${4:+--data-binary "$4"} "http://localhost$path" | tee code
    number=$(ls answers | wc -l)
    { printf '{"method": "%s", "path": "%s", "status": %s, "answer": ' "$1" "${path%%\?*}" "$(cat code)" && cat answer && echo "}"; } >"answers/$number"
}

# refused STATUS ARGS...: call has this status, and the answer an error.
refused()
{
    wanted=$1 && shift && call "$@" >status && cat status answer && echo && test "$(cat status)" = "$wanted" &&
    test "$(jq ".errors | length" answer)" -gt 0
}

token=$(token lifespan=3600)
now=$(date +%s)

# ---- tokens ----

test_expect_success 'a token has the claims of Slurm, for the lifespan that was asked for' '
    echo "$token" | cut -d. -f2 | tr "_-" "/+" | sed "s/$/==/" | base64 -d 2>/dev/null >claims; cat claims &&
    test "$(jq -r .sun claims)" = "$(id -un)" && test "$(jq ".exp - .iat" claims)" = 3600 &&
    test "$(jq ".iat >= $now - 60" claims)" = true &&
    scontrol token lifespan=infinite >out && grep -q "^SLURM_JWT=eyJ" out &&
    test_must_fail scontrol token lifespan=0 && test_must_fail scontrol token lifespan=99999999999 &&
    test_must_fail scontrol token who=me 2>err && grep "Invalid option: .who=me." err &&
    test_must_fail scontrol token username=nobody-of-this-name 2>err && grep "Invalid user id" err
'
test_expect_success 'a command sends the token in SLURM_JWT, and says why it is refused' '
    SLURM_JWT=$token squeue -h &&
    SLURM_JWT=abc test_must_fail squeue 2>err && grep "not signed with this site" err &&
    SLURM_JWT="$token x" test_must_fail squeue 2>err && grep "SLURM_JWT has no valid token" err &&
    SLURM_JWT=$token FLUXQ_BROKER=http://192.0.2.1:7718 FLUXQ_BROKER_WAIT=0 test_must_fail timeout 30 squeue
'
test_expect_success ROOT 'the token says who the user is, not the socket' '
    other=$(token username=nobody) && id=$(SLURM_JWT=$other sbatch --parsable -D / -o /dev/null --wrap true) &&
    test "$(job_field $id user)" = nobody && SLURM_JWT=$other test_must_fail scontrol token 2>err &&
    grep "makes no further tokens" err && SLURM_JWT=$other test_must_fail fluxq-ctl reload
'
test_expect_success 'wrong, foreign, expired, unsigned and oversize tokens are refused' '
    head -c 32 /dev/urandom >foreign.key && later=$((now + 1000)) &&
    good="{\"sun\":\"$(id -un)\",\"iat\":$now,\"exp\":$later}" &&
    test "$(call GET jobs "$(jwt HS256 "$key" "$good")")" = 200 &&
    refused 401 GET jobs "$(jwt HS256 foreign.key "$good")" &&
    refused 401 GET jobs "$(jwt none foreign.key "$good")" &&
    refused 401 GET jobs "$(jwt HS512 "$key" "$good")" &&
    refused 401 GET jobs "$(jwt HS256 "$key" "{\"sun\":\"$(id -un)\",\"iat\":$((now - 9)),\"exp\":$((now - 1))}")" &&
    grep expired answer &&
    refused 401 GET jobs "$(jwt HS256 "$key" "{\"sun\":\"$(id -un)\",\"iat\":$now}")" &&
    refused 401 GET jobs "$(jwt HS256 "$key" "{\"iat\":$now,\"exp\":$later}")" &&
    refused 401 GET jobs "$(jwt HS256 "$key" "{\"sun\":\"nobody-of-this-name\",\"iat\":$now,\"exp\":$later}")" &&
    refused 401 GET jobs "$(head -c 5000 /dev/zero | tr "\0" A)" &&
    refused 401 GET jobs "$token.x" && refused 401 GET jobs "..." && refused 401 GET jobs "e30.e30."
'
test_expect_success 'a token of another user than the header says is refused' '
    echo "X-SLURM-USER-NAME: somebody" >headers && echo "X-SLURM-USER-TOKEN: $token" >>headers &&
    curl -s --unix-socket "$FLUXQ_RUN/rest.sock" -w "%{http_code}" -H @headers http://x/slurm/v0.0.41/jobs >out &&
    grep "401$" out && grep "not of the user" out
'
test_expect_success 'a revoked token stays revoked after kill -9, and new ones are accepted' '
    test "$(call GET jobs "$token")" = 200 && fluxq-ctl revoke-tokens && refused 401 GET jobs "$token" &&
    grep revoked answer && kill_broker && start_broker --local 4 --config token.yaml &&
    refused 401 GET jobs "$token" && token=$(token) && test "$(call GET jobs "$token")" = 200 &&
    fluxq-ctl revoke-tokens --all && refused 401 GET jobs "$token" && kill_broker &&
    start_broker --local 4 --config token.yaml && refused 401 GET jobs "$token" &&
    token=$(token) && fluxq-ctl revoke-tokens && token=$(token) && fluxq-ctl revoke-tokens --all &&
    refused 401 GET jobs "$token" && token=$(token) && test "$(call GET jobs "$token")" = 200 &&
    fluxq-ctl revoke-tokens --before 2020-01-01T00:00:00 && test "$(call GET jobs "$token")" = 200 &&
    test_must_fail fluxq-ctl revoke-tokens nobody-of-this-name &&
    test_must_fail fluxq-ctl revoke-tokens --all root
'
test_expect_success ROOT 'users make and revoke tokens of their own only' '
    other=$(token username=nobody) &&
    SLURM_JWT=$other test_must_fail fluxq-ctl revoke-tokens root 2>err && grep "only administrators" err &&
    SLURM_JWT=$other test_must_fail fluxq-ctl revoke-tokens --all &&
    setpriv --reuid=65534 --clear-groups env PATH="$PATH" scontrol token >out && grep -q ^SLURM_JWT= out &&
    test_must_fail setpriv --reuid=65534 --clear-groups env PATH="$PATH" scontrol token username=root 2>err &&
    grep "only root" err && SLURM_JWT=$other squeue -h && SLURM_JWT=$other fluxq-ctl revoke-tokens &&
    SLURM_JWT=$other test_must_fail squeue && test "$(call GET jobs "$token")" = 200
'
test_expect_success 'a broker with a key that others can read, or with a short one, does not start' '
    cp token.key open.key && chmod 640 open.key && echo "token-key: $PWD/open.key" >open.yaml &&
    test_must_fail timeout 20 fluxqd --local 1 --config open.yaml --runtime-dir "$FLUXQ_RUN/no" --state-dir no 2>err &&
    cat err && grep "open.key: mode 0640" err &&
    (umask 077 && echo short >short.key) && echo "token-key: $PWD/short.key" >short.yaml &&
    test_must_fail timeout 20 fluxqd --local 1 --config short.yaml --runtime-dir "$FLUXQ_RUN/no" --state-dir no 2>err &&
    grep "a secret needs 32" err
'
test_expect_success 'RS256: the broker signs with the private key; a token by its public key as secret is refused' '
    (umask 077 && openssl genrsa -out rsa.key 2048 2>/dev/null) && openssl rsa -in rsa.key -pubout -out rsa.pub 2>/dev/null &&
    printf "token-key: %s\ntoken-public-key: %s\n" "$PWD/rsa.key" "$PWD/rsa.pub" >rsa.yaml &&
    cp token.yaml kept.yaml && cp rsa.yaml token.yaml && fluxq-ctl reload &&
    rs=$(token) && test "$(call GET jobs "$rs")" = 200 && refused 401 GET jobs "$token" &&
    refused 401 GET jobs "$(jwt HS256 rsa.pub "{\"sun\":\"$(id -un)\",\"iat\":$now,\"exp\":$((now + 1000))}")" &&
    echo "token-public-key: $PWD/rsa.pub" >token.yaml && fluxq-ctl reload && test "$(call GET jobs "$rs")" = 200 &&
    test_must_fail scontrol token 2>err && grep "no key to make tokens" err &&
    cp kept.yaml token.yaml && fluxq-ctl reload && test "$(call GET jobs "$token")" = 200
'

# ---- requests ----

test_expect_success 'a job is submitted, seen in all lists, and its output is there' '
    cat >job.json <<-END &&
	{"script": "#!/bin/sh\necho \"\$GREETING \$1\" \$SLURM_JOB_NAME \$SBATCH_TIMELIMIT\n",
	 "job": {"name": "by rest", "environment": ["GREETING=hi there", "PATH=/usr/bin:/bin", "SBATCH_TIMELIMIT=7"],
	         "current_working_directory": "$PWD", "standard_output": "rest.%j", "tasks": 1, "comment": null,
	         "time_limit": {"set": true, "infinite": false, "number": 5}, "hold": false, "mail_type": []}}
	END
    test "$(call POST job/submit "$token" @job.json)" = 200 && cat answer && id=$(jq .job_id answer) &&
    test "$(jq -c ".errors" answer)" = "[]" && wait_job_state $id COMPLETED &&
    echo "hi there  by rest 7" >wanted && test_cmp wanted "rest.$id" &&
    test "$(call GET job/$id "$token")" = 200 &&
    test "$(jq -c ".jobs[0] | [.job_id, .name, .job_state, .time_limit.number]" answer)" = "[$id,\"by rest\",[\"COMPLETED\"],5]" &&
    test "$(call GET jobs/ "$token")" = 200 && curl -s --unix-socket "$FLUXQ_RUN/rest.sock" \
        -w "%{http_code}" http://localhost//slurm/v0.0.45//ping/ >out && grep "200$" out && test "$(jq "[.jobs[].job_id] | index($id) != null" answer)" = true &&
    test "$(call GET "jobs/state?job_id=$id" "$token")" = 200 && test "$(jq -c ".jobs[0].state" answer)" = "[\"COMPLETED\"]" &&
    test "$(call GET /slurmdb/v0.0.41/job/$id "$token")" = 200 &&
    test "$(jq -r ".jobs[0].state.current[0]" answer)" = COMPLETED &&
    test "$(call GET "/slurmdb/v0.0.42/jobs?start_time=$now&job_name=by%20rest" "$token")" = 200 &&
    test "$(jq -c "[.jobs[].job_id]" answer)" = "[$id]" && test "$(jq -r .meta.plugin.data_parser answer)" = data_parser/v0.0.42 &&
    refused 404 GET /slurmdb/v0.0.41/job/999999 "$token" && refused 422 GET "/slurmdb/v0.0.41/jobs?format=x" "$token"
'
test_expect_success 'a job is changed, signalled and cancelled; one that has ended is not' '
    cat >sleep.json <<-END &&
	{"script": "#!/bin/sh\nsleep 1000\n", "job": {"environment": {"PATH": "/usr/bin:/bin"}, "standard_output": "/dev/null",
	 "current_working_directory": "/tmp", "time_limit": 10, "memory_per_node": {"set": true, "number": 16}}}
	END
    test "$(call POST job/submit "$token" @sleep.json)" = 200 && id=$(jq .job_id answer) && wait_job_state $id RUNNING &&
    test "$(call POST job/$id "$token" "{\"time_limit\": {\"set\": true, \"number\": 5}}")" = 200 &&
    test "$(call GET job/$id "$token")" = 200 && test "$(jq ".jobs[0].time_limit.number" answer)" = 5 &&
    refused 500 POST job/$id "$token" "{\"account\": \"other\"}" &&
    test "$(call DELETE "job/$id?signal=CONT" "$token")" = 200 && test "$(job_state $id)" = RUNNING &&
    test "$(call DELETE job/$id "$token")" = 200 && wait_job_state $id CANCELLED &&
    refused 500 DELETE job/$id "$token" && refused 404 DELETE job/999999 "$token" &&
    test "$(call POST job/submit "$token" @sleep.json)" = 200 && id=$(jq .job_id answer) &&
    test "$(call DELETE jobs "$token" "{\"jobs\": [$id]}")" = 200 && wait_job_state $id CANCELLED &&
    refused 400 DELETE jobs "$token" "{}"
'
test_expect_success 'directives of the script are not read: they could read files of the user of slurmrestd' '
    printf "SECRET=known\0" >secret.env && cat >directives.json <<-END &&
	{"script": "#!/bin/sh\n#SBATCH --export-file=$PWD/secret.env --job-name=by-script\n#FLUXQ --bogus\nenv\n",
	 "job": {"environment": ["PATH=/usr/bin:/bin"], "current_working_directory": "$PWD", "standard_output": "dir.%j"}}
	END
    test "$(call POST job/submit "$token" @directives.json)" = 200 && id=$(jq .job_id answer) &&
    jq -r ".warnings[].description" answer | grep "are not read" && wait_job_state $id COMPLETED &&
    test "$(job_field $id name)" = sbatch && grep SLURM_JOB_ID "dir.$id" && ! grep SECRET "dir.$id"
'
test_expect_success ROOT 'a user cannot cancel or change jobs of others' '
    test "$(call POST job/submit "$token" @sleep.json)" = 200 && id=$(jq .job_id answer) && other=$(token username=nobody) &&
    echo "X-SLURM-USER-TOKEN: $other" >headers && curl -s --unix-socket "$FLUXQ_RUN/rest.sock" -X DELETE -H @headers \
        "http://x/slurm/v0.0.41/job/$id" >out && cat out && echo && test "$(jq ".errors[0].error_number" out)" = 2002 &&
    test "$(job_state $id)" != CANCELLED && scancel $id
'
test_expect_success 'nodes, partitions, reservations, licenses, ping and diag' '
    test "$(call GET nodes "$token")" = 200 && test "$(jq ".nodes | length" answer)" = 4 &&
    test "$(call GET node/node1 "$token")" = 200 && test "$(jq -r ".nodes[0].name" answer)" = node1 &&
    test "$(call GET partitions "$token")" = 200 && test "$(jq -r ".partitions[0].nodes.total" answer)" = 4 &&
    test "$(call GET partition/batch "$token")" = 200 && refused 500 GET partition/none "$token" &&
    refused 500 GET node/none "$token" && fluxq-ctl reserve --name r1 --start now --duration 10 --nodes node3 --users root &&
    test "$(call GET reservation/r1 "$token")" = 200 && test "$(call GET reservations "$token")" = 200 && test "$(jq -r ".reservations[0].node_list" answer)" = node3 &&
    fluxq-ctl unreserve r1 && test "$(call GET licenses "$token")" = 200 && test "$(jq -c .licenses answer)" = "[]" &&
    test "$(call GET ping "$token")" = 200 && test "$(jq -r ".pings[0].pinged" answer)" = UP &&
    test "$(call GET diag "$token")" = 200 && test "$(jq ".statistics.jobs_running" answer)" = 0
'
test_expect_success 'several jobs in a submit are the components of one heterogeneous job' '
    printf "%s" "{\"script\": \"#!/bin/sh\ntrue\n\", \"jobs\": [
        {\"name\": \"lead\", \"hold\": true, \"environment\": [\"A=b\"], \"current_working_directory\": \"/tmp\"},
        {\"name\": \"work\", \"hold\": true, \"nodes\": \"2\", \"current_working_directory\": \"/tmp\"}]}" >het.json &&
    test "$(call POST job/submit "$token" @het.json)" = 200 && cat answer && id=$(jq .job_id answer) &&
    test "$(call GET job/$id "$token")" = 200 &&
    jq -e "[.jobs[] | [.name, .node_count.number, .het_job_id.number, .het_job_offset.number]]
        == [[\"lead\", 1, $id, 0], [\"work\", 2, $id, 1]]" answer &&
    sed "s/.hold.: true, .nodes.: .2./\"time_limit\": 5/" het.json >wrong.json &&
    refused 500 POST job/submit "$token" @wrong.json && grep -F "component 1: --time" answer &&
    sed "s/.nodes.: .2./\"environment\": [\"A=c\"]/" het.json >wrong.json &&
    refused 400 POST job/submit "$token" @wrong.json && grep -F "the environment is that of the first job" answer
'

test_expect_success 'wrong requests are refused with a reason' '
    refused 404 GET nothing "$token" && refused 405 PUT jobs "$token" && refused 422 GET "jobs?x=1" "$token" &&
    refused 404 GET job/999999 "$token" && test "$(jq ".errors[0].error_number" answer)" = 2017 &&
    refused 404 GET "job/-M" "$token" &&
    refused 400 POST job/submit "$token" "{" && refused 400 POST job/submit "$token" "[]" &&
    refused 400 POST job/submit "$token" "{\"job\": {}}" &&
    refused 400 POST job/submit "$token" "{\"script\": \"#!/bin/sh\", \"job\": {\"shoe_size\": 43}}" && grep shoe_size answer &&
    refused 400 POST job/submit "$token" "{\"script\": \"#!/bin/sh\", \"job\": {\"environment\": [\"A\"]}}" &&
    refused 500 POST job/submit "$token" "{\"script\": \"#!/bin/sh\n\", \"job\": {\"partition\": \"none\"}}" && cat answer &&
    refused 404 GET /slurm/v0.0.12/jobs "$token" && refused 404 GET /slurm "$token" && refused 404 GET / "$token"
'
test_expect_success 'without a token only the own user is served, on the unix socket' '
    test "$(call GET jobs "")" = 200 && curl -s --unix-socket "$FLUXQ_RUN/rest.sock" -w "%{http_code}" \
        -H "X-SLURM-USER-NAME: somebody" http://x/slurm/v0.0.41/jobs >out && grep "401$" out && stop_rest && : >rest.log &&
    port=$(python3 -c "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); print(s.getsockname()[1])") &&
    start_rest --tls=off "127.0.0.1:$port" && wait_until 10 grep "listening on 127.0.0.1:$port" rest.log &&
    curl -s -w "%{http_code}" "http://127.0.0.1:$port/slurm/v0.0.41/jobs" >out && grep "401$" out &&
    echo "Authorization: Bearer $token" >headers &&
    curl -s -w "%{http_code}" -H @headers "http://127.0.0.1:$port/slurm/v0.0.41/jobs" >out && grep "200$" out &&
    stop_rest && for address in "127.0.0.1:$port" ":$port" "[::1]:$port" "0.0.0.0:$port" ""; do
        test_expect_code 1 timeout 20 slurmrestd $address 2>err && grep "needs --tls-certificate and --tls-key, or unix:PATH" err || return 1
    done && start_rest
'
test_expect_success 'with a certificate other machines are served over TLS, and SIGHUP reads a renewed one' '
    renew() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout rest.key -out rest.crt -days 2 \
        -subj "/CN=$1" -addext subjectAltName=IP:127.0.0.1 2>/dev/null && chmod 600 rest.key; } &&
    served() { openssl s_client -connect 127.0.0.1:$port </dev/null 2>/dev/null | openssl x509 -noout -subject | grep "CN = $1"; } &&
    stop_rest && : >rest.log && renew first &&
    test_expect_code 2 timeout 20 slurmrestd --tls-key rest.key 0.0.0.0:$port 2>err && grep "need each other" err &&
    test_expect_code 2 timeout 20 slurmrestd --tls=off --tls-key rest.key --tls-certificate rest.crt 0.0.0.0:$port 2>err &&
    grep "contradicts --tls=off" err && test_expect_code 2 timeout 20 slurmrestd --tls=on 2>err && grep "expected off" err &&
    test_expect_code 1 timeout 20 slurmrestd --tls-key rest.key --tls-certificate none 0.0.0.0:$port 2>err && grep "none: No such file" err &&
    start_rest --tls-certificate rest.crt --tls-key rest.key "0.0.0.0:$port" && wait_until 10 grep "listening on 0.0.0.0:$port" rest.log &&
    echo "Authorization: Bearer $token" >headers && test_must_fail curl -s "https://127.0.0.1:$port/slurm/v0.0.41/jobs" &&
    curl -s --cacert rest.crt -w "%{http_code}" -H @headers "https://127.0.0.1:$port/slurm/v0.0.41/jobs" >out && grep "200$" out &&
    curl -s --cacert rest.crt -w "%{http_code}" "https://127.0.0.1:$port/slurm/v0.0.41/jobs" >out && grep "401$" out &&
    served first && renew second && kill -HUP $rest_pid && wait_until 10 served second &&
    echo broken >rest.key && kill -HUP $rest_pid && wait_until 10 grep "rest.key: .*the earlier certificate stays" rest.log && served second &&
    stop_rest && start_rest
'
test_expect_success 'a broker that is away is an answer, and slurmrestd serves on when it is back' '
    stop_broker && call GET jobs "$token" >status && cat status answer && test "$(cat status)" -ge 500 &&
    start_broker --local 4 --config token.yaml && test "$(call GET jobs "$token")" = 200
'
test_expect_success 'many requests at once are all answered' '
    echo "X-SLURM-USER-TOKEN: $token" >headers && for i in $(seq 40); do
        curl -s --unix-socket "$FLUXQ_RUN/rest.sock" -o /dev/null -w "%{http_code}\n" -H @headers http://x/slurm/v0.0.41/jobs >many.$i & pids="$pids $!"
    done && wait $pids && test "$(cat many.* | sort -u)" = 200 && test "$(cat many.* | wc -l)" = 40 &&
    wait_until 10 sh -c "! ps -o ppid= -e | grep -qw $rest_pid"
'

# ---- secrets ----

test_expect_success 'no token is in a log, in the journal, in a job or on a command line' '
    id=$(SLURM_JWT=$token sbatch --parsable -o env.%j --wrap "env; sleep 1000") && wait_job_state $id RUNNING &&
    wait_until 10 grep -q SLURM_JOB_ID "env.$id" && ! grep SLURM_JWT "env.$id" &&
    { SLURM_JWT=$token timeout 60 fluxq-logs -f $id >/dev/null & } &&
    body=$(echo "$token" | cut -d. -f2) && cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\0" "\n" >cmdlines &&
    ! grep -F "$body" cmdlines && ! grep -rF "$body" "$BROKER_LOG" rest.log "$BROKER_STATE" "$FLUXQ_RUN" --exclude=*.sock &&
    scancel $id && wait_job_state $id CANCELLED
'

# ---- the description ----

test_expect_success 'doc/openapi-slurm.yaml has exactly the routes of the code and the members of a job' '
    sed -n "s/^ *{ \"\([A-Z]*\)\", \"\([a-z/{}]*\)\", rest_.*/\1 \2/p" "$FLUXQ_SOURCE_DIR/src/rest/routes.c" | sort >code &&
    test "$(wc -l <code)" -ge 18 && awk "/^components:/ { exit } /^  \/slurm/ { path = \$1; sub(/:\$/, \"\", path); sub(/^[^}]*}./, \"\", path)
        gsub(/{[a-z]*}/, \"{}\", path) } /^    (get|post|delete):/ { m = toupper(\$1); sub(/:/, \"\", m); print m, path }" \
        "$FLUXQ_SOURCE_DIR/doc/openapi-slurm.yaml" | sort >doc && diff code doc &&
    sed -n "/ rows\[\] = {/,/^};/s/^ *{ \"\([a-z_0-9]*\)\",.*/\1/p" "$FLUXQ_SOURCE_DIR/src/rest/submit.c" | sort >code && test "$(wc -l <code)" -ge 60 &&
    awk "/^    Description:/ { on = 1; next } /^    [A-Z]/ { on = 0 } on && /^        [a-z_0-9]+: / { sub(/:.*/, \"\", \$1); print \$1 }" \
        "$FLUXQ_SOURCE_DIR/doc/openapi-slurm.yaml" | sort >doc && diff code doc
'
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null && test_set_prereq JSONSCHEMA || echo "# no jsonschema: apt-get install python3-jsonschema"
test_expect_success JSONSCHEMA 'all answers of this test have the shape of doc/openapi-slurm.yaml' '
    cat >compare.py <<-\END &&
	import json, re, sys, yaml
	from jsonschema import Draft202012Validator, RefResolver

	api = yaml.safe_load(open(sys.argv[1]))
	resolver = RefResolver("", api)
	count = {}

	def schema(call):
	    path = re.sub("^/(slurm|slurmdb)/v0.0.4[1-5]/", r"/\1/{version}/", call["path"]).rstrip("/")
	    for name, item in api["paths"].items():
	        pattern = re.sub(r"\\{(id|name)\\}", "[^/]+", re.escape(name))
	        if re.fullmatch(pattern, path) and call["method"].lower() in item and call["status"] == 200:
	            count[name, call["method"]] = 1
	            return item[call["method"].lower()]["responses"]["200"]["content"]["application/json"]["schema"]
	    assert call["status"] != 200, call
	    return api["components"]["responses"]["Failure"]["content"]["application/json"]["schema"]

	for name in sys.argv[2:]:
	    call = json.load(open(name))
	    for error in Draft202012Validator(schema(call), resolver=resolver).iter_errors(call["answer"]):
	        sys.exit(" ".join([call["method"], call["path"], str(list(error.path)), error.message[:500]]))
	print(len(sys.argv) - 2, len(count), sum(len(set(i) - {"parameters"}) for i in api["paths"].values()))
	END
    /usr/bin/python3 compare.py "$FLUXQ_SOURCE_DIR/doc/openapi-slurm.yaml" answers/* >out && cat out && read calls seen all <out &&
    test "$calls" -ge 60 && test "$seen" = "$all"
'

stop_rest
test_done
