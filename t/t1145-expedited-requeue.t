#!/bin/sh
test_description='--requeue=expedite: a job that loses a node goes before all other jobs, where the administrator allows it'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
write_script until.sh <<END
#!/bin/sh
echo >>"$PWD/runs.\$SLURM_JOB_ID"
until [ -e "$PWD/stop.\$SLURM_JOB_ID" ]; do sleep 0.02; done
END

submit()
{
    sbatch --parsable -o /dev/null -c 2 "$@" ./until.sh
}

# runs ID N: the job is in its N-th run, and the broker knows of the start.
runs()
{
    wait_until 20 eval "[ -e runs.$1 ] && [ \$(wc -l <runs.$1) = $2 ]" && wait_job_state "$1" RUNNING
}

configure()
{
    { echo 'grace: 1s'
      echo 'local: {nodes: 1, cores: 2}'
      printf '%s\n' "$@"; } >expedite.yaml
}

lose()
{
    kill_all $(agents_of "$1")
}

configure && start_broker --config "$PWD/expedite.yaml"

test_expect_success 'the option is refused with the way out where the administrator has not allowed it' '
    test_must_fail submit --requeue=expedite 2>err && grep "expedited-requeue in fluxq.yaml" err && grep "say --requeue" err &&
    test_must_fail env SBATCH_REQUEUE=expedite sbatch --wrap true 2>err && grep expedited-requeue err &&
    SBATCH_REQUEUE=0 sbatch -o /dev/null --wrap true && test_must_fail submit --requeue=soon 2>err && grep "soon" err &&
    configure "expedited-requeue: true" && fluxq-ctl reload
'
test_expect_success 'a job that loses its node goes before jobs with the highest priority, also after a kill -9, and once' '
    id=$(submit --requeue=expedite --priority=5) && runs $id 1 && top=$(submit --priority=TOP) &&
    scontrol show job $id >out && grep -x "   ExpeditedRequeue=Yes" out && grep " Requeue=1 " out &&
    lose $id && runs $id 2 && test "$(job_state $top)" = PENDING &&
    test "$(fluxq-show job $id --events --json | jq "[.. | objects | select(.name? == \"requeue\")][0].context.expedited")" = true &&
    scontrol requeue $id && wait_job_state $top RUNNING && test "$(squeue -h -j $id -o %Q)" = 5 &&
    touch stop.$top && runs $id 3 && scontrol update JobId=$id Comment=seen && fluxq-ctl drain node0 --reason test && lose $id &&
    wait_until 20 eval "[ \"\$(squeue -h -j $id -o %Q)\" = 4294967295 ]" && kill_broker && start_broker --config "$PWD/expedite.yaml" &&
    test "$(squeue -h -j $id -o %Q)" = 4294967295 && sprio -h -j $id -o %S >out && grep -x 0 out &&
    fluxq-ctl resume node0 && runs $id 4 && touch stop.$id && wait_job_state $id COMPLETED
'
test_expect_success 'other jobs lose their place as before, and a job whose script fails is not queued again' '
    plain=$(submit --requeue) && runs $plain 1 && top=$(submit --priority=TOP) && lose $plain && runs $top 1 && test "$(job_state $plain)" = PENDING &&
    scontrol show job $plain >out && ! grep Expedited out && touch stop.$top && runs $plain 2 && touch stop.$plain && wait_job_state $plain COMPLETED &&
    id=$(sbatch --parsable -o /dev/null --requeue=expedite --wrap "exit 3") && wait_job_state $id FAILED && test "$(count_events $id requeue)" = 0
'
test_done
