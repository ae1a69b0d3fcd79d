#!/bin/sh
test_description='TLS: certificates, identities, reload, streams and refusals'
. "$(dirname "$0")/lib.sh"

chmod 755 "$FLUXQ_RUN"
munge_dir=$FLUXQ_RUN/munge
mkdir "$munge_dir" && chmod 755 "$munge_dir"
(umask 077 && dd if=/dev/urandom bs=64 count=1 of="$munge_dir/key" 2>/dev/null)
munged --foreground --force --key-file="$munge_dir/key" --socket="$munge_dir/socket" \
    --pid-file="$munge_dir/pid" --seed-file="$munge_dir/seed" --log-file="$munge_dir/log" \
    </dev/null >munged.log 2>&1 3>&- 4>&- 5>&- &
munged_pid=$!
other_pid=
trap 'status=$?; kill $munged_pid $other_pid 2>/dev/null; (exit $status); lib_finish' EXIT
wait_until 10 test -S "$munge_dir/socket"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

# certificate NAME AUTHORITY SUBJECT EXTENSIONS [OPTION...]: makes NAME.crt and NAME.key.
certificate()
{
    cert_name=$1 cert_ca=$2 cert_subject=$3 cert_extensions=$4
    shift 4
    printf '%s\n' "$cert_extensions" >"$cert_name.ext"
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$cert_name.key" \
        -subj "$cert_subject" -out "$cert_name.csr" 2>/dev/null &&
        openssl x509 -req -in "$cert_name.csr" -CA "$cert_ca.crt" -CAkey "$cert_ca.key" \
            -CAcreateserial -extfile "$cert_name.ext" -out "$cert_name.crt" -days 30 "$@" 2>/dev/null &&
        chmod 600 "$cert_name.key"
}

# authority NAME: makes NAME.crt and NAME.key, which sign others.
authority()
{
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" \
        -out "$1.crt" -days 30 -subj "/CN=$1" 2>/dev/null && chmod 600 "$1.key"
}

# configure CERTIFICATE [LINE...]: writes tls.yaml.
configure()
{
    tls_name=$1
    shift
    printf '%s\n' "listen: 127.0.0.1:$port" "tls-certificate: $PWD/$tls_name.crt" \
        "tls-key: $PWD/$tls_name.key" "$@" >tls.yaml
}

# get PATH OPTION...: prints the status; the body goes to the file answer.
get()
{
    get_path=$1
    shift
    curl -s -o answer -w '%{http_code}\n' --cacert site.crt "$@" "https://127.0.0.1:$port$get_path"
}

authority site && authority users && authority other &&
    certificate broker site /CN=broker "subjectAltName=DNS:localhost,IP:127.0.0.1" &&
    certificate renewed site /CN=renewed "subjectAltName=DNS:localhost,IP:127.0.0.1" &&
    certificate root users /CN=root "extendedKeyUsage=clientAuth" &&
    certificate uri users /CN=nobody-of-this-name "subjectAltName=URI:fluxq:user:root" &&
    certificate unknown users /CN=nobody-of-this-name "extendedKeyUsage=clientAuth" &&
    certificate two users /CN=root "subjectAltName=URI:fluxq:user:root,URI:fluxq:user:daemon" &&
    certificate foreign other /CN=root "extendedKeyUsage=clientAuth" || exit 1

test_expect_success '--check refuses files that cannot be used, and names them' '
    check() { test_expect_code 1 fluxqd --check --config tls.yaml 2>why && cat why && grep "$1" why; } &&
    configure broker && fluxqd --check --config tls.yaml &&
    configure missing && check "missing.crt: No such file" &&
    cp broker.crt mixed.crt && cp root.key mixed.key && configure mixed && check "mixed.key is not the key of the certificate" &&
    cp broker.crt open.crt && cp broker.key open.key && chmod 644 open.key && configure open &&
    check "open.key: mode 0644 lets others read it: use chmod 0600" &&
    cp broker.crt text.crt && echo text >text.key && chmod 600 text.key && configure text && check "text.key: no private key" &&
    cp broker.key swapped.key && cp broker.key swapped.crt && configure swapped && check "swapped.crt: certificate 1: there is none" &&
    openssl pkey -in broker.key -aes128 -passout pass:secret -out locked.key && chmod 600 locked.key && cp broker.crt locked.crt &&
    configure locked && check "locked.key: has a passphrase" </dev/null &&
    configure broker "tls-client-ca: /dev/null" && check "/dev/null: not a regular file"
