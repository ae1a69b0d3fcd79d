#!/bin/sh
test_description='time limits and the environment of a job: signals before the end, more time, resource limits'
. "$(dirname "$0")/lib.sh"

start_broker
chmod 711 "$FLUXQ_RUN"

# The agent acts as fluxq-run when it has this name.
ln -s "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" fluxq-run

as_nobody()
{
    (cd / && setpriv --reuid=65534 --regid=65534 --clear-groups "$@")
}

# Reports the signals that the script and its child get; ends with the last of them.
write_script trap.sh <<-\END
	#!/bin/sh
	sh -c 'trap "echo child USR1" USR1; trap "exit 0" TERM; echo child set; while :; do sleep 0.05; done' &
	trap 'echo shell USR1' USR1
	trap 'echo shell USR2; kill $!; exit 3' USR2
	echo shell set
	while :; do sleep 0.05; done
END

# has_line LINE ID: the output of the job has this line.
has_line()
{
    grep -q "$1" out.$2
}

test_expect_success '--signal goes to the tasks before the limit, and --signal=B only to the shell of the batch script' '
    all=$(fluxq-submit -o out.%j -t 0:04 --signal=USR1@3 ./trap.sh) &&
    shell=$(fluxq-submit -o out.%j -t 0:04 --signal=B:USR1@3 ./trap.sh) &&
    wait_job_state $all TIMEOUT 60 && wait_job_state $shell TIMEOUT 60 &&
    has_line "^shell USR1" $all && has_line "^child USR1" $all &&
    has_line "^shell USR1" $shell && ! has_line "^child USR1" $shell
'

test_expect_success 'the signal before the limit goes to the running steps, on every rank' '
    cat >task.sh <<-\END &&
	#!/bin/sh
	trap "echo task USR1 $FLUXQ_PROCID; exit 0" USR1
	echo task set
	while :; do sleep 0.05; done
	END
    chmod +x task.sh &&
    write_script steps.sh <<-\END &&
	#!/bin/sh
	trap "echo shell USR1" USR1
	./fluxq-run -n 2 -N 2 ./task.sh
	echo steps ended
	END
    id=$(fluxq-submit -o out.%j -N 2 -t 0:06 --signal=USR1@4 --wait ./steps.sh) &&
    has_line "task USR1 0" $id && has_line "task USR1 1" $id && has_line "steps ended" $id &&
    ! has_line "shell USR1" $id
'

test_expect_success 'all dialects store the signal in the jobspec in flux'\''s form, and invalid values are refused' '
    printf "#!/bin/sh\n#SBATCH --signal=B:USR2@90\n" >one.sh &&
    printf "#!/bin/sh\n# flux: --signal=USR2@90s\n" >two.sh &&
    printf "#!/bin/sh\n#FLUXQ --signal=USR2@90\n" >three.sh &&
    for f in one two three; do
        fluxq-submit --dry-run $f.sh >$f.json && grep "\"signum\": 12" $f.json && grep "\"timeleft\": 90" $f.json || return 1
    done &&
    grep "\"batch\": true" one.json && ! grep "\"batch\": true" two.json &&
    test_must_fail fluxq-submit --dry-run --signal=R:USR1 two.sh 2>err && grep "reservation" err &&
    test_must_fail fluxq-submit --dry-run --signal=B:USR1 -- true 2>err && grep "no batch script" err &&
    test_expect_code 2 fluxq-submit --dry-run --signal=NOSUCH@1 two.sh 2>err && grep "NOSUCH" err
'

test_expect_success 'fluxq-cancel --signal with --batch reaches the shell only, with --full all, and a command has no batch script' '
    id=$(fluxq-submit -o out.%j ./trap.sh) && wait_job_state $id RUNNING &&
    wait_until 30 has_line "shell set" $id && wait_until 30 has_line "child set" $id &&
    fluxq-cancel --signal=USR1 --batch $id && wait_until 30 has_line "shell USR1" $id && ! has_line "child USR1" $id &&
    fluxq-cancel --signal=USR1 --full $id && wait_until 30 has_line "child USR1" $id &&
    fluxq-cancel --signal=USR2 -b $id && wait_job_state $id FAILED && test "$(job_field $id exit_code)" = 3 &&
    test_expect_code 2 fluxq-cancel --batch $id 2>err && grep -e "--signal" err &&
    id=$(fluxq-submit -o /dev/null -- sleep 1000) && wait_job_state $id RUNNING &&
    test_must_fail fluxq-cancel --signal=USR1 --batch $id 2>err && grep "no batch script" err &&
    test "$(job_state $id)" = RUNNING && fluxq-cancel $id
