#!/bin/sh
test_description='what a job finds: the variables of Slurm, and the GPUs of each task'
. "$(dirname "$0")/lib.sh"

cat >fluxq.yaml <<-END
	cluster-id: mycluster
	local:
	  nodes: 2
	  cores: 4
	  gpus: 4
	END
start_broker --config fluxq.yaml

# output OPTION... SCRIPT: the output of a script that sbatch ran with these options.
output()
{
    id=$(sbatch --parsable "$@") && wait_job_state $id COMPLETED && cat slurm-$id.out
}

test_expect_success 'the script has the variables of Slurm, in its forms' '
    output -N2 --ntasks-per-node=2 -c1 --mem=200 -t 5 --gpus-per-node=2 -A acct -q fast --wrap "env | grep ^SLURM_ | sort" >out &&
    grep -x "SLURM_CLUSTER_NAME=mycluster" out && grep -x "SLURM_SUBMIT_HOST=$(hostname)" out &&
    grep -x "SLURM_JOB_UID=$(id -u)" out && grep -x "SLURM_JOB_GID=$(id -g)" out &&
    grep -x "SLURM_MEM_PER_NODE=200" out && grep -x "SLURM_NTASKS_PER_NODE=2" out && grep -x "SLURM_TASKS_PER_NODE=2(x2)" out &&
    grep -x "SLURM_JOB_CPUS_PER_NODE=2(x2)" out && grep -x "SLURM_GTIDS=0" out && ! grep SLURM_UMASK out &&
    grep -x "SLURM_JOB_GROUP=$(id -gn)" out && grep -x "SLURM_PRIO_PROCESS=$(nice)" out &&
    grep -x "SLURM_JOB_ACCOUNT=acct" out && grep -x "SLURM_JOB_QOS=fast" out && grep -x "SLURM_JOB_PARTITION=batch" out &&
    grep -x "SLURM_GPUS_PER_NODE=2" out && grep -x "SLURM_JOB_GPUS=0,1" out && grep -x "SLURM_GPUS_ON_NODE=2" out &&
    grep -x "SLURM_TOPOLOGY_ADDR=node0" out && grep -x "SLURM_TOPOLOGY_ADDR_PATTERN=node" out &&
    start=$(sed -n "s/SLURM_JOB_START_TIME=//p" out) && end=$(sed -n "s/SLURM_JOB_END_TIME=//p" out) &&
    test $((end - start)) -ge 299 && test $((end - start)) -le 301
'

test_expect_success 'scontrol and sacct name the cluster as configured' '
    scontrol show config | grep -E "^ClusterName +=  ?mycluster" &&
    wait_until 10 sh -c "sacct -nXP -j $id -o Cluster | grep -x mycluster" &&
    sacct -M mycluster -nXP -j $id -o jobid && test_expect_code 1 sacct -M other 2>err && grep "one cluster, mycluster" err
'

test_expect_success 'variables of the job in which the user submits are not passed on' '
    output --wrap "env | grep -E \"^SLURM_(GPUS|NTASKS_PER_NODE|MEM_PER_NODE|JOB_ACCOUNT|STEP)\" || echo none" >out &&
    grep -x none out &&
    write_script outer.sh <<-\END &&
	#!/bin/sh
	SLURM_SUBMIT_HOST=wrong FLUXQ_BROKER=@BROKER@ sbatch -W -Q -o inner.out --wrap "env | grep ^SLURM | sort"
	END
    sed -i "s,@BROKER@,$FLUXQ_BROKER," outer.sh &&
    output -N1 --ntasks-per-node=2 --gpus-per-node=1 -A acct outer.sh &&
    ! grep -E "^SLURM_(GPUS|NTASKS_PER_NODE|JOB_ACCOUNT)" inner.out && grep -x "SLURM_SUBMIT_HOST=$(hostname)" inner.out
'

test_expect_success 'a step has the variables that srun sets in Slurm' '
    write_script step.sh <<-\END &&
	#!/bin/sh
	echo "pid $SLURM_TASK_PID is $$"
	srun -n4 sh -c "env | grep ^SLURM | sort >step.\$SLURM_PROCID; echo step \$SLURM_TASK_PID is \$\$"
	srun -n2 -N2 --cpu-bind=verbose,map_cpu:0x1,2 -m plane=2 sh -c "env | grep ^SLURM | sort >bound.\$SLURM_PROCID" 2>/dev/null
	END
    output -N2 -n4 step.sh >out && sed -n "s/.*pid \(.*\) is \(.*\)/\1 \2/p; s/^step \(.*\) is \(.*\)/\1 \2/p" out >pids &&
    awk "\$1 == \$2 && \$1 > 1 { n++ } END { exit n != 5 }" pids &&
    grep -x "SLURM_LAUNCH_NODE_IPADDR=127.0.0.1" step.3 && grep -x "SLURM_SRUN_COMM_HOST=127.0.0.1" step.3 &&
    grep -x "SLURM_DISTRIBUTION=block" step.3 && ! grep SLURM_CPU_BIND step.3 && grep -x "SLURM_UMASK=$(umask)" step.3 &&
    grep -x "SLURM_CPU_BIND=verbose,map_cpu:0x1,2" bound.1 && grep -x "SLURM_CPU_BIND_TYPE=map_cpu:" bound.1 &&
    grep -x "SLURM_CPU_BIND_LIST=0x1,2" bound.1 && grep -x "SLURM_CPU_BIND_VERBOSE=verbose" bound.1 &&
    grep -x "SLURM_DISTRIBUTION=plane" bound.1 && grep -x "SLURM_DIST_PLANESIZE=2" bound.1
