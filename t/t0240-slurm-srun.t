#!/bin/sh
test_description='srun and salloc: a step of a job, a job of its own, an allocation, with Slurm'"'"'s options'
. "$(dirname "$0")/lib.sh"

cat >fluxq.yaml <<-END
	local:
	  nodes: 4
	  cores: 2
	  gpus: 2
	END
start_broker --config fluxq.yaml

test_expect_success 'a textbook script runs unchanged, and finds srun in PATH' '
    write_script job.sh <<-\END &&
	#!/bin/bash
	#SBATCH --job-name=textbook
	#SBATCH --account=physics
	#SBATCH --nodes=2
	#SBATCH --ntasks-per-node=2
	#SBATCH --time=00:05:00
	#SBATCH --output=%x-%j.out
	srun -l sh -c "echo \$SLURM_PROCID of \$SLURM_NTASKS on \$SLURMD_NODENAME" | sort
	srun --ntasks=1 --nodes=1 true
	END
    id=$(sbatch --parsable job.sh) && wait_job_state $id COMPLETED &&
    printf "%s\n" "0: 0 of 4 on node0" "1: 1 of 4 on node0" "2: 2 of 4 on node1" "3: 3 of 4 on node1" | diff - textbook-$id.out
'

test_expect_success 'a program that does not exist gives the status of the script, and the shell its message' '
    printf "#!/bin/sh\nnosuchprogram\n" >none.sh && id=$(sbatch --parsable none.sh) && wait_job_state $id FAILED &&
    test "$(job_field $id exit_code)" = 127 && grep "nosuchprogram" slurm-$id.out
'

test_expect_success 'inside a job srun takes the options that describe an allocation, and those of a step' '
    write_script step.sh <<-\END &&
	#!/bin/sh
	srun -A x -p batch -q fast --mem=100 --exclusive -k -u -E -t 5 --reservation=r --wckey=k -n1 echo quiet
	srun -r 1 -N1 -n1 sh -c "echo relative \$SLURMD_NODENAME"
	srun --relative=1 -N2 true 2>&1
	srun --jobid=$SLURM_JOB_ID -n1 echo own
	srun --jobid=99 -n1 echo other 2>&1
	srun --tasks-per-node=1 sh -c "echo node \$SLURM_NODEID" | sort
	srun -n1 --gres=gpu:1 sh -c "echo gres \$CUDA_VISIBLE_DEVICES"
	srun -n1 --gres=none sh -c "echo none \$CUDA_VISIBLE_DEVICES"
	srun -n1 --gpus-per-node=2 sh -c "echo pernode \$CUDA_VISIBLE_DEVICES"
	srun -n1 --gres=gpu:3 true 2>&1
	srun --frob true 2>&1
	END
    id=$(sbatch --parsable -N2 --ntasks-per-node=2 --gpus-per-node=2 step.sh) && wait_job_state $id "COMPLETED|FAILED" &&
    out=slurm-$id.out && cat $out &&
    grep -x quiet $out && grep -x "relative node1" $out && grep "relative=1: the job has 2 nodes" $out &&
    grep -x own $out && grep "jobid=99: a step inside a job is a step of that job, $id" $out &&
    grep -x "node 0" $out && grep -x "node 1" $out && grep -x "gres 0" $out && grep -x "none" $out &&
    grep -x "pernode 0,1" $out && grep "need 3 GPUs, and it has 2" $out && grep "srun: --frob: unknown option" $out
'

test_expect_success 'the time limit of a step ends its tasks' '
    printf "#!/bin/sh\nsrun -n1 -t 0:01 sleep 100 2>&1\necho status \$?\n" >limit.sh && id=$(sbatch --parsable limit.sh) &&
    wait_job_state $id COMPLETED 40 && grep -x "status 143" slurm-$id.out && grep "step.s time limit is reached" slurm-$id.out
'