'

configure broker "tls-client-ca: $PWD/users.crt" "token-key: $PWD/token.key" "local: {nodes: 4}" \
    "munge-socket: $munge_dir/socket" "listen-names: [login1.example]" "audit-log: $PWD/audit.log"
(umask 077 && head -c 32 /dev/urandom >token.key)
start_broker --config tls.yaml

test_expect_success 'curl reaches the broker with the authority of the site, and not without' '
    test "$(get /v1/status)" = 401 && jq -e ".code == \"unauthenticated\"" answer &&
    test_must_fail curl -s "https://127.0.0.1:$port/v1/status" &&
    fluxq-ctl status | grep "https://127.0.0.1:$port"
'
test_expect_success 'TLS 1.1, weak suites and plain HTTP are refused' '
    test_must_fail get /v1/status --tls-max 1.1 --ciphers "DEFAULT:@SECLEVEL=0" &&
    test_must_fail get /v1/status --tls-max 1.2 --ciphers ECDHE-ECDSA-AES128-SHA256 &&
    test_must_fail get /v1/status --tls-max 1.2 --ciphers AES128-GCM-SHA256 &&
    test "$(get /v1/status --tls-max 1.2)" = 401 &&
    curl -s -o answer -w "%{http_code}" "http://127.0.0.1:$port/v1/status" >status &&
    test "$(cat status)" = 400 && jq -e ".code == \"needs-tls\"" answer && grep https:// answer
'
test_expect_success 'a client certificate of the configured authority is a user' '
    test "$(get /v1/status --cert root.crt --key root.key)" = 200 &&
    test "$(get /v1/status --cert uri.crt --key uri.key)" = 200 &&
    test "$(get /v1/status --tls-max 1.2 --cert root.crt --key root.key)" = 200
'
test_expect_success 'the audit log says that a certificate identified the caller, and from where' '
    test "$(get /v1/cancel --cert root.crt --key root.key -d "{}")" = 400 &&
    jq -e "select(.path == \"/v1/cancel\") | .by == \"certificate\" and .user == \"root\" and (.from | startswith(\"127.0.0.1:\"))" audit.log
'
test_expect_success 'a certificate of an unknown user, of two users or of another authority is refused' '
    test "$(get /v1/status --cert unknown.crt --key unknown.key)" = 401 && grep "nobody-of-this-name does not exist" answer &&
    test "$(get /v1/status --cert two.crt --key two.key)" = 401 && grep "one user" answer &&
    test_must_fail get /v1/status --cert foreign.crt --key foreign.key
'
test_expect_success 'a token is accepted over TLS' '
    scontrol token | sed "s/^SLURM_JWT=//" >token &&
    test "$(get /v1/status -H "Authorization: Bearer $(cat token)")" = 200 &&
    test "$(get /v1/status -H "Authorization: Bearer x$(cat token)")" = 401
'
test_expect_success 'a body of 9 MiB arrives whole, and a larger one is refused' '
    jq -n "{ids: (\"1\" * 9000000)}" >large.json && ls -l large.json &&
    test "$(get /v1/cancel --cert root.crt --key root.key -H "Expect:" --data-binary @large.json)" = 400 &&
    head -c 9437185 /dev/zero >too-large && test "$(get /v1/cancel --cert root.crt --key root.key --data-binary @too-large)" = 413
'
test_expect_success 'reload takes a renewed certificate for new connections, and open ones go on' '
    served() { openssl s_client -connect 127.0.0.1:$port -CAfile site.crt </dev/null 2>/dev/null | openssl x509 -noout -subject; } &&
    served | grep "CN = broker" &&
    { curl -s -N --cacert site.crt --cert root.crt --key root.key "https://127.0.0.1:$port/v1/watch" >events & follower=$!; } &&
    fluxq-submit -o /dev/null -- true >id && wait_until 20 test -s events &&
    cp renewed.crt broker.crt && cp renewed.key broker.key && fluxq-ctl reload >applied && cat applied && grep tls-certificate applied && served | grep "CN = renewed" &&
    cp events before && fluxq-submit -o /dev/null -- true >id && wait_until 20 sh -c "! cmp -s before events" && kill $follower
