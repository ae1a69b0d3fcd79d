# shellcheck shell=sh
# faults.sh: what the tests of the broker (t1xxx) share, after lib.sh.
#
#     agents_of ID [RANK]     pids of the job's agents (guardian and worker), of one rank or of all
#     worker_of ID RANK       pid of the one that starts the tasks; guardian_of ID RANK: its parent
#     processes_with A=B      pids of the processes that have this in their environment
#     kill_all PIDS...        SIGKILL to all of them at one moment; fails if one was not there or does
#                             not die. Not `kill -9 PIDS`: while that goes from one to the next, the
#                             others see it die and act or end, and then it says "No such process".
#     none_active             no job waits or runs
#     nodes_free              no core is in use; nothing is held back for a job that has ended

agents_of()
{
    for cmdline in $(grep -lzsF "$BROKER_STATE/jobs/$1/launch-" /proc/[0-9]*/cmdline); do
        { tr '\0' ' ' <"$cmdline"; } 2>/dev/null |
            grep -q "fluxq-shell .*--launch .* --rank ${2:-[0-9]*}\( \|\$\)" ||
            continue
        pid=${cmdline%/cmdline}
        lib_gone "${pid#/proc/}" || echo "${pid#/proc/}"
    done
}

worker_of()
{
    for pid in $(agents_of "$1" "$2"); do
        [ "$(parent_of "$pid")" = "$BROKER_PID" ] || echo "$pid"
    done
}

guardian_of()
{
    for pid in $(agents_of "$1" "$2"); do
        [ "$(parent_of "$pid")" != "$BROKER_PID" ] || echo "$pid"
    done
}

processes_with()
{
    for file in $(env -u T_MARK grep -lzsFx "$1" /proc/[0-9]*/environ 2>/dev/null); do
        pid=${file%/environ}
        lib_gone "${pid#/proc/}" || echo "${pid#/proc/}"
    done
}

kill_all()
{
    kill -STOP "$@" || return # nobody dies of this, so all must be there
    kill -KILL "$@" 2>/dev/null # the next may die of this one's death
    for pid; do
        wait_until 10 lib_gone "$pid" || return
    done
}

none_active()
{
    lib_active=$(fluxq-queue --no-header) && [ -z "$lib_active" ]
}

nodes_free()
{
    [ "$(fluxq-info --json | jq '[.nodes[].cores_used] | add')" = 0 ]
}

helper()
{
    name=$1
    shift
    timeout 300 python3 "$FLUXQ_SOURCE_DIR/t/helper/$name.py" "$@"
}
