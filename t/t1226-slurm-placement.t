#!/bin/sh
test_description='placement as in Slurm: --segment, --spread-segments, --ntasks-per-socket, --spread-job'
. "$(dirname "$0")/lib.sh"
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH

# Racks of three nodes (the last one has two) of two cores.
cat >fluxq.yaml <<-END
	grace: 1s
	local:
	  nodes: 8
	  cores: 2
	  topology: [{level: rack, nodes: 3}]
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

# Whether only running jobs have cores: those of a job that has just ended are free again.
is_settled()
{
    test "$(sinfo -h -o %C | cut -d/ -f1)" = "$(squeue -h -t RUNNING -o %C | awk "{ n += \$1 } END { print n + 0 }")"
}

# nodes_of OPTION...: a job with the options runs, and its nodes are printed.
nodes_of()
{
    wait_until 20 is_settled && sbatch --wait -o /dev/null --parsable "$@" --wrap true >id && squeue --states=all -h -j "$(cat id)" -o %N
}

# refused REASON OPTION...: sbatch refuses the options with a reason like REASON.
refused()
{
    reason=$1 && shift &&
    test_expect_code 1 sbatch -o /dev/null "$@" --wrap true 2>err && cat err && grep -e "$reason" err
}

test_expect_success 'each segment is in one rack, in as few racks as possible' '
    is "$(nodes_of -N 4 --segment=2)" "node[0-1,3-4]" && is "$(nodes_of -N 6 --segment=3)" "node[0-5]" &&
    is "$(nodes_of -N 3 --segment=1)" "node[0-2]" && is "$(nodes_of -N 6 --segment=2 --exclusive)" "node[0-1,3-4,6-7]"
'

test_expect_success 'segments of a spread job are in racks of their own' '
    is "$(nodes_of -N 3 --segment=1 --spread-segments)" "node[0,3,6]" &&
    is "$(nodes_of -N 4 --segment=2 --spread-segments)" "node[0-1,3-4]" &&
    refused "4 nodes .* each in another rack: 3 of 4 nodes fit" -N 4 --segment=1 --spread-segments
'

test_expect_success 'the number of nodes may have several sizes, all of which are multiples' '
    is "$(nodes_of -N 2-8 --segment=2)" "node[0-1,3-4,6-7]" && is "$(nodes_of -N 3-9 --segment=3)" "node[0-5]"
'

test_expect_success 'the option is read from a script and the environment; steps see it' '
    printf "%s\n" "#!/bin/sh" "#SBATCH -N 4 --segment=2 -o segment.out" "srun -n 1 sh -c \"echo \\\$SLURM_JOB_SEGMENT_SIZE\"" >job.sh &&
    sbatch --wait job.sh && is "$(cat segment.out)" 2 &&
    is "$(SBATCH_SEGMENT_SIZE=3 nodes_of -N 3)" "node[0-2]" &&
    id=$(SLURM_JOB_SEGMENT_SIZE=7 sbatch --parsable --wait -N 1 -o none.out --wrap "echo \"<\$SLURM_JOB_SEGMENT_SIZE>\"") && is "$(cat none.out)" "<>"
'

test_expect_success 'a job waits for whole segments, also after a restart of the broker' '
    wait_until 20 is_settled && first=$(sbatch --parsable -o /dev/null -N 1 --exclusive until.sh) && wait_job_state $first RUNNING &&
    is "$(job_field $first nodelist)" node0 &&
    id=$(sbatch --parsable -o /dev/null -N 6 --segment=3 --wrap true) &&
    wait_until 20 sh -c "fluxq-show job $id | grep -q \"3 of 6 nodes fit now\"" &&
    fluxq-show job $id | grep "^Placement: *in segments of 3, each in one rack" &&
    kill_broker && start_broker --config fluxq.yaml &&
    is "$(nodes_of -N 1)" node1 && is "$(job_state $id)" PENDING &&
    end_job $first && wait_job_state $id COMPLETED && is "$(job_field $id nodelist)" "node[0-5]" &&
    fluxq-show job $id | grep "^Places: *2 racks: rack0, rack1"
