#!/bin/sh
# A dependency must depend only on the other jobs: a job that starts too early reads missing data,
# a job that never starts was submitted in error, and a restart of the broker must change neither.
test_description='jobs that wait for other jobs or for a time, and jobs that would end too late'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

printf 'local: {nodes: 2, cores: 8}\ngrace: 1s\nkeep-finished: 3\n' >machine.yaml

# A job that exits with the number in the file end.ID or end.
write_script until.sh <<\END
#!/bin/sh
until [ -e end ] || [ -e "end.$FLUXQ_JOB_ID" ]; do sleep 0.02; done
exit $(cat "end.$FLUXQ_JOB_ID" 2>/dev/null || cat end)
END

submit()
{
    fluxq-submit -o /dev/null "$@" ./until.sh
}

# end_job ID STATUS: job ID exits with STATUS.
end_job()
{
    echo "$2" >end.tmp && mv end.tmp "end.$1"
    case $2 in
    0) wait_job_state "$1" COMPLETED ;;
    *) wait_job_state "$1" FAILED ;;
    esac
}

fresh()
{
    rm -f end end.* && { none_active || fluxq-cancel -t PENDING,RUNNING; } && wait_until 20 none_active
}

end_all()
{
    echo 0 >end && wait_until 20 none_active && rm -f end end.*
}

# waits ID REASON SENTENCE: the job is pending with this reason and exactly this sentence.
waits()
{
    test "$(job_state "$1")" = PENDING && test "$(job_field "$1" reason)" = "$2" &&
        job_field "$1" reason_text >why && cat why && grep -qxF "$3" why
}

start_broker --config machine.yaml
test_expect_success 'afterok waits, names the other job, and starts when that job has completed' '
    fresh &&
    one=$(submit) && two=$(submit -d afterok:$one) && three=$(submit --dependency=afterok:$two) &&
    wait_job_state $one RUNNING &&
    waits $two Dependency "waits for job $one to succeed" &&
    waits $three Dependency "waits for job $two to succeed" &&
    test "$(job_field $two flux_state)" = DEPEND && test "$(job_field $two waits_for[])" = $one &&
    fluxq-show job $two >shown && grep "^Reason: *Dependency: waits for job $one to succeed" shown &&
    grep "^Dependency: *afterok:$one\$" shown && fluxq-queue >queue && grep "$two.*(Dependency)" queue &&
    fluxq-queue --json | jq -e ".jobs[] | select(.id == $two) | .blocking_jobs == [$one]" && grep "^Waits for: *job $one\$" shown &&
    end_job $one 0 && wait_job_state $two RUNNING && test "$(job_state $three)" = PENDING &&
    end_job $two 0 && wait_job_state $three RUNNING && end_all &&
    test "$(count_events $two depend)" = 1 && test "$(job_field $two waits_for[])" = ""
'
test_expect_success 'a dependency that can never be met cancels the job with the reason, and the jobs that depend on it' '
    fresh &&
    one=$(submit) && two=$(submit -d afterok:$one) && three=$(submit -d afterok:$two) &&
    any=$(submit -d afterany:$two) && wait_job_state $one RUNNING &&
    end_job $one 3 && wait_job_state $two CANCELLED && wait_job_state $three CANCELLED &&
    test "$(job_field $two exception.type)" = dependency &&
    test "$(job_field $two result_text)" = "cancelled: job $one did not succeed" &&
    test "$(job_field $three result_text)" = "cancelled: job $two did not succeed" &&
    wait_job_state $any RUNNING && end_all
'
test_expect_success '--wait of a job that is cancelled for its dependency exits with 1 and the reason' '
    fresh &&
    one=$(submit) && wait_job_state $one RUNNING &&
    { timeout 30 fluxq-submit --wait -d afterok:$one -- true >id 2>err & } && waiter=$! &&
    wait_until 10 test -s id && end_job $one 1 &&
    { wait $waiter; test $? = 1; } && grep "CANCELLED: cancelled: job $one did not succeed" err
'
test_expect_success '--kill-invalid-depend=no keeps the job with the reason until the job is cancelled' '
    fresh &&
    one=$(submit) && two=$(submit -d afterok:$one --kill-invalid-depend=no) &&
    three=$(submit -d afterok:$two) && wait_job_state $one RUNNING && end_job $one 1 &&
    wait_until 10 waits $two DependencyNeverSatisfied "job $one did not succeed" &&
    restart_broker && wait_until 10 waits $two DependencyNeverSatisfied "job $one did not succeed" &&
    waits $three Dependency "waits for job $two to succeed" &&
    fluxq-cancel $two && wait_job_state $two CANCELLED && wait_job_state $three CANCELLED