'
test_expect_success 'reload refuses a bad file and keeps the certificate' '
    echo broken >broker.crt && test_must_fail fluxq-ctl reload 2>why && cat why && grep "broker.crt: certificate 1" why &&
    served | grep "CN = renewed" && test "$(get /v1/status)" = 401 && cp renewed.crt broker.crt && fluxq-ctl reload >applied && grep nothing applied
'

# half-open.py PORT N: opens N connections and sends nothing; then prints how many are still open after
# the end of its input.
cat >half-open.py <<\END
import select, socket, sys

port, n = int(sys.argv[1]), int(sys.argv[2])
open_ones = [socket.create_connection(("127.0.0.1", port)) for _ in range(n)]
print("open", flush=True)
sys.stdin.read()
gone = select.select(open_ones, [], [], 0)[0]
print(n - len(gone), flush=True)
END
test_expect_success '500 clients that connect and send nothing do not keep others away' '
    mkfifo hold && { python3 half-open.py $port 500 <hold >half-open & half=$!; } && exec 7>hold &&
    wait_until 20 grep open half-open &&
    for i in 1 2 3 4 5 6 7 8 9 10; do test "$(get /v1/status --cert root.crt --key root.key)" = 200 || return 1; done &&
    exec 7>&- && wait $half && left=$(tail -n 1 half-open) && test $left -le 256 && test $left -ge 200
'
test_expect_success 'clients that break off at every stage harm nobody and leave no descriptor' '
    python3 "$FLUXQ_SOURCE_DIR/t/helper/tlsstorm.py" $port $BROKER_PID
'

# ---- the commands ----

FLUXQ_MUNGE_SOCKET=$munge_dir/socket XDG_CONFIG_HOME=$PWD/config
export FLUXQ_MUNGE_SOCKET XDG_CONFIG_HOME
url=https://127.0.0.1:$port
over_tls() { FLUXQ_BROKER=$url "$@"; }
# settings LINE...: writes the user's client.yaml.
settings() { mkdir -p config/fluxq && printf '%s\n' "$@" >config/fluxq/client.yaml; }
# refuses TEXT [URL]: the command fails with this reason, which is one line.
refuses() { FLUXQ_BROKER=${2-$url} test_must_fail fluxq-queue >out 2>why && cat why && test "$(wc -l <why)" = 1 && grep "$1" why; }
pin_of() { openssl x509 -in "$1" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64; }

test_expect_success 'an unknown authority is refused, with the way out' '
    refuses "no authority that this machine trusts.*ca: FILE in client.yaml"
'
test_expect_success 'jobs are submitted, watched, read and cancelled over TLS with MUNGE' '
    settings "ca: $PWD/site.crt" &&
    over_tls fluxq-submit --wait -o tls.txt -- echo over tls && echo over tls >expected && test_cmp expected tls.txt &&
    id=$(over_tls fluxq-submit -o /dev/null -- sh -c "echo text; sleep 97563") && wait_job_state $id RUNNING &&
    { over_tls fluxq-logs -f $id >followed & follower=$!; } && wait_until 10 grep text followed &&
    over_tls fluxq-cancel $id && wait_job_state $id CANCELLED && wait $follower
'
test_expect_success 'an upgraded stream carries input and output whole, and its ends' '
    head -c 3000000 /dev/urandom | base64 >input &&
    over_tls fluxq-run -n 1 -- cat <input >output && cmp input output &&
    over_tls fluxq-run -n 1 -- sh -c "cat >/dev/null; echo end; exit 3" <input >output; test $? = 3 && grep end output
'
test_expect_success 'no helper is left when the commands have ended' '
    wait_until 20 sh -c "! pgrep -fx \"fluxq-tls 127.0.0.1 $port\""