test_expect_success 'outside srun is a job of its own, with the options and words of Slurm' '
    srun -N2 -n2 -A x --wckey=k -t 5 sh -c "echo \$SLURM_JOB_ACCOUNT \$SLURM_WCKEY" >out && printf "x k\nx k\n" | diff - out &&
    test_expect_code 1 srun -p nope true 2>err && grep "^srun: error: Unable to allocate resources: Invalid partition name specified" err &&
    test_expect_code 1 srun --power=a true 2>err && grep "^srun: error: --power: an option of Slurm that fluxq does not support" err &&
    test_expect_code 1 srun --test-only touch ran 2>err && grep "say sbatch --test-only" err && ! test -e ran &&
    test_expect_code 3 srun sh -c "exit 3" &&
    SLURM_ACCOUNT=env srun sh -c "echo \$SLURM_JOB_ACCOUNT" >out && grep -x env out
'

test_expect_success 'a job that --jobid cannot reach is an error with the words of Slurm' '
    id=$(sbatch --parsable --wait -o /dev/null --wrap true) && invalid="Invalid job id specified" &&
    test_expect_code 1 srun --jobid=99999 true 2>err && cat err &&
    grep "^srun: error: Unable to confirm allocation for job 99999: $invalid (there is no job 99999)" err &&
    test_expect_code 1 srun --jobid=$id true 2>err && cat err && grep "for job $id: $invalid (job $id: COMPLETED" err &&
    test_expect_code 1 sbcast -j 99999 /dev/null /tmp/none 2>err && cat err && grep "^sbcast: error: Slurm job 99999 lookup error: $invalid (" err &&
    test_expect_code 1 env FLUXQ_BROKER=unix:///nonexistent FLUXQ_BROKER_WAIT=0 srun --jobid=$id true 2>err && cat err && ! grep "$invalid" err
'

test_expect_success '--jobid runs a step in a running job' '
    id=$(sbatch --parsable --wrap "sleep 100") && wait_job_state $id RUNNING &&
    srun --jobid=$id --overlap -n1 sh -c "echo \$SLURM_JOB_ID" >out && grep -x $id out && scancel $id
'

test_expect_success 'salloc keeps an allocation for a command, in which srun runs steps' '
    salloc -N2 -A x sh -c "echo \$SLURM_JOB_NUM_NODES; srun -l -n2 echo step | sort" >out 2>err &&
    printf "2\n0: step\n1: step\n" | diff - out &&
    grep -x "salloc: Granted job allocation [0-9]*" err && grep -x "salloc: Relinquishing job allocation [0-9]*" err &&
    test_expect_code 3 salloc -Q sh -c "exit 3" 2>err && test_must_be_empty err &&
    test_expect_code 1 salloc -p nope true 2>err && grep "^salloc: error: Job submit/allocate failed: Invalid partition name specified" err &&
    SALLOC_ACCOUNT=env salloc -I sh -c "fluxq-queue -o %a --no-header" >out && grep -x env out
'

test_expect_success 'variables stand for options of srun that are not given' '
    write_script variables.sh <<-\END &&
	#!/bin/sh
	SLURM_LABELIO=1 srun -n1 echo label
	SLURM_DISTRIBUTION=cyclic srun -n4 sh -c "echo \$SLURM_PROCID:\$SLURM_NODEID" | sort | tr "\n" " "
	SLURM_DISTRIBUTION=cyclic srun -m block -n4 sh -c "echo \$SLURM_PROCID:\$SLURM_NODEID" | sort | tr "\n" " "
	SLURM_STDOUTMODE=$PWD/mode-%t.out srun -n2 echo file
	SLURM_WORKING_DIR=/ srun -n1 pwd
	A=1 B=2 SLURM_EXPORT_ENV=A srun -n1 sh -c "echo \$A-\$B"
	SRUN_CPUS_PER_TASK=2 srun -n1 sh -c "echo cpus \$SLURM_CPUS_PER_TASK"
	SLURM_CPU_BIND=nonsense srun -n1 true 2>&1
	END
    id=$(sbatch --parsable -N2 -n4 -o variables.out variables.sh) && wait_job_state $id FAILED && cat variables.out &&
    grep -x "0: label" variables.out && grep -F "0:0 1:1 2:0 3:1 0:0 1:0 2:1 3:1 /" variables.out && grep -x file mode-0.out && grep -x file mode-1.out &&
    grep -x "1-" variables.out && grep -x "cpus 2" variables.out && grep "^srun: SLURM_CPU_BIND: .*nonsense" variables.out
'

test_done
