#!/bin/sh
test_description='Slurm'"'"'s commands inside a job: those of the local host, and those that the broker runs for a pod'
. "$(dirname "$0")/lib.sh"

cat >fluxq.yaml <<-END
	local:
	  nodes: 4
	  cores: 2
	END
start_broker --config fluxq.yaml

# As in a pod: the agent's program under the names of the commands, and no other program of fluxq.
mkdir pod pod/slurm
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" pod/
for name in sacct sacctmgr sattach sbatch sbcast scancel scontrol sinfo sprio squeue sreport srun sshare sstat strigger; do ln -s ../fluxq-shell pod/slurm/$name; done
POD=$PWD/pod/slurm
export POD

# in_pod FILE: runs the script on stdin as a job, in which PATH has the pod's commands first.
in_pod()
{
    file=$1
    shift
    { echo '#!/bin/sh'; echo "PATH='$POD:/usr/bin:/bin'; export PATH; unset FLUXQ_BROKER"; cat; } >"$file"
    id=$(sbatch --parsable "$@" "$file") && wait_job_state "$id" 'COMPLETED|FAILED' 60 && out=slurm-$id.out && cat "$out"
}

test_expect_success 'scontrol show hostnames needs nobody' '
    in_pod names.sh -N3 <<-\END &&
	scontrol show hostnames
	scontrol show hostname "n[1-2],m07"
	scontrol show hostnames "n[1-" ; echo "status $?"
	END
    printf "%s\n" node0 node1 node2 n1 n2 m07 >expected && head -n 6 "$out" | diff expected - &&
    grep "scontrol: error: Invalid hostlist: n\[1-" "$out" && grep -x "status 1" "$out"
'

test_expect_success 'squeue, sinfo, sacct and scontrol show job say inside what they say outside' '
    in_pod see.sh -J seen <<-\END &&
	squeue -h -o "%A %j %t" -j $SLURM_JOB_ID
	SQUEUE_FORMAT="own %i" squeue -h --me
	sinfo -h -o "%P %D"
	scontrol show job $SLURM_JOB_ID | sed -n "s/^ *\(JobId=.* JobName=.*\)/\1/p"
	sacct -n -X -o jobid -j $SLURM_JOB_ID >/dev/null; echo "sacct $?"
	squeue -j 999999; echo "status $?"
	END
    grep -x "$id seen R" "$out" && grep -x "own $id" "$out" && grep -Fx "$(sinfo -h -o "%P %D")" "$out" &&
    grep "JobId=$id JobName=seen" "$out" && grep -x "sacct 0" "$out" &&
    grep "Invalid job id specified" "$out" && grep -x "status 1" "$out"
'

test_expect_success 'sprio, sshare, sstat, sreport, sacctmgr and strigger answer inside as outside' '
    in_pod account.sh -n2 -J seen <<-\END &&
	sbatch --parsable -N4 --exclusive --wrap true >waits
	sprio -h -o "prio %i" -j "$(cat waits)"; echo "sprio $?"
	sshare -n -P -o user -u "$(id -un)" >share; echo "sshare $?"
	srun -n2 sh -c "sstat -n -P -o jobid,ntasks -j $SLURM_JOB_ID.0 >stat.\$SLURM_PROCID"; echo "sstat $?"
	sreport -n -P cluster Utilization format=cluster >report; echo "sreport $?"
	sacctmgr -n -P show cluster format=cluster >cluster; echo "sacctmgr $?"
	sacctmgr -i add account new; echo "change $?"
	strigger --set --jobid=1 --fini --program=/bin/true; echo "strigger $?"
	END
    for name in sprio sshare sstat sreport sacctmgr; do grep -x "$name 0" "$out" || return 1; done &&
    grep -x "prio $(cat waits)" "$out" &&
    sshare -n -P -o user -u "$(id -un)" | diff - share && grep -x "$id.0|2" stat.0 && grep -x "$id.0|2" stat.1 &&
    sacctmgr -n -P show cluster format=cluster | diff - cluster && diff report cluster &&
    grep -x "change 1" "$out" && grep -x "strigger 1" "$out" && grep "fluxq has no triggers" "$out" && wait_job_state "$(cat waits)" COMPLETED
'

