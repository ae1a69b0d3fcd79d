#!/bin/sh
test_description='squeue: the jobs, fields, words and exit codes that programs read'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
for variable in $(env | sed -n 's/^\(SQUEUE_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$variable"
done
TZ=UTC && export TZ
start_broker

submit()
{
    fluxq-submit -o /dev/null "$@"
}

# fields ID NAMES: fields of a job by name, with a bar between.
fields()
{
    squeue -h --states=all --jobs="$1" -O "$(echo "$2" | sed 's/,/:|,/g; s/$/:|/')"
}

me=$(id -un)
ended=$(submit -J ended --wait -- true)
failed=$(submit -J failed -- sh -c 'exit 3')
wait_job_state $failed FAILED
running=$(submit -J running -t 10 --mem=100 -- sleep 1000)
wait_job_state $running RUNNING
node=$(job_field $running nodelist)
array=$(submit -J array --hold -a 0-3%2 -- true)
later=$(submit -J later --begin=now+1hour -N 2 -- true)
after=$(submit -J after -d afterok:$running --account=physics --comment='a note' --nice=5 -- true)

test_expect_success 'the default has the headings and widths of Slurm, and waiting jobs before running ones' '
    squeue >out && cat out &&
    sed -n 1p out | grep -xF "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)" &&
    grep -xE " +$later +batch +later +$me PD +0:00 +2 \(BeginTime\)" out &&
    grep -xE " +$after +batch +after +$me PD +0:00 +1 \(Dependency\)" out &&
    grep -xE " +${array}_\[0-3%2\] +batch +array +$me PD +0:00 +1 \(JobHeldUser\)" out &&
    grep -xE " +$running +batch +running +$me  R +0:[0-9]+ +1 $node" out &&
    test "$(wc -l <out)" -eq 5 && sed -n 5p out | grep running
'

test_expect_success '-h leaves the headings out, -r shows each task, --long has the date and the limit' '
    squeue -h >out && test "$(wc -l <out)" -eq 4 &&
    squeue -h -r -j $array -o "%i %A %F %K" >out &&
    printf "${array}_%d $array $array %d\n" 0 0 1 1 2 2 3 3 >wanted && test_cmp wanted out &&
    squeue -l -j $running >out && sed -n 2p out | grep "STATE       TIME TIME_LIMI  NODES" &&
    sed -n 1p out | grep -E "^[A-Z][a-z]+ [A-Z][a-z]+ [0-9]+ [0-9:]+ 20[0-9]+$" &&
    sed -n 3p out | grep -E " RUNNING +0:[0-9]+ +10:00 "
'

test_expect_success 'filters select by id, state in both forms, user, name in any case, partition, node, account' '
    test "$(squeue -h -j $running -o %i)" = $running && test "$(squeue -h -j$running -o %i)" = $running &&
    test "$(squeue -h --job $running,$later -o %i | sort -n | xargs)" = "$running $later" &&
    test "$(squeue -h -t R -o %i)" = $running && test "$(squeue -h --states RUNNING,CG -o %i)" = $running &&
    test "$(squeue -h -t CD,F -S i -o %i | xargs)" = "$ended $failed" &&
    test "$(squeue -h -t all -o %i | wc -l)" -eq 6 &&
    test "$(squeue -h -u $me -n LATER -o %i)" = $later && test "$(squeue -h --me --name later,x -o %i)" = $later &&
    test "$(squeue -h -u $(id -u) -n later -o %i)" = $later && test -z "$(squeue -h --notme)" &&
    test -z "$(squeue -h -p nosuch)" && test "$(squeue -h -p batch,x -t R -o %i)" = $running &&
    test "$(squeue -h -w $node -o %i)" = $running && test "$(squeue -h -A Physics -o %i)" = $after &&
    test -z "$(squeue -h -q nosuch)" && test -z "$(squeue -h -t SUSPENDED)"
'

test_expect_success '-j selects tasks of an array that wait' '
    test "$(squeue -h -j ${array}_1 -o %i)" = ${array}_1 &&
    test "$(squeue -h -j ${array}_0,${array}_1,${array}_3 -o "%i %K")" = "${array}_[0-1,3] 0-1,3" &&
    test -z "$(squeue -h -j ${array}_7)"
'

test_expect_success 'a job that is gone is an error with the words of Slurm; two are an empty list' '
    test_expect_code 1 squeue -h -j 99999 >out 2>err && test_must_be_empty out &&
    echo "slurm_load_jobs error: Invalid job id specified" >wanted && test_cmp wanted err &&
    squeue -h -j 99999,99999 >out 2>err && test_must_be_empty out && test_must_be_empty err &&
    squeue -j 99998,99999 | grep -c JOBID && squeue -h -j $ended >out && test_must_be_empty out
'

test_expect_success 'wrong users, states, ids, nodes, sorts and formats are named as Slurm names them' '
    squeue -h -u nosuchuser >out 2>err && test_must_be_empty out &&
    grep -x "squeue: error: Invalid user: nosuchuser" err &&
    test "$(squeue -h -u nosuchuser,$me -t R -o %i 2>/dev/null)" = $running &&
    test_expect_code 1 squeue -t NOPE 2>err && grep -x "squeue: error: Invalid job state specified: NOPE" err &&
    test_expect_code 1 squeue -j x7 2>err && grep -x "squeue: error: Invalid job id: x7" err &&
    test_expect_code 1 squeue -w nosuch 2>err && grep -x "squeue: error: Invalid node name nosuch" err &&
    test_expect_code 1 squeue -S _ 2>err && grep -x "squeue: error: Invalid sort specification: _" err &&
    squeue -h -t R -o "%i%_" >out 2>err && test "$(cat out)" = "$running%_" &&
    grep -x "squeue: error: Invalid job format specification: _" err &&
    test_expect_code 1 squeue more 2>err && grep "Unrecognized option: more" err
'

test_expect_success '-M and SLURM_CLUSTERS name the one cluster, which heads the list' '
    squeue -M all -j $running -o %i >out && printf "CLUSTER: fluxq\nJOBID\n$running\n" | test_cmp - out &&
    test "$(SLURM_CLUSTERS=fluxq squeue -h -j $running -o %i)" = $running &&
    test_expect_code 1 squeue -M fluxq,other 2>err &&
    grep "^squeue: error: .other. can.t be reached now, or it is an invalid entry for --clusters; there is one cluster, fluxq" err &&
    test_expect_code 1 env SLURM_CLUSTERS=a squeue 2>err && grep "entry for SLURM_CLUSTERS; there is one cluster" err
'

test_expect_success 'what fluxq does not have is refused' '
    for option in -v --yaml --json=v0.0.38; do
        test_expect_code 1 squeue $option 2>err && grep "^squeue: error: -" err || return 1
    done &&
    test_expect_code 1 squeue --only-job-state --me && test_expect_code 1 squeue -o %i -O JobID
'

test_expect_success 'formats of letters have text, widths and alignment' '
    test "$(squeue -h -j $running -o "%i^^^%t^^^%r^^^%B^^^%u^^^%D^^^%C^^^%R^^^%P^^^%l")" = \
        "$running^^^R^^^None^^^$node^^^$me^^^1^^^1^^^$node^^^batch^^^10:00" &&
    test "$(squeue -h -j $running -o "%A|%u|%t|%.15j|%Z")" = "$running|$me|R|        running|$PWD" &&
    test "$(squeue -h -j $running -o "[%3j|%.3j|%9j]")" = "[run|run|running  ]" &&
    squeue --me -t R -o "\"%i\",\"%j\",\"%t\",\"%M\",\"%L\",\"%D\",\"%C\",\"%m\",\"%b\",\"%R\"" >out &&
    sed -n 1p out | grep -xF "\"JOBID\",\"NAME\",\"ST\",\"TIME\",\"TIME_LEFT\",\"NODES\",\"CPUS\",\"MIN_MEMORY\",\"TRES_PER_NODE\",\"NODELIST(REASON)\"" &&
    sed -n 2p out | grep -xE "\"$running\",\"running\",\"R\",\"0:[0-9]+\",\"(9|10):[0-9]+\",\"1\",\"1\",\"100M\",\"N/A\",\"$node\"" &&
    test "$(squeue -h -j $failed -t all -o "%T %t %r %R")" = "FAILED F NonZeroExitCode (NonZeroExitCode)"
'

test_expect_success 'the fields of Open OnDemand come with their separators' '
    names=Account,JobID,BatchHost,MinCpus,NumCPUs,MinTmpDisk,NumNodes,EndTime,Dependency,Feature,ArrayJobID,GroupName,GroupID,OverSubscribe,Sockets,JobArrayID,Cores,Name,Threads,Comment,ArrayTaskID,TimeLimit,TimeLeft,MinMemory,TimeUsed,ReqNodes,NodeList,Command,Contiguous,QOS,Partition,PriorityLong,Reason,StartTime,StateCompact,State,UserName,UserID,Reservation,SubmitTime,WCKey,Licenses,ExcNodes,CoreSpec,Nice,SchedNodes,SCT,WorkDir,tres-alloc,tres-per-node &&
    us=$(printf "\037") &&
    squeue --all --states=all --noconvert -O "$(echo $names, | sed "s/,/:$us,/g")" -j $after >out &&
    test "$(wc -l <out)" -eq 2 && test "$(tr -cd "\037" <out | wc -c)" -eq 100 &&
    tail -n 1 out | tr "\037" "\n" >values && echo $names | tr , "\n" | paste -d " " - values >pairs && cat pairs &&
    for pair in "Account physics" "JobID $after" "BatchHost n/a" "NumCPUs 1" "Dependency afterok:$running(unfulfilled)" \
        "JobArrayID $after" "Name after" "Comment a note" "ArrayTaskID N/A" "TimeLimit UNLIMITED" "NodeList " "Nice 5" \
        "Partition batch" "Reason Dependency" "StateCompact PD" "State PENDING" "UserName $me" "UserID $(id -u)" \
        "WorkDir $PWD" "StartTime N/A" "tres-alloc cpu=1,node=1" "tres-per-node N/A" "SCT *:*:*" "CoreSpec N/A"; do
        grep -xF "$pair" pairs || return 1
    done
'

test_expect_success 'every letter and every name can be shown, of every job' '
    squeue --helpformat | tr -s " " "\n" | grep . >letters && test "$(wc -l <letters)" -ge 50 &&
    squeue -t all -o "$(tr "\n" "|" <letters)" >out && test "$(wc -l <out)" -eq 7 &&
    squeue --helpFormat | tr -s " " "\n" | grep . >names && test "$(wc -l <names)" -ge 100 &&
    squeue -t all -O "$(paste -sd, names)" >out 2>err && test "$(wc -l <out)" -eq 7 && test_must_be_empty err
'

test_expect_success 'requests are shown: memory, nodes, features, GPUs, files, sizes' '
    id=$(fluxq-submit --hold --allow-infeasible -N 2-4 -n 4 --mem=2G -C "a&(b|c)" -w node0,node1 -x node3 --exclusive \
        --gpus-per-node=1 -t 60 --time-min=30 -o "x-%j" -- hostname) &&
    test "$(fields $id MinMemory,Feature,ReqNodes,ExcNodes,OverSubscribe,tres-per-node)" = \
        "2G|a&(b|c)|node0,node1|node3|NO|gres/gpu:1|" &&
    test "$(fields $id NumNodes,MaxNodes,NumTasks,MinTime,Command,tres-alloc)" = \
        "2|4|4|30:00|hostname|cpu=4,mem=4G,node=2,gres/gpu=2|" &&
    test "$(fields $id StdOut,StdErr,StdIn)" = "$PWD/x-%j|$PWD/x-%j|/dev/null|" &&
    test "$(squeue -h -j $id --noconvert -o %m)" = 2048M &&
    test "$(squeue -h -j $id --expand-patterns -O StdOut:)" = "$PWD/x-$id" &&
    fluxq-cancel $id && wait_job_state $id CANCELLED
'

test_expect_success 'the command is the file of the script with its arguments, as far as there is one' '
    printf "#!/bin/sh\ntrue\n" | write_script job.sh &&
    file=$(sbatch --parsable -H ./job.sh a b) && pipe=$(sbatch --parsable -H <job.sh) && wrap=$(sbatch --parsable -H --wrap x) &&
    test "$(squeue -h -j $file -o "%o|%Z")" = "$PWD/job.sh a b|$PWD" && test "$(squeue -h -j $pipe -o %o)" = "(null)" &&
    test "$(squeue -h -j $wrap -o "%o %j")" = "(null) wrap" && fluxq-cancel $file $pipe $wrap
'

test_expect_success 'an array that ended before its tasks has its id alone' '
    id=$(submit -J never --hold -a 1-3 -- true) && fluxq-cancel $id && wait_job_state $id CANCELLED &&
    test "$(squeue -h -t all -n never -o "%i %F %K %t")" = "$id $id N/A CA"
'

test_expect_success 'the details of a job survive a restart of the broker, and its tasks have them too' '
    restart_broker && test "$(fields $running WorkDir,MinMemory)" = "$PWD|100M|" &&
    id=$(submit -J tasks -a 5-6 --mem=50 -- sleep 1000) &&
    wait_until 30 sh -c "test \$(squeue -h -t R -j $id -o %i | wc -l) -eq 2" &&
    test "$(squeue -h -j $id -S i -o "%i %F %K %m" | xargs)" = "${id}_5 $id 5 50M ${id}_6 $id 6 50M" &&
    test "$(squeue -h -j ${id}_6 -o %i)" = ${id}_6 && last=$(squeue -h -j ${id}_6 -o %A) && test $last -ne $id &&
    test "$(squeue -h -n tasks -S i -o %A | tail -n 1)" = $last && test "$(squeue -h -j $last -o %A)" = $last &&
    squeue --json -j $id | jq -e "[.jobs[] | select(.array_task_id.number == 6)][0] |
        .job_id == $id and .job_resources.nodes.list != null" &&
    test "$(squeue -h -j $id,$running -S i -o "%A %i" | grep ${id}_6)" = "$id ${id}_6" &&
    fluxq-cancel $id && wait_until 20 sh -c "test -z \"\$(squeue -h -j $id)\"" &&
    test "$(squeue -h -t all -j $id -O JobID,JobArrayID,StateCompact | xargs)" = "$((last - 1)) ${id}_5 CA $id ${id}_6 CA"
'

test_expect_success '-S orders by letters, with a minus from the greatest' '
    test "$(squeue -h -t all -S i -o %A | xargs)" = "$(squeue -h -t all -o %A | sort -n | xargs)" &&
    test "$(squeue -h -t all -S -i -o %A | xargs)" = "$(squeue -h -t all -o %A | sort -rn | xargs)" &&
    test "$(squeue -h -S -T,j -o %j | xargs)" = "running after array later" &&
    test "$(SQUEUE_SORT=-j squeue -h -o %j | xargs)" = "running later array after"
'

test_expect_success '--start shows waiting jobs with their expected start' '
    squeue --start -j $later >out && cat out && sed -n 1p out | grep "ST          START_TIME  NODES SCHEDNODES " &&
    sed -n 2p out | grep -E " PD 20[0-9-]+T[0-9:]+ +2 \(null\) +\(BeginTime\)$" &&
    squeue --start --noheader -j $later -o "%i|%S|%T" | grep -xE "$later\|20[0-9]{2}-[0-9-]+T[0-9:]+\|PENDING"
'

test_expect_success 'variables stand for options that are not given' '
    test "$(SQUEUE_FORMAT="%i %T" squeue -h -t R)" = "$running RUNNING" &&
    test "$(SQUEUE_FORMAT2=JobID:,State: squeue -h -t R)" = "${running}RUNNING" &&
    test "$(SQUEUE_FORMAT=%j squeue -h -t R -o %i)" = $running &&
    test "$(SQUEUE_STATES=R squeue -h -o %i)" = $running && test "$(SQUEUE_NAMES=later squeue -h -o %i)" = $later &&
    test -z "$(SQUEUE_PARTITION=nosuch squeue -h)" && test "$(SQUEUE_USERS=$me squeue -h -t R -o %i)" = $running &&
    test "$(SLURM_TIME_FORMAT=%s squeue -h -j $running -o %V)" -gt 1000000000 &&
    SLURM_TIME_FORMAT=relative squeue -h -j $running -o %V | grep -xE "(Ystday )?[0-9:]+" &&
    SLURM_TIME_FORMAT=standard squeue -h -j $running -o %V | grep -xE "[0-9-]{10}T[0-9:]{8}"
'

test_expect_success '--only-job-state shows ids and states' '
    test "$(squeue -h --only-job-state --jobs $running -o %T)" = RUNNING &&
    squeue --only-job-state -j $running | sed -n 1p | grep -xF "             JOBID ST"
'

test_expect_success '--json has the members that launchers read' '
    squeue --json >out && jq -e ".jobs | length == 4" out &&
    jq -e ".jobs[] | select(.job_id == $running) | .job_state == [\"RUNNING\"] and .name == \"running\" and
        .user_name == \"$me\" and .partition == \"batch\" and .nodes == \"$node\" and .time_limit.number == 10 and
        .current_working_directory == \"$PWD\" and .job_resources.nodes.list == \"$node\" and
        .job_resources.nodes.allocation[0].name == \"$node\" and
        .job_resources.nodes.allocation[0].cpus.used == 1 and
        .job_resources.nodes.allocation[0].memory.allocated == 100 and .het_job_id.number == 0" out &&
    jq -e ".jobs[] | select(.job_id == $after) | .job_state[0] == \"PENDING\" and .job_resources == null and
        .state_reason == \"Dependency\" and .account == \"physics\" and .time_limit.infinite" out &&
    jq -e ".jobs[] | select(.job_id == $array) | .array_task_string == \"0-3\" and .array_max_tasks.number == 2" out &&
    test_expect_code 1 squeue --json -j 99999
'

test_expect_success '--json has each member of a job of data_parser v0.0.41' '
    cat >members <<-\END &&
	account accrue_time admin_comment allocating_node array_job_id array_task_id array_max_tasks array_task_string association_id
	batch_features batch_flag batch_host flags burst_buffer burst_buffer_state cluster cluster_features command comment container
	container_id contiguous core_spec thread_spec cores_per_socket billable_tres cpus_per_task cpu_frequency_minimum
	cpu_frequency_maximum cpu_frequency_governor cpus_per_tres cron deadline delay_boot dependency derived_exit_code
	eligible_time end_time excluded_nodes exit_code extra failed_node features federation_origin federation_siblings_active
	federation_siblings_viable gres_detail group_id group_name het_job_id het_job_id_set het_job_offset job_id job_resources
	job_size_str job_state last_sched_evaluation licenses mail_type mail_user max_cpus max_nodes mcs_label memory_per_tres name
	network nodes nice tasks_per_core tasks_per_tres tasks_per_node tasks_per_socket tasks_per_board cpus node_count tasks
	partition prefer memory_per_cpu memory_per_node minimum_cpus_per_node minimum_tmp_disk_per_node power preempt_time
	preemptable_time pre_sus_time hold priority profile qos reboot required_nodes minimum_switches requeue resize_time
	restart_cnt resv_name scheduled_nodes selinux_context shared exclusive oversubscribe show_flags sockets_per_board
	sockets_per_node start_time state_description state_reason standard_error standard_input standard_output submit_time
	suspend_time system_comment time_limit time_minimum threads_per_core tres_bind tres_freq tres_per_job tres_per_node
	tres_per_socket tres_per_task tres_req_str tres_alloc_str user_id user_name maximum_switch_wait_time wckey
	current_working_directory
	END
    squeue --json -j $running >out && tr "\t " "\n\n" <members | grep . | sort >expected &&
    jq -r ".jobs[0] | keys[]" out | sort >members && comm -23 expected members >missing && test_cmp /dev/null missing &&
    jq -e ".jobs[0] | .tasks_per_core == {set: false, infinite: true, number: 0} and .max_nodes.number == 0 and
        .derived_exit_code.status == [\"SUCCESS\"] and .profile == [\"NOT_SET\"] and .oversubscribe and .exclusive == []" out
'

test_expect_success 'a listing that breaks off is read again, and no row is lost or there twice' '
    for n in 1 2 3 4 5 6 7 8 9 10 11 12; do submit -J "row\\$n" --hold -- true || return 1; done &&
    squeue -h -t all -o "%i %j %T" >expected && test $(wc -l <expected) -gt 12 &&
    for bytes in 1 100 300 500 700; do
        rm -f cut.sock && python3 "$FLUXQ_SOURCE_DIR/t/helper/cutter.py" cut.sock $bytes &
        cutter=$! && wait_until 20 test -S cut.sock &&
        FLUXQ_BROKER=unix://$PWD/cut.sock squeue -h -t all -o "%i %j %T" >out && test_cmp expected out &&
        wait $cutter || return 1
    done
'

test_expect_success '-i repeats the list until it is interrupted' '
    rm -f out
    env --default-signal=INT squeue -i 1 -t R >out 2>err &
    pid=$! &&
    wait_until 20 sh -c "test \$(grep -c JOBID out) -ge 2" &&
    kill -INT $pid && test_expect_code 130 wait $pid
'

test_done
