# shellcheck shell=sh
# lib.sh: included by every system test.
#
#     #!/bin/sh
#     test_description='fluxq-cancel ends pending and running jobs'
#     . "$(dirname "$0")/lib.sh"
#
#     start_broker
#     test_expect_success 'a running job is cancelled' '
#         id=$(fluxq-submit -- sleep 100) &&
#         wait_job_state $id RUNNING &&
#         fluxq-cancel $id &&
#         wait_job_state $id CANCELLED
#     '
#     test_done
#
# Programs come from the build tree ($FLUXQ_BUILD_DIR; default: the source tree, or build/ in it) and
# are first in PATH. Every test has brokers of its own: sockets in a short directory below /tmp
# ($FLUXQ_RUN), journal and logs in the trash directory. Processes that a test started end with the
# test, also after a failure or a signal. No test sleeps for luck: wait_until and similar functions
# look 20 times a second and give up at a deadline.
#
#     start_broker [ARGS]       starts fluxqd (--local 4 unless ARGS set another executor; inside
#                               t/kube/enter if ARGS have --kube) and waits until it listens; sets
#                               FLUXQ_BROKER; on failure prints the broker's message
#     stop_broker               fluxq-ctl shutdown; waits for the end; fails unless the status is 0
#     kill_broker [SIGNAL]      default KILL; waits for the end
#     restart_broker [ARGS]     stop_broker and start_broker; ARGS default to those of the last start
#     wait_until SECONDS COMMAND...       waits until COMMAND succeeds; fails at the deadline
#     job_field ID FIELD        one field of `fluxq-show job ID --json`
#     job_state ID              the job's state for users: PENDING, RUNNING, COMPLETED, ...
#     wait_job_state ID STATE [SECONDS]   STATE may be A|B; fails at once if the job ends in another state
#     count_events ID NAME      the number of these events in the job's log
#     write_script FILE         stdin becomes an executable script
#     parent_of PID             pid of its parent
#
# Variables: FLUXQ_SOURCE_DIR, FLUXQ_BUILD_DIR; BROKER_PID, BROKER_LOG, FLUXQ_RUN, BROKER_STATE.
# Prerequisites: ROOT (uid 0), MUNGE (munged is installed), SHARED ($FLUXQ_SHARED_DIR has the
# data of the peers; contrib/check skips such cases if the data is missing).

FLUXQ_SOURCE_DIR=${FLUXQ_SOURCE_DIR:-$(cd "$(dirname "$0")/.." && pwd)}
if [ -z "${FLUXQ_BUILD_DIR:-}" ]; then
    FLUXQ_BUILD_DIR=$FLUXQ_SOURCE_DIR
    [ -f "$FLUXQ_BUILD_DIR/Makefile" ] || FLUXQ_BUILD_DIR=$FLUXQ_SOURCE_DIR/build
fi
if [ ! -f "$FLUXQ_BUILD_DIR/Makefile" ]; then
    echo "Bail out! nothing is built in $FLUXQ_BUILD_DIR (set FLUXQ_BUILD_DIR)"
    exit 1
fi
FLUXQ_SHARED_DIR=${FLUXQ_SHARED_DIR:-$FLUXQ_SOURCE_DIR/../shared}
PATH=$FLUXQ_BUILD_DIR/src/tools:$FLUXQ_BUILD_DIR/src/shell:$PATH:/usr/sbin
PATH=$FLUXQ_BUILD_DIR/src/cmd:$FLUXQ_BUILD_DIR/src/cmd/slurm:$FLUXQ_BUILD_DIR/src/broker:$PATH
export FLUXQ_SOURCE_DIR FLUXQ_BUILD_DIR FLUXQ_SHARED_DIR PATH
for variable in $(env | sed -n 's/^\(FLUXQ_[A-Z_]*\|SLURM_[A-Z_]*\|SBATCH_[A-Z_]*\)=.*/\1/p'); do
    case $variable in
    FLUXQ_SOURCE_DIR | FLUXQ_BUILD_DIR | FLUXQ_SHARED_DIR | FLUXQ_*_MARK | FLUXQ_KUBE_*) ;;
    *) unset "$variable" ;; # variables of the caller's shell must not act as options of these tests
    esac
done

SHELL=/bin/sh # jobs inherit SHELL and start shells with it; the caller's SHELL may have any value or none
export SHELL

# sharness sets HOME to the trash directory; the cluster's cache is in the original HOME.
FLUXQ_KUBE_CACHE=${FLUXQ_KUBE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/fluxq-kube}
export FLUXQ_KUBE_CACHE

SHARNESS_TEST_DIRECTORY=$FLUXQ_BUILD_DIR/t
mkdir -p "$SHARNESS_TEST_DIRECTORY"
. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

FLUXQ_RUN=$(mktemp -d /tmp/fluxq-t.XXXXXX) || exit 1
BROKER_STATE=$SHARNESS_TRASH_DIRECTORY/state
BROKER_LOG=$SHARNESS_TRASH_DIRECTORY/fluxqd.log
BROKER_PID=
BROKER_ARGS=
export FLUXQ_RUN

