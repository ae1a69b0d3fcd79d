#!/bin/sh
test_description='--tmp: temporary disk of nodes, from the options to the allocation'
. "$(dirname "$0")/lib.sh"
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH

cat >fluxq.yaml <<-END
	grace: 1s
	local:
	  nodes: 2
	  cores: 4
	  tmp: 10Gi
	  gres: {license: 4}
END
start_broker --config fluxq.yaml

write_script until.sh <<\END
#!/bin/sh
until [ -e "stop.$SLURM_JOB_ID" ]; do sleep 0.02; done
END

is()
{
    [ "$1" = "$2" ] || { echo "it is '$1', not '$2'" && false; }
}

end_job()
{
    touch "stop.$1" && wait_job_state "$1" COMPLETED
}

submit()
{
    sbatch --parsable -o /dev/null "$@" until.sh
}

# refused REASON OPTION...: sbatch refuses the options with a reason like REASON.
refused()
{
    reason=$1 && shift &&
    test_expect_code 1 sbatch -o /dev/null "$@" --wrap true 2>err && cat err && grep -e "$reason" err
}

test_expect_success 'the size of a node is shown, and not as a generic resource' '
    is "$(sinfo -h -N -o "%N %d %G")" "$(printf "node0 10240 license:4\nnode1 10240 license:4")" && is "$(sinfo -h -o %d)" 10240 &&
    scontrol show node node0 | grep -w "TmpDisk=10240" && scontrol show node node0 >node && test_must_fail grep tmp_disk node &&
    is "$(sinfo --json | jq ".sinfo[0].disk.minimum")" 10240 &&
    fluxq-show node node0 | grep "^Tmp disk: *10.0 GiB, 0 MiB used by jobs, 10.0 GiB free" && fluxq-info -N >info && test_must_fail grep tmp_disk info
'

test_expect_success 'jobs share the disk of a node; a job that has too little waits' '
    a=$(submit --tmp=6G) && wait_job_state $a RUNNING && b=$(submit --tmp=6144) && wait_job_state $b RUNNING &&
    is "$(job_field $a nodelist) $(job_field $b nodelist)" "node0 node1" &&
    c=$(submit --tmp=6G) && d=$(submit --tmp=1G) && wait_job_state $d RUNNING && is "$(job_state $c)" PENDING &&
    fluxq-show job $c | grep "6144 MiB of temporary disk" &&
    fluxq-show node node1 | grep "^Tmp disk: *10.0 GiB, 6.0 GiB used"
'

test_expect_success 'squeue and scontrol show what a job asks for' '
    is "$(squeue -h -j $c -o %d)" 6G && is "$(squeue -h -j $c -O MinTmpDisk:9 --noconvert | tr -d " ")" 6144M &&
    scontrol show job $c >job && grep "MinTmpDiskNode=6G" job && test_must_fail grep tmp_disk job &&
    is "$(squeue -h -j $c -o %b)" N/A && scontrol show job $a >job && test_must_fail grep tmp_disk job &&
    is "$(squeue --json -j $c | jq .jobs[0].minimum_tmp_disk_per_node.number)" 6144 &&
    fluxq-show job $a | grep "^Rank 0: .*temporary disk 6.0 GiB"
'

test_expect_success 'a broker that starts again knows who has the disk' '
    kill_broker && start_broker --config fluxq.yaml && e=$(submit -n1) && wait_job_state $e RUNNING &&
    is "$(job_state $c)" PENDING && end_job $b && wait_job_state $c RUNNING && is "$(job_field $c nodelist)" node1 &&
    for id in $a $c $d $e; do end_job $id || return 1; done
'

test_expect_success 'each node of a job has the disk, also with several sizes and whole nodes' '
    a=$(submit -N 2 --tmp=8G) && wait_job_state $a RUNNING && is "$(job_field $a nodelist)" "node[0-1]" && end_job $a &&
    a=$(submit -N 1-2 --exclusive --tmp=1G) && wait_job_state $a RUNNING && is "$(job_field $a nodelist)" "node[0-1]" &&
    fluxq-show job $a | grep "^Rank 0: .*temporary disk 10.0 GiB" && end_job $a
'

test_expect_success 'the option is read from a script; 0 asks for nothing; jobs do not see it as a generic resource' '
    printf "%s\n" "#!/bin/sh" "#SBATCH --tmp=1G -N1 --gres=license -o gres.out" "echo \$FLUXQ_GRES" >job.sh &&
    sbatch --wait job.sh && cat gres.out && test_must_fail grep tmp_disk gres.out &&
    id=$(sbatch --parsable --wait -o /dev/null -n 2 --tmp=0 --wrap true) && is "$(squeue --states=all -h -j $id -o %d)" 0
'

test_expect_success 'more than any node has is refused, and so are bad sizes' '
    refused "needs 10241 MiB of temporary disk on a node, the largest has 10240" --tmp=10241 &&
    refused "tmp: .*1X" --tmp=1X && refused "tmp needs the number of nodes" -n 2 --tmp=1G &&
    refused "tmp_disk" -N1 --gres=tmp_disk:1
'

test_expect_success 'without the setting a node has the file system of /tmp; with 0 no disk' '
    stop_broker && start_broker --local 1 &&
    is "$(sinfo -h -o %d)" "$(($(stat -f -c "%b / 1024 * %S" /tmp) / 1024))" && is "$(squeue -h -o %d)" "" &&
    sbatch --wait -o /dev/null --tmp=1 --wrap true && stop_broker &&
    printf "local: {tmp: \"0\"}\n" >none.yaml && start_broker --config none.yaml && is "$(sinfo -h -o %d)" 0 &&
    refused ": the machine has no temporary disk" --tmp=1
'

test_expect_success 'the setting is checked' '
    printf "local: {tmp: [1]}\n" >bad.yaml && test_expect_code 1 fluxqd --check --config bad.yaml 2>err && cat err && grep "local: tmp: expected an amount" err &&
    printf "local: {gres: {tmp_disk: 1}}\n" >bad.yaml && test_expect_code 1 fluxqd --check --config bad.yaml 2>err && grep "cannot be the name" err
'

test_done
