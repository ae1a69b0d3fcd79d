#!/bin/sh
test_description='scontrol: the words and lines of Slurm that tools parse, and what it changes'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
start_broker

# submit ARGS...: prints the id; the output is dropped unless ARGS name a file.
submit()
{
    sbatch --parsable -o /dev/null "$@"
}

# field ID KEY: a value of scontrol show job; without blanks.
field()
{
    scontrol -o -d show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p"
}

# says EXPECTED COMMAND...: the command fails, and its stderr is this one line.
says()
{
    echo "$1" >wanted && shift && test_expect_code 1 "$@" 2>err && test_cmp wanted err
}

# prints TEXT COMMAND...: the command fails, and its output is this line.
prints()
{
    echo "$1" >wanted && shift && test_expect_code 1 "$@" >out && test_cmp wanted out
}

test_expect_success 'hostnames and host lists; the default is the list of the job' '
    scontrol show hostnames "a[1-2],b" >out && printf "a1\na2\nb\n" >wanted && test_cmp wanted out &&
    SLURM_JOB_NODELIST="n[08-10]" scontrol show hostname >out && printf "n08\nn09\nn10\n" >wanted && test_cmp wanted out &&
    SLURM_NODELIST=x scontrol SHOW HOSTNAMES >out && echo x >wanted && test_cmp wanted out &&
    test "$(scontrol show hostlist a1,a2,b,a3)" = "a[1-2],b,a3" &&
    test "$(scontrol show hostlistsorted a10,b1,a2,a1)" = "a[1-2,10],b1" &&
    printf "c1\nc2,c3\n" >hosts && test "$(scontrol show hostlist "$PWD/hosts")" = "c[1-3]" &&
    says "scontrol: error: host list is empty" scontrol show hostnames &&
    scontrol show hostnames "" >out 2>&1 && test_must_be_empty out &&
    test_expect_code 1 scontrol show hostnames "a[1-"
'

test_expect_success 'no jobs' '
    scontrol show job >out && echo "No jobs in the system" >wanted && test_cmp wanted out &&
    says "slurm_load_jobs error: Invalid job id specified" scontrol show job 99999 &&
    says "scontrol_print_job error: Invalid job id specified" scontrol show job abc
'

running=$(submit -J running -N 2 --comment 'two words' -t 10 --wrap 'sleep 1000')
wait_job_state $running RUNNING
ended=$(sbatch --parsable -J ended -o "out.%j" --wait --wrap 'exit 3')
held=$(submit -J held -H -w node1 -x node3 --wrap true)

test_expect_success 'a running job, in lines and in one line' '
    scontrol show job $running >out && cat out &&
    head -n 1 out | grep -qx "JobId=$running JobName=running" &&
    sed -n 2p out | grep -qx "   UserId=$(id -un)($(id -u)) GroupId=$(id -gn)($(id -g)) MCS_label=N/A" &&
    grep -qx "   JobState=RUNNING Reason=None Dependency=(null)" out &&
    grep -qx "   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0" out &&
    grep -qE "^   RunTime=00:00:[0-9]{2} TimeLimit=00:10:00 TimeMin=N/A$" out &&
    grep -qE "^   SubmitTime=20[0-9-]{8}T[0-9:]{8} EligibleTime=20[0-9-]{8}T[0-9:]{8}$" out &&
    grep -qE "^   StartTime=20[0-9-]{8}T[0-9:]{8} EndTime=20[0-9-]{8}T[0-9:]{8} Deadline=N/A$" out &&
    grep -qE "^   NodeList=node\[[0-9]-[0-9]\]$" out && grep -qE "^   BatchHost=node[0-9]$" out &&
    grep -qx "   NumNodes=2 NumCPUs=2 NumTasks=2 CPUs/Task=1 ReqB:S:C:T=0:0:\*:\*" out &&
    grep -qx "   Comment=two words" out && grep -qx "   StdOut=/dev/null" out &&
    test -z "$(tail -n 1 out)" && scontrol -o show job $running >out && test "$(wc -l <out)" -eq 1 &&
    scontrol -d show job $running | grep -E "^     Nodes=node\[[0-9]-[0-9]\] CPU_IDs=0 Mem=0 GRES=$" &&
    test "$(field $running StartTime)" = "$(SLURM_TIME_FORMAT=standard field $running StartTime)" &&
    test "$(SLURM_TIME_FORMAT=%Y field $running StartTime)" = "$(date +%Y)"
'

