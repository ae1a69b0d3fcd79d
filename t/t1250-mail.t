#!/bin/sh
test_description='mail about jobs: the events that were asked for, to whom, by a program of the site that runs bounded'
. "$(dirname "$0")/lib.sh"
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

chmod 755 "$FLUXQ_RUN"
config=$FLUXQ_RUN/fluxq.yaml
box=$FLUXQ_RUN/box
mkdir "$box" && chmod 1777 "$box"

# Writes each message to a file of its own; hangs while the file `hang` exists, fails while `fail` does.
write_script "$FLUXQ_RUN/sendmail" <<END
#!/bin/sh
[ ! -e "$box/fail" ] || { echo "no route to anywhere" >&2; exit 3; }
[ ! -e "$box/hang" ] || sleep 600
{
    cat && echo "arguments: \$*" && echo "runs as: \$(id -u):\$(id -g) \$(id -G)" && env
} >"$box/new.\$\$" && mv "$box/new.\$\$" "$box/mail.\$SLURM_JOB_ID.\$\$"
END

configure()
{
    printf '%s\n' 'local: {nodes: 4, cores: 4}' "$@" >"$config"
}

configure "mail: {program: $FLUXQ_RUN/sendmail, timeout: 2s}"
start_broker --config "$config"

submit()
{
    sbatch --parsable -o /dev/null "$@"
}

# mails JOB: the subjects of the mail about the job, in the order in which it came, without times.
mails()
{
    for mail in $(ls -tr "$box" | grep "^mail\.$1\."); do
        sed -n 's/^Subject: Slurm //p' "$box/$mail"
    done | sed 's/time [0-9][0-9:]*/time T/'
}

# gets JOB N: N messages about the job have come.
gets()
{
    test "$(ls "$box" | grep -c "^mail\.$1\.")" = "$2"
}

fresh()
{
    none_active || fluxq-cancel -t PENDING,RUNNING
    rm -f "$box"/hang "$box"/fail && wait_until 20 none_active
}

test_expect_success 'BEGIN and END have the words of Slurm, the user as recipient, and the program gets -i -t' '
    id=$(submit -J one --mail-type=begin,END --wrap "exit 0") && wait_until 20 gets $id 2 &&
    mails $id | sort >out && printf "%s\n" "Job_id=$id Name=one Began, Queued time T" "Job_id=$id Name=one Ended, Run time T, COMPLETED, ExitCode 0" | diff - out &&
    cat "$box"/mail.$id.* >all && test "$(grep -cx "To: $(id -un)" all)" = 2 && test "$(grep -cx "arguments: -i -t" all)" = 2 &&
    grep -x "SLURM_JOB_MAIL_TYPE=Ended" all && grep -x "SLURM_JOB_ID=$id" all &&
    grep -x "X-Fluxq-Event: BEGIN" all
'
test_expect_success 'a failed job: FAIL, or END where FAIL is not asked for; ALL has both kinds; NONE has none' '
    fresh && a=$(submit --mail-type=FAIL --wrap "exit 3") && b=$(submit --mail-type=END --wrap "exit 4") &&
    c=$(submit --mail-type=ALL --wrap "kill -9 \$\$") && d=$(submit --mail-type=ALL,NONE --wrap true) && e=$(submit --mail-type=FAIL --wrap true) &&
    wait_until 20 gets $a 1 && wait_until 20 gets $b 1 && wait_until 20 gets $c 2 &&
    mails $a | grep "Failed, Run time T, FAILED, ExitCode 3" && mails $b | grep "Ended, Run time T, FAILED, ExitCode 4" && mails $c | grep "Failed, .*FAILED" &&
    wait_job_state $d COMPLETED && wait_job_state $e COMPLETED && f=$(submit --mail-type=END --wrap true) && wait_until 20 gets $f 1 && gets $d 0 && gets $e 0
'
test_expect_success 'a cancelled job has ended; a dependency that can never be met, and a requeue, are told' '
    fresh && a=$(submit --hold --mail-type=ALL --wrap true) && scancel $a && wait_until 20 gets $a 1 && mails $a | grep "Ended, CANCELLED" &&
    a=$(submit --wrap "exit 1") && wait_job_state $a FAILED && b=$(submit -d afterok:$a --mail-type=INVALID_DEPEND --wrap true) && wait_until 20 gets $b 1 &&
    mails $b | grep "Invalid dependency" &&
    a=$(submit --mail-type=REQUEUE,BEGIN --wrap "sleep 600") && wait_job_state $a RUNNING && wait_until 20 gets $a 1 && scontrol requeue $a &&
    wait_until 20 gets $a 3 && mails $a | grep "Requeued" && scancel $a
'
test_expect_success 'parts of the time limit and the time limit itself' '
    fresh && a=$(submit -t 0:03 --mail-type=TIME_LIMIT,TIME_LIMIT_90,TIME_LIMIT_80,TIME_LIMIT_50 --wrap "sleep 600") && wait_until 30 gets $a 4 &&
    mails $a >out && sed "s/.*Reached //; s/,.*//" out >words &&
    printf "%s\n" "50% of time limit" "80% of time limit" "90% of time limit" "time limit" | diff - words