'
test_expect_success '"after" needs only the start of the other job' '
    fresh &&
    held=$(submit --hold) && two=$(submit -d after:$held) && gone=$(submit --hold) && never=$(submit -d after:$gone) &&
    waits $two Dependency "waits for job $held to start" &&
    fluxq-ctl release $held && wait_job_state $two RUNNING && test "$(job_state $held)" = RUNNING &&
    fluxq-cancel $gone && wait_job_state $never CANCELLED &&
    test "$(job_field $never result_text)" = "cancelled: job $gone ended before it started" && end_all
'
test_expect_success 'afternotok needs a failure of the other job, afterany any end' '
    fresh &&
    bad=$(submit) && good=$(submit) && cut=$(submit --hold) &&
    on_bad=$(submit -d afternotok:$bad) && on_good=$(submit -d afternotok:$good) &&
    on_cut=$(submit -d afternotok:$cut) && any=$(submit -d afterany:$bad:$good:$cut) &&
    wait_job_state $good RUNNING && end_job $bad 1 && end_job $good 0 &&
    wait_job_state $on_bad RUNNING && wait_job_state $on_good CANCELLED &&
    test "$(job_field $on_good result_text)" = "cancelled: job $good succeeded" &&
    waits $any Dependency "waits for job $cut to end" &&
    fluxq-cancel $cut && wait_job_state $on_cut RUNNING && wait_job_state $any RUNNING && end_all
'
test_expect_success 'a list with "," needs all its dependencies, a list with "?" one of them' '
    fresh &&
    one=$(submit) && two=$(submit) && wait_job_state $two RUNNING &&
    all=$(submit -d afterok:$one:$two,after:$two) && any=$(submit -d "afterok:$one?afterok:$two") &&
    none=$(submit -d "afternotok:$one?afternotok:$two") &&
    waits $all Dependency "waits for job $one to succeed and job $two to succeed" &&
    waits $any Dependency "waits for one of: job $one to succeed, job $two to succeed" &&
    test "$(job_field $any dependency)" = "afterok:$one?afterok:$two" &&
    end_job $two 0 && wait_job_state $any RUNNING && waits $all Dependency "waits for job $one to succeed" &&
    end_job $one 0 && wait_job_state $all RUNNING && wait_job_state $none CANCELLED && end_all
'
test_expect_success 'singleton runs jobs of one name one after the other, in order' '
    fresh &&
    one=$(submit -J nightly) && two=$(submit -J nightly -d singleton) && three=$(submit -J nightly -d singleton) &&
    other=$(submit -J daily -d singleton) && wait_job_state $one RUNNING && wait_job_state $other RUNNING &&
    waits $two Dependency "waits for job $one to end (same user and name)" &&
    waits $three Dependency "waits for job $one to end (same user and name)" &&
    restart_broker && end_job $one 1 && wait_job_state $two RUNNING &&
    waits $three Dependency "waits for job $two to end (same user and name)" &&
    fluxq-cancel $two && wait_job_state $three RUNNING && end_all
'
test_expect_success 'results of jobs that ended long ago count, also of jobs that only the journal has' '
    fresh &&
    good=$(submit) && bad=$(submit) && wait_job_state $bad RUNNING && end_job $good 0 && end_job $bad 2 &&
    for i in 1 2 3 4; do timeout 30 fluxq-submit --wait -o /dev/null -- true || return 1; done &&
    test "$(fluxq-queue --all --json | jq "[.jobs[] | select(.id == $good or .id == $bad)] | length")" = 0 &&
    id=$(submit -d afterok:$good,afternotok:$bad) && wait_job_state $id RUNNING &&
    id=$(submit -d afterok:$bad) && wait_job_state $id CANCELLED &&
    test "$(job_field $id result_text)" = "cancelled: job $bad did not succeed" && end_all
'
test_expect_success 'over a restart met dependencies stay met, and open dependencies stay open' '
    fresh &&
    one=$(submit) && old=$(submit) && wait_job_state $old RUNNING &&
    ok=$(submit -d afterok:$one:$old) && any=$(submit -d "afternotok:$one?afternotok:$old") &&
    end_job $old 0 && for i in 1 2 3 4; do timeout 30 fluxq-submit --wait -o /dev/null -- true || return 1; done &&
    kill_broker && start_broker --config machine.yaml &&
    wait_until 10 waits $ok Dependency "waits for job $one to succeed" &&
    wait_until 10 waits $any Dependency "waits for job $one to fail" &&
    end_job $one 0 && wait_job_state $ok RUNNING && wait_job_state $any CANCELLED && end_all &&
    test "$(count_events $ok depend)" = 1
'
test_expect_success 'a dependency on a job that ended without a broker is met' '
    fresh &&
    one=$(submit) && wait_job_state $one RUNNING && two=$(submit -d afterok:$one) &&
    kill_broker && echo 0 >end.$one && start_broker --config machine.yaml &&
    wait_job_state $two RUNNING && end_all
