#!/bin/sh
test_description='names and texts cannot control a terminal, hide in it or reverse its lines'
. "$(dirname "$0")/lib.sh"

RLO=$(printf '\342\200\256')  # U+202E RIGHT-TO-LEFT OVERRIDE
ZWSP=$(printf '\342\200\213') # U+200B ZERO WIDTH SPACE
export RLO ZWSP

# The file has no ESC, no C1 controls, and no bidirectional or zero-width characters.
harmless()
{
    ! LC_ALL=C grep -aP '\x1b|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]' "$@"
}

post()
{
    curl -sS -o answer -w '%{http_code}' --unix-socket "$FLUXQ_RUN/fluxqd.sock" -X POST --data-binary @- \
        "http://localhost$1"
}

start_broker

test_expect_success 'a command refuses a name with a hidden character and names the character and its position' '
    test_expect_code 2 fluxq-submit --job-name "ab${RLO}c" -- true 2>err && grep "character 3 is U+202E" err &&
    harmless err &&
    test_expect_code 2 fluxq-submit --job-name "${ZWSP}x" -- true 2>err && grep "character 1 is U+200B" err
'

test_expect_success 'the broker refuses hidden characters in names of jobs, labels, properties and keys' '
    fluxq-submit --dry-run --job-name THENAME --constraint PROPERTY -- true >spec &&
    for word in THENAME PROPERTY; do
        sed "s/$word/é$RLO/" spec >bad && test "$(post /v1/jobs <bad)" = 422 &&
        grep "character 2 is U+202E" answer && grep jobspec: answer || return 1
    done &&
    sed "s/\"label\": *\"[a-z]*\"/\"label\":\"$ZWSP\"/; s/\"slot\": *\"[a-z]*\"/\"slot\":\"$ZWSP\"/" spec >bad &&
    ! cmp -s spec bad && test "$(post /v1/jobs <bad)" = 422 && grep "U+200B" answer
'

test_expect_success 'a job runs although the names of its program file and directory have hidden characters' '
    mkdir "dir$ZWSP" && printf "#!/bin/sh\nexit 0\n" >"dir$ZWSP/p$RLO" && chmod +x "dir$ZWSP/p$RLO" &&
    id=$(fluxq-submit -o /dev/null -D "$PWD/dir$ZWSP" -- "./p$RLO") && wait_job_state $id COMPLETED &&
    test "$(job_field $id name)" = job && fluxq-show job $id >out && harmless out
'

test_expect_success 'reasons of drains and notes of reservations are printable' '
    test_expect_code 1 fluxq-ctl drain node1 --reason "bad$RLO" 2>err && grep "character 4 is U+202E" err &&
    test_expect_code 1 fluxq-ctl reserve --start now --duration 1:00:00 --nodes node1 --maintenance --note "a$ZWSP" 2>err && grep "U+200B" err &&
    id=$(fluxq-submit --hold -- true) &&
    test_expect_code 1 fluxq-ctl hold $id --reason "b$ZWSP" 2>err && grep "reason: character 2 is U+200B" err
'

stop_broker

# A stand-in for a broker with such texts (from an older journal or a cluster), or for a hostile
# broker: all texts of every answer have such characters.
cat >standin.py <<'EOF'
import http.server, json, os, socketserver, sys
evil = "a\x1b[31mb\u009bc\u202ed\u200be\x07"
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def address_string(self): return "-"
    def log_message(self, *a): pass
    def answer(self):
        n = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(n)
        kind = open("kind").read().strip()
        ctype, status = "application/json", 200
        if kind == "problem":
            status, ctype = 409, "application/problem+json"
            body = json.dumps({"status": 409, "code": "wrong-state", "title": evil, "detail": evil}, ensure_ascii=False)
        elif "format=tsv" in self.path:
            fields = self.path.split("fields=")[1].split("&")[0].replace("%2C", ",").split(",")
            ctype, body = "text/tab-separated-values", "\t".join([evil] * len(fields)) + "\n"
        else:
            body = json.dumps(json.loads(open("answer.json").read(), object_hook=lambda o: o)
                              , ensure_ascii=False).replace("EVIL", json.dumps(evil, ensure_ascii=False)[1:-1])
        body = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", ctype)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = answer
class S(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    def get_request(self):
        s, _ = super().get_request()
        return s, ("", 0)
S(sys.argv[1], H).serve_forever()
EOF

rm -f "$FLUXQ_RUN/fluxqd.sock"
python3 standin.py "$FLUXQ_RUN/fluxqd.sock" &
STANDIN=$!
trap 'kill $STANDIN 2>/dev/null; lib_finish' EXIT

test_expect_success 'every command prints error texts of the server without control characters' '
    wait_until 10 test -S "$FLUXQ_RUN/fluxqd.sock" && echo problem >kind &&
    for command in "fluxq-queue" "fluxq-show 1" "fluxq-show node node1" "fluxq-info" "fluxq-info -N" "fluxq-cancel 1" \
        "fluxq-submit -- true" "fluxq-ctl reload" "fluxq-ctl status" "fluxq-logs 1"; do
        test_must_fail $command >out 2>&1 && grep "a?\[31mb?c?d?e?" out && harmless out || return 1
    done &&
    test_must_fail sh -c "echo queue | fluxq >out 2>&1; grep -q . out && false" && harmless out
'

test_expect_success 'tables and fields print texts of jobs and nodes without control characters' '
    echo answer >kind &&
    fluxq-queue --no-header -o name,user,place >out && grep "a?\[31mb?c?d?e?" out && harmless out &&
    echo "{\"applied\": [\"EVIL\"], \"name\": \"EVIL\"}" >answer.json &&
    fluxq-ctl reload >out && grep "a?\[31mb?c?d?e?" out && harmless out &&
    echo "{\"nodes\": [{\"name\": \"EVIL\", \"state\": \"drained\", \"reason\": \"EVIL\", \"queues\": [\"EVIL\"],
        \"jobs\": []}]}" >answer.json &&
    fluxq-info -N >out && grep "a?\[31mb?c?d?e?" out && harmless out &&
    echo "{\"id\": 1, \"name\": \"EVIL\", \"state\": \"FAILED\", \"user\": \"EVIL\", \"result_text\": \"EVIL\",
        \"reason_text\": \"EVIL\", \"nodelist\": \"EVIL\", \"command\": [\"EVIL\"], \"cwd\": \"EVIL\"}" >answer.json &&
    fluxq-show job 1 >out && grep "a?\[31mb?c?d?e?" out && harmless out
'

test_expect_success 'the error about an unknown command prints its name without control characters' '
    test_expect_code 2 fluxq "x$(printf "\033")[31m$RLO" 2>err && grep "x?\[31m?: no such command" err && harmless err
'

test_done
