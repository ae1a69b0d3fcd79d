#!/bin/sh
# t4520-step-faults.t: faults during a step in the pods of a job. Needs root; about two and a half minutes.
# Uses a cluster of its own, of 3 nodes; its namespace admits only pods of the profile "restricted".

test_description='steps on a real cluster under faults

A task that outlives its job, a job that hangs or does not name its loss, incomplete output because of
another program, or an object left in the cluster would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4520
PORT=7717 # the port of the agents
OUT=$HERE/user

# submit NAME ARGUMENTS...: submits as a user without root, in a directory that the pods do not see; NAME
# in the environment identifies the job's processes.
submit()
{
    submit_mark=T_MARK=t4520-$$-$1
    shift
    (cd "$OUT" && env "$submit_mark" setpriv --reuid=65534 --regid=65534 --clear-groups fluxq-submit "$@")
}

start_kube()
{
    start_broker --kube --config "$HERE/kube.yaml"
}

# guardian ID RANK: the pid of the pod's first process. worker ID RANK: the pid of the process that
# starts the tasks.
guardian()
{
    for pid in $(agent_pids "$1" "$2"); do
        { tr '\0' ' ' <"/proc/$(parent_of "$pid")/cmdline"; } 2>/dev/null | grep -q containerd-shim && echo "$pid" && return
    done
    return 1
}

worker()
{
    for pid in $(agent_pids "$1" "$2"); do
        [ "$(parent_of "$pid")" != "$(guardian "$1" "$2")" ] || { echo "$pid" && return; }
    done
    return 1
}

# touch_in ID RANK FILE: creates FILE in the file system of this pod.
touch_in()
{
    touch "/proc/$(guardian "$1" "$2")/root$3"
}

pod_address() # ID RANK
{
    k get pods -l "fluxq.io/job-id=$1,batch.kubernetes.io/job-completion-index=$2" -o "jsonpath={.items[*].status.podIP}"
}

delete_by_force() # ID RANK
{
    k delete pod --force --grace-period=0 -l "fluxq.io/job-id=$1,batch.kubernetes.io/job-completion-index=$2" >deleted 2>&1 &&
        grep -q "force deleted" deleted
}

# gone NAMES...: these variables have ids of jobs; none has a process, an agent, or an object in the cluster.
no_processes() # NAME
{
    [ -z "$(processes_with "T_MARK=t4520-$$-$1")" ] && [ -z "$(agent_pids "$(eval echo "\$$1")" "[0-2]")" ]
}
released() # NAMES...
{
    our_objects >objects || return
    for gone_name; do
        ! grep -q -e "-$CLUSTER_ID-$(eval echo "\$$gone_name")-" objects || return
    done
}
gone()
{
    for gone_name; do
        wait_until 60 no_processes "$gone_name" || return
    done
    wait_until 60 released "$@"
}

# numbered FILE TASK N: the output of the task counts from 0 to its end, with at least N lines.
numbered()
{
    sed -n "s/^$2: //p" "$1" >lines &&
        awk '$1 == "end" { if ($2 != NR - 1) exit 1; end = 1; next } end || $1 != NR - 1 { exit 1 } END { exit !end || NR < '"$3"' }' lines && return
    echo "task $2 in $1:" && awk '$1 != "end" && $1 != NR - 1 { print NR ": " $0; exit }' lines && tail -n 1 lines
    return 1
}

# says ID TEXT: the job's events contain TEXT; otherwise prints the events.
says()
{
    said "$@" || { cat events && return 1; }
}

has_events()
{
    [ "$(count_events "$1" "$2")" -ge "$3" ]
}

own_cluster --nodes 3 --cpus 32
trap 'status=$?; umount -l "$HERE/small" 2>/dev/null; (exit $status); cluster_finish' EXIT

chmod 711 "$HERE"
mkdir -m 777 "$OUT"
mkdir "$HERE/small"

# Each task counts until /tmp/go exists, and then further by the argument; the last line is "end" and the
# number.
write_script "$OUT/lines.sh" <<'END'
#!/bin/sh
exec 2>&1
fluxq-run -l sh -c "i=0; until test -e /tmp/go; do echo \$i; i=\$((i + 1)); sleep 0.05; done
    exec awk -v i=\$i \"BEGIN { for (last = i + $1; i < last; i++) print i; print \\\"end\\\", i }\""