'
test_expect_success 'after:ID+M needs M minutes after the start, also over a restart' '
    fresh &&
    one=$(submit) && wait_job_state $one RUNNING && two=$(submit -d after:$one+1) &&
    waits $two Dependency "waits for 1 min to pass since the start of job $one" &&
    stop_broker && FLUXQ_CLOCK_OFFSET=58 && export FLUXQ_CLOCK_OFFSET && start_broker --config machine.yaml &&
    unset FLUXQ_CLOCK_OFFSET && wait_job_state $two RUNNING && end_all && restart_broker
'
test_expect_success 'many jobs that wait for one job start when it ends, and cancelled jobs stay cancelled' '
    fresh &&
    one=$(submit) && wait_job_state $one RUNNING &&
    for i in 1 2 3 4 5 6 7 8 9 10; do fluxq-submit -o /dev/null -d afterok:$one -- true || return 1; done >ids &&
    fluxq-cancel $(tail -n 1 ids) && end_job $one 0 && wait_until 20 none_active &&
    for id in $(sed \$d ids); do test "$(job_state $id)" = COMPLETED || return 1; done &&
    test "$(job_state $(tail -n 1 ids))" = CANCELLED
'
test_expect_success 'dependencies can be given in scripts of each dialect, and in the environment' '
    fresh &&
    one=$(submit) && wait_job_state $one RUNNING &&
    printf "#!/bin/sh\n#SBATCH --dependency=afterany:$one\n#SBATCH --kill-on-invalid-dep=no\n" >s.sh &&
    printf "#!/bin/sh\n# flux: --dependency=afterany:$one --dependency=after:$one\n" >f.sh &&
    printf "#!/bin/sh\n#FLUXQ -d afterany:$one\n" >o.sh && printf "#!/bin/sh\n" >e.sh &&
    for script in s f o; do fluxq-submit -o /dev/null $script.sh || return 1; done >ids &&
    FLUXQ_DEPENDENCY=afterany:$one fluxq-submit -o /dev/null e.sh >>ids && cat ids &&
    for id in $(cat ids); do waits $id Dependency "waits for job $one to end" || return 1; done &&
    fluxq-submit --dry-run -d afterok:$one f.sh | jq -c .attributes.system.dependencies >got &&
    echo "[{\"scheme\":\"afterok\",\"value\":\"$one\"}]" >want && test_cmp want got &&
    end_job $one 0 && wait_until 20 none_active
'

# refused TEXT ARGUMENTS: fluxq-submit fails with one line that contains TEXT, and no job is queued.
refused()
{
    text=$1
    shift
    test_must_fail fluxq-submit "$@" -- true 2>err && cat err && test "$(wc -l <err)" -le 2 &&
        grep -qF -e "$text" err && none_active
}
test_expect_success 'wrong dependencies are refused with their place' '
    fresh &&
    next=$(($(fluxq-submit -- true) + 1)) && wait_until 20 none_active &&
    refused "there is no job $next" -d afterok:$next &&
    refused "there is no job 999999" -d "afterok:1?afterany:999999" &&
    refused "afterok:1" -d 1 && refused "names no job" -d afterok && refused "mixes" -d "after:1,after:1?after:1" &&
    refused "not one of after, afterany" -d before:1 && refused "not the number of a job" -d afterok:x &&
    refused "singleton names no job" -d singleton:1 && refused "only '\''after'\''" -d afterok:1+5 &&
    many=afterok$(i=0; while [ $i -le 1000 ]; do printf ":1"; i=$((i + 1)); done) &&
    refused "1000" -d $many && refused "yes or no" -d after:1 --kill-invalid-depend=perhaps
'
# post JQ: the API's answer to a jobspec that the jq filter JQ has changed.
post()
{
    fluxq-submit --dry-run -- true | jq "$1" >spec.json &&
        curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" --data-binary @spec.json http://fluxqd/v1/jobs >answer
    cat answer
}
test_expect_success 'wrong dependencies in a jobspec are refused' '
    fresh &&
    post ".attributes.system.dependencies = [{scheme: \"afterok\", value: \"999999\"}]" &&
    jq -e ".status == 422 and .code == \"unknown-job\"" answer &&
    post ".attributes.system.dependencies = [{scheme: \"string\", value: \"x\"}]" && grep "dependencies\[0\].scheme" answer &&
    post ".attributes.system.dependencies = [{scheme: \"afterok\"}]" && grep "dependencies\[0\].value" answer &&
    post ".attributes.system.dependencies = 7" && grep "expected an array" answer &&
    post ".attributes.system[\"begin-time\"] = -1" && grep begin-time answer &&
    post ".attributes.system.fluxq = {deadline: \"soon\"}" && grep deadline answer && none_active