'

test_expect_success 'the command of salloc has the numbers of each node' '
    salloc -N2 -n4 sh -c "echo \$SLURM_TASKS_PER_NODE \$SLURM_JOB_CPUS_PER_NODE \$SLURM_SUBMIT_HOST" >out &&
    echo "2(x2) 2(x2) $(hostname)" | test_cmp - out
'

test_expect_success 'an array of two tasks has their distance as its step' '
    id=$(sbatch --parsable --array=3-7:4 --wrap "echo \$SLURM_ARRAY_TASK_STEP") && wait_job_state "${id}_7" COMPLETED &&
    echo 4 >expected && test_cmp expected slurm-${id}_7.out
'

write_script show.sh <<\END
#!/bin/sh
echo "$SLURM_PROCID $SLURM_GTIDS $CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES $ZE_AFFINITY_MASK $SLURM_STEP_GPUS"
END

test_expect_success 'each task of a command sees its own GPUs with --gpus-per-task' '
    id=$(fluxq-submit -o tasks.out -N2 -n4 --gpus-per-task=2 -- sh -c "echo \$SLURM_PROCID \$SLURM_GTIDS \$CUDA_VISIBLE_DEVICES \$ZE_AFFINITY_MASK") &&
    wait_job_state $id COMPLETED && sort tasks.out >sorted &&
    printf "0 0,1 0,1 0,1\n1 0,1 2,3 2,3\n2 2,3 0,1 0,1\n3 2,3 2,3 2,3\n" | diff - sorted
'

test_expect_success 'without --gpus-per-task all tasks of a node see its GPUs' '
    id=$(fluxq-submit -o all.out -N1 -n2 --gpus-per-node=2 -- sh -c "echo \$SLURM_PROCID \$CUDA_VISIBLE_DEVICES") &&
    wait_job_state $id COMPLETED && sort all.out >sorted && printf "0 0,1\n1 0,1\n" | diff - sorted
'

test_expect_success 'the tasks of a step get GPUs as the job says, or as the step says' '
    write_script steps.sh <<-\END &&
	#!/bin/sh
	echo "script $CUDA_VISIBLE_DEVICES"
	fluxq-run ./show.sh | sort
	echo other
	fluxq-run -n2 --gpus-per-task=2 ./show.sh | sort
	fluxq-run -n3 --overcommit --gpus-per-task=2 true || echo refused $?
	fluxq-run -n1 -G4 ./show.sh
	END
    output -N1 -n4 --gpus-per-task=1 steps.sh >out && cat >expected <<-END &&
	script 0,1,2,3
	0 0,1,2,3 0 0 0 0
	1 0,1,2,3 1 1 1 1
	2 0,1,2,3 2 2 2 2
	3 0,1,2,3 3 3 3 3
	other
	0 0,1 0,1 0,1 0,1 0,1
	1 0,1 2,3 2,3 2,3 2,3
	refused 1
	0 0 0,1,2,3 0,1,2,3 0,1,2,3 0,1,2,3
	END
    grep -v "^fluxq-run: " out | diff expected - && grep "need 6 GPUs, and it has 4" out
'

test_expect_success 'tasks, cores and memory by the GPU: two tasks share each GPU' '
    output -G2 -N1 --ntasks-per-gpu=2 --mem-per-gpu=50 --wrap "env | grep ^SLURM_ | sort" >out &&
    grep -x "SLURM_NTASKS=4" out && grep -x "SLURM_NTASKS_PER_GPU=2" out && grep -x "SLURM_CPUS_PER_TASK=1" out &&
    grep -x "SLURM_MEM_PER_GPU=50" out && ! grep SLURM_MEM_PER_NODE out && grep -x "SLURM_JOB_CPUS_PER_NODE=4" out &&
    id=$(fluxq-submit -o gpu.out -G2 -N1 --ntasks-per-gpu=2 -- sh -c "echo \$SLURM_PROCID \$CUDA_VISIBLE_DEVICES") &&
    wait_job_state $id COMPLETED && sort gpu.out >sorted && printf "0 0\n1 0\n2 1\n3 1\n" | diff - sorted &&
    id=$(sbatch --parsable -n2 -c2 --mem-per-cpu=100 --wrap "sleep 100") && wait_job_state $id RUNNING &&
    fluxq-show job $id --json | jq -e "[.ranks[].memory_mib] | add == 400" && scancel $id
'

test_done