'
# dated NAME SUBJECT EXTENSIONS FROM TO: a certificate for a time (YYMMDDHHMMSSZ).
dated()
{
    rm -rf dated && mkdir dated && : >dated/index && echo 01 >dated/serial &&
        printf '%s\n' "[ca]" "default_ca = site" "[site]" "database = dated/index" "serial = dated/serial" \
            "new_certs_dir = dated" "default_md = sha256" "policy = any" "x509_extensions = ext" \
            "unique_subject = no" "[any]" "commonName = supplied" "[ext]" "$3" >dated/config &&
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -subj "$2" -out "$1.csr" 2>/dev/null &&
        openssl ca -batch -config dated/config -cert site.crt -keyfile site.key -in "$1.csr" -out "$1.crt" -notext \
            -startdate "$4" -enddate "$5" 2>/dev/null && chmod 600 "$1.key"
}
# serve NAME: the broker's certificate is NAME from now on.
serve() { cp "$1.crt" broker.crt && cp "$1.key" broker.key && fluxq-ctl reload; }

test_expect_success 'a wrong name, an expired and a future certificate are refused, each with its reason' '
    san="subjectAltName=DNS:localhost,IP:127.0.0.1" &&
    certificate elsewhere site /CN=127.0.0.1 "subjectAltName=DNS:login9.example,IP:10.9.8.7" && serve elsewhere &&
    refuses "is for login9.example, 10.9.8.7: use one of these names" &&
    dated expired /CN=a "$san" 200101000000Z 200201000000Z && serve expired && refuses "has expired" &&
    grep "warning.*the certificate has expired" "$BROKER_LOG" &&
    dated future /CN=a "$san" 480101000000Z 480201000000Z && serve future && refuses "not valid yet: check the clock" &&
    certificate nameless site /CN=localhost "basicConstraints=CA:FALSE" && serve nameless &&
    refuses "is for no host" "https://localhost:$port" && serve renewed && over_tls fluxq-queue
'
test_expect_success 'a pinned key is needed in addition to the authority' '
    settings "ca: $PWD/site.crt" "pins: [\"sha256//$(pin_of renewed.crt)\"]" && over_tls fluxq-queue &&
    settings "ca: $PWD/site.crt" "pins: [\"sha256//$(pin_of users.crt)\"]" &&
    refuses "public key sha256//$(pin_of renewed.crt) is not among the pins" &&
    settings "pins: [\"sha256//$(pin_of renewed.crt)\"]" && refuses "no authority" &&
    settings "pins: [abc]" && refuses "client.yaml:1:.*expected" && settings "ca: $PWD/site.crt"
'
test_expect_success 'a file of the user that others could write, or with unknown keys, is refused' '
    chmod 666 config/fluxq/client.yaml && refuses "must belong to you and be writable for its owner only" &&
    chmod 644 config/fluxq/client.yaml && settings "brokers: [root]" && refuses "only the administrator may set" &&
    settings "verify: no" && refuses "is not a setting of clients" &&
    settings "ca: site.crt" && refuses "absolute path" && settings "ca: $PWD/none.crt" && refuses "none.crt in client.yaml: No such file" &&
    settings "ca: $PWD/site.crt"
'

