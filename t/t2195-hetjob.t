#!/bin/sh
test_description='Steps of a heterogeneous job: variables, srun --het-group, srun with ":", MPI over several components'
. "$(dirname "$0")/lib.sh"

cat >fluxq.yaml <<-END
	local:
	  nodes: 4
	  cores: 4
	  gpus: 2
	END
start_broker --config fluxq.yaml
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH

# submit_het SCRIPT: submits the script as a job of three components: one node with two tasks, two nodes
# with a task of two cores each, and one node with a task. Prints the id.
submit_het()
{
    sbatch --parsable -N1 -n2 -J first -o "$1.out" : -N2 --ntasks-per-node=1 -c2 --gpus-per-task=2 -J second : \
        -N1 -n1 -J third "./$1.sh"
}

# run_het NAME: runs NAME.sh as such a job to its end, with its output in NAME.out.
run_het()
{
    id=$(submit_het "$1") && wait_job_state "$id" 'COMPLETED|FAILED' 60 && cat "$1.out" &&
        job_state "$id" >ended && echo COMPLETED >wanted && test_cmp wanted ended
}

test_expect_success 'a script runs on the first component, and has variables of all' '
    write_script env.sh <<-\END &&
	#!/bin/sh
	env | grep "^SLURM_.*_HET_GROUP_\|^SLURM_HET_SIZE" | sed "/^SLURM_JOB_ID/s/=$SLURM_JOB_ID$/=ID/" | sort
	echo $SLURM_JOB_NODELIST $SLURM_NTASKS $SLURM_JOB_CPUS_PER_NODE $SLURM_JOB_NAME
	END
    run_het env && cat >expected <<-END &&
	SLURM_CPUS_PER_TASK_HET_GROUP_0=1
	SLURM_CPUS_PER_TASK_HET_GROUP_1=2
	SLURM_CPUS_PER_TASK_HET_GROUP_2=1
	SLURM_GPUS_PER_TASK_HET_GROUP_1=2
	SLURM_HET_SIZE=3
	SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0=2
	SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1=2(x2)
	SLURM_JOB_CPUS_PER_NODE_HET_GROUP_2=1
	SLURM_JOB_ID_HET_GROUP_0=ID
	SLURM_JOB_ID_HET_GROUP_1=ID
	SLURM_JOB_ID_HET_GROUP_2=ID
	SLURM_JOB_NAME_HET_GROUP_0=first
	SLURM_JOB_NAME_HET_GROUP_1=second
	SLURM_JOB_NAME_HET_GROUP_2=third
	SLURM_JOB_NODELIST_HET_GROUP_0=node0
	SLURM_JOB_NODELIST_HET_GROUP_1=node[1-2]
	SLURM_JOB_NODELIST_HET_GROUP_2=node3
	SLURM_JOB_NUM_NODES_HET_GROUP_0=1
	SLURM_JOB_NUM_NODES_HET_GROUP_1=2
	SLURM_JOB_NUM_NODES_HET_GROUP_2=1
	SLURM_JOB_PARTITION_HET_GROUP_0=batch
	SLURM_JOB_PARTITION_HET_GROUP_1=batch
	SLURM_JOB_PARTITION_HET_GROUP_2=batch
	SLURM_NPROCS_HET_GROUP_0=2
	SLURM_NPROCS_HET_GROUP_1=2
	SLURM_NPROCS_HET_GROUP_2=1
	SLURM_NTASKS_HET_GROUP_0=2
	SLURM_NTASKS_HET_GROUP_1=2
	SLURM_NTASKS_HET_GROUP_2=1
	SLURM_NTASKS_PER_NODE_HET_GROUP_1=1
	SLURM_TASKS_PER_NODE_HET_GROUP_0=2
	SLURM_TASKS_PER_NODE_HET_GROUP_1=1(x2)
	SLURM_TASKS_PER_NODE_HET_GROUP_2=1
	node0 2 2 first
	END
    test_cmp expected env.out
'

