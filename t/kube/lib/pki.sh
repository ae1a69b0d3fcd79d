# shellcheck shell=bash
# lib/pki.sh: the instance's certificate authority, certificates, tokens and
# kubeconfig files. Keys, tokens and kubeconfigs are mode 0600.
#
#   admin.kubeconfig            system:masters, client certificate inside the file
#   fluxq.kubeconfig            user fluxq (etc/kubernetes/rbac.yaml), client certificate inside
#   fluxq-token.kubeconfig      the same user with a bearer token; CA by path
#   fluxq-tokenfile.kubeconfig  the same user with a tokenFile; CA by path
#   nobody.kubeconfig           a user without any right

# shellcheck disable=SC2153 # NAME is from common.sh

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

# certificate NAME SUBJECT USAGE [SUBJECT-ALTERNATIVE-NAMES]
certificate() {
    new_key "$1.key"
    openssl req -new -key "$1.key" -subj "$2" |
        openssl x509 -req -CA ca.crt -CAkey ca.key -set_serial "0x$(openssl rand -hex 8)" \
            -days 365 -out "$1.crt" -extfile <(
                echo "keyUsage=critical,digitalSignature"
                echo "extendedKeyUsage=$3"
                [[ -z ${4:-} ]] || echo "subjectAltName=$4"
            ) 2>/dev/null
}

pki_create() (
    umask 077
    mkdir "$RUN/pki"
    chmod 0755 "$RUN/pki"
    cd "$RUN/pki" || exit
    new_key ca.key
    openssl req -x509 -new -key ca.key -subj "/CN=$NAME-test-ca" -days 365 -out ca.crt \
        -addext keyUsage=critical,keyCertSign,digitalSignature
    local dns="DNS:localhost,DNS:kubernetes,DNS:kubernetes.default"
    dns+=",DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
    certificate apiserver /CN=kube-apiserver serverAuth "IP:127.0.0.1,IP:$SERVICE_API,IP:$GATEWAY,$dns"
    certificate kubelet-client /O=system:masters/CN=kube-apiserver clientAuth
    certificate admin /O=system:masters/CN=admin clientAuth
    certificate controller-manager /CN=system:kube-controller-manager clientAuth
    certificate scheduler /CN=system:kube-scheduler clientAuth
    certificate coredns /CN=coredns clientAuth
    [[ $KWOK == no ]] || certificate kwok /CN=kwok clientAuth
    certificate fluxq /CN=fluxq clientAuth
    certificate nobody /CN=nobody clientAuth
    local i
    for ((i = 1; i <= NODES; i++)); do
        certificate "node$i" "/O=system:nodes/CN=system:node:node$i" clientAuth,serverAuth \
            "IP:$(node_ip "$i"),DNS:node$i"
    done
    new_key service-account.key
    openssl ec -in service-account.key -pubout -out service-account.pub 2>/dev/null
    openssl rand -hex 24 >fluxq.token
    echo "$(<fluxq.token),fluxq,fluxq-by-token" >tokens.csv
    chmod 0644 ca.crt
)

# kubeconfig FILE CA-LINE CREDENTIALS: both are YAML flow entries
kubeconfig() {
    cat >"$RUN/$1.kubeconfig" <<END
apiVersion: v1
kind: Config
clusters:
- name: $NAME
  cluster: {server: "$API", $2}
users:
- name: $1
  user: {$3}
contexts:
- name: $NAME
  context: {cluster: $NAME, user: $1}
current-context: $NAME
END
}

in_base64() { base64 -w0 <"$RUN/pki/$1"; }

kubeconfigs_create() (
    umask 077
    local name i by_path="certificate-authority: $RUN/pki/ca.crt"
    for name in admin fluxq nobody; do
        kubeconfig $name "certificate-authority-data: $(in_base64 ca.crt)" \
            "client-certificate-data: $(in_base64 $name.crt), client-key-data: $(in_base64 $name.key)"
    done
    local names=(controller-manager scheduler coredns)
    [[ $KWOK == no ]] || names+=(kwok)
    for ((i = 1; i <= NODES; i++)); do names+=("node$i"); done
    for name in "${names[@]}"; do
        kubeconfig "$name" "$by_path" \
            "client-certificate: $RUN/pki/$name.crt, client-key: $RUN/pki/$name.key"
    done
    kubeconfig fluxq-token "$by_path" "token: $(<"$RUN/pki/fluxq.token")"
    kubeconfig fluxq-tokenfile "$by_path" "tokenFile: $RUN/pki/fluxq.token"
)
