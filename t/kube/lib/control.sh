# shellcheck shell=bash
# lib/control.sh: the command line of each daemon of the cluster. `up` starts them in
# this order; `daemon` and `node` restart single daemons.

start_etcd() {
    local client=http://127.0.0.1:2379 peer=http://127.0.0.1:2380
    start etcd "$RUN/bin/etcd" --name "$NAME" --data-dir "$RUN/etcd" --unsafe-no-fsync \
        --listen-client-urls $client --advertise-client-urls $client \
        --listen-peer-urls $peer --initial-advertise-peer-urls $peer \
        --initial-cluster "$NAME=$peer" --quota-backend-bytes $((4 << 30))
}

etcd_ready() { inside curl -sf --noproxy '*' --max-time 2 http://127.0.0.1:2379/health; }

start_apiserver() {
    local pki=$RUN/pki
    start apiserver "$RUN/bin/kube-apiserver" \
        --etcd-servers=http://127.0.0.1:2379 \
        --bind-address=127.0.0.1 --secure-port=6443 \
        --advertise-address=127.0.0.1 --endpoint-reconciler-type=none \
        --service-cluster-ip-range="$SERVICES" \
        --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" \
        --client-ca-file="$pki/ca.crt" --token-auth-file="$pki/tokens.csv" \
        --service-account-issuer=https://kubernetes.default.svc \
        --service-account-key-file="$pki/service-account.pub" \
        --service-account-signing-key-file="$pki/service-account.key" \
        --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
        --kubelet-certificate-authority="$pki/ca.crt" \
        --kubelet-client-certificate="$pki/kubelet-client.crt" \
        --kubelet-client-key="$pki/kubelet-client.key" \
        --kubelet-preferred-address-types=InternalIP \
        --cert-dir="$RUN/serving" --allow-privileged=true --profiling=false "${API_ARGS[@]}"
}

# With the default client limits (20/30 a second) pods would be made at 17 a second; an additional
# argument of the caller comes last, and so takes precedence.
start_controller_manager() {
    local config=$RUN/controller-manager.kubeconfig pki=$RUN/pki
    start controller-manager "$RUN/bin/kube-controller-manager" \
        --kubeconfig="$config" --authentication-kubeconfig="$config" \
        --authorization-kubeconfig="$config" --bind-address=127.0.0.1 \
        --cert-dir="$RUN/serving" --leader-elect=false --use-service-account-credentials=true \
        --service-account-private-key-file="$pki/service-account.key" \
        --root-ca-file="$pki/ca.crt" \
        --kube-api-qps=1000 --kube-api-burst=2000 \
        --node-monitor-period=1s --node-monitor-grace-period="$(grace_seconds)s" \
        --controllers="$(controllers)" "${CONTROLLER_ARGS[@]}"
}

start_scheduler() {
    local config=$RUN/scheduler.kubeconfig
    start scheduler "$RUN/bin/kube-scheduler" \
        --kubeconfig="$config" --authentication-kubeconfig="$config" \
        --authorization-kubeconfig="$config" --bind-address=127.0.0.1 \
        --cert-dir="$RUN/serving" --leader-elect=false \
        --kube-api-qps=1000 --kube-api-burst=2000 "${SCHEDULER_ARGS[@]}"
}

start_coredns() {
    cat >"$RUN/Corefile" <<END
.:53 {
    bind $GATEWAY
    errors
    ready 127.0.0.1:8181
    kubernetes cluster.local in-addr.arpa {
        kubeconfig $RUN/coredns.kubeconfig $NAME
        pods insecure
        ttl 1
    }
}
END
    start coredns "$RUN/bin/coredns" -conf "$RUN/Corefile"
}

coredns_ready() { inside curl -sf --noproxy '*' --max-time 2 http://127.0.0.1:8181/ready; }

# There is no kube-proxy: the script forwards the one cluster address that pods need.
start_service_api() {
    start service-api socat "TCP-LISTEN:443,bind=$SERVICE_API,fork,reuseaddr" TCP:127.0.0.1:6443
}

start_node() { # I
    cat /proc/sys/kernel/random/uuid >"$RUN/node$1/boot_id"
    start "node$1" unshare --mount --uts --pid --fork --kill-child --mount-proc \
        bash "$KUBE/lib/node-init" "$1"
}

bridge_create() {
    local i
    # With an address of its own: otherwise it would have the address of a pod, which changes as pods
    # start and end, and for seconds nothing could be reached through it.
    inside ip link add "$BRIDGE" address 02:00:0a:f4:00:01 type bridge
    inside ip addr add "$GATEWAY/16" dev "$BRIDGE"
    inside ip addr add "$SERVICE_API/32" dev "$BRIDGE"
    for ((i = 1; i <= NODES; i++)); do
        inside ip addr add "$(node_ip "$i")/16" dev "$BRIDGE"
    done
    inside ip link set "$BRIDGE" up
}