test_expect_success 'srun runs on the components of --het-group, and else on the first one' '
    write_script group.sh <<-\END &&
	#!/bin/sh
	say="echo \$SLURMD_NODENAME \$SLURM_NTASKS \$SLURM_CPUS_PER_TASK \$SLURM_JOB_NODELIST \$SLURM_JOB_NAME"
	srun -l sh -c "$say" | sort
	srun -l --het-group=1 sh -c "$say" | sort
	srun -l --pack-group=0-1 sh -c "$say" | sort
	srun -l --het-group=2,0 -n1 sh -c "$say" | sort
	srun -l --het-group=1 -r1 sh -c "$say"
	END
    run_het group && cat >expected <<-END &&
	0: node0 2 1 node0 first
	1: node0 2 1 node0 first
	0: node1 2 2 node[1-2] second
	1: node2 2 2 node[1-2] second
	0: node0 4 1 node[0-2] first
	1: node0 4 1 node[0-2] first
	2: node1 4 2 node[0-2] second
	3: node2 4 2 node[0-2] second
	0: node0 2 1 node[0,3] first
	1: node3 2 1 node[0,3] third
	0: node2 1 2 node[1-2] second
	END
    test_cmp expected group.out
'

test_expect_success 'srun with ":" has a program for each component, numbered by component' '
    write_script colon.sh <<-\END &&
	#!/bin/sh
	srun -l echo a : echo b : echo c : 2>&1
	echo "status $?"
	srun -l echo a : -n1 echo b | sort
	srun -l --het-group=2 echo c : --het-group=0 echo a | sort
	srun -l -n1 : -n2 -O echo "same for both" | sort
	echo "0 echo %t %o
	1 echo other %t" >conf
	srun -l --het-group=0-1 --multi-prog conf | sort
	END
    run_het colon && cat >expected <<-END &&
	srun: no command (see srun --help)
	status 2
	0: a
	1: a
	2: b
	0: a
	1: a
	2: c
	0: same for both
	1: same for both
	2: same for both
	0: 0 0
	1: other 1
	2: 0 0
	3: other 1
	END
    test_cmp expected colon.out
'

test_expect_success 'what a step cannot have is refused in one line' '
    write_script refused.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	try() { srun "$@"; echo "status $?"; }
	try --het-group=3 true
	try a : b : c : d
	try --het-group=x true
	try --het-group=0-1 true : --het-group=1 true
	try true : -l true
	try -w node1 true
	try --het-group=1 -r2 true
	try --het-group=0,1 -n3 true
	END
    run_het refused && cat >expected <<-END &&
	srun: component 3: the job has the components 0 to 2
	status 1
	srun: component 3: the job has the components 0 to 2
	status 1
	srun: --het-group: ~x~ is no component, and no range of components such as 0-2
	status 2
	srun: --het-group: component 1 is named twice: a step has one command for each
	status 2
	srun: --label after ":" differs from before: it is for the whole step, so say it before the first ":"
	status 2
	srun: --nodelist: node node1 is of component 1: say --het-group=1
	status 1
	srun: --relative=2: the job has 2 nodes, numbered from 0
	status 1
	srun: 3 tasks need room on 1 node, there is room for 2; ask for fewer tasks or cores a task, or for --overcommit
	status 1
	END
    tr "\047" "~" <refused.out >got && test_cmp expected got &&
    echo "srun true : true; echo \$?" >one.sh && write_script plain.sh <<-\END &&
	#!/bin/sh
	srun true : true
	echo "status $?"
	END
    id=$(fluxq-submit -o plain.out ./plain.sh) && wait_job_state "$id" COMPLETED 60 && cat plain.out &&
    grep "this job is not heterogeneous" plain.out && grep -x "status 1" plain.out
'

test_expect_success 'the status is the worst of all components, and --kill-on-bad-exit ends all' '
    write_script status.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	srun -Q sh -c "exit 3" : -n1 sh -c "exit 4" : true
	echo "status $?"
	srun -Q -K --het-group=0-2 sh -c "test \$SLURM_PROCID != 2 || exit 7; exec sleep 600"
	echo "status $?"
	srun --overlap --het-group=0-2 -l -K sh -c "exit 0"; echo "status $?"
	END
    run_het status && grep "^status" status.out >got && printf "status %s\n" 4 7 0 >expected && test_cmp expected got
'