'

test_expect_success 'a signal to a job with steps does not reach the batch script, and a single step can be cancelled' '
    write_script waits.sh <<-\END &&
	#!/bin/sh
	trap "echo shell USR1" USR1
	./fluxq-run -n 1 ./task.sh
	./fluxq-run -n 1 sleep 1000
	echo second: $?
	END
    id=$(fluxq-submit -o out.%j ./waits.sh) && wait_job_state $id RUNNING && wait_until 30 has_line "task set" $id &&
    fluxq-cancel --signal=USR1 $id && wait_until 30 has_line "task USR1" $id && ! has_line "shell USR1" $id &&
    ended() { fluxq-cancel $id.1 || : ; has_line "second: 143" $id; } &&
    wait_until 30 ended && wait_job_state $id COMPLETED &&
    test_expect_code 2 fluxq-cancel $id. 2>err && test_expect_code 2 fluxq-cancel x.1 2>err && grep "JOB.STEP" err
'

test_expect_success 'the time left is shown for running jobs with a limit' '
    id=$(fluxq-submit -o /dev/null -t 10 -- sleep 1000) && wait_job_state $id RUNNING &&
    fluxq-show job $id | grep "of 10:00, 9:[0-9]* left\|of 10:00, 10:00 left" &&
    test "$(job_field $id time_left | cut -d. -f1)" -le 600 && test "$(job_field $id time_left | cut -d. -f1)" -gt 300 &&
    fluxq-queue --no-header -o "%i %L" | grep -E "^ *$id +(9:[0-9]+|10:00)" &&
    free=$(fluxq-submit -o /dev/null -t UNLIMITED --hold -- true) &&
    ! fluxq-show job $free | grep left && fluxq-cancel $id $free
'

test_expect_success 'a running job can get more time and ends later, also after a restart of the broker' '
    write_script long.sh <<-\END &&
	#!/bin/sh
	echo $FLUXQ_JOB_END_TIME
	until test -e go.$FLUXQ_JOB_ID; do sleep 0.05; done
	./fluxq-run -n 2 -N 2 sh -c "echo step \$FLUXQ_JOB_END_TIME"
	until test -e end.$FLUXQ_JOB_ID; do sleep 0.05; done
	END
    id=$(fluxq-submit -N 2 -o out.%j -t 10 ./long.sh) && wait_until 30 grep -q . out.$id &&
    fluxq-ctl extend $id +50 && test "$(job_field $id time_limit)" = 3600 && test "$(count_events $id resource-update)" = 1 &&
    told() { first=$(head -n 1 out.$id) && test "$(grep -cx "step $((first + 3000))" out.$id)" = 2; } &&
    restart_broker && wait_job_state $id RUNNING && test "$(job_field $id time_limit)" = 3600 &&
    touch go.$id && wait_until 30 told &&
    fluxq-ctl extend -- $id -30 && test "$(job_field $id time_limit)" = 1800 &&
    touch end.$id && wait_job_state $id COMPLETED
'

test_expect_success 'a limit below the elapsed time ends the job, and a job without a limit has no end' '
    id=$(fluxq-submit -o /dev/null -t 60 -- sleep 1000) && wait_job_state $id RUNNING &&
    fluxq-ctl extend $id UNLIMITED && test "$(job_field $id time_left)" = null &&
    test_must_fail fluxq-ctl extend $id +10 2>err && grep "no time limit" err &&
    fluxq-ctl extend $id 0:01 && wait_job_state $id TIMEOUT 60
'

