#!/bin/sh
# t4510-interactive.t: interactive commands of a login node on the pods of a job. Needs root; about two
# minutes. Uses a cluster of its own, of 3 nodes; its namespace admits only pods of the profile
# "restricted"; the user is not root.

test_description='fluxq-alloc, fluxq-run, fluxq-attach and related commands on a real cluster

A terminal that does not reach a pod, late or incomplete output, an allocation that ends with the broker or
outlives its client, or pods that stay would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4510
OUT=$HERE/user

# exec_user COMMAND...: becomes COMMAND, as a user without root, in a directory that the pods do not see.
exec_user()
{
    cd "$OUT" && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

user()
{
    (exec_user "$@")
}

# talk COMMAND...: runs COMMAND in the same way on a terminal; see pty-talk.py.
talk()
{
    (cd "$OUT" && exec timeout 90 python3 "$FLUXQ_SOURCE_DIR/t/helper/pty-talk.py" \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@")
}

# The id of the newest job.
newest()
{
    fluxq-queue --state all --no-header --format '%i' | sort -n | tail -n 1
}

# No process of a pod with these arguments runs.
none_left()
{
    [ -z "$(on_our_nodes "^$1\$")" ]
}

# released ID: no object of this job is in the cluster.
released()
{
    our_objects >objects && ! grep -q -e "-$CLUSTER_ID-$1-" objects
}

start_kube()
{
    start_broker --kube --config "$HERE/kube.yaml"
}

# step_holds ID STEP JQ: the condition is true for the record of this step.
step_holds()
{
    fluxq-show job "$1" --json | jq -e --arg step "$2" ".steps[] | select(.step == \$step) | $3" >/dev/null && return
    echo "job $1, step $2: not so: $3" >&2
    fluxq-show job "$1" --json | jq .steps >&2
    return 1
}

own_cluster --nodes 3 --cpus 16

chmod 711 "$HERE"
mkdir -m 777 "$OUT"

test_expect_success 'the cluster admits only pods of the profile restricted' '
    k label namespace fluxq pod-security.kubernetes.io/enforce=restricted &&
    test_must_fail k run --image=busybox:1 --restart=Never --dry-run=server foreign 2>err && grep "violates PodSecurity" err &&
    write_config "$configs/fluxq.kubeconfig" && start_kube &&
    wait_until 30 sh -c "fluxq-info --json | jq -e \"[.nodes[] | select(.state == \\\"up\\\")] | length == 3\""
'

# ---- fluxq-run outside a job ----

test_expect_success 'fluxq-run runs tasks on two nodes as the user, with labels, and exits with the worst status' '
    test_expect_code 6 user fluxq-run -N 2 -n 4 -l \
        sh -c "echo \$FLUXQ_NODENAME \$(hostname) \$(id -u); exit \$((2 * FLUXQ_PROCID))" >out 2>err &&
    id=$(newest) && sort out >actual && cat >expected <<-END &&
	0: node1 n0.fluxq-t4510-$id-0.fluxq.svc.cluster.local 65534
	1: node1 n0.fluxq-t4510-$id-0.fluxq.svc.cluster.local 65534
	2: node2 n1.fluxq-t4510-$id-0.fluxq.svc.cluster.local 65534
	3: node2 n1.fluxq-t4510-$id-0.fluxq.svc.cluster.local 65534
	END
    test_cmp expected actual && grep "task 3 on node2: exit status 6" err &&
    wait_job_state $id FAILED && test "$(job_field $id exit_code)" -eq 6
'

test_expect_success 'some megabytes of input reach the tasks of fluxq-run on all nodes, and come back complete' '
    head -c 6000000 /dev/urandom >in && digest=$(md5sum <in) &&
    { user fluxq-run -N 3 md5sum <in >out & } && first=$! &&
    user fluxq-run cat <in >copy && cmp in copy && wait $first &&
    printf "$digest\n%.0s" 1 2 3 >expected && test_cmp expected out
'

test_expect_success 'one ctrl-C reports the tasks on two nodes, two kill them' '
    printf "%s\n" "expect going" "expect going" "send \\x03" "expect interrupt: 2 of 2 tasks run" "send \\x03" "expect are killed" \
        end >words &&
    test_expect_code 137 talk fluxq-run -N 2 sh -c "echo going; exec sleep 4510.1" <words && id=$(newest) &&
    wait_job_state $id FAILED && wait_until 30 none_left "sleep 4510.1" && wait_until 60 released $id
'

# ---- fluxq-alloc ----

# A later case checks how long an allocation outlives its client.
test_expect_success 'fluxq-alloc can be killed with -9' '
    { exec_user fluxq-alloc -N 2 sh -c "echo \$\$ >left; exec sleep 4510.2" </dev/null >orphan.out 2>orphan.err & } && client=$! &&
    wait_until 60 test -s "$OUT/left" && orphan=$(newest) && grep "granted job allocation $orphan" orphan.err &&
    kill -KILL $client && wait_until 30 lib_gone $client && kill $(cat "$OUT/left")
'

test_expect_success 'fluxq-alloc runs a command here and steps in the pods, passes the exit status, and then the pods go' '
    test_expect_code 4 user fluxq-alloc -N 3 sh -c "echo \$FLUXQ_JOB_ID \$FLUXQ_NNODES \$(id -u)
        fluxq-run -l hostname | sort
        echo word | fluxq-run -n 2 cat
        fluxq-run -N 1 -n 2 sh -c \"exit \\\$FLUXQ_PROCID\"
        echo \$?
        exit 4" >out 2>err && id=$(newest) &&
    cat >expected <<-END &&
	$id 3 65534
	0: n0.fluxq-t4510-$id-0.fluxq.svc.cluster.local
	1: n1.fluxq-t4510-$id-0.fluxq.svc.cluster.local
	2: n2.fluxq-t4510-$id-0.fluxq.svc.cluster.local
	word
	word
	1
	END
    test_cmp expected out && grep "relinquishing job allocation $id" err && wait_job_state $id FAILED &&
    test "$(job_field $id exit_code)" -eq 4 && wait_until 60 released $id
'

test_expect_success 'fluxq-alloc starts a shell on the terminal' '
    cat >words <<-\END &&
	expect granted
	expect [#$]
	send fluxq-run -N 2 -l sh -c "hostname; test -t 0 || echo no ter""minal"; echo status $?\n
	expect n1[.]
	expect status 0
	expect [#$]
	send fluxq-run -n 1 --pty tty; exit 6\n
	expect /dev/pts/
	end
	END
    test_expect_code 6 talk fluxq-alloc -N 2 <words && wait_job_state $(newest) FAILED
'

test_expect_success 'an allocation and its steps survive a kill and restart of the broker' '
    { exec_user fluxq-alloc -N 2 sh -c "fluxq-run echo before; until test -e again; do sleep 0.05; done; fluxq-run hostname" \
        >out 2>err & } && client=$! &&
    wait_until 60 has_lines out 2 && id=$(newest) && kill_broker && : >"$OUT/again" &&
    wait_until 10 grep "waiting for the broker" err && start_kube && wait $client && cat err &&
    sort out >actual && printf "before\nbefore\nn0.fluxq-t4510-$id-0.fluxq.svc.cluster.local\nn1.fluxq-t4510-$id-0.fluxq.svc.cluster.local\n" >expected && test_cmp expected actual &&
    wait_job_state $id COMPLETED 30 && [ "$(count_events $id alloc)" = 1 ]
'

# ---- a running job: fluxq-attach, fluxq-logs ----

write_script "$OUT/live.sh" <<'END'
#!/bin/sh
echo "first of $FLUXQ_PROCID"
until test -e /tmp/go; do sleep 0.1; done
echo "last of $FLUXQ_PROCID"
exit $((5 * FLUXQ_PROCID))
END

# terminal.sh COMMAND...: runs COMMAND on a terminal of 40 lines that grows when the file
# "larger" exists.
write_script "$OUT/terminal.sh" <<'END'
#!/bin/sh
unset COLUMNS LINES
stty rows 40 cols 100
stty -g >before
(until test -e larger; do sleep 0.05; done; stty rows 50 cols 132 </dev/tty) &
"$@"
status=$?
: >larger
wait
stty -g >after
cmp before after || exit 99
exit $status
END

test_expect_success 'fluxq-attach and fluxq-logs -f show output of a running job, of all ranks or one' '
    id=$(user fluxq-submit -N 2 -n 2 -D / -o "$OUT/live-%t.out" -- sh -c "$(sed 1d "$OUT/live.sh")") && wait_job_state $id RUNNING 60 &&
    { user fluxq-attach $id >attached 2>attached.err & } && attached=$! &&
    { user fluxq-logs -f --rank 1 --label $id >followed & } && followed=$! &&
    wait_until 30 has_lines attached 2 && wait_until 30 has_lines followed 1 &&
    sort attached >actual && printf "first of 0\nfirst of 1\n" >expected && test_cmp expected actual &&
    echo "1: first of 1" >expected && test_cmp expected followed &&
    grep "^first of 1\$" "$OUT/live-1.out" && user fluxq-logs --task 0 $id >actual && echo "first of 0" >expected && test_cmp expected actual
'

test_expect_success 'fluxq-attach --pty gives a terminal in a rank'\''s pod, with its size, keys and exit status' '
    cat >words <<-END &&
	expect [#$]
	send hostname; tty; stty size\n
	expect n1.fluxq-t4510-$id-0.fluxq.svc.cluster.local\r
	expect /dev/pts/
	expect 40 100
	expect [#$]
	send sh -c "echo sle""eping; exec sleep 4510.3"\n
	expect sleeping
	send \x03
	expect [#$]
	send until stty size | grep "50 132"; do sleep 0.05; done; echo chan""ged\n
	expect changed
	expect [#$]
	send touch /tmp/go; exit 7\n
	end
	END
    { wait_until 60 grep -q "40 100" pty.out && user touch larger & } && larger=$! &&
    test_expect_code 7 talk ./terminal.sh fluxq-attach $id --pty --rank 1 sh <words >pty.out && wait $larger &&
    none_left "sleep 4510.3" && wait_until 30 grep "1: last of 1" followed && [ "$(job_state $id)" = RUNNING ]
'

test_expect_success 'fluxq-attach --pty can run a command on a named node, and watchers end with the job' '
    user fluxq-attach --pty -w node1 $id sh -c "hostname; touch /tmp/go" </dev/null >out && grep "^n0.fluxq-t4510-$id-0.fluxq.svc.cluster.local" out &&
    test_expect_code 5 wait $attached && wait $followed && sort attached >actual &&
    printf "first of 0\nfirst of 1\nlast of 0\nlast of 1\n" >expected && test_cmp expected actual &&
    grep "job $id: FAILED" attached.err
'

test_expect_success 'after the pods are gone fluxq-logs has the output of all ranks, of one rank and of one task' '
    wait_until 60 released $id && user fluxq-logs $id | sort >actual && test_cmp expected actual &&
    user fluxq-logs --rank 1 $id >actual && printf "first of 1\nlast of 1\n" >expected && test_cmp expected actual &&
    user fluxq-logs --task 0 -l $id >actual && printf "0: first of 0\n0: last of 0\n" >expected && test_cmp expected actual
'

# ---- steps of a job: fluxq-cancel, fluxq-bcast, fluxq-show ----

test_expect_success 'several jobs with steps run together' '
    write_script "$OUT/signals.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "echo zero; exec sleep 4510.4"
	echo "step 0: $?"
	fluxq-run sh -c "trap \"echo usr1; exit 3\" USR1; echo one; while :; do sleep 0.1; done"
	echo "step 1: $?"
	END
    write_script "$OUT/bcast.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	head -c 3000000 /dev/urandom >/tmp/big && chmod 751 /tmp/big
	fluxq-bcast /tmp/big /tmp/copy || exit
	fluxq-run sh -c "md5sum </tmp/copy; stat -c %a /tmp/copy; ls -A /tmp | grep -vc -e big -e fluxq" | sort | uniq -c
	md5sum </tmp/big
	fluxq-run -N 1 -n 1 -w node2 sh -c "echo other >/tmp/copy"
	fluxq-bcast /tmp/big /tmp/copy
	echo "status $?"
	fluxq-bcast --force /tmp/big /tmp/copy && fluxq-run md5sum /tmp/copy | uniq -c
	fluxq-bcast /tmp/big /nowhere/copy
	echo "status $?"
	END
    write_script "$OUT/used.sh" <<-\END &&
	#!/bin/sh
	fluxq-run sh -c "dd if=/dev/zero of=/dev/null bs=\$((8 + 8 * FLUXQ_PROCID))M count=2"
	fluxq-run -N 1 -n 1 -w node2 dd if=/dev/zero of=/dev/null bs=1M count=3
	END
    signals=$(user fluxq-submit -N 2 -n 2 -o signals.out ./signals.sh) && bcast=$(user fluxq-submit -N 3 -n 3 -o bcast.out ./bcast.sh) &&
    used=$(user fluxq-submit -N 2 -n 2 --mem 256 -o /dev/null ./used.sh)
'

lines_are()
{
    [ "$(grep -c "^$3\$" "$1" 2>/dev/null)" = "$2" ]
}

test_expect_success 'fluxq-cancel ID.STEP ends only this step, and --signal reaches the tasks of running steps' '
    wait_until 60 lines_are "$OUT/signals.out" 2 zero && user fluxq-cancel $signals.0 &&
    wait_until 30 lines_are "$OUT/signals.out" 2 one && none_left "sleep 4510.4" &&
    user fluxq-cancel --signal=USR1 $signals && wait_job_state $signals COMPLETED 60 &&
    lines_are "$OUT/signals.out" 2 usr1 && lines_are "$OUT/signals.out" 1 "step 0: 143" && lines_are "$OUT/signals.out" 1 "step 1: 3" &&
    grep "step 0 was cancelled\|cancelled on request\|killed by signal 15" "$OUT/signals.out"
'

test_expect_success 'fluxq-bcast copies a file to all nodes, and an error names the node' '
    wait_job_state $bcast "COMPLETED|FAILED" 90 && cat "$OUT/bcast.out" && [ "$(job_state $bcast)" = COMPLETED ] &&
    digest=$(sed -n "s/^\([0-9a-f]*\)  -\$/\1/p" "$OUT/bcast.out") && [ ${#digest} = 32 ] &&
    grep "^ *3 $digest  -\$" "$OUT/bcast.out" && grep "^ *3 751\$" "$OUT/bcast.out" && grep "^ *3 $digest  /tmp/copy\$" "$OUT/bcast.out" &&
    grep "^fluxq-bcast: /tmp/copy already exists (--force replaces it)\$" "$OUT/bcast.out" &&
    grep "^fluxq-run: task 1 on node2: exit status 1\$" "$OUT/bcast.out" &&
    grep "cannot write /nowhere/copy: No such file or directory" "$OUT/bcast.out" && lines_are "$OUT/bcast.out" 2 "status 1"
'

test_expect_success 'fluxq-show job shows the usage of each step and each rank' '
    wait_job_state $used COMPLETED 60 &&
    step_holds $used 0 ".reported == 2 and ([.ranks[].node] == [\"node1\", \"node2\"]) and .user.sum + .system.sum > 0" &&
    step_holds $used 0 ".ranks[0].peak >= 8388608 and .ranks[0].peak < 16777216 and .ranks[1].peak >= 16777216 and .peak.max_node == \"node2\"" &&
    step_holds $used 0 ".ranks[0].read >= 16777216 and .ranks[1].read >= 33554432 and .ranks[1].written >= 33554432" &&
    step_holds $used 1 ".reported == 1 and .ranks[0].node == \"node2\" and .read.sum >= 3145728 and .read.sum < 4194304 and .peak.max > 1000000" &&
    step_holds $used all ".reported == 2 and .read.sum >= 53477376 and ([.ranks[].peak] | min) > 1000000" &&
    fluxq-show job $used | grep -E "^0 +sh +2 +2 +0 .* MiB +node2 .*MiB" && fluxq-show job $used | grep -E "^1 +dd +1 +1 +0 .* MiB +node2 .*MiB"
'

test_expect_success 'the allocation of the killed fluxq-alloc has ended' '
    wait_job_state $orphan FAILED 60 && fluxq-logs $orphan | grep "is gone"
'

test_expect_success 'no object and no booked core of any job is left' '
    wait_until 60 no_jobs_of_ours && wait_until 20 eval "[ \"\$(fluxq-info --json | jq \"[.nodes[].cores_used] | add\")\" = 0 ]" &&
    [ -z "$(k get pods -o name)" ] && stop_broker && wait_until 60 nothing_of_ours
'

test_done
