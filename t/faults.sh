# shellcheck shell=sh
# faults.sh: shared functions of the tests of the broker (t1xxx), after lib.sh.
#
#     agents_of ID [RANK]     pids of the job's agents (guardian and worker), of one rank or of all
#     worker_of ID RANK       pid of the agent that starts the tasks; guardian_of ID RANK: its parent
#     processes_with A=B      pids of the processes that have A=B in their environment
#     kill_all PIDS...        SIGKILL to all of them at the same time; fails if one did not exist or did
#                             not die. Not `kill -9 PIDS`: between two signals the other processes could
#                             notice the death and act or end, and kill would report "No such process".
#     none_active             no job is pending or running
#     nodes_free              no core is in use, also not for an ended job

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
    kill -STOP "$@" || return # SIGSTOP kills no process, so all must exist
    kill -KILL "$@" 2>/dev/null # a process may end because of the death of an earlier one
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
