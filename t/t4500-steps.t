#!/bin/sh
# t4500-steps.t: fluxq-run and MPI in the pods of a job. Needs root; about a minute and a half. Uses a cluster
# of its own, of 3 nodes; its namespace admits only pods of the profile "restricted".

test_description='steps and MPI on a real cluster

A step that does not reach all pods, an MPI program that needs settings of the user to find its other
tasks, or an object that is left over would fail this.
'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/kube.sh"
CLUSTER_ID=t4500
OUT=$HERE/out

# submit ARGUMENTS...: submits as a user without root, in a directory that the pods do not see.
submit()
{
    (cd "$OUT" && setpriv --reuid=65534 --regid=65534 --clear-groups fluxq-submit -t 5 "$@")
}

# as_games ARGUMENTS...: like submit, as a user of this machine that no image knows.
as_games()
{
    (cd "$OUT" && setpriv --reuid=games --regid=60 --clear-groups fluxq-submit -t 5 "$@")
}

# run_job NAME ARGUMENTS...: runs NAME.sh to its end, with its output in NAME.out.
run_job()
{
    name=$1
    shift
    id=$(submit -o "$name.out" "$@" "./$name.sh") &&
        wait_job_state "$id" "COMPLETED|FAILED|OUT_OF_MEMORY" 120 && cat "$OUT/$name.out"
}

# job NAME ARGUMENTS...: like run_job; the job must succeed, and its output must equal the
# file expected.
job()
{
    run_job "$@" && [ "$(job_state "$id")" = COMPLETED ] && test_cmp expected "$OUT/$name.out"
}

delete_pod() # ID RANK
{
    k delete pod --wait=false -l "fluxq.io/job-id=$1,batch.kubernetes.io/job-completion-index=$2" >deleted &&
        grep -q deleted deleted
}

chmod 711 "$HERE"
mkdir -m 777 "$OUT"

own_cluster --nodes 3

test_expect_success 'the cluster has the image, and the broker knows its nodes' '
    image=$(timeout 180 "$KUBE/mpi-image") && timeout 120 "$KUBE/node" load "$image" &&
    write_config "$configs/fluxq.kubeconfig" "  image: mpi:1" &&
    start_broker --kube --config "$HERE/kube.yaml" &&
    wait_until 30 sh -c "fluxq-info --json | jq -e \"[.nodes[] | select(.state == \\\"up\\\")] | length == 3\""
'

test_expect_success 'the namespace refuses pods that the profile restricted does not allow' '
    k label namespace fluxq pod-security.kubernetes.io/enforce=restricted &&
    test_must_fail k run --image=busybox:1 --restart=Never --dry-run=server foreign 2>err && grep "violates PodSecurity" err
'

test_expect_success 'two steps run over three nodes with the right variables, and the worst status counts' '
    write_script "$OUT/two.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run -l sh -c "echo \$FLUXQ_STEP_ID \$FLUXQ_PROCID/\$FLUXQ_NTASKS \$FLUXQ_NODEID \$FLUXQ_NODENAME \$(hostname)" | sort
	fluxq-run -N 2 -n 2 sh -c "exit \$((3 * FLUXQ_PROCID))"
	echo "$?"
	END
    id=$(submit -N 3 -n 3 -o two.out ./two.sh) && wait_job_state "$id" COMPLETED 120 && cat >expected <<-END &&
	0: 0 0/3 0 node1 n0.fluxq-t4500-$id-0.fluxq.svc.cluster.local
	1: 0 1/3 1 node2 n1.fluxq-t4500-$id-0.fluxq.svc.cluster.local
	2: 0 2/3 2 node3 n2.fluxq-t4500-$id-0.fluxq.svc.cluster.local
	fluxq-run: task 1 on node2: exit status 3
	3
	END
    test_cmp expected "$OUT/two.out"
'

test_expect_success 'standard input goes to the tasks in all pods' '
    write_script "$OUT/input.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	seq 1 100000 | fluxq-run md5sum | sort | uniq -c
	END
    seq 1 100000 | md5sum | sed "s/^/      3 /" >expected && job input -N 3 -n 3
'

