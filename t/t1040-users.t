#!/bin/sh
test_description='several users: jobs run as their submitting users, and no user acts on the jobs of others'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"
[ "$(id -u)" -eq 0 ] || { echo "Bail out! needs root: jobs of several users"; exit 1; }

# Everything that the users nobody and daemon need is in a directory that they can enter; the
# build may be elsewhere.
chmod 755 "$FLUXQ_RUN"
BROKER_STATE=$FLUXQ_RUN/state
mkdir -p "$FLUXQ_RUN/bin" "$FLUXQ_RUN/shell"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$FLUXQ_RUN/bin"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_RUN/shell"
for user in nobody daemon root; do
    mkdir "$FLUXQ_RUN/$user" && chown $user "$FLUXQ_RUN/$user" && chmod 700 "$FLUXQ_RUN/$user"
done

# as USER COMMAND...: runs COMMAND as USER in that user's directory.
as()
{
    as_user=$1
    shift
    (cd "$FLUXQ_RUN/$as_user" && HOME=/nowhere exec setpriv --reuid="$as_user" \
        --regid="$(id -g "$as_user")" --init-groups "$@")
}

fluxq_as()
{
    user=$1
    shift
    as "$user" "$FLUXQ_RUN/bin/fluxq" "$@"
}

status_of()
{
    as "$1" curl -s -o /dev/null -w '%{http_code}\n' --unix-socket "$FLUXQ_RUN/fluxqd.sock" \
        "http://fluxqd/v1/jobs/$2"
}

start_broker
test_expect_success 'a job has the uid, gid, groups, HOME and USER of the submitting user' '
    id=$(fluxq_as nobody submit --export=NONE -o who.txt -- sh -c "id -u; id -g; id -G; echo \$HOME; echo \$USER") &&
    wait_job_state $id COMPLETED &&
    { id -u nobody; id -g nobody; id -G nobody; getent passwd nobody | cut -d: -f6; echo nobody; } >expected &&
    test_cmp expected "$FLUXQ_RUN/nobody/who.txt" &&
    stat -c %U "$FLUXQ_RUN/nobody/who.txt" >owner && echo nobody >expected && test_cmp expected owner
'
test_expect_success 'a job of a user cannot become root, and has no open file of the broker' '
    cat >"$FLUXQ_RUN/nobody/look.sh" <<-\END &&
	#!/bin/sh
	grep -E "^(Uid|Gid|NoNewPrivs|CapEff):" /proc/self/status
	ls -l /proc/self/fd | grep -c "journal\|socket:\|eventpoll" || :
	END
    chmod 755 "$FLUXQ_RUN/nobody/look.sh" &&
    id=$(fluxq_as nobody submit -o look.txt look.sh) && wait_job_state $id COMPLETED &&
    u=$(id -u nobody) g=$(id -g nobody) &&
    printf "Uid:\t$u\t$u\t$u\t$u\nGid:\t$g\t$g\t$g\t$g\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n0\n" >expected &&
    test_cmp expected "$FLUXQ_RUN/nobody/look.txt"
'
test_expect_success 'cancelling, signalling and holding another user'\''s job is refused, and the job goes on' '
    id=$(fluxq_as nobody submit -o out.txt -- sleep 97551) &&
    waits=$(fluxq_as nobody submit --hold -- true) &&
    wait_job_state $id RUNNING &&
    test_must_fail fluxq_as daemon cancel $id 2>text && grep "job $id belongs to nobody" text &&
    test_must_fail fluxq_as daemon cancel --signal KILL $id 2>text && grep "belongs to nobody" text &&
    test_must_fail fluxq_as daemon ctl release $waits 2>text && grep "belongs to nobody" text &&
    fluxq_as daemon cancel --state PENDING,RUNNING &&
    test_must_fail fluxq_as daemon cancel $waits &&
    test "$(job_state $id)" = RUNNING && test "$(job_state $waits)" = PENDING
'
test_expect_success 'other users cannot read output and jobspec of a job, but can read its state' '
    test "$(status_of daemon $id/output)" = 403 &&
    test "$(status_of daemon $id/jobspec)" = 403 &&
    test_must_fail fluxq_as daemon logs $id 2>text && grep "belongs to nobody" text &&
    test "$(status_of daemon $id)" = 200 &&
    fluxq_as daemon queue >list && grep nobody list
