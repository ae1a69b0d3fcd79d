#!/bin/sh
# kube.t: clients that connect to the names of a job's nodes, on a real cluster. JAX's cluster detection reads
# SLURM_STEP_NODELIST and connects to the first name; no variable of JAX is set. Not in contrib/check: JAX comes
# from PyPI. Needs root, and JAX, which `t/clients/run jax` installs. About a minute.

test_description='clients of Slurm on a real cluster

A name of the node list that another pod does not resolve would fail this.
'
# lib.sh changes HOME.
python=$(ls -d "${XDG_CACHE_HOME:-$HOME/.cache}"/fluxq-clients/jax-*/bin/python3 2>/dev/null | head -n 1)
. "$(dirname "$0")/../lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=clients
OUT=$HERE/out
venv=${python%/bin/python3}

chmod 711 "$HERE"
mkdir -m 777 "$OUT"

# mounts_of DIRECTORY...: the pods of the queue have these directories of this machine.
mounts_of()
{
    for dir; do
        printf '{path: %s, read-only: %s, volume: {hostPath: {path: "%s"}}}, ' "$dir" \
            "$([ "$dir" = "$OUT" ] && echo false || echo true)" "$(realpath "$dir")"
    done
}

own_cluster --nodes 2

test_expect_success 'JAX is installed, and the pods have this machine'\''s programs' '
    test -x "$python" && home=$("$python" -c "import sys; print(sys.base_prefix)") &&
    write_config "$configs/fluxq.kubeconfig" \
        "queues: {batch: {mounts: [$(mounts_of /usr /lib /lib64 "$home" "$venv" "$OUT")]}}" &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 sh -c "fluxq-info --json | jq -e \"[.nodes[] | select(.state == \\\"up\\\")] | length == 2\""
'

test_expect_success 'two processes of JAX in two pods find each other' '
    cp "$FLUXQ_SOURCE_DIR/t/clients/jax.py" "$OUT/client.py" && # not jax.py, a name of a module
    (cd "$OUT" && PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH && timeout 120 "$python" client.py) >result || {
        cat result "$OUT/out"
        false
    } &&
    printf "0 2 2 3.0\n1 2 2 3.0\n" >expected && test_cmp expected result
'

test_expect_success 'nothing is left behind' '
    wait_until 60 no_jobs_of_ours && stop_broker
'

test_done
