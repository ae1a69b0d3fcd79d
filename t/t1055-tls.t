#!/bin/sh
test_description='TLS: certificates, identities, reload, streams and refusals'
. "$(dirname "$0")/lib.sh"

chmod 755 "$FLUXQ_RUN"
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

configure broker "tls-client-ca: $PWD/users.crt" "token-key: $PWD/token.key" "local: {nodes: 4}"
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
    cp renewed.crt broker.crt && cp renewed.key broker.key && fluxq-ctl reload && served | grep "CN = renewed" &&
    cp events before && fluxq-submit -o /dev/null -- true >id && wait_until 20 sh -c "! cmp -s before events" && kill $follower
'
test_expect_success 'reload refuses a bad file and keeps the certificate' '
    echo broken >broker.crt && test_must_fail fluxq-ctl reload 2>why && cat why && grep "broker.crt: certificate 1" why &&
    served | grep "CN = renewed" && test "$(get /v1/status)" = 401 && cp renewed.crt broker.crt && fluxq-ctl reload
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
test_done