'
test_expect_success 'a client of the agents must be the owner or an operator, and acts as the owner' '
    cp "$FLUXQ_SOURCE_DIR/t/helper/relay.py" "$FLUXQ_RUN/bin" && RELAY_CWD=/ && export RELAY_CWD &&
    as daemon env PATH=/usr/bin:/bin python3 "$FLUXQ_RUN/bin/relay.py" refused $id >out && echo "403 not-owner" >expected &&
    test_cmp expected out && id -u nobody >expected &&
    as nobody env PATH=/usr/bin:/bin python3 "$FLUXQ_RUN/bin/relay.py" run $id id -u >out && test_cmp expected out &&
    python3 "$FLUXQ_RUN/bin/relay.py" run $id id -u >out && test_cmp expected out &&
    grep "job $id of nobody: uid 0 connects to its agent" "$BROKER_LOG"
'
test_expect_success 'other users cannot read the files of a job' '
    test_must_fail as daemon cat "$BROKER_STATE/jobs/$id/spool-0" &&
    test_must_fail as daemon ls "$BROKER_STATE/jobs/$id" &&
    test_must_fail as daemon ls "$BROKER_STATE/jobs" &&
    test_must_fail as daemon cat "$BROKER_STATE/journal.db" &&
    test_must_fail as nobody cat "$BROKER_STATE/journal.db"
'
test_expect_success 'the owner can read and cancel the job' '
    test "$(status_of nobody $id/output)" = 200 && test "$(status_of nobody $id/jobspec)" = 200 &&
    fluxq_as nobody cancel $id && wait_job_state $id CANCELLED
'
test_expect_success 'an operator can read and cancel the job' '
    id=$(fluxq_as nobody submit -o out.txt -- sh -c "echo text; sleep 97552") &&
    wait_job_state $id RUNNING &&
    wait_until 10 sh -c "fluxq-logs $id | grep text" &&
    test "$(status_of root $id/jobspec)" = 200 &&
    fluxq-cancel $id $waits && wait_job_state $id CANCELLED && wait_job_state $waits CANCELLED
'
test_expect_success 'operations for operators are refused to users' '
    for words in "shutdown" "reload" "drain node0 --reason x" "resume node0" "queue stop batch"; do
        test_must_fail fluxq_as nobody ctl $words 2>text && grep -i operator text || return 1
    done &&
    test_must_fail fluxq_as nobody submit --urgency 20 -- true 2>text && grep -i operator text
'
test_expect_success 'the setting operators makes a user an operator' '
    printf "operators: [daemon]\n" >operators.yaml &&
    restart_broker --local 4 --config operators.yaml &&
    fluxq_as daemon ctl drain node0 --reason look && fluxq_as daemon ctl resume node0 &&
    id=$(fluxq_as nobody submit -o out.txt -- sleep 97553) && wait_job_state $id RUNNING &&
    fluxq_as daemon cancel $id && wait_job_state $id CANCELLED
'
test_expect_success 'fluxq-cancel with a filter cancels only the user'\''s own jobs' '
    one=$(fluxq_as nobody submit --hold -- true) && two=$(fluxq-submit --hold -- true) &&
    fluxq_as nobody cancel --state PENDING &&
    wait_job_state $one CANCELLED && test "$(job_state $two)" = PENDING && fluxq-cancel $two
'
test_expect_success 'after kill -9 the broker finds a running job of another user' '
    T_MARK=t1040-$$ && export T_MARK &&
    id=$(fluxq_as nobody submit -N 2 -n 2 -o again.txt -- sh -c "until [ -e go ]; do sleep 0.05; done; echo \$FLUXQ_PROCID; exit 6") &&
    mark=$T_MARK && unset T_MARK &&
    wait_job_state $id RUNNING &&
    kill_broker && start_broker --local 4 --config operators.yaml &&
    test "$(job_state $id)" = RUNNING &&
    as nobody touch go &&
    wait_job_state $id FAILED && test "$(job_field $id exit_code)" = 6 &&
    sort "$FLUXQ_RUN/nobody/again.txt" >ran && printf "0\n1\n" >expected && test_cmp expected ran &&
    test -z "$(processes_with T_MARK=$mark)"