test_expect_success 'a task runs on the node that -w names, by node name or pod name' '
    write_script "$OUT/named.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run -n 1 -w node3 sh -c "echo \$FLUXQ_NODENAME"
	fluxq-run -n 1 -w "$(sed -n "2s/ .*//p" "$FLUXQ_HOSTFILE")" sh -c "echo \$FLUXQ_NODENAME"
	fluxq-run --rsh "n2${HOSTNAME#n0}" echo \$FLUXQ_NODENAME
	fluxq-run -n 1 -w node4 true
	echo "$?"
	END
    printf "%s\n" node3 node2 node3 "fluxq-run: --nodelist: the job has no node node4" 1 >expected &&
    job named -N 3 -n 3
'

test_expect_success 'fluxq-run is in PATH in any image, also without the user'\''s environment' '
    write_script "$OUT/path.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	command -v fluxq-run
	fluxq-run sh -c "command -v fluxq-run"
	END
    printf "/fluxq/bin/fluxq-run\n%.0s" 1 2 3 >expected &&
    job path --image busybox:1 -N 2 -n 2 && job path --image busybox:1 --export NONE -N 2 -n 2
'

test_expect_success 'a script for Slurm runs unchanged: srun is in PATH, and hostname prints the names of the node list' '
    write_script "$OUT/textbook.sh" <<-\END &&
	#!/bin/sh
	#SBATCH --job-name=textbook --account=physics
	#SBATCH --nodes=2 --ntasks-per-node=2
	cd /tmp
	srun -l -A physics --mem=1 sh -c "echo \$SLURM_PROCID of \$SLURM_NTASKS, \$SLURM_JOB_ACCOUNT" | sort
	srun --ntasks-per-node=1 -n2 hostname | sort | tr "\n" " " >names
	test "$(cat names)" = "$(echo $SLURM_JOB_NODELIST | tr , "\n" | sort | tr "\n" " ")" && echo names
	srun --ntasks-per-node=1 -n2 hostname -f | sort | tr "\n" " " >names
	test "$(cat names)" = "$(scontrol show hostnames | sort | tr "\n" " ")" && echo whole names
	srun -n1 -r1 -N1 sh -c "test \$SLURM_TOPOLOGY_ADDR = \$(hostname) && echo own name"
	END
    id=$(cd "$OUT" && setpriv --reuid=65534 --regid=65534 --clear-groups sbatch --parsable -t 5 textbook.sh) &&
    wait_job_state "$id" "COMPLETED|FAILED" 120 && cat "$OUT/slurm-$id.out" >got; cat got &&
    cat >expected <<-END &&
	0: 0 of 4, physics
	1: 1 of 4, physics
	2: 2 of 4, physics
	3: 3 of 4, physics
	names
	whole names
	own name
	END
    test_cmp expected got
'

test_expect_success 'MPICH runs four tasks on two nodes, and on three' '
    write_script "$OUT/mpich2.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	cd /mpi/mpich
	fluxq-run ./allreduce 4 2
	fluxq-run ./ring 4
	fluxq-run -N 1 -n 4 -O ./allreduce 4 4
	END
    printf "%s\n" "allreduce: 4 tasks agree" "ring: came round through 4 tasks" "allreduce: 4 tasks agree" >expected &&
    job mpich2 -N 2 -n 4 &&
    write_script "$OUT/mpich3.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run /mpi/mpich/ring 4
	END
    echo "ring: came round through 4 tasks" >expected && job mpich3 -N 3 -n 4
'

test_expect_success 'when a task of an MPI program is killed the tasks in other pods end' '
    write_script "$OUT/killed.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run /mpi/mpich/killed
	test $? -ne 0 && echo ended
	END
    run_job killed -N 3 -n 3 && grep "node node2: task 1 ended before MPI_Finalize" "$OUT/killed.out" &&
    [ "$(tail -n 1 "$OUT/killed.out")" = ended ]
'

test_expect_success 'mpirun of Open MPI runs over the pods of the job, with the job'\''s environment' '
    write_script "$OUT/ompi.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	cd /mpi/openmpi
	mpirun ./ring 4
	mpirun -n 2 ./ring 2
	mpirun --map-by node -n 3 hostname | sed "s/^n//; s/[.].*//" | sort
	fluxq-run -n 1 echo free
	END
    printf "%s\n" "ring: came round through 4 tasks" "ring: came round through 2 tasks" 0 1 2 free >expected &&
    (unset SHELL && job ompi -N 3 -n 4)
