#!/bin/sh
test_description='generic resources: --gres from the command line to the node and back'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

config=$FLUXQ_RUN/fluxq.yaml

with_gres()
{
    cat >"$config" <<-ENDCONFIG
	local:
	  nodes: 2
	  cores: 4
	  memory: 1Gi
	  gpus: 2
	  gres: $1
	  tmp: "0"
	ENDCONFIG
}

with_gres '{license: 4, rdma/hca: 2, "fpga:u50": 1}'
start_broker --config "$config"

# A job that records its environment, and runs until the file stop.ID exists.
write_script until.sh <<\END
#!/bin/sh
env | grep GRES >"env.$FLUXQ_JOB_ID.new"
mv "env.$FLUXQ_JOB_ID.new" "env.$FLUXQ_JOB_ID"
until [ -e "stop.$FLUXQ_JOB_ID" ]; do sleep 0.02; done
END

submit()
{
    fluxq-submit -o /dev/null "$@" ./until.sh
}

end_job()
{
    for job; do
        touch "stop.$job" && wait_job_state "$job" COMPLETED || return
    done
}

# Each case begins with an empty queue, also after a failed case.
fresh()
{
    none_active || fluxq-cancel -t PENDING,RUNNING
    wait_until 20 none_active && wait_until 20 nodes_free
}

is()
{
    [ "$1" = "$2" ] || { echo "it is '$1', not '$2'" && false; }
}

# takes JOB RESOURCES: the job has these resources on each rank.
takes()
{
    wait_job_state "$1" RUNNING && is "$(fluxq-show job "$1" --json | jq -Sc '[.ranks[].gres]')" "$2"
}

# gres NODE NAME FIELD: prints FIELD of the generic resource NAME of NODE.
gres()
{
    fluxq-info --json | jq ".nodes[] | select(.name == \"$1\").gres[\"$2\"].$3"
}

# waits JOB TEXT: the job is pending, and its reason contains TEXT.
waits()
{
    fluxq-queue --why | grep -E "^ *$1 .* PD .*$2"
}