'
test_expect_success 'mail about an array is about the whole, or about each task with ARRAY_TASKS' '
    fresh && a=$(submit --array 1-3 --mail-type=BEGIN,END,FAIL --wrap "exit \$((\$SLURM_ARRAY_TASK_ID - 1))") && wait_until 30 gets $a 2 &&
    mails $a >out && cat out && grep "^Array Summary Job_id=${a}_\* ($a) Name=.* Began" out && grep "^Array Summary .*Failed, FAILED, ExitCode 2" out &&
    b=$(submit --array 1-2 --mail-type=END,ARRAY_TASKS --wrap true) && wait_until 20 gets $((b + 1)) 1 && wait_until 20 gets $((b + 2)) 1 &&
    mails $((b + 2)) | grep "^Array Task Job_id=${b}_2 ($((b + 2))) Name=.* Ended, " && gets $b 0 && gets $((a + 1)) 0
'
test_expect_success '--mail-user has addresses; nothing that a user writes becomes a header or an argument' '
    fresh && a=$(submit --mail-type=END --mail-user=ann@example.org,bob -J "$(printf "x\303\244y Bcc: eve@evil.org")" --wrap true) && wait_until 20 gets $a 1 &&
    grep -x "To: ann@example.org, bob" "$box"/mail.$a.* && grep "^Subject: .*Name=x?y Bcc: eve@evil.org Ended" "$box"/mail.$a.* && ! grep "^Bcc" "$box"/mail.$a.* &&
    for bad in "-oQ/tmp" "a b" "a;b" "a@b@c" "a,,b" "$(printf "a\nBcc: b")" "a|b" "\"a\"" "<a>"; do
        test_must_fail submit --mail-type=END --mail-user="$bad" --wrap true 2>err && test -s err || return 1
    done &&
    test_must_fail submit --mail-type=NEVER --wrap true 2>err && grep "NEVER.*is not an event" err &&
    test_must_fail submit --mail-type=STAGE_OUT --wrap true 2>err && grep "no burst buffers" err
'
test_expect_success 'directives, the variables of the show commands and the native option' '
    fresh && printf "#!/bin/sh\n#SBATCH --mail-type=END\n#SBATCH --mail-user=ann\ntrue\n" >mail.sh && a=$(submit mail.sh) && wait_until 20 gets $a 1 &&
    fluxq-show job $a >out && grep "^Mail type: *END" out && grep "^Mail user: *ann" out && ! grep "not set up" out &&
    a=$(fluxq-submit -o /dev/null --mail-type=END -- true) && wait_until 20 gets $a 1 && scontrol show job $a >out && grep "MailUser=$(id -un) MailType=END" out
'
test_expect_success 'a program that fails or hangs holds up nothing: it is killed in time, and the log has the reason' '
    fresh && touch "$box/fail" && a=$(submit --mail-type=END --wrap true) && failed() { grep "sendmail: .*status 3.*no route to anywhere" log.broker "$FLUXQ_RUN"/*log* 2>/dev/null; } &&
    wait_job_state $a COMPLETED && rm "$box/fail" && touch "$box/hang" &&
    for i in 1 2 3 4 5 6; do submit --mail-type=END --wrap true || return 1; done >ids && b=$(tail -n 1 ids) && wait_job_state $b COMPLETED &&
    rm "$box/hang" && wait_until 20 gets $b 1 && c=$(submit --mail-type=END --wrap true) && wait_until 20 gets $c 1 && gets $a 0
'
test_expect_success 'after kill -9 of the broker mail goes on, and none comes twice' '
    fresh && a=$(submit --mail-type=BEGIN,END,TIME_LIMIT_50 -t 10 --wrap "until [ -e stop.mail ]; do sleep 0.05; done") && wait_until 20 gets $a 1 && kill_broker &&
    start_broker --config "$config" && wait_job_state $a RUNNING && touch stop.mail && wait_job_state $a COMPLETED && wait_until 20 gets $a 2 &&
    mails $a | grep Began && mails $a | grep Ended
'
test_expect_success 'a domain is added to names, and without a program mail is not sent, and fluxq-show says so' '
    fresh && configure "mail: {program: $FLUXQ_RUN/sendmail, domain: example.org}" && fluxq-ctl reload &&
    a=$(submit --mail-type=END --mail-user=ann,bob@b.org --wrap true) && wait_until 20 gets $a 1 && grep -x "To: ann@example.org, bob@b.org" "$box"/mail.$a.* &&
    configure && fluxq-ctl reload && a=$(submit --mail-type=END --wrap true) && wait_job_state $a COMPLETED &&
    fluxq-show job $a | grep "^Mail: *mail is not set up here" && gets $a 0 &&
    configure "mail: {program: relative}" && test_must_fail fluxqd --check --config "$config" 2>err && grep program err &&
    configure "mail: {program: /bin/true, domain: \"a b\"}" && test_must_fail fluxqd --check --config "$config" 2>err && grep "mail.domain" err
'
if [ "$(id -u)" -eq 0 ]; then
    test_expect_success 'the program runs as the user of the job, without the groups of root' '
        fresh && configure "mail: {program: $FLUXQ_RUN/sendmail}" && fluxq-ctl reload && mkdir -p "$FLUXQ_RUN/bin" && cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_RUN/bin" &&
        a=$(cd / && HOME=/nowhere setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$FLUXQ_RUN/bin/fluxq" submit -o /dev/null --mail-type=END -- true) &&
        wait_until 20 gets $a 1 && grep -x "To: nobody" "$box"/mail.$a.* && grep -x "runs as: $(id -u nobody):$(id -g nobody) $(id -g nobody)" "$box"/mail.$a.*
    '
fi
test_done
