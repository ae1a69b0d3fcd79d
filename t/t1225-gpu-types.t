#!/bin/sh
test_description='GPUs of a type: from the options to nodes whose GPUs are of the type'
. "$(dirname "$0")/lib.sh"

cat >fluxq.yaml <<-END
	local:
	  nodes: 2
	  cores: 4
	  gpus: 4
	  gpu-type: NVIDIA-A100-SXM4-80GB
END
start_broker --config fluxq.yaml
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH

# Waits until no job has a GPU any more.
is_idle()
{
    test "$(sinfo -h -o %t)" = idle
}

# runs OPTION...: a job with the options runs, and prints its GPUs.
runs()
{
    wait_until 20 is_idle && fluxq-submit --wait -o gpus.out "$@" -- sh -c 'echo "$CUDA_VISIBLE_DEVICES"' >id && cat gpus.out
}

refused()
{
    reason=$1 && shift &&
    ! fluxq-submit -o /dev/null "$@" -- true 2>err && cat err && grep -e "$reason" err
}

test_expect_success 'each option takes a type: words of the name of the GPUs, in any case' '
    test "$(runs --gpus=a100:2)" = 0,1 && test "$(runs --gpus-per-task A100:1)" = 0 &&
    test "$(runs -N1 --gpus-per-node=sxm4:3)" = 0,1,2 && test "$(runs --gres=gpu:nvidia_a100:4)" = 0,1,2,3 &&
    test "$(runs --gres=gpu:a100)" = 0 && test "$(runs --gres=gpu:NVIDIA-A100-SXM4-80GB:2)" = 0,1 &&
    test "$(runs --ntasks-per-gpu=1 --gpus a100:1)" = 0
'

test_expect_success 'without a type any GPU serves' '
    test "$(runs --gres=gpu:2)" = 0,1 && test "$(runs -G1)" = 0
'

test_expect_success 'the job has GPUs and a constraint; its variables have the numbers' '
    printf "%s\n" "#!/bin/sh" "#SBATCH --gpus=a100:2 -o number.out" "env | grep ^SLURM_GPUS=; srun --gpus=a100:1 sh -c \"echo step \\\$CUDA_VISIBLE_DEVICES\"" >job.sh &&
    id=$(sbatch --parsable job.sh) && wait_job_state $id COMPLETED && printf "SLURM_GPUS=2\nstep 0\n" >expected && test_cmp expected number.out &&
    fluxq-show job --json $id >job.json && grep -o "\"gpu:a100\"" job.json && test "$(squeue --states=all -h -j $id -o %f)" = gpu:a100
'

test_expect_success 'a step has GPUs of the type of the job only' '
    write_script steps.sh <<-\END &&
	#!/bin/sh
	for option in --gpus=a100:1 --gpus-per-node=SXM4:1 --gpus-per-task=nvidia-a100:1 --gres=gpu:a100:1 --gres=gpu:a100 --gres=gpu:1; do
	    srun -n1 $option sh -c "echo $option \$CUDA_VISIBLE_DEVICES"
	done
	for option in --gpus=h100:1 --gpus-per-node=h100:1 --gpus-per-task=h100:1 --gres=gpu:h100:1 --gres=gpu:h100; do
	    srun -n1 $option echo ran 2>&1; echo "$option $?"
	done
	for option in --gres=gpu:a100:1,gpu:h100:1 --gpus=a100:1,h100:1 --gpus=:1; do srun -n1 $option echo ran 2>&1; echo "$option $?"; done
	END
    for request in --gpus-per-node=2 --gpus-per-node=a100:2; do
        id=$(sbatch --parsable -N1 $request steps.sh) && wait_job_state "$id" "COMPLETED|FAILED" && out=slurm-$id.out && cat "$out" &&
        test "$(grep -c "^--[^ ]* [0-3]$" "$out")" = 14 && ! grep -x ran "$out" &&
        test "$(grep -c "Requested node configuration is not available (no GPUs of the type h100 on node0: the job has GPUs of nvidia-a100-sxm4-80gb there)" "$out")" = 5 &&
        test "$(grep -c "one type" "$out")" = 3 || return 1
    done
'

test_expect_success 'a type that no node has is refused, and so are several types' '
    refused "h100" --gpus=h100:1 && refused "gpu:80$" --gres=gpu:80:1 &&
    refused "one type" --gpus=a100:1,h100:1 && refused "one type" --gres=gpu:a100:1,gpu:sxm4:1 &&
    refused "not the type" --gpus=:1 && refused "gpus-per-node" -N1 --gpus-per-node=a100:x
'

test_expect_success 'a broker that starts again knows the types of jobs that wait' '
    id=$(fluxq-submit -o /dev/null --begin now+5 --gpus=a100:2 -- true) && kill_broker && start_broker --config fluxq.yaml &&
    wait_job_state $id COMPLETED
'

test_expect_success 'sinfo and scontrol show the type' '
    test "$(sinfo -h -o %G)" = gpu:nvidia-a100-sxm4-80gb:4 && scontrol show node node0 | grep -x " *Gres=gpu:nvidia-a100-sxm4-80gb:4"
'

test_expect_success 'the configuration of a type is checked' '
    printf "local:\n  gpu-type: \"--\"\n" >bad.yaml && test_expect_code 1 fluxqd --check --config bad.yaml 2>err; cat err; grep "gpu-type: expected a name such as a100" err &&
    printf "local:\n  gres: {\"gpu:a100\": 2}\n" >bad.yaml && test_expect_code 1 fluxqd --check --config bad.yaml 2>err; cat err; grep "say local.gpus and local.gpu-type" err
'

test_done
