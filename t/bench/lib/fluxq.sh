# shellcheck shell=bash
# fluxq.sh: a broker below $WORK
#
#     fluxq_up NAME COMMAND...   starts the broker, with its state in $WORK/NAME; sets FLUXQ_BROKER, FLUXQ_PID.
#                                As in its unit, it has nice -5 if this is root's shell
#     fluxq_down                 cancels its jobs and ends it; may be called at any time, also twice
#     fluxq_cancel               cancels all jobs; no job is left when it returns

FLUXQ_PID=

fluxq_up() {
    local dir=$WORK/$1
    shift
    mkdir -p "$dir/run" && chmod 700 "$dir/run"
    # shellcheck disable=SC2046
    $([ "$(id -u)" -ne 0 ] || echo nice -n -5) "$@" --runtime-dir "$dir/run" --state-dir "$dir/state" </dev/null >>"$dir/fluxqd.log" 2>&1 &
    FLUXQ_PID=$!
    export FLUXQ_BROKER=unix://$dir/run/fluxqd.sock
    wait_until 20 fluxq-queue || die "fluxqd: $(tail -n 5 "$dir/fluxqd.log")"
}

fluxq_no_job() {
    [ -z "$(fluxq-queue --no-header -o id)" ]
}

fluxq_cancel() {
    fluxq-cancel --state PENDING,RUNNING >/dev/null
    wait_until 60 fluxq_no_job || die "fluxq's jobs do not end"
}

fluxq_down() {
    [ -n "$FLUXQ_PID" ] || return 0
    timeout 10 fluxq-cancel --state PENDING,RUNNING >/dev/null 2>&1
    wait_until 20 fluxq_no_job
    timeout 10 fluxq-ctl shutdown >/dev/null 2>&1
    end_process "$FLUXQ_PID"
    FLUXQ_PID=
}