lib_idle()
{
    [ -z "$(timeout 5 fluxq-queue --no-header 2>/dev/null)" ]
}

# A broker leaves its running jobs alone when it stops, so they are cancelled first, before
# test_done removes the broker's directories.
lib_end_broker()
{
    if [ -n "$BROKER_PID" ] && kill -0 "$BROKER_PID" 2>/dev/null; then
        timeout 5 fluxq-cancel --state PENDING,RUNNING >/dev/null 2>&1
        wait_until 5 lib_idle 2>/dev/null
        timeout 10 fluxq-ctl shutdown >/dev/null 2>&1
        kill -TERM "$BROKER_PID" 2>/dev/null
        wait_until 5 lib_gone "$BROKER_PID" || kill -KILL "$BROKER_PID" 2>/dev/null
    fi
    BROKER_PID=
}
cleanup lib_end_broker

lib_finish()
{
    status=$?
    trap - EXIT
    trap '' INT TERM HUP
    lib_end_broker
    rm -rf "$FLUXQ_RUN"
    (exit $status)
    die
}
trap lib_finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

[ "$(id -u)" -ne 0 ] || test_set_prereq ROOT
command -v munged >/dev/null && test_set_prereq MUNGE
[ -d "$FLUXQ_SHARED_DIR/conformance" ] && test_set_prereq SHARED

wait_until()
{
    lib_deadline=$(($(date +%s%N) / 1000000 + $1 * 1000))
    shift
    until "$@"; do
        if [ $(($(date +%s%N) / 1000000)) -ge $lib_deadline ]; then
            echo "gave up waiting for: $*" >&2
            return 1
        fi
        sleep 0.05
    done
}

# An ended process that its parent has not waited for counts as gone.
lib_gone()
{
    case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
    '' | Z*) return 0 ;;
    esac
    return 1
}

parent_of()
{
    sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$1/stat" 2>/dev/null
}

lib_listening()
{
    [ "$(grep -c 'listening on .*fluxqd.sock' "$BROKER_LOG")" -gt "$1" ] || lib_gone "$BROKER_PID"
}

start_broker()
{
    [ $# -gt 0 ] || set -- --local 4
    BROKER_ARGS=$*
    : >>"$BROKER_LOG"
    lib_before=$(grep -c 'listening on .*fluxqd.sock' "$BROKER_LOG")
    case " $* " in
    *" --kube "*) set -- "$FLUXQ_SOURCE_DIR/t/kube/enter" fluxqd "$@" ;;
    *) set -- fluxqd "$@" ;;
    esac
    "$@" --runtime-dir "$FLUXQ_RUN" --state-dir "$BROKER_STATE" \
        </dev/null >>"$BROKER_LOG" 2>&1 3>&- 4>&- 5>&- 6<&- &
    BROKER_PID=$!
    FLUXQ_BROKER=unix://$FLUXQ_RUN/fluxqd.sock
    export FLUXQ_BROKER
    wait_until 20 lib_listening "$lib_before"
    if lib_gone "$BROKER_PID" || ! [ -S "$FLUXQ_RUN/fluxqd.sock" ]; then
        echo "$* did not come up:" >&2
        tail -n 20 "$BROKER_LOG" >&2
        return 1
    fi
}

# Waits for the broker's end and returns its exit status.
lib_reap()
{
    wait_until 20 lib_gone "$BROKER_PID" || return
    wait "$BROKER_PID"
    lib_status=$?
    BROKER_PID=
    return $lib_status
}

stop_broker()
{
    fluxq-ctl shutdown && lib_reap
}

kill_broker()
{
    kill -"${1:-KILL}" "$BROKER_PID" && { lib_reap || :; }
}

restart_broker()
{
    stop_broker || return
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $BROKER_ARGS
    start_broker "$@"
}

job_field()
{
    fluxq-show job "$1" --json | jq -r ".$2"
}

# Tests call this so often that it must be cheap: jq takes twenty times as long as fluxq-show.
job_state()
{
    fluxq-show job "$1" --json | sed -n 's/^  "state": "\(.*\)",*$/\1/p'
}

lib_state_reached()
{
    lib_state=$(job_state "$1")
    echo "$lib_state" | grep -qxE "$2" && return
    case $lib_state in
    COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL | OUT_OF_MEMORY | PREEMPTED | DEADLINE)
        lib_over=yes
        ;;
    esac
    [ -n "$lib_over" ]
}

wait_job_state()
{
    lib_over=
    wait_until "${3:-20}" lib_state_reached "$1" "$2" && [ -z "$lib_over" ] && return
    echo "job $1 is $lib_state, not $2" >&2
    fluxq-show job "$1" --events >&2
    return 1
}

count_events()
{
    fluxq-show job "$1" --events --json | jq --arg name "$2" '[.. | objects | select(.name? == $name)] | length'
}

write_script()
{
    cat >"$1" && chmod +x "$1"
}
