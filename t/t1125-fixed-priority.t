#!/bin/sh
test_description='a priority in place of the computed one: --priority and scontrol update, who may raise it, how it is shown and kept'
. "$(dirname "$0")/lib.sh"

# The user nobody must be able to run the commands; the build may be elsewhere.
chmod 755 "$FLUXQ_RUN"
BROKER_STATE=$FLUXQ_RUN/state
mkdir -p "$FLUXQ_RUN/bin"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_RUN/bin"
for name in sbatch scontrol; do ln -s fluxq "$FLUXQ_RUN/bin/$name"; done
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
write_script "$FLUXQ_RUN/until.sh" <<END
#!/bin/sh
until [ -e "$FLUXQ_RUN/stop.\$SLURM_JOB_ID" ]; do sleep 0.02; done
END

# submit [OPTION]...: a job that takes the whole machine until end_job.
submit()
{
    sbatch --parsable -o /dev/null -c 2 "$@" "$FLUXQ_RUN/until.sh"
}

as_nobody()
{
    (cd / && HOME=/nowhere PATH=$FLUXQ_RUN/bin:$PATH exec setpriv --reuid=nobody \
        --regid="$(id -g nobody)" --init-groups "$@")
}

end_job()
{
    touch "$FLUXQ_RUN/stop.$1" && wait_job_state "$1" COMPLETED
}

priority()
{
    squeue -h -j "$1" -o %Q
}

echo 'local: {nodes: 1, cores: 2}' >priority.yaml
start_broker --config "$PWD/priority.yaml"

test_expect_success 'jobs start in the order of their fixed priorities; squeue, sprio and scontrol show them' '
    first=$(submit) && wait_job_state $first RUNNING &&
    low=$(submit --priority=7) && normal=$(submit) && high=$(submit --priority=170000000) && top=$(submit --priority=top) &&
    test "$(priority $low)" = 7 && test "$(priority $top)" = 4294967293 && test "$(priority $normal)" -gt 7 &&
    sprio -h -j $high -o "%Y %S %A %P" >out && test "$(cat out)" = "170000000 0 0 0" &&
    scontrol show job $low >out && grep " Priority=7 " out && fluxq-show priority $low >out && grep "fixed.* 7" out &&
    squeue --json | jq -e ".jobs[] | select(.job_id == $high) | .priority.number == 170000000" &&
    squeue -h -t PD -o %i -S -Q >out && printf "%s\n" $top $high $normal $low >wanted && test_cmp wanted out &&
    end_job $first && wait_job_state $top RUNNING && end_job $top && wait_job_state $high RUNNING &&
    end_job $high && wait_job_state $normal RUNNING && end_job $normal && wait_job_state $low RUNNING && end_job $low
'
test_expect_success 'a script, srun and salloc have the option; 0 holds the job, and bad priorities are refused' '
    printf "#!/bin/sh\n#SBATCH --priority=0\ntrue\n" >job.sh && id=$(sbatch --parsable -o /dev/null job.sh) &&
    test "$(squeue -h -j $id -o "%Q %r")" = "0 JobHeldUser" && scontrol release $id && wait_job_state $id COMPLETED &&
    id=$(sbatch --parsable -o /dev/null --priority=9 job.sh) && wait_job_state $id COMPLETED &&
    srun --priority=5 true && salloc --priority=TOP true &&
    for bad in -1 x 4294967294 ""; do test_must_fail sbatch --priority="$bad" --wrap true 2>err && grep priority err || return 1; done
'
test_expect_success 'scontrol update fixes the priority of a waiting job; a kill -9 keeps it, and hold and release take it away' '
    first=$(submit) && wait_job_state $first RUNNING && one=$(submit) && two=$(submit) &&
    computed=$(priority $one) && scontrol update JobId=$two Priority=180000000 && kill_broker && start_broker --config "$PWD/priority.yaml" &&
    test "$(priority $two)" = 180000000 && end_job $first && wait_job_state $two RUNNING && three=$(submit) &&
    scontrol update JobId=$one Priority=3 && test "$(priority $one)" = 3 &&
    scontrol update JobId=$one Priority=0 && test "$(squeue -h -j $one -o %r)" = JobHeldUser &&
    scontrol release $one && test "$(priority $one)" -ge 160000000 &&
    scontrol update JobId=$three Priority=5 && scontrol hold $three && scontrol update JobId=$three Priority=6 && test "$(priority $three)" = 6 &&
    end_job $two && end_job $one && end_job $three
'
test_expect_success 'the tasks of an array have its fixed priority' '
    first=$(submit) && wait_job_state $first RUNNING && normal=$(submit) && array=$(submit --array=1-2 --priority=190000000) &&
    test "$(priority $array)" = 190000000 && end_job $first && wait_job_state ${array}_1 RUNNING &&
    test "$(fluxq-show job ${array}_1 --events --json | jq "[.. | objects | select(.name? == \"submit\")][0].context.fixed_priority")" = 190000000 &&
    scancel $array $normal && wait_job_state $normal CANCELLED
'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
test_expect_success 'users may lower the priority of their jobs, operators may raise it' '
    id=$(as_nobody sbatch --parsable -o /dev/null --begin=now+1hour --priority=4 --wrap true) && test "$(priority $id)" = 4 &&
    as_nobody scontrol update JobId=$id Priority=9 && test "$(priority $id)" = 9 &&
    test_must_fail as_nobody scontrol update JobId=$id Priority=4000000000 2>err && grep "Access/permission denied (priority: only operators may raise a job.s priority" err &&
    test_must_fail as_nobody sbatch --priority=TOP --wrap true 2>err && grep "only operators may raise" err &&
    test "$(priority $id)" = 9 && scontrol update JobId=$id Priority=4000000000 && test "$(priority $id)" = 4000000000 &&
    as_nobody scontrol update JobId=$id Priority=8 && test "$(priority $id)" = 8 &&
    scontrol update JobId=$id Priority=0 && test_must_fail as_nobody scontrol update JobId=$id Priority=5 2>err && grep "held by operator" err && scancel $id
'
fi
test_done
