# shellcheck shell=bash
# slurm.sh: a private Slurm: munged, slurmctld and slurmd, all below one directory and on the loopback
#
#     slurm_up DIR CPUS      starts it; sets SLURM_CONF, so that sbatch and similar commands find it
#     slurm_tune             restarts the controller with input/slurm-tuned.conf
#     slurm_down             ends it, by process ids; may be called at any time, also twice
#     slurm_cancel           cancels all jobs; no job is left when it returns
#
# SLURM_CTLD is the controller's process id. Errors are in DIR/*.log.

SLURM_DIR='' SLURM_CTLD='' SLURM_D='' SLURM_MUNGED=''

# Prints an unused port. Slurm must know its ports beforehand, so a race is possible.
slurm_free_port() {
    local port
    for port in $(shuf -i 20000-30000 -n 50); do
        if ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return
        fi
    done
    die "no free port for Slurm"
}

slurm_start_munged() {
    (umask 077 && head -c 1024 /dev/urandom >"$SLURM_DIR/munge.key")
    munged --foreground --force --socket "$SLURM_DIR/munge.sock" --key-file "$SLURM_DIR/munge.key" \
        --pid-file "$SLURM_DIR/munged.pid" --seed-file "$SLURM_DIR/munge.seed" \
        --log-file "$SLURM_DIR/munged.log" --num-threads 4 \
        </dev/null >>"$SLURM_DIR/munged.out" 2>&1 &
    SLURM_MUNGED=$!
    wait_until 10 munge -n -S "$SLURM_DIR/munge.sock" || die "munged: $(tail -n 3 "$SLURM_DIR"/munged.*)"
}

slurm_start_ctld() {
    slurmctld -D -f "$SLURM_CONF" "$@" </dev/null >>"$SLURM_DIR/slurmctld.out" 2>&1 &
    SLURM_CTLD=$!
    wait_until 20 scontrol ping || die "slurmctld: $(tail -n 5 "$SLURM_DIR/slurmctld.log")"
}

slurm_node_ready() {
    [ "$(sinfo -h -o %T)" = idle ]
}

slurm_up() {
    local host
    SLURM_DIR=$1
    host=$(hostname -s)
    mkdir -p "$SLURM_DIR"/{state,slurmd}
    export SLURM_CONF=$SLURM_DIR/slurm.conf
    sed -e "s|@HOST@|$host|; s|@USER@|$(id -un)|; s|@CPUS@|$2|; s|@DIR@|$SLURM_DIR|" \
        -e "s|@CTLD_PORT@|$(slurm_free_port)|; s|@SLURMD_PORT@|$(slurm_free_port)|" \
        "$BENCH/input/slurm.conf" >"$SLURM_CONF"
    slurm_start_munged
    slurm_start_ctld -c
    slurmd -D -f "$SLURM_CONF" </dev/null >>"$SLURM_DIR/slurmd.out" 2>&1 &
    SLURM_D=$!
    wait_until 20 slurm_node_ready || die "slurmd: $(tail -n 5 "$SLURM_DIR/slurmd.log")"
}

slurm_tune() {
    cat "$BENCH/input/slurm-tuned.conf" >>"$SLURM_CONF"
    end_process "$SLURM_CTLD"
    slurm_start_ctld
    wait_until 20 slurm_node_ready || die "slurmd: $(tail -n 5 "$SLURM_DIR/slurmd.log")"
}

slurm_no_job() {
    [ -z "$(squeue -h -o %i)" ]
}

slurm_cancel() {
    scancel -u "$(id -un)"
    wait_until 60 slurm_no_job || die "Slurm's jobs do not end"
}

slurm_down() {
    [ -z "$SLURM_CTLD" ] || scancel -u "$(id -un)" >/dev/null 2>&1
    end_process "$SLURM_D"
    end_process "$SLURM_CTLD"
    end_process "$SLURM_MUNGED"
    SLURM_D='' SLURM_CTLD='' SLURM_MUNGED=''
}
