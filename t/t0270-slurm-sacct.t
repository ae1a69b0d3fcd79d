#!/bin/sh
test_description='sacct: jobs and steps of the queue and the history, in the words that programs read'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
unset SACCT_FORMAT
TZ=UTC && export TZ
start_broker

# row ID FIELDS: the job's row, with bars between.
row()
{
    sacct -X -n -P -j "$1" -o "$2"
}

in_history()
{
    fluxq-ctl status --json | jq -e ".history.waiting == 0" >/dev/null
}

me=$(id -un) uid=$(id -u)
command=$(fluxq-submit -J command -n 2 -o /dev/null --wait -- true)
failed=$(fluxq-submit -J failed -o /dev/null --account=physics -- sh -c 'exit 3')
wait_job_state $failed FAILED
printf '#!/bin/sh\nsrun -n 1 true\nsrun -n 1 sh -c "exit 4"\nexit 5\n' | write_script job.sh
script=$(sbatch --parsable -o /dev/null --comment='a note' --wckey=submitit -t 10 job.sh)
wait_job_state $script FAILED
running=$(sbatch --parsable -J running -o /dev/null -t 90 --mem=100 --wrap 'sleep 1000')
wait_job_state $running RUNNING
cancelled=$(sbatch --parsable -J cancelled -o /dev/null --mem=2G --wrap 'sleep 1000')
wait_job_state $cancelled RUNNING && scancel $cancelled && wait_job_state $cancelled CANCELLED
array=$(sbatch --parsable -J array -o /dev/null -H -a 0-3%2 --wrap true)
never=$(sbatch --parsable -J never -o /dev/null -H -a 1-3 --wrap true)
scancel $never && wait_job_state $never CANCELLED
wait_until 20 in_history

test_expect_success 'the default has the headings and widths of Slurm, and each job once, with its steps' '
    sacct >out && cat out &&
    sed -n 1p out | grep -xF "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode " &&
    sed -n 2p out | grep -xF -e "------------ ---------- ---------- ---------- ---------- ---------- -------- " &&
    grep -xE "$command +command +batch +2 +COMPLETED +0:0 " out && grep -xE "$command\.0 +command +2 +COMPLETED +0:0 " out &&
    grep -xE "$failed +failed +batch +physics +1 +FAILED +3:0 " out &&
    grep -xE "$script +job.sh +batch +1 +FAILED +5:0 " out &&
    sed -n "/^$script/s/ .*//p" out | xargs | grep -x "$script $script.batch $script.0 $script.1" &&
    grep -xE "$script\.batch +batch +1 +FAILED +5:0 " out && grep -xE "$script\.1 +sh +1 +FAILED +4:0 " out &&
    grep -xE "$running +running +batch +1 +RUNNING +0:0 " out &&
    grep -xE "$cancelled +cancelled +batch +1 +CANCELLED\+ +0:0 " out &&
    grep -xE "$cancelled\.batch +batch +1 +CANCELLED +0:15 " out &&
    grep -xE "${array}_\[0-3%2\] +array +batch +0 +PENDING +0:0 " out &&
    grep -xE "${never}_\[1-3\] +never +batch +0 +CANCELLED\+ +0:0 " out &&
    test "$(sed 1,2d out | wc -l)" -eq 13
'

test_expect_success '-X leaves the steps out, -n the headings; -P and -p have delimiters' '
    test "$(sacct -X -n -P -o jobid | xargs)" = \
        "$command $failed $script $running $cancelled ${array}_[0-3%2] ${never}_[1-3]" &&
    test "$(sacct -P -j $script -o JobID,State,NodeList | head -n 2 | xargs)" = \
        "JobID|State|NodeList $script|FAILED|node0" &&
    test "$(sacct -p -n -X -j $script -o jobid,state)" = "$script|FAILED|" &&
    test "$(sacct -P -n -X --delimiter @@ -j $script -o jobid,state)" = "$script@@FAILED" &&
    us=$(printf "\037") && test "$(sacct -nXP --delimiter "$us" -j $script -o jobid,user)" = "$script$us$me"
'