test_expect_success 'an ended job and a held one' '
    test "$(field $ended JobState)" = FAILED && test "$(field $ended ExitCode)" = 3:0 &&
    test "$(field $ended Reason)" = NonZeroExitCode &&
    scontrol show job $ended >out && grep -qx "   StdErr=$PWD/out.$ended" out && grep -qx "   WorkDir=$PWD" out &&
    test "$(field $held Reason)" = JobHeldUser && test "$(field $held EligibleTime)" = Unknown &&
    test "$(field $held ReqNodeList)" = node1 && test "$(field $held ExcNodeList)" = node3 &&
    test "$(field $held NumNodes)" = 1-1 && test "$(field $held AllocTRES)" = "(null)" &&
    test "$(scontrol show job | grep -c "^JobId=")" -eq 3
'

test_expect_success 'Command is the file of the script with its arguments, also of a job that has ended' '
    printf "#!/bin/sh\n" >script.sh && id=$(submit -H script.sh a "b c") &&
    scontrol show job $id | grep -qx "   Command=$PWD/script.sh a b c" && scontrol release $id &&
    wait_job_state $id COMPLETED && scontrol show job $id | grep -qx "   Command=$PWD/script.sh a b c" &&
    scontrol show job $running | grep -qx "   Command=(null)"
'

test_expect_success 'hold and release, by id and by name, in any case' '
    waiting=$(submit -J waiting -d afterany:$running --wrap true) &&
    scontrol hold $waiting && test "$(field $waiting Reason)" = JobHeldUser &&
    scontrol RELEASE jobid=$waiting && test "$(field $waiting Reason)" = Dependency &&
    scontrol uhold JobName=waiting && test "$(field $waiting Reason)" = JobHeldUser &&
    scontrol rel job=$waiting,$held 2>err && test "$(field $waiting Priority)" -gt 0 &&
    wait_job_state $held COMPLETED && scontrol hold name=nosuch &&
    fluxq-cancel $waiting &&
    test_expect_code 1 scontrol hold 99999 2>err &&
    printf "Invalid job id specified for job 99999\nslurm_suspend error: Invalid job id specified\n" >wanted &&
    test_cmp wanted err && test_expect_code 1 scontrol hold x 2>err && grep "^Invalid job id specified for job x$" err &&
    test_expect_code 1 scontrol hold $running 2>err && grep "^Job is no longer pending execution for job $running " err &&
    test_expect_code 1 scontrol -Q hold 99999 2>err && test_must_be_empty err
'

test_expect_success 'an array has a record for its waiting tasks, and one for each of the others' '
    array=$(submit --array=1-4%1 --wrap "sleep 1000") &&
    wait_until 10 sh -c "scontrol show job $array | grep \"ArrayTaskId=1 \"" && scontrol show job $array >out &&
    grep -qx "JobId=$array ArrayJobId=$array ArrayTaskId=2-4%1 ArrayTaskThrottle=1 JobName=wrap" out &&
    grep -qE "^JobId=[0-9]+ ArrayJobId=$array ArrayTaskId=1 JobName=wrap$" out &&
    scontrol show job ${array}_3 | grep "^JobId=$array ArrayJobId=$array ArrayTaskId=3 JobName=wrap$" &&
    prints "Job ${array}_9 not found" scontrol show job ${array}_9 &&
    fluxq-cancel $array && wait_until 10 sh -c "scontrol show job $array | grep \"ArrayTaskId=2-4%1 \""
'

cat >again.sh <<END
#!/bin/sh
#SBATCH --open-mode=append
echo "start \${SLURM_RESTART_COUNT:-0}"
[ "\${SLURM_RESTART_COUNT:-0}" -ge 2 ] || { trap : TERM; exec 2>>again.err; FLUXQ_BROKER=$FLUXQ_BROKER scontrol requeue \$SLURM_JOB_ID; echo \$? >>status; sleep 1000; }
END

test_expect_success 'a job requeues itself, learns that it did, and knows how often it was restarted' '
    id=$(sbatch --parsable -o again.out again.sh) && wait_job_state $id COMPLETED 60 &&
    printf "start 0\nstart 1\nstart 2\n" >wanted && test_cmp wanted again.out &&
    test "$(field $id Restarts)" -eq 2 && test "$(count_events $id requeue)" -eq 2 &&
    printf "0\n0\n" >want && test_cmp want status
'

test_expect_success 'requeue and requeuehold' '
    id=$(submit --wrap "sleep 1000") && wait_job_state $id RUNNING &&
    scontrol requeuehold $id && wait_until 30 sh -c "scontrol show job $id | grep JobState=PENDING" &&
    test "$(field $id Reason)" = JobHeldUser &&
    test_expect_code 1 scontrol requeue $id 2>err && grep "^Job is pending execution for job $id " err &&
    scontrol release $id && wait_job_state $id RUNNING && fluxq-cancel $id && wait_job_state $id CANCELLED &&
    test_expect_code 1 scontrol requeue $id 2>err && grep "^Job/step already completing or completed for job $id " err &&
    says "Invalid job id specified for job 99999" scontrol requeue 99999 &&
    id=$(submit --no-requeue --wrap "sleep 1000") && wait_job_state $id RUNNING &&
    test_expect_code 1 scontrol requeue $id 2>err && grep "no-requeue" err && fluxq-cancel $id
