# shellcheck shell=bash
# lib/common.sh: sourced by every script in t/kube. Settings, messages, the lock, and
# the functions that start, find and end the processes of an instance.
#
# An instance is one cluster: a network namespace, a state directory and cgroups,
# all named after FLUXQ_KUBE_NAME, so that several can stand on one machine.
# A process belongs to the instance if it is in that network namespace (or, for pods,
# in those cgroups): nothing depends on the correctness of a pid file.
# shellcheck disable=SC2034 # some settings are for scripts that source this file

set -euo pipefail
umask 022
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

KUBE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
NAME=${FLUXQ_KUBE_NAME:-fluxq}
RUN=${FLUXQ_KUBE_RUN:-/tmp/$NAME-kube}
CACHE=${FLUXQ_KUBE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/fluxq-kube}
HANDLES=/run/fluxq-kube
NETNS=$HANDLES/$NAME-kube       # the network namespace, bound to a file
NETNS_LINK=/run/netns/$NAME-kube
LOCK=/run/$NAME-kube.lock
BRIDGE=${NAME}0

# Addresses: all of them exist inside the network namespace only.
API=https://127.0.0.1:6443
GATEWAY=10.244.0.1              # the bridge; CoreDNS listens here
SERVICES=10.96.0.0/24
SERVICE_API=10.96.0.1           # kubernetes.default.svc
KUEUE_WEBHOOK=10.96.0.20         # its Service
SIMULATED_PODS=10.128.0.0/12    # pods on simulated nodes; the nodes have the end of the range
SIMULATED_NODES=10.143
INSIDE_ADDRESSES=127.0.0.1,10.244.0.0/16,$SERVICES,$SIMULATED_PODS
node_ip() { echo "10.244.255.$1"; }

# ---- messages -------------------------------------------------------------

say() { echo "$*" >&2; }
die() { say "t/kube/${0##*/}: $*"; exit 1; }
usage_error() { say "t/kube/${0##*/}: $* (see --help)"; exit 2; }

# The comment at the head of a script is its help text.
show_help() { sed -n '2,/^[^#]*$/s/^# \{0,1\}//p' "$0"; exit 0; }

elapsed_since() { # START in milliseconds -> "3.2 s"
    local ms=$(($(now_ms) - $1))
    printf '%d.%d s' $((ms / 1000)) $((ms % 1000 / 100))
}

now_ms() {
    local us=${EPOCHREALTIME/[.,]/}
    echo "${us%???}"
}

positive() { # VALUE LOW HIGH: is it a plain integer in that range?
    [[ $1 =~ ^[0-9]{1,6}$ ]] && ((10#$1 >= $2 && 10#$1 <= $3))
}

# ---- checks before any change ------------------------------------------------

require_root() { ((EUID == 0)) || die "must run as root"; }

check_settings() {
    [[ $NAME =~ ^fluxq[a-z0-9]{0,9}$ ]] ||
        die "FLUXQ_KUBE_NAME: '$NAME' is not 'fluxq' and up to 9 small letters or digits"
    [[ $RUN =~ ^/[A-Za-z0-9/._+-]+$ ]] ||
        die "FLUXQ_KUBE_RUN: '$RUN' is not an absolute path of letters, digits and / . _ + -"
    case $RUN/ in
    /run/* | /var/* | /proc/* | /sys/* | /dev/*)
        die "FLUXQ_KUBE_RUN: '$RUN' is in a tree that each node replaces by its own" ;;
    esac
}

# One command at a time changes an instance. The lock's file is removed with the
# instance, so a command that gets the lock must check that the file is still in place.
lock() {
    while :; do
        exec 9>"$LOCK"
        flock -w 180 9 || die "another t/kube command works on '$NAME' (lock $LOCK)"
        [[ $(stat -Lc %i /dev/fd/9) == "$(stat -c %i "$LOCK" 2>/dev/null)" ]] && return
    done
}

# ---- the network namespace and its processes ---------------------------------

netns_exists() { [[ -e $NETNS && $(stat -f -c %T "$NETNS") == nsfs ]]; }
inside() { nsenter --net="$NETNS" "$@"; }

# Not in /run/netns: the first `ip netns add` on a machine mounts that directory over itself, and a
# file there with an earlier bind mount can then not be removed. ip finds the namespace by a link there;
# all clusters of the machine are counted by these links.
netns_create() {
    mkdir -p "$HANDLES" /run/netns
    : >"$NETNS"
    unshare --net="$NETNS" true
    ln -sfn "$NETNS" "$NETNS_LINK"
    inside ip link set lo up
}

ancestors() { # this process and its ancestors
    local pid=$$
    while ((pid > 0)); do
        echo "$pid"
        pid=$(awk '$1 == "PPid:" { print $2 }' "/proc/$pid/status" 2>/dev/null || echo 0)
    done
}

pids_inside() {
    netns_exists || return 0
    local inode
    inode=$(stat -Lc %i "$NETNS")
    { find /proc/[0-9]*/ns/net -maxdepth 0 -lname "net:\[$inode\]" 2>/dev/null || true; } |
        cut -d/ -f3 | { grep -vxF -f <(ancestors) || true; }
}

cgroups_of() { # GLOB: matching cgroups in every hierarchy (v1) or at the root (v2)
    local dir
    # shellcheck disable=SC2231 # a pattern is intended
    for dir in /sys/fs/cgroup/$1 /sys/fs/cgroup/*/$1; do
        [[ ! -d $dir ]] || echo "$dir"
    done
}

pids_in_cgroups() { # GLOB
    local dir
    cgroups_of "$1" | while read -r dir; do
        find "$dir" -name cgroup.procs -exec cat {} + 2>/dev/null || true
    done | sort -u
}

remove_cgroups() { # GLOB: removes them once they are empty, which may take a moment
    local dir
    for _ in {1..100}; do
        cgroups_of "$1" | while read -r dir; do
            find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null || true
        done
        [[ -n $(cgroups_of "$1") ]] || return 0
        sleep 0.1
    done
    say "t/kube: these cgroups cannot be removed:" "$(cgroups_of "$1" | head -n 3)"
    return 1
}

# ---- daemons ----------------------------------------------------------------

# A daemon must not inherit open descriptors of its starter: the lock, or the pipe on which a
# caller waits for the starter's end.
close_inherited() {
    local fd
    for fd in /proc/self/fd/*; do
        fd=${fd##*/}
        ((fd <= 2)) || eval "exec $fd>&-"
    done
}

