#!/bin/sh
test_description='a client trusts brokers of its own user, of root, and of users that the administrator names'
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "Bail out! needs root: two users"; exit 1; }

chmod 755 "$FLUXQ_RUN"
mkdir "$FLUXQ_RUN/bin" "$FLUXQ_RUN/shell" "$FLUXQ_RUN/home" && mkdir -m 1777 "$FLUXQ_RUN/shared"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_BUILD_DIR/src/broker/fluxqd" \
    "$FLUXQ_SOURCE_DIR/t/helper/thief.py" "$FLUXQ_RUN/bin"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_RUN/shell"
victim=61235 # a uid without a user
chown $victim "$FLUXQ_RUN/home"
settings=$(sed -n 's/^sysconfdir = //p' "$FLUXQ_BUILD_DIR/Makefile" | sed 's|\${prefix}|/usr/local|')/fluxq

# as UID COMMAND...: runs COMMAND with HOME as the only variable that names a directory.
as()
{
    as_uid=$1
    shift
    (cd / && exec env -u XDG_RUNTIME_DIR -u XDG_STATE_HOME -u FLUXQ_BROKER HOME="$FLUXQ_RUN/home" FLUXQ_BROKER_WAIT=0 \
        setpriv --reuid="$as_uid" --regid="$as_uid" --clear-groups "$@")
}

# steal DIR: user nobody listens in DIR, and DIR is created and removed again and again.
steal()
{
    rm -f "$FLUXQ_RUN/shared/log" "$FLUXQ_RUN/shared/log.ready"
    as "$(id -u nobody)" /usr/bin/python3 "$FLUXQ_RUN/bin/thief.py" "$1" "$FLUXQ_RUN/shared/log" &
    thief=$!
    wait_until 10 test -e "$FLUXQ_RUN/shared/log.ready"
}

end_thief()
{
    rm "$FLUXQ_RUN/shared/log.ready" && wait $thief
}

# submit_often N ARGS...: prints the number of N submits that got an answer.
submit_often()
{
    n=$1 answered=0
    shift
    while [ $((n -= 1)) -ge 0 ]; do
        as $victim "$FLUXQ_RUN/bin/fluxq" submit "$@" -- true 2>err && answered=$((answered + 1))
    done
    echo $answered
}

test_expect_success 'another user'\''s socket in /tmp gets no submit, also if its directory comes and goes' '
    steal /tmp/fluxq-$victim &&
    test "$(submit_often 300)" -eq 0 &&
    end_thief && rm -rf /tmp/fluxq-$victim &&
    test ! -s "$FLUXQ_RUN/shared/log" && test_must_fail grep "/tmp/fluxq-$victim" err
'

test_expect_success 'another user'\''s socket gets no submit, also if the user names its path' '
    steal "$FLUXQ_RUN/shared/spot" &&
    test "$(submit_often 300 --broker unix://$FLUXQ_RUN/shared/spot/fluxqd.sock)" -eq 0 &&
    end_thief &&
    test ! -s "$FLUXQ_RUN/shared/log" &&
    test_expect_code 1 as $victim "$FLUXQ_RUN/bin/fluxq" queue --broker \
        unix://$FLUXQ_RUN/shared/spot/fluxqd.sock 2>err &&
    grep "uid $(id -u nobody)\|no broker at" err
'

test_expect_success 'a broker of another user is refused with the owner'\''s name, also with FLUXQ_BROKER' '
    as $(id -u nobody) /usr/bin/python3 -c "import socket,sys,time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(8)