test_expect_success 'fields have any case, prefixes and widths; %all and several -o; an unknown one is named' '
    test "$(sacct -n -X -j $failed -o JOBIDR%-5,stat%4,jobn%10)" = "$(printf "%-5s FAI+     failed " $failed)" &&
    sacct -X -j $failed -o jobid%20 | sed -n 2p | grep -xF -e "-------------------- " &&
    test "$(sacct -nXP -j $failed -o jobid -o state -b)" = "$failed|FAILED|$failed|FAILED|3:0" &&
    sacct -j $failed -n -X -o nodelist%-256 | grep -xE "node[0-9] {251} " &&
    test_expect_code 1 sacct -o jobid,bla 2>err && echo "sacct: error: Invalid field requested: \"bla\"" >wanted &&
    test_cmp wanted err && test_expect_code 1 sacct -o AllocGRES 2>err && grep "use AllocTRES" err &&
    test "$(SACCT_FORMAT=jobid,state%6 sacct -n -X -j $failed)" = "$(printf "%-12s FAILED " $failed)"
'

test_expect_success 'every field of --helpformat can be shown, with as many values as headings' '
    sacct --helpformat | tr -s " " "\n" | grep . >names && test "$(wc -l <names)" -ge 110 &&
    sacct --parsable --jobs=$script --format="$(paste -sd, names)" >out && test "$(wc -l <out)" -eq 5 &&
    test "$(sed -n 1p out | tr -cd "|" | wc -c)" = "$(sed -n 2p out | tr -cd "|" | wc -c)" &&
    sed -n 1p out | tr "|" "\n" | sed "/^$/d" >headings && test_cmp names headings &&
    sacct -l -P -j $script | grep "|MaxRSS|" && test_expect_code 1 sacct -l -o jobid
'

test_expect_success 'values of a job are in the words of Slurm' '
    test "$(row $cancelled State,ReqMem,ReqTRES,AllocTRES,NNodes,NCPUS)" = \
        "CANCELLED by $uid|2G|cpu=1,mem=2G,node=1|cpu=1,mem=2G,node=1|1|1" &&
    test "$(row $script User,UID,Comment,WCKey,Timelimit,TimelimitRaw,Cluster,WorkDir,DerivedExitCode)" = \
        "$me|$uid|a note|submitit|00:10:00|10|fluxq|$PWD|4:0" &&
    test "$(row $running State,Timelimit,End,NodeList,ReqMem,Partition)" = "RUNNING|01:30:00|Unknown|node0|100M|batch" &&
    test "$(row $array State,NodeList,Start,Elapsed,JobIDRaw,Reason,AllocTRES,NNodes)" = \
        "PENDING|None assigned|Unknown|00:00:00|$array|JobHeldUser||1" &&
    test "$(row $never State,Start,Elapsed,AllocNodes)" = "CANCELLED by $uid|None|00:00:00|0" &&
    row $script Submit,Eligible,Start,End | grep -xE "(20[0-9-]{8}T[0-9:]{8}(\||$)){4}" &&
    row $script Elapsed,ElapsedRaw,TotalCPU,CPUTimeRAW | grep -xE "00:00:0[0-9]\|[0-9]+\|00:00[.:][0-9]+\|[0-9]+" &&
    test "$(SLURM_TIME_FORMAT=%s row $script Submit)" -gt 1000000000
'

test_expect_success 'steps have their usage, and -j can name them' '
    sacct -n -P -j $script.batch -o JobID,NTasks,MaxRSS,MaxRSSNode,AveRSS,NodeList,TRESUsageInMax >out && cat out &&
    grep -xE "$script\.batch\|1\|[0-9.]+[KM]?\|node0\|[0-9.]+[KM]?\|node0\|cpu=00:00:00,fs/disk=[0-9.]+K?,mem=[0-9.]+[KM]?" out &&
    sacct -n -P -j $script.batch --units=M -o MaxRSS | grep -xE "[0-9]+(\.[0-9]{2})?M" &&
    sacct -n -P -j $script.batch --noconvert -o MaxRSS | grep -xE "[0-9]+" &&
    test "$(sacct -nP -j $script.0,$script.1 -o JobIDRaw,State,ExitCode | xargs)" = \
        "$script.0|COMPLETED|0:0 $script.1|FAILED|4:0" && test "$(sacct -nXP -j $script.0 -o jobid)" = $script
'