# start NAME COMMAND...: a daemon inside the namespace, with a session of its own,
# a clean environment, log/NAME.log and pid/NAME.
start() {
    local name=$1
    shift
    (
        close_inherited
        exec setsid nsenter --net="$NETNS" env -i -C / \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            FLUXQ_KUBE_NAME="$NAME" FLUXQ_KUBE_RUN="$RUN" "$@"
    ) >>"$RUN/log/$name.log" 2>&1 </dev/null &
    echo $! >"$RUN/pid/$name"
    disown $!
    await_entry "$name" $!
}

# Waits until a process is in the namespace, which takes a moment on a busy machine; before that
# the process would count as ended.
await_entry() { # NAME PID
    local _
    for _ in {1..500}; do
        ! alive "$1" && kill -0 "$2" 2>/dev/null || return 0
        sleep 0.01
    done
}

pid_of() { cat "$RUN/pid/$1" 2>/dev/null; }

# A pid counts only if it is in this namespace: another process may have got the same pid.
alive() { # NAME
    local pid
    pid=$(pid_of "$1") && netns_exists || return 1
    [[ $(readlink "/proc/$pid/ns/net" 2>/dev/null) == "net:[$(stat -Lc %i "$NETNS")]" ]] &&
        ! grep -q '^State:.*Z' "/proc/$pid/status" 2>/dev/null
}

stop_daemon() { # NAME: kill -9, as a power cut would
    ! alive "$1" || kill -KILL "$(pid_of "$1")" 2>/dev/null || true
    poll 10 not alive "$1" || die "$1 does not end"
    rm -f "$RUN/pid/$1"
}

not() { ! "$@"; }

poll() { # SECONDS COMMAND...: until the command succeeds; 1 if it never did
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

# ---- requests to the cluster ---------------------------------------------------

k() {
    KUBECACHEDIR=$RUN/cache inside "$RUN/bin/kubectl" --kubeconfig="$RUN/admin.kubeconfig" "$@"
}

api_ready() {
    inside curl -sf --noproxy '*' --max-time 2 --cacert "$RUN/pki/ca.crt" \
        --cert "$RUN/pki/admin.crt" --key "$RUN/pki/admin.key" "$API/readyz"
}

# True if the node is Ready since its present start: the boot id distinguishes this from an earlier Ready.
node_ready() { # I
    local boot
    boot=$(cat "$RUN/node$1/boot_id") || return 1
    [[ $(k get node "node$1" --request-timeout=3s -o \
        jsonpath='{.status.nodeInfo.bootID} {.status.conditions[?(@.type=="Ready")].status}') == "$boot True" ]]
}

nodes_ready() { # [SELECTOR...]: how many nodes are Ready
    k get nodes --no-headers --request-timeout=20s "$@" 2>/dev/null | awk '$2 == "Ready"' | wc -l
}

all_nodes_ready() { (($(nodes_ready) == NODES + SIM_NODES)); }

# ---- the instance's configuration, from the options of `up` ----------------------

config_write() {
    {
        echo "NODES=$NODES CPUS=$CPUS MEM=$MEM SCHEDULER=$SCHEDULER"
        echo "KWOK=$KWOK SIM_NODES=$SIM_NODES SIM_CPUS=$SIM_CPUS SIM_MEM=$SIM_MEM"
        echo "KUBERNETES=$KUBERNETES KUEUE=$KUEUE"
        echo "API_ARGS=(${API_ARGS[*]@Q})"
        echo "CONTROLLER_ARGS=(${CONTROLLER_ARGS[*]@Q})"
        echo "SCHEDULER_ARGS=(${SCHEDULER_ARGS[*]@Q})"
    } >"$RUN/config.new"
    mv "$RUN/config.new" "$RUN/config"
}

is_ours() { [[ -O $RUN && ! -L $RUN && -f $RUN/instance && $(<"$RUN/instance") == "$NAME" ]]; }

has_config() { is_ours && [[ -f $RUN/config ]] && netns_exists; }

config_read() {
    has_config || die "cluster '$NAME' is not up (t/kube/up starts it)"
    # shellcheck disable=SC1091
    . "$RUN/config"
}

describe_nodes() {
    echo -n "Kubernetes $KUBERNETES, $NODES nodes of $CPUS CPUs and $MEM GiB"
    [[ $KWOK == no ]] || echo -n ", $SIM_NODES simulated ones of $SIM_CPUS and $SIM_MEM"
}

daemons() { # the names of all daemons that should run
    echo etcd apiserver controller-manager
    [[ $SCHEDULER == no ]] || echo scheduler
    echo coredns service-api
    [[ $KWOK == no ]] || echo kwok
    [[ $KUEUE == no ]] || echo kueue kueue-webhook
    local i
    for ((i = 1; i <= NODES; i++)); do echo "node$i"; done
}