test_expect_success 'steps of different components run at the same time, and one waits for all its components' '
    write_script together.sh <<-\END &&
	#!/bin/sh
	srun --het-group=1 sh -c ": >here.\$SLURM_PROCID; until [ -e go ]; do sleep 0.1; done" &
	until [ -e here.0 ] && [ -e here.1 ]; do sleep 0.1; done
	srun echo first : --het-group=2 echo third
	srun -I --het-group=0-1 true 2>&1 | grep -o "in use by other steps"
	touch go
	srun -Q --het-group=0-1 -n1 echo both
	wait
	END
    run_het together && printf "%s\n" first first third "in use by other steps" both both >expected &&
    sort together.out >got && sort expected >sorted && test_cmp sorted got
'

test_expect_success 'sbcast copies to the nodes of all components, and mpirun finds those of the first' '
    write_script files.sh <<-\END &&
	#!/bin/sh
	echo text >file && sbcast -f file copy && ls -l copy | wc -l && cat copy
	cat "$FLUXQ_HOSTFILE"
	mkdir copied && printf "#!/bin/sh\necho \${0##*_}\n" >say && chmod +x say
	srun --bcast=copied/ --het-group=0-1 ./say | sort
	srun --bcast ./say : ./say 2>&1
	fluxq-run --rsh node3 echo "\$SLURMD_NODENAME"
	END
    run_het files && cat >expected <<-END &&
	1
	text
	node0 slots=2
	node0
	node0
	node1
	node2
	srun: --bcast copies one program: it cannot be combined with ":"
	node3
	END
    test_cmp expected files.out
'

test_expect_success 'GPUs and cores of a task are those of its component' '
    write_script gpus.sh <<-\END &&
	#!/bin/sh
	say="echo \${CUDA_VISIBLE_DEVICES:-none} \$FLUXQ_CORES"
	srun -l --het-group=0-1 sh -c "$say" | sort
	srun -l --exact -n1 sh -c "$say" : --gpus-per-task=1 -n1 -c1 --exact sh -c "$say" | sort
	END
    run_het gpus && printf "%s\n" "0: none 0-1" "1: none 0-1" "2: 0,1 0-1" "3: 0,1 0-1" "0: none 0" "1: 0 0" >expected &&
    test_cmp expected gpus.out
'

test_expect_success 'srun --jobid from outside has components, too' '
    write_script long.sh <<-\END &&
	#!/bin/sh
	exec sleep 600
	END
    id=$(submit_het long) && wait_job_state "$id" RUNNING 60 &&
    srun --jobid=$id -l --het-group=2,1 sh -c "echo \$SLURMD_NODENAME \$SLURM_HET_SIZE" >outside && sort outside >got &&
    srun --jobid=$id -l -n1 : -n2 sh -c "echo \$SLURMD_NODENAME" >outside && sort outside >>got && fluxq-cancel "$id" &&
    printf "%s\n" "0: node1 3" "1: node2 3" "2: node3 3" "0: node0" "1: node1" "2: node2" >expected && test_cmp expected got
'

test_expect_success 'a command without a script runs as the tasks of the first component' '
    cat >components.py <<-\END &&
	import json, sys
	job, further = json.load(open("0.json")), json.load(open("1.json"))
	further["attributes"]["system"]["environment"] = {}
	job["attributes"]["system"].setdefault("fluxq", {})["components"] = [further]
	json.dump(job, sys.stdout)
	END
    fluxq-submit --dry-run -N1 -n2 -o command.out -- sh -c "echo \$SLURM_NTASKS \$SLURM_JOB_NODELIST \$SLURM_HET_SIZE" >0.json &&
    fluxq-submit --dry-run -N2 -n4 -- true >1.json && python3 components.py >job.json &&
    curl -sS --unix-socket "$FLUXQ_RUN/fluxqd.sock" -X POST --data-binary @job.json http://x/v1/jobs >answer &&
    id=$(python3 -c "import json; print(json.load(open(\"answer\"))[\"id\"])") && wait_job_state "$id" COMPLETED 60 &&
    printf "%s\n" "2 node0 2" "2 node0 2" >expected && test_cmp expected command.out
'

if command -v mpicc.mpich >/dev/null; then
    test_set_prereq MPICH
else
    echo "# no mpicc.mpich: apt-get install the packages in contrib/packages"