echo "step $?"
END
write_script "$OUT/up.sh" <<'END'
#!/bin/sh
exec 2>&1
test -n "$FLUXQ_RESTART_COUNT" && exec fluxq-run echo again
fluxq-run sh -c "echo up; exec sleep 4520"
END
write_script "$OUT/deaf.sh" <<'END'
#!/bin/sh
exec 2>&1
fluxq-run sh -c "trap '' TERM HUP INT; echo up; while :; do sleep 0.1; done"
END
# The step ends and leaves processes that forked twice; then the job ends, too.
write_script "$OUT/away.sh" <<'END'
#!/bin/sh
exec 2>&1
fluxq-run sh -c "setsid sh -c \"setsid sleep 4521 >/dev/null 2>&1 & setsid sh -c \\\"trap '' TERM; sleep 4522\\\" >/dev/null 2>&1 &\"
    until pidof sleep >/dev/null; do sleep 0.05; done; echo up"
echo "step $?"
until test -e /tmp/go; do sleep 0.1; done
END
write_script "$OUT/flood.sh" <<'END'
#!/bin/sh
exec 2>&1
fluxq-run sh -c "echo up; until test -e /tmp/go; do sleep 0.1; done; exec yes 'it does not stop'"
END
write_script "$OUT/full.sh" <<'END'
#!/bin/sh
exec 2>&1
fluxq-run -l sh -c "echo up; until test -e /tmp/go; do sleep 0.1; done; exec seq 40000"
echo "step $?"
END

test_expect_success 'the broker knows all nodes' '
    mount -t tmpfs -o size=300k,mode=777 none "$HERE/small" &&
    k label namespace fluxq pod-security.kubernetes.io/enforce=restricted &&
    write_config "$configs/fluxq.kubeconfig" "grace: 3s" "output-max: 2Mi" "start-backoff: 1s" "start-backoff-max: 1s" && start_kube &&
    wait_until 30 sh -c "fluxq-info --json | jq -e \"[.nodes[] | select(.state == \\\"up\\\")] | length == 3\""
'

test_expect_success 'steps run on three nodes' '
    steady=$(submit steady -N 3 -n 3 -o steady.out ./lines.sh 10) &&
    worker=$(submit worker --no-requeue -N 3 -n 3 -o worker.out ./up.sh) &&
    guardian=$(submit guardian --no-requeue -N 3 -n 3 -o guardian.out ./up.sh) &&
    pod=$(submit pod --no-requeue -N 3 -n 3 -o pod.out ./up.sh) &&
    pod0=$(submit pod0 --no-requeue -N 3 -n 3 -o pod0.out ./up.sh) &&
    deaf=$(submit deaf -N 3 -n 3 -o deaf.out ./deaf.sh) &&
    away=$(submit away -N 3 -n 3 -o away.out ./away.sh) &&
    flood=$(submit flood -N 3 -n 3 -o flood.out ./flood.sh) &&
    full=$(submit full -N 3 -n 3 -o "$HERE/small/full.out" ./full.sh) &&
    for name in worker guardian pod pod0 deaf away flood; do
        wait_until 90 has_lines "$OUT/$name.out" 3 || return 1
    done &&
    wait_until 60 has_lines "$HERE/small/full.out" 3 && wait_until 60 has_lines "$OUT/steady.out" 30 &&
    for name in worker guardian pod pod0 deaf; do
        [ "$(processes_with "T_MARK=t4520-$$-$name" | wc -l)" -ge 5 ] || return 1 # the script, fluxq-run and the tasks
    done
'

# ---- a rank that never joins: starts here, and a later case checks the result ----

# block OPERATION SOURCE: adds or removes a block of new connections from SOURCE to agents
# on other nodes.
block()
{
    "$KUBE/enter" iptables "$1" FORWARD -s "$2" -p tcp --syn --dport $PORT -j DROP
}