test_expect_success 'jobs are chosen by id, name, user, account, partition, group, node and size' '
    test "$(sacct -nXP -o jobid -j $command -j $failed,$script)" = "$(printf "%s\n" $command $failed $script)" &&
    test "$(sacct -nXP -o jobid --job "$command,$running" | xargs)" = "$command $running" &&
    test "$(sacct -nXP -o jobid --name running,x)" = $running && test "$(sacct -nXP -o jobid -A physics)" = $failed &&
    test "$(sacct -nXP -o jobid -u $me | wc -l)" -eq 7 && test "$(sacct -nXP -o jobid -u $uid -a | wc -l)" -eq 7 &&
    test -z "$(sacct -nX -r nosuch)" && test "$(sacct -nXP -r batch -o jobid | wc -l)" -eq 7 &&
    test -z "$(sacct -nX -q nosuch)" && test "$(sacct -nXP -W submitit -o jobid)" = $script &&
    test "$(sacct -nXP -g $(id -gn) -o jobid | wc -l)" -eq 7 && test -z "$(sacct -nX -g 99999)" &&
    test -z "$(sacct -nX -N node77)" && test "$(sacct -nXP -N node0 -o jobid | grep -c $running)" -eq 1 &&
    test "$(sacct -nXP -I 2 -o jobid)" = $command && test "$(sacct -nXP -i 1-9 -o jobid | wc -l)" -eq 5 &&
    test "$(sacct -nXP -k 60 -K 100 -o jobid)" = $running && test "$(sacct -nXP -k 10 -o jobid)" = $script &&
    test "$(sacct -nXP --clusters all --allclusters -j $failed -o jobid)" = $failed && sacct -X -M fluxq
'

test_expect_success 'arrays: tasks have two numbers, --array shows each waiting one' '
    test "$(sacct -nXP -j $array --array -o jobid | xargs)" = "${array}_0 ${array}_1 ${array}_2 ${array}_3" &&
    tasks=$(sbatch --parsable -o /dev/null -a 4-5 --wrap true) &&
    wait_until 20 sh -c "test \$(sacct -nXP -j $tasks -o state | grep -c COMPLETED) -eq 2" &&
    test "$(sacct -nXP -j $tasks -o jobid | xargs)" = "${tasks}_4 ${tasks}_5" &&
    test "$(sacct -nXP -j ${tasks}_5 -o jobid)" = ${tasks}_5 && test "$(sacct -nXP -j ${tasks}_[3-4] -o jobid)" = ${tasks}_4 &&
    raw=$(sacct -nXP -j ${tasks}_5 -o JobIDRaw) && test "$raw" -gt "$tasks" && test "$(sacct -nXP -j $raw -o jobid)" = ${tasks}_5
'

# is WORDS COMMAND...: the command prints the words; if not, says so.
is()
{
    wanted=$1 && shift && got=$("$@") && [ "$got" = "$wanted" ] || { echo "'$got', not '$wanted': $*" && return 1; }
}

# sacct counts whole seconds: a job that has ended in this second is one that runs now.
test_expect_success 'times: without -S today, with -j all, with -s now; windows; wrong ones are named' '
    sleep 1 &&
    is "" sacct -nX -S now-2days -E now-1day && is "" sacct -nX -S 2010-01-01 -E 2010-01-02T10:00 &&
    is $failed sacct -nXP -o jobid -S now-1hour --name failed &&
    is "$failed|FAILED" sacct -nXP --starttime $(date +%Y-%m-%dT%H:00) --endtime now --name failed -o JobIdRaw,State &&
    is $running sacct -nXP -s R --name running,failed -o jobid && is "${array}_[0-3%2]" sacct -nXP --state pd --name array,failed -o jobid &&
    is "" sacct -nX -s TO && test "$(sacct -nXP -s F,CD -S now-1hour -E now -o state --name failed,command | sort | xargs)" = \
        "COMPLETED FAILED" && is $failed sacct -nXP -j $failed,$command -s F -o jobid &&
    test_expect_code 1 sacct -S ISO 2>err && echo "Invalid time specification (pos=0): ISO" >wanted && test_cmp wanted err &&
    test_expect_code 1 sacct -S 2027-01-01 -E 2026-01-01 2>err && grep "requested is after end time" err &&
    test "$(sacct -nXP -T -j $running -S now -o Elapsed | cut -c1-7)" = 00:00:0
'

