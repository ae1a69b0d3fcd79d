#!/bin/sh
# t4120-stage.t: --stage-in and --stage-out of jobs in pods. Needs root; about two minutes. Uses a cluster of
# its own with 2 nodes; its namespace admits only pods of the profile "restricted".

test_description='files staged to the pods of a job and back, on a real cluster

A job that starts without a file, a file that is lost, repeated or cut when the broker dies, or a missing file
that is not reported to the user would fail this. The broker is user daemon, and fluxq-launch opens files of
users; clients trust the broker by client.yaml, in a mount namespace of this script only.
'
# shellcheck disable=SC2093
[ -n "${T4120_ALONE:-}" ] || T4120_ALONE=yes exec unshare --mount sh "$0" "$@"
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4120
OUT=$HERE/out
BROKER_STATE=$FLUXQ_RUN/state
chown daemon: "$FLUXQ_RUN"
settings=$(sed -n 's/^sysconfdir = //p' "$FLUXQ_BUILD_DIR/Makefile" | sed 's|\${prefix}|/usr/local|')/fluxq
mkdir -p "$settings" && mount -t tmpfs -o mode=0755 tmpfs "$settings" || exit 1
echo "brokers: [daemon]" >"$settings/client.yaml"

# submit ARGUMENTS...: submits as a user without root, in a directory that the pods do not see.
submit()
{
    (cd "$OUT" && setpriv --reuid=65534 --regid=65534 --clear-groups fluxq-submit -t 5 "$@")
}

# put NAME TEXT: writes a file in that directory.
put()
{
    printf '%s\n' "$2" >"$OUT/$1"
}

# holds NAME TEXT: a file of the user in that directory has this line.
holds()
{
    printf '%s\n' "$2" >expected && test_cmp expected "$OUT/$1" && [ "$(stat -c %u "$OUT/$1")" = 65534 ]
}

# fails_with TEXT ARGUMENTS...: the job fails before any task runs, with this reason.
fails_with()
{
    text=$1
    shift
    id=$(submit -o none "$@") && wait_job_state "$id" FAILED 60 && job_field "$id" result_text >text && cat text &&
        grep -- "$text" text && [ "$(count_events "$id" start)" = 0 ]
}

start_here()
{
    grep -q "^user:" "$HERE/kube.yaml" || sed -i "1i user: daemon" "$HERE/kube.yaml"
    start_broker --kube --config "$HERE/kube.yaml"
}

own_cluster --nodes 2
install -m 600 -o daemon "$configs/fluxq.kubeconfig" "$FLUXQ_RUN/kubeconfig"

chmod 711 "$HERE"
mkdir -m 777 "$OUT"

test_expect_success 'the namespace refuses pods that the profile restricted does not allow' '
    write_config "$FLUXQ_RUN/kubeconfig" && start_here &&
    wait_until 30 sh -c "fluxq-info --json | jq -e \"[.nodes[] | select(.state == \\\"up\\\")] | length == 2\"" &&
    k label namespace fluxq pod-security.kubernetes.io/enforce=restricted
'

test_expect_success 'files are staged in and out of a directory that the pods do not see, with their modes' '
    put input.dat data && printf "#!/bin/sh\ntr a-z A-Z <input.dat >result.dat && chmod 640 result.dat && pwd\n" >"$OUT/tool" &&
    chmod 750 "$OUT/tool" && chown 65534 "$OUT/tool" &&
    submit --wait -o pwd.out --stage-in=input.dat --stage-in=tool --stage-out=result.dat -- ./tool && holds result.dat DATA &&
    holds pwd.out "$OUT" && [ "$(stat -c %a "$OUT/result.dat")" = 640 ]
'

test_expect_success 'files are staged on each node, also for a script, which runs only on the first node' '
    put in-0 zero && put in-1 one && chmod 444 "$OUT/in-0" && chmod 600 "$OUT/in-1" && chown 65534 "$OUT/in-1" &&
    submit --wait -N 2 -n 2 -o "mode-%n" --stage-in "in-%n:in" --stage-out "made:made-%n" --stage-out "made:first" \
        --stage-out "/tmp/on-%N:to-%N" -- sh -c "echo \$FLUXQ_NODEID-\$(cat in) >made; cp made /tmp/on-\$FLUXQ_NODENAME; stat -c %a in" &&
    holds made-0 0-zero && holds made-1 1-one && holds first 0-zero && holds to-node1 0-zero && holds to-node2 1-one &&
    holds mode-0 444 && holds mode-1 600 &&
    write_script "$OUT/script.sh" <<-\END &&
	#!/bin/sh
	#FLUXQ -N 2 -n 2 -o script.out
	#FLUXQ --stage-in=in-%n:in --stage-out=back:back-%n
	fluxq-run sh -c "sed s/^/step-/ in >back"
	END
    submit --wait ./script.sh && holds back-0 step-zero && holds back-1 step-one