test_expect_success 'sbatch submits a file, standard input and --wrap, with the environment and the directory of the job' '
    mkdir -p below && printf "#!/bin/sh\n#SBATCH -J filed\necho \"\$MARK from \$PWD: \$1\"\n" >below/job.sh &&
    in_pod submit.sh <<-\END &&
	cd below
	MARK=one; export MARK
	sbatch -o "$SLURM_SUBMIT_DIR/one.out" job.sh argument
	sbatch --parsable -o "$SLURM_SUBMIT_DIR/two.out" <<-SCRIPT >two.id
	#!/bin/sh
	echo "two \$MARK"
	SCRIPT
	SBATCH_JOB_NAME=third sbatch --parsable --wrap "echo three" -o "$SLURM_SUBMIT_DIR/three.out" >three.id
	ulimit -S -n 100; ulimit -S -c 0
	sbatch --parsable --propagate=NOFILE,FSIZE --wrap "ulimit -n; ulimit -f" -o "$SLURM_SUBMIT_DIR/four.out" >four.id
	sbatch /nonexistent/x.sh; echo "status $?"
	sbatch --export-file /nonexistent/env job.sh; echo "status $?"
	END
    grep -x "Submitted batch job [0-9]*" "$out" && grep "/nonexistent/x.sh: No such file" "$out" &&
    grep "/nonexistent/env: No such file" "$out" && test "$(grep -cx "status 1" "$out")" = 2 &&
    first=$(sed -n "s/^Submitted batch job //p" "$out") && two=$(cat below/two.id) && three=$(cat below/three.id) && wait_job_state "$(cat below/four.id)" COMPLETED &&
    printf "%s\n" 100 unlimited | diff - four.out &&
    wait_job_state "$first" COMPLETED && wait_job_state "$two" COMPLETED && wait_job_state "$three" COMPLETED &&
    grep -x "one from $PWD/below: argument" one.out && grep -x "two one" two.out && grep -x three three.out &&
    test "$(job_field "$first" name)" = filed && test "$(job_field "$three" name)" = third
'

test_expect_success 'a command does not read the standard input that it does not need' '
    in_pod input.sh <<-\END &&
	printf "%s\\n" one two | while read word; do squeue -h -j $SLURM_JOB_ID >/dev/null; echo "word $word"; done
	END
    grep -x "word one" "$out" && grep -x "word two" "$out"
'

test_expect_success 'a question gets its answer before the end of standard input' '
    sbatch --parsable --wrap "sleep 1000" >asked && mkfifo questions &&
    in_pod ask.sh <<-\END &&
	exec 3<>questions
	echo y >&3
	scancel -i "$(cat asked)" <&3; printf "\\nscancel %s\\n" "$?"
	head -c 1000000 /dev/zero | tr "\0" "#" >long.sh && sed -i "1i #!/bin/sh" long.sh
	sbatch --parsable --hold <long.sh >long && echo "long $?"
	END
    grep -x "scancel 0" "$out" && wait_job_state "$(cat asked)" CANCELLED && grep -x "long 0" "$out" &&
    scontrol write batch_script "$(cat long)" - | cmp - long.sh
'

test_expect_success 'scancel and scontrol requeue act on jobs of the user' '
    sbatch --parsable --wrap "sleep 1000" >victim &&
    in_pod act.sh --requeue <<-\END &&
	echo "restart ${SLURM_RESTART_COUNT:-0}" >>restarts
	test "$SLURM_RESTART_COUNT" = 1 && exit 0
	scancel "$(cat victim)" && echo cancelled >>restarts
	trap : TERM
	scontrol requeue $SLURM_JOB_ID
	echo "requeue $?" >>restarts
	exec sleep 100
	END
    wait_job_state "$(cat victim)" CANCELLED &&
    printf "%s\n" "restart 0" cancelled "requeue 0" "restart 1" >expected && test_cmp expected restarts
'

