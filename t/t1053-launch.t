#!/bin/sh
test_description='user: the broker is a user of its own without rights, and fluxq-launch is root in its place

The broker is user daemon, whom clients trust by client.yaml (in a mount namespace of this script only).
'
# shellcheck disable=SC2093
if [ -z "${T1053_ALONE:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "Bail out! needs root: jobs of several users"; exit 1; }
    T1053_ALONE=yes exec unshare --mount sh "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

settings=$(sed -n 's/^sysconfdir = //p' "$FLUXQ_BUILD_DIR/Makefile" | sed 's|\${prefix}|/usr/local|')/fluxq
mkdir -p "$settings" && mount -t tmpfs -o mode=0755 tmpfs "$settings" || exit 1
echo "brokers: [daemon]" >"$settings/client.yaml"
# Users run programs of the build tree from a place that they can reach.
chmod 755 "$FLUXQ_RUN"
mkdir "$FLUXQ_RUN/home" "$FLUXQ_RUN/tree"
for dir in cmd broker shell launch; do mkdir "$FLUXQ_RUN/tree/$dir"; done
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_RUN/tree/cmd"
cp "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$FLUXQ_RUN/tree/broker"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_RUN/tree/shell"
cp "$FLUXQ_BUILD_DIR/src/launch/fluxq-launch" "$FLUXQ_RUN/tree/launch"
for name in submit queue show cancel logs job attach ctl; do ln -s fluxq "$FLUXQ_RUN/tree/cmd/fluxq-$name"; done
PATH=$FLUXQ_RUN/tree/cmd:$FLUXQ_RUN/tree/broker:$PATH
chown nobody: "$FLUXQ_RUN/home" && chmod 700 "$FLUXQ_RUN/home"
BROKER_STATE=$FLUXQ_RUN/state
mkdir "$FLUXQ_RUN/run"

# configure LINE...: writes the configuration.
configure()
{
    printf '%s\n' "user: daemon" "local: {nodes: 2}" "runtime-dir: $FLUXQ_RUN/run" \
        "state-dir: $BROKER_STATE" "$@" >launch.yaml
}

# begin: starts the broker.
begin()
{
    "$FLUXQ_RUN/tree/broker/fluxqd" --config launch.yaml >"$BROKER_LOG" 2>&1 </dev/null 3>&- 4>&- 5>&- &
    BROKER_PID=$!
    FLUXQ_BROKER=unix://$FLUXQ_RUN/run/fluxqd.sock
    export FLUXQ_BROKER
    wait_until 20 grep -q "listening on" "$BROKER_LOG" || { cat "$BROKER_LOG" >&2; return 1; }
}

end()
{
    fluxq-ctl shutdown && wait_until 10 lib_gone "$BROKER_PID"
}

# as USER COMMAND...
as()
{
    as_user=$1
    shift
    (cd "$FLUXQ_RUN/home" && HOME=$FLUXQ_RUN/home exec setpriv --reuid="$as_user" --regid="$(id -g "$as_user")" \
        --init-groups "$@")
}

submit()
{
    as nobody fluxq-submit "$@"
}

launcher_pid()
{
    pgrep -f "$FLUXQ_RUN/tree/.*fluxq-launch --shell"
}

agents()
{
    pgrep -f "fluxq-shell --launch $BROKER_STATE/jobs/$1/"
}

no_agents()
{
    ! agents "$1" >/dev/null
}

status_of()
{
    sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"
}

configure
begin
test_expect_success 'the broker has the uid of its user and no capability; fluxq-launch is root' '
    daemon=$(id -u daemon) &&
    test "$(status_of $BROKER_PID Uid | tr -s "\t" " ")" = "$daemon $daemon $daemon $daemon" &&
    for set in CapInh CapPrm CapEff CapAmb; do test "$(status_of $BROKER_PID $set)" = 0000000000000000 || return 1; done &&
    test "$(status_of $BROKER_PID NoNewPrivs)" = 1 &&
    test "$(status_of "$(launcher_pid)" Uid | cut -f1)" = 0
'

test_expect_success 'a job runs as its user, with the groups of the user database and no new privileges' '
    submit --wait -N2 --ntasks=2 -o identity -- sh -c "id; grep NoNewPrivs /proc/self/status" &&
    as nobody cat identity >got &&
    test "$(grep -c "$(id nobody | sed "s/,.*//")" got)" -eq 2 && test "$(grep -c "NoNewPrivs:.1" got)" -eq 2 &&
    test "$(stat -c %U "$FLUXQ_RUN/home/identity")" = nobody
'

test_expect_success 'logs, steps and signals reach the job' '
    id=$(submit -N2 -o log -- sh -c "trap \"echo caught\" USR1; fluxq-run -N2 -n2 sh -c \"echo step \\\$SLURM_PROCID\"
        echo ready; while :; do sleep 0.1; done") &&
    wait_until 20 sh -c "fluxq-logs $id | grep -q ready" &&
    as nobody fluxq-cancel --signal USR1 $id &&
    wait_until 10 sh -c "fluxq-logs $id | grep -q caught" &&
    fluxq-logs $id >got && grep -q "step 0" got && grep -q "step 1" got &&
    as nobody fluxq-cancel $id && wait_job_state $id CANCELLED && wait_until 20 no_agents $id
'

test_expect_success 'users below min-uid, root and the broker'\''s own user run nothing, and learn why' '
    for user in root daemon games; do
        test_must_fail as $user fluxq-submit -- true 2>err || return 1
        grep "min-uid" err && grep "uid $(id -u $user)" err || return 1
    done
'

test_expect_success 'a process that left its session and ignores signals ends with its job' '
    id=$(submit -o /dev/null -- bash -c "trap \"\" TERM; setsid -f bash -c \"exec -a stray-$$ sleep 1000\"
        exec -a stray-$$ sleep 1000") &&
    wait_job_state $id RUNNING && wait_until 10 sh -c "test \$(pgrep -cf ^stray-$$) -eq 2" &&
    as nobody fluxq-cancel $id && wait_job_state $id CANCELLED 60 &&
    wait_until 20 sh -c "! pgrep -f ^stray-$$"
'

test_expect_success 'when an agent is killed, its orphans end and the job fails' '
    id=$(submit --no-requeue -o /dev/null -- bash -c "exec -a orphan-$$ sleep 1000") &&
    wait_job_state $id RUNNING && wait_until 10 pgrep -f "^orphan-$$" &&
    { kill -9 $(agents $id) || :; } && wait_job_state $id "NODE_FAIL|FAILED" 60 &&
    wait_until 20 sh -c "! pgrep -f ^orphan-$$"
'

test_expect_success 'a killed broker leaves the job; the next one has its output, its end, and can cancel' '
    one=$(submit -o one -- sh -c "echo begun; sleep 3; echo over") && two=$(submit -o /dev/null -- sleep 1000) &&
    wait_job_state $one RUNNING && wait_job_state $two RUNNING && before=$(launcher_pid) &&
    wait_until 10 sh -c "fluxq-logs $one | grep -q begun" &&
    kill -9 $BROKER_PID && wait_until 10 lib_gone $before && agents $one && agents $two && begin &&
    wait_job_state $one COMPLETED 30 && as nobody cat one >got && printf "begun\nover\n" | test_cmp - got &&
    test "$(job_state $two)" = RUNNING &&
    as nobody fluxq-cancel $two && wait_job_state $two CANCELLED 30 && wait_until 20 no_agents $two
'

test_expect_success 'a broker whose fluxq-launch is killed says so and ends; its job goes on' '
    id=$(submit -o /dev/null -- sleep 1000) && wait_job_state $id RUNNING && wait_until 10 agents $id &&
    kill -9 $(launcher_pid) && wait_until 10 lib_gone $BROKER_PID &&
    grep "fluxq-launch has ended" "$BROKER_LOG" && agents $id &&
    begin && test "$(job_state $id)" = RUNNING &&
    as nobody fluxq-cancel $id && wait_job_state $id CANCELLED 30 && wait_until 20 no_agents $id
'

test_expect_success 'what a user leaves in the directory of a job goes with the job' '
    id=$(submit -o /dev/null -- sh -c "mkdir -p \$(dirname \$FLUXQ_AGENT_SOCKET)/deep/er &&
        echo x >\$(dirname \$FLUXQ_AGENT_SOCKET)/deep/er/file && chmod 500 \$(dirname \$FLUXQ_AGENT_SOCKET)/deep/er; sleep 1") &&
    wait_job_state $id COMPLETED && test -e "$BROKER_STATE/jobs/$id/deep/er/file" &&
    end && printf "keep-finished: 0\n" >>launch.yaml && begin &&
    wait_until 20 test ! -e "$BROKER_STATE/jobs/$id"
'

output_is_counted()
{
    test "$(as nobody fluxq-ctl status --json | jq .usage.output)" -gt 1048576
}

test_expect_success 'kept output counts for the user of the job' '
    end && configure "user-output-max: 1Mi" && begin &&
    submit --wait -o /dev/null -- sh -c "head -c 3000000 /dev/zero" &&
    wait_until 20 output_is_counted && test_must_fail submit -- true 2>err && grep "user-output-max" err &&
    end && configure && begin
'

test_expect_success 'a setuid program gives a job nothing' '
    cp "$(command -v id)" "$FLUXQ_RUN/tree/setuid-id" && chmod 4755 "$FLUXQ_RUN/tree/setuid-id" &&
    submit --wait -o plain -- "$FLUXQ_RUN/tree/setuid-id" && as nobody cat plain >got &&
    grep "uid=$(id -u nobody)" got && test_must_fail grep euid=0 got
'

test_expect_success 'fluxq-launch does nothing else for a broker that another has taken over' '
    python3 "$FLUXQ_SOURCE_DIR/t/helper/hostile_broker.py" "$FLUXQ_RUN/tree/launch/fluxq-launch" \
        "$FLUXQ_RUN/tree/shell/fluxq-shell" "$(id -u daemon)" "$(id -u nobody)" >got &&
    cat >wanted <<-\EOF &&
	a greeting without a socket: EINVAL
	a greeting with a file: EINVAL
	a greeting with a stream: EINVAL
	a greeting: done
	another greeting: EEXIST
	cgroups in /tmp: EINVAL
	cgroups in a file: EINVAL
	agent of root: EPERM
	agent of a system user: EPERM
	agent of the broker'\''s user: EPERM
	agent of uid -1: EPERM
	files of root: EPERM
	files without a socket: EINVAL
	a path without an end: EINVAL
	another version: EPROTO
	another operation: EINVAL
	a short record: EPROTO
	a long record: EPROTO
	an empty-looking record: EPROTO
	a program that is no prolog: EPERM
	a prolog without a file for its report: EINVAL
	a prolog with LD_PRELOAD: EINVAL
	a prolog with variables without an end: EINVAL
	a prolog without a time limit: EINVAL
	a prolog: done
	a signal without a process: EINVAL
	a signal to root'\''s process: EPERM
	a signal to init: ESRCH
	a signal to fluxq-launch: EPERM
	a signal to a file: ESRCH
	a signal to a user'\''s process: done
	root'\''s process runs: True
	the user'\''s process has ended: True
	fluxq-launch has ended: True
	EOF
    test_cmp wanted got
'

test_expect_success 'prolog and epilog run as root for the jobs of users, and a failure drains the node' '
    mkdir -m 700 "$FLUXQ_RUN/secret" &&
    write_script "$FLUXQ_RUN/tree/prolog" <<-END &&
	#!/bin/sh
	echo "\$FLUXQ_ADMIN_PROGRAM \$(id -u) \$FLUXQ_JOB_USER \$FLUXQ_NODENAME" >>$FLUXQ_RUN/secret/seen
	[ ! -e $FLUXQ_RUN/secret/broken ] || { echo "no scratch" >&2; exit 3; }
	END
    end && configure "prolog: $FLUXQ_RUN/tree/prolog" "epilog: $FLUXQ_RUN/tree/prolog" && begin &&
    submit --wait -N2 -o /dev/null -- true && wait_until 10 sh -c "test \$(wc -l <$FLUXQ_RUN/secret/seen) -eq 4" &&
    sort "$FLUXQ_RUN/secret/seen" >got &&
    printf "%s\n" "epilog 0 nobody node0" "epilog 0 nobody node1" "prolog 0 nobody node0" "prolog 0 nobody node1" | test_cmp - got &&
    touch "$FLUXQ_RUN/secret/broken" && id=$(submit -o /dev/null -- true) &&
    wait_until 20 sh -c "fluxq-info --json | grep -q \"prolog failed on node node[01]: exit status 3: no scratch\"" &&
    as nobody fluxq-cancel $id && rm "$FLUXQ_RUN/secret/broken"
'

test_expect_success 'a prolog that came by a reload does not run as root before a restart' '
    for node in node0 node1; do fluxq-ctl resume $node || :; done && # those that the failure drained
    cp "$FLUXQ_RUN/tree/prolog" "$FLUXQ_RUN/tree/other" && chmod 644 launch.yaml &&
    sed -i "s|^prolog: .*|prolog: $FLUXQ_RUN/tree/other|" launch.yaml && fluxq-ctl reload && id=$(submit -o /dev/null -- true) &&
    wait_until 20 grep "job $id: prolog: .* restart the broker" "$BROKER_LOG" && as nobody fluxq-cancel $id &&
    end && configure && begin
'

test_expect_success 'fluxq-launch starts only with the sockets of a broker, and as root' '
    test_expect_code 2 "$FLUXQ_RUN/tree/launch/fluxq-launch" --shell /bin/true --owner 1 3<&- 2>err &&
    grep "not the broker" err &&
    test_expect_code 2 as nobody "$FLUXQ_RUN/tree/launch/fluxq-launch" --shell /bin/true --owner 1 2>err &&
    grep "not root" err &&
    test_expect_code 2 "$FLUXQ_RUN/tree/launch/fluxq-launch" 2>err && grep -- "--owner are needed" err
'
end

test_expect_success 'a configuration that cannot hold is refused with the way out' '
    configure && sed -i "s/^user: .*/user: nosuchuser/" launch.yaml &&
    test_expect_code 1 fluxqd --config launch.yaml 2>err && grep "useradd" err &&
    configure && sed -i "s/^user: .*/user: root/" launch.yaml &&
    test_expect_code 1 fluxqd --config launch.yaml 2>err && grep "is root" err &&
    configure && chmod 644 launch.yaml && cp launch.yaml "$FLUXQ_RUN/home" && chmod 644 "$FLUXQ_RUN/home/launch.yaml" &&
    test_expect_code 1 as nobody "$FLUXQ_RUN/tree/broker/fluxqd" --config "$FLUXQ_RUN/home/launch.yaml" 2>err &&
    grep "started as root" err
'

test_expect_success 'a broker that is started as its user asks a fluxq-launch that systemd starts' '
    mkdir -m 755 "$FLUXQ_RUN/unit" && mkdir -m 711 "$FLUXQ_RUN/unit/state" && mkdir -m 755 "$FLUXQ_RUN/unit/run" &&
    chown daemon: "$FLUXQ_RUN/unit/state" "$FLUXQ_RUN/unit/run" &&
    { systemd-socket-activate --accept --seqpacket --listen="$FLUXQ_RUN/unit/launch.sock" \
        "$FLUXQ_RUN/tree/launch/fluxq-launch" --shell "$FLUXQ_RUN/tree/shell/fluxq-shell" --owner daemon \
        --min-uid 2000 >activate.log 2>&1 </dev/null & } && activate=$! &&
    wait_until 10 test -S "$FLUXQ_RUN/unit/launch.sock" && chmod 666 "$FLUXQ_RUN/unit/launch.sock" &&
    { setpriv --reuid=daemon --regid=daemon --clear-groups "$FLUXQ_RUN/tree/broker/fluxqd" \
        --launch-socket "$FLUXQ_RUN/unit/launch.sock" --local 2 --runtime-dir "$FLUXQ_RUN/unit/run" \
        --state-dir "$FLUXQ_RUN/unit/state" >"$BROKER_LOG" 2>&1 </dev/null & } && BROKER_PID=$! &&
    FLUXQ_BROKER=unix://$FLUXQ_RUN/unit/run/fluxqd.sock && wait_until 20 grep -q "listening on" "$BROKER_LOG" &&
    submit --wait -o by-systemd -- id -u && test "$(as nobody cat by-systemd)" = "$(id -u nobody)" &&
    test_must_fail as games fluxq-submit -- true 2>err && grep "users from uid 2000 on" err &&
    id=$(submit -o /dev/null -- sleep 1000) && wait_job_state $id RUNNING &&
    as nobody fluxq-cancel $id && wait_job_state $id CANCELLED && end &&
    as nobody /usr/bin/python3 -c "import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1])
try: sys.exit(len(s.recv(9)))
except ConnectionResetError: pass" "$FLUXQ_RUN/unit/launch.sock" &&
    wait_until 10 grep "not the broker" activate.log
'
kill $activate 2>/dev/null

test_expect_success 'only a socket of root serves as --launch-socket, and only a broker of the owner is served' '
    nobodys=$FLUXQ_RUN/home/launch.sock &&
    { setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups systemd-socket-activate --accept --seqpacket \
        --listen="$nobodys" /bin/cat >/dev/null 2>&1 </dev/null & } &&
    fake=$! && wait_until 10 test -S "$nobodys" && chmod 755 "$FLUXQ_RUN/home" && chmod 666 "$nobodys" &&
    test_expect_code 1 setpriv --reuid=daemon --regid=daemon --clear-groups fluxqd --launch-socket "$nobodys" \
        --local 2 --runtime-dir "$FLUXQ_RUN/unit/run" --state-dir "$FLUXQ_RUN/unit/state" 2>err &&
    grep "listens there, not root" err && chmod 700 "$FLUXQ_RUN/home" &&
    test_expect_code 1 fluxqd --launch-socket "$FLUXQ_RUN/none" --local 2 --runtime-dir "$FLUXQ_RUN/unit/run" \
        --state-dir "$FLUXQ_RUN/unit/state" 2>err && grep "start fluxq-launch.socket" err
'
kill $fake 2>/dev/null

test_expect_success 'a state directory of an earlier broker that was root is not taken over in silence' '
    mkdir "$FLUXQ_RUN/old" && touch "$FLUXQ_RUN/old/journal.db" && configure &&
    sed -i "s|^state-dir: .*|state-dir: $FLUXQ_RUN/old|" launch.yaml &&
    test_expect_code 1 fluxqd --config launch.yaml 2>err && grep -e "--from=root" err
'

test_done