'

test_expect_success 'files of five megabytes, and several at once, are staged out from both nodes' '
    submit --wait -N 2 -n 2 -o sums-%n --stage-out "five:five-%n" --stage-out "empty:empty-%n" -- \
        sh -c "head -c 5242880 /dev/urandom >five; : >empty; sha256sum five" &&
    for n in 0 1; do
        (cd "$OUT" && sed "s/five/five-$n/" "sums-$n" | sha256sum -c) && [ "$(stat -c %s "$OUT/empty-$n")" = 0 ] || return 1
    done &&
    ! cmp "$OUT/five-0" "$OUT/five-1"
'

test_expect_success 'a file that cannot be staged in fails the job before its start' '
    fails_with "stage-in: nosuch: No such file or directory" --stage-in nosuch -- true &&
    mkdir "$OUT/adir" && fails_with "stage-in: adir is not a regular file" --stage-in adir:x -- true &&
    put secret x && chown 0 "$OUT/secret" && chmod 600 "$OUT/secret" &&
    fails_with "stage-in: secret: Permission denied" --stage-in secret -- true &&
    head -c 1100000 /dev/zero >"$OUT/large" &&
    fails_with "stage-in: large has 1100000 bytes; of the 1048576 that can be sent" --stage-in large -- true &&
    head -c 600000 /dev/zero >"$OUT/half" && cp "$OUT/half" "$OUT/half2" &&
    fails_with "stage-in: half2 has 600000 bytes;.*use a queue with mounts" --stage-in half --stage-in half2 -- true &&
    fails_with "node node[12]: stage-in: missing/x: directory missing: No such file" --stage-in input.dat:missing/x -- true &&
    fails_with "stage-out: $OUT/missing does not exist" --stage-out x:missing/x -- true &&
    fails_with "the job.s directory is /" -D / --stage-in "$OUT/input.dat" -- true
'
test_expect_success 'a file up to the limit of a ConfigMap is staged in' '
    head -c 1000000 /dev/urandom >"$OUT/much" &&
    submit --wait -o none --stage-in much --stage-out much:again -- true && cmp "$OUT/much" "$OUT/again"
'

test_expect_success 'a missing stage-out file fails the job, unless the job has failed by itself' '
    id=$(submit -o none --stage-out none --stage-out there -- sh -c "echo x >there") && wait_job_state "$id" FAILED 60 &&
    [ "$(job_field "$id" exit_code)" = 1 ] && holds there x && [ ! -e "$OUT/none" ] &&
    job_field "$id" result_text | grep "^stage-out: none: No such file or directory (node[12])$" &&
    said "$id" "stage-out: none: No such file" &&
    id=$(submit -o none --stage-out none --stage-out there -- sh -c "echo y >there; exit 7") && wait_job_state "$id" FAILED 60 &&
    [ "$(job_field "$id" exit_code)" = 7 ] && holds there y && fluxq-logs "$id" | grep "stage-out: none: No such file"
'

test_expect_success 'an existing file stays until the new file is complete, and a target that becomes unwritable fails the job' '
    rm -f "$OUT/up.out" && mkdir -m 777 "$OUT/sub" && put sub/old old && chmod 666 "$OUT/sub/old" &&
    id=$(submit -o up.out --stage-out x:sub/old --stage-out x:sub/new -- \
        sh -c "echo up; until test -e /tmp/go; do sleep 0.1; done; echo x >x") && wait_until 60 has_lines "$OUT/up.out" 1 &&
    [ "$(cat "$OUT/sub/old")" = old ] && [ ! -e "$OUT/sub/new" ] && mv "$OUT/sub" "$OUT/moved" &&
    pod=$(k get pods -l "fluxq.io/job-id=$id" -o name) && k exec "$pod" -- touch /tmp/go &&
    wait_job_state "$id" FAILED 60 && job_field "$id" result_text >text && cat text && grep "^stage-out: $OUT/sub does not exist" text &&
    [ "$(grep -o "does not exist" text | wc -l)" = 1 ] &&
    [ "$(cat "$OUT/moved/old")" = old ] && mv "$OUT/moved" "$OUT/sub"
'