test_expect_success 'an extension that conflicts with a planned job or reservation is refused with its name' '
    id=$(fluxq-submit -o /dev/null -t 10 -N 4 --exclusive -- sleep 1000) && wait_job_state $id RUNNING &&
    next=$(fluxq-submit -o /dev/null -t 10 -N 4 --exclusive -- true) &&
    planned() { test "$(job_field $next expected_start)" != null; } && wait_until 30 planned &&
    test_must_fail fluxq-ctl extend $id +1 2>err && grep "job $id keeps its time limit: .*reserved for job $next" err &&
    test "$(job_field $id time_limit)" = 600 && test "$(count_events $id resource-update)" = 0 &&
    fluxq-ctl hold $next && fluxq-ctl extend $id +1 && test "$(job_field $id time_limit)" = 660 &&
    fluxq-cancel $id $next
'

test_expect_success 'a pending job can get another limit and runs with it, and array tasks change together' '
    id=$(fluxq-submit --hold -o /dev/null -t 10 -- sleep 1000) && fluxq-ctl extend $id 0:01 &&
    test "$(job_field $id time_limit)" = 1 && test "$(count_events $id jobspec-update)" = 1 && restart_broker &&
    test "$(job_field $id time_limit)" = 1 && fluxq-ctl release $id && wait_job_state $id TIMEOUT 60 &&
    test_must_fail fluxq-ctl extend $id +1 2>err && grep "has ended" err &&
    id=$(fluxq-submit --hold -a 1-2 -o /dev/null -t 10 -- true) && fluxq-ctl extend $id 20 && test "$(job_field $id time_limit)" = 1200 &&
    test_must_fail fluxq-ctl extend ${id}_1 30 2>err && grep "name $id" err && fluxq-cancel $id
'

test_expect_success ROOT 'users can lower their own limits, but not raise them' '
    id=$(as_nobody fluxq-submit --hold -o /dev/null -t 10 -- true) &&
    test_must_fail as_nobody fluxq-ctl extend $id 11 2>err && grep "only operators" err &&
    test_must_fail as_nobody fluxq-ctl extend $id UNLIMITED && as_nobody fluxq-ctl extend $id 9 &&
    test "$(job_field $id time_limit)" = 540 &&
    other=$(fluxq-submit --hold -o /dev/null -t 10 -- true) &&
    test_must_fail as_nobody fluxq-ctl extend $other 5 2>err && grep "belongs to" err &&
    fluxq-ctl extend $id 11 && test "$(job_field $id time_limit)" = 660 && fluxq-cancel $id $other
'

test_expect_success 'a job has the umask of its submit, and resource limits and niceness on request' '
    write_script finds.sh <<-\END &&
	#!/bin/sh
	umask; ulimit -S -n; ulimit -S -c; nice
	END
    (umask 027 && ulimit -S -n 77 && ulimit -S -c 0 && nice -n 3 fluxq-submit -o plain --wait ./finds.sh) &&
    (umask 077 && ulimit -S -n 77 && fluxq-submit --propagate=NOFILE -o some --wait ./finds.sh) &&
    test "$(sed -n 1p plain)" = 0027 && test "$(sed -n 2p plain)" != 77 && test "$(sed -n 4p plain)" = "$(nice)" &&
    test "$(sed -n 1p some)" = 0077 && test "$(sed -n 2p some)" = 77 &&
    test_expect_code 2 fluxq-submit --propagate=FILES ./finds.sh 2>err && grep "FILES" err
'

test_expect_success 'with propagate-nice tasks have the niceness of the submit' '
    printf "propagate-nice: true\n" >nice.yaml && stop_broker && start_broker --local 2 --config nice.yaml &&
    nice -n 4 fluxq-submit -o as-nice --wait ./finds.sh &&
    test "$(sed -n 4p as-nice)" = $(($(nice) + 4)) && stop_broker && start_broker
'

test_expect_success '--export=NIL gives no variables, NONE a login environment, a list adds to it, and --export-file adds a file' '
    printf "F=1\0G=two words" >vars &&
    T_ONE=1 fluxq-submit --export=NIL -o nil --wait -- env && ! grep T_ONE nil && ! grep "^A=" nil &&
    T_ONE=1 fluxq-submit --export=NONE -o login --wait -- env && ! grep T_ONE login && grep "^HOME=" login && grep "^PATH=" login &&
    T_ONE=1 fluxq-submit --export=T_ONE,B=2 --export-file=vars -o list --wait -- env &&
    grep -x T_ONE=1 list && grep -x B=2 list && grep -x F=1 list && grep -x "G=two words" list &&
    for f in nil login list; do test "$(grep -c "^FLUXQ_JOB_ID=" $f)" = 1 || return 1; done
