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
for name in sacct sbatch scancel scontrol sinfo squeue srun; do ln -s ../fluxq-shell pod/slurm/$name; done
POD=$PWD/pod/slurm
export POD

# in_pod FILE: runs the script on stdin as a job, in which PATH has the pod's commands first.
in_pod()
{
    file=$1
    shift
    { echo '#!/bin/sh'; echo "PATH='$POD:/usr/bin:/bin'; export PATH; unset FLUXQ_BROKER"; cat; } >"$file"
    id=$(sbatch --parsable "$@" "$file") && wait_job_state "$id" 'COMPLETED|FAILED' && out=slurm-$id.out && cat "$out"
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

test_done