'
test_expect_success 'a user who creates files in place of the job directory harms no other user' '
    echo precious >precious && chmod 600 precious &&
    id=$(fluxq_as nobody submit --hold -o out.txt -- true) &&
    test_must_fail as nobody mkdir "$BROKER_STATE/jobs/$((id + 1))" &&
    first=$(fluxq_as nobody submit --no-requeue -o out.txt -- sh -c "cd $BROKER_STATE/jobs/\$FLUXQ_JOB_ID && mv spool-0 gone && ln -s $PWD/precious spool-0; sleep 0.2") &&
    wait_job_state $first "COMPLETED|FAILED|NODE_FAIL" &&
    fluxq_as nobody logs $first >text 2>&1 || : &&
    test_must_fail grep precious text && test "$(cat precious)" = precious && fluxq-cancel $id
'
# trap_of KIND NAME...: replaces these files of the job directory by a trap for a broker that opens them: a
# FIFO, on which an open blocks, or a link to a file of root that any open removes.
trap_of()
{
    kind=$1
    shift
    cat >"$FLUXQ_RUN/nobody/trap.sh" <<-END
	cd "$BROKER_STATE/jobs/\$FLUXQ_JOB_ID"
	until [ -e key-0 ] && [ -e spool-0 ] && [ -S socket-0-0 ]; do sleep 0.05; done
	for name in $*; do
	    rm -f \$name
	    case $kind in
	    fifo) mkfifo -m 666 \$name ;;
	    link) ln -s "$PWD/watched" \$name ;;
	    esac
	done
	touch "$FLUXQ_RUN/nobody/set"
	exec sleep 97558
	END
    rm -f watched opened "$FLUXQ_RUN/nobody/set" && mkfifo watched &&
    chmod 755 "$FLUXQ_RUN/nobody/trap.sh" &&
    fluxq_as nobody submit --no-requeue -o /dev/null -- sh "$FLUXQ_RUN/nobody/trap.sh"
}

# A restarted broker answers at once, has opened no trap, and ends the job.
trapped()
{
    id=$(trap_of "$@") && { sh -c ": >watched && touch opened" >/dev/null 2>&1 & } && watcher=$! && test_when_finished "kill $watcher 2>/dev/null; :" && wait_until 20 test -e "$FLUXQ_RUN/nobody/set" &&
    kill_broker && start_broker --local 4 --config trap.yaml &&
    timeout 10 fluxq-queue >list && fluxq_as nobody submit --wait -o out.txt -- true &&
    { timeout 10 fluxq-logs $id >text 2>&1; test $? -ne 124; } &&
    timeout 10 fluxq-cancel $id && wait_job_state $id "CANCELLED|FAILED|NODE_FAIL" 30 &&
    ! test -e opened && test -p watched
}

test_expect_success 'FIFOs in place of the broker'\''s files do not stop a restart of the broker' '
    printf "grace: 0.2s\noperators: [daemon]\n" >trap.yaml && stop_broker && start_broker --local 4 --config trap.yaml &&
    trapped fifo key-0 socket-0-0 && trapped fifo spool-0 launch-0 script-0
'
test_expect_success 'links in place of the broker'\''s files are not followed' '
    trapped link key-0 socket-0-0 && trapped link spool-0 launch-0 script-0
'
# The agent; on node0 an agent that ends at once, as if its user killed the agent there.
write_script "$FLUXQ_RUN/shell/dying" <<END
#!/bin/sh
! [ -e "$FLUXQ_RUN/dead" ] || ! grep -q "^  *name node0\$\|^node0\$\| node0\$" "\$2" || exit 1
exec "$FLUXQ_RUN/shell/fluxq-shell" "\$@"
END

# One job of that user fails to start on node0 and starts on another node.
fails_on_node0()
{
    id=$(fluxq_as $1 submit -o /dev/null -- sleep 97559) && wait_job_state $id RUNNING &&
    test "$(job_field $id nodelist)" != node0 && fluxq_as $1 cancel $id && wait_job_state $id CANCELLED
}