'
test_expect_success 'a job with --begin starts not before that time, also after a restart' '
    fresh &&
    at=$(($(date +%s) + 2)) && soon=$(fluxq-submit -o /dev/null --begin=uts$at -- true) &&
    id=$(submit -b now+1hour) && test "$(job_field $id reason)" = BeginTime &&
    restart_broker && test "$(job_state $id)" = PENDING && test "$(job_field $id reason)" = BeginTime &&
    wait_job_state $soon COMPLETED &&
    job_field $soon start_time | jq -e ". >= $at" && job_field $soon eligible_time | jq -e ". >= $at" &&
    job_field $id begin_time | jq -e ". > $at + 3590 and . < $at + 3700" &&
    fluxq-show job $id | grep "^Not before:" && fluxq-cancel $id
'
test_expect_success 'a --begin in the past starts the job now, with a note' '
    fresh &&
    timeout 30 fluxq-submit --wait -o /dev/null -b 2020-01-02T03:04 -- true 2>err && cat err &&
    grep "note: the begin time 2020-01-02T03:04:00 is in the past" err
'
test_expect_success 'a flux jobspec may have a begin time among its dependencies' '
    fresh &&
    post ".attributes.system.dependencies = [{scheme: \"begin-time\", value: \"$(($(date +%s) + 3600)).5\"}]" &&
    id=$(jq .id answer) && test "$(job_field $id reason)" = BeginTime && fluxq-cancel $id
'
test_expect_success 'a job that can no longer end by its --deadline ends as DEADLINE' '
    fresh &&
    full=$(submit -N 2 --exclusive) && wait_job_state $full RUNNING &&
    at=$(($(date +%s) + 62)) &&
    late=$(submit -t 1 --deadline=uts$at) && held=$(submit --hold -t 1 --deadline=uts$at) &&
    dep=$(submit -d afterok:$full -t 1 --deadline=uts$at) && time=$(submit -t 1 --deadline=now+1hour) &&
    less=$(submit -t 10 --time-min=1 --deadline=uts$at) &&
    fluxq-show job $late | grep "^Deadline:" && restart_broker &&
    for id in $late $held $dep $less; do wait_job_state $id DEADLINE 20 || return 1; done &&
    test "$(job_field $late exception.type)" = deadline &&
    job_field $late result_text >text && cat text && grep "deadline passed: it cannot end by .* any more (time limit 1:00)" text &&
    job_field $late end_time | jq -e ". >= $at - 60" &&
    job_field $less result_text >text && grep "any more (--time-min 1:00)" text && job_field $less end_time | jq -e ". >= $at - 60" &&
    test "$(job_state $time)" = PENDING && end_job $full 0 && wait_job_state $time RUNNING && end_all
'
test_expect_success 'with --time-min the time limit is lowered to the time until the deadline' '
    fresh &&
    for limit in 2:00:00 UNLIMITED; do
        id=$(submit -t $limit --time-min=10 --deadline=now+1hour) && wait_job_state $id RUNNING &&
        job_field $id time_limit | jq -e ". > 3500 and . <= 3600" &&
        fluxq-show job $id --json | jq -e ".start_time + .time_limit <= .deadline + 5" || return 1
    done &&
    id=$(submit -t 30 --time-min=10 --deadline=now+1hour) && wait_job_state $id RUNNING &&
    test "$(job_field $id time_limit)" = 1800 && end_all
'
test_expect_success 'a deadline that cannot be met is refused at once' '
    fresh &&
    refused "its --time-min is 10:00" -t 20 --time-min=10 --deadline=now+5min &&
    refused "(its begin) and its --time-min is 10:00" -t 20 --time-min=10 --begin=now+1hour --deadline=now+65min &&
    refused "cannot end by" -t 10 --deadline=now+5min && refused "cannot end by" -t 1 --deadline=2020-01-01 &&
    refused "its begin" -t 10 --begin=now+1hour --deadline=now+65min && refused "time limit" --deadline=now+1hour
'
test_expect_success 'values that are not times are refused with the option' '
    fresh &&
    for t in 1-30 -5 99999-00 soon "" 25:00 2026-02-30 "now-1hour" "2026-11-21 x"; do
        refused "--begin: '\''$t'\'' is not a time" "--begin=$t" &&
        refused "--deadline: '\''$t'\'' is not a time" "--deadline=$t" || return 1
    done &&
    refused "--time: '\''1-30'\'': 30 hours after days; say 2-6" --time=1-30 && refused "--time: '\''-5'\''" --time=-5 &&
    refused "longer than 10 years" --time=99999-00
'
test_expect_success 'no job is active, all nodes are free, and the broker stops' 'none_active && nodes_free && stop_broker'
test_done