test_expect_success ROOT 'a command inside a job of an administrator has no rights over jobs of others' '
    chmod 711 "$FLUXQ_RUN" &&
    spec="{\"version\":1,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"task\",\"with\":[{\"type\":\"core\",\"count\":1}]}],\"tasks\":[{\"command\":[\"true\"],\"slot\":\"task\",\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{\"duration\":60}}}" &&
    setpriv --reuid=nobody --regid=nogroup --clear-groups curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" -d "$spec" \
        "http://fluxqd/v1/jobs?urgency=0" | jq -e .id >others &&
    in_pod others.sh <<-\END &&
	scancel "$(cat others)"; echo "scancel $?"
	scancel -u nobody
	sinfo -h -N >/dev/null && echo "sinfo 0"
	END
    grep "belongs to nobody" "$out" && grep -x "scancel 1" "$out" && grep -x "sinfo 0" "$out" &&
    test "$(job_state $(cat others))" = PENDING && scancel "$(cat others)" && wait_job_state "$(cat others)" CANCELLED
'
test_expect_success 'a local job has the commands of the machine, and finds its own broker, also without any environment' '
    write_script local.sh <<-\END &&
	#!/bin/sh
	echo "broker $FLUXQ_BROKER"
	echo "restart ${SLURM_RESTART_COUNT:-0}"
	squeue -h -o "local %A" -j $SLURM_JOB_ID
	scontrol show hostnames
	test "$SLURM_RESTART_COUNT" = 1 && { sbatch --parsable --hold --wrap true >inner; exit; }
	scontrol requeue $SLURM_JOB_ID && sleep 100
	END
    id=$(sbatch --parsable --export=NONE --requeue --open-mode=append local.sh) && wait_job_state "$id" COMPLETED && out=slurm-$id.out &&
    cat "$out" && grep -x "broker unix://$FLUXQ_RUN/fluxqd.sock" "$out" && grep -x "restart 1" "$out" &&
    test "$(grep -cx "local $id" "$out")" = 2 && grep -x node0 "$out" && test "$(job_state "$(cat inner)")" = PENDING &&
    id=$(sbatch --parsable --export=FLUXQ_BROKER=mine --wrap "echo \$FLUXQ_BROKER") && wait_job_state "$id" COMPLETED &&
    grep -x mine "slurm-$id.out"
'

test_expect_success 'sbcast copies a file to the nodes of the job, of a job by --jobid, and refuses what it cannot do' '
    echo "the file" >original && touch -d 2001-02-03T04:05:06 original &&
    in_pod copy.sh -N2 <<-\END &&
	sbcast original copy1 && sbcast -v copy.sh copy1; echo "again $?"
	sbcast -fp -j $SLURM_JOB_ID original copy2; echo "forced $?"
	sbcast --jobid=999999 original copy3; echo "other $?"
	sbcast -C original copy4; echo "compress $?"
	sbcast -F 4 original copy3; echo "fanout $?"
	SBCAST_SIZE=4m sbcast original copy3; echo "size $?"
	sbcast original; echo "one $?"
	END
    test_cmp original copy1 && grep -x "again 1" "$out" && test_cmp original copy2 && grep -x "forced 0" "$out" &&
    test "$(date -r copy2 +%Y)" = 2001 && test_must_fail test -e copy3 &&
    grep -x "other 1" "$out" && grep "inside a job a file is copied to the nodes of that job, $id" "$out" &&
    grep -x "compress 0" "$out" && cmp original copy4 && rm copy4 && grep -x "fanout 1" "$out" && grep "error: --fanout: not supported" "$out" && grep -x "size 1" "$out" &&
    grep "error: SBCAST_SIZE: not supported" "$out" && grep -x "one 1" "$out" &&
    test_must_fail sbcast original copy4 2>err && grep "Need a job id to run this command" err &&
    test_must_fail sbcast one 2>err && grep -x "Need two file names, have 1 names" err &&
    test_must_fail sbcast --send-libs one two 2>err && grep "sbcast: error: --send-libs: not supported" err &&
    id=$(sbatch --parsable --wrap "sleep 100") && wait_job_state "$id" RUNNING && sbcast -j "$id" original copy5 && test_cmp original copy5 &&
    test_must_fail env SBCAST_PRESERVE=1 sbcast -j "$id" copy.sh copy5 && SBCAST_FORCE=1 sbcast -j "$id" copy.sh copy5 && scancel "$id" &&
    sbatch --wrap "sbcast original copy6" -W && test_cmp original copy6
'