import os; os.chmod(sys.argv[1], 0o666); open(sys.argv[1] + \".ready\", \"w\")
while os.path.exists(sys.argv[1] + \".ready\"): time.sleep(0.1)" \
        "$FLUXQ_RUN/shared/sock" & other=$!
    wait_until 10 test -e "$FLUXQ_RUN/shared/sock.ready" &&
    test_expect_code 1 as $victim env FLUXQ_BROKER=unix://$FLUXQ_RUN/shared/sock \
        "$FLUXQ_RUN/bin/fluxq" queue 2>err &&
    grep "uid $(id -u nobody) listens there" err && grep "client.yaml" err &&
    test_expect_code 1 fluxq-queue --broker unix://$FLUXQ_RUN/shared/sock 2>err &&
    grep "uid $(id -u nobody) listens there" err
'
rm -f "$FLUXQ_RUN/shared/sock.ready" # its owner ends then
wait $other

# Writes the real file, in a mount namespace of its own.
with_settings()
{
    settings_text=$1
    shift
    export settings_text settings
    unshare -m sh -c '
        mkdir -p "$settings" && mount -t tmpfs -o mode=0755 tmpfs "$settings" &&
        printf "%s\n" "$settings_text" >"$settings/client.yaml" && eval "${settings_extra:-:}" && exec "$@"' sh "$@"
}

test_expect_success 'a broker of a user that client.yaml names is trusted' '
    nobody=$(id -u nobody) && mkdir -m 755 "$FLUXQ_RUN/theirs" "$FLUXQ_RUN/theirs-state" &&
    chown $nobody "$FLUXQ_RUN/theirs" "$FLUXQ_RUN/theirs-state" &&
    { as $nobody "$FLUXQ_RUN/bin/fluxqd" --local 1 \
        --runtime-dir "$FLUXQ_RUN/theirs" --state-dir "$FLUXQ_RUN/theirs-state" 2>theirs.log & } && theirs=$! &&
    wait_until 10 grep -q "listening on" theirs.log && chmod 666 "$FLUXQ_RUN/theirs/fluxqd.sock" &&
    url=unix://$FLUXQ_RUN/theirs/fluxqd.sock &&
    test_must_fail fluxq-queue --broker $url &&
    with_settings "brokers: [daemon, nobody]" fluxq-queue --broker $url &&
    with_settings "brokers: [$nobody]" fluxq-queue --broker $url &&
    test_must_fail with_settings "brokers: [daemon]" fluxq-queue --broker $url
'

test_expect_success 'client.yaml counts only if the file belongs to root, is writable only by root, and can be read' '
    settings_extra="chmod 666 \$settings/client.yaml" && export settings_extra &&
    test_must_fail with_settings "brokers: [nobody]" fluxq-queue --broker $url 2>err && grep "must belong to root" err &&
    settings_extra="chown daemon \$settings/client.yaml" &&
    test_must_fail with_settings "brokers: [nobody]" fluxq-queue --broker $url 2>err && grep "must belong to root" err &&
    unset settings_extra &&
    test_must_fail with_settings "broker: [nobody]" fluxq-queue --broker $url 2>err && grep "client.yaml:1:1.*not a setting" err
'
as "$(id -u nobody)" "$FLUXQ_RUN/bin/fluxq" ctl shutdown --broker "unix://$FLUXQ_RUN/theirs/fluxqd.sock"
wait $theirs

# first_line LOG: waits for the first line of LOG and prints the line.
first_line()
{
    wait_until 20 grep -q "listening on" "$1" && head -n 1 "$1"
}

test_expect_success 'without XDG_RUNTIME_DIR a user'\''s broker and clients use the same private directory' '
    { as $victim "$FLUXQ_RUN/bin/fluxqd" --local 1 2>own.log & } && own=$! &&
    place=$FLUXQ_RUN/home/.local/state/fluxq &&
    [ ! -d /run/user/$victim ] &&
    first_line own.log >line &&
    echo "fluxqd: listening on $place/run-$(hostname)/fluxqd.sock, state in $place" >expected &&
    test_cmp expected line &&
    test "$(stat -c %a:%u "$place/run-$(hostname)")" = 700:$victim &&
    as $victim "$FLUXQ_RUN/bin/fluxq" ctl status >status && as $victim "$FLUXQ_RUN/bin/fluxq" ctl shutdown &&
    wait $own
'

test_expect_success 'fluxqd --local of root honours XDG_RUNTIME_DIR, and prints the path of its socket' '
    mkdir -m 700 "$FLUXQ_RUN/xdg" && (umask 077 && XDG_RUNTIME_DIR=$FLUXQ_RUN/xdg && XDG_STATE_HOME=$PWD/state-home &&
        export XDG_RUNTIME_DIR XDG_STATE_HOME && unset FLUXQ_BROKER &&
        { fluxqd --local 1 2>root.log & } && root=$! && first_line root.log >line &&
        fluxq-ctl status >status && fluxq-ctl shutdown && wait $root) &&
    echo "fluxqd: listening on $FLUXQ_RUN/xdg/fluxq/fluxqd.sock, state in $PWD/state-home/fluxq" >expected &&
    test_cmp expected line
'

test_expect_success 'a directory with a path too long for a socket is refused with the limit' '
    long=$PWD/$(printf "%0120d" 0) &&
    test_expect_code 1 fluxqd --local 1 --runtime-dir "$long" --state-dir "$PWD/s" 2>err &&
    grep "at most 107 bytes" err &&
    test_expect_code 1 fluxq-queue --broker "unix://$long/fluxqd.sock" 2>err && grep "at most 107 bytes" err
'
test_done