fi
test_expect_success MPICH 'the tasks of all components are one MPI world' '
    mpicc.mpich -o allreduce "$FLUXQ_SOURCE_DIR/t/mpi/allreduce.c" && cp allreduce again &&
    mpicc.mpich -o ring "$FLUXQ_SOURCE_DIR/t/mpi/ring.c" &&
    write_script mpi.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	srun --het-group=0-2 ./ring 5
	srun -n1 ./allreduce 4 1 : ./again 4 1 : ./allreduce 4 1
	srun --het-group=1 ./allreduce 2 1
	END
    run_het mpi && cat >expected <<-END &&
	ring: came round through 5 tasks
	allreduce: 4 tasks agree
	allreduce: 2 tasks agree
	END
    test_cmp expected mpi.out
'

if command -v mpicc.openmpi >/dev/null && [ -x "$FLUXQ_BUILD_DIR/src/pmix/fluxq-pmix" ]; then
    test_set_prereq OPENMPI
else
    echo "# no mpicc.openmpi or no fluxq-pmix: apt-get install the packages in contrib/packages"
fi
test_expect_success OPENMPI 'the same with Open MPI and PMIx, also if only a later component has such a program' '
    mpicc.openmpi -o ring.ompi "$FLUXQ_SOURCE_DIR/t/mpi/ring.c" && write_script pmix.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	srun --mpi=pmix --het-group=0-2 ./ring.ompi 5
	srun sh -c "exec ./ring.ompi 3" : -n1 ./ring.ompi 3
	END
    run_het pmix && printf "ring: came round through %s tasks\n" 5 3 >expected && test_cmp expected pmix.out
'

test_expect_success 'the command of salloc has the variables of all components' '
    salloc -N1 -n2 -J first : -N2 -c2 -J second sh -c "env >salloc.env" &&
    grep -E "^SLURM_.*_HET_GROUP_|^SLURM_HET_SIZE|^SLURM_(JOB_NODELIST|NTASKS|NNODES|TASKS_PER_NODE)=" salloc.env | grep -v JOB_ID | sort >got && cat >expected <<-END &&
	SLURM_HET_SIZE=2
	SLURM_JOB_CPUS_PER_NODE_HET_GROUP_0=2
	SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1=2(x2)
	SLURM_JOB_NAME_HET_GROUP_0=first
	SLURM_JOB_NAME_HET_GROUP_1=second
	SLURM_JOB_NODELIST=node0
	SLURM_JOB_NODELIST_HET_GROUP_0=node0
	SLURM_JOB_NODELIST_HET_GROUP_1=node[1-2]
	SLURM_JOB_NUM_NODES_HET_GROUP_0=1
	SLURM_JOB_NUM_NODES_HET_GROUP_1=2
	SLURM_JOB_PARTITION_HET_GROUP_0=batch
	SLURM_JOB_PARTITION_HET_GROUP_1=batch
	SLURM_NNODES=1
	SLURM_NTASKS=2
	SLURM_NTASKS_HET_GROUP_0=2
	SLURM_NTASKS_HET_GROUP_1=2
	SLURM_TASKS_PER_NODE=2
	SLURM_TASKS_PER_NODE_HET_GROUP_0=2
	SLURM_TASKS_PER_NODE_HET_GROUP_1=1(x2)
	END
    test_cmp expected got
'

test_expect_success 'each component may have files of its own for its output' '
    write_script files.sh <<-\END &&
	#!/bin/sh
	srun -o zero-%t.out sh -c "echo zero" : -o one.out -e one.err sh -c "echo one; echo err >&2" : -o one.out -e one.err -n1 echo two
	srun -o both.out --het-group=0,1 -n1 echo both
	srun -l -n1 echo here : -o /dev/null -n2 echo nowhere : -n1 -o none echo nothing
	END
    run_het files && grep -x "0: here" files.out && ! grep -E "nowhere|nothing" files.out &&
    cat zero-0.out zero-1.out >all && printf "zero\nzero\n" >expected && test_cmp expected all &&
    sort one.out >all && printf "one\none\ntwo\n" >expected && test_cmp expected all &&
    sort one.err >all && printf "err\nerr\n" >expected && test_cmp expected all &&
    sort both.out >all && printf "both\nboth\n" >expected && test_cmp expected all
'

test_done
