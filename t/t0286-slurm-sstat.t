#!/bin/sh
test_description='sstat: what the steps that run have used so far, on each of their nodes'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
start_broker --local 4
cat >job.sh <<\END
#!/bin/sh
srun -n 2 -N 2 sh -c 'head -c 8000000 /dev/zero | wc -c >count.$SLURM_PROCID; echo $$ >pid.$SLURM_PROCID; exec sleep 1000' &
srun -n 1 -N 1 sh -c 'echo >other; exec sleep 1000' &
wait
END
job=$(sbatch --parsable -N 4 -o out job.sh)
wait_job_state $job RUNNING
command=$(fluxq-submit -n 1 -o /dev/null -- sleep 1000)

quote="'"

# steps TARGET: the route's answer, when no answer of a node is waited for.
steps()
{
    curl -s --unix-socket "${FLUXQ_BROKER#unix://}" "http://localhost/v1/jobs/$1/steps?fresh=1" >/dev/null
    for i in $(seq 100); do
        curl -s --unix-socket "${FLUXQ_BROKER#unix://}" "http://localhost/v1/jobs/$1/steps" >answer &&
        test "$(jq .waiting answer)" = 0 && return 0
        sleep 0.1
    done
    return 1
}

all_run()
{
    test -s pid.0 && test -s pid.1 && test -e other
}

pair_is_gone()
{
    steps $job && ! jq -e '.steps[] | select (.ntasks == 2)' answer
}

test_expect_success 'the route lists the steps that run, and their nodes' '
    wait_until 20 all_run && steps $job &&
    jq -r ".steps[] | [.step, .name, .ntasks, .nnodes, .end, .attempt] | @csv" answer | sort >out.csv &&
    sed "s/^\"[0-9]\"/N/" out.csv | sort >got && cat >wanted <<-\END && test_cmp wanted got &&
	"batch","job.sh",1,1,,0
	N,"sh",1,1,,0
	N,"sh",2,2,,0
	END
    jq -r ".steps[] | .nodes" answer | grep -c . | grep -x 3
'

test_expect_success 'the figures are those of all nodes of the step: it has read 8 MB on each' '
    jq -e ".steps[] | select (.ntasks == 2) | .reported == 2 and .read.min > 8000000 and .read.sum > 16000000 and .peak.min > 100000
        and .user.sum >= 0" answer &&
    jq -e ".steps[] | select (.step == \"batch\") | .reported == 1 and .peak.max > 100000" answer
'

# prints LINES COMMAND...: its whole output; LINES as in printf.
prints()
{
    printf "$1" >wanted && shift && "$@" >out && test_cmp wanted out
}

test_expect_success 'sstat: the first step with a number, one step, or all' '
    pair=$(jq -r ".steps[] | select (.ntasks == 2) | .step" answer) &&
    prints "$job.0\n" sstat -n -P -o jobid $job && prints "$job.$pair\n" sstat -nPj $job.$pair -o jobid &&
    prints "$job.batch\n" sstat -nP -o jobid -j $job.batch && sstat -nP -a -o jobid $job | sort >out &&
    printf "$job.0\n$job.1\n$job.batch\n" >wanted && test_cmp wanted out &&
    prints "$command.0|1\n" sstat -nP -o jobid,ntasks $command
'

test_expect_success 'sstat: figures and their nodes' '
    sstat -n -p -o jobid,ntasks,mincpu,avecpu,nodelist $job.$pair >out && cat out &&
    grep -E "^$job\.$pair\|2\|00:00:0[0-9]\|00:00:0[0-9]\|node\[[0-3]-[0-3]\]\|$" out &&
    sstat -nP --noconvert -o maxrss,maxrssnode,averss,tresusageintot $job.$pair >out && cat out &&
    grep -E "^[0-9]{6,8}\|node[0-3]\|[0-9]{6,8}\|cpu=00:00:0[0-9],fs/disk=3[0-9]{7},mem=[0-9]+$" out
'

test_expect_success 'sstat: the headings of Slurm, and its list of fields' '
    sstat -o jobid,avecpu,maxrss%12 999 >out 2>/dev/null && cat >wanted <<-\END && test_cmp wanted out &&
	JobID            AveCPU       MaxRSS 
	------------ ---------- ------------ 
	END
    sstat -P 999 2>/dev/null >out && grep "^JobID|AllocTRES|MaxVMSize|MaxVMSizeNode|MaxVMSizeTask|AveVMSize|MaxRSS|MaxRSSNode|MaxRSSTask|AveRSS|MaxPages" out &&
    grep "|TRESUsageOutMinTask|TRESUsageOutTot$" out && sstat -e >out && grep "^AllocTRES           AveCPU  " out
'

# says STATUS LINE COMMAND...: exit status, and the first line of stderr.
says()
{
    status=$1 && echo "$2" >wanted && shift 2 && test_expect_code "$status" "$@" >out 2>err && head -n 1 err >first && test_cmp wanted first
}

