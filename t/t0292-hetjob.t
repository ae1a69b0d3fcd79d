#!/bin/sh
test_description='heterogeneous jobs: scripts, command lines, and what the commands show of the components'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
for variable in $(env | sed -n 's/^\(S[A-Z]*_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$variable"
done
TZ=UTC && export TZ
start_broker

me=$(id -un)
write_script het.sh <<'END'
#!/bin/sh
#SBATCH --job-name=lead --ntasks-per-node=2 --nodes=1 --mem=100M --time=10 --hold -o /dev/null
#SBATCH hetjob
#SBATCH --job-name=work --nodes=2 --cpus-per-task=2
true
END
het=$(sbatch --parsable het.sh)
ended=$(sbatch --parsable het.sh)

in_history()
{
    fluxq-ctl status --json | jq -e ".history.waiting == 0" >/dev/null
}

test_expect_success 'squeue has a row for each component, in their order' '
    squeue >out && cat out &&
    grep -xE " +$het\+0 +batch +lead +$me PD +0:00 +1 \(JobHeldUser\)" out &&
    grep -xE " +$het\+1 +batch +work +$me PD +0:00 +2 \(JobHeldUser\)" out &&
    test "$(sed -n 2p out | grep -c "+0 ")" -eq 1 && test "$(wc -l <out)" -eq 5
'

test_expect_success 'each row has the sizes of its component, and its number in the job' '
    squeue -h -j $het -o "%i|%A|%F|%D|%C|%j|%m" >out && cat out &&
    printf "$het+0|$het|$het|1|2|lead|100M\n$het+1|$het|$het|2|4|work|100M\n" | test_cmp - out &&
    squeue -h -j $het -O "HetJobID:|,HetJobOffset:|,HetJobIDSet:|,NumTasks:|,CPUsPerTask:|" >out && cat out &&
    printf "$het|0|$het|2|1|\n$het|1|$het|2|2|\n" | test_cmp - out
'

test_expect_success 'squeue -j ID+N shows one component' '
    test "$(squeue -h -j $het+1 -o %i)" = $het+1 && test "$(squeue -h -j $het+0 -o %j)" = lead &&
    test -z "$(squeue -h -j $het+2 -o %i)" && test_must_fail squeue -h -j 12345+1 -o %i
'

test_expect_success 'squeue --json names the job, the component and the set' '
    squeue --json -j $het >out &&
    jq -e ".jobs | length == 2 and all(.het_job_id.number == $het and .het_job_id_set == \"$het\")" out &&
    jq -e "[.jobs[].het_job_offset.number] == [0, 1] and [.jobs[].node_count.number] == [1, 2]" out &&
    jq -e "[.jobs[].name] == [\"lead\", \"work\"] and [.jobs[].batch_flag] == [true, false]" out
'

test_expect_success 'scontrol show job shows each component, or one' '
    scontrol show job $het >out && cat out &&
    grep -xF "JobId=$het HetJobId=$het HetJobOffset=0 JobName=lead" out &&
    grep -xF "JobId=$het HetJobId=$het HetJobOffset=1 JobName=work" out &&
    test "$(grep -cxF "   HetJobIdSet=$het" out)" -eq 2 &&
    scontrol -o show job $het+1 >out && test "$(wc -l <out)" -eq 1 &&
    grep -F " NumNodes=2-2 NumCPUs=4 NumTasks=2 CPUs/Task=2 " out && grep -F " BatchFlag=0 " out &&
    grep -F " ReqTRES=cpu=4,mem=200M,node=2" out &&
    test_must_fail scontrol show job $het+2 >out && cat out &&
    scontrol --json show job $het+1 | jq -e ".jobs | length == 1 and .[0].het_job_offset.number == 1"
'

test_expect_success 'a component alone cannot be held, changed or cancelled; the job can' '
    test_must_fail scontrol release $het+1 2>err && cat err && grep -F "name the job, $het" err &&
    test_must_fail scontrol update jobid=$het+1 timelimit=5 2>err && grep -F "name the job, $het" err &&
    test_must_fail scancel $het+1 2>err && cat err && grep -F "name the job, $het" err &&
    scontrol update jobid=$het timelimit=5 && test "$(squeue -h -j $het -o %l | xargs)" = "5:00 5:00" &&
    id=$(sbatch --parsable het.sh) && scancel $id && wait_job_state $id CANCELLED
'

test_expect_success 'GET /v1/jobs/ID has the request of each component' '
    fluxq-show job $het --json >out && jq -c ".components" out &&
    jq -e ".components | length == 2 and .[1].request.nodes_min == 2 and .[1].name == \"work\"" out &&
    jq -e ".request.nodes_min == 3 and .nodes == 3" out &&
    fluxq-show job $het >out && cat out &&
    grep -E "^ *Component 0: +lead: 1 node, 2 tasks, 2 cores$" out &&
    grep -E "^ *Component 1: +work: 2 nodes, 2 tasks, 4 cores$" out
'

test_expect_success 'sacct has a row for each component, of a waiting job and of one that has ended' '
    sacct -X -n -P -j $het -o JobID,JobName,State,ReqCPUS,ReqNodes,ReqMem >out && cat out &&
    printf "$het+0|lead|PENDING|2|1|100M\n$het+1|work|PENDING|4|2|200M\n" | test_cmp - out &&
    scancel $ended && wait_job_state $ended CANCELLED && wait_until 20 in_history &&
    sacct -X -n -P -j $ended -o JobID,JobIDRaw,JobName,ReqCPUS,ReqNodes >out && cat out &&
    printf "$ended+0|$ended|lead|2|1\n$ended+1|$ended|work|4|2\n" | test_cmp - out &&
    sacct -X -n -P -o JobID | grep -xF $ended+1
'

test_expect_success 'sacct -j ID+N and --whole-hetjob choose components' '
    test "$(sacct -X -n -P -j $ended+1 -o JobID)" = $ended+1 &&
    test "$(sacct -X -n -P -j $ended+1 --whole-hetjob=yes -o JobID | xargs)" = "$ended+0 $ended+1" &&
    test "$(sacct -X -n -P -j $ended --whole-hetjob=no -o JobID)" = $ended+0 &&
    test_must_fail sacct -j $ended --whole-hetjob=x && test_must_fail sacct -j $ended+x &&
    sacct --json -j $ended+1 >out &&
    jq -e ".jobs | length == 1 and .[0].het.job_id == $ended and .[0].het.job_offset.number == 1" out
'

test_expect_success 'a running job has the nodes of each component in its row, and sacct its steps' '
    write_script run.sh <<-\END &&
	#!/bin/sh
	#SBATCH -J lead -n1 -t 10 -o /dev/null
	#SBATCH hetjob
	#SBATCH -J work -N2
	srun true
	srun --het-group=1 true
	srun --het-group=0,1 true
	touch done; exec sleep 1000
	END
    id=$(sbatch --parsable run.sh) && wait_job_state $id RUNNING && wait_until 30 test -e done &&
    squeue -h -j $id -o "%i %D %N" >out && cat out &&
    first=$(squeue -h -j $id+0 -o %N) && others=$(squeue -h -j $id+1 -o %N) &&
    test "$(scontrol show hostnames $first | wc -l)" -eq 1 && test "$(scontrol show hostnames $others | wc -l)" -eq 2 &&
    scontrol show job $id+1 | grep -F " NodeList=$others" &&
    squeue --json -j $id+1 | jq -e ".jobs[0].job_resources.nodes.count == 2 and .jobs[0].nodes == \"$others\"" &&
    scancel $id && wait_job_state $id CANCELLED && wait_until 20 in_history &&
    sacct -n -P -j $id -o JobID,NodeList >out && cat out &&
    grep -xF "$id+0|$first" out && grep -xF "$id+1|$others" out && grep -xF "$id+0.batch|$first" out &&
    cut -d"|" -f1 out | xargs >ids &&
    test "$(cat ids)" = "$id+0 $id+0.batch $id+0.0 $id+0.2 $id+1 $id+1.1 $id+1.2"
'

test_expect_success 'options on the command line are those of their component, and the last ones hold for later ones' '
    id=$(sbatch --parsable -H -N 2 -J a : -J b het.sh) &&
    test "$(squeue -h -j $id -o "%D %j" | xargs)" = "2 a 2 b" &&
    id=$(sbatch --parsable -H -N 2 -J c het.sh) &&
    test "$(squeue -h -j $id -o "%D %j" | xargs)" = "2 c 2 c" &&
    id=$(SBATCH_MEM_PER_NODE=30 sbatch --parsable -H -n1 : -n1 : -n1 --wrap true) &&
    test "$(squeue -h -j $id -o "%i %m" | xargs)" = "$id+0 30M $id+1 30M $id+2 30M" &&
    sbatch -H -n1 : -n1 --wrap true >out && grep -xE "Submitted batch job [0-9]+" out
'

test_expect_success 'an error names the line and the component, and what to do' '
    sed "s/--cpus-per-task=2/--time=30/" het.sh | test_must_fail sbatch 2>err && cat err &&
    grep -F "stdin:4: component 1: --time: all components of a heterogeneous job have one --time" err &&
    test_must_fail sbatch -n1 : --foo --wrap true 2>err && grep -F -e "--foo" err &&
    test_must_fail sbatch -n1 : -N x --wrap true 2>err && grep -F "component 1: -N: " err &&
    test_must_fail sbatch -n1 : -N 2-4 --wrap true 2>err && grep -F "component 1: -N: a component of" err &&
    test_must_fail sbatch -a 0-3 -n1 : -n1 --wrap true 2>err && grep -F "an array has no components" err &&
    test_must_fail sbatch -N2 --segment=2 : -n1 --wrap true 2>err && grep -F -e "--segment: it does not go with the components" err
'

test_expect_success 'fluxq-submit reads such a script, and --explain names the component of each line' '
    fluxq-submit --explain het.sh >out && cat out &&
    grep -xF "het.sh:4: component 1: --nodes 2: done" out &&
    grep -xF "het.sh:2: component 0: --nodes 1: done" out &&
    id=$(fluxq-submit het.sh) && test "$(squeue -h -j $id -o %j | xargs)" = "lead work"
'

test_done