'

test_expect_success 'requeue survives a restart of the broker' '
    id=$(submit --wrap "sleep 1000") && wait_job_state $id RUNNING && scontrol requeue $id &&
    kill_broker && start_broker && wait_job_state $id RUNNING 60 && test "$(field $id Restarts)" -eq 1 && fluxq-cancel $id
'

test_expect_success 'update of jobs: the time limit and the hold; the rest is refused by name' '
    scontrol update JobId=$running TimeLimit=5 && test "$(field $running TimeLimit)" = 00:05:00 &&
    scontrol update jobid $running timelimit+=10 && test "$(field $running TimeLimit)" = 00:15:00 &&
    scontrol update job=$running timelimit=-3 && test "$(field $running TimeLimit)" = 00:12:00 &&
    id=$(submit -d afterany:$running --wrap true) && scontrol update jobid=$id priority=0 &&
    test "$(field $id Reason)" = JobHeldUser && fluxq-cancel $id &&
    test_expect_code 1 scontrol update jobid=$running timelimit=7 partition=x 2>err && grep "Partition is not supported" err &&
    test "$(field $running TimeLimit)" = 00:12:00 && # nothing is changed when a word is refused
    test_expect_code 1 scontrol update jobid=$running bogus=1 2>err &&
    printf "Update of this parameter is not supported: bogus=1\nRequest aborted\n" >wanted && test_cmp wanted err &&
    scontrol update jobname=running timelimit=9 && test "$(field $running TimeLimit)" = 00:09:00 &&
    scontrol update jobname=running timelimit=12 && test "$(field $running TimeLimit)" = 00:12:00 &&
    says "Invalid job id specified for job 99999" scontrol update jobid=99999 timelimit=3
'

test_expect_success 'nodes are shown, drained and resumed' '
    scontrol show node node0 >out && cat out && head -n 1 out | grep "^NodeName=node0 " &&
    grep -E " CPUTot=[0-9]+ " out && grep "NodeAddr=node0 " out && grep -E "^   State=(IDLE|MIXED|ALLOCATED) " out &&
    test "$(scontrol -o show nodes | grep -c "^NodeName=")" -eq 4 &&
    prints "Node nope not found" scontrol show node nope &&
    says "You must specify a reason when DOWNING or DRAINING a node. Request denied" scontrol update nodename=node3 state=drain &&
    scontrol update nodename=node3 state=drain reason="new disk" && scontrol show node node3 >out &&
    grep "^   State=IDLE+DRAIN " out && grep "^   Reason=new disk" out &&
    scontrol update nodename=node[3] state=resume && scontrol show node node3 | grep "^   State=IDLE " &&
    says "slurm_update error: Invalid node name specified" scontrol update nodename=nope state=resume &&
    test_expect_code 1 scontrol update nodename=node3 state=down reason=x 2>err && grep "State=down is not supported" err
'

test_expect_success 'partitions' '
    scontrol show partition >out && cat out && head -n 1 out | grep -qx "PartitionName=batch" &&
    scontrol show part -o >out && test "$(wc -l <out)" -eq 1 &&
    grep -E "^PartitionName=batch .* Default=YES .* MaxNodes=UNLIMITED MaxTime=UNLIMITED .* Nodes=node\[0-3\] .* State=UP TotalCPUs=[0-9]+ TotalNodes=4 " out &&
    prints "Partition nope not found" scontrol show partition nope &&
    scontrol update partitionname=batch state=down && scontrol show part | grep "State=DOWN" &&
    scontrol update partition=batch state=up && scontrol show part | grep "State=UP"
'

test_expect_success 'reservations' '
    scontrol show reservations >out && echo "No reservations in the system" >wanted && test_cmp wanted out &&
    scontrol create reservation=r1 StartTime=now+1hour Duration=10 Users=$(id -un) Nodes=node3 Comment=x >out &&
    echo "Reservation created: r1" >wanted && test_cmp wanted out && scontrol show res r1 >out && cat out &&
    grep -E "^ReservationName=r1 StartTime=20.* Duration=00:10:00$" out && grep "^   Nodes=node3 NodeCnt=1 " out &&
    grep "Users=$(id -un) .* State=INACTIVE" out && grep "^   Comment=x$" out &&
    test_expect_code 1 scontrol update reservation=r1 duration=20 2>err && grep "not supported" err &&
    scontrol delete reservation=r1 && prints "Reservation r1 not found" scontrol show res r1 &&
    says "delete_reservation reservation: Requested reservation is invalid" scontrol delete reservation nope &&
    test_expect_code 1 scontrol create reservation starttime=now duration=5 users=root corecnt=2 2>err && grep "CoreCnt is not supported" err &&
    test_expect_code 1 scontrol create reservation duration=5 users=root nodes=node3 2>err && grep "A start time must be given" err