test_expect_success 'one agent is cut off from rank 0, and another is frozen before it joins' '
    block -I 10.244.2.0/24 &&
    noroute=$(submit noroute --start-timeout 0:30 -N 2 -n 2 -o noroute.out ./up.sh) &&
    frozen=$(submit frozen --start-timeout 0:30 -N 2 -n 2 -o frozen.out ./up.sh) &&
    wait_until 60 worker "$noroute" 1 && wait_until 60 worker "$frozen" 1 && kill -STOP $(agent_pids "$frozen" 1) &&
    cut_off=$(pod_address "$noroute" 1) && block -I "$cut_off" && block -D 10.244.2.0/24
'

# ---- agents, pods and tasks ----

test_expect_success 'agents are killed, pods are deleted, and jobs are cancelled' '
    kill -9 "$(worker "$worker" 1)" "$(guardian "$guardian" 2)" && fluxq-cancel "$deaf" &&
    [ "$(processes_with "T_MARK=t4520-$$-away" | wc -l)" -ge 7 ] && touch_in "$away" 0 /tmp/go &&
    delete_by_force "$pod" 1 && delete_by_force "$pod0" 0
'

test_expect_success 'after SIGKILL of a worker, and of a guardian, the jobs end and name the node' '
    wait_job_state "$worker" NODE_FAIL 60 && says "$worker" "finish.*node2: " &&
    wait_job_state "$guardian" NODE_FAIL 60 && says "$guardian" "finish.*node3: "
'

test_expect_success 'after a forced deletion of the pod of rank 1 or rank 0 the job ends and names the node' '
    wait_job_state "$pod" NODE_FAIL 60 && says "$pod" "finish.*node2: " &&
    wait_job_state "$pod0" NODE_FAIL 60 && says "$pod0" "finish.*node1: "
'

test_expect_success 'tasks that ignore SIGTERM, and processes that forked twice into own sessions, end with the job' '
    wait_job_state "$deaf" CANCELLED 60 && wait_job_state "$away" COMPLETED 60 &&
    printf "up\nup\nup\nstep 0\n" >expected && test_cmp expected "$OUT/away.out"
'

test_expect_success 'none of these jobs leaves a process, or an object in the cluster' '
    gone worker guardian pod pod0 deaf away
'

is_larger()
{
    [ "$(stat -c %s "$1")" -gt "$2" ]
}
test_expect_success 'tasks with endless output can be cancelled, and fluxq-logs marks the cut' '
    for rank in 0 1 2; do touch_in "$flood" $rank /tmp/go || return 1; done &&
    wait_until 60 is_larger "$OUT/flood.out" 6000000 && fluxq-cancel "$flood" && wait_job_state "$flood" CANCELLED 60 &&
    fluxq-logs "$flood" >logged && grep "^fluxq: \[\.\.\. about [0-9.]* MB" logged && [ "$(stat -c %s logged)" -lt 2400000 ] &&
    [ "$(head -n 3 "$OUT/flood.out" | uniq -c | tr -s " ")" = " 3 up" ] && gone flood
'

test_expect_success 'a full disk of the output file is reported, the job goes on, and fluxq-logs has the missing output' '
    for rank in 0 1 2; do touch_in "$full" $rank /tmp/go || return 1; done &&
    wait_job_state "$full" COMPLETED 60 && says "$full" "finish.*small/full.out: No space left on device" &&
    job_field "$full" result_text | grep "^completed; .*small/full.out: No space left on device (its output is lost there; fluxq-logs has it)" &&
    fluxq-logs "$full" >logged && [ "$(tail -n 1 logged)" = "step 0" ] && ! grep "^fluxq: \[" logged &&
    for task in 0 1 2; do
        sed -n "s/^$task: //p" logged >actual && { echo up && seq 40000; } >expected && test_cmp expected actual || return 1
    done && gone full
'

# ---- unknown clients of agents ----

# HOST PORT COUNT: connects COUNT times, one after another, sends a different kind of invalid data each time,
# and keeps the last 300 open until the end. Prints the number of accepted connections.
cat >strangers.py <<'END'
import collections, socket, sys
host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
kinds = [b"", b"F", b"FQJ1", b"FQJ1\1\0\0\0" + b"n" * 16, b"FQJ1\1\0\0\0" + b"n" * 16 + b"p" * 32,
         b"\0" * 100, b"GET /v1/status HTTP/1.1\r\n\r\n", b"GET " + b"x" * 9000, b"FQJ1\xff\xff\xff\xff" + b"n" * 16]
