#!/bin/sh
# task.sh HISTORY LOCKS SECONDS CODE: a task of a storm. It appends its start and its end to HISTORY, and
# holds a lock on each of its cores and on its own rank. The kernel keeps the locks while any process of
# the task lives, so a core that is given twice is seen without the broker.
set -u
history=$1 locks=$2 seconds=$3 code=$4
rank=$FLUXQ_PROCID node=$FLUXQ_NODENAME

# say KIND FIELDS: one line, in one write.
say()
{
    printf '{"kind": "%s", "job": %s, "rank": %s, "pid": %s%s}\n' \
        "$1" "$FLUXQ_JOB_ID" "$rank" $$ "$2" >>"$history"
}

# hold_core CORE FD
hold_core()
{
    file=$locks/$node.$1
    eval "exec $2<>'$file'"
    flock -n "$2" || say clash ", \"node\": \"$node\", \"core\": $1, \"with\": \"$(cat "$file")\""
    printf 'job %s   \n' "$FLUXQ_JOB_ID" >"$file"
}

exec 3<>"$locks/job.$FLUXQ_JOB_ID.$rank"
flock -n 3 || say twice ''
fd=4
for part in $(echo "$FLUXQ_CORES" | tr , ' '); do
    for core in $(seq "${part%-*}" "${part#*-}"); do
        hold_core "$core" $fd
        fd=$((fd + 1))
    done
done
say start ", \"node\": \"$node\", \"cores\": \"$FLUXQ_CORES\""
[ "$seconds" = 0 ] || sleep "$seconds"
say end ", \"code\": $code"
exit "$code"