'

test_expect_success 'configuration, ping, version and licenses' '
    scontrol show config >out && cat out && head -n 1 out | grep -E "^Configuration data as of 20" &&
    grep -E "^MinJobAge               = [0-9]+ sec$" out && grep -E "^MaxArraySize            = [1-9][0-9]*$" out &&
    grep -E "^SLURM_VERSION           = " out && tail -n 1 out | grep -E "^Slurmctld\(primary\) at .* is UP$" &&
    scontrol ping | grep -E "^Slurmctld\(primary\) at .* is UP$" && scontrol --version | grep "^slurm " &&
    scontrol version | grep "^slurm " && scontrol show lic | grep "^No licenses configured in Slurm.$" &&
    FLUXQ_BROKER_WAIT=0 FLUXQ_BROKER=unix:///nonexistent/s test_expect_code 1 scontrol ping >out && grep "is DOWN$" out
'

test_expect_success 'the batch script' '
    printf "#!/bin/sh\nexit 0 # \303\244\n" >script && id=$(submit -H ./script) &&
    scontrol write batch_script $id - >out && test_cmp script out && rm -f slurm-$id.sh &&
    scontrol write batch_script $id >out && echo "batch script for job $id written to slurm-$id.sh" >wanted &&
    test_cmp wanted out && test_cmp script slurm-$id.sh && scontrol write batch_script $id copy && test_cmp script copy &&
    says "job script retrieval failed: Invalid job id specified" scontrol write batch_script 99999 && fluxq-cancel $id
'

test_expect_success '--json has the shape of data_parser v0.0.41' '
    scontrol --json show job $running >out && jq -e ".jobs[0].job_id == $running and .jobs[0].job_state[0] == \"RUNNING\" and
        .jobs[0].standard_output == \"/dev/null\" and .jobs[0].time_limit.number == 12 and
        (.jobs[0].job_resources.nodes.allocation | length) == 2 and (.errors | length) == 0" out &&
    scontrol --json show job $ended | jq -e ".jobs[0].exit_code.return_code.number == 3" &&
    scontrol --json show node node1 >out && jq -e "(.nodes | length) == 1 and .nodes[0].name == \"node1\" and
        .nodes[0].partitions == [\"batch\"] and (.nodes[0].state[0] | test(\"^(IDLE|MIXED|ALLOCATED)$\"))" out &&
    scontrol --json=v0.0.42 show partition batch | jq -e ".partitions[0].nodes.total == 4 and .partitions[0].partition.state == [\"UP\"]" &&
    scontrol --json show reservation | jq -e "(.reservations | length) == 0" && scontrol --json show license | jq -e ".licenses == []" &&
    test_expect_code 1 scontrol --json show node nonode && test_expect_code 1 scontrol --json show config && test_expect_code 1 scontrol --json=v1 show job
'

test_expect_success 'keywords may be shortened; unknown ones and those that fluxq does not have are errors' '
    scontrol sho hostn a && says "invalid keyword: sh" scontrol sh hostn a && says "invalid keyword: bogus" scontrol bogus &&
    says "invalid entity:bogus for keyword:show " scontrol show bogus &&
    says "too few arguments for keyword:hold" scontrol hold && says "too few arguments for update keyword" scontrol update &&
    says "too many arguments for keyword:ping" scontrol ping x &&
    says "Invalid deletion entity: foo=1" scontrol delete foo=1 &&
    for word in suspend:1 top:1 reboot:ASAP notify:1 listpids reconfigure shutdown; do
        test_expect_code 1 scontrol $(echo $word | tr : " ") 2>err && grep "not supported: " err || return 1
    done &&
    test_expect_code 1 scontrol -M other show job 2>err && grep "there is one cluster, fluxq" err && scontrol -M fluxq show partition &&
    test_expect_code 1 scontrol --sibling show job 2>err && grep "not supported" err &&
    test_expect_code 1 scontrol -u nobody hold 1 2>err && grep "not supported" err
'

test_expect_success 'without a command, commands are read from the input' '
    printf "version\nbogus\n\nshow hostnames a[1-2]\n!!\nquit\nversion\n" | test_expect_code 1 scontrol >out 2>err &&
    test "$(grep -c "^scontrol: slurm" out)" -eq 1 && test "$(grep -c "a1$" out)" -eq 2 && grep "^invalid keyword: bogus$" err &&
    printf "oneliner\nshow job $running\n" | scontrol >out && test "$(grep -c "JobId=$running JobName=running UserId=" out)" -eq 1
'

test_done
