#!/bin/sh
test_description='a broker that is killed during a resize: the resize goes on, and nothing is lost or started twice'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

shell=$FLUXQ_RUN/fluxq-shell
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$shell"
cat >crash.yaml <<END
shell-path: $shell
grace: 1s
resize-grace: 2s
resize-grow: false
local: {nodes: 6, cores: 2, memory: 1Gi}
END

write_script work.sh <<\END
#!/bin/sh
echo begun >>"begun.$FLUXQ_JOB_ID"
until [ -e "stop.$FLUXQ_JOB_ID" ]; do
    fluxq-run sh -c ': >"in.$FLUXQ_PROCID"' >/dev/null 2>&1
    sleep 0.05
done
END

is_size()
{
    [ "$(job_field "$1" nodes)" = "$2" ] && [ "$(job_field "$1" resize)" = null ]
}

# has_ranks ID N: two agents, guardian and worker, run for each of the ranks 0 to N - 1,
# and for no other rank.
has_ranks()
{
    for rank in 0 1 2 3 4 5; do
        [ $rank -lt "$2" ] && want=2 || want=0
        [ "$(agents_of "$1" $rank | wc -l)" -eq $want ] || return
    done
}

# The nodes that fluxq-run sees now.
has_tasks()
{
    rm -f in.*
    sleep 0.3
    [ "$(find . -maxdepth 1 -name 'in.*' | wc -l)" -eq "$1" ]
}

uses_nodes()
{
    [ "$(fluxq-info --json | jq '[.nodes[] | select(.cores_used > 0)] | length')" = "$1" ]
}

# settled ID N: after any fault the job has size N in the end.
settled()
{
    wait_until 20 is_size "$1" "$2" && wait_until 10 has_ranks "$1" "$2" && wait_until 10 has_tasks "$2" \
        && uses_nodes "$2" && [ "$(cat "begun.$1")" = begun ]
}

start_broker --config crash.yaml

test_expect_success 'the job starts with six nodes' '
    id=$(fluxq-submit -o /dev/null -t 10 -N 1-6 --malleable ./work.sh) && echo $id >id &&
    wait_job_state $id RUNNING && wait_until 10 test -e begun.$id && settled $id 6
'

# So many milliseconds after the answer: the request is on disk; the agents of new ranks are not
# started, started, or joined; rank 0 waits for the grace, ends steps, or has taken the ranks.
for ms in 0 2 5 10 20 40 80; do
    test_expect_success "a kill of the broker $ms ms after a shrink or growth began loses neither" '
        id=$(cat id) &&
        fluxq-ctl resize $id -N 2 && sleep $(printf "0.%03d" '$ms') && kill_broker &&
        start_broker --config crash.yaml && settled $id 2 &&
        fluxq-ctl resize $id -N 5 && sleep $(printf "0.%03d" '$ms') && kill_broker &&
        start_broker --config crash.yaml && settled $id 5
    '
done

test_expect_success 'a new broker learns of a shrink that rank 0 finished without a broker' '
    id=$(cat id) &&
    fluxq-ctl resize $id -N 1 && kill_broker && wait_until 20 has_ranks $id 1 &&
    start_broker --config crash.yaml && settled $id 1
'

test_expect_success 'repeated kills of the broker during one resize do not lose the resize' '
    id=$(cat id) && fluxq-ctl resize $id -N 4 &&
    for i in 1 2 3; do kill_broker && start_broker --config crash.yaml || return 1; done && settled $id 4
'

test_expect_success 'the job ends, and leaves nothing behind' '
    id=$(cat id) && touch stop.$id && wait_job_state $id COMPLETED && wait_until 20 none_active && nodes_free &&
    test -z "$(agents_of $id)" && test $(count_events $id resize) = $(count_events $id resized) && stop_broker
'

test_done