held, entered = collections.deque(), 0
for i in range(count):
    s = socket.socket()
    s.settimeout(20)
    try:
        s.connect((host, port))
        entered += 1
        s.send(kinds[i % len(kinds)])
    except (BrokenPipeError, ConnectionResetError):
        pass
    except ConnectionRefusedError:
        s.close()
        continue
    held.append(s)
    if len(held) > 300:
        held.popleft().close()
print(entered, flush=True)
sys.stdin.read()
END

resident() # PID: the peak memory, in KiB
{
    sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status"
}
descriptors() # PID
{
    find "/proc/$1/fd" -mindepth 1 | wc -l
}
few_descriptors()
{
    [ "$(descriptors "$1")" -lt 64 ]
}

test_expect_success 'a client without the key is refused, from a pod and from the node' '
    address=$(pod_address "$steady" 0) && write_script "$OUT/stranger.sh" <<-END &&
	#!/bin/sh
	exec 2>&1
	printf "FQJ1\\001\\000\\000\\000nnnnnnnnnnnnnnnnpppppppppppppppppppppppppppppppp" | timeout 20 busybox nc $address $PORT | wc -c
	printf "POST /v1/terminate?reason=cancelled HTTP/1.1\r\n\r\n" | timeout 20 busybox nc $address $PORT | head -n 1 | tr -d "\r"
	END
    id=$(submit stranger -o stranger.out ./stranger.sh) && wait_job_state "$id" COMPLETED 60 &&
    printf "0\nHTTP/1.1 401 Unauthorized\n" >expected && test_cmp expected "$OUT/stranger.out" &&
    "$KUBE/enter" sh "$OUT/stranger.sh" >actual && test_cmp expected actual &&
    k logs "$(k get pods -o name -l "fluxq.io/job-id=$steady,batch.kubernetes.io/job-completion-index=0")" >log &&
    [ "$(grep -c "refused rank 1: it does not have the job.s key" log)" = 2 ]
'

test_expect_success '10,000 connections to rank 0 leave its memory, descriptors and log bounded' '
    agent=$(worker "$steady" 0) && mkfifo hold &&
    { "$KUBE/enter" timeout 120 python3 strangers.py "$address" $PORT 10000 <hold >entered & } && strangers=$! && exec 8>hold &&
    wait_until 90 test -s entered && [ "$(cat entered)" = 10000 ] &&
    [ "$(descriptors "$agent")" -lt 2200 ] && memory=$(resident "$agent") && echo "# of 10,000 connections: $memory KiB resident at most" >&3 &&
    [ "$memory" -gt 0 ] && [ "$memory" -lt 40960 ] && exec 8>&- && wait $strangers && wait_until 30 few_descriptors "$agent" &&
    k logs "$(k get pods -o name -l "fluxq.io/job-id=$steady,batch.kubernetes.io/job-completion-index=0")" >log &&
    [ "$(grep -c refused log)" -ge 10 ] && [ "$(grep -c refused log)" -lt 60 ]
'

test_expect_success 'other ranks, which have closed the port after their children joined, accept no connection' '
    for rank in 1 2; do
        "$KUBE/enter" timeout 120 python3 strangers.py "$(pod_address "$steady" $rank)" $PORT 10000 </dev/null >entered &&
        [ "$(cat entered)" = 0 ] || return 1
    done
'

test_expect_success 'a start with an agent cut off or frozen fails with the node'\''s name, and the next start avoids the node' '
    for name in noroute frozen; do
        id=$(eval echo \$$name) && wait_until 60 has_events "$id" requeue 1 &&
        says "$id" "requeue.*1 of 2 nodes did not join within 0:[0-4][0-9]: node2.*avoid=node2" &&
        wait_job_state "$id" COMPLETED 90 && says "$id" "alloc.*node\[1,3\]" &&
        printf "again\nagain\n" >expected && test_cmp expected "$OUT/$name.out" || return 1
    done && block -D "$cut_off" && gone noroute frozen
'

# ---- the broker ----

