#!/bin/sh
test_description='limits of a user, and queues for some users: a submit beyond them is refused with the reason'
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || { echo "Bail out! needs root: jobs of several users"; exit 1; }

# Everything that the users nobody and daemon need is in a directory that they can enter; the
# build may be elsewhere.
chmod 755 "$FLUXQ_RUN"
BROKER_STATE=$FLUXQ_RUN/state
mkdir -p "$FLUXQ_RUN/bin" "$FLUXQ_RUN/shell"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$FLUXQ_RUN/bin"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_RUN/shell"

# fluxq_as USER COMMAND...: runs fluxq COMMAND as USER.
fluxq_as()
{
    user=$1
    shift
    (cd / && HOME=/nowhere exec setpriv --reuid="$user" --regid="$(id -g "$user")" \
        --init-groups "$FLUXQ_RUN/bin/fluxq" "$@")
}

submit_as()
{
    user=$1
    shift
    fluxq_as "$user" submit -o /dev/null "$@"
}

usage_of()
{
    fluxq_as "$1" ctl status --json | jq ".usage.$2"
}

configure()
{
    printf '%s\n' "local: {nodes: 4}" "$@" >limits.yaml
}

configure "user-jobs-max: 5" "user-bytes-max: 1Mi" && start_broker --config limits.yaml
test_expect_success 'a submit beyond user-jobs-max is refused with the limit and the usage' '
    for i in 1 2 3 4 5; do submit_as nobody --hold -- true >>held || return 1; done &&
    test_must_fail submit_as nobody --hold -- true 2>err &&
    grep "may have 5 waiting jobs.*user-jobs-max.*you have 5" err &&
    test $(usage_of nobody jobs) = 5 && test $(usage_of nobody jobs_max) = 5
'
test_expect_success 'user-jobs-max does not affect another user or root, and an ended job frees its place' '
    submit_as daemon --hold -- true && for i in 1 2 3 4 5 6; do fluxq-submit --hold -- true || return 1; done &&
    fluxq_as nobody cancel $(head -n 1 held) && submit_as nobody --hold -- true &&
    test_must_fail submit_as nobody --hold -- true
'
test_expect_success 'each task of an array counts for user-jobs-max, also after a restart' '
    fluxq_as nobody cancel --me && test $(usage_of nobody jobs) = 0 &&
    test_must_fail submit_as nobody --hold --array 1-6 -- true &&
    submit_as nobody --hold --array 1-4 -- true && test $(usage_of nobody jobs) = 4 &&
    restart_broker && test $(usage_of nobody jobs) = 4 &&
    submit_as nobody --hold -- true && test_must_fail submit_as nobody --hold -- true &&
    fluxq_as nobody cancel --me
'
test_expect_success 'a submit beyond user-bytes-max is refused' '
    { echo "#!/bin/sh"; head -c 600000 /dev/zero | tr "\0" "#"; } >"$FLUXQ_RUN/big.sh" && chmod 755 "$FLUXQ_RUN/big.sh" &&
    submit_as nobody --hold "$FLUXQ_RUN/big.sh" && test $(usage_of nobody bytes) -gt 600000 &&
    test_must_fail submit_as nobody --hold "$FLUXQ_RUN/big.sh" 2>err && grep "user-bytes-max" err &&
    fluxq_as nobody cancel --me && test $(usage_of nobody bytes) = 0
'
test_expect_success 'with more kept output than user-output-max a submit is refused' '
    configure "user-output-max: 1Mi" && fluxq-ctl reload &&
    id=$(fluxq_as nobody submit -o /dev/null -- sh -c "head -c 3000000 /dev/zero") && wait_job_state $id COMPLETED &&
    full() { test $(usage_of nobody output) -gt 1048576; } &&
    wait_until 20 full &&
    test_must_fail submit_as nobody -- true 2>err && grep "user-output-max" err && submit_as daemon -- true
'
test_expect_success 'a queue with users and groups accepts only these users and operators' '
    group=$(id -gn daemon) &&
    configure "queues: {batch: {default: true}, mine: {users: [nobody]}, ours: {groups: [$group]}, none: {users: []}}" &&
    fluxq-ctl reload &&
    submit_as nobody -q mine -- true && test_must_fail submit_as daemon -q mine -- true 2>err &&
    grep "queue mine is not for daemon, but for user nobody" err &&
    submit_as daemon -q ours -- true && test_must_fail submit_as nobody -q ours -- true 2>err &&
    grep "but for group $group" err &&
    test_must_fail submit_as nobody -q none -- true && fluxq-submit -q none -- true &&
    test_must_fail submit_as daemon -q mine --test-only -- true &&
    submit_as daemon -- true
'
test_expect_success 'the API answers 403 with specific codes, and GET /v1/queues shows users and groups' '
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" http://fluxqd/v1/queues |
        jq -e ".queues | map({(.name): .}) | add | (.mine.users == [\"nobody\"]) and (.batch.users == null) and (.ours.groups | length == 1)" &&
    fluxq-show queue mine | grep "^Users: *nobody$" && fluxq-show queue ours | grep "^Groups: *$group$" &&
    fluxq-show queue none | grep "^Users: *none$" && fluxq-show queue batch >open && test_must_fail grep "Users\|Groups" open &&
    fluxq-submit --dry-run -q mine -- true >mine.json && chmod 644 mine.json &&
    setpriv --reuid=daemon --clear-groups curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" \
        -d "$(cat mine.json)" http://fluxqd/v1/jobs | jq -e ".status == 403 and .code == \"not-in-queue\""
'
test_expect_success 'a wrong value of users is refused with its place' '
    configure "queues: {batch: {users: nobody}}" && test_must_fail fluxqd --check --config limits.yaml 2>err &&
    grep "users: expected a list" err
'
test_done