test_expect_success 'sattach follows the tasks of a job without a script, inside and outside' '
    mkfifo gate && id=$(fluxq-submit -n2 -- sh -c "echo out \$SLURM_PROCID; test \$SLURM_PROCID = 1 || cat gate; echo err \$SLURM_PROCID >&2") &&
    wait_job_state "$id" RUNNING && { sattach -l "$id.0" >all 2>&1 & } && pid=$! && job=$id &&
    in_pod attach.sh <<-END &&
	sattach --output-filter=1 --error-filter=1 $job.0 >inner 2>&1 &
	sattach $job.batch; echo "batch \$?"
	sattach \$SLURM_JOB_ID.0; echo "script \$?"
	sattach --pty $job.0; echo "pty \$?"
	for i in \$(seq 200); do grep -q "out 1" inner && grep -q "out 0" all && break; sleep 0.1; done
	echo go >gate
	wait \$!
	END
    wait $pid && sort all && grep "^0: out 0" all && grep "^1: err 1" all && printf "%s\n" "out 1" "err 1" | sort >expected && sort inner | diff expected - &&
    grep -x "batch 1" "$out" && grep "Cannot be used with extern or batch steps" "$out" && grep -x "script 1" "$out" &&
    grep "the output of step $id.0 goes to the srun that started it" "$out" && grep -x "pty 1" "$out" &&
    wait_job_state "$job" COMPLETED && test_must_fail sattach "$job.0" 2>err && grep "Could not get job step info" err &&
    test_must_fail sattach 999999.0 2>err && grep "Invalid job id specified" err
'

test_expect_success 'more commands than run at once wait for each other, and all are answered' '
    in_pod many.sh <<-\END &&
	for i in $(seq 40); do squeue -h -o "answer %A" -j $SLURM_JOB_ID & done
	wait
	END
    test "$(grep -cx "answer $id" "$out")" = 40
'

test_expect_success 'commands of all ranks are answered' '
    in_pod ranks.sh -N4 <<-\END &&
	srun sh -c "squeue -h -o \"rank \$SLURM_PROCID %A\" -j $SLURM_JOB_ID"
	END
    for rank in 0 1 2 3; do grep -x "rank $rank $id" "$out" || return 1; done
'

test_expect_success 'a reader that goes early ends the command, and the job goes on' '
    in_pod early.sh <<-\END &&
	squeue --help | head -n 1 >/dev/null
	for i in 1 2 3 4 5 6 7 8 9 10; do squeue -i 1 >/dev/null & echo $! >>pids; done
	sleep 2; kill $(cat pids); wait
	squeue -h -o "after %A" -j $SLURM_JOB_ID
	END
    grep -x "after $id" "$out"
'

test_expect_success 'an environment that is too large is refused with its limit' '
    in_pod large.sh <<-\END &&
	LARGE=$(head -c 120000 /dev/zero | tr "\\0" x)
	for i in $(seq 40); do eval "export LARGE$i=\$LARGE"; done
	exec 3>&1; (ulimit -s unlimited; squeue) 2>&1; echo "status $?"
	END
    grep -E "squeue: (error: arguments and environment have more than|.*Argument list too long)|Argument list too long" "$out"
'

test_expect_success 'scontrol write batch_script writes to standard output only' '
    in_pod batch.sh <<-\END &&
	scontrol write batch_script $SLURM_JOB_ID - | grep -c "the mark of this script"
	scontrol write batch_script $SLURM_JOB_ID there; echo "status $?"
	END
    grep -x 1 "$out" && grep "name - as the file" "$out" && grep -x "status 1" "$out" && test_must_fail test -e there
'