# refused TEXT ARGUMENTS...: fluxq-submit fails with one line that contains TEXT.
refused()
{
    text=$1
    shift
    test_must_fail fluxq-submit "$@" -- true 2>err && cat err && grep -E -- "$text" err &&
        [ "$(grep -cv "^Try '" err)" = 1 ]
}

test_expect_success 'fluxq-info, fluxq-info --json and fluxq-show node show the generic resources of each node' '
    fresh && fluxq-info >out && cat out &&
    grep -E "^idle +2 .* fpga:u50 0/2, license 0/8, rdma/hca 0/4 +node\[0-1\]\$" out &&
    fluxq-info -N >out && grep -E "^node0 .* fpga:u50 0/1, license 0/4, rdma/hca 0/2 " out &&
    is "$(fluxq-info --json | jq -c ".nodes[1].gres.license")" "{\"count\":4,\"used\":0,\"foreign\":0,\"free\":4}" &&
    fluxq-show node node1 | grep -E "^Resource: +rdma/hca: 2, 0 used by jobs, 2 free\$"
'

test_expect_success 'a job gets its generic resources on each node and in its environment, and frees them at its end' '
    fresh && id=$(submit -N 2 --gres=license:3,rdma/hca) &&
    takes $id "[{\"license\":3,\"rdma/hca\":1},{\"license\":3,\"rdma/hca\":1}]" &&
    is "$(gres node1 license used)/$(gres node1 license free)" 3/1 &&
    fluxq-show job $id | grep -E "^Rank 1: +node1, cores 0, license 3, rdma/hca 1\$" &&
    fluxq-show job $id --jobspec --json | jq -e "[.. | objects | select(.type? == \"license\").count] == [3]" &&
    wait_until 20 test -e env.$id && grep -xF "FLUXQ_JOB_GRES=license:3,rdma/hca:1" env.$id &&
    end_job $id && wait_until 20 nodes_free && is "$(gres node1 license free)" 4
'

test_expect_success 'a job without generic resources has no such variables, and a type is part of the name' '
    fresh && id=$(submit) && wait_job_state $id RUNNING && wait_until 20 test -e env.$id && ! grep . env.$id &&
    end_job $id && id=$(submit --gres=fpga:u50:1) && takes $id "[{\"fpga:u50\":1}]" && end_job $id &&
    id=$(submit -N 2 --gres=fpga:u50) && takes $id "[{\"fpga:u50\":1},{\"fpga:u50\":1}]" && end_job $id
'

test_expect_success 'a job that needs more than the free resources waits with the reason' '
    fresh && one=$(submit -t 10 --gres=license:3) && two=$(submit -t 10 --gres=license:3) &&
    wait_job_state $one RUNNING && wait_job_state $two RUNNING && three=$(submit -t 10 --gres=license:2) &&
    wait_until 20 waits $three "needs 2 licenses on a node, the largest has 1 free now" &&
    small=$(submit -t 5 --gres=license) && wait_job_state $small RUNNING &&
    is "$(job_state $three)" PENDING && end_job $one && wait_job_state $three RUNNING && end_job $two $three $small
'

test_expect_success 'a request beyond the machine is refused at once' '
    refused "needs 3 rdma/hca on a node, the largest has 2" --gres=rdma/hca:3 &&
    refused "the machine has no quantum" --gres=quantum &&
    refused "the machine has no fpga\$" --gres=fpga &&
    refused "needs 3 nodes" -N 3 --gres=license
'

test_expect_success 'a value of --gres that is not valid is refused with its place' '
    refused "^fluxq-submit: --gres: .core. cannot be a generic resource" --gres=core:2 &&
    refused "^fluxq-submit: --gres: the count of license must be from 1 to" --gres=license:0 &&
    refused "^fluxq-submit: --gres: license is listed twice" --gres=license:1,license:2 &&
    refused "^fluxq-submit: --gres: .li cense. cannot be a generic resource" --gres=license,"li cense" &&
    refused "^fluxq-submit: --gres needs the number of nodes: give -N or --ntasks-per-node besides -n 4" -n 4 --gres=license
'

test_expect_success '--gres=gpu means --gpus-per-node, other GPU options exclude it, and the command line overrides the script' '
    fresh && id=$(submit -N 2 --gres=gpu:2) && wait_job_state $id RUNNING &&
    is "$(fluxq-show job $id --json | jq -c "[.ranks[].gpus]")" "[\"0-1\",\"0-1\"]" && end_job $id &&
    id=$(submit --gpus-per-node=1) && wait_job_state $id RUNNING &&
    is "$(fluxq-show job $id --json | jq -r ".ranks[0].gpus")" 0 && end_job $id &&
    refused "gpus and --gres=gpu exclude each other" -N 1 --gres=gpu:1 -G 1 &&
    refused "gpus-per-node and --gres=gpu exclude each other" -N 1 --gres=gpu:1 --gpus-per-node=1 &&
    write_script gpus.sh <<-END &&
	#!/bin/sh
	#SBATCH --gres=gpu:2
	#SBATCH -N 1
	true
	END
    fluxq-submit --dry-run -G 1 gpus.sh | jq -e "[.. | objects | select(.type? == \"gpu\").count] == [1]" &&
    fluxq-submit --dry-run --gres=none gpus.sh | jq -e "[.. | objects | select(.type? == \"gpu\").count] == []"
'

test_expect_success 'directives and the environment can set --gres' '
    fresh && for mark in SBATCH FLUXQ; do
        printf "#!/bin/sh\n#%s --gres=license:2\n#%s --nodes=1\ntrue\n" $mark $mark >script.sh &&
        fluxq-submit --dry-run script.sh | jq -e "[.. | objects | select(.type? == \"license\").count] == [2]" || return 1
    done &&
    FLUXQ_GRES=license:3 fluxq-submit --dry-run -- true |
        jq -e "[.. | objects | select(.type? == \"license\").count] == [3]" &&
    FLUXQ_GRES=license:3 fluxq-submit --dry-run --gres=none -- true |
        jq -e "[.. | objects | select(.type? == \"license\")] == []"
'

test_expect_success 'generic resources in a slot count for each task' '
    fresh && fluxq-submit --dry-run -n 3 -o /dev/null -- sleep 1000 |
        jq ".resources[0].with += [{type: \"license\", count: 2}]" >spec.json &&
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" --data-binary @spec.json http://fluxqd/v1/jobs >answer &&
    cat answer && id=$(jq -e .id answer) && takes $id "[{\"license\":4},{\"license\":2}]" && fluxq-cancel $id
'

test_expect_success 'an exclusive job has all generic resources of its node' '
    fresh && id=$(submit -N 1 --exclusive) && takes $id "[{\"fpga:u50\":1,\"license\":4,\"rdma/hca\":2}]" &&
    is "$(gres node0 license used)/$(gres node0 license free)" 4/0 && end_job $id
'

test_expect_success 'after kill -9 of the broker all generic resources are booked as before' '
    fresh && one=$(submit -N 2 --gres=license:3) && two=$(submit -N 1 --gres=rdma/hca:2 -w node0) &&
    wait_job_state $one RUNNING && wait_job_state $two RUNNING && kill_broker && start_broker --config "$config" &&
    is "$(gres node0 license used)$(gres node1 license used)$(gres node0 rdma/hca used)" 332 &&
    three=$(submit -N 1 --gres=license:2) && wait_until 20 waits $three licenses &&
    end_job $one && wait_job_state $three RUNNING && end_job $two $three
'

test_expect_success 'if nodes have fewer resources after a restart running jobs keep theirs, and no job gets the same again' '
    fresh && one=$(submit -N 1 --gres=license:3 -w node0) && wait_job_state $one RUNNING && stop_broker &&
    with_gres "{license: 2}" && start_broker --config "$config" && grep "license are gone" "$BROKER_LOG" &&
    is "$(gres node0 license count)/$(gres node0 license used)/$(gres node0 license free)" 2/3/0 &&
    two=$(submit -N 1 --gres=license:2 -w node0) && wait_until 20 waits $two license &&
    end_job $one && wait_job_state $two RUNNING && end_job $two
'

test_expect_success 'a pending job has its resources reserved, and a longer job waits behind it' '
    fresh && one=$(submit -t 10 -N 2 --gres=license:1) && wait_job_state $one RUNNING &&
    two=$(submit -t 10 -N 2 --gres=license:2) && wait_until 20 waits $two "needs .* licenses" &&
    long=$(submit -t 60 --gres=license) && wait_until 20 waits $long . &&
    short=$(submit -t 5 --gres=license) && wait_job_state $short RUNNING && end_job $short &&
    end_job $one && wait_job_state $two RUNNING && fluxq-cancel $long && end_job $two
'

# wrong TEXT GRES: the configuration is refused at this place.
wrong()
{
    with_gres "$2" && test_must_fail fluxqd --config "$config" --check >out 2>&1 && cat out && grep -E "$1" out
}

test_expect_success 'a wrong configuration is refused with line and column' '
    wrong "fluxq.yaml:6:.*local: gres: expected a mapping" "[license]" &&
    wrong "fluxq.yaml:6:.*license: expected an integer from 1 to" "{license: 0}" &&
    wrong "fluxq.yaml:6:.*.gpu. cannot be the name of a generic resource; say local.gpus" "{gpu: 1}" &&
    wrong "fluxq.yaml:6:.*.a/b/c. cannot be" "{a/b/c: 1}"
'

test_done