'

test_expect_success 'segments that no rack could hold, and numbers that do not divide, are refused' '
    refused "4 nodes .* in segments of 4, each in one rack: 0 of 4 nodes fit the machine" -N 4 --segment=4 &&
    refused "8 nodes .*: 6 of 8 nodes fit the machine" -N 8 --segment=2 &&
    refused "say multiples of 2" -N 5 --segment=2 && refused "say the largest number" -N 4+ --segment=2 &&
    refused "give -N" --segment=2 -n 4 && refused "give --segment" -N 2 --spread-segments &&
    refused "cannot be combined with --switches" -N 2 --segment=2 --switches=1 &&
    refused "segment: .*0" -N 2 --segment=0 && refused "consolidate-segments" -N 2 --segment=2 --consolidate-segments
'

test_expect_success 'a jobspec from elsewhere is checked, too' '
    fluxq-submit --dry-run -N 3 -o /dev/null -- true | jq ".attributes.system.fluxq.segment = 2" >spec.json &&
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" --data-binary @spec.json http://fluxqd/v1/jobs | grep "no multiple of the segment.s 2" &&
    fluxq-submit --dry-run -N 4 --switches=1 -o /dev/null -- true | jq ".attributes.system.fluxq.segment = 2" >spec.json &&
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" --data-binary @spec.json http://fluxqd/v1/jobs | grep "does not go with --placement and --switches" &&
    fluxq-submit --dry-run -N 4 -o /dev/null -- true | jq ".attributes.system.fluxq.\"spread-segments\" = true" >spec.json &&
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" --data-binary @spec.json http://fluxqd/v1/jobs | grep "has no segments"
'

test_expect_success 'a node counts as one socket: the tasks come to as many nodes as that needs' '
    is "$(nodes_of -n 3 --ntasks-per-socket=1)" "node[0-2]" && is "$(nodes_of -n 3 --ntasks-per-socket=2)" "node[0-1]" &&
    is "$(nodes_of -N 2 --ntasks-per-socket=2)" "node[0-1]" &&
    sbatch --wait -o socket.out -N 2 --ntasks-per-socket=2 --wrap "echo \$SLURM_NTASKS_PER_SOCKET \$SLURM_NTASKS" &&
    is "$(cat socket.out)" "2 2"
'

test_expect_success 'more tasks than that on a node are refused' '
    refused "2 tasks (-n) do not fit: 1 nodes (-N) with 1 tasks each (--ntasks-per-socket, and a node is one socket)" -N 1 -n 2 --ntasks-per-socket=1 &&
    refused "more than 1 on each socket" -N 1 --ntasks-per-node=2 --ntasks-per-socket=1 &&
    refused "ntasks-per-socket" --ntasks-per-socket=0
'

test_expect_success 'a spread job has as many nodes as are free, with its tasks evenly on them' '
    is "$(nodes_of -n 3 --spread-job)" "node[0-2]" && is "$(nodes_of -n 16 --spread-job)" "node[0-7]" &&
    wait_until 20 is_settled && first=$(sbatch --parsable -o /dev/null -N 5 --exclusive until.sh) && wait_job_state $first RUNNING &&
    sbatch --wait -o spread.out -n 4 --spread-job --wrap "echo \$SLURM_JOB_NUM_NODES \$SLURM_NTASKS \$SLURM_TASKS_PER_NODE" &&
    is "$(cat spread.out)" "3 4 2,1(x2)" && end_job $first &&
    is "$(SBATCH_SPREAD_JOB=1 nodes_of -n 2)" "node[0-1]" && is "$(nodes_of -n 4 --spread-job --ntasks-per-node=2)" "node[0-3]"
'

test_expect_success 'without racks, segments are refused' '
    stop_broker && start_broker --local 4 &&
    refused "segment: this broker knows of no racks" -N 2 --segment=1 && is "$(nodes_of -n 3 --spread-job)" "node[0-2]"
'

test_done