'

test_expect_success 'every rank has the host file and the address of the first, and SLURM_NTASKS_PER_NODE has the given value' '
    write_script peers.sh <<-\END &&
	#!/bin/sh
	echo "$(wc -l <"$FLUXQ_HOSTFILE") $FLUXQ_MASTER_ADDR ${SLURM_NTASKS_PER_NODE-none}"
	END
    stop_broker && start_broker --local 2 &&
    SLURM_NTASKS_PER_NODE=7 fluxq-submit -N 2 -n 4 -o "peers-%t" --wait -- ./peers.sh &&
    cat peers-? | uniq -c >actual && echo "      4 2 127.0.0.1 none" >expected && test_cmp expected actual &&
    SLURM_NTASKS_PER_NODE=7 fluxq-submit -N 2 --ntasks-per-node=1 -o "each-%t" --wait -- ./peers.sh &&
    cat each-? | uniq -c >actual && echo "      2 2 127.0.0.1 1" >expected && test_cmp expected actual &&
    fluxq-submit -N 2 --ntasks-per-node=1 --export=NONE -o "none-%t" --wait -- ./peers.sh && test_cmp each-0 none-1
'

test_expect_success 'SLURM_NTASKS_PER_NODE of a step has the step'\''s value, or else the job'\''s, also with fluxq-run and fluxq-alloc' '
    said() { sort "$1" | uniq -c | sed "s/^ *//" >actual && printf "%s\n" "$2" >expected && test_cmp expected actual; }
    SLURM_NTASKS_PER_NODE=7 fluxq-run -N 2 --ntasks-per-node=2 ./peers.sh >ran && said ran "4 2 127.0.0.1 2" &&
    write_script of-steps.sh <<-\END &&
	#!/bin/sh
	fluxq-run ./peers.sh
	fluxq-run --ntasks-per-node=1 ./peers.sh
	END
    fluxq-submit -N 2 --ntasks-per-node=2 -o steps --wait ./of-steps.sh && said steps "2 2 127.0.0.1 1
4 2 127.0.0.1 2" &&
    fluxq-alloc -Q -N 2 --ntasks-per-node=2 sh -c "echo here \$SLURM_NTASKS_PER_NODE; fluxq-run ./peers.sh" >held && said held "4 2 127.0.0.1 2
1 here 2" &&
    SLURM_NTASKS_PER_NODE=7 fluxq-alloc -Q -N 2 sh -c "echo \${SLURM_NTASKS_PER_NODE-none}" >held && said held "1 none" &&
    stop_broker && start_broker
'

test_expect_success '--nice lowers the priority, and fluxq-show priority shows the points' '
    usual=$(fluxq-submit -b now+1hour -- true) && low=$(fluxq-submit -b now+1hour --nice=50 -- true) &&
    term() { fluxq-show priority $1 --json | jq -c "[.. | .terms? // empty | .[] | select (.name == \"nice\") | .points]"; } &&
    test "$(term $low)" = "[-50]" && test "$(term $usual)" = "[]" &&
    fluxq-submit --dry-run --nice -- true | grep "\"nice\": 100" &&
    printf "#!/bin/sh\n#SBATCH --nice=20\n" >nice.sh && fluxq-submit --dry-run nice.sh | grep "\"nice\": 20" &&
    fluxq-cancel $low $usual
'

test_expect_success ROOT 'only operators may use a negative --nice' '
    test_must_fail as_nobody fluxq-submit --hold --nice=-5 -o /dev/null -- true 2>err && grep "only operators" err &&
    id=$(fluxq-submit --hold --nice=-5 -o /dev/null -- true) && fluxq-cancel $id
'

test_expect_success 'without B: --signal of sbatch reaches no script without a step, as in Slurm' '
    printf "%s\n" "#!/bin/sh" "#SBATCH -t 0:06 --signal=USR2@5 -o alone.out" "sleep 2" "echo end" >alone.sh &&
    sbatch --wait alone.sh && test "$(cat alone.out)" = end && sbatch --wait --signal=B:USR2@5 alone.sh; test $? -eq 140 &&
    test_expect_code 140 fluxq-submit --wait --signal=USR2@5 -t 0:06 -- sleep 2
'

test_done