test_expect_success 'files are staged out after a cancel, and after the time limit' '
    rm -f "$OUT/up.out" && id=$(submit -o up.out --stage-out part:cancelled -- sh -c "echo partial >part; echo up; exec sleep 300") &&
    wait_until 60 has_lines "$OUT/up.out" 1 && fluxq-cancel "$id" && wait_job_state "$id" CANCELLED 60 && holds cancelled partial &&
    id=$(submit -t 0:02 -o none --stage-out part:late -- sh -c "echo partial >part; exec sleep 300") &&
    wait_job_state "$id" TIMEOUT 60 && holds late partial
'

test_expect_success 'kill -9 of the broker during the job, and during stage-out, loses no file' '
    rm -f "$OUT/up.out" && id=$(submit -N 2 -n 2 -o "up.out" --stage-out "big:big-%n" --stage-out "sum:sum-%n" -- \
        sh -c "head -c 60000000 /dev/urandom >big; sha256sum big >sum; echo up; until test -e go; do sleep 0.1; done") &&
    wait_until 60 has_lines "$OUT/up.out" 2 && kill_broker && start_here &&
    for pod in $(k get pods -l "fluxq.io/job-id=$id" -o name); do
        k exec "$pod" -- touch "$OUT/go" || return 1
    done &&
    wait_until 60 test -s "$OUT/big-0" && kill_broker && start_here &&
    wait_job_state "$id" COMPLETED 120 && [ "$(count_events "$id" alloc)" = 1 ] &&
    for n in 0 1; do
        (cd "$OUT" && sed "s/big/big-$n/" "sum-$n" | sha256sum -c) || return 1
    done
'
test_expect_success 'files of a job that ends without a broker are staged out later' '
    rm -f "$OUT/up.out" && id=$(submit -o up.out --stage-out last -- \
        sh -c "echo up; until test -e go; do sleep 0.1; done; echo last >last") && wait_until 60 has_lines "$OUT/up.out" 1 &&
    kill_broker && pod=$(k get pods -l "fluxq.io/job-id=$id" -o name) && k exec "$pod" -- touch "$OUT/go" &&
    wait_until 60 sh -c "timeout 20 \"$KUBE/enter\" kubectl -n fluxq exec $pod -- tail -c 400 /fluxq/run/spool | grep -q status=" &&
    [ ! -e "$OUT/last" ] && start_here && wait_job_state "$id" COMPLETED 60 && holds last last
'

test_expect_success 'output-max cuts the output of fluxq-logs, but no staged file' '
    stop_broker && write_config "$FLUXQ_RUN/kubeconfig" "output-max: 4M" && start_here &&
    id=$(submit --wait -o cut.out --stage-out cut --stage-out sum -- \
        sh -c "echo said; head -c 30000000 /dev/urandom >cut; sha256sum cut >sum") && (cd "$OUT" && sha256sum -c sum) &&
    holds cut.out said && fluxq-logs --stdout "$id" | head -n 1 >got && echo said >expected && test_cmp expected got
'

test_expect_success 'the agent copies as the user if the pods mount one of the directories' '
    mkdir -m 777 "$FLUXQ_RUN/shared" && dir=$FLUXQ_RUN/shared && stop_broker && write_config "$FLUXQ_RUN/kubeconfig" \
        "queues: {batch: {mounts: [{path: $dir, volume: {hostPath: {path: $dir}}}]}}" && start_here &&
    k label namespace fluxq pod-security.kubernetes.io/enforce- &&
    head -c 3000000 /dev/urandom >"$dir/large.bin" && put small small &&
    submit --wait -N 2 -n 2 -o none --stage-in "$dir/large.bin:large" --stage-in "small:$dir/small-%n" --stage-out "large:$dir/back-%n" \
        --stage-out "$dir/small-1:seen" -- sh -c "pwd >/dev/null" && cmp "$dir/large.bin" "$dir/back-0" &&
    cmp "$dir/large.bin" "$dir/back-1" && [ "$(stat -c %u "$dir/back-1")" = 65534 ] && holds seen small &&
    cmp "$OUT/small" "$dir/small-0" && ! ls -A "$dir" | grep "^\.fluxq" &&
    (cd "$dir" && echo same >same && chmod 666 same && ls -i same >before && setpriv --reuid=65534 --regid=65534 --clear-groups \
        fluxq-submit --wait -t 5 -o none --stage-in same --stage-out same -- sh -c "echo changed >>same" && ls -i same | cmp - before) &&
    printf "same\nchanged\n" >expected && test_cmp expected "$dir/same"
'

test_expect_success 'no object and no booked core of any job is left' '
    wait_until 60 no_jobs_of_ours && [ "$(fluxq-info --json | jq "[.nodes[].cores_used] | add")" = 0 ] &&
    [ -z "$(k get pods -o name)" ] && stop_broker && wait_until 60 nothing_of_ours
'

test_done