test_expect_success 'sstat: jobs and steps that do not run, and wrong words, as in Slurm' '
    says 0 "sstat: error: couldn${quote}t get steps for job 999" sstat -n 999 &&
    says 0 "sstat: error: StepId=$job.77 not found running." sstat -n $job.77 &&
    says 1 "sstat: error: You didn${quote}t give me any jobs to stat." sstat &&
    says 1 "sstat: fatal: Bad job/step specified: x" sstat x && says 1 "sstat: fatal: Bad job/step specified: 1.x" sstat $job,1.x &&
    says 1 "sstat: error: Invalid field requested: \"nosuch\"" sstat -o nosuch 1 &&
    says 1 "sstat: error: -i: the broker does not see process ids; use srun --overlap --jobid=ID ps" sstat -i 1
'

test_expect_success 'sacct -j lists the steps of a running job, too' '
    sacct -nP -j $job -o jobid,state,end,exitcode,nodelist >out && cat out && test "$(grep -c RUNNING out)" -eq 4 &&
    sed -n 2p out | grep "^$job.batch|RUNNING|Unknown|0:0|node[0-3]$" && grep "^$job.$pair|RUNNING|Unknown|0:0|node\[" out &&
    sacct -nP -j $job.$pair -o jobid >out && grep -x $job.$pair out && prints "$job\n" sacct -nPX -j $job -o jobid &&
    sacct --json -j $job | jq -e ".jobs[0].steps | length == 3"
'

test_expect_success 'scontrol show step has the record of Slurm' '
    scontrol show step $job.$pair | sed "s/StartTime=20[0-9T:-]*/StartTime=T/; s/node\[[0-3]-[0-3]\]/node[N]/" >out && cat >wanted <<-END && test_cmp wanted out &&
	StepId=$job.$pair UserId=$(id -u) StartTime=T TimeLimit=UNLIMITED
	   State=RUNNING Partition=batch NodeList=node[N]
	   Nodes=2 CPUs=2 Tasks=2 Name=sh Network=(null)
	   TRES=cpu=2,node=2
	   ResvPorts=(null)
	   CPUFreqReq=Default
	
	END
    scontrol -o show step $job >out && test "$(grep -c "^StepId=$job.[0-9b].* State=RUNNING .* CPUFreqReq=Default" out)" -eq 3 &&
    scontrol show steps >out && grep "^StepId=$command.0 " out && test "$(grep -c ^StepId= out)" -eq 4 &&
    test_expect_code 1 scontrol show step $job.7 >out && echo "Job step $job.7 not found" >wanted && test_cmp wanted out &&
    says 1 "slurm_get_job_steps error: Invalid job id specified" scontrol show step 999 &&
    says 1 "slurm_get_job_steps error: Invalid job id specified" scontrol show step x
'

test_expect_success 'squeue --steps lists the steps that run, in the format of Slurm' '
    squeue -s >out && cat out && sed -n 1p out >head && echo "         STEPID     NAME PARTITION     USER      TIME NODELIST" >wanted &&
    test_cmp wanted head && test "$(wc -l <out)" -eq 5 && grep -E "^ +$job\.$pair +sh +batch .* 0:[0-9]+ node\[" out &&
    prints "$job.batch|batch|1|(null)\n" squeue -h -s $job.batch -o "%i|%j|%A|%b" && squeue -h -s $job -o %i >out &&
    printf "$job.0\n$job.1\n$job.batch\n" >wanted && test_cmp wanted out && prints "$command.0\n" squeue -h --steps=$command,999 -o %i &&
    prints "$command.0\n" squeue -h -s -j 999,$command -o %i && prints "" squeue -h --steps=$job --jobs=$command &&
    squeue -h -s -O StepId:12,StepState,NumTasks:3 | grep "^$job.$pair *RUNNING *2 *$" && prints "" squeue -h -s -p nosuch &&
    prints "" squeue -h -s -u daemon && says 1 "squeue: error: --steps only works with --jobs, --user, --me, --partition and the options of the output" squeue -s -t R
'

test_expect_success 'a step that has ended is not listed' '
    id=$(jq -r ".steps[] | select (.ntasks == 2) | .step" answer) && scancel $job.$id &&
    wait_until 20 pair_is_gone
'

test_expect_success 'only jobs that run have steps, and only their owners see them' '
    wait_job_state $command RUNNING && steps $command && jq -e ".steps | length == 1 and .[0].step == \"tasks\"" answer &&
    scancel $command && wait_job_state $command CANCELLED &&
    curl -s --unix-socket "${FLUXQ_BROKER#unix://}" "http://localhost/v1/jobs/$command/steps" >answer && grep wrong-state answer &&
    curl -s --unix-socket "${FLUXQ_BROKER#unix://}" "http://localhost/v1/jobs/999/steps" | grep unknown-job &&
    curl -s --unix-socket "${FLUXQ_BROKER#unix://}" "http://localhost/v1/jobs/$job/steps?fresh=2" | grep bad-request
'

test_done