test_expect_success 'a script has the CPUs of the first node, a step those of its tasks' '
    id=$(sbatch --parsable --wait -N2 --ntasks-per-node=1 -o /dev/null --wrap "srun true; srun -n1 -N1 true") &&
    sacct -n -P -j $id -o JobID,AllocCPUS,AllocNodes,AllocTRES >out && cat out &&
    printf "%s\n" "$id|2|2|cpu=2,node=2" "$id.batch|1|1|cpu=1,node=1" "$id.0|2|2|cpu=2,node=2" "$id.1|1|1|cpu=1,node=1" >wanted && test_cmp wanted out &&
    id=$(sbatch --parsable -N2 --exclusive -o /dev/null --wrap "sleep 1000") && wait_job_state $id RUNNING &&
    wait_until 10 sh -c "squeue -s -h -j $id -O StepID:20,NumCPUs | grep batch" && squeue -s -h -j $id -O StepID:20,NumCPUs | grep -E "^$id.batch +$(scontrol show node node0 | sed -n "s/.*CPUTot=\([0-9]*\).*/\1/p") *$" && scancel $id
'

test_expect_success 'a job that is gone is an empty list' '
    sacct -j 99999 >out 2>err && test "$(wc -l <out)" -eq 2 && test_must_be_empty err && sacct -n -j 99999 >out && test_must_be_empty out
'

test_expect_success 'wrong options are named as Slurm names them, and what fluxq does not have is refused' '
    while read -r options; do
        read -r wanted && echo "$options" && test_expect_code 1 sacct $options >out 2>err && cat err && grep -F -e "$wanted" err || return 1
    done <<-\END
	-j abc
	sacct: fatal: Bad job/step specified: abc
	-j 12+x
	sacct: fatal: Bad job/step specified: 12+x
	-s foo
	sacct: fatal: unrecognized job state value '"'foo'"'
	-s CF
	sacct: fatal: job state CONFIGURING is not supported / accounted
	-u nosuchuser
	sacct: error: Invalid user id: nosuchuser
	-g nosuchgroup
	sacct: error: Invalid group id: nosuchgroup
	--units=Q
	sacct: fatal: Invalid unit type
	-k x
	sacct: fatal: Invalid time limit specification
	-i x
	sacct: error: Invalid numeric value "x" for requested node range.
	more
	sacct: error: Unknown arguments:
	-M other
	there is one cluster
	-B
	not kept
	--yaml
	not supported
	-C a
	does not keep
	--json=v0.0.38
	not supported
	END
'

test_expect_success '--json has the members that launchers read' '
    sacct --json -S1970-01-01-00:00:01 >out && jq -e ".jobs | length >= 7" out &&
    jq -e ".jobs[] | select(.job_id == $script) | .state.current == [\"FAILED\"] and .name == \"job.sh\" and .user == \"$me\" and
        .partition == \"batch\" and .exit_code.return_code.number == 5 and .derived_exit_code.return_code.number == 4 and
        .time.limit.number == 10 and .time.start > 1000000000 and .nodes == \"node0\" and .comment.job == \"a note\" and
        (.tres.allocated[] | select(.type == \"cpu\").count) == 1 and ([.steps[].step.id] | index(\"$script.batch\")) != null" out &&
    jq -e ".jobs[] | select(.job_id == $running) | .state.current == [\"RUNNING\"] and .time.end == 0" out &&
    jq -e ".jobs[] | select(.job_id == $array) | .array.task == \"0-3\" and .array.limits.max.running.tasks == 2" out &&
    jq -e ".meta.slurm.release and .errors == []" out && sacct --json -X -j 99999 | jq -e ".jobs == []"
'

test_expect_success 'the list is the same after a restart of the broker' '
    sacct -P -j $command,$failed,$script,$cancelled -o ALL >before && restart_broker && wait_until 20 in_history &&
    sacct -P -j $command,$failed,$script,$cancelled -o ALL >after && test_cmp before after
'

test_expect_success 'a job that has just ended is in every list' '
    for i in $(seq 20); do
        fluxq-submit --wait -J ended$i -o /dev/null -- true >id && sacct -nXP -o JobName,State >listed &&
        grep -xE "ended$i.(COMPLETED|RUNNING)" listed || { cat listed; return 1; }
    done
'

test_done