free_port() { python3 -c "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); print(s.getsockname()[1])"; }
test_expect_success 'a server without TLS, one with TLS 1.1 only, and one that hangs up are told apart' '
    plain=$(free_port) && { python3 -m http.server --bind 127.0.0.1 $plain >/dev/null 2>&1 & other_pid=$!; } &&
    wait_until 20 curl -s -o /dev/null http://127.0.0.1:$plain/ &&
    refuses "does not speak TLS" https://127.0.0.1:$plain &&
    kill $other_pid && old=$(free_port) &&
    { openssl s_server -accept 127.0.0.1:$old -cert renewed.crt -key renewed.key -tls1_1 -cipher ALL:@SECLEVEL=0 -quiet </dev/zero >/dev/null 2>&1 & other_pid=$!; } &&
    wait_until 20 sh -c "ss -Hltn | grep -q :$old" && refuses "no TLS 1.2 or later" https://127.0.0.1:$old &&
    kill $other_pid && mute=$(free_port) && rm -f muted &&
    { python3 -c "import socket
with socket.create_server((\"127.0.0.1\", $mute)) as s:
    open(\"muted\", \"w\").close()
    while True: s.accept()[0].close()" & other_pid=$!; } &&
    wait_until 20 test -e muted && FLUXQ_BROKER_WAIT=0 && export FLUXQ_BROKER_WAIT &&
    refuses "ended the connection during the TLS handshake" https://127.0.0.1:$mute && unset FLUXQ_BROKER_WAIT &&
    kill $other_pid && other_pid=
'
test_expect_success 'a command without standard streams speaks TLS' '
    over_tls fluxq-queue <&- && over_tls sh -c "fluxq-queue <&- 2>&-"
'
test_expect_success 'a certificate of the user identifies the commands, without munged' '
    settings "ca: $PWD/site.crt" "certificate: $PWD/root.crt" "key: $PWD/root.key" &&
    FLUXQ_MUNGE_SOCKET=/nowhere over_tls fluxq-queue &&
    settings "ca: $PWD/site.crt" "certificate: $PWD/foreign.crt" "key: $PWD/foreign.key" &&
    refuses "TLS handshake: .*unknown ca" &&
    settings "ca: $PWD/site.crt" "certificate: $PWD/unknown.crt" "key: $PWD/unknown.key" && refuses "nobody-of-this-name does not exist" &&
    settings "ca: $PWD/site.crt" "certificate: $PWD/root.crt" "key: $PWD/users.key" && refuses "users.key in client.yaml" &&
    settings "ca: $PWD/site.crt" "certificate: $PWD/root.crt" && refuses "need each other" && settings "ca: $PWD/site.crt"
'
test_expect_success 'a token goes over TLS, and a command without munged needs nothing else' '
    SLURM_JWT=$(cat token) FLUXQ_MUNGE_SOCKET=/nowhere over_tls fluxq-queue
'

# relay.py PORT BROKER-PORT: ends the TLS of a client and begins another one to the broker; serves one
# connection.
cat >relay.py <<\END
import select, socket, ssl, sys

server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain("renewed.crt", "renewed.key")
client = ssl.create_default_context(cafile="site.crt")
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listener:
    open("relaying", "w").close()
    inner = server.wrap_socket(listener.accept()[0], server_side=True)
outer = client.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[2]))), server_hostname="127.0.0.1")

# One thread: a connection of OpenSSL's cannot be read and written at the same time.
other = {inner: outer, outer: inner}
for end in other:
    end.settimeout(0.2)  # a record may have no data for the program, such as a session ticket
while True:
    for end in [e for e in other if e.pending()] or select.select(list(other), [], [])[0]:
        try:
            data = end.recv(65536)
        except TimeoutError:
            continue
        except OSError:
            sys.exit()
        if not data:
            sys.exit()
        other[end].sendall(data)
END
test_expect_success 'a credential is refused on another TLS connection than its own' '
    between=$(free_port) && sed -i "s/listen-names: .*/listen-names: [login1.example, \"127.0.0.1:$between\"]/" tls.yaml && fluxq-ctl reload &&
    { python3 relay.py $between $port & other_pid=$!; } && wait_until 20 test -e relaying &&
    refuses "for another TLS connection" https://127.0.0.1:$between && wait $other_pid && other_pid=
'
test_expect_success 'a credential without the name of the connection is refused' '
    digest=$(printf "GET\n/v1/status\n" | sha256sum | cut -d" " -f1) &&
    cred=$(munge --socket="$munge_dir/socket" --string="$digest 127.0.0.1:$port $(cat /proc/sys/kernel/random/boot_id)") &&
    test "$(get /v1/status -H "Authorization: MUNGE $cred")" = 401 && test "$(jq -r .code answer)" = wrong-channel &&
    cred=$(munge --socket="$munge_dir/socket" --string="$digest login1.example:$port tls:$digest") &&
    test "$(get /v1/status -H "Authorization: MUNGE $cred")" = 401 && test "$(jq -r .code answer)" = wrong-channel &&
    cred=$(munge --socket="$munge_dir/socket" --string="$digest login1.example:$port tls:$digest tls:$digest") &&
    test "$(get /v1/status -H "Authorization: MUNGE $cred")" = 401 && grep "not one for a broker" answer
'
test_expect_success 'over http:// the command says that the port speaks TLS' '
    refuses "this port speaks TLS: use https://" http://127.0.0.1:$port
'
test_done