# Messages of protocol/inside.h that no client sends, on the socket of the job's agent.
cat >hostile.py <<-'END'
	import os, socket, struct, sys
	ASK, TAKE, TAKEN, NONE, GONE, REQUEST = range(6)
	END = 11

	def message(kind, data=b"", type=108):
	    return struct.pack("<BBHIII", type, kind, 0, 0, 0, len(data)) + data

	def ask():
	    s = socket.socket(socket.AF_UNIX)
	    s.settimeout(30)
	    s.connect(os.environ["FLUXQ_AGENT_SOCKET"])
	    s.sendall(message(ASK))
	    return s

	def text(s):
	    said, buf = b"", b""
	    while True:
	        more = s.recv(65536)
	        buf += more
	        while len(buf) >= 16 and len(buf) >= 16 + struct.unpack("<I", buf[12:16])[0]:
	            size = 16 + struct.unpack("<I", buf[12:16])[0]
	            kind, data, buf = buf[1], buf[16:size], buf[size:]
	            if kind in (GONE, END):
	                return said
	            said += data
	        if not more:
	            return said

	def record(name, value):
	    return b"%s %d\n%s\n" % (name, len(value), value)

	def request(*pieces):
	    s = ask()
	    head = s.recv(16)
	    assert head[1] == TAKEN, head
	    for piece in pieces:
	        s.sendall(message(REQUEST, piece))
	    s.sendall(message(REQUEST))
	    said = text(s)
	    print(repr(said[:300]))
	    s.close()

	good = record(b"cwd", b"/") + record(b"host", b"h") + record(b"arg", b"x")
	request(b"nonsense")
	request(good + record(b"command", b"../../bin/sh"))
	request(good + record(b"command", b"srun"))
	request(good + record(b"command", b"squeue\0x"))
	request(record(b"cwd", b"relative") + record(b"command", b"squeue"))
	request(*[b"x" * 60000] * 100)
	for kind in list(range(16)) + [107, 108, 255]:
	    s = ask()
	    try:
	        s.recv(16)
	        s.sendall(message(kind, b"\xff" * 100))
	    except OSError:
	        pass
	    s.close()
	print("survived")
END

test_expect_success 'invalid messages of a job are refused, and disturb no command' '
    in_pod hostile.sh <<-\END &&
	python3 hostile.py
	squeue -h -o "after %A" -j $SLURM_JOB_ID
	END
    grep -x survived "$out" && grep -x "after $id" "$out" && grep "the broker does not run the command srun for jobs" "$out" &&
    grep "the request is too large" "$out" && squeue -h >/dev/null
'

test_expect_success 'a broker that restarts answers the commands that wait' '
    write_script away.sh <<-END &&
	#!/bin/sh
	PATH="$POD:/usr/bin:/bin"
	: >asks
	while test -e asks; do sleep 0.1; done
	squeue -h -o "back %A" -j \$SLURM_JOB_ID
	END
    id=$(sbatch --parsable away.sh) && wait_until 20 test -e asks && kill_broker && rm asks &&
    start_broker --config fluxq.yaml && wait_job_state $id COMPLETED && grep -x "back $id" slurm-$id.out
'

test_expect_success 'the audit log has the job and the node that such a command comes from' '
    echo "audit-log: $PWD/audit.log" >>fluxq.yaml && fluxq-ctl reload &&
    in_pod audit.sh <<-\END &&
	sbatch --parsable --hold --wrap true >made
	scancel "$(cat made)"
	scontrol hold "$(cat made)"
	squeue >/dev/null
	END
    made=$(cat made) && me=$(id -un) && jq -c "select(.by == \"job\") | [.user, .uid, .from, .action, .jobs, .owner, .status, .code]" audit.log >got &&
    from="\"$me\",$(id -u),\"job $id on node0\"" &&
    cat >wanted <<-END && test_cmp wanted got
	[$from,"submit",[$made],"$me",201,null]
	[$from,"cancel",[$made],"$me",200,null]
	[$from,"urgency",[],null,403,"inside-job"]
	END
'

test_expect_success 'inside-jobs decides what the commands may do' '
    in_pod change.sh <<-\END &&
	scontrol hold $SLURM_JOB_ID; echo "status $?"
	END
    grep "inside-jobs in fluxq.yaml does not have .change." "$out" && grep -x "status 1" "$out" &&
    stop_broker && echo "inside-jobs: [read]" >>fluxq.yaml && start_broker --config fluxq.yaml &&
    in_pod only.sh <<-\END &&
	squeue -h -o "sees %A" -j $SLURM_JOB_ID
	sbatch --wrap true; echo "sbatch $?"
	scancel $SLURM_JOB_ID; echo "scancel $?"
	scontrol requeue $SLURM_JOB_ID; echo "requeue $?"
	END
    grep -x "sees $id" "$out" && grep -x "sbatch 1" "$out" && grep -x "scancel 1" "$out" && grep -x "requeue 1" "$out" &&
    for right in submit cancel requeue; do grep "does not have .$right." "$out" || return 1; done &&
    echo "inside-jobs: [read, write]" >wrong.yaml && test_must_fail fluxqd --check --config wrong.yaml 2>err &&
    grep "inside-jobs: expected a list of read, submit, cancel, requeue and change" err
'

test_done