test_expect_success 'kill -9 of the broker during starts, during output and at the end of steps loses and repeats no line' '
    lines1=$(submit lines1 -N 3 -n 3 -o lines1.out ./lines.sh 20000) && lines2=$(submit lines2 -N 3 -n 3 -o lines2.out ./lines.sh 20000) &&
    wait_until 30 has_events "$lines2" alloc 1 && kill_broker && start_kube &&
    wait_until 60 has_lines "$OUT/lines1.out" 30 && wait_until 60 has_lines "$OUT/lines2.out" 30 && kill_broker && start_kube &&
    wait_until 60 has_lines "$OUT/lines2.out" 90 &&
    for rank in 0 1 2; do touch_in "$lines2" $rank /tmp/go || return 1; done &&
    wait_until 60 has_lines "$OUT/lines2.out" 3000 && kill_broker && # while its last lines arrive
    for rank in 0 1 2; do touch_in "$lines1" $rank /tmp/go || return 1; done &&
    wait_until 60 eval "[ -z \"\$(processes_with T_MARK=t4520-$$-lines1)\" ]" && start_kube && # the job ended without a broker
    wait_job_state "$lines1" COMPLETED 60 && wait_job_state "$lines2" COMPLETED 60 &&
    for task in 0 1 2; do
        numbered "$OUT/lines1.out" $task 20030 && numbered "$OUT/lines2.out" $task 20030 || return 1
    done && [ "$(tail -n 1 "$OUT/lines1.out")" = "step 0" ] && [ "$(tail -n 1 "$OUT/lines2.out")" = "step 0" ] &&
    short=$(submit short -N 2 -n 2 -o short.out ./lines.sh 3000) && wait_until 60 has_lines "$OUT/short.out" 2 &&
    for rank in 0 1; do touch_in "$short" $rank /tmp/go || return 1; done &&
    wait_until 60 said "$short" finish && kill_broker && start_kube && wait_job_state "$short" COMPLETED 60 &&
    numbered "$OUT/short.out" 0 3000 && numbered "$OUT/short.out" 1 3000 &&
    for id in $lines1 $lines2 $short; do
        [ "$(count_events "$id" alloc) $(count_events "$id" start) $(count_events "$id" finish)" = "1 1 1" ] || return 1
    done && gone lines1 lines2 short
'

test_expect_success 'the step that ran during all these faults has complete output of all tasks' '
    [ "$(job_state "$steady")" = RUNNING ] && for rank in 0 1 2; do touch_in "$steady" $rank /tmp/go || return 1; done &&
    wait_job_state "$steady" COMPLETED 60 &&
    for task in 0 1 2; do numbered "$OUT/steady.out" $task 500 || return 1; done &&
    grep -v "^[012]: " "$OUT/steady.out" >actual && echo "step 0" >expected && test_cmp expected actual && gone steady
'

# ---- the node of rank 0 ----

test_expect_success 'when the node of rank 0 loses power during a step the job ends, names the node, and leaves no process' '
    wait_until 60 no_jobs_of_ours &&
    lost=$(submit lost --no-requeue -N 2 -n 2 -o lost.out ./up.sh) && again=$(submit again --requeue -N 2 -n 2 -o again.out ./up.sh) &&
    wait_until 60 has_lines "$OUT/lost.out" 2 && wait_until 60 has_lines "$OUT/again.out" 2 &&
    [ "$(job_field "$lost" "ranks[0].node") $(job_field "$again" "ranks[0].node")" = "node1 node1" ] &&
    "$KUBE/node" stop 1 && wait_job_state "$lost" NODE_FAIL 60 && says "$lost" "finish.*node1: " && gone lost
'

test_expect_success 'when the node of rank 0 loses power a job with requeue runs again on other nodes, with its step' '
    [ -n "$again" ] && wait_job_state "$again" COMPLETED 90 && says "$again" "alloc.*node\[2-3\]" && [ "$(count_events "$again" requeue)" = 1 ] &&
    printf "again\nagain\n" >expected && test_cmp expected "$OUT/again.out" && gone again
'

test_expect_success 'no object and no booked core of any job is left' '
    wait_until 60 no_jobs_of_ours && wait_until 20 eval "[ \"\$(fluxq-info --json | jq \"[.nodes[].cores_used] | add\")\" = 0 ]" &&
    [ -z "$(k get pods -o name)" ] && stop_broker && wait_until 60 nothing_of_ours
'

test_done
