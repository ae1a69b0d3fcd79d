# shellcheck shell=bash
# lib/simulated.sh: simulated nodes. They are only objects in the API server; kwok, one process
# for all of them, reports the nodes and their pods as healthy.
#
# Ten nodes make a rack and four racks a zone. Their pods' addresses, SIMULATED_PODS, all belong
# to the namespace's loopback: the API server's pod proxy reaches a server there that listens on
# 0.0.0.0, for each of those pods.

# The leases of all nodes together are renewed at most 50 times a second, each of them every
# 10 s or less often.
lease_seconds() {
    local renewal=$((SIM_NODES / 50))
    ((renewal > 10)) || renewal=10
    echo $((4 * renewal))
}

# A node is lost after this time without a sign of life: 8 s, or the lease's duration with simulated nodes.
grace_seconds() {
    [[ $KWOK == yes ]] && lease_seconds || echo 8
}

# Without the controller that renews an annotation of each node when the number of nodes grows, and
# that only kubelets need.
controllers() {
    [[ $KWOK == yes ]] && echo '*,-ttl-controller' || echo '*'
}

architecture() {
    case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
    esac
}

# FIRST END: prints these nodes as a YAML stream. All names have the same number of digits, so that
# they sort like numbers. The nodes are Ready from the beginning.
simulated_nodes() {
    local last=$((SIM_NODES - 1))
    awk -v first="$1" -v end="$2" -v digits=$((${#last} < 3 ? 3 : ${#last})) -v arch="$(architecture)" \
        -v size="{cpu: \"$SIM_CPUS\", memory: ${SIM_MEM}Gi, pods: \"110\"}" -v net="$SIMULATED_NODES" '
    { form = form $0 "\n" }
    END {
        for (i = first; i < end; i++) {
            node = form
            gsub("NAME", sprintf("sim-%0*d", digits, i), node)
            gsub("RACK", "sim-r" int(i / 10), node)
            gsub("ZONE", "sim-z" int(i / 40), node)
            gsub("ADDRESS", net "." int(i / 250) "." i % 250 + 1, node)
            gsub("ARCHITECTURE", arch, node)
            gsub("SIZE", size, node)
            printf "%s", node
        }
    }' "$KUBE/lib/simulated-node.yaml"
}

write_kwok_config() {
    cat >"$RUN/kwok.yaml" <<END
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  nodeLeaseDurationSeconds: $(lease_seconds)
  nodeLeaseParallelism: 16
  nodePlayStageParallelism: 16
  podPlayStageParallelism: 16
  podsOnNodeSyncParallelism: 4
  enableDebuggingHandlers: false
---
END
    cat "$KUBE/lib/kwok-stages.yaml" >>"$RUN/kwok.yaml"
}

start_kwok() {
    write_kwok_config
    inside ip route add local "$SIMULATED_PODS" dev lo 2>/dev/null || true # the route exists after a restart of kwok
    start kwok "$RUN/bin/kwok" --kubeconfig="$RUN/kwok.kubeconfig" --config="$RUN/kwok.yaml" \
        --manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake \
        --cidr="$SIMULATED_PODS" --server-address=127.0.0.1:10247 --v=WARN
}

kwok_ready() { inside curl -sf --noproxy '*' --max-time 2 http://127.0.0.1:10247/readyz; }

# One kubectl creates one node after the other, so several share the work.
create_simulated_nodes() {
    local share=$(((SIM_NODES + 7) / 8)) first pids=() pid
    for ((first = 0; first < SIM_NODES; first += share)); do
        simulated_nodes $first $((first + share < SIM_NODES ? first + share : SIM_NODES)) |
            k create --validate=false -f - >/dev/null 2>>"$RUN/log/kwok.log" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || return 1; done
}

# True if kwok manages all nodes, and the controller manager has removed their taints.
simulated_nodes_usable() {
    (($(k get leases -n kube-node-lease -o name | grep -c '/sim-') == SIM_NODES)) &&
        ! k get nodes -l type=kwok -o 'jsonpath={.items[*].spec.taints[*].key}' | grep -q node.kubernetes.io/
}
