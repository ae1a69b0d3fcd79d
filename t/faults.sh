# shellcheck shell=sh
# faults.sh: what the tests of the broker (t1xxx) share, after lib.sh.
#
#     agents_of ID [RANK]     pids of the job's agents (guardian and worker), of one rank or of all
#     worker_of ID RANK       pid of the one that starts the tasks; guardian_of ID RANK: its parent
#     processes_with A=B      pids of the processes that have this in their environment
#     none_active             no job waits or runs
#     nodes_free              no core is in use; nothing is held back for a job that has ended

agents_of()
{
    for cmdline in /proc/[0-9]*/cmdline; do
        { tr '\0' ' ' <"$cmdline"; } 2>/dev/null |
            grep -q "fluxq-shell .*--launch $BROKER_STATE/jobs/$1/launch-.* --rank ${2:-[0-9]*}\( \|\$\)" ||
            continue
        pid=${cmdline%/cmdline}
        lib_gone "${pid#/proc/}" || echo "${pid#/proc/}"
    done
}

parent_of()
{
    sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$1/stat" 2>/dev/null
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

none_active()
{
    [ "$(fluxq-queue --json | jq '.jobs | length')" = 0 ]
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
