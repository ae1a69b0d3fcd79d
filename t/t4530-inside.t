#!/bin/sh
# t4530-inside.t: Slurm's commands in the pods of a job. Needs root; about a minute. Uses a cluster of its
# own, of 2 nodes; the user is not root.

test_description='Slurm'"'"'s commands in the pods of a job, in any image

A command that is not found in an image, that acts as another user or on the files of the broker'"'"'s host, or
that holds up the job would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4530
OUT=$HERE/user

user()
{
    (cd "$OUT" && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@")
}

# run_job NAME [OPTION...]: runs NAME.sh as the user, to its end, with its output in NAME.out.
run_job()
{
    name=$1
    shift
    id=$(user sbatch --parsable -t 5 -o "$name.out" "$@" "$name.sh") &&
        wait_job_state "$id" "COMPLETED|FAILED" 120 && cat "$OUT/$name.out"
}

chmod 711 "$HERE"
mkdir -m 777 "$OUT"

own_cluster --nodes 2

test_expect_success 'the broker knows the nodes' '
    write_config "$configs/fluxq.kubeconfig" "  image: busybox:1" && start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 sh -c "fluxq-info --json | jq -e \"[.nodes[] | select(.state == \\\"up\\\")] | length == 2\""
'

test_expect_success 'the commands are in PATH in every pod, and act as the user of the job' '
    other=$(fluxq-submit --hold -- true) &&
    write_script "$OUT/see.sh" <<-END &&
	#!/bin/sh
	scontrol show hostnames | wc -l
	squeue -h -o "%A %j %t %u" -j \$SLURM_JOB_ID
	srun sh -c "squeue -h --me -o \"rank \\\$SLURM_PROCID %A\"" | sort
	scontrol show job \$SLURM_JOB_ID | grep -o "JobState=[A-Z]*"
	sinfo -h -o "%D"
	cd /tmp && printf "#!/bin/sh\n#SBATCH -J inner\necho \"\\\$MARK in \\\$PWD\"\n" >inner.sh && MARK=x sbatch --hold inner.sh
	echo "echo two" | sed "1i #!/bin/sh" | sbatch --parsable --hold >two && squeue -h -o "%A %T" -j \$(cat two)
	scancel \$(cat two) && echo "cancelled \$(cat two)"
	scancel $other; echo "other \$?"
	sbatch /etc/hostname.of.the.broker; echo "file \$?"
	END
    run_job see -J seen -N 2 -n 2 && out=$OUT/see.out && user_name=$(id -nu 65534) &&
    grep -x 2 "$out" && grep -x "$id seen R $user_name" "$out" && grep -x "rank 0 $id" "$out" && grep -x "rank 1 $id" "$out" &&
    grep -x JobState=RUNNING "$out" && inner=$(sed -n "s/^Submitted batch job //p" "$out") &&
    test "$(job_field "$inner" name)" = inner && test "$(job_field "$inner" user)" = "$user_name" &&
    test "$(fluxq-show job "$inner" --json | jq -r .cwd)" = /tmp &&
    two=$(sed -n "s/^cancelled //p" "$out") && test "$(job_state "$two")" = CANCELLED && grep -x "other 1" "$out" &&
    grep "Access/permission denied" "$out" && test "$(job_state "$other")" = PENDING && grep -x "file 1" "$out" &&
    fluxq-cancel "$other" "$inner"
'

test_expect_success 'a job queues itself again' '
    write_script "$OUT/again.sh" <<-\END &&
	#!/bin/sh
	echo "start ${SLURM_RESTART_COUNT:-0}"
	test "${SLURM_RESTART_COUNT:-0}" = 1 || { scontrol requeue $SLURM_JOB_ID; sleep 100; }
	END
    run_job again --requeue --open-mode=append && grep -x "start 1" "$OUT/again.out" && test "$(job_field "$id" restarts)" = 1
'

# The pids of the commands that the broker runs for jobs.
servers()
{
    pgrep -P "$BROKER_PID" -f '^fluxq-inside'
}

test_expect_success 'on the broker'\''s host the command is a process of the user without groups, and ends with the job' '
    write_script "$OUT/long.sh" <<-\END &&
	#!/bin/sh
	squeue -i 100
	END
    id=$(user sbatch --parsable -t 5 -o long.out long.sh) && wait_until 120 servers >pids && pid=$(servers) &&
    grep -P "^Uid:\t65534\t65534\t65534\t65534$" "/proc/$pid/status" && grep -P "^Gid:\t65534\t65534\t65534\t65534$" "/proc/$pid/status" &&
    grep -P "^Groups:\s*$" "/proc/$pid/status" && grep -P "^CapEff:\t0*$" "/proc/$pid/status" &&
    test "$(tr "\0" "\n" <"/proc/$pid/environ" | wc -l)" = 0 && test "$(ls "/proc/$pid/fd" | tr "\n" " ")" = "0 1 2 3 4 " &&
    fluxq-cancel "$id" && wait_job_state "$id" CANCELLED 60 && wait_until 20 test ! -e "/proc/$pid"
'

test_expect_success 'in an image without any file of its own, and without the environment of the user' '
    "$KUBE/image" empty.tar docker.io/library/empty:1 --file "/busybox=$(command -v busybox)" &&
    timeout 120 "$KUBE/node" load empty.tar &&
    id=$(cd "$OUT" && user fluxq-submit --export=NONE -t 5 -n 1 --image empty:1 -o empty.out -- \
        /busybox sh -c "squeue -h -o \"empty %A\" -j \$SLURM_JOB_ID; scontrol show hostnames | /busybox wc -l; echo \$?") &&
    wait_job_state "$id" "COMPLETED|FAILED" 120 && cat "$OUT/empty.out" && grep -x "empty $id" "$OUT/empty.out" && grep -x 1 "$OUT/empty.out"
'

test_expect_success 'a broker that restarts answers the commands that wait' '
    write_script "$OUT/away.sh" <<-\END &&
	#!/bin/sh
	echo begins
	sleep 5
	squeue -h -o "back %A" -j $SLURM_JOB_ID
	END
    id=$(user sbatch --parsable -t 5 -o away.out away.sh) && wait_job_state "$id" RUNNING 120 &&
    kill_broker && sleep 6 && start_broker --kube --config "$HERE/kube.yaml" &&
    wait_job_state "$id" "COMPLETED|FAILED" 120 && grep -x "back $id" "$OUT/away.out"
'

test_expect_success 'no object of any job is left' '
    wait_until 60 no_jobs_of_ours && stop_broker && wait_until 60 nothing_of_ours
'

test_done