'

[ ! -x "$FLUXQ_BUILD_DIR/src/pmix/fluxq-pmix" ] || test_set_prereq PMIX # built where OpenPMIx is installed
test_expect_success PMIX 'srun starts programs of Open MPI by PMIx in an image that has fluxq-pmix, and is refused in another' '
    image=$(timeout 60 "$KUBE/mpi-image" --pmix "$FLUXQ_BUILD_DIR/src/pmix/fluxq-pmix" "$HERE/pmix.tar") &&
    timeout 120 "$KUBE/node" load "$image" && rm "$image" &&
    write_script "$OUT/pmix.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	srun --mpi=list | grep -x pmix
	srun --mpi=pmix /mpi/openmpi/ring 4
	srun /mpi/openmpi/ring 4
	srun -N 3 -n 6 -O -m cyclic --mpi=pmix /mpi/openmpi/allreduce 6 2
	END
    printf "%s\n" pmix "ring: came round through 4 tasks" "ring: came round through 4 tasks" "allreduce: 6 tasks agree" >expected &&
    job pmix --image pmix:1 -N 3 -n 4 &&
    write_script "$OUT/lacks.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	srun --mpi=list | grep pmix
	srun --mpi=pmix true
	echo "status $?"
	srun /mpi/openmpi/ring 2
	echo "status $?"
	END
    run_job lacks -N 2 -n 2 && test "$(grep -cx "status 1" "$OUT/lacks.out")" -eq 2 &&
    grep "^pmix: fluxq-pmix is not installed here" "$OUT/lacks.out" &&
    grep "node node[0-9]: --mpi=pmix: fluxq-pmix is not installed here" "$OUT/lacks.out" &&
    grep "the program finds its other tasks by PMIx, which needs fluxq-pmix" "$OUT/lacks.out"
'

test_expect_success 'a user that the image does not know has a name in it, also for mpirun over three pods' '
    write_script "$OUT/games.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	whoami
	id -gn
	fluxq-run sh -c "whoami; tail -n +2 /etc/passwd | head -n 1" | sort | uniq -c
	mpirun /mpi/openmpi/ring 3
	END
    grep -q "^games:x:60:" /etc/group && home=$(getent passwd 5 | cut -d: -f6) &&
    printf "%s\n" games games "      3 games" "      3 games:x:5:60::$home:/bin/sh" "ring: came round through 3 tasks" >expected &&
    id=$(as_games -N 3 -n 3 -o games.out ./games.sh) && wait_job_state "$id" "COMPLETED|FAILED" 120 &&
    test_cmp expected "$OUT/games.out"
'

test_expect_success 'in an image without any user the job'\''s user has a name, too' '
    write_script "$OUT/bare.sh" <<-\END &&
	#!/bin/sh
	busybox whoami
	busybox id -gn
	END
    "$KUBE/image" bare.tar docker.io/library/bare:1 --file "/bin/busybox=$(command -v busybox)" --link /bin/sh=busybox &&
    timeout 120 "$KUBE/node" load bare.tar && printf "%s\n" games games >expected &&
    id=$(as_games -n 1 --image bare:1 -o bare.out ./bare.sh) &&
    wait_job_state "$id" "COMPLETED|FAILED" 120 && test_cmp expected "$OUT/bare.out"
'

test_expect_success 'Open MPI in a job of one node starts no other daemon' '
    write_script "$OUT/ompi1.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	OMPI_MCA_plm_rsh_agent=false
	export OMPI_MCA_plm_rsh_agent
	mpirun /mpi/openmpi/ring 2
	END
    echo "ring: came round through 2 tasks" >expected && job ompi1 -N 1 -n 2
'

test_expect_success 'the host file'\''s names can be resolved in every pod' '
    write_script "$OUT/names.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "for host in $(sed "s/ .*//" "$FLUXQ_HOSTFILE" | tr "\n" " "); do
	    timeout 40 sh -c \"until nslookup \$host >/dev/null 2>&1; do sleep 0.2; done\" && echo \${host%%.*}
	done" | sort | uniq -c
	END
    printf "      3 %s\n" n0 n1 n2 >expected && job names -N 3 -n 3
'