test_expect_success 'dying agents of several users drain no node, but dying agents of the broker'\''s own user do' '
    printf "%s\n" "shell-path: $FLUXQ_RUN/shell/dying" "drain-after-failures: 3" "start-backoff: 0.1s" \
        "start-backoff-max: 0.1s" >dying.yaml && : >"$FLUXQ_RUN/dead" && restart_broker --local 4 --config dying.yaml &&
    for i in 1 2 3 4; do fails_on_node0 nobody || return 1; done &&
    fluxq-info --json | jq -e ".nodes[] | select(.name == \"node0\") | .state == \"up\"" &&
    for i in 1 2 3; do fails_on_node0 daemon || return 1; done &&
    fluxq-info --json | jq -e ".nodes[] | select(.name == \"node0\") | .state == \"up\"" &&
    for i in 1 2 3; do fails_on_node0 root || return 1; done &&
    fluxq-info --json | jq -e ".nodes[] | select(.name == \"node0\") | .state == \"drained\"" &&
    rm "$FLUXQ_RUN/dead" && fluxq-ctl resume node0
'
test_expect_success 'a submit of a uid without a passwd entry is refused with the reason' '
    (cd "$FLUXQ_RUN" && test_must_fail setpriv --reuid=54321 --regid=54321 --clear-groups bin/fluxq submit -- true) 2>text &&
    grep "54321" text
'
stop_broker

# The same tests with a broker of a user without root. If a case fails, neither this broker nor
# its jobs may stay.
own=
end_own()
{
    [ -z "$own" ] || lib_gone "$own" && return
    own_url=unix://$FLUXQ_RUN/nobody/run/fluxqd.sock
    FLUXQ_BROKER=$own_url timeout 10 fluxq-cancel --state PENDING,RUNNING
    FLUXQ_BROKER=$own_url wait_until 10 none_active
    kill "$own"
}
trap 'status=$?; end_own >/dev/null 2>&1; (exit $status); lib_finish' EXIT

own_broker()
{
    log=$PWD/own.log
    (cd "$FLUXQ_RUN/nobody" && HOME=/nowhere exec setpriv --reuid=nobody --regid=nogroup \
        --clear-groups "$FLUXQ_RUN/bin/fluxqd" --local 2 --state-dir "$FLUXQ_RUN/nobody/state" \
        --runtime-dir "$FLUXQ_RUN/nobody/run" >"$log" 2>&1 3>&- 4>&- 5>&-) &
    own=$!
    wait_until 10 grep -q "listening on" own.log
}

# Root does not trust a broker of another user (t1045), so the broker's user sends the requests.
own_says()
{
    text=$1
    shift
    fluxq_as nobody "$@" | grep -q "$text"
}
own_idle()
{
    test -z "$(fluxq_as nobody queue --no-header)"
}

test_expect_success 'a broker without root runs jobs, keeps output, cancels and restarts' '
    FLUXQ_SHELL=$FLUXQ_RUN/shell/fluxq-shell && export FLUXQ_SHELL &&
    own_broker &&
    FLUXQ_BROKER=unix://$FLUXQ_RUN/nobody/run/fluxqd.sock && export FLUXQ_BROKER &&
    fluxq_as nobody submit --wait -N 2 -n 2 -o own.txt -- id -un >id &&
    printf "nobody\nnobody\n" >expected && test_cmp expected "$FLUXQ_RUN/nobody/own.txt" &&
    id=$(fluxq_as nobody submit -o /dev/null -- sleep 97554) &&
    wait_until 10 own_says " R " queue &&
    kill -9 $own && { wait $own || :; } && own_broker &&
    fluxq_as nobody cancel $id &&
    wait_until 10 own_says CANCELLED show job $id --json
'
test_expect_success 'a broker without root refuses all other users except root' '
    chmod 755 "$FLUXQ_RUN/nobody" "$FLUXQ_RUN/nobody/run" && chmod 666 "$FLUXQ_RUN/nobody/run/fluxqd.sock" &&
    test_must_fail fluxq_as daemon submit -- id 2>text && cat text &&
    test_must_fail fluxq-submit -- id 2>text && cat text &&
    fluxq_as nobody cancel --state PENDING,RUNNING && wait_until 10 own_idle &&
    fluxq_as nobody ctl shutdown && wait_until 10 lib_gone $own
'
test_done
