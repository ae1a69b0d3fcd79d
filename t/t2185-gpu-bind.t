#!/bin/sh
test_description='the GPUs of the tasks of a step: --gpu-bind, --tres-bind and --ntasks-per-gpu'
. "$(dirname "$0")/lib.sh"

cat >fluxq.yaml <<-END
	local:
	  nodes: 2
	  cores: 4
	  gpus: 4
END
start_broker --config fluxq.yaml
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
printf '#!/bin/sh\necho "$SLURM_PROCID:$CUDA_VISIBLE_DEVICES:$ROCR_VISIBLE_DEVICES:$SLURM_STEP_GPUS"\n' >gpus && chmod +x gpus

# Waits until no job has a GPU any more, so that the next one gets the first.
is_idle()
{
    test "$(sinfo -h -o %t)" = idle
}

# in_job OPTION...: runs the commands on stdin as a job; $out has their output.
in_job()
{
    { echo '#!/bin/sh'; cat; } >job.sh
    id=$(sbatch --parsable "$@" job.sh) && wait_job_state "$id" 'COMPLETED|FAILED' && out=slurm-$id.out && cat "$out" &&
        { test -n "$first" || wait_until 20 is_idle; }
}

# tasks EXPECTED...: the lines of the step's tasks, each with the same GPUs in all variables.
tasks()
{
    for line; do echo "$line:${line#*:}:${line#*:}"; done | diff - seen
}

test_expect_success 'each kind of binding gives the tasks their GPUs, numbered within the step' '
    in_job -N1 -n4 --gpus=4 <<-\END &&
	srun ./gpus | sort >all
	for how in none closest single:2 single:1 per_task:2 map_gpu:3,0 map:1*3,2 mask_gpu:0x5,a mask:1*2,C; do
	    srun --gpu-bind=$how ./gpus 2>&1 | sort >"seen.$how"
	done
	srun --tres-bind=gres/gpu:single:2 ./gpus | sort >seen.tres
	END
    cp all seen && tasks 0:0,1,2,3 1:0,1,2,3 2:0,1,2,3 3:0,1,2,3 && cmp all seen.none && cmp all seen.closest &&
    cp seen.single:2 seen && tasks 0:0 1:0 2:1 3:1 && cmp seen seen.tres &&
    cp seen.single:1 seen && tasks 0:0 1:1 2:2 3:3 &&
    cp seen.map_gpu:3,0 seen && tasks 0:3 1:0 2:3 3:0 &&
    cp "seen.map:1*3,2" seen && tasks 0:1 1:1 2:1 3:2 &&
    cp seen.mask_gpu:0x5,a seen && tasks 0:0,2 1:1,3 2:0,2 3:1,3 &&
    cp "seen.mask:1*2,C" seen && tasks 0:0 1:0 2:2,3 3:0
'

test_expect_success 'a task for which there is no GPU gets the first, and says so; verbose says what each has' '
    in_job -N1 -n3 --gpus=2 <<-\END &&
	srun --gpu-bind=per_task:1 ./gpus 2>err | sort >seen
	srun -n1 --gpu-bind=map:7 ./gpus 2>&1
	srun -n1 --gpu-bind=verbose,mask:3 true 2>verbose
	srun -n1 --gres=none --gpu-bind=verbose,single:1 true 2>none
	END
    tasks 0:0 1:1 2:0 && grep "task 2 on node0: --gpu-bind=per_task:1 names none of the GPUs 0-1: it gets the first" err &&
    test "$(wc -l <err)" = 1 && grep "task 0 on node0: --gpu-bind=map:7 names none" "$out" && grep -x 0:0:0:0 "$out" &&
    grep "task 0 on node0: GPUs 0-1" verbose && grep "task 0 on node0: no GPUs" none
'

test_expect_success 'numbers of lists count from the first GPU of the step on each node' '
    first=$(sbatch --parsable -N2 --gpus-per-node=1 --wrap "sleep 1000") && wait_job_state "$first" RUNNING &&
    in_job -N2 -n4 --gpus-per-node=2 <<-\END &&
	srun --gpu-bind=map:1,0 ./gpus | sort >seen
	END
    tasks 0:2 1:1 2:2 3:1 && scancel "$first" && first= && wait_until 20 is_idle
'

test_expect_success 'none undoes the binding of --gpus-per-task' '
    in_job -N1 -n2 --gpus-per-task=2 <<-\END &&
	srun ./gpus | sort >each
	srun --gpu-bind=none ./gpus | sort >seen
	END
    tasks 0:0,1,2,3 1:0,1,2,3 && cp each seen && tasks 0:0,1 1:2,3
'

test_expect_success 'the steps of a job have the binding of the job; srun overrides it' '
    write_script bound.sh <<-\END &&
	#!/bin/sh
	#SBATCH -N1 -n2 --gpus=2 --gpu-bind=single:1
	echo "bind $SLURM_GPU_BIND"
	srun ./gpus | sort >seen
	srun --gpu-bind=none ./gpus | sort >other
	END
    id=$(sbatch --parsable bound.sh) && wait_job_state "$id" COMPLETED && wait_until 20 is_idle && grep -x "bind single:1" "slurm-$id.out" &&
    tasks 0:0 1:1 && cp other seen && tasks 0:0,1 1:0,1 &&
    SBATCH_GPU_BIND=map:1 in_job -N1 -n2 --gpus=2 <<-\END && tasks 0:1 1:1 &&
	srun ./gpus | sort >seen
	END
    in_job -N1 -n2 --gpus=2 --tres-bind=gres/gpu:map:1 <<-\END && tasks 0:1 1:1 && grep -x "gres/gpu:map:1" "$out" &&
	srun ./gpus | sort >seen
	echo "$SLURM_TRES_BIND"
	END
    salloc -Q -N1 -n2 --gpus=2 --gpu-bind=single:1 srun ./gpus | sort >seen && tasks 0:0 1:1 && wait_until 20 is_idle &&
    srun -N1 -n2 --gpus=2 --gpu-bind=map:1 ./gpus | sort >seen && tasks 0:1 1:1 && wait_until 20 is_idle &&
    srun -N1 -n2 --gpus=2 --tres-bind=gres/gpu:map:1 ./gpus | sort >seen && tasks 0:1 1:1 && wait_until 20 is_idle
'

test_expect_success '--ntasks-per-gpu: the tasks of a step share GPUs' '
    in_job --ntasks-per-gpu=2 -N1 --gpus=2 <<-\END && tasks 0:0 1:0 2:1 3:1 && cp other seen && tasks 0:0 1:1 &&
	srun ./gpus | sort >seen
	srun --ntasks-per-gpu=1 --gpus=2 ./gpus | sort >other
	END
    srun -N1 --ntasks-per-gpu=2 --gpus=2 ./gpus | sort >seen && tasks 0:0 1:0 2:1 3:1 && wait_until 20 is_idle
'

test_expect_success 'a binding that is not valid is refused at submit and at the start of the step' '
    for value in single:0 map_gpu:x verbose; do
        test_must_fail sbatch --gpu-bind=$value --wrap true 2>err && grep -e "--gpu-bind" err || return 1
    done &&
    test_must_fail sbatch --tres-bind=gres/nic:closest --wrap true 2>err && grep "only GPUs are bound to tasks" err &&
    in_job -N1 -n1 --gpus=1 <<-\END && test "$(grep -cx "status 2" "$out")" = 2 &&
	srun --gpu-bind=closer true; echo "status $?"
	srun --tres-bind=gpu:1 true; echo "status $?"
	END
    grep "the values are none, closest" "$out"
'

test_done