test_expect_success 'every task has a host file, and the first node'\''s name and the names for Slurm programs can be resolved' '
    write_script "$OUT/first.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run ./first-task.sh | sort | uniq -c
	END
    write_script "$OUT/first-task.sh" <<-\END &&
	#!/bin/sh
	wc -l <"$FLUXQ_HOSTFILE"
	test "${SLURM_STEP_NODELIST%%,*}" = "$FLUXQ_MASTER_ADDR" && test "$SLURM_NODELIST" = "$SLURM_STEP_NODELIST" &&
	    test "$(echo "$SLURM_NODELIST" | tr , "\n" | sed -n $((SLURM_NODEID + 1))p)" = "$SLURMD_NODENAME" || echo other
	for host in $(echo "$SLURM_NODELIST" | tr , " "); do
	    timeout 40 sh -c "until nslookup $host >/dev/null 2>&1; do sleep 0.2; done" && echo ${host%%.*}
	done
	END
    printf "      3 %s\n" 3 n0 n1 n2 >expected && job first -N 3 -n 3 --stage-in "$OUT/first-task.sh:first-task.sh"
'

test_expect_success 'doc/examples/mpi.sh runs unchanged, with its program in the image' '
    id=$(submit "$FLUXQ_SOURCE_DIR/doc/examples/mpi.sh") && wait_job_state "$id" COMPLETED 120 &&
    sort "$OUT/pi-$id.out" >actual &&
    printf "%s\n" "0: step 0 on node1" "1: step 0 on node2" "pi is about 3.141593, say 4 tasks" >expected &&
    test_cmp expected actual
'

test_expect_success 'when a task exceeds the memory, the step and the job report this' '
    write_script "$OUT/memory.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "test \$FLUXQ_PROCID = 0 || exec dd if=/dev/zero of=/dev/null bs=512M count=1"
	END
    run_job memory -N 2 -n 2 --mem 64M && grep "fluxq-run: task 1 on node[123]: out of memory" "$OUT/memory.out" &&
    [ "$(job_state "$id")" = OUT_OF_MEMORY ]
'

test_expect_success 'when a pod is deleted during a step the job ends and names the node' '
    write_script "$OUT/lost.sh" <<-\END &&
	#!/bin/sh
	exec 2>&1
	test -n "$FLUXQ_RESTART_COUNT" && exec fluxq-run echo again
	fluxq-run sh -c "echo up; exec sleep 300"
	END
    id=$(submit --no-requeue -N 3 -n 3 -o lost.out ./lost.sh) && wait_until 60 has_lines "$OUT/lost.out" 3 &&
    delete_pod "$id" 1 && wait_job_state "$id" "NODE_FAIL" 60 && said "$id" "node2" &&
    wait_until 60 no_jobs_of_ours
'

test_expect_success 'when a pod of a job with requeue is deleted the job runs again, with its steps' '
    id=$(submit -N 3 -n 3 -o again.out ./lost.sh) && wait_until 60 has_lines "$OUT/again.out" 3 &&
    delete_pod "$id" 2 && wait_job_state "$id" COMPLETED 120 &&
    printf "again\n%.0s" 1 2 3 >expected && test_cmp expected "$OUT/again.out" &&
    [ "$(count_events "$id" alloc)" = 2 ]
'

test_expect_success 'with "user-entry: false" the image'\''s own user files stay' '
    write_script "$OUT/image.sh" <<-\END &&
	#!/bin/sh
	grep -c games /etc/passwd
	whoami || echo nameless
	END
    stop_broker && write_config "$configs/fluxq.kubeconfig" "  image: mpi:1" "  user-entry: false" &&
    start_broker --kube --config "$HERE/kube.yaml" && id=$(as_games -n 1 -o image.out ./image.sh) &&
    wait_job_state "$id" "COMPLETED|FAILED" 120 && grep -x 0 "$OUT/image.out" && grep -x nameless "$OUT/image.out"
'

test_expect_success 'no object and no booked core of any job is left' '
    wait_until 60 no_jobs_of_ours && [ "$(fluxq-info --json | jq "[.nodes[].cores_used] | add")" = 0 ] &&
    [ -z "$(k get pods -o name)" ] && stop_broker && wait_until 60 nothing_of_ours
'

test_done
